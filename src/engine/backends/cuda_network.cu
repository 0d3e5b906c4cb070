/*
 * The network of a body as CUDA kernels read it, and its heat.
 *
 * What depends on the step is computed when that changes; what acts on nodes before each call, if
 * any of it changes with time. The host evaluates the time functions, the device their effect on
 * rows and nodes, as engine/network/coefficients.h does it.
 */
#include "engine/backends/cuda_parts.cuh"
#include "engine/network/coefficients.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

namespace
{

enum { WARPS = 8, THREADS = 32 * WARPS };

bool as_arrays(const hs_network *network)
{
    return network->form == HS_NETWORK_ARRAYS;
}

/* ---- on the device --------------------------------------------------------------------------- */

template <typename T>
struct action {
    hs_cuda_acted on;
    const hs_forcing *forcing;
    const double
        *value; /* [sweeps + 1][functions]: at each sweep's beginning, and at the last one's end */
    int functions;
    double step;
    T *out; /* one for each row, or node (0, 0, 0); for the next sweep `apart` elements further */
    int64_t apart;
};

/* Sweeps are blocks along y. */
template <typename T>
__global__ void __launch_bounds__(THREADS) act(const __grid_constant__ action<T> a)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= a.on.count)
        return;
    const hs_network_row row = a.on.row[n];
    const hs_forcing &forcing = a.forcing[row.forcing];
    const int time = (int)blockIdx.y + (row.kind == HS_NODE_PRESCRIBED ? 1 : 0);
    double sum = 0.0;
    for (int term = 0; term < forcing.inflow.count; term++)
        sum += forcing.inflow.weight[term] *
               a.value[time * a.functions + forcing.inflow.function[term]];
    a.out[blockIdx.y * a.apart + (a.on.at ? a.on.at[n] : n)] =
        (T)hs_network_added_by(&row, sum, a.step);
}

/* Sinks that change with time, of one sweep; `most`: the largest of each. */
template <typename T>
struct sinks {
    hs_cuda_acted on;
    const hs_forcing *forcing;
    const double *value; /* [functions] */
    bool most;
    T *out; /* of row 0, or node (0, 0, 0); the next one's is `apart` elements further */
    int64_t apart;
};

template <typename T>
__global__ void __launch_bounds__(THREADS) set_sinks(const __grid_constant__ sinks<T> s)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= s.on.count || s.forcing[s.on.row[n].forcing].sink.count == 0)
        return;
    const hs_forcing &forcing = s.forcing[s.on.row[n].forcing];
    double sum = 0.0;
    for (int term = 0; term < forcing.sink.count; term++)
        sum += forcing.sink.weight[term] * s.value[forcing.sink.function[term]];
    s.out[(s.on.at ? s.on.at[n] : n) * s.apart] =
        (T)(s.most ? s.on.row[n].sink : forcing.steady_sink + sum);
}

/* dt/C of each node, as arrays; nodes that are not free have a negative capacity. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    set_rates(const double *capacity, int64_t count, double step, T *out)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n < count)
        out[n] = (T)(capacity[n] > 0.0 ? step / capacity[n] : 0.0);
}

/* Sums over nodes. */
struct heat_sums {
    double heat;         /* of C*T */
    double stored, sunk; /* of C*(T - T before) and g*T before, if that is known */
    double mean, volume; /* of volume*T and volume, of a stretched grid */

    __device__ void add(const heat_sums &other)
    {
        heat += other.heat;
        stored += other.stored;
        sunk += other.sunk;
        mean += other.mean;
        volume += other.volume;
    }
};

/* What the heat of a field is computed from. */
template <typename T>
struct heat_of {
    const T *now, *before; /* node (0, 0, 0); NULL: not known */
    hs_blocks blocks;
    int64_t points_y;
    hs_cuda_shares of; /* no widths unless the grid is stretched */
    const T *sink;     /* as arrays: node (0, 0, 0); NULL: none */
};

template <typename T>
__device__ const hs_network_row &row_at(const heat_of<T> &h, int64_t at)
{
    return h.of.row[h.of.form == HS_NETWORK_BYTES ? ((const uint8_t *)h.of.number)[at]
                                                  : ((const uint16_t *)h.of.number)[at]];
}

