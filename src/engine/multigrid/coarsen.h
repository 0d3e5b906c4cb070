/*
 * Coarsening of a network along one axis: the nodes that are kept, and the edges between them.
 *
 * A node that is not kept is eliminated along the axis: its two edges in series become one, and its
 * sink is shared out between its two neighbours. Its edges across the axis go to the same two
 * neighbours, in parallel, by the weights that also interpolate the node: w = G/(sum of G +
 * excess), where the excess is by how much its sink exceeds the mean sink of the two. That is exact
 * where nothing flows across the axis and the neighbours have no sinks; a sink that all three have
 * alike is fed from across the axis. So every coarse network again has edges between neighbours
 * only, however materials are arranged.
 *
 * Sources: Alcouffe, Brandt, Dendy, Painter, SIAM J. Sci. Stat. Comput. 2 (1981); Ashby and
 * Falgout, Nucl. Sci. Eng. 124 (1996), who collapse the Galerkin stencil in the same way.
 */
#ifndef HS_ENGINE_MULTIGRID_COARSEN_H
#define HS_ENGINE_MULTIGRID_COARSEN_H

#include "engine/multigrid/kept.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Edges and sinks of nodes, in any unit. */
struct hs_coarse_network {
    struct hs_lattice lattice;
    float *edge[HS_AXES]; /* [nodes] to the next node; NULL along axes of one node */
    float *sink;          /* [nodes]; infinite: the node's temperature is fixed */
};

/* False: out of memory. Release in either case. */
bool hs_coarse_network_init(struct hs_coarse_network *network, const struct hs_lattice *lattice);
void hs_coarse_network_release(struct hs_coarse_network *network);

/* The step from one network to the next coarser one. */
struct hs_coarse_step {
    int axis;
    struct hs_kept kept; /* along the axis; the caller owns its places */
    struct hs_lattice fine, coarse;
    /* [coarse nodes] weights of the node eliminated after each coarse node: from that coarse node,
     * and from the next one; 0 where none is eliminated */
    float *before, *after;
};

/* Leaves the coarse network in `coarse`. False: out of memory. Release both in either case. */
bool hs_coarsen(const struct hs_coarse_network *fine, int axis, const struct hs_kept *kept,
                int threads, struct hs_coarse_step *step, struct hs_coarse_network *coarse);
void hs_coarse_step_release(struct hs_coarse_step *step);

/* Converts the weights to fields that are divided by `scale` [fine nodes] on both sides; nodes of
 * scale 0 take nothing. */
void hs_coarse_step_scale(struct hs_coarse_step *step, const float *scale, int threads);

/* coarse = transpose of the interpolation, applied to `fine`. */
void hs_restrict(const struct hs_coarse_step *step, int threads, const float *fine, float *coarse);

/* fine = interpolation of `coarse`; `add`: fine += that. */
void hs_interpolate(const struct hs_coarse_step *step, int threads, bool add, const float *coarse,
                    float *fine);

#ifdef __cplusplus
}
#endif

#endif
