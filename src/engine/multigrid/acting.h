/* Nodes whose inflow from walls and sources changes in time: usually a few wall nodes, otherwise
 * all nodes. A caller that evaluates a changing source itself needs only the nodes where something
 * else changes, too. */
#ifndef HS_ENGINE_MULTIGRID_ACTING_H
#define HS_ENGINE_MULTIGRID_ACTING_H

#include "engine/multigrid/equations.h"

struct hs_acting {
    int64_t count;  /* 0: nothing changes */
    int64_t *node;  /* [count] i + nx (j + ny k), increasing; NULL: all nodes */
    bool elsewhere; /* the source changes, too; `value` includes it at the listed nodes only */
    double *source; /* [count] K/s: from sources that do not change; or NULL */
    double *value;  /* [count] entries of the inflow vector, at the time last asked for */
};

/* elsewhere: the caller can evaluate a changing source itself; ignored if more than a quarter of
 * all nodes would be listed. HS_DEVICE when memory is short; release in either case. */
enum hs_status hs_acting_init(struct hs_acting *acting, const struct hs_equations *equations,
                              bool elsewhere, struct hs_error *err);
void hs_acting_release(struct hs_acting *acting);

/* Sets the values at time t [s], with the bits of hs_equations_inflow_at. False: out of memory. */
bool hs_acting_at(struct hs_acting *acting, const struct hs_equations *equations, double t);

#endif
