/*
 * The vectors of conjugate gradients on the device, dense: T, r and others in double, p in float.
 *
 * p is but a direction: rounded, it is another one that is as good, as long as the same numbers are
 * added to T and, times A in double, taken from r. So A p is made where it is taken, and not kept.
 * T += length p waits until two of them are read, by the pass that makes the next one in another
 * array, since nodes read their neighbours' last p.
 *
 * Rows along x are padded to a length of which passes can take four nodes at once. What pads them
 * is no unknown, has no edges, and is 0 in every vector: so sums, the network's levels and all
 * passes have it without knowing of it. Only copies and fields do.
 */
#include "engine/backends/cuda_krylov.cuh"

#include "core/round.h"
#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/level.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>

/* The network in double, as numbers of rows or as arrays. */
struct hs_cuda_operator {
    hs_network_form form;
    void *number;
    double *row; /* [rows][ROW_NUMBERS] */
    double *edge[HS_AXES], *sink, *rate;
};

struct hs_krylov_state {
    const hs_equations *equations; /* of whose inflow a copy is here */
    hs_lattice grid, lattice;      /* the latter with what pads rows: vectors are [nodes] of it */
    int64_t nodes;
    march::box box; /* of single nodes */
    cudaStream_t stream;
    hs_cuda_levels levels;
    hs_cuda_operator op;
    double shift, levels_shift; /* of the operator's sinks, and that the levels were made of */
    double **vector;            /* [count][nodes] by their numbers; 0 in what pads rows */
    int count;
    char *some; /* [some_bytes] values on their way, and their nodes; NULL: none yet */
    size_t some_bytes;
    float *p, *p_before;          /* [nodes] in units of `scale`; NULL before they are wanted */
    double scale;                 /* 0: not known */
    double unit;                  /* of the right side of the cycle: about the largest of r */
    double largest;               /* of r, since the last pass over it */
    double length, length_before; /* of p, and the one before, that are still to be added to T */
};

namespace
{

enum { ROW_NUMBERS = 8 }; /* G along x, y, z, sink, 1/C */

/* ---- the operator ---------------------------------------------------------------------------- */

/* 1/C is 0 at nodes that are not free. `number`: in a palette that of the row. */
struct numbers {
    double edge[HS_AXES], sink, rate;
    unsigned number;
};

struct number_of_edge {
    double edge;
    unsigned number;
};

const unsigned no_number = ~0u;

/* A node has mostly the row of the one below. */
template <typename NUMBER>
struct palette {
    static const bool wide = true;
    const NUMBER *number;
    const double *row;

    palette(const hs_cuda_operator &op) : number((const NUMBER *)op.number), row(op.row)
    {
    }
    __device__ double edge(int axis, unsigned node) const
    {
        return __ldg(row + (unsigned)__ldg(number + node) * ROW_NUMBERS + axis);
    }
    __device__ double rate(unsigned node) const
    {
        return edge(4, node);
    }
    __device__ auto numbers_of(unsigned node) const
    {
        return __ldg((const typename march::four<NUMBER>::type *)(number + node));
    }
    __device__ unsigned number_of(unsigned node) const
    {
        return __ldg(number + node);
    }
    __device__ static bool all_are(typename march::four<NUMBER>::type numbers, unsigned n)
    {
        return numbers == n * march::four<NUMBER>::ones;
    }
    __device__ numbers none() const
    {
        return {{}, 0.0, 0.0, no_number};
    }
    __device__ number_of_edge no_edge() const
    {
        return {0.0, no_number};
    }
    __device__ void keep(numbers &kept, unsigned node) const
    {
        const unsigned n = __ldg(number + node);
        if (n == kept.number)
            return;
        const double *const v = row + n * ROW_NUMBERS;
        const double2 one = __ldg((const double2 *)v), two = __ldg((const double2 *)v + 1);
        kept = {{one.x, one.y, two.x}, two.y, __ldg(v + 4), n};
    }
    __device__ void keep_edge(number_of_edge &kept, int axis, unsigned node) const
    {
        const unsigned n = __ldg(number + node);
        if (n != kept.number)
            kept = {__ldg(row + n * ROW_NUMBERS + axis), n};
    }
    __device__ numbers at(unsigned node) const
    {
        numbers row = none();
        keep(row, node);
        return row;
    }
};

struct arrays {
    static const bool wide = false;
    const double *of[HS_AXES], *sinks, *rates;

