/* What a run goes on from: a checkpoint, or a snapshot of its file where there is none. */
#ifndef HS_OUTPUT_RESUME_H
#define HS_OUTPUT_RESUME_H

#include "engine/steady.h"

/* Where a run goes on, and how much of its file belongs to it by then: what else there is was
 * written because it was stopped, or after the checkpoint. */
struct hs_resume {
    int64_t sweep;
    int64_t snapshots;
    int64_t rows;               /* of history and probes */
    uint32_t places;            /* hs_timeline_sum of both, snapshots first */
    struct hs_steady_end ended; /* of the search that ended there, if one did */
};

struct hs_checkpoint_state {
    struct hs_resume resume;
    double time, step;    /* s: at the sweep; of the sweeps of full intervals before it */
    double interval, end; /* s: output.interval and time.end, or NaN */
};

/* Rows of a table, each at a sweep and a time. */
struct hs_timeline {
    int64_t rows;
    const double *sweeps, *times;
};

/* A checksum of them, after that of others (0: of none). So a checkpoint knows the output that it
 * goes on with: one of the same config has the same. */
uint32_t hs_timeline_sum(uint32_t before, struct hs_timeline timeline);

/* Whether the sweeps are counts, each above the one before, and the times finite and in order. */
bool hs_timeline_is_sound(struct hs_timeline timeline);

/*
 * Reads the newest whole checkpoint of the problem's output, or where there is none, as after a run
 * that finished, the last snapshot of the output itself that `plan` comes to by the same steps.
 * That is the field in the problem's precision, all of it, so the run goes on to the same bits.
 * *field says where it lies, and is allocated; all of it has been read once. HS_BAD_INPUT if it
 * belongs to a run with another fingerprint, or came to its sweep by other steps than `plan`, or
 * the plan solves for a steady state; HS_IO if there is neither that can be read.
 */
enum hs_status hs_resume_read(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_resume *resume, struct hs_stored **field,
                              struct hs_error *err);

#endif
