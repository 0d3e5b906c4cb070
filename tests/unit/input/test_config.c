#include "functions/evaluate.h"
#include "input/config.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hs_problem problem;
static struct hs_error err;
static char folder[] = "/tmp/heatsolve-config-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void forget(void)
{
    hs_problem_release(&problem);
    hs_error_release(&err);
}

/* Reads the text as DIR/case.cfg with up to three overrides. */
static enum hs_status read_with(const char *text, const char *const *overrides, int count)
{
    if (strstr(folder, "XXXXXX"))
        assert_non_null(mkdtemp(folder));
    char path[200];
    snprintf(path, sizeof path, "%s/case.cfg", folder);
    write_file("case.cfg", text);
    err = (struct hs_error){0};
    return hs_config_read(path, overrides, count, (struct hs_config_how){0}, &problem, &err);
}

static void read_good(const char *text)
{
    if (read_with(text, NULL, 0))
        fail_msg("%s", err.text);
}

static void read_set(const char *text, const char *a, const char *b, const char *c)
{
    const char *const overrides[] = {a, b, c};
    if (read_with(text, overrides, c ? 3 : b ? 2 : 1))
        fail_msg("%s", err.text);
}

static const char small[] = "grid = { points = [11, 21]; };\nmaterial = { diffusivity = 0.5; };\n"
                            "initial = { value = 300.0; };\ntime = { end = 1.0; };\n";

void test_config__fills_the_problem(void **state)
{
    read_good("title = \"Block\"; precision = \"float\";\n"
              "grid = { points = [5, 6, 7]; lower = [1.0, 2, 3]; upper = [2.0, 4, 6]; };\n"
              "material = { conductivity = 401.0; density = 8960.0; specific_heat = 385.0; };\n"
              "stencil = { radius = 2; };\ninitial = { expression = \"x+y\"; };\n"
              "source = { expression = \"1e6*exp(-t)\"; };\n"
              "boundary = { all = { type = \"reflective\"; };\n"
              "  x_min = { type = \"dirichlet\"; value = \"300+20*sin(t)\"; };\n"
              "  x_max = { type = \"robin\"; h = 750.0; ambient = 273.15; }; };\n"
              "time = { end = 5.0; step = 0.001; safety = 0.8; };\n"
              "steady = { tolerance = 1e-8; check_every = 50; };\n"
              "solver = { backend = \"cpu\"; kernel = \"openmp\"; device = 1; threads = 2; };\n"
              "output = { file = \"out/b.h5\"; interval = 0.5; history_every = 7; "
              "compression = 4; };\n"
              "checkpoint = { every_minutes = 10.0; };\n"
              "probes = ( { name = \"core\"; at = [1.6, 3.1, 4.9]; } );\n"
              "exact = { expression = \"x*t\"; max_error = 1e-4; };\n");
    assert_string_equal(problem.title, "Block");
    assert_int_equal(problem.precision, HS_FLOAT);
    assert_int_equal(problem.grid.dims, 3);
    assert_int_equal(problem.grid.points[HS_Z], 7);
    assert_true(problem.grid.lower[HS_Y] == 2.0);
    assert_true(problem.grid.spacing[HS_X] == 0.25);
    assert_true(problem.grid.spacing[HS_Y] == 0.4);
    assert_int_equal(problem.radius, 2);
    assert_false(problem.raw);
    assert_true(problem.material.diffusivity == 401.0 / (8960.0 * 385.0));
    assert_true(hs_value_at(&problem.initial.field.value, 1, 2, 3, 4) == 3.0);
    assert_true(problem.source.present);
    assert_true(problem.source.rate == 1.0 / (8960.0 * 385.0));
    assert_string_equal(problem.face[0].type, "dirichlet");
    assert_int_equal(hs_value_varies(&problem.face[0].data), HS_VARIES_T);
    assert_string_equal(problem.face[1].type, "robin");
    assert_true(problem.face[1].data.constant == 273.15);
    assert_true(problem.face[1].c[1] == 4.0 * 0.25 * 750.0 / 401.0);
    for (int face = 2; face < 6; face++)
        assert_string_equal(problem.face[face].type, "reflective");
    assert_true(problem.schedule.end == 5.0 && problem.schedule.sweeps == -1);
    assert_true(problem.schedule.step == 0.001 && problem.schedule.safety == 0.8);
    assert_true(problem.schedule.output_interval == 0.5 && problem.schedule.output_every == -1);
    assert_int_equal(problem.schedule.history_every, 7);
    assert_true(problem.schedule.steady && problem.schedule.steady_tolerance == 1e-8);
    assert_int_equal(problem.schedule.steady_check_every, 50);
    assert_string_equal(problem.solver.backend, "cpu");
    assert_string_equal(problem.solver.kernel, "openmp");
    assert_int_equal(problem.solver.device, 1);
    assert_int_equal(problem.solver.threads, 2);
    assert_string_equal(problem.output.file, "out/b.h5");
    assert_int_equal(problem.output.compression, 4);
    assert_true(problem.output.checkpoint_minutes == 10.0);
    assert_int_equal(problem.probe_count, 1);
    assert_string_equal(problem.probes[0].name, "core");
    assert_int_equal(problem.probes[0].node[HS_X], 2); /* 1.6 is 2.4 cells from 1.0 */
    assert_int_equal(problem.probes[0].node[HS_Y], 3); /* 3.1 is 2.75 cells from 2 */
    assert_int_equal(problem.probes[0].node[HS_Z], 4); /* 4.9 is 3.8 cells from 3 */
    assert_true(problem.exact.present && problem.exact.max_error == 1e-4);
    assert_true(hs_value_at(&problem.exact.value, 3, 0, 0, 2) == 6.0);
    forget();
}

