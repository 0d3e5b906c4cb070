/* heatsolve run: config -> problem -> plan -> sweeps -> observers -> file and report. */
#include "commands/command.h"
#include "core/text.h"
#include "engine/case.h"
#include "engine/doubts/doubts.h"
#include "engine/loop.h"
#include "engine/ranks/ranks.h"
#include "engine/signals.h"
#include "output/checkpoint.h"
#include "output/claim.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/size_estimate.h"
#include "output/snapshots.h"
#include "output/steady_text.h"
#include "output/tune_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct hs_case_request of;
    bool resume, retune, overwrite;
    struct hs_error doubts; /* as messages */
};

/* The state of a run. */
struct job {
    struct hs_problem problem;
    struct hs_plan plan;
    struct hs_loop_start start;
    struct hs_resume resume;
    struct hs_stored *resumed; /* the field that start.field points to */
    struct hs_snapshots *snapshots;
    struct hs_observer *checkpoint, *progress;
    struct hs_loop_result result;
    struct hs_report report;
};

static enum hs_status read_request(int argc, char **argv, struct request *request,
                                   struct hs_error *err)
{
    const struct hs_argument table[] = {
        HS_CASE_ARGUMENTS(&request->of),
        {"--resume", HS_ARGUMENT_FLAG, &request->resume, NULL},
        {"--overwrite", HS_ARGUMENT_FLAG, &request->overwrite, NULL},
        {"--retune", HS_ARGUMENT_FLAG, &request->retune, NULL},
        HS_CASE_OUTPUT(&request->of),
    };
    const enum hs_status st =
        hs_arguments_read(argc, argv, table, sizeof table / sizeof *table, err);
    if (!st && request->resume && request->overwrite)
        return hs_error_add(err, HS_BAD_INPUT,
                            "run: --resume goes on with the file that --overwrite replaces; give "
                            "one of them");
    return st;
}

/* With --retune, ignores any tuning result: the new one will replace it. */
static enum hs_status make_plan(const struct request *request, struct job *job,
                                struct hs_error *err)
{
    const struct hs_problem *problem = &job->problem;
    if (!request->retune)
        return hs_tune_file_plan(problem, &job->plan, err);
    const enum hs_status st = hs_plan_make(problem, &job->plan, err);
    if (st || job->plan.choice != HS_CHOICE_NAMED)
        return st;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: solver.kernel = \"%s\": --retune has nothing to choose from; make it "
                        "\"auto\", or leave --retune out",
                        hs_problem_place(problem, HS_PLACE_KERNEL), problem->solver.kernel);
}

/* With --resume, starts from the newest checkpoint or snapshot; else from sweep 0. */
static enum hs_status find_start(const struct request *request, struct job *job,
                                 struct hs_error *err)
{
    if (!request->resume)
        return HS_OK;
    const enum hs_status st =
        hs_resume_read(&job->problem, &job->plan, &job->resume, &job->resumed, err);
    job->start.sweep = job->resume.sweep;
    job->start.field = job->resumed;
    job->start.ended = &job->resume.ended;
    return st;
}

static void print_doubt(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "heatsolve: warning: %s\n", text);
}

static void warn_of_damage(const struct job *job)
{
    const struct hs_resume *resume = &job->resume;
    if (resume->damaged == 0)
        return;
    fprintf(stderr, "heatsolve: warning: ");
    hs_text_put(stderr, job->problem.output.file, "");
    if (resume->damaged > 1)
        fprintf(stderr, ": its last %lld snapshots are damaged", (long long)resume->damaged);
    else
        fprintf(stderr, ": its last snapshot is damaged");
    fprintf(stderr, "; this run goes on from the one at %s %lld, and computes the rest again\n",
            hs_plan_step_name(&job->plan), (long long)resume->sweep);
}

static void warn(struct request *request, const struct job *job)
{
    if (request->of.quiet && !request->of.json)
        return;
    hs_doubts_find(&job->problem, &job->plan, &request->doubts);
    if (request->of.quiet)
        return;
    hs_doubts_say(&request->doubts, print_doubt, NULL);
    warn_of_damage(job);
}

static void warn_of_result(struct request *request, const struct job *job)
{
    struct hs_error found = {0};
    hs_doubts_of_result(&job->problem, &job->plan, &job->result, &found);
    if (!request->of.quiet)
        hs_doubts_say(&found, print_doubt, NULL);
    hs_error_join(&request->doubts, &found);
    hs_error_release(&found);
}

