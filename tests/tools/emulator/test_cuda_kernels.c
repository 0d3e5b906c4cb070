/*
 * A CUDA kernel without a GPU: its file, compiled for the emulator, must give the bits of the plain
 * sum, on odd sizes and partial boxes, with and without a source, in three orders of running the
 * threads between barriers. It must not write nodes outside the box, nor use values that it must
 * not (whatever it need not read is NaN). Each kernel has its own program made from this file, so
 * that they run in parallel.
 */
#include "core/device.h"
#include "core/ghost.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "fused_line_1d/plan.h"
#include "launched.h"
#include "recursion.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_emulated; /* the linker's name for this program's kernel */
static const struct hs_kernel *const kernel = &hs_kernel_emulated;

enum { ORDERS = 3 };
void emulator_set_order_c(int order);
const char *emulator_complaint_c(void);

static unsigned long long dice = 12345;
static double toss(void) /* -1 .. 1 */
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(int64_t)(dice >> 11) / 4503599627370496.0 - 1.0;
}

struct fields {
    struct hs_layout layout;
    enum hs_precision precision;
    void *in, *out, *source; /* allocations */
};

static void *allocate(const struct fields *f)
{
    void *p = aligned_alloc(128, (size_t)(f->layout.elements + 64) * 8 / 128 * 128);
    for (int64_t n = 0; n < f->layout.elements; n++)
        hs_write(f->precision, p, n, NAN);
    return p;
}

static void fill(const struct fields *f, void *field, const struct hs_box *box)
{
    for (int64_t k = box->lo[2]; k < box->hi[2]; k++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
                hs_write(f->precision, field,
                         f->layout.origin + hs_layout_offset(&f->layout, i, j, k), toss());
}

/* Values where a star around the box's nodes reaches, NaN everywhere else. */
static void fill_input(const struct fields *f, const struct hs_box *box, int dims, int radius)
{
    for (int axis = 0; axis < dims; axis++) {
        struct hs_box wide = *box;
        wide.lo[axis] -= radius, wide.hi[axis] += radius;
        fill(f, f->in, &wide);
    }
}

static double plain_sum(const struct fields *f, const struct hs_sweep *sweep, int64_t at)
{
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&sweep->op->stencil, terms);
    double acc = hs_source_field(&sweep->source) ? hs_read(f->precision, f->source, at)
                                                 : sweep->source.value[0];
    for (int n = 0; n < count; n++) {
        const double in =
            hs_read(f->precision, f->in, at + terms[n].offset * f->layout.pitch[terms[n].axis]);
        acc = f->precision == HS_FLOAT ? (double)fmaf((float)terms[n].c, (float)in, (float)acc)
                                       : fma(terms[n].c, in, acc);
    }
    return acc;
}

static bool inside(const struct hs_box *box, int64_t i, int64_t j, int64_t k)
{
    return i >= box->lo[0] && i < box->hi[0] && j >= box->lo[1] && j < box->hi[1] &&
           k >= box->lo[2] && k < box->hi[2];
}

/* Whether a kernel may have written `out` at a node outside the box: see hs_sweep's may_copy. */
static bool may_be_copied(const struct fields *f, const struct hs_sweep *sweep, int64_t i,
                          int64_t j, int64_t k, double out)
{
    const int64_t group = 32 / (int64_t)hs_precision_size(f->precision);
    const int64_t first = i - (i % group + group) % group;
    bool beside = false;
    for (int64_t n = first; n < first + group; n++)
        beside = beside || inside(&sweep->box, n, j, k);
    const int64_t at = f->layout.origin + hs_layout_offset(&f->layout, i, j, k);
    return sweep->may_copy && beside && out == hs_read(f->precision, f->in, at);
}

static struct hs_kernel_plan plan_on(const struct hs_device_limits *limits,
                                     const struct hs_case *of)
{
    struct hs_kernel_plan plan;
    char reason[256];
    if (!hs_kernel_plan_make(kernel, of, limits, &plan, reason, sizeof reason))
        fail_msg("%s", reason);
    return plan;
}

/* The kernel's plan for the case, on an H200. */
static struct hs_kernel_plan plan_for(const struct hs_case *of)
{
    return plan_on(hs_device_find("H200"), of);
}

static void check(const struct fields *f, const struct hs_kernel_plan *plan,
                  const struct hs_sweep *sweep, const char *what)
{
    assert_ok_of(what, kernel->sweep(plan, sweep, &err));
    const char *complaint = emulator_complaint_c();
    if (complaint)
        fail_msg("%s: %s: %s", kernel->name, what, complaint);
    hold_launch(plan, sweep, what);
    for (int64_t at = 0; at < f->layout.elements; at++) {
        int64_t rest = at - f->layout.origin + 8 * f->layout.pitch[2];
        const int64_t k = rest / f->layout.pitch[2] - 8;
        rest = at - f->layout.origin - k * f->layout.pitch[2];
        const int64_t j = rest / f->layout.pitch[1], i = rest - j * f->layout.pitch[1];
        const double out = hs_read(f->precision, f->out, at);
        if (!inside(&sweep->box, i, j, k)) {
            if (!isnan(out) && !may_be_copied(f, sweep, i, j, k, out))
                fail_msg("%s: %s: node (%d, %d, %d) outside the box was written", kernel->name,
                         what, (int)i, (int)j, (int)k);
        } else {
            const double due = plain_sum(f, sweep, at);
            if (out != due)
                fail_msg("%s: %s: node (%d, %d, %d) is %.17g, not %.17g", kernel->name, what,
                         (int)i, (int)j, (int)k, out, due);
        }
    }
}

