/* heatsolve check: shows what a run would do, without running it. */
#include "commands/command.h"
#include "core/memory.h"
#include "core/text.h"
#include "engine/balance/balance.h"
#include "engine/balance/power.h"
#include "engine/case.h"
#include "engine/doubts/doubts.h"
#include "engine/loop.h"
#include "engine/make_plan.h"
#include "engine/measure/rate.h"
#include "engine/measure/trial.h"
#include "engine/method_memory.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "engine/steady.h"
#include "output/body_text.h"
#include "output/claim.h"
#include "output/faces.h"
#include "output/files.h"
#include "output/json.h"
#include "output/report.h"
#include "output/size_estimate.h"
#include "output/tune_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

static const double rate_seconds = 0.1; /* at most, for sweeps that measure the rate */

/* The data to print. */
struct outlook {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    double sweeps;     /* of all steps */
    double memory;     /* bytes per rank */
    char ranks[256];   /* "" if there is one rank */
    double output;     /* bytes */
    double free_bytes; /* for the output */
    struct hs_rate rate;
    double seconds;          /* all sweeps */
    double reducing;         /* reductions between them [s] */
    double updates;          /* points per second */
    struct hs_error refused; /* why a run would not begin: existing files, or a folder */
    struct hs_steady_outlook steady;
    struct hs_balance_power source; /* at t = 0 */
    struct hs_balance_power *flux;  /* [walls], likewise; NULL: not known */
    struct hs_error doubts;         /* as messages */
};

static enum hs_status look_ahead(struct outlook *outlook, struct hs_error *err)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_plan *plan = outlook->plan;
    const struct hs_box interior = hs_problem_interior(problem);
    const struct hs_method *method = hs_plan_method(plan);
    outlook->sweeps = hs_plan_sweeps(plan, problem, 0, plan->sweeps);
    outlook->memory = plan->backend->memory(problem, plan->kernel);
    hs_ranks_describe(problem, plan->kernel, outlook->ranks, sizeof outlook->ranks);
    if (method->memory)
        outlook->memory += method->memory(problem, plan->backend);
    HS_TRY(hs_method_check_memory(problem, plan, err));
    HS_TRY(hs_loop_check(problem, plan, err));
    struct hs_plan measured = *plan;
    if (!hs_plan_has_rate(plan)) /* the time of a sweep says nothing about the run's */
        measured.sweeps = 0;
    HS_TRY(hs_rate_measure(problem, &measured, rate_seconds, &outlook->rate, err));
    const double sweep = outlook->rate.seconds_per_sweep;
    outlook->seconds = plan->sweeps > 0 ? sweep * outlook->sweeps : 0.0;
    outlook->updates = (double)hs_box_count(&interior) / sweep;
    outlook->reducing = outlook->rate.seconds_per_reduction * (double)plan->sweeps /
                        (double)hs_plan_stretch(plan, problem);
    if (problem->schedule.steady && !plan->steady_method)
        outlook->steady = hs_steady_look_ahead(problem, plan);
    if (hs_balance_is_there(problem)) {
        HS_TRY(hs_balance_source_power(problem, 0.0, &outlook->source, err));
        outlook->flux =
            hs_new(((size_t)hs_problem_wall_count(problem) + 1) * sizeof *outlook->flux);
        hs_balance_fluxes(problem, 0.0, outlook->flux);
    }
    outlook->free_bytes = hs_file_free_space(problem->output.file, true);
    const double seconds = outlook->seconds + outlook->reducing;
    outlook->output = hs_size_estimate_bytes(problem, plan, isnan(seconds) ? 0.0 : seconds);
    return HS_OK;
}

/* ---- for people ---------------------------------------------------------------------------- */

static void print_label(const char *label)
{
    printf("%-12s ", label);
}

/* Prints a label and what follows it. */
static void HS_PRINTF(2, 3) begin(const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_label(label);
    vprintf(format, args);
    va_end(args);
}

/* For printf: bytes(n).text */
struct text {
    char text[HS_BYTES_TEXT];
};

static struct text bytes(double number)
{
    struct text out = {""};
    hs_bytes_name(number, out.text, sizeof out.text);
    return out;
}

