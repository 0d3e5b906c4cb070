/* The CUDA backend: two fields in device memory, swept by a kernel of kernels/cuda/. */
#include "engine/backends/cuda_capture.cuh"
#include "engine/backends/cuda_state.cuh"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hs_cuda_graph_release(hs_cuda_graph *kept)
{
    if (kept->graph)
        cudaGraphExecDestroy(kept->graph);
    *kept = {};
}

namespace
{

enum { GRAPH_CALLS = 32 }; /* calls in a CUDA graph; even, so that it ends where it began */

/* ---- available ------------------------------------------------------------------------------- */

hs_status available(int device, hs_error *err)
{
    static int found = -1; /* a device that has been checked */
    int driver = 0, runtime = 0, count = 0;
    if (device == found) {
        HS_CUDA_TRY(err, cudaSetDevice(device));
        return HS_OK;
    }
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return hs_error_add(err, HS_DEVICE, "no CUDA driver was found on this machine");
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver)
        return hs_error_add(err, HS_DEVICE,
                            "the CUDA driver is for CUDA %d.%d, this program was built with "
                            "%d.%d: update the driver",
                            driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
        return hs_error_add(err, HS_DEVICE, "no CUDA device was found (driver %d.%d)",
                            driver / 1000, driver % 1000 / 10);
    if (status != cudaSuccess)
        return hs_error_add(err, HS_DEVICE, "cuda: cudaGetDeviceCount: %s",
                            cudaGetErrorString(status));
    if (device < 0 || device >= count)
        return hs_error_add(err, HS_DEVICE, "solver.device = %d: this machine has %d, from 0 to %d",
                            device, count, count - 1);
    cudaDeviceProp about;
    HS_CUDA_TRY(err, cudaGetDeviceProperties(&about, device));
    HS_CUDA_TRY(err, cudaSetDevice(device));
    status = hs_cuda_code_present();
    if (status != cudaSuccess)
        return hs_error_add(err, HS_DEVICE,
                            "device %d, %s, has compute capability %d.%d, for which this program "
                            "has no code (%s): build it with make CUDA_ARCH=%d%d",
                            device, about.name, about.major, about.minor,
                            cudaGetErrorString(status), about.major, about.minor);
    found = device;
    return HS_OK;
}

int devices(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* ---- create, destroy ------------------------------------------------------------------------- */

hs_status allocate(hs_backend_state *state, hs_error *err)
{
    const size_t bytes = hs_cuda_field_bytes(&state->layout, state->problem->precision);
    state->level = hs_cuda_new<hs_face_level>(state->plan.steps);
    state->source_value = hs_cuda_new<double>(state->plan.steps);
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
    state->staging = {&state->layout, state->problem->precision, state->stream};
    for (int f = 0; f < 2; f++) {
        HS_TRY(hs_cuda_field_take(state, &state->field[f], err));
        /* kernels may load, though not use, the padding between rows */
        HS_CUDA_TRY(err, cudaMemsetAsync(state->field[f], 0, bytes, state->stream));
    }
    if (state->plan.scratch > 0) {
        HS_CUDA_TRY(err, cudaMalloc(&state->scratch, state->plan.scratch));
        HS_CUDA_TRY(err, cudaMemsetAsync(state->scratch, 0, state->plan.scratch, state->stream));
    }
    HS_TRY(hs_cuda_network_init(&state->network, state->problem, &state->layout, state->plan.steps,
                                state->stream, err));
    const hs_cuda_shares shares = hs_cuda_network_shares(&state->network);
    HS_TRY(hs_cuda_source_init(&state->source, state->problem, state->kernel, &state->plan, &shares,
                               &state->staging, err));
    HS_TRY(hs_cuda_faces_init(&state->faces, state->problem, &state->layout, state->plan.steps + 1,
                              state->stream, err));
    return hs_cuda_reducer_init(&state->reducer, state->problem, err);
}

void destroy(hs_backend_state *state)
{
    if (!state)
        return;
    cudaSetDevice(state->device);
    hs_cuda_graph_release(&state->graph);
    hs_cuda_rotation_release(&state->rotation);
    hs_cuda_timer_release(&state->timer);
    hs_cuda_reducer_release(&state->reducer);
    hs_cuda_products_release(&state->products);
    hs_cuda_vectors_release(state);
    hs_cuda_network_release(&state->network);
    hs_cuda_faces_release(&state->faces);
    hs_cuda_source_release(&state->source);
    hs_cuda_readback_release(&state->readback);
    hs_cuda_staging_release(&state->staging);
    for (int f = 0; f < 2; f++)
        hs_cuda_field_give(state, state->field[f]);
    cudaFree(state->scratch);
    cudaFreeHost(state->halo_space);
    free(state->rest);
    hs_cuda_parts_release(&state->parts);
    if (state->stream)
        cudaStreamDestroy(state->stream);
    free(state->source_value);
    free(state->level);
    free(state);
}

hs_status make_plan(hs_backend_state *state, hs_error *err)
{
    const hs_layout usual = hs_cuda_layout(state->problem);
    const hs_cuda_device *about;
    HS_TRY(hs_cuda_device_of(state->device, &about, err));
    char reason[256];
    state->limits = about->limits;
    snprintf(state->description, sizeof state->description, "%s", about->description);
    state->of = hs_kernel_case(state->problem, &usual, 1);
    if (hs_cuda_source_in_tables(state->problem, state->kernel))
        state->of.asked |= HS_SOURCE_TABLES;
    if (!hs_kernel_plan_make(state->kernel, &state->of, &state->limits, &state->plan, reason,
                             sizeof reason))
        return hs_error_add(err, HS_BAD_INPUT, "%s", reason);
    if (!state->plan.for_any_steps)
        state->rest = hs_cuda_new<hs_kernel_plan>(state->plan.steps);
    state->layout = hs_layout_moved(usual, state->plan.shift);
    return HS_OK;
}

/* The plan of a call of `steps` sweeps. */
const hs_kernel_plan *plan_for(hs_backend_state *state, int steps)
{
    if (steps == state->plan.steps || state->plan.for_any_steps)
        return &state->plan;
    assert(steps > 0 && steps < state->plan.steps);
    hs_kernel_plan *rest = &state->rest[steps - 1];
    if (rest->steps == 0) {
        char unused[256];
        hs_case of = state->of;
        of.steps = steps;
        hs_kernel_plan_make(state->kernel, &of, &state->limits, rest, unused, sizeof unused);
    }
    return rest;
}

hs_status create(const hs_problem *problem, const hs_kernel *kernel, hs_backend_state **out,
                 hs_error *err)
{
    *out = NULL;
    hs_status st = available(problem->solver.device, err);
    if (!st)
        st = hs_cuda_memory_check(problem, kernel, err);
    if (st)
        return st;
    hs_backend_state *state = hs_cuda_new<hs_backend_state>(1);
    state->problem = problem;
    state->kernel = kernel;
    state->device = problem->solver.device;
    st = make_plan(state, err);
    if (!st)
        st = allocate(state, err);
    if (st)
        destroy(state);
    else
        *out = state;
    return st;
}

const char *describe(const hs_backend_state *state)
{
    return state->description;
}

/* ---- upload, download ------------------------------------------------------------------------ */

hs_status upload(hs_backend_state *state, const hs_box *box, const void *values, hs_error *err)
{
    if (hs_box_count(box) == 0)
        return HS_OK;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_TRY(hs_cuda_upload(&state->staging, box, values, hs_cuda_field(state, 0), err));
    /* into both, since no sweep writes the held layers */
    HS_TRY(hs_cuda_copy_field(&state->staging, box, hs_cuda_field(state, 0),
                              hs_cuda_field(state, 1), err));
    state->stale_walls = 2;
    state->change = HS_CUDA_CHANGE_NOT_KNOWN;
    return HS_OK;
}

hs_status upload_space(hs_backend_state *state, size_t bytes, void **values, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    return hs_cuda_staging_space(&state->staging, bytes, values, err);
}

hs_status download_field(hs_backend_state *state, int field, const hs_box *box, void *values,
                         hs_error *err)
{
    if (hs_box_count(box) == 0)
        return HS_OK;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    return hs_cuda_download(&state->staging, box, values, hs_cuda_field(state, field), err);
}

hs_status download(hs_backend_state *state, const hs_box *box, void *values, hs_error *err)
{
    return download_field(state, 0, box, values, err);
}

hs_status download_before(hs_backend_state *state, const hs_box *box, void *values, hs_error *err)
{
    assert(state->change == HS_CUDA_CHANGE_BY_FIELDS);
    return download_field(state, 1, box, values, err);
}

hs_status download_begin(hs_backend_state *state, hs_readback **out, hs_error *err)
{
    *out = NULL;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_TRY(hs_cuda_readback_begin(&state->readback, state->device, &state->staging,
                                  state->field[state->now], err));
    if (!state->readback.lacking)
        *out = &state->readback;
    return HS_OK;
}

void download_end(hs_readback *readback)
{
    (void)readback; /* its memory serves the next; all copies have arrived */
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* Whether the last call of `left` sweeps fuses the max-norm of its last sweep's change. In a slab
 * that would include the halo. */
bool fuses_max_norm(const hs_backend_state *state, const hs_span *span, int64_t left)
{
    return span->keep_last && !span->keep_before && state->plan.fused_max_norm &&
           !state->problem->slab && left >= state->plan.steps &&
           hs_cuda_source_steps(&state->source, state->plan.steps) == state->plan.steps;
}

/* The number of sweeps in the next call of the kernel. The last sweep's change is a fused max-norm
 * of a full call, and the rest is swept before; or that sweep is a call of its own, and the two
 * fields show the change. */
int steps_at_once(const hs_backend_state *state, const hs_span *span, int64_t left)
{
    const int most = hs_cuda_source_steps(&state->source, state->plan.steps);
    if (fuses_max_norm(state, span, left))
        return left % most ? (int)(left % most) : most;
    if (span->keep_last && left > 1)
        left--;
    return hs_kernel_plan_takes(&state->plan, most, left);
}

/* The boundary values for the times of a call lie in a ring of slots, since the last time of one
 * call is the first of the next. */
int slot_of(const hs_backend_state *state, int step)
{
    return (state->first_slot + step) % state->faces.slots.count;
}

/* Prepares all that changes with time, for `steps` sweeps from sweep `first` of the span. */
hs_status prepare(hs_backend_state *state, const hs_span *span, int64_t first, int steps,
                  hs_error *err)
{
    double begins[HS_CUDA_TIMES] = {}; /* no more sweeps than this have fields of their own */
    for (int s = 0; s < steps && s < HS_CUDA_TIMES; s++)
        begins[s] = hs_span_time(span, first + s);
    HS_TRY(hs_cuda_source_update(&state->source, span->step, steps, begins, err));
    HS_TRY(hs_cuda_faces_at(&state->faces, slot_of(state, 0), hs_span_time(span, first), err));
    for (int s = 0; s < steps; s++) {
        HS_TRY(hs_cuda_faces_at(&state->faces, slot_of(state, s + 1),
                                hs_span_time(span, first + s + 1), err));
        state->level[s] =
            hs_face_slots_level(&state->faces.slots, slot_of(state, s), slot_of(state, s + 1));
        state->source_value[s] =
            hs_cuda_source_uniform(&state->source, span->step, hs_span_time(span, first + s));
    }
    return hs_cuda_network_update(&state->network, span, first, steps, err);
}

/* Writes what is prescribed at time t. Walls that do not change in time are written until both
 * fields have them, others always. */
hs_status prescribe(hs_backend_state *state, int steps, double t, hs_error *err)
{
    const bool stale = state->stale_walls > 0;
    state->stale_walls -= stale;
    if (state->network.problem)
        return stale || state->network.varies
                   ? hs_cuda_network_prescribe(&state->network, steps, t, hs_cuda_field(state, 1),
                                               err)
                   : HS_OK;
    return !(state->kernel->features & HS_APPLIES_WALLS) &&
                   (stale || hs_face_slots_prescribed_vary(&state->faces.slots))
               ? hs_cuda_faces_prescribe(&state->faces, slot_of(state, steps),
                                         hs_cuda_field(state, 1), err)
               : HS_OK;
}

hs_sweep make_request(hs_backend_state *state, const hs_operator *op, int steps)
{
    hs_sweep request = {};
    request.precision = state->problem->precision;
    request.layout = state->layout;
    request.box = state->of.box;
    request.op = op;
    request.in = hs_cuda_field(state, 0);
    request.out = hs_cuda_field(state, 1);
    request.source = hs_cuda_source_view(&state->source, state->source_value);
    request.steps = steps;
    request.face = state->problem->face;
    request.level = state->level;
    request.threads = 1;
    request.stream = state->stream;
    request.scratch = state->scratch;
    request.may_copy = true; /* held values are the same in both fields, or prescribed afterwards */
    return request;
}

} // namespace

hs_status hs_cuda_call(hs_backend_state *state, const hs_span *span, int64_t first, int steps,
                       void *change, const hs_recursion *recursion, hs_error *err)
{
    HS_TRY(prepare(state, span, first, steps, err));
    if (!(state->kernel->features & HS_APPLIES_WALLS))
        HS_TRY(hs_cuda_faces_fill(&state->faces, slot_of(state, 0), hs_cuda_field(state, 0), err));
    hs_operator op = span->op;
    op.network = state->network.problem ? &state->network.view : NULL;
    hs_sweep request = make_request(state, &op, steps);
    request.change = change;
    request.recursion = recursion;
    HS_TRY(hs_cuda_sweep_parts(state, plan_for(state, steps), &request, err));
    HS_TRY(prescribe(state, steps, hs_span_time(span, first + steps), err));
    state->now ^= 1;
    state->first_slot = slot_of(state, steps);
    hs_cuda_rotation_turn(&state->rotation, state->field, &state->now);
    return HS_OK;
}

namespace
{

/* Waits, and reports what failed meanwhile, with the kernel and its launch. */
hs_status wait(const hs_backend_state *state, const hs_span *span, hs_error *err)
{
    const cudaError_t status = cudaStreamSynchronize(state->stream);
    if (status == cudaSuccess)
        return HS_OK;
    const hs_geometry &g = state->plan.launch;
    return hs_error_add(
        err, HS_DEVICE,
        "cuda: cudaStreamSynchronize after %lld sweeps of kernel %s (%lld blocks of "
        "%d x %d x %d threads, %lld bytes of shared memory each): %s",
        (long long)span->count, state->kernel->name, (long long)g.launched, g.threads[HS_X],
        g.threads[HS_Y], g.threads[HS_Z], (long long)g.shared_bytes, cudaGetErrorString(status));
}

/* The number of calls in a CUDA graph, which ends with the pair of fields, and the field in it,
 * that it begins with. */
int graph_calls(const hs_backend_state *state)
{
    const int twice = 2 * state->rotation.pairs;
    return twice > GRAPH_CALLS ? twice : GRAPH_CALLS;
}

/*
 * Whether nothing changes with time. Then a stretch of calls is captured as a CUDA graph, in which
 * a launch costs about half of one made here; on a small grid that is most of the time.
 */
bool repeats(const hs_backend_state *state)
{
    return state->stale_walls == 0 && state->rotation.at == 0 &&
           !hs_face_slots_vary(&state->faces.slots) && !(state->source.varies & HS_VARIES_T) &&
           !state->network.varies;
}

hs_status capture(hs_backend_state *state, const hs_span *span, int64_t first, hs_error *err)
{
    for (int slot = 0; slot < state->faces.slots.count;
         slot++) { /* so that none is evaluated while capturing */
        HS_TRY(hs_cuda_faces_at(&state->faces, slot, hs_span_time(span, first), err));
    }
    const auto run = [&] {
        hs_status st = HS_OK;
        for (int call = 0; call < graph_calls(state) && !st; call++)
            st = hs_cuda_call(state, span, first, state->plan.steps, NULL, NULL, err);
        return st;
    };
    hs_cuda_graph *const kept = &state->graph;
    hs_cuda_graph_release(kept);
    HS_TRY(hs_cuda_capture(state->stream, run, &kept->graph, err));
    kept->now = state->now;
    kept->step = span->step;
    kept->op = span->op;
    return HS_OK;
}

bool fits(const hs_cuda_graph *kept, int now, const hs_span *span)
{
    return kept->graph && kept->now == now && kept->step == span->step &&
           memcmp(&kept->op, &span->op, sizeof span->op) == 0;
}

/* Launches the CUDA graph as often as it fits into `left` sweeps; *done: sweeps made. */
hs_status launch_graph(hs_backend_state *state, const hs_span *span, int64_t first, int64_t left,
                       int64_t *done, hs_error *err)
{
    const int64_t sweeps = (int64_t)graph_calls(state) * state->plan.steps;
    *done = 0;
    if (left < 4 * sweeps || !repeats(state)) /* capturing costs about as much as a few launches */
        return HS_OK;
    HS_TRY(prepare(state, span, first, 1, err));
    if (!fits(&state->graph, state->now, span))
        HS_TRY(capture(state, span, first, err));
    for (; left - *done >= sweeps; *done += sweeps)
        HS_CUDA_TRY(err, cudaGraphLaunch(state->graph.graph, state->stream));
    return HS_OK;
}

/* The span's last call, whose change reduce may need. */
hs_status call_last(hs_backend_state *state, const hs_span *span, int64_t first, int steps,
                    hs_error *err)
{
    void *change = NULL;
    if (fuses_max_norm(state, span, steps))
        HS_TRY(hs_cuda_reducer_change(&state->reducer, state->stream, &change, err));
    HS_TRY(hs_cuda_call(state, span, first, steps, change, NULL, err));
    state->change = change                          ? HS_CUDA_CHANGE_BY_KERNEL
                    : span->keep_last && steps == 1 ? HS_CUDA_CHANGE_BY_FIELDS
                                                    : HS_CUDA_CHANGE_NOT_KNOWN;
    return HS_OK;
}

} // namespace

hs_status hs_cuda_ask(hs_backend_state *state, const hs_span *span, hs_error *err)
{
    for (int64_t done = 0; done < span->count;) {
        const int64_t left = span->count - done - (span->keep_last ? 1 : 0);
        int64_t by_graph = 0;
        HS_TRY(launch_graph(state, span, done, left, &by_graph, err));
        done += by_graph;
        state->change = HS_CUDA_CHANGE_NOT_KNOWN;
        if (done == span->count)
            break;
        const int steps = steps_at_once(state, span, span->count - done);
        HS_TRY(done + steps == span->count
                   ? call_last(state, span, done, steps, err)
                   : hs_cuda_call(state, span, done, steps, NULL, NULL, err));
        done += steps;
    }
    return HS_OK;
}

namespace
{

hs_status sweep(hs_backend_state *state, const hs_span *span, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_TRY(hs_cuda_ask(state, span, err));
    return wait(state, span, err);
}

hs_status reduce(hs_backend_state *state, const hs_partial **out, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    const void *now = hs_cuda_field(state, 0);
    const void *before = state->change == HS_CUDA_CHANGE_BY_FIELDS ? hs_cuda_field(state, 1) : NULL;
    HS_TRY(hs_cuda_reduce(&state->reducer, state->problem, &state->layout, now, before,
                          state->change == HS_CUDA_CHANGE_BY_KERNEL, state->stream, err));
    if (state->network.problem)
        HS_TRY(hs_cuda_network_heat(&state->network, now, before, state->reducer.partial, err));
    HS_CUDA_TRY(err, cudaStreamSynchronize(state->stream));
    *out = state->reducer.partial;
    return HS_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

hs_status time_sweeps(hs_backend_state *state, const hs_span *span, double *seconds, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_TRY(hs_cuda_timer_start(&state->timer, state->stream, err));
    HS_TRY(hs_cuda_ask(state, span, err));
    HS_TRY(hs_cuda_timer_stop(&state->timer, state->stream, err));
    HS_TRY(wait(state, span, err));
    return hs_cuda_timer_read(&state->timer, seconds, err);
}

/* Copies the current field to the other, on the device. */
hs_status copy(hs_backend_state *state, int64_t count, int64_t *bytes, double *seconds,
               hs_error *err)
{
    const size_t size = hs_cuda_field_bytes(&state->layout, state->problem->precision);
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_TRY(hs_cuda_timer_start(&state->timer, state->stream, err));
    for (int64_t n = 0; n < count; n++) {
        HS_CUDA_TRY(err, cudaMemcpyAsync(state->field[state->now ^ 1], state->field[state->now],
                                         size, cudaMemcpyDeviceToDevice, state->stream));
        hs_cuda_rotation_turn(&state->rotation, state->field, &state->now);
    }
    HS_TRY(hs_cuda_timer_stop(&state->timer, state->stream, err));
    HS_CUDA_TRY(err, cudaStreamSynchronize(state->stream));
    *bytes = 2 * (int64_t)size;
    state->change = HS_CUDA_CHANGE_NOT_KNOWN;
    return hs_cuda_timer_read(&state->timer, seconds, err);
}

hs_status rotate(hs_backend_state *state, int pairs, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    hs_cuda_graph_release(&state->graph);
    state->change = HS_CUDA_CHANGE_NOT_KNOWN;
    return hs_cuda_rotation_init(&state->rotation, pairs, state->field, state->now,
                                 hs_cuda_field_bytes(&state->layout, state->problem->precision),
                                 state->stream, err);
}

} // namespace

extern "C" const hs_backend hs_backend_cuda = {
    .name = "cuda",
    .device = HS_CUDA,
    .available = available,
    .devices = devices,
    .layout = hs_cuda_layout,
    .memory = hs_cuda_memory,
    .create = create,
    .upload = upload,
    .download = download,
    .upload_space = upload_space,
    .download_before = download_before,
    .download_begin = download_begin,
    .download_part = hs_cuda_readback_part,
    .download_end = download_end,
    .sweep = sweep,
    .reduce = reduce,
    .time_sweeps = time_sweeps,
    .copy = copy,
    .rotate = rotate,
    .cache = hs_cuda_cache,
    .ceilings = hs_cuda_ceilings,
    .limits = hs_cuda_limits,
    .fingerprint = hs_cuda_fingerprint,
    .describe = describe,
    .destroy = destroy,
    .transforms = &hs_cuda_transforms,
    .vectors = &hs_cuda_vectors,
    .krylov = &hs_cuda_krylov,
    .halo = &hs_cuda_halo,
};