struct job {
    int64_t points[HS_AXES];
    int64_t lo[HS_AXES], hi[HS_AXES]; /* the box; hi 0: the whole grid less the radius */
};

/* Odd and even sizes, below and above a tile, and boxes that begin anywhere. */
static const struct job jobs[HS_AXES + 1][8] = {
    [1] = {{.points = {7, 1, 1}},
           {.points = {256, 1, 1}, .hi = {256, 1, 1}},
           {.points = {1531, 1, 1}, .hi = {1531, 1, 1}},
           {.points = {4999, 1, 1}},
           {.points = {700, 1, 1}, .lo = {301, 0, 0}, .hi = {333, 1, 1}},
           {.points = {2400, 1, 1}, .lo = {130, 0, 0}, .hi = {2399, 1, 1}}},
    [2] = {{.points = {7, 7, 1}},
           {.points = {33, 70, 1}, .hi = {33, 70, 1}},
           {.points = {130, 67, 1}},
           {.points = {128, 9, 1}, .hi = {128, 9, 1}},
           {.points = {300, 41, 1}, .lo = {37, 5, 0}, .hi = {291, 38, 1}},
           {.points = {301, 20, 1}, .lo = {131, 19, 0}, .hi = {132, 20, 1}}},
    [3] = {{.points = {7, 7, 7}},
           {.points = {35, 34, 39}, .hi = {35, 34, 39}},
           {.points = {131, 11, 9}},
           {.points = {128, 7, 8}, .hi = {128, 7, 8}},
           {.points = {140, 19, 21}, .lo = {5, 3, 4}, .hi = {135, 18, 20}},
           {.points = {37, 18, 70}, .lo = {9, 17, 1}, .hi = {34, 18, 69}}},
};

static void run_job(int dims, int radius, enum hs_precision precision, const struct job *job)
{
    const struct hs_grid grid = {.dims = dims,
                                 .points = {job->points[0], job->points[1], job->points[2]},
                                 .spacing = {1.0, 1.0, 1.0}};
    struct fields f = {.precision = precision};
    f.layout = hs_layout_make(&grid, radius, 128 / (int64_t)hs_precision_size(precision));
    struct hs_sweep sweep = {.precision = precision, .layout = f.layout, .steps = 1, .threads = 1};
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int halo = axis < dims && job->hi[0] == 0 ? radius : 0;
        sweep.box.lo[axis] = job->hi[0] ? job->lo[axis] : halo;
        sweep.box.hi[axis] = job->hi[0] ? job->hi[axis] : job->points[axis] - halo;
    }
    struct hs_operator op = {.stencil = {.dims = dims, .radius = radius}};
    for (int n = 0; n < hs_stencil_count(dims, radius); n++)
        op.stencil.c[n] = toss();
    const double value = precision == HS_FLOAT ? (double)(float)toss() : toss();
    f.in = allocate(&f), f.out = allocate(&f), f.source = allocate(&f);
    fill_input(&f, &sweep.box, dims, radius);
    fill(&f, f.source, &sweep.box);
    const size_t skip = (size_t)f.layout.origin * hs_precision_size(precision);
    sweep.op = &op;
    sweep.in = (char *)f.in + skip;
    sweep.out = (char *)f.out + skip;
    const void *const field = (char *)f.source + skip;
    const struct hs_face face[HS_FACES] = {{0}};
    struct hs_case of = {.precision = precision,
                         .dims = dims,
                         .radius = radius,
                         .layout = f.layout,
                         .box = sweep.box,
                         .face = face};
    void *scratch = NULL;
    for (int order = 0; order < ORDERS; order++) {
        of.asked = hs_feature_stencil(dims, radius, precision) |
                   (order == 0 ? HS_SOURCE | HS_SOURCE_FIELD : HS_SOURCE);
        const struct hs_kernel_plan plan = plan_for(&of);
        if (!scratch && plan.scratch)
            scratch = calloc(1, plan.scratch);
        sweep.scratch = order > 0 ? scratch : NULL; /* used twice: a call leaves it in order */
        emulator_set_order_c(order);
        for (int64_t n = 0; n < f.layout.elements; n++)
            hs_write(precision, f.out, n, NAN);
        sweep.source = (struct hs_source_view){.value = &value, .field = &field};
        sweep.source.form = order == 0 ? HS_SOURCE_IS_FIELD : HS_SOURCE_IS_UNIFORM;
        memcpy(sweep.source.pitch, f.layout.pitch, sizeof f.layout.pitch);
        sweep.may_copy = order != 1;
        char what[160];
        snprintf(what, sizeof what, "%dD radius %d %s, %d x %d x %d, order %d", dims, radius,
                 hs_precision_name(precision), (int)job->points[0], (int)job->points[1],
                 (int)job->points[2], order);
        check(&f, &plan, &sweep, what);
        if (plan.recursion)
            hold_recursion(kernel, &plan, sweep, f.out, order != 1, what);
    }
    free(f.in), free(f.out), free(f.source), free(scratch);
}

static bool can(int dims, int radius, enum hs_precision precision)
{
    char reason[120];
    return hs_features_cover(kernel->name, kernel->features,
                             hs_feature_stencil(dims, radius, precision), reason, sizeof reason);
}

void test_cuda_kernels__give_the_bits_of_the_plain_sum(void **state)
{
    if ((kernel->features & HS_APPLIES_WALLS))
        skip();
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int j = 0; can(dims, radius, precision) && jobs[dims][j].points[0]; j++)
                    run_job(dims, radius, precision, &jobs[dims][j]);
}

