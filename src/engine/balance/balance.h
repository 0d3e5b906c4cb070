/*
 * The heat balance of one sweep, or of a step that is none: what leaves through each wall, what
 * sources put in, what is stored, and by how much these do not add up.
 *
 * Fluxes are those of the scheme, of the field that the sweep began with and at that time, or of
 * the step's mean (core/method.h), in double. Through a wall that lets heat pass: what its rule
 * makes of the temperatures, times the area. Through one that holds or prescribes its nodes'
 * temperature: what their neighbours and the sources in their control volumes bring them, less what
 * they store and what leaves them through other faces. So the sum over all nodes of the scheme,
 * stored + leaving - put in, is 0 but for the rounding of the field: docs/numerics.md.
 */
#ifndef HS_ENGINE_BALANCE_BALANCE_H
#define HS_ENGINE_BALANCE_BALANCE_H

#include "engine/step_state.h"

/* In W, per metre of each axis that the grid lacks (hs_problem_power_unit). NaN: not known. */
struct hs_balance_terms {
    const double *flux; /* [hs_problem_wall_count] outward */
    double source;      /* put in by sources, less what sinks of the body take */
    double stored;      /* what the heat content grows by in a second */
    double imbalance;   /* stored + fluxes - source */
    double largest;     /* of |flux|, |source| and |stored| */
    double rounding;    /* no imbalance that roundings make is larger */
};

/* The terms of the sweep with the largest |imbalance|; or, where any was more than rounding can
 * make, of that in which it was the most times as much. */
struct hs_balance_worst {
    int64_t sweep; /* the field's after it; -1: none was looked at */
    double imbalance, largest, rounding;
};

struct hs_balance;

/* Of sweeps of radius 1 with a material, and of bodies; there is none for others. */
bool hs_balance_is_there(const struct hs_problem *problem);

/* Where it does not read the mean of a step (core/method.h). False: it reads all. */
bool hs_balance_spares(const struct hs_problem *problem, struct hs_box *out);

/* HS_DEVICE without memory. The problem outlives it. */
enum hs_status hs_balance_create(const struct hs_problem *problem, struct hs_balance **out,
                                 struct hs_error *err);
void hs_balance_destroy(struct hs_balance *balance); /* accepts NULL */

/* That of the last sweep or step before this stop; not known where the field before it was not
 * kept, or the method knows no mean. */
enum hs_status hs_balance_look(struct hs_balance *balance, const struct hs_step_state *step_state,
                               struct hs_error *err);

/* Of the last look; and of all. */
const struct hs_balance_terms *hs_balance_terms(const struct hs_balance *balance);
struct hs_balance_worst hs_balance_worst(const struct hs_balance *balance);

#endif