void test_config__has_the_defaults_of_the_table(void **state)
{
    read_good(small);
    assert_string_equal(problem.title, "");
    assert_int_equal(problem.precision, HS_DOUBLE);
    assert_true(problem.grid.spacing[HS_X] == 1.0 && problem.grid.lower[HS_X] == 0.0);
    assert_int_equal(problem.radius, 1);
    assert_string_equal(problem.face[3].type, "fixed");
    assert_true(isnan(problem.schedule.step) && problem.schedule.safety == 0.9);
    assert_true(isnan(problem.schedule.output_interval) && problem.schedule.output_every == -1);
    assert_false(problem.schedule.steady);
    assert_false(problem.source.present);
    assert_false(problem.exact.present);
    assert_string_equal(problem.solver.backend, "auto");
    assert_string_equal(problem.output.file, "case.h5");
    assert_true(isnan(problem.output.checkpoint_minutes));
    forget();
}

void test_config__numbers_are_taken_as_they_are_written(void **state)
{
    read_good("grid = { points = (1e1, 0xB); lower = (0, 0.5); spacing = (2, .25); };\n"
              "material = { diffusivity = 1; };\ninitial = { value = -3; };\n"
              "time = { sweeps = 3000000000; };\n");
    assert_int_equal(problem.grid.points[HS_X], 10);
    assert_int_equal(problem.grid.points[HS_Y], 11);
    assert_true(problem.grid.lower[HS_Y] == 0.5 && problem.grid.spacing[HS_X] == 2.0);
    assert_true(problem.schedule.sweeps == 3000000000);
    assert_true(problem.initial.field.value.constant == -3.0);
    forget();
}

void test_config__mixed_arrays_and_lone_numbers_serve(void **state)
{
    read_good("grid = { points = 11; lower = 0; upper = 1.0; };\nmaterial = { diffusivity = 1; };\n"
              "initial = { value = 1; };\ntime = { sweeps = 1; };\n"
              "probes = ( { name = \"a\"; at = 0.5; } );\n");
    assert_int_equal(problem.grid.dims, 1);
    assert_int_equal(problem.probes[0].node[HS_X], 5);
    forget();
    read_good("grid = { points = [11, 11]; lower = [0, 0.5]; upper = [1, 1.5]; };\n"
              "material = { diffusivity = 1; };\ninitial = { value = 1; };\n"
              "time = { sweeps = 1; };\n");
    assert_true(problem.grid.lower[HS_Y] == 0.5);
    forget();
}

