/*
 * Keeps tuning results between runs: one small text file per case in $XDG_CACHE_HOME/heatsolve,
 * else ~/.cache/heatsolve (XDG Base Directory Specification: a relative XDG_CACHE_HOME is ignored).
 *
 *     heatsolve tuning, format 1
 *     version 0.1.0, commit a1b2c3d
 *     driver none
 *     device 2 threads, AMD EPYC
 *     case 3D, 129 x 65 x 33 nodes, radius 1, double, x_min fixed, ...
 *     seconds 2.3
 *     kernel openmp 0.00123 9          name, seconds per sweep, samples; the first is the choice
 *     failed basic why not
 *     end
 *
 * The file name is derived from device and case. A file is written under a temporary name and
 * renamed, so that two runs at once leave one complete file. A file that cannot be used is ignored
 * with a note and never stops a run.
 */
#ifndef HS_OUTPUT_TUNE_FILE_H
#define HS_OUTPUT_TUNE_FILE_H

#include "engine/measure/tune.h"

/* The path of the case's file, allocated; NULL if there is no cache directory. */
char *hs_tune_file_path(const struct hs_tune_case *about);

/*
 * Reads the result kept for the case `about`. False if there is none: out->why is then "", or says
 * why the existing file cannot be used.
 */
bool hs_tune_file_read(const struct hs_tune_case *about, struct hs_tuning *out);

/* Calls hs_tune_file_read and gives the plan the fastest kernel. False also if this build lacks
 * that kernel or it cannot handle the problem. */
bool hs_tune_file_use(const struct hs_tune_case *about, const struct hs_problem *problem,
                      struct hs_plan *plan, struct hs_tuning *out);

/* Writes the case's file. False with the reason in tuning->why if it cannot be written. */
bool hs_tune_file_write(struct hs_tuning *tuning);

/* Whether the plan's run spends its time in kernel calls, so that tuning makes sense. */
bool hs_tune_file_suits(const struct hs_plan *plan);

/* Times the candidates, whatever was found before, and writes the result; out->why is the reason if
 * it cannot be written. */
enum hs_status hs_tune_file_renew(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_tuning *out, struct hs_error *err);

/* Calls hs_tune_file_renew for a plan with the kernel of an untuned "auto", and gives the plan the
 * fastest kernel. */
enum hs_status hs_tune_file_retune(const struct hs_problem *problem, struct hs_plan *plan,
                                   struct hs_error *err);

/* Gives a plan the kernel that tune found for its case, if any. If the file cannot be used, the
 * plan's note says why. */
enum hs_status hs_tune_file_take(const struct hs_problem *problem, struct hs_plan *plan,
                                 struct hs_error *err);

/* Called before a run from sweep `from`. If a trial is due (engine/measure/trial.h), makes it,
 * gives the plan the kernel that it found, and keeps the result for later runs of the case. */
void hs_tune_file_try(const struct hs_problem *problem, struct hs_plan *plan, int64_t from);

/* hs_plan_make, then hs_tune_file_take if "auto" chooses the kernel and each step is one sweep. */
enum hs_status hs_tune_file_plan(const struct hs_problem *problem, struct hs_plan *out,
                                 struct hs_error *err);

#endif
