/* The coarsest network, solved directly: Cholesky's factors of its scaled matrix, in double. */
#ifndef HS_ENGINE_MULTIGRID_COARSEST_H
#define HS_ENGINE_MULTIGRID_COARSEST_H

#include "engine/multigrid/coarsen.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_COARSEST_NODES = 300 }; /* at most, where networks can be made so coarse */

struct hs_coarsest {
    int64_t nodes;
    double *factor; /* [nodes][nodes] lower triangle; NULL: more nodes, without edges */
    double *work;   /* [nodes] */
};

/* `floating`: the matrix is singular, for the constant; then one unknown is 0. False: out of
 * memory. Either way to be released. */
bool hs_coarsest_init(struct hs_coarsest *coarsest, const struct hs_coarse_network *network,
                      bool floating);
void hs_coarsest_release(struct hs_coarsest *coarsest);

/* In the scaled unknowns of level.h. */
void hs_coarsest_solve(struct hs_coarsest *coarsest, const float *right, float *x);

/* The same as a matrix: out is [nodes][nodes]. With a factor only. */
void hs_coarsest_invert(struct hs_coarsest *coarsest, double *out);

#ifdef __cplusplus
}
#endif

#endif