void test_config__a_periodic_axis_does_not_store_its_end(void **state)
{
    read_good("grid = { points = [10, 11]; upper = [1.0, 1.0]; };\n"
              "material = { diffusivity = 1; };\ninitial = { value = 1; };\n"
              "time = { sweeps = 1; };\nboundary = { x_min = { type = \"periodic\"; };\n"
              "x_max = { type = \"periodic\"; }; };\n"
              "probes = ( { name = \"end\"; at = [1.0, 1.0]; } );\n");
    assert_true(problem.grid.spacing[HS_X] == 0.1 && problem.grid.spacing[HS_Y] == 0.1);
    assert_true(problem.face[0].wrap && problem.face[1].wrap && !problem.face[2].wrap);
    assert_int_equal(problem.probes[0].node[HS_X], 0); /* the image of the first */
    assert_int_equal(problem.probes[0].node[HS_Y], 10);
    forget();
}

void test_config__raw_coefficients_need_no_material(void **state)
{
    read_good("grid = { points = [9]; };\nstencil = { c0 = 0.5; c1 = 0.3; c2 = 0.2; };\n"
              "initial = { value = 1; };\ntime = { sweeps = 5; };\nsource = { value = 3; };\n"
              "material = { conductivity = 2.0; };\n"
              "boundary = { x_max = { type = \"neumann\"; flux = 4.0; }; };\n");
    assert_true(problem.raw);
    assert_true(problem.c[0] == 0.5 && problem.c[1] == 0.3 && problem.c[2] == 0.2);
    assert_true(problem.schedule.step == 1.0);
    assert_true(problem.source.rate == 1.0);
    assert_true(problem.face[1].c[0] == -1.0); /* 2 h q / k with h = 1, outwards */
    forget();
}

void test_config__a_source_with_a_diffusivity_is_in_K_per_s(void **state)
{
    read_set(small, "source.value=3", NULL, NULL);
    assert_true(problem.source.rate == 1.0);
    forget();
}

void test_config__a_face_without_a_type_takes_that_of_all(void **state)
{
    read_good("grid = { points = [9, 9]; };\nmaterial = { diffusivity = 1; };\n"
              "initial = { value = 1; };\ntime = { sweeps = 5; };\n"
              "boundary = { all = { type = \"dirichlet\"; value = 5.0; };\n"
              "x_min = { value = 6.0; }; y_max = { type = \"clamp\"; }; };\n");
    assert_true(problem.face[0].prescribed && problem.face[0].data.constant == 6.0);
    assert_true(problem.face[1].data.constant == 5.0);
    assert_string_equal(problem.face[3].type, "clamp");
    forget();
}

void test_config__regions_come_in_their_order(void **state)
{
    read_good("grid = { points = [9, 9]; };\nmaterial = { diffusivity = 1; };\n"
              "initial = { value = 1; regions = (\n"
              "  { shape = \"box\"; lower = [0, 1]; upper = [2, 3]; value = \"x\"; },\n"
              "  { shape = \"sphere\"; centre = [4, 4]; radius = 2; value = 7; },\n"
              "  { shape = \"cylinder\"; centre = [4, 4]; radius = 1; axis = \"y\"; from = 2; "
              "value = 8; } ); };\ntime = { sweeps = 5; };\n");
    assert_int_equal(problem.initial.region_count, 3);
    const struct hs_region *regions = problem.initial.regions;
    assert_int_equal(regions[0].shape.kind, HS_SHAPE_BOX);
    assert_true(regions[0].shape.upper[HS_Y] == 3.0);
    assert_true(hs_value_at(&regions[0].value, 2, 0, 0, 0) == 2.0);
    assert_int_equal(regions[1].shape.kind, HS_SHAPE_SPHERE);
    assert_true(regions[1].shape.radius == 2.0 && regions[1].shape.centre[HS_Y] == 4.0);
    assert_int_equal(regions[2].shape.kind, HS_SHAPE_CYLINDER);
    assert_int_equal(regions[2].shape.axis, HS_Y);
    assert_true(regions[2].shape.from == 2.0 && isinf(regions[2].shape.to));
    forget();
}

/* ---- axes by coordinates --------------------------------------------------------------------- */

