/*
 * The warps of bulk_march that issue copies: which rows and columns a stage needs, who requests
 * them, and when.
 */
#ifndef HS_KERNELS_CUDA_BULK_MARCH_COPIES_CUH
#define HS_KERNELS_CUDA_BULK_MARCH_COPIES_CUH

#include "tile.cuh"

namespace bulk_rows
{

/* Columns of a block's tile that are needed. */
struct columns {
    int64_t begin, end;
    template <typename T>
    __device__ __forceinline__ unsigned bytes() const
    {
        return (unsigned)((end - begin) * (int64_t)sizeof(T));
    }
};

/* The columns of all vectors with a point that is needed, or that is stored with its group. */
template <class B, typename T>
__device__ __forceinline__ columns columns_of(const star::request<T> &r)
{
    enum { R = B::R, N = B::N };
    const int64_t first = (r.lo[HS_X] - R + B::HALO) / N * N - B::HALO;
    int64_t last = (r.hi[HS_X] - 1 + R) / N * N;
    if (r.may_copy)
        last = max(last, (r.hi[HS_X] - 1) / B::GROUP * B::GROUP + B::GROUP - N);
    return {first, last + N};
}

/* This lane's row out of `count` rows from `first` on; at most one. */
template <class B>
struct share {
    int row, of_warp; /* -1 - R: none; rows of all lanes of the warp */
    __device__ __forceinline__ share(int first, int count)
    {
        const int lane = threadIdx.x % WARP, warp = (int)(threadIdx.x / WARP) - B::SUMMING;
        of_warp = max((count - warp + B::COPYING - 1) / B::COPYING, 0);
        row = lane < of_warp ? first + lane * B::COPYING + warp : -1 - B::R;
    }
    __device__ __forceinline__ bool any() const
    {
        return row >= -B::R;
    }
};

/* Bits of the stage's planes that complete sums to be stored. The first of them is the n-th of a
 * chunk of `planes` planes plus those around it. */
template <class B>
__device__ __forceinline__ unsigned due_with(int n, int planes)
{
    unsigned due = 0;
#pragma unroll
    for (int p = 0; p < B::PLANES; p++)
        due |= n + p >= 2 * B::R && n + p < planes + 2 * B::R ? 1u << p : 0u;
    return due;
}

template <class B, typename T>
__device__ __forceinline__ void have_copied(const star::request<T> &r, int planes, int chunks,
                                            typename B::shared_memory &shared,
                                            throttle::progress *of_all)
{
    enum { R = B::R, N = B::N };
    const int lane = threadIdx.x % WARP, warp = (int)(threadIdx.x / WARP) - B::SUMMING;
    const uint64_t keep = bulk::policy(bulk::KEEP), leave = bulk::policy(bulk::USUAL);
    const int64_t pitch = pitch_of<B>(r);
    const columns needed = columns_of<B>(r);
    typename B::limiter step(of_all);
    turn<B::STAGES> stage(1); /* the phase before a barrier's first counts as over */
    int n = 0;
    for (int i = blockIdx.x; i < chunks; i += gridDim.x) {
        const chunk c = chunk_of<B>(r, i, planes);
        const columns own = {max(c.x, r.lo[HS_X] / N * N),
                             min(c.x + B::X, (r.hi[HS_X] + N - 1) / N * N)};
        const columns wide = {max(c.x - B::HALO, needed.begin),
                              min(c.x + B::X + B::HALO, needed.end)};
        const int rows_y = B::DIMS == 3 ? (int)min((int64_t)B::Y, r.hi[HS_Y] - c.y) : 0;
        for (int64_t z = c.z - R; z < c.z_end + R; z += B::PLANES, n++) {
            const int halo = z >= c.z && z < c.z_end ? B::HALO_Y : 0; /* others begin or end sums */
            const int rows =
                B::DIMS == 3 ? rows_y + 2 * halo : (int)min((int64_t)B::PLANES, c.z_end + R - z);
            /* rows of the source of plane z + R, as far as it is in the chunk */
            const int sources = !B::SOURCE        ? 0
                                : B::DIMS == 2    ? (int)min((int64_t)B::PLANES, c.z_end - R - z)
                                : z + R < c.z_end ? rows_y
                                                  : 0;
            shared.ring.open(stage, warp, lane, step, n);
            if (warp == 0 && lane == 0)
                shared.stages[stage.at()].note = {
                    z == c.z - R ? i : (int)B::SAME,
                    due_with<B>((int)(z - c.z) + R, (int)(c.z_end - c.z)), n * B::PLANES % R};
            const share<B> of_rows(-halo, rows), of_sources(0, sources);
            if (lane == 0)
                bulk::arrive_with(&shared.ring.full[stage.at()],
                                  wide.bytes<T>() * (unsigned)of_rows.of_warp +
                                      own.bytes<T>() * (unsigned)of_sources.of_warp);
            __syncwarp();
            typename B::stage &to = shared.stages[stage.at()];
            const int64_t from = c.y * r.pitch_y + z * pitch;
            if (of_rows.any())
                bulk::copy(to.at(of_rows.row, (int)(wide.begin - c.x)),
                           r.in + wide.begin + of_rows.row * r.pitch_y + from, wide.bytes<T>(),
                           &shared.ring.full[stage.at()], keep);
            if (of_sources.any())
                bulk::copy(to.source_at(of_sources.row, (int)(own.begin - c.x)),
                           r.source + own.begin + of_sources.row * r.pitch_y + from + R * pitch,
                           own.bytes<T>(), &shared.ring.full[stage.at()], leave);
            stage.next();
        }
    }
    bulk::wait(&shared.ring.empty[stage.at()], stage.parity());
    if (warp == 0 && lane == 0)
        shared.stages[stage.at()].note.begins = B::END;
    if (lane == 0)
        bulk::arrive_with(&shared.ring.full[stage.at()], 0);
    const int rounds = (chunks + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == 0 && lane == 0)
        step.end(n, rounds * ((planes + 2 * R + B::PLANES - 1) / B::PLANES));
}

} // namespace bulk_rows

#endif
