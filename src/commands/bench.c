/* heatsolve bench: times the kernels on one grid, after checking each against the reference. */
#include "engine/measure/bench.h"
#include "commands/command.h"
#include "core/text.h"
#include "core/version.h"
#include "engine/measure/bench_methods.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "input/options.h"
#include "input/points.h"
#include "output/bench_report.h"
#include "output/existing.h"
#include "output/pictures/canvas.h"
#include "output/pictures/roofline.h"
#include "output/tune_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    int64_t dims, radius, threads, repeats, peer_seconds;
    const char *points, *precision, *body, *kernel, *except, *backend, *peer, *roofline, *chart;
    bool json, csv, peers, methods, weak, strong; /* peers: also if only some are named */
    char command[512];
};

/* Kernels to measure, all of one backend. */
struct kernels {
    const struct hs_backend *backend;
    const struct hs_kernel *of[HS_BENCH_MOST];
    int count;
};

static enum hs_status read_arguments(int argc, char **argv, struct arguments *out,
                                     struct hs_error *err)
{
    *out = (struct arguments){.radius = 1,
                              .repeats = 15,
                              .precision = "double",
                              .kernel = "auto",
                              .except = "",
                              .backend = "auto",
                              .peer_seconds = 300};
    const struct hs_argument table[] = {
        {"--dims", HS_ARGUMENT_COUNT, &out->dims, "D"},
        {"--points", HS_ARGUMENT_STRING, &out->points, "NX,NY,NZ"},
        {"--radius", HS_ARGUMENT_COUNT, &out->radius, "R"},
        {"--precision", HS_ARGUMENT_STRING, &out->precision, "float|double"},
        {"--body", HS_ARGUMENT_STRING, &out->body, "bytes|shorts|arrays"},
        {"--kernel", HS_ARGUMENT_STRING, &out->kernel, "NAME,..."},
        {"--except", HS_ARGUMENT_STRING, &out->except, "NAME,..."},
        {"--backend", HS_ARGUMENT_STRING, &out->backend, "cpu|cuda"},
        {"--threads", HS_ARGUMENT_COUNT, &out->threads, "N"},
        {"--repeats", HS_ARGUMENT_COUNT, &out->repeats, "N"},
        {"--roofline", HS_ARGUMENT_STRING, &out->roofline, "FILE"},
        {"--methods", HS_ARGUMENT_FLAG, &out->methods, ""},
        {"--chart", HS_ARGUMENT_STRING, &out->chart, "FILE"},
        {"--weak", HS_ARGUMENT_FLAG, &out->weak, ""},
        {"--strong", HS_ARGUMENT_FLAG, &out->strong, ""},
        {"--peers", HS_ARGUMENT_FLAG, &out->peers, ""},
        {"--peer", HS_ARGUMENT_STRING, &out->peer, "NAME,..."},
        {"--peer-seconds", HS_ARGUMENT_COUNT, &out->peer_seconds, "S"},
        {"--json", HS_ARGUMENT_FLAG, &out->json, ""},
        {"--csv", HS_ARGUMENT_FLAG, &out->csv, ""},
    };
    snprintf(out->command, sizeof out->command, "heatsolve");
    for (int i = 0; i < argc; i++)
        hs_text_append(out->command, sizeof out->command, " %s", argv[i]);
    HS_TRY(hs_arguments_read(argc, argv, table, (int)(sizeof table / sizeof *table), err));
    out->peers = out->peers || out->peer;
    if (out->json && out->csv)
        return hs_error_add(err, HS_BAD_INPUT, "bench: --json or --csv, not both");
    if (out->weak && out->strong)
        return hs_error_add(err, HS_BAD_INPUT, "bench: --weak or --strong, not both");
    if ((out->weak || out->strong) && hs_ranks_count() == 1)
        return hs_error_add(
            err, HS_BAD_INPUT,
            "bench: --weak and --strong compare several ranks with one: mpirun -n 2 "
            "heatsolve-mpi bench ... (make MPI=yes builds it)");
    if ((out->weak || out->strong) && (out->peers || out->roofline))
        return hs_error_add(err, HS_BAD_INPUT,
                            "bench: --weak and --strong take no --peers and no --roofline");
    if (out->roofline)
        return hs_canvas_check_name("bench: --roofline", out->roofline, false, err);
    if (out->chart)
        return hs_canvas_check_name("bench: --chart", out->chart, false, err);
    return HS_OK;
}