static const char rest[] = "material = { diffusivity = 1; };\ninitial = { value = 1; };\n"
                           "time = { sweeps = 1; };\n";

static void read_axes(const char *grid, const char *more)
{
    char text[2000];
    snprintf(text, sizeof text, "grid = { %s };\n%s%s", grid, rest, more);
    read_good(text);
}

void test_config__an_axis_may_be_a_list_of_coordinates(void **state)
{
    read_axes("x = [0.0, 0.001, 0.0025];",
              "probes = ( { name = \"a\"; at = 0.0017; }, { name = \"b\"; at = 0.0018; } );\n");
    assert_int_equal(problem.grid.dims, 1);
    assert_int_equal(problem.grid.points[HS_X], 3);
    assert_true(hs_grid_is_stretched(&problem.grid));
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 1) == 0.001);
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 2) == 0.0025);
    assert_true(problem.grid.lower[HS_X] == 0.0 && problem.grid.spacing[HS_X] == 0.001);
    assert_int_equal(problem.probes[0].node[HS_X], 1); /* 0.00175 is half-way */
    assert_int_equal(problem.probes[1].node[HS_X], 2);
    assert_non_null(strstr(problem.fingerprint, "grid.x[1] = 0.001"));
    forget();
}

/* Cells grow by the ratio: 1, 2, 4, 8 fifteenths; then shrink by it; then 3 equal cells. */
void test_config__segments_have_a_growth_ratio(void **state)
{
    read_axes("x = { from = -15; segments = ( { to = 0.0; cells = 4; ratio = 2; },\n"
              "{ to = 1.5e1; cells = 4; ratio = 0.5; }, { to = 18; cells = 3; } ); };",
              "");
    static const double places[] = {-15, -14, -12, -8, 0, 8, 12, 14, 15, 16, 17, 18};
    assert_int_equal(problem.grid.points[HS_X], 12);
    for (int i = 0; i < 12; i++) /* some roundings of an exponential */
        assert_near(hs_grid_coordinate(&problem.grid, HS_X, i), places[i], 1e-13);
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 4) == 0.0); /* ends are as written */
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 8) == 15.0);
    assert_non_null(strstr(problem.fingerprint, "grid.x.segments[1].ratio = 0.5"));
    forget();
}

/* Over 300 orders of magnitude; no power may overflow. */
void test_config__a_steep_growth_does_not_overflow(void **state)
{
    read_axes("x = { from = -1; segments = ( { to = 0.0; cells = 40; ratio = 5e-3; } ); };", "");
    assert_true(fabs(hs_grid_coordinate(&problem.grid, HS_X, 1) + 1.0 / 200.0) < 1e-15);
    forget();
    read_axes("x = { segments = ( { to = 1.0; cells = 40; ratio = 2e2; } ); };", "");
    assert_true(fabs(hs_grid_coordinate(&problem.grid, HS_X, 39) - 1.0 / 200.0) < 1e-15);
    forget();
}

void test_config__equal_cells_are_a_uniform_axis(void **state)
{
    static const char *const uniform[] = {
        "x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];",
        "x = { from = 0.1; segments = ( { to = 0.3; cells = 2; }, { to = 0.6; cells = 3; } ); };",
    };
    for (int n = 0; n < 2; n++) {
        read_axes(uniform[n], "");
        assert_false(hs_grid_is_stretched(&problem.grid));
        assert_null(problem.body);
        assert_int_equal(problem.grid.points[HS_X], 6);
        assert_true(problem.grid.lower[HS_X] == 0.1 && problem.grid.spacing[HS_X] == 0.1);
        forget();
    }
    static const char *const stretched[] = {
        "x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.600000001];",
        "x = [1000000.0, 1000000.0001, 1000000.000200005];", /* by some 20 roundings */
    };
    for (int n = 0; n < 2; n++) {
        read_axes(stretched[n], "");
        assert_true(hs_grid_is_stretched(&problem.grid));
        forget();
    }
}

