/*
 * Problems cut into slabs by hand. The partials of the slabs, in order, must be those of the whole
 * problem, bit for bit.
 */
#ifndef HS_TESTS_SLABS_H
#define HS_TESTS_SLABS_H

#include "core/backend.h"
#include "core/slab.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLABS_HALO = 3 }; /* layers; not a multiple of what a GPU loads at once */

static uint64_t slabs_seed = 1;

static inline double slabs_noise(void) /* from 0 to 1, not representable in float */
{
    slabs_seed = slabs_seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(slabs_seed >> 11) * 0x1p-53;
}

struct slabs_case {
    int dims;
    int64_t points[HS_AXES];
    enum hs_precision precision;
    bool wraps;     /* the slowest axis is periodic */
    bool body;      /* a body, else a stencil */
    bool stretched; /* for bodies only */
    bool bad;       /* some nodes are not finite */
    enum hs_network_form form;
};

/* 1D; rows and planes with one layer per block and with several; blocks of one or more pieces. */
static const struct slabs_case slabs_grids[] = {
    {.dims = 1, .points = {1999, 1, 1}},  {.dims = 1, .points = {70001, 1, 1}},
    {.dims = 2, .points = {37, 1501, 1}}, {.dims = 2, .points = {9001, 23, 1}},
    {.dims = 3, .points = {9, 8, 1101}},  {.dims = 3, .points = {45, 101, 17}},
};
enum { SLABS_GRIDS = sizeof slabs_grids / sizeof *slabs_grids };

/* Nodes without edges, which lose heat through sinks. */
static inline struct hs_network *slabs_network(const struct hs_problem *problem,
                                               enum hs_network_form form)
{
    enum { ROWS = 17 };
    struct hs_network *out = calloc(1, sizeof *out);
    const int64_t count = hs_grid_count(&problem->grid);
    const bool arrays = form == HS_NETWORK_ARRAYS;
    const size_t rows = arrays ? (size_t)count : ROWS;
    struct hs_network_row *row = calloc(rows, sizeof *row);
    uint8_t *number = arrays ? NULL : malloc((size_t)count);
    for (size_t r = arrays ? 0 : 1; r < rows; r++)
        row[r] = (struct hs_network_row){.capacity = 0.5 + slabs_noise(), .sink = slabs_noise()};
    for (int64_t n = 0; n < count && number; n++)
        number[n] = (uint8_t)(1 + (n * 7919) % (ROWS - 1));
    *out = (struct hs_network){.grid = problem->grid,
                               .form = form,
                               .forcing_count = 1,
                               .forcing = calloc(1, sizeof *out->forcing)};
    if (arrays)
        out->node = row;
    else {
        out->row_count = ROWS;
        out->row = row;
        out->number = number;
    }
    return out;
}

static inline void slabs_problem(struct hs_problem *problem, const struct slabs_case *c)
{
    hs_problem_init(problem);
    problem->solver.threads = 2;
    problem->precision = c->precision;
    problem->raw = !c->body;
    problem->material.density = 3.0;
    problem->material.specific_heat = 5.0;
    problem->grid.dims = c->dims;
    for (int axis = 0; axis < c->dims; axis++) {
        const bool wraps = c->wraps && axis == c->dims - 1;
        problem->grid.points[axis] = c->points[axis];
        problem->grid.spacing[axis] = 0.1 + 0.1 * axis;
        for (int side = 0; side < 2; side++)
            problem->face[2 * axis + side] = make_wall(
                wraps ? "periodic" : "reflective", (struct hs_value){0}, 0.0,
                (struct hs_boundary_spec){.conductivity = NAN, .spacing = 0.1, .radius = 1});
        double *place = c->stretched ? calloc((size_t)c->points[axis] + 1, sizeof *place) : NULL;
        for (int64_t i = 0; i < c->points[axis] && place; i++)
            place[i + 1] = place[i] + problem->grid.spacing[axis] * (1.0 + slabs_noise());
        problem->grid.coordinate[axis] = place;
    }
    for (int n = 0; n < hs_stencil_count(c->dims, 1); n++)
        problem->c[n] = 0.1 + 0.01 * n;
    if (c->body) {
        problem->body = calloc(1, sizeof *problem->body);
        problem->network = slabs_network(problem, c->form);
    }
}

static inline void *slabs_field(const struct slabs_case *c)
{
    const int64_t count = c->points[HS_X] * c->points[HS_Y] * c->points[HS_Z];
    void *out = malloc((size_t)count * hs_precision_size(c->precision));
    for (int64_t n = 0; n < count; n++)
        hs_write(c->precision, out, n, 1.0 + slabs_noise());
    for (int64_t n = count / 3; n < count && c->bad; n += count / 5)
        hs_write(c->precision, out, n, n % 2 ? NAN : -INFINITY);
    return out;
}

