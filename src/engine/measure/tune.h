/*
 * Tuning: all kernels that suit a case are timed on its own grid, device, walls and source, each
 * for a moment, and the best of them again for longer.
 *
 * A finding holds for cases that look the same to a kernel, on the same device: hs_tune_case
 * defines what that means. output/tune_file.h keeps findings between runs.
 */
#ifndef HS_ENGINE_MEASURE_TUNE_H
#define HS_ENGINE_MEASURE_TUNE_H

#include "engine/plan.h"

enum { HS_TUNE_MOST = 64 }; /* kernels */

/* Texts without line ends. The program's version and the driver are separate from the rest, so that
 * a finding from before an update can be recognised. */
struct hs_tune_case {
    char device[192];
    char driver[128];
    char version[96];
    char
        about[512]; /* dims, sizes, radius, precision, walls, source, sweeps between stops, ranks */
};

struct hs_tune_row {
    char kernel[64];
    double seconds;    /* of one sweep; NaN: it could not be timed */
    int samples;       /* whose median this is; 1: only a first look */
    char failure[160]; /* why it could not be timed, or "" */
};

struct hs_tuning {
    struct hs_tune_case about;
    struct hs_tune_row row[HS_TUNE_MOST]; /* the fastest first, those that failed last */
    int count;
    double seconds; /* that tuning took */
    char why[384];  /* it cannot be read from its file or kept there (output/tune_file.h), or "" */
};

/* The case of a problem whose plan has a backend. */
enum hs_status hs_tune_case_of(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tune_case *out, struct hs_error *err);

/* Whether "auto" may take the kernel for the problem on this device. Never the reference: in float
 * it rounds differently from all others, and results must not depend on tuning. */
bool hs_tune_candidate(const struct hs_kernel *kernel, const struct hs_problem *problem,
                       enum hs_device device);

/*
 * Times the candidates among the kernels, a table that ends with NULL. The plan's kernel, which
 * "auto" would take without tuning, is always among those that are timed again. A kernel that
 * cannot run has a row that says why; HS_DEVICE if none could be timed. Takes a few seconds, and
 * for large grids as long as it takes to fill the fields once for each kernel.
 */
enum hs_status hs_tune_measure(const struct hs_kernel *const *kernels,
                               const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tuning *out, struct hs_error *err);

/* The plan's kernel becomes the fastest one found, if this build has it for this problem. */
bool hs_tune_apply(const struct hs_tuning *tuning, const struct hs_problem *problem,
                   struct hs_plan *plan);

#endif
