/*
 * The loop stops where this observer asks it to, and each stop costs a reduction of the field. So
 * the stride between stops follows the measured rate, and slow sweeps do not stop for each redraw.
 */
#include "output/progress.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/text.h"
#include "engine/steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static const double bar_seconds = 0.1;   /* between redraws */
static const double line_seconds = 10.0; /* between lines of a log */
static const double slow_seconds = 2.0;  /* between redraws if sweeps are slow */
static const int64_t slow_stride = 10;   /* sweeps; a stop for fewer is not worth its cost */

struct progress {
    struct hs_observer observer;
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    FILE *stream;
    bool terminal;
    int drawn;            /* characters of the bar on the line */
    double begun, shown;  /* wall clock [s] */
    int64_t first;        /* sweep at which this run began */
    int64_t last, stride; /* sweep of the last stop; sweeps to the next */
    double stopped;       /* wall clock of the last stop */
};

static int64_t next(void *self, int64_t sweep)
{
    const struct progress *p = self;
    const int64_t due = p->last + p->stride;
    return due > sweep ? due : sweep + 1;
}

/* Sets the stride from the rate since the last stop; it grows at most eightfold at a time. */
static void fit_stride(struct progress *p, int64_t sweeps, double seconds)
{
    const double rate = (double)sweeps / fmax(seconds, 1e-9);
    double wanted = rate * (p->terminal ? bar_seconds : line_seconds);
    if (wanted < (double)slow_stride)
        wanted = fmin((double)slow_stride, fmax(wanted, rate * slow_seconds));
    p->stride = (int64_t)fmax(1.0, fmin(wanted, fmin(8.0 * (double)p->stride, 1e15)));
}

static void duration(char *out, size_t size, double seconds)
{
    if (!isfinite(seconds) || seconds > 1e7)
        snprintf(out, size, "?");
    else if (seconds < 60.0)
        snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 3600.0)
        snprintf(out, size, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(out, size, "%d:%02d:%02d", (int)seconds / 3600, (int)seconds / 60 % 60,
                 (int)seconds % 60);
}

/* Whether the config sets no limit for a steady-state search; the plan's sweeps are not one. */
static bool is_unbounded(const struct progress *p)
{
    const struct hs_schedule *schedule = &p->problem->schedule;
    return schedule->steady && isnan(schedule->end) && schedule->sweeps < 0;
}

/* Sweeps to the end or to the steady state, whichever comes first; NaN if neither is known. */
static double sweeps_left(const struct progress *p, const struct hs_step_state *step_state)
{
    const double planned = is_unbounded(p) ? NAN : (double)(p->plan->sweeps - step_state->sweep);
    const bool sought = step_state->steady && step_state->steady->sought;
    return fmin(planned, sought ? hs_steady_sweeps_left(step_state->steady) : NAN);
}

/* "  change 3.2e-07/1e-09 K  0.0012 K left": the change, its tolerance, the distance. */
static void describe_steady(const struct progress *p, const struct hs_steady *steady, char *out,
                            size_t size)
{
    const char *unit = hs_problem_difference_unit(p->problem);
    hs_text_append(out, size, "  change %.2g/%.2g %s", steady->change, steady->tolerance, unit);
    if (steady->trend == HS_STEADY_EVEN || steady->trend == HS_STEADY_ROUNDING)
        hs_text_append(out, size, "  %.2g %s left", hs_steady_distance(steady), unit);
    else if (steady->trend == HS_STEADY_NONE)
        hs_text_append(out, size, "  not falling");
}

/* "sweep 1200/5000  t = 0.12 s  1.4 GCell/s  ETA 12 s"; `brief`: without total, t and rate */
static void describe(const struct progress *p, const struct hs_step_state *step_state, bool brief,
                     char *out, size_t size)
{
    const struct hs_box box = hs_problem_interior(p->problem);
    const double swept = (double)(step_state->sweep - p->first);
    const double rate = 1e-9 * (double)hs_box_count(&box) *
                        hs_plan_sweeps(p->plan, p->problem, p->first, step_state->sweep) /
                        step_state->seconds;
    const double elapsed = hs_clock_now() - p->begun;
    const double left = sweeps_left(p, step_state) * elapsed / swept;
    const struct hs_steady *steady = step_state->steady;
    snprintf(out, size, "%s %lld", hs_plan_step_name(p->plan), (long long)step_state->sweep);
    if (!is_unbounded(p) && !brief)
        hs_text_append(out, size, "/%lld", (long long)p->plan->sweeps);
    if (!brief)
        hs_text_append(out, size, "  t = %.4g s", step_state->time);
    if (isfinite(rate) && !brief && hs_plan_has_rate(p->plan))
        hs_text_append(out, size, "  %.3g GCell/s", rate);
    if (steady && steady->sought && !isnan(steady->change))
        describe_steady(p, steady, out, size);
    char text[32];
    const bool over = step_state->phase != HS_PHASE_RUNNING;
    duration(text, sizeof text, over ? elapsed : left);
    if (over || !isnan(left))
        hs_text_append(out, size, "  %s %s", over ? "in" : "ETA", text);
}

