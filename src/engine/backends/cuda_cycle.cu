/*
 * A V-cycle on the device: that of engine/multigrid/cycle.h, with unknowns that are not scaled.
 *
 * A pass makes both steps from 0, a step, or the residual. Restriction and interpolation go along
 * all axes at once: a thread has a column of coarse nodes, or of cells of the fine level.
 */
#include "engine/backends/cuda_capture.cuh"
#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/cycle.h"

namespace
{

/* ---- passes ---------------------------------------------------------------------------------- */

/* A node's row. */
struct numbers {
    enum { NUMBERS = HS_CUDA_ROW };
    typedef float type;
    float edge[HS_AXES], inverse;
    unsigned number;

    __device__ static numbers read(const float *row, unsigned number)
    {
        const float4 v = __ldg((const float4 *)row);
        return {{v.x, v.y, v.z}, v.w, number};
    }
};

template <typename NUMBER>
using palette = march::palette<NUMBER, numbers>;

struct arrays {
    static const bool wide = false;
    hs_cuda_rows of;

    __device__ float edge(int axis, unsigned node) const
    {
        return of.edge[axis] ? __ldg(of.edge[axis] + node) : 0.0f;
    }
    __device__ numbers none() const
    {
        return {};
    }
    __device__ march::kept_edge<float> no_edge() const
    {
        return {};
    }
    __device__ void keep(numbers &row, unsigned node) const
    {
        row = {{edge(HS_X, node), edge(HS_Y, node), edge(HS_Z, node)}, __ldg(of.inverse + node), 0};
    }
    __device__ void keep_edge(march::kept_edge<float> &to, int axis, unsigned node) const
    {
        to.edge = edge(axis, node);
    }
};

__device__ float inverse_of(const arrays &rows, unsigned node)
{
    return __ldg(rows.of.inverse + node);
}

template <typename NUMBER>
__device__ float inverse_of(const palette<NUMBER> &rows, unsigned node)
{
    return rows.member(3, node);
}

/* Multiplies by the inverses, for WIDE nodes. */
template <typename NUMBER>
__device__ void multiply(const palette<NUMBER> &rows, unsigned node, float (&field)[march::WIDE])
{
    const float first = inverse_of(rows, node);
    const bool alike = rows.all_are(rows.numbers_of(node), rows.number_of(node));
#pragma unroll
    for (int m = 0; m < march::WIDE; m++)
        field[m] *= alike ? first : inverse_of(rows, node + (unsigned)m);
}

/* The weights by which nodes are eliminated. */
template <int N>
__device__ void weights_of(const arrays &rows, const unsigned (&node)[N], float2 (&to)[N])
{
    for (int n = 0; n < N; n++)
        to[n] = {__ldg(rows.of.before + node[n]), __ldg(rows.of.after + node[n])};
}

/* Mostly all have the row of the first. */
template <typename NUMBER, int N>
__device__ void weights_of(const palette<NUMBER> &rows, const unsigned (&node)[N], float2 (&to)[N])
{
    unsigned of[N];
    for (int n = 0; n < N; n++)
        of[n] = rows.number_of(node[n]);
    to[0] = __ldg((const float2 *)(rows.row + of[0] * HS_CUDA_ROW + 4));
    for (int n = 1; n < N; n++)
        to[n] =
            of[n] == of[0] ? to[0] : __ldg((const float2 *)(rows.row + of[n] * HS_CUDA_ROW + 4));
}

template <typename Rows>
struct pass {
    static const bool sums = false;
    typedef float value;
    typedef float total;
    march::box box;
    Rows rows;
    hs_smoother p;
    const float *right, *x;
    float *out;

