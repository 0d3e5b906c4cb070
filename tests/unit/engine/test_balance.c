/* The heat balance of sweeps against exact answers, for both operators, from configs. */
#include "engine/balance/balance.h"
#include "engine/case.h"
#include "engine/loop.h"
#include "engine/make_plan.h"
#include "engine/registry.h"
#include "test.h"
#include "walls.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* k = 4 W/(m K), rho*c = 2 J/(m^3 K): a stencil, or a body of two such. */
static const char *const stencil = "material = { conductivity = 4.0; density = 8.0; "
                                   "specific_heat = 0.25; };";
static const char *const body =
    "materials = ( { name = \"a\"; conductivity = 4.0; density = 8.0; specific_heat = 0.25; },"
    "              { name = \"b\"; conductivity = 4.0; density = 8.0; specific_heat = 0.25; } );"
    "body = ( { material = \"a\"; }, { material = \"b\"; shape = \"sphere\"; "
    "          centre = POINT; radius = 0.21; } );";
static const char *const operators[] = {"stencil", "body"};

/* A run of a config whose balance is checked after each sweep. */
struct watched {
    struct hs_problem problem;
    struct hs_plan plan;
    struct hs_balance *balance;
    int looks;
    double worst;                  /* of |imbalance| / rounding */
    double relative;               /* of |imbalance| / largest */
    double loosest;                /* of rounding / largest */
    double first[2 * HS_AXES + 8]; /* fluxes of the first look */
};

static int64_t each(void *self, int64_t sweep)
{
    return sweep + 1;
}

static enum hs_status look(void *self, const struct hs_step_state *step_state, struct hs_error *err)
{
    struct watched *w = self;
    const struct hs_balance_terms *terms = hs_balance_terms(w->balance);
    const enum hs_status st = hs_balance_look(w->balance, step_state, err);
    if (st || step_state->phase == HS_PHASE_START) {
        assert_true(isnan(terms->imbalance));
        return st;
    }
    assert_true(isfinite(terms->imbalance));
    if (w->looks++ == 0)
        for (int n = 0; n < hs_problem_wall_count(&w->problem); n++)
            w->first[n] = terms->flux[n];
    w->worst = fmax(w->worst, fabs(terms->imbalance) / terms->rounding);
    w->relative = fmax(w->relative, fabs(terms->imbalance) / terms->largest);
    w->loosest = fmax(w->loosest, terms->rounding / terms->largest);
    return HS_OK;
}

/* "POINT" becomes the middle of a unit square or cube. */
static void put_material(FILE *file, int dims, const char *text)
{
    static const char *const points[] = {"", "0.5", "[0.5, 0.45]", "[0.5, 0.45, 0.4]"};
    const char *at = strstr(text, "POINT");
    if (at)
        fprintf(file, "%.*s%s%s\n", (int)(at - text), text, points[dims], at + strlen("POINT"));
    else
        fprintf(file, "%s\n", text);
}

static void begin_on(const char *backend, struct watched *w, int dims, const char *material,
                     const char *config)
{
    char path[] = "/tmp/balance-XXXXXX";
    const int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    put_material(file, dims, material);
    fprintf(file, "%s\nsolver = { backend = \"%s\"; threads = 1; };\n", config, backend);
    fclose(file);
    *w = (struct watched){.looks = 0};
    const struct hs_case_request request = {.config = path};
    assert_ok(hs_case_read(&request, &w->problem, &err));
    unlink(path);
    assert_ok(hs_plan_make(&w->problem, &w->plan, &err));
    assert_ok(hs_balance_create(&w->problem, &w->balance, &err));
}

static void begin(struct watched *w, int dims, const char *material, const char *config)
{
    begin_on("auto", w, dims, material, config);
}

static void run(struct watched *w)
{
    struct hs_observer observer = {
        .self = w, .wants_change = true, .wants_before = true, .next = each, .notify = look};
    struct hs_observer *observers[] = {&observer};
    struct hs_loop_result result;
    assert_ok(hs_loop_run(&w->problem, &w->plan, NULL, observers, 1, NULL, &result, &err));
    assert_true(w->looks > 0);
}

