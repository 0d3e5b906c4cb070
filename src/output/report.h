/* The summary of a finished run, for people and as one JSON object. */
#ifndef HS_OUTPUT_REPORT_H
#define HS_OUTPUT_REPORT_H

#include "engine/loop.h"
#include "output/json.h"
#include "output/snapshots.h"

struct hs_report {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    const struct hs_loop_result *result;
    enum hs_status status;
    const struct hs_error *err;    /* what main will print */
    const struct hs_error *doubts; /* the warnings */
    struct hs_snapshots_end end;
};

void hs_report_text(const struct hs_report *report);

/*
 * One object. All keys are always present; unknown values are null. The main keys:
 *     status      "finished", "steady", "not steady", "failed check", "stopped", "diverged",
 *                 "unsolved" or "failed"; exit code 0 with the first two only
 *     exit_code   of the program; error: what it says on standard error, null if nothing
 *     title, config, output, kernel, backend, device, precision    strings
 *     points      [nx, ny, nz], one entry per axis
 *     sweeps      done since sweep 0; swept: those of this process
 *     steps_made, steps_refused       in this process, with an implicit method or where a
 *                 tolerance cuts steps: all steps, and those that were too long and repeated
 *     iterations  with an implicit method: total over these steps
 *     time        s, simulated; step: s of one sweep; time_tolerance: K, allowed error
 *     seconds     s, wall time in sweeps; reduction_seconds: in the reductions between them
 *     gcells      1e9 grid points updated per second
 *     min, mean, max, heat ...        all quantities of the history (output/history.h), at the end
 *     imbalance_worst, imbalance_largest, imbalance_rounding    W, in the history row of this
 *                 process with the worst heat balance: the imbalance, the largest term (of all
 *                 rows, if that one closes), and the imbalance that rounding and the solution of
 *                 implicit steps can cause
 *     steady_tolerance, steady_change             K per sweep, if a steady state is sought
 *     steady_distance, steady_distance_most       K, estimate and bound of the distance to it
 *     steady_residual, steady_iterations          of a steady-state solver; null and 0 without
 *     error_bound                     of max_error, against the exact solution
 *     snapshots   in the output file
 *     boundary    {"x_min": type, ...}; boundary_assumed: faces for which none was given
 *     set         {key: value} of --set, numbers as numbers
 *     probes      {name: temperature} at the end
 *     stability_limit                 s, the longest stable step
 *     warnings    strings, also with --quiet
 *     version, commit
 */
void hs_report_json(const struct hs_report *report);

/* The member "warnings". */
void hs_report_json_warnings(struct hs_json *json, const struct hs_error *doubts);

/* Of a run that an error or a signal ended before it had a result: only status, exit_code and
 * error. */
void hs_report_json_failure(enum hs_status status, const struct hs_error *err);

#endif
