/* Chooses the methods for a problem's time.method and steady.method. */
#ifndef HS_ENGINE_CHOOSE_METHOD_H
#define HS_ENGINE_CHOOSE_METHOD_H

#include "core/method.h"
#include "core/problem.h"

/*
 * Chooses from a list of methods: the first is the default, NULL the end.
 * *steady: the method that solves for the steady state; NULL: sweeps find it, or none is sought.
 * "auto" takes the first solver that can do the problem, unless time.end or time.sweeps bounds the
 * search; if that solver lacks memory, a plan goes on to the next one (hs_plan_make).
 * A solver goes through no time: whatever time.method says, *method is then the default.
 * Errors, all HS_BAD_INPUT: a name that no method has (the message gives the nearest and all
 * names); a method that cannot do the problem (with its reason); a solver beside a bound of time.
 */
enum hs_status hs_choose_method(const struct hs_method *const *methods,
                                const struct hs_problem *problem, const struct hs_method **method,
                                const struct hs_method **steady, struct hs_error *err);

/* If steady.method is "auto": the first solver after `after` that can do the problem. NULL if there
 * is none, or if steady.method is not "auto". */
const struct hs_method *hs_choose_next_solver(const struct hs_problem *problem,
                                              const struct hs_method *after);

/* If "auto" falls back to sweeps: why each solver cannot do the problem, "NAME: REASON; NAME:
 * REASON". "" if it does not, or if a bound of time is the reason. */
void hs_choose_say_sweeps(const struct hs_problem *problem, char *out, size_t size);

#endif