    arrays(const hs_cuda_operator &op)
        : of{op.edge[0], op.edge[1], op.edge[2]}, sinks(op.sink), rates(op.rate)
    {
    }
    __device__ double edge(int axis, unsigned node) const
    {
        return of[axis] ? __ldg(of[axis] + node) : 0.0;
    }
    __device__ double rate(unsigned node) const
    {
        return __ldg(rates + node);
    }
    __device__ numbers none() const
    {
        return {};
    }
    __device__ number_of_edge no_edge() const
    {
        return {};
    }
    __device__ numbers at(unsigned node) const
    {
        return {{edge(HS_X, node), edge(HS_Y, node), edge(HS_Z, node)},
                __ldg(sinks + node),
                rate(node),
                0};
    }
    __device__ void keep(numbers &row, unsigned node) const
    {
        row = at(node);
    }
    __device__ void keep_edge(number_of_edge &to, int axis, unsigned node) const
    {
        to.edge = edge(axis, node);
    }
};

__device__ __forceinline__ void keep_most(double &most, double value)
{
    most = value > most ? value : most;
}

/* inflow + flow, and how large it is. */
template <typename Rows>
struct residual_task {
    typedef double value;
    struct total {
        double flow, size;
    };
    march::box box;
    Rows rows;
    const double *T, *inflow;
    double *r;

    __device__ double load(unsigned node) const
    {
        return __ldg(T + node);
    }
    __device__ void add(total &to, double g, double there, double here) const
    {
        to.flow += g * (there - here);
        to.size += g * (fabs(there) + fabs(here));
    }
    __device__ void put(unsigned node, const numbers &row, const double (&at)[1],
                        const total (&sum)[1], march::found &mine) const
    {
        const total &s = sum[0];
        const double here = at[0];
        const double in = __ldg(inflow + node);
        const double value = row.rate > 0.0 ? in + (s.flow - row.sink * here) : 0.0;
        const double rate = isfinite(value) ? fabs(value) * row.rate : INFINITY;
        const double size = s.size + row.sink * fabs(here) + fabs(in);
        const double rounding = 4.0 * DBL_EPSILON * size * row.rate;
        r[node] = value;
        keep_most(mine.most[0], rate);
        keep_most(mine.most[1], rounding);
        keep_most(mine.most[2], fabs(value));
    }
};

/* p = z + factor p; T += what the last two p were to add, of which p is the older one, if anything
 * of that. */
template <typename Rows>
struct turn_task {
    march::box box;
    Rows rows;
    const float *x, *p_before;
    float unit, factor;
    double length, length_older;
    double *T;
    float *p;

    template <int W>
    __device__ void load(unsigned node, float (&to)[W]) const
    {
        float before[W];
        march::read(x, node, to);
        march::read(p_before, node, before);
        for (int m = 0; m < W; m++)
            to[m] = unit * to[m] + factor * before[m];
    }
    template <int W>
    __device__ void put(unsigned node, const float (&here)[W]) const
    {
        if (length_older != 0.0) {
            float older[W], before[W];
            double sum[W];
            march::read_own(p, node, older);
            march::read(p_before, node, before);
            march::read_own(T, node, sum);
            for (int m = 0; m < W; m++)
                sum[m] += length_older * (double)older[m] + length * (double)before[m];
            march::write(T, node, sum);
        }
        march::write(p, node, here);
    }
};

/* With p.A p, which is the sum of G (p - p there)^2 over the edges and of sink p^2 over the nodes,
 * since p is 0 where a temperature is kept: so a node looks at the next ones only. */
template <int W, typename Rows>
__global__ void __launch_bounds__(march::THREADS, march::blocks_of_width(W))
    do_turn(const __grid_constant__ turn_task<Rows> task, march::reduction to)
{
    const march::box &b = task.box;
    const march::column c = march::column_of(b);
    const march::around at = march::around_of(b, c, W);
    const unsigned nx = (unsigned)b.n[HS_X], sheet = nx * (unsigned)b.n[HS_Y];
    unsigned node = (unsigned)c.i + nx * (unsigned)c.j + sheet * (unsigned)c.first;
    march::found mine = {};
    float here[W], above[W], north[W], east[1];
    auto row = task.rows.none();
    if (c.first < c.last)
        task.load(node, here);
    for (int k = c.first; k < c.last; k++, node += sheet) {
        task.load(node + march::to_after(k, b.n[HS_Z], b.wrap[HS_Z], sheet), above);
        task.load(node + at.north, north);
        task.load(node + at.east, east);
#pragma unroll
        for (int m = 0; m < W; m++) {
            const double p = (double)here[m];
            const double x = (double)((m < W - 1 ? here[(m + 1) % W] : east[0]) - here[m]);
            const double y = (double)(north[m] - here[m]), z = (double)(above[m] - here[m]);
            task.rows.keep(row, node + (unsigned)m);
            double sum = fma(row.edge[HS_X] * x, x, row.sink * p * p);
            sum = fma(row.edge[HS_Y] * y, y, sum);
            mine.sum[0] += fma(row.edge[HS_Z] * z, z, sum);
        }
        task.put(node, here);
        for (int m = 0; m < W; m++)
            here[m] = above[m];
    }
    march::reduce(mine, to);
}

/* r -= length A p, and the right side of the cycle. */
template <typename Rows>
struct subtract_task {
    typedef float value;
    typedef double total;
    march::box box;
    Rows rows;
    const float *p;
    double length, per_unit;
    double *r;
    float *right;