/* Planes with more tiles than a GPU has multiprocessors are swept by tiles of another shape. */
void test_cuda_kernels__bulk_march_sweeps_wide_planes_too(void **state)
{
    if (strcmp(kernel->name, "bulk_march") != 0)
        skip();
    for (int precision = 0; precision < HS_PRECISIONS; precision++)
        run_job(3, 1, precision,
                &(struct job){.points = {5, hs_device_find("H200")->multiprocessors * 8 + 13, 4}});
}

/* ---- kernels that apply the faces' rules themselves ------------------------------------------ */

/* Faces of all kinds in one problem, as core/boundary.c lowers them; `mix` chooses. */
enum { STEPS = 32 }; /* most that a kernel fuses */
struct walls {
    struct hs_face face[HS_FACES];
    struct hs_face_level level[STEPS];
    double number[STEPS + 1][HS_FACES]; /* boundary data at each time, uniform ... */
    void *table[STEPS + 1][HS_FACES];   /* ... or over the face, in the precision, unless NULL */
};

static int64_t face_nodes(const struct hs_layout *layout, int f)
{
    return layout->points[0] * layout->points[1] * layout->points[2] / layout->points[f / 2];
}

/* mixes of walls beyond those that are tried in turn */
enum { ALL_FIXED = 84, ALL_PERIODIC = 86 };

/* `stay`: data that differ from point to point do not change in time. */
static void set_walls(struct walls *walls, const struct fields *f, int dims, int radius, int mix,
                      bool uniform, bool stay)
{
    static const char *const kinds[] = {"fixed",      "dirichlet", "neumann", "robin",
                                        "reflective", "clamp",     "constant"};
    memset(walls, 0, sizeof *walls);
    for (int face = 0; face < 2 * dims; face++) {
        /* every third mix has a periodic axis, each time another one */
        const bool wraps = mix == ALL_PERIODIC || (mix % 3 == 2 && face / 2 == mix / 3 % dims);
        const char *kind = wraps              ? "periodic"
                           : mix == ALL_FIXED ? "fixed"
                                              : kinds[(mix * 3 + face * 2) % 7];
        walls->face[face] = make_wall(
            kind, (struct hs_value){.constant = 0.0}, 0.7,
            (struct hs_boundary_spec){.conductivity = 2.0, .spacing = 0.25, .radius = radius});
        for (int t = 0; t <= STEPS; t++) {
            walls->number[t][face] = f->precision == HS_FLOAT ? (double)(float)toss() : toss();
            if ((mix + face) % 2 || uniform)
                continue;
            walls->table[t][face] = walls->table[0][face];
            if (stay && t > 0)
                continue;
            const int64_t nodes = face_nodes(&f->layout, face);
            walls->table[t][face] = malloc((size_t)nodes * 8);
            for (int64_t n = 0; n < nodes; n++)
                hs_write(f->precision, walls->table[t][face], n, toss());
        }
    }
    for (int s = 0; s < STEPS; s++)
        for (int face = 0; face < HS_FACES; face++) {
            walls->level[s].data[face] = walls->number[s][face];
            walls->level[s].prescribed[face] = walls->number[s + 1][face];
            walls->level[s].data_field[face] = walls->table[s][face];
            walls->level[s].prescribed_field[face] = walls->table[s + 1][face];
        }
}

static void release_walls(struct walls *walls)
{
    for (int t = 0; t <= STEPS; t++)
        for (int face = 0; face < HS_FACES; face++)
            if (t == 0 || walls->table[t][face] != walls->table[0][face])
                free(walls->table[t][face]);
}

static double wall_value(const struct walls *walls, const struct fields *f, int t, int face,
                         const int64_t node[HS_AXES])
{
    if (!walls->table[t][face])
        return walls->number[t][face];
    const int64_t *n = f->layout.points;
    const int64_t at = face / 2 == 0   ? node[1] + n[1] * node[2]
                       : face / 2 == 1 ? node[0] + n[0] * node[2]
                                       : node[0] + n[0] * node[1];
    return hs_read(f->precision, walls->table[t][face], at);
}

