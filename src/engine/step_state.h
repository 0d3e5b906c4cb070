/*
 * A stop of the step loop, and what can be asked about it. What a stop computes is kept until the
 * next sweep, so that all who ask share it.
 */
#ifndef HS_ENGINE_STEP_STATE_H
#define HS_ENGINE_STEP_STATE_H

#include "engine/plan.h"

struct hs_steady;

enum hs_phase {
    HS_PHASE_START, /* before the first sweep */
    HS_PHASE_RUNNING,
    HS_PHASE_END,      /* after the last sweep, or steady */
    HS_PHASE_STOPPED,  /* interrupted by a signal */
    HS_PHASE_DIVERGED, /* not finite, or grown beyond bounds */
    HS_PHASE_UNSOLVED, /* the method cannot make the next steps; how far the field has got is not
                          known */
};

/* What has been fetched at this stop. Owned by the loop, which discards it when it sweeps on. */
struct hs_step_state_cache {
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    struct hs_reduction reduction;
    bool reduction_valid;
};

/* A stop of the loop. Valid during the notification only. */
struct hs_step_state {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    enum hs_phase phase;
    int64_t sweep;
    double time;                    /* s, simulated */
    double seconds;                 /* wall time spent in sweeps so far */
    const char *device;             /* what the backend says it runs on */
    const struct hs_steady *steady; /* the search for a steady state, if any */
    const struct hs_method_state *method;
    struct hs_step_state_cache *cache;
};

/*
 * The field of this stop, for another thread to read piece by piece. If hs_frame_kept, it stays
 * unchanged while the loop sweeps on; otherwise it must be read and released before the
 * notification returns. One frame at a time, released by the time the observer's `drain` returns.
 */
struct hs_frame;

enum hs_status hs_step_state_frame(const struct hs_step_state *step_state, struct hs_frame **out,
                                   struct hs_error *err);
bool hs_frame_kept(const struct hs_frame *frame);
/* *values: the nodes of `box`, a stretch of the field in memory order, dense, until the next call;
 * `next`: the box that the next call will ask for, or NULL. */
enum hs_status hs_frame_read(struct hs_frame *frame, const struct hs_box *box,
                             const struct hs_box *next, const void **values, struct hs_error *err);
/* Whether several processes hold the field; then they can write it, as by the backend's write. */
bool hs_frame_shared(const struct hs_frame *frame);
enum hs_status hs_frame_write(struct hs_frame *frame, const struct hs_shared_file *file, bool *seen,
                              struct hs_error *err);
void hs_frame_release(struct hs_frame *frame); /* accepts NULL */

/* Values of a box of nodes, dense, without downloading the field: of this stop, or of one sweep
 * `before`, which an observer's wants_before made the loop keep. */
enum hs_status hs_step_state_box(const struct hs_step_state *step_state, bool before,
                                 const struct hs_box *box, void *values, struct hs_error *err);

/* Swaps another of the backend's fields with the one `before`; a second call with the same field
 * swaps them back. What was fetched at this stop stays valid. */
enum hs_status hs_step_state_exchange(const struct hs_step_state *step_state, int field,
                                      struct hs_error *err);

/* Value of a single node, likewise. */
enum hs_status hs_step_state_node(const struct hs_step_state *step_state,
                                  const int64_t node[HS_AXES], double *out, struct hs_error *err);

/* min, max, mean and heat. `change`, `stored` and `sunk` are NaN unless an observer's wants_change
 * or wants_before made the loop keep what they need. */
enum hs_status hs_step_state_reduction(const struct hs_step_state *step_state,
                                       const struct hs_reduction **out, struct hs_error *err);

#endif
