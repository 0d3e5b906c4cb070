#include "core/kernel.h"
#include "core/needs.h"
#include "test.h"

/* An expression that varies in what `varies` says; its code is never run. */
static struct hs_value value_of(unsigned varies)
{
    static const struct hs_instruction code[] = {{HS_OP_T, 0.0}};
    return (struct hs_value){.expression = {.code = code, .length = 1, .varies = varies}};
}

static void set_face(struct hs_problem *problem, int face, const char *kind, unsigned varies)
{
    struct hs_boundary_spec spec = {.given = 1u << HS_BOUNDARY_VALUE | 1u << HS_BOUNDARY_GRADIENT};
    for (int key = 0; key < HS_BOUNDARY_KEYS; key++)
        spec.value[key] = varies ? value_of(varies) : (struct hs_value){.constant = 1.0};
    spec.value[HS_BOUNDARY_H] = (struct hs_value){.constant = 2.0};
    problem->face[face] = (struct hs_face){.type = kind};
    const char *reason = NULL;
    assert_int_equal(hs_boundary_find(kind)->lower(&spec, 1.0, 1.0, problem->radius,
                                                   &problem->face[face], &reason),
                     HS_OK);
}

/* 2D, every face of the kind, of radius 2. */
static struct hs_problem case_of(const char *kind, unsigned varies)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = 2;
    problem.radius = 2;
    for (int face = 0; face < 4; face++)
        set_face(&problem, face, kind, varies);
    return problem;
}

static unsigned needs_of(const char *kind, unsigned varies)
{
    const struct hs_problem problem = case_of(kind, varies);
    return hs_problem_needs(&problem);
}

void test_needs__of_each_kind_of_wall(void **state)
{
    (void)state;
    assert_int_equal(needs_of("fixed", 0), 0);
    assert_int_equal(needs_of("periodic", 0), HS_NEEDS_WRAP);
    assert_int_equal(needs_of("reflective", 0), HS_NEEDS_GHOSTS);
    assert_int_equal(needs_of("clamp", 0), HS_NEEDS_GHOSTS);
    assert_int_equal(needs_of("constant", 0), HS_NEEDS_GHOSTS);
    assert_int_equal(needs_of("neumann", 0), HS_NEEDS_GHOSTS);
    assert_int_equal(needs_of("robin", 0), HS_NEEDS_GHOSTS);
    assert_int_equal(needs_of("dirichlet", 0), HS_NEEDS_GHOSTS | HS_NEEDS_PRESCRIBED);
    /* with radius 1 a dirichlet wall's one held layer is as many as the stencil reaches */
    struct hs_problem problem = case_of("dirichlet", 0);
    problem.radius = 1;
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_GHOSTS | HS_NEEDS_PRESCRIBED);
}

void test_needs__of_values_that_vary(void **state)
{
    (void)state;
    const unsigned wall = HS_NEEDS_GHOSTS;
    assert_int_equal(needs_of("robin", HS_VARIES_T), wall | HS_NEEDS_WALL_TIME);
    assert_int_equal(needs_of("robin", HS_VARIES_Y), wall | HS_NEEDS_WALL_FIELD);
    assert_int_equal(needs_of("robin", HS_VARIES_Z | HS_VARIES_T),
                     wall | HS_NEEDS_WALL_FIELD | HS_NEEDS_WALL_TIME);
}

void test_needs__of_sources(void **state)
{
    (void)state;
    struct hs_problem problem = case_of("fixed", 0);
    double data = 0.0;
    problem.source.field.value = value_of(HS_VARIES_X);
    assert_int_equal(hs_problem_needs(&problem), 0); /* not present */
    problem.source.present = true;
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_SOURCE | HS_NEEDS_SOURCE_FIELD);
    problem.source.field.value = value_of(HS_VARIES_T);
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_SOURCE | HS_NEEDS_SOURCE_TIME);
    problem.source.field.value = (struct hs_value){.constant = 3.0};
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_SOURCE);
    problem.source.field.data = &data; /* not freed: the problem is not released */
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_SOURCE | HS_NEEDS_SOURCE_FIELD);
}

/* Faces of axes that are not there do not count. */
void test_needs__only_of_the_axes_that_are_there(void **state)
{
    (void)state;
    struct hs_problem problem = case_of("fixed", 0);
    set_face(&problem, 4, "robin", HS_VARIES_T);
    assert_int_equal(hs_problem_needs(&problem), 0);
    problem.grid.dims = 3;
    set_face(&problem, 5, "fixed", 0);
    assert_int_equal(hs_problem_needs(&problem), HS_NEEDS_GHOSTS | HS_NEEDS_WALL_TIME);
}

void test_needs__uniform_kernels_do_not_suit_fields(void **state)
{
    (void)state;
    const struct hs_kernel kernel = {
        .name = "mine", .dims = 1u << 2, .radius = 1u << 2, .precision = 3, .uniform = true};
    char reason[128];
    struct hs_problem problem = case_of("robin", HS_VARIES_T);
    assert_true(hs_kernel_suits(&kernel, &problem, reason, sizeof reason));
    problem = case_of("robin", HS_VARIES_X);
    assert_false(hs_kernel_suits(&kernel, &problem, reason, sizeof reason));
    assert_string_equal(reason, "mine needs sources and boundary values that are uniform in space");
}
