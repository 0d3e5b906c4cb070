/* Whether what a sweep computes with can be computed with: nothing overflows or vanishes between
 * the config's numbers and the coefficients, the step and the times that follow from them. */
#ifndef HS_ENGINE_RANGE_H
#define HS_ENGINE_RANGE_H

#include "engine/plan.h"

/* Of material, grid, walls and raw coefficients, before a step is chosen. */
enum hs_status hs_range_check_operator(const struct hs_problem *problem, struct hs_error *err);

/* Of the plan's steps and times, and of what a source from a file adds in a step; any that stays as
 * it is must add what the precision holds somewhere, of grids up to 4 million nodes. */
enum hs_status hs_range_check_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                                    struct hs_error *err);

#endif