void test_config__points_are_for_the_other_axes(void **state)
{
    read_axes("y = [0.0, 1.0, 3.0]; points = [5, 7]; lower = [1.0, 2.0]; upper = [2, 8];", "");
    const struct hs_grid *grid = &problem.grid;
    assert_int_equal(grid->dims, 3);
    assert_true(grid->points[HS_X] == 5 && grid->points[HS_Y] == 3 && grid->points[HS_Z] == 7);
    assert_true(grid->lower[HS_X] == 1.0 && grid->lower[HS_Z] == 2.0);
    assert_true(grid->spacing[HS_X] == 0.25 && grid->spacing[HS_Z] == 1.0);
    assert_true(grid->coordinate[HS_Y] && !grid->coordinate[HS_X] && !grid->coordinate[HS_Z]);
    forget();
    read_axes("x = [0.0, 1.0, 3.0]; points = 5; spacing = 0.5;", "");
    assert_int_equal(problem.grid.dims, 2);
    assert_true(problem.grid.spacing[HS_Y] == 0.5 && problem.grid.points[HS_Y] == 5);
    forget();
}

void test_config__the_last_coordinate_of_a_periodic_axis_is_its_first_node(void **state)
{
    read_axes("x = [0.0, 1.0, 3.0, 3.5];", "boundary = { all = { type = \"periodic\"; }; };\n"
                                           "probes = ( { name = \"a\"; at = 3.4; } );\n");
    assert_int_equal(problem.grid.points[HS_X], 3);
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 3) == 3.5);
    assert_int_equal(problem.probes[0].node[HS_X], 0);
    forget();
}

void test_config__overrides_reach_axes(void **state)
{
    static const char list[] =
        "grid = { x = [0.0, 1.0, 3.0]; };\nmaterial = { diffusivity = 1; };\n"
        "initial = { value = 1; };\ntime = { sweeps = 1; };\n";
    read_set(list, "grid.x[1]=2", NULL, NULL);
    assert_true(hs_grid_coordinate(&problem.grid, HS_X, 1) == 2.0);
    forget();
    read_set(list, "grid.x={ segments = ( { to = 4; cells = 2; ratio = 3; } ); }",
             "grid.x.segments[0].cells=3", NULL);
    assert_int_equal(problem.grid.points[HS_X], 4);
    assert_true(fabs(hs_grid_coordinate(&problem.grid, HS_X, 1) - 4.0 / 13.0) < 1e-15);
    forget();
    read_set(small, "grid.x=[0, 1, 3]", "grid.points=21", NULL);
    assert_int_equal(problem.grid.dims, 2);
    assert_true(problem.grid.points[HS_X] == 3 && problem.grid.points[HS_Y] == 21);
    forget();
}

/* ---- overrides ------------------------------------------------------------------------------- */

void test_config__overrides_replace_and_add(void **state)
{
    read_set(small, "time.end=2.5", "grid.points=[33]", "precision=float");
    assert_true(problem.schedule.end == 2.5);
    assert_int_equal(problem.grid.dims, 1);
    assert_int_equal(problem.grid.points[HS_X], 33);
    assert_int_equal(problem.precision, HS_FLOAT);
    forget();
    read_set(small, "grid.points[1]=5", "probes[0]={name=\"a\"; at=[1,2];}",
             "probes[1]={ name = \"b\"; at = (3, 4.0); }");
    assert_int_equal(problem.grid.points[HS_X], 11);
    assert_int_equal(problem.grid.points[HS_Y], 5);
    assert_int_equal(problem.probe_count, 2);
    assert_int_equal(problem.probes[1].node[HS_Y], 4);
    forget();
    read_set(small, "probes[0].name=p", "probes[0].at=[1,2]", "steady.tolerance=1e-3");
    assert_string_equal(problem.probes[0].name, "p");
    assert_true(problem.schedule.steady);
    forget();
}

void test_config__later_overrides_win(void **state)
{
    read_set(small, "time.end=2", "time.end=3", NULL);
    assert_true(problem.schedule.end == 3.0);
    forget();
}