static struct text duration(double seconds)
{
    struct text out = {""};
    if (seconds < 120.0)
        snprintf(out.text, sizeof out.text, "%.3g s", seconds);
    else if (seconds < 7200.0)
        snprintf(out.text, sizeof out.text, "%.0f min", seconds / 60.0);
    else if (seconds < 172800.0)
        snprintf(out.text, sizeof out.text, "%.1f h", seconds / 3600.0);
    else
        snprintf(out.text, sizeof out.text, "%.1f days", seconds / 86400.0);
    return out;
}

static void print_grid(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    char points[HS_POINTS_TEXT];
    hs_grid_name_points(grid, points, sizeof points);
    begin("grid", "%s", points);
    if (grid->dims > 1)
        printf(" = %" PRId64, hs_grid_count(grid));
    printf(" nodes, %s precision\n", hs_precision_name(problem->precision));
    for (int axis = 0; axis < grid->dims; axis++) {
        double cells[2];
        hs_grid_cells(grid, axis, problem->face[2 * axis].wrap, cells);
        begin("", "%c from %.9g to %.9g m, ", "xyz"[axis], hs_grid_coordinate(grid, axis, 0),
              hs_grid_coordinate(grid, axis, grid->points[axis] - 1));
        if (cells[0] < cells[1])
            printf("cells of %.9g to %.9g m\n", cells[0], cells[1]);
        else
            printf("spacing %.9g m\n", cells[0]);
    }
    print_label("boundary");
    hs_faces_text(problem);
    printf("\n");
}

static void print_place(const double *at, int dims)
{
    for (int axis = 0; axis < dims; axis++)
        printf("%s%.9g", axis > 0 ? ", " : "[", at[axis]);
    printf("]");
}

/* Position of the probe's node. True: it is not where the probe is. */
static bool find_probe(const struct hs_grid *grid, const struct hs_probe *probe,
                       double node_at[HS_AXES])
{
    const double apart = 1e-6; /* of a cell */
    bool off = false;
    for (int axis = 0; axis < grid->dims; axis++) {
        const int64_t node = probe->node[axis];
        const double cell = hs_grid_cell(grid, axis, node > 0 ? node - 1 : 0);
        node_at[axis] = hs_grid_coordinate(grid, axis, node);
        off = off || fabs(probe->at[axis] - node_at[axis]) > apart * cell;
    }
    return off;
}

static void print_probes(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    const char *label = "probes";
    for (int n = 0; n < problem->probe_count; n++) {
        const struct hs_probe *probe = &problem->probes[n];
        double node_at[HS_AXES];
        if (!find_probe(grid, probe, node_at))
            continue;
        print_label(label);
        hs_text_put(stdout, probe->name, "");
        printf(" at ");
        print_place(probe->at, grid->dims);
        printf(" m is read at the node at ");
        print_place(node_at, grid->dims);
        printf("\n");
        label = "";
    }
}

static void print_stencil(const struct hs_problem *problem)
{
    begin("stencil", "radius %d, %d points", problem->radius,
          hs_stencil_count(problem->grid.dims, problem->radius));
    if (problem->raw) /* only the user knows their order */
        printf("; raw coefficients\n");
    else
        printf(", order %d; diffusivity %.9g m^2/s\n", 2 * problem->radius,
               problem->material.diffusivity);
    if (!problem->plain)
        return;
    print_label("material");
    hs_body_material_text(problem, problem->plain->solid[0].substance);
    printf("\n");
}

static void print_body(const struct hs_problem *problem)
{
    print_label("body");
    hs_body_text(problem);
    printf("\n");
    for (int n = 0; n < problem->body->substance_count; n++) {
        print_label("");
        hs_body_material_text(problem, n);
        printf("\n");
    }
}

/* As the nodes get it: a source that is narrower than the cells may heat none. */
static void print_source(const struct outlook *outlook)
{
    char unit[64];
    if (isnan(outlook->source.power))
        return;
    hs_problem_power_unit(outlook->problem, unit, sizeof unit);
    begin("source", "%.6g %s at t = 0%s\n", outlook->source.power, unit,
          outlook->source.changes ? ", changes with time" : "");
}