    __device__ float load(unsigned node) const
    {
        return __ldg(p + node);
    }
    __device__ void load(unsigned node, float (&to)[march::WIDE]) const
    {
        march::read(p, node, to);
    }
    __device__ void add(double &to, double g, float there, float here) const
    {
        to = fma(g, (double)there - (double)here, to);
    }
    template <int W>
    __device__ void put(unsigned node, const numbers &row, const float (&here)[W],
                        const double (&flow)[W], march::found &mine) const
    {
        double value[W];
        float rounded[W];
        march::read_own(r, node, value);
        for (int m = 0; m < W; m++) {
            value[m] -= row.rate > 0.0 ? length * (row.sink * (double)here[m] - flow[m]) : 0.0;
            rounded[m] = (float)(value[m] * per_unit);
            keep_most(mine.most[0], isfinite(value[m]) ? fabs(value[m]) * row.rate : INFINITY);
            keep_most(mine.most[2], fabs(value[m]));
        }
        march::write(r, node, value);
        march::write(right, node, rounded);
    }
};

template <int W, typename Task>
__global__ void __launch_bounds__(march::THREADS, march::blocks_of_width(W))
    do_pass(const __grid_constant__ Task task, march::reduction to)
{
    march::found mine = {};
    march::go<W>(task.box, task, mine);
    march::reduce(mine, to);
}

/* ---- single nodes ---------------------------------------------------------------------------- */

__global__ void __launch_bounds__(march::THREADS)
    make_right(int64_t nodes, double per_unit, const double *r, float *right)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        right[n] = (float)(r[n] * per_unit);
}

/* T += the lengths of p and the one before, and by; the latter to the first `own` of a row. */
__global__ void __launch_bounds__(march::THREADS)
    add_to(int64_t nodes, int64_t row, int64_t own, double length, const float *p,
           double length_before, const float *p_before, double by, double *T)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const double more = by != 0.0 && n % row < own ? by : 0.0;
        T[n] += (p ? length_before * (double)p_before[n] + length * (double)p[n] : 0.0) + more;
    }
}

/* A sum of vectors (core/krylov.h). */
struct sum {
    int count;
    double factor[HS_KRYLOV_TERMS];
    const double *plus[HS_KRYLOV_TERMS], *minus[HS_KRYLOV_TERMS]; /* the latter NULL: none */
    int power[HS_KRYLOV_TERMS];
};

template <typename Rows>
__device__ double value_of(const Rows &rows, const sum &of, int64_t n)
{
    double value = 0.0;
    for (int t = 0; t < of.count; t++) {
        const double difference = of.minus[t] ? of.plus[t][n] - of.minus[t][n] : of.plus[t][n];
        double factor = of.factor[t];
        if (of.power[t]) {
            const double rate = rows.rate((unsigned)n);
            factor *= of.power[t] < 0 || !(rate > 0.0) ? rate : 1.0 / rate;
        }
        value = fma(factor, difference, value);
    }
    return value;
}

template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    combine_sum(Rows rows, int64_t nodes, const __grid_constant__ sum of, double *out)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        out[n] = value_of(rows, of, n);
}

/* Its total, and the largest size, of free nodes or all. */
template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    measure_sum(Rows rows, int64_t nodes, const __grid_constant__ sum of, bool free,
                march::reduction to)
{
    march::found mine = {};
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const double value = value_of(rows, of, n);
        mine.sum[0] += value;
        if (!free || rows.rate((unsigned)n) > 0.0)
            keep_most(mine.most[0], fabs(value));
    }
    march::reduce(mine, to);
}

/* To nodes of a grid of rows of `own`, in a vector of rows of `row`. */
__global__ void __launch_bounds__(march::THREADS)
    scatter(int64_t count, const int64_t *node, const double *value, int64_t own, int64_t row,
            double *out)
{
    for (int64_t n = march::first_node(); n < count; n += march::threads_of_all())
        out[node[n] % own + node[n] / own * row] = value[n];
}

/* Conductances are those of level.c: float, over their unit. */
template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    make_finest(Rows rows, double factor, hs_coarse_network net)
{
    const int64_t nodes = hs_lattice_count(&net.lattice);
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const numbers row = rows.at((unsigned)n);
        net.sink[n] = row.rate > 0.0 ? (float)(factor * row.sink) : INFINITY;
        for (int axis = 0; axis < HS_AXES; axis++)
            if (net.edge[axis])
                net.edge[axis][n] = (float)(factor * row.edge[axis]);
    }
}

/* Between a vector, whose rows are `row` nodes, and a field. */
template <typename FIELD>
__global__ void __launch_bounds__(march::THREADS)
    move_field(hs_lattice grid, FIELD *field, int64_t pitch_y, int64_t pitch_z, bool to_field,
               int64_t row, double *vector)
{
    const int64_t nx = grid.n[HS_X], ny = grid.n[HS_Y], nodes = hs_lattice_count(&grid);
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        FIELD *const at = field + n % nx + n / nx % ny * pitch_y + n / (nx * ny) * pitch_z;
        double *const own = vector + n % nx + n / nx * row;
        if (to_field)
            *at = (FIELD)*own;
        else
            *own = (double)*at;
    }
}

