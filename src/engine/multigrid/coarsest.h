/* Direct solver of the coarsest network: Cholesky factors of its scaled matrix, in double. */
#ifndef HS_ENGINE_MULTIGRID_COARSEST_H
#define HS_ENGINE_MULTIGRID_COARSEST_H

#include "engine/multigrid/coarsen.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_COARSEST_NODES = 300 }; /* at most, where a network can be coarsened that far */

struct hs_coarsest {
    int64_t nodes;
    double *factor;   /* [nodes][nodes] lower triangle; NULL: more nodes than that, without edges */
    double *work;     /* [nodes] */
    double *constant; /* [nodes] where the matrix is singular, its null space; else NULL */
};

/* `floating`: the matrix is singular, with the constant as null space. The solution then has no
 * part along it, and the right side need not balance: a constant would be rounded at nodes of
 * strong edges, to more than passes through weak ones. False: out of memory. Release in either
 * case. */
bool hs_coarsest_init(struct hs_coarsest *coarsest, const struct hs_coarse_network *network,
                      bool floating);
void hs_coarsest_release(struct hs_coarsest *coarsest);

/* In the scaled unknowns of level.h. */
void hs_coarsest_solve(struct hs_coarsest *coarsest, const float *right, float *x);

/* The inverse as a matrix: out is [nodes][nodes]. Only where there is a factor. */
void hs_coarsest_invert(struct hs_coarsest *coarsest, double *out);

#ifdef __cplusplus
}
#endif

#endif
