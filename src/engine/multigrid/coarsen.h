/*
 * The nodes of a network that stay along one axis, and what conducts between them.
 *
 * A node that goes is eliminated along the axis: two edges in series become one, and a sink at it
 * is shared out between the two ends. Its edges across the axis go to the same two, in parallel, by
 * its weights, which interpolate it, too: w = G/(sum of G + excess), where the excess is what its
 * sink is more than those of the two. That is exact where nothing flows across the axis and they
 * have no sinks; what all three have alike is fed from across. So every coarse network is a network
 * again, of edges between neighbours only, however materials lie.
 *
 * Sources: Alcouffe, Brandt, Dendy, Painter, SIAM J. Sci. Stat. Comput. 2 (1981); Ashby and
 * Falgout, Nucl. Sci. Eng. 124 (1996), who collapse Galerkin's stencil likewise.
 */
#ifndef HS_ENGINE_MULTIGRID_COARSEN_H
#define HS_ENGINE_MULTIGRID_COARSEN_H

#include "engine/multigrid/kept.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes and edges, in any unit. */
struct hs_coarse_network {
    struct hs_lattice lattice;
    float *edge[HS_AXES]; /* [nodes] to the next node; NULL along axes of one node */
    float *sink;          /* [nodes]; infinite: it keeps its temperature */
};

/* False: out of memory. Either way to be released. */
bool hs_coarse_network_init(struct hs_coarse_network *network, const struct hs_lattice *lattice);
void hs_coarse_network_release(struct hs_coarse_network *network);

/* From one network to the next. */
struct hs_coarse_step {
    int axis;
    struct hs_kept kept; /* along it; the places are the caller's */
    struct hs_lattice fine, coarse;
    /* [nodes of the coarse side] what the node that goes after each takes from that one and from
     * the next; 0 where none goes */
    float *before, *after;
};

/* Leaves the coarse network in `coarse`. False: out of memory. Either way both are to be released.
 */
bool hs_coarsen(const struct hs_coarse_network *fine, int axis, const struct hs_kept *kept,
                int threads, struct hs_coarse_step *step, struct hs_coarse_network *coarse);
void hs_coarse_step_release(struct hs_coarse_step *step);

/* Makes the weights those between fields that are divided by `scale` [nodes of the fine side] on
 * both; nodes of scale 0 take nothing. */
void hs_coarse_step_scale(struct hs_coarse_step *step, const float *scale, int threads);

/* coarse = transpose of the interpolation, of `fine`. */
void hs_restrict(const struct hs_coarse_step *step, int threads, const float *fine, float *coarse);

/* fine = interpolation of `coarse`, or fine += that. */
void hs_interpolate(const struct hs_coarse_step *step, int threads, bool add, const float *coarse,
                    float *fine);

#ifdef __cplusplus
}
#endif

#endif
