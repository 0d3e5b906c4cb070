#include "engine/team.h"
#include "test.h"

/* The time of a sweep [s] with `threads` threads at the time `at`. */
typedef double machine(int threads, double at);

/* Sweeps from the time `from` until `until` [s]; *sweeps: how many. */
static double run(struct hs_team *team, machine *takes, double from, double until, int64_t *sweeps)
{
    double at = from;
    for (*sweeps = 0; at < until; ++*sweeps) {
        const double seconds = takes(hs_team_threads(team), at);
        hs_team_note(team, 1, seconds);
        at += seconds;
    }
    return at;
}

static double idle(int threads, double at)
{
    return 60e-6 / threads;
}

/* Each sweep of several threads waits for one that is not running. */
static double busy(int threads, double at)
{
    return threads == 1 ? 100e-6 : 400e-6;
}

/* The same, with stretches of 3 ms in which nothing else runs. */
static double busy_at_times(int threads, double at)
{
    return (int64_t)(at / 0.003) % 3 == 0 ? idle(threads, at) : busy(threads, at);
}

static double busy_later(int threads, double at)
{
    return at < 2.0 || at > 6.0 ? idle(threads, at) : busy(threads, at);
}

static double busy_half(int threads, double at)
{
    return threads > 4 ? 1e-3 : 60e-6 / threads;
}

static double slow(int threads, double at)
{
    return threads == 1 ? 0.01 : 0.02;
}

void test_team__uses_all_threads_of_an_idle_machine(void **state)
{
    struct hs_team team = hs_team_of(2);
    assert_int_equal(hs_team_threads(&team), 2);
    int64_t sweeps;
    run(&team, idle, 0.0, 4.0, &sweeps);
    assert_int_equal(team.now, 2);
    assert_true((double)sweeps > 0.99 * 4.0 / idle(2, 0.0)); /* trials cost less than a hundredth */
}

void test_team__is_not_slower_than_one_thread_on_a_busy_machine(void **state)
{
    machine *const machines[] = {busy, busy_at_times};
    for (int n = 0; n < 2; n++) {
        struct hs_team team = hs_team_of(2), one = hs_team_of(1);
        int64_t sweeps, alone;
        run(&team, machines[n], 0.0, 4.0, &sweeps);
        run(&one, machines[n], 0.0, 4.0, &alone);
        assert_int_equal(hs_team_threads(&one), 1);
        assert_true((double)sweeps > 0.97 * (double)alone); /* except for the trials */
    }
}

void test_team__follows_the_machine(void **state)
{
    struct hs_team team = hs_team_of(2);
    int64_t sweeps;
    double at = run(&team, busy_later, 0.0, 2.0, &sweeps);
    assert_int_equal(team.now, 2);
    at = run(&team, busy_later, at, 3.5, &sweeps); /* two holds, and a trial */
    assert_int_equal(team.now, 1);
    at = run(&team, busy_later, at, 6.0, &sweeps);
    assert_int_equal(team.now, 1);
    run(&team, busy_later, at, 7.5, &sweeps);
    assert_int_equal(team.now, 2);
}

/* Whatever half of them does: one alone is tried, and then more again. */
void test_team__finds_fewer_that_pay(void **state)
{
    for (int most = 5; most <= 16; most++) {
        struct hs_team team = hs_team_of(most);
        int64_t sweeps;
        run(&team, busy_half, 0.0, 4.0, &sweeps);
        assert_in_range(team.now, 3, 4);
        assert_in_range(hs_team_threads(&team), 1, most);
    }
}

/* In long calls the threads' waits for each other matter little, and a trial does not. */
void test_team__leaves_long_calls_alone(void **state)
{
    struct hs_team team = hs_team_of(2);
    int64_t sweeps;
    run(&team, slow, 0.0, 4.0, &sweeps);
    assert_int_equal(sweeps, 200);
    assert_int_equal(team.now, 2);
}
