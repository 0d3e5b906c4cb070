/*
 * bulk_march: one sweep a launch in 3D, with rows that the bulk copy engine brings, and all blocks
 * in step.
 *
 * What a copy of the field costs is the floor. Four things stood between a sweep and that on an
 * H200. Each was found by leaving out the others (docs/performance.md), and each has its answer
 * here.
 *
 *   The engine asks L2 by the lines of shared memory that it fills. Rows that begin there as far
 *   from a multiple of 128 bytes as they do in memory cost one request a line, others 1.2. So a row
 *   has the pitch of its points and a line more, and what stands left of its first point stands in
 *   the room that the row before has. From 0.88 to 0.97.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y above one another. Shared memory has the plane
 *          |  [ warp  warp  warp  warp ]         that is being summed and those on their way
 *          |  [ halo rows                    ]   R
 *          +------------------------------- x
 *
 *   DRAM is as fast as in a copy only where what is asked for at one time lies together, and blocks
 *   that march on their own drift apart. So they march in step (lockstep.cuh), and few chunks along
 *   z at a time: tiles are low, so that two layers of them, or one, are all blocks that run.
 *
 *   Rows that the neighbouring tile needs as well must still be in L2 when it asks. They are kept
 *   there before what is stored (evict_last): 0.99 against 0.96. The engine takes that hint for all
 *   rows that a warp asks for at once, so all have it.
 *
 *   To ask for a row takes a warp 190 clocks beside others that sum, whose lanes ask one after the
 *   other: 2.6 us for the 26 rows of two planes with radius 3. So four warps do it, one for each
 *   scheduler.
 *
 * A plane is needed only while it is summed: a point's sum begins with the planes below it, which
 * are in registers, goes on with its own, and ends with those above it as they come. That is the
 * one order of additions. So shared memory has one plane in use instead of R+1, and all others are
 * on their way.
 *
 * Groups of 32 bytes at the ends of rows are stored whole where the caller allows it (may_copy).
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it. From L2, with radius 1: 1 + 2/8, of
 * which 1.08 were counted.
 *
 * Measured on one H200, `heatsolve bench`, shares of the device copy, float and double, 512^3,
 * 2026-11-21: radius 1 0.98 and 0.99 (517 and 263 GCell/s), radius 2 0.97 and 0.98, radius 3 0.86
 * and 0.81; 0.99 on 509 x 511 x 513 in float. Before: 0.88 and 0.89, 0.73 and 0.72, 0.70 and 0.79.
 * Programs of these loops alone gave 0.99 at 1024^3 in float. With radius 3 it is not the memory
 * that bounds but the registers: six values a point wait in them, which leaves two warps a
 * scheduler; in double it has gone in step since (0.89 by the loops alone).
 *
 * z neighbours: registers. y neighbours: shared memory, or the row before. x neighbours: shared
 * memory.
 *
 * Source: bulk copies and barriers in shared memory: NVIDIA, CUDA C++ Programming Guide,
 * asynchronous data copies; warps for loads and others for sums: Bauer, Cook, Khailany, CudaDMA,
 * SC'11.
 */
#include "bulk.cuh"
#include "lockstep.cuh"
#include "vector.cuh"

#include "core/problem.h"

#include <stdio.h>