/* ---- the case -------------------------------------------------------------------------------- */

/* Without --points, sizes that take a second or two. */
static enum hs_status read_points(const struct arguments *from, struct hs_bench_request *out,
                                  struct hs_error *err)
{
    static const char *const usual[HS_AXES] = {"67108864", "8192", "384"};
    const int64_t dims = from->dims > 0 && from->dims <= HS_AXES ? from->dims : HS_AXES;
    const int64_t least = 2 * out->radius + 1, most = (int64_t)1 << 40;
    HS_TRY(hs_points_read("bench", from->points ? from->points : usual[dims - 1], from->dims,
                          &out->dims, out->points, err));
    for (int axis = 0; axis < out->dims; axis++)
        if (out->points[axis] < least || out->points[axis] > most)
            return hs_error_add(err, HS_BAD_INPUT,
                                "bench: --points: %lld along an axis: radius %d needs at least "
                                "%lld, and at most %lld are allowed",
                                (long long)out->points[axis], out->radius, (long long)least,
                                (long long)most);
    return HS_OK;
}

static enum hs_status read_body(const struct arguments *from, struct hs_bench_request *out,
                                struct hs_error *err)
{
    for (int which = HS_BENCH_BYTES; from->body && which < HS_BENCH_CASES; which++)
        if (strcmp(from->body, hs_bench_case_name((enum hs_bench_case)which)) == 0)
            out->which = (enum hs_bench_case)which;
    if (from->body && out->which == HS_BENCH_STENCIL)
        return hs_error_add(err, HS_BAD_INPUT, "bench: --body %s: give bytes, shorts or arrays",
                            from->body);
    if (from->body && out->radius != 1)
        return hs_error_add(err, HS_BAD_INPUT, "bench: --body has radius 1; leave out --radius");
    return HS_OK;
}

/* Options that kernels and methods share. */
static enum hs_status read_common(const struct arguments *from, enum hs_precision *precision,
                                  struct hs_error *err)
{
    if (from->threads > 4096 || from->repeats > 1000)
        return hs_error_add(err, HS_BAD_INPUT, "bench: at most 4096 --threads and 1000 --repeats");
    for (int p = 0; p < HS_PRECISIONS; p++)
        if (strcmp(from->precision, hs_precision_name((enum hs_precision)p)) == 0) {
            *precision = (enum hs_precision)p;
            return HS_OK;
        }
    return hs_error_add(err, HS_BAD_INPUT, "bench: --precision %s: give float or double",
                        from->precision);
}

static enum hs_status make_request(const struct arguments *from, struct hs_bench_request *out,
                                   struct hs_error *err)
{
    *out = (struct hs_bench_request){
        .radius = (int)from->radius, .threads = (int)from->threads, .repeats = (int)from->repeats};
    if (from->radius > HS_MAX_RADIUS)
        return hs_error_add(err, HS_BAD_INPUT, "bench: --radius %lld: give 1, 2 or 3",
                            (long long)from->radius);
    HS_TRY(read_common(from, &out->precision, err));
    HS_TRY(read_body(from, out, err));
    return read_points(from, out, err);
}

/* ---- which kernels --------------------------------------------------------------------------- */

/* Marks the listed kernels in `named`, if each can handle the case, and finds their backend; or
 * unmarks those of the backend, whether or not they can. */
