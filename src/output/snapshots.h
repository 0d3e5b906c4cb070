/*
 * The HDF5 file: snapshots, history, probes, error norms, attributes; see docs/file-format.md.
 *
 * Crash-safe: a run killed at any moment leaves a file that opens and whose snapshots are whole; at
 * most those of the last quarter of a second (or of the last ten times that flushing takes, or
 * where there is much of the history beside the fields, of some seconds: hs_store_pause) are
 * missing. The file appears under its name when its first snapshot is whole.
 */
#ifndef HS_OUTPUT_SNAPSHOTS_H
#define HS_OUTPUT_SNAPSHOTS_H

#include "engine/balance/balance.h"
#include "engine/exact.h"
#include "engine/observer.h"
#include "output/restore.h"

struct hs_snapshots;

/* Creates the file for a run; with `resume` opens the existing one, drops what does not belong to
 * it by then and appends. HS_IO with path, errno text and remedy on failure. */
enum hs_status hs_snapshots_create(const struct hs_problem *problem, const struct hs_plan *plan,
                                   const struct hs_resume *resume, struct hs_snapshots **out,
                                   struct hs_error *err);
struct hs_observer *hs_snapshots_observer(struct hs_snapshots *snapshots);

/* What is to be done once a new run's file has its name, by the thread that writes. */
void hs_snapshots_when_named(struct hs_snapshots *snapshots,
                             enum hs_status (*act)(void *self, struct hs_error *err), void *self);

/* Makes visible in the file what was recorded since it last was; a checkpoint comes after. HS_IO,
 * too, where somebody has taken the file away. */
enum hs_status hs_snapshots_flush(struct hs_snapshots *snapshots, struct hs_error *err);

/* What of the file belongs to the run at `sweep`, the last that it was told of; once flushed. */
struct hs_resume hs_snapshots_resume(const struct hs_snapshots *snapshots, int64_t sweep);

int64_t hs_snapshots_count(const struct hs_snapshots *snapshots);

/* Against the exact solution at the last snapshot; NaN without `exact`. */
struct hs_exact_error hs_snapshots_last_error(const struct hs_snapshots *snapshots);

/* The heat balance of the last row, and the worst of all; the caller's from now on. NULL: there is
 * none. */
struct hs_balance *hs_snapshots_take_balance(struct hs_snapshots *snapshots);

/* [hs_history_count] the history's values in the last row, allocated; NULL unless that is of
 * `sweep`. */
double *hs_snapshots_row(const struct hs_snapshots *snapshots, int64_t sweep);

/* Temperature at a probe in the last row of the history; NaN while there is none. */
double hs_snapshots_probe(const struct hs_snapshots *snapshots, int probe);

/* Seconds, at least, from one writing of the contents to the next. */
extern const double hs_snapshots_gap;

void hs_snapshots_destroy(struct hs_snapshots *snapshots); /* accepts NULL; closes the file */

#endif
