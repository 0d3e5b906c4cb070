#include "engine/backends/cuda_matrix.cuh"

#include "core/round.h"
#include "engine/backends/cuda_staging.cuh"

#include <math.h>
#include <stdlib.h>

/* ---- padding --------------------------------------------------------------------------------- */

/* Rows of a multiple of 16 nodes have multiples of four on the next two levels, too; after these a
 * 512th of the nodes of three axes is left. Padding by more than a tenth is not worth it; nor is
 * any where no pass takes four nodes: with arrays, or with so few nodes that levels have arrays.
 * The ends of a periodic row are neighbours. */
static hs_lattice padded(const hs_lattice &lattice, hs_network_form form)
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

hs_lattice hs_cuda_matrix_lattice(const hs_grid *grid, const bool wrap[HS_AXES],
                                  hs_network_form form)
{
    return padded(hs_kept_lattice(grid, wrap), form);
}

/* ---- memory ---------------------------------------------------------------------------------- */

hs_status hs_cuda_nodes_take(hs_cuda_matrix *self, size_t size, void **out, hs_error *err)
{
    return hs_cuda_pool_zeros(&self->pool, (size_t)self->nodes * size, out, self->stream, err);
}

/* Through dense memory on the device, since rows that are copied one by one take twice as long. */
hs_status hs_cuda_nodes_put(hs_cuda_matrix *self, size_t size, const void *from, void *to,
                            hs_error *err)
{
    const int64_t *n = self->grid.n, rows = n[HS_Y] * n[HS_Z];
    const size_t width = (size_t)n[HS_X] * size, pitch = (size_t)self->lattice.n[HS_X] * size;
    const size_t bytes = (size_t)rows * width;
    if (width == pitch)
        return hs_cuda_copy_now(from, bytes, to, cudaMemcpyHostToDevice, self->stream, err);
    void *dense;
    hs_status st = hs_cuda_pool_put(&self->pool, from, bytes, &dense, self->stream, err);
    if (!st)
        HS_CUDA_TRY(err, cudaMemcpy2DAsync(to, pitch, dense, width, width, (size_t)rows,
                                           cudaMemcpyDeviceToDevice, self->stream));
    hs_cuda_pool_drop(&self->pool, dense); /* once the copy is done */
    return st;
}

/* ---- the network ----------------------------------------------------------------------------- */

namespace
{

hs_status take_doubles(hs_cuda_matrix *self, double **out, hs_error *err)
{
    return hs_cuda_nodes_take(self, sizeof **out, (void **)out, err);
}

double rate_of(const hs_network_row &row)
{
    return row.kind == HS_NODE_FREE ? 1.0 / row.capacity : 0.0;
}

double sink_of(const hs_network_row &row, double shift)
{
    return row.kind == HS_NODE_FREE ? row.sink + shift * row.capacity : 0.0;
}

hs_status put_rows(hs_cuda_matrix *self, hs_error *err)
{
    const hs_network *of = self->equations->network;
    const int count = of->row_count * HS_CUDA_MATRIX_ROW;
    double *const rows = hs_cuda_new<double>(count);
    for (int n = 0; n < of->row_count; n++) {
        double *const to = rows + n * HS_CUDA_MATRIX_ROW;
        for (int axis = 0; axis < HS_AXES; axis++)
            to[axis] = of->row[n].conductance[axis];
        to[3] = sink_of(of->row[n], self->equations->shift);
        to[4] = rate_of(of->row[n]);
    }
    const hs_status st = hs_cuda_copy_now(rows, (size_t)count * sizeof *rows, self->row,
                                          cudaMemcpyHostToDevice, self->stream, err);
    free(rows);
    return st;
}

/* value(row, n) of some nodes goes to array n. */
template <typename Value>
hs_status put_nodes(hs_cuda_matrix *self, hs_cuda_staging *staging, int64_t first, int64_t count,
                    int n, Value value, double *to, hs_error *err)
{
    const hs_network_row *const row = self->equations->network->node + first;
    void *space;
    HS_TRY(hs_cuda_staging_space(staging, (size_t)count * sizeof *to, &space, err));
    double *const here = (double *)space;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t m = 0; m < count; m++)
        here[m] = value(row[m], n);
    return hs_cuda_staging_send(staging, (size_t)count * sizeof *to, to + first, err);
}