/* ---- padding --------------------------------------------------------------------------------- */

hs_lattice lattice_of(const hs_grid *grid, const bool wrap[HS_AXES])
{
    hs_lattice lattice;
    for (int axis = 0; axis < HS_AXES; axis++) {
        lattice.n[axis] = grid->points[axis];
        lattice.wrap[axis] = wrap[axis];
    }
    return lattice;
}

/* Rows of a multiple of 16 nodes have multiples of four on the next two levels as well, beyond
 * which a 512th of the nodes of three axes is left. More than a tenth of a row is not worth it; nor
 * is anything where no pass takes four nodes: not of arrays, nor of so few nodes that levels have
 * arrays. The ends of a periodic row are neighbours. */
hs_lattice padded(const hs_lattice &lattice, hs_network_form form)
{
    const int64_t longest = INT32_MAX / (int64_t)sizeof(double) - 16; /* of cudaMemcpy2D */
    const int64_t n = lattice.n[HS_X];
    hs_lattice out = lattice;
    if (lattice.wrap[HS_X] || form == HS_NETWORK_ARRAYS || n > longest ||
        hs_lattice_count(&lattice) < HS_CUDA_FEW_NODES)
        return out;
    for (int64_t multiple = 16; multiple >= march::WIDE; multiple /= 2) {
        const int64_t more = hs_round_up(n, multiple) - n;
        if (10 * more > n)
            continue;
        out.n[HS_X] += more;
        break;
    }
    return out;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* As many zeros of `size` bytes as there are nodes. */
hs_status take_nodes(hs_krylov_state *self, size_t size, void **out, hs_error *err)
{
    const size_t bytes = (size_t)self->nodes * size;
    const hs_status st = hs_cuda_levels_take(&self->levels, bytes, out, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemsetAsync(*out, 0, bytes, self->stream));
    return HS_OK;
}

hs_status take_doubles(hs_krylov_state *self, double **out, hs_error *err)
{
    return take_nodes(self, sizeof **out, (void **)out, err);
}

hs_status put(hs_krylov_state *self, const void *from, size_t bytes, void *to, hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, self->stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(self->stream));
    return HS_OK;
}

/* Numbers of `size` bytes of the grid's nodes, from and to the host; what pads rows stays as it is.
 * By way of dense memory of the device, since rows that come one by one take twice as long. */
hs_status copy_nodes(hs_krylov_state *self, size_t size, void *host, void *here, bool to_host,
                     hs_error *err)
{
    const int64_t *n = self->grid.n, rows = n[HS_Y] * n[HS_Z];
    const size_t width = (size_t)n[HS_X] * size, pitch = (size_t)self->lattice.n[HS_X] * size;
    const size_t bytes = (size_t)rows * width;
    void *dense = here;
    hs_status st = HS_OK;
    if (width != pitch)
        st = hs_cuda_levels_take(&self->levels, bytes, &dense, err);
    if (st)
        return st;
    if (to_host && dense != here)
        HS_CUDA_TRY(err, cudaMemcpy2DAsync(dense, width, here, pitch, width, (size_t)rows,
                                           cudaMemcpyDeviceToDevice, self->stream));
    HS_CUDA_TRY(err, cudaMemcpyAsync(to_host ? host : dense, to_host ? dense : host, bytes,
                                     to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                                     self->stream));
    if (!to_host && dense != here)
        HS_CUDA_TRY(err, cudaMemcpy2DAsync(here, pitch, dense, width, width, (size_t)rows,
                                           cudaMemcpyDeviceToDevice, self->stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(self->stream));
    if (dense != here)
        hs_cuda_levels_drop(&self->levels, dense);
    return HS_OK;
}

hs_status nodes_to_device(hs_krylov_state *self, size_t size, const void *from, void *to,
                          hs_error *err)
{
    return copy_nodes(self, size, (void *)from, to, false, err);
}

hs_status nodes_to_host(hs_krylov_state *self, size_t size, void *from, void *to, hs_error *err)
{
    return copy_nodes(self, size, to, from, true, err);
}

double rate_of(const hs_network_row &row)
{
    return row.kind == HS_NODE_FREE ? 1.0 / row.capacity : 0.0;
}

double sink_of(const hs_network_row &row, double shift)
{
    return row.kind == HS_NODE_FREE ? row.sink + shift * row.capacity : 0.0;
}

hs_status put_rows(hs_krylov_state *self, hs_error *err)
{
    const hs_network *of = self->equations->network;
    const size_t count = (size_t)of->row_count * ROW_NUMBERS;
    double *const rows = (double *)calloc(count, sizeof *rows);
    if (!rows)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the body's rows");
    for (int n = 0; n < of->row_count; n++) {
        double *const to = rows + n * ROW_NUMBERS;
        for (int axis = 0; axis < HS_AXES; axis++)
            to[axis] = of->row[n].conductance[axis];
        to[3] = sink_of(of->row[n], self->equations->shift);
        to[4] = rate_of(of->row[n]);
    }
    const hs_status st = put(self, rows, count * sizeof *rows, self->op.row, err);
    free(rows);
    return st;
}

/* One number of each node. */
template <typename Member>
hs_status put_array(hs_krylov_state *self, Member member, double *to, hs_error *err)
{
    const hs_network_row *const row = self->equations->network->node;
    const int64_t nodes = hs_lattice_count(&self->grid);
    double *const here = (double *)malloc((size_t)nodes * sizeof *here);
    if (!here)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the body");
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++)
        here[n] = member(row[n]);
    const hs_status st = nodes_to_device(self, sizeof *here, here, to, err);
    free(here);
    return st;
}

