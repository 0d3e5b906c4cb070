/* Reads back the contents of a run's file, so that a resumed run can append to it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "output/contents.h"

/*
 * Fills the chunk list and the two series of `out` (initialised, with their columns) with those
 * snapshots and rows of the problem's output that belong to the run at `resume`; and the chunks of
 * a body's labels (initialised), if the file has labels.
 * HS_IO if the file cannot be read; HS_BAD_INPUT if it is another run's or is incomplete.
 */
enum hs_status hs_restore(const struct hs_resume *resume, struct hs_contents *out,
                          struct hs_error *err);

#endif
