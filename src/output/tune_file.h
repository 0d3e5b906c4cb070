/*
 * What tune found, kept between runs: one small text file a case in $XDG_CACHE_HOME/heatsolve, else
 * ~/.cache/heatsolve (XDG Base Directory Specification: a relative XDG_CACHE_HOME is ignored).
 *
 *     heatsolve tuning, format 1
 *     version 0.1.0, commit a1b2c3d
 *     driver none
 *     device 2 threads, AMD EPYC
 *     case 3D, 129 x 65 x 33 nodes, radius 1, double, x_min fixed, ...
 *     seconds 2.3
 *     kernel openmp 0.00123 9          name, seconds of a sweep, samples; first the one to take
 *     failed basic why not
 *     end
 *
 * The file's name comes from device and case. A file is written beside and renamed, so that two
 * runs at once leave one whole file. Whatever cannot be used is passed over with a note and never
 * stops a run.
 */
#ifndef HS_OUTPUT_TUNE_FILE_H
#define HS_OUTPUT_TUNE_FILE_H

#include "engine/measure/tune.h"

#include <stdio.h>

/* The case's file, allocated; NULL with the reason where no directory is to be had. */
char *hs_tune_file_path(const struct hs_tune_case *about, char *reason, size_t size);

/*
 * What is kept of the case; `about` is filled. False if there is nothing: `reason` is then "", or
 * says why what is there cannot be used.
 */
bool hs_tune_file_read(const struct hs_tune_case *about, struct hs_tuning *out, char *reason,
                       size_t size);

/* The above, and gives the plan the fastest of its kernels; false, too, where that is none of this
 * build that could do the problem. */
bool hs_tune_file_use(const struct hs_tune_case *about, const struct hs_problem *problem,
                      struct hs_plan *plan, struct hs_tuning *out, char *reason, size_t size);

/* False with the reason if it cannot be kept. */
bool hs_tune_file_write(const struct hs_tuning *tuning, char *reason, size_t size);

/* Whether calls of a kernel are what the plan's run takes its time for. */
bool hs_tune_file_suits(const struct hs_plan *plan);

/* Times the candidates, whatever was found before, and keeps the finding: in *path, allocated; NULL
 * with the reason if it cannot be kept. */
enum hs_status hs_tune_file_renew(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_tuning *out, char **path, char *reason, size_t size,
                                  struct hs_error *err);

/* The above, and gives the plan, whose kernel is what "auto" takes by itself, the fastest. */
enum hs_status hs_tune_file_retune(const struct hs_problem *problem, struct hs_plan *plan,
                                   struct hs_error *err);

/* Gives a plan the kernel that tune found for its case, if it has. What cannot be used is in the
 * plan's note. */
enum hs_status hs_tune_file_take(const struct hs_problem *problem, struct hs_plan *plan,
                                 struct hs_error *err);

/* What a run from sweep `from` begins with: where a trial is due (engine/measure/trial.h), makes
 * it, gives the plan the kernel to take, and keeps the finding for the next run of such a case. */
void hs_tune_file_try(const struct hs_problem *problem, struct hs_plan *plan, int64_t from);

/* hs_plan_make, and where solver.kernel is "auto" the above. */
enum hs_status hs_tune_file_plan(const struct hs_problem *problem, struct hs_plan *out,
                                 struct hs_error *err);

#endif
