/* Warnings about what a case says but hardly means, such as a wrong unit. Nothing is refused. */
#ifndef HS_ENGINE_DOUBTS_DOUBTS_H
#define HS_ENGINE_DOUBTS_DOUBTS_H

#include "core/status.h"
#include "engine/loop.h"

/* Adds them to those of the config reader (hs_config_how); uses only the steps of `plan`. */
void hs_doubts_find(const struct hs_problem *problem, const struct hs_plan *plan,
                    struct hs_error *out);

/* Adds those about the result of a run: below absolute zero, in a case whose initial field is of
 * absolute temperatures; or off by much of what the temperatures span, by the tolerance or by
 * float's rounding. */
void hs_doubts_of_result(const struct hs_problem *problem, const struct hs_plan *plan,
                         const struct hs_loop_result *result, struct hs_error *out);

/* Says each: "case.cfg:3: material.density = 7.8: ..." */
void hs_doubts_say(const struct hs_error *doubts, void (*say)(void *self, const char *text),
                   void *self);

#endif