/* What leaves by given fluxes: a sign, a unit or a patch that is cut shows in it. */
static void print_fluxes(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const int walls = outlook->flux ? hs_problem_wall_count(problem) : 0;
    char unit[64], name[32];
    double all = 0.0;
    int count = 0;
    hs_problem_power_unit(problem, unit, sizeof unit);
    for (int w = 0; w < walls; w++) {
        if (isnan(outlook->flux[w].power))
            continue;
        hs_problem_wall_name(problem, w, name, sizeof name);
        begin(count++ == 0 ? "flux" : "", "%s: %.6g %s at t = 0%s\n", name, outlook->flux[w].power,
              unit, outlook->flux[w].changes ? ", changes with time" : "");
        all += outlook->flux[w].power;
    }
    if (count > 1)
        begin("", "%.6g %s in all, outward\n", all, unit);
}

static void json_fluxes(struct hs_json *json, const struct outlook *outlook)
{
    const int walls = outlook->flux ? hs_problem_wall_count(outlook->problem) : 0;
    char name[32];
    hs_json_open(json, "flux_power");
    for (int w = 0; w < walls; w++) {
        hs_problem_wall_name(outlook->problem, w, name, sizeof name);
        if (!isnan(outlook->flux[w].power))
            hs_json_number(json, name, outlook->flux[w].power);
    }
    hs_json_close(json);
}

/* For steps of several sweeps each. */
static void print_stages(const struct outlook *outlook)
{
    const struct hs_plan *plan = outlook->plan;
    const double step = hs_plan_step(plan);
    const int64_t stages = hs_plan_stages(plan, outlook->problem, step);
    begin("sweeps", "%" PRId64 " a step, %.0f in all, to t = %.9g s\n", stages, outlook->sweeps,
          plan->end);
    const int at_once = hs_plan_sweeps_at_once(plan, outlook->problem);
    if (at_once == 0)
        begin("", "each of them a sweep, and a pass for its sum\n");
    else if (at_once > 1 && stages > 1)
        begin("", "up to %d of them in one pass over the fields\n", at_once);
}

/* For steps that are implicit, exact or cut. */
static void print_solved(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    begin(outlook->plan->method->sweeps ? "swept" : "solved",
          "%s%" PRId64 " step%s, to t = %.9g s\n", problem->schedule.steady ? "at most " : "",
          outlook->plan->sweeps, outlook->plan->sweeps == 1 ? "" : "s", outlook->plan->end);
    if (outlook->plan->cut)
        begin("", "each is cut so that its error in time is about %.3g %s at most\n",
              problem->schedule.tolerance, hs_problem_difference_unit(problem));
}

static void print_steps(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_plan *plan = outlook->plan;
    if (problem->raw)
        begin("stability", "one sweep multiplies no mode by more than %.9g\n", plan->amplification);
    else
        begin("stability", "longest stable step %.9g s, with these boundaries\n", plan->limit);
    if (plan->steady_method)
        return;
    if (plan->method->step_rule != HS_STEP_STABLE || hs_plan_jumps(plan))
        begin("method", "%s\n", plan->method->name);
    if (plan->intervals > 0) {
        begin("steps", "%" PRId64 " x %" PRId64 " of %.9g s", plan->intervals,
              plan->interval_sweeps, plan->interval_step);
        const int64_t rest = plan->sweeps - plan->intervals * plan->interval_sweeps;
        if (rest > 0)
            printf(", then %" PRId64 " of %.9g s", rest, plan->tail_step);
    } else
        begin("steps", "%" PRId64 " of %.9g s", plan->sweeps, plan->tail_step);
    if (!problem->raw)
        printf(" (%.4g of the limit)", hs_plan_step(plan) / plan->limit);
    printf("\n");
    if (plan->method->sweeps && !plan->cut)
        print_stages(outlook);
    else if (hs_method_counts_sweeps(plan->method))
        begin("sweeps", "%s%" PRId64 ", to t = %.9g s\n",
              problem->schedule.steady ? "at most " : "", plan->sweeps, plan->end);
    else
        print_solved(outlook);
}

