/* heatsolve verify: checks the chosen kernel against the reference, and the convergence order. */
#include "engine/verify.h"
#include "commands/command.h"
#include "core/memory.h"
#include "engine/case.h"
#include "engine/outcome.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "output/json.h"
#include "output/tune_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum point updates on the finest grid: some seconds. */
static const double refinement_updates = 1e9;

struct request {
    struct hs_case_request of;
    int64_t sweeps; /* 0: as many as fit in some seconds */
    int64_t power;  /* likewise, for the comparison with the exact power */
    const char *kernel;
    bool every; /* --kernel all */
};

struct findings {
    const struct hs_problem *problem;
    struct hs_plan plan;
    struct hs_reference reference;
    struct hs_comparison comparison;
    struct hs_power power;
    const char *key, *method;  /* the config's, which is not tested; NULL: sweeps */
    const char *no_refinement; /* why there is none; NULL if there is one */
    struct hs_refinement refinement;
    bool refined;  /* the config's own grid is one of the refinement's */
    bool measured; /* its error is known: */
    struct hs_exact_error error;
};

static enum hs_status read_request(int argc, char **argv, struct request *request,
                                   struct hs_error *err)
{
    const struct hs_argument table[] = {
        HS_CASE_ARGUMENTS(&request->of),
        {"--sweeps", HS_ARGUMENT_COUNT, &request->sweeps, "N"},
        {"--power", HS_ARGUMENT_COUNT, &request->power, "N"},
        {"--kernel", HS_ARGUMENT_STRING, &request->kernel, "NAME"},
    };
    return hs_arguments_read(argc, argv, table, sizeof table / sizeof *table, err);
}

/* Also sets the findings' method if that is not sweeps. */
static enum hs_status read_problem(const struct request *request, struct hs_problem *problem,
                                   struct findings *findings, struct hs_error *err)
{
    const enum hs_status st = hs_case_read(&request->of, problem, err);
    const char *const steady = problem->schedule.steady_method;
    const struct hs_method *named = hs_method_named(steady ? steady : problem->schedule.method);
    if (named && named != hs_methods[0]) {
        findings->key = steady ? "steady.method" : "time.method";
        findings->method = named->name;
    }
    hs_case_by_sweeps(problem);
    if (st || !request->kernel)
        return st;
    free(problem->solver.kernel);
    problem->solver.kernel = hs_copy(request->every ? "auto" : request->kernel);
    free(problem->place[HS_PLACE_KERNEL]);
    problem->place[HS_PLACE_KERNEL] = NULL;
    return HS_OK;
}

static enum hs_status compare(struct findings *findings, struct hs_error *err)
{
    return hs_verify_compare(findings->problem, &findings->plan, &findings->reference,
                             &findings->comparison, err);
}

/* The error on the config's own grid, if a run takes no more than a second or two. */
static enum hs_status find_error(struct findings *findings, struct hs_error *err)
{
    const struct hs_problem *problem = findings->problem;
    const struct hs_plan *plan = &findings->plan;
    for (int g = 0; g < HS_REFINEMENT_GRIDS && !findings->no_refinement; g++) {
        const struct hs_refined *grid = &findings->refinement.grid[g];
        if (memcmp(grid->points, problem->grid.points, sizeof grid->points) != 0)
            continue;
        findings->error = grid->error;
        findings->refined = findings->measured = true;
    }
    if (findings->refined || !problem->exact.present ||
        hs_plan_expected(plan, problem, 0) > (double)hs_verify_sweeps(problem, plan, true))
        return HS_OK;
    findings->measured = true;
    return hs_verify_error(problem, plan, &findings->error, err);
}

static enum hs_status find_out(const struct request *request, struct findings *findings,
                               struct hs_error *err)
{
    const struct hs_problem *problem = findings->problem;
    const struct hs_plan *plan = &findings->plan;
    static const char alone[] = "that is for one rank";
    const bool several = hs_ranks_count() > 1;
    HS_TRY(compare(findings, err));
    if (several)
        snprintf(findings->power.lacking, sizeof findings->power.lacking, "%s", alone);
    else
        HS_TRY(hs_verify_power(problem, plan,
                               request->power > 0 ? request->power
                                                  : hs_verify_sweeps(problem, plan, true),
                               &findings->power, err));
    findings->no_refinement = several ? alone : hs_verify_no_refinement(problem);
    if (!findings->no_refinement)
        HS_TRY(hs_verify_refine(problem, plan, refinement_updates, &findings->refinement, err));
    return several ? HS_OK : find_error(findings, err);
}

