/* Ranks by MPI: the backend of rank 0, which tells the others what it is asked, and their service.
 */
#include "core/memory.h"
#include "core/reduction.h"
#include "core/round.h"
#include "core/text.h"
#include "core/vectors.h"
#include "engine/ranks/launcher.h"
#include "engine/ranks/mpi/part.h"
#include "engine/ranks/mpi/same.h"
#include "engine/ranks/mpi/wire.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hs_part parts[HS_PARTS];
static const struct hs_backend *own; /* what each rank's part is on */

static bool seen_by_all; /* of a write, on rank 0: the file was there for all */

/* ---- a request, on every rank ---------------------------------------------------------------- */

/* `problem` is for create, `values` of rank 0. */
static enum hs_status obey(const struct hs_request *request, const struct hs_problem *problem,
                           void *values, struct hs_error *err)
{
    struct hs_part *part = &parts[request->part];
    switch (request->kind) {
    case HS_REQUEST_CREATE: return hs_part_create(part, problem, own, request, err);
    case HS_REQUEST_JOIN: hs_part_join(part, err); return HS_OK;
    case HS_REQUEST_DESTROY: hs_part_destroy(part); return HS_OK;
    case HS_REQUEST_BEGIN: return hs_part_begin(part, request, values, err);
    case HS_REQUEST_UPLOAD: return hs_part_upload(part, &request->box, values, err);
    case HS_REQUEST_DOWNLOAD: return hs_part_download(part, request, values, err);
    case HS_REQUEST_WRITE: return hs_part_write(part, request, values, &seen_by_all, err);
    case HS_REQUEST_SWEEP: return hs_part_sweep(part, request, err);
    case HS_REQUEST_REDUCE: return hs_part_reduce(part, values, err);
    case HS_REQUEST_RESERVE: return own->vectors->reserve(part->state, request->fields, err);
    case HS_REQUEST_STAGE: return hs_part_stage(part, request, err);
    case HS_REQUEST_COMBINE: return hs_part_combine(part, request, err);
    case HS_REQUEST_RECUR: return hs_part_recur(part, request, err);
    case HS_REQUEST_EXCHANGE:
        own->vectors->exchange(part->state, request->from, request->to);
        return HS_OK;
    case HS_REQUEST_FINISH: return own->vectors->finish(part->state, request->known, err);
    case HS_REQUEST_END: break;
    }
    return HS_OK;
}

/* On rank 0. */
static enum hs_status order(struct hs_request *request, const struct hs_problem *problem,
                            void *values, struct hs_error *err)
{
    hs_wire_tell(request, sizeof *request);
    return hs_wire_settle(obey(request, problem, values, err), err);
}

static bool served; /* rank 0 has ended it */

/* On other ranks, until rank 0 is at its end. */
static void serve(const struct hs_problem *problem)
{
    while (!served) {
        struct hs_request request;
        struct hs_error err = {0};
        hs_wire_tell(&request, sizeof request);
        served = request.kind == HS_REQUEST_END;
        if (!served)
            hs_wire_settle(obey(&request, problem, NULL, &err), &err);
        hs_error_release(&err);
    }
}

/* ---- the backend ----------------------------------------------------------------------------- */

struct hs_backend_state {
    int part;
    struct hs_partial partial[HS_PIECES_MOST]; /* of all ranks */
    char description[256];
};

static struct hs_backend shared; /* as `own`, but for the functions below */

static enum hs_status ask(struct hs_backend_state *state, struct hs_request request, void *values,
                          struct hs_error *err)
{
    request.part = state->part;
    return order(&request, NULL, values, err);
}

static void destroy(struct hs_backend_state *state)
{
    if (!state)
        return;
    ask(state, (struct hs_request){.kind = HS_REQUEST_DESTROY}, NULL, NULL);
    free(state);
}

/* A place for another state; -1: none. */
static int free_part(void)
{
    for (int n = 0; n < HS_PARTS; n++)
        if (!parts[n].whole)
            return n;
    return -1;
}

