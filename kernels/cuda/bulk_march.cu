/*
 * bulk_march: one sweep a launch in 3D, with rows that the bulk copy engine brings, and all blocks
 * in step.
 *
 * What a copy of the field costs is the floor, and on an H200 three things stand between a sweep
 * and that. Each was found by counters, and each has its answer here.
 *
 *   L2 has two halves, and half of what a multiprocessor asks for lies in the other one. The path
 *   between them is 90 % busy in a plain copy, 93 % in vector_march, which asks L2 for 1.9 words
 *   a point: that is its limit. So tiles are large: a block has a multiprocessor to itself, and
 *   asks for 1.2 words a point.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         WX warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         above one another until the shared memory is
 *          |  [ warp  warp  warp  warp ]         full: it holds planes z .. z+R, and AHEAD more
 *          |  [ halo rows                    ]   that are on their way
 *          +------------------------------- x
 *
 *   One warp does nothing but have rows copied, as planes become free: no registers, no address
 *   arithmetic, a row an instruction. Rows that a neighbouring tile needs as well are to stay in L2
 *   before others (evict_last).
 *
 *   DRAM is as fast as in a copy only where what is asked for at one time lies together, and blocks
 *   that march on their own drift apart. So with radius 1 they march in step (lockstep.cuh). With
 *   wider halos that has been a loss where it was tried.
 *
 *   Groups of 32 bytes at the ends of rows are stored whole where the caller allows it (may_copy).
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it. From L2, as counted by hand: radius 1,
 * 1 + 2/16 along y and two groups of 32 bytes a row. So the memory is what should bound it, and the
 * copy what it should reach.
 *
 * Measured on one H200, shares of the device copy, float and double, 2026-11-21: radius 1 0.88 and
 * 0.89 at 512^3, 0.89 and 0.88 at 1024^3; radius 2 0.73 and 0.72, radius 3 0.70 and 0.79 at 512^3
 * (docs/benchmarks.md). Before, with a test program of this scheme: radius 1 as now; without the
 * lockstep 0.845 and 0.83 at 512^3; with tiles of 8 rows 0.85. Radius 2 0.79 and 0.75, radius 3
 * 0.76 and 0.79, at 512^3. Counted at 512^3 in float: 1.05 GB to and from memory, as the copy; the
 * path between L2's halves 86 % busy (copy: 90 %), memory 77 % (copy: 84
 * %), issue slots 34 %. What keeps it from the copy is the order in which memory is asked.
 *
 * z neighbours: registers. x and y neighbours: shared memory, or the thread's own rows.
 *
 * Source: bulk copies and barriers in shared memory: NVIDIA, CUDA C++ Programming Guide,
 * asynchronous data copies; a warp for loads and others for sums: Bauer, Cook, Khailany, CudaDMA,
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

/* Per radius: warps along x and y, rows a thread owns, planes in shared memory. */
template <int R>
struct shape;
template <>
struct shape<1> {
    enum { WX = HS_BULK_X_1, WY = HS_BULK_Y_1, ROWS = HS_BULK_ROWS, STAGES = HS_BULK_STAGES_1 };
};
template <>
struct shape<2> {
    enum { WX = HS_BULK_X_2, WY = HS_BULK_Y_2, ROWS = HS_BULK_ROWS, STAGES = HS_BULK_STAGES_2 };
};
template <>
struct shape<3> {
    enum { WX = HS_BULK_X_3, WY = HS_BULK_Y_3, ROWS = HS_BULK_ROWS, STAGES = HS_BULK_STAGES_3 };
};

template <int R, typename T>
struct tile : shape<R> {
    enum {
        N = vec<T>::N,
        SUMMING = shape<R>::WX * shape<R>::WY, /* warps; one more has rows copied */
        THREADS = 32 * (SUMMING + 1),
        X = shape<R>::WX * 32 * (int)N,
        Y = shape<R>::WY * (int)shape<R>::ROWS,
        HALO = (R + N - 1) / N * N, /* along x, in whole vectors */
        PITCH = X + 2 * HALO,
        GROUP = 32 / sizeof(T)
    };
    enum { STAGES = shape<R>::STAGES };
    /* The planes in turn; rows from -R, columns from -HALO. */
    struct shared_memory {
        T plane[STAGES][Y + 2 * R][PITCH];
        bulk::barrier full[STAGES], empty[STAGES];
    };
};

/* With radius 1; with wider halos, in float, it and the hints together were a loss (0.58 to 0.63).
 */
template <int R>
constexpr bool IN_STEP = R == 1;

struct chunk {
    int64_t x, y, z, z_end;
};

/* The i-th: along x first, then y, so that blocks that run at the same time read what lies
 * together. */
