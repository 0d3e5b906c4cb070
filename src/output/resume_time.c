#include "output/resume_time.h"

#include "core/text.h"
#include "input/number.h"
#include "output/fingerprint.h"

#include <math.h>
#include <stdio.h>

/* Settings that a trial changes: STEP to the step in the file, OLD ones to their values in the
 * file, the others as little as possible from the requested values. */
enum { STEP = 1, INTERVAL = 2, END = 4, SWEEPS = 8, OLD_INTERVAL = 16, OLD_END = 32 };

/* In the order of trial, the smallest change first. */
static const unsigned ways[] = {END,
                                SWEEPS,
                                STEP,
                                STEP | END,
                                STEP | SWEEPS,
                                STEP | INTERVAL,
                                STEP | INTERVAL | END,
                                STEP | INTERVAL | SWEEPS,
                                OLD_INTERVAL,
                                OLD_INTERVAL | OLD_END,
                                STEP | OLD_INTERVAL | OLD_END};

/* Relative tolerance for a time to be a whole number of steps. */
static const double to_rounding = 1e-12;

struct trial {
    struct hs_problem problem; /* the requested one with a changed schedule */
    char options[256];         /* the options that change it */
};

static void add_option(struct trial *trial, const char *key, double value)
{
    char number[HS_NUMBER_TEXT];
    hs_number_write(value, number);
    hs_text_append(trial->options, sizeof trial->options, "%s--set %s=%s",
                   *trial->options ? " " : "", key, number);
}

/* The first time not before `end` that is a whole number of steps after the state's time. */
static double whole_end(const struct hs_checkpoint_state *state, double end)
{
    const double steps = fmax(ceil((end - state->time) / state->past.step - 1e-6), 1.0);
    return state->time + steps * state->past.step;
}

/* A time.step that gives the old run's steps: the longest of those in full intervals and after. */
static double old_step(const struct hs_checkpoint_state *state)
{
    if (isnan(state->past.interval))
        return state->past.step;
    const double intervals = floor(state->time / state->past.interval + 1e-9);
    const double after =
        (double)state->resume.sweep - intervals * rint(state->past.interval / state->past.step);
    const double rest = state->time - intervals * state->past.interval;
    return after > 0.0 && rest > after * state->past.step * (1.0 + 1e-9) ? rest / after
                                                                         : state->past.step;
}

static void set(struct trial *trial, const char *key, double *number, double value)
{
    *number = value;
    add_option(trial, key, value);
}

/* False if a setting that this way needs is missing, or needs no change. */
static bool make_trial(const struct hs_problem *problem, const struct hs_checkpoint_state *state,
                       unsigned way, struct trial *trial)
{
    *trial = (struct trial){.problem = *problem};
    struct hs_schedule *s = &trial->problem.schedule;
    const bool has_end = !isnan(s->end), has_interval = !isnan(s->output_interval);
    if ((way & (END | OLD_END) && !has_end) || (way & OLD_END && isnan(state->past.end)) ||
        (way & SWEEPS && (s->sweeps < 0 || s->sweeps > state->resume.sweep)) ||
        (way & (INTERVAL | OLD_INTERVAL) && !has_interval) ||
        (way & OLD_INTERVAL && isnan(state->past.interval)))
        return false;
    if (way & STEP)
        set(trial, "time.step", &s->step, way & OLD_END ? old_step(state) : state->past.step);
    if (way & INTERVAL)
        set(trial, "output.interval", &s->output_interval,
            fmax(rint(s->output_interval / state->past.step), 1.0) * state->past.step);
    if (way & OLD_INTERVAL)
        set(trial, "output.interval", &s->output_interval, state->past.interval);
    if (way & END)
        set(trial, "time.end", &s->end, whole_end(state, s->end));
    if (way & OLD_END)
        set(trial, "time.end", &s->end, state->past.end);
    if (way & SWEEPS) {
        s->sweeps = state->resume.sweep + 1;
        add_option(trial, "time.sweeps", (double)s->sweeps);
    }
    return true;
}

static bool goes_on(const struct hs_plan *plan, const struct hs_checkpoint_state *state)
{
    return hs_plan_goes_on(plan, &state->past, state->resume.sweep, state->time);
}

/* "continue with --set ..., or" for the first trial that works. */
static void find_way(const struct hs_problem *problem, const struct hs_checkpoint_state *state,
                     char *out, size_t size)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct trial trial;
        struct hs_plan plan;
        if (!make_trial(problem, state, ways[i], &trial))
            continue;
        if (!hs_plan_steps(&trial.problem, &plan, NULL) && goes_on(&plan, state)) {
            snprintf(out, size, "continue with %s, or", trial.options);
            return;
        }
    }
    snprintf(out, size, "no time.step, output.interval and time.end were found that keep it;");
}

/* Why the plan's steps differ from those of the run. */
static void name_cause(const struct hs_plan *plan, const struct hs_checkpoint_state *state,
                       char *out, size_t size)
{
    const double step = hs_plan_step(plan), uncut = (double)state->resume.sweep * state->past.step;
    const int digits = fabs(step - state->past.step) > 1e-8 * step ? 9 : 17;
    if (fabs(uncut - state->time) > to_rounding * state->time)
        snprintf(out, size, "its last steps were shortened to end there");
    else
        snprintf(out, size, "these steps are of %.*g s and the run's were of %.*g s", digits, step,
                 digits, state->past.step);
}

/* What the different steps would change. */
static void name_change(double would_be, double time, char *out, size_t size)
{
    if (fabs(would_be - time) > 1e-8 * time)
        snprintf(out, size, "would be at t = %.9g s instead of %.9g s", would_be, time);
    else
        snprintf(out, size, "would not be the same to the bit at t = %.9g s", time);
}

enum hs_status hs_resume_check_time(const struct hs_problem *problem, const struct hs_plan *plan,
                                    const struct hs_checkpoint_state *state, struct hs_error *err)
{
    const char *config = hs_problem_config(problem);
    const char *name = hs_plan_step_name(plan);
    const int64_t sweep = state->resume.sweep;
    char way[300];
    if (goes_on(plan, state))
        return HS_OK;
    find_way(problem, state, way, sizeof way);
    if (plan->sweeps < sweep)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: time: ends at %s %lld, t = %.9g s; the run has reached %s "
                            "%lld, t = %.9g s: %s %s",
                            config, name, (long long)plan->sweeps, plan->end, name,
                            (long long)sweep, state->time, way, HS_BEGIN_ANEW);
    char cause[160], change[80];
    name_cause(plan, state, cause, sizeof cause);
    name_change(hs_plan_time(plan, sweep), state->time, change, sizeof change);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: time: %s %lld, where the run continues, %s, since %s; %s %s", config,
                        name, (long long)sweep, change, cause, way, HS_BEGIN_ANEW);
}