static double multiply_add(enum hs_precision p, double a, double b, double c)
{
    return p == HS_FLOAT ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static double times(enum hs_precision p, double a, double b)
{
    return p == HS_FLOAT ? (double)((float)a * (float)b) : a * b;
}

/* Value at a node or ghost of the field at time t, by the rule of core/boundary.h. */
static double value_at(const struct walls *walls, const struct fields *f, int dims,
                       const double *field, int t, const int64_t node[HS_AXES])
{
    const int64_t *n = f->layout.points;
    if (inside(&(struct hs_box){.hi = {n[0], n[1], n[2]}}, node[0], node[1], node[2]))
        return field[(node[2] * n[1] + node[1]) * n[0] + node[0]];
    int64_t at[HS_AXES] = {node[0], node[1], node[2]};
    for (int axis = 0; axis < dims; axis++) {
        if (at[axis] >= 0 && at[axis] < n[axis])
            continue;
        const int face = 2 * axis + (at[axis] > 0);
        if (walls->face[face].wrap) {
            at[axis] = (at[axis] + 10 * n[axis]) % n[axis];
            continue;
        }
        const int m = (int)(at[axis] < 0 ? -at[axis] : at[axis] - n[axis] + 1);
        int64_t edge[HS_AXES] = {at[0], at[1], at[2]}, inner[HS_AXES] = {at[0], at[1], at[2]};
        edge[axis] = face % 2 ? n[axis] - 1 : 0;
        inner[axis] = face % 2 ? n[axis] - 1 - m : m;
        const struct hs_face *rule = &walls->face[face];
        const enum hs_precision p = f->precision;
        const double offset =
            times(p, p == HS_FLOAT ? (double)(float)rule->c[m - 1] : rule->c[m - 1],
                  wall_value(walls, f, t, face, edge));
        const double a = rule->a[m - 1], in = value_at(walls, f, dims, field, t, inner);
        const double b = rule->b[m - 1], at_edge = value_at(walls, f, dims, field, t, edge);
        return p == HS_FLOAT
                   ? (double)hs_ghost((float)a, (float)in, (float)b, (float)at_edge, (float)offset)
                   : hs_ghost(a, in, b, at_edge, offset);
    }
    return field[(at[2] * n[1] + at[1]) * n[0] + at[0]];
}

/* Sources: a number for each sweep; one field; a field for each sweep, which may be constant along
 * y or z, or the same in all sweeps; tables. */
enum source {
    NUMBERS,
    ONE_FIELD,
    FIELDS,
    PLANES_XY,
    PLANES_XZ,
    ROWS,
    ONE_ROW,
    ONE_FOR_EACH, /* a field for each sweep, always the same */
    SOURCES,
    TABLES = SOURCES
};

static int64_t source_elements(const struct fields *f) /* of one field; all are aligned */
{
    return (f->layout.elements + 127) / 128 * 128;
}

/* Sets the request's source; fills `source` with values everywhere. */
static void set_source(struct hs_sweep *sweep, const struct fields *f, enum source source,
                       const void **level, int levels)
{
    const size_t size = hs_precision_size(f->precision);
    const char *const first = (const char *)f->source + (size_t)f->layout.origin * size;
    const bool one = source == ONE_ROW || source == ONE_FOR_EACH;
    sweep->source.form = source == NUMBERS     ? HS_SOURCE_IS_UNIFORM
                         : source == ONE_FIELD ? HS_SOURCE_IS_FIELD
                                               : HS_SOURCE_IS_FIELDS;
    sweep->source.field = level;
    sweep->source.pitch[HS_X] = 1;
    sweep->source.pitch[HS_Y] =
        source == PLANES_XZ || source == ROWS || source == ONE_ROW ? 0 : f->layout.pitch[HS_Y];
    sweep->source.pitch[HS_Z] =
        source == PLANES_XY || source == ROWS || source == ONE_ROW ? 0 : f->layout.pitch[HS_Z];
    for (int l = 0; l < levels; l++)
        level[l] = first + (one ? 0 : l) * (int64_t)size * source_elements(f);
}

/* The same for tables, with values everywhere, also between the rows; the result is to be freed. */
static double *set_tables(struct hs_sweep *sweep, const struct fields *f,
                          struct hs_source_tables *tables)
{
    const int64_t *n = f->layout.points, pitch = (n[HS_X] + 15) / 16 * 16;
    const int64_t plane = pitch * n[HS_Y], all = plane + (2 * n[HS_Z] + 15) / 16 * 16;
    double *memory = aligned_alloc(128, (size_t)(all * sweep->steps) * sizeof *memory);
    for (int64_t i = 0; i < all * sweep->steps; i++)
        memory[i] = toss();
    for (int s = 0; s < sweep->steps; s++) {
        tables[s].plane = memory + s * all;
        tables[s].line = (const struct hs_source_line *)(memory + s * all + plane);
    }
    sweep->source.form = HS_SOURCE_IS_OF_TABLES;
    sweep->source.tables = tables;
    sweep->source.pitch[HS_X] = 1;
    sweep->source.pitch[HS_Y] = pitch;
    sweep->source.pitch[HS_Z] = 0;
    sweep->source.scale = 0.3;
    return memory;
}

static double table_value(const struct hs_sweep *sweep, enum hs_precision precision, int step,
                          const int64_t node[HS_AXES])
{
    const struct hs_source_tables *t = &sweep->source.tables[step];
    const struct hs_source_line *line = &t->line[node[HS_Z]];
    const double plane = t->plane[node[HS_Y] * sweep->source.pitch[HS_Y] + node[HS_X]];
    const double value = (plane * line->column + line->offset) * sweep->source.scale;
    return precision == HS_FLOAT ? (double)(float)value : value;
}

static double source_at(const struct hs_sweep *sweep, const struct fields *f, int step,
                        const int64_t node[HS_AXES])
{
    if (sweep->source.form == HS_SOURCE_IS_OF_TABLES)
        return table_value(sweep, f->precision, step, node);
    if (sweep->source.form == HS_SOURCE_IS_FIELD)
        return hs_read(f->precision, sweep->source.field[0],
                       hs_layout_offset(&f->layout, node[0], node[1], node[2]));
    if (sweep->source.form == HS_SOURCE_IS_FIELDS)
        return hs_read(f->precision, sweep->source.field[step],
                       node[0] + node[1] * sweep->source.pitch[1] +
                           node[2] * sweep->source.pitch[2]);
    return sweep->source.value[step];
}

/* One sweep by the definition, on dense fields. */
static void plain_sweep(const struct walls *walls, const struct fields *f,
                        const struct hs_sweep *sweep, int step, const double *in, double *out)
{
    const int64_t *n = f->layout.points;
    const int dims = sweep->op->stencil.dims;
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&sweep->op->stencil, terms);
    int64_t node[HS_AXES];
    for (node[2] = 0; node[2] < n[2]; node[2]++)
        for (node[1] = 0; node[1] < n[1]; node[1]++)
            for (node[0] = 0; node[0] < n[0]; node[0]++) {
                double value = value_at(walls, f, dims, in, step, node);
                bool held = false;
                for (int face = 0; face < 2 * dims; face++) {
                    const int64_t depth =
                        face % 2 ? n[face / 2] - 1 - node[face / 2] : node[face / 2];
                    held = held || depth < walls->face[face].held;
                    if (depth == 0 && walls->face[face].prescribed)
                        value = wall_value(walls, f, step + 1, face, node);
                }
                if (!held) {
                    value = source_at(sweep, f, step, node);
                    for (int t = 0; t < count; t++) {
                        int64_t at[HS_AXES] = {node[0], node[1], node[2]};
                        at[terms[t].axis] += terms[t].offset;
                        value = multiply_add(f->precision, terms[t].c,
                                             value_at(walls, f, dims, in, step, at), value);
                    }
                }
                out[(node[2] * n[1] + node[1]) * n[0] + node[0]] = value;
            }
}

