/* heatsolve tune: times the kernels on a case and stores which is the fastest. */
#include "engine/measure/tune.h"
#include "commands/command.h"
#include "engine/case.h"
#include "engine/make_plan.h"
#include "engine/ranks/ranks.h"
#include "output/json.h"
#include "output/tune_file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct findings {
    const struct hs_problem *problem;
    struct hs_plan plan; /* with the kernel that "auto" takes untuned */
    struct hs_tuning tuning;
    bool from_before; /* read from the file, not measured */
    char *file;       /* where the result is stored; NULL if it is not */
    char note[512];
};

static enum hs_status find_out(bool retune, struct findings *findings, struct hs_error *err)
{
    struct hs_tuning *tuning = &findings->tuning;
    struct hs_tune_case about;
    struct hs_plan tuned = findings->plan;
    enum hs_status st = hs_tune_case_of(findings->problem, &findings->plan, &about, err);
    if (!st && !retune && hs_tune_file_suits(&findings->plan))
        findings->from_before = hs_tune_file_use(&about, findings->problem, &tuned, tuning);
    if (!st && tuning->why[0])
        snprintf(findings->note, sizeof findings->note, "tried again: %s", tuning->why);
    if (!st && !findings->from_before)
        st = hs_tune_file_renew(findings->problem, &findings->plan, tuning, err);
    if (!st && tuning->why[0])
        snprintf(findings->note, sizeof findings->note, "not kept: %s", tuning->why);
    else if (!st)
        findings->file = hs_tune_file_path(&about);
    return st;
}

/* 1e9 points per second. */
static double gcells(const struct findings *findings, double seconds)
{
    const struct hs_box interior = hs_problem_interior(findings->problem);
    return 1e-9 * (double)hs_box_count(&interior) / seconds;
}

/* ---- for people ---------------------------------------------------------------------------- */

static const char *remark(const struct findings *findings, int n)
{
    const struct hs_tune_row *row = &findings->tuning.row[n];
    const bool usual = strcmp(row->kernel, findings->plan.kernel->name) == 0;
    if (n == 0)
        return usual ? "the fastest; auto takes it untuned, too" : "the fastest";
    if (usual)
        return "what auto takes untuned";
    return row->samples == 1 ? "one sample" : "";
}

static void print_row(const struct findings *findings, int n)
{
    const struct hs_tune_row *row = &findings->tuning.row[n];
    if (isnan(row->seconds)) {
        printf("%-20s could not be timed: %s\n", row->kernel, row->failure);
        return;
    }
    const double microseconds = 1e6 * row->seconds;
    const int digits = microseconds < 10.0 ? 2 : microseconds < 100.0 ? 1 : 0;
    printf("%-20s %10.*f %8.3f %8.3f %3d  %s\n", row->kernel, digits, microseconds,
           gcells(findings, row->seconds), findings->tuning.row[0].seconds / row->seconds,
           row->samples, remark(findings, n));
}

static void print_outcome(const struct findings *findings)
{
    const struct hs_problem *problem = findings->problem;
    const char *winner = findings->tuning.row[0].kernel, *named = problem->solver.kernel;
    printf("\n");
    if (named && strcmp(named, "auto") != 0)
        printf("the config's solver.kernel = \"%s\" overrides this; \"auto\" would take %s\n",
               named, winner);
    else if (findings->file)
        printf("runs of this case take %s from now on\n", winner);
    if (findings->file)
        printf("kept in %s\n", findings->file);
    if (findings->note[0])
        printf("note: %s\n", findings->note);
}

static void print_text(const struct findings *findings)
{
    const struct hs_tuning *tuning = &findings->tuning;
    printf("case     %s\ndevice   %s; driver %s\n", tuning->about.about, tuning->about.device,
           tuning->about.driver);
    if (findings->from_before)
        printf("tuned earlier, in %.2g s; --retune measures again\n\n", tuning->seconds);
    else
        printf("tuned    in %.2g s\n\n", tuning->seconds);
    printf("%-20s %10s %8s %8s %3s\n", "kernel", "us/sweep", "GCell/s", "of best", "n");
    for (int n = 0; n < tuning->count; n++)
        print_row(findings, n);
    print_outcome(findings);
}

/* ---- for programs -------------------------------------------------------------------------- */

