/*
 * Trying the kernels out: all that suit a case are timed on its own grid, device, walls and source,
 * each for a moment, the best of them again for longer.
 *
 * What is found holds for cases that look the same to a kernel, on the same device: hs_tune_case
 * says what that is. Keeping it between runs is output/tune_file.h's business.
 */
#ifndef HS_ENGINE_MEASURE_TUNE_H
#define HS_ENGINE_MEASURE_TUNE_H

#include "engine/plan.h"

enum { HS_TUNE_MOST = 64 }; /* kernels */

/* Texts without line ends. The program's version and the driver are told apart from the rest, so
 * that a finding from before an update is known for what it is. */
struct hs_tune_case {
    char device[192];
    char driver[128];
    char version[96];
    char about[512]; /* dims, sizes, radius, precision, walls, source, sweeps between stops */
};

struct hs_tune_row {
    char kernel[64];
    double seconds;    /* of one sweep; NaN: it could not be timed */
    int samples;       /* that this is the median of; 1: only looked at */
    char failure[160]; /* why it could not be timed, or "" */
};

struct hs_tuning {
    struct hs_tune_case about;
    struct hs_tune_row row[HS_TUNE_MOST]; /* the fastest first, those that failed last */
    int count;
    double seconds; /* that finding it out took */
};

/* The case of a problem whose plan has a backend. */
enum hs_status hs_tune_case_of(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tune_case *out, struct hs_error *err);

/* Whether "auto" may take the kernel for the problem on this device. Not the reference: in float it
 * rounds as no other does, and a result must not depend on what was tuned. */
bool hs_tune_candidate(const struct hs_kernel *kernel, const struct hs_problem *problem,
                       enum hs_device device);

/*
 * Times the candidates. The plan's kernel, which is what "auto" would take by itself, is always
 * among those that are timed again. A kernel that cannot run is a row that says why; HS_DEVICE if
 * none could be timed. Takes a few seconds, and as long as it takes to fill the fields of a large
 * grid once for each kernel.
 */
enum hs_status hs_tune_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_tuning *out, struct hs_error *err);

/* The same with a table of kernels, ending with NULL, instead of this build's. */
enum hs_status hs_tune_among(const struct hs_kernel *const *kernels,
                             const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_tuning *out, struct hs_error *err);

/* The plan's kernel becomes the finding's fastest, if that is one for this problem in this build.
 */
bool hs_tune_apply(const struct hs_tuning *tuning, const struct hs_problem *problem,
                   struct hs_plan *plan);

#endif