template <typename T>
__device__ double capacity_at(const heat_of<T> &h, int64_t at)
{
    return h.of.form == HS_NETWORK_ARRAYS ? fabs(h.of.capacity[at]) : row_at(h, at).capacity;
}

template <typename T>
__device__ double sink_at(const heat_of<T> &h, int64_t at)
{
    if (h.of.form == HS_NETWORK_ARRAYS)
        return h.sink ? (double)h.sink[at] : 0.0;
    return row_at(h, at).sink;
}

/* Adds a node if it is finite. */
template <typename T>
__device__ void add_node(const heat_of<T> &h, int64_t i, int64_t j, int64_t k, heat_sums &sum)
{
    const int64_t at = i + j * h.of.pitch[HS_Y] + k * h.of.pitch[HS_Z];
    const double value = (double)h.now[at];
    if (!isfinite(value))
        return;
    const double volume =
        h.of.width[HS_X] ? h.of.width[HS_X][i] * h.of.width[HS_Y][j] * h.of.width[HS_Z][k] : 0.0;
    const double capacity = capacity_at(h, at);
    heat_sums here = {capacity * value, 0.0, 0.0, volume * value, volume};
    if (h.before) {
        here.stored = capacity * (value - (double)h.before[at]);
        here.sunk = sink_at(h, at) * (double)h.before[at];
    }
    sum.add(here);
}

/* The sums of a piece: over each thread's nodes, then over threads, in a fixed order. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    sum_heat(const __grid_constant__ heat_of<T> h, hs_partial *out)
{
    __shared__ heat_sums of_thread[THREADS];
    const hs_piece piece = hs_piece_of(&h.blocks, blockIdx.x);
    const uint32_t ny = (uint32_t)h.points_y;
    heat_sums sum = {};
    for (uint32_t s = piece.first + threadIdx.x / 32; s < piece.last; s += WARPS) {
        const hs_strip strip = hs_strip_of(&piece, s);
        for (int64_t i = strip.begin + threadIdx.x % 32; i < strip.end; i += 32)
            add_node(h, i, strip.row % ny, strip.row / ny, sum);
    }
    of_thread[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            of_thread[threadIdx.x].add(of_thread[threadIdx.x + half]);
    }
    if (threadIdx.x > 0)
        return;
    out += blockIdx.x;
    out->heat.sum = of_thread[0].heat;
    out->stored.sum = h.before ? of_thread[0].stored : NAN;
    out->sunk.sum = h.before ? of_thread[0].sunk : NAN;
    if (h.of.width[HS_X]) {
        out->sum.sum = of_thread[0].mean;
        out->volume.sum = of_thread[0].volume;
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

hs_status reserve(hs_cuda_network *network, size_t bytes, const void **out, hs_error *err)
{
    return hs_cuda_pool_zeros(&network->pool, bytes, (void **)out, network->stream, err);
}

/* A field of zeros; *out: node (0, 0, 0). */
hs_status reserve_field(hs_cuda_network *network, const void **out, hs_error *err)
{
    const hs_precision precision = network->problem->precision;
    HS_TRY(reserve(network, hs_cuda_field_bytes(&network->layout, precision), out, err));
    *out = (const char *)*out + (size_t)network->layout.origin * hs_precision_size(precision);
    return HS_OK;
}

/* Elements `first` to `end` of a field's rows, which begin with their left ghosts; ghost rows are
 * rows, too. */
template <typename Put>
hs_status put_elements(const hs_cuda_network *network, hs_cuda_staging *staging, size_t size,
                       Put put, int64_t first, int64_t end, char *rows, hs_error *err)
{
    const hs_layout *layout = &network->layout;
    const bool *wrap = network->view.wrap;
    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y], nz = layout->points[HS_Z];
    const int64_t pitch = layout->pitch[HS_Y], of_plane = layout->pitch[HS_Z] / pitch;
    const int64_t above = network->problem->grid.dims > 2 ? layout->ghost : 0;
    const size_t bytes = (size_t)(end - first) * size;
    void *space;
    HS_TRY(hs_cuda_staging_space(staging, bytes, &space, err));
    char *const here = (char *)space;
