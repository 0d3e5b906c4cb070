/* Conjugate gradients on the GPU, as their parts see them: vectors by number, and the rest of a
 * solution's state. */
#ifndef HS_ENGINE_BACKENDS_CUDA_KRYLOV_STATE_CUH
#define HS_ENGINE_BACKENDS_CUDA_KRYLOV_STATE_CUH

#include "core/krylov.h"
#include "engine/backends/cuda_matrix.cuh"

struct hs_krylov_state {
    cudaStream_t stream;
    hs_cuda_levels levels;
    hs_cuda_matrix matrix;
    march::box box;      /* for passes of one node a thread */
    double levels_shift; /* of the equations that they were made from */
    double **vector;     /* [count][nodes] by their numbers; 0 in padding */
    int count;
    char *some; /* [some_bytes] values to upload, and their nodes; NULL: none yet */
    size_t some_bytes;
    float *p, *p_before;          /* [nodes] in units of `scale`; NULL until they are needed */
    double scale;                 /* 0: not known */
    double unit;                  /* of the cycle's right side: about the largest of r */
    double largest;               /* of r, from the last pass over it */
    double length, length_before; /* of p, and the one before; still to be added to T */
};

/* T += what is still to be added, and `by`. */
hs_status hs_cuda_krylov_settle(hs_krylov_state *self, double by, hs_error *err);

/* ---- cuda_node_vectors.cu: as in core/krylov.h ---- */
hs_status hs_cuda_krylov_reserve(hs_krylov_state *self, int further, hs_error *err);
hs_status hs_cuda_krylov_put(hs_krylov_state *self, int vector, const double *values,
                             hs_error *err);
hs_status hs_cuda_krylov_put_some(hs_krylov_state *self, int vector, int64_t count,
                                  const int64_t *node, const double *values, hs_error *err);
hs_status hs_cuda_krylov_combine(hs_krylov_state *self, int out, const hs_krylov_sum *of,
                                 hs_error *err);
hs_status hs_cuda_krylov_largest(hs_krylov_state *self, const hs_krylov_sum *of, bool free,
                                 double *out, hs_error *err);
hs_status hs_cuda_krylov_total(hs_krylov_state *self, const hs_krylov_sum *of, double *out,
                               hs_error *err);
void hs_cuda_krylov_exchange(hs_krylov_state *self, int a, int b);

#endif
