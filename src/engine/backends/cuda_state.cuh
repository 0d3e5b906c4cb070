/* The CUDA backend's state, for its parts that need more than a piece of it. */
#ifndef HS_ENGINE_BACKENDS_CUDA_STATE_CUH
#define HS_ENGINE_BACKENDS_CUDA_STATE_CUH

#include "core/halo.h"
#include "core/krylov.h"
#include "core/vectors.h"
#include "engine/backends/cuda_parts.cuh"

#include <assert.h>

/* How `reduce` obtains the change of the last sweep. */
enum hs_cuda_change {
    HS_CUDA_CHANGE_NOT_KNOWN,
    HS_CUDA_CHANGE_BY_FIELDS, /* the other field is the one a sweep before */
    HS_CUDA_CHANGE_BY_KERNEL  /* the kernel has left it where the reducer said */
};

/* For ranks: calls in two parts (core/halo.h). */
struct hs_cuda_parts {
    cudaStream_t ahead; /* for exchanges; NULL: calls have one part */
    cudaStream_t ends;  /* for what waits for them */
    cudaEvent_t asked;  /* in one stream, for another to wait for */
    bool wanted;        /* for the call being submitted */
};

struct hs_backend_state {
    const hs_problem *problem;
    const hs_kernel *kernel;
    hs_device_limits limits;
    hs_case of; /* what the plans are made for */
    hs_kernel_plan plan;
    hs_kernel_plan *rest; /* [plan.steps] for calls of 1 sweep and more; 0 steps: not made yet */
    int device;
    cudaStream_t stream;
    hs_layout layout;
    char *field[2]; /* allocations; `now` says which holds the current field */
    int now;
    char **more; /* [more_count] allocations: fields of methods of many stages */
    int more_count;
    char *scratch; /* the kernel's own; NULL where it needs none */
    hs_cuda_staging staging;
    hs_readback readback;
    hs_cuda_source source;
    hs_cuda_faces faces;
    hs_cuda_network network;
    hs_cuda_reducer reducer;
    hs_cuda_products products;
    hs_face_level *level; /* [kernel's steps], for kernels that apply walls */
    double *source_value; /* [kernel's steps] uniform sources of one call */
    int first_slot;       /* of faces: the values at the time of the current field */
    int stale_walls;      /* fields whose prescribed layers are still to be written */
    hs_cuda_change change;
    hs_cuda_graph graph;
    hs_cuda_timer timer;
    hs_cuda_rotation rotation; /* for measuring: the other pairs of fields */
    void *halo_space;          /* for ranks: page-locked host memory */
    size_t halo_bytes;
    hs_cuda_parts parts;
    char description[384];
};

/* Memory for a field: of a rank's slab, to which other ranks may write (core/slab.h). */
hs_status hs_cuda_field_take(hs_backend_state *state, char **out, hs_error *err);
void hs_cuda_field_give(const hs_backend_state *state, char *field);

/* The allocation of a field, by its number (core/vectors.h); its node (0, 0, 0). */
static inline char **hs_cuda_field_of(hs_backend_state *state, int number)
{
    assert(number >= 0 && number < 2 + state->more_count);
    return number < 2 ? &state->field[state->now ^ number] : &state->more[number - 2];
}

static inline char *hs_cuda_field(hs_backend_state *state, int number)
{
    return *hs_cuda_field_of(state, number) +
           state->layout.origin * (int64_t)hs_precision_size(state->problem->precision);
}

/* ---- cuda.cu ---- */
/* Submits one call of the kernel, with all that changes with time, from the current field to the
 * other, and exchanges them. `change`: where the kernel leaves that of its last sweep, or NULL;
 * recursion: or NULL. */
hs_status hs_cuda_call(hs_backend_state *state, const hs_span *span, int64_t first, int steps,
                       void *change, const hs_recursion *recursion, hs_error *err);

/* ---- cuda_halo.cu ---- */
extern "C" const hs_halo hs_cuda_halo;

void hs_cuda_parts_release(hs_cuda_parts *parts);

/* Waits for all that was submitted. */
hs_status hs_cuda_wait(hs_backend_state *state, hs_error *err);

/* A call of the kernel, in two parts if that is wanted. */
hs_status hs_cuda_sweep_parts(hs_backend_state *state, const hs_kernel_plan *plan, hs_sweep *sweep,
                              hs_error *err);

/* ---- cuda.cu ---- */

/* Submits all sweeps of a span, and does not wait for them. */
hs_status hs_cuda_ask(hs_backend_state *state, const hs_span *span, hs_error *err);

/* ---- cuda_solve.cu ---- */
extern const hs_device_krylov hs_cuda_krylov;

/* ---- cuda_vectors.cu ---- */
extern const hs_vectors hs_cuda_vectors;
void hs_cuda_vectors_release(hs_backend_state *state);

#endif
