/*
 * A CUDA kernel of conduction without a GPU: its file, compiled for the emulator beside this, must
 * give the bits of the definition in core/network.h, written out as a plain loop here. Networks are
 * of random rows, in all forms, with walls and periodic axes, sinks, sources, held and prescribed
 * nodes. All that a kernel need not read is NaN, or a number that no row has.
 */
#include "core/device.h"
#include "core/kernel.h"
#include "recursion.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_emulated; /* the linker's name for this program's one */
static const struct hs_kernel *const kernel = &hs_kernel_emulated;

enum { ORDERS = 3, STEPS = 8 };
void emulator_set_order_c(int order);
const char *emulator_complaint_c(void);

static unsigned long long dice = 12345;
static unsigned roll(unsigned sides) /* 0 .. sides-1 */
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((dice >> 33) % sides);
}

/* What a case is. Rows are of so many kinds, each of which there is for nodes that are the last
 * along any axes (a bit each), which have no edge there. */
enum { LAST = 1 << HS_AXES };
struct job {
    int dims, steps;
    enum hs_precision precision;
    enum hs_network_form form;
    int64_t points[HS_AXES], lo[HS_AXES], hi[HS_AXES]; /* the box; hi 0: the whole grid */
    bool wrap[HS_AXES];
    unsigned kinds;
    unsigned block[HS_AXES]; /* so many nodes along each axis have the same kind, ... */
    unsigned noise;          /* ... but one of so many, which has any */
    bool source, sinks, forced;
};

static double toss(const struct job *job) /* -1 .. 1, in the precision */
{
    const double value = 2.0 * roll(1u << 30) / (1u << 30) - 1.0;
    return job->precision == HS_FLOAT ? (double)(float)value : value + ldexp(roll(1u << 20), -50);
}

/* The network and values as the definition has them, of nodes [nz][ny][nx]. */
struct body {
    unsigned rows;
    double (*row)[HS_ROW_NUMBERS]; /* as in hs_network_view */
    double *forcing;               /* [steps][rows] */
    unsigned *number;
    double *now, *next, *source;
};

/* The node that (x, y, z) is, or behind a wrap stands for; -1: none. */
static int64_t place(const struct job *job, const int64_t node[HS_AXES])
{
    int64_t at = 0;
    for (int axis = HS_Z; axis >= HS_X; axis--) {
        const int64_t n = job->points[axis];
        const int64_t i = job->wrap[axis] ? (node[axis] + n) % n : node[axis];
        if (i < 0 || i >= n)
            return -1;
        at = at * n + i;
    }
    return at;
}

static void make_rows(const struct job *job, struct body *body)
{
    body->rows = 1 + LAST * job->kinds; /* the first is of what is no node */
    body->row = calloc(body->rows, sizeof *body->row);
    body->forcing = calloc((size_t)job->steps * body->rows, sizeof(double));
    for (unsigned n = 1; n < body->rows; n++) {
        const unsigned held = roll(8);
        for (int axis = 0; axis < HS_AXES; axis++)
            body->row[n][axis] = (n - 1) % LAST >> axis & 1u ? 0.0 : 1.0 + toss(job);
        body->row[n][3] = held < 2 ? 0.0 : 0.0625 * (1.0 + toss(job));
        body->row[n][4] = job->sinks && roll(2) ? 1.0 + toss(job) : 0.0;
        body->row[n][5] = held == 0 && job->form != HS_NETWORK_ARRAYS ? 0.0 : 1.0;
        for (int s = 0; s < job->steps; s++)
            body->forcing[(unsigned)s * body->rows + n] = job->forced && roll(2) ? toss(job) : 0.0;
    }
}

