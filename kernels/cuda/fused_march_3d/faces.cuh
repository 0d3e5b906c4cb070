/*
 * What lies at and beyond the faces of a fused march's tile (march.cuh): ghosts, put where a sweep
 * reads its neighbours, and held nodes of the plane that it made. Each has a general way with
 * branches, and ways without, which compute one thing in all threads and select it in few.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_FACES_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_FACES_CUH

#include "copies.cuh"

namespace fused_march
{

/*
 * What a step may meet. A branch within a step costs far more than it saves, since no instruction
 * is moved across it to hide latency. So the usual kinds of tiles have variants without branches,
 * in which all threads compute what only some need, and these select it.
 */
enum meets {
    NO_FACE,
    KEPT,      /* faces of x and y whose nodes all keep their values */
    HELD,      /* ... or all take prescribed ones */
    GHOSTS_X,  /* faces of x, all their nodes updated */
    GHOSTS_Y,  /* faces of y */
    GHOSTS,    /* both */
    KEPT_ENDS, /* as KEPT, and faces of z; likewise the next two */
    HELD_ENDS,
    GHOSTS_ENDS,
    SIDES, /* any faces of x and y, or values that vary from point to point */
    ENDS   /* ... and of z */
};

template <typename Sizes>
struct boundary : copies<Sizes> {
    using base = copies<Sizes>;
    using base::FULL, base::GROUPS, base::LANES, base::ROWS, base::THREADS, base::WIDTH;
    using base::group, base::holds, base::lane, base::mirrors, base::p, base::x, base::y;
    using typename base::T, typename base::vector;

    using base::base;

    __device__ T offset(int f, int level, int node) const
    {
        return FULL && p.level[level].data_field[f]
                   ? p.rule[f][0].c * p.level[level].data_field[f][node]
                   : p.level[level].offset[f][0];
    }
    __device__ T hold(int f, int level, int node) const
    {
        return FULL && p.level[level].prescribed_field[f] ? p.level[level].prescribed_field[f][node]
                                                          : p.level[level].prescribed[f];
    }
    __device__ T ghost(int f, T inner, T edge, T offset) const
    {
        return star::ghost(p.rule[f][0], inner, edge, offset);
    }
    /* Index of this thread's nodes on the faces of x, y and z. */
    __device__ int on_x(int r, int k) const
    {
        return FULL ? image(k, p.nz, p.wrap[2]) * p.ny + image(y + r, p.ny, p.wrap[1]) : 0;
    }
    __device__ int on_y(int e, int k) const
    {
        return FULL ? image(k, p.nz, p.wrap[2]) * p.nx + image(x + e, p.nx, p.wrap[0]) : 0;
    }
    __device__ int on_z(int r, int e) const
    {
        if (!FULL)
            return 0;
        const int row = star::anew(y + r); /* kept, it would be spilled */
        return image(row, p.ny, p.wrap[1]) * p.nx + image(x + e, p.nx, p.wrap[0]);
    }