#pragma omp parallel for schedule(static)
    for (int64_t r = first / pitch; r < hs_divide_up(end, pitch); r++) {
        const int64_t j = r % of_plane - (of_plane - ny) / 2, k = r / of_plane - above;
        const int64_t from = hs_larger(first, r * pitch), to = hs_smaller(end, (r + 1) * pitch);
        const int64_t at = r * pitch + layout->ghost; /* of the row's first node */
        const int64_t node = ((k + nz) % nz * ny + (j + ny) % ny) * nx;
        memset(here + (size_t)(from - first) * size, 0, (size_t)(to - from) * size);
        if ((!wrap[HS_Y] && (j < 0 || j >= ny)) || (!wrap[HS_Z] && (k < 0 || k >= nz)))
            continue;
        const int64_t last = hs_smaller(to - at, wrap[HS_X] ? nx + 1 : nx);
        for (int64_t i = hs_larger(from - at, wrap[HS_X] ? -1 : 0); i < last; i++)
            put(here, at + i - first, node + (i < 0 ? nx - 1 : i < nx ? i : 0));
    }
    return hs_cuda_staging_send(staging, bytes, rows + (size_t)first * size, err);
}

/* A field in the layout, of elements of `size` bytes: put(field, element, node) writes that of a
 * node; ghosts along periodic axes get the other side's; all else is zero. *out: node (0, 0, 0).
 * The host makes elements while those before are on their way. */
template <typename Put>
hs_status make_field(hs_cuda_network *network, size_t size, Put put, const void **out,
                     hs_error *err)
{
    const hs_layout *layout = &network->layout;
    const int dims = network->problem->grid.dims;
    const int64_t ghost = layout->ghost, around_y = dims > 1 ? ghost : 0;
    const int64_t around_z = dims > 2 ? ghost : 0, most = HS_CUDA_HALF_BYTES / (int64_t)size;
    const int64_t elements = layout->pitch[HS_Z] * (layout->points[HS_Z] + 2 * around_z);
    hs_cuda_staging staging = {layout, network->problem->precision, network->stream};
    HS_TRY(reserve(network, (size_t)layout->elements * size, out, err));
    char *const node = (char *)*out + (size_t)layout->origin * size;
    char *const rows = node - (size_t)(hs_layout_offset(layout, ghost, around_y, around_z)) * size;
    hs_status st = HS_OK;
    for (int64_t first = 0; first < elements && !st; first += most)
        st = put_elements(network, &staging, size, put, first, hs_smaller(first + most, elements),
                          rows, err);
    *out = node;
    return hs_cuda_staging_finish(&staging, st, err);
}

/* ---- init ------------------------------------------------------------------------------------ */

/* The widths of nodes along each axis. */
hs_status init_widths(hs_cuda_network *network, hs_error *err)
{
    const hs_problem *problem = network->problem;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t points = problem->grid.points[axis];
        double *const width = (double *)malloc((size_t)points * sizeof *width);
        if (!width)
            return hs_error_add(err, HS_DEVICE, "not enough memory for the grid's coordinates");
        for (int64_t i = 0; i < points; i++)
            width[i] = hs_problem_node_width(problem, axis, i);
        const hs_status st =
            hs_cuda_put(&network->pool, width, points, &network->width[axis], network->stream, err);
        free(width);
        if (st)
            return st;
    }
    return HS_OK;
}

hs_status init_palette(hs_cuda_network *network, hs_error *err)
{
    const hs_network *of = network->problem->network;
    const size_t bytes = hs_network_node_bytes(of->form);
    const size_t size = hs_precision_size(network->problem->precision);
    const size_t rows = (size_t)of->row_count;
    const auto put = [=](char *field, int64_t at, int64_t node) {
        memcpy(field + (size_t)at * bytes, (const char *)of->number + (size_t)node * bytes, bytes);
    };
    HS_TRY(make_field(network, bytes, put, &network->view.number, err));
    HS_TRY(reserve(network, rows * HS_ROW_NUMBERS * size, &network->view.row, err));
    HS_TRY(reserve(network, rows * size * (size_t)network->sweeps, &network->view.forcing, err));
    HS_TRY(hs_cuda_put(&network->pool, of->row, of->row_count, &network->acted.row, network->stream,
                       err));
    network->acted.count = of->row_count;
    return HS_OK;
}