/* Wall time of `sweeps` and of the reductions between them [s]; NaN if not measured. */
static double seconds_of(const struct outlook *outlook, double sweeps)
{
    const double stretch = (double)hs_plan_stretch(outlook->plan, outlook->problem);
    return sweeps *
           (outlook->rate.seconds_per_sweep + outlook->rate.seconds_per_reduction / stretch);
}

/* Whether a steady state requires the heat of source and walls to balance, which is not checked. */
static bool needs_balance(const struct hs_steady_outlook *steady)
{
    return !isnan(steady->sweeps) && steady->slowest.free_mean;
}

static void print_steady_sweeps(const struct outlook *outlook)
{
    const struct hs_steady_outlook *steady = &outlook->steady;
    const struct hs_plan *plan = outlook->plan;
    if (steady->time_dependent || isnan(steady->sweeps)) {
        begin("steady", "not known when: %s\n",
              steady->time_dependent ? "the walls or the source change with time"
              : outlook->problem->body && isnan(steady->slowest.decay)
                  ? "the slowest mode of so large a body is not looked for"
              : isnan(steady->slowest.decay)
                  ? "this stencil has no slowest wave"
                  : "nothing was found that makes the field change, at up to 4 million nodes");
        return;
    }
    const double seconds = seconds_of(outlook, steady->sweeps);
    begin("steady", "after about %.0f %ss, t = %.3g s", steady->sweeps, hs_plan_step_name(plan),
          steady->sweeps * hs_plan_step(plan));
    if (isfinite(seconds))
        printf(", in about %s", duration(seconds).text);
    if (steady->sweeps > (double)plan->sweeps)
        printf(": NOT within these %" PRId64, plan->sweeps);
    printf("\n");
    if (needs_balance(steady))
        begin("", "provided that source and walls balance: no wall holds the mean temperature\n");
}

/* The tolerance that leaves 1 K; 1 if a step removes more of the distance than it leaves. */
static double tolerance_for_one(double decay)
{
    return decay < 0.5 ? decay / (1.0 - decay) : 1.0;
}

static void print_steady(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_steady_outlook *steady = &outlook->steady;
    const char *unit = hs_problem_difference_unit(problem);
    const double tolerance = problem->schedule.steady_tolerance;
    if (!problem->schedule.steady)
        return;
    if (outlook->plan->steady_method) {
        begin("steady", "by %s, until the rates of change are %.3g of the initial field's\n",
              outlook->plan->steady_method->name, tolerance);
        return;
    }
    print_steady_sweeps(outlook);
    if (isnan(steady->slowest.decay)) {
        begin("", "how far from the steady state the tolerance ends is not known\n");
        return;
    }
    begin("",
          "at the tolerance of %.3g %s a %s the field is still about %.2g %s from the steady "
          "state; for 1 %s give %.2g\n",
          tolerance, unit, hs_plan_step_name(outlook->plan), steady->distance, unit, unit,
          tolerance_for_one(steady->slowest.decay));
    if (!(tolerance >= 2.0 * steady->rounding))
        begin("", "%s cannot resolve changes below %.2g %s at these temperatures\n",
              hs_precision_name(problem->precision), 2.0 * steady->rounding, unit);
}

static void print_output(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const int64_t snapshots = hs_plan_snapshots(outlook->plan);
    const bool searches = problem->schedule.steady && !outlook->plan->steady_method;
    begin("output", "%s%" PRId64 " snapshot%s, %s %s, in ", searches ? "at most " : "", snapshots,
          snapshots == 1 ? "" : "s",
          searches || problem->output.compression > 0 ? "at most" : "about",
          bytes(outlook->output).text);
    hs_text_put(stdout, problem->output.file, "");
    if (isfinite(outlook->free_bytes))
        printf(", where %s are free", bytes(outlook->free_bytes).text);
    printf("\n");
}

