/*
 * conduction_march: one sweep of a body of many materials, as fast as memory allows.
 *
 * A sweep reads and writes one word per node, and reads its number in the palette: all else must
 * come from registers, neighbouring lanes and caches. As in vector_march a warp owns a row of 32
 * vectors of 16 bytes and marches along the slowest axis; a block's warps lie one above the other
 * along y.
 *
 *   upward flow     G*(in above - in) of a plane, with its sign changed, starts the sum of the
 *                   plane above: so one number replaces the plane below and its G
 *   x neighbours    adjacent lanes, by shuffle; each difference is used by both its nodes
 *   y neighbours    loads that the L1 cache serves
 *   rows            the numbers of a vector's nodes are one word. Its rows are looked up only if it
 *                   differs from the plane before in some lane of the warp; otherwise they stay in
 *                   registers: materials seldom change from plane to plane
 *   palette         one-byte numbers: in shared memory, in separate arrays of 16-byte parts, so
 *                   that lanes with different rows seldom conflict in a bank; two bytes: through L1
 *
 * For arrays the members are loaded as vectors beside the values, anew for each plane.
 *
 * Words per node: 1 + 2/planes read, 1 written, and the number; as arrays 6.
 *
 * What it reaches: docs/performance/bodies.md.
 *
 * Source: register queue along z: Micikevicius, GPGPU-2 (2009); vectors with shuffles: Rawat et
 * al., Register optimizations for stencils on GPUs, PPoPP'18. Keeping rows and flows is ours.
 */
#include "rows.cuh"

namespace
{

using network::request;
using star::load;
using star::load_once;
using star::vec;

enum { WARP = HS_WARP };
const unsigned ALL = 0xffffffffu;

/* The number of planes to march, and strides in bytes: along y, along the march, and from a node of
 * `in` to that of `out`. */
struct strides {
    int planes;
    int64_t y, march, out;
};
template <typename T>
__device__ __forceinline__ T *moved(T *from, int64_t bytes)
{
    return (T *)((char *)from + bytes);
}

/* The nodes of a lane along x, the same in every row. */
template <typename T>
struct lane_x {
    enum { N = vec<T>::WIDTH };
    enum : unsigned { WHOLE = (1u << N) - 1u, FIRST = 1u << N, LAST = 2u << N, REST = 4u << N };
    int64_t x; /* where the lane loads: its first node, or the last vector that is needed */
    /* A bit for each of its nodes in the box. FIRST, LAST: the warp's first or last lane needs the
     * node beside it, which no lane of the warp has. REST: some lane of the warp has rows with a
     * rest. */
    unsigned flags;

    __device__ __forceinline__ lane_x(const request<T> &r, int64_t x_warp)
    {
        const int64_t own = x_warp + (int64_t)(threadIdx.x * N);
        const int64_t lo = r.lo[HS_X], hi = r.hi[HS_X], last = hi / N * N;
        x = own < last ? own : last;
        flags = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            flags |= own + e >= lo && own + e < hi ? 1u << e : 0u;
        if (threadIdx.x == 0 && flags & 1u && network::joins_at(r, own))
            flags |= FIRST;
        if (threadIdx.x == WARP - 1 && flags & 1u << (N - 1) && network::joins_at(r, own + N))
            flags |= LAST;
    }
};

/* ---- rows by number ------------------------------------------------------------------------- */

template <int DIMS, typename FORM, typename T>
class rows_of
{
    enum { N = vec<T>::WIDTH };
    using NUMBER = typename FORM::NUMBER;
    using word = network::word<NUMBER, N>;
    using table = network::table<T, NUMBER, 1, sizeof(NUMBER) == 1 ? HS_CONDUCTION_BYTE_ROWS : 0>;

    const request<T> &r;
    const table palette;
    const NUMBER *number; /* of the lane's first node in the plane that was loaded */
    struct numbers {
        typename word::type own, below;
        unsigned beside;
    } is, comes; /* of the current plane, and of the next one */

    __device__ __forceinline__ static typename word::type read(const NUMBER *from)
    {
        return __ldg((const typename word::type *)from);
    }
    /* Loads the numbers of a plane, which are used one plane later. */
    __device__ __forceinline__ void load_numbers(const NUMBER *from)
    {
        number = from;
        comes.own = read(from);
        comes.below = DIMS == 3 ? read(from - r.pitch_y) : 0;
        comes.beside = __ldg(from - 1);
    }
    __device__ __forceinline__ void look_up(unsigned &flags)
    {
        const bool rest = palette.get(is.own, rows.conductance, rows.rate) & flags;
        if (DIMS == 3)
            palette.conductances(HS_Y, is.below, rows.below);
        rows.beside = palette.conductance(HS_X, is.beside);
        flags = (flags & ~lane_x<T>::REST) | (__any_sync(ALL, rest) ? lane_x<T>::REST : 0u);
    }

