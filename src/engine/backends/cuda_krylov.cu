/*
 * The vectors of conjugate gradients on the device, dense: T, r and others in double, p in float.
 *
 * p is only a direction: a rounded one is as good, as long as the same numbers are added to T and,
 * times A in double, subtracted from r. So A p is computed where it is subtracted, and not stored.
 * T += length p waits until there are two directions to add. The pass that makes the next p adds
 * both; it writes p to another array, since nodes read their neighbours' last p.
 */
#include "engine/backends/cuda_krylov.cuh"
#include "engine/backends/cuda_krylov_state.cuh"

#include <float.h>
#include <math.h>
#include <stdlib.h>

namespace
{

using namespace matrix;

/* ---- passes ---------------------------------------------------------------------------------- */

/* The residual: inflow + flow, and how large it is. */
template <typename Rows>
struct residual_task {
    static const bool sums = true;
    typedef double value;
    struct total {
        double flow, size, square;
    };
    march::box box;
    Rows rows;
    const double *T, *inflow;
    double *r, slack;

    __device__ double load(unsigned node) const
    {
        return __ldg(T + node);
    }
    __device__ void add(total &to, double g, double there, double here) const
    {
        to.flow += g * (there - here);
        to.size += g * (fabs(there) + fabs(here));
        to.square += g * (there - here) * (there - here);
    }
    __device__ void put(unsigned node, const numbers &row, const double (&at)[1],
                        const total (&sum)[1], march::found &mine) const
    {
        const total &s = sum[0];
        const double here = at[0];
        const double in = __ldg(inflow + node);
        const double value = row.rate > 0.0 ? in + (s.flow - row.sink * here) : 0.0;
        const double rate = isfinite(value) ? fabs(value) * row.rate : INFINITY;
        const double size = s.size + row.sink * fabs(here);
        const double rounding = 4.0 * DBL_EPSILON * (size + fabs(in)) * row.rate;
        r[node] = value;
        keep_most(mine.most[0], rate);
        keep_most(mine.most[1], isfinite(rate) && rate <= slack * rounding ? 0.0 : rate);
        keep_most(mine.most[2], fabs(value));
        mine.sum[0] += row.rate > 0.0 ? 0.5 * s.square : 0.0;
        mine.sum[1] += row.rate > 0.0 ? size * fabs(here) : 0.0;
    }
};

/* p = z + factor p. If due, adds the last two directions to T: p_before, and the older one that p
 * still holds. */
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

/* The same with p.A p: the sum of G (difference of p)^2 over the edges and of sink p^2 over the
 * nodes, since p is 0 at fixed temperatures. So a node looks at the next nodes only. */
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
    static const bool sums = true;
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

/* ---- single nodes ---------------------------------------------------------------------------- */

__global__ void __launch_bounds__(march::THREADS)
    make_right(int64_t nodes, double per_unit, const double *r, float *right)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        right[n] = (float)(r[n] * per_unit);
}

/* T += both directions times their lengths, and `by` at the first `own` nodes of a row. */
__global__ void __launch_bounds__(march::THREADS)
    add_to(int64_t nodes, int64_t row, int64_t own, double length, const float *p,
           double length_before, const float *p_before, double by, double *T)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const double more = by != 0.0 && n % row < own ? by : 0.0;
        T[n] += (p ? length_before * (double)p_before[n] + length * (double)p[n] : 0.0) + more;
    }
}

