/* The estimate against sequences of changes whose distance is known: sums of modes a r^n. The
 * change of sweep n is sum a (1 - r) r^(n-1) and the distance is sum a r^n. */
#include "engine/registry.h"
#include "engine/steady.h"
#include "functions/program.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <string.h>

enum { EVERY = 50 };

/* A bar of 65 nodes between cold walls; its slowest mode loses 0.45 (2 - 2 cos(pi/64)) a sweep. */
static struct hs_problem make(enum hs_precision precision, const char *walls)
{
    struct hs_problem problem = make_line(65, 1.0);
    problem.precision = precision;
    problem.schedule.steady = true;
    problem.schedule.steady_tolerance = 1e-9;
    problem.schedule.steady_check_every = EVERY;
    for (int f = 0; f < 2; f++)
        set_wall(&problem, f, walls, (struct hs_value){.constant = 0.0}, 0.0);
    return problem;
}

extern const struct hs_method hs_method_euler, hs_method_exponential;
static const struct hs_plan plan = {
    .method = &hs_method_euler, .sweeps = 1000000, .tail_step = 0.45, .end = 450000.0};

static double slowest_decay(void)
{
    return 0.45 * (2.0 - 2.0 * cos(M_PI / 64.0));
}

struct mode {
    double amplitude, decay;
};

static double change_of(const struct mode *modes, int count, int64_t sweep)
{
    double sum = 0.0;
    for (int m = 0; m < count; m++)
        sum += modes[m].amplitude * modes[m].decay * pow(1.0 - modes[m].decay, (double)sweep - 1.0);
    return sum;
}

static double distance_of(const struct mode *modes, int count, int64_t sweep)
{
    double sum = 0.0;
    for (int m = 0; m < count; m++)
        sum += modes[m].amplitude * pow(1.0 - modes[m].decay, (double)sweep);
    return sum;
}

static struct hs_steady begin(const struct hs_problem *problem, double mean)
{
    struct hs_steady steady;
    const struct hs_reduction first = {.min = 0.0, .max = 100.0, .mean = mean, .change = NAN};
    hs_steady_begin(&steady, problem, &plan, 0, &first);
    return steady;
}

static void look(struct hs_steady *steady, int64_t sweep, double change, double mean)
{
    const struct hs_reduction seen = {.min = 0.0, .max = 100.0, .mean = mean, .change = change};
    hs_steady_look(steady, sweep, &seen);
}

static struct hs_steady follow(const struct hs_problem *problem, const struct mode *modes,
                               int count, int64_t sweeps)
{
    struct hs_steady steady = begin(problem, 50.0);
    for (int64_t n = EVERY; n <= sweeps; n += EVERY)
        look(&steady, n, change_of(modes, count, n), 50.0);
    return steady;
}

void test_steady__one_mode_is_told_to_the_digits_of_its_rate(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    const struct mode mode = {100.0, slowest_decay()};
    const struct hs_steady steady = follow(&problem, &mode, 1, 5000);
    const double distance = distance_of(&mode, 1, 5000);
    assert_int_equal(steady.trend, HS_STEADY_EVEN);
    /* and half an ulp of 100 over the decay, 7e-12 */
    assert_near(hs_steady_distance(&steady), distance, 1e-6 * distance);
    assert_true(hs_steady_most(&steady) > distance);
    assert_true(hs_steady_most(&steady) < 2.01 * distance);
    /* 100 decay r^(n-1) = 1e-9 */
    const double all = 1.0 + log(1e-9 / (100.0 * mode.decay)) / log1p(-mode.decay);
    assert_near(hs_steady_sweeps_left(&steady), all - 5000.0, 1.0);
}

/* A mode that the initial field lacks is not waited for; only the bound includes it. */
void test_steady__a_faster_mode_alone_is_told_by_its_own_rate(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    const struct mode mode = {100.0, 4.0 * slowest_decay()};
    const struct hs_steady steady = follow(&problem, &mode, 1, 2000);
    const double distance = distance_of(&mode, 1, 2000);
    assert_near(hs_steady_distance(&steady), distance, 1e-4 * distance);
    assert_near(hs_steady_most(&steady), 8.0 * distance, 0.1 * distance);
}

/* Two that are close: their ratio changes slowly, and always lies between the two. */
void test_steady__two_close_modes(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    const struct mode modes[] = {{10.0, slowest_decay()}, {90.0, 1.2 * slowest_decay()}};
    for (int64_t sweeps = 2000; sweeps <= 20000; sweeps += 1000) {
        const struct hs_steady steady = follow(&problem, modes, 2, sweeps);
        const double distance = distance_of(modes, 2, sweeps);
        assert_int_equal(steady.trend, HS_STEADY_EVEN);
        assert_near(hs_steady_distance(&steady) / distance, 1.0, 0.05);
        assert_true(hs_steady_most(&steady) >= distance);
    }
}

/* If many fast modes hide the slow one, the change falls unevenly, and the slowest mode's rate is
 * taken. If halving times less than 1.25 apart counted as even, it would be 12 % off. */