  public:
    network::lane_rows<DIMS, T> rows;
    using memory = typename table::memory;

    __device__ __forceinline__ rows_of(const request<T> &request, memory &shared)
        : r(request), palette(request.rows, shared)
    {
        table::copy(r.rows, shared, threadIdx.y * WARP + threadIdx.x, blockDim.x * blockDim.y);
        __syncthreads();
    }
    /* Called before the plane at `at`; returns G of the edges to it from the plane before. */
    __device__ __forceinline__ vec<T> begin(unsigned &flags, int64_t at, int64_t pitch)
    {
        const NUMBER *const first = (const NUMBER *)r.number + at;
        const typename word::type before = read(first - pitch);
        load_numbers(first);
        is = comes;
        look_up(flags);
        vec<T> g;
        palette.conductances(DIMS - 1, before, g.v);
        return g;
    }
    /* Takes the rows of the plane whose numbers were loaded; loads those of the next plane, if
     * any. */
    __device__ __forceinline__ void take(unsigned &flags, int64_t, int64_t pitch, bool more)
    {
        if (__any_sync(ALL, comes.own != is.own || comes.below != is.below ||
                                comes.beside != is.beside)) {
            is = comes;
            look_up(flags);
        }
        if (more)
            load_numbers(number + pitch);
    }
    /* The rest of node e's row. */
    __device__ __forceinline__ void get_rest(int e, T *sink, T *keep, T *added) const
    {
        palette.get_rest(0, word::node(is.own, e), sink, keep, added);
    }
};

/* ---- rows as arrays ------------------------------------------------------------------------- */

template <int DIMS, typename T>
class rows_of<DIMS, network::arrays, T>
{
    enum { N = vec<T>::WIDTH };
    const request<T> &r;
    vec<T> sink, added;

    __device__ __forceinline__ static vec<T> read(const T *member, int64_t at)
    {
        return member ? load(member + at) : vec<T>{};
    }

  public:
    network::lane_rows<DIMS, T> rows;
    struct memory {
    };

    __device__ __forceinline__ rows_of(const request<T> &request, memory &) : r(request)
    {
    }
    __device__ __forceinline__ vec<T> begin(unsigned &flags, int64_t at, int64_t pitch)
    {
        flags |= r.sink || r.added ? lane_x<T>::REST : 0u;
        return load(r.conductance[DIMS - 1] + at - pitch);
    }
    __device__ __forceinline__ void take(unsigned &, int64_t at, int64_t, bool)
    {
        vec<T> g[DIMS], below = {};
#pragma unroll
        for (int axis = 0; axis < DIMS; axis++) /* those along y also serve the next row */
            g[axis] = axis == HS_Y && DIMS == 3 ? load(r.conductance[axis] + at)
                                                : load_once(r.conductance[axis] + at);
        if (DIMS == 3)
            below = load(r.conductance[HS_Y] + at - r.pitch_y);
        const vec<T> rate = load_once(r.rate + at);
        sink = read(r.sink, at);
        added = read(r.added, at);
        rows.beside = __ldg(r.conductance[HS_X] + at - 1);
#pragma unroll
        for (int e = 0; e < N; e++) {
#pragma unroll
            for (int axis = 0; axis < DIMS; axis++)
                rows.conductance[e][axis] = g[axis].v[e];
            rows.rate[e] = rate.v[e];
            rows.below[e] = below.v[e];
        }
    }
    __device__ __forceinline__ void get_rest(int e, T *sink_of, T *keep, T *to_add) const
    {
        *sink_of = sink.v[e];
        *keep = T(1);
        *to_add = added.v[e];
    }
};

/* ---- the march ------------------------------------------------------------------------------ */

template <int DIMS, typename FORM, typename T>
class marcher
{
    enum { N = vec<T>::WIDTH, AHEAD = HS_CONDUCTION_AHEAD, QUEUE = 2 + AHEAD };

    const request<T> &r;
    const strides &by;
    lane_x<T> along_x;
    rows_of<DIMS, FORM, T> of;
    const T *in;         /* the lane's first node in the current plane */
    vec<T> queue[QUEUE]; /* a ring: planes z, z+1, and those in flight */
    vec<T> flow;         /* G*(plane z - plane z-1) */

