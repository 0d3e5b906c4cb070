#include "output/report.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/version.h"
#include "engine/doubts/doubts.h"
#include "engine/make_plan.h"
#include "output/faces.h"
#include "output/files.h"
#include "output/history.h"
#include "output/json.h"
#include "output/steady_text.h"
#include "output/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An imbalance below this fraction of the largest term is informative. */
static const double telling = 0.01;

static const char *outcome(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    const bool told = report->status == HS_OK || report->status == HS_FAILED_CHECK ||
                      report->status == HS_INTERRUPTED;
    const enum hs_outcome known =
        hs_outcome_of(report->problem, r->phase, &r->steady, report->end.error.max);
    return told && known != HS_OUTCOME_RUNNING ? hs_outcome_name(known) : "failed";
}

static struct hs_history_state last_state(const struct hs_report *report)
{
    static const struct hs_reduction unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, {0}};
    const struct hs_loop_result *r = report->result;
    const enum hs_phase phase = r->phase;
    /* the balance is that of the last row; a run that failed makes no row at its end */
    const bool balanced =
        report->end.balance && phase != HS_PHASE_DIVERGED && phase != HS_PHASE_UNSOLVED;
    const bool none_made = phase == HS_PHASE_END && r->swept == 0;
    return (struct hs_history_state){
        .problem = report->problem,
        .sweep = r->sweeps,
        .reduction = phase == HS_PHASE_UNSOLVED ? &unknown : &r->last,
        .exact = &report->end.error,
        .balance = balanced ? hs_balance_terms(report->end.balance) : NULL,
        .row = none_made && report->end.sweep == r->sweeps ? report->end.row : NULL};
}

/* Sweeps that this run made; a step may take several. */
static double swept(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    if (report->plan->cut)
        return (double)r->effort.sweeps;
    return hs_plan_sweeps(report->plan, report->problem, r->sweeps - r->swept, r->sweeps);
}

/* 1e9 grid points updated per second; NaN if no time was measured or no point was swept. */
static double gcells(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    const bool sweeps = hs_plan_has_rate(report->plan) || report->plan->method->sweeps;
    if (!(r->seconds > 0.0) || r->swept == 0 || !sweeps)
        return NAN;
    const struct hs_box box = hs_problem_interior(report->problem);
    return 1e-9 * (double)hs_box_count(&box) * swept(report) / r->seconds;
}

static void put_duration(double seconds)
{
    if (seconds < 120.0)
        printf("%.3g s", seconds);
    else if (seconds < 7200.0)
        printf("%d min %02d s", (int)(seconds / 60.0), (int)seconds % 60);
    else
        printf("%d h %02d min", (int)(seconds / 3600.0), (int)(seconds / 60.0) % 60);
}

/* How many steps or sweeps, and what they took. */
static void put_effort(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    const struct hs_plan *plan = report->plan;
    const char *name = hs_plan_step_name(plan);
    printf("\n  %ss%*s%lld", name, (int)(12 - strlen(name)), "", (long long)r->swept);
    if (r->effort.steps > r->swept)
        printf(", cut into %lld", (long long)(r->effort.steps - r->effort.refused));
    if (r->effort.refused > 0)
        printf(" (and %lld that were too long)", (long long)r->effort.refused);
    if (plan->method->implicit)
        printf(", by %lld iteration%s", (long long)r->effort.iterations,
               r->effort.iterations == 1 ? "" : "s");
    if (!plan->method->sweeps)
        return;
    const double sweeps = swept(report);
    /* 0 if steps are cut; those after the last full interval may have another number of sweeps */
    const int64_t stages = hs_plan_stages(plan, report->problem, hs_plan_step(plan));
    if (stages > 0 && sweeps == (double)stages * (double)r->swept)
        printf(", of %lld sweep%s each, %.0f in all", (long long)stages, stages == 1 ? "" : "s",
               sweeps);
    else
        printf(", %.0f sweep%s in all", sweeps, sweeps == 1.0 ? "" : "s");
    const int at_once = hs_plan_sweeps_at_once(plan, report->problem);
    if (at_once > 1 && stages != 1)
        printf(", up to %d in one pass", at_once);
}

