/* Reads back what a run's file holds, so that a resumed run can go on with it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "output/chunks.h"
#include "output/series.h"

/*
 * Fills the chunk list and the rows of the two series (initialised, with their columns) with what
 * `file` has up to `sweep` at multiples of `output_every` and `history_every`: the rest was written
 * when a run was stopped, and an uninterrupted one would not have it.
 * HS_IO if it cannot be read; HS_BAD_INPUT if it is another run's or lacks snapshots.
 */
enum hs_status hs_restore(const char *file, int64_t sweep, int64_t output_every,
                          int64_t history_every, struct hs_chunks *chunks,
                          struct hs_series *snapshots, struct hs_series *history,
                          struct hs_error *err);

#endif
