/* Checks that a sweep can be computed: nothing overflows or underflows between the config's numbers
 * and the coefficients, the step and the times that follow from them. */
#ifndef HS_ENGINE_RANGE_H
#define HS_ENGINE_RANGE_H

#include "engine/plan.h"

/* Checks material, grid, walls and raw coefficients, before a step is chosen. */
enum hs_status hs_range_check_operator(const struct hs_problem *problem, struct hs_error *err);

/* Checks the plan's steps and times, and what a source from a file adds in a step. Up to 4 million
 * nodes: a nonzero source constant in time must add a representable number at some node. */
enum hs_status hs_range_check_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                                    struct hs_error *err);

#endif
