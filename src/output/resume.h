/* Finds the state that a run resumes from: a checkpoint or, without one, a snapshot of its file. */
#ifndef HS_OUTPUT_RESUME_H
#define HS_OUTPUT_RESUME_H

#include "engine/make_plan.h"
#include "engine/steady.h"
#include "output/h5.h"

/* The sweep at which a run resumes, and how much of its file belongs to it by then. The rest of the
 * file was written because the run was stopped, or after the checkpoint. */
struct hs_resume {
    int64_t sweep;
    int64_t snapshots;
    int64_t rows;    /* of history and probes */
    uint32_t places; /* hs_timeline_sum of snapshots, then rows */
    int64_t damaged; /* snapshots after these that cannot be read, and will be computed again */
    struct hs_steady_end ended; /* of the steady-state search, if one ended at this sweep */
};

struct hs_checkpoint_state {
    struct hs_resume resume;
    double time;              /* s: of the sweep */
    struct hs_plan_past past; /* of the plan that led there */
};

/* The sweeps and times of the rows of a table. */
struct hs_timeline {
    int64_t rows;
    double *sweeps, *times;
};

/* A checksum of a timeline that continues the sum `before` (0 to begin). A checkpoint recognises
 * its output by it; another output of the same config has the same sum. */
uint32_t hs_timeline_sum(uint32_t before, struct hs_timeline timeline);

/* Reads the datasets `sweep` and `time`, allocated. If they are no counts in strictly ascending
 * order with finite, ascending times, h5->failed is `what`; then there are no rows. */
struct hs_timeline hs_timeline_read(struct hs_h5 *h5, hid_t file, const char *sweep,
                                    const char *time, const char *what);

/* How many of the rows, at most `most`, are not after the sweep. */
int64_t hs_timeline_until(struct hs_timeline timeline, int64_t sweep, int64_t most);

/*
 * Reads the newest complete checkpoint of the problem's output. If there is none, as after a
 * finished run, reads the output's last intact snapshot that `plan` reaches by the same steps.
 * Either holds the whole field in the problem's precision, so the run continues to the same bits.
 * *field, allocated, says where the field is; all of it has been read once. HS_BAD_INPUT if the
 * fingerprint is another run's, the sweep was reached by other steps than those of `plan`, or the
 * plan solves for a steady state directly; HS_IO if neither can be read.
 */
enum hs_status hs_resume_read(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_resume *resume, struct hs_stored **field,
                              struct hs_error *err);

#endif
