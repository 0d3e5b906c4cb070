/*
 * A random body as a network, swept as core/network.h defines it: node by node, edge by edge,
 * without any optimisation. Conduction kernels are compared with it. It also makes the fields that
 * they are called with.
 *
 * Numbers are doubles here; in float precision each has the value of a float.
 */
#ifndef HS_TESTS_KERNELS_NETWORK_MODEL_H
#define HS_TESTS_KERNELS_NETWORK_MODEL_H

#include "core/kernel.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t network_seed = 1;

/* 0 ... count - 1 */
static inline int64_t network_any(int64_t count)
{
    network_seed = network_seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((network_seed >> 24) % (uint64_t)count);
}

/* From 0 to 1, with all bits of the precision. */
static inline double network_noise(enum hs_precision precision)
{
    const double x =
        (double)network_any((int64_t)1 << 40) * 0x1p-40 + (double)network_any(1 << 13) * 0x1p-53;
    return precision == HS_FLOAT ? (double)(float)x : x;
}

enum { NETWORK_LAST = 1 << HS_AXES, NETWORK_MEMBERS = HS_AXES + 3 };
enum { NETWORK_CPU_LINE = 64, NETWORK_GPU_LINE = 128 }; /* bytes, alignment of rows */

/*
 * The properties of a body. It has `kinds` kinds of nodes. Each kind has one row for every set of
 * axes (one bit each) along which a node may be the last; there it has no edge.
 */
struct network_case {
    int dims, steps;
    enum hs_precision precision;
    enum hs_network_form form;
    int64_t points[HS_AXES];
    int64_t padding; /* elements between planes, as the backend has them */
    bool wrap[HS_AXES];
    int64_t kinds;
    int64_t block[HS_AXES]; /* nodes of a block along each axis, all of one kind ... */
    int64_t noise;          /* ... except for one node in so many, whose kind is random */
    bool source, sinks, forced;
    bool anew; /* the source changes in each sweep, as moving walls make it */
};

/* Node arrays are [nz][ny][nx]. */
struct network_model {
    const struct network_case *c;
    int64_t rows;
    double (*row)[HS_ROW_NUMBERS]; /* as in hs_network_view */
    double *forcing;               /* [steps][rows] */
    int64_t *number;
    double *now, *next, *source; /* source: [steps or 1][nodes] */
};

/* What the source adds to a node in a sweep. */
static inline double network_source(const struct network_model *m, int step, int64_t node)
{
    const int64_t *n = m->c->points;
    return m->source[(m->c->anew ? step : 0) * n[0] * n[1] * n[2] + node];
}

/* The node at a place, wrapped along periodic axes; -1: none. */
static inline int64_t network_node(const struct network_case *c, const int64_t place[HS_AXES])
{
    int64_t node = 0;
    for (int axis = HS_Z; axis >= HS_X; axis--) {
        const int64_t n = c->points[axis];
        const int64_t i = c->wrap[axis] ? (place[axis] + n) % n : place[axis];
        if (i < 0 || i >= n)
            return -1;
        node = node * n + i;
    }
    return node;
}

/* Held nodes have dt/C = 0. Prescribed ones also have keep = 0, which arrays cannot express. */
static inline void network_make_rows(struct network_model *m)
{
    const struct network_case *c = m->c;
    m->rows = 1 + NETWORK_LAST * c->kinds; /* the first is for elements that are not nodes */
    m->row = calloc((size_t)m->rows, sizeof *m->row);
    m->forcing = calloc((size_t)(c->steps * m->rows), sizeof *m->forcing);
    for (int64_t n = 1; n < m->rows; n++) {
        const int64_t held = network_any(8);
        for (int axis = 0; axis < HS_AXES; axis++)
            m->row[n][axis] =
                (n - 1) % NETWORK_LAST >> axis & 1 ? 0.0 : network_noise(c->precision);
        m->row[n][3] = held < 2 ? 0.0 : 0.125 * network_noise(c->precision);
        m->row[n][4] = c->sinks && network_any(2) ? network_noise(c->precision) : 0.0;
        m->row[n][5] = held == 0 && c->form != HS_NETWORK_ARRAYS ? 0.0 : 1.0;
        for (int s = 0; s < c->steps; s++)
            m->forcing[s * m->rows + n] =
                c->forced && network_any(2) ? network_noise(c->precision) : 0.0;
    }
}

