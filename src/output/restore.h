/* Reads back what a run's file holds, so that a resumed run can go on with it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "output/chunks.h"
#include "output/resume.h"
#include "output/series.h"

/*
 * Fills the chunk list and the rows of the two series (initialised, with their columns) with the
 * first snapshots and rows of the problem's output, as many as belong to it; and the chunks of a
 * body's labels (initialised), unless the file has none.
 * HS_IO if it cannot be read; HS_BAD_INPUT if it is another run's or lacks some.
 */
enum hs_status hs_restore(const struct hs_problem *problem, const struct hs_resume *resume,
                          struct hs_chunks *chunks, struct hs_chunks *labels,
                          struct hs_series *snapshots, struct hs_series *history,
                          struct hs_error *err);

#endif