namespace
{

using star::vec;

enum { WARP = HS_WARP };

/* ---- what a block works on ------------------------------------------------------------------ */

/* Warps above one another, planes in shared memory; and the lockstep: a step of EVERY planes, at
 * most DRIFT steps ahead, 0 for none. LARGE: of grids whose planes have more tiles of the other
 * shape than there are multiprocessors. All of it was chosen by measuring. */
template <int R, typename T, bool LARGE>
struct shape {
    enum { Y = HS_BULK_Y, STAGES = HS_BULK_STAGES, EVERY = 2, DRIFT = R == 1 ? 2 : 3 };
};
template <>
struct shape<2, float, false> {
    enum { Y = HS_BULK_Y, STAGES = HS_BULK_STAGES, EVERY = 2, DRIFT = 2 };
};
template <typename T>
struct shape<1, T, true> {
    enum { Y = HS_BULK_Y_LARGE, STAGES = HS_BULK_STAGES_LARGE, EVERY = 1, DRIFT = 3 };
};
template <>
struct shape<3, float, false> {
    enum { Y = HS_BULK_Y, STAGES = HS_BULK_STAGES, EVERY = 1, DRIFT = 0 };
};

template <int RADIUS, typename REAL, bool LARGE>
struct tile {
    using T = REAL;
    using S = shape<RADIUS, T, LARGE>;
    enum {
        R = RADIUS,
        N = vec<T>::N,
        WX = HS_BULK_X,
        ROWS = R == 3 ? (int)HS_BULK_ROWS_3 : (int)HS_BULK_ROWS,
        STAGES = S::STAGES,
        SUMMING = (int)WX * (int)S::Y, /* warps; others have rows copied */
        COPYING = HS_BULK_COPYING,
        THREADS = (int)WARP * ((int)SUMMING + (int)COPYING),
        X = (int)WX * (int)WARP * (int)N,
        Y = (int)S::Y * (int)ROWS,
        HALO = (R + N - 1) / N * N, /* along x, in whole vectors */
        LINE = (int)HS_BULK_LINE_BYTES / (int)sizeof(T),
        PITCH = (int)X + (int)LINE,
        GROUP = 32 / sizeof(T)
    };
    static constexpr bool IN_STEP = S::DRIFT > 0;
    using pace = lockstep::pace<S::EVERY, IN_STEP ? (int)S::DRIFT : 1>;
    /* A plane of the tile: rows from -R, columns from -HALO. What is left of a row's first point
     * stands where the row before has room. */
    struct alignas(HS_BULK_LINE_BYTES) rows {
        T value[LINE + (Y + 2 * R) * PITCH];
        __device__ __forceinline__ T *at(int row, int column)
        {
            return value + LINE + (row + R) * PITCH + column;
        }
    };
    struct shared_memory {
        rows plane[STAGES];
        bulk::barrier full[STAGES], empty[STAGES], asked[STAGES];
    };
};

struct chunk {
    int64_t x, y, z, z_end;
};

/* The i-th: along x first, then y, so that blocks that run at the same time read what lies
 * together. */
template <class B, typename T>
__device__ __forceinline__ chunk chunk_of(const star::request<T> &r, int i, int planes)
{
    const int nx = (int)r.tiles[HS_X], ny = (int)r.tiles[HS_Y];
    const int row = i / nx;
    chunk c;
    c.x = r.first[HS_X] + (int64_t)(i - row * nx) * B::X;
    c.y = r.lo[HS_Y] + (int64_t)(row % ny) * B::Y;
    c.z = r.lo[HS_Z] + (int64_t)(row / ny) * planes;
    c.z_end = c.z + planes < r.hi[HS_Z] ? c.z + planes : r.hi[HS_Z];
    return c;
}

/* A stage of the ring, and which of its phases. */
template <int STAGES>
struct turn {
    int at;
    unsigned parity;
    __device__ __forceinline__ void next()
    {
        if (++at == STAGES)
            at = 0, parity ^= 1;
    }
};

/* ---- the warps that have rows copied ----------------------------------------------------------
 */

template <class B, typename T>
__device__ __forceinline__ void have_copied(const star::request<T> &r, int planes, int chunks,
                                            typename B::shared_memory &shared,
                                            lockstep::progress *of_all)
{
    enum { R = B::R, N = B::N };
    const int lane = threadIdx.x % WARP, warp = (int)(threadIdx.x / WARP) - B::SUMMING;
    const uint64_t keep = bulk::policy(bulk::KEEP);
    static_assert(B::Y + 2 * R <= WARP * B::COPYING);
    /* the first and the last vector of a row that are needed, or stored whole */
    const int64_t first = (r.lo[HS_X] - R + B::HALO) / N * N - B::HALO;
    int64_t last = (r.hi[HS_X] - 1 + R) / N * N;
    if (r.may_copy)
        last = max(last, (r.hi[HS_X] - 1) / B::GROUP * B::GROUP + B::GROUP - N);
    typename B::pace step(B::IN_STEP ? of_all : nullptr);
    turn<B::STAGES> stage = {0, 1}; /* a barrier's phase before its first is over */
    int n = 0;
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<B>(r, i, planes);
        const int64_t x = max(c.x - B::HALO, first);
        const int64_t x_end = min(c.x + B::X + B::HALO, last + N);
        const int own = (int)min((int64_t)B::Y, r.hi[HS_Y] - c.y);
        const unsigned bytes = (unsigned)((x_end - x) * (int64_t)sizeof(T));
        for (int64_t z = c.z - R; z < c.z_end + R; z++, n++) {
            const int halo = z >= c.z && z < c.z_end ? R : 0; /* others only end or begin sums */
            bulk::wait(&shared.empty[stage.at], stage.parity);
            bulk::after_loads();
            if (warp > 0)
                bulk::wait(&shared.asked[stage.at], stage.parity ^ 1u);
            else if (lane == 0) {
                step.ask(n);
                __mbarrier_arrive(&shared.asked[stage.at]);
            }
            const int rows = (own + 2 * halo - warp + B::COPYING - 1) / B::COPYING;
            if (lane == 0)
                bulk::arrive_with(&shared.full[stage.at], bytes * (unsigned)rows);
            __syncwarp();
            if (lane < rows) {
                const int j = lane * B::COPYING + warp - halo;
                bulk::copy(shared.plane[stage.at].at(j, (int)(x - c.x)),
                           r.in + x + (c.y + j) * r.pitch_y + z * r.pitch_z, bytes,
                           &shared.full[stage.at], keep);
            }
            stage.next();
        }
    }
    const int rounds = (chunks + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == 0 && lane == 0)
        step.end(n, rounds * (planes + 2 * R));
}