/* Chooses the row of a node. */
static inline int64_t network_choose(const struct network_case *c, const int64_t place[HS_AXES],
                                     uint64_t salt)
{
    uint64_t kind = salt;
    int64_t last = 0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        if (axis >= c->dims || (!c->wrap[axis] && place[axis] == c->points[axis] - 1))
            last |= 1 << axis;
        kind = (kind ^ (uint64_t)(place[axis] / c->block[axis])) * 0x9e3779b97f4a7c15u;
        kind ^= kind >> 29;
    }
    if (network_any(c->noise) == 0)
        kind = (uint64_t)network_any(c->kinds);
    return 1 + (int64_t)(kind % (uint64_t)c->kinds) * NETWORK_LAST + last;
}

static inline void network_model_init(struct network_model *m, const struct network_case *c)
{
    const int64_t *n = c->points;
    const size_t nodes = (size_t)(n[0] * n[1] * n[2]);
    const size_t sources = nodes * (size_t)(c->anew ? c->steps : 1);
    const uint64_t salt = (uint64_t)network_any((int64_t)1 << 40);
    *m = (struct network_model){.c = c};
    network_make_rows(m);
    m->number = malloc(nodes * sizeof *m->number);
    m->now = malloc(nodes * sizeof *m->now);
    m->next = malloc(nodes * sizeof *m->next);
    m->source = malloc(sources * sizeof *m->source);
    for (size_t at = 0; at < nodes; at++) {
        const int64_t node = (int64_t)at;
        const int64_t place[] = {node % n[0], node / n[0] % n[1], node / n[0] / n[1]};
        m->number[at] = network_choose(c, place, salt);
        m->now[at] = network_noise(c->precision) - 0.5;
    }
    for (size_t at = 0; at < sources; at++)
        m->source[at] = network_noise(c->precision) - 0.5;
}

static inline void network_model_release(struct network_model *m)
{
    free(m->row);
    free(m->forcing);
    free(m->number);
    free(m->now);
    free(m->next);
    free(m->source);
}

/* ---- the definition -------------------------------------------------------------------------- */

static inline double network_fma(const struct network_case *c, double a, double b, double d)
{
    return c->precision == HS_FLOAT ? (double)fmaf((float)a, (float)b, (float)d) : fma(a, b, d);
}

static inline double network_add(const struct network_case *c, double a, double b)
{
    return c->precision == HS_FLOAT ? (double)((float)a + (float)b) : a + b;
}

/* A node's value after sweep `step`. An edge belongs to its lower node. */
static inline double network_swept(const struct network_model *m, int step, int64_t node)
{
    static const int order[6][2] = {{HS_Z, -1}, {HS_Y, -1}, {HS_X, -1},
                                    {HS_X, 1},  {HS_Y, 1},  {HS_Z, 1}};
    const struct network_case *c = m->c;
    const int64_t *n = c->points;
    const double *own = m->row[m->number[node]], in = m->now[node];
    double sum = 0.0;
    for (int edge = 0; edge < 6; edge++) {
        const int axis = order[edge][0], side = order[edge][1];
        int64_t place[] = {node % n[0], node / n[0] % n[1], node / n[0] / n[1]};
        place[axis] += side;
        const int64_t neighbour = axis < c->dims ? network_node(c, place) : -1;
        if (neighbour < 0)
            continue;
        const double conductance = side > 0 ? own[axis] : m->row[m->number[neighbour]][axis];
        sum = network_fma(c, conductance, network_add(c, m->now[neighbour], -in), sum);
    }
    sum = network_fma(c, -own[4], in, sum);
    double kept = network_fma(c, own[5], in, m->forcing[step * m->rows + m->number[node]]);
    if (c->source)
        kept = network_add(c, kept, network_source(m, step, node));
    return network_fma(c, own[3], sum, kept);
}

static inline void network_model_sweep(struct network_model *m, int step)
{
    const int64_t *n = m->c->points;
    for (int64_t node = 0; node < n[0] * n[1] * n[2]; node++)
        m->next[node] = network_swept(m, step, node);
    double *before = m->now;
    m->now = m->next;
    m->next = before;
}

/* ---- as a kernel is given it ----------------------------------------------------------------- */

/*
 * Fields in a layout, and their allocations. Whatever a kernel must not use is NaN, or the number
 * of a row of NaNs.
 */
