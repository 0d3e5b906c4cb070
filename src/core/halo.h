/*
 * What a backend offers to ranks, each of which has a slab of a grid (core/slab.h): the memory of a
 * field's layers, for sending them to and receiving them from a neighbour without conversion. A
 * table beside the backend's.
 */
#ifndef HS_CORE_HALO_H
#define HS_CORE_HALO_H

#include "core/backend.h"

/* A contiguous range of device memory that holds some layers of a field. */
struct hs_layers {
    void *at;
    size_t bytes;
    void *stream; /* CUDA: later work in this stream sees the current values (cudaStream_t) */
};

struct hs_halo {
    /* Layers from <= k < to of a field, given by its number (core/vectors.h). */
    struct hs_layers (*layers)(struct hs_backend_state *state, int field, int64_t from, int64_t to);
    /* From now on, calls that the kernel can split (core/kernel.h) are made in two parts: the
     * inside, which needs no layers from neighbours, and then the ends. *splits: whether `ask` for
     * so many sweeps is such a call. NULL: calls are never split. */
    enum hs_status (*part)(struct hs_backend_state *state, int64_t sweeps, bool *splits,
                           struct hs_error *err);
    /* Before `ask` for so many sweeps: *stream is a high-priority stream if they are a call in two
     * parts, else NULL. Work put there runs after the call before, and while the inside is swept;
     * the ends wait for it. */
    enum hs_status (*ahead)(struct hs_backend_state *state, int64_t sweeps, void **stream,
                            struct hs_error *err);
    /* As the backend's sweep, but asynchronous: `wait` waits until it is done. */
    enum hs_status (*ask)(struct hs_backend_state *state, const struct hs_span *span,
                          struct hs_error *err);
    enum hs_status (*wait)(struct hs_backend_state *state, struct hs_error *err);
    /* NULL unless the device has its own memory. space: host memory for fast copies (pinned), owned
     * by the state. take, put: asynchronous copies from and to the device. */
    enum hs_status (*space)(struct hs_backend_state *state, size_t bytes, void **out,
                            struct hs_error *err);
    enum hs_status (*take)(struct hs_backend_state *state, const struct hs_layers *layers,
                           void *host, struct hs_error *err);
    enum hs_status (*put)(struct hs_backend_state *state, const struct hs_layers *layers,
                          const void *host, struct hs_error *err);
};

#endif