/* ---- the warps that sum --------------------------------------------------------------------- */

template <class B>
class summer
{
    using T = typename B::T;
    enum { R = B::R, N = B::N, ROWS = B::ROWS, HALO = B::HALO };
    /* Stored as one vector, those of its points that are not in the box as they were. */
    enum : unsigned { ALL = (1u << N) - 1, WHOLE = 1u << N };
    const star::request<T> &r;
    const int place;       /* of this thread's first point in the tile */
    unsigned in_box;       /* which points of its vectors are: a bit each; and WHOLE */
    int rows;              /* of its rows, how many are in the box */
    int64_t below;         /* where its first point in plane z-R stands */
    vec<T> older[R][ROWS]; /* planes z-R .. z-1 of its rows */
    vec<T> begun[R][ROWS]; /* the sums of those planes' points, without the planes from z on */

    /* Its first point in the tile. */
    __device__ __forceinline__ static int column()
    {
        return (int)(threadIdx.x / WARP % B::WX * WARP + threadIdx.x % WARP) * N;
    }
    __device__ __forceinline__ static int row()
    {
        return (int)(threadIdx.x / WARP) / B::WX * ROWS;
    }

    __device__ __forceinline__ static vec<T> at(const T *shared)
    {
        return *reinterpret_cast<const vec<T> *>(shared);
    }

    /* A row's points of the thread, and those beside them. */
    struct wide {
        T value[N + 2 * HALO];
        __device__ __forceinline__ wide(const T *shared, const vec<T> &own)
        {
#pragma unroll
            for (int v = -HALO; v < N + HALO; v += N) {
                const vec<T> part = v == 0 ? own : summer::at(shared + v);
#pragma unroll
                for (int e = 0; e < N; e++)
                    value[HALO + v + e] = part.at[e];
            }
        }
        __device__ __forceinline__ T at(int e) const
        {
            return value[HALO + e];
        }
    };

