/*
 * Two passes of a V-cycle over a level at once: both steps from 0 and the residual on the way down,
 * the two steps on the way up. The result of the first pass is not read from memory.
 *
 * A block has a tile of x and y and marches along z; a thread has four adjacent nodes:
 *
 *     plane k + AHEAD    each thread starts to load its nodes
 *     plane k            has arrived; the first pass's input goes to the tile
 *     plane k - 1        first pass, whose result goes to the other tile
 *     plane k - 2        second pass
 *
 * So a plane takes one barrier; values below and above a node are in registers. Of a tile's 64 x 32
 * nodes the second pass makes 56 x 28. A thread keeps the rows of its four nodes for as long as the
 * next plane has the same.
 */
#include "core/cuda_asynchronous.cuh"
#include "core/cuda_shared.h"
#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/cycle.h"

namespace
{

enum { LANES = 16, LINES = 32, THREADS = LANES * LINES, WARPS = THREADS / 32 };
const int WIDE = march::WIDE;
enum { HALO = 2, ALONG_X = WIDE * (LANES - 2), ALONG_Y = LINES - 2 * HALO };
enum { AHEAD = 5, SLOTS = AHEAD + HALO + 1 }; /* the planes k - 2 to k + AHEAD */

/* ---- what a launch knows --------------------------------------------------------------------- */

template <typename NUMBER>
struct request {
    march::box box;
    const NUMBER *number;
    const float *row;
    hs_smoother p;
    const float *right, *field; /* field: input of the first pass, unless that begins with 0 */
    float *first, *out;         /* results of the first pass, if kept, and of the second */
};

template <typename NUMBER, bool FIELD>
struct tile_memory {
    float4 begun[2][LINES][LANES], made[2][LINES][LANES];
    float4 right[SLOTS][THREADS], field[FIELD ? (int)SLOTS : 1][THREADS];
    typename march::four<NUMBER>::type numbers[SLOTS][THREADS];
};

/* ---- nodes of a thread ----------------------------------------------------------------------- */

struct nodes {
    float of[WIDE];
};

__device__ __forceinline__ nodes unpack(float4 v)
{
    return {{v.x, v.y, v.z, v.w}};
}

__device__ __forceinline__ float4 pack(const nodes &n)
{
    return {n.of[0], n.of[1], n.of[2], n.of[3]};
}

/* The rows of these nodes. */
template <typename NUMBER>
struct kept_rows {
    typedef typename march::four<NUMBER>::type numbers;
    numbers kept;
    nodes edge[HS_AXES], before[HS_AXES], inverse, diagonal;

    __device__ __forceinline__ void load(const float *row, numbers wanted)
    {
        kept = wanted;
#pragma unroll
        for (int m = 0; m < WIDE; m++) {
            const unsigned n = (NUMBER)(wanted >> (8 * sizeof(NUMBER) * m));
            const float4 *const from = (const float4 *)(row + n * HS_CUDA_ROW);
            const float4 a = __ldg(from), b = __ldg(from + 1), c = __ldg(from + 2);
            edge[HS_X].of[m] = a.x;
            edge[HS_Y].of[m] = a.y;
            edge[HS_Z].of[m] = a.z;
            inverse.of[m] = a.w;
            before[HS_X].of[m] = b.z;
            before[HS_Y].of[m] = b.w;
            before[HS_Z].of[m] = c.x;
            diagonal.of[m] = c.y;
        }
    }
    __device__ __forceinline__ void keep(const float *row, numbers wanted)
    {
        if (wanted != kept)
            load(row, wanted);
    }
};

/* Sums over the nodes' edges of a field that is in a tile, and in registers along z. */
template <typename NUMBER>
__device__ __forceinline__ nodes sum_of(const kept_rows<NUMBER> &rows,
                                        const float4 (&tile)[LINES][LANES], const nodes &below,
                                        const nodes &here, const nodes &above, int lane, int line)
{
    const nodes south = unpack(tile[line > 0 ? line - 1 : 0][lane]);
    const nodes north = unpack(tile[line < LINES - 1 ? line + 1 : line][lane]);
    const float west = __shfl_up_sync(0xffffffffu, here.of[WIDE - 1], 1, LANES);
    const float east = __shfl_down_sync(0xffffffffu, here.of[0], 1, LANES);
    nodes sum;
#pragma unroll
    for (int m = 0; m < WIDE; m++) {
        float s = rows.before[HS_Z].of[m] * below.of[m];
        s = fmaf(rows.before[HS_Y].of[m], south.of[m], s);
        s = fmaf(rows.before[HS_X].of[m], m > 0 ? here.of[(m + 3) % WIDE] : west, s);
        s = fmaf(rows.edge[HS_X].of[m], m < WIDE - 1 ? here.of[(m + 1) % WIDE] : east, s);
        s = fmaf(rows.edge[HS_Y].of[m], north.of[m], s);
        sum.of[m] = fmaf(rows.edge[HS_Z].of[m], above.of[m], s);
    }
    return sum;
}

/* ---- the two pairs --------------------------------------------------------------------------- */

/* x after both steps from 0, begun with what the right side alone would make; its residual. */
struct downwards {
    static const bool has_field = false, keeps_first = true, has_sum = false;

