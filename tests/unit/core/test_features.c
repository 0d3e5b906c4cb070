#include "core/features.h"
#include "core/kernel.h"
#include "engine/registry.h"
#include "functions/program.h"
#include "test.h"
#include "walls.h"

#include <stdio.h>
#include <string.h>

/* An expression that claims to vary as `varies` says; its code is never run. */
static struct hs_value value_of(unsigned varies)
{
    static const struct hs_instruction code[] = {{HS_OP_T, 0.0}};
    return (struct hs_value){.expression = {.code = code, .length = 1, .varies = varies}};
}

static void set_face(struct hs_problem *problem, int face, const char *kind, unsigned varies)
{
    problem->face[face] = make_wall(
        kind, varies ? value_of(varies) : (struct hs_value){.constant = 1.0}, 2.0,
        (struct hs_boundary_spec){.conductivity = 1.0, .spacing = 1.0, .radius = problem->radius});
}

/* A 2D problem of radius 2 with this kind on every face. */
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

static hs_features asked_of(const char *kind, unsigned varies)
{
    const struct hs_problem problem = case_of(kind, varies);
    return hs_problem_features(&problem) & HS_ALL_VALUES;
}

void test_features__of_each_kind_of_wall(void **state)
{
    assert_int_equal(asked_of("fixed", 0), 0);
    assert_int_equal(asked_of("periodic", 0), HS_WALL_PERIODIC);
    assert_int_equal(asked_of("reflective", 0), HS_WALL_AFFINE);
    assert_int_equal(asked_of("clamp", 0), HS_WALL_AFFINE);
    assert_int_equal(asked_of("constant", 0), HS_WALL_AFFINE);
    assert_int_equal(asked_of("neumann", 0), HS_WALL_AFFINE);
    assert_int_equal(asked_of("robin", 0), HS_WALL_AFFINE);
    assert_int_equal(asked_of("dirichlet", 0), HS_WALL_AFFINE | HS_WALL_PRESCRIBED);
    /* with radius 1 the stencil reaches no further than a dirichlet wall's one held layer */
    struct hs_problem problem = case_of("dirichlet", 0);
    problem.radius = 1;
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES,
                     HS_WALL_AFFINE | HS_WALL_PRESCRIBED);
}

void test_features__of_values_that_vary(void **state)
{
    const unsigned wall = HS_WALL_AFFINE;
    assert_int_equal(asked_of("robin", HS_VARIES_T), wall | HS_WALL_TIME);
    assert_int_equal(asked_of("robin", HS_VARIES_Y), wall | HS_WALL_FIELD);
    assert_int_equal(asked_of("robin", HS_VARIES_Z | HS_VARIES_T),
                     wall | HS_WALL_FIELD | HS_WALL_TIME | HS_WALL_FIELD_TIME);
}

void test_features__of_sources(void **state)
{
    struct hs_problem problem = case_of("fixed", 0);
    double data = 0.0;
    problem.source.field.value = value_of(HS_VARIES_X);
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, 0); /* no source is present */
    problem.source.present = true;
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, HS_SOURCE | HS_SOURCE_FIELD);
    problem.source.field.value = value_of(HS_VARIES_T);
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, HS_SOURCE | HS_SOURCE_TIME);
    problem.source.field.value = (struct hs_value){.constant = 3.0};
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, HS_SOURCE);
    problem.source.field.data = &data; /* not freed: the problem is not released */
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, HS_SOURCE | HS_SOURCE_FIELD);
}

/* Walls of a body are coefficients, except numbers that vary along them and in time at once. */
void test_features__of_walls_that_move(void **state)
{
    const hs_features field =
        HS_SOURCE | HS_SOURCE_FIELD | HS_SOURCE_TIME | HS_SOURCE_FIELD_TIME | HS_WALL_FIELD_TIME;
    struct hs_network network = {.form = HS_NETWORK_SHORTS};
    struct hs_problem problem = case_of("robin", 0);
    problem.radius = 1;
    problem.network = &network; /* not freed: the problem is not released */
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, 0);
    network.inflow.count = 1;
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, field);
    network = (struct hs_network){.form = HS_NETWORK_SHORTS, .given.count = 1};
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, field);
    problem.source.present = true;
    problem.source.field.value = value_of(HS_VARIES_X);
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, field);
    assert_int_equal(hs_problem_own_source_varies(&problem), HS_VARIES_X);
    for (const struct hs_kernel *const *kernel = hs_kernels; *kernel; kernel++)
        if ((*kernel)->features & HS_CONDUCTION) /* fused sweeps cannot handle them */
            assert_int_equal(((*kernel)->features & HS_WALL_FIELD_TIME) != 0,
                             (*kernel)->device == HS_CPU || (*kernel)->steps == 1);
}

