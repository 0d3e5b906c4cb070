/*
 * Whether a run may write where it is going to: asked once, before anything is written.
 *
 * A run writes or removes its output, the .xdmf and the two checkpoints beside it, and each of them
 * as a .part first. None of these may be a file that the case reads; and of those that are there
 * already, only heatsolve's own are replaced, an earlier run's with leave only.
 */
#ifndef HS_OUTPUT_CLAIM_H
#define HS_OUTPUT_CLAIM_H

#include "core/problem.h"

/*
 * HS_BAD_INPUT where the config contradicts itself: a file is read, and written beside the output
 * or as a part. HS_IO where something is there that would be lost: another's file; an earlier
 * run's, unless the problem's output.overwrite is set or the run resumes it; the files of a run
 * whose output has another name and the same ones beside it ("s" and "s.h5"). With file, cause and
 * remedy.
 */
enum hs_status hs_claim_check(const struct hs_problem *problem, bool resume, struct hs_error *err);

/* The last of these again, for a run that has begun its file: so of two at once, one to each of
 * the names, the later one finds the other. */
enum hs_status hs_claim_check_twin(const struct hs_problem *problem, struct hs_error *err);

#endif