static bool within(const struct hs_comparison *comparison)
{
    return comparison->max_abs <= comparison->bound;
}

/* ---- for people ---------------------------------------------------------------------------- */

/* Holds for both sides: the sources call fma(), and compilers may neither add nor remove one. */
static const char contraction[] =
    "both use fused multiply-adds as written, one a term; contraction by the compiler is off";

static void print_bound(const struct findings *findings)
{
    const struct hs_comparison *c = &findings->comparison;
    printf("  arithmetic       %s\n", contraction);
    printf("  bound            %.3g", c->bound);
    const bool float_stencil = findings->problem->precision == HS_FLOAT && !findings->problem->body;
    if (float_stencil)
        printf(": the reference adds in double and rounds once a sweep, the kernel\n"
               "                   once a term: sweeps * (terms + 2) * 2^-24 * sum|c| * max|T|");
    else if (!c->device_functions)
        printf(": the same additions in the same order, so the same bits");
    if (c->device_functions)
        printf("%s the device's sin, exp, ... may\n"
               "                   be some ulps off: sweeps * 16 * 2^-53 * max|T|",
               float_stencil ? "; and" : ":");
    printf("\n");
}

static void print_comparison(const struct findings *findings)
{
    if (findings->method)
        printf("%s = \"%s\" is not checked: verify compares the sweeps of \"euler\"\n",
               findings->key, findings->method);
    const struct hs_comparison *c = &findings->comparison;
    const struct hs_plan *plan = &findings->plan;
    const bool itself = strcmp(plan->kernel->name, "reference") == 0;
    printf("kernel %s (%s) against reference (cpu): %" PRId64 " of %" PRId64 " sweeps, %" PRId64
           " nodes, %s%s\n",
           plan->kernel->name, plan->backend->name, c->sweeps, plan->sweeps, c->nodes,
           hs_precision_name(findings->problem->precision),
           itself ? " (the same kernel twice; choose another with --kernel)" : "");
    printf("  differing nodes  %" PRId64 "\n", c->differing);
    printf("  max |difference| %.3g\n  max relative     %.3g\n  max ULPs         %" PRIu64 "\n",
           c->max_abs, c->max_relative, c->max_ulps);
    if (c->differing > 0) {
        char node[HS_POINTS_TEXT];
        hs_points_name(findings->problem->grid.dims, c->worst, ", ", node, sizeof node);
        printf("  most ULPs at     node (%s): %.17g, reference %.17g\n", node, c->value,
               c->reference);
    }
    print_bound(findings);
    printf("  %s\n", within(c) ? "passed" : "FAILED");
}

static void print_power(const struct findings *findings)
{
    const struct hs_comparison *c = &findings->power.comparison;
    if (findings->power.lacking[0]) {
        printf("no exact power of a sweep: %s\n", findings->power.lacking);
        return;
    }
    printf("kernel %s (%s) against the exact power of a sweep, by its modes: %" PRId64 " sweeps\n"
           "  max |difference| %.3g\n  max relative     %.3g\n"
           "  bound            %.3g: sweeps * (terms + 2) * sum|c| * max|T| half epsilons\n"
           "  %s\n",
           findings->plan.kernel->name, findings->plan.backend->name, c->sweeps, c->max_abs,
           c->max_relative, c->bound, within(c) ? "passed" : "FAILED");
}

static void print_refinement(const struct findings *findings)
{
    if (findings->no_refinement) {
        printf("no grid refinement: %s\n", findings->no_refinement);
        return;
    }
    const struct hs_refinement *r = &findings->refinement;
    printf("grid refinement against the exact solution, the step the same fraction of the limit\n");
    printf("  %-16s %-10s %-10s %9s %12s %12s %13s %12s\n", "points", "spacing m", "step s",
           "sweeps", "max error", "l2 error", "order (max)", "order (l2)");
    for (int g = 0; g < HS_REFINEMENT_GRIDS; g++) {
        const struct hs_refined *grid = &r->grid[g];
        char points[HS_POINTS_TEXT];
        hs_points_name(findings->problem->grid.dims, grid->points, "x", points, sizeof points);
        printf("  %-16s %-10.4g %-10.4g %9" PRId64 " %12.4g %12.4g", points, grid->spacing,
               grid->step, grid->sweeps, grid->error.max, grid->error.l2);
        if (g > 0 && isnan(r->order_max[g - 1]))
            printf("  (no order: within the rounding error, %.2g)", grid->rounding);
        else if (g > 0)
            printf(" %13.2f %12.2f", r->order_max[g - 1], r->order_l2[g - 1]);
        printf("\n");
    }
}