/* All but the sinks. */
hs_status place_arrays(hs_krylov_state *self, hs_error *err)
{
    hs_status st = HS_OK;
    for (int axis = 0; axis < HS_AXES && !st; axis++) {
        if (self->equations->network->grid.points[axis] == 1)
            continue;
        st = take_doubles(self, &self->op.edge[axis], err);
        if (!st)
            st = put_array(
                self, [=](const hs_network_row &row) { return row.conductance[axis]; },
                self->op.edge[axis], err);
    }
    if (!st)
        st = take_doubles(self, &self->op.sink, err);
    if (!st)
        st = take_doubles(self, &self->op.rate, err);
    return st ? st : put_array(self, rate_of, self->op.rate, err);
}

/* Row 0 is of what is no node, so of what pads, too. */
hs_status place_palette(hs_krylov_state *self, hs_error *err)
{
    const hs_network *of = self->equations->network;
    const size_t size = of->form == HS_NETWORK_BYTES ? 1 : 2;
    const size_t rows_bytes = (size_t)of->row_count * ROW_NUMBERS * sizeof *self->op.row;
    hs_status st = hs_cuda_levels_take(&self->levels, rows_bytes, (void **)&self->op.row, err);
    if (!st)
        st = take_nodes(self, size, &self->op.number, err);
    if (!st)
        st = nodes_to_device(self, size, of->number, self->op.number, err);
    return st ? st : put_rows(self, err); /* also what does not go by the shift */
}