/* Turns a sweep's result, `out`, into the next field of a recursion; `before` is X_n-1. */
static void advance(const struct walls *walls, enum hs_precision precision, int dims,
                    const int64_t n[HS_AXES], double factor, const double *before, double *out)
{
    int64_t at = 0, node[HS_AXES];
    for (node[2] = 0; node[2] < n[2]; node[2]++)
        for (node[1] = 0; node[1] < n[1]; node[1]++)
            for (node[0] = 0; node[0] < n[0]; node[0]++, at++) {
                bool held = false;
                for (int face = 0; face < 2 * dims; face++)
                    held = held || (face % 2 ? n[face / 2] - 1 - node[face / 2] : node[face / 2]) <
                                       walls->face[face].held;
                if (!held)
                    out[at] = recursion_next(precision, factor, out[at], before[at]);
            }
}

/* The values of a field's nodes, [nz][ny][nx]. */
static double *values_of(const struct fields *f, const void *field)
{
    const int64_t *n = f->layout.points;
    double *const out = malloc((size_t)(n[0] * n[1] * n[2]) * sizeof *out);
    int64_t at = 0;
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++)
                out[at++] = hs_read(f->precision, field,
                                    f->layout.origin + hs_layout_offset(&f->layout, i, j, k));
    return out;
}

/* The nodes must have the values `due`, and nothing else may have been written. */
static void hold_values(const struct fields *f, const void *field, const double *due,
                        const char *what)
{
    const int64_t *n = f->layout.points;
    int64_t at = 0, finite = 0;
    for (int64_t e = 0; e < f->layout.elements; e++)
        finite += !isnan(hs_read(f->precision, field, e));
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++, at++) {
                const double out = hs_read(
                    f->precision, field, f->layout.origin + hs_layout_offset(&f->layout, i, j, k));
                if (out != due[at])
                    fail_msg("%s: %s: node (%d, %d, %d) is %.17g, not %.17g", kernel->name, what,
                             (int)i, (int)j, (int)k, out, due[at]);
            }
    if (finite != at)
        fail_msg("%s: %s: nodes outside the grid were written", kernel->name, what);
}

/* After the first part of a call: the layers at both ends are there, but not all others. */
static void hold_ends(const struct fields *f, const void *field, const double *due, int64_t ends,
                      const char *what)
{
    const int64_t *n = f->layout.points;
    int64_t others = 0;
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t at = 0; at < n[0] * n[1]; at++) {
            const int64_t place =
                f->layout.origin + hs_layout_offset(&f->layout, at % n[0], at / n[0], k);
            const bool came = hs_read(f->precision, field, place) == due[k * n[0] * n[1] + at];
            others += !came;
            if (!came && (k < ends || k >= n[2] - ends))
                fail_msg("%s: %s: layer %d is not there after the first part", kernel->name, what,
                         (int)k);
        }
    assert_true(others > 0);
}

/* How a kernel that fuses sweeps is tried. */
struct fusion {
    int mix, steps;
    enum source source;
    bool uniform; /* all faces are uniform */
    bool stay;    /* data that are not uniform do not change in time */
    bool recurs;  /* sweeps of a recursion */
    bool parts;   /* calls in two parts, on a device of one multiprocessor */
};

/* The features that a problem with such a source and such faces asks for. */
static hs_features asked_for(int dims, int radius, enum hs_precision precision,
                             const struct fusion *fusion)
{
    hs_features asked = hs_feature_stencil(dims, radius, precision) | HS_SOURCE;
    if (fusion->source != NUMBERS)
        asked |= HS_SOURCE_FIELD;
    if (fusion->source > ONE_FIELD)
        asked |= HS_SOURCE_TIME | HS_SOURCE_FIELD_TIME;
    if (fusion->source == TABLES)
        asked |= HS_SOURCE_TABLES;
    if (!fusion->uniform)
        asked |= HS_WALL_FIELD | (fusion->stay ? 0 : HS_WALL_FIELD_TIME);
    return asked;
}