/* Lists the nodes, prescribed or other ones, on which something acts. */
hs_status list_acted(hs_cuda_network *network, bool prescribed, hs_cuda_acted *out, hs_error *err)
{
    const hs_network *of = network->problem->network;
    const hs_layout *layout = &network->layout;
    int64_t *const node = hs_network_acted(of, prescribed, omp_get_max_threads(), &out->count);
    hs_network_row *const row = (hs_network_row *)malloc(((size_t)out->count + 1) * sizeof *row);
    hs_status st = HS_OK;
    if (!node || !row)
        st = hs_error_add(err, HS_DEVICE, "not enough memory for the walls");
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < (st ? 0 : out->count); n++) {
        row[n] = of->node[node[n]];
        node[n] = hs_layout_node(layout, node[n]);
    }
    if (!st)
        st = hs_cuda_put(&network->pool, row, out->count, &out->row, network->stream, err);
    if (!st)
        st = hs_cuda_put(&network->pool, node, out->count, &out->at, network->stream, err);
    free(node);
    free(row);
    return st;
}

/* A field of one member of each node's row. */
template <typename Member>
hs_status make_array(hs_cuda_network *network, Member member, const void **out, hs_error *err)
{
    const hs_precision precision = network->problem->precision;
    const hs_network_row *const row = network->problem->network->node;
    return make_field(
        network, hs_precision_size(precision),
        [=](char *field, int64_t at, int64_t node) {
            hs_write(precision, field, at, member(row[node]));
        },
        out, err);
}

bool any_sinks(const hs_network *network)
{
    bool any = false;
#pragma omp parallel for reduction(|| : any) schedule(static)
    for (int64_t n = 0; n < hs_grid_count(&network->grid); n++)
        any = any || network->node[n].sink != 0.0;
    return any;
}

hs_status init_arrays(hs_cuda_network *network, hs_error *err)
{
    const hs_network *of = network->problem->network;
    for (int axis = 0; axis < of->grid.dims; axis++)
        HS_TRY(make_array(
            network, [=](const hs_network_row &row) { return row.conductance[axis]; },
            &network->view.conductance[axis], err));
    if (any_sinks(of))
        HS_TRY(make_array(
            network, [](const hs_network_row &row) { return row.sink; }, &network->view.sink, err));
    HS_TRY(make_field(
        network, sizeof(double),
        [=](char *field, int64_t at, int64_t node) {
            const hs_network_row &row = of->node[node];
            ((double *)field)[at] = row.kind == HS_NODE_FREE ? row.capacity : -row.capacity;
        },
        (const void **)&network->capacity, err));
    HS_TRY(reserve_field(network, &network->view.rate, err));
    HS_TRY(list_acted(network, true, &network->prescribed, err));
    HS_TRY(list_acted(network, false, &network->acted, err));
    if (network->acted.count > 0)
        HS_TRY(reserve_field(network, &network->view.added, err));
    return HS_OK;
}

/* ---- update ---------------------------------------------------------------------------------- */

/* Puts what acts in `sweeps` sweeps into `out`; they begin with the time of index `first`. */
hs_status put_acted(const hs_cuda_network *network, const hs_cuda_acted *on, double step, int first,
                    int sweeps, void *out, hs_error *err)
{
    if (on->count == 0)
        return HS_OK;
    return hs_cuda_typed(network->problem->precision, [&](auto zero) {
        action<decltype(zero)> a = {};
        a.on = *on;
        a.forcing = network->forcing;
        a.functions = network->problem->time_function_count;
        a.value = network->value + first * a.functions;
        a.step = step;
        a.out = (decltype(zero) *)out;
        a.apart = network->view.row_count;
        const dim3 blocks((unsigned)hs_divide_up(on->count, THREADS), (unsigned)sweeps);
        act<<<blocks, THREADS, 0, network->stream>>>(a);
        HS_CUDA_LAUNCHED(err, "act", blocks.x * blocks.y, THREADS);
        return HS_OK;
    });
}