/* The host makes values while those before are on their way, and reads each row from memory once.
 * Arrays have no padding. */
template <typename Value>
hs_status put_arrays(hs_cuda_matrix *self, int arrays, Value value, double *const *to,
                     hs_error *err)
{
    const int64_t most = HS_CUDA_HALF_BYTES / (int64_t)sizeof **to;
    hs_cuda_staging staging = {NULL, HS_DOUBLE, self->stream};
    hs_status st = HS_OK;
    for (int64_t first = 0, count; first < self->nodes && !st; first += count) {
        count = hs_smaller(most, self->nodes - first);
        for (int n = 0; n < arrays && !st; n++)
            if (to[n])
                st = put_nodes(self, &staging, first, count, n, value, to[n], err);
    }
    return hs_cuda_staging_finish(&staging, st, err);
}

hs_status put_sinks(hs_cuda_matrix *self, hs_error *err)
{
    const double shift = self->shift;
    return put_arrays(
        self, 1, [=](const hs_network_row &row, int) { return sink_of(row, shift); }, &self->sink,
        err);
}

/* All but the sinks. */
hs_status place_arrays(hs_cuda_matrix *self, hs_error *err)
{
    for (int axis = 0; axis < HS_AXES; axis++)
        if (self->equations->network->grid.points[axis] > 1)
            HS_TRY(take_doubles(self, &self->edge[axis], err));
    HS_TRY(take_doubles(self, &self->sink, err));
    HS_TRY(take_doubles(self, &self->rate, err));
    double *const to[] = {self->edge[HS_X], self->edge[HS_Y], self->edge[HS_Z], self->rate};
    return put_arrays(
        self, HS_AXES + 1,
        [](const hs_network_row &row, int n) {
            return n < HS_AXES ? row.conductance[n] : rate_of(row);
        },
        to, err);
}

/* Row 0 is that of no node, so of padding, too. */
hs_status place_palette(hs_cuda_matrix *self, hs_error *err)
{
    const hs_network *of = self->equations->network;
    const size_t size = hs_network_node_bytes(of->form);
    HS_TRY(hs_cuda_take(&self->pool, of->row_count * HS_CUDA_MATRIX_ROW, &self->row, err));
    HS_TRY(hs_cuda_nodes_take(self, size, &self->number, err));
    HS_TRY(hs_cuda_nodes_put(self, size, of->number, self->number, err));
    return put_rows(self, err); /* with the members that do not depend on the shift */
}

} // namespace

hs_status hs_cuda_matrix_init(hs_cuda_matrix *self, const hs_equations *equations,
                              cudaStream_t stream, hs_error *err)
{
    const hs_network *network = equations->network;
    *self = {};
    self->equations = equations;
    self->grid = hs_kept_lattice(&network->grid, network->wrap);
    self->lattice = padded(self->grid, network->form);
    self->nodes = hs_lattice_count(&self->lattice);
    self->form = network->form;
    self->shift = NAN; /* there are no sinks yet */
    self->stream = stream;
    return self->form == HS_NETWORK_ARRAYS ? place_arrays(self, err) : place_palette(self, err);
}

hs_status hs_cuda_matrix_shift(hs_cuda_matrix *self, hs_error *err)
{
    const double shift = self->equations->shift;
    if (shift == self->shift && self->sinks_set == self->equations->sinks_set)
        return HS_OK;
    self->shift = shift;
    self->sinks_set = self->equations->sinks_set;
    return self->form == HS_NETWORK_ARRAYS ? put_sinks(self, err) : put_rows(self, err);
}
