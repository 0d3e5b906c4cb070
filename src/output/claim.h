/*
 * Checks, before anything is written, whether a run may write to its files.
 *
 * A run writes or removes its output, the .xdmf and the two checkpoints beside it, and a .part of
 * each. None of these may be an input of the case. Of files that already exist, only heatsolve's
 * own are replaced; an earlier run's output only with the user's permission.
 */
#ifndef HS_OUTPUT_CLAIM_H
#define HS_OUTPUT_CLAIM_H

#include "core/problem.h"

/*
 * HS_BAD_INPUT if the config contradicts itself: the run reads a file that it also writes beside
 * the output or as a part. HS_IO if an existing file would be lost: another program's file; an
 * earlier run's, unless output.overwrite is set or the run resumes it; or the files of a run whose
 * output has a different name but the same sidecars ("s" and "s.h5"). Messages give file, cause and
 * remedy.
 */
enum hs_status hs_claim_check(const struct hs_problem *problem, bool resume, struct hs_error *err);

/* Repeats the last of these checks after the run has begun its file: of two runs that start at
 * once, one under each name, the later one finds the other. */
enum hs_status hs_claim_check_twin(const struct hs_problem *problem, struct hs_error *err);

#endif