static void end(struct watched *w)
{
    hs_balance_destroy(w->balance);
    hs_problem_release(&w->problem);
}

/* The fluxes of the first sweep, except those that are NaN here, within rounding: some 1e2 K and
 * 1e2 W/K make 1e-11 W. */
static void assert_fluxes(int dims, const char *material, const char *config, int count,
                          const double *flux)
{
    struct watched w;
    begin(&w, dims, material, config);
    assert_int_equal(hs_problem_wall_count(&w.problem), count);
    run(&w);
    for (int n = 0; n < count; n++)
        if (!isnan(flux[n]))
            assert_near(w.first[n], flux[n], 1e-11);
    assert_true(w.worst <= 1.0);
    end(&w);
}

/* ---- exact answers --------------------------------------------------------------------------- */

void test_balance__a_linear_profile_leaves_by_fourier(void **state)
{
    for (int op = 0; op < 2; op++) /* 4 W/(m K) * 10 K/m * 0.5 m */
        assert_fluxes(2, op ? body : stencil,
                      "grid = { points = [11, 7]; upper = [2.0, 0.5]; };"
                      "initial = { expression = \"10 + 10*x\"; };"
                      "boundary = { x_min = { type = \"dirichlet\"; value = 10.0; };"
                      "             x_max = { type = \"fixed\"; };"
                      "             y_min = { type = \"reflective\"; };"
                      "             y_max = { type = \"neumann\"; flux = 0.0; }; };"
                      "time = { sweeps = 3; };",
                      4, (double[]){20.0, -20.0, 0.0, 0.0});
}

void test_balance__convection_leaves_by_its_law(void **state)
{
    for (int op = 0; op < 2; op++) /* 80 K / (2 m/k + 1/h) = 120 W/m^2 */
        assert_fluxes(2, op ? body : stencil,
                      "grid = { points = [11, 7]; upper = [2.0, 0.5]; };"
                      "initial = { expression = \"100 - 30*x\"; };"
                      "boundary = { x_min = { type = \"dirichlet\"; value = 100.0; };"
                      "             x_max = { type = \"robin\"; h = 6.0; ambient = 20.0; };"
                      "             y_min = { type = \"reflective\"; };"
                      "             y_max = { type = \"reflective\"; }; };"
                      "time = { sweeps = 3; };",
                      4, (double[]){-60.0, 60.0, 0.0, 0.0});
}

void test_balance__a_given_flux_is_what_leaves(void **state)
{
    for (int op = 0; op < 2; op++) /* of y: 0.5 m * (100 + 25/2) W/m^2; of t = 0: 2 m * 7 W/m^2 */
        assert_fluxes(2, op ? body : stencil,
                      "grid = { points = [11, 7]; upper = [2.0, 0.5]; };"
                      "initial = { expression = \"100*sin(3*x)\"; };"
                      "boundary = { x_min = { type = \"neumann\"; flux = \"100 + 50*y\"; };"
                      "             x_max = { type = \"fixed\"; };"
                      "             y_min = { type = \"neumann\"; flux = \"7 + t\"; };"
                      "             y_max = { type = \"neumann\"; flux = -3.0; }; };"
                      "time = { sweeps = 1; };",
                      4, (double[]){56.25, NAN, 14.0, -6.0});
}

/* x*y is exactly at rest. Each face's flux is k times its normal gradient, corners included. */
void test_balance__held_faces_share_a_corner_by_where_heat_flows(void **state)
{
    for (int op = 0; op < 2; op++)
        assert_fluxes(2, op ? body : stencil,
                      "grid = { points = [9, 5]; upper = [2.0, 0.5]; };"
                      "initial = { expression = \"x*y\"; };"
                      "boundary = { all = { type = \"fixed\"; };"
                      "             y_max = { type = \"dirichlet\"; value = \"0.5*x\"; }; };"
                      "time = { sweeps = 2; };",
                      4, (double[]){0.5, -0.5, 8.0, -8.0});
}

