/* The step loop. */
#ifndef HS_ENGINE_LOOP_H
#define HS_ENGINE_LOOP_H

#include "engine/observer.h"
#include "engine/steady.h"

struct hs_loop_result {
    enum hs_phase phase;     /* how it ended; start or running after a failure */
    struct hs_steady steady; /* the search for a steady state */
    int64_t sweeps;          /* since sweep 0, those before a resume included */
    int64_t swept;           /* in this run */
    double time;             /* s, simulated */
    double seconds;          /* wall time spent in sweeps */
    double reducing;         /* s, in the reductions between sweeps */
    struct hs_effort effort; /* in this run, of a method that cuts */
    struct hs_reduction last;
    double range[2];  /* K: the lowest and the highest temperature of all stops of this run */
    char device[128]; /* what the backend says it runs on */
};

/* Where a resumed run begins. */
struct hs_loop_start {
    int64_t sweep;
    const struct hs_stored *field;     /* NULL: the problem's initial field */
    const struct hs_steady_end *ended; /* how a steady search ended there; NULL: none did */
};

/*
 * Runs the plan from `start` (NULL: sweep 0) with the observers, in order.
 *
 * Checks for NaN, Inf and blow-up before every notification, and in between as often as costs about
 * one percent of the time. On divergence the observers are notified with HS_PHASE_DIVERGED,
 * HS_FAILED_CHECK is returned, and the message says where and when. Likewise with
 * HS_PHASE_UNSOLVED, where the method's message says why it cannot make the next step. If the
 * initial field is not finite, returns HS_BAD_INPUT and notifies no observer.
 *
 * A set *interrupted (by a signal handler) stops the run within about half a second, or one
 * iteration: HS_PHASE_STOPPED, HS_INTERRUPTED. While a method solves for the steady state no
 * observer has been notified of the start yet: HS_PHASE_START, HS_INTERRUPTED.
 */
enum hs_status hs_loop_run(const struct hs_problem *problem, const struct hs_plan *plan,
                           const struct hs_loop_start *start, struct hs_observer *const *observers,
                           int observer_count, const volatile int *interrupted,
                           struct hs_loop_result *out, struct hs_error *err);

/* The error with which such a run from sweep 0 would end before its first step or solution; HS_OK
 * if it would begin. */
enum hs_status hs_loop_check(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *err);

#endif