static void print_time(const struct outlook *outlook)
{
    const struct hs_plan *plan = outlook->plan;
    if (hs_plan_jumps(plan) && plan->sweeps > 0)
        begin("time", "not measured: %s takes one jump from each output to the next\n",
              plan->method->name);
    else if (plan->method->implicit && plan->sweeps > 0)
        begin("time", "not measured: how many iterations a step takes is seen when it is made\n");
    else if (plan->cut && plan->sweeps > 0)
        begin("time",
              "not measured: how many steps the tolerance asks for is seen when they are made\n");
    else if (plan->sweeps > 0) {
        begin("time", "%s %s of sweeps, at %.3g points/s",
              outlook->problem->schedule.steady ? "at most" : "about",
              duration(outlook->seconds).text, outlook->updates);
        if (outlook->reducing > 0.01 * outlook->seconds)
            printf(", and %s spent checking the field", duration(outlook->reducing).text);
        printf(", measured on this grid\n");
    } else
        begin("time", "no sweeps\n");
}

static void print_doubt(void *self, const char *text)
{
    (void)self;
    print_label("warning");
    hs_text_put(stdout, text, "");
    putchar('\n');
}

static void print_text(const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_plan *plan = outlook->plan;
    print_label("config");
    const bool fits = hs_size_estimate_check(problem, plan, HS_SIZE_ESTIMATE_ANEW, NULL) == HS_OK;
    hs_text_put(stdout, problem->config_path, "");
    printf(": %s%s", fits ? "OK" : "too large for the disk",
           problem->title && problem->title[0] ? ": " : "");
    hs_text_put(stdout, problem->title ? problem->title : "", "");
    printf("\n");
    print_grid(problem);
    if (problem->body)
        print_body(problem);
    else
        print_stencil(problem);
    print_source(outlook);
    print_fluxes(outlook);
    print_probes(problem);
    begin("kernel", "%s (%s%s) on %s\n", plan->kernel->name, plan->backend->name,
          plan->choice == HS_CHOICE_TUNED ? ", tuned" : "", outlook->rate.device);
    if (hs_trial_due(hs_kernels, problem, plan, 0))
        begin("", "by a heuristic; a run first times it against the others for about 0.3 s\n");
    begin("memory", "%s%s\n", bytes(outlook->memory).text,
          outlook->ranks[0] ? " for each rank" : "");
    if (outlook->ranks[0])
        begin("ranks", "%s\n", outlook->ranks);
    print_steps(outlook);
    print_output(outlook);
    print_time(outlook);
    print_steady(outlook);
    if (outlook->refused.text)
        begin("refused", "%s", outlook->refused.text);
    if (plan->note[0])
        begin("note", "%s\n", plan->note);
    hs_doubts_say(&outlook->doubts, print_doubt, NULL);
}

/* ---- for programs -------------------------------------------------------------------------- */

/* The spacing of a stretched axis is null. */
static void json_cells(struct hs_json *json, const struct hs_problem *problem)
{
    double spacing[HS_AXES], smallest[HS_AXES], largest[HS_AXES];
    const int dims = problem->grid.dims;
    for (int axis = 0; axis < dims; axis++) {
        double cells[2];
        hs_grid_cells(&problem->grid, axis, problem->face[2 * axis].wrap, cells);
        smallest[axis] = cells[0];
        largest[axis] = cells[1];
        spacing[axis] = cells[0] < cells[1] ? NAN : cells[0];
    }
    hs_json_numbers(json, "spacing", spacing, dims);
    hs_json_numbers(json, "smallest_cell", smallest, dims);
    hs_json_numbers(json, "largest_cell", largest, dims);
}

static void json_probes(struct hs_json *json, const struct hs_problem *problem)
{
    hs_json_open_array(json, "probes");
    for (int n = 0; n < problem->probe_count; n++) {
        const struct hs_probe *probe = &problem->probes[n];
        double node_at[HS_AXES];
        find_probe(&problem->grid, probe, node_at);
        hs_json_open(json, NULL);
        hs_json_text(json, "name", probe->name);
        hs_json_numbers(json, "at", probe->at, problem->grid.dims);
        hs_json_numbers(json, "node_at", node_at, problem->grid.dims);
        hs_json_close(json);
    }
    hs_json_close(json);
}