static void make_body(const struct job *job, struct body *body)
{
    const int64_t *n = job->points;
    const size_t count = (size_t)(n[0] * n[1] * n[2]);
    make_rows(job, body);
    body->number = calloc(count, sizeof *body->number);
    body->now = calloc(count, sizeof(double));
    body->next = calloc(count, sizeof(double));
    body->source = calloc(count, sizeof(double));
    const unsigned salt = roll(1u << 30);
    size_t at = 0;
    int64_t node[HS_AXES];
    for (node[2] = 0; node[2] < n[2]; node[2]++)
        for (node[1] = 0; node[1] < n[1]; node[1]++)
            for (node[0] = 0; node[0] < n[0]; node[0]++, at++) {
                unsigned last = 0, kind = salt;
                for (int axis = 0; axis < HS_AXES; axis++) {
                    if (axis >= job->dims || (!job->wrap[axis] && node[axis] == n[axis] - 1))
                        last |= 1u << axis;
                    kind = (kind ^ (unsigned)node[axis] / job->block[axis]) * 2654435761u;
                    kind ^= kind >> 15;
                }
                if (roll(job->noise) == 0)
                    kind = roll(1u << 30);
                body->number[at] = 1 + kind % job->kinds * LAST + last;
                body->now[at] = toss(job);
                body->source[at] = toss(job);
            }
}

/* ---- the definition ------------------------------------------------------------------------- */