/* Of a method that sweeps once from stage to stage, a halo of one sweep is exchanged each time. */
static bool by_stages(const struct hs_problem *problem)
{
    const struct hs_method *method = hs_method_named(problem->schedule.method);
    return method && method->sweeps;
}

static double layer_bytes(const struct hs_problem *problem)
{
    const double layers = (double)problem->grid.points[problem->grid.dims - 1];
    return (double)hs_grid_count(&problem->grid) / layers *
           (double)hs_precision_size(problem->precision);
}

/* On devices that tell what they can. An exchange beside a call has no time of its own. */
static int calls_for(const struct hs_problem *problem, const struct hs_kernel_plan *plan)
{
    static const double wait = 40e-6, copies = 2.0; /* docs/performance/many-gpus.md */
    struct hs_device_limits limits = {.bandwidth = 0.0};
    if (own->limits)
        own->limits(problem->solver.device, &limits, NULL);
    if (!(limits.bandwidth > 0.0) || by_stages(problem) ||
        (plan->ends > 0 && problem->solver.overlap))
        return 1;
    return hs_slab_calls((int64_t)plan->steps * problem->radius,
                         hs_slab_thinnest(problem, hs_wire.ranks), wait,
                         copies * 2.0 * layer_bytes(problem) / limits.bandwidth);
}

/* Sweeps from exchange to exchange: as many as so many calls of the kernel fuse, if the thinnest
 * slab has the layers for them. */
static int steps_for(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_kernel_plan plan;
    hs_kernel_plan_here(kernel, problem, &plan, NULL, 0);
    const int64_t most = hs_slab_thinnest(problem, hs_wire.ranks) / problem->radius;
    return (int)hs_smaller(most, (int64_t)plan.steps * calls_for(problem, &plan));
}

static enum hs_status create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             struct hs_backend_state **out, struct hs_error *err)
{
    struct hs_request request = {.kind = HS_REQUEST_CREATE, .part = free_part()};
    *out = NULL;
    if (request.part < 0)
        return hs_error_add(err, HS_DEVICE, "more than %d states on ranks at a time", HS_PARTS);
    struct hs_backend_state *state = hs_new(sizeof *state);
    state->part = request.part;
    request.steps = steps_for(problem, kernel);
    snprintf(request.kernel, sizeof request.kernel, "%s", kernel->name);
    enum hs_status st = order(&request, problem, NULL, err);
    if (!st)
        st = ask(state, (struct hs_request){.kind = HS_REQUEST_JOIN}, NULL, err);
    if (st) {
        destroy(state);
        return st;
    }
    snprintf(state->description, sizeof state->description, "%d ranks: %s", hs_wire.ranks,
             own->describe(parts[state->part].state));
    *out = state;
    return HS_OK;
}

static enum hs_status begin(struct hs_backend_state *state, const struct hs_stored *from,
                            struct hs_error *err)
{
    struct hs_request request = {.kind = HS_REQUEST_BEGIN};
    if (from) {
        request.path_bytes = strlen(from->path) + 1;
        request.name_bytes = strlen(from->name) + 1;
        request.step = from->step;
    }
    return ask(state, request, (void *)(uintptr_t)from, err);
}

static enum hs_status upload(struct hs_backend_state *state, const struct hs_box *box,
                             const void *values, struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_UPLOAD, .box = *box}, (void *)values,
               err);
}

static enum hs_status download(struct hs_backend_state *state, const struct hs_box *box,
                               void *values, struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_DOWNLOAD, .box = *box}, values, err);
}

static enum hs_status download_before(struct hs_backend_state *state, const struct hs_box *box,
                                      void *values, struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_DOWNLOAD, .box = *box, .before = true},
               values, err);
}