hs_status put_sinks(const hs_cuda_network *network, bool most, hs_error *err)
{
    const bool arrays = as_arrays(network->problem->network);
    if (!network->sinks_vary || network->acted.count == 0)
        return HS_OK;
    return hs_cuda_typed(network->problem->precision, [&](auto zero) {
        typedef decltype(zero) T;
        sinks<T> s = {};
        s.on = network->acted;
        s.forcing = network->forcing;
        s.value = network->value;
        s.most = most;
        s.out = arrays ? (T *)network->view.sink : (T *)network->view.row + HS_ROW_SINK;
        s.apart = arrays ? 1 : HS_ROW_NUMBERS;
        const int64_t blocks = hs_divide_up(s.on.count, THREADS);
        set_sinks<<<(unsigned)blocks, THREADS, 0, network->stream>>>(s);
        HS_CUDA_LAUNCHED(err, "set_sinks", blocks, THREADS);
        return HS_OK;
    });
}

hs_status set_rows(hs_cuda_network *network, double step, hs_error *err)
{
    const hs_network *of = network->problem->network;
    const hs_precision precision = network->problem->precision;
    const size_t bytes = (size_t)of->row_count * HS_ROW_NUMBERS * hs_precision_size(precision);
    void *const rows = hs_new(bytes);
    hs_network_coefficients(of, precision, step, rows);
    const cudaError_t copied = cudaMemcpyAsync((void *)network->view.row, rows, bytes,
                                               cudaMemcpyHostToDevice, network->stream);
    free(rows);
    HS_CUDA_TRY(err, copied);
    return HS_OK;
}

hs_status set_step(hs_cuda_network *network, double step, hs_error *err)
{
    if (!as_arrays(network->problem->network))
        return set_rows(network, step, err);
    const int64_t count = network->layout.elements, blocks = hs_divide_up(count, THREADS);
    const int64_t origin = network->layout.origin;
    hs_cuda_typed(network->problem->precision, [&](auto zero) {
        set_rates<<<(unsigned)blocks, THREADS, 0, network->stream>>>(
            network->capacity - origin, count, step, (decltype(zero) *)network->view.rate - origin);
    });
    HS_CUDA_LAUNCHED(err, "set_rates", blocks, THREADS);
    return HS_OK;
}

/* The values of the time functions at the beginning of each of `sweeps` sweeps, and at the end of
 * the last one. */
hs_status set_times(hs_cuda_network *network, const hs_span *span, int64_t first, int sweeps,
                    hs_error *err)
{
    const hs_problem *problem = network->problem;
    const int functions = problem->time_function_count;
    for (int s = 0; s <= sweeps; s++)
        for (int d = 0; d < functions; d++)
            network->value_here[s * functions + d] =
                hs_time_function_at(&problem->time_functions[d], hs_span_time(span, first + s));
    HS_CUDA_TRY(err, cudaMemcpyAsync(network->value, network->value_here,
                                     (size_t)((sweeps + 1) * functions) * sizeof(double),
                                     cudaMemcpyHostToDevice, network->stream));
    return HS_OK;
}

} // namespace

double hs_cuda_network_bytes(const hs_problem *problem, double field_bytes, int sweeps)
{
    const hs_network *network = problem->network;
    const double size = (double)hs_precision_size(problem->precision);
    if (!network)
        return 0.0;
    if (as_arrays(network)) /* G, dt/C, g and s, the capacity, and where something acts */
        return field_bytes * (problem->grid.dims + 3) + field_bytes / size * sizeof(double) +
               hs_network_forced(network, &problem->grid) *
                   (sizeof(hs_network_row) + sizeof(int64_t)) +
               network->forcing_count * (double)sizeof *network->forcing;
    return field_bytes / size * (double)hs_network_node_bytes(network->form) +
           network->row_count * (size * (HS_ROW_NUMBERS + sweeps) + sizeof *network->row);
}

