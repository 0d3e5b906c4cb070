/*
 * The march of fused_radius2_3d: a step of both levels, and the stretches of steps that meet the
 * same faces.
 */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_MARCH_CUH
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_MARCH_CUH

#include "faces.cuh"

namespace radius2
{

template <typename T, int LEVELS, bool THROTTLED>
struct march : boundary<T, LEVELS, THROTTLED> {
    using base = boundary<T, LEVELS, THROTTLED>;
    using base::kept_end, base::uses_own, base::begin, base::hold_end, base::turned, base::come_on;
    using base::last, base::next, base::later, base::mine, base::keeps_all;
    using base::p, base::shared, base::at_row, base::whole, base::marked, base::stores;
    using base::READS_KEPT, base::AHEAD, base::PASSED, base::LOOPED, base::SHUFFLES,
        base::KEEPS_OWN, base::PITCH;
    using base::SLOT, base::HOLDS, base::STORES;
    using base::take_place, base::take_ghosts, base::pass_ghosts, base::begin_faces_y;
    using base::WIDTH, base::LANES, base::ROWS, base::WARPS, base::NX, base::HALO, base::DEPTH;
    using typename base::position, typename base::two;
    using typename base::shared_memory, typename base::vector, typename base::window;

    neighbours<WARPS, LANES> beside; /* the warps whose rows this one reads */

    __device__ march(const arguments<T> &arguments, shared_memory &memory)
        : base(arguments, memory), beside(memory.arrived)
    {
    }

    /* Stores this block's part of plane k of the last level. `before` is its input, which has the
     * values that held nodes keep. */
    template <meets MEETS>
    __device__ __forceinline__ void store(const column &at, int k, const T (&made)[ROWS][WIDTH],
                                          const vector *before)
    {
        T *const plane = p.out + k * p.pitch_z;
        const bool stored = k >= at.z_lo && k < at.z_hi;
        if ((SHUFFLES || LEAN) && !stored) /* what follows needs too many registers */
            return;
        const unsigned rows = stored ? whole : 0u; /* no branch: a step is one basic block */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector v;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = made[r][e];
            vector *const to = (vector *)offset_by(plane, at_row[r]);
            if (rows >> r & 1)
                *to = v;
        }
        if ((MEETS != KEPT_X && MEETS != KEPT_ENDS && MEETS < SIDES) || !stored)
            return;
        if (marked(STORES, 8) !=
            whole) /* single points of a vector, or a vector that is not aligned */
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    if (stores(r, e))
                        offset_by(plane, at_row[r])[e] = made[r][e];
        if (MEETS >= SIDES && marked(HOLDS, 4)) {
            const auto pair_out = [&](int r, int f, const two &pair, bool both) {
                T *const row = offset_by(plane, at_row[r]) + (f ? WIDTH - 2 : 0);
                if (marked(STORES + r, 1) && (both || !f))
                    row[0] = pair.v[0];
                if (marked(STORES + r, 1) && (both || f))
                    row[1] = pair.v[1];
            };
            const auto row_out = [&](int r, const vector &v) {
#pragma unroll
                for (int n = 0; n < ROWS; n++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (n == r && stores(n, e))
                            offset_by(plane, at_row[n])[e] = v.v[e];
            };
            this->template put_held<MEETS>(LEVELS - 1, k, before, pair_out, row_out);
        }
    }