static void json_row(struct hs_json *json, const struct findings *findings,
                     const struct hs_tune_row *row)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", row->kernel);
    hs_json_number(json, "seconds_per_sweep", row->seconds);
    hs_json_number(json, "gcells", gcells(findings, row->seconds));
    hs_json_number(json, "of_best", findings->tuning.row[0].seconds / row->seconds);
    hs_json_integer(json, "samples", row->samples);
    if (row->failure[0])
        hs_json_text(json, "failure", row->failure);
    hs_json_close(json);
}

static void print_json(const struct findings *findings)
{
    const struct hs_tuning *tuning = &findings->tuning;
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "config", findings->problem->config_path);
    hs_json_text(&json, "case", tuning->about.about);
    hs_json_text(&json, "device", tuning->about.device);
    hs_json_text(&json, "driver", tuning->about.driver);
    hs_json_text(&json, "version", tuning->about.version);
    hs_json_text(&json, "kernel", tuning->row[0].kernel);
    hs_json_text(&json, "heuristic", findings->plan.kernel->name);
    hs_json_flag(&json, "tuned_before", findings->from_before);
    hs_json_number(&json, "seconds", tuning->seconds);
    hs_json_open_array(&json, "kernels");
    for (int n = 0; n < tuning->count; n++)
        json_row(&json, findings, &tuning->row[n]);
    hs_json_close(&json);
    hs_json_text(&json, "file", findings->file);
    hs_json_text(&json, "note", findings->note);
    hs_json_close(&json);
}

/* -------------------------------------------------------------------------------------------- */

/* What one rank finds holds for one, and would be kept for all. */
static enum hs_status check_ranks(struct hs_error *err)
{
    if (hs_ranks_count() == 1)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "tune: times the kernels on one rank, and there are %d: start one; or give "
                        "run --retune, which times them on all ranks",
                        hs_ranks_count());
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct hs_case_request request = {0};
    bool retune = false;
    const struct hs_argument table[] = {HS_CASE_ARGUMENTS(&request),
                                        {"--retune", HS_ARGUMENT_FLAG, &retune, NULL}};
    struct hs_problem problem;
    static struct findings findings; /* too large for the stack */
    findings = (struct findings){.problem = &problem};
    hs_problem_init(&problem);
    signal(SIGPIPE, SIG_IGN); /* store the result even if nobody reads the table */

    enum hs_status st = hs_arguments_read(argc, argv, table, sizeof table / sizeof *table, err);
    if (!st)
        st = check_ranks(err);
    if (!st)
        st = hs_case_read(&request, &problem, err);
    struct hs_problem asked = problem; /* whatever kernel the config names */
    asked.solver.kernel = NULL;
    if (!st)
        st = hs_plan_make(&asked, &findings.plan, err);
    if (!st)
        st = find_out(retune, &findings, err);
    if (!st && request.json)
        print_json(&findings);
    else if (!st && !request.quiet)
        print_text(&findings);
    else if (!st && !findings.file)
        fprintf(stderr, "heatsolve: note: %s\n", findings.note);
    free(findings.file);
    hs_problem_release(&problem);
    hs_argument_list_release(&request.set);
    return st;
}

const struct hs_command hs_command_tune = {
    .name = "tune",
    .usage = "heatsolve tune CONFIG [--set KEY=VALUE]... [--retune] [--quiet] [--json]",
    .summary = "time the kernels on a config's case and keep the fastest for its runs",
    .help =
        "  CONFIG           the case\n"
        "  --set KEY=VALUE  overrides a key of the config; may be repeated\n"
        "  --retune         measures again, whatever was found before\n"
        "  --quiet          no table\n"
        "  --json           one JSON object\n"
        "\n"
        "Times every kernel that suits the case, on its own grid, device, walls and source:\n"
        "all of them briefly, then the best, and the one that auto would take, for longer.\n"
        "n is the number of samples behind each median. Takes seconds. A case that does not\n"
        "go sweep by sweep (by rkl2, spectral, multigrid, ...) is refused.\n"
        "\n"
        "The result is kept in $XDG_CACHE_HOME/heatsolve, or ~/.cache/heatsolve. Where\n"
        "solver.kernel is \"auto\", run, check and verify take this kernel, and say \"tuned\",\n"
        "for cases of the same dims, points, radius, precision, kinds of walls and source,\n"
        "and sweeps between stops, on the same device. After an update of the program or of\n"
        "the driver it is not used, and a note says so. All kernels compute the same bits,\n"
        "so only the time of a run depends on it.\n"
        "\n"
        "Writes nothing else. exit status: 0 done, 2 bad config, 3 a file cannot be read, 4\n"
        "device or memory.\n",
    .run = run,
};
