/* Estimates the size of a run's file before the run, and checks the free disk space. */
#ifndef HS_OUTPUT_SIZE_ESTIMATE_H
#define HS_OUTPUT_SIZE_ESTIMATE_H

#include "engine/plan.h"

/* Approximate bytes of the file of a run that takes `seconds`. Ignores compression, which may make
 * it smaller, and a body's labels, which are small beside one snapshot. */
double hs_size_estimate_bytes(const struct hs_problem *problem, const struct hs_plan *plan,
                              double seconds);

/* The `from` of a run that is not resumed: it begins before the snapshot at sweep 0. */
enum { HS_SIZE_ESTIMATE_ANEW = -1 };

/* HS_IO if the file of a run from sweep `from` on cannot fit in the free space at output.file: the
 * nodes of each snapshot (with compression, at deflate's maximum ratio) and each number of the
 * history. Not where a steady state is sought, because the run may end at any snapshot. The message
 * gives the config key, bytes needed and free, and the remedy. Writes nothing. */
enum hs_status hs_size_estimate_check(const struct hs_problem *problem, const struct hs_plan *plan,
                                      int64_t from, struct hs_error *err);

#endif
