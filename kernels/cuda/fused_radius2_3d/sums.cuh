/*
 * The sums of fused_radius2_3d that a thread keeps in registers, three per level, and how each
 * plane continues them.
 */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_SUMS_CUH
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_SUMS_CUH

#include "tile.cuh"

namespace radius2
{

template <typename T, int LEVELS, bool THROTTLED>
struct sums : place<T, LEVELS, THROTTLED> {
    using base = place<T, LEVELS, THROTTLED>;
    using base::p, base::kept, base::TOUCHES, base::HOLDS, base::marked, base::keeps_all,
        base::ghost;
    using base::WIDTH, base::LANES, base::ROWS, base::PITCH, base::SHUFFLES, base::READS_KEPT,
        base::KEEPS_OWN;
    using typename base::shared_memory, typename base::vector;

    /* The pending sums of every level's output: `last` of the plane that lacks its last term,
     * `next` of the following one, which lacks the terms of its own plane, `later` of the one
     * after, with one term. */
    vector own[LEVELS][ROWS]; /* the newest plane but one of each level's input */
    T last[LEVELS][ROWS][WIDTH], next[LEVELS][ROWS][WIDTH], later[LEVELS][ROWS][WIDTH];

    __device__ sums(const arguments<T> &arguments, shared_memory &memory) : base(arguments, memory)
    {
#pragma unroll
        for (int l = 0; l < LEVELS; l++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    last[l][r][e] = next[l][r][e] = later[l][r][e] = T(0);
    }

    /* A row of a plane and its neighbours on either side. */
    __device__ __forceinline__ void look_beside(const vector *now, const vector &row,
                                                T (&line)[WIDTH + 2 * R]) const
    {
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            line[R + e] = row.v[e];
        if constexpr (SHUFFLES) {
#pragma unroll
            for (int m = 0; m < R; m++) {
                line[m] = __shfl_up_sync(0xffffffffu, row.v[WIDTH - R + m], 1, LANES);
                line[R + WIDTH + m] = __shfl_down_sync(0xffffffffu, row.v[m], 1, LANES);
            }
        } else {
            const vector left = now[-1], right = now[1];
#pragma unroll
            for (int m = 0; m < R; m++) {
                line[m] = left.v[WIDTH - R + m];
                line[R + WIDTH + m] = right.v[m];
            }
        }
    }

    /* `a` if all bits are set, `b` if none is; there are too few predicate registers. */
    __device__ static float chosen(unsigned bits, float a, float b)
    {
        return __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, a) & bits) |
                                             (__builtin_bit_cast(uint32_t, b) & ~bits));
    }
    __device__ static double chosen(unsigned bits, double a, double b)
    {
        const uint64_t both = (uint64_t)bits << 32 | bits;
        return __builtin_bit_cast(double, (__builtin_bit_cast(uint64_t, a) & both) |
                                              (__builtin_bit_cast(uint64_t, b) & ~both));
    }

    /* All bits if `bit` is 1, none if it is 0; written so that the compiler does not turn it into a
     * branch. */
    __device__ static unsigned all_if(unsigned bit)
    {
        asm("" : "+r"(bit));
        return 0u - bit;
    }

    /* This thread's rows of a plane, and R rows on each side, which belong to its neighbours. */
    using window = vector[ROWS + 2 * R];
    __device__ static constexpr bool uses_own(meets m)
    {
        return KEEPS_OWN && m != KEPT_ENDS && m != ENDS;
    }
    template <int L, meets MEETS>
    __device__ __forceinline__ void look_at_own(const vector *now, window &row) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            row[R + r] = uses_own(MEETS) ? own[L][r] : now[r * PITCH];
    }
    /* Makes level L's plane, in shared memory or in registers, its newest plane but one. */
    template <int L>
    __device__ __forceinline__ void keep_own(const vector *plane)
    {
        if (KEEPS_OWN)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                own[L][r] = plane[r * PITCH];
    }
    template <int L>
    __device__ __forceinline__ void keep_own(const T (&plane)[ROWS][WIDTH])
    {
        if (KEEPS_OWN)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    own[L][r].v[e] = plane[r][e];
    }

    template <meets MEETS>
    __device__ __forceinline__ void look_around(int level, const vector *now, window &row) const
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            row[r] = now[(r - R) * PITCH];
            row[R + ROWS + r] = now[(ROWS + r) * PITCH];
        }
        if (MEETS == SIDES || MEETS == ENDS)