    __device__ float load(unsigned node) const
    {
        return __ldg(x + node);
    }
    __device__ void load(unsigned node, float (&to)[march::WIDE]) const
    {
        march::read(x, node, to);
    }
    __device__ void add(float &to, float g, float there, float) const
    {
        to = fmaf(g, there, to);
    }
};

/* Both steps from 0, beginning with the unknowns that the right side alone would make. */
template <typename Rows>
struct start : pass<Rows> {
    __device__ float load(unsigned node) const
    {
        return inverse_of(this->rows, node) * __ldg(this->right + node);
    }
    __device__ void load(unsigned node, float (&to)[march::WIDE]) const
    {
        march::read(this->right, node, to);
        multiply(this->rows, node, to);
    }
    template <int W>
    __device__ void put(unsigned node, const numbers &row, const float (&here)[W],
                        const float (&sum)[W], march::found &) const
    {
        const hs_smoother &p = this->p;
        float made[W];
        for (int m = 0; m < W; m++)
            made[m] = p.first * ((1.0f + p.again) * here[m] +
                                 p.second * (row.inverse * sum[m] - here[m])) +
                      p.second * here[m];
        march::write(this->out, node, made);
    }
};

/* The first of two steps. */
template <typename Rows>
struct step : pass<Rows> {
    template <int W>
    __device__ void put(unsigned node, const numbers &row, const float (&here)[W],
                        const float (&sum)[W], march::found &) const
    {
        float made[W], right[W];
        march::read(this->right, node, right);
        for (int m = 0; m < W; m++)
            made[m] = here[m] + this->p.first * (row.inverse * (right[m] + sum[m]) - here[m]);
        march::write(this->out, node, made);
    }
};

/* The second step; `out` holds the unknowns before the first. */
template <typename Rows>
struct step_again : pass<Rows> {
    template <int W>
    __device__ void put(unsigned node, const numbers &row, const float (&here)[W],
                        const float (&sum)[W], march::found &mine) const
    {
        float made[W], right[W], before[W];
        march::read(this->right, node, right);
        march::read_own(this->out, node, before);
        for (int m = 0; m < W; m++) {
            made[m] = here[m] + this->p.again * (here[m] - before[m]) +
                      this->p.second * (row.inverse * (right[m] + sum[m]) - here[m]);
            mine.sum[0] += (double)made[m] * (double)right[m];
        }
        march::write(this->out, node, made);
    }
};

/* The same with the sum that conjugate gradients need. */
template <typename Rows>
struct step_to_end : step_again<Rows> {
    static const bool sums = true;
};

template <typename Rows>
struct residual : pass<Rows> {
    template <int W>
    __device__ void put(unsigned node, const numbers &row, const float (&here)[W],
                        const float (&sum)[W], march::found &) const
    {
        float made[W], right[W];
        march::read(this->right, node, right);
        for (int m = 0; m < W; m++)
            made[m] = row.inverse > 0.0f ? right[m] + sum[m] - here[m] / row.inverse : 0.0f;
        march::write(this->out, node, made);
    }
};

/* ---- between levels -------------------------------------------------------------------------- */

/* LISTED: kept nodes are read from lists; else every second node is kept, or all are. */
template <typename Rows, bool LISTED>
struct transfer {
    static const bool listed = LISTED;
    march::box fine, coarse;
    hs_kept kept[HS_AXES];
    bool halved[HS_AXES]; /* axes along which some are dropped */
    Rows rows;            /* of the fine level */
    const float *from;
    float *out;

    /* The place on the fine level of the coarse node at place c. */
    __device__ int place(int axis, int c) const
    {
        if (LISTED && halved[axis])
            return (int)hs_kept_place(&kept[axis], c);
        return halved[axis] ? 2 * c : c;
    }
    /* The place of the node eliminated before it, or after it; -1: there is none. */
    __device__ int gone_before(int axis, int c) const
    {
        const int n = fine.n[axis];
        if (!halved[axis])
            return -1;
        if (!LISTED)
            return c > 0 ? 2 * c - 1 : fine.wrap[axis] && n % 2 == 0 ? n - 1 : -1;
        const int before = (int)hs_kept_before(&kept[axis], fine.wrap[axis], c);
        return before < 0 ? -1 : place(axis, before) + 1;
    }
    __device__ int gone_after(int axis, int c) const
    {
        if (!halved[axis])
            return -1;
        if (!LISTED)
            return 2 * c + 1 < fine.n[axis] ? 2 * c + 1 : -1;
        return hs_kept_skips(&kept[axis], c) ? place(axis, c) + 1 : -1;
    }
};

__device__ __forceinline__ unsigned node_at(const march::box &b, int i, int j, int k)
{
    return (unsigned)i + (unsigned)b.n[HS_X] * ((unsigned)j + (unsigned)b.n[HS_Y] * (unsigned)k);
}

/* Gathers the fine field along x, then y, then z, by the weights of eliminated nodes. */
template <typename Rows, bool LISTED>
struct gather : transfer<Rows, LISTED> {
    using of = transfer<Rows, LISTED>;
    using of::fine, of::from, of::rows, of::place, of::gone_before, of::gone_after;