/* A slab heated by 60 W/m^3 between two walls: both held, or one held and one prescribed. */
void test_balance__sources_leave_through_held_walls_to_the_last_half_cell(void **state)
{
    for (int op = 0; op < 2; op++)
        assert_fluxes(1, op ? body : stencil,
                      "grid = { points = [9]; upper = [2.0]; };"
                      "initial = { expression = \"7.5*x*(2 - x)\"; };" /* q/(2k) */
                      "boundary = { x_min = { type = \"fixed\"; };"
                      "             x_max = { type = \"dirichlet\"; value = 0.0; }; };"
                      "source = { value = 60.0; }; time = { sweeps = 2; };",
                      2, (double[]){60.0, 60.0});
}

void test_balance__a_wall_one_cell_outside_takes_what_crosses_that_cell(void **state)
{
    assert_fluxes(1, stencil, /* 30 K/m; the walls at -0.25 m and 2.125 m */
                  "grid = { points = [9]; upper = [2.0]; };"
                  "initial = { expression = \"30*x\"; };"
                  "boundary = { x_min = { type = \"constant\"; value = -7.5; };"
                  "             x_max = { type = \"clamp\"; }; };"
                  "time = { sweeps = 1; };",
                  2, (double[]){120.0, 0.0});
}

void test_balance__layers_are_in_series(void **state)
{
    /* 1/5 + 0.3/2 m^2 K/W and a contact of 0.15: 100 K make 200 W/m^2. The interface lies between
     * nodes. T falls as 100 - 40 x, at 0.95 m from 62 to 32, then by 100 K/m to 2 at 1.25 m */
    assert_fluxes(1,
                  "materials = ( { name = \"a\"; conductivity = 5.0; density = 8.0; "
                  "specific_heat = 1.0; }, { name = \"b\"; conductivity = 2.0; density = 1.0; "
                  "specific_heat = 2.0; } ); body = ( { material = \"a\"; }, { material = \"b\"; "
                  "shape = \"box\"; lower = 0.95; upper = 2.0; } );"
                  "contacts = ( { between = [\"a\", \"b\"]; resistance = 0.15; } );",
                  "grid = { points = [11]; upper = [1.25]; };"
                  "initial = { value = 2.0; regions = ( { shape = \"box\"; lower = [-1.0]; "
                  "upper = [0.95]; value = \"100 - 40*x\"; }, { shape = \"box\"; lower = "
                  "[0.96]; upper = [2.0]; value = \"32 - 100*(x - 0.95)\"; } ); };"
                  "boundary = { all = { type = \"fixed\"; }; }; time = { sweeps = 1; };",
                  2, (double[]){-200.0, 200.0});
}

/* A patch with 10 W/m^2 and over it one with 2 W/(m^2 K) at 50 K, both with borders between nodes;
 * the face's own 1 W/m^2 acts on the rest. */
void test_balance__patches_leave_by_their_areas(void **state)
{
    const double one = 0.31 * 0.27 - 0.11 * 0.07, other = 0.31 * 0.27;
    assert_fluxes(
        3, body,
        "grid = { points = [8, 7, 6]; upper = [1.0, 1.0, 1.0]; };"
        "initial = { value = 70.0; };"
        "boundary = { all = { type = \"reflective\"; };"
        "  z_max = { type = \"neumann\"; flux = 1.0; patches = ("
        "    { lower = [0.13, 0.21]; upper = [0.44, 0.48]; type = \"neumann\"; "
        "      flux = 10.0; },"
        "    { lower = [0.33, 0.41]; upper = [0.64, 0.68]; type = \"robin\"; h = 2.0; "
        "      ambient = 20.0; } ); }; };"
        "time = { sweeps = 1; };",
        8, (double[]){0.0, 0.0, 0.0, 0.0, 0.0, 1.0 - one - other, 10.0 * one, 100.0 * other});
}

