/*
 * Grids of the multigrid method, each of a network in float, from fine to coarse.
 *
 * All but the first come from the one before by coarsen.h. A level's unknowns are scaled by the
 * root of the diagonal, so that its matrix is 1 - N: N has a number for each edge, and what a
 * smoother reads is only those. Nodes that keep their temperature have no edges, and stay 0.
 */
#ifndef HS_ENGINE_MULTIGRID_LEVEL_H
#define HS_ENGINE_MULTIGRID_LEVEL_H

#include "engine/multigrid/coarsen.h"
#include "engine/multigrid/coarsest.h"
#include "engine/multigrid/equations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_level {
    struct hs_lattice lattice;
    float *edge[HS_AXES]; /* [nodes] N of the edge to the next node; NULL along axes of one node */
    float *scale;         /* [nodes] 1/sqrt(diagonal); 0 at nodes that are no unknowns */
    float *none;          /* [nx] zeros */
    double largest;       /* bound of the largest eigenvalue of 1 - N (Gershgorin) */
    float *right, *x, *other; /* [nodes]: right side, unknowns, and what smoothing needs besides */
    struct hs_kept kept[HS_AXES]; /* nodes of the next level, along each axis */
    int step_count;               /* to it; 0: the last one */
    struct hs_coarse_step step[HS_AXES];
    float *between[HS_AXES]; /* fields on the coarse sides of the steps but the last */
    float *ratio;            /* [nodes of the next level] its scale over what the steps have */
};

enum { HS_LEVELS = 64 };
struct hs_levels {
    int count;
    int threads;
    struct hs_level level[HS_LEVELS];
    struct hs_coarsest coarsest; /* of the last level */
};

/* Levels of equations of one shift do for another that differs by no more: no eigenvalue of one
 * matrix over the other's is farther from 1. */
static inline bool hs_levels_serve(double made_of, double shift)
{
    return made_of <= 1.3 * shift && shift <= 1.3 * made_of;
}

/* What conductances of the first level, and the shift's sinks, are counted in, so that they are
 * floats whatever the unit of length. */
double hs_levels_unit(const struct hs_equations *equations);

/* False: out of memory. Either way to be released. */
bool hs_levels_init(struct hs_levels *levels, const struct hs_equations *equations);
void hs_levels_release(struct hs_levels *levels);

#ifdef __cplusplus
}
#endif

#endif