void test_steady__early_modes_are_not_taken_for_the_last(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    struct mode modes[30]; /* a jump at the wall: amplitudes 1/k, decays k^2 */
    for (int k = 1; k <= 30; k++)
        modes[k - 1] = (struct mode){60.0 / k, 0.45 * (2.0 - 2.0 * cos(M_PI * k / 64.0))};
    for (int64_t sweeps = EVERY; sweeps <= 6000; sweeps += EVERY) {
        const struct hs_steady steady = follow(&problem, modes, 30, sweeps);
        const double distance = distance_of(modes, 30, sweeps);
        assert_true(hs_steady_distance(&steady) > 0.85 * distance);
        assert_true(hs_steady_most(&steady) >= distance);
    }
    const struct hs_steady last = follow(&problem, modes, 30, 6000);
    assert_int_equal(last.trend, HS_STEADY_EVEN);
    assert_near(hs_steady_distance(&last) / distance_of(modes, 30, 6000), 1.0, 1e-3);
}

/* A slow mode as far away as a fast one that changes 20 times as much: the ratio is even but too
 * small, and the bound holds. */
void test_steady__a_hidden_mode_is_within_the_bound(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    const struct mode modes[] = {{1e-3, slowest_decay()}, {100.0, 20.0 * slowest_decay()}};
    const struct hs_steady steady = follow(&problem, modes, 2, 550);
    const double distance = distance_of(modes, 2, 550);
    assert_int_equal(steady.trend, HS_STEADY_EVEN);
    assert_true(hs_steady_distance(&steady) < distance);
    assert_true(hs_steady_most(&steady) > distance);
}

/* In float 100 has neighbours 7.6e-6 away: nothing changes by less. */
void test_steady__rounding_is_a_floor(void **state)
{
    const struct hs_problem problem = make(HS_FLOAT, "dirichlet");
    struct hs_steady steady = begin(&problem, 50.0);
    const struct mode mode = {100.0, slowest_decay()};
    int64_t sweep = 0;
    while (!(steady.change <= 8e-6)) {
        sweep += EVERY;
        look(&steady, sweep, fmax(change_of(&mode, 1, sweep), 7.62939453125e-6), 50.0);
    }
    assert_true(hs_steady_is_beyond_precision(&steady));
    for (int n = 0; n < 100; n++) {
        sweep += EVERY;
        look(&steady, sweep, 7.62939453125e-6, 50.0);
    }
    assert_int_equal(steady.trend, HS_STEADY_ROUNDING);
    assert_true(isnan(hs_steady_sweeps_left(&steady)));
    /* it and half of it over the decay */
    assert_near(hs_steady_distance(&steady), 1.5 * 7.63e-6 / slowest_decay(), 1e-4);
}

/* No node changes: steady in this precision, but not at the steady state. */
void test_steady__no_change_at_all_is_rounding(void **state)
{
    const struct hs_problem problem = make(HS_FLOAT, "dirichlet");
    struct hs_steady steady = begin(&problem, 50.0);
    look(&steady, EVERY, 0.0, 50.0);
    assert_true(steady.reached);
    assert_int_equal(steady.trend, HS_STEADY_ROUNDING);
    assert_near(hs_steady_distance(&steady), 0.5 * 7.63e-6 / slowest_decay(), 1e-5);
}

/* Between insulated walls heat that flows in stays: by 1e-6 K a sweep, for ever. */
void test_steady__a_mean_that_drifts_has_no_steady_state(void **state)
{
    struct hs_problem problem = make(HS_DOUBLE, "reflective");
    problem.schedule.steady_tolerance = 1e-3;
    struct hs_steady steady = begin(&problem, 50.0);
    look(&steady, EVERY, 1.1e-6, 50.0 + 1e-6 * EVERY);
    assert_true(steady.reached); /* as asked */
    assert_int_equal(steady.trend, HS_STEADY_NONE);
    assert_true(isnan(hs_steady_distance(&steady)) && isnan(hs_steady_most(&steady)));
}

/* With a wall that holds a temperature, or where the mean tells nothing: it no longer falls. */
void test_steady__a_change_that_stays_has_no_steady_state(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    struct hs_steady steady = begin(&problem, 50.0);
    for (int64_t sweep = EVERY; sweep <= 4000; sweep += EVERY)
        look(&steady, sweep, 1e-3, 50.0);
    assert_int_equal(steady.trend, HS_STEADY_NONE);
    assert_true(isnan(hs_steady_sweeps_left(&steady)));
}

void test_steady__a_change_that_grows_begins_anew(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    struct hs_steady steady = begin(&problem, 50.0);
    const struct mode mode = {100.0, slowest_decay()};
    for (int64_t sweep = EVERY; sweep <= 3000; sweep += EVERY)
        look(&steady, sweep, 1e-6 * change_of(&mode, 1, sweep), 50.0);
    assert_int_equal(steady.trend, HS_STEADY_EVEN);
    look(&steady, 3000 + EVERY, 1e-3, 50.0);
    assert_int_equal(steady.trend, HS_STEADY_EARLY);
    assert_near(hs_steady_distance(&steady), 1e-3 / slowest_decay(), 1e-3 / slowest_decay() * 0.01);
}

