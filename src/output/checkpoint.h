/*
 * Checkpoints: enough to go on with a run bit for bit. Written beside, synced, renamed; the last
 * two are kept: out/block.checkpoint.h5 and out/block.checkpoint.1.h5 for out/block.h5. It is an
 * HDF5 file with the field, where it belongs, and what the run is known by, all under checksums.
 */
#ifndef HS_OUTPUT_CHECKPOINT_H
#define HS_OUTPUT_CHECKPOINT_H

#include "engine/observer.h"
#include "output/snapshots.h"

/* One when a run is stopped, and every output.checkpoint_minutes where that is given. Both are
 * removed when the run finishes, and when a new run's file has taken the place of the one that
 * they go on with. A resumed run goes on with the snapshots' file, so each checkpoint flushes that
 * first; put its observer behind theirs. */
struct hs_observer *hs_checkpoint_create(const struct hs_problem *problem,
                                         struct hs_snapshots *snapshots, bool resumed);

#endif