template <int R, typename T>
__device__ __forceinline__ chunk chunk_of(const star::request<T> &r, int i, int planes)
{
    const int nx = (int)r.tiles[HS_X], ny = (int)r.tiles[HS_Y];
    const int row = i / nx;
    chunk c;
    c.x = r.first[HS_X] + (int64_t)(i - row * nx) * tile<R, T>::X;
    c.y = r.lo[HS_Y] + (int64_t)(row % ny) * tile<R, T>::Y;
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

/* ---- the warp that has rows copied ---------------------------------------------------------- */

template <int R, typename T>
__device__ __forceinline__ void have_copied(const star::request<T> &r, int planes, int chunks,
                                            typename tile<R, T>::shared_memory &shared,
                                            lockstep::progress *of_all)
{
    using B = tile<R, T>;
    enum { N = B::N };
    const int lane = threadIdx.x % WARP;
    const uint64_t usual = bulk::policy(bulk::USUAL), keep = bulk::policy(bulk::KEEP);
    /* the first and the last vector of a row that are needed, or stored whole */
    const int64_t first = (r.lo[HS_X] - R + B::HALO) / N * N - B::HALO;
    int64_t last = (r.hi[HS_X] - 1 + R) / N * N;
    if (r.may_copy)
        last = max(last, (r.hi[HS_X] - 1) / B::GROUP * B::GROUP + B::GROUP - N);
    lockstep::pace step(IN_STEP<R> ? of_all : nullptr);
    turn<B::STAGES> stage = {0, 1}; /* a barrier's phase before its first is over */
    int n = 0;
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<R, T>(r, i, planes);
        const int64_t x = max(c.x - B::HALO, first);
        const int64_t x_end = min(c.x + B::X + B::HALO, last + N);
        const int rows = (int)min((int64_t)B::Y, r.hi[HS_Y] - c.y) + 2 * R;
        const unsigned bytes = (unsigned)((x_end - x) * (int64_t)sizeof(T));
        for (int64_t z = c.z - R; z < c.z_end + R; z++, n++) {
            bulk::wait(&shared.empty[stage.at], stage.parity);
            bulk::after_loads();
            if (lane == 0) {
                step.ask(n);
                bulk::arrive_with(&shared.full[stage.at], bytes * (unsigned)rows);
            }
            __syncwarp();
            const bool both = z < c.z + R || z >= c.z_end - R; /* needed by the chunks beside */
            for (int j = lane; j < rows; j += WARP)
                bulk::copy(&shared.plane[stage.at][j][x - c.x + B::HALO],
                           r.in + x + (c.y - R + j) * r.pitch_y + z * r.pitch_z, bytes,
                           &shared.full[stage.at],
                           IN_STEP<R> && (both || j < 2 * R || j >= rows - 2 * R) ? keep : usual);
            stage.next();
        }
    }
    const int rounds = (chunks + (int)gridDim.x - 1) / (int)gridDim.x;
    if (lane == 0)
        step.end(n, rounds * (planes + 2 * R));
}

/* ---- the warps that sum --------------------------------------------------------------------- */

/* What a lane does along x, the same in every row. */
template <int R, typename T>
struct columns {
    enum { N = vec<T>::N, GROUP = tile<R, T>::GROUP };
    int64_t x;
    int first, end; /* points of the vector that are in the box */
    bool whole;     /* stored as one vector, the others of its points as they were */

    __device__ __forceinline__ columns(const star::request<T> &r, int64_t x_) : x(x_)
    {
        const int64_t lo = r.lo[HS_X], hi = r.hi[HS_X], group = x / GROUP * GROUP;
        first = (int)min(max(lo - x, (int64_t)0), (int64_t)N);
        end = (int)min(max(hi - x, (int64_t)0), (int64_t)N);
        whole = (first == 0 && end == N) || (r.may_copy && group + GROUP > lo && group < hi);
    }
    __device__ __forceinline__ vec<T> load_source(const star::request<T> &r, int64_t at) const
    {
        if (r.source && first < end)
            return star::load(r.source + at);
        vec<T> v;
#pragma unroll
        for (int n = 0; n < N; n++)
            v.at[n] = r.source_value;
        return v;
    }
    /* `before` is what stands there in the input. */
    __device__ __forceinline__ void store_row(T *to, vec<T> v, const vec<T> &before) const
    {
        if (whole) {
#pragma unroll
            for (int n = 0; n < N; n++)
                v.at[n] = n >= first && n < end ? v.at[n] : before.at[n];
            star::store(to, v);
            return;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
            if (n >= first && n < end)
                to[n] = v.at[n];
    }
};

template <int R, typename T>
class summer
{
    using B = tile<R, T>;
    enum { N = B::N, ROWS = B::ROWS };
    const star::request<T> &r;
    const int column, row;         /* of this thread's first point in the tile */
    vec<T> queue[ROWS][2 * R + 1]; /* planes z-R .. z+R of its rows */

    __device__ __forceinline__ static vec<T> at(const T *shared)
    {
        return *reinterpret_cast<const vec<T> *>(shared);
    }

  public:
    __device__ __forceinline__ explicit summer(const star::request<T> &request)
        : r(request), column((threadIdx.x / WARP % B::WX * WARP + threadIdx.x % WARP) * N),
          row(threadIdx.x / WARP / B::WX * ROWS)
    {
    }