static enum hs_status mark(const char *list, bool as, struct hs_problem *problem,
                           const struct hs_backend **backend, bool named[HS_BENCH_MOST],
                           struct hs_error *err)
{
    char name[64], note[256];
    while (hs_list_next(&list, ',', name, sizeof name)) {
        const struct hs_kernel *one = NULL;
        problem->solver.kernel = name;
        HS_TRY(as ? hs_choose(problem, backend, &one, note, sizeof note, err)
                  : hs_kernel_find(name, (*backend)->device, &one, err));
        for (int n = 0; n < HS_BENCH_MOST && hs_kernels[n]; n++)
            if (hs_kernels[n] == one)
                named[n] = as;
    }
    return HS_OK;
}

/* Chooses the backend and those of its kernels that can handle the case: all, or those named. */
static enum hs_status choose(const struct arguments *from, const struct hs_bench *bench,
                             struct kernels *out, struct hs_error *err)
{
    struct hs_problem problem = bench->problem; /* a shallow copy */
    problem.solver.backend = (char *)(uintptr_t)from->backend;
    bool named[HS_BENCH_MOST] = {false};
    HS_TRY(mark(from->kernel, true, &problem, &out->backend, named, err));
    if (strcmp(from->kernel, "auto") == 0)
        for (int n = 0; n < HS_BENCH_MOST && hs_kernels[n]; n++)
            named[n] = hs_kernels[n]->device == out->backend->device &&
                       hs_kernel_suits(hs_kernels[n], &problem, NULL, 0);
    HS_TRY(mark(from->except, false, &problem, &out->backend, named, err));
    for (int n = 0; n < HS_BENCH_MOST && hs_kernels[n]; n++)
        if (named[n])
            out->of[out->count++] = hs_kernels[n];
    return out->count > 0 ? HS_OK : hs_error_add(err, HS_BAD_INPUT, "bench: no kernel is left");
}

/* What "auto" would take for the case: the tuned kernel if there is one, else the heuristic's. */
static enum hs_status find_auto(const struct arguments *from, const struct hs_bench *bench,
                                const struct hs_backend *backend, struct hs_plan *out,
                                struct hs_error *err)
{
    char name[32], note[256];
    snprintf(name, sizeof name, "%s", backend->name);
    struct hs_problem problem = bench->problem;
    problem.solver = (struct hs_solver_choice){.backend = name, .threads = (int)from->threads};
    /* as for a long run without stops */
    *out = (struct hs_plan){.choice = HS_CHOICE_HEURISTIC,
                            .sweeps = HS_PLAN_MOST_SWEEPS,
                            .output_every = -1,
                            .tail_step = 1.0};
    HS_TRY(hs_choose(&problem, &out->backend, &out->kernel, note, sizeof note, err));
    return hs_tune_file_take(&problem, out, err);
}

/* Enough sweeps that each kernel makes at least one full fused call and has a remainder; fewer if
 * the reference would take minutes. */
static int64_t proof_sweeps(const struct hs_bench *bench, const struct kernels *kernels)
{
    const double most_updates = 1e10;
    int64_t most = 1;
    for (int n = 0; n < kernels->count; n++) {
        const int steps = hs_kernel_steps_for(kernels->of[n], &bench->problem);
        most = steps > most ? steps : most;
    }
    const double points = (double)hs_grid_count(&bench->problem.grid);
    const int64_t affordable = (int64_t)(most_updates / points) + 8;
    return most < affordable ? most + 1 : affordable;
}

/* ---- roofline -------------------------------------------------------------------------------- */