static enum hs_status write_shared(struct hs_backend_state *state,
                                   const struct hs_shared_file *file, bool *seen,
                                   struct hs_error *err)
{
    const struct hs_request request = {.kind = HS_REQUEST_WRITE,
                                       .path_bytes = strlen(file->path) + 1,
                                       .name_bytes = strlen(file->name) + 1};
    const enum hs_status st = ask(state, request, (void *)(uintptr_t)file, err);
    *seen = seen_by_all;
    return st;
}

static enum hs_status sweep(struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_SWEEP, .span = *span}, NULL, err);
}

static enum hs_status reduce(struct hs_backend_state *state, const struct hs_partial **out,
                             struct hs_error *err)
{
    *out = state->partial;
    return ask(state, (struct hs_request){.kind = HS_REQUEST_REDUCE}, state->partial, err);
}

/* That of rank 0: the others wait for it, and it for them. */
static enum hs_status time_sweeps(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err)
{
    const enum hs_status st = sweep(state, span, err);
    *seconds = parts[state->part].seconds;
    return st;
}

static const char *describe(const struct hs_backend_state *state)
{
    return state->description;
}

/* ---- methods of many stages ------------------------------------------------------------------ */

static enum hs_status reserve(struct hs_backend_state *state, int fields, struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_RESERVE, .fields = fields}, NULL, err);
}

static enum hs_status stage(struct hs_backend_state *state, const struct hs_span *span, int from,
                            int to, struct hs_error *err)
{
    return ask(state,
               (struct hs_request){.kind = HS_REQUEST_STAGE, .span = *span, .from = from, .to = to},
               NULL, err);
}

static enum hs_status combine(struct hs_backend_state *state, int out, int base,
                              const struct hs_term *terms, int count, const struct hs_box *box,
                              struct hs_error *err)
{
    struct hs_request request = {
        .kind = HS_REQUEST_COMBINE, .to = out, .from = base, .terms = count, .boxed = box != NULL};
    if (box)
        request.box = *box;
    for (int n = 0; n < count; n++) /* of none `terms` may be NULL */
        request.term[n] = terms[n];
    return ask(state, request, NULL, err);
}

static int recursion(const struct hs_backend_state *state)
{
    return parts[state->part].recursion;
}

static enum hs_status recur(struct hs_backend_state *state, const struct hs_span *span,
                            const struct hs_recurrence *fields, const double *factor, int steps,
                            struct hs_error *err)
{
    struct hs_request request = {
        .kind = HS_REQUEST_RECUR, .span = *span, .fields_of = *fields, .steps = steps};
    memcpy(request.factor, factor, (size_t)steps * sizeof *factor);
    return ask(state, request, NULL, err);
}

/* Nothing can go wrong. */
static void exchange(struct hs_backend_state *state, int a, int b)
{
    ask(state, (struct hs_request){.kind = HS_REQUEST_EXCHANGE, .from = a, .to = b}, NULL, NULL);
}

static enum hs_status finish(struct hs_backend_state *state, bool known, struct hs_error *err)
{
    return ask(state, (struct hs_request){.kind = HS_REQUEST_FINISH, .known = known}, NULL, err);
}

static double bytes(const struct hs_problem *problem, int fields)
{
    return own->vectors->bytes(problem, fields) / hs_wire.ranks;
}

static const struct hs_vectors vectors = {.bytes = bytes,
                                          .reserve = reserve,
                                          .sweep = stage,
                                          .combine = combine,
                                          .recursion = recursion,
                                          .recur = recur,
                                          .exchange = exchange,
                                          .finish = finish};

/* ---- the table ------------------------------------------------------------------------------- */

/* Of the largest slab, the first as good as any. */
static double memory(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_slab_problem slab = {0};
    const int64_t halo = (int64_t)steps_for(problem, kernel) * problem->radius;
    const struct hs_slab_shape shape =
        hs_slab_shape_of(problem, hs_wire.ranks, hs_wire.ranks > 2, halo);
    double bytes = own->memory(problem, kernel);
    if (hs_slab_make(&shape, &slab, NULL) == HS_OK)
        bytes = own->memory(&slab.problem, kernel);
    hs_slab_release(&slab);
    return bytes;
}