    /* The sum over sheet k; *here: the weights at its node that belongs to the coarse one. All is
     * loaded before any is used; where there is no node, other weights multiply a 0. */
    __device__ float of_sheet(int i, int j, int k, float2 *here) const
    {
        enum { MIDDLE, BEFORE, AFTER };
        const int x = place(HS_X, i), y = place(HS_Y, j);
        const int xs[] = {x, gone_before(HS_X, i), gone_after(HS_X, i)};
        const int ys[] = {y, gone_before(HS_Y, j), gone_after(HS_Y, j)};
        const unsigned middle = node_at(fine, x, y, k);
        unsigned node[3][3], all[9];
        float value[3][3];
        float2 weights[9];
#pragma unroll
        for (int b = 0; b < 3; b++)
#pragma unroll
            for (int a = 0; a < 3; a++) {
                const bool there = xs[a] >= 0 && ys[b] >= 0;
                node[b][a] = all[3 * b + a] = there ? node_at(fine, xs[a], ys[b], k) : middle;
                value[b][a] = there ? __ldg(from + node[b][a]) : 0.0f;
            }
        weights_of(rows, all, weights);
        float along_x[3];
#pragma unroll
        for (int b = 0; b < 3; b++)
            along_x[b] = fmaf(weights[3 * b + BEFORE].y, value[b][BEFORE],
                              fmaf(weights[3 * b + AFTER].x, value[b][AFTER], value[b][MIDDLE]));
        *here = weights[0];
        return fmaf(weights[3 * BEFORE].y, along_x[BEFORE],
                    fmaf(weights[3 * AFTER].x, along_x[AFTER], along_x[MIDDLE]));
    }
};

/* The coarse level's right side. An eliminated sheet's part for the node above waits for it. */
template <typename Gather>
__global__ void __launch_bounds__(march::THREADS) go_down(const __grid_constant__ Gather g)
{
    const march::column c = march::column_of(g.coarse);
    if (c.first >= c.last)
        return;
    const int below = g.gone_before(HS_Z, c.first);
    float2 weights;
    float waits = 0.0f;
    if (below >= 0) {
        waits = g.of_sheet(c.i, c.j, below, &weights);
        waits *= weights.y;
    }
    for (int k = c.first; k < c.last; k++) {
        float sum = waits + g.of_sheet(c.i, c.j, g.place(HS_Z, k), &weights);
        const int after = g.gone_after(HS_Z, k);
        waits = 0.0f;
        if (after >= 0) {
            const float between = g.of_sheet(c.i, c.j, after, &weights);
            sum += weights.x * between;
            waits = weights.y * between;
        }
        g.out[node_at(g.coarse, c.i, c.j, k)] = sum;
    }
}

/* A cell of the fine level: a coarse node, and the nodes eliminated after it along each axis and in
 * between. */
struct cell {
    int at[HS_AXES][2];   /* places of the coarse node and of the next one, which may be -1 */
    int fine[HS_AXES][3]; /* of their fine nodes, and of the eliminated one in between */
    bool two[HS_AXES];    /* there is one in between */
};

template <typename Transfer>
__device__ __forceinline__ void set_cell(const Transfer &t, int axis, int c, cell *out)
{
    const int next = c + 1 < t.coarse.n[axis] ? c + 1 : t.fine.wrap[axis] ? 0 : -1;
    out->two[axis] = t.gone_after(axis, c) >= 0;
    out->at[axis][0] = c;
    out->at[axis][1] = next;
    out->fine[axis][0] = t.place(axis, c);
    out->fine[axis][1] = next < 0 ? -1 : t.place(axis, next);
    out->fine[axis][2] = out->fine[axis][0] + 1;
}

/* Adds to a cell's fine nodes: interpolates along z, then along y, then along x. Everything is
 * loaded before it is used; where there is no node, another one's weights multiply a 0, or make a
 * value that is not used. */
template <typename Transfer>
__device__ __forceinline__ void add_cell(const Transfer &t, const cell &of)
{
    enum { ALONG_Z = 0, ALONG_Y = 4, ALONG_X = 8, ALL = 12 };
    const unsigned corner = node_at(t.fine, of.fine[HS_X][0], of.fine[HS_Y][0], of.fine[HS_Z][0]);
    float value[2][2][2]; /* [x][y][z]: of the coarse nodes, then of the cell's along z and y */
    unsigned node[ALL];
    float2 w[ALL];
#pragma unroll
    for (int a = 0; a < 2; a++)
#pragma unroll
        for (int b = 0; b < 2; b++) {
            const bool x = !a || (of.two[HS_X] && of.at[HS_X][1] >= 0);
            const bool y = !b || (of.two[HS_Y] && of.at[HS_Y][1] >= 0);
            const bool z = !b || of.two[HS_Z];
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const bool above = !c || (of.two[HS_Z] && of.at[HS_Z][1] >= 0);
                value[a][b][c] = x && y && above
                                     ? __ldg(t.from + node_at(t.coarse, of.at[HS_X][a],
                                                              of.at[HS_Y][b], of.at[HS_Z][c]))
                                     : 0.0f;
            }
            node[ALONG_Z + 2 * a + b] =
                x && y && of.two[HS_Z]
                    ? node_at(t.fine, of.fine[HS_X][a], of.fine[HS_Y][b], of.fine[HS_Z][2])
                    : corner;
            node[ALONG_Y + 2 * a + b] =
                x && z && of.two[HS_Y]
                    ? node_at(t.fine, of.fine[HS_X][a], of.fine[HS_Y][2], of.fine[HS_Z][b ? 2 : 0])
                    : corner;
            const bool row = (!a || of.two[HS_Y]) && z && of.two[HS_X];
            node[ALONG_X + 2 * a + b] =
                row ? node_at(t.fine, of.fine[HS_X][2], of.fine[HS_Y][a ? 2 : 0],
                              of.fine[HS_Z][b ? 2 : 0])
                    : corner;
        }
    weights_of(t.rows, node, w);
#pragma unroll
    for (int x = 0; x < 2; x++)
#pragma unroll
        for (int y = 0; y < 2; y++) {
            const float2 of_z = w[ALONG_Z + 2 * x + y];
            value[x][y][1] = fmaf(of_z.x, value[x][y][0], of_z.y * value[x][y][1]);
        }
#pragma unroll
    for (int x = 0; x < 2; x++)
#pragma unroll
        for (int z = 0; z < 2; z++) {
            const float2 of_y = w[ALONG_Y + 2 * x + z];
            value[x][1][z] = fmaf(of_y.x, value[x][0][z], of_y.y * value[x][1][z]);
        }
#pragma unroll
    for (int y = 0; y < 2; y++)
#pragma unroll
        for (int z = 0; z < 2; z++) {
            if ((y && !of.two[HS_Y]) || (z && !of.two[HS_Z]))
                continue;
            const unsigned first = node_at(t.fine, of.fine[HS_X][0], of.fine[HS_Y][y ? 2 : 0],
                                           of.fine[HS_Z][z ? 2 : 0]);
            const float2 of_x = w[ALONG_X + 2 * y + z];
            const float between = fmaf(of_x.x, value[0][y][z], of_x.y * value[1][y][z]);
            if (!Transfer::listed && of.two[HS_X] && t.fine.n[HS_X] % 2 == 0) {
                float2 *const both = (float2 *)(t.out + first);
                const float2 sum = *both;
                *both = {sum.x + value[0][y][z], sum.y + between};
                continue;
            }
            t.out[first] += value[0][y][z];
            if (of.two[HS_X])
                t.out[first + 1] += between;
        }
}