/* What makes the orders say nothing of the grid: fields far from their steady state, where an error
 * is the grid's only if far less than that is left; or a solution of another case. */
static void print_meaning(const struct findings *findings)
{
    const double small = 0.1, hardly = 0.3;
    const struct hs_refinement *r = &findings->refinement;
    double most = 0.0;
    if (findings->no_refinement)
        return;
    for (int g = 0; g < HS_REFINEMENT_GRIDS; g++) {
        const struct hs_refined *grid = &r->grid[g];
        if (!(grid->distance <= small * grid->error.max) && !(grid->distance <= most))
            most = grid->distance;
    }
    char distance[80] = "an unknown distance";
    if (!isnan(most))
        snprintf(distance, sizeof distance, "up to about %.2g %s", most,
                 hs_problem_difference_unit(findings->problem));
    if (most != 0.0)
        printf("  fields are %s from the steady state, so the orders are not those of the grid;\n"
               "  give a smaller steady.tolerance, or a later end\n",
               distance);
    else if (fabs(r->order_l2[0]) < hardly && fabs(r->order_l2[1]) < hardly)
        printf("  the error does not fall: exact.expression is probably not the solution of this "
               "case\n");
}

/* Of a grid that the refinement does not have. */
static void print_error(const struct findings *findings)
{
    const struct hs_exact_error *error = &findings->error;
    if (!findings->problem->exact.present || findings->refined || hs_ranks_count() > 1)
        return;
    if (!findings->measured)
        printf("no error on this grid: that takes long; heatsolve run measures it\n");
    else
        printf(
            "max error %.4g, l2 error %.4g on this grid at the end, against the exact solution\n",
            error->max, error->l2);
}

/* ---- for programs -------------------------------------------------------------------------- */

static void json_comparison(struct hs_json *json, const char *key, const struct findings *findings)
{
    const struct hs_comparison *c = &findings->comparison;
    const int dims = findings->problem->grid.dims;
    hs_json_open(json, key);
    hs_json_text(json, "kernel", findings->plan.kernel->name);
    hs_json_text(json, "backend", findings->plan.backend->name);
    hs_json_text(json, "reference", "reference");
    hs_json_text(json, "precision", hs_precision_name(findings->problem->precision));
    hs_json_integer(json, "sweeps", c->sweeps);
    hs_json_integer(json, "sweeps_of_run", findings->plan.sweeps);
    hs_json_integer(json, "nodes", c->nodes);
    hs_json_integer(json, "differing", c->differing);
    hs_json_number(json, "max_abs", c->max_abs);
    hs_json_number(json, "max_relative", c->max_relative);
    hs_json_integer(json, "max_ulps", (int64_t)c->max_ulps);
    hs_json_integers(json, "worst_node", c->worst, dims);
    hs_json_number(json, "worst_value", c->value);
    hs_json_number(json, "worst_reference", c->reference);
    hs_json_text(json, "contraction", "off");
    hs_json_flag(json, "device_functions", c->device_functions);
    hs_json_number(json, "bound", c->bound);
    hs_json_flag(json, "passed", within(c));
    hs_json_close(json);
}

static void json_power(struct hs_json *json, const struct findings *findings)
{
    const struct hs_comparison *c = &findings->power.comparison;
    if (findings->power.lacking[0]) {
        hs_json_text(json, "power", NULL);
        hs_json_text(json, "no_power", findings->power.lacking);
        return;
    }
    hs_json_open(json, "power");
    hs_json_integer(json, "sweeps", c->sweeps);
    hs_json_number(json, "max_abs", c->max_abs);
    hs_json_number(json, "max_relative", c->max_relative);
    hs_json_number(json, "bound", c->bound);
    hs_json_flag(json, "passed", within(c));
    hs_json_close(json);
}

