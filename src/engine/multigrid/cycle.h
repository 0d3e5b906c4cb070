/*
 * A V-cycle, as a preconditioner: symmetric and positive, in float.
 *
 * Smoothing is Chebyshev's polynomial of the second degree in the scaled matrix, for the upper
 * part of its spectrum, whose largest eigenvalue Gershgorin's circles bound; so it has no
 * order of nodes, and no parameter.
 *
 * Sources: Briggs, Henson, McCormick, A Multigrid Tutorial (2000); Trottenberg, Oosterlee,
 * Schueller, Multigrid (2001), ch. 2, 5 and 7; Adams, Brezina, Hu, Tuminaro, J. Comput. Phys. 188
 * (2003).
 */
#ifndef HS_ENGINE_MULTIGRID_CYCLE_H
#define HS_ENGINE_MULTIGRID_CYCLE_H

#include "engine/multigrid/level.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x_1 = x + first (b - A x), x_2 = x_1 + again (x_1 - x) + second (b - A x_1), for a matrix of this
 * largest eigenvalue. */
struct hs_smoother {
    float first, again, second;
};
struct hs_smoother hs_smoother_of(double largest);

/* From `right` of the first level to its `x`. */
void hs_cycle(struct hs_levels *levels);

#ifdef __cplusplus
}
#endif

#endif