/* Adds the roofline to the report, and draws it. */
static enum hs_status add_roofline(struct hs_bench_report *report, const struct hs_backend *backend,
                                   const char *path, struct hs_error *err)
{
    static struct hs_roofline roofline;
    const struct hs_bench_request *request = &report->bench->request;
    const struct hs_problem *problem = &report->bench->problem;
    struct hs_ceilings ceilings = {0};
    if (backend->ceilings)
        HS_TRY(backend->ceilings(problem->solver.device, problem->solver.threads,
                                 problem->precision, &ceilings, err));
    hs_roofline_make(report->bench, report->rows, report->count, &ceilings, &roofline);
    report->roofline = &roofline;
    char subtitle[192], points[HS_POINTS_TEXT];
    hs_points_name(request->dims, request->points, " \u00D7 ", points, sizeof points);
    snprintf(subtitle, sizeof subtitle,
             "%s points, radius %d, %s, fields in %s \u2014 heatsolve %s, commit %s", points,
             request->radius, hs_precision_name(request->precision),
             hs_bench_place_name(roofline.place), hs_version(), hs_commit());
    return hs_picture_roofline(&roofline, report->rows[0].device, subtitle, path, err);
}

/* ---- the report ------------------------------------------------------------------------------ */

static enum hs_status judge(int failed, int count, struct hs_error *err)
{
    return failed ? hs_error_add(err, HS_FAILED_CHECK,
                                 "bench: %d of %d kernels do not agree with the reference", failed,
                                 count)
                  : HS_OK;
}

static enum hs_status measure(const struct kernels *kernels, struct hs_bench *bench,
                              struct hs_bench_row *rows, struct hs_error *err)
{
    bench->kernels_fields = kernels->backend->device == HS_CPU ? 2 : 0;
    int failed = 0;
    HS_TRY(hs_bench_expect(bench, proof_sweeps(bench, kernels), err));
    for (int n = 0; n < kernels->count; n++) {
        HS_TRY(hs_bench_kernel(bench, kernels->backend, kernels->of[n], &rows[n], err));
        failed += !rows[n].proven;
    }
    return judge(failed, kernels->count, err);
}

/* Whether there are rows to go on with. */
static bool has_rows(enum hs_status st)
{
    return st == HS_OK || st == HS_FAILED_CHECK;
}

/* Measures the kernels and, if asked for, the peers, and prints the report. */
static enum hs_status report_on(const struct arguments *arguments, const struct kernels *kernels,
                                struct hs_bench *bench, struct hs_error *err)
{
    static struct hs_bench_row rows[HS_BENCH_MOST];
    static struct hs_peers peers;
    static struct hs_plan choice;
    const struct hs_backend *backend = kernels->backend;
    struct hs_bench_report report = {.bench = bench,
                                     .rows = rows,
                                     .count = kernels->count,
                                     .command = arguments->command,
                                     .choice = &choice,
                                     .peers = arguments->peers ? &peers : NULL};
    enum hs_status st = measure(kernels, bench, rows, err);
    if (has_rows(st)) {
        const enum hs_status found = find_auto(arguments, bench, backend, &choice, err);
        st = found ? found : st;
    }
    if (arguments->peers && has_rows(st)) {
        const enum hs_status ran = hs_peers_run(arguments->peer, &bench->request, backend,
                                                (double)arguments->peer_seconds, &peers, err);
        st = ran ? ran : st;
    }
    if (arguments->roofline && has_rows(st)) {
        const enum hs_status drawn = add_roofline(&report, backend, arguments->roofline, err);
        st = st ? st : drawn;
    }
    if (has_rows(st) || st == HS_IO)
        (arguments->json  ? hs_bench_report_json
         : arguments->csv ? hs_bench_report_csv
                          : hs_bench_report_table)(&report);
    return st;
}

/* ---- methods --------------------------------------------------------------------------------- */

