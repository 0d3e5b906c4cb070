/*
 * conduction_bulk: one sweep of a body of many materials in 3D, rows by number. As in bulk_march,
 * rows come by TMA (bulk asynchronous copies) into a ring of planes in shared memory, some warps
 * issue the copies and the others sum, and blocks march in step.
 *
 *        y |  [ row below                    ]
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y rows in all. A stage of the ring has a plane's
 *          |  [ warp  warp  warp  warp ]         values and its numbers
 *          |  [ row above                    ]
 *          +------------------------------- x
 *
 *   z neighbours   the current plane's values are in registers, and so is G*(in - in below), with
 *                  which its sums begin; the values of the plane above are in its stage
 *   y neighbours   registers, or rows of the stage
 *   x neighbours   adjacent lanes, by shuffle
 *   rows           looked up by number in every plane, in a copy of the palette in shared memory
 *
 * conduction_march waits for its loads: each of its warps has one in flight. Here as many planes
 * are in flight as shared memory has room for.
 *
 * Words per node: 1 + 2/planes read, 1 written, and the number. Another 2/Y from L2.
 *
 * What it reaches: docs/performance/bodies.md.
 *
 * Source: bulk_march's; keeping flows is conduction_march's.
 */
#include "bulk_tile.cuh"

#include <assert.h>

namespace
{

using namespace conduction;
using star::at;

enum : unsigned { ALL = 0xffffffffu };

/* The rows of a thread's nodes in one row of the grid. */
template <class B>
class rows_of
{
    using T = typename B::T;
    using word = typename B::word;
    enum { N = B::N };
    const typename B::table palette;
    typename word::type numbers; /* of the current row */
    bool rest;

    __device__ __forceinline__ static typename word::type read(const typename B::stage &stage,
                                                               int y, int x)
    {
        return *(const typename word::type *)(stage.numbers(y) + x);
    }

  public:
    network::lane_rows<3, T> rows;

    __device__ __forceinline__ rows_of(const request<T> &r, typename B::shared_memory &shared)
        : palette(r.rows, shared.palette), numbers(0), rest(false), rows{}
    {
    }
    /* G of the edges along an axis from the thread's nodes in row y of a stage. */
    __device__ __forceinline__ void conductances(int axis, const typename B::stage &stage, int y,
                                                 int x, T (&g)[N]) const
    {
        palette.conductances(axis, read(stage, y, x), g);
    }
    /* Takes the rows of grid row y. The node before the warp's first is at left_x. */
    __device__ __forceinline__ void take(const typename B::stage &stage, int y, int x, int left_x)
    {
        const bool leads = threadIdx.x % WARP == 0;
        const unsigned left = leads ? stage.numbers(y)[left_x] : 0u;
        numbers = read(stage, y, x);
        rest = palette.get(numbers, rows.conductance, rows.rate) != 0;
        const T beside = palette.conductance(HS_X, left);
        rows.beside = __shfl_up_sync(ALL, rows.conductance[N - 1][HS_X], 1);
        rows.beside = leads ? beside : rows.beside;
    }
    __device__ __forceinline__ bool says_more() const
    {
        return rest;
    }
    __device__ __forceinline__ void get_rest(int e, T *sink, T *keep, T *added) const
    {
        palette.get_rest(0, word::node(numbers, e), sink, keep, added);
    }
};

/* ---- sums ----------------------------------------------------------------------------------- */

template <class B>
class summer
{
    using T = typename B::T;
    using stage = typename B::stage;
    enum { N = B::N, ROWS = B::ROWS };
    const request<T> &r;
    rows_of<B> of;
    const int lane, column, row; /* of the thread's first node in the tile */
    int left_at, right_at;       /* offsets of the neighbours of the warp's first and last lane */
    int rows;                    /* of the thread's rows, those in the box */
    unsigned nodes;              /* a bit for each node of a vector that is in the box */
    int64_t node;                /* the first one, in the current plane */
    vec<T> now[ROWS];            /* values of the current plane */
    vec<T> flow[ROWS];           /* G*(that plane - the one below) */

    __device__ __forceinline__ const T *values(const stage &of_plane, int n) const
    {
        return of_plane.row(row + n) + column;
    }

  public:
    __device__ __forceinline__ summer(const request<T> &request, typename B::shared_memory &shared)
        : r(request), of(request, shared), lane(threadIdx.x % WARP), column(bulk::column<B>()),
          row(bulk::row<B>())
    {
    }

