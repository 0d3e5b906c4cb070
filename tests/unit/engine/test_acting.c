/* Inflow that changes in time, computed at the nodes where it changes, against the whole inflow. */
#include "engine/case.h"
#include "engine/multigrid/acting.h"
#include "functions/fields.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const grid = "grid = { points = [9, 8, 7]; upper = [1.0, 1.0, 1.0]; };";
static const char *const stencil = "material = { conductivity = 2.0; density = 8.0; "
                                   "specific_heat = 0.25; };"
                                   "source = { expression = \"3*x - y*z\"; };";
static const char *const body =
    "materials = ( { name = \"a\"; conductivity = 2.0; density = 8.0; specific_heat = 0.25; "
    "                source = \"MATERIAL\"; },"
    "              { name = \"b\"; conductivity = 0.1; density = 4.0; specific_heat = 0.25; } );"
    "body = ( { material = \"a\"; }, { material = \"b\"; shape = \"sphere\"; "
    "          centre = [0.5, 0.45, 0.4]; radius = 0.21; } );"
    "source = { expression = \"3*x - y*z\"; };";

/* The rest of the config, and the number of nodes whose inflow changes. */
struct one {
    const char *material, *walls;
    int64_t count;
};
enum { NODES = 9 * 8 * 7, FACE_X = 8 * 7, FACE_Z = 9 * 8 };
static const struct one cases[] = {
    {"s", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", 0},
    {"s", "x_min = { type = \"neumann\"; flux = \"7*sin(t)\"; };", FACE_X},
    {"s", "x_max = { type = \"robin\"; h = 3.0; ambient = \"300 + y*t\"; };", FACE_X},
    {"s",
     "x_min = { type = \"neumann\"; flux = \"7*t\"; }; z_max = { type = \"robin\"; h = 3.0; "
     "ambient = \"300 + t\"; };",
     FACE_X + FACE_Z - 8},
    {"s",
     "x_min = { type = \"neumann\"; flux = \"7*t\"; }; y_min = { type = \"periodic\"; }; "
     "y_max = { type = \"periodic\"; }; z_min = { type = \"dirichlet\"; value = 280.0; };",
     FACE_X - 8},
    {"b", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", 0},
    {"b", "x_min = { type = \"neumann\"; flux = \"7*sin(t)\"; };", FACE_X},
    {"b", "x_max = { type = \"robin\"; h = 3.0; ambient = \"300 + y*t\"; };", FACE_X},
    {"b",
     "x_min = { type = \"neumann\"; flux = \"7*y*t\"; }; z_max = { type = \"robin\"; h = 3.0; "
     "ambient = \"300 + t\"; };",
     FACE_X + FACE_Z - 8},
    {"m", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };",
     NODES}, /* all but two are of a: so all */
    /* the source changes as well */
    {"st", "x_min = { type = \"neumann\"; flux = \"7*sin(t)\"; };", NODES},
    {"bt", "x_max = { type = \"robin\"; h = 3.0; ambient = \"300 + y*t\"; };", NODES},
    {"mt", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", NODES},
};
/* The same where the caller knows the source. */
static const struct one known[] = {
    {"st", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", 0},
    {"st", "x_min = { type = \"neumann\"; flux = \"7*sin(t)\"; };", FACE_X},
    {"bt", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", 0},
    {"bt", "x_min = { type = \"dirichlet\"; value = \"300 + t\"; };", 0},
    {"bt", "x_max = { type = \"robin\"; h = 3.0; ambient = \"300 + y*t\"; };", FACE_X},
    {"mt", "all = { type = \"robin\"; h = 3.0; ambient = 300.0; };", NODES},
};

static void read_case(const struct one *c, struct hs_problem *out)
{
    char path[] = "/tmp/acting-XXXXXX", text[2048] = "";
    snprintf(text, sizeof text, "%s", c->material[0] == 's' ? stencil : body);
    char *source = strstr(text, "MATERIAL");
    if (source)
        memcpy(source, c->material[0] == 'm' ? "5*sin(t)" : "5.      ", strlen("MATERIAL"));
    char *moving = strstr(text, "y*z\"");
    if (c->material[1] == 't')
        memcpy(moving, "t*z", 3);
    FILE *file = fdopen(mkstemp(path), "w");
    fprintf(file, "%s\n%s\ninitial = { value = 300.0; };\nboundary = { %s %s };\n", grid, text,
            strstr(c->walls, "all") ? "" : "all = { type = \"reflective\"; };", c->walls);
    fprintf(file, "time = { end = 1.0; step = 0.1; method = \"implicit\"; };\n"
                  "solver = { backend = \"cpu\"; threads = 2; };\n");
    fclose(file);
    const struct hs_case_request request = {.config = path};
    assert_ok(hs_case_read(&request, out, &err));
    unlink(path);
}

/* What the caller knows: the source at all nodes, and the inflow that lasts. */
static void bring(const struct hs_equations *equations, double t, double *out)
{
    const struct hs_grid *all = &equations->problem->grid;
    const int64_t nx = all->points[HS_X], ny = all->points[HS_Y];
    assert_true(hs_equations_inflow_at(equations, false, 0.0, out));
    for (int64_t n = 0; n < hs_grid_count(all); n++) {
        const struct hs_network_row *row = hs_network_row_at(equations->network, n);
        const int64_t node[HS_AXES] = {n % nx, n / nx % ny, n / nx / ny};
        if (row->kind == HS_NODE_FREE)
            out[n] =
                hs_problem_source_at(equations->problem, 1.0, t, node) * row->capacity + out[n];
    }
}

static void assert_same_bits(const struct one *c, bool elsewhere)
{
    struct hs_problem problem;
    struct hs_equations equations;
    struct hs_acting acting;
    read_case(c, &problem);
    const size_t bytes = (size_t)hs_grid_count(&problem.grid) * sizeof(double);
    double *due = malloc(bytes), *found = malloc(bytes);
    assert_ok(hs_equations_init(&equations, &problem, &err));
    assert_ok(hs_acting_init(&acting, &equations, elsewhere, &err));
    assert_int_equal(acting.count, c->count);
    memcpy(found, equations.inflow, bytes);
    for (int step = 1; step < 4; step++) {
        const double t = 0.37 * step;
        assert_true(hs_equations_inflow_at(&equations, problem.source.present, t, due));
        assert_true(memcmp(found, due, bytes) == 0 || c->count > 0 || acting.elsewhere);
        if (acting.elsewhere)
            bring(&equations, t, found);
        assert_true(hs_acting_at(&acting, &equations, t));
        for (int64_t m = 0; m < acting.count; m++)
            found[acting.node ? acting.node[m] : m] = acting.value[m];
        assert_memory_equal(found, due, bytes);
    }
    free(due);
    free(found);
    hs_acting_release(&acting);
    hs_equations_release(&equations);
    hs_problem_release(&problem);
}

void test_acting__the_rest_is_of_who_knows_the_source(void **state)
{
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        assert_same_bits(&known[n], true);
}

void test_acting__the_nodes_that_change_have_the_bits_of_all(void **state)
{
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        assert_same_bits(&cases[n], false);
}
