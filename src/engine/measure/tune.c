#include "engine/measure/tune.h"

#include "core/clock.h"
#include "core/features.h"
#include "core/text.h"
#include "core/version.h"
#include "engine/measure/candidate.h"
#include "engine/measure/timing.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS = 4 };           /* that are timed again */
static const double within = 1.4; /* times the fastest first look: worth timing again */

/* A first look, then samples worth comparing. */
static const double first_sample = 0.004;
static const struct hs_timing_effort final = {.repeats = 9, .sample = 0.02, .all = 0.4};

/* ---- the case -------------------------------------------------------------------------------- */

static const char *varying(bool space, bool time)
{
    static const char *const words[2][2] = {{"", " in time"}, {" in space", " in space and time"}};
    return words[space][time];
}

static void describe(const struct hs_problem *problem, const struct hs_plan *plan, char *out,
                     size_t size)
{
    const struct hs_grid *grid = &problem->grid;
    char points[HS_POINTS_TEXT];
    hs_grid_name_points(grid, points, sizeof points);
    snprintf(out, size, "%dD, %s nodes, radius %d, %s", grid->dims, points, problem->radius,
             hs_precision_name(problem->precision));
    for (int f = 0; f < 2 * grid->dims; f++) {
        const struct hs_face *face = &problem->face[f];
        const unsigned varies = hs_value_varies(&face->data);
        hs_text_append(out, size, ", %s %s%s", hs_face_name(f), face->type ? face->type : "?",
                       varying((varies & HS_VARIES_SPACE) != 0, (varies & HS_VARIES_T) != 0));
    }
    const hs_features asked = hs_problem_features(problem);
    hs_text_append(out, size, ", %s%s", asked & HS_SOURCE ? "a source" : "no source",
                   varying((asked & HS_SOURCE_FIELD) != 0, (asked & HS_SOURCE_TIME) != 0));
    const int64_t stretch = hs_candidate_stretch(problem, plan);
    hs_text_append(out, size, ", stops every %lld sweeps%s", (long long)stretch,
                   stretch == HS_CANDIDATE_LONG ? " or more" : "");
    if (hs_ranks_count() > 1) /* their halos cost each kernel something else */
        hs_text_append(out, size, ", %d ranks", hs_ranks_count());
}

/* Cases are stored as lines of text; a device names itself. */
static void keep_to_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

