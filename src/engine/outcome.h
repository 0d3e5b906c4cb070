/* How a run came out: one word for the summary, for JSON and for the file, and whether it passed.
 */
#ifndef HS_ENGINE_OUTCOME_H
#define HS_ENGINE_OUTCOME_H

#include "engine/steady.h"
#include "engine/step_state.h"

enum hs_outcome {
    HS_OUTCOME_RUNNING,
    HS_OUTCOME_FINISHED,   /* made all its sweeps and passed the config's checks */
    HS_OUTCOME_STEADY,     /* ended early at the steady state; passed likewise */
    HS_OUTCOME_NOT_STEADY, /* made all its sweeps without reaching steady.tolerance */
    HS_OUTCOME_INACCURATE, /* ended above exact.max_error */
    HS_OUTCOME_STOPPED,    /* by a signal */
    HS_OUTCOME_DIVERGED,
    HS_OUTCOME_UNSOLVED, /* a step's equations were not solved, or no step met time.tolerance */
};

/* `max_error`: against the exact solution, at the end; NaN without one. */
enum hs_outcome hs_outcome_of(const struct hs_problem *problem, enum hs_phase phase,
                              const struct hs_steady *steady, double max_error);

/* "running", "finished", "steady", "not steady", "failed check", "stopped", "diverged", "unsolved"
 */
const char *hs_outcome_name(enum hs_outcome outcome);

/* Done, and the answer is what the config asked for. */
bool hs_outcome_passed(enum hs_outcome outcome);

/* HS_FAILED_CHECK above exact.max_error, or if that is not known to be met. */
enum hs_status hs_outcome_check_error(const struct hs_problem *problem, double max_error,
                                      struct hs_error *err);

#endif