    __device__ __forceinline__ void take(const T (&plane)[B::Y + 2 * R][B::PITCH])
    {
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
#pragma unroll
            for (int p = 0; p < 2 * R; p++)
                queue[n][p] = queue[n][p + 1];
            queue[n][2 * R] = at(&plane[row + n + R][column + B::HALO]);
        }
    }

    /* Sums plane z of the chunk at (x, y), which is `plane`. */
    __device__ __forceinline__ void sum(const T (&plane)[B::Y + 2 * R][B::PITCH], int64_t x,
                                        int64_t y, int64_t z) const
    {
        const columns<R, T> along_x(r, x + column);
        const T *const mine = &plane[row + R][column + B::HALO];
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            T wide[N + 2 * B::HALO];
#pragma unroll
            for (int v = -B::HALO; v < N + B::HALO; v += N) {
                const vec<T> part = v == 0 ? queue[n][R] : at(mine + n * B::PITCH + v);
#pragma unroll
                for (int e = 0; e < N; e++)
                    wide[B::HALO + v + e] = part.at[e];
            }
            if (y + row + n >= r.hi[HS_Y])
                continue; /* the same for the whole warp */
            const int64_t to = along_x.x + (y + row + n) * r.pitch_y + z * r.pitch_z;
            vec<T> along_y[2 * R + 1]; /* rows n-R .. n+R, those that are not the thread's own */
#pragma unroll
            for (int o = -R; o <= R; o++)
                if (n + o < 0 || n + o >= ROWS)
                    along_y[R + o] = at(mine + (n + o) * B::PITCH);
            vec<T> sum = along_x.load_source(r, to);
#pragma unroll
            for (int e = 0; e < N; e++)
                sum.at[e] = star::sum<3, R>(r.c, sum.at[e], [&](int axis, int o) -> T {
                    if (axis == HS_X)
                        return wide[B::HALO + e + o];
                    if (axis == HS_Z)
                        return queue[n][R + o].at[e];
                    const bool own = n + o >= 0 && n + o < ROWS;
                    return own ? queue[own ? n + o : 0][R].at[e] : along_y[R + o].at[e];
                });
            along_x.store_row(r.out + to, sum, queue[n][R]);
        }
    }
};

template <int R, typename T>
__device__ __forceinline__ void sum_chunks(const star::request<T> &r, int planes, int chunks,
                                           typename tile<R, T>::shared_memory &shared)
{
    enum { STAGES = tile<R, T>::STAGES };
    summer<R, T> mine(r);
    turn<STAGES> stage = {0, 0};
    int before = STAGES - R; /* the stage R planes ago */
    int n = 0;
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<R, T>(r, i, planes);
        for (int64_t z = c.z - R; z < c.z_end + R; z++, n++) {
            bulk::wait(&shared.full[stage.at], stage.parity);
            mine.take(shared.plane[stage.at]);
            if (z >= c.z + R)
                mine.sum(shared.plane[before], c.x, c.y, z - R);
            if (n >= R) /* every lane for itself, which racecheck can follow */
                __mbarrier_arrive(&shared.empty[before]);
            stage.next();
            before = before + 1 == STAGES ? 0 : before + 1;
        }
    }
}

template <int R, typename T>
__global__ void __launch_bounds__(tile<R, T>::THREADS, 1)
    bulk_march(const __grid_constant__ star::request<T> r, int planes, lockstep::progress *of_all)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    using B = tile<R, T>;
    STAR_SHARED(memory, typename B::shared_memory, [1]);
    if (threadIdx.x == 0) {
        for (int s = 0; s < B::STAGES; s++) {
            __mbarrier_init(&memory[0].full[s], 1);
            __mbarrier_init(&memory[0].empty[s], B::SUMMING * WARP);
        }
        bulk::publish();
    }
    __syncthreads();
    const int chunks = (int)(r.tiles[HS_X] * r.tiles[HS_Y] * r.tiles[HS_Z]);
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<R, T>(r, planes, chunks, memory[0]);
    else
        have_copied<R, T>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)of_all; /* suits() tells such GPUs apart */
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
        using B = tile<radius.value, T>;
        star::request<T> r = star::make_request<T>(sweep, shape);
        r.first[HS_X] = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
        hs_geometry launched = shape; /* in step: no more blocks than run at the same time */
        const int64_t chunks = shape.blocks[HS_X] * shape.blocks[HS_Y] * shape.blocks[HS_Z];
        launched.blocks[HS_X] =
            IN_STEP<radius.value> && chunks > multiprocessors ? multiprocessors : chunks;
        launched.blocks[HS_Y] = launched.blocks[HS_Z] = 1;
        launched.shared_bytes = sizeof(typename B::shared_memory);
        return star::launch("bulk_march", bulk_march<radius.value, T>, r, launched, sweep->stream,
                            err, shape.output_tile[HS_Z], (lockstep::progress *)sweep->scratch);
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
