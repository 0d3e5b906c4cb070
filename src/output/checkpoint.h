/*
 * Checkpoints: enough to go on with a run bit for bit. Written beside, closed, synced, renamed;
 * the last two are kept: FILE.checkpoint.h5 and FILE.checkpoint.1.h5.
 */
#ifndef HS_OUTPUT_CHECKPOINT_H
#define HS_OUTPUT_CHECKPOINT_H

#include "engine/observer.h"

struct hs_checkpoint;

enum hs_status hs_checkpoint_create(const struct hs_problem *problem, struct hs_checkpoint **out,
                                    struct hs_error *err);
struct hs_observer *hs_checkpoint_observer(struct hs_checkpoint *checkpoint);
void hs_checkpoint_destroy(struct hs_checkpoint *checkpoint);

/* Reads the newest whole checkpoint of the problem's output: *sweep, and *field (allocated, dense,
 * in the problem's precision). HS_BAD_INPUT if it belongs to another config. */
enum hs_status hs_checkpoint_read(const struct hs_problem *problem, int64_t *sweep, void **field,
                                  struct hs_error *err);

#endif