/* Faces of missing axes do not count. */
void test_features__only_of_the_axes_that_are_there(void **state)
{
    struct hs_problem problem = case_of("fixed", 0);
    set_face(&problem, 4, "robin", HS_VARIES_T);
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, 0);
    problem.grid.dims = 3;
    set_face(&problem, 5, "fixed", 0);
    assert_int_equal(hs_problem_features(&problem) & HS_ALL_VALUES, HS_WALL_AFFINE | HS_WALL_TIME);
}

void test_features__uniform_kernels_do_not_suit_fields(void **state)
{
    const struct hs_kernel kernel = {.name = "mine",
                                     .features = HS_STENCIL | HS_2D | HS_RADIUS_2 |
                                                 HS_ALL_PRECISIONS | HS_UNIFORM_VALUES};
    char reason[128];
    struct hs_kernel_plan plan;
    struct hs_problem problem = case_of("robin", HS_VARIES_T);
    const struct hs_layout layout = hs_layout_make(&problem.grid, problem.radius, 8);
    struct hs_case of = hs_kernel_case(&problem, &layout, 1);
    assert_true(hs_kernel_plan_make(&kernel, &of, NULL, &plan, reason, sizeof reason));
    problem = case_of("robin", HS_VARIES_X);
    of = hs_kernel_case(&problem, &layout, 1);
    assert_false(hs_kernel_plan_make(&kernel, &of, NULL, &plan, reason, sizeof reason));
    assert_string_equal(reason, "mine cannot do boundary values that differ from point to point");
}

void test_features__of_a_kind_the_reason_names_what_it_can(void **state)
{
    char reason[128];
    assert_false(hs_features_cover("mine", HS_STENCIL | HS_1D | HS_2D | HS_RADIUS_1 | HS_IN_FLOAT,
                                   hs_feature_stencil(3, 1, HS_FLOAT), reason, sizeof reason));
    assert_string_equal(reason, "mine cannot do 3D, only 1D or 2D");
    assert_false(hs_features_cover("mine", HS_BYTES | HS_SHORTS, HS_ARRAYS, reason, sizeof reason));
    assert_string_equal(reason, "mine cannot do nodes of more than 65536 kinds, only nodes of up "
                                "to 256 kinds or nodes of up to 65536 kinds");
}

/* A planted feature that no kernel has. Each kernel of this build is refused because of it, and of
 * nothing else. */
void test_features__new_one_refuses_every_kernel(void **state)
{
    const hs_features planted = HS_FEATURE(31);
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *kernel = hs_kernels[n];
        const hs_features all =
            HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES;
        char reason[128], wanted[128];
        assert_true(hs_features_cover(kernel->name, kernel->features, kernel->features & all,
                                      reason, sizeof reason));
        assert_false(hs_features_cover(kernel->name, kernel->features,
                                       (kernel->features & all) | planted, reason, sizeof reason));
        snprintf(wanted, sizeof wanted, "%s cannot do all that the problem asks for", kernel->name);
        assert_string_equal(reason, wanted);
    }
}

/* A refusal names the missing feature: each that a problem may ask for has its words. */
void test_features__each_has_its_words(void **state)
{
    const hs_features all =
        HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES;
    for (int bit = 0; bit < 64; bit++) {
        char reason[128];
        if (!(all & HS_FEATURE(bit)))
            continue;
        assert_false(hs_features_cover("mine", all & ~HS_FEATURE(bit), HS_FEATURE(bit), reason,
                                       sizeof reason));
        assert_null(strstr(reason, "all that the problem asks for"));
    }
}