/* Those of the equations' shift. */
hs_status put_sinks(hs_krylov_state *self, hs_error *err)
{
    const double shift = self->equations->shift;
    if (shift == self->shift)
        return HS_OK;
    self->shift = shift;
    return self->op.form == HS_NETWORK_ARRAYS
               ? put_array(
                     self, [=](const hs_network_row &row) { return sink_of(row, shift); },
                     self->op.sink, err)
               : put_rows(self, err);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Calls run(rows) for the operator's form. */
template <typename Run>
hs_status with_rows(const hs_krylov_state *self, Run run)
{
    switch (self->op.form) {
    case HS_NETWORK_BYTES: return run(palette<uint8_t>(self->op));
    case HS_NETWORK_SHORTS: return run(palette<uint16_t>(self->op));
    default: return run(arrays(self->op));
    }
}

/* Calls run(width) with the box's width: only palettes are wide. */
template <typename Rows, typename Run>
hs_status with_width(const march::box &box, Run run)
{
    if constexpr (Rows::wide)
        if (box.width == march::WIDE)
            return run(std::integral_constant<int, march::WIDE>());
    return run(std::integral_constant<int, 1>());
}

hs_status move(hs_krylov_state *self, int vector, const hs_cuda_pitched *field, bool to_field,
               hs_error *err)
{
    const int64_t blocks = march::blocks_for(self->nodes), row = self->lattice.n[HS_X];
    if (field->precision == HS_FLOAT)
        return march::launch("move_field", move_field<float>, blocks, self->stream, err, self->grid,
                             (float *)field->nodes, field->pitch[HS_Y], field->pitch[HS_Z],
                             to_field, row, self->vector[vector]);
    return march::launch("move_field", move_field<double>, blocks, self->stream, err, self->grid,
                         (double *)field->nodes, field->pitch[HS_Y], field->pitch[HS_Z], to_field,
                         row, self->vector[vector]);
}

/* What is still to be added to T. */
hs_status settle(hs_krylov_state *self, double by, hs_error *err)
{
    const double length = self->length * self->scale, before = self->length_before * self->scale;
    self->length = self->length_before = 0.0;
    if (length == 0.0 && before == 0.0 && by == 0.0)
        return HS_OK;
    return march::launch("add_to", add_to, march::blocks_for(self->nodes), self->stream, err,
                         self->nodes, self->lattice.n[HS_X], self->grid.n[HS_X], length,
                         (const float *)self->p, before, (const float *)self->p_before, by,
                         self->vector[HS_KRYLOV_T]);
}

/* Unless those that are there are of about this shift. */
hs_status make_levels(hs_krylov_state *self, hs_error *err)
{
    hs_coarse_network finest = {};
    if (self->levels.count > 0 && hs_levels_serve(self->levels_shift, self->shift))
        return HS_OK;
    hs_cuda_levels_clear(&self->levels);
    self->levels_shift = self->shift;
    finest.lattice = self->lattice;
    hs_status st = hs_cuda_levels_take(&self->levels, (size_t)self->nodes * sizeof(float),
                                       (void **)&finest.sink, err);
    for (int axis = 0; axis < HS_AXES && !st; axis++)
        if (finest.lattice.n[axis] > 1)
            st = hs_cuda_levels_take(&self->levels, (size_t)self->nodes * sizeof(float),
                                     (void **)&finest.edge[axis], err);
    const double factor = 1.0 / hs_levels_unit(self->equations);
    if (!st)
        st = with_rows(self, [&](const auto &rows) {
            return march::launch("make_finest", make_finest<std::decay_t<decltype(rows)>>,
                                 march::blocks_for(self->nodes), self->stream, err, rows, factor,
                                 finest);
        });
    return st ? st
              : hs_cuda_levels_make(&self->levels, &finest,
                                    hs_equations_are_singular(self->equations), err);
}

/* Levels, and what iterations need besides; they are not wanted where the guess is the answer. */
hs_status prepare(hs_krylov_state *self, hs_error *err)
{
    float **const more[] = {&self->p, &self->p_before};
    hs_status st = make_levels(self, err);
    for (float **array : more) {
        if (st || *array)
            continue;
        st = take_nodes(self, sizeof **array, (void **)array, err);
    }
    return st;
}

/* ---- the table: vectors ---------------------------------------------------------------------- */

hs_status reserve(hs_krylov_state *self, int further, hs_error *err)
{
    const int count = HS_KRYLOV_MORE + further;
    if (count <= self->count)
        return HS_OK;
    double **const vector = (double **)realloc(self->vector, (size_t)count * sizeof *vector);
    if (!vector)
        return hs_error_add(err, HS_DEVICE, "not enough memory for vectors");
    self->vector = vector;
    for (; self->count < count; self->count++) {
        double *&here = vector[self->count];
        here = NULL;
        const hs_status st = self->count == HS_KRYLOV_NONE ? HS_OK : take_doubles(self, &here, err);
        if (st)
            return st;
    }
    return HS_OK;
}

hs_status put_values(hs_krylov_state *self, int vector, const double *values, hs_error *err)
{
    const hs_status st = settle(self, 0.0, err);
    return st ? st : nodes_to_device(self, sizeof *values, values, self->vector[vector], err);
}

hs_status get_values(hs_krylov_state *self, int vector, double *values, hs_error *err)
{
    const hs_status st = settle(self, 0.0, err);
    return st ? st : nodes_to_host(self, sizeof *values, self->vector[vector], values, err);
}

/* Memory for some values, which stays for those of the next time. */
hs_status reserve_some(hs_krylov_state *self, size_t bytes, hs_error *err)
{
    if (bytes <= self->some_bytes)
        return HS_OK;
    hs_cuda_levels_drop(&self->levels, self->some);
    self->some = NULL;
    self->some_bytes = 0;
    const hs_status st = hs_cuda_levels_take(&self->levels, bytes, (void **)&self->some, err);
    self->some_bytes = st ? 0 : bytes;
    return st;
}

hs_status put_some(hs_krylov_state *self, int vector, int64_t count, const int64_t *node,
                   const double *values, hs_error *err)
{
    const size_t bytes = (size_t)count * sizeof *values;
    hs_status st = settle(self, 0.0, err);
    if (!st)
        st = reserve_some(self, bytes + (size_t)count * sizeof *node, err);
    if (!st)
        st = put(self, values, bytes, self->some, err);
    if (!st)
        st = put(self, node, (size_t)count * sizeof *node, self->some + bytes, err);
    return st ? st
              : march::launch("scatter", scatter, march::blocks_for(count), self->stream, err,
                              count, (const int64_t *)(self->some + bytes),
                              (const double *)self->some, self->grid.n[HS_X], self->lattice.n[HS_X],
                              self->vector[vector]);
}

sum sum_of(const hs_krylov_state *self, const hs_krylov_sum *of)
{
    sum sum = {};
    sum.count = of->count;
    for (int n = 0; n < of->count; n++) {
        sum.factor[n] = of->term[n].factor;
        sum.plus[n] = self->vector[of->term[n].plus];
        sum.minus[n] = self->vector[of->term[n].minus];
        sum.power[n] = of->term[n].power;
    }
    return sum;
}

hs_status combine(hs_krylov_state *self, int out, const hs_krylov_sum *of, hs_error *err)
{
    const hs_status st = settle(self, 0.0, err);
    return st ? st : with_rows(self, [&](const auto &rows) {
        return march::launch("combine_sum", combine_sum<std::decay_t<decltype(rows)>>,
                             march::blocks_for(self->nodes), self->stream, err, rows, self->nodes,
                             sum_of(self, of), self->vector[out]);
    });
}

hs_status measure(hs_krylov_state *self, const hs_krylov_sum *of, bool free, march::found *out,
                  hs_error *err)
{
    hs_status st = settle(self, 0.0, err);
    if (!st)
        st = with_rows(self, [&](const auto &rows) {
            return march::launch("measure_sum", measure_sum<std::decay_t<decltype(rows)>>,
                                 march::blocks_for(self->nodes), self->stream, err, rows,
                                 self->nodes, sum_of(self, of), free, self->levels.reduction);
        });
    return st ? st : hs_cuda_levels_found(&self->levels, out, err);
}

hs_status largest(hs_krylov_state *self, const hs_krylov_sum *of, bool free, double *out,
                  hs_error *err)
{
    march::found found;
    const hs_status st = measure(self, of, free, &found, err);
    *out = st ? NAN : found.most[0];
    return st;
}

hs_status total(hs_krylov_state *self, const hs_krylov_sum *of, double *out, hs_error *err)
{
    march::found found;
    const hs_status st = measure(self, of, false, &found, err);
    *out = st ? NAN : found.sum[0];
    return st;
}

void exchange(hs_krylov_state *self, int a, int b)
{
    double *const other = self->vector[a];
    self->vector[a] = self->vector[b];
    self->vector[b] = other;
}

/* ---- the table: conjugate gradients ---------------------------------------------------------- */

hs_status begin(hs_krylov_state *self, hs_error *err)
{
    const size_t bytes = (size_t)self->nodes * sizeof *self->p;
    self->scale = 0.0;
    self->length = self->length_before = 0.0;
    for (float *array : {self->p, self->p_before})
        if (array)
            HS_CUDA_TRY(err, cudaMemsetAsync(array, 0, bytes, self->stream));
    return put_sinks(self, err);
}

hs_status end(hs_krylov_state *self, hs_error *err)
{
    return settle(self, 0.0, err);
}

hs_status residual(hs_krylov_state *self, double *largest, double *rounding, hs_error *err)
{
    march::found found;
    hs_status st = settle(self, 0.0, err);
    if (!st)
        st = with_rows(self, [&](const auto &rows) {
            typedef residual_task<std::decay_t<decltype(rows)>> task_type;
            const task_type task = {self->box, rows, self->vector[HS_KRYLOV_T],
                                    self->vector[HS_KRYLOV_INFLOW],
                                    self->vector[HS_KRYLOV_RESIDUAL]};
            return march::launch("residual", do_pass<1, task_type>, march::blocks_of(self->box),
                                 self->stream, err, task, self->levels.reduction);
        });
    if (!st)
        st = hs_cuda_levels_found(&self->levels, &found, err);
    if (st)
        return st;
    *largest = found.most[0];
    *rounding = found.most[1];
    self->largest = found.most[2];
    self->unit = 0.0;
    return HS_OK;
}

hs_status precondition(hs_krylov_state *self, double *with_r, hs_error *err)
{
    march::found found;
    hs_status st = prepare(self, err);
    const hs_cuda_level *first = &self->levels.level[0];
    if (!st && self->unit == 0.0) {
        self->unit = self->largest > 0.0 ? self->largest : 1.0;
        if (self->scale == 0.0)
            self->scale = self->unit;
        st = march::launch("make_right", make_right, march::blocks_for(self->nodes), self->stream,
                           err, self->nodes, 1.0 / self->unit,
                           (const double *)self->vector[HS_KRYLOV_RESIDUAL], first->right);
    }
    if (!st)
        st = hs_cuda_cycle(&self->levels, 1.0 / self->unit, self->vector[HS_KRYLOV_RESIDUAL], err);
    if (!st)
        st = hs_cuda_levels_found(&self->levels, &found, err);
    if (st)
        return st;
    *with_r = self->unit * self->unit * found.sum[0];
    return HS_OK;
}

hs_status turn(hs_krylov_state *self, double factor, double *curvature, hs_error *err)
{
    march::found found;
    float *const before = self->p;
    self->p = self->p_before;
    self->p_before = before;
    hs_status st = with_rows(self, [&](const auto &rows) {
        typedef std::decay_t<decltype(rows)> type;
        typedef turn_task<type> task_type;
        const task_type task = {march::box_of(self->lattice, type::wide),
                                rows,
                                self->levels.level[0].x,
                                before,
                                (float)(self->unit / self->scale),
                                (float)factor,
                                self->length * self->scale,
                                self->length_before * self->scale,
                                self->vector[HS_KRYLOV_T],
                                self->p};
        return with_width<type>(task.box, [&](auto width) {
            return march::launch("turn", do_turn<width(), type>, march::blocks_of(task.box),
                                 self->stream, err, task, self->levels.reduction);
        });
    });
    self->length_before = self->length_before == 0.0 ? self->length : 0.0;
    self->length = 0.0;
    if (!st)
        st = hs_cuda_levels_found(&self->levels, &found, err);
    *curvature = st ? NAN : self->scale * self->scale * found.sum[0];
    return st;
}

/* The unit of the right side is the largest of r before: that is about as large. */
hs_status advance(hs_krylov_state *self, double length, double *largest, hs_error *err)
{
    march::found found;
    self->unit = self->largest > 0.0 ? self->largest : 1.0;
    self->length = length;
    hs_status st = with_rows(self, [&](const auto &rows) {
        typedef std::decay_t<decltype(rows)> type;
        typedef subtract_task<type> task_type;
        const task_type task = {march::box_of(self->lattice, type::wide),
                                rows,
                                self->p,
                                length * self->scale,
                                1.0 / self->unit,
                                self->vector[HS_KRYLOV_RESIDUAL],
                                self->levels.level[0].right};
        return with_width<type>(task.box, [&](auto width) {
            return march::launch("subtract", do_pass<width(), task_type>,
                                 march::blocks_of(task.box), self->stream, err, task,
                                 self->levels.reduction);
        });
    });
    if (!st)
        st = hs_cuda_levels_found(&self->levels, &found, err);
    if (st)
        return st;
    *largest = found.most[0];
    self->largest = found.most[2];
    return HS_OK;
}

void destroy(hs_krylov_state *self)
{
    if (!self)
        return;
    hs_cuda_levels_release(&self->levels);
    free(self->vector);
    free(self);
}

} // namespace