    /* This thread's rows of level 0's plane z have arrived; those of its neighbours are there after
     * the wait. */
    template <meets MEETS>
    __device__ __forceinline__ void step(const column &at, int z, const position &q)
    {
        T newest[ROWS][WIDTH], made[ROWS][WIDTH];
        unsigned still[2][2] =
            {}; /* all bits, where faces of z keep the planes that are made, next */
        if (MEETS == KEPT_ENDS)
#pragma unroll
            for (int i = 0; i < 4; i++)
                still[i / 2][i % 2] = kept_end(z - R - i / 2 * R + i % 2);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector v = mine(q.at)[r * PITCH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                newest[r][e] = v.v[e];
        }
        if (MEETS == ENDS && z >= p.nz)
            take_ghosts(z, q, newest);
        if (MEETS == ENDS && z == 1 && at.z_lo < HALO) {
            const vector *const third = mine(q.after);
            begin(
                0, mine(q.before), newest, [&](int r, int e) { return third[r * PITCH].v[e]; },
                next[0], later[0]);
        }
        if (MEETS >= SIDES)
            __syncwarp();
        const vector *const now = mine(q.before);
        window row;
        this->template look_at_own<0, MEETS>(now, row);
#pragma unroll
        for (int r = R; r < ROWS - R; r++)
            this->template sweep_row<0, MEETS>(r, still[0], now, row, newest[r], made[r]);
        beside.wait();
        this->template look_around<MEETS>(0, now, row);
        if (MEETS >= SIDES)
            __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (r < R || r >= ROWS - R)
                this->template sweep_row<0, MEETS>(r, still[0], now, row, newest[r], made[r]);
        if (MEETS != ENDS || p.wrap[2] || z + AHEAD < p.nz)
            this->template fetch<MEETS>(q.from, q.ahead);
        __pipeline_commit();
        if (uses_own(MEETS))
            this->template keep_own<0>(newest);
        this->template keep<MEETS>(mine(q.older), made);
        if (MEETS == ENDS)
            hold_end(0, z - R, mine(q.older), made);
        if constexpr (LEVELS > 1) {
            if (MEETS == ENDS) {
                const int k = z - R; /* the plane just made */
                if (k == 1 && at.z_lo < HALO) {
                    const vector *const fifth = mine(q.after);
                    const auto third = [&](int r, int e) {
                        return star::fused(p.c[6 * R], fifth[r * PITCH].v[e], last[0][r][e]);
                    };
                    begin(1, mine(q.passed[1]), made, third, next[LEVELS - 1], later[LEVELS - 1]);
                }
                if (k >= p.nz - 1)
                    pass_ghosts(k, q, made);
            }
            if (MEETS >= SIDES)
                __syncwarp();
            vector *const to = mine(q.passed[0]);
            const vector *const passed = mine(q.passed[1]);
            T final[ROWS][WIDTH];
            window passed_row;
            this->template look_at_own<LEVELS - 1, MEETS>(passed, passed_row);
            this->template look_around<MEETS>(1, passed, passed_row);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                this->template sweep_row<LEVELS - 1, MEETS>(r, still[1], passed, passed_row,
                                                            made[r], final[r]);
                vector v;
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    v.v[e] = made[r][e];
                to[r * PITCH] = v;
            }
            if (MEETS >= SIDES && marked(HOLDS, 4)) {
                const auto pair_in = [&](int r, int f, const two &pair, bool both) {
                    two *const there = (two *)&((T *)&to[r * PITCH])[f ? WIDTH - 2 : 0];
                    if (both)
                        *there = pair;
                    else
                        there->v[f] = pair.v[f];
                };
                const auto row_in = [&](int r, const vector &v) { to[r * PITCH] = v; };
                this->template put_held<MEETS>(0, z - R, mine(q.older), pair_in, row_in);
            }
            if (MEETS == SIDES && KEEPS_OWN) /* corrected there */
                this->template keep_own<LEVELS - 1>(to);
            else if (uses_own(MEETS))
                this->template keep_own<LEVELS - 1>(made);
            if (base::faces_y(MEETS))
                this->template meet_faces_y<MEETS>(q, to, final);
            beside.arrive();
            this->template keep<MEETS>(mine(q.passed[2]), final);
            if (MEETS == ENDS)
                hold_end(1, z - 2 * R, mine(q.passed[2]), final);
            store<MEETS>(at, z - 2 * R, final, mine(q.passed[2]));
        } else {
            if (base::faces_y(MEETS))
                this->template meet_faces_y<MEETS>(q, nullptr, made);
            beside.arrive();
            store<MEETS>(at, z - R, made, mine(q.older));
        }
    }

