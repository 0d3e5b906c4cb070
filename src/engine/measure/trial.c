#include "engine/measure/trial.h"

#include "core/clock.h"
#include "core/machine.h"
#include "core/memory.h"
#include "engine/measure/candidate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST = 4,            /* kernels */
    ROUNDS = 9,          /* at most, */
    LEAST_ROUNDS = 3,    /* and where one takes long */
    LEAST_SWEEPS = 4000, /* of a run; a trial may cost as much as 80, with filling the fields */
};
static const double least_updates = 1e10;    /* points times sweeps of a run: at least seconds */
static const double shortest_sample = 0.012; /* s */
static const double budget = 0.3;            /* s, of all samples, unless the fewest take longer */
static const double many_times = 40.0;       /* times the budget: such a run is worth a trial */
static const double clearly = 0.95;          /* of the time of the heuristic's kernel */
static const double free_share = 0.5;        /* of the free memory, for the trial */

/* ---- whether --------------------------------------------------------------------------------- */

/* The plan's kernel comes first. */
static int find_candidates(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                           const struct hs_plan *plan, const struct hs_kernel *out[MOST])
{
    int count = 0;
    out[count++] = plan->kernel;
    for (int n = 0; kernels[n] && count < MOST; n++)
        if (kernels[n] != plan->kernel &&
            hs_tune_candidate(kernels[n], problem, plan->backend->device))
            out[count++] = kernels[n];
    return count;
}

bool hs_trial_due(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                  const struct hs_plan *plan, int64_t from)
{
    const struct hs_kernel *candidate[MOST];
    const struct hs_box interior = hs_problem_interior(problem);
    const double sweeps = hs_plan_expected(plan, problem, from);
    if (hs_plan_jumps(plan) || !hs_plan_sweeps_singly(plan) ||
        plan->choice != HS_CHOICE_HEURISTIC || plan->backend->device != HS_CPU ||
        sweeps < LEAST_SWEEPS || sweeps * (double)hs_box_count(&interior) < least_updates)
        return false;
    const int count = find_candidates(kernels, problem, plan, candidate);
    double bytes = 0.0;
    for (int n = 0; n < count; n++)
        bytes += plan->backend->memory(problem, candidate[n]);
    return count > 1 && bytes <= free_share * hs_machine_memory_free("").bytes;
}

/* ---- by turns -------------------------------------------------------------------------------- */

struct entrant {
    struct hs_candidate candidate;
    int64_t sweeps; /* in a sample */
    double seconds; /* of a sample */
    double taken[ROUNDS];
};

/* The kernel that began a round ends the next, so that changes of load affect all alike. */
static enum hs_status take_turns(struct entrant *entrant, int count, int rounds,
                                 struct hs_error *err)
{
    for (int round = 0; round < rounds; round++)
        for (int n = 0; n < count; n++) {
            struct entrant *next = &entrant[round % 2 ? count - 1 - n : n];
            HS_TRY(hs_candidate_sample(&next->candidate, next->sweeps, &next->taken[round], err));
        }
    return HS_OK;
}

/* By each kernel's fastest sample: other load only makes samples slower, and the finding is kept.
 * Kernel 0 is the heuristic's. */
static void judge(struct entrant *entrant, const struct hs_kernel *const *kernel, int count,
                  int rounds, struct hs_tuning *out)
{
    out->count = count;
    for (int n = 0; n < count; n++) {
        const struct hs_samples samples = hs_samples_of(entrant[n].taken, rounds);
        out->row[n] = (struct hs_tune_row){.seconds = samples.min, .samples = rounds};
        snprintf(out->row[n].kernel, sizeof out->row[n].kernel, "%s", kernel[n]->name);
    }
    int best = 0;
    for (int n = 1; n < count; n++)
        if (out->row[n].seconds < (best ? 1.0 : clearly) * out->row[best].seconds)
            best = n;
    const struct hs_tune_row taken = out->row[best];
    out->row[best] = out->row[0];
    out->row[0] = taken;
}

/* Tries all kernels, or none where the run turns out to be short. */
static enum hs_status try_all(struct entrant *entrant, const struct hs_kernel *const *kernel,
                              int count, int64_t from, struct hs_tuning *out, struct hs_error *err)
{
    const struct hs_problem *problem = entrant[0].candidate.problem;
    const struct hs_plan *plan = entrant[0].candidate.plan;
    double round = 0.0;
    for (int n = 0; n < count; n++) {
        struct entrant *next = &entrant[n];
        HS_TRY(hs_candidate_begin(&next->candidate, kernel[n], err));
        HS_TRY(hs_timing_warm_up(&next->candidate.timing, shortest_sample, &next->sweeps,
                                 &next->seconds, err));
        const double sweep = entrant[0].seconds / (double)entrant[0].sweeps;
        if (!(sweep * hs_plan_expected(plan, problem, from) >= many_times * budget))
            return HS_OK;
        round += next->seconds;
    }
    const int rounds = (int)fmin(fmax(budget / round, LEAST_ROUNDS), ROUNDS);
    HS_TRY(take_turns(entrant, count, rounds, err));
    judge(entrant, kernel, count, rounds, out);
    return HS_OK;
}

void hs_trial_make(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                   const struct hs_plan *plan, int64_t from, struct hs_tuning *out)
{
    *out = (struct hs_tuning){.count = 0};
    const double begun = hs_clock_now();
    struct hs_error err = {0};
    const struct hs_kernel *kernel[MOST];
    const int count = find_candidates(kernels, problem, plan, kernel);
    struct entrant *entrant = hs_new((size_t)count * sizeof *entrant);
    void *plane = hs_candidate_plane(problem, true, &err);
    for (int n = 0; n < count; n++)
        entrant[n].candidate =
            (struct hs_candidate){.problem = problem, .plan = plan, .plane = plane};
    if (plane && !hs_tune_case_of(problem, plan, &out->about, &err))
        try_all(entrant, kernel, count, from, out, &err);
    for (int n = 0; n < count; n++)
        hs_candidate_end(&entrant[n].candidate);
    free(plane);
    free(entrant);
    hs_error_release(&err);
    out->seconds = hs_clock_now() - begun;
}