extern const hs_krylov hs_cuda_krylov_vectors = {
    .reserve = reserve,
    .put = put_values,
    .get = get_values,
    .put_some = put_some,
    .combine = combine,
    .largest = largest,
    .total = total,
    .exchange = exchange,
    .begin = begin,
    .end = end,
    .residual = residual,
    .precondition = precondition,
    .turn = turn,
    .advance = advance,
    .add = settle,
    .destroy = destroy,
};

/* ---- life ------------------------------------------------------------------------------------ */

/* T, r, the inflow and further vectors; p and the one before; levels of six numbers and three
 * fields, and as much again as the coarser ones have. */
double hs_cuda_krylov_bytes(const hs_problem *problem, int further)
{
    const hs_network *network = problem->network;
    const bool wrap[HS_AXES] = {problem->face[0].wrap};
    const hs_lattice lattice =
        padded(lattice_of(&problem->grid, wrap), network ? network->form : HS_NETWORK_BYTES);
    const double nodes = (double)hs_lattice_count(&lattice);
    const double coarser = 1.0 / (double)((1 << problem->grid.dims) - 1);
    const double row = !network || network->form == HS_NETWORK_BYTES ? 1.0
                       : network->form == HS_NETWORK_SHORTS          ? 2.0
                                                                     : 5.0 * sizeof(double);
    return nodes * ((3.0 + further) * sizeof(double) + 2.0 * sizeof(float) +
                    9.0 * sizeof(float) * (1.0 + coarser) + row);
}