void test_balance__walls_are_named_by_face_and_number(void **state)
{
    static const char *const names[] = {"x_min", "x_max", "z_min", "z_max", "z_max_1", "z_max_2"};
    struct watched w;
    begin(&w, 3, body,
          "grid = { points = [8, 7, 6]; upper = [1.0, 1.0, 1.0]; };"
          "initial = { value = 70.0; };"
          "boundary = { y_min = { type = \"periodic\"; }; y_max = { type = \"periodic\"; };"
          "  z_max = { type = \"fixed\"; patches = ( { lower = [0.1, 0.1]; upper = [0.4, 0.4]; "
          "    type = \"reflective\"; }, { lower = [0.5, 0.1]; upper = [0.8, 0.4]; "
          "    type = \"reflective\"; } ); }; };"
          "time = { sweeps = 1; };");
    assert_int_equal(hs_problem_wall_count(&w.problem), 6);
    for (int n = 0; n < 6; n++) {
        char name[32];
        hs_problem_wall_name(&w.problem, n, name, sizeof name);
        assert_string_equal(name, names[n]);
    }
    end(&w);
}

/* ---- to rounding ----------------------------------------------------------------------------- */

/* All keys of a kind, changing with time, along the face too, or with both at once. `face` makes
 * faces differ. */
static void put_face(const struct hs_boundary_kind *kind, int face, int dims, const char *angle,
                     char *out, size_t size)
{
    size_t used =
        (size_t)snprintf(out, size, "%s = { type = \"%s\"; ", hs_face_name(face), kind->name);
    const char *place = dims == 1 ? "" : face / 2 == HS_X ? " - 5*y" : " - 5*x";
    for (int n = 0; n < hs_boundary_key_count(kind); n++) {
        const struct hs_boundary_key *key = &kind->key[n];
        if (key->one_of && n > 0)
            continue;
        if (key->number)
            used += (size_t)snprintf(out + used, size - used, "%s = %d.5; ", key->name, 3 + face);
        else
            used += (size_t)snprintf(out + used, size - used, "%s = \"%d + 20*sin(%s%s)\"; ",
                                     key->name, 30 + 10 * face, angle, place);
    }
    snprintf(out + used, size - used, "};\n");
}

/* The kind of a face in the round in which kind `first` is on x_min. The others get the next kinds;
 * beside periodic faces they hold. */
static const struct hs_boundary_kind *kind_of_face(int first, int face, bool of_body)
{
    const int kinds = count_kinds();
    if (hs_boundary_kinds[first].wrap)
        return hs_boundary_find(face / 2 == HS_X ? "periodic" : face % 2 ? "fixed" : "dirichlet");
    int n = (first + (face % 2 ? 3 * face : face)) % kinds;
    while (hs_boundary_kinds[n].wrap || (of_body && !hs_boundary_kinds[n].in_body.needs))
        n = (n + 1) % kinds;
    return &hs_boundary_kinds[n];
}

/* The time settings, the number of steps, and the angle whose sine is in walls and source. */
struct way {
    const char *time;
    int steps;
    const char *angle;
};
static const struct way sweeps = {"time = { sweeps = 40; };", 40, "300*t"};

static void balance_closes(int dims, bool of_body, const char *precision, struct way way,
                           double relative)
{
    for (int first = 0; hs_boundary_kinds[first].name; first++) {
        char faces[2048] = "", config[4096];
        for (int face = 0; face < 2 * dims; face++)
            put_face(kind_of_face(first, face, of_body), face, dims, way.angle,
                     faces + strlen(faces), sizeof faces - strlen(faces));
        snprintf(config, sizeof config,
                 "precision = \"%s\"; grid = { points = %s; upper = %s; };"
                 "initial = { expression = \"50 + 40*sin(5*x)%s\"; };"
                 "source = { expression = \"900*exp(-x*x)*cos(0.03*%s)%s\"; };"
                 "boundary = { %s }; %s",
                 precision, (const char *const[]){"", "13", "[13, 9]", "[13, 9, 7]"}[dims],
                 (const char *const[]){"", "1.0", "[1.0, 0.9]", "[1.0, 0.9, 0.8]"}[dims],
                 dims > 1 ? "*cos(4*y)" : "", way.angle, dims > 1 ? "*y" : "", faces, way.time);
        struct watched w;
        begin(&w, dims, of_body ? body : stencil, config);
        run(&w);
        assert_int_equal(w.looks, way.steps);
        if (!(w.worst <= 1.0 && w.relative <= relative))
            fail_msg("%d-D %s in %s: an imbalance of %g of the largest term, %g of what rounding "
                     "can make: %s",
                     dims, operators[of_body], precision, w.relative, w.worst, faces);
        end(&w);
    }
}

