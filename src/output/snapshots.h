/*
 * The HDF5 file: snapshots, history, probes, error norms, attributes; see docs/file-format.md.
 *
 * Crash-safe: a run killed at any moment leaves a readable file with complete snapshots. At most
 * those of the last 0.25 s are missing, or of the last ten flush durations if that is longer, or of
 * some seconds if the history is large beside the fields (hs_store_pause). The file appears under
 * its name when its first snapshot is complete.
 */
#ifndef HS_OUTPUT_SNAPSHOTS_H
#define HS_OUTPUT_SNAPSHOTS_H

#include "engine/balance/balance.h"
#include "engine/exact.h"
#include "engine/observer.h"
#include "output/restore.h"

struct hs_snapshots;

/* Creates the file of a run. With `resume`, opens the existing file, drops what does not belong to
 * the run at that sweep, and appends. HS_IO with path, errno text and remedy on failure. */
enum hs_status hs_snapshots_create(const struct hs_problem *problem, const struct hs_plan *plan,
                                   const struct hs_resume *resume, struct hs_snapshots **out,
                                   struct hs_error *err);
struct hs_observer *hs_snapshots_observer(struct hs_snapshots *snapshots);

/* Sets an action that the writer's thread performs once a new run's file has its name. */
void hs_snapshots_when_named(struct hs_snapshots *snapshots,
                             enum hs_status (*act)(void *self, struct hs_error *err), void *self);

/* Makes everything recorded so far visible in the file; call it before a checkpoint. HS_IO also if
 * the file was moved, removed or changed by somebody else. */
enum hs_status hs_snapshots_flush(struct hs_snapshots *snapshots, struct hs_error *err);

/* The part of the file that belongs to the run at `sweep`, the last one notified; flush first. */
struct hs_resume hs_snapshots_resume(const struct hs_snapshots *snapshots, int64_t sweep);

/* What a run leaves for its report. */
struct hs_snapshots_end {
    int64_t count;               /* snapshots in the file */
    struct hs_exact_error error; /* against the exact solution, at the last of them; NaN without */
    double worst, worst_time;    /* the largest error at any of them, 0 without, and when [s] */
    struct hs_balance *balance;  /* of the last row, and the worst of this process; NULL: none */
    double *row;   /* last of the history: hs_history_count values, then the probes'; NULL: none */
    int64_t sweep; /* of that row */
};

/* The caller owns the balance and the row afterwards. */
struct hs_snapshots_end hs_snapshots_end(struct hs_snapshots *snapshots);

/* Minimum time [s] from one commit of the contents to the next. */
extern const double hs_snapshots_gap;

void hs_snapshots_destroy(struct hs_snapshots *snapshots); /* accepts NULL; closes the file */

#endif