/* Columns but the last one, which would wrap. */
static int usable_width(FILE *stream)
{
    struct winsize size;
    const bool known = !ioctl(fileno(stream), TIOCGWINSZ, &size) && size.ws_col > 0;
    return (known ? size.ws_col : 80) - 1;
}

/* Cells of a bar beside the text; 0 if there is too little room for one. */
static int bar_cells(int width, const char *text)
{
    const int columns = width - (int)strlen(text) - 4;
    return columns > 40 ? 40 : columns < 10 ? 0 : columns;
}

/* `done`: filled fraction of the bar. */
static void put_bar(struct progress *p, const char *text, double done)
{
    const int width = usable_width(p->stream), cells = bar_cells(width, text);
    fputc('\r', p->stream);
    int drawn = 0;
    if (cells > 0) {
        char bar[41];
        for (int i = 0; i < cells; i++)
            bar[i] = (double)i + 0.5 < done * cells ? '#' : '.';
        bar[cells] = '\0';
        drawn = fprintf(p->stream, "[%s]  ", bar);
    }
    drawn += fprintf(p->stream, "%.*s", width, text);
    const int left_over = p->drawn - drawn;
    fprintf(p->stream, "%*s", left_over > 0 ? left_over : 0, "");
    p->drawn = drawn;
}

static void show(struct progress *p, const char *text, double done)
{
    if (p->terminal)
        put_bar(p, text, done);
    else
        fprintf(p->stream, "%s\n", text);
    fflush(p->stream);
}

static void show_step(struct progress *p, const struct hs_step_state *step_state)
{
    char text[200];
    describe(p, step_state, false, text, sizeof text);
    if (p->terminal && p->problem->schedule.steady && bar_cells(usable_width(p->stream), text) == 0)
        describe(p, step_state, true, text, sizeof text);
    const double left = sweeps_left(p, step_state), sweep = (double)step_state->sweep;
    show(p, text, left > 0.0 ? sweep / (sweep + left) : isnan(left) ? 0.0 : 1.0);
}

/* "iteration 7  residual 3.2e-06/1e-10  in 4 s" */
static void show_solution(struct progress *p, const struct hs_solution *solution)
{
    const double tolerance = p->problem->schedule.steady_tolerance;
    char text[200], elapsed[32];
    duration(elapsed, sizeof elapsed, hs_clock_now() - p->begun);
    snprintf(text, sizeof text, "iteration %d  residual %.2g/%.2g  in %s", solution->iterations,
             solution->residual, tolerance, elapsed);
    show(p, text, log(solution->residual) / log(tolerance));
}

static void solving(void *self, const struct hs_solution *so_far)
{
    struct progress *p = self;
    const double t = hs_clock_now();
    if (so_far->iterations == 0)
        p->begun = p->shown = t;
    if (t - p->shown < (p->terminal ? bar_seconds : line_seconds))
        return;
    p->shown = t;
    show_solution(p, so_far);
}

static void end_bar(struct progress *p)
{
    if (p->drawn > 0)
        fputc('\n', p->stream);
    p->drawn = 0;
    fflush(p->stream);
}

static enum hs_status notify(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err)
{
    (void)err;
    struct progress *p = self;
    const double t = hs_clock_now();
    if (p->plan->steady_method) {
        if (p->drawn > 0)
            show_solution(p, &step_state->steady->solution);
        end_bar(p);
        return HS_OK;
    }
    if (step_state->phase == HS_PHASE_START) {
        p->first = p->last = step_state->sweep;
        p->begun = p->shown = p->stopped = t;
        return HS_OK;
    }
    if (step_state->sweep > p->last) {
        fit_stride(p, step_state->sweep - p->last, t - p->stopped);
        p->last = step_state->sweep;
        p->stopped = t;
    }
    const bool over = step_state->phase != HS_PHASE_RUNNING;
    if (!over && t - p->shown < (p->terminal ? bar_seconds : line_seconds))
        return HS_OK;
    p->shown = t;
    show_step(p, step_state);
    if (over)
        end_bar(p);
    return HS_OK;
}

static void destroy(void *self)
{
    end_bar(self);
    free(self);
}

struct hs_observer *hs_progress_create(FILE *stream, bool terminal,
                                       const struct hs_problem *problem, const struct hs_plan *plan)
{
    struct progress *p = hs_new(sizeof *p);
    *p = (struct progress){.observer = {.name = "progress",
                                        .self = p,
                                        .by_clock = true,
                                        .next = next,
                                        .notify = notify,
                                        .solving = solving,
                                        .destroy = destroy},
                           .problem = problem,
                           .plan = plan,
                           .stream = stream,
                           .terminal = terminal,
                           .stride = 1};
    return &p->observer;
}
