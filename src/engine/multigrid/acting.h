/* What acts on nodes where that changes in time: by walls mostly, of few nodes; or else of all. Who
 * knows elsewhere what a source brings that changes needs only those nodes where something else
 * does, too. */
#ifndef HS_ENGINE_MULTIGRID_ACTING_H
#define HS_ENGINE_MULTIGRID_ACTING_H

#include "engine/multigrid/equations.h"

struct hs_acting {
    int64_t count;  /* 0: nothing changes */
    int64_t *node;  /* [count] i + nx (j + ny k), increasing; NULL: all nodes */
    bool elsewhere; /* the source changes, of which this has but what it brings to those nodes */
    double *source; /* [count] K/s: of sources, which do not change; or NULL */
    double *value;  /* [count] of the time that was last asked for: part of the inflow's vector */
};

/* elsewhere: it may be, where those nodes are not most of all. HS_DEVICE when memory is short; to
 * be released either way. */
enum hs_status hs_acting_init(struct hs_acting *acting, const struct hs_equations *equations,
                              bool elsewhere, struct hs_error *err);
void hs_acting_release(struct hs_acting *acting);

/* Sets the values at time t [s], with the bits of hs_equations_inflow_at. False: out of memory. */
bool hs_acting_at(struct hs_acting *acting, const struct hs_equations *equations, double t);

#endif