static enum hs_status read_methods(const struct arguments *from, struct hs_methods_request *out,
                                   struct hs_error *err)
{
    enum { FEWEST = 9, USUAL = 65, MOST = 1025 };
    const bool kernels = from->dims || from->radius != 1 || from->body || from->roofline ||
                         strcmp(from->kernel, "auto") != 0 || *from->except;
    int64_t points[HS_AXES] = {USUAL};
    if (kernels)
        return hs_error_add(err, HS_BAD_INPUT,
                            "bench: --methods has cases of its own and is not about kernels: leave "
                            "out --dims, --radius, --body, --kernel, --except and --roofline");
    *out = (struct hs_methods_request){.backend = from->backend,
                                       .threads = (int)from->threads,
                                       .repeats = (int)from->repeats,
                                       .peers = from->peers,
                                       .peer = from->peer,
                                       .peer_seconds = (double)from->peer_seconds};
    HS_TRY(read_common(from, &out->precision, err));
    const int count = from->points ? hs_points_counts("bench: --points", from->points,
                                                      "give one number", points, err)
                                   : 1;
    if (count < 0)
        return HS_BAD_INPUT;
    out->points = points[HS_X];
    if (count > 1 || out->points < FEWEST || out->points > MOST)
        return hs_error_add(err, HS_BAD_INPUT,
                            "bench: --methods: --points %s: give one number, %d to %d",
                            from->points, FEWEST, MOST);
    return HS_OK;
}

static enum hs_status run_methods(const struct arguments *from, struct hs_error *err)
{
    static struct hs_methods_bench bench;
    struct hs_methods_request request;
    enum hs_status st = read_methods(from, &request, err);
    if (!st && request.peers)
        st = hs_peers_check(HS_PEERS_METHODS, request.peer, err);
    if (!st && from->chart)
        st = hs_existing_check(from->chart, HS_EXISTING_PICTURE, hs_canvas_elsewhere, err);
    if (!st)
        st = hs_bench_methods(&request, &bench, err);
    if (!st && from->chart)
        st = hs_methods_picture(&bench, from->chart, err);
    if (bench.count > 0)
        (from->json  ? hs_methods_report_json
         : from->csv ? hs_methods_report_csv
                     : hs_methods_report_table)(&bench, from->command);
    return st;
}

/* ---- the command, of kernels ----------------------------------------------------------------- */