static const struct hs_backend *share_backend(void)
{
    shared = *own;
    shared.memory = memory;
    shared.create = create;
    shared.destroy = destroy;
    shared.upload = upload;
    shared.upload_space = NULL;
    shared.begin = begin;
    shared.download = download;
    shared.download_before = download_before;
    shared.download_begin = NULL;
    shared.download_part = NULL;
    shared.download_end = NULL;
    shared.write = hs_wire.locals == hs_wire.ranks ? write_shared : NULL;
    shared.sweep = sweep;
    shared.reduce = reduce;
    shared.time_sweeps = time_sweeps;
    shared.describe = describe;
    shared.copy = NULL;
    shared.rotate = NULL;
    shared.transforms = NULL;
    shared.vectors = &vectors;
    shared.halo = NULL;
    return &shared;
}

/* ---- begin, end ------------------------------------------------------------------------------ */

/* For one rank: its MPI may not know the launcher that has started several. */
static enum hs_status check_launcher(struct hs_error *err)
{
    char library[64], remedy[320];
    hs_wire_library(library, sizeof library);
    snprintf(remedy, sizeof remedy,
             "heatsolve-mpi was built with %s, which has not found the other ranks; start it by "
             "that MPI's mpirun, or srun --mpi=..., or build it with the launcher's MPI (make "
             "MPI=yes MPICC=...)",
             library);
    return hs_launcher_check(remedy, err);
}

enum hs_status hs_ranks_begin(int *argc, char ***argv, struct hs_error *err)
{
    enum hs_status st = HS_OK;
    if (!hs_wire_begin(argc, argv))
        st = hs_error_add(err, HS_DEVICE,
                          "MPI: this library was built without the support of threads that a run "
                          "on several ranks needs, MPI_THREAD_SERIALIZED; take another one, or one "
                          "rank");
    if (hs_wire.ranks == 1)
        return st ? st : check_launcher(err);
    st = hs_wire_settle(st, err); /* they may have different libraries */
    return st ? st : hs_same_arguments(*argc, *argv, err);
}

enum hs_status hs_ranks_end(enum hs_status status)
{
    struct hs_request request = {.kind = HS_REQUEST_END};
    if (hs_wire.rank == 0)
        hs_wire_tell(&request, sizeof request);
    else
        serve(NULL);
    int all = (int)status;
    hs_wire_tell(&all, sizeof all);
    hs_wire_end();
    return (enum hs_status)all;
}

/* Where a launcher has bound the ranks to processors of their own, each has as many threads; else
 * they share them. */
static void share_threads(void)
{
    const int processors = omp_get_num_procs();
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (getenv("OMP_NUM_THREADS") || hs_wire.locals == 1 || processors < online)
        return;
    const int share = processors / hs_wire.locals;
    omp_set_num_threads(share > 1 ? share : 1);
}

enum hs_status hs_ranks_compare(enum hs_status status, const struct hs_problem *problem,
                                struct hs_error *err)
{
    HS_TRY(hs_ranks_agree(status, err));
    return hs_same_inputs(problem, err);
}

void hs_ranks_share(struct hs_problem *problem)
{
    if (hs_wire.ranks == 1)
        return;
    share_threads();
    for (int n = 0; hs_backends[n]; n++)
        if (hs_backends[n]->devices && hs_backends[n]->devices() > 0)
            problem->solver.device = hs_wire.local % hs_backends[n]->devices();
}

