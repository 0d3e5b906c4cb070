/*
 * The heat balance of one sweep, or of another step: what leaves through each wall, what sources
 * put in, what is stored, and by how much these do not add up.
 *
 * Fluxes are those of the scheme, in double: of a sweep by the field and time with which it began,
 * of another step by its mean (core/method.h). Through a wall that lets heat pass: what its rule
 * makes of the temperatures, times the area. Through a wall that holds or prescribes its nodes'
 * temperature: what these nodes get from their neighbours and from sources in their control
 * volumes, less what they store and what leaves them through other faces. So the sum over all nodes
 * of the scheme, stored + leaving - put in, is 0 except for the field's rounding: docs/numerics.md.
 */
#ifndef HS_ENGINE_BALANCE_BALANCE_H
#define HS_ENGINE_BALANCE_BALANCE_H

#include "engine/step_state.h"

/* In W, per metre of each axis that the grid lacks (hs_problem_power_unit). NaN: not known. */
struct hs_balance_terms {
    double *flux;     /* [hs_problem_wall_count] outward */
    double source;    /* put in by sources, less what the body's sinks take */
    double stored;    /* growth of the heat content per second */
    double imbalance; /* stored + fluxes - source */
    double largest;   /* of |flux|, |source| and |stored| */
    double rounding;  /* the largest imbalance that rounding can make */
};

/* The sweep with the largest |imbalance|, and the largest term of all sweeps; or, if any exceeded
 * its rounding, the sweep with the largest ratio of the two, and that sweep's largest term. */
struct hs_balance_worst {
    int64_t sweep; /* sweeps made by then; -1: none was looked at, and the rest is NaN */
    double imbalance, largest, rounding;
};

struct hs_balance;

/* Whether there is a balance: for sweeps of radius 1 with a material, and for bodies. */
bool hs_balance_is_there(const struct hs_problem *problem);

/* The nodes at which it does not read a step's mean (core/method.h). False: it reads all. */
bool hs_balance_spares(const struct hs_problem *problem, struct hs_box *out);

/* HS_DEVICE without memory. The problem outlives it. */
enum hs_status hs_balance_create(const struct hs_problem *problem, struct hs_balance **out,
                                 struct hs_error *err);
void hs_balance_destroy(struct hs_balance *balance); /* accepts NULL */

/* Finds the balance of the last sweep or step before this stop; not known if the field before it
 * was not kept, or if the method knows no mean. */
enum hs_status hs_balance_look(struct hs_balance *balance, const struct hs_step_state *step_state,
                               struct hs_error *err);

/* Of the last look; and the worst of all. */
const struct hs_balance_terms *hs_balance_terms(const struct hs_balance *balance);
struct hs_balance_worst hs_balance_worst(const struct hs_balance *balance);

#endif