/* The plan for a grid that suits every kernel; only its steps and forms matter. */
static struct hs_kernel_plan plan_of(int dims, int radius, enum hs_precision precision,
                                     enum source source, bool uniform)
{
    static const int64_t points[HS_AXES + 1][HS_AXES] = {
        {0}, {1301, 1, 1}, {700, 61, 1}, {90, 100, 41}};
    const struct fusion fusion = {.source = source, .uniform = uniform, .stay = true};
    const struct hs_grid grid = {.dims = dims,
                                 .points = {points[dims][0], points[dims][1], points[dims][2]}};
    const struct hs_face face[HS_FACES] = {{0}};
    const struct hs_case of = {.asked = asked_for(dims, radius, precision, &fusion),
                               .source_varies = source == NUMBERS ? 0 : HS_VARIES_SPACE,
                               .precision = precision,
                               .dims = dims,
                               .radius = radius,
                               .layout = hs_layout_make(&grid, radius, 32),
                               .box = hs_grid_box(&grid),
                               .face = face};
    return plan_for(&of);
}

/* The largest difference of two fields, in their precision. */
static double largest_change(enum hs_precision precision, const double *a, const double *b,
                             int64_t count)
{
    double most = 0.0;
    for (int64_t n = 0; n < count; n++)
        most = fmax(most,
                    precision == HS_FLOAT ? fabsf((float)a[n] - (float)b[n]) : fabs(a[n] - b[n]));
    return most;
}

static void run_fused(int dims, int radius, enum hs_precision precision,
                      const int64_t points[HS_AXES], const struct fusion *fusion)
{
    const int mix = fusion->mix;
    const struct hs_grid grid = {
        .dims = dims, .points = {points[0], points[1], points[2]}, .spacing = {1.0, 1.0, 1.0}};
    struct fields f = {.precision = precision};
    f.layout = hs_layout_make(&grid, radius, 128 / (int64_t)hs_precision_size(precision));
    struct walls walls;
    set_walls(&walls, &f, dims, radius, mix, fusion->uniform, fusion->stay);
    struct hs_case of = {.asked = asked_for(dims, radius, precision, fusion),
                         .source_varies = fusion->source == NUMBERS ? 0 : HS_VARIES_SPACE,
                         .precision = precision,
                         .dims = dims,
                         .radius = radius,
                         .layout = f.layout,
                         .box = hs_grid_box(&grid),
                         .face = walls.face,
                         .steps = fusion->steps};
    for (int face = 0; face < 2 * dims; face++) {
        if (face % 2)
            of.box.hi[face / 2] -= walls.face[face].held;
        else
            of.box.lo[face / 2] += walls.face[face].held;
    }
    struct hs_device_limits limits = *hs_device_find("H200");
    if (fusion->parts)
        limits.multiprocessors = 1;
    const struct hs_kernel_plan plan = plan_on(&limits, &of);
    assert_true(!fusion->parts || plan.ends > 0);
    f.layout = hs_layout_moved(f.layout, plan.shift);
    struct hs_sweep sweep = {.precision = precision,
                             .layout = f.layout,
                             .steps = fusion->steps,
                             .box = of.box,
                             .face = walls.face,
                             .level = walls.level,
                             .threads = 1};
    struct hs_operator op = {.stencil = {.dims = dims, .radius = radius}};
    struct hs_stencil *const stencil = &op.stencil;
    sweep.op = &op;
    for (int n = 0; n < hs_stencil_count(dims, radius); n++)
        stencil->c[n] = precision == HS_FLOAT ? (double)(float)(0.2 * toss()) : 0.2 * toss();
    double value[STEPS];
    for (int s = 0; s < STEPS; s++)
        value[s] = precision == HS_FLOAT ? (double)(float)toss() : toss();
    const struct hs_box nodes = hs_grid_box(&grid);
    void *scratch = NULL; /* kept from call to call */
    if (plan.scratch) {
        const size_t bytes = (plan.scratch + 127) / 128 * 128;
        scratch = memset(aligned_alloc(128, bytes), 0, bytes);
    }
    sweep.scratch = scratch;
    f.in = allocate(&f), f.out = allocate(&f);
    const int source_fields = fusion->source >= FIELDS && fusion->source <= ROWS ? sweep.steps : 1;
    const int64_t elements = source_elements(&f) * source_fields;
    f.source = aligned_alloc(128, (size_t)elements * 8);
    for (int64_t n = 0; n < elements; n++)
        hs_write(precision, f.source, n, toss());
    fill(&f, f.in, &nodes); /* no ghosts */
    const size_t skip = (size_t)f.layout.origin * hs_precision_size(precision);
    sweep.in = (char *)f.in + skip;
    sweep.out = (char *)f.out + skip;
    sweep.source.value = value;
    const void *level[STEPS];
    struct hs_source_tables tables[STEPS];
    double *table_memory = NULL;
    if (fusion->source == TABLES)
        table_memory = set_tables(&sweep, &f, tables);
    else
        set_source(&sweep, &f, fusion->source, level, sweep.steps);
    const int64_t count = hs_grid_count(&grid);
    void *const before = allocate(&f), *const last_but_one = allocate(&f);
    double factor[STEPS];
    for (int s = 0; s < STEPS; s++)
        factor[s] = toss();
    const struct hs_recursion recursion = {.before = (char *)before + skip,
                                           .last_but_one = (char *)last_but_one + skip,
                                           .factor = factor};
    if (fusion->recurs)
        sweep.recursion = &recursion;
    fill(&f, before, &nodes);
    double *now = values_of(&f, f.in), *next = malloc((size_t)count * 8);
    double *older = values_of(&f, before); /* X_n-1 */
    for (int step = 0; step < sweep.steps; step++) {
        plain_sweep(&walls, &f, &sweep, step, now, next);
        if (fusion->recurs)
            advance(&walls, precision, dims, points, factor[step], older, next);
        double *const swap = older;
        older = now, now = next, next = swap;
    }
    const double change = largest_change(precision, now, older, count);
    static int turn;
    /* twice if a call leaves memory for the next */
    for (int call = 0; call < (plan.scratch ? 2 : 1); call++) {
        const int order = turn++ % ORDERS;
        emulator_set_order_c(order);
        for (int64_t n = 0; n < f.layout.elements; n++) {
            hs_write(precision, f.out, n, NAN);
            hs_write(precision, last_but_one, n, NAN);
        }
        char what[200];
        snprintf(what, sizeof what,
                 "%dD radius %d %s, %d x %d x %d, %d steps%s, walls %d, source %d, order %d", dims,
                 radius, hs_precision_name(precision), (int)points[0], (int)points[1],
                 (int)points[2], sweep.steps, fusion->recurs ? " of a recursion" : "", mix,
                 (int)fusion->source, order);
        double told = 0.0; /* a float or a double */
        const bool tells = plan.fused_max_norm && fusion->steps == plan.steps;
        sweep.change = tells && !fusion->recurs ? &told : NULL;
        if (fusion->parts) {
            sweep.part = HS_SWEEP_ENDS;
            assert_ok_of(what, kernel->sweep(&plan, &sweep, &err));
            hold_ends(&f, f.out, now, plan.ends, what);
            sweep.part = HS_SWEEP_INSIDE;
        }
        assert_ok_of(what, kernel->sweep(&plan, &sweep, &err));
        const char *complaint = emulator_complaint_c();
        if (complaint)
            fail_msg("%s: %s: %s", kernel->name, what, complaint);
        hold_launch(&plan, &sweep, what);
        if (sweep.change && hs_read(precision, &told, 0) != change)
            fail_msg("%s: %s: the last sweep's change is %.17g, not %.17g", kernel->name, what,
                     hs_read(precision, &told, 0), change);
        hold_values(&f, f.out, now, what);
        if (fusion->recurs && sweep.steps > 1)
            hold_values(&f, last_but_one, older, what);
    }
    release_walls(&walls);
    free(scratch), free(now), free(next), free(older), free(table_memory);
    free(before), free(last_but_one);
    free(f.in), free(f.out), free(f.source);
}

