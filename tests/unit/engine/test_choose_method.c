/* The choice among planted methods, none of which advances in time. */
#include "engine/choose_method.h"
#include "test.h"

#include <math.h>
#include <string.h>

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    return HS_OK;
}

static enum hs_status solve(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err)
{
    return HS_OK;
}

static enum hs_status suits_1d(const struct hs_problem *problem, struct hs_error *err)
{
    return problem->grid.dims == 1 ? HS_OK : hs_error_add(err, HS_BAD_INPUT, "only 1D; take euler");
}

static const struct hs_method euler = {.name = "euler", .advance = advance};
static const struct hs_method picky = {
    .name = "picky", .suits = suits_1d, .advance = advance, .solve = solve};
static const struct hs_method solver = {.name = "solver", .solve = solve};
static const struct hs_method *const planted[] = {&euler, &picky, &solver, NULL};

struct outcome {
    enum hs_status status;
    const struct hs_method *method, *steady;
};

/* For a problem of `dims` axes. `said` must be in the message; NULL: there is no message. */
static struct outcome choose(int dims, struct hs_schedule schedule, const char *said)
{
    struct hs_problem problem;
    struct outcome out;
    struct hs_error err = {0};
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    problem.schedule = schedule;
    problem.place[HS_PLACE_METHOD] = "case.cfg:7";
    problem.place[HS_PLACE_STEADY] = "case.cfg:9";
    out.status = hs_choose_method(planted, &problem, &out.method, &out.steady, &err);
    if (said)
        assert_non_null(strstr(err.text, said));
    else
        assert_null(err.text);
    hs_error_release(&err);
    return out;
}

static struct hs_schedule to_end(char *method)
{
    return (struct hs_schedule){.method = method, .end = 1.0, .sweeps = -1};
}

static struct hs_schedule to_steady(char *method)
{
    return (struct hs_schedule){.steady = true,
                                .steady_method = method,
                                .steady_tolerance = 1e-8,
                                .end = NAN,
                                .sweeps = -1};
}

void test_choose_method__takes_the_first_where_none_is_named(void **state)
{
    const struct outcome out = choose(3, to_end(NULL), NULL);
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.method, &euler);
    assert_null(out.steady);
}

void test_choose_method__finds_a_name_among_those_that_advance(void **state)
{
    assert_ptr_equal(choose(1, to_end("picky"), NULL).method, &picky);
    const char *const said =
        "case.cfg:7: time.method = \"solver\": write steady.method = \"solver\": ";
    assert_int_equal(choose(1, to_end("solver"), said).status, HS_BAD_INPUT);
}

void test_choose_method__names_the_nearest_and_all_there_are(void **state)
{
    const char *const said = "case.cfg:7: time.method = \"eulr\": no such method; did you mean "
                             "\"euler\"? There are euler, picky";
    assert_int_equal(choose(1, to_end("eulr"), said).status, HS_BAD_INPUT);
}

void test_choose_method__gives_the_reason_of_one_that_cannot(void **state)
{
    const char *const said = "case.cfg:7: time.method = \"picky\": only 1D; take euler";
    assert_int_equal(choose(2, to_end("picky"), said).status, HS_BAD_INPUT);
}

void test_choose_method__looks_for_a_steady_state_by_sweeps_unless_told(void **state)
{
    assert_null(choose(1, to_steady(NULL), NULL).steady);
    assert_null(choose(1, to_steady("sweeps"), NULL).steady);
    assert_ptr_equal(choose(1, to_steady("solver"), NULL).steady, &solver);
}

void test_choose_method__auto_takes_the_first_solver_that_can(void **state)
{
    assert_ptr_equal(choose(1, to_steady("auto"), NULL).steady, &picky);
    assert_ptr_equal(choose(2, to_steady("auto"), NULL).steady, &solver);
}

void test_choose_method__auto_sweeps_where_time_bounds_the_search(void **state)
{
    struct hs_schedule schedule = to_steady("auto");
    schedule.end = 5.0;
    assert_null(choose(1, schedule, NULL).steady);
}

void test_choose_method__asks_nothing_of_a_method_of_time_beside_a_solver(void **state)
{
    struct hs_schedule schedule = to_steady("solver");
    schedule.method = "picky";
    const struct outcome out = choose(2, schedule, NULL); /* it cannot do 2D */
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.steady, &solver);
    assert_ptr_equal(out.method, &euler);
    schedule.steady_method = "sweeps";
    assert_int_equal(choose(2, schedule, "time.method = \"picky\": only 1D").status, HS_BAD_INPUT);
    schedule.steady_method = "solver";
    schedule.method = "eulr";
    assert_int_equal(choose(2, schedule, "did you mean \"euler\"").status, HS_BAD_INPUT);
}

void test_choose_method__refuses_a_bound_of_time_beside_a_solver(void **state)
{
    struct hs_schedule schedule = to_steady("solver");
    schedule.sweeps = 100;
    const char *const said =
        "case.cfg:9: steady.method = \"solver\": it does not step through time, so "
        "time.sweeps has no meaning; remove that (on a command line: --set "
        "time={}), or make the method \"sweeps\"";
    assert_int_equal(choose(1, schedule, said).status, HS_BAD_INPUT);
}
