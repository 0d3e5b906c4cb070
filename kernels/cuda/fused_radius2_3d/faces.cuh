/*
 * What faces of the grid require of fused_radius2_3d besides masks: held nodes are corrected, and
 * ghosts are made beyond faces of y and z.
 */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_FACES_CUH
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_FACES_CUH

#include "sums.cuh"

namespace radius2
{

template <typename T, int LEVELS, bool THROTTLED>
struct boundary : sums<T, LEVELS, THROTTLED> {
    using base = sums<T, LEVELS, THROTTLED>;
    using base::base;
    using base::p, base::kept, base::own, base::marked, base::keeps_all, base::mine, base::ghost,
        base::uses_own;
    using base::READS_KEPT, base::WIDTH, base::ROWS, base::PITCH, base::DEPTH, base::SLOT,
        base::TOUCHES, base::HOLDS;
    using typename base::vector, typename base::position;

    /* Nodes of planes held by faces of z. */
    __device__ bool end_holds(int k) const
    {
        return !p.wrap[2] && (k < p.layers[4] || p.nz - 1 - k < p.layers[5]);
    }
    __device__ __forceinline__ void hold_end(int level, int k, const vector *before,
                                             T (&made)[ROWS][WIDTH]) const
    {
        if (!end_holds(k))
            return;
        const unsigned takes = p.held & ~p.keeping;
        const bool first = k == 0 && takes & 16, final = k == p.nz - 1 && takes & 32;
        const T value = p.level[level].prescribed[final ? 5 : 4];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[r][e] = first || final ? value : before[r * PITCH].v[e];
    }

    /*
     * Corrects this thread's held nodes at faces of x and y in plane k, from `before`, its input.
     * It calls put_pair(r, f, pair, both) with the two points of a row next to face f, of which
     * both or only the one at the face are to be put, and put_row(r, vector). Where faces meet, a
     * face that prescribes takes precedence over one that keeps, and a later prescribing face over
     * an earlier one.
     */
    struct alignas(2 * sizeof(T)) two {
        T v[2];
    };
    template <meets MEETS, typename PutPair, typename PutRow>
    __device__ __forceinline__ void put_held(int level, int k, const vector *before,
                                             PutPair put_pair, PutRow put_row) const
    {
        const unsigned holds = marked(HOLDS, 4), takes = holds & ~p.keeping;
        const int edge = holds & 4 ? 0 : ROWS - 1, second = holds & 4 ? 1 : ROWS - 2;
        if (holds & 12) {
            const vector outer = before[edge * PITCH], inner = before[second * PITCH];
            put_row(edge, outer);
            if (p.layers[holds & 4 ? 2 : 3] > 1)
                put_row(second, inner);
        }
        if (holds & 3) {
            const int f = holds & 1 ? 0 : 1, e = f ? WIDTH - 2 : 0;
            const bool both = p.layers[f] > 1;
            two pair[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                pair[r] = *(const two *)&((const T *)&before[r * PITCH])[e];
            if (takes & 3)
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    pair[r].v[0] = f ? pair[r].v[0] : p.level[level].prescribed[0];
                    pair[r].v[1] = f ? p.level[level].prescribed[1] : pair[r].v[1];
                }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                put_pair(r, f, pair[r], both);
        }
        if (takes & 12)
            put_row(edge, filled(p.level[level].prescribed[takes & 4 ? 2 : 3]));
        const int f = k == 0 ? 4 : 5;
        if (MEETS == ENDS && (k == 0 || k == p.nz - 1) && p.held & ~p.keeping & 1u << f)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                put_row(r, filled(p.level[level].prescribed[f]));
    }
    __device__ static vector filled(T value)
    {
        vector v;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            v.v[e] = value;
        return v;
    }

    /* Puts this thread's points of `before`, a level's input, where faces of x and y keep them. For
     * variants NO_FACE to FACES_Y, without branches; no ghosts are made beyond such faces. */
    template <meets MEETS>
    __device__ __forceinline__ void keep(const vector *before, T (&made)[ROWS][WIDTH]) const
    {
        if constexpr (READS_KEPT && MEETS < FACES_Y) {
            if constexpr ((MEETS & (KEPT_FIRST | KEPT_LAST)) != 0)
                keep_points<MEETS & KEPT_FIRST ? 0 : WIDTH - R>(before, made);
            if constexpr ((MEETS & KEPT_Y) != 0) {
                keep_rows(marked(TOUCHES + 2, 1), 0, before, made);
                keep_rows(marked(TOUCHES + 3, 1), ROWS - R, before, made);
            }
        }
    }
    template <int E>
    __device__ __forceinline__ void keep_points(const vector *before, T (&made)[ROWS][WIDTH]) const
    {
        if (kept[E])
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const two pair = *(const two *)&before[r * PITCH].v[E];
#pragma unroll
                for (int e = 0; e < R; e++)
                    made[r][E + e] = pair.v[e];
            }
    }
    __device__ __forceinline__ static void keep_rows(bool keeps, int first, const vector *before,
                                                     T (&made)[ROWS][WIDTH])
    {
        if (keeps)
#pragma unroll
            for (int r = first; r < first + R; r++) {
                const vector v = before[r * PITCH];
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    made[r][e] = v.v[e];
            }
    }

