#include "engine/outcome.h"

#include <math.h>

enum hs_status hs_outcome_check_error(const struct hs_problem *problem, double max_error,
                                      struct hs_error *err)
{
    if (isnan(problem->exact.max_error) || max_error <= problem->exact.max_error)
        return HS_OK;
    return hs_error_add(
        err, HS_FAILED_CHECK,
        "%s: exact.max_error = %g: exceeded: the largest |T - exact| is %g at the end",
        hs_problem_place(problem, HS_PLACE_MAX_ERROR), problem->exact.max_error, max_error);
}

/* The outcome of a run that reached its end. */
static enum hs_outcome at_end(const struct hs_problem *problem, const struct hs_steady *steady,
                              double max_error)
{
    if (problem->schedule.steady && !steady->reached)
        return HS_OUTCOME_NOT_STEADY;
    if (hs_outcome_check_error(problem, max_error, NULL))
        return HS_OUTCOME_INACCURATE;
    return problem->schedule.steady ? HS_OUTCOME_STEADY : HS_OUTCOME_FINISHED;
}

enum hs_outcome hs_outcome_of(const struct hs_problem *problem, enum hs_phase phase,
                              const struct hs_steady *steady, double max_error)
{
    switch (phase) {
    case HS_PHASE_START:
    case HS_PHASE_RUNNING: return HS_OUTCOME_RUNNING;
    case HS_PHASE_END: return at_end(problem, steady, max_error);
    case HS_PHASE_STOPPED: return HS_OUTCOME_STOPPED;
    case HS_PHASE_DIVERGED: return HS_OUTCOME_DIVERGED;
    case HS_PHASE_UNSOLVED: return HS_OUTCOME_UNSOLVED;
    }
    return HS_OUTCOME_RUNNING;
}

const char *hs_outcome_name(enum hs_outcome outcome)
{
    static const char *const names[] = {
        [HS_OUTCOME_RUNNING] = "running",         [HS_OUTCOME_FINISHED] = "finished",
        [HS_OUTCOME_STEADY] = "steady",           [HS_OUTCOME_NOT_STEADY] = "not steady",
        [HS_OUTCOME_INACCURATE] = "failed check", [HS_OUTCOME_STOPPED] = "stopped",
        [HS_OUTCOME_DIVERGED] = "diverged",       [HS_OUTCOME_UNSOLVED] = "unsolved"};
    return names[outcome];
}

bool hs_outcome_passed(enum hs_outcome outcome)
{
    return outcome == HS_OUTCOME_FINISHED || outcome == HS_OUTCOME_STEADY;
}