void test_balance__closes_to_rounding_with_every_kind_of_wall_in_double(void **state)
{
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int op = 0; op < 2; op++)
            balance_closes(dims, op, "double", sweeps, 1e-12);
}

/* In float each new temperature is rounded to 3e-6 K, which in a step changes a node's heat by 1e-7
 * of what flows. Over some hundred nodes, few of these changes cancel. */
void test_balance__closes_to_rounding_with_every_kind_of_wall_in_float(void **state)
{
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int op = 0; op < 2; op++)
            balance_closes(dims, op, "float", sweeps, 1e-3);
}

/* Steps of many sweeps: of a given length, and within a tolerance. Where nothing changes they use
 * another recursion. */
static const struct way stages[] = {
    {"time = { method = \"rkl2\"; step = 0.02; end = 0.2; };", 10, "300*t"},
    {"time = { method = \"rkl2\"; step = 0.02; end = 0.2; };", 10, "1"},
    {"time = { method = \"rkl2\"; tolerance = 0.5; step = 0.02; end = 0.06; };", 3, "300*t"}};

void test_balance__of_a_step_of_stages_closes_to_rounding(void **state)
{
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int op = 0; op < 2; op++)
            for (int n = 0; n < 3; n++) {
                balance_closes(dims, op, "double", stages[n], 1e-12);
                balance_closes(dims, op, "float", stages[n], 1e-3);
            }
}

/* Steps that solve equations. */
static const struct way solved[] = {
    {"time = { method = \"implicit\"; step = 0.02; end = 0.2; };", 10, "20*t"},
    {"time = { method = \"implicit\"; step = 0.02; end = 0.2; };", 10, "1"},
    {"time = { method = \"implicit\"; tolerance = 0.5; step = 0.02; end = 0.06; };", 3, "20*t"}};

void test_balance__of_an_implicit_step_closes_to_what_solving_leaves(void **state)
{
    for (int dims = 1; dims <= HS_AXES; dims++)
        for (int op = 0; op < 2; op++)
            for (int n = 0; n < 3; n++) {
                balance_closes(dims, op, "double", solved[n], 1e-2);
                balance_closes(dims, op, "float", solved[n], 1e-2);
            }
}

static const char *const grids[] = {
    "grid = { points = [14, 12, 10]; upper = [0.2, 0.16, 0.12]; };",
    "grid = { x = { from = 0.0; segments = ( { to = 0.05; cells = 6; ratio = 1.15; },"
    "         { to = 0.2; cells = 7; } ); }; y = { from = 0.0; segments = ( { to = 0.16;"
    "         cells = 11; ratio = 0.95; } ); };"
    "         z = [0.0, 0.01, 0.025, 0.04, 0.06, 0.07, 0.08, 0.1, 0.12]; };"};
static const char everything[] =
    "initial = { expression = \"30 + 5*sin(37*x + 33*y)\"; };"
    "boundary = {"
    "  x_min = { type = \"dirichlet\"; value = \"30 + 20*sin(t)\"; patches = ("
    "    { lower = [0.05, 0.033]; upper = [0.1, 0.077]; type = \"robin\"; h = 50.0;"
    "      ambient = \"28 + t\"; flux = \"-2e3*exp(-(y-0.05-t)^2/1e-3)\"; },"
    "    { lower = [0.07, 0.053]; upper = [0.2, 0.177]; type = \"neumann\"; flux = -1000.0; } ); };"
    "  x_max = { type = \"robin\"; h = \"25 - 90*y\"; ambient = \"29 + 9*cos(50*(z-t))\"; };"
    "  y_min = { type = \"neumann\"; flux = \"-500 + 100*x\"; };"
    "  y_max = { type = \"fixed\"; };"
    "  z_min = { type = \"reflective\"; patches = ( { lower = [0.05, 0.033]; upper = [0.1, 0.077];"
    "    type = \"dirichlet\"; value = \"50 + 9*sin(70*x-t)\"; } ); };"
    "  z_max = { type = \"robin\"; h = \"10 + 20*x\"; ambient = 20.0; }; };"
    "source = { expression = \"1e4*x*y*cos(t)\"; };";