void test_config__an_override_may_be_an_expression_without_quotes(void **state)
{
    read_set(small, "initial.value=300+20*sin(x)", "output.file=some/where else.h5", NULL);
    assert_true(hs_value_at(&problem.initial.field.value, 0.5, 0, 0, 0) == 300 + 20 * sin(0.5));
    assert_string_equal(problem.output.file, "some/where else.h5");
    forget();
    read_set(small, "initial.value=\"x\"", "title=\"with quotes\"", "time.step=auto");
    assert_true(hs_value_at(&problem.initial.field.value, 0.5, 0, 0, 0) == 0.5);
    assert_string_equal(problem.title, "with quotes");
    assert_true(isnan(problem.schedule.step));
    forget();
}

void test_config__an_override_puts_aside_what_excludes_it(void **state)
{
    read_set(small, "time.sweeps=7", "initial.expression=x", "grid.upper=[1,1]");
    assert_true(isnan(problem.schedule.end));
    assert_int_equal(problem.schedule.sweeps, 7);
    assert_true(hs_value_at(&problem.initial.field.value, 0.5, 0, 0, 0) == 0.5);
    forget();
}

/* A body of two materials with a wall of this group on x_min. */
#define BODY(wall)                                                                                 \
    "grid = { points = [11, 21]; };\n"                                                             \
    "materials = ( { name = \"a\"; conductivity = 1.0; density = 2.0; specific_heat = 4.0; },\n"   \
    "              { name = \"b\"; conductivity = 3.0; density = 2.0; specific_heat = 4.0; } );\n" \
    "body = ( { material = \"a\"; }, { material = \"b\"; shape = \"half-space\"; point = [5, "     \
    "0];\n"                                                                                        \
    "         normal = [1, 0]; } );\ninitial = { value = 300.0; };\ntime = { end = 1.0; };\n"      \
    "boundary = { x_min = { " wall " }; };\n"

void test_config__an_override_of_a_type_drops_what_it_does_not_use(void **state)
{
    write_file("table.csv", "0 1\n1 2\n");
    static const char plain[] = BODY("type = \"neumann\"; flux_table = \"table.csv\";");
    read_set(plain, "boundary.x_min.type=dirichlet", "boundary.x_min.value=280", NULL);
    assert_int_equal(problem.walls[0].kind, HS_WALL_PRESCRIBES);
    forget();
    read_set(
        BODY("type = \"robin\"; h_file = \"h.h5\"; h_dataset = \"h\"; ambient_table = \"no.csv\";"),
        "boundary.x_min.type=reflective", NULL, NULL);
    forget();
    static const char patch[] = BODY("type = \"reflective\"; patches = ( { lower = [2]; upper = "
                                     "[5]; type = \"robin\"; h = 3.0;\n"
                                     "ambient_table = \"no.csv\"; } );");
    read_set(patch, "boundary.x_min.patches[0].type=neumann", "boundary.x_min.patches[0].flux=7",
             NULL);
    assert_true(problem.walls[1].h == 0.0);
    forget();
    /* the same for a type without tables */
    read_set("grid = { points = [11]; };\nmaterial = { diffusivity = 0.5; };\n"
             "initial = { value = 300.0; };\ntime = { end = 1.0; };\n"
             "boundary = { x_min = { type = \"dirichlet\"; value_table = \"no.csv\"; }; };\n",
             "boundary.x_min.type=constant", "boundary.x_min.value=280", NULL);
    assert_null(problem.body);
    forget();
}

void test_config__an_override_of_a_type_with_itself_drops_nothing(void **state)
{
    read_set(BODY("type = \"robin\"; h = 3.0; ambient = 290.0; flux = -5.0;"),
             "boundary.x_min.type=\"robin\"", NULL, NULL);
    assert_true(hs_wall_number_is_given(&problem.walls[0].flux));
    forget();
}