static enum hs_status open_observers(const struct request *request, struct job *job,
                                     struct hs_error *err)
{
    const char *kind = getenv("TERM");
    const bool terminal = isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
    HS_TRY(hs_snapshots_create(&job->problem, &job->plan, request->resume ? &job->resume : NULL,
                               &job->snapshots, err));
    HS_TRY(hs_claim_check_twin(&job->problem, err));
    job->checkpoint = hs_checkpoint_create(&job->problem, job->snapshots, request->resume);
    if (!request->of.quiet)
        job->progress = hs_progress_create(stderr, terminal, &job->problem, &job->plan);
    return HS_OK;
}

static enum hs_status sweep(const struct request *request, struct job *job, struct hs_error *err)
{
    struct hs_observer *observers[] = {hs_snapshots_observer(job->snapshots), job->checkpoint,
                                       job->progress};
    const enum hs_status st =
        hs_loop_run(&job->problem, &job->plan, &job->start, observers, job->progress ? 3 : 2,
                    &hs_signals_stop, &job->result, err);
    if (st == HS_INTERRUPTED && job->result.phase == HS_PHASE_START)
        hs_error_add(err, st,
                     "interrupted by %s while %s solved for the steady state; nothing was written, "
                     "and %s stays as it was; the same command begins anew",
                     hs_signals_name(hs_signals_stop), job->plan.steady_method->name,
                     job->problem.output.file);
    else if (st == HS_INTERRUPTED)
        hs_error_add(err, st,
                     "interrupted at %s %lld, t = %.9g s, by %s; the state is saved beside %s; "
                     "the same command with --resume%s continues from there",
                     hs_plan_step_name(&job->plan), (long long)job->result.sweeps, job->result.time,
                     hs_signals_name(hs_signals_stop), job->problem.output.file,
                     request->overwrite ? " instead of --overwrite" : "");
    return st;
}

static enum hs_status not_steady(const struct job *job, struct hs_error *err)
{
    const struct hs_problem *problem = &job->problem;
    const struct hs_loop_result *result = &job->result;
    const struct hs_steady *steady = &result->steady;
    if (steady->trend == HS_STEADY_SOLVED)
        return hs_error_add(err, HS_FAILED_CHECK,
                            "%s: steady.tolerance = %g: %s left rates of change of %.3g of the "
                            "initial field's; give a larger tolerance%s",
                            problem->config_path, steady->tolerance, job->plan.steady_method->name,
                            steady->solution.residual,
                            problem->precision == HS_FLOAT ? ", or precision = \"double\"" : "");
    const char *name = hs_plan_step_name(&job->plan);
    char change[80] = "", distance[HS_STEADY_TEXT], remedy[HS_STEADY_TEXT];
    if (!isnan(steady->change)) /* NaN if no sweep was left to make */
        snprintf(change, sizeof change, "the largest change of the last %s is %g %s; ", name,
                 steady->change, hs_problem_difference_unit(problem));
    hs_steady_say_distance(steady, problem, distance, sizeof distance);
    hs_steady_say_remedy(steady, problem, &job->plan, result->sweeps, remedy, sizeof remedy);
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: steady.tolerance = %g: not reached after %lld %ss, t = %.9g s: "
                        "%s%s; %s",
                        problem->config_path, steady->tolerance, (long long)result->sweeps, name,
                        result->time, change, distance, remedy);
}

/* Checks a finished run's result against the config's tolerances. */
static enum hs_status judge(struct job *job, struct hs_error *err)
{
    enum hs_status st = HS_OK;
    if (job->problem.schedule.steady && !job->result.steady.reached)
        st = not_steady(job, err);
    const enum hs_status error =
        hs_outcome_check_error(&job->problem, job->report.end.error.max, err);
    return st ? st : error;
}

static void report(const struct request *request, struct job *job, enum hs_status status,
                   const struct hs_error *err)
{
    const enum hs_phase phase = job->result.phase;
    if (phase == HS_PHASE_START || phase == HS_PHASE_RUNNING) { /* failed: the error says it all */
        if (request->of.json && status)
            hs_report_json_failure(status, err);
        return;
    }
    job->report.problem = &job->problem;
    job->report.plan = &job->plan;
    job->report.result = &job->result;
    job->report.status = status;
    job->report.err = err;
    job->report.doubts = &request->doubts;
    if (request->of.json)
        hs_report_json(&job->report);
    else if (!request->of.quiet)
        hs_report_text(&job->report);
}

