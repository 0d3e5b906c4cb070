/* Which methods a problem's time.method and steady.method are. */
#ifndef HS_ENGINE_CHOOSE_METHOD_H
#define HS_ENGINE_CHOOSE_METHOD_H

#include "core/method.h"
#include "core/problem.h"

/*
 * *steady: what solves for the steady state; NULL: sweeps do, or none is looked for. "auto" is the
 * first solver that can do the problem, where neither time.end nor time.sweeps bounds the search;
 * a plan goes on to the next where that has no memory (hs_plan_make).
 * Errors: HS_BAD_INPUT for a name that no method has, with the nearest and all there are; for a
 * method that cannot do the problem, with its reason; for a solver beside a bound of time.
 */
enum hs_status hs_choose_method(const struct hs_problem *problem, const struct hs_method **method,
                                const struct hs_method **steady, struct hs_error *err);

/* Where steady.method is "auto", the first solver behind `after` that can do the problem; else, or
 * where there is none, NULL. */
const struct hs_method *hs_choose_next_solver(const struct hs_problem *problem,
                                              const struct hs_method *after);

/* Where "auto" is sweeps, why each solver cannot: "NAME: REASON; NAME: REASON"; "" where it is not,
 * or where a bound of time is the reason. */
void hs_choose_say_sweeps(const struct hs_problem *problem, char *out, size_t size);

/* The same among other methods than this build's; the first is the default, NULL the end. */
enum hs_status hs_choose_method_among(const struct hs_method *const *methods,
                                      const struct hs_problem *problem,
                                      const struct hs_method **method,
                                      const struct hs_method **steady, struct hs_error *err);

#endif