void test_steady__walls_that_change_in_time_have_none(void **state)
{
    static const struct hs_instruction t = {.operation = HS_OP_T};
    struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    problem.face[0].data.expression =
        (struct hs_expression){.code = &t, .length = 1, .varies = HS_VARIES_T};
    const struct mode mode = {100.0, slowest_decay()};
    const struct hs_steady steady = follow(&problem, &mode, 1, 3000);
    assert_int_equal(steady.trend, HS_STEADY_TIME_DEPENDENT);
    assert_true(isnan(hs_steady_distance(&steady)) && isnan(hs_steady_sweeps_left(&steady)));
    assert_true(hs_steady_look_ahead(&problem, &plan).time_dependent);
}

void test_steady__is_not_sought_unasked(void **state)
{
    struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    problem.schedule.steady = false;
    struct hs_steady steady = begin(&problem, 50.0);
    look(&steady, EVERY, 0.0, 50.0);
    assert_false(steady.reached);
    assert_true(isnan(hs_steady_distance(&steady)));
}

/* 100 K between initial field and walls: until 100 decay r^n is under the tolerance. */
void test_steady__the_outlook_is_that_of_the_slowest_mode(void **state)
{
    struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    problem.initial.field.value.constant = 100.0; /* the walls are at 0 */
    const struct hs_steady_outlook outlook = hs_steady_look_ahead(&problem, &plan);
    const double decay = slowest_decay(), sweeps = log(1e-9 / (100.0 * decay)) / log1p(-decay);
    assert_near(outlook.slowest.decay, decay, 1e-15);
    assert_near(outlook.sweeps, sweeps, EVERY);
    assert_near(fmod(outlook.sweeps, EVERY), 0.0, 0.0);
    assert_near(outlook.distance, 1e-9 * (1.0 - decay) / decay, 1e-11); /* 7e-12 are rounding */
    problem.source = (struct hs_source){.present = true, .rate = 1.0};
    problem.source.field.value.constant = 1.0; /* heats by 1 K/s * 0.45 s a sweep: 415 K in all */
    assert_near(hs_steady_look_ahead(&problem, &plan).sweeps,
                sweeps + log1p(0.45 / decay / 100.0) / decay, 2.0 * EVERY);
}

/* A step of 20 stable sweeps or more, which as one sweep would throw the slowest mode to the other
 * side: it decays by exp(-lambda step), whatever the step. */
void test_steady__a_step_without_an_error_in_time_is_no_sweep(void **state)
{
    struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    problem.initial.field.value.constant = 100.0;
    for (double step = 0.01; step < 1e4; step *= 10.0) {
        const struct hs_plan exact = {.method = &hs_method_exponential,
                                      .limit = 0.5,
                                      .sweeps = 1000000,
                                      .tail_step = step,
                                      .end = 1e6 * step};
        const struct hs_steady_outlook outlook = hs_steady_look_ahead(&problem, &exact);
        const double left = exp(-slowest_decay() / 0.45 * step);
        assert_near(outlook.slowest.decay, 1.0 - left, 1e-13);
        /* and half an ulp of 100; 1 - left rounds: of 6e-11 to 1e-6 */
        assert_near(outlook.distance, (1e-9 + 7.1e-15) * left / (1.0 - left),
                    1e-5 * outlook.distance);
    }
    const struct hs_plan long_steps = {
        .method = &hs_method_exponential, .limit = 0.5, .sweeps = 5, .tail_step = 1e5, .end = 5e5};
    struct hs_steady steady;
    const struct hs_reduction first = {.min = 0.0, .max = 100.0, .mean = 50.0, .change = NAN};
    hs_steady_begin(&steady, &problem, &long_steps, 0, &first);
    look(&steady, 1, 100.0, 0.0);
    assert_near(hs_steady_distance(&steady), 0.0, 1e-15); /* 100 exp(-535) */
    assert_near(hs_steady_sweeps_left(&steady), 1.0, 0.0);
}

/* For a body, finding the slowest mode takes up to some seconds, and no solver uses it. */
void test_steady__the_slowest_mode_is_not_looked_for_where_a_method_solves(void **state)
{
    const struct hs_problem problem = make(HS_DOUBLE, "dirichlet");
    const struct hs_reduction first = {.min = 0.0, .max = 100.0, .mean = 50.0, .change = NAN};
    const struct hs_plan solves = {.steady_method = hs_methods[0]};
    struct hs_steady steady;
    hs_steady_begin(&steady, &problem, &solves, 0, &first);
    assert_true(steady.slowest.decay == 0.0);
    hs_steady_solved(&steady, &(struct hs_solution){.reached = true});
    assert_true(isnan(hs_steady_distance(&steady)) && isnan(hs_steady_most(&steady)));
}
