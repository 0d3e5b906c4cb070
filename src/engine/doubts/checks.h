/* What hs_doubts_find looks at, file by file. */
#ifndef HS_ENGINE_DOUBTS_CHECKS_H
#define HS_ENGINE_DOUBTS_CHECKS_H

#include "engine/doubts/doubts.h"

void hs_doubts_of_materials(const struct hs_problem *problem, struct hs_error *out);
void hs_doubts_of_shape_ends(const struct hs_problem *problem, struct hs_error *out);
void hs_doubts_of_walls(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out);
void hs_doubts_of_temperatures(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_error *out);
void hs_doubts_of_sources(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out);
void hs_doubts_of_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out);

#endif