static void json_steps(struct hs_json *json, const struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_plan *plan = outlook->plan;
    hs_json_text(json, "method", plan->method->name);
    hs_json_number(json, "stability_limit", plan->limit);
    hs_json_number(json, "amplification", plan->amplification);
    hs_json_number(json, "step", hs_plan_step(plan));
    const double tolerance = problem->schedule.tolerance;
    hs_json_number(json, "time_tolerance", tolerance > 0.0 ? tolerance : NAN);
    hs_json_integer(json, "intervals", plan->intervals);
    hs_json_integer(json, "sweeps_per_interval", plan->interval_sweeps);
    hs_json_integer(json, "sweeps_after_intervals",
                    plan->sweeps - plan->intervals * plan->interval_sweeps);
    hs_json_number(json, "step_after_intervals", plan->tail_step);
    hs_json_integer(json, "sweeps", plan->sweeps);
    hs_json_integer(json, "sweeps_per_step", hs_plan_stages(plan, problem, hs_plan_step(plan)));
    hs_json_integer(json, "sweeps_at_once", hs_plan_sweeps_at_once(plan, problem));
    hs_json_number(json, "sweeps_in_all", plan->cut ? NAN : outlook->sweeps);
    hs_json_flag(json, "steady", problem->schedule.steady);
    hs_json_number(json, "end", plan->end);
}

static void json_steady(struct hs_json *json, const struct outlook *outlook)
{
    const struct hs_schedule *schedule = &outlook->problem->schedule;
    const struct hs_steady_outlook *steady = &outlook->steady;
    const bool sought = schedule->steady && !outlook->plan->steady_method;
    hs_json_text(json, "steady_method", hs_plan_steady_name(outlook->plan, outlook->problem));
    hs_json_number(json, "steady_tolerance", schedule->steady ? schedule->steady_tolerance : NAN);
    hs_json_number(json, "steady_sweeps", sought ? steady->sweeps : NAN);
    hs_json_flag(json, "steady_if_balanced", sought && needs_balance(steady));
    hs_json_number(json, "steady_seconds", sought ? seconds_of(outlook, steady->sweeps) : NAN);
    hs_json_number(json, "steady_decay", sought ? steady->slowest.decay : NAN);
    hs_json_number(json, "steady_distance", sought ? steady->distance : NAN);
    hs_json_number(json, "steady_distance_most", sought ? steady->most : NAN);
}

static void print_json(struct outlook *outlook)
{
    const struct hs_problem *problem = outlook->problem;
    const struct hs_plan *plan = outlook->plan;
    const int dims = problem->grid.dims;
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "config", problem->config_path);
    hs_json_text(&json, "title", problem->title);
    hs_json_integers(&json, "points", problem->grid.points, dims);
    hs_json_integer(&json, "nodes", hs_grid_count(&problem->grid));
    hs_json_numbers(&json, "lower", problem->grid.lower, dims);
    json_cells(&json, problem);
    hs_json_text(&json, "precision", hs_precision_name(problem->precision));
    hs_json_integer(&json, "radius", problem->radius);
    hs_faces_json(&json, problem);
    if (problem->body || problem->plain)
        hs_body_json(&json, problem);
    hs_json_number(&json, "source_power", outlook->source.power);
    json_fluxes(&json, outlook);
    json_probes(&json, problem);
    hs_json_text(&json, "kernel", plan->kernel->name);
    hs_json_text(&json, "kernel_choice", hs_choice_name(plan->choice));
    hs_json_flag(&json, "kernel_trial", hs_trial_due(hs_kernels, problem, plan, 0));
    hs_json_text(&json, "backend", plan->backend->name);
    hs_json_text(&json, "device", outlook->rate.device);
    hs_json_number(&json, "memory_bytes", round(outlook->memory));
    hs_json_text(&json, "ranks", outlook->ranks[0] ? outlook->ranks : NULL);
    json_steps(&json, outlook);
    json_steady(&json, outlook);
    hs_json_text(&json, "output", problem->output.file);
    hs_json_integer(&json, "snapshots", hs_plan_snapshots(plan));
    hs_json_number(&json, "output_bytes", round(outlook->output));
    hs_json_number(&json, "output_free_bytes", outlook->free_bytes);
    hs_json_text(&json, "refused",
                 outlook->refused.text ? hs_error_reason(&outlook->refused) : NULL);
    hs_json_number(&json, "points_per_second", outlook->updates);
    hs_json_number(&json, "seconds", outlook->seconds);
    hs_json_number(&json, "reduction_seconds", outlook->reducing);
    hs_json_text(&json, "note", plan->note);
    hs_report_json_warnings(&json, &outlook->doubts);
    hs_json_close(&json);
}