template <typename Transfer>
__global__ void __launch_bounds__(march::THREADS) go_up(const __grid_constant__ Transfer t)
{
    const march::column c = march::column_of(t.coarse);
    cell of;
    if (c.first >= c.last)
        return;
    set_cell(t, HS_X, c.i, &of);
    set_cell(t, HS_Y, c.j, &of);
    for (int k = c.first; k < c.last; k++) {
        set_cell(t, HS_Z, k, &of);
        add_cell(t, of);
    }
}

/* ---- the coarsest ---------------------------------------------------------------------------- */

/* x = inverse * right, with a warp for each node. */
__global__ void __launch_bounds__(march::THREADS)
    solve_coarsest(const double *inverse, int nodes, const float *right, float *x)
{
    const int lane = march::thread_of_block() % march::WARP;
    const int r = (int)blockIdx.x * march::WARPS + march::thread_of_block() / march::WARP;
    double sum = 0.0;
    for (int c = lane; c < nodes && r < nodes; c += march::WARP)
        sum += inverse[(int64_t)r * nodes + c] * (double)right[c];
    for (int apart = march::WARP / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (lane == 0 && r < nodes)
        x[r] = (float)sum;
}

/* ---- the cycle ------------------------------------------------------------------------------- */

/* Calls run(rows) for the level's form. */
template <typename Run>
hs_status with_rows(const hs_cuda_level *level, Run run)
{
    const hs_cuda_rows &rows = level->rows;
    switch (rows.number_bytes) {
    case 1: return run(palette<uint8_t>{(const uint8_t *)rows.number, rows.row});
    case 2: return run(palette<uint16_t>{(const uint16_t *)rows.number, rows.row});
    default: return run(arrays{rows});
    }
}

template <template <typename> typename Task>
hs_status pass_over(const hs_cuda_levels *levels, const hs_cuda_level *level, const char *name,
                    const float *x, float *out, hs_error *err)
{
    return with_rows(level, [&](auto rows) {
        Task<decltype(rows)> task = {};
        task.box = march::box_of(level->lattice, rows.wide);
        task.rows = rows;
        task.p = hs_smoother_of(level->largest);
        task.right = level->right;
        task.x = x;
        task.out = out;
        return march::launch_pass(name, task, levels->reduction, levels->stream, err);
    });
}

bool is_listed(const hs_cuda_level *level)
{
    return level->kept[HS_X].place || level->kept[HS_Y].place || level->kept[HS_Z].place;
}

/* Calls run with the transfer between a level and the next one. */
template <template <typename, bool> typename Transfer, typename Run>
hs_status with_transfer(const hs_cuda_level *level, const float *from, float *out, Run run)
{
    return with_rows(level, [&](auto rows) {
        typedef decltype(rows) type;
        const auto start = [&](auto t) {
            t.fine = march::box_of(level->lattice, false);
            t.coarse = march::box_of(level[1].lattice, false);
            for (int axis = 0; axis < HS_AXES; axis++) {
                t.kept[axis] = level->kept[axis];
                t.halved[axis] = t.kept[axis].count < t.kept[axis].n;
            }
            t.rows = rows;
            t.from = from;
            t.out = out;
            return run(t);
        };
        return is_listed(level) ? start(Transfer<type, true>()) : start(Transfer<type, false>());
    });
}

/* Where a level's unknowns are until the last upward pass, which leaves them in x: a pair of passes
 * reads one array and writes another. */
float *unknowns_of(const hs_cuda_levels *levels, const hs_cuda_level *level)
{
    return hs_cuda_pair_serves(levels, level) ? level->other : level->x;
}

hs_status descend(const hs_cuda_levels *levels, const hs_cuda_level *level, hs_error *err)
{
    float *const x = unknowns_of(levels, level), *const rest =
                                                     x == level->x ? level->other : level->x;
    if (hs_cuda_pair_serves(levels, level)) {
        HS_TRY(hs_cuda_pair_down(levels, level, x, rest, err));
    } else {
        HS_TRY(pass_over<start>(levels, level, "start", level->right, x, err));
        HS_TRY(pass_over<residual>(levels, level, "residual", x, rest, err));
    }
    return with_transfer<gather>(level, rest, level[1].right, [&](auto g) {
        return march::launch("go_down", go_down<decltype(g)>, march::blocks_of(g.coarse),
                             levels->stream, err, g);
    });
}

hs_status ascend(const hs_cuda_levels *levels, const hs_cuda_level *level, hs_error *err)
{
    const bool is_first = level == &levels->level[0];
    float *const x = unknowns_of(levels, level);
    HS_TRY(with_transfer<transfer>(level, level[1].x, x, [&](auto t) {
        return march::launch("go_up", go_up<decltype(t)>, march::blocks_of(t.coarse),
                             levels->stream, err, t);
    }));
    if (x != level->x)
        return hs_cuda_pair_up(levels, level, x, level->x, is_first, err);
    HS_TRY(pass_over<step>(levels, level, "step", x, level->other, err));
    return is_first ? pass_over<step_to_end>(levels, level, "step_to_end", level->other, x, err)
                    : pass_over<step_again>(levels, level, "step_again", level->other, x, err);
}

/* x = right side over the diagonal, where there are no edges. */
__global__ void __launch_bounds__(march::THREADS)
    divide(int64_t nodes, const float *inverse, const float *right, float *x)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        x[n] = inverse[n] * right[n];
}

