/* The summary of a finished run, for people and as one JSON object. */
#ifndef HS_OUTPUT_REPORT_H
#define HS_OUTPUT_REPORT_H

#include "engine/balance/balance.h"
#include "engine/exact.h"
#include "engine/loop.h"
#include "engine/outcome.h"

#include <stdio.h>

struct hs_report {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    const struct hs_loop_result *result;
    enum hs_status status;
    struct hs_exact_error error;      /* against exact; NaN without */
    int64_t snapshots;                /* in the file */
    const double *probes;             /* [probe_count], at the end; NULL: not known */
    const struct hs_balance *balance; /* NULL: there is none */
    const double *row; /* of the history, where no sweep was left to make; NULL: some were */
};

void hs_report_text(FILE *stream, const struct hs_report *report);

/*
 * One object with these keys, always all of them; what is not known is null:
 *     status      "finished", "steady", "not steady", "failed check", "stopped",
 *                 "diverged", "unsolved", "failed"; the first two with exit code 0, no other
 *     exit_code   of the program
 *     title, config, output, kernel, backend, device, precision    strings
 *     points      [nx, ny, nz], as many as there are axes
 *     sweeps      done since sweep 0; swept: those of this process
 *     steps_made, steps_refused       of an implicit method, and where a tolerance cuts steps: in
 *                 this process, and which of them were too long and tried again
 *     iterations  of an implicit method, in all of them
 *     time        s, simulated; step: s of one sweep; time_tolerance: K, that it may be off by
 *     seconds     s, wall time in sweeps; reduction_seconds: in the reductions between them
 *     gcells      1e9 grid points updated a second
 *     min, mean, max, heat ...        all quantities of the history (output/history.h), at the end
 *     imbalance_worst, imbalance_largest, imbalance_rounding    W, of the row of the history whose
 *                 heat balance was worst, of those of this process: what is left, the largest of
 *                 its terms, and what rounding, and solving of implicit steps, can leave
 *     steady_tolerance, steady_change             K a sweep, where a steady state is looked for
 *     steady_distance, steady_distance_most       K, from the steady state: about, at most
 *     error_bound                     of max_error, against the exact solution
 *     snapshots   in the output file
 *     boundary    {"x_min": type, ...}; boundary_assumed: those faces of which none was given
 *     set         {key: value} of --set, numbers as numbers
 *     probes      {name: temperature} at the end
 *     stability_limit                 s, the longest stable step
 *     version, commit
 */
void hs_report_json(FILE *stream, const struct hs_report *report);

#endif