    template <meets MEETS>
    __device__ __forceinline__ void advance_to(const column &at, int &z, int end, position &q)
    {
        if constexpr (THROTTLED)
            while (z < end)
                take_steps<MEETS>(at, z, min(end, z + throttled()), q);
        else
            take_steps<MEETS>(at, z, end, q);
    }
    /* The number of steps until the next throttle check. */
    __device__ __forceinline__ int throttled()
    {
        return throttle<WARPS>::keep(shared.throttled, beside.steps - 1, p.throttled);
    }
    template <meets MEETS>
    __device__ __forceinline__ void take_steps(const column &at, int &z, int end, position &q)
    {
#pragma unroll 1
        for (; z < end; z++) {
            __pipeline_wait_prior(MEETS == ENDS ? 0 : AHEAD - 1);
            step<MEETS>(at, z, q);
            q.older = q.before;
            q.before = q.at;
            q.at = q.after;
            q.after = turned(q.after);
            come_on(q);
            const unsigned oldest = q.passed[PASSED - 1];
            q.passed[2] = q.passed[1];
            q.passed[1] = q.passed[0];
            q.passed[0] = oldest;
        }
    }

    /* Whether R layers of all these faces keep their values. */
    __device__ bool keeps_those(unsigned faces) const
    {
        bool all = true;
        for (int f = 0; f < 4; f++)
            all = all && (!(faces >> f & 1) || keeps_all(f));
        return all;
    }
    /* What the steps between the ends of the grid meet. */
    __device__ meets met_inside(const column &at) const
    {
        const unsigned beyond = p.nx % WIDTH && keeps_all(1) && at.x_hi == p.nx ? WIDTH - 1 : 0;
        const bool as_in_memory =
            at.x % WIDTH == 0 && at.x_lo % WIDTH == 0 &&
            (at.x_hi + beyond) / WIDTH * WIDTH >= at.x_hi &&
            (!p.wrap[0] || p.nx % WIDTH == 0 || (at.x >= 0 && at.x + NX <= p.nx));
        const unsigned faces = at.faces & 3;
        if (!as_in_memory)
            return SIDES;
        const bool keeps_x = keeps_those(faces), whole_x = p.nx % WIDTH == 0 || !(faces & 2);
        if (READS_KEPT && keeps_those(at.faces & 15) && whole_x)
            return (meets)((SHUFFLES ? faces : (faces ? 1u : 0u) * KEPT_FIRST) |
                           (at.faces & 12 ? KEPT_Y : 0u));
        if (!faces)
            return at.faces & 12 ? FACES_Y : NO_FACE;
        if (LEAN)
            return SIDES;
        if (SHUFFLES && keeps_x && faces != 3 && whole_x)
            return faces == 1 ? KEPT_FIRST : KEPT_LAST;
        return keeps_x ? KEPT_X : faces & p.held & p.keeping ? SIDES : OPEN_X;
    }