    /* Sums the current plane; `centre`, its index in the ring, is a constant once unrolled. */
    __device__ __forceinline__ void sum_plane(int centre)
    {
        const vec<T> &now = queue[centre], &next = queue[(centre + 1) % QUEUE];
        const unsigned flags = star::anew(along_x.flags);
        vec<T> rise = {}, after = {};
        if (DIMS == 3) {
            const vec<T> before = load(moved(in, -by.y));
            after = load(moved(in, by.y));
#pragma unroll
            for (int e = 0; e < N; e++)
                rise.v[e] = now.v[e] - before.v[e];
        }
        T outer = T(0);
        if (flags & (along_x.FIRST | along_x.LAST))
            outer = __ldg(flags & along_x.FIRST ? in - 1 : in + N);
        T left = __shfl_up_sync(ALL, now.v[N - 1], 1), right = __shfl_down_sync(ALL, now.v[0], 1);
        left = threadIdx.x == 0 ? outer : left;
        right = threadIdx.x == WARP - 1 ? outer : right;
        const vec<T> sums = of.rows.sum(now, left, right, after, next, rise, flow);
        vec<T> out = of.rows.advanced(
            now, sums, flags & along_x.REST,
            [&](int e, T *sink, T *keep, T *added) { of.get_rest(e, sink, keep, added); },
            r.source ? r.source + (in - r.in) : nullptr);
        star::advance(r, flags & along_x.WHOLE, in - r.in, out);
        star::store(moved((T *)in, by.out), 0, out, flags & along_x.WHOLE);
    }

  public:
    __device__ __forceinline__ marcher(const request<T> &request, const strides &strides,
                                       int64_t x_warp,
                                       typename rows_of<DIMS, FORM, T>::memory &shared)
        : r(request), by(strides), along_x(request, x_warp), of(request, shared)
    {
    }

    /* Marches through `planes` planes of row y, from `first` on. The loop is unrolled by the length
     * of the ring, so that its slots are registers: moving a value in flight would mean waiting for
     * it. */
    __device__ __forceinline__ void march(int64_t y, int64_t first, int planes)
    {
        const int64_t pitch = DIMS == 3 ? r.pitch_z : r.pitch_y;
        const int64_t at = along_x.x + (DIMS == 3 ? y * r.pitch_y : 0) + first * pitch;
        in = r.in + at;
        const vec<T> below = load(in - pitch);
#pragma unroll
        for (int p = 0; p < QUEUE - 1; p++)
            if (p <= planes)
                queue[p] = load(in + p * pitch);
        const vec<T> g = of.begin(along_x.flags, at, pitch);
#pragma unroll
        for (int e = 0; e < N; e++)
            flow.v[e] = g.v[e] * (queue[0].v[e] - below.v[e]);
        for (;;) {
#pragma unroll
            for (int turn = 0; turn < QUEUE; turn++) {
                of.take(along_x.flags, in - r.in, pitch, planes > 1);
                if (planes > AHEAD) /* plane z + 1 + AHEAD, in the place of z - 1 */
                    queue[(turn + QUEUE - 1) % QUEUE] = load(moved(in, (1 + AHEAD) * by.march));
                sum_plane(turn);
                if (--planes == 0)
                    return;
                in = moved(in, by.march);
            }
        }
    }
};

template <int DIMS, typename FORM, typename T>
__global__ void __launch_bounds__(WARP *HS_CONDUCTION_WARPS, HS_CONDUCTION_BLOCKS)
    conduction_march(const __grid_constant__ request<T> r, const __grid_constant__ strides by)
{
    enum { MARCH = DIMS - 1, SPAN = WARP * vec<T>::WIDTH };
    using rows = rows_of<DIMS, FORM, T>;
    STAR_SHARED(memory, typename rows::memory, [1]);
    const star::tile_index block = star::this_tile(r);
    /* a block's warps lie one above the other along y; in 2D side by side along x */
    const int64_t column = DIMS == 3 ? block.x : block.x * blockDim.y + threadIdx.y;
    const int64_t x_warp = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE + column * SPAN;
    const int64_t y = DIMS == 3 ? r.lo[HS_Y] + block.y * blockDim.y + threadIdx.y : 0;
    const int64_t first = r.lo[MARCH] + (DIMS == 3 ? block.z : block.y) * by.planes;
    const int64_t end = first + by.planes < r.hi[MARCH] ? first + by.planes : r.hi[MARCH];
    marcher<DIMS, FORM, T> warp(r, by, x_warp, memory[0]);
    if (x_warp < r.hi[HS_X] && (DIMS < 3 || y < r.hi[HS_Y]))
        warp.march(y, first, (int)(end - first));
}

} // namespace

HS_CUDA_SWEEP(conduction_march)
{
    const hs_geometry &shape = plan->launch;
    return network::choose_form(sweep, [&](auto form, auto zero) {
        using FORM = decltype(form);
        using T = decltype(zero);
        const auto r = network::make_request<T>(sweep, shape);
        const int dims = network::dims_of(sweep);
        const int64_t size = sizeof(T);
        const strides by = {shape.output_tile[dims - 1], size * r.pitch_y,
                            size * sweep->layout.pitch[dims - 1],
                            (char *)r.out - (const char *)r.in};
        return star::launch("conduction_march",
                            dims == 3 ? conduction_march<3, FORM, T> : conduction_march<2, FORM, T>,
                            r, shape, sweep->stream, err, by);
    });
}