#pragma unroll
            for (int m = 1; m <= R; m++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T below = ghost(2, m, level, row[R + m].v[e], row[R].v[e]);
                    const T above =
                        ghost(3, m, level, row[R + ROWS - 1 - m].v[e], row[R + ROWS - 1].v[e]);
                    T &low = row[R - m].v[e], &high = row[R + ROWS - 1 + m].v[e];
                    low = marked(TOUCHES, 4) & 4 ? below : low;
                    high = marked(TOUCHES, 4) & 8 ? above : high;
                }
    }

    /* All bits if faces of z keep plane k. */
    __device__ unsigned kept_end(int k) const
    {
        return all_if((keeps_all(4) && k < R) || (keeps_all(5) && k >= p.nz - R));
    }
    /* Whether masks decide what faces of x keep. */
    __device__ static constexpr bool may_keep(meets m, int e)
    {
        return m == KEPT_FIRST  ? !READS_KEPT && e < R
               : m == KEPT_LAST ? !READS_KEPT && e >= WIDTH - R
                                : m == KEPT_X || m == KEPT_ENDS || m >= SIDES;
    }
    /*
     * Level L's planes k+1 (`newest`: this row of it) and k (`row`: its rows) have arrived: makes
     * row r of plane k-1 of the next level.
     */
    template <int L, meets MEETS>
    __device__ __forceinline__ void sweep_row(int r, const unsigned (&still)[2], const vector *now,
                                              const window &row, const T (&newest)[WIDTH],
                                              T (&made)[WIDTH])
    {
        T line[WIDTH + 2 * R];
        if (MEETS >= SIDES)
            __syncwarp();
        look_beside(now + r * PITCH, row[R + r], line);
        if (MEETS >= OPEN_X) {
            constexpr int E = R + WIDTH - 1;
            const unsigned first = all_if(marked(TOUCHES, 1)),
                           final = all_if(marked(TOUCHES + 1, 1));
#pragma unroll
            for (int m = 1; m <= R; m++) {
                const T before = ghost(0, m, L, line[R + m], line[R]);
                const T after = ghost(1, m, L, line[E - m], line[E]);
                line[R - m] = chosen(first, before, line[R - m]);
                line[E + m] = chosen(final, after, line[E + m]);
            }
        }
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const T kept_before = last[L][r][e];
            made[e] = star::fused(p.c[6 * R], newest[e], kept_before);
            T sum = next[L][r][e];
#pragma unroll
            for (int o = 0; o < R; o++)
                sum = star::fused(p.c[R + o], row[r + o].v[e], sum);
#pragma unroll
            for (int o = 0; o <= 2 * R; o++)
                sum = star::fused(p.c[2 * R + o], line[e + o], sum);
#pragma unroll
            for (int o = 0; o < R; o++)
                sum = star::fused(p.c[4 * R + 1 + o], row[R + r + 1 + o].v[e], sum);
            last[L][r][e] = star::fused(p.c[5 * R + 1], newest[e], sum);
            if (may_keep(MEETS, e)) { /* kept values pass through the sums */
                const unsigned first = MEETS == KEPT_ENDS ? kept[e] | still[0] : kept[e];
                const unsigned second = MEETS == KEPT_ENDS ? kept[e] | still[1] : kept[e];
                made[e] = chosen(first, kept_before, made[e]);
                last[L][r][e] = chosen(second, line[R + e], last[L][r][e]);
            }
            next[L][r][e] = star::fused(p.c[1], line[R + e], later[L][r][e]);
            later[L][r][e] = star::fused(p.c[0], line[R + e], p.level[L].source_value);
        }
        if (MEETS == OPEN_X) { /* held nodes there are prescribed */
            made[0] = marked(HOLDS, 4) & 1 ? p.level[L].prescribed[0] : made[0];
            made[WIDTH - 1] = marked(HOLDS, 4) & 2 ? p.level[L].prescribed[1] : made[WIDTH - 1];
        }
    }

    /* From now on the values that faces of x keep pass through level `level`'s sums; `before` is
     * the next plane of its output, at the level before. */
    __device__ __forceinline__ void begin_kept(int level, const vector *before)
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector v = before[r * PITCH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                last[level][r][e] = chosen(kept[e], v.v[e], last[level][r][e]);
        }
    }

    /* Begins the sums of level `level` with the ghosts before its planes 0 and 1. The arguments are
     * this thread's points of its first three planes. */
    template <typename Third>
    __device__ __forceinline__ void begin(int level, const vector *first,
                                          const T (&second)[ROWS][WIDTH], Third third,
                                          T (&next_)[ROWS][WIDTH], T (&later_)[ROWS][WIDTH])
    {
        const T source = p.level[level].source_value;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector edge = first[r * PITCH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T one = ghost(4, 1, level, second[r][e], edge.v[e]);
                const T two = ghost(4, 2, level, third(r, e), edge.v[e]);
                next_[r][e] = star::fused(p.c[1], one, star::fused(p.c[0], two, source));
                later_[r][e] = star::fused(p.c[0], one, source);
            }
        }
    }
};

} // namespace radius2

#endif