static double multiply_add(const struct job *job, double a, double b, double c)
{
    return job->precision == HS_FLOAT ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static double minus(const struct job *job, double a, double b)
{
    return job->precision == HS_FLOAT ? (double)((float)a - (float)b) : a - b;
}

static double plus(const struct job *job, double a, double b)
{
    return job->precision == HS_FLOAT ? (double)((float)a + (float)b) : a + b;
}

static double defined(const struct job *job, const struct body *body, int step,
                      const int64_t node[HS_AXES])
{
    const int64_t at = place(job, node);
    const double *const own = body->row[body->number[at]], here = body->now[at];
    double sum = 0.0;
    for (int edge = 0; edge < 2 * job->dims; edge++) {
        const bool before = edge < job->dims;
        const int axis = before ? job->dims - 1 - edge : edge - job->dims;
        int64_t there[HS_AXES] = {node[0], node[1], node[2]};
        there[axis] += before ? -1 : 1;
        const int64_t other = place(job, there);
        if (other < 0)
            continue;
        const double g = before ? body->row[body->number[other]][axis] : own[axis];
        sum = multiply_add(job, g, minus(job, body->now[other], here), sum);
    }
    sum = multiply_add(job, -own[4], here, sum);
    double kept = multiply_add(job, own[5], here,
                               body->forcing[(unsigned)step * body->rows + body->number[at]]);
    if (job->source)
        kept = plus(job, kept, body->source[at]);
    return multiply_add(job, own[3], sum, kept);
}

static void sweep_by_definition(const struct job *job, struct body *body, int step)
{
    int64_t node[HS_AXES], at = 0;
    for (node[2] = 0; node[2] < job->points[2]; node[2]++)
        for (node[1] = 0; node[1] < job->points[1]; node[1]++)
            for (node[0] = 0; node[0] < job->points[0]; node[0]++)
                body->next[at++] = defined(job, body, step, node);
    double *const swap = body->now;
    body->now = body->next, body->next = swap;
}

/* ---- as a kernel is given it ---------------------------------------------------------------- */

/* In a device's memory: fields in the layout, beside what nobody may use. */
struct memory {
    struct hs_layout layout;
    struct hs_network_view view;
    void *row, *forcing, *number, *in, *out, *source;
    void *member[HS_AXES + 3]; /* as arrays: G along each axis, dt/C, g, s */
};

/* A field of elements of so many bytes, all NaN, or a number that no row has. */
static void *new_field(const struct memory *m, size_t size)
{
    const size_t bytes = ((size_t)m->layout.elements * size + 127) / 128 * 128 + 128;
    return memset(aligned_alloc(128, bytes), 0xff, bytes);
}

static void *first_node(const struct memory *m, void *field, size_t size)
{
    return field ? (char *)field + (size_t)m->layout.origin * size : NULL;
}

/* What a member of the arrays says of a node, and for -1 of what is none. */
static double member_of(const struct body *body, int member, int64_t node)
{
    const unsigned number = node < 0 ? 0 : body->number[node];
    return member == 5 ? body->forcing[number] : body->row[number][member];
}

/* Everything at one node, or at a ghost beside one; `ghost` values are there unless the kernel
 * applies walls. */
static void put(const struct job *job, const struct body *body, struct memory *m,
                const int64_t node[HS_AXES], bool ghost)
{
    const int64_t at = m->layout.origin + hs_layout_offset(&m->layout, node[0], node[1], node[2]);
    const int64_t from = place(job, node);
    if (!ghost || !(kernel->features & HS_APPLIES_WALLS))
        hs_write(job->precision, m->in, at, from < 0 ? toss(job) : body->now[from]);
    if (!ghost)
        hs_write(job->precision, m->source, at, body->source[from]);
    const unsigned number = from < 0 ? 0 : body->number[from];
    if (job->form == HS_NETWORK_BYTES)
        ((uint8_t *)m->number)[at] = (uint8_t)number;
    else if (job->form == HS_NETWORK_SHORTS)
        ((uint16_t *)m->number)[at] = (uint16_t)number;
    for (int n = 0; n < HS_AXES + 3; n++)
        if (m->member[n])
            hs_write(job->precision, m->member[n], at, member_of(body, n, from));
}

/* Nodes, and the ghosts that a node has as neighbours. */
static void put_all(const struct job *job, const struct body *body, struct memory *m)
{
    int64_t node[HS_AXES], lo[HS_AXES], hi[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++) {
        lo[axis] = axis < job->dims ? -1 : 0;
        hi[axis] = job->points[axis] - lo[axis];
    }
    for (node[2] = lo[2]; node[2] < hi[2]; node[2]++)
        for (node[1] = lo[1]; node[1] < hi[1]; node[1]++)
            for (node[0] = lo[0]; node[0] < hi[0]; node[0]++) {
                int beyond = 0;
                for (int axis = 0; axis < HS_AXES; axis++)
                    beyond += node[axis] < 0 || node[axis] >= job->points[axis];
                if (beyond <= 1)
                    put(job, body, m, node, beyond == 1);
            }
}

static void make_memory(const struct job *job, const struct body *body, int shift, struct memory *m)
{
    const size_t size = hs_precision_size(job->precision);
    const struct hs_grid grid = {.dims = job->dims,
                                 .points = {job->points[0], job->points[1], job->points[2]}};
    *m = (struct memory){.layout = hs_layout_make(&grid, 1, 128 / (int64_t)size)};
    m->layout = hs_layout_moved(m->layout, shift);
    m->in = new_field(m, size), m->out = new_field(m, size), m->source = new_field(m, size);
    struct hs_network_view *const view = &m->view;
    view->form = job->form;
    memcpy(view->wrap, job->wrap, sizeof job->wrap);
    if (job->form == HS_NETWORK_ARRAYS) {
        for (int n = 0; n < HS_AXES + 3; n++)
            if (n < job->dims || n == 3 || (n == 4 && job->sinks) || (n == 5 && job->forced))
                m->member[n] = new_field(m, size);
    } else {
        const size_t bytes = job->form == HS_NETWORK_BYTES ? 1 : 2;
        m->number = new_field(m, bytes);
        m->row = aligned_alloc(128, (body->rows * size * HS_ROW_NUMBERS + 127) / 128 * 128);
        m->forcing = malloc((size_t)job->steps * body->rows * size);
        for (unsigned n = 0; n < body->rows * HS_ROW_NUMBERS; n++)
            hs_write(job->precision, m->row, n, body->row[n / HS_ROW_NUMBERS][n % HS_ROW_NUMBERS]);
        for (unsigned n = 0; n < (unsigned)job->steps * body->rows; n++)
            hs_write(job->precision, m->forcing, n, body->forcing[n]);
        view->row_count = (int)body->rows;
        view->row = m->row, view->forcing = m->forcing;
        view->number = first_node(m, m->number, bytes);
    }
    for (int axis = 0; axis < HS_AXES; axis++)
        view->conductance[axis] = first_node(m, m->member[axis], size);
    view->rate = first_node(m, m->member[3], size);
    view->sink = first_node(m, m->member[4], size);
    view->added = first_node(m, m->member[5], size);
    put_all(job, body, m);
}

static void release(struct body *body, struct memory *m)
{
    free(body->row), free(body->forcing), free(body->number);
    free(body->now), free(body->next), free(body->source);
    free(m->row), free(m->forcing), free(m->number);
    free(m->in), free(m->out), free(m->source);
    for (int n = 0; n < HS_AXES + 3; n++)
        free(m->member[n]);
}

/* ---- the comparison ------------------------------------------------------------------------- */

static const char *name_of(const struct job *job, int order)
{
    static const char *const forms[] = {"bytes", "shorts", "arrays"};
    static char text[200];
    snprintf(text, sizeof text,
             "%s: %dD %s %s, %d x %d x %d, wraps %d%d%d, %u kinds, blocks of %u x %u x %u, noise "
             "%u, source %d, sinks %d, forced %d, steps %d, order %d",
             kernel->name, job->dims, hs_precision_name(job->precision), forms[job->form],
             (int)job->points[0], (int)job->points[1], (int)job->points[2], job->wrap[0],
             job->wrap[1], job->wrap[2], job->kinds, job->block[0], job->block[1], job->block[2],
             job->noise, job->source, job->sinks, job->forced, job->steps, order);
    return text;
}

static void compare(const struct job *job, const struct body *body, const struct memory *m,
                    const struct hs_box *box, int order)
{
    int64_t written = 0, node[HS_AXES];
    for (int64_t at = 0; at < m->layout.elements; at++)
        written += !isnan(hs_read(job->precision, m->out, at));
    for (node[2] = box->lo[2]; node[2] < box->hi[2]; node[2]++)
        for (node[1] = box->lo[1]; node[1] < box->hi[1]; node[1]++)
            for (node[0] = box->lo[0]; node[0] < box->hi[0]; node[0]++) {
                const int64_t offset = hs_layout_offset(&m->layout, node[0], node[1], node[2]);
                const double out = hs_read(job->precision, m->out, m->layout.origin + offset);
                const double due = body->now[place(job, node)];
                if (out != due)
                    fail_msg("%s: node (%d, %d, %d) is %.17g, not %.17g", name_of(job, order),
                             (int)node[0], (int)node[1], (int)node[2], out, due);
            }
    if (written != hs_box_count(box))
        fail_msg("%s: %d nodes were written, not %d", name_of(job, order), (int)written,
                 (int)hs_box_count(box));
}

static hs_features asked_by(const struct job *job)
{
    hs_features asked = HS_CONDUCTION | hs_feature_dims(job->dims) | HS_RADIUS_1 |
                        hs_feature_precision(job->precision) | HS_BYTES << job->form |
                        (job->source ? HS_SOURCE | HS_SOURCE_FIELD : 0);
    for (int axis = 0; axis < HS_AXES; axis++)
        asked |= job->wrap[axis] ? HS_WALL_PERIODIC : 0;
    return asked;
}

/* On an H200. */
static struct hs_kernel_plan plan_for(const struct job *job, const struct hs_box *box)
{
    const size_t size = hs_precision_size(job->precision);
    const struct hs_grid grid = {.dims = job->dims,
                                 .points = {job->points[0], job->points[1], job->points[2]}};
    struct hs_face face[HS_FACES] = {{0}};
    for (int f = 0; f < HS_FACES; f++)
        face[f].wrap = job->wrap[f / 2];
    const struct hs_case of = {.asked = asked_by(job),
                               .precision = job->precision,
                               .dims = job->dims,
                               .radius = 1,
                               .layout = hs_layout_make(&grid, 1, 128 / (int64_t)size),
                               .box = *box,
                               .face = face,
                               .steps = job->steps};
    struct hs_kernel_plan plan;
    char reason[256];
    if (!hs_kernel_plan_make(kernel, &of, hs_device_find("H200"), &plan, reason, sizeof reason))
        fail_msg("%s: %s", name_of(job, 0), reason);
    return plan;
}

/* In all orders of running threads, or in one. */
static void run(const struct job *job, int only)
{
    struct body body;
    struct memory m;
    make_body(job, &body);
    struct hs_box box = {{0, 0, 0}, {job->points[0], job->points[1], job->points[2]}};
    for (int axis = 0; axis < HS_AXES && job->hi[0]; axis++)
        box.lo[axis] = job->lo[axis], box.hi[axis] = job->hi[axis];
    const struct hs_kernel_plan plan = plan_for(job, &box);
    make_memory(job, &body, plan.shift, &m);
    for (int step = 0; step < job->steps; step++)
        sweep_by_definition(job, &body, step);
    const struct hs_operator op = {.kind = HS_OPERATOR_CONDUCTION, .network = &m.view};
    const size_t size = hs_precision_size(job->precision);
    const double value[STEPS] = {0};
    const void *const field = first_node(&m, m.source, size);
    struct hs_sweep sweep = {.precision = job->precision,
                             .layout = m.layout,
                             .box = box,
                             .op = &op,
                             .in = first_node(&m, m.in, size),
                             .out = first_node(&m, m.out, size),
                             .steps = job->steps,
                             .source = {.value = value},
                             .threads = 1,
                             .scratch = plan.scratch ? calloc(1, plan.scratch) : NULL};
    if (job->source) {
        sweep.source.form = HS_SOURCE_IS_FIELD;
        sweep.source.field = &field;
        memcpy(sweep.source.pitch, m.layout.pitch, sizeof m.layout.pitch);
    }
    for (int order = 0; order < ORDERS; order++) {
        if (only >= 0 && order != only)
            continue;
        emulator_set_order_c(order);
        for (int64_t at = 0; at < m.layout.elements; at++)
            hs_write(job->precision, m.out, at, NAN);
        struct hs_error err;
        hs_error_init(&err);
        if (kernel->sweep(&plan, &sweep, &err) != HS_OK)
            fail_msg("%s: %s", name_of(job, order), err.text);
        const char *complaint = emulator_complaint_c();
        if (complaint)
            fail_msg("%s: %s", name_of(job, order), complaint);
        compare(job, &body, &m, &box, order);
        if (job->steps == 1 && plan.recursion > 0)
            hold_recursion(kernel, &plan, sweep, m.out, order != 1, name_of(job, order));
    }
    free(sweep.scratch);
    release(&body, &m);
}

/* Bodies of all sorts, `turn` chooses: layers, blocks, a node like no other, noise; and which axes
 * wrap. Bytes have 249 rows at most, 256 in one job. */
static void vary(struct job *job, int turn)
{
    static const struct {
        unsigned block[HS_AXES], noise, kinds;
    } bodies[] = {{{1000, 1000, 3}, 1u << 29, 8},
                  {{1000, 3, 1000}, 1u << 29, 8},
                  {{8, 8, 8}, 1u << 29, 8},
                  {{1000, 1000, 1000}, 500, 31},
                  {{1, 1, 1}, 1, 31},
                  {{5, 1000, 7}, 40, 3},
                  {{1000, 1000, 1000}, 1u << 29, 1}};
    const int n = turn % (int)(sizeof bodies / sizeof *bodies);
    memcpy(job->block, bodies[n].block, sizeof job->block);
    job->noise = bodies[n].noise;
    job->kinds = bodies[n].kinds;
    if (job->form != HS_NETWORK_BYTES)
        job->kinds *= turn % 3 ? 1 : 150;
    for (int axis = 0; axis < job->dims; axis++)
        job->wrap[axis] = turn % 5 == 1 + axis || turn % 5 == 4;
    job->sinks = turn % 2;
    job->forced = turn % 4 < 2;
}

static bool can(struct job *job)
{
    char reason[200];
    return hs_features_cover(kernel->name, kernel->features, asked_by(job), reason, sizeof reason);
}

/* Odd and even sizes, less and more than a tile, more tiles than an H200 runs at once, and boxes
 * that begin anywhere. */
static const struct {
    int64_t points[HS_AXES], lo[HS_AXES], hi[HS_AXES];
} grids[HS_AXES + 1][9] = {
    [1] = {{{3, 1, 1}}, {{256, 1, 1}}, {{1531, 1, 1}}, {{700, 1, 1}, {301, 0, 0}, {333, 1, 1}}},
    [2] = {{{3, 4, 1}},
           {{33, 70, 1}},
           {{130, 67, 1}},
           {{256, 9, 1}},
           {{300, 41, 1}, {37, 5, 0}, {291, 38, 1}}},
    [3] = {{{3, 4, 5}},
           {{35, 34, 39}},
           {{131, 11, 9}},
           {{128, 8, 17}},
           {{140, 19, 21}, {5, 3, 4}, {135, 18, 20}},
           {{524, 9, 4}, {3, 0, 0}, {521, 9, 4}},
           {{5, 1130, 3}},
           {{37, 18, 70}, {9, 17, 1}, {34, 18, 69}}},
};

void test_cuda_conduction__gives_the_bits_of_the_definition(void **state)
{
    if (kernel->features & HS_APPLIES_WALLS)
        skip();
    int turn = 0, tried = 0;
    for (int n = 0; n < HS_AXES * HS_PRECISIONS * 3; n++)
        for (int source = 0; source < 2; source++) {
            struct job job = {.dims = 1 + n % 3,
                              .steps = 1,
                              .precision = (enum hs_precision)(n / 3 % 2),
                              .form = (enum hs_network_form)(n / 6),
                              .source = source};
            for (int g = 0; can(&job) && grids[job.dims][g].points[0]; g++, turn++, tried++) {
                memcpy(job.points, grids[job.dims][g].points, sizeof job.points);
                memcpy(job.lo, grids[job.dims][g].lo, sizeof job.lo);
                memcpy(job.hi, grids[job.dims][g].hi, sizeof job.hi);
                vary(&job, turn);
                run(&job, turn % ORDERS);
            }
        }
    assert_true(tried >= 24);
}

/* One tile and hardly more, a few, many planes; of fused sweeps by tiles of 64 nodes along x and 72
 * along y in float, 36 in double. */
void test_cuda_conduction__fused_sweeps_give_the_bits_of_single_ones(void **state)
{
    static const int64_t points[][HS_AXES] = {
        {64, 72, 3}, {65, 73, 7}, {132, 79, 12}, {121, 143, 9}, {72, 75, 41}};
    if (!(kernel->features & HS_APPLIES_WALLS))
        skip();
    int turn = 0;
    for (int n = 0; n < HS_PRECISIONS * 2; n++)
        for (int g = 0; g < 7; g++, turn++) {
            struct job job = {.dims = 3,
                              .steps = turn % 3 == 2 ? 1 + turn / 3 % kernel->steps : kernel->steps,
                              .precision = (enum hs_precision)(n % 2),
                              .form = (enum hs_network_form)(n / 2)};
            memcpy(job.points, points[g % 5], sizeof job.points);
            vary(&job, turn);
            job.wrap[HS_X] = job.wrap[HS_X] && job.points[HS_X] % 4 == 0; /* others are refused */
            run(&job, turn % ORDERS);
        }
}