/* Reports errors that can be found before minutes of measuring. */
static enum hs_status check_ahead(const struct arguments *arguments,
                                  const struct hs_bench_request *request, struct hs_error *err)
{
    if (arguments->peers && (request->radius != 1 || request->which != HS_BENCH_STENCIL))
        return hs_error_add(err, HS_BAD_INPUT, "bench: --peers needs --radius 1 and no --body");
    if (arguments->peers)
        HS_TRY(hs_peers_check(HS_PEERS_SWEEPS, arguments->peer, err));
    return arguments->roofline ? hs_existing_check(arguments->roofline, HS_EXISTING_PICTURE,
                                                   hs_canvas_elsewhere, err)
                               : HS_OK;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* `all`: the backend of all ranks. */
static enum hs_status scale_kernels(const struct arguments *arguments, struct hs_scaling *scaling,
                                    const struct hs_backend *all, const struct kernels *kernels,
                                    struct hs_error *err)
{
    static struct hs_scaling_row rows[HS_BENCH_MOST];
    const int64_t sweeps = proof_sweeps(&scaling->all, kernels);
    int failed = 0;
    HS_TRY(hs_bench_expect(&scaling->one, sweeps, err));
    HS_TRY(hs_bench_expect(&scaling->all, sweeps, err));
    for (int n = 0; n < kernels->count; n++) {
        HS_TRY(hs_scaling_kernel(scaling, kernels->backend, all, kernels->of[n], &rows[n], err));
        failed += !rows[n].one.proven || !rows[n].all.proven;
    }
    (arguments->json  ? hs_scaling_report_json
     : arguments->csv ? hs_scaling_report_csv
                      : hs_scaling_report_table)(scaling, rows, kernels->count, arguments->command);
    return judge(failed, kernels->count, err);
}

static enum hs_status scale(const struct arguments *arguments,
                            const struct hs_bench_request *request, struct hs_error *err)
{
    struct kernels kernels = {.count = 0};
    struct hs_scaling scaling;
    enum hs_status st = hs_scaling_init(&scaling, request, arguments->weak, err);
    if (!st && hs_ranks_is_first())
        st = choose(arguments, &scaling.all, &kernels, err);
    const struct hs_backend *all = kernels.backend;
    if (hs_ranks_enter(&st, &scaling.all.problem, hs_methods[0], &all, err) && !st)
        st = scale_kernels(arguments, &scaling, all, &kernels, err);
    hs_scaling_release(&scaling);
    return st;
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct arguments arguments;
    struct hs_bench_request request;
    struct kernels kernels = {.count = 0};
    HS_TRY(read_arguments(argc, argv, &arguments, err));
    if (!arguments.weak && !arguments.strong && !hs_ranks_is_first())
        return HS_OK;
    if (arguments.methods)
        return run_methods(&arguments, err);
    if (arguments.chart)
        return hs_error_add(err, HS_BAD_INPUT,
                            "bench: --chart belongs to --methods; for kernels give --roofline");
    HS_TRY(make_request(&arguments, &request, err));
    HS_TRY(check_ahead(&arguments, &request, err));
    if (arguments.weak || arguments.strong)
        return scale(&arguments, &request, err);
    struct hs_bench bench;
    enum hs_status st = hs_bench_init(&bench, &request, err);
    if (!st)
        st = choose(&arguments, &bench, &kernels, err);
    if (!st)
        st = report_on(&arguments, &kernels, &bench, err);
    hs_bench_release(&bench);
    return st;
}

const struct hs_command hs_command_bench = {
    .name = "bench",
    .usage = "heatsolve bench [--points NX,NY,NZ] [--kernel NAME] ... | --methods ...",
    .summary = "time the kernels, each proven first, beside a copy on the same device",
    .help =
        "  --dims D            1, 2 or 3 (as many as --points has, else 3)\n"
        "  --points NX,NY,NZ   nodes along each axis; one number: along all (67108864 in 1D,\n"
        "                      8192 in 2D, 384 in 3D)\n"
        "  --radius R          1, 2 or 3 (1)\n"
        "  --precision P       float or double (double)\n"
        "  --body FORM         sweeps a body of several materials: bytes (5 of them), shorts "
        "(61),\n"
        "                      or arrays (conductivity and capacity random at each node)\n"
        "  --kernel NAME,...   only these (default: all that suit)\n"
        "  --except NAME,...   all but these\n"
        "  --backend NAME      cpu or cuda (the best there is)\n"
        "  --threads N         CPU threads (default: all)\n"
        "  --repeats N         samples, at most (15)\n"
        "  --roofline FILE     draws the kernels under the device's measured ceilings, and says\n"
        "                      what bounds each\n"
        "  --methods           times the methods instead of the kernels: their error against wall\n"
        "                      clock on the cases of configs/methods, and the time to a steady\n"
        "                      state; --points is then one number, the nodes along the longest\n"
        "                      axis (65)\n"
        "  --chart FILE        draws what --methods measured\n"
        "  --weak, --strong    on several ranks (heatsolve-mpi), beside the same kernel on one of\n"
        "                      them: --points is the grid of each rank, or that of all together\n"
        "  --peers             the same sweep in NumPy, CuPy, PyTorch, JAX, Numba and Triton, as\n"
        "                      far as $PYTHON (default python3) has them; radius 1. With\n"
        "                      --methods the same cases by SciPy, PyAMG, py-pde and hypre\n"
        "  --peer NAME,...     only these of them\n"
        "  --peer-seconds S    time limit for each (300)\n"
        "  --json, --csv       instead of the table\n\n"
        "Each kernel is proven against the CPU reference before it is timed, and each peer\n"
        "against numpy and heatsolve. On a GPU a grid that fits into the cache is timed from\n"
        "memory, with several pairs of fields in turn, and in the cache, as in a run.\n",
    .run = run,
    .ranks = true,
};
