/*
 * Checkpoints: enough to go on with a run bit for bit. Written beside, synced, renamed; the last
 * two are kept: out/block.checkpoint.h5 and out/block.checkpoint.1.h5 for out/block.h5.
 */
#ifndef HS_OUTPUT_CHECKPOINT_H
#define HS_OUTPUT_CHECKPOINT_H

#include "engine/observer.h"
#include "output/snapshots.h"

struct hs_checkpoint;

/* One when a run is stopped, and every output.checkpoint_minutes where that is given. Both are
 * removed when the run finishes, and when a new run begins. A resumed run goes on with the
 * snapshots' file, so each checkpoint flushes that first; put its observer behind theirs. */
struct hs_checkpoint *hs_checkpoint_create(const struct hs_problem *problem,
                                           struct hs_snapshots *snapshots);

struct hs_observer *hs_checkpoint_observer(struct hs_checkpoint *checkpoint);
void hs_checkpoint_destroy(struct hs_checkpoint *checkpoint); /* accepts NULL */

/* Reads the newest whole checkpoint of the problem's output, or where there is none, as after a run
 * that finished, the last snapshot of the output itself; *field is allocated, dense, in the
 * problem's precision. HS_BAD_INPUT if it belongs to a run with another fingerprint, or gives its
 * sweep another time than `plan` does; HS_IO if there is neither that can be read. */
enum hs_status hs_checkpoint_read(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_resume *resume, void **field, struct hs_error *err);

#endif
