/* The bar and the lines, on a stream in memory, with the real clock. */
#include "engine/steady.h"
#include "output/progress.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct hs_problem problem;
static struct hs_steady steady;
extern const struct hs_method hs_method_euler, hs_method_multigrid;

static const struct hs_plan plan = {
    .method = &hs_method_euler, .sweeps = 100, .tail_step = 0.5, .end = 50.0};

struct scene {
    char *text;
    size_t size;
    FILE *stream;
    struct hs_observer *observer;
};

/* The stream keeps the address of `text`, so the scene must not move. */
static void begin(struct scene *s, bool terminal)
{
    *s = (struct scene){0};
    hs_problem_init(&problem);
    problem.grid.dims = 1;
    problem.grid.points[HS_X] = 1000;
    problem.schedule.sweeps = 100;
    steady = (struct hs_steady){.change = NAN};
    s->stream = open_memstream(&s->text, &s->size);
    s->observer = hs_progress_create(s->stream, terminal, &problem, &plan);
}

static void tell(struct scene *s, enum hs_phase phase, int64_t sweep)
{
    const struct hs_step_state step_state = {.problem = &problem,
                                             .plan = &plan,
                                             .phase = phase,
                                             .sweep = sweep,
                                             .time = 0.5 * (double)sweep,
                                             .seconds = 1e-3 * (double)sweep,
                                             .steady = &steady};
    assert_ok(s->observer->notify(s->observer->self, &step_state, &err));
    fflush(s->stream);
}

static void end(struct scene *s)
{
    s->observer->destroy(s->observer->self);
    fclose(s->stream);
    free(s->text);
}

static void wait_for_redraw(void)
{
    nanosleep(&(struct timespec){0, 150000000}, NULL); /* redraws are 0.1 s apart */
}

void test_progress__a_log_has_one_line_of_a_short_run(void **state)
{
    struct scene s;
    begin(&s, false);
    tell(&s, HS_PHASE_START, 0);
    for (int64_t sweep = 1; sweep < 100; sweep++)
        tell(&s, HS_PHASE_RUNNING, sweep);
    tell(&s, HS_PHASE_END, 100);
    assert_int_equal(strncmp(s.text, "sweep 100/100  t = 50 s  0.001 GCell/s  in ", 43), 0);
    assert_ptr_equal(strchr(s.text, '\n'), s.text + strlen(s.text) - 1);
    assert_null(strchr(s.text, '\r'));
    end(&s);
}

void test_progress__a_bar_is_redrawn_at_most_ten_times_a_second(void **state)
{
    struct scene s;
    begin(&s, true);
    tell(&s, HS_PHASE_START, 0);
    wait_for_redraw();
    for (int64_t sweep = 1; sweep < 60; sweep++)
        tell(&s, HS_PHASE_RUNNING, sweep);
    int drawn = 0;
    for (const char *at = s.text; (at = strchr(at, '\r')); at++)
        drawn++;
    assert_int_equal(drawn, 1);
    assert_non_null(strstr(s.text, "\r[.........."));
    assert_true(strlen(s.text) <= 80); /* the default width, less one, and the return */
    assert_non_null(strstr(s.text, "ETA"));
    end(&s);
}

void test_progress__the_bar_ends_its_line_once(void **state)
{
    struct scene s;
    begin(&s, true);
    tell(&s, HS_PHASE_START, 0);
    tell(&s, HS_PHASE_END, 100);
    assert_non_null(strstr(s.text, "##########]"));
    assert_null(strchr(s.text, '.') < strchr(s.text, ']') ? strchr(s.text, '.') : NULL);
    s.observer->destroy(s.observer->self);
    fflush(s.stream);
    assert_int_equal(s.text[strlen(s.text) - 1], '\n');
    assert_ptr_equal(strchr(s.text, '\n'), s.text + strlen(s.text) - 1);
    fclose(s.stream);
    free(s.text);
}

/* If a run fails during a bar, the error message that follows begins on a new line. */
void test_progress__destroy_ends_the_line(void **state)
{
    struct scene s;
    begin(&s, true);
    tell(&s, HS_PHASE_START, 0);
    wait_for_redraw();
    tell(&s, HS_PHASE_RUNNING, 50);
    assert_null(strchr(s.text, '\n'));
    s.observer->destroy(s.observer->self);
    fflush(s.stream);
    assert_int_equal(s.text[strlen(s.text) - 1], '\n');
    fclose(s.stream);
    free(s.text);
}