static enum hs_status check_method(const struct hs_problem *problem, const struct hs_method *method,
                                   struct hs_error *err)
{
    const char *solver = problem->schedule.steady ? problem->schedule.steady_method : NULL;
    const bool solves = solver && strcmp(solver, method->name) == 0;
    char able[256] = "";
    if (hs_ranks_can(method))
        return HS_OK;
    if (solves)
        snprintf(able, sizeof able, "sweeps");
    for (int n = 0; hs_methods[n]; n++) {
        const bool serves = solves ? hs_methods[n]->solve != NULL : hs_methods[n]->advance != NULL;
        if (hs_ranks_can(hs_methods[n]) && serves)
            hs_text_add(able, sizeof able, ", ", hs_methods[n]->name);
    }
    return hs_error_add(
        err, HS_BAD_INPUT,
        "%s: %s.method = \"%s\": cannot run on %d ranks; those that can: %s; or start one rank",
        hs_problem_place(problem, solves ? HS_PLACE_STEADY : HS_PLACE_METHOD),
        solves ? "steady" : "time", method->name, hs_wire.ranks, able);
}

static enum hs_status check(const struct hs_problem *problem, const struct hs_method *method,
                            struct hs_error *err)
{
    HS_TRY(check_method(problem, method, err));
    const int most = hs_slab_most(problem);
    if (hs_wire.ranks <= most)
        return HS_OK;
    char points[HS_POINTS_TEXT];
    const int64_t layers = hs_larger(hs_blocks_of(problem).layers, problem->radius);
    hs_grid_name_points(&problem->grid, points, sizeof points);
    return hs_error_add(
        err, HS_BAD_INPUT,
        "%s: grid.points: %s points can be divided along %c among %d rank%s at most, since each of "
        "several needs %lld layer%s or more, and there are %d; start %d%s",
        hs_problem_place(problem, HS_PLACE_POINTS), points, "xyz"[problem->grid.dims - 1], most,
        most == 1 ? "" : "s", (long long)layers, layers == 1 ? "" : "s", hs_wire.ranks, most,
        most == 1 ? "" : " or fewer");
}

bool hs_ranks_enter(enum hs_status *status, const struct hs_problem *problem,
                    const struct hs_method *method, const struct hs_backend **backend,
                    struct hs_error *err)
{
    if (hs_wire.ranks == 1)
        return true;
    if (!*status && hs_wire.rank == 0)
        *status = check(problem, method, err);
    if (!*status && hs_wire.rank > 0)
        hs_wake(problem); /* while the first makes the plan */
    char name[32] = "";
    if (!*status && hs_wire.rank == 0)
        snprintf(name, sizeof name, "%s", (*backend)->name);
    hs_wire_tell(name, sizeof name);
    *status = hs_wire_settle(*status, err);
    if (*status)
        return hs_wire.rank == 0;
    for (int n = 0; hs_backends[n]; n++)
        if (strcmp(hs_backends[n]->name, name) == 0)
            own = hs_backends[n];
    if (hs_wire.rank == 0)
        *backend = share_backend();
    else
        serve(problem);
    return hs_wire.rank == 0;
}

double hs_ranks_owned(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    const double layers =
        (double)problem->grid.points[problem->grid.dims - 1] / (double)hs_wire.ranks;
    const int swept = (steps_for(problem, kernel) - 1) * problem->radius; /* of a halo */
    return hs_wire.ranks == 1 ? 1.0 : layers / (layers + 2.0 * swept);
}

void hs_ranks_describe(const struct hs_problem *problem, const struct hs_kernel *kernel, char *out,
                       size_t size)
{
    const int axis = problem->grid.dims - 1, ranks = hs_wire.ranks;
    out[0] = '\0';
    if (ranks == 1)
        return;
    const int steps = steps_for(problem, kernel);
    const int64_t halo = (int64_t)steps * problem->radius;
    snprintf(out, size,
             "%d, of %" PRId64 " layers along %c or more; halos of %" PRId64
             " layer%s, %.3g MB to each side every %d sweep%s; %.1f %% of the layers that it "
             "sweeps are its own",
             ranks, hs_slab_thinnest(problem, ranks), "xyz"[axis], halo, halo == 1 ? "" : "s",
             layer_bytes(problem) * (double)halo / 1e6, steps, steps == 1 ? "" : "s",
             100.0 * hs_ranks_owned(problem, kernel));
}