void test_config__an_override_of_a_number_drops_its_file_and_table(void **state)
{
    write_file("table.csv", "0 1\n1 2\n");
    read_set(BODY("type = \"neumann\"; flux_table = \"no.csv\"; flux_file = \"no.h5\"; "
                  "flux_dataset = \"q\";"),
             "boundary.x_min.flux=3", NULL, NULL);
    assert_true(problem.time_functions[problem.walls[0].flux.function].value.constant == 3.0);
    forget();
    static const char by_table[] = "boundary.x_min.flux_table=table.csv";
    read_set(BODY("type = \"neumann\"; flux = 3.0;"), by_table, NULL, NULL);
    assert_int_equal(problem.time_functions[problem.walls[0].flux.function].points, 2);
    forget();
    read_set(BODY("type = \"neumann\"; gradient = 3.0;"), by_table, NULL, NULL);
    forget();
    read_set(
        BODY("type = \"reflective\"; patches = ( { lower = [2]; upper = [5]; type = \"neumann\";\n"
             "flux_table = \"no.csv\"; } );"),
        "boundary.x_min.patches[0].flux=3", NULL, NULL);
    forget();
    /* file and table are multiplied */
    const char *const set[] = {by_table};
    assert_int_equal(read_with(BODY("type = \"neumann\"; flux_file = \"no.h5\";"), set, 1), HS_IO);
    forget();
}

void test_config__an_override_of_a_materials_diffusivity_drops_the_three(void **state)
{
    read_set(BODY("type = \"reflective\";"), "materials[0].diffusivity=0.25",
             "materials[1].diffusivity=0.5", NULL);
    forget();
}

void test_config__an_override_of_a_group_replaces_it_whole(void **state)
{
    read_set(small, "material={conductivity=1; density=2; specific_heat=4;}", NULL, NULL);
    assert_true(problem.material.diffusivity == 0.125);
    forget();
}

/* ---- texts ----------------------------------------------------------------------------------- */

void test_config__keeps_its_text_and_the_overrides(void **state)
{
    read_set(small, "time.end=2", "title=a\nb", NULL);
    char expected[500];
    snprintf(expected, sizeof expected, "%s\n// --set time.end=2\n// --set title=a b\n", small);
    assert_string_equal(problem.config_text, expected);
    forget();
}

void test_config__its_text_is_a_config_again(void **state)
{
    read_set(small, "title=a", NULL, NULL);
    char *text = strdup(problem.config_text);
    forget();
    read_good(text);
    assert_string_equal(problem.title, ""); /* the overrides are comments */
    free(text);
    forget();
}

void test_config__includes_are_relative_to_the_including_file(void **state)
{
    read_good(small); /* creates the folder */
    forget();
    char sub[200];
    snprintf(sub, sizeof sub, "%s/sub", folder);
    assert_true(mkdir(sub, 0700) == 0 || access(sub, F_OK) == 0);
    write_file("sub/material.cfg", "@include \"more.cfg\"\nmaterial = { diffusivity = 0.25; };");
    write_file("sub/more.cfg", "title = \"included\";\n");
    read_good("grid = { points = [11]; };\n  @include \"sub/material.cfg\"\n"
              "initial = { value = 1; };\ntime = { sweeps = 1; };\n/* a comment\n"
              "@include \"nothing\"\n*/\n");
    assert_true(problem.material.diffusivity == 0.25);
    assert_string_equal(problem.title, "included");
    forget();
}

void test_config__byte_order_marks_and_carriage_returns_do_not_matter(void **state)
{
    read_good("\xef\xbb\xbfgrid = { points = [11]; };\r\nmaterial = { diffusivity = 1; };\r\n"
              "initial = { value = 1; };\r\ntime = { sweeps = 1; };\r\ntitle = \"\xc3\xa4\";\r\n");
    assert_string_equal(problem.title, "\xc3\xa4");
    forget();
}

void test_config__strings_hold_what_looks_like_numbers_and_comments(void **state)
{
    read_good("grid = { points = [11]; }; material = { diffusivity = 1; };\n"
              "initial = { value = 1; }; time = { sweeps = 1; };\n"
              "title = \"5 // \\\"six\\\" /* \" \"7 # end = 3\";\n# title = 1;\n");
    assert_string_equal(problem.title, "5 // \"six\" /* 7 # end = 3");
    forget();
}

void test_config__places_are_lines_of_the_file(void **state)
{
    assert_int_equal(read_with("grid = { points = [\n 11,\n -2,\n 2.5\n ];\n};\n", NULL, 0),
                     HS_BAD_INPUT);
    assert_non_null(strstr(err.text, "case.cfg:3: grid.points[1] = -2: "));
    assert_non_null(strstr(err.text, "case.cfg:4: grid.points[2] = 2.5: "));
    forget();
}