static void close_observers(struct job *job)
{
    if (job->progress)
        job->progress->destroy(job->progress->self);
    if (job->checkpoint)
        job->checkpoint->destroy(job->checkpoint->self);
    if (job->snapshots)
        job->report.end = hs_snapshots_end(job->snapshots);
    hs_snapshots_destroy(job->snapshots);
}

static void release(struct request *request, struct job *job)
{
    hs_stored_destroy(job->resumed);
    free(job->report.end.row);
    hs_balance_destroy(job->report.end.balance);
    hs_problem_release(&job->problem);
    hs_argument_list_release(&request->of.set);
    hs_error_release(&request->doubts);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct request request = {.of = {.together = true}};
    struct job job = {.report.end.error = {NAN, NAN}};
    hs_problem_init(&job.problem);
    request.of.doubts = &request.doubts;
    hs_signals_watch();

    enum hs_status st = read_request(argc, argv, &request, err);
    if (!st)
        st = hs_case_read(&request.of, &job.problem, err);
    job.problem.output.overwrite = job.problem.output.overwrite || request.overwrite;
    if (!st && hs_ranks_is_first())
        st = make_plan(&request, &job, err);
    if (!hs_ranks_enter(&st, &job.problem, hs_plan_method(&job.plan), &job.plan.backend, err)) {
        release(&request, &job);
        return st;
    }
    if (!st)
        st = hs_claim_check(&job.problem, request.resume, err);
    if (!st)
        st = find_start(&request, &job, err);
    if (!st)
        st = hs_size_estimate_check(&job.problem, &job.plan,
                                    request.resume ? job.start.sweep : HS_SIZE_ESTIMATE_ANEW, err);
    if (!st && request.retune)
        st = hs_tune_file_retune(&job.problem, &job.plan, err);
    if (!st && !request.retune)
        hs_tune_file_try(&job.problem, &job.plan, job.start.sweep);
    if (!st)
        st = open_observers(&request, &job, err);
    if (!st)
        warn(&request, &job);
    if (!st)
        st = sweep(&request, &job, err);
    close_observers(&job);
    if (!st)
        warn_of_result(&request, &job);
    if (!st)
        st = judge(&job, err);
    report(&request, &job, st, err);
    release(&request, &job);
    return st;
}

const struct hs_command hs_command_run = {
    .name = "run",
    .usage = "heatsolve run CONFIG [--set KEY=VALUE]... [--output FILE] "
             "[--resume | --overwrite] [--retune] [--quiet] [--json]",
    .summary = "run a config: temperatures into an HDF5 file, a summary on the screen",
    .help =
        "  CONFIG           the case; heatsolve init prints one to start from\n"
        "  --set KEY=VALUE  overrides a key of the config (time.end=1.0,\n"
        "                   grid.points=[65,65,65]); may be repeated;\n"
        "                   heatsolve options lists the keys\n"
        "  --output FILE    writes there instead of output.file\n"
        "  --resume         continues from the newest checkpoint beside the output, or from the\n"
        "                   output's last snapshot; a later end extends a finished run\n"
        "  --overwrite      starts over and replaces an earlier run's file, which is refused\n"
        "                   otherwise; as output.overwrite = true in the config. Files that\n"
        "                   heatsolve did not write are never replaced\n"
        "  --retune         times the kernels first, as tune --retune does, and takes the\n"
        "                   fastest; solver.kernel must be \"auto\"\n"
        "  --quiet          no progress, no summary and no warnings\n"
        "  --json           the summary as one JSON object on standard output, also with its\n"
        "                   warnings; where an error ends the run, its message, status and exit\n"
        "                   code\n"
        "\n"
        "Interrupted (Ctrl-C, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU), it saves its state and exits\n"
        "with 130; --resume continues from there, bit for bit. While it solves for a steady state\n"
        "it ends likewise, and writes nothing. A second Ctrl-C or SIGTERM ends it at once. SIGHUP\n"
        "is ignored under nohup. A closed pipe or terminal does not stop it.\n"
        "\n"
        "exit status:\n"
        "  0    done; all checks that the config asks for passed\n"
        "  1    the answer failed its check: above exact.max_error, diverged or a step not\n"
        "       solved (earlier snapshots are kept), or steady.tolerance not reached in time.end,\n"
        "       time.sweeps or, where neither is given, 100000000 sweeps\n"
        "  2    bad command line or config; nothing was written\n"
        "  3    reading or writing failed, what was written stays readable; or the disk is too\n"
        "       full for the output, or a file would be replaced that must not be, and nothing\n"
        "       was written\n"
        "  4    device or memory\n"
        "  130  interrupted, state saved\n",
    .run = run,
    .ranks = true,
};