/* Copies the slab's first `layers` layers out of an array of the whole, [layers][size bytes]. */
static inline void *slabs_layers(const struct hs_slab *slab, int64_t layers, size_t size,
                                 const void *whole)
{
    char *out = malloc((size_t)layers * size);
    for (int64_t n = 0; n < layers; n++)
        memcpy(out + (size_t)n * size, (const char *)whole + (size_t)hs_slab_layer(slab, n) * size,
               size);
    return out;
}

/* The slab [lo, hi) of the whole's layers; the outermost halo layer is held. Its outer walls are
 * the whole's. The edge weight of its borders must not be used. Free with slabs_release. */
static inline void slabs_cut(struct hs_problem *out, struct hs_slab *slab,
                             const struct hs_problem *whole, int64_t lo, int64_t hi)
{
    const int axis = whole->grid.dims - 1;
    const int64_t n = whole->grid.points[axis], layer = hs_grid_count(&whole->grid) / n;
    const bool wraps = whole->face[2 * axis].wrap;
    const int64_t below = lo > 0 || wraps ? SLABS_HALO : 0,
                  above = hi < n || wraps ? SLABS_HALO : 0;
    const struct hs_face border = {.type = "border", .held = 1, .edge_weight = 0.75};
    *out = *whole;
    *slab = (struct hs_slab){
        .whole = whole, .first = (lo - below + n) % n, .lo = below, .hi = below + hi - lo};
    out->slab = slab;
    out->grid.points[axis] = below + hi - lo + above;
    if (below)
        out->face[2 * axis] = border;
    if (above)
        out->face[2 * axis + 1] = border;
    if (whole->grid.coordinate[axis]) /* not on a periodic axis */
        out->grid.coordinate[axis] += slab->first;
    if (!whole->network)
        return;
    out->network = malloc(sizeof *out->network);
    *out->network = *whole->network;
    out->network->grid = out->grid;
    out->network->number = slabs_layers(slab, out->grid.points[axis],
                                        (size_t)layer * hs_network_node_bytes(whole->network->form),
                                        whole->network->number);
}

static inline void slabs_release(struct hs_problem *problem)
{
    if (!problem->network)
        return;
    free(problem->network->number);
    free(problem->network);
}

/* Puts the partials of the problem, or of the layers that the slab owns, into `out` after `sweeps`
 * sweeps of `field`, [nodes] of the whole. Returns how many there are. */
static inline int64_t slabs_reduce(const struct hs_backend *backend, const struct hs_kernel *kernel,
                                   const struct hs_problem *problem, const void *field,
                                   int64_t sweeps, struct hs_partial *out)
{
    const int axis = problem->grid.dims - 1;
    const int64_t n = problem->grid.points[axis];
    const size_t size =
        (size_t)(hs_grid_count(&problem->grid) / n) * hs_precision_size(problem->precision);
    const struct hs_slab all = {.whole = problem};
    const struct hs_box box = hs_grid_box(&problem->grid);
    const struct hs_span span = {
        .count = sweeps, .step = 0.01, .op = hs_problem_operator(problem, 0.01), .keep_last = true};
    void *here = slabs_layers(problem->slab ? problem->slab : &all, n, size, field);
    const struct hs_partial *partial = NULL;
    struct hs_backend_state *state = NULL;
    assert_ok_of(kernel->name, backend->create(problem, kernel, &state, &err));
    assert_ok_of(kernel->name, backend->upload(state, &box, here, &err));
    if (sweeps > 0)
        assert_ok_of(kernel->name, backend->sweep(state, &span, &err));
    assert_ok_of(kernel->name, backend->reduce(state, &partial, &err));
    const int64_t pieces = hs_blocks_of(problem).pieces;
    memcpy(out, partial, (size_t)pieces * sizeof *out);
    backend->destroy(state);
    free(here);
    return pieces;
}

/* Where slab s of `slabs` begins: where a block does. The blocks are not shared evenly. */
static inline int64_t slabs_border(const struct hs_problem *whole, int s, int slabs)
{
    const struct hs_blocks blocks = hs_blocks_of(whole);
    const int64_t count = blocks.pieces / blocks.parts, n = blocks.end;
    const int64_t block = s == 0 || s == slabs ? count * s / slabs : (count * s - s % 2) / slabs;
    return block * blocks.layers < n ? block * blocks.layers : n;
}

/* The whole's reduction is as core/problem.h and core/network.h define it, summed node by node. The
 * stored heat is the increase over the heat of `field`. */
