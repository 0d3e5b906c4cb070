/*
 * The ring of stages in shared memory of a block that marches by TMA, reused from chunk to chunk:
 * some warps have stages filled, the others sum what has arrived.
 */
#ifndef HS_KERNELS_CUDA_BULK_RING_CUH
#define HS_KERNELS_CUDA_BULK_RING_CUH

#include "bulk.cuh"
#include "throttle.cuh"

#include "bulk.h"

namespace bulk
{

/* In 2D, planes are rows and y stays 0. Planes z to z_end - 1 are marched through. */
struct chunk {
    int64_t x, y, z, z_end;
};

/* The i-th chunk of tiles B: along x first, then y, so that blocks that run at the same time read
 * adjacent memory. */
template <class B, typename T>
__device__ __forceinline__ chunk chunk_of(const star::request<T> &r, int i, int planes)
{
    const int nx = (int)r.tiles[HS_X], ny = B::DIMS == 3 ? (int)r.tiles[HS_Y] : 1;
    const int row = i / nx;
    chunk c;
    c.x = r.first[HS_X] + (int64_t)(i - row * nx) * B::X;
    c.y = B::DIMS == 3 ? r.lo[HS_Y] + (int64_t)(row % ny) * B::Y : 0;
    c.z = r.lo[B::MARCH] + (int64_t)(row / ny) * planes;
    c.z_end = c.z + planes < r.hi[B::MARCH] ? c.z + planes : r.hi[B::MARCH];
    return c;
}

/* Where a summing thread's first point lies in the tile of B. */
template <class B>
__device__ __forceinline__ int column()
{
    return (int)(threadIdx.x / HS_WARP % B::WX * HS_WARP + threadIdx.x % HS_WARP) * B::N;
}
template <class B>
__device__ __forceinline__ int row()
{
    return (int)(threadIdx.x / HS_WARP) / B::WX * B::ROWS;
}

/* A stage of the ring and the phase of its barriers in one number, which counts two rounds. */
template <int STAGES>
class turn
{
    int n;

  public:
    __device__ __forceinline__ explicit turn(unsigned parity) : n(parity ? (int)STAGES : 0)
    {
    }
    __device__ __forceinline__ int at() const
    {
        return n < STAGES ? n : n - STAGES;
    }
    __device__ __forceinline__ unsigned parity() const
    {
        return n < STAGES ? 0 : 1;
    }
    __device__ __forceinline__ void next()
    {
        n = n + 1 == 2 * STAGES ? 0 : n + 1;
    }
};

/* Barriers of the stages. */
template <int STAGES>
struct ring {
    barrier full[STAGES], empty[STAGES], asked[STAGES];

    /* One thread calls it, before the block synchronises. */
    __device__ __forceinline__ void begin(int copying, int summing)
    {
        for (int s = 0; s < STAGES; s++) {
            __mbarrier_init(&full[s], copying);
            __mbarrier_init(&asked[s], 1);
            __mbarrier_init(&empty[s], summing * HS_WARP);
        }
        publish();
    }
    /* A copying warp waits until it may fill the stage with the block's n-th request: warp 0 waits
     * for the other blocks, the other warps wait for warp 0. */
    template <class Limiter>
    __device__ __forceinline__ void open(const turn<STAGES> &stage, int warp, int lane,
                                         Limiter &step, int n)
    {
        wait(&empty[stage.at()], stage.parity());
        after_loads();
        if (warp > 0)
            wait(&asked[stage.at()], stage.parity() ^ 1u);
        else if (lane == 0) {
            step.ask(n);
            __mbarrier_arrive(&asked[stage.at()]);
        }
    }
};

} // namespace bulk

#endif