hs_status solve_last(const hs_cuda_levels *levels, hs_error *err)
{
    const hs_cuda_level *level = &levels->level[levels->count - 1];
    const int64_t nodes = hs_lattice_count(&level->lattice);
    if (levels->inverse)
        return march::launch("solve_coarsest", solve_coarsest,
                             (nodes + march::WARPS - 1) / march::WARPS, levels->stream, err,
                             (const double *)levels->inverse, (int)nodes,
                             (const float *)level->right, level->x);
    return march::launch("divide", divide, march::blocks_for(nodes), levels->stream, err, nodes,
                         level->rows.inverse, (const float *)level->right, level->x);
}

/* For the only level, which is solved directly: conjugate gradients then take a step or two, whose
 * length must not depend on r as rounded to float. */
__global__ void __launch_bounds__(march::THREADS)
    take_products(int64_t nodes, const float *x, double per_unit, const double *r,
                  march::reduction to)
{
    march::found mine = {};
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        mine.sum[0] += (double)x[n] * (r[n] * per_unit);
    march::reduce(mine, to);
}

hs_status launch_cycle(const hs_cuda_levels *levels, double per_unit, const double *r,
                       hs_error *err)
{
    const int last = levels->count - 1;
    const hs_cuda_level *first = &levels->level[0];
    const int64_t nodes = hs_lattice_count(&first->lattice);
    for (int k = 0; k < last; k++)
        HS_TRY(descend(levels, &levels->level[k], err));
    HS_TRY(solve_last(levels, err));
    for (int k = last - 1; k >= 0; k--)
        HS_TRY(ascend(levels, &levels->level[k], err));
    if (last > 0)
        return HS_OK;
    return march::launch("take_products", take_products, march::blocks_for(nodes), levels->stream,
                         err, nodes, (const float *)first->x, per_unit, r, levels->reduction);
}

} // namespace

hs_status hs_cuda_cycle(hs_cuda_levels *levels, double per_unit, const double *r, hs_error *err)
{
    if (levels->count == 1) /* not worth a graph */
        return launch_cycle(levels, per_unit, r, err);
    if (!levels->cycle) /* small levels take no longer than their launches */
        HS_TRY(hs_cuda_capture(
            levels->stream, [&] { return launch_cycle(levels, 0.0, NULL, err); }, &levels->cycle,
            err));
    HS_CUDA_TRY(err, cudaGraphLaunch(levels->cycle, levels->stream));
    return HS_OK;
}