    /* Prepares steps that keep these rows in registers, and ghosts of y beside the planes. */
    __device__ __forceinline__ void take_up(const position &q)
    {
        this->template keep_own<0>(mine(q.before));
        if (LEVELS > 1)
            this->template keep_own<LEVELS - 1>(mine(q.passed[1]));
        begin_faces_y(q);
        if (READS_KEPT) {
            this->begin_kept(0, mine(q.older));
            if (LEVELS > 1)
                this->begin_kept(LEVELS - 1, mine(q.passed[2]));
        }
    }
    __device__ __forceinline__ void advance(const column &at, int &z, int end, meets what,
                                            position &q)
    {
        take_up(q);
        if (what == NO_FACE)
            return advance_to<NO_FACE>(at, z, end, q);
        if constexpr (!LEAN) {
            if (what == KEPT_FIRST)
                return advance_to<KEPT_FIRST>(at, z, end, q);
            if constexpr (SHUFFLES)
                if (what == KEPT_LAST)
                    return advance_to<KEPT_LAST>(at, z, end, q);
            if constexpr (READS_KEPT) {
                if (what == KEPT_Y)
                    return advance_to<KEPT_Y>(at, z, end, q);
                if (what == (KEPT_FIRST | KEPT_Y))
                    return advance_to<(meets)(KEPT_FIRST | KEPT_Y)>(at, z, end, q);
                if constexpr (SHUFFLES)
                    if (what == (KEPT_LAST | KEPT_Y))
                        return advance_to<(meets)(KEPT_LAST | KEPT_Y)>(at, z, end, q);
            }
        }
        if constexpr (THROTTLED) {
            advance_to<KEPT_ENDS>(at, z, end, q);
        } else {
            if (what == FACES_Y)
                return advance_to<FACES_Y>(at, z, end, q);
            if constexpr (!LEAN) {
                if (what == KEPT_X)
                    return advance_to<KEPT_X>(at, z, end, q);
                if (what == OPEN_X)
                    return advance_to<OPEN_X>(at, z, end, q);
                if constexpr (LOOPED)
                    if (what == KEPT_ENDS)
                        return advance_to<KEPT_ENDS>(at, z, end, q);
            }
            if constexpr (LOOPED)
                if (what == ENDS)
                    return advance_to<ENDS>(at, z, end, q);
            advance_to<SIDES>(at, z, end, q);
        }
    }
    /* Plans the stretches: the first steps after an end of the grid and the last ones before the
     * other meet that end. Kept planes pass through the sums from the step on that reads the first
     * of them. */
    __device__ void plan(const column &at, bool from_end)
    {
        const meets inside = met_inside(at);
        const int end = at.z_hi + HALO;
        const bool keeps_first = LOOPED && !LEAN && inside <= KEPT_X && keeps_all(4);
        const int from = !from_end ? 0 : min(end, keeps_first ? HALO + R : 2 * HALO);
        const bool keeps_last =
            LOOPED && !LEAN && inside <= KEPT_X && keeps_all(5) && from <= p.nz - R + 1;
        const int to = !(at.faces & 48) ? end : min(end, keeps_last ? p.nz - R + 1 : p.nz);
        shared.stretch[0] = {keeps_first ? KEPT_ENDS : THROTTLED ? inside : ENDS, from};
        shared.stretch[1] = {inside, to};
        shared.stretch[2] = {keeps_last ? KEPT_ENDS : THROTTLED ? inside : ENDS, end};
    }

    __device__ __forceinline__ void run(const column &at)
    {
        const bool from_end = at.faces & 48 && at.z_lo < HALO;
        take_place(at);
        if (threadIdx.x == 0)
            plan(at, from_end);
        if constexpr (THROTTLED)
            if (threadIdx.x == 0)
                throttle<WARPS>::begin(shared.throttled, p.throttled);
        beside.start(); /* waits for all threads */
        int z = from_end ? 0 : at.z_lo - HALO;
        const int first = z < 0 ? z + p.nz : z;
        position q = {(DEPTH - 1) * SLOT,
                      0,
                      SLOT,
                      2 * SLOT,
                      0,
                      {DEPTH * SLOT, (DEPTH + 2) * SLOT, (DEPTH + 1) * SLOT},
                      p.nz - 1 - first,
                      p.in + first * p.pitch_z};
#pragma unroll 1
        for (int ahead = 0; ahead <= AHEAD; ahead++) {
            this->template fetch<SIDES>(q.from, q.ahead);
            __pipeline_commit();
            come_on(q);
        }
        __pipeline_wait_prior(AHEAD);
        beside.arrive();
        z++;
        if constexpr (LOOPED) {
#pragma unroll 1
            for (int i = 0; i < 3; i++)
                advance(at, z, shared.stretch[i].end, shared.stretch[i].what, q);
        } else { /* a loop would take more registers than there are, and copies in every step */
            advance_to<ENDS>(at, z, shared.stretch[0].end, q);
            advance(at, z, shared.stretch[1].end, shared.stretch[1].what, q);
            take_up(q);
            advance_to<ENDS>(at, z, shared.stretch[2].end, q);
        }
        beside.wait();
        __pipeline_wait_prior(0);
        if constexpr (THROTTLED)
            throttle<WARPS>::end(shared.throttled, beside.steps - 1, p.throttled);
    }
};

} // namespace radius2

#endif
