/*
 * Checkpoints: all that is needed to continue a run bit for bit. Each is written as a .part,
 * synced and renamed. The last two are kept: out/block.checkpoint.h5 and out/block.checkpoint.1.h5
 * for out/block.h5. A checkpoint is an HDF5 file with the field, its position in the run and the
 * run's fingerprint, all under checksums.
 */
#ifndef HS_OUTPUT_CHECKPOINT_H
#define HS_OUTPUT_CHECKPOINT_H

#include "engine/observer.h"
#include "output/snapshots.h"

/* Writes one when a run stops, and every output.checkpoint_minutes if set. Removes both when the
 * run finishes or a new run's file has replaced their output. A resumed run appends to the snapshot
 * file, so each checkpoint flushes it first: place this observer after that of the snapshots. */
struct hs_observer *hs_checkpoint_create(const struct hs_problem *problem,
                                         struct hs_snapshots *snapshots, bool resumed);

#endif