static const char two_materials[] =
    "materials = ( { name = \"a\"; conductivity = 40.0; density = 800.0; specific_heat = 25.0;"
    "                source = \"1e4*exp(-t)\"; },"
    "  { name = \"b\"; conductivity = [1.0, 2.0, 3.0]; density = 500.0; specific_heat = 60.0;"
    "    perfusion = { rate = 2000.0; reference = \"31 + t\"; }; } );"
    "body = ( { material = \"a\"; }, { material = \"b\"; shape = \"sphere\";"
    "          centre = [0.03, 0.05, 0.04]; radius = 0.0543; } );"
    "contacts = ( { between = [\"a\", \"b\"]; resistance = 1e-3; } );";

static void everything_closes(const char *time, double relative, double loosest)
{
    for (int grid = 0; grid < 2; grid++) {
        char config[4096];
        snprintf(config, sizeof config, "%s%s%s", grids[grid], everything, time);
        struct watched w;
        begin(&w, 3, two_materials, config);
        run(&w);
        assert_int_equal(hs_problem_wall_count(&w.problem), 9);
        for (int n = 0; n < 9; n++)
            assert_true(w.first[n] != 0.0 || hs_problem_wall_face(&w.problem, n) == 4);
        if (!(w.worst <= 1.0 && w.relative <= relative && w.loosest <= loosest))
            fail_msg("%s: an imbalance of %g of the largest term, %g of what rounding can make, "
                     "which is %g of it",
                     time, w.relative, w.worst, w.loosest);
        end(&w);
    }
}

/* Slivers of the sphere make the step small beside that of most nodes, whose rounding counts
 * accordingly more. The bound is not too loose. */
void test_balance__closes_with_materials_sinks_contacts_patches_and_stretched_axes(void **state)
{
    everything_closes("time = { sweeps = 30; };", 1e-10, 1e-8);
}

/* An implicit step is solved to a tenth of its error in time at a node; the bound is as if all
 * nodes were off by that, in the same direction. */
void test_balance__of_longer_steps_closes_with_all_of_these(void **state)
{
    everything_closes("time = { method = \"rkl2\"; step = 0.1; end = 1.0; };", 1e-10, 1e-8);
    everything_closes("time = { method = \"rkl2\"; tolerance = 0.1; step = 0.5; end = 1.0; };",
                      1e-10, 1e-8);
    everything_closes("time = { method = \"implicit\"; step = 0.1; end = 1.0; };", 1e-3, 10.0);
    everything_closes("time = { method = \"implicit\"; tolerance = 0.1; step = 0.5; end = 1.0; };",
                      1e-3, 10.0);
}

/* Exponential steps allow any walls whose data do not change with time. In float the mean is
 * rounded. */
void test_balance__of_an_exact_step_closes_to_rounding(void **state)
{
    static const struct way way = {"time = { method = \"exponential\"; step = 0.02; end = 0.2; };",
                                   10, "1"};
    for (int dims = 1; dims <= HS_AXES; dims++) {
        balance_closes(dims, false, "double", way, 1e-10);
        balance_closes(dims, false, "float", way, 1e-3);
    }
}

/* Here the mean follows from the sum of the equations, however well they are solved: 2e-16 of the
 * heat, 50 K of 2 J/(m^2 K), in a step of 0.02 s are 1e-12 W of some 10. */
