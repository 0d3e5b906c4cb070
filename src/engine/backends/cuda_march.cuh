/*
 * Passes over the nodes of a network, with a thread for each column along z, and sums over them.
 *
 * A block has a tile of x and y and marches along z. Values below and above a node are in
 * registers, those beside it in the multiprocessor's cache. A block's sum is made in the order of
 * its threads, and the sum of blocks in theirs, whichever of them ends last.
 */
#ifndef HS_ENGINE_BACKENDS_CUDA_MARCH_CUH
#define HS_ENGINE_BACKENDS_CUDA_MARCH_CUH

#include "core/cuda_call.h"
#include "engine/multigrid/coarsen.h"

#include <cuda_runtime.h>
#include <type_traits>

namespace march
{

enum { ALONG_X = 32, ALONG_Y = 8, THREADS = ALONG_X * ALONG_Y, WARP = 32, WARPS = THREADS / WARP };
enum { ENOUGH = 4096 }; /* blocks of a launch */

/* ---- launches -------------------------------------------------------------------------------- */

template <typename... Parameters, typename... Arguments>
hs_status launch(const char *name, void (*kernel)(Parameters...), int64_t blocks,
                 cudaStream_t stream, hs_error *err, Arguments &&...arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(ALONG_X, ALONG_Y);
    config.stream = stream;
    const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
    if (status != cudaSuccess)
        return hs_error_add(err, HS_DEVICE, "cuda: launch of %s, %lld blocks of %d threads: %s",
                            name, (long long)blocks, (int)THREADS, cudaGetErrorString(status));
    return HS_OK;
}

/* For single nodes, by a grid-stride loop. */
inline int64_t blocks_for(int64_t nodes)
{
    const int64_t blocks = (nodes + THREADS - 1) / THREADS;
    return blocks < ENOUGH ? blocks : (int64_t)ENOUGH;
}

__device__ __forceinline__ int thread_of_block()
{
    return (int)(threadIdx.x + ALONG_X * threadIdx.y);
}

__device__ __forceinline__ int64_t first_node()
{
    return (int64_t)blockIdx.x * THREADS + thread_of_block();
}

__device__ __forceinline__ int64_t threads_of_all()
{
    return (int64_t)gridDim.x * THREADS;
}

/* ---- sums ------------------------------------------------------------------------------------ */

enum { SUMS = 3, MOSTS = 3 };
struct found {
    double sum[SUMS], most[MOSTS];
};

/* Where results go. */
struct reduction {
    found *part; /* [blocks] */
    unsigned *ended;
    found *all;
};

__device__ __forceinline__ void join(found &to, const found &other)
{
    for (int n = 0; n < SUMS; n++)
        to.sum[n] += other.sum[n];
    for (int n = 0; n < MOSTS; n++)
        to.most[n] = other.most[n] > to.most[n] ? other.most[n] : to.most[n];
}

/* Joins the values of the block's threads; thread 0 has the result. */
template <int N>
__device__ inline found join_block(found mine)
{
    __shared__ found of_warp[N];
    const int thread = thread_of_block();
    for (int apart = WARP / 2; apart > 0; apart /= 2) {
        found other;
        for (int n = 0; n < SUMS; n++)
            other.sum[n] = __shfl_xor_sync(0xffffffffu, mine.sum[n], apart);
        for (int n = 0; n < MOSTS; n++)
            other.most[n] = __shfl_xor_sync(0xffffffffu, mine.most[n], apart);
        join(mine, other);
    }
    __syncthreads(); /* earlier values there have been read */
    if (thread % WARP == 0)
        of_warp[thread / WARP] = mine;
    __syncthreads();
    if (thread == 0)
        for (int warp = 1; warp < N; warp++)
            join(mine, of_warp[warp]);
    return mine;
}

/* To be called by all threads of all blocks, of N warps each. */
template <int N = WARPS>
__device__ inline void reduce(const found &mine, const reduction &to)
{
    __shared__ bool is_last;
    const found block = join_block<N>(mine);
    if (thread_of_block() == 0) {
        to.part[blockIdx.x] = block;
        __threadfence();
        is_last = atomicAdd(to.ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    found all = {};
    for (unsigned n = (unsigned)thread_of_block(); n < gridDim.x; n += N * WARP) {
        found part;
        for (int m = 0; m < SUMS; m++)
            part.sum[m] = __ldcg(&to.part[n].sum[m]);
        for (int m = 0; m < MOSTS; m++)
            part.most[m] = __ldcg(&to.part[n].most[m]);
        join(all, part);
    }
    all = join_block<N>(all);
    if (thread_of_block() == 0) {
        *to.all = all;
        *to.ended = 0;
    }
}

/* ---- along z --------------------------------------------------------------------------------- */

enum { WIDE = 4 };

/* The least number of blocks on a multiprocessor at once, by the width of their threads. */
constexpr int blocks_of_width(int width)
{
    return width == 1 ? 4 : 3;
}

struct box {
    int n[HS_AXES];
    bool wrap[HS_AXES];
    int width;          /* nodes of a thread along x: 1, or WIDE where that divides n[HS_X] */
    int tiles[2], each; /* number along x and y; nodes of a block along z */
};

/* `wide`: threads take WIDE nodes where that is possible. */
inline box box_of(const hs_lattice &lattice, bool wide)
{
    box out = {};
    out.width = wide && lattice.n[HS_X] % WIDE == 0 ? (int)WIDE : 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        out.n[axis] = (int)lattice.n[axis];
        out.wrap[axis] = lattice.wrap[axis];
    }
    out.tiles[0] = (out.n[HS_X] + ALONG_X * out.width - 1) / (ALONG_X * out.width);
    out.tiles[1] = (out.n[HS_Y] + ALONG_Y - 1) / ALONG_Y;
    const int64_t tiles = (int64_t)out.tiles[0] * out.tiles[1];
    const int64_t parts = (ENOUGH + tiles - 1) / tiles;
    out.each = (int)((out.n[HS_Z] + parts - 1) / parts);
    return out;
}

/* Calls run(width) with the box's width: only palettes are wide. */
template <typename Rows, typename Run>
hs_status with_width(const box &b, Run run)
{
    if constexpr (Rows::wide)
        if (b.width == WIDE)
            return run(std::integral_constant<int, WIDE>());
    return run(std::integral_constant<int, 1>());
}

inline int64_t blocks_of(const box &b)
{
    return (int64_t)b.tiles[0] * b.tiles[1] * ((b.n[HS_Z] + b.each - 1) / b.each);
}

/* A thread's column. */
struct column {
    int i, j, first,
        last; /* first <= k < last along z; first = last for columns that are beyond the grid */
};

__device__ __forceinline__ column column_of(const box &b)
{
    const unsigned row = blockIdx.x / (unsigned)b.tiles[0], sheet = row / (unsigned)b.tiles[1];
    column c;
    c.i = b.width * (int)(blockIdx.x % (unsigned)b.tiles[0] * ALONG_X + threadIdx.x);
    c.j = (int)(row % (unsigned)b.tiles[1] * ALONG_Y + threadIdx.y);
    c.first = (int)sheet * b.each;
    const int last = c.first + b.each < b.n[HS_Z] ? c.first + b.each : b.n[HS_Z];
    c.last = c.i < b.n[HS_X] && c.j < b.n[HS_Y] ? last : c.first;
    return c;
}

/* The offset from a node to the neighbour before or after it, modulo 2^32; 0: there is none. */
__device__ __forceinline__ unsigned to_before(int at, int n, bool wrap, unsigned stride)
{
    return at > 0 ? 0u - stride : wrap ? (unsigned)(n - 1) * stride : 0u;
}

__device__ __forceinline__ unsigned to_after(int at, int n, bool wrap, unsigned stride)
{
    return at < n - 1 ? stride : wrap ? 0u - (unsigned)(n - 1) * stride : 0u;
}

/* Values of adjacent nodes, read and written at once. */
template <int W>
__device__ __forceinline__ void read(const float *from, unsigned node, float (&to)[W])
{
    if (W == 1) {
        to[0] = __ldg(from + node);
        return;
    }
    const float4 v = __ldg((const float4 *)(from + node));
    const float all[] = {v.x, v.y, v.z, v.w};
    for (int m = 0; m < W; m++)
        to[m] = all[m];
}

template <int W>
__device__ __forceinline__ void read_own(const float *from, unsigned node, float (&to)[W])
{
    if (W == 1) {
        to[0] = from[node];
        return;
    }
    const float4 v = *(const float4 *)(from + node);
    const float all[] = {v.x, v.y, v.z, v.w};
    for (int m = 0; m < W; m++)
        to[m] = all[m];
}

template <int W>
__device__ __forceinline__ void read_own(const double *from, unsigned node, double (&to)[W])
{
    for (int m = 0; m < W; m += 2) {
        if (W == 1) {
            to[0] = from[node];
            return;
        }
        const double2 v = *(const double2 *)(from + node + m);
        to[m] = v.x;
        to[m + (W > 1)] = v.y;
    }
}

template <int W>
__device__ __forceinline__ void write(float *to, unsigned node, const float (&from)[W])
{
    if (W == 1)
        to[node] = from[0];
    else
        *(float4 *)(to + node) = {from[0], from[1 % W], from[2 % W], from[3 % W]};
}

template <int W>
__device__ __forceinline__ void write(double *to, unsigned node, const double (&from)[W])
{
    if (W == 1)
        to[node] = from[0];
    else
        for (int m = 0; m < W; m += 2)
            *(double2 *)(to + node + m) = {from[m], from[(m + 1) % W]};
}

/* Row numbers of WIDE nodes as one value. */
template <typename NUMBER>
struct four;
template <>
struct four<uint8_t> {
    typedef unsigned type;
    static const type ones = 0x01010101u;
};
template <>
struct four<uint16_t> {
    typedef unsigned long long type;
    static const type ones = 0x0001000100010001ull;
};

/* The edge to a node's neighbour before it, and the number of that one's row. */
template <typename T>
struct kept_edge {
    T edge;
    unsigned number;
};

/*
 * Rows by number. ROW is what a thread keeps of a row: its edges, other numbers, and its number;
 * ROW::read(row, number) makes it from the row's ROW::NUMBERS numbers of type ROW::type, of which
 * the first are the edges. A node mostly has the same row as the one below.
 */
template <typename NUMBER, typename ROW>
struct palette {
    static const bool wide = true;
    enum : unsigned { NONE = ~0u };
    typedef typename ROW::type type;
    const NUMBER *number;
    const type *row; /* [rows][ROW::NUMBERS] */

    __device__ unsigned number_of(unsigned node) const
    {
        return __ldg(number + node);
    }
    __device__ auto numbers_of(unsigned node) const
    {
        return __ldg((const typename four<NUMBER>::type *)(number + node));
    }
    __device__ static bool all_are(typename four<NUMBER>::type numbers, unsigned n)
    {
        return numbers == n * four<NUMBER>::ones;
    }
    __device__ type member(int at, unsigned node) const
    {
        return __ldg(row + number_of(node) * ROW::NUMBERS + at);
    }
    __device__ type edge(int axis, unsigned node) const
    {
        return member(axis, node);
    }
    __device__ ROW none() const
    {
        ROW kept = {};
        kept.number = NONE;
        return kept;
    }
    __device__ void keep(ROW &kept, unsigned node) const
    {
        const unsigned n = __ldg(number + node);
        if (n != kept.number)
            kept = ROW::read(row + n * ROW::NUMBERS, n);
    }
    __device__ kept_edge<type> no_edge() const
    {
        return {(type)0, NONE};
    }
    __device__ void keep_edge(kept_edge<type> &kept, int axis, unsigned node) const
    {
        const unsigned n = __ldg(number + node);
        if (n != kept.number)
            kept = {__ldg(row + n * ROW::NUMBERS + axis), n};
    }
};

/* Offsets to a thread's neighbours. */
struct around {
    unsigned west, east, south, north;
};

__device__ __forceinline__ around around_of(const box &b, const column &c, int width)
{
    const unsigned nx = (unsigned)b.n[HS_X];
    around out;
    out.west = to_before(c.i, b.n[HS_X], b.wrap[HS_X], 1);
    out.east = c.i + width < b.n[HS_X] ? (unsigned)width : b.wrap[HS_X] ? (unsigned)width - nx : 0u;
    out.south = to_before(c.j, b.n[HS_Y], b.wrap[HS_Y], nx);
    out.north = to_after(c.j, b.n[HS_Y], b.wrap[HS_Y], nx);
    return out;
}

/*
 * Calls task.put(node, row, here, sum, found) for each node of the block. task.add(sum, G, there,
 * here) makes `sum` from the node's edges; rows.keep(row, node) makes `row` from that of the node
 * below. Tasks read what they do not write by __ldg, so that the loads of two nodes overlap. Nodes
 * are less than 2^32.
 */
template <typename Task>
__device__ __forceinline__ void go_by_one(const box &b, const Task &task, found &mine)
{
    typedef typename Task::value value;
    const column c = column_of(b);
    if (c.first >= c.last)
        return;
    const auto &rows = task.rows;
    const unsigned nx = (unsigned)b.n[HS_X], sheet = nx * (unsigned)b.n[HS_Y];
    const around at = around_of(b, c, 1);
    const unsigned down = to_before(c.first, b.n[HS_Z], b.wrap[HS_Z], sheet);
    unsigned node = (unsigned)c.i + nx * (unsigned)c.j + sheet * (unsigned)c.first;
    value below = task.load(node + down), here[1] = {task.load(node)};
    auto row = rows.none();
    auto to_south = rows.no_edge(), to_west = rows.no_edge();
    auto g_below = to_south.edge;
    if (down)
        g_below = rows.edge(HS_Z, node + down);
#pragma unroll 2
    for (int k = c.first; k < c.last; k++, node += sheet) {
        const value above = task.load(node + to_after(k, b.n[HS_Z], b.wrap[HS_Z], sheet));
        rows.keep(row, node);
        if (at.south)
            rows.keep_edge(to_south, HS_Y, node + at.south);
        if (at.west)
            rows.keep_edge(to_west, HS_X, node + at.west);
        typename Task::total sum[1] = {};
        task.add(sum[0], g_below, below, here[0]);
        task.add(sum[0], to_south.edge, task.load(node + at.south), here[0]);
        task.add(sum[0], to_west.edge, task.load(node + at.west), here[0]);
        task.add(sum[0], row.edge[HS_X], task.load(node + at.east), here[0]);
        task.add(sum[0], row.edge[HS_Y], task.load(node + at.north), here[0]);
        task.add(sum[0], row.edge[HS_Z], above, here[0]);
        task.put(node, row, here, sum, mine);
        below = here[0];
        here[0] = above;
        g_below = row.edge[HS_Z];
    }
}

/* One of several nodes of a thread, with its own row and those of its neighbours. */
template <typename Task>
__device__ __forceinline__ void do_node(const Task &task, const around &at, unsigned node, int m,
                                        unsigned down, const typename Task::value (&line)[WIDE + 2],
                                        const typename Task::value (&beside)[4], found &mine)
{
    const auto &rows = task.rows;
    const typename Task::value here[1] = {line[m + 1]};
    auto row = rows.none();
    rows.keep(row, node);
    decltype(row.edge[0] + row.edge[0]) below = 0, south = 0, west = 0;
    if (down)
        below = rows.edge(HS_Z, node + down);
    if (at.south)
        south = rows.edge(HS_Y, node + at.south);
    if (m > 0 || at.west)
        west = rows.edge(HS_X, m > 0 ? node - 1 : node + at.west);
    typename Task::total sum[1] = {};
    task.add(sum[0], below, beside[0], here[0]);
    task.add(sum[0], south, beside[1], here[0]);
    task.add(sum[0], west, line[m], here[0]);
    task.add(sum[0], row.edge[HS_X], line[m + 2], here[0]);
    task.add(sum[0], row.edge[HS_Y], beside[2], here[0]);
    task.add(sum[0], row.edge[HS_Z], beside[3], here[0]);
    task.put(node, row, here, sum, mine);
}

/* The same with WIDE nodes of a thread: all at once where they, and the neighbours whose edges lead
 * to them, have one row, as inside a material. The results are the same bits. */
template <typename Task>
__device__ __forceinline__ void go_by_four(const box &b, const Task &task, found &mine)
{
    typedef typename Task::value value;
    const column c = column_of(b);
    if (c.first >= c.last)
        return;
    const auto &rows = task.rows;
    const unsigned nx = (unsigned)b.n[HS_X], sheet = nx * (unsigned)b.n[HS_Y];
    const around at = around_of(b, c, WIDE);
    unsigned down = to_before(c.first, b.n[HS_Z], b.wrap[HS_Z], sheet);
    unsigned node = (unsigned)c.i + nx * (unsigned)c.j + sheet * (unsigned)c.first;
    /* what comes from memory, not from a cache, is loaded a sheet ahead */
    value below[WIDE], here[WIDE], above[WIDE], next[WIDE], south[WIDE], north[WIDE];
    unsigned up = to_after(c.first, b.n[HS_Z], b.wrap[HS_Z], sheet);
    task.load(node + down, below);
    task.load(node, here);
    task.load(node + up, above);
    auto numbers_below = rows.numbers_of(node + down);
    auto numbers = rows.numbers_of(node);
    auto row = rows.none();
    for (int k = c.first; k < c.last; k++, node += sheet) {
        const unsigned ahead = k + 1 < c.last ? sheet : 0u; /* offset of what is loaded next */
        up = ahead ? to_after(k + 1, b.n[HS_Z], b.wrap[HS_Z], sheet) : 0u;
        task.load(node + ahead + up, next);
        const auto numbers_next = rows.numbers_of(node + ahead);
        const auto numbers_south = rows.numbers_of(node + at.south);
        const unsigned number_west = rows.number_of(node + at.west);
        const value west = task.load(node + at.west), east = task.load(node + at.east);
        task.load(node + at.south, south);
        task.load(node + at.north, north);
        const bool inside = down && at.south && at.west;
        if (inside && rows.all_are(numbers, number_west) && numbers_south == numbers &&
            numbers_below == numbers) {
            typename Task::total sum[WIDE] = {};
            rows.keep(row, node);
#pragma unroll
            for (int m = 0; m < WIDE; m++) {
                task.add(sum[m], row.edge[HS_Z], below[m], here[m]);
                task.add(sum[m], row.edge[HS_Y], south[m], here[m]);
                task.add(sum[m], row.edge[HS_X], m > 0 ? here[(m + 3) % WIDE] : west, here[m]);
                task.add(sum[m], row.edge[HS_X], m < WIDE - 1 ? here[(m + 1) % WIDE] : east,
                         here[m]);
                task.add(sum[m], row.edge[HS_Y], north[m], here[m]);
                task.add(sum[m], row.edge[HS_Z], above[m], here[m]);
            }
            task.put(node, row, here, sum, mine);
        } else {
            const value line[] = {west, here[0], here[1], here[2], here[3], east};
#pragma unroll
            for (int m = 0; m < WIDE; m++) {
                const value beside[] = {below[m], south[m], north[m], above[m]};
                do_node(task, at, node + (unsigned)m, m, down, line, beside, mine);
            }
        }
#pragma unroll
        for (int m = 0; m < WIDE; m++) {
            below[m] = here[m];
            here[m] = above[m];
            above[m] = next[m];
        }
        numbers_below = numbers;
        numbers = numbers_next;
        down = 0u - sheet;
    }
}

/* `W`: the width of the box. */
template <int W, typename Task>
__device__ __forceinline__ void go(const box &b, const Task &task, found &mine)
{
    if constexpr (W == 1)
        go_by_one(b, task, mine);
    else
        go_by_four(b, task, mine);
}

/* A pass over all nodes. If Task::sums, what it finds is in the reduction. */
template <int W, typename Task>
__global__ void __launch_bounds__(THREADS, blocks_of_width(W))
    do_pass(const __grid_constant__ Task task, reduction to)
{
    found mine = {};
    go<W>(task.box, task, mine);
    if constexpr (Task::sums)
        reduce(mine, to);
}

template <typename Task>
hs_status launch_pass(const char *name, const Task &task, const reduction &to, cudaStream_t stream,
                      hs_error *err)
{
    return with_width<decltype(task.rows)>(task.box, [&](auto width) {
        return launch(name, do_pass<width(), Task>, blocks_of(task.box), stream, err, task, to);
    });
}

} // namespace march

#endif
