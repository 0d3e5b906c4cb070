/*
 * A V-cycle in float as a preconditioner: symmetric and positive.
 *
 * The smoother is the Chebyshev polynomial of the second degree in the scaled matrix, for the upper
 * part of its spectrum; Gershgorin's circles bound the largest eigenvalue. So the smoother depends
 * on no order of nodes and has no parameter.
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

/* x_1 = x + first (b - A x), x_2 = x_1 + again (x_1 - x) + second (b - A x_1), for a matrix with
 * this largest eigenvalue. */
struct hs_smoother {
    float first, again, second;
};
struct hs_smoother hs_smoother_of(double largest);

/* Applies the cycle to `right` of the first level; the result is that level's `x`. */
void hs_cycle(struct hs_levels *levels);

#ifdef __cplusplus
}
#endif

#endif
