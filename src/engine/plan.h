/*
 * The plan: which kernel on which backend, with which steps, and when what is due.
 *
 * Outputs and the end are hit exactly: each interval between them is cut into equal steps not
 * longer than the longest allowed. All full intervals have the same step; the stretch after the
 * last of them may have its own. A step that is time.step, or the intervals', but for rounding is
 * that to the bit, so that it does not depend on where the run ends. A raw stencil's step is a
 * label that cannot be cut, so there the interval and the end must be multiples of it.
 *
 * The steps of most methods are sweeps, and are called so here; those of a method with `sweeps` are
 * that many each, those of an implicit one none. Steps that a method cuts (core/method.h) are what
 * snapshots and history are counted by, and otherwise no shorter than they must be.
 *
 * With a steady state asked for and neither end nor sweeps, `sweeps` is HS_PLAN_MOST_SWEEPS.
 */
#ifndef HS_ENGINE_PLAN_H
#define HS_ENGINE_PLAN_H

#include "core/backend.h"
#include "core/method.h"

enum { HS_PLAN_MOST_SWEEPS = 100000000 }; /* of a search for a steady state without a bound */

/* Where the choice of the kernel comes from. */
enum hs_choice {
    HS_CHOICE_NAMED,     /* solver.kernel */
    HS_CHOICE_HEURISTIC, /* "auto": the heuristic of engine/heuristic.c */
    HS_CHOICE_TUNED,     /* "auto": what heatsolve tune, or a trial, found */
};
const char *hs_choice_name(enum hs_choice choice); /* "named", "heuristic", "tuned" */

struct hs_plan {
    const struct hs_method *method;
    const struct hs_method *steady_method; /* solves for the steady state: no sweeps. NULL: none */
    const struct hs_backend *backend;
    const struct hs_kernel *kernel;
    enum hs_choice choice;
    bool cut;                /* the method cuts the steps below, by time.tolerance */
    double limit;            /* s: longest stable step; NaN for a raw stencil */
    double amplification;    /* of a raw stencil's sweep; NaN otherwise */
    int64_t sweeps;          /* in all (the most, if steady) */
    int64_t interval_sweeps; /* sweeps of each full interval; 0 if there is none */
    int64_t intervals;       /* full intervals */
    double interval_step;    /* s */
    double tail_step;        /* s: of the sweeps after the last full interval */
    double interval;         /* s: length of a full interval */
    double end;              /* s: after all sweeps */
    int64_t output_every;    /* sweeps between snapshots, or -1 if only first and last */
    char note[512];          /* what deserves saying about the choices, or "" */
};

/* The one of its methods that a run takes. */
static inline const struct hs_method *hs_plan_method(const struct hs_plan *plan)
{
    return plan->steady_method ? plan->steady_method : plan->method;
}

/* What finds the steady state; NULL where none is looked for. */
static inline const char *hs_plan_steady_name(const struct hs_plan *plan,
                                              const struct hs_problem *problem)
{
    if (!problem->schedule.steady)
        return NULL;
    return plan->steady_method ? plan->steady_method->name : "sweeps";
}

/* Its steps are sweeps, each one. */
static inline bool hs_plan_sweeps_singly(const struct hs_plan *plan)
{
    return !plan->method->sweeps && !plan->method->implicit;
}

/* Adds to the note, after a semicolon if there is one already. */
void hs_plan_note(struct hs_plan *plan, const char *format, ...) HS_PRINTF(2, 3);

/* Whether it goes from stop to stop at once, so that the clock makes none. */
static inline bool hs_plan_jumps(const struct hs_plan *plan)
{
    return hs_plan_method(plan)->jumps;
}

/* How many points are updated a second tells how fast it is. */
static inline bool hs_plan_has_rate(const struct hs_plan *plan)
{
    return !hs_plan_jumps(plan) && !plan->method->implicit && !plan->cut;
}

/* Chooses steps, then backend and kernel, and among solvers of "auto" one that has the memory. A
 * step above the limit is refused with the limit. */
enum hs_status hs_plan_make(const struct hs_problem *problem, struct hs_plan *out,
                            struct hs_error *err);

/* The same without backend and kernel, which stay NULL. */
enum hs_status hs_plan_steps(const struct hs_problem *problem, struct hs_plan *out,
                             struct hs_error *err);

/* Simulated time [s] after `sweep` sweeps; exact at outputs and at the end. */
double hs_plan_time(const struct hs_plan *plan, int64_t sweep);

/* Of the plan of a run before: hs_plan_step, output.interval and time.end [s]; NaN: none. */
struct hs_plan_past {
    double step, interval, end;
};

/* Whether `sweep` comes at `time` [s], to the rounding of sums of steps, and after steps of the
 * same bits as in that run. */
bool hs_plan_goes_on(const struct hs_plan *plan, const struct hs_plan_past *past, int64_t sweep,
                     double time);

/* Step [s] of the sweeps of full intervals, or of all if there are none. */
double hs_plan_step(const struct hs_plan *plan);

/* Of a method whose steps are that, sweeps that one of `step` [s] makes, 0 where it is cut; else 1.
 */
int64_t hs_plan_stages(const struct hs_plan *plan, const struct hs_problem *problem, double step);

/* Of a method whose steps are many sweeps, how many of them one pass over the fields makes; 0: a
 * sweep, and then a sum. */
int hs_plan_sweeps_at_once(const struct hs_plan *plan, const struct hs_problem *problem);

/* Sweeps of the steps from `from` to `to` in all. */
double hs_plan_sweeps(const struct hs_plan *plan, const struct hs_problem *problem, int64_t from,
                      int64_t to);

/* What a step is called: "sweep", or "step" where it is many of them, or none. */
const char *hs_plan_step_name(const struct hs_plan *plan);

/* Step [s] of a single sweep, of which any number is stable. */
double hs_plan_sweep_step(const struct hs_plan *plan);

/* Snapshots of a run to its end: at sweep 0, whenever due, and at the end. */
int64_t hs_plan_snapshots(const struct hs_plan *plan);

/* Those of them after `sweep`, of a run that goes on from there. */
int64_t hs_plan_snapshots_after(const struct hs_plan *plan, int64_t sweep);

/* Sweeps from stop to stop, the shortest of those that snapshots, history and steady state want. */
int64_t hs_plan_stretch(const struct hs_plan *plan, const struct hs_problem *problem);

/* The longest span of equal steps that begins at `sweep` and ends at `until` or before, nor beyond
 * the interval that it begins in. */
struct hs_span hs_plan_span(const struct hs_plan *plan, const struct hs_problem *problem,
                            int64_t sweep, int64_t until);

#endif
