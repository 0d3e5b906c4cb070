/* Vectors of conjugate gradients and implicit steps on the device: their sums, and copies between
 * them and the host or the backend's fields. */
#include "engine/backends/cuda_krylov.cuh"
#include "engine/backends/cuda_krylov_state.cuh"

#include <math.h>
#include <stdlib.h>

namespace
{

template <typename Rows>
__device__ double value_of(const Rows &rows, const hs_krylov_terms &of, int64_t n)
{
    double value = 0.0;
    for (int t = 0; t < of.count; t++) {
        const double difference = of.minus[t] ? of.plus[t][n] - of.minus[t][n] : of.plus[t][n];
        double factor = of.factor[t];
        if (of.power[t]) {
            const double rate = rate_of(rows, (unsigned)n);
            factor *= of.power[t] < 0 || !(rate > 0.0) ? rate : 1.0 / rate;
        }
        value = fma(factor, difference, value);
    }
    return value;
}

template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    combine_sum(Rows rows, int64_t nodes, const __grid_constant__ hs_krylov_terms of, double *out)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        out[n] = value_of(rows, of, n);
}

/* The sum's total, and its largest size, at free nodes or at all. */
template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    measure_sum(Rows rows, int64_t nodes, const __grid_constant__ hs_krylov_terms of, bool free,
                march::reduction to)
{
    march::found mine = {};
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const double value = value_of(rows, of, n);
        mine.sum[0] += value;
        if (!free || rate_of(rows, (unsigned)n) > 0.0)
            matrix::keep_most(mine.most[0], fabs(value));
    }
    march::reduce(mine, to);
}

/* Values to nodes: of a grid whose rows are `own` nodes, in a vector whose rows are `row`. */
__global__ void __launch_bounds__(march::THREADS)
    scatter(int64_t count, const int64_t *node, const double *value, int64_t own, int64_t row,
            double *out)
{
    for (int64_t n = march::first_node(); n < count; n += march::threads_of_all())
        out[node[n] % own + node[n] / own * row] = value[n];
}

/* Copies between a vector, whose rows are `row` nodes, and a field. */
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

} // namespace

hs_status hs_cuda_krylov_reserve(hs_krylov_state *self, int further, hs_error *err)
{
    const int count = HS_KRYLOV_MORE + further;
    if (count <= self->count)
        return HS_OK;
    self->vector = (double **)hs_grow(self->vector, (size_t)count, sizeof *self->vector);
    for (; self->count < count; self->count++) {
        double *&here = self->vector[self->count];
        here = NULL;
        HS_TRY(self->count == HS_KRYLOV_NONE
                   ? HS_OK
                   : hs_cuda_nodes_take(&self->matrix, sizeof *here, (void **)&here, err));
    }
    return HS_OK;
}

hs_status hs_cuda_krylov_put(hs_krylov_state *self, int vector, const double *values, hs_error *err)
{
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    return hs_cuda_nodes_put(&self->matrix, sizeof *values, values, self->vector[vector], err);
}

/* Memory for some values, which is kept for the next time. */
static hs_status reserve_some(hs_krylov_state *self, size_t bytes, hs_error *err)
{
    if (bytes <= self->some_bytes)
        return HS_OK;
    hs_cuda_pool_drop(&self->matrix.pool, self->some);
    const hs_status st = hs_cuda_take(&self->matrix.pool, (int64_t)bytes, &self->some, err);
    self->some_bytes = st ? 0 : bytes;
    return st;
}

hs_status hs_cuda_krylov_put_some(hs_krylov_state *self, int vector, int64_t count,
                                  const int64_t *node, const double *values, hs_error *err)
{
    const size_t bytes = (size_t)count * sizeof *values;
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    HS_TRY(reserve_some(self, bytes + (size_t)count * sizeof *node, err));
    HS_TRY(hs_cuda_copy_now(values, bytes, self->some, cudaMemcpyHostToDevice, self->stream, err));
    HS_TRY(hs_cuda_copy_now(node, (size_t)count * sizeof *node, self->some + bytes,
                            cudaMemcpyHostToDevice, self->stream, err));
    return march::launch("scatter", scatter, march::blocks_for(count), self->stream, err, count,
                         (const int64_t *)(self->some + bytes), (const double *)self->some,
                         self->matrix.grid.n[HS_X], self->matrix.lattice.n[HS_X],
                         self->vector[vector]);
}

hs_status hs_cuda_krylov_combine(hs_krylov_state *self, int out, const hs_krylov_sum *of,
                                 hs_error *err)
{
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    return matrix::with_rows(self->matrix, [&](auto rows) {
        return march::launch("combine_sum", combine_sum<decltype(rows)>,
                             march::blocks_for(self->matrix.nodes), self->stream, err, rows,
                             self->matrix.nodes, hs_krylov_terms_of(self->vector, of),
                             self->vector[out]);
    });
}

static hs_status measure(hs_krylov_state *self, const hs_krylov_sum *of, bool free,
                         march::found *out, hs_error *err)
{
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    HS_TRY(matrix::with_rows(self->matrix, [&](auto rows) {
        return march::launch("measure_sum", measure_sum<decltype(rows)>,
                             march::blocks_for(self->matrix.nodes), self->stream, err, rows,
                             self->matrix.nodes, hs_krylov_terms_of(self->vector, of), free,
                             self->levels.reduction);
    }));
    return hs_cuda_levels_found(&self->levels, out, err);
}

hs_status hs_cuda_krylov_largest(hs_krylov_state *self, const hs_krylov_sum *of, bool free,
                                 double *out, hs_error *err)
{
    march::found found;
    const hs_status st = measure(self, of, free, &found, err);
    *out = st ? NAN : found.most[0];
    return st;
}

hs_status hs_cuda_krylov_total(hs_krylov_state *self, const hs_krylov_sum *of, double *out,
                               hs_error *err)
{
    march::found found;
    const hs_status st = measure(self, of, false, &found, err);
    *out = st ? NAN : found.sum[0];
    return st;
}

void hs_cuda_krylov_exchange(hs_krylov_state *self, int a, int b)
{
    double *const other = self->vector[a];
    self->vector[a] = self->vector[b];
    self->vector[b] = other;
}

/* ---- fields ---------------------------------------------------------------------------------- */

hs_status hs_cuda_krylov_move(hs_krylov_state *self, int vector, const hs_cuda_pitched *field,
                              bool to_field, hs_error *err)
{
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    HS_TRY(hs_cuda_typed(field->precision, [&](auto zero) {
        typedef decltype(zero) T;
        return march::launch("move_field", move_field<T>, march::blocks_for(self->matrix.nodes),
                             self->stream, err, self->matrix.grid, (T *)field->nodes,
                             field->pitch[HS_Y], field->pitch[HS_Z], to_field,
                             self->matrix.lattice.n[HS_X], self->vector[vector]);
    }));
    if (to_field)
        HS_CUDA_TRY(err, cudaStreamSynchronize(self->stream));
    return HS_OK;
}

hs_cuda_pitched hs_cuda_krylov_at(const hs_krylov_state *self, int vector)
{
    const int64_t *n = self->matrix.lattice.n;
    return {self->vector[vector], {1, n[HS_X], n[HS_X] * n[HS_Y]}, HS_DOUBLE};
}
