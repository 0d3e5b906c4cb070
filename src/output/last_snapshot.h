/* A snapshot of a run's file as a place to go on from, where there is no checkpoint. */
#ifndef HS_OUTPUT_LAST_SNAPSHOT_H
#define HS_OUTPUT_LAST_SNAPSHOT_H

#include "engine/plan.h"
#include "output/checkpoint_file.h"

/*
 * As hs_checkpoint_file_read: a snapshot is the field in the problem's precision, all of it, so the
 * run goes on to the same bits. It is the last one whose sweep comes at the same time in `plan`;
 * it and its row of the history stay, due or not.
 */
enum hs_status hs_last_snapshot_read(const struct hs_problem *problem, const struct hs_plan *plan,
                                     const char *path, struct hs_checkpoint_state *state,
                                     void **field, char *reason, size_t size);

#endif