    /* What faces of y require in FACES_Y to OPEN_X, done only by the warps at them. Ghosts lie in
     * shared memory as rows beside the tile's. Held rows are corrected, those of the intermediate
     * level in shared memory. Rows are counted from the face on: -1 and -2 are the ghosts. */
    template <int F>
    __device__ static int row_from(int i)
    {
        return (F == 2 ? i : (int)ROWS - 1 - i) * (int)PITCH;
    }
    /* Puts the ghosts beyond a plane of level `level`'s input. */
    template <int F>
    __device__ void put_ghosts_y(int level, vector *plane) const
    {
        const vector edge = plane[row_from<F>(0)];
#pragma unroll
        for (int m = 1; m <= R; m++) {
            const vector inner = plane[row_from<F>(m)];
            vector beyond;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                beyond.v[e] = ghost(F, m, level, inner.v[e], edge.v[e]);
            plane[row_from<F>(-m)] = beyond;
        }
    }
    /* Held row i from face F of a level's output; `before` is its input. A point that a face of x
     * prescribes takes this face's value only if this face prescribes too. */
    template <int F, meets MEETS>
    __device__ vector held_y(int level, const vector &before, const vector &made) const
    {
        if (!(p.keeping >> F & 1))
            return filled(p.level[level].prescribed[F]);
        vector v = before;
        if (MEETS == OPEN_X) {
            v.v[0] = marked(HOLDS, 4) & 1 ? made.v[0] : v.v[0];
            v.v[WIDTH - 1] = marked(HOLDS, 4) & 2 ? made.v[WIDTH - 1] : v.v[WIDTH - 1];
        }
        return v;
    }
    template <int F, meets MEETS>
    __device__ __forceinline__ void meet_face_y(const position &q, vector *passed,
                                                T (&final)[ROWS][WIDTH])
    {
        if (!keeps_all(F))
            put_ghosts_y<F>(0, mine(q.at));
        if (marked(HOLDS + F, 1))
#pragma unroll
            for (int i = 0; i < R; i++) {
                const int r = F == 2 ? i : ROWS - 1 - i;
                if (i >= p.layers[F])
                    break;
                vector v;
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    v.v[e] = final[r][e];
                const vector *const before = mine(LEVELS > 1 ? q.passed[2] : q.older);
                v = held_y<F, MEETS>(LEVELS - 1, before[r * PITCH], v);
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    final[r][e] = v.v[e];
                if constexpr (LEVELS > 1) {
                    v = held_y<F, MEETS>(0, mine(q.older)[r * PITCH], passed[r * PITCH]);
                    passed[r * PITCH] = v;
                    if (uses_own(MEETS))
                        own[LEVELS - 1][r] = v;
                }
            }
        if (LEVELS > 1 && !keeps_all(F))
            put_ghosts_y<F>(1, passed);
    }
    /* Puts ghosts of the planes that the first interior step reads. */
    __device__ void begin_faces_y(const position &q)
    {
        if (marked(TOUCHES + 2, 1)) {
            put_ghosts_y<2>(0, mine(q.before));
            if (LEVELS > 1)
                put_ghosts_y<2>(1, mine(q.passed[1]));
        }
        if (marked(TOUCHES + 3, 1)) {
            put_ghosts_y<3>(0, mine(q.before));
            if (LEVELS > 1)
                put_ghosts_y<3>(1, mine(q.passed[1]));
        }
    }
    __device__ static constexpr bool faces_y(meets m)
    {
        return (m >= FACES_Y && m < SIDES) || (!READS_KEPT && (m == KEPT_FIRST || m == KEPT_LAST));
    }
    template <meets MEETS>
    __device__ __forceinline__ void meet_faces_y(const position &q, vector *passed,
                                                 T (&final)[ROWS][WIDTH])
    {
        if (marked(TOUCHES + 2, 1))
            meet_face_y<2, MEETS>(q, passed, final);
        if (marked(TOUCHES + 3, 1))
            meet_face_y<3, MEETS>(q, passed, final);
    }

    /* Makes level 0's plane z, a plane of ghosts. */
    __device__ __forceinline__ void take_ghosts(int z, const position &q,
                                                T (&newest)[ROWS][WIDTH]) const
    {
        const int m = z - p.nz + 1; /* 1 or 2 */
        const unsigned far = q.at + (q.at < 4 * SLOT ? DEPTH - 4 : -4) * SLOT;
        const vector *const edge = mine(m == 1 ? q.before : q.older);
        const vector *const inner = mine(m == 1 ? q.older : far);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                newest[r][e] = ghost(5, m, 0, inner[r * PITCH].v[e], edge[r * PITCH].v[e]);
    }
    /* Level 1's plane k, `made`, is a plane of ghosts or the last plane before them. In the latter
     * case the second plane of ghosts is made now, since its inner plane is overwritten next; until
     * its turn it lies in a slot to which no plane comes any more. */
    __device__ __forceinline__ void pass_ghosts(int k, const position &q,
                                                T (&made)[ROWS][WIDTH]) const
    {
        const vector *const edge = mine(q.passed[1]);
        const vector *const inner = mine(q.passed[2]);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (k == p.nz - 1)
                    mine(q.after)[r * PITCH].v[e] =
                        ghost(5, 2, 1, inner[r * PITCH].v[e], made[r][e]);
                else
                    made[r][e] = k == p.nz
                                     ? ghost(5, 1, 1, inner[r * PITCH].v[e], edge[r * PITCH].v[e])
                                     : mine(q.before)[r * PITCH].v[e];
    }
};

} // namespace radius2

#endif