enum hs_status hs_tune_case_of(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tune_case *out, struct hs_error *err)
{
    struct hs_device_fingerprint fingerprint = {"", ""};
    HS_TRY(plan->backend->fingerprint(problem->solver.device, problem->solver.threads, &fingerprint,
                                      err));
    snprintf(out->device, sizeof out->device, "%s", fingerprint.device);
    snprintf(out->driver, sizeof out->driver, "%s", fingerprint.driver);
    snprintf(out->version, sizeof out->version, "%s, commit %s", hs_version(), hs_commit());
    describe(problem, plan, out->about, sizeof out->about);
    keep_to_one_line(out->device);
    keep_to_one_line(out->driver);
    return HS_OK;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

bool hs_tune_candidate(const struct hs_kernel *kernel, const struct hs_problem *problem,
                       enum hs_device device)
{
    return kernel->device == device && strcmp(kernel->name, "reference") != 0 &&
           hs_kernel_suits(kernel, problem, NULL, 0);
}

static enum hs_status take_samples(const struct hs_candidate *candidate,
                                   const struct hs_timing_effort *effort, struct hs_tune_row *row,
                                   struct hs_error *err)
{
    double seconds = 0.0, taken[HS_TIMING_SAMPLES];
    int64_t sweeps = 0;
    HS_TRY(hs_timing_warm_up(&candidate->timing, effort->sample, &sweeps, &seconds, err));
    const int repeats = hs_timing_repeats(effort, seconds);
    for (int n = 0; n < repeats; n++)
        HS_TRY(hs_candidate_sample(candidate, sweeps, &taken[n], err));
    const struct hs_samples samples = hs_samples_of(taken, repeats);
    row->seconds = samples.median;
    row->samples = samples.count;
    return HS_OK;
}

/* A kernel that fails is no reason to give up the others. */
static void try_kernel(struct hs_candidate *trial, const struct hs_kernel *kernel,
                       const struct hs_timing_effort *effort, struct hs_tune_row *row)
{
    struct hs_error err = {0};
    *row = (struct hs_tune_row){.seconds = NAN};
    snprintf(row->kernel, sizeof row->kernel, "%s", kernel->name);
    enum hs_status st = hs_candidate_begin(trial, kernel, &err);
    if (!st)
        st = take_samples(trial, effort, row, &err);
    hs_candidate_end(trial);
    if (st)
        snprintf(row->failure, sizeof row->failure, "%.*s",
                 err.text ? (int)strcspn(err.text, "\n") : 0, err.text ? err.text : "");
    keep_to_one_line(row->failure);
    hs_error_release(&err);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Those that failed come last. */
static int faster_first(const void *a, const void *b)
{
    const struct hs_tune_row *x = a, *y = b;
    if (isnan(x->seconds) || isnan(y->seconds))
        return isnan(x->seconds) - isnan(y->seconds);
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static void sort(struct hs_tuning *tuning)
{
    qsort(tuning->row, (size_t)tuning->count, sizeof *tuning->row, faster_first);
}

static void look_at_all(struct hs_candidate *trial, const struct hs_kernel *const *kernels,
                        struct hs_tuning *out)
{
    const struct hs_timing_effort look = {
        .repeats = 1, .sample = first_sample, .all = first_sample};
    for (int n = 0; kernels[n] && out->count < HS_TUNE_MOST; n++)
        if (hs_tune_candidate(kernels[n], trial->problem, trial->plan->backend->device))
            try_kernel(trial, kernels[n], &look, &out->row[out->count++]);
    sort(out);
}

/* The next kernel for which one look is not enough: what "auto" would take without tuning, and the
 * few that may be the fastest. A look may flatter, so the fastest is always one timed again. */
static int next_finalist(const struct hs_tuning *tuning, const struct hs_kernel *usual)
{
    const double limit = within * tuning->row[0].seconds;
    for (int n = 0; n < tuning->count; n++) {
        const struct hs_tune_row *row = &tuning->row[n];
        const bool hopeful = n < FINALISTS && row->seconds <= limit;
        const bool wanted = usual && strcmp(row->kernel, usual->name) == 0;
        if (row->samples == 1 && (hopeful || wanted))
            return n;
    }
    return -1;
}

static void look_again(struct hs_candidate *trial, const struct hs_kernel *const *kernels,
                       struct hs_tuning *out)
{
    for (int n; (n = next_finalist(out, trial->plan->kernel)) >= 0; sort(out))
        for (int k = 0; kernels[k]; k++)
            if (hs_tune_candidate(kernels[k], trial->problem, trial->plan->backend->device) &&
                strcmp(kernels[k]->name, out->row[n].kernel) == 0)
                try_kernel(trial, kernels[k], &final, &out->row[n]);
}

enum hs_status hs_tune_measure(const struct hs_kernel *const *kernels,
                               const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tuning *out, struct hs_error *err)
{
    *out = (struct hs_tuning){.count = 0};
    const double begun = hs_clock_now();
    HS_TRY(hs_tune_case_of(problem, plan, &out->about, err));
    void *plane = hs_candidate_plane(problem, true, err);
    if (!plane)
        return HS_DEVICE;
    struct hs_candidate trial = {.problem = problem, .plan = plan, .plane = plane};
    look_at_all(&trial, kernels, out);
    look_again(&trial, kernels, out);
    free(plane);
    out->seconds = hs_clock_now() - begun;
    if (out->count == 0)
        return hs_error_add(err, HS_BAD_INPUT, "there is no kernel to choose for this case");
    if (isnan(out->row[0].seconds))
        return hs_error_add(err, HS_DEVICE, "no kernel could be timed: %s: %s", out->row[0].kernel,
                            out->row[0].failure);
    return HS_OK;
}

bool hs_tune_apply(const struct hs_tuning *tuning, const struct hs_problem *problem,
                   struct hs_plan *plan)
{
    const enum hs_device device = plan->backend->device;
    for (int n = 0; hs_kernels[n] && tuning->count > 0; n++)
        if (strcmp(hs_kernels[n]->name, tuning->row[0].kernel) == 0 &&
            hs_tune_candidate(hs_kernels[n], problem, device)) {
            plan->kernel = hs_kernels[n];
            plan->choice = HS_CHOICE_TUNED;
            return true;
        }
    return false;
}