hs_status hs_cuda_krylov_create(const hs_equations *equations, cudaStream_t stream,
                                hs_krylov_state **out, hs_error *err)
{
    const hs_network *network = equations->network;
    const hs_lattice grid = lattice_of(&network->grid, network->wrap);
    const hs_lattice lattice = padded(grid, network->form);
    hs_krylov_state *self = (hs_krylov_state *)calloc(1, sizeof *self);
    *out = NULL;
    if (!self)
        return hs_error_add(err, HS_DEVICE, "not enough memory for conjugate gradients");
    self->equations = equations;
    self->nodes = hs_lattice_count(&lattice);
    if (self->nodes > (int64_t)UINT32_MAX) {
        free(self);
        return hs_error_add(err, HS_DEVICE,
                            "multigrid: at most 2^32 nodes on a GPU; take fewer grid.points, or "
                            "solver.backend = \"cpu\"");
    }
    self->grid = grid;
    self->lattice = lattice;
    self->box = march::box_of(lattice, false);
    self->stream = stream;
    self->op.form = network->form;
    self->shift = NAN; /* no sinks are there yet */
    hs_status st = hs_cuda_levels_init(&self->levels, &lattice, stream, err);
    if (!st)
        st =
            network->form == HS_NETWORK_ARRAYS ? place_arrays(self, err) : place_palette(self, err);
    if (!st)
        st = reserve(self, 0, err);
    if (!st)
        st = put_values(self, HS_KRYLOV_INFLOW, equations->inflow, err);
    if (st)
        destroy(self);
    else
        *out = self;
    return st;
}

hs_status hs_cuda_krylov_load(hs_krylov_state *self, int vector, const hs_cuda_pitched *field,
                              hs_error *err)
{
    const hs_status st = settle(self, 0.0, err);
    return st ? st : move(self, vector, field, false, err);
}

hs_status hs_cuda_krylov_store(hs_krylov_state *self, int vector, const hs_cuda_pitched *field,
                               hs_error *err)
{
    hs_status st = settle(self, 0.0, err);
    if (!st)
        st = move(self, vector, field, true, err);
    if (!st)
        HS_CUDA_TRY(err, cudaStreamSynchronize(self->stream));
    return st;
}