    __device__ __forceinline__ vec<T> source(int64_t at, bool needed) const /* R planes above */
    {
        if (r.source && needed && (in_box & ALL))
            return star::load(r.source + at + R * r.pitch_z);
        vec<T> v;
#pragma unroll
        for (int e = 0; e < N; e++)
            v.at[e] = r.source_value;
        return v;
    }

    /* `before` is what stands there in the input. */
    __device__ __forceinline__ void store(T *to, vec<T> v, const vec<T> &before) const
    {
        if (in_box & WHOLE) {
#pragma unroll
            for (int e = 0; e < N; e++)
                v.at[e] = in_box >> e & 1u ? v.at[e] : before.at[e];
            star::store(to, v);
            return;
        }
#pragma unroll
        for (int e = 0; e < N; e++)
            if (in_box >> e & 1u)
                to[e] = v.at[e];
    }

  public:
    __device__ __forceinline__ explicit summer(const star::request<T> &request)
        : r(request), place(row() * B::PITCH + column()), older{}, begun{}
    {
    }

    /* The next plane to add is the chunk's first, R below what it sums. */
    __device__ __forceinline__ void begin(const chunk &c)
    {
        const int64_t x = c.x + column(), y = c.y + row(), group = x / B::GROUP * B::GROUP;
        in_box = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            in_box |= x + e >= r.lo[HS_X] && x + e < r.hi[HS_X] ? 1u << e : 0u;
        if (in_box == ALL || (r.may_copy && group + B::GROUP > r.lo[HS_X] && group < r.hi[HS_X]))
            in_box |= WHOLE;
        rows = (int)min(max(r.hi[HS_Y] - y, (int64_t)0), (int64_t)ROWS);
        below = x + y * r.pitch_y + (c.z - 2 * R) * r.pitch_z;
    }

    /* Adds plane z, whose rows these are, to the sums of the planes below, begins its own where it
     * is `inside` the chunk, and has those of z-R stored where they are `due`. */
    __device__ __forceinline__ void add(typename B::rows &plane, bool inside, bool due)
    {
        const T *const mine = plane.at(0, 0) + place;
        int64_t to = below;
        vec<T> line[ROWS + 2 * R]; /* rows -R .. ROWS+R-1 */
#pragma unroll
        for (int n = 0; n < 2 * R; n++)
            line[n] = at(mine + (n - R) * B::PITCH);
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            line[n + 2 * R] = at(mine + (n + R) * B::PITCH);
            const vec<T> now = line[n + R];
#pragma unroll
            for (int p = 0; p < R; p++)
#pragma unroll
                for (int e = 0; e < N; e++)
                    begun[p][n].at[e] =
                        star::add_above<3, R>(r.c, begun[p][n].at[e], R - p, now.at[e]);
            const wide beside(mine + n * B::PITCH, now);
            vec<T> sum = source(to, inside && n < rows);
#pragma unroll
            for (int e = 0; e < N; e++)
                sum.at[e] = star::sum_below<3, R>(r.c, sum.at[e], [&](int axis, int o) -> T {
                    if (axis == HS_X)
                        return beside.at(e + o);
                    return axis == HS_Y ? line[n + R + o].at[e] : older[o < 0 ? R + o : 0][n].at[e];
                });
            if (due && n < rows) /* the same for the whole warp */
                store(r.out + to, begun[0][n], older[0][n]);
#pragma unroll
            for (int p = 0; p + 1 < R; p++)
                begun[p][n] = begun[p + 1][n], older[p][n] = older[p + 1][n];
            begun[R - 1][n] = sum, older[R - 1][n] = now;
            to += r.pitch_y;
        }
        below += r.pitch_z;
    }
};

