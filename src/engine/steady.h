/*
 * The search for a steady state: how far it is still away, and for how long.
 *
 * What one sweep changes is not what is left to change. Once a single mode is left, which each
 * sweep multiplies by r, the field is change * r/(1 - r) from its steady state. r comes from the
 * stretch in which the change last halved. Before the change falls evenly, faster modes make r too
 * small, so until then, and as a lower bound of it later, the factor of the slowest mode is taken
 * (engine/slowest.h). See docs/numerics.md.
 */
#ifndef HS_ENGINE_STEADY_H
#define HS_ENGINE_STEADY_H

#include "engine/plan.h"
#include "engine/slowest.h"

enum hs_steady_trend {
    HS_STEADY_EARLY,          /* the change does not fall evenly yet, or has been seen too seldom */
    HS_STEADY_EVEN,           /* by the same factor in each sweep */
    HS_STEADY_ROUNDING,       /* it falls no more: it is down to the precision's rounding */
    HS_STEADY_NONE,           /* it falls no more: no steady state; or what is conserved drifts */
    HS_STEADY_SOLVED,         /* a method found it without sweeps */
    HS_STEADY_TIME_DEPENDENT, /* walls or source change in time: what is left cannot be told */
};

/* What is known of a search's end, for one that goes on from there. */
struct hs_steady_end {
    double change;   /* K, in its last sweep; NaN: it did not end, or without a steady state */
    double distance; /* K, hs_steady_distance then */
};

struct hs_steady {
    bool sought;
    bool reached;              /* the change fell under the tolerance, or the residual */
    double tolerance;          /* K a sweep; of a solver relative */
    double change;             /* K, at most, in the last sweep that was looked at; NaN before */
    struct hs_slowest slowest; /* but where a method solves, which has no use for it */
    enum hs_steady_trend trend;
    double rate;     /* the change falls by exp(-rate) a sweep; NaN while not known */
    double rounding; /* K: half the distance of two values where |T| is largest */
    enum hs_precision precision;
    /* where the change had halved since the one before, the newest first */
    struct hs_steady_mark {
        int64_t sweep;
        double change;
    } mark[3];
    int marks;
    int64_t sweep; /* last looked at */
    bool of_body;
    double conserved_mean;       /* K, then: of what sweeps conserve; NaN: nothing */
    double kept;                 /* K: its distance, as told by the one before; else NaN */
    struct hs_solution solution; /* where the trend is HS_STEADY_SOLVED */
};

/* From the field that the run begins with, at `sweep`. */
void hs_steady_begin(struct hs_steady *steady, const struct hs_problem *problem,
                     const struct hs_plan *plan, int64_t sweep,
                     const struct hs_reduction *reduction);

/* It begins where one before ended, and knows as much until it looks: where the change is within
 * the tolerance of now it is over. */
void hs_steady_take_up(struct hs_steady *steady, const struct hs_steady_end *end,
                       const struct hs_reduction *reduction);

/* It was solved for. */
void hs_steady_solved(struct hs_steady *steady, const struct hs_solution *solution);

/* At a later sweep; without a change nothing is learnt. */
void hs_steady_look(struct hs_steady *steady, int64_t sweep, const struct hs_reduction *reduction);

/* Largest |T - steady state| [K] of a node, about; NaN where there is none or it cannot be told. */
double hs_steady_distance(const struct hs_steady *steady);

/* No node is farther from it than this [K], whatever modes are left; NaN likewise, and of a body
 * whose mean is free. Proven for bodies, and stencils of radius 1, where walls and sources stay as
 * they are, see docs/numerics.md. */
double hs_steady_most(const struct hs_steady *steady);

/* Sweeps until the change falls under the tolerance, about; NaN if it will not. */
double hs_steady_sweeps_left(const struct hs_steady *steady);

/* The tolerance is smaller than the least change that the precision can tell. */
bool hs_steady_is_beyond_precision(const struct hs_steady *steady);

/* ---- before the run -------------------------------------------------------------------------- */

struct hs_steady_outlook {
    struct hs_slowest slowest;
    bool time_dependent; /* walls or source change in time: the rest is not known */
    double sweeps;   /* until the tolerance is met, about, a multiple of check_every; NaN unknown */
    double distance; /* K, what the tolerance leaves, about; and at most, as hs_steady_most */
    double most;
    double rounding; /* K a sweep: the least change that the precision can tell */
};

/* From the slowest mode, and from how far initial field, walls and source are apart. */
struct hs_steady_outlook hs_steady_look_ahead(const struct hs_problem *problem,
                                              const struct hs_plan *plan);

#endif
