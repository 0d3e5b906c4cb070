/*
 * Slabs give the bits of the whole: random cases, by every CPU kernel that can do them, with every
 * kind of boundary, both operators, sources and walls that change in space and time, on 1 to 6
 * slabs that exchange their halos before each call of one sweep or several. The same holds for
 * their parts of the reductions.
 *
 * The environment may set SEED, and MANY for the number of cases.
 */
#include "core/halo.h"
#include "core/reduction.h"
#include "engine/case.h"
#include "engine/ranks/slab.h"
#include "engine/registry.h"
#include "functions/fields.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct hs_backend hs_backend_cpu;

enum { SLABS = 6 };

static int any(int count)
{
    return (int)below((uint32_t)count);
}

static double noise(void)
{
    return any(1 << 20) * 0x1p-19 - 1.0;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static const char *const expressions[] = {"1.5",
                                          "\"2 - 30*t\"",
                                          "\"0.5 + x*y - z\"",
                                          "\"cos(9*z) + sin(7*y)*x\"",
                                          "\"0.5 + x*y - z*(1 + 50*t)\"",
                                          "\"exp(-9*(x - 40*t)^2 - 8*(z - y)^2)\""};

static const char *any_expression(void)
{
    return expressions[any(sizeof expressions / sizeof *expressions)];
}

static void put_wall(FILE *out, bool body, bool with_periodic)
{
    static const char *const kinds[] = {
        "fixed\"",      "dirichlet\"; value = %s",        "neumann\"; flux = %s",
        "reflective\"", "robin\"; h = 3.0; ambient = %s", "neumann\"; gradient = %s",
        "clamp\"",      "constant\"; value = %s"};
    const int kind = any(body ? 5 : 8);
    fprintf(out, "type = \"");
    if (with_periodic)
        fprintf(out, "periodic\"");
    else
        fprintf(out, kinds[kind], any_expression()); /* NOLINT: the formats are above */
    fprintf(out, "; ");
}

static void put_walls(FILE *out, int dims, bool body)
{
    fprintf(out, "boundary = {\n");
    for (int axis = 0; axis < dims; axis++) {
        const bool periodic = any(4) == 0;
        for (int end = 0; end < 2; end++) {
            fprintf(out, "  %c_%s = { ", "xyz"[axis], end ? "max" : "min");
            put_wall(out, body, periodic);
            if (body && !periodic && dims == 3 && any(3) == 0) {
                fprintf(out, "patches = ( { lower = [0.2, 0.2]; upper = [0.6, 0.7]; ");
                put_wall(out, body, false);
                fprintf(out, "} ); ");
            }
            fprintf(out, "};\n");
        }
    }
    fprintf(out, "};\n");
}

static void put_grid(FILE *out, int dims, const int64_t points[HS_AXES], bool stretched)
{
    fprintf(out, "grid = { ");
    if (!stretched) {
        fprintf(out, "points = [");
        for (int axis = 0; axis < dims; axis++)
            fprintf(out, "%s%lld", axis ? ", " : "", (long long)points[axis]);
        fprintf(out, "]; upper = [");
        for (int axis = 0; axis < dims; axis++)
            fprintf(out, "%s1.0", axis ? ", " : "");
        fprintf(out, "]; };\n");
        return;
    }
    for (int axis = 0; axis < dims; axis++)
        fprintf(out, "%c = { segments = ( {to = 1.0; cells = %lld; ratio = 1.1;} ); }; ",
                "xyz"[axis], (long long)points[axis] - 1);
    fprintf(out, "};\n");
}

static void put_body(FILE *out, int dims)
{
    fprintf(out,
            "materials = ( { name = \"a\"; conductivity = 2.0; density = 10.0; specific_heat = "
            "90.0; },\n"
            "  { name = \"b\"; conductivity = 0.1; density = 12.0; specific_heat = 20.0;%s } );\n"
            "body = ( { material = \"a\"; }, { material = \"b\"; shape = \"sphere\"; centre = [",
            any(2) ? " source = \"40*t\";" : "");
    for (int axis = 0; axis < dims; axis++)
        fprintf(out, "%s%g", axis ? ", " : "", 0.3 + 0.1 * any(5));
    fprintf(out, "]; radius = %g; } );\n", 0.2 + 0.1 * any(4));
    if (any(2))
        fprintf(out, "contacts = ( { between = [\"a\", \"b\"]; resistance = 0.02; } );\n");
}

static void put_corner(FILE *out, const char *name, int dims, double least)
{
    fprintf(out, "%s = [", name);
    for (int axis = 0; axis < dims; axis++)
        fprintf(out, "%s%g", axis ? ", " : "", least + 0.05 * any(11));
    fprintf(out, "]; ");
}

/* Regions large enough that each contains a node. */
static void put_initial(FILE *out, int dims)
{
    static const char *const fields[] = {"value = 1.0", "expression = \"x + cos(9*z)*y\"",
                                         "expression = \"exp(-9*(x - y)^2 - 8*(z - 0.4)^2)\""};
    fprintf(out, "initial = { %s; regions = (", fields[any(3)]);
    for (int r = any(3); r >= 0; r--) {
        fprintf(out, " { value = \"%d + x*y - z\"; shape = ", r);
        if (any(2)) {
            fprintf(out, "\"sphere\"; radius = %g; ", 0.3 + 0.1 * any(8));
            put_corner(out, "centre", dims, 0.25);
        } else {
            fprintf(out, "\"box\"; ");
            put_corner(out, "lower", dims, 0.0);
            put_corner(out, "upper", dims, 0.85);
        }
        fprintf(out, "}%s", r ? "," : "");
    }
    fprintf(out, " ); };\n");
}

static void put_case(FILE *out, int dims, const int64_t points[HS_AXES])
{
    const bool body = any(3) == 0;
    put_grid(out, dims, points, body && any(2));
    fprintf(out, "precision = \"%s\";\n", any(2) ? "float" : "double");
    if (body)
        put_body(out, dims);
    else
        fprintf(out,
                "material = { conductivity = 2.0; density = 10.0; specific_heat = 9.0; };\n"
                "stencil = { radius = %d; };\n",
                any(2) ? 1 : 1 + any(HS_MAX_RADIUS));
    put_walls(out, dims, body);
    if (any(2))
        fprintf(out, "source = { expression = %s; };\n", any_expression());
    put_initial(out, dims);
    fprintf(out, "time = { sweeps = 20; };\n");
}

/* Made from a config, so that all that a user can ask for reaches slabs as in a run. */
static void make_case(struct hs_problem *problem, int n)
{
    static const int64_t most[HS_AXES][HS_AXES] = {{900, 1, 1}, {60, 50, 1}, {24, 20, 22}};
    int64_t points[HS_AXES] = {1, 1, 1};
    const int dims = any(2) ? 3 : 1 + any(3);
    for (int axis = 0; axis < dims; axis++)
        points[axis] = 7 + any((int)most[dims - 1][axis]);
    char path[] = "/tmp/test_slabs.XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    put_case(out, dims, points);
    fclose(out);
    struct hs_error err = {0};
    struct hs_case_request request = {.config = path};
    hs_problem_init(problem);
    problem->solver.threads = 1;
    if (hs_case_read(&request, problem, &err))
        fail_msg("case %d: %s", n, err.text);
    hs_error_release(&err);
    unlink(path);
    if (problem->source.present && any(3) == 0) { /* as if from a file */
        const int64_t count = hs_grid_count(&problem->grid);
        problem->source.field.data = malloc((size_t)count * sizeof(double));
        for (int64_t i = 0; i < count; i++)
            problem->source.field.data[i] = noise();
    }
}

/* ---- the whole, and its slabs ---------------------------------------------------------------- */

struct trial {
    const struct hs_problem *problem;
    const struct hs_kernel *kernel;
    double step;
    int64_t sweeps;
    int steps; /* between exchanges */
    int ranks;
    char *initial;
    char text[200];
};

struct outcome {
    char *field;
    struct hs_partial partial[HS_PIECES_MOST];
    int64_t pieces;
};

static struct hs_span span_of(const struct trial *t, int64_t first, int64_t count)
{
    return (struct hs_span){.count = count,
                            .first = first,
                            .start = 0.001,
                            .step = t->step,
                            .op = hs_problem_operator(t->problem, t->step),
                            .keep_last = first + count == t->sweeps,
                            .keep_before = first + count == t->sweeps};
}

static size_t value_bytes(const struct trial *t)
{
    return hs_precision_size(t->problem->precision);
}

static char *new_field(const struct trial *t)
{
    return calloc((size_t)hs_grid_count(&t->problem->grid), sizeof(double));
}

static void add_partials(const struct trial *t, const struct hs_problem *problem,
                         struct hs_backend_state *state, struct outcome *out)
{
    const struct hs_partial *partial;
    const int64_t pieces = hs_blocks_of(problem).pieces;
    assert_ok_of(t->text, hs_backend_cpu.reduce(state, &partial, &err));
    memcpy(out->partial + out->pieces, partial, (size_t)pieces * sizeof *partial);
    out->pieces += pieces;
}

static void run_whole(const struct trial *t, struct outcome *out)
{
    struct hs_backend_state *state;
    const struct hs_box all = hs_grid_box(&t->problem->grid);
    const struct hs_span span = span_of(t, 0, t->sweeps);
    out->field = new_field(t);
    assert_ok_of(t->text, hs_backend_cpu.create(t->problem, t->kernel, &state, &err));
    assert_ok_of(t->text, hs_backend_cpu.upload(state, &all, t->initial, &err));
    assert_ok_of(t->text, hs_backend_cpu.sweep(state, &span, &err));
    assert_ok_of(t->text, hs_backend_cpu.download(state, &all, out->field, &err));
    out->pieces = 0;
    add_partials(t, t->problem, state, out);
    hs_backend_cpu.destroy(state);
}

struct part {
    struct hs_slab_problem slab;
    struct hs_backend_state *state;
};

/* The memory of the layer at which the piece begins, in a dense field of the whole. */
static char *place_of(const struct trial *t, char *field, const struct hs_slab_piece *piece)
{
    const int axis = t->problem->grid.dims - 1;
    const int64_t plane = hs_grid_count(&t->problem->grid) / t->problem->grid.points[axis];
    return field + (size_t)(piece->there * plane) * value_bytes(t);
}

static struct hs_box box_of(const struct part *part, const struct hs_slab_piece *piece)
{
    struct hs_box box = hs_grid_box(&part->slab.problem.grid);
    box.lo[part->slab.problem.grid.dims - 1] = piece->here;
    box.hi[part->slab.problem.grid.dims - 1] = piece->here + piece->count;
    return box;
}

static void begin_part(const struct trial *t, int rank, struct part *part)
{
    const struct hs_box all = hs_grid_box(&t->problem->grid);
    const struct hs_slab_shape shape =
        hs_slab_shape_of(t->problem, t->ranks, rank, t->steps * t->problem->radius);
    assert_ok_of(t->text, hs_slab_make(&shape, &part->slab, &err));
    assert_ok_of(t->text,
                 hs_backend_cpu.create(&part->slab.problem, t->kernel, &part->state, &err));
    for (struct hs_slab_piece piece = hs_slab_piece_from(&shape, &all, false, 0); piece.count;
         piece = hs_slab_piece_from(&shape, &all, false, piece.here + piece.count)) {
        const struct hs_box box = box_of(part, &piece);
        assert_ok_of(t->text, hs_backend_cpu.upload(part->state, &box,
                                                    place_of(t, t->initial, &piece), &err));
    }
}

static void end_part(const struct trial *t, struct part *part, struct outcome *out)
{
    const struct hs_box all = hs_grid_box(&t->problem->grid);
    const struct hs_slab_piece piece = hs_slab_piece_from(&part->slab.shape, &all, true, 0);
    const struct hs_box box = box_of(part, &piece);
    assert_ok_of(t->text,
                 hs_backend_cpu.download(part->state, &box, place_of(t, out->field, &piece), &err));
    add_partials(t, &part->slab.problem, part->state, out);
    hs_backend_cpu.destroy(part->state);
    hs_slab_release(&part->slab);
}

/* Copies `count` layers of slab `a` from layer `from` on to layer `to` of slab `b`. */
static void copy_layers(const struct part *a, int64_t from, const struct part *b, int64_t to,
                        int64_t count)
{
    const struct hs_halo *halo = hs_backend_cpu.halo;
    const struct hs_layers out = halo->layers(a->state, 0, from, from + count);
    const struct hs_layers in = halo->layers(b->state, 0, to, to + count);
    assert_int_equal(out.bytes, in.bytes);
    memcpy(in.at, out.at, out.bytes);
}

static void exchange(const struct trial *t, const struct part *part, int64_t sweeps)
{
    const int64_t count = sweeps * t->problem->radius;
    for (int r = 0; r < t->ranks; r++) {
        const struct part *above = &part[(r + 1) % t->ranks];
        const struct hs_slab *low = &part[r].slab.shape.slab, *high = &above->slab.shape.slab;
        if (!part[r].slab.shape.above)
            continue;
        copy_layers(&part[r], low->hi - count, above, high->lo - count, count);
        copy_layers(above, high->lo, &part[r], low->hi, count);
    }
}

static void run_slabs(const struct trial *t, struct outcome *out)
{
    struct part part[SLABS];
    memset(part, 0, sizeof part);
    out->field = new_field(t);
    out->pieces = 0;
    for (int r = 0; r < t->ranks; r++)
        begin_part(t, r, &part[r]);
    for (int64_t done = 0; done < t->sweeps;) {
        const int64_t left = t->sweeps - done, count = left < t->steps ? left : t->steps;
        const struct hs_span span = span_of(t, done, count);
        exchange(t, part, count);
        for (int r = 0; r < t->ranks; r++)
            assert_ok_of(t->text, hs_backend_cpu.sweep(part[r].state, &span, &err));
        done += count;
    }
    for (int r = 0; r < t->ranks; r++)
        end_part(t, &part[r], out);
}

static void compare(const struct trial *t)
{
    static struct outcome whole, slabs;
    const int64_t count = hs_grid_count(&t->problem->grid);
    run_whole(t, &whole);
    run_slabs(t, &slabs);
    for (int64_t i = 0; i < count; i++)
        if (memcmp(whole.field + (size_t)i * value_bytes(t),
                   slabs.field + (size_t)i * value_bytes(t), value_bytes(t)) != 0)
            fail_msg("%s: node %lld of %lld: %.17g, in slabs %.17g", t->text, (long long)i,
                     (long long)count, hs_read(t->problem->precision, whole.field, i),
                     hs_read(t->problem->precision, slabs.field, i));
    if (whole.pieces != slabs.pieces ||
        memcmp(whole.partial, slabs.partial, (size_t)whole.pieces * sizeof *whole.partial) != 0)
        fail_msg("%s: the partial sums differ", t->text);
    free(whole.field);
    free(slabs.field);
}

static void try_kernel(const struct hs_problem *problem, const struct hs_kernel *kernel, int n)
{
    char reason[256];
    struct trial t = {.problem = problem, .kernel = kernel, .sweeps = 1 + any(14)};
    if (kernel->device != HS_CPU || !hs_kernel_suits(kernel, problem, reason, sizeof reason))
        return;
    const int most = hs_slab_most(problem);
    t.ranks = 1 + any(most < SLABS ? most : SLABS);
    const int64_t deepest = hs_slab_thinnest(problem, t.ranks) / problem->radius;
    t.steps = 1 + any((int)(deepest < 6 ? deepest : 6));
    /* a tenth of the stable step, so that values stay finite */
    t.step = problem->network ? 0.1 * problem->network->limit : 1e-5;
    const int64_t count = hs_grid_count(&problem->grid);
    t.initial = new_field(&t);
    for (int64_t i = 0; i < count; i++)
        hs_write(problem->precision, t.initial, i, 300.0 + 10.0 * noise());
    snprintf(t.text, sizeof t.text,
             "case %d, %s, %dD radius %d %s, %d slabs, %lld sweeps, %d between exchanges, %lld "
             "layers",
             n, kernel->name, problem->grid.dims, problem->radius,
             hs_precision_name(problem->precision), t.ranks, (long long)t.sweeps, t.steps,
             (long long)problem->grid.points[problem->grid.dims - 1]);
    compare(&t);
    free(t.initial);
}

void test_slabs__give_the_bits_of_the_whole(void **state)
{
    const char *first = getenv("SEED"), *many = getenv("MANY");
    seed = 7919 * (uint64_t)(first ? atoi(first) : 1) + 13;
    for (int n = 0; n < (many ? atoi(many) : 1000); n++) {
        struct hs_problem problem;
        make_case(&problem, n);
        for (int k = 0; hs_kernels[k]; k++)
            try_kernel(&problem, hs_kernels[k], n);
        hs_problem_release(&problem);
    }
}

/* Checks the nodes that a slab owns of its row (j, k). */
static void check_row(const struct hs_slab_problem *slab, const struct hs_initial_rows *rows,
                      int64_t j, int64_t k, const char *text)
{
    static double here[1024], there[1024];
    const struct hs_problem *whole = slab->shape.slab.whole;
    const int64_t nx = slab->problem.grid.points[HS_X];
    const int64_t at = hs_slab_layer(&slab->shape.slab, whole->grid.dims == 3 ? k : j);
    const bool line = whole->grid.dims == 1;
    const int64_t first = line ? slab->shape.slab.lo : 0, end = line ? slab->shape.slab.hi : nx;
    hs_initial_row(rows, j, k, here);
    hs_problem_initial_row(whole, whole->grid.dims == 2 ? at : j, whole->grid.dims == 3 ? at : k,
                           there);
    for (int64_t i = first; i < end; i++) {
        const double expected = there[line ? hs_slab_layer(&slab->shape.slab, i) : i];
        if (memcmp(&here[i], &expected, sizeof expected) != 0)
            fail_msg("%s: node (%lld, %lld, %lld): %.17g, of the whole %.17g", text, (long long)i,
                     (long long)j, (long long)k, here[i], expected);
    }
}

/* With regions over a slab's own layers and over its halo, and walls that prescribe. */
void test_slabs__begin_as_the_whole(void **state)
{
    for (int n = 0; n < 300; n++) {
        struct hs_problem problem;
        make_case(&problem, n);
        const int most = hs_slab_most(&problem), ranks = 1 + any(most < SLABS ? most : SLABS);
        const int64_t halo = 1 + any((int)hs_slab_thinnest(&problem, ranks));
        for (int rank = 0; rank < ranks; rank++) {
            struct hs_slab_problem slab;
            struct hs_initial_rows rows;
            char text[80];
            const struct hs_slab_shape shape = hs_slab_shape_of(&problem, ranks, rank, halo);
            assert_ok(hs_slab_make(&shape, &slab, &err));
            snprintf(text, sizeof text, "case %d, %dD, slab %d of %d", n, problem.grid.dims, rank,
                     ranks);
            hs_initial_rows_init(&rows, &slab.problem, 1);
            struct hs_box own = hs_grid_box(&slab.problem.grid);
            if (problem.grid.dims > 1) {
                own.lo[problem.grid.dims - 1] = shape.slab.lo;
                own.hi[problem.grid.dims - 1] = shape.slab.hi;
            }
            for (int64_t k = own.lo[HS_Z]; k < own.hi[HS_Z]; k++)
                for (int64_t j = own.lo[HS_Y]; j < own.hi[HS_Y]; j++)
                    check_row(&slab, &rows, j, k, text);
            hs_initial_rows_release(&rows);
            hs_slab_release(&slab);
        }
        hs_problem_release(&problem);
    }
}

/* Each slab has enough layers for the halo of a sweep; cuts leave nothing out. */
void test_slabs__are_cut_where_blocks_begin(void **state)
{
    for (int n = 0; n < 50; n++) {
        struct hs_problem problem;
        make_case(&problem, n);
        const int axis = problem.grid.dims - 1, most = hs_slab_most(&problem);
        assert_true(most >= 1);
        assert_int_equal(hs_slab_begin(&problem, most, 0), 0);
        assert_int_equal(hs_slab_begin(&problem, most, most), problem.grid.points[axis]);
        for (int ranks = 1; ranks <= most; ranks++)
            assert_true(hs_slab_thinnest(&problem, ranks) >= (ranks > 1 ? problem.radius : 1));
        hs_problem_release(&problem);
    }
}

static double cost_of(int calls, int64_t depth, double wait, double layer)
{
    return wait / calls + 2.0 * (double)depth * layer * calls;
}

/* No other number of calls takes less time, except for thin slabs, of which the halo would be a
 * large part. */
void test_slabs__as_many_calls_as_take_the_least_time(void **state)
{
    for (int n = 0; n < 1000; n++) {
        const int64_t depth = 1 + any(12), thinnest = 1 + any(5000);
        const double wait = 1e-6 * any(60), layer = 1e-8 * (1 + any(100));
        const int calls = hs_slab_calls(depth, thinnest, wait, layer);
        assert_true(calls == 1 || 8 * calls * depth <= thinnest);
        assert_true(calls >= 1 && (calls == 1 || wait > 0.0));
        for (int other = 1; other < 80 && 8 * other * depth <= thinnest; other++)
            assert_true(cost_of(calls, depth, wait, layer) <=
                        (1.0 + 1e-12) * cost_of(other, depth, wait, layer));
    }
    assert_int_equal(hs_slab_calls(10, 4096, 40e-6, 50e-9), 6);
    assert_int_equal(hs_slab_calls(10, 79, 40e-6, 50e-9), 1);
}
