/* A case, read and held against this build: what commands that take a config begin with. */
#ifndef HS_ENGINE_CASE_H
#define HS_ENGINE_CASE_H

#include "core/problem.h"

/*
 * hs_config_read, and where something is wrong with the config what else is wrong with it that only
 * the engine knows: names of backends and kernels, and steps where they follow from keys in order.
 * (Of a config in order hs_plan_make tells.) So all mistakes are reported at once.
 */
enum hs_status hs_case_read(const char *path, const char *const *overrides, int override_count,
                            struct hs_problem *out, struct hs_error *err);

#endif