/* -------------------------------------------------------------------------------------------- */

/* Existing files are no error here: they may be gone when the run begins, or it may get
 * --overwrite. A config that contradicts itself is an error. */
static enum hs_status check_claim(struct outlook *outlook, struct hs_error *err)
{
    enum hs_status st = hs_claim_check(outlook->problem, false, &outlook->refused);
    if (!st)
        st = hs_disk_check(outlook->problem->output.file, &outlook->refused);
    if (!st || st == HS_IO)
        return HS_OK;
    return hs_error_add(err, st, "%s", outlook->refused.text);
}

static enum hs_status show(const struct hs_case_request *request, struct outlook *outlook,
                           struct hs_error *err)
{
    HS_TRY(look_ahead(outlook, err));
    hs_doubts_find(outlook->problem, outlook->plan, &outlook->doubts);
    if (request->json)
        print_json(outlook);
    else if (!request->quiet)
        print_text(outlook);
    return hs_size_estimate_check(outlook->problem, outlook->plan, HS_SIZE_ESTIMATE_ANEW, err);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct hs_case_request request = {.together = true};
    const struct hs_argument table[] = {HS_CASE_ARGUMENTS(&request), HS_CASE_OUTPUT(&request)};
    struct hs_problem problem;
    struct hs_plan plan = {0};
    struct outlook outlook = {.problem = &problem, .plan = &plan, .source = {.power = NAN}};
    hs_problem_init(&problem);
    request.doubts = &outlook.doubts;

    enum hs_status st = hs_arguments_read(argc, argv, table, sizeof table / sizeof *table, err);
    if (!st)
        st = hs_case_read(&request, &problem, err);
    if (!st)
        st = check_claim(&outlook, err);
    if (!st && hs_ranks_is_first())
        st = hs_tune_file_plan(&problem, &plan, err);
    if (hs_ranks_enter(&st, &problem, hs_plan_method(&plan), &plan.backend, err) && !st)
        st = show(&request, &outlook, err);
    free(outlook.flux);
    hs_error_release(&outlook.refused);
    hs_error_release(&outlook.doubts);
    hs_problem_release(&problem);
    hs_argument_list_release(&request.set);
    return st;
}

const struct hs_command hs_command_check = {
    .name = "check",
    .usage = "heatsolve check CONFIG [--set KEY=VALUE]... [--output FILE] [--quiet] [--json]",
    .summary = "show what a run would do: grid, memory, stability limit, steps, output, time",
    .help =
        "  CONFIG           the case\n"
        "  --set KEY=VALUE  overrides a key of the config; may be repeated\n"
        "  --output FILE    as if output.file were that\n"
        "  --quiet          prints errors only; see the exit status\n"
        "  --json           one JSON object\n"
        "\n"
        "Reads and checks the config as a run would, refuses what a run would refuse before its\n"
        "first step, finds the stability limit of its stencil and boundaries and the steps that\n"
        "hit every output, and prints memory, sweeps, bytes of output and the free space. The\n"
        "time covers the sweeps and, where a history makes it long, checking the field; it is\n"
        "measured for up to 0.1 s with the chosen kernel on this grid, on a field of ones, and\n"
        "does not include writing the file.\n"
        "The power of sources is what the nodes get at t = 0, that of fluxes what leaves through\n"
        "each wall or patch that is given one.\n"
        "With steady it prints after how many sweeps the slowest mode will have died out, and\n"
        "how far from the steady state the field still is at the tolerance.\n"
        "\n"
        "Likely mistakes, such as a specific heat in kJ, degrees Celsius beside kelvin, lengths\n"
        "in mm or a pulse that no step sees, are warnings, which do not change the exit status.\n"
        "\n"
        "Writes no file. \"refused\" names an existing file that a run would not replace, or a\n"
        "folder that it could not write to.\n"
        "exit status: 0 OK, 2 bad config, 3 a file cannot be read or the disk is too full for\n"
        "the output, 4 device or memory.\n",
    .run = run,
    .ranks = true,
};
