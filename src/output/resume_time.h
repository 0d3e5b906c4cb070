/* Checks whether a run can be resumed with the config's times, and if not, suggests others. */
#ifndef HS_OUTPUT_RESUME_TIME_H
#define HS_OUTPUT_RESUME_TIME_H

#include "output/resume.h"

/* The schedule may change as long as the sweep from which the run resumes keeps its time and the
 * steps up to it. Else HS_BAD_INPUT with settings that keep them, which were tried, or with a note
 * that none were found. */
enum hs_status hs_resume_check_time(const struct hs_problem *problem, const struct hs_plan *plan,
                                    const struct hs_checkpoint_state *state, struct hs_error *err);

#endif