static inline void slabs_check_sums(const struct hs_problem *whole, const void *field, bool swept,
                                    const struct hs_reduction *r)
{
    const int64_t nx = whole->grid.points[HS_X], ny = whole->grid.points[HS_Y];
    struct hs_sum sum = {0}, volume = {0}, heat = {0};
    double min = INFINITY, max = -INFINITY;
    int64_t bad = 0, first_bad = 0;
    for (int64_t n = 0; n < hs_grid_count(&whole->grid); n++) {
        const double x = hs_read(whole->precision, field, n);
        const double v = hs_problem_node_volume(whole, n % nx, n / nx % ny, n / nx / ny);
        if (!isfinite(x)) {
            first_bad = bad++ ? first_bad : n;
            continue;
        }
        min = fmin(min, x);
        max = fmax(max, x);
        hs_sum_add(&sum, v * x);
        hs_sum_add(&volume, v);
        const double c = whole->network ? hs_network_row_at(whole->network, n)->capacity : 15.0 * v;
        hs_sum_add(&heat, c * x);
    }
    const double mean = hs_sum_value(&sum) / hs_sum_value(&volume), before = hs_sum_value(&heat);
    /* a lane adds some 300 doubles of one sign: 300 times half an epsilon */
    const double slack = 1e-13;
    if (swept) {
        if (bad == 0)
            assert_near(r->stored, r->heat - before, slack * before);
        return;
    }
    assert_true(r->min == min && r->max == max && r->not_finite == bad);
    assert_near(r->mean, mean, slack * mean);
    assert_near(r->heat, before, slack * before);
    assert_true(r->first_bad[HS_X] == first_bad % nx && r->first_bad[HS_Y] == first_bad / nx % ny &&
                r->first_bad[HS_Z] == first_bad / nx / ny);
}

/* Every node, halo included, has the same volume as in the whole. */
static inline void slabs_check_volumes(const struct hs_problem *part)
{
    const struct hs_problem *whole = part->slab->whole;
    const int axis = whole->grid.dims - 1;
    for (int64_t n = 0; n < part->grid.points[axis]; n++) {
        int64_t here[HS_AXES] = {0}, there[HS_AXES] = {0};
        here[axis] = n;
        there[axis] = hs_slab_layer(part->slab, n);
        assert_true(hs_problem_node_volume(part, here[HS_X], here[HS_Y], here[HS_Z]) ==
                    hs_problem_node_volume(whole, there[HS_X], there[HS_Y], there[HS_Z]));
    }
}

/* Fails if any bit differs. */
static inline void slabs_compare(const struct hs_backend *backend, const struct hs_kernel *kernel,
                                 const struct slabs_case *c, bool swept)
{
    static const int counts[] = {1, 2, 3, 5};
    struct hs_partial *due = calloc(HS_PIECES_MOST, sizeof *due);
    struct hs_partial *here = calloc(HS_PIECES_MOST, sizeof *here);
    struct hs_problem whole;
    slabs_problem(&whole, c);
    void *field = slabs_field(c);
    const int64_t pieces = slabs_reduce(backend, kernel, &whole, field, swept, due);
    const struct hs_reduction all = hs_reduction_of(&whole, due, pieces);
    assert_true(isfinite(all.mean) && isfinite(all.heat) && all.heat > 0.0);
    assert_true(swept && !c->bad ? all.change > 0.0 : isnan(all.change));
    assert_true(!swept || all.stored != 0.0);
    assert_true((all.not_finite > 0) == c->bad);
    slabs_check_sums(&whole, field, swept, &all);
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        int64_t count = 0;
        for (int s = 0; s < counts[n]; s++) {
            struct hs_problem part;
            struct hs_slab slab;
            slabs_cut(&part, &slab, &whole, slabs_border(&whole, s, counts[n]),
                      slabs_border(&whole, s + 1, counts[n]));
            slabs_check_volumes(&part);
            count += slabs_reduce(backend, kernel, &part, field, swept, here + count);
            slabs_release(&part);
        }
        assert_int_equal(count, pieces);
        for (int64_t p = 0; p < pieces; p++)
            if (memcmp(&here[p], &due[p], sizeof *due) != 0)
                fail_msg("%s, %dD %s, %lld x %lld x %lld, body %d form %d, wraps %d, stretched %d, "
                         "bad %d, swept %d, %d slabs: piece %lld of %lld differs",
                         kernel->name, c->dims, hs_precision_name(c->precision),
                         (long long)c->points[0], (long long)c->points[1], (long long)c->points[2],
                         c->body, c->form, c->wraps, c->stretched, c->bad, swept, counts[n],
                         (long long)p, (long long)pieces);
    }
    free(field);
    free(due);
    free(here);
    hs_problem_release(&whole);
}

/* Checks all grids, with a stencil kernel and a conduction kernel. */
static inline void slabs_compare_all(const struct hs_backend *backend,
                                     const struct hs_kernel *stencil,
                                     const struct hs_kernel *conduction)
{
    for (int n = 0; n < 16 * SLABS_GRIDS; n++) {
        struct slabs_case c = slabs_grids[n / 16];
        c.precision = n & 1 ? HS_DOUBLE : HS_FLOAT;
        c.body = n & 2;
        c.bad = n & 4;
        c.wraps = n & 8;
        c.stretched = c.body && !c.wraps && n & 1;
        c.form = n / 16 & 1 ? HS_NETWORK_ARRAYS : HS_NETWORK_BYTES;
        slabs_compare(backend, c.body ? conduction : stencil, &c, n % 5 > 0);
    }
}

#endif