struct network_fields {
    size_t line; /* bytes, see above */
    struct hs_layout layout;
    enum hs_precision precision;
    struct hs_network_view view;
    void *row, *forcing, *number, *in, *out, *source;
    void *member[NETWORK_MEMBERS]; /* as arrays: G along each axis, dt/C, g, s */
    bool walled, wrapped;          /* whether `in` has ghosts behind walls, along periodic axes */
    double *values; /* of the nodes: those of `in` before a call, of `out` after it */
};

static inline struct hs_layout network_layout(const struct network_case *c, size_t line)
{
    const struct hs_grid grid = {.dims = c->dims,
                                 .points = {c->points[0], c->points[1], c->points[2]}};
    return hs_layout_make(&grid, 1, (int64_t)(line / hs_precision_size(c->precision)));
}

static inline void *network_origin(const struct network_fields *f, void *field, size_t size)
{
    return field ? (char *)field + (size_t)f->layout.origin * size : NULL;
}

/* All bits set, which is NaN. For the CPU there is not a byte beyond the last line, so that the
 * sanitizer sees overruns; a GPU may load one line more. */
static inline void *network_lines(size_t line, size_t bytes)
{
    bytes = (bytes + line - 1) / line * line + (line == NETWORK_GPU_LINE ? line : 0);
    void *memory = aligned_alloc(line, bytes);
    assert_non_null(memory);
    return memset(memory, 0xff, bytes);
}

static inline void *network_field(const struct network_fields *f)
{
    return network_lines(f->line, (size_t)f->layout.elements * hs_precision_size(f->precision));
}

/* A member of the arrays at a node; -1: at an element that is no node. */
static inline double network_member(const struct network_model *m, int member, int step,
                                    int64_t node)
{
    const int64_t number = node < 0 ? 0 : m->number[node];
    return member == 5 ? m->forcing[step * m->rows + number] : m->row[number][member];
}

static inline void network_put_number(const struct network_model *m, struct network_fields *f,
                                      int64_t at, int64_t node)
{
    const int64_t number = node < 0 ? 0 : m->number[node];
    if (m->c->form == HS_NETWORK_BYTES)
        ((uint8_t *)f->number)[at] = (uint8_t)number;
    if (m->c->form == HS_NETWORK_SHORTS)
        ((uint16_t *)f->number)[at] = (uint16_t)number;
    for (int n = 0; n < NETWORK_MEMBERS; n++)
        if (f->member[n])
            hs_write(f->precision, f->member[n], at, network_member(m, n, 0, node));
}

/* Calls `put` for all nodes and for the first layer of ghosts; the node of ghosts behind walls is
 * -1. */