    /* Puts the ghosts along z. */
    __device__ void put_ghost_plane(unsigned faces, int level, int k, T (&older)[ROWS][WIDTH],
                                    const T (&now)[ROWS][WIDTH], T (&fresh)[ROWS][WIDTH]) const
    {
        if (faces & 16 && k == 0) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    older[r][e] = ghost(4, fresh[r][e], now[r][e], offset(4, level, on_z(r, e)));
        }
        if (faces & 32 && k == p.nz - 1) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    fresh[r][e] = ghost(5, older[r][e], now[r][e], offset(5, level, on_z(r, e)));
        }
    }

    /* Puts ghosts of level `level` where its plane k meets a face. They go where the sweep reads
     * the neighbour: tiles end at the faces, so along x and y they replace what the neighbours
     * gave. */
    template <meets MEETS>
    __device__ void put_ghosts(unsigned faces, int level, int k, T (&older)[ROWS][WIDTH],
                               T (&now)[ROWS][WIDTH], T (&fresh)[ROWS][WIDTH], T (&left)[ROWS],
                               T (&right)[ROWS], vector &below, vector &above) const
    {
        if (faces & 1) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T value = ghost(0, now[r][1], now[r][0], offset(0, level, on_x(r, k)));
                left[r] = lane == 0 ? value : left[r];
            }
        }
        if (faces & 2) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T value =
                    ghost(1, now[r][WIDTH - 2], now[r][WIDTH - 1], offset(1, level, on_x(r, k)));
                right[r] = lane == LANES - 1 ? value : right[r];
            }
        }
        if (faces & 4 && threadIdx.x < 32) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T value = ghost(2, now[1][e], now[0][e], offset(2, level, on_y(e, k)));
                below.v[e] = group == 0 ? value : below.v[e];
            }
        }
        if (faces & 8 && threadIdx.x >= THREADS - 32) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T value =
                    ghost(3, now[ROWS - 2][e], now[ROWS - 1][e], offset(3, level, on_y(e, k)));
                above.v[e] = group == GROUPS - 1 ? value : above.v[e];
            }
        }
        if (MEETS == ENDS)
            put_ghost_plane(faces, level, k, older, now, fresh);
    }

    /* Those along x and y for uniform rules, without branches. */
    template <bool X, bool Y>
    __device__ void select_ghosts(int level, const T (&now)[ROWS][WIDTH], T (&left)[ROWS],
                                  T (&right)[ROWS], vector &below, vector &above) const
    {
        constexpr int W = WIDTH, R = ROWS;
        if (X)
#pragma unroll
            for (int r = 0; r < R; r++) {
                const T first = ghost(0, now[r][1], now[r][0], p.level[level].offset[0][0]);
                const T last = ghost(1, now[r][W - 2], now[r][W - 1], p.level[level].offset[1][0]);
                left[r] = mirrors & 1 ? first : left[r];
                right[r] = mirrors & 2 ? last : right[r];
            }
        if (Y)
#pragma unroll
            for (int e = 0; e < W; e++) {
                const T first = ghost(2, now[1][e], now[0][e], p.level[level].offset[2][0]);
                const T last = ghost(3, now[R - 2][e], now[R - 1][e], p.level[level].offset[3][0]);
                below.v[e] = mirrors & 4 ? first : below.v[e];
                above.v[e] = mirrors & 8 ? last : above.v[e];
            }
    }

    /* Likewise held nodes, if all faces keep or all prescribe, in the order of the faces. */
    template <bool KEEPS>
    __device__ void select_held(int level, const T (&now)[ROWS][WIDTH],
                                T (&made)[ROWS][WIDTH]) const
    {
        /* by masks where there are too few predicate registers */
        const auto put = [&](int f, int r, int e) {
            const T value = KEEPS ? now[r][e] : p.level[level].prescribed[f];
            if constexpr (KEEPS || sizeof(T) == 8) {
                made[r][e] = holds >> f & 1 ? value : made[r][e];
            } else {
                const uint32_t mask = 0u - (holds >> f & 1u);
                made[r][e] =
                    __builtin_bit_cast(T, (__builtin_bit_cast(uint32_t, value) & mask) |
                                              (__builtin_bit_cast(uint32_t, made[r][e]) & ~mask));
            }
        };
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            put(0, r, 0);
            put(1, r, WIDTH - 1);
        }
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            put(2, 0, e);
            put(3, ROWS - 1, e);
        }
    }

    /* The same if plane k lies at a face of z that prescribes. */
    __device__ void select_held_plane(int level, int k, T (&made)[ROWS][WIDTH]) const
    {
        const bool first = k == 0, end = first || k == p.nz - 1;
        const T taken = first ? p.level[level].prescribed[4] : p.level[level].prescribed[5];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[r][e] = end ? taken : made[r][e];
    }

    /* Sets the held nodes of plane k. Where faces meet, a face that prescribes takes precedence
     * over one that keeps, and a later prescribing face over an earlier one: keep first, then
     * prescribe in order. */
    template <meets MEETS>
    __device__ void put_held(unsigned held, int level, int k, const T (&now)[ROWS][WIDTH],
                             T (&made)[ROWS][WIDTH]) const
    {
        const unsigned keeps = held & p.keeping, takes = held & ~p.keeping;
        const bool first_x = lane == 0, last_x = lane == LANES - 1;
        const bool first_y = group == 0, last_y = group == GROUPS - 1;
        const bool end_z = (k == 0 && held & 16) || (k == p.nz - 1 && held & 32);
        if (keeps) {
            if (keeps & 1) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    made[r][0] = first_x ? now[r][0] : made[r][0];
            }
            if (keeps & 2) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    made[r][WIDTH - 1] = last_x ? now[r][WIDTH - 1] : made[r][WIDTH - 1];
            }
            if (keeps & 4 && threadIdx.x < 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    made[0][e] = first_y ? now[0][e] : made[0][e];
            }
            if (keeps & 8 && threadIdx.x >= THREADS - 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    made[ROWS - 1][e] = last_y ? now[ROWS - 1][e] : made[ROWS - 1][e];
            }
            if (MEETS == ENDS && end_z && keeps & (k == 0 ? 16 : 32)) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = now[r][e];
            }
        }
        if (takes) {
            if (takes & 1) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const T value = hold(0, level, on_x(r, k));
                    made[r][0] = first_x ? value : made[r][0];
                }
            }
            if (takes & 2) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const T value = hold(1, level, on_x(r, k));
                    made[r][WIDTH - 1] = last_x ? value : made[r][WIDTH - 1];
                }
            }
            if (takes & 4 && threadIdx.x < 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T value = hold(2, level, on_y(e, k));
                    made[0][e] = first_y ? value : made[0][e];
                }
            }
            if (takes & 8 && threadIdx.x >= THREADS - 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T value = hold(3, level, on_y(e, k));
                    made[ROWS - 1][e] = last_y ? value : made[ROWS - 1][e];
                }
            }
            if (MEETS == ENDS && end_z && takes & (k == 0 ? 16 : 32)) {
                const int f = k == 0 ? 4 : 5;
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = hold(f, level, on_z(r, e));
            }
        }
    }
};

} // namespace fused_march

#endif