/* Conductances are those of level.c: float, in its unit. */
template <typename Rows>
__global__ void __launch_bounds__(march::THREADS)
    make_finest(Rows rows, double factor, hs_coarse_network net)
{
    const int64_t nodes = hs_lattice_count(&net.lattice);
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        numbers row = rows.none();
        rows.keep(row, (unsigned)n);
        net.sink[n] = row.rate > 0.0 ? (float)(factor * row.sink) : INFINITY;
        for (int axis = 0; axis < HS_AXES; axis++)
            if (net.edge[axis])
                net.edge[axis][n] = (float)(factor * row.edge[axis]);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Makes the levels, unless the present ones serve for this shift. */
hs_status make_levels(hs_krylov_state *self, hs_error *err)
{
    hs_coarse_network finest;
    if (self->levels.count > 0 && hs_levels_serve(self->levels_shift, self->matrix.shift))
        return HS_OK;
    hs_cuda_levels_clear(&self->levels);
    self->levels_shift = self->matrix.shift;
    HS_TRY(hs_cuda_levels_take(&self->levels, &self->matrix.lattice, &finest, err));
    const double factor = 1.0 / hs_levels_unit(self->matrix.equations);
    HS_TRY(matrix::with_rows(self->matrix, [&](auto rows) {
        return march::launch("make_finest", make_finest<decltype(rows)>,
                             march::blocks_for(self->matrix.nodes), self->stream, err, rows, factor,
                             finest);
    }));
    return hs_cuda_levels_make(&self->levels, &self->matrix.equations->network->grid, &finest,
                               hs_equations_are_singular(self->matrix.equations), err);
}

/* Levels and arrays for iterations; they are not needed where the guess is the answer. */
hs_status prepare(hs_krylov_state *self, hs_error *err)
{
    float **const more[] = {&self->p, &self->p_before};
    HS_TRY(make_levels(self, err));
    for (float **array : more)
        if (!*array)
            HS_TRY(hs_cuda_nodes_take(&self->matrix, sizeof **array, (void **)array, err));
    return HS_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

hs_status begin(hs_krylov_state *self, hs_error *err)
{
    const size_t bytes = (size_t)self->matrix.nodes * sizeof *self->p;
    self->scale = 0.0;
    self->length = self->length_before = 0.0;
    for (float *array : {self->p, self->p_before})
        if (array)
            HS_CUDA_TRY(err, cudaMemsetAsync(array, 0, bytes, self->stream));
    return hs_cuda_matrix_shift(&self->matrix, err);
}

hs_status end(hs_krylov_state *self, hs_error *err)
{
    return hs_cuda_krylov_settle(self, 0.0, err);
}

hs_status residual(hs_krylov_state *self, double slack, hs_krylov_rates *out, hs_error *err)
{
    march::found found;
    HS_TRY(hs_cuda_krylov_settle(self, 0.0, err));
    HS_TRY(matrix::with_rows(self->matrix, [&](auto rows) {
        const residual_task<decltype(rows)> task = {self->box,
                                                    rows,
                                                    self->vector[HS_KRYLOV_T],
                                                    self->vector[HS_KRYLOV_INFLOW],
                                                    self->vector[HS_KRYLOV_RESIDUAL],
                                                    slack};
        return march::launch("residual", march::do_pass<1, residual_task<decltype(rows)>>,
                             march::blocks_of(self->box), self->stream, err, task,
                             self->levels.reduction);
    }));
    HS_TRY(hs_cuda_levels_found(&self->levels, &found, err));
    *out = {found.most[0], found.most[1], found.sum[0], found.sum[1]};
    self->largest = found.most[2];
    self->unit = 0.0;
    return HS_OK;
}

hs_status precondition(hs_krylov_state *self, double *with_r, hs_error *err)
{
    march::found found;
    HS_TRY(prepare(self, err));
    const hs_cuda_level *first = &self->levels.level[0];
    if (self->unit == 0.0) {
        self->unit = self->largest > 0.0 ? self->largest : 1.0;
        if (self->scale == 0.0)
            self->scale = self->unit;
        HS_TRY(march::launch("make_right", make_right, march::blocks_for(self->matrix.nodes),
                             self->stream, err, self->matrix.nodes, 1.0 / self->unit,
                             (const double *)self->vector[HS_KRYLOV_RESIDUAL], first->right));
    }
    HS_TRY(hs_cuda_cycle(&self->levels, 1.0 / self->unit, self->vector[HS_KRYLOV_RESIDUAL], err));
    HS_TRY(hs_cuda_levels_found(&self->levels, &found, err));
    *with_r = self->unit * self->unit * found.sum[0];
    return HS_OK;
}

hs_status turn(hs_krylov_state *self, double factor, double *curvature, hs_error *err)
{
    march::found found;
    float *const before = self->p;
    self->p = self->p_before;
    self->p_before = before;
    hs_status st = matrix::with_rows(self->matrix, [&](auto rows) {
        const turn_task<decltype(rows)> task = {march::box_of(self->matrix.lattice, rows.wide),
                                                rows,
                                                self->levels.level[0].x,
                                                before,
                                                (float)(self->unit / self->scale),
                                                (float)factor,
                                                self->length * self->scale,
                                                self->length_before * self->scale,
                                                self->vector[HS_KRYLOV_T],
                                                self->p};
        return march::with_width<decltype(rows)>(task.box, [&](auto width) {
            return march::launch("turn", do_turn<width(), decltype(rows)>,
                                 march::blocks_of(task.box), self->stream, err, task,
                                 self->levels.reduction);
        });
    });
    self->length_before = self->length_before == 0.0 ? self->length : 0.0;
    self->length = 0.0;
    if (!st)
        st = hs_cuda_levels_found(&self->levels, &found, err);
    *curvature = st ? NAN : self->scale * self->scale * found.sum[0];
    return st;
}

/* The unit of the right side is the largest of the r before, which is about as large. */
hs_status advance(hs_krylov_state *self, double length, double *largest, hs_error *err)
{
    march::found found;
    self->unit = self->largest > 0.0 ? self->largest : 1.0;
    self->length = length;
    HS_TRY(matrix::with_rows(self->matrix, [&](auto rows) {
        const subtract_task<decltype(rows)> task = {march::box_of(self->matrix.lattice, rows.wide),
                                                    rows,
                                                    self->p,
                                                    length * self->scale,
                                                    1.0 / self->unit,
                                                    self->vector[HS_KRYLOV_RESIDUAL],
                                                    self->levels.level[0].right};
        return march::launch_pass("subtract", task, self->levels.reduction, self->stream, err);
    }));
    HS_TRY(hs_cuda_levels_found(&self->levels, &found, err));
    *largest = found.most[0];
    self->largest = found.most[2];
    return HS_OK;
}

void destroy(hs_krylov_state *self)
{
    if (!self)
        return;
    hs_cuda_levels_release(&self->levels);
    hs_cuda_pool_release(&self->matrix.pool);
    free(self->vector);
    free(self);
}

} // namespace

hs_status hs_cuda_krylov_settle(hs_krylov_state *self, double by, hs_error *err)
{
    const double length = self->length * self->scale, before = self->length_before * self->scale;
    self->length = self->length_before = 0.0;
    if (length == 0.0 && before == 0.0 && by == 0.0)
        return HS_OK;
    return march::launch("add_to", add_to, march::blocks_for(self->matrix.nodes), self->stream, err,
                         self->matrix.nodes, self->matrix.lattice.n[HS_X],
                         self->matrix.grid.n[HS_X], length, (const float *)self->p, before,
                         (const float *)self->p_before, by, self->vector[HS_KRYLOV_T]);
}

extern const hs_krylov hs_cuda_krylov_vectors = {
    .reserve = hs_cuda_krylov_reserve,
    .put = hs_cuda_krylov_put,
    .put_some = hs_cuda_krylov_put_some,
    .combine = hs_cuda_krylov_combine,
    .largest = hs_cuda_krylov_largest,
    .total = hs_cuda_krylov_total,
    .exchange = hs_cuda_krylov_exchange,
    .begin = begin,
    .end = end,
    .residual = residual,
    .precondition = precondition,
    .turn = turn,
    .advance = advance,
    .add = hs_cuda_krylov_settle,
    .destroy = destroy,
};

/* ---- life ------------------------------------------------------------------------------------ */

/* T, r, the inflow and further vectors; p and the one before; six numbers and three fields for each
 * node of the levels; the network. */
double hs_cuda_krylov_bytes(const hs_problem *problem, int further)
{
    const hs_network *network = problem->network;
    const bool wrap[HS_AXES] = {problem->face[0].wrap};
    const hs_lattice lattice =
        hs_cuda_matrix_lattice(&problem->grid, wrap, network ? network->form : HS_NETWORK_BYTES);
    const double nodes = (double)hs_lattice_count(&lattice);
    const double levels = hs_kept_estimate(problem).levels;
    const double row = !network || network->form == HS_NETWORK_BYTES ? 1.0
                       : network->form == HS_NETWORK_SHORTS          ? 2.0
                                                                     : 5.0 * sizeof(double);
    return nodes * ((3.0 + further) * sizeof(double) + 2.0 * sizeof(float) +
                    9.0 * sizeof(float) * levels + row);
}

hs_status hs_cuda_krylov_create(const hs_equations *equations, cudaStream_t stream,
                                hs_krylov_state **out, hs_error *err)
{
    const hs_network *network = equations->network;
    const hs_lattice lattice = hs_cuda_matrix_lattice(&network->grid, network->wrap, network->form);
    *out = NULL;
    if (hs_lattice_count(&lattice) > (int64_t)UINT32_MAX)
        return hs_error_add(err, HS_DEVICE,
                            "multigrid: at most 2^32 nodes on a GPU; take fewer grid.points, or "
                            "solver.backend = \"cpu\"");
    hs_krylov_state *self = hs_cuda_new<hs_krylov_state>(1);
    self->box = march::box_of(lattice, false);
    self->stream = stream;
    hs_status st = hs_cuda_levels_init(&self->levels, &lattice, stream, err);
    if (!st)
        st = hs_cuda_matrix_init(&self->matrix, equations, stream, err);
    if (!st)
        st = hs_cuda_krylov_reserve(self, 0, err);
    if (!st)
        st = hs_cuda_krylov_put(self, HS_KRYLOV_INFLOW, equations->inflow, err);
    if (st)
        destroy(self);
    else
        *out = self;
    return st;
}