static void put_solver(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    printf("  solver       %s on %s", report->plan->kernel ? report->plan->kernel->name : "?",
           report->plan->backend ? report->plan->backend->name : "?");
    if (r->device[0])
        printf(" (%s)", r->device);
    if (report->plan->choice == HS_CHOICE_TUNED)
        printf(", tuned");
    if (report->plan->steady_method) {
        printf("\n  solving      ");
        put_duration(r->seconds);
        putchar('\n');
        return;
    }
    if (report->plan->method->step_rule != HS_STEP_STABLE || hs_plan_jumps(report->plan))
        printf("\n  method       %s", report->plan->method->name);
    put_effort(report);
    printf(hs_plan_sweeps_singly(report->plan) ? " in " : ", in ");
    put_duration(r->seconds);
    const double rate = gcells(report);
    if (isfinite(rate))
        printf(", %.3g GCell/s", rate);
    putchar('\n');
}

/* Sweeps after the last full interval may have a different step. */
static void put_time(const struct hs_loop_result *r, const struct hs_plan *plan)
{
    const int64_t even = plan->intervals * plan->interval_sweeps;
    const bool rest = even > 0 && r->sweeps > even && plan->tail_step != plan->interval_step;
    const long long count = (long long)(rest ? even : r->sweeps);
    printf("  time         %.9g s after %lld %s%s of %.6g s", r->time, count,
           hs_plan_step_name(plan), count == 1 ? "" : "s", hs_plan_step(plan));
    if (rest)
        printf(" and %lld of %.6g s", (long long)(r->sweeps - even), plan->tail_step);
    putchar('\n');
}

static void put_solution(const struct hs_report *report)
{
    const struct hs_steady *steady = &report->result->steady;
    const struct hs_solution *solution = &steady->solution;
    printf("  steady       by %s", report->plan->steady_method->name);
    if (solution->iterations > 0)
        printf(" in %d iteration%s", solution->iterations, solution->iterations == 1 ? "" : "s");
    printf(", the rates of change are %.3g of the initial field's; the tolerance of %.3g is %s\n",
           solution->residual, steady->tolerance,
           !steady->reached                         ? "NOT met"
           : solution->residual > steady->tolerance ? "met but for rounding"
                                                    : "met");
}

static void put_steady(const struct hs_report *report)
{
    const struct hs_steady *steady = &report->result->steady;
    const char *unit = hs_problem_difference_unit(report->problem);
    char distance[HS_STEADY_TEXT];
    if (steady->trend == HS_STEADY_SOLVED)
        put_solution(report);
    if (!steady->sought || isnan(steady->change))
        return;
    printf("  steady       the largest change of a %s is %.3g %s; the tolerance of %.3g %s is %s\n",
           hs_plan_step_name(report->plan), steady->change, unit, steady->tolerance, unit,
           steady->reached ? "met" : "NOT met");
    hs_steady_say_distance(steady, report->problem, distance, sizeof distance);
    printf("  distance     %s\n", distance);
    if (hs_steady_is_beyond_precision(steady))
        printf("               the tolerance is below what %s resolves at these temperatures, %.2g "
               "%s\n",
               hs_precision_name(report->problem->precision), 2.0 * steady->rounding, unit);
}

static struct hs_balance_worst worst_of(const struct hs_report *report)
{
    static const struct hs_balance_worst none = {-1, NAN, NAN, NAN};
    return report->end.balance ? hs_balance_worst(report->end.balance) : none;
}

/* Over what time the heat through the walls above is a mean, where that is more than a sweep. */
static void put_span(const struct hs_report *report)
{
    const struct hs_plan *plan = report->plan;
    const bool tail = report->result->sweeps > plan->intervals * plan->interval_sweeps;
    if (!hs_problem_wall_count(report->problem) || plan->steady_method ||
        hs_method_counts_sweeps(plan->method) || !report->end.balance ||
        report->result->sweeps == 0)
        return;
    printf("               means over the last %sstep of %.6g s, not what flows at its end\n",
           plan->cut ? "part of a " : "", tail ? plan->tail_step : plan->interval_step);
}