    __device__ static float begin(float inverse, float right, float)
    {
        return inverse * right;
    }
    __device__ static float first(const hs_smoother &p, float inverse, float here, float sum, float)
    {
        return fmaf(p.first, fmaf(p.second, fmaf(inverse, sum, -here), (1.0f + p.again) * here),
                    p.second * here);
    }
    __device__ static float second(const hs_smoother &, float inverse, float diagonal, float,
                                   float made, float sum, float right)
    {
        return inverse > 0.0f ? fmaf(-diagonal, made, right + sum) : 0.0f;
    }
};

/* The two steps. */
struct upwards {
    static const bool has_field = true, keeps_first = false, has_sum = true;

    __device__ static float begin(float, float, float field)
    {
        return field;
    }
    __device__ static float first(const hs_smoother &p, float inverse, float here, float sum,
                                  float right)
    {
        return fmaf(p.first, fmaf(inverse, right + sum, -here), here);
    }
    __device__ static float second(const hs_smoother &p, float inverse, float, float begun,
                                   float made, float sum, float right)
    {
        return fmaf(p.second, fmaf(inverse, right + sum, -made), fmaf(p.again, made - begun, made));
    }
};

/* Where a thread is. */
struct place {
    unsigned node;   /* in plane 0 */
    bool there, own; /* it has nodes; the second pass makes them */
    int first, last; /* planes of the block: first <= k < last */
};

/* Moves a place onto the grid where the axis is periodic. False: it is outside. */
__device__ __forceinline__ bool find(const march::box &b, int axis, int *at)
{
    const int n = b.n[axis];
    if (*at >= 0 && *at < n)
        return true;
    *at = b.wrap[axis] ? (*at % n + n) % n : 0;
    return b.wrap[axis];
}

__device__ __forceinline__ place place_of(const march::box &b, int lane, int line)
{
    const unsigned tiles = (unsigned)b.tiles[0], row = blockIdx.x / tiles;
    int x = (int)(blockIdx.x % tiles) * ALONG_X + WIDE * (lane - 1);
    int y = (int)(row % (unsigned)b.tiles[1]) * ALONG_Y + line - HALO;
    place p;
    p.own = lane > 0 && lane < LANES - 1 && line >= HALO && line < LINES - HALO && x < b.n[HS_X] &&
            y < b.n[HS_Y];
    p.there = find(b, HS_X, &x);
    p.there = find(b, HS_Y, &y) && p.there;
    p.node = (unsigned)x + (unsigned)b.n[HS_X] * (unsigned)y;
    p.first = (int)(row / (unsigned)b.tiles[1]) * b.each;
    p.last = p.first + b.each < b.n[HS_Z] ? p.first + b.each : b.n[HS_Z];
    return p;
}

/* Starts to load a thread's nodes of plane k, which is plane z of the grid; outside they are 0. */
template <typename NUMBER, typename Pair, typename Memory>
__device__ __forceinline__ void ask(const request<NUMBER> &r, const place &at, int thread, int k,
                                    int z, Memory &tile)
{
    const int slot = (k + HALO) % SLOTS;
    if (at.there && z >= 0 && z < r.box.n[HS_Z]) {
        const unsigned node =
            at.node + (unsigned)r.box.n[HS_X] * (unsigned)r.box.n[HS_Y] * (unsigned)z;
        __pipeline_memcpy_async(&tile.right[slot][thread], r.right + node, sizeof(float4));
        if (Pair::has_field)
            __pipeline_memcpy_async(&tile.field[slot][thread], r.field + node, sizeof(float4));
        __pipeline_memcpy_async(&tile.numbers[slot][thread], r.number + node,
                                sizeof tile.numbers[slot][thread]);
    } else {
        tile.right[slot][thread] = float4();
        if (Pair::has_field)
            tile.field[slot][thread] = float4();
        tile.numbers[slot][thread] = 0;
    }
}

template <typename NUMBER, typename Pair>
__global__ void __launch_bounds__(THREADS, 1)
    do_pair(const __grid_constant__ request<NUMBER> r, march::reduction to)
{
    typedef tile_memory<NUMBER, Pair::has_field> memory;
    STAR_SHARED(shared, memory, [1]);
    memory &tile = shared[0];
    const int thread = march::thread_of_block(), lane = thread % LANES, line = thread / LANES;
    const unsigned sheet = (unsigned)r.box.n[HS_X] * (unsigned)r.box.n[HS_Y];
    const place at = place_of(r.box, lane, line);
    const int first = at.first - HALO, end = at.last + HALO;
    int z = first; /* of the plane that is loaded next */
    find(r.box, HS_Z, &z);
    z = r.box.wrap[HS_Z] ? z : first;
    const auto ask_next = [&](int k) {
        if (k < end)
            ask<NUMBER, Pair>(r, at, thread, k, z, tile);
        __pipeline_commit();
        z = r.box.wrap[HS_Z] && z + 1 == r.box.n[HS_Z] ? 0 : z + 1;
    };
    for (int k = first; k < first + AHEAD; k++)
        ask_next(k);

    kept_rows<NUMBER> rows;
    rows.load(r.row, 0);
    nodes begun[3] = {}, made[3] = {}; /* of planes k, k - 1, k - 2; k - 1, k - 2, k - 3 */
    march::found mine = {};
#pragma unroll 3
    for (int k = first; k < end; k++) {
        ask_next(k + AHEAD);
        __pipeline_wait_prior(AHEAD);
        const int slot = (k + HALO) % SLOTS, slot_1 = (k + HALO + SLOTS - 1) % SLOTS,
                  slot_2 = (k + HALO + SLOTS - 2) % SLOTS;
        rows.keep(r.row, tile.numbers[slot][thread]);
        const nodes right_in = unpack(tile.right[slot][thread]);
        const nodes field = Pair::has_field ? unpack(tile.field[slot][thread]) : right_in;
#pragma unroll
        for (int m = 0; m < WIDE; m++)
            begun[0].of[m] = Pair::begin(rows.inverse.of[m], right_in.of[m], field.of[m]);
        tile.begun[k & 1][line][lane] = pack(begun[0]);
        if (k >= at.first) { /* the first pass */
            rows.keep(r.row, tile.numbers[slot_1][thread]);
            const nodes right = unpack(tile.right[slot_1][thread]);
            const nodes sum =
                sum_of(rows, tile.begun[(k - 1) & 1], begun[2], begun[1], begun[0], lane, line);
#pragma unroll
            for (int m = 0; m < WIDE; m++)
                made[0].of[m] =
                    Pair::first(r.p, rows.inverse.of[m], begun[1].of[m], sum.of[m], right.of[m]);
            tile.made[(k - 1) & 1][line][lane] = pack(made[0]);
            if (Pair::keeps_first && at.own && k > at.first && k <= at.last)
                *(float4 *)(r.first + at.node + sheet * (unsigned)(k - 1)) = pack(made[0]);
        }
        if (k >= at.first + HALO) { /* the second one */
            rows.keep(r.row, tile.numbers[slot_2][thread]);
            const nodes right = unpack(tile.right[slot_2][thread]);
            const nodes sum = sum_of(rows, tile.made[k & 1], made[2], made[1], made[0], lane, line);
            nodes out;
            float product = 0.0f;
#pragma unroll
            for (int m = 0; m < WIDE; m++) {
                out.of[m] = Pair::second(r.p, rows.inverse.of[m], rows.diagonal.of[m],
                                         begun[2].of[m], made[1].of[m], sum.of[m], right.of[m]);
                product = fmaf(out.of[m], right.of[m], product);
            }
            if (at.own)
                *(float4 *)(r.out + at.node + sheet * (unsigned)(k - HALO)) = pack(out);
            if (Pair::has_sum && at.own)
                mine.sum[0] += (double)product;
        }
        __syncthreads();
        begun[2] = begun[1];
        begun[1] = begun[0];
        made[2] = made[1];
        made[1] = made[0];
    }
    if (Pair::has_sum && to.all)
        march::reduce<WARPS>(mine, to);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The number of planes a block for which all blocks take the least time; each has two planes more
 * at either end. */
int planes_of(const hs_cuda_levels *levels, int64_t columns, int planes)
{
    const int64_t most = march::ENOUGH / columns < planes ? march::ENOUGH / columns + 1 : planes;
    int64_t least = INT64_MAX;
    int best = planes;
    for (int64_t parts = 1; parts <= most; parts++) {
        const int each = (int)((planes + parts - 1) / parts);
        const int64_t blocks = columns * ((planes + each - 1) / each);
        const int64_t waves = (blocks + levels->multiprocessors - 1) / levels->multiprocessors;
        if (waves * (each + 2 * HALO) < least) {
            least = waves * (each + 2 * HALO);
            best = each;
        }
    }
    return best;
}

/* With these tiles. */
march::box box_of(const hs_cuda_levels *levels, const hs_lattice &lattice)
{
    march::box b = march::box_of(lattice, true);
    b.tiles[0] = (b.n[HS_X] + ALONG_X - 1) / ALONG_X;
    b.tiles[1] = (b.n[HS_Y] + ALONG_Y - 1) / ALONG_Y;
    b.each = planes_of(levels, (int64_t)b.tiles[0] * b.tiles[1], b.n[HS_Z]);
    return b;
}

template <typename NUMBER, typename Pair>
hs_status launch(const hs_cuda_levels *levels, const hs_cuda_level *level, const float *field,
                 float *first, float *out, bool sums, hs_error *err)
{
    request<NUMBER> r = {};
    r.box = box_of(levels, level->lattice);
    r.number = (const NUMBER *)level->rows.number;
    r.row = level->rows.row;
    r.p = hs_smoother_of(level->largest);
    r.right = level->right;
    r.field = field;
    r.first = first;
    r.out = out;
    cudaLaunchConfig_t config = {};
    const int parts = (r.box.n[HS_Z] + r.box.each - 1) / r.box.each;
    config.gridDim = dim3((unsigned)(r.box.tiles[0] * r.box.tiles[1] * parts));
    config.blockDim = dim3(march::WARP, WARPS);
    config.dynamicSmemBytes = sizeof(tile_memory<NUMBER, Pair::has_field>);
    config.stream = levels->stream;
    const auto kernel = do_pair<NUMBER, Pair>;
    HS_CUDA_TRY(err, cudaFuncSetAttribute((const void *)kernel,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)config.dynamicSmemBytes));
    HS_CUDA_TRY(
        err, cudaLaunchKernelEx(&config, kernel, r, sums ? levels->reduction : march::reduction()));
    return HS_OK;
}

} // namespace

