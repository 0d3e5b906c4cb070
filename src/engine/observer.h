/*
 * Observers: what watches a run. The step loop asks each for its next due sweep, sweeps up to the
 * nearest, and notifies those that are due. What an observer does not ask for is not computed: the
 * field is downloaded, and the reduction made, once per stop and only when asked.
 */
#ifndef HS_ENGINE_OBSERVER_H
#define HS_ENGINE_OBSERVER_H

#include "engine/plan.h"

enum hs_phase {
    HS_PHASE_START, /* before the first sweep */
    HS_PHASE_RUNNING,
    HS_PHASE_END,      /* after the last sweep, or steady */
    HS_PHASE_STOPPED,  /* interrupted by a signal */
    HS_PHASE_DIVERGED, /* not finite, or grown beyond bounds */
};

/* A stop of the loop. Valid during the notification only. */
struct hs_moment {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    enum hs_phase phase;
    int64_t sweep;
    double time;        /* s, simulated */
    double seconds;     /* wall time spent in sweeps so far */
    const char *device; /* what the backend says it runs on */
    struct hs_moment_cache *cache;
};

/* The whole field, dense [nz][ny][nx] in the problem's precision. Owned by the loop. */
enum hs_status hs_moment_field(const struct hs_moment *moment, const void **out,
                               struct hs_error *err);

/* Values of single nodes without downloading the field. */
enum hs_status hs_moment_node(const struct hs_moment *moment, const int64_t node[HS_AXES],
                              double *out, struct hs_error *err);

/* min, max, mean, heat; `change` only if the observer's wants_change made the loop keep it. */
enum hs_status hs_moment_reduction(const struct hs_moment *moment, const struct hs_reduction **out,
                                   struct hs_error *err);

struct hs_observer {
    const char *name;
    void *self;
    bool wants_change;
    /* The first due sweep after `sweep`; INT64_MAX if none. Every observer is notified at sweep 0,
     * and at the end, besides. */
    int64_t (*next)(void *self, int64_t sweep);
    enum hs_status (*notify)(void *self, const struct hs_moment *moment, struct hs_error *err);
};

#endif