/* The heat balance of the worst row of the history, beside the largest heat of any row. */
static void put_balance(const struct hs_report *report)
{
    char unit[HS_QUANTITY_UNIT];
    const struct hs_balance_worst worst = worst_of(report);
    if (worst.sweep < 0)
        return;
    const double left = fabs(worst.imbalance) / worst.largest;
    const char *by = report->plan->method->implicit ? "rounding and solving" : "rounding";
    hs_problem_power_unit(report->problem, unit, sizeof unit);
    fputs("  balance      ", stdout);
    if (!(fabs(worst.imbalance) <= worst.rounding))
        printf("does NOT close: %.2g of %.4g %s is left at %s %lld, where %s can leave %.2g\n",
               left, worst.largest, unit, hs_plan_step_name(report->plan), (long long)worst.sweep,
               by, worst.rounding / worst.largest);
    else if (worst.largest > worst.rounding || left < telling)
        printf("closes to %.2g of %.4g %s\n", left, worst.largest, unit);
    else
        printf("closes: no term is larger than what %s can leave\n", by);
}

static void put_answer(const struct hs_report *report)
{
    const struct hs_loop_result *r = report->result;
    const struct hs_problem *problem = report->problem;
    if (!report->plan->steady_method) /* a direct solution has no time */
        put_time(r, report->plan);
    const struct hs_history_state last = last_state(report);
    hs_history_text(hs_quantities, &last, stdout);
    put_span(report);
    put_balance(report);
    if (!problem->exact.present)
        return;
    printf("  error        %.3g at most, at the end, against the exact solution",
           report->end.error.max);
    if (!isnan(problem->exact.max_error))
        printf("; the bound is %.3g: %s", problem->exact.max_error,
               report->end.error.max <= problem->exact.max_error ? "passed" : "FAILED");
    if (report->end.worst > report->end.error.max && !problem->schedule.steady)
        printf("\n               %.3g at t = %.9g s, the worst of all snapshots", report->end.worst,
               report->end.worst_time);
    putchar('\n');
}

static void put_output(const struct hs_report *report)
{
    const char *file = report->problem->output.file;
    char *sidecar = hs_file_sibling(file, ".xdmf");
    fputs("  output       ", stdout);
    hs_text_put(stdout, file, "");
    printf(", %lld snapshot%s\n  view         heatsolve render ", (long long)report->end.count,
           report->end.count == 1 ? "" : "s");
    hs_text_put_word(stdout, file);
    fputs(" -o picture.png; ParaView: open ", stdout);
    hs_text_put(stdout, sidecar, "");
    putchar('\n');
    free(sidecar);
}

void hs_report_text(const struct hs_report *report)
{
    const struct hs_problem *problem = report->problem;
    char points[HS_POINTS_TEXT];
    hs_grid_name_points(&problem->grid, points, sizeof points);
    hs_text_put(stdout, problem->title && problem->title[0] ? problem->title : "heatsolve", "");
    printf(": %s\n  grid         %s nodes, %s, radius %d\n  boundary     ", outcome(report), points,
           hs_precision_name(problem->precision), problem->radius);
    hs_faces_text(problem);
    putchar('\n');
    put_solver(report);
    put_answer(report);
    put_steady(report);
    if (problem->output.file && report->end.count > 0)
        put_output(report);
    if (report->plan->note[0])
        printf("  note         %s\n", report->plan->note);
}

static void json_balance(struct hs_json *json, const struct hs_report *report)
{
    const struct hs_balance_worst worst = worst_of(report);
    hs_json_number(json, "imbalance_worst", worst.imbalance);
    hs_json_number(json, "imbalance_largest", worst.largest);
    hs_json_number(json, "imbalance_rounding", worst.rounding);
}

static void json_steady(struct hs_json *json, const struct hs_steady *steady)
{
    const bool sought = steady->sought, solved = steady->trend == HS_STEADY_SOLVED;
    hs_json_number(json, "steady_tolerance", sought ? steady->tolerance : NAN);
    hs_json_number(json, "steady_change", sought ? steady->change : NAN);
    hs_json_number(json, "steady_distance", hs_steady_distance(steady));
    hs_json_number(json, "steady_distance_most", hs_steady_most(steady));
    hs_json_number(json, "steady_residual", solved ? steady->solution.residual : NAN);
    hs_json_integer(json, "steady_iterations", solved ? steady->solution.iterations : 0);
}

static void json_probes(struct hs_json *json, const struct hs_report *report)
{
    const int first = hs_history_count(hs_quantities, report->problem);
    hs_json_open(json, "probes");
    for (int i = 0; i < report->problem->probe_count; i++)
        hs_json_number(json, report->problem->probes[i].name,
                       report->end.row ? report->end.row[first + i] : NAN);
    hs_json_close(json);
}