    /* The plane below a chunk has arrived. */
    __device__ __forceinline__ void begin(const chunk &c, const stage &below)
    {
        const int64_t x = c.x + column;
        nodes = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            nodes |= x + e >= r.lo[HS_X] && x + e < r.hi[HS_X] ? 1u << e : 0u;
        left_at = joins_at(r, x) ? -1 : 0; /* no edge: the node itself, difference 0 */
        right_at = joins_at(r, x + N) ? N : N - 1;
        rows = (int)min(r.hi[HS_Y] - c.y - row, (int64_t)ROWS);
        node = x + (c.y + row) * r.pitch_y + c.z * r.pitch_z;
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            now[n] = at(values(below, n));
            of.conductances(HS_Z, below, row + n, column, flow[n].v);
        }
    }
    /* The chunk's first plane has arrived. */
    __device__ __forceinline__ void take_first(const stage &first)
    {
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            const vec<T> below = now[n];
            now[n] = at(values(first, n));
#pragma unroll
            for (int e = 0; e < N; e++)
                flow[n].v[e] *= now[n].v[e] - below.v[e];
        }
    }
    /* Sums the current plane, and makes the one above current. */
    __device__ __forceinline__ void sum(const stage &here, const stage &above)
    {
        vec<T> rise = at(values(here, -1));
#pragma unroll
        for (int e = 0; e < N; e++)
            rise.v[e] = now[0].v[e] - rise.v[e];
        of.conductances(HS_Y, here, row - 1, column, of.rows.below);
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            const vec<T> next = at(values(above, n));
            if (n < rows) {
                const vec<T> after = n + 1 < ROWS ? now[(n + 1) % ROWS] : at(values(here, ROWS));
                sum_row(here, n, after, next, rise);
            }
            now[n] = next;
        }
        node += r.pitch_z;
    }

  private:
    __device__ __forceinline__ void sum_row(const stage &here, int n, const vec<T> &after,
                                            const vec<T> &next, vec<T> &rise)
    {
        const T *const own = values(here, n);
        T left = __shfl_up_sync(ALL, now[n].v[N - 1], 1);
        T right = __shfl_down_sync(ALL, now[n].v[0], 1);
        if (lane == 0)
            left = own[left_at];
        if (lane == WARP - 1)
            right = own[right_at];
        of.take(here, row + n, column, column + left_at);
        const vec<T> sums = of.rows.sum(now[n], left, right, after, next, rise, flow[n]);
#pragma unroll
        for (int e = 0; e < N; e++)
            of.rows.below[e] = of.rows.conductance[e][HS_Y];
        const int64_t to = node + n * r.pitch_y;
        const vec<T> out = of.rows.advanced(
            now[n], sums, of.says_more() && nodes,
            [&](int e, T *sink, T *keep, T *added) { of.get_rest(e, sink, keep, added); },
            r.source && nodes ? r.source + to : nullptr);
        star::store(r.out, to, out, nodes);
    }
};

template <class B, typename T>
__device__ __forceinline__ void sum_chunks(const request<T> &r, int planes, int chunks,
                                           typename B::shared_memory &shared)
{
    summer<B> mine(r, shared);
    turn<B::STAGES> stage(0);
    const auto arrived = [&](const turn<B::STAGES> &which) -> const typename B::stage & {
        bulk::wait(&shared.ring.full[which.at()], which.parity());
        return shared.stages[which.at()];
    };
    const auto leave = [&] {
        __mbarrier_arrive(&shared.ring.empty[stage.at()]); /* every lane arrives, for racecheck */
        stage.next();
    };
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<B>(r, i, planes);
        mine.begin(c, arrived(stage));
        leave();
        mine.take_first(arrived(stage));
        for (int64_t z = c.z; z < c.z_end; z++) {
            turn<B::STAGES> next = stage;
            next.next();
            mine.sum(shared.stages[stage.at()], arrived(next));
            leave();
        }
        leave();
    }
}

template <class B>
__global__ void __launch_bounds__(B::THREADS, 1)
    conduction_bulk(const __grid_constant__ request<typename B::T> r, int planes, int chunks,
                    throttle::progress *of_all)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    STAR_SHARED(memory, typename B::shared_memory, [1]);
    if (threadIdx.x == 0)
        memory[0].ring.begin(B::COPYING, B::SUMMING);
    B::table::copy(r.rows, memory[0].palette, threadIdx.x, B::THREADS);
    __syncthreads();
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<B>(r, planes, chunks, memory[0]);
    else
        have_copied<B>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)chunks, (void)of_all; /* plan() refuses such GPUs */
#endif
}

} // namespace

template <class B>
static hs_status launch(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    hs_bulk_chunks chunks;
    HS_PLAN_GET(plan, chunks);
    auto r = network::make_request<typename B::T>(sweep, plan->launch);
    r.first[HS_X] = r.lo[HS_X] / B::LINE * B::LINE;
    assert(plan->launch.shared_bytes == sizeof(typename B::shared_memory));
    return star::launch("conduction_bulk", conduction_bulk<B>, r, plan->launch, sweep->stream, err,
                        chunks.planes, chunks.count, (throttle::progress *)sweep->scratch);
}

HS_CUDA_SWEEP(conduction_bulk)
{
    return network::choose_form(sweep, [&](auto form, auto zero) -> hs_status {
        using FORM = decltype(form);
        if constexpr (std::is_same_v<FORM, network::arrays>)
            return hs_error_add(err, HS_BAD_INPUT, "conduction_bulk: arrays are not compiled in");
        else
            return launch<conduction::bulk_tile<decltype(zero), typename FORM::NUMBER>>(plan, sweep,
                                                                                        err);
    });
}
