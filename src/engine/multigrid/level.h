/*
 * The grids of the multigrid method, from fine to coarse, each with a network in float.
 *
 * Each level but the first is made from the one before by coarsen.h. A level's unknowns are scaled
 * by the square root of the diagonal, so that its matrix is 1 - N. N has one number for each edge,
 * and a smoother reads nothing else. Nodes of fixed temperature have no edges, and stay 0.
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
    float *right, *x, *other;     /* [nodes]: right side, unknowns, and the smoother's work space */
    struct hs_kept kept[HS_AXES]; /* nodes of the next level, along each axis */
    int step_count;               /* to the next level; 0: this is the last one */
    struct hs_coarse_step step[HS_AXES];
    float *between[HS_AXES]; /* fields on the coarse side of each step but the last */
    float *ratio;            /* [nodes of the next level] its scale over this level's there */
};

enum { HS_LEVELS = 64 };
struct hs_levels {
    int count;
    int threads;
    struct hs_level level[HS_LEVELS];
    struct hs_coarsest coarsest; /* of the last level */
};

/* Levels made for one shift serve another one within this factor: then every eigenvalue of one
 * matrix relative to the other is within it, too. */
static inline bool hs_levels_serve(double made_of, double shift)
{
    return made_of <= 1.3 * shift && shift <= 1.3 * made_of;
}

/* The unit of conductances of the first level and of the shift's sinks, so that they fit into
 * floats whatever the unit of length. */
double hs_levels_unit(const struct hs_equations *equations);

/* False: out of memory. Release in either case. */
bool hs_levels_init(struct hs_levels *levels, const struct hs_equations *equations);
void hs_levels_release(struct hs_levels *levels);

#ifdef __cplusplus
}
#endif

#endif