static void json_refinement(struct hs_json *json, const struct findings *findings)
{
    if (findings->no_refinement) {
        hs_json_text(json, "refinement", NULL);
        hs_json_text(json, "no_refinement", findings->no_refinement);
        return;
    }
    const struct hs_refinement *r = &findings->refinement;
    hs_json_open(json, "refinement");
    hs_json_open_array(json, "grids");
    for (int g = 0; g < HS_REFINEMENT_GRIDS; g++) {
        const struct hs_refined *grid = &r->grid[g];
        hs_json_open(json, NULL);
        hs_json_integers(json, "points", grid->points, findings->problem->grid.dims);
        hs_json_number(json, "spacing", grid->spacing);
        hs_json_number(json, "step", grid->step);
        hs_json_integer(json, "sweeps", grid->sweeps);
        hs_json_number(json, "time", grid->time);
        hs_json_number(json, "max_error", grid->error.max);
        hs_json_number(json, "l2_error", grid->error.l2);
        hs_json_number(json, "steady_distance", grid->distance);
        hs_json_number(json, "rounding", grid->rounding);
        hs_json_close(json);
    }
    hs_json_close(json);
    hs_json_numbers(json, "order_max", r->order_max, HS_REFINEMENT_GRIDS - 1);
    hs_json_numbers(json, "order_l2", r->order_l2, HS_REFINEMENT_GRIDS - 1);
    hs_json_close(json);
}

static void print_json(const struct findings *findings)
{
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "config", findings->problem->config_path);
    hs_json_text(&json, "method_not_looked_at", findings->method);
    json_comparison(&json, "comparison", findings);
    json_power(&json, findings);
    json_refinement(&json, findings);
    hs_json_number(&json, "max_error", findings->error.max);
    hs_json_number(&json, "l2_error", findings->error.l2);
    hs_json_close(&json);
}

/* -------------------------------------------------------------------------------------------- */

/* `what`: the kernel was compared with that. */
static enum hs_status judge(const struct findings *findings, const struct hs_comparison *c,
                            const char *what, struct hs_error *err)
{
    if (within(c))
        return HS_OK;
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: kernel %s differs from %s by up to %.3g after %" PRId64
                        " sweeps, more than the bound of %.3g",
                        findings->problem->config_path, findings->plan.kernel->name, what,
                        c->max_abs, c->sweeps, c->bound);
}

/* ---- every kernel -------------------------------------------------------------------------- */

static void print_row(const struct findings *findings)
{
    const struct hs_comparison *c = &findings->comparison;
    printf("%-20s %10" PRId64 " %13.3g %12.3g %10" PRIu64 " %10.3g  %s\n",
           findings->plan.kernel->name, c->differing, c->max_abs, c->max_relative, c->max_ulps,
           c->bound, within(c) ? "passed" : "FAILED");
}

static void print_heading(const struct findings *findings)
{
    const struct hs_plan *plan = &findings->plan;
    printf("every kernel of %s that suits the case against reference (cpu), %s: %s\n",
           plan->backend->name, hs_precision_name(findings->problem->precision), contraction);
    printf("%-20s %10s %13s %12s %10s %10s\n", "kernel", "differing", "max |differ.|",
           "max relative", "max ULPs", "bound");
    fflush(stdout); /* the reference takes some seconds */
}

/* Compares every kernel that suits the case; a failure does not stop the others. */
static enum hs_status compare_every(const struct request *request, struct findings *findings,
                                    struct hs_error *err)
{
    struct hs_json json = {.stream = stdout};
    enum hs_status first = HS_OK;
    if (request->of.json) {
        hs_json_open(&json, NULL);
        hs_json_text(&json, "config", findings->problem->config_path);
        hs_json_open_array(&json, "comparisons");
    }
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *kernel = hs_kernels[n];
        if (kernel->device != findings->plan.backend->device ||
            strcmp(kernel->name, "reference") == 0 ||
            !hs_kernel_suits(kernel, findings->problem, NULL, 0))
            continue;
        findings->plan.kernel = kernel;
        enum hs_status st = compare(findings, err);
        if (!st) {
            if (request->of.json)
                json_comparison(&json, NULL, findings);
            else if (!request->of.quiet)
                print_row(findings);
            fflush(stdout);
            st = judge(findings, &findings->comparison, "the reference", err);
        }
        first = first ? first : st;
    }
    if (request->of.json) {
        hs_json_close(&json);
        hs_json_close(&json);
    }
    return first;
}

static enum hs_status prove(const struct request *request, struct findings *findings,
                            struct hs_error *err)
{
    HS_TRY(find_out(request, findings, err));
    if (request->of.json)
        print_json(findings);
    else if (!request->of.quiet) {
        print_comparison(findings);
        print_power(findings);
        print_refinement(findings);
        print_meaning(findings);
        print_error(findings);
    }
    const enum hs_status st = judge(findings, &findings->comparison, "the reference", err);
    const enum hs_status power =
        findings->power.lacking[0]
            ? HS_OK
            : judge(findings, &findings->power.comparison, "the exact power of a sweep", err);
    const enum hs_status error =
        findings->measured ? hs_outcome_check_error(findings->problem, findings->error.max, err)
                           : HS_OK;
    return st ? st : power ? power : error;
}

