/* Reads back the contents of a run's file, so that a resumed run can append to it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "output/chunks.h"
#include "output/resume.h"
#include "output/series.h"

/*
 * Fills the chunk list and the two series (initialised, with their columns) with those snapshots
 * and rows of the problem's output that belong to the run at `resume`; and the chunks of a body's
 * labels (initialised), if the file has labels.
 * HS_IO if the file cannot be read; HS_BAD_INPUT if it is another run's or is incomplete.
 */
enum hs_status hs_restore(const struct hs_problem *problem, const struct hs_resume *resume,
                          struct hs_chunks *chunks, struct hs_chunks *labels,
                          struct hs_series *snapshots, struct hs_series *history,
                          struct hs_error *err);

#endif
