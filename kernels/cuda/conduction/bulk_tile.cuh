/*
 * The tile with which a block of conduction_bulk goes along z, the ring of stages in shared memory,
 * each for one plane of it, and the warps that fill them.
 */
#ifndef HS_KERNELS_CUDA_CONDUCTION_BULK_TILE_CUH
#define HS_KERNELS_CUDA_CONDUCTION_BULK_TILE_CUH

#include "bulk_ring.cuh"
#include "rows.cuh"

namespace conduction
{

using bulk::chunk;
using bulk::chunk_of;
using bulk::turn;
using network::joins_at;
using network::request;
using star::vec;

enum { WARP = HS_WARP };

template <typename REAL, typename NUMBER_>
struct bulk_tile {
    using T = REAL;
    using NUMBER = NUMBER_;
    using word = network::word<NUMBER, vec<T>::WIDTH>;
    using table = network::table<T, NUMBER, 1, hs_conduction_rows(sizeof(NUMBER))>;
    /* A step of the throttle is EVERY planes, a block at most DRIFT steps ahead. */
    using limiter = throttle::limiter<2, 2>;
    enum {
        DIMS = 3,
        MARCH = HS_Z,
        N = vec<T>::WIDTH,
        WX = HS_CONDUCTION_BULK_X,
        ROWS = HS_CONDUCTION_BULK_ROWS,
        X = (int)WX * (int)WARP * (int)N,
        Y = HS_CONDUCTION_BULK_Y,
        SUMMING = HS_CONDUCTION_BULK_SUMMING, /* warps that sum; the others issue copies */
        COPYING = HS_BULK_COPYING,
        THREADS = (int)WARP * ((int)SUMMING + (int)COPYING),
        LINE = (int)HS_BULK_LINE_BYTES / (int)sizeof(T),
        NUMBER_LINE = (int)HS_BULK_LINE_BYTES / (int)sizeof(NUMBER),
        GROUP = HS_VECTOR_BYTES / (int)sizeof(NUMBER), /* numbers that one copy unit holds */
        PITCH = (int)X + (int)LINE,
        NUMBER_PITCH = (int)X + (int)NUMBER_LINE,
        STAGES =
            hs_conduction_bulk_stages(sizeof(T), sizeof(NUMBER), sizeof(typename table::memory)),
        VALUES = (int)Y + 2, /* rows of values in a stage, from the row below the tile on, ... */
        NUMBERS = (int)Y + 1 /* ... and of numbers */
    };
    /* Rows are aligned to their lines as in memory; the left neighbours of a row lie in the extra
     * line of the row before. */
    struct alignas(HS_BULK_LINE_BYTES) stage {
        T value[LINE + VALUES * PITCH];
        alignas(HS_BULK_LINE_BYTES) NUMBER number[NUMBER_LINE + NUMBERS * NUMBER_PITCH];
        __device__ __forceinline__ const T *row(int y) const /* from -1 on */
        {
            return value + LINE + (y + 1) * PITCH;
        }
        __device__ __forceinline__ const NUMBER *numbers(int y) const
        {
            return number + NUMBER_LINE + (y + 1) * NUMBER_PITCH;
        }
    };
    struct shared_memory {
        stage stages[STAGES];
        typename table::memory palette;
        bulk::ring<STAGES> ring;
    };
    static_assert(sizeof(stage) == hs_conduction_bulk_stage_bytes(sizeof(T), sizeof(NUMBER)));
    static_assert((int)VALUES + (int)NUMBERS <= (int)WARP * (int)COPYING);
    static_assert(ROWS * (SUMMING / WX) == Y);
};

/* A row that a lane of a copying warp requests in every plane of a chunk. */
struct ordered {
    const char *from; /* in the chunk's first plane */
    int64_t pitch;    /* bytes from plane to plane */
    unsigned to;      /* bytes from the stage's beginning */
    unsigned bytes;   /* 0: none */
};

/* Nodes `begin` to `end` along x of a field's row at `at`; `to` is the row's place in the stage. */
template <typename V>
__device__ __forceinline__ ordered order(const V *field, int64_t at, int64_t pitch, int64_t begin,
                                         int64_t end, const void *stage, const V *to, int64_t x)
{
    return {(const char *)(field + at + begin), pitch * (int64_t)sizeof(V),
            (unsigned)((const char *)(to + (begin - x)) - (const char *)stage),
            (unsigned)((end - begin) * (int64_t)sizeof(V))};
}

/* The order for the n-th of a chunk's rows. Neighbours of the tile are not read if no edge leads
 * there. */
template <class B, typename T>
__device__ __forceinline__ ordered order_of(const request<T> &r, const chunk &c, int n,
                                            const typename B::stage &stage)
{
    enum { N = B::N, GROUP = B::GROUP };
    const int rows = (int)min((int64_t)B::Y, r.hi[HS_Y] - c.y);
    const int row = n < B::VALUES ? n - 1 : n - B::VALUES - 1;
    const int64_t at = (c.y + row) * r.pitch_y + (c.z - 1) * r.pitch_z;
    const int left = joins_at(r, c.x) ? 1 : 0, right = joins_at(r, c.x + B::X) ? 1 : 0;
    if (n < B::VALUES && row <= rows) { /* whole vectors with a node that is needed */
        const int64_t first = (r.lo[HS_X] + N - 1) / N * N - N, end = r.hi[HS_X] / N * N + N;
        return order(r.in, at, r.pitch_z, max(c.x - left * N, first),
                     min(c.x + B::X + right * N, end), &stage, stage.row(row), c.x);
    }
    if (n >= B::VALUES && row < rows) {
        const int64_t first = max(c.x, r.lo[HS_X] / GROUP * GROUP) - left * GROUP;
        const int64_t end = min(c.x + B::X, (r.hi[HS_X] + GROUP - 1) / GROUP * GROUP);
        return order((const typename B::NUMBER *)r.number, at, r.pitch_z, first, end, &stage,
                     stage.numbers(row), c.x);
    }
    return {};
}

template <class B, typename T>
__device__ __forceinline__ void have_copied(const request<T> &r, int planes, int chunks,
                                            typename B::shared_memory &shared,
                                            throttle::progress *of_all)
{
    const int lane = threadIdx.x % WARP, warp = (int)(threadIdx.x / WARP) - B::SUMMING;
    const int number = lane * B::COPYING + warp;
    /* the neighbouring tile needs rows of values as well: they are kept in L2 */
    const uint64_t policy = bulk::policy(number < B::VALUES ? bulk::KEEP : bulk::USUAL);
    typename B::limiter step(of_all);
    turn<B::STAGES> stage(1); /* the phase before a barrier's first counts as over */
    int n = 0;
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<B>(r, i, planes);
        ordered mine = order_of<B>(r, c, number, shared.stages[0]);
        unsigned of_warp = mine.bytes;
        for (int far = WARP / 2; far > 0; far /= 2)
            of_warp += __shfl_xor_sync(0xffffffffu, of_warp, far);
        for (int64_t z = c.z - 1; z <= c.z_end; z++, n++) {
            shared.ring.open(stage, warp, lane, step, n);
            if (lane == 0)
                bulk::arrive_with(&shared.ring.full[stage.at()], of_warp);
            __syncwarp();
            if (mine.bytes > 0)
                bulk::copy((char *)&shared.stages[stage.at()] + mine.to, mine.from, mine.bytes,
                           &shared.ring.full[stage.at()], policy);
            mine.from += mine.pitch;
            stage.next();
        }
    }
    const int rounds = (chunks + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == 0 && lane == 0)
        step.end(n, rounds * (planes + 2));
}

} // namespace conduction

#endif
