/* How large a run's file becomes, before there is one, and whether the disk has space for it. */
#ifndef HS_OUTPUT_SIZE_ESTIMATE_H
#define HS_OUTPUT_SIZE_ESTIMATE_H

#include "engine/plan.h"

/* About how many bytes the file of a run of so many seconds takes; compression, which may make it
 * smaller, is not counted, nor what a body's labels take, which is little beside one snapshot. */
double hs_size_estimate_bytes(const struct hs_problem *problem, const struct hs_plan *plan,
                              double seconds);

/* Where a run that is not resumed begins: before the snapshot at sweep 0. */
enum { HS_SIZE_ESTIMATE_ANEW = -1 };

/*
 * Bytes that a run writes at least that goes on from a sweep: the nodes of each snapshot, and each
 * number of the history. With compression the former are the least that deflate can make of them.
 * 0 where a steady state is looked for, which may end the run at any snapshot.
 */
double hs_size_estimate_least(const struct hs_problem *problem, const struct hs_plan *plan,
                              int64_t from);

/* HS_IO if the above is more than is free at output.file: key, bytes needed and free, and
 * the remedy. Writes nothing. */
enum hs_status hs_size_estimate_check(const struct hs_problem *problem, const struct hs_plan *plan,
                                      int64_t from, struct hs_error *err);

#endif
