#include "engine/exact.h"
#include "functions/program.h"
#include "test.h"

#include <math.h>
#include <string.h>

static struct hs_problem make(enum hs_precision precision)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.precision = precision;
    problem.grid.dims = 2;
    problem.grid.points[HS_X] = 3;
    problem.grid.points[HS_Y] = 2;
    for (int f = 0; f < 4; f++)
        problem.face[f].edge_weight = 0.5;
    problem.exact.present = true;
    return problem;
}

/* A device that returns the field as it is. */
struct hs_backend_state {
    const void *field;
    size_t bytes;
};

static enum hs_status download(struct hs_backend_state *state, const struct hs_box *box,
                               void *values, struct hs_error *err)
{
    memcpy(values, state->field, state->bytes);
    return HS_OK;
}

static struct hs_exact_error error_of(const struct hs_problem *problem, const void *field,
                                      size_t bytes, double time)
{
    static const struct hs_backend backend = {.download = download};
    struct hs_backend_state state = {field, bytes};
    struct hs_step_state_cache cache = {.backend = &backend, .state = &state};
    const struct hs_step_state step_state = {.problem = problem, .time = time, .cache = &cache};
    struct hs_exact_error found;
    assert_ok(hs_exact_error(&step_state, &found, &err));
    return found;
}

/* Exact is x + 10 t; at t = 2 the row is 20, 21, 22. */
static const struct hs_instruction x_plus_10t[] = {{HS_OP_X, 0.0},
                                                   {HS_OP_T, 0.0},
                                                   {HS_OP_CONSTANT, 10.0},
                                                   {HS_OP_MULTIPLY, 0.0},
                                                   {HS_OP_ADD, 0.0}};

void test_exact__norms_weigh_nodes_by_their_volume(void **state)
{
    struct hs_problem problem = make(HS_DOUBLE);
    problem.exact.value.expression =
        (struct hs_expression){x_plus_10t, 5, HS_VARIES_X | HS_VARIES_T};
    const double field[] = {20.0, 21.0, 22.0, 20.0, 23.0, 22.5};
    const struct hs_exact_error found = error_of(&problem, field, sizeof field, 2.0);
    /* the node that is off by 2 weighs 1/2, the one that is off by 1/2 weighs 1/4, of 2 in all */
    assert_near(found.max, 2.0, 0.0);
    assert_near(found.l2, sqrt((4.0 * 0.5 + 0.25 * 0.25) / 2.0), 1e-15);
}

void test_exact__a_field_that_is_not_a_number_has_no_small_error(void **state)
{
    const struct hs_problem problem = make(HS_FLOAT);
    const float field[] = {0.0f, 0.0f, NAN, 0.0f, 1.0f, 0.0f};
    const struct hs_exact_error found = error_of(&problem, field, sizeof field, 0.0);
    assert_true(isnan(found.max));
    assert_true(isnan(found.l2));
}