/* All sources and walls that the kernel fuses, in one dims, radius and precision. */
static void run_fusions(int dims, int radius, enum hs_precision precision)
{
    static const int64_t sizes[HS_AXES + 1][3][HS_AXES] = {
        {{0, 0, 0}},
        {{7, 1, 1}, {131, 1, 1}, {1029, 1, 1}},
        {{7, 9, 1}, {67, 35, 1}, {150, 11, 1}},
        {{7, 8, 9}, {35, 11, 10}, {9, 21, 19}},
    };
    /* for kernels that need a tile's points: one tile, slightly more, a few, more planes */
    static const int64_t wide[HS_AXES + 1][3][HS_AXES] = {
        {{0, 0, 0}},
        {{512, 1, 1}, {519, 1, 1}, {1301, 1, 1}},
        {{256, 9, 1}, {263, 61, 1}, {700, 37, 1}},
        {{65, 64, 5}, {130, 71, 9}, {120, 122, 14}},
    };
    /* the same for radius 2, whose tiles are taller */
    static const int64_t tall[3][HS_AXES] = {{65, 96, 8}, {130, 103, 9}, {64, 190, 41}};
    static const int64_t long_line[HS_AXES] = {HS_LINE_LONG + 5, 1, 1};
    const bool resident = strcmp(kernel->name, "resident") == 0;
    const bool strips = strcmp(kernel->name, "fused_march_2d") == 0;
    const bool takes_small = resident || strncmp(kernel->name, "temporal", 8) == 0;
    const int64_t(*const points)[HS_AXES] = takes_small               ? sizes[dims]
                                            : dims == 3 && radius > 1 ? tall
                                                                      : wide[dims];
    for (int mix = 0; mix < 12; mix++) {
        const bool uniform = !(kernel->features & HS_SOURCE_FIELD) || (resident && mix % 4 < 2);
        struct fusion fusion = {.mix = mix, .uniform = uniform, .stay = resident};
        fusion.source = mix % 2 && kernel->features & HS_SOURCE_FIELD ? ONE_FIELD : NUMBERS;
        const struct hs_kernel_plan plan =
            plan_of(dims, radius, precision, fusion.source, fusion.uniform);
        const int most = plan.steps;
        fusion.steps = hs_kernel_plan_takes(&plan, most, 1 + mix * 7 % (most <= STEPS ? most : 15));
        run_fused(dims, radius, precision, points[mix / 2 % 3], &fusion);
        if (strips) { /* the largest call may not have come up */
            fusion.steps = most;
            run_fused(dims, radius, precision, points[(mix + 1) / 2 % 3], &fusion);
        }
    }
    const int recursion = plan_of(dims, radius, precision, NUMBERS, true).recursion;
    for (int mix = 0; mix < 18 && recursion > 0; mix++) {
        const struct fusion fusion = {.mix = mix < 16 ? mix : ALL_FIXED + 2 * (mix - 16),
                                      .steps = 1 + (mix + mix / 3) % recursion,
                                      .uniform = true,
                                      .recurs = true};
        run_fused(dims, radius, precision, points[mix / 2 % 3], &fusion);
    }
    for (int turn = 2; turn < 2 * SOURCES && (kernel->features & HS_SOURCE_LEVELS); turn++) {
        struct fusion fusion = {.mix = turn + turn / 2, .uniform = turn % 2};
        fusion.source = (enum source)(turn / 2);
        const struct hs_kernel_plan plan =
            plan_of(dims, radius, precision, fusion.source, fusion.uniform);
        fusion.steps =
            hs_kernel_plan_takes(&plan, plan.steps, turn % 5 ? plan.steps : 1 + turn % plan.steps);
        run_fused(dims, radius, precision, points[turn % 3], &fusion);
    }
    for (int mix = 0; mix < 9 && (kernel->features & HS_SOURCE_LEVELS); mix++) {
        const int most = plan_of(dims, radius, precision, ONE_FIELD, true).steps;
        const struct fusion fusion = {
            .mix = mix, .steps = most, .source = ONE_FIELD, .uniform = true};
        run_fused(dims, radius, precision, points[mix % 3], &fusion);
    }
    for (int mix = 0; mix < 9 && (kernel->features & HS_SOURCE_TABLES); mix++) {
        const struct hs_kernel_plan plan = plan_of(dims, radius, precision, TABLES, true);
        const int most = plan.steps;
        const int steps = hs_kernel_plan_takes(&plan, most, mix % 4 ? most : 1 + mix / 4 % most);
        const struct fusion fusion = {
            .mix = mix, .steps = steps, .source = TABLES, .uniform = true};
        run_fused(dims, radius, precision, points[mix / 2 % 3], &fusion);
    }
    /* columns enough for blocks of fused_radius2_3d to march in step */
    static const int64_t many[HS_AXES] = {512, 360, 9};
    if (dims == 3 && radius == 2 && precision == HS_FLOAT && !takes_small) {
        const struct fusion fusion = {.mix = ALL_FIXED, .steps = kernel->steps, .uniform = true};
        run_fused(dims, radius, precision, many, &fusion);
    }
    /* more columns than multiprocessors, so that many columns are one chunk */
    static const int64_t more[HS_AXES] = {512, 390, 17};
    if (dims == 3 && precision == HS_DOUBLE && !(kernel->features & HS_SOURCE_FIELD) &&
        (kernel->features & HS_APPLIES_WALLS) && !strips) {
        const struct fusion fusion = {.mix = ALL_FIXED, .steps = kernel->steps, .uniform = true};
        run_fused(dims, radius, precision, more, &fusion);
    }
    /* more strips than fused_march_2d's blocks share by its table */
    static const int64_t broad[HS_PRECISIONS][HS_AXES] = {{31003, 5, 1}, {43003, 5, 1}};
    if (dims == 2 && strips) {
        const int steps = precision == HS_FLOAT ? 5 : kernel->steps;
        const struct fusion fusion = {.mix = 3, .steps = steps, .uniform = true};
        run_fused(dims, radius, precision, broad[precision], &fusion);
    }
    /* rows of whole vectors across the wrap, which TMA then fetches in two pieces */
    static const int64_t even[HS_AXES] = {700, 61, 1};
    for (int mix = 8; dims == 2 && strips && mix <= ALL_PERIODIC; mix += ALL_PERIODIC - 8)
        for (int few = 0; few < 2; few++) {
            const struct hs_kernel_plan plan = plan_of(dims, radius, precision, NUMBERS, true);
            const int steps = few ? hs_kernel_plan_takes(&plan, plan.steps, 7) : plan.steps;
            const struct fusion fusion = {.mix = mix, .steps = steps, .uniform = true};
            run_fused(dims, radius, precision, even, &fusion);
        }
    /* as many vectors per thread as resident supports, with a source partly in registers */
    static const int64_t full[HS_AXES + 1][HS_AXES] = {[2] = {1011, 1013, 1}, [3] = {89, 83, 61}};
    if (resident && precision == HS_DOUBLE) {
        const struct fusion fusion = {.mix = dims == 2 ? 5 : 7,
                                      .steps = 3,
                                      .source = ONE_FIELD,
                                      .uniform = dims == 2,
                                      .stay = true};
        run_fused(dims, radius, precision, full[dims], &fusion);
    }
    if (dims == 1) {
        const int most = kernel->steps <= STEPS ? kernel->steps : 15;
        const struct fusion fusion = {
            .mix = 5, .steps = 1 + 35 % most, .uniform = !(kernel->features & HS_SOURCE_FIELD)};
        run_fused(dims, radius, precision, long_line, &fusion);
    }
}

/* Columns of several chunks. Rows are odd: in double, even ones would leave some in one chunk. */
void test_cuda_kernels__calls_in_two_parts_give_the_same_bits(void **state)
{
    static const int64_t points[HS_PRECISIONS][HS_AXES] = {{65, 64, 600}, {65, 33, 900}};
    if (strncmp(kernel->name, "fused_march_3d", 14) && strcmp(kernel->name, "fused_fields_3d"))
        skip();
    for (int precision = 0; precision < HS_PRECISIONS; precision++) {
        const int steps = plan_of(3, 1, (enum hs_precision)precision, NUMBERS, true).steps;
        const struct fusion fusion = {
            .mix = 3 + 2 * precision, .steps = steps, .uniform = true, .parts = true};
        run_fused(3, 1, (enum hs_precision)precision, points[precision], &fusion);
    }
}

void test_cuda_kernels__fused_sweeps_give_the_bits_of_single_ones(void **state)
{
    if (!(kernel->features & HS_APPLIES_WALLS))
        skip();
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                if (can(dims, radius, precision))
                    run_fusions(dims, radius, precision);
}
