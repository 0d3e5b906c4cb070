/* Whether a run can go on by the config's times, and if not by which others. */
#ifndef HS_OUTPUT_RESUME_TIME_H
#define HS_OUTPUT_RESUME_TIME_H

#include "output/resume.h"

/* Whether the plan comes to that sweep at that time [s], and by the same steps as the run that this
 * is the state of, or was later. */
bool hs_resume_goes_on(const struct hs_plan *plan, const struct hs_checkpoint_state *state,
                       int64_t sweep, double time);

/* Other schedules are welcome as long as the sweep that the run goes on from keeps its time, and
 * the steps to it: then all times before it stand, and those after it follow. Else HS_BAD_INPUT
 * with settings that do that, each tried, or with the word that there are none. */
enum hs_status hs_resume_check_time(const struct hs_problem *problem, const struct hs_plan *plan,
                                    const struct hs_checkpoint_state *state, struct hs_error *err);

#endif