static enum hs_status verify(const struct request *request, struct findings *findings,
                             struct hs_error *err)
{
    const struct hs_plan *plan = &findings->plan;
    int64_t sweeps = hs_verify_sweeps(findings->problem, plan, false);
    if (request->sweeps > 0)
        sweeps = request->sweeps < plan->sweeps ? request->sweeps : plan->sweeps;
    if (request->every && !request->of.json && !request->of.quiet)
        print_heading(findings);
    HS_TRY(hs_verify_reference(findings->problem, plan, sweeps, &findings->reference, err));
    return request->every ? compare_every(request, findings, err) : prove(request, findings, err);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct request request = {.of = {.together = true}};
    struct hs_problem problem;
    struct findings findings = {.problem = &problem, .error = {NAN, NAN}};
    hs_problem_init(&problem);

    enum hs_status st = read_request(argc, argv, &request, err);
    request.every = request.kernel && strcmp(request.kernel, "all") == 0;
    if (!st)
        st = read_problem(&request, &problem, &findings, err);
    if (!st && hs_ranks_is_first())
        st = hs_tune_file_plan(&problem, &findings.plan, err);
    if (hs_ranks_enter(&st, &problem, hs_methods[0], &findings.plan.backend, err) && !st)
        st = verify(&request, &findings, err);
    hs_verify_reference_release(&findings.reference);
    hs_problem_release(&problem);
    hs_argument_list_release(&request.of.set);
    return st;
}

const struct hs_command hs_command_verify = {
    .name = "verify",
    .usage = "heatsolve verify CONFIG [--set KEY=VALUE]... [--sweeps N] [--power N] "
             "[--kernel NAME|all] [--quiet] [--json]",
    .summary = "compare a config's kernel with the reference and, with exact, measure its order",
    .help =
        "  CONFIG           the case\n"
        "  --set KEY=VALUE  overrides a key of the config; may be repeated\n"
        "  --sweeps N       sweeps to compare; default: the run's, or as many of them as make 5e8\n"
        "                   point updates (at least 10), some seconds for the slow reference\n"
        "  --power N        sweeps to compare with the exact power of one, as many as you like;\n"
        "                   default: the run's, or as many of them as make 2e9 point updates, a\n"
        "                   second or two\n"
        "  --kernel NAME    instead of solver.kernel; heatsolve kernels lists them. all: every\n"
        "                   kernel that suits the case, one line each, without refinement\n"
        "  --quiet          prints errors only; see the exit status\n"
        "  --json           one JSON object\n"
        "\n"
        "Runs the config on its kernel and on the CPU reference and compares all nodes: largest\n"
        "difference, relative difference, ULPs, and where. In double all kernels do the same\n"
        "additions in the same order, so a single differing bit is a failure (but where a GPU\n"
        "evaluates expressions of x, y, z, some ulps are allowed). In float the reference adds\n"
        "in double, and the bound grows with the sweeps. Both sides use fused multiply-adds\n"
        "exactly as the source says (contraction by the compiler is off).\n"
        "\n"
        "Where source and walls do not change in time, the kernel's sweeps are also compared with\n"
        "the exact power of one sweep, computed by the modes of each axis: a million sweeps may\n"
        "differ by rounding, and by nothing else. It needs OpenBLAS.\n"
        "\n"
        "Where the config has an exact solution, it is solved on three grids, each of half the\n"
        "spacing of the one before, with the same fraction of the stability limit; the observed\n"
        "order is log(error ratio) / log(spacing ratio). The finest has 4 times the config's\n"
        "cells along each axis, or fewer where that takes more than 1e9 point updates. The grid\n"
        "of the config is held to exact.max_error, also where there are no other grids, unless\n"
        "its run makes more than 2e9 point updates.\n"
        "\n"
        "On several ranks (heatsolve-mpi) their sweeps are compared with the reference on one.\n"
        "\n"
        "Writes no file. exit status: 0 passed, 1 beyond the bound, 2 bad config, 3 a file cannot\n"
        "be read, 4 device or memory.\n",
    .run = run,
    .ranks = true,
};