template <class B, typename T>
__device__ __forceinline__ void sum_chunks(const star::request<T> &r, int planes, int chunks,
                                           typename B::shared_memory &shared)
{
    enum { R = B::R };
    summer<B> mine(r);
    turn<B::STAGES> stage = {0, 0};
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<B>(r, i, planes);
        mine.begin(c);
        const int all = (int)(c.z_end - c.z) + 2 * R;
        for (int n = 0; n < all; n++) {
            bulk::wait(&shared.full[stage.at], stage.parity);
            mine.add(shared.plane[stage.at], n >= R && n < all - R, n >= 2 * R);
            __mbarrier_arrive(&shared.empty[stage.at]); /* every lane, for racecheck to follow */
            stage.next();
        }
    }
}

template <class B>
__global__ void __launch_bounds__(B::THREADS, 1)
    bulk_march(const __grid_constant__ star::request<typename B::T> r, int planes, int chunks,
               lockstep::progress *of_all)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    STAR_SHARED(memory, typename B::shared_memory, [1]);
    if (threadIdx.x == 0) {
        for (int s = 0; s < B::STAGES; s++) {
            __mbarrier_init(&memory[0].full[s], B::COPYING);
            __mbarrier_init(&memory[0].asked[s], 1);
            __mbarrier_init(&memory[0].empty[s], B::SUMMING * WARP);
        }
        bulk::publish();
    }
    __syncthreads();
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<B>(r, planes, chunks, memory[0]);
    else
        have_copied<B>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)chunks, (void)of_all; /* suits() tells such GPUs apart */
#endif
}

/* --------------------------------------------------------------------------------------------- */

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("bulk_march", sweep, out);
}

size_t scratch(const hs_sweep *)
{
    return sizeof(lockstep::progress);
}

template <class B>
hs_status launch(const hs_sweep *sweep, const hs_geometry &shape, int multiprocessors,
                 hs_error *err)
{
    using T = typename B::T;
    star::request<T> r = star::make_request<T>(sweep, shape);
    r.first[HS_X] = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
    hs_geometry launched = shape;
    const int64_t chunks = shape.blocks[HS_X] * shape.blocks[HS_Y] * shape.blocks[HS_Z];
    int64_t blocks = chunks;
    if (B::IN_STEP && blocks > multiprocessors) { /* no more than run at once, as many each time */
        const int64_t rounds = (blocks + multiprocessors - 1) / multiprocessors;
        blocks = (blocks + rounds - 1) / rounds;
    }
    launched.blocks[HS_X] = blocks;
    launched.blocks[HS_Y] = launched.blocks[HS_Z] = 1;
    launched.shared_bytes = sizeof(typename B::shared_memory);
    return star::launch("bulk_march", bulk_march<B>, r, launched, sweep->stream, err,
                        shape.output_tile[HS_Z], (int)chunks, (lockstep::progress *)sweep->scratch);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    geometry(sweep, &shape);
    int device = 0, multiprocessors = 0;
    HS_CUDA_TRY("kernel bulk_march", err, cudaGetDevice(&device));
    HS_CUDA_TRY("kernel bulk_march", err,
                cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return star::choose<3, 3, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        using small = tile<radius.value, T, false>;
        if constexpr (radius.value == 1)
            if (shape.output_tile[HS_Y] != (int)small::Y)
                return launch<tile<1, T, true>>(sweep, shape, multiprocessors, err);
        return launch<small>(sweep, shape, multiprocessors, err);
    });
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    int major = 0, shared = 0;
    const int device = problem->solver.device;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
            cudaSuccess &&
        major >= 9 && shared >= HS_BULK_SHARED_BYTES)
        return true;
    snprintf(reason, size,
             "bulk_march needs a GPU of compute capability 9 or later with %d bytes of shared "
             "memory a block",
             HS_BULK_SHARED_BYTES);
    return false;
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_bulk_march = {
    .name = "bulk_march",
    .idea = "3D: march along z in step, whole rows by the bulk copy engine, planes ahead",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .dims = 1u << 3,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .suits = suits,
    .geometry = geometry,
    .scratch = scratch,
    .sweep = sweep,
};
