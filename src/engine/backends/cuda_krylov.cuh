/* The vectors of conjugate gradients on the GPU (core/krylov.h), independent of the backend. */
#ifndef HS_ENGINE_BACKENDS_CUDA_KRYLOV_CUH
#define HS_ENGINE_BACKENDS_CUDA_KRYLOV_CUH

#include "core/krylov.h"
#include "core/problem.h"

#include <cuda_runtime.h>

/* A field of the backend. */
struct hs_cuda_pitched {
    void *nodes; /* node (0, 0, 0) */
    int64_t pitch[HS_AXES];
    hs_precision precision;
};

extern const hs_krylov hs_cuda_krylov_vectors;

double hs_cuda_krylov_bytes(const hs_problem *problem, int further);

/* *out is NULL after failure. */
hs_status hs_cuda_krylov_create(const hs_equations *equations, cudaStream_t stream,
                                hs_krylov_state **out, hs_error *err);
/* Copies a vector from a field, or to it, and then waits. */
hs_status hs_cuda_krylov_move(hs_krylov_state *self, int vector, const hs_cuda_pitched *field,
                              bool to_field, hs_error *err);
/* Where a vector other than T is. */
hs_cuda_pitched hs_cuda_krylov_at(const hs_krylov_state *self, int vector);

#endif