hs_status hs_cuda_network_init(hs_cuda_network *network, const hs_problem *problem,
                               const hs_layout *layout, int sweeps, cudaStream_t stream,
                               hs_error *err)
{
    const hs_network *of = problem->network;
    *network = {};
    if (!of)
        return HS_OK;
    network->problem = problem;
    network->layout = *layout;
    network->stream = stream;
    network->sweeps = sweeps;
    network->step = NAN;
    network->varies = hs_network_varies(of, problem->time_functions) || of->given.count > 0;
    network->sinks_vary = hs_network_sinks_vary(of);
    network->view.form = of->form;
    network->view.row_count = of->row_count;
    memcpy(network->view.wrap, of->wrap, sizeof of->wrap);
    const int functions = (sweeps + 1) * problem->time_function_count;
    network->value_here = hs_cuda_new<double>(functions + 1);
    HS_TRY(hs_cuda_take(&network->pool, functions, &network->value, err));
    HS_TRY(
        hs_cuda_moving_init(&network->given, &of->given, layout, problem->precision, stream, err));
    HS_TRY(init_widths(network, err));
    HS_TRY(hs_cuda_put(&network->pool, of->forcing, of->forcing_count, &network->forcing, stream,
                       err));
    return as_arrays(of) ? init_arrays(network, err) : init_palette(network, err);
}

void hs_cuda_network_release(hs_cuda_network *network)
{
    hs_cuda_pool_release(&network->pool);
    hs_cuda_moving_release(&network->given);
    free(network->value_here);
    *network = {};
}

hs_status hs_cuda_network_update(hs_cuda_network *network, const hs_span *span, int64_t first,
                                 int steps, hs_error *err)
{
    const bool stepped = network->step != span->step;
    if (!network->problem || (!stepped && !network->varies))
        return HS_OK;
    /* what does not change with time is made for calls of any number of sweeps */
    const int sweeps = network->varies ? steps : network->sweeps;
    if (stepped)
        HS_TRY(set_step(network, span->step, err));
    HS_TRY(set_times(network, span, first, sweeps, err));
    const void *const added = network->view.row ? network->view.forcing : network->view.added;
    HS_TRY(put_acted(network, &network->acted, span->step, 0, sweeps, (void *)added, err));
    HS_TRY(put_sinks(network, false, err));
    network->step = span->step;
    return HS_OK;
}

hs_status hs_cuda_network_prescribe(hs_cuda_network *network, int steps, double t, void *field,
                                    hs_error *err)
{
    double *given;
    HS_TRY(hs_cuda_moving_space(&network->given, &given, err));
    if (given)
        hs_moving_at(network->given.of, &network->problem->grid, t, omp_get_max_threads(), given);
    HS_TRY(hs_cuda_moving_put(&network->given, field, err));
    return put_acted(network, &network->prescribed, network->step, steps - 1, 1, field, err);
}

hs_cuda_shares hs_cuda_network_shares(const hs_cuda_network *network)
{
    hs_cuda_shares shares = {};
    shares.form = network->view.form;
    shares.number = network->view.number;
    shares.row = network->acted.row;
    shares.capacity = network->capacity;
    for (int axis = 0; axis < HS_AXES; axis++) {
        shares.width[axis] = network->width[axis];
        shares.pitch[axis] = network->layout.pitch[axis];
    }
    return shares;
}

hs_status hs_cuda_network_heat(const hs_cuda_network *network, const void *now, const void *before,
                               hs_partial *out, hs_error *err)
{
    const hs_blocks blocks = hs_blocks_of(network->problem);
    /* of arrays there is but one, which the balance wants with the largest h (balance/network.c) */
    if (as_arrays(network->problem->network))
        HS_TRY(put_sinks(network, true, err));
    hs_cuda_typed(network->problem->precision, [&](auto zero) {
        typedef decltype(zero) T;
        heat_of<T> h = {};
        h.now = (const T *)now;
        h.before = (const T *)before;
        h.sink = (const T *)network->view.sink;
        h.blocks = blocks;
        h.points_y = network->layout.points[HS_Y];
        h.of = hs_cuda_network_shares(network);
        if (!hs_grid_is_stretched(&network->problem->grid))
            h.of.width[HS_X] = NULL;
        sum_heat<<<(unsigned)blocks.pieces, THREADS, 0, network->stream>>>(h, out);
    });
    HS_CUDA_LAUNCHED(err, "sum_heat", blocks.pieces, THREADS);
    return HS_OK;
}