/* Not for grids that are thin along y or z, where most of a tile's work is its halo. */
bool hs_cuda_pair_serves(const hs_cuda_levels *levels, const hs_cuda_level *level)
{
    const int64_t *n = level->lattice.n;
    return level->rows.number_bytes > 0 && n[HS_X] % WIDE == 0 && n[HS_Y] >= ALONG_Y / 4 &&
           n[HS_Z] >= 4 * HALO && levels->shared_bytes >= (int)sizeof(tile_memory<uint16_t, true>);
}

hs_status hs_cuda_pair_down(const hs_cuda_levels *levels, const hs_cuda_level *level, float *x,
                            float *residual, hs_error *err)
{
    return level->rows.number_bytes == 1
               ? launch<uint8_t, downwards>(levels, level, NULL, x, residual, false, err)
               : launch<uint16_t, downwards>(levels, level, NULL, x, residual, false, err);
}

hs_status hs_cuda_pair_up(const hs_cuda_levels *levels, const hs_cuda_level *level, const float *x,
                          float *out, bool sums, hs_error *err)
{
    return level->rows.number_bytes == 1
               ? launch<uint8_t, upwards>(levels, level, x, NULL, out, sums, err)
               : launch<uint16_t, upwards>(levels, level, x, NULL, out, sums, err);
}
