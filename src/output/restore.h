/* Reads back what a run's file holds, so that a resumed run can go on with it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "output/chunks.h"
#include "output/series.h"

/* Where a run goes on, and how much of its file belongs to it by then: what else there is was
 * written because it was stopped, or after the checkpoint. */
struct hs_resume {
    int64_t sweep;
    int64_t snapshots;
    int64_t rows; /* of history and probes */
};

/*
 * Fills the chunk list and the rows of the two series (initialised, with their columns) with the
 * first snapshots and rows of `file`, as many as belong to it.
 * HS_IO if it cannot be read; HS_BAD_INPUT if it is another run's or lacks some.
 */
enum hs_status hs_restore(const char *file, const struct hs_resume *resume,
                          struct hs_chunks *chunks, struct hs_series *snapshots,
                          struct hs_series *history, struct hs_error *err);

#endif
