/*
 * The search for a steady state: how far away it still is, and how long it will take.
 *
 * The change in one sweep is not what is left to change. Once a single mode is left, which each
 * sweep multiplies by r, the field is change * r/(1 - r) from its steady state. r is taken from the
 * stretch in which the change last halved. As long as the change does not fall evenly, faster modes
 * make r too small; so until then, and as a lower bound later, the factor of the slowest mode is
 * used (engine/slowest.h). See docs/numerics.md.
 */
#ifndef HS_ENGINE_STEADY_H
#define HS_ENGINE_STEADY_H

#include "engine/plan.h"
#include "engine/slowest.h"

enum hs_steady_trend {
    HS_STEADY_EARLY,          /* the change does not fall evenly yet, or was seen too rarely */
    HS_STEADY_EVEN,           /* it falls by the same factor in each sweep */
    HS_STEADY_ROUNDING,       /* it no longer falls: it is down to the precision's rounding */
    HS_STEADY_NONE,           /* it no longer falls: no steady state; or a drifting mean */
    HS_STEADY_SOLVED,         /* a method found it without sweeps */
    HS_STEADY_TIME_DEPENDENT, /* walls or source change in time: the distance is not known */
};

/* The end of a search, for one that continues from there. */
struct hs_steady_end {
    double change;   /* K, in its last sweep; NaN: it did not end, or found no steady state */
    double distance; /* K, hs_steady_distance at its end */
};

struct hs_steady {
    bool sought;
    bool reached;              /* the change, or a solver's residual, is below the tolerance */
    double tolerance;          /* K a sweep; relative for a solver */
    double change;             /* K: largest in the last sweep looked at; NaN before the first */
    struct hs_slowest slowest; /* not set where a method solves, which does not need it */
    enum hs_steady_trend trend;
    double rate;     /* a sweep multiplies the change by exp(-rate); NaN: not known yet */
    double rounding; /* K: half an ulp of the largest |T| */
    enum hs_precision precision;
    /* where the change had halved since the previous mark, newest first */
    struct hs_steady_mark {
        int64_t sweep;
        double change;
    } mark[3];
    int marks;
    int64_t sweep; /* last looked at */
    bool of_body;
    double conserved_mean;       /* K, at that sweep: mean of what sweeps conserve; NaN: none */
    double kept;                 /* K: distance taken over from the earlier search, else NaN */
    struct hs_solution solution; /* where the trend is HS_STEADY_SOLVED */
};

/* Starts with the field that the run begins with, at `sweep`. */
void hs_steady_begin(struct hs_steady *steady, const struct hs_problem *problem,
                     const struct hs_plan *plan, int64_t sweep,
                     const struct hs_reduction *reduction);

/* Continues an earlier search with what that one knew, until the first look. If the change is
 * within the present tolerance, the search is over. */
void hs_steady_take_up(struct hs_steady *steady, const struct hs_steady_end *end,
                       const struct hs_reduction *reduction);

/* The steady state was solved for by a method. */
void hs_steady_solved(struct hs_steady *steady, const struct hs_solution *solution);

/* Looks at a later sweep; without a change nothing is learnt. */
void hs_steady_look(struct hs_steady *steady, int64_t sweep, const struct hs_reduction *reduction);

/* Estimate of the largest |T - steady state| [K] of a node; NaN if there is none or not known. */
double hs_steady_distance(const struct hs_steady *steady);

/* Upper bound of that distance [K], whatever modes are left; NaN likewise, and for a body whose
 * mean is free. Proven for bodies, and for stencils of radius 1, with walls and sources constant in
 * time, see docs/numerics.md. */
double hs_steady_most(const struct hs_steady *steady);

/* Estimate of the sweeps until the change falls below the tolerance; NaN if it will not. */
double hs_steady_sweeps_left(const struct hs_steady *steady);

/* Whether the tolerance is smaller than the smallest change that the precision can resolve. */
bool hs_steady_is_beyond_precision(const struct hs_steady *steady);

/* ---- before the run -------------------------------------------------------------------------- */

struct hs_steady_outlook {
    struct hs_slowest slowest;
    bool time_dependent; /* walls or source change in time: the rest is not known */
    double sweeps;   /* estimate until the tolerance is met: a multiple of check_every, or NaN */
    double distance; /* K, left at the tolerance: estimate, and bound as hs_steady_most */
    double most;
    double rounding; /* K: half the least change that the precision can tell */
};

/* Estimated from the slowest mode, and from the spread of initial field, walls and source. */
struct hs_steady_outlook hs_steady_look_ahead(const struct hs_problem *problem,
                                              const struct hs_plan *plan);

#endif