/* A method that solves shows iterations, and nothing of sweeps. */
void test_progress__of_a_solve_iterations_are_shown(void **state)
{
    static const struct hs_plan solves = {.method = &hs_method_euler,
                                          .steady_method = &hs_method_multigrid};
    struct scene s;
    begin(&s, true);
    s.observer->destroy(s.observer->self);
    problem.schedule.steady_tolerance = 1e-10;
    s.observer = hs_progress_create(s.stream, true, &problem, &solves);
    struct hs_solution solution = {.residual = 1.0};
    s.observer->solving(s.observer->self, &solution);
    assert_string_equal(s.text ? s.text : "", "");
    wait_for_redraw();
    solution = (struct hs_solution){.iterations = 4, .residual = 1e-5};
    s.observer->solving(s.observer->self, &solution);
    assert_non_null(strstr(s.text, "[#################................."
                                   "]  iteration 4  residual 1e-05/1e-10  in "));
    steady.solution = (struct hs_solution){.iterations = 9, .residual = 2e-11};
    tell(&s, HS_PHASE_START, 0);
    assert_non_null(strstr(s.text, "iteration 9  residual 2e-11/1e-10  in "));
    assert_int_equal(s.text[strlen(s.text) - 1], '\n');
    const size_t size = s.size;
    tell(&s, HS_PHASE_END, 0);
    assert_int_equal(s.size, size);
    end(&s);
}

/* Fast sweeps are stopped less and less often, not one by one. */
void test_progress__the_stride_follows_the_rate(void **state)
{
    struct scene s;
    begin(&s, false);
    tell(&s, HS_PHASE_START, 0);
    int64_t sweep = 0;
    int stops = 0;
    while (sweep < 1000000) {
        const int64_t next = s.observer->next(s.observer->self, sweep);
        assert_true(next > sweep && next <= 9 * sweep + 1);
        sweep = next;
        tell(&s, HS_PHASE_RUNNING, sweep);
        stops++;
    }
    assert_true(stops < 12); /* 8^7 > 1e6: eightfold at each stop */
    end(&s);
}

/* A search without a bound, some sweeps after the change began to halve every 70. */
static void begin_search(struct scene *s, bool terminal)
{
    begin(s, terminal);
    problem.schedule.sweeps = -1;
    problem.schedule.steady = true;
    steady = (struct hs_steady){.sought = true,
                                .tolerance = 1e-9,
                                .change = 3.2e-7,
                                .slowest = {.decay = 0.01},
                                .trend = HS_STEADY_EVEN,
                                .rate = 0.01,
                                .kept = NAN};
}

void test_progress__a_search_for_a_steady_state_says_what_is_left(void **state)
{
    struct scene s;
    begin_search(&s, false);
    tell(&s, HS_PHASE_START, 0);
    tell(&s, HS_PHASE_END, 100);
    /* 3.2e-7/0.01 */
    assert_int_equal(strncmp(s.text,
                             "sweep 100  t = 50 s  0.001 GCell/s  change 3.2e-07/1e-09 K  "
                             "3.2e-05 K left  in ",
                             79),
                     0);
    end(&s);
}

/* In 80 columns, time and rate make room for the bar, which is of 100 sweeps and the 577 left. */
void test_progress__a_search_has_a_bar_and_an_eta_in_80_columns(void **state)
{
    struct scene s;
    begin_search(&s, true);
    tell(&s, HS_PHASE_START, 0);
    wait_for_redraw();
    tell(&s, HS_PHASE_RUNNING, 100);
    assert_true(strlen(s.text) <= 80);
    assert_non_null(strstr(s.text, "\r[##"));
    assert_non_null(strstr(s.text, "]  sweep 100  change 3.2e-07/1e-09 K  3.2e-05 K left  ETA "));
    end(&s);
}

/* While the decay is uneven no distance is shown, but the slowest mode gives the time. */
void test_progress__an_early_search_has_an_eta(void **state)
{
    struct scene s;
    begin_search(&s, true);
    steady.trend = HS_STEADY_EARLY;
    steady.rate = NAN;
    tell(&s, HS_PHASE_START, 0);
    wait_for_redraw();
    tell(&s, HS_PHASE_RUNNING, 100);
    assert_non_null(strstr(s.text, "change 3.2e-07/1e-09 K  ETA "));
    end(&s);
}

void test_progress__a_search_that_gets_nowhere_has_no_eta(void **state)
{
    struct scene s;
    begin_search(&s, true);
    steady.trend = HS_STEADY_NONE;
    tell(&s, HS_PHASE_START, 0);
    wait_for_redraw();
    tell(&s, HS_PHASE_RUNNING, 100);
    assert_non_null(strstr(s.text, "change 3.2e-07/1e-09 K  not falling"));
    assert_null(strstr(s.text, "ETA"));
    end(&s);
}
