/*
 * The plan: which kernel on which backend, with which steps, and when what is due.
 *
 * Outputs and the end are hit exactly: each interval between them is cut into equal steps not
 * longer than the longest allowed. All full intervals have the same step; the rest after the last
 * of them may have its own. A step that equals time.step, or the intervals' step, to rounding is
 * set to exactly that, so that it does not depend on where the run ends. A raw stencil's step is a
 * label that cannot be cut, so there the interval and the end must be multiples of it.
 *
 * A step of most methods is one sweep, and is called so here. A step of a method with `sweeps` is
 * that many sweeps; a step of an implicit method is none. If a method cuts its steps
 * (core/method.h), snapshots and history count the plan's steps, which are no shorter than needed.
 *
 * If a steady state is sought and neither end nor sweeps is given, `sweeps` is HS_PLAN_MOST_SWEEPS.
 */
#ifndef HS_ENGINE_PLAN_H
#define HS_ENGINE_PLAN_H

#include "core/backend.h"
#include "core/method.h"

enum { HS_PLAN_MOST_SWEEPS = 100000000 }; /* of an unbounded search for a steady state */

/* Where the choice of the kernel comes from. */
enum hs_choice {
    HS_CHOICE_NAMED,     /* solver.kernel */
    HS_CHOICE_HEURISTIC, /* "auto": the heuristic of engine/heuristic.c */
    HS_CHOICE_TUNED,     /* "auto": what heatsolve tune, or a trial, found */
};
const char *hs_choice_name(enum hs_choice choice); /* "named", "heuristic", "tuned" */

struct hs_plan {
    const struct hs_method *method;
    const struct hs_method *steady_method; /* solves for the steady state without sweeps, or NULL */
    const struct hs_backend *backend;
    const struct hs_kernel *kernel;
    enum hs_choice choice;
    bool cut;                /* the method cuts the steps below to meet time.tolerance */
    double limit;            /* s: longest stable step; NaN for a raw stencil */
    double amplification;    /* of a raw stencil's sweep; NaN otherwise */
    int64_t sweeps;          /* in all; at most, if a steady state is sought */
    int64_t interval_sweeps; /* sweeps of each full interval; 0 if there is none */
    int64_t intervals;       /* full intervals */
    double interval_step;    /* s */
    double tail_step;        /* s: of the sweeps after the last full interval */
    double interval;         /* s: length of a full interval */
    double end;              /* s: after all sweeps */
    int64_t output_every;    /* sweeps between snapshots, or -1 if only first and last */
    char note[512];          /* remarks on the choices, or "" */
};

/* The method that a run uses: the solver if there is one. */
static inline const struct hs_method *hs_plan_method(const struct hs_plan *plan)
{
    return plan->steady_method ? plan->steady_method : plan->method;
}

/* Name of what finds the steady state; NULL if none is sought. */
static inline const char *hs_plan_steady_name(const struct hs_plan *plan,
                                              const struct hs_problem *problem)
{
    if (!problem->schedule.steady)
        return NULL;
    return plan->steady_method ? plan->steady_method->name : "sweeps";
}

/* Whether each step is one sweep. */
static inline bool hs_plan_sweeps_singly(const struct hs_plan *plan)
{
    return !plan->method->sweeps && !plan->method->implicit;
}

/* Whether steps are called sweeps: each is one, and is bound by stability as sweeps are. */
static inline bool hs_method_counts_sweeps(const struct hs_method *method)
{
    return !method->sweeps && !method->implicit && method->step_rule != HS_STEP_ANY;
}

/* Appends to the note, after a semicolon if there is text already. */
void hs_plan_note(struct hs_plan *plan, const char *format, ...) HS_PRINTF(2, 3);

/* Whether the method takes a whole span at once, so that the clock causes no stops. */
static inline bool hs_plan_jumps(const struct hs_plan *plan)
{
    return hs_plan_method(plan)->jumps;
}

/* Whether point updates per second measure its speed. */
static inline bool hs_plan_has_rate(const struct hs_plan *plan)
{
    return !hs_plan_jumps(plan) && !plan->method->implicit && !plan->cut;
}

/* Whether each sweep rounds the field to its precision: other methods compute in double. */
static inline bool hs_plan_rounds_sweeps(const struct hs_plan *plan)
{
    return !plan->steady_method && !plan->method->jumps && !plan->method->implicit;
}

/* Simulated time [s] after `sweep` sweeps; exact at outputs and at the end. */
double hs_plan_time(const struct hs_plan *plan, int64_t sweep);

/* Step [s] of the sweeps of full intervals; of all sweeps if there are none. */
double hs_plan_step(const struct hs_plan *plan);
double hs_plan_step_of(const struct hs_plan *plan, int64_t sweep); /* of one sweep */

/* Sweeps in a step of `step` [s] of a method whose steps are many sweeps, or 0 if it cuts its
 * steps; 1 for any other method. */
int64_t hs_plan_stages(const struct hs_plan *plan, const struct hs_problem *problem, double step);

/* Total sweeps in the steps from `from` to `to`. */
double hs_plan_sweeps(const struct hs_plan *plan, const struct hs_problem *problem, int64_t from,
                      int64_t to);

/* Sweeps after `from` that are to be expected. A search for a steady state mostly ends long before
 * its bound: a mode as long as the grid has decayed to a millionth after about four times the
 * square of its points. */
double hs_plan_expected(const struct hs_plan *plan, const struct hs_problem *problem, int64_t from);

/* What a step is called: "sweep", or "step" if it is not exactly one sweep. */
const char *hs_plan_step_name(const struct hs_plan *plan);

/* Step [s] of a single sweep; any number of such sweeps is stable. */
double hs_plan_sweep_step(const struct hs_plan *plan);

/* Snapshots of a run to its end: at sweep 0, whenever due, and at the end. */
int64_t hs_plan_snapshots(const struct hs_plan *plan);

/* The snapshots after `sweep`, of a run that continues from there. */
int64_t hs_plan_snapshots_after(const struct hs_plan *plan, int64_t sweep);

/* Sweeps from stop to stop: the fewest that snapshots, history or steady checks ask for. */
int64_t hs_plan_stretch(const struct hs_plan *plan, const struct hs_problem *problem);

/* The longest span of equal steps that begins at `sweep` and ends no later than `until` or the end
 * of its interval. */
struct hs_span hs_plan_span(const struct hs_plan *plan, const struct hs_problem *problem,
                            int64_t sweep, int64_t until);

#endif