void test_balance__of_an_implicit_step_closes_to_rounding_where_nothing_holds_the_mean(void **state)
{
    for (int op = 0; op < 2; op++)
        for (int cut = 0; cut < 2; cut++) {
            char config[1024];
            snprintf(config, sizeof config,
                     "grid = { points = [13, 9]; upper = [1.0, 0.9]; };"
                     "initial = { expression = \"50 + 40*sin(5*x)*cos(4*y)\"; };"
                     "source = { expression = \"900*exp(-x*x)*cos(9*t)\"; };"
                     "boundary = { all = { type = \"neumann\"; flux = \"10*sin(20*t)\"; };"
                     "  x_max = { type = \"reflective\"; }; };"
                     "time = { method = \"implicit\"; step = 0.02; end = 0.2; %s };",
                     cut ? "tolerance = 0.05;" : "");
            struct watched w;
            begin(&w, 2, op ? body : stencil, config);
            run(&w);
            if (!(w.worst <= 1.0 && w.relative <= 1e-12))
                fail_msg("%s: an imbalance of %g of the largest term, %g of what is allowed",
                         operators[op], w.relative, w.worst);
            end(&w);
        }
}

/* The patch's first node has the last node, which is free, as a neighbour. */
void test_balance__closes_where_a_held_patch_begins_at_a_periodic_end(void **state)
{
    struct watched w;
    begin(&w, 2, body,
          "grid = { points = [12, 9]; upper = [1.0, 0.9]; };"
          "initial = { expression = \"30 + 5*sin(3*x + 2*y)\"; };"
          "boundary = { x_min = { type = \"periodic\"; }; x_max = { type = \"periodic\"; };"
          "  y_min = { type = \"reflective\"; patches = ( { lower = [-1.0]; upper = [0.4];"
          "    type = \"fixed\"; } ); }; y_max = { type = \"neumann\"; flux = 20.0; }; };"
          "time = { sweeps = 10; };");
    run(&w);
    assert_true(w.worst <= 1.0 && w.relative <= 1e-12);
    end(&w);
}

/* ---- what does not close --------------------------------------------------------------------- */

static const struct hs_kernel *sound;
static double leak; /* K, of one node in each sweep */

static enum hs_status leaking_sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                                    struct hs_error *err)
{
    const enum hs_status st = sound->sweep(plan, s, err);
    double *node = (double *)s->out + hs_layout_offset(&s->layout, 3, 3, 3);
    *node += leak;
    return st;
}

static double imbalance_of_leak(const char *material, const char *config, double kelvins,
                                double *rounding)
{
    struct watched w;
    begin_on("cpu", &w, 3, material, config); /* the leak writes to its fields */
    sound = w.plan.kernel;
    struct hs_kernel leaking = *sound;
    leaking.sweep = leaking_sweep;
    w.plan.kernel = &leaking;
    leak = kelvins;
    run(&w);
    const struct hs_balance_worst worst = hs_balance_worst(w.balance);
    *rounding = worst.rounding;
    end(&w);
    return worst.imbalance * w.plan.tail_step;
}

/* A sweep that adds 1e-9 K to one node of 2 J/(m^3 K) in a cell of 1e-3 m^3. */
void test_balance__shows_heat_from_nowhere(void **state)
{
    static const char config[] =
        "grid = { points = [11, 11, 11]; upper = [1.0, 1.0, 1.0]; };"
        "initial = { expression = \"10*sin(5*x)*y*z\"; };"
        "boundary = { all = { type = \"robin\"; h = 3.0; ambient = 5.0; }; };"
        "time = { sweeps = 5; step = 1e-4; };";
    for (int op = 0; op < 2; op++) {
        double rounding;
        const double sane = imbalance_of_leak(op ? body : stencil, config, 0.0, &rounding);
        assert_true(fabs(sane / 1e-4) <= rounding);
        const double found = imbalance_of_leak(op ? body : stencil, config, 1e-9, &rounding);
        assert_near(found, 2e-12, 1e-15); /* roundings of 10 K: 1e-15 K each */
        assert_true(found / 1e-4 > rounding);
    }
}

void test_balance__is_there_where_fluxes_are_defined(void **state)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    assert_true(hs_balance_is_there(&problem));
    problem.radius = 2;
    assert_false(hs_balance_is_there(&problem));
    problem.radius = 1;
    problem.raw = true;
    assert_false(hs_balance_is_there(&problem));
    hs_problem_release(&problem);
}