static void json_effort(struct hs_json *json, const struct hs_report *report)
{
    const bool solved = report->plan->method->implicit, cut = report->plan->cut || solved;
    const struct hs_effort *effort = &report->result->effort;
    hs_json_number(json, "steps_made", cut ? (double)effort->steps : NAN);
    hs_json_number(json, "steps_refused", cut ? (double)effort->refused : NAN);
    hs_json_number(json, "iterations", solved ? (double)effort->iterations : NAN);
}

/* The members that every object has. */
static void json_outcome(struct hs_json *json, const char *outcome, enum hs_status status,
                         const struct hs_error *err)
{
    char *said = err->text ? hs_copy(err->text) : NULL;
    if (said && err->length > 0 && said[err->length - 1] == '\n')
        said[err->length - 1] = '\0';
    hs_json_text(json, "status", outcome);
    hs_json_integer(json, "exit_code", status);
    hs_json_text(json, "error", said);
    free(said);
}

void hs_report_json_failure(enum hs_status status, const struct hs_error *err)
{
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    json_outcome(&json, status == HS_INTERRUPTED ? "stopped" : "failed", status, err);
    hs_json_close(&json);
}

static void add_doubt(void *json, const char *text)
{
    hs_json_text(json, NULL, text);
}

void hs_report_json_warnings(struct hs_json *json, const struct hs_error *doubts)
{
    hs_json_open_array(json, "warnings");
    hs_doubts_say(doubts, add_doubt, json);
    hs_json_close(json);
}

void hs_report_json(const struct hs_report *report)
{
    const struct hs_problem *problem = report->problem;
    const struct hs_plan *plan = report->plan;
    const struct hs_loop_result *r = report->result;
    const struct hs_history_state last = last_state(report);
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    json_outcome(&json, outcome(report), report->status, report->err);
    hs_json_text(&json, "title", problem->title);
    hs_json_text(&json, "config", problem->config_path);
    hs_json_text(&json, "output", problem->output.file);
    hs_json_integer(&json, "snapshots", report->end.count);
    hs_json_text(&json, "method", plan->method->name);
    hs_json_text(&json, "steady_method", hs_plan_steady_name(plan, problem));
    hs_json_text(&json, "kernel", plan->kernel ? plan->kernel->name : NULL);
    hs_json_text(&json, "kernel_choice", plan->kernel ? hs_choice_name(plan->choice) : NULL);
    hs_json_text(&json, "backend", plan->backend ? plan->backend->name : NULL);
    hs_json_text(&json, "device", r->device);
    hs_json_text(&json, "precision", hs_precision_name(problem->precision));
    hs_json_integers(&json, "points", problem->grid.points, problem->grid.dims);
    hs_json_integer(&json, "sweeps", r->sweeps);
    hs_json_integer(&json, "swept", r->swept);
    hs_json_integer(&json, "sweeps_per_step", hs_plan_stages(plan, problem, hs_plan_step(plan)));
    hs_json_integer(&json, "sweeps_at_once", hs_plan_sweeps_at_once(plan, problem));
    json_effort(&json, report);
    hs_json_number(&json, "time", r->time);
    hs_json_number(&json, "step", hs_plan_step(plan));
    const double tolerance = problem->schedule.tolerance;
    hs_json_number(&json, "time_tolerance", tolerance > 0.0 ? tolerance : NAN);
    hs_json_number(&json, "stability_limit", plan->limit);
    hs_json_number(&json, "seconds", r->seconds);
    hs_json_number(&json, "reduction_seconds", r->reducing);
    hs_json_number(&json, "gcells", gcells(report));
    hs_history_json(hs_quantities, &last, &json);
    json_balance(&json, report);
    json_steady(&json, &r->steady);
    hs_json_number(&json, "error_bound", problem->exact.present ? problem->exact.max_error : NAN);
    hs_faces_json(&json, problem);
    hs_study_json(&json, problem);
    json_probes(&json, report);
    hs_json_text(&json, "note", plan->note);
    hs_report_json_warnings(&json, report->doubts);
    hs_json_text(&json, "version", hs_version());
    hs_json_text(&json, "commit", hs_commit());
    hs_json_close(&json);
}
