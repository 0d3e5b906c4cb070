#include "engine/measure/candidate.h"
#include "engine/registry.h"

#include <stdlib.h>

int64_t hs_candidate_stretch(const struct hs_problem *problem, const struct hs_plan *plan)
{
    const int64_t stretch = hs_plan_stretch(plan, problem);
    const int64_t least = stretch < HS_CANDIDATE_LONG ? stretch : HS_CANDIDATE_LONG;
    int64_t power = 1;
    while (2 * power <= least)
        power *= 2;
    return power;
}

/* Random numbers are in [1, 2) and all different: equal ones take a device less power, which it
 * turns into speed. */
void *hs_candidate_plane(const struct hs_problem *problem, bool random, struct hs_error *err)
{
    const int64_t count = problem->grid.points[HS_X] * problem->grid.points[HS_Y];
    void *plane = malloc((size_t)count * hs_precision_size(problem->precision));
    if (!plane)
        hs_error_add(err, HS_DEVICE, "no memory for a plane of the field");
    uint32_t state = 1;
    for (int64_t n = 0; plane && n < count; n++) {
        state = 1664525u * state + 1013904223u; /* Knuth, TAOCP vol. 2, 3.3.4 */
        hs_write(problem->precision, plane, n, random ? 1.0 + (double)(state >> 8) * 0x1p-24 : 1.0);
    }
    return plane;
}

enum hs_status hs_candidate_begin(struct hs_candidate *candidate, const struct hs_kernel *kernel,
                                  struct hs_error *err)
{
    const struct hs_problem *problem = candidate->problem;
    const struct hs_backend *backend = candidate->plan->backend;
    const double step = hs_plan_sweep_step(candidate->plan);
    candidate->timing =
        (struct hs_timing){.backend = backend,
                           .fuses = hs_kernel_steps_for(kernel, problem),
                           .span = {.step = step, .op = hs_problem_operator(problem, step)}};
    enum hs_status st = backend->create(problem, kernel, &candidate->timing.state, err);
    for (int64_t k = 0; k < problem->grid.points[HS_Z] && !st; k++) {
        const struct hs_box box = {{0, 0, k},
                                   {problem->grid.points[HS_X], problem->grid.points[HS_Y], k + 1}};
        st = backend->upload(candidate->timing.state, &box, candidate->plane, err);
    }
    return st;
}

void hs_candidate_end(struct hs_candidate *candidate)
{
    candidate->plan->backend->destroy(candidate->timing.state);
}

enum hs_status hs_candidate_sample(const struct hs_candidate *candidate, int64_t sweeps,
                                   double *out, struct hs_error *err)
{
    const int64_t stretch = hs_candidate_stretch(candidate->problem, candidate->plan);
    const int64_t count = sweeps < stretch ? sweeps : stretch;
    struct hs_timing timing = candidate->timing;
    timing.span.keep_last = count == stretch && count < HS_CANDIDATE_LONG;
    double all = 0.0;
    int64_t done = 0;
    while (done < sweeps) {
        double seconds = 0.0;
        HS_TRY(hs_timing_take(&timing, count, &seconds, err));
        all += seconds;
        done += count;
    }
    *out = all / (double)done;
    return HS_OK;
}
