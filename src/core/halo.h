/*
 * What a backend offers to ranks, each of which has a slab of a grid (core/slab.h): where layers of
 * a field lie, so that they go to and come from a neighbour as they are. A table beside the
 * backend's.
 */
#ifndef HS_CORE_HALO_H
#define HS_CORE_HALO_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stretch of the device's memory that holds some layers of a field. */
struct hs_layers {
    void *at;
    size_t bytes;
    void *stream; /* CUDA: what comes behind this sees them as they are then (cudaStream_t) */
};

struct hs_halo {
    /* Layers from <= k < to of a field, by its number (core/vectors.h). */
    struct hs_layers (*layers)(struct hs_backend_state *state, int field, int64_t from, int64_t to);
    /* From now on a call that the kernel can make in two parts (core/kernel.h) is: the ends, with
     * the layers that neighbours want, on a stream that the device serves before others; the rest
     * beside it. NULL: not so. */
    enum hs_status (*part)(struct hs_backend_state *state, struct hs_error *err);
    /* That stream, where the last call was so made: what is asked for there comes behind the ends,
     * and before the next call. Else NULL. */
    void *(*ahead)(const struct hs_backend_state *state);
    /* As the backend's sweep, but it may not be done on return: `wait` sees the end. */
    enum hs_status (*ask)(struct hs_backend_state *state, const struct hs_span *span,
                          struct hs_error *err);
    enum hs_status (*wait)(struct hs_backend_state *state, struct hs_error *err);
    /* Where the device's memory is not the host's; else NULL: host memory that it copies to and
     * from fast, the state's; and such copies, likewise. */
    enum hs_status (*space)(struct hs_backend_state *state, size_t bytes, void **out,
                            struct hs_error *err);
    enum hs_status (*take)(struct hs_backend_state *state, const struct hs_layers *layers,
                           void *host, struct hs_error *err);
    enum hs_status (*put)(struct hs_backend_state *state, const struct hs_layers *layers,
                          const void *host, struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
