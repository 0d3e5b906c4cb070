#include "engine/step_state.h"

#include "core/memory.h"
#include "core/vectors.h"

#include <stdlib.h>

enum hs_status hs_step_state_box(const struct hs_step_state *step_state, bool before,
                                 const struct hs_box *box, void *values, struct hs_error *err)
{
    const struct hs_step_state_cache *cache = step_state->cache;
    return (before ? cache->backend->download_before : cache->backend->download)(cache->state, box,
                                                                                 values, err);
}

enum hs_status hs_step_state_exchange(const struct hs_step_state *step_state, int field,
                                      struct hs_error *err)
{
    const struct hs_step_state_cache *cache = step_state->cache;
    if (field == 1)
        return HS_OK;
    cache->backend->vectors->exchange(cache->state, 1, field);
    return cache->backend->vectors->finish(cache->state, true, err);
}

enum hs_status hs_step_state_node(const struct hs_step_state *step_state,
                                  const int64_t node[HS_AXES], double *out, struct hs_error *err)
{
    const struct hs_box box = {{node[HS_X], node[HS_Y], node[HS_Z]},
                               {node[HS_X] + 1, node[HS_Y] + 1, node[HS_Z] + 1}};
    union {
        float f;
        double d;
    } value;
    HS_TRY(hs_step_state_box(step_state, false, &box, &value, err));
    *out = hs_read(step_state->problem->precision, &value, 0);
    return HS_OK;
}

enum hs_status hs_step_state_reduction(const struct hs_step_state *step_state,
                                       const struct hs_reduction **out, struct hs_error *err)
{
    struct hs_step_state_cache *cache = step_state->cache;
    if (!cache->reduction_valid) {
        HS_TRY(
            hs_reduce(cache->backend, cache->state, step_state->problem, &cache->reduction, err));
        cache->reduction_valid = true;
    }
    *out = &cache->reduction;
    return HS_OK;
}

/* ---- frames ------------------------------------------------------------------------------ */

/* Reads by the backend's readback; without one, box by box from the backend. */
struct hs_frame {
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    const struct hs_problem *problem;
    struct hs_readback *readback;
    void *buffer;
    size_t capacity;
};

enum hs_status hs_step_state_frame(const struct hs_step_state *step_state, struct hs_frame **out,
                                   struct hs_error *err)
{
    const struct hs_step_state_cache *cache = step_state->cache;
    struct hs_frame *frame = hs_new(sizeof *frame);
    *out = frame;
    frame->backend = cache->backend;
    frame->state = cache->state;
    frame->problem = step_state->problem;
    if (!frame->backend->download_begin)
        return HS_OK;
    const enum hs_status st = frame->backend->download_begin(frame->state, &frame->readback, err);
    if (st) {
        hs_frame_release(frame);
        *out = NULL;
    }
    return st;
}

bool hs_frame_kept(const struct hs_frame *frame)
{
    return frame->readback != NULL;
}

static enum hs_status fetch(struct hs_frame *frame, const struct hs_box *box, const void **values,
                            struct hs_error *err)
{
    const size_t bytes = (size_t)hs_box_count(box) * hs_precision_size(frame->problem->precision);
    if (bytes > frame->capacity) {
        free(frame->buffer);
        frame->buffer = malloc(bytes);
        frame->capacity = frame->buffer ? bytes : 0;
    }
    *values = frame->buffer;
    return frame->buffer ? frame->backend->download(frame->state, box, frame->buffer, err)
                         : hs_error_add(err, HS_DEVICE,
                                        "no memory for a part of the field (%zu bytes)", bytes);
}

enum hs_status hs_frame_read(struct hs_frame *frame, const struct hs_box *box,
                             const struct hs_box *next, const void **values, struct hs_error *err)
{
    return frame->readback ? frame->backend->download_part(frame->readback, box, next, values, err)
                           : fetch(frame, box, values, err);
}

bool hs_frame_shared(const struct hs_frame *frame)
{
    return frame->backend->write && !frame->readback;
}

enum hs_status hs_frame_write(struct hs_frame *frame, const struct hs_shared_file *file, bool *seen,
                              struct hs_error *err)
{
    return frame->backend->write(frame->state, file, seen, err);
}

void hs_frame_release(struct hs_frame *frame)
{
    if (!frame)
        return;
    if (frame->readback)
        frame->backend->download_end(frame->readback);
    free(frame->buffer);
    free(frame);
}