static inline void network_each(const struct network_model *m, struct network_fields *f,
                                void (*put)(const struct network_model *, struct network_fields *,
                                            int64_t at, int64_t node, bool ghost))
{
    int64_t p[HS_AXES], low[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        low[axis] = axis < m->c->dims ? -1 : 0;
    for (p[2] = low[2]; p[2] < m->c->points[2] - low[2]; p[2]++)
        for (p[1] = low[1]; p[1] < m->c->points[1] - low[1]; p[1]++)
            for (p[0] = low[0]; p[0] < m->c->points[0] - low[0]; p[0]++) {
                int beyond = 0;
                for (int axis = 0; axis < HS_AXES; axis++)
                    beyond += p[axis] < 0 || p[axis] >= m->c->points[axis];
                if (beyond <= 1)
                    put(m, f, f->layout.origin + hs_layout_offset(&f->layout, p[0], p[1], p[2]),
                        network_node(m->c, p), beyond == 1);
            }
}

static inline void network_put_network(const struct network_model *m, struct network_fields *f,
                                       int64_t at, int64_t node, bool ghost)
{
    network_put_number(m, f, at, node);
    if (!ghost)
        hs_write(f->precision, f->source, at, network_source(m, 0, node));
}

/* Ghosts behind walls, where there are any, may have any finite value. */
static inline void network_put_in(const struct network_model *m, struct network_fields *f,
                                  int64_t at, int64_t node, bool ghost)
{
    hs_write(f->precision, f->in, at,
             ghost && !(node < 0 ? f->walled : f->wrapped) ? NAN
             : node < 0                                    ? network_noise(f->precision) - 0.5
                                                           : f->values[node]);
}

/* A palette has an extra row, of NaNs, which no node has. */
static inline void network_fields_palette(const struct network_model *m, struct network_fields *f)
{
    const size_t size = hs_precision_size(f->precision), rows = (size_t)m->rows + 1;
    const size_t bytes = m->c->form == HS_NETWORK_BYTES ? 1 : 2;
    assert_true(rows <= (bytes == 1 ? 256 : 65536));
    f->number = network_lines(f->line, (size_t)f->layout.elements * bytes);
    for (int64_t n = 0; n < f->layout.elements; n++)
        if (bytes == 1)
            ((uint8_t *)f->number)[n] = (uint8_t)m->rows;
        else
            ((uint16_t *)f->number)[n] = (uint16_t)m->rows;
    f->row = network_lines(f->line, rows * HS_ROW_NUMBERS * size);
    f->forcing = network_lines(f->line, (size_t)m->c->steps * rows * size);
    for (size_t r = 0; r < rows; r++) {
        const bool none = (int64_t)r == m->rows;
        for (size_t n = 0; n < HS_ROW_NUMBERS; n++)
            hs_write(f->precision, f->row, (int64_t)(r * HS_ROW_NUMBERS + n),
                     none ? NAN : m->row[r][n]);
        for (int s = 0; s < m->c->steps; s++)
            hs_write(f->precision, f->forcing, s * (int64_t)rows + (int64_t)r,
                     none ? NAN : m->forcing[s * m->rows + (int64_t)r]);
    }
    f->view.row_count = (int)rows;
    f->view.row = f->row;
    f->view.number = network_origin(f, f->number, bytes);
}

/* `shift`: elements that the plan wants before the layout. */
static inline void network_fields_init(struct network_fields *f, const struct network_model *m,
                                       size_t line, int64_t shift)
{
    const struct network_case *c = m->c;
    const size_t size = hs_precision_size(c->precision);
    *f = (struct network_fields){.line = line,
                                 .layout = network_layout(c, line),
                                 .precision = c->precision,
                                 .view = {.form = c->form}};
    if (c->dims == 3) {
        f->layout.pitch[HS_Z] += c->padding;
        f->layout.origin += c->padding;
        f->layout.elements += (c->points[HS_Z] + 2) * c->padding;
    }
    f->layout = hs_layout_moved(f->layout, shift);
    memcpy(f->view.wrap, c->wrap, sizeof c->wrap);
    f->in = network_field(f);
    f->out = network_field(f);
    f->source = network_field(f);
    for (int n = 0; n < NETWORK_MEMBERS && c->form == HS_NETWORK_ARRAYS; n++)
        if (n < c->dims || n == 3 || (n == 4 && c->sinks) || (n == 5 && c->forced))
            f->member[n] = network_field(f);
    if (c->form != HS_NETWORK_ARRAYS)
        network_fields_palette(m, f);
    const size_t nodes = (size_t)(c->points[0] * c->points[1] * c->points[2]);
    f->values = malloc(nodes * sizeof *f->values);
    memcpy(f->values, m->now, nodes * sizeof *f->values);
    for (int axis = 0; axis < HS_AXES; axis++)
        f->view.conductance[axis] = network_origin(f, f->member[axis], size);
    f->view.rate = network_origin(f, f->member[3], size);
    f->view.sink = network_origin(f, f->member[4], size);
    f->view.added = network_origin(f, f->member[5], size);
    network_each(m, f, network_put_network);
}

static inline void network_fields_release(struct network_fields *f)
{
    free(f->row);
    free(f->forcing);
    free(f->number);
    free(f->in);
    free(f->out);
    free(f->source);
    free(f->values);
    for (int n = 0; n < NETWORK_MEMBERS; n++)
        free(f->member[n]);
}

static inline int64_t network_element(const struct network_model *m, const struct network_fields *f,
                                      int64_t node)
{
    const int64_t *n = m->c->points;
    return f->layout.origin +
           hs_layout_offset(&f->layout, node % n[0], node / n[0] % n[1], node / n[0] / n[1]);
}

/* Prepares the fields for a call that begins with sweep `step`. */
static inline void network_fields_begin(const struct network_model *m, struct network_fields *f,
                                        int step)
{
    const int64_t *n = m->c->points;
    if (f->forcing)
        f->view.forcing = (const char *)f->forcing + (size_t)step * (size_t)f->view.row_count *
                                                         hs_precision_size(f->precision);
    for (int64_t node = 0; node < n[0] * n[1] * n[2] && f->member[5]; node++)
        hs_write(f->precision, f->member[5], network_element(m, f, node),
                 network_member(m, 5, step, node));
    for (int64_t node = 0; node < n[0] * n[1] * n[2] && m->c->anew; node++)
        hs_write(f->precision, f->source, network_element(m, f, node),
                 network_source(m, step, node));
    for (int64_t at = 0; at < f->layout.elements; at++)
        hs_write(f->precision, f->out, at, NAN);
    network_each(m, f, network_put_in);
}

/* Takes the nodes' values from `out`. Returns how many elements were written, nodes or not. */
static inline int64_t network_fields_end(const struct network_model *m, struct network_fields *f)
{
    const int64_t *n = m->c->points;
    int64_t written = 0;
    for (int64_t at = 0; at < f->layout.elements; at++)
        written += !isnan(hs_read(f->precision, f->out, at));
    for (int64_t node = 0; node < n[0] * n[1] * n[2]; node++)
        f->values[node] = hs_read(f->precision, f->out, network_element(m, f, node));
    return written;
}

/* Inside the box the kernel's values must be the model's. */
static inline void network_compare(const struct network_model *m, const struct network_fields *f,
                                   const struct hs_box *box, const char *what)
{
    const int64_t *n = m->c->points;
    for (int64_t node = 0; node < n[0] * n[1] * n[2]; node++) {
        const int64_t place[] = {node % n[0], node / n[0] % n[1], node / n[0] / n[1]};
        bool inside = true;
        for (int axis = 0; axis < HS_AXES; axis++)
            inside = inside && place[axis] >= box->lo[axis] && place[axis] < box->hi[axis];
        if (inside && !(f->values[node] == m->now[node]))
            fail_msg("%s: node (%lld, %lld, %lld) is %.17g, not %.17g", what, (long long)place[0],
                     (long long)place[1], (long long)place[2], f->values[node], m->now[node]);
    }
}

static inline const char *network_name(const struct network_case *c)
{
    static const char *const forms[] = {"bytes", "shorts", "arrays"};
    static char text[240];
    snprintf(text, sizeof text,
             "%dD %s %s, %lld x %lld x %lld, wraps %d%d%d, %lld kinds, blocks of %lld x %lld x "
             "%lld, noise %lld, source %d %d, sinks %d, forced %d, %d steps",
             c->dims, hs_precision_name(c->precision), forms[c->form], (long long)c->points[0],
             (long long)c->points[1], (long long)c->points[2], c->wrap[0], c->wrap[1], c->wrap[2],
             (long long)c->kinds, (long long)c->block[0], (long long)c->block[1],
             (long long)c->block[2], (long long)c->noise, c->source, c->anew, c->sinks, c->forced,
             c->steps);
    return text;
}

static inline hs_features network_features(const struct network_case *c)
{
    hs_features asked = HS_CONDUCTION | hs_feature_dims(c->dims) | HS_RADIUS_1 |
                        hs_feature_precision(c->precision) | HS_BYTES << c->form;
    asked |= c->source ? HS_SOURCE | HS_SOURCE_FIELD : 0;
    asked |= c->anew ? HS_SOURCE_TIME | HS_SOURCE_FIELD_TIME : 0;
    for (int axis = 0; axis < HS_AXES; axis++)
        asked |= c->wrap[axis] ? HS_WALL_PERIODIC : 0;
    return asked;
}

static inline struct hs_box network_whole(const struct network_case *c)
{
    return (struct hs_box){{0, 0, 0}, {c->points[0], c->points[1], c->points[2]}};
}

/* `of` has layout, box, threads and steps. False if the kernel cannot handle the case; `reason`
 * says why. */
static inline bool network_plan(const struct hs_kernel *kernel, const struct network_case *c,
                                struct hs_case of, const struct hs_device_limits *limits,
                                struct hs_kernel_plan *plan, char *reason, size_t size)
{
    struct hs_face face[HS_FACES] = {{0}};
    for (int side = 0; side < HS_FACES; side++)
        face[side].wrap = c->wrap[side / 2];
    of.asked = network_features(c);
    of.precision = c->precision;
    of.dims = c->dims;
    of.radius = 1;
    of.face = face;
    return hs_kernel_plan_make(kernel, &of, limits, plan, reason, size);
}

#endif
