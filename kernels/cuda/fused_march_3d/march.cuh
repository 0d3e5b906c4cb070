/*
 * Several sweeps in one march along z, for fused_march_3d and fused_fields_3d, which explain the
 * method. Star stencils of radius 1 in 3D; GPUs of compute capability 9 and 10, which have enough
 * shared memory.
 *
 * The march's parameter is in request.cuh. The march itself is one struct in layers, each of which
 * derives from the one before and adds a subject: the tile and a thread's place in it (tile.cuh),
 * what is copied to shared memory (copies.cuh), what lies at the faces (faces.cuh), and here a
 * step, the order of the steps, and the launch. (Parts that refer to one another would not do: the
 * compiler keeps an object in registers only while nothing points at it.)
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_MARCH_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_MARCH_CUH

#include "faces.cuh"

namespace fused_march
{

template <typename Sizes>
struct march : boundary<Sizes> {
    using base = boundary<Sizes>;
    using typename base::T, typename base::shared_memory, typename base::vector;
    using column = columns::column;
    using base::AHEAD, base::DEPTH, base::HALOS, base::SLOT, base::SOURCES;
    using base::ANY_WAY, base::CHANGE, base::FULL, base::HAS, base::LEFT_OVER, base::RECURSION,
        base::SOURCE, base::TABLES;
    using base::at_row, base::group, base::lane, base::points, base::stores, base::whole;
    using base::fetch, base::fetch_lines, base::fetch_source, base::fetch_sources;
    using base::fetch_tables, base::from_tables, base::mine, base::source_at;
    using base::GROUPS, base::LANES, base::LEVELS, base::ROWS, base::WIDTH;
    using base::p, base::shared, base::first_line;
    using base::put_ghost_plane, base::select_held_plane, base::take_place;
    using base::turned, base::way;

    /* Whether later levels, or the output, need row r of level `made`. */
    template <warps OF>
    __device__ static constexpr bool needed(int r, int made)
    {
        return OF == FIRST_WARP ? r >= made : OF == LAST_WARP ? r < (int)ROWS - made : true;
    }

    /* Whether two steps form a loop's body, in which planes and buffers swap roles and nothing is
     * copied. Not where that would be much code that seldom runs, or would take too many
     * registers. */
    __device__ static constexpr bool in_pairs(meets m, warps of)
    {
        return of == ANY_WARP && !LEFT_OVER && m < (SOURCE && !ANY_WAY ? KEPT : GHOSTS);
    }

    typename Sizes::meeting beside;  /* the warps whose rows this one reads */
    T plane[2][LEVELS][ROWS][WIDTH]; /* the two newest planes of each level's input */

    __device__ march(const arguments<T> &arguments, shared_memory &memory)
        : base(arguments, memory), beside(memory.arrived)
    {
#pragma unroll
        for (int b = 0; b < 2; b++)
#pragma unroll
            for (int l = 0; l < LEVELS; l++)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        plane[b][l][r][e] = T(0);
    }

    /* First and last row of level l's newest plane, for the neighbouring groups' next step. */
    template <warps OF>
    __device__ void hand_on(int buffer, int l, const T (&now)[ROWS][WIDTH])
    {
        vector first, last;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            first.v[e] = now[0][e];
            last.v[e] = now[ROWS - 1][e];
        }
        if (OF != FIRST_WARP)
            shared.edge[buffer][l - 1][group + 1][0][lane] = first;
        if (OF != LAST_WARP)
            shared.edge[buffer][l - 1][group + 1][1][lane] = last;
    }

    __device__ void store(T *field, const column &at, int k, const T (&made)[ROWS][WIDTH])
    {
        if (k < at.z_lo || k >= at.z_hi)
            return;
        T *const base = field + k * p.pitch_z;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector v;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = made[r][e];
            if (whole >> r & 1)
                *(vector *)offset_by(base, at_row[r]) = v;
        }
        if (stores != whole) /* single points of a vector, or a vector that is not aligned */
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    if (stores >> r & points >> e & 1)
                        offset_by(base, at_row[r])[e] = made[r][e];
    }

    /* How much the last sweep changed the stored points of plane k. The maximum so far lies in
     * shared memory, and in double points are processed one after the other: otherwise registers
     * would spill. */
    __device__ void note_change(const column &at, int k, const T (&before)[ROWS][WIDTH],
                                const T (&made)[ROWS][WIDTH])
    {
        if (k < at.z_lo || k >= at.z_hi)
            return;
        T most = T(0);
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            T of_column = T(0);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T change = star::distance(made[r][e], before[r][e]);
                of_column = stores >> r & 1 ? star::larger(of_column, change) : of_column;
                if (sizeof(T) == 8)
                    asm volatile("" ::: "memory");
            }
            most = points >> e & 1 ? star::larger(most, of_column) : most;
        }
        asm volatile("" ::: "memory");
        shared.change[threadIdx.x] = star::larger(most, shared.change[threadIdx.x]);
    }

    /* Functions from here on are forced inline: for a called function the march's state would have
     * to lie in memory.
     *
     * One step: plane z of level 0 has arrived. OLD is the index of the older of the two planes. */
    template <int OLD, meets MEETS, warps OF>
    __device__ __forceinline__ void step(const column &at, int z, unsigned slot,
                                         unsigned slot_before, unsigned source_place)
    {
        constexpr int NEW = 1 - OLD;
        T fresh[ROWS][WIDTH];                  /* the newest plane of the current level */
        T before[RECURSION ? ROWS : 1][WIDTH]; /* recursion: input of the level before */
        constexpr bool COPY = !in_pairs(MEETS, OF);
        const int buffer = COPY ? (beside.steps - 1) % 2 : OLD;
        /* from the neighbours' slots; at the tile's ends any value will do */
        vector below = mine(slot_before)[group > 0 ? -(int)LANES : 0];
        vector above = mine(slot_before)[(group < GROUPS - 1 ? ROWS : ROWS - 1) * LANES];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector v = mine(slot)[r * LANES];
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                fresh[r][e] = v.v[e];
        }
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            const int k = z - 1 - l; /* plane of level l+1 that is made here */
            T(&now)[ROWS][WIDTH] = plane[NEW][l];
            T(&older)[ROWS][WIDTH] = plane[OLD][l];
            T left[ROWS], right[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (!needed<OF>(r, l + 1))
                    continue;
                left[r] = __shfl_up_sync(0xffffffffu, now[r][WIDTH - 1], 1, LANES);
                right[r] = __shfl_down_sync(0xffffffffu, now[r][0], 1, LANES);
            }
            T keep[ROWS][WIDTH];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    keep[r][e] = fresh[r][e];
            if (MEETS == GHOSTS_X || MEETS == GHOSTS_Y || MEETS == GHOSTS || MEETS == GHOSTS_ENDS)
                this->template select_ghosts<MEETS != GHOSTS_Y, MEETS != GHOSTS_X>(
                    l, now, left, right, below, above);
            if (MEETS == GHOSTS_ENDS)
                put_ghost_plane(48, l, k, older, now, fresh);
            if (MEETS == SIDES || MEETS == ENDS)
                this->template put_ghosts<MEETS>(at.faces & ~at.held, l, k, older, now, fresh, left,
                                                 right, below, above);
            T made[ROWS][WIDTH];
            const int place = (int)source_place - l * SLOT;
            const vector *const sources = source_at(place + (place < 0 ? SOURCES * SLOT : 0));
            star::vec<double> line = {};
            if (TABLES)
                line = shared.line[l][k - first_line];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (!needed<OF>(r, l + 1)) {
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = T(0);
                    continue;
                }
                vector source;
                if (TABLES)
                    source = from_tables(l, r, line);
                else if (RECURSION ? l == 0 : SOURCE)
                    source = sources[r * LANES];
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = SOURCE && !RECURSION && (!FULL || p.source.field[0])
                                ? source.v[e]
                                : p.level[l].source_value;
                    sum = star::fused(p.c[0], older[r][e], sum);
                    sum = star::fused(p.c[1], r > 0 ? now[(r + ROWS - 1) % ROWS][e] : below.v[e],
                                      sum);
                    sum =
                        star::fused(p.c[2], e > 0 ? now[r][(e + WIDTH - 1) % WIDTH] : left[r], sum);
                    sum = star::fused(p.c[3], now[r][e], sum);
                    sum = star::fused(p.c[4], e + 1 < WIDTH ? now[r][(e + 1) % WIDTH] : right[r],
                                      sum);
                    sum = star::fused(p.c[5], r + 1 < ROWS ? now[(r + 1) % ROWS][e] : above.v[e],
                                      sum);
                    sum = star::fused(p.c[6], fresh[r][e], sum);
                    if constexpr (RECURSION)
                        sum = star::fused(p.factor[l], sum - (l == 0 ? source.v[e] : before[r][e]),
                                          sum);
                    made[r][e] = sum;
                }
            }
            constexpr bool HOLDS = MEETS == HELD || MEETS == HELD_ENDS;
            if (MEETS == KEPT || MEETS == KEPT_ENDS || HOLDS)
                this->template select_held<!HOLDS>(l, now, made);
            if (MEETS == KEPT_ENDS) {
                const bool end = k == 0 || k == p.nz - 1;
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = end ? now[r][e] : made[r][e];
            }
            if (MEETS == HELD_ENDS)
                select_held_plane(l, k, made);
            if (MEETS == SIDES || MEETS == ENDS)
                this->template put_held<MEETS>(at.held, l, k, now, made);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    if constexpr (RECURSION)
                        before[r][e] = older[r][e]; /* its plane k - 1 */
                    if (COPY) {
                        older[r][e] = now[r][e];
                        now[r][e] = keep[r][e];
                    } else {
                        older[r][e] = keep[r][e];
                    }
                    fresh[r][e] = made[r][e];
                }
            if (l + 1 < LEVELS) {
                hand_on<OF>(buffer, l + 1, fresh);
                if (needed<OF>(0, l + 2))
                    below = shared.edge[1 - buffer][l][group][1][lane];
                if (needed<OF>(ROWS - 1, l + 2))
                    above = shared.edge[1 - buffer][l][group + 2][0][lane];
            }
            if (RECURSION && l + 2 == LEVELS)
                store(p.last_but_one, at, k, fresh);
            if (l + 2 == LEVELS || LEVELS == 1)
                beside.arrive(); /* all rows for others are written, all of theirs read */
        }
        if (OF != ANY_WARP) /* these warps store nothing */
            return;
        if (CHANGE) /* the last level's planes are already those of the next step */
            note_change(at, z - LEVELS, plane[COPY ? OLD : NEW][LEVELS - 1], fresh);
        store(p.out, at, z - LEVELS, fresh);
    }

    /* Where the queue stands: byte offsets of this step's previous plane, its plane, and the
     * farthest one ahead. */
    struct position {
        unsigned before, at, ahead;
        unsigned source; /* byte offset of the source's newest plane in use */
    };
    template <int OLD, meets MEETS, warps OF>
    __device__ __forceinline__ void advance(const column &at, int z, position &q)
    {
        beside.wait();
        if (SOURCE && !TABLES && way().planes > 1)
            __pipeline_wait_prior(0); /* the source's last planes came with the previous step */
        else
            __pipeline_wait_prior(AHEAD - 1);
        fetch(z + AHEAD, q.ahead);
        fetch_source(z, q.source);
        __pipeline_commit();
        step<OLD, MEETS, OF>(at, z, q.at, q.before, q.source);
        q.before = q.at;
        q.at = q.at == (DEPTH - 1) * SLOT ? 0 : q.at + SLOT;
        q.ahead = q.ahead == (DEPTH - 1) * SLOT ? 0 : q.ahead + SLOT;
        if (SOURCE && !TABLES)
            q.source = turned(q.source + way().moves);
    }
    template <meets MEETS, warps OF = ANY_WARP>
    __device__ __forceinline__ void advance_to(const column &at, int &z, int end, position &q)
    {
        if constexpr (in_pairs(MEETS, OF)) {
            for (; z < end; z += 2) {
                advance<0, MEETS, OF>(at, z, q);
                advance<1, MEETS, OF>(at, z + 1, q);
            }
        } else {
            if (in_pairs(MEETS, ANY_WARP)) /* other warps take pairs, and all as many steps */
                end += (end - z) % 2;
#pragma unroll 1
            for (; z < end; z++)
                advance<0, MEETS, OF>(at, z, q);
        }
    }

    /* For tiles that touch no face of x or y. The warp's number comes by a shuffle, so that the
     * compiler knows it to be uniform. */
    __device__ __forceinline__ void advance_halos(const column &at, int &z, int end, position &q)
    {
        if constexpr (HALOS) {
            const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
            if (warp == 0)
                return advance_to<NO_FACE, FIRST_WARP>(at, z, end, q);
            if (warp == (int)GROUPS - 1)
                return advance_to<NO_FACE, LAST_WARP>(at, z, end, q);
        }
        advance_to<NO_FACE>(at, z, end, q);
    }

    __device__ __forceinline__ void advance_inside(const column &at, int &z, int end, position &q)
    {
        const unsigned faces = at.faces & 15, held = at.held & 15;
        if (faces == 0)
            advance_halos(at, z, end, q);
        else if (faces == (held & p.keeping))
            advance_to<KEPT>(at, z, end, q);
        else if constexpr (FULL || LEFT_OVER)
            advance_to<SIDES>(at, z, end, q);
        else if (faces == (held & ~p.keeping))
            advance_to<HELD>(at, z, end, q);
        else if (held)
            advance_to<SIDES>(at, z, end, q);
        else if (!(faces & 12))
            advance_to<GHOSTS_X>(at, z, end, q);
        else if (!(faces & 3))
            advance_to<GHOSTS_Y>(at, z, end, q);
        else
            advance_to<GHOSTS>(at, z, end, q);
    }

    __device__ __forceinline__ void advance_at_ends(const column &at, int &z, int end, position &q)
    {
        if constexpr ((!SOURCE || TABLES) && !LEFT_OVER) { /* the others have enough code already */
            if (at.faces == (at.held & p.keeping))
                return advance_to<KEPT_ENDS>(at, z, end, q);
        }
        if constexpr (HAS == NO_FIELDS && !LEFT_OVER) {
            if (at.faces == (at.held & ~p.keeping))
                return advance_to<HELD_ENDS>(at, z, end, q);
            if (!at.held)
                return advance_to<GHOSTS_ENDS>(at, z, end, q);
        }
        advance_to<ENDS>(at, z, end, q);
    }

    __device__ void run(const column &at)
    {
        const int end = at.z_hi + LEVELS;
        const bool ends = at.faces & 48, from_end = ends && at.z_lo <= LEVELS;
        int z = from_end ? -1 : at.z_lo - LEVELS;
        take_place(at);
        if (CHANGE)
            shared.change[threadIdx.x] = T(0);
        if (TABLES)
            fetch_lines(z);
        beside.start();
        position q = {(DEPTH - 1) * SLOT, 0, AHEAD * SLOT, (LEVELS - 1) * SLOT};
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ahead++) {
            fetch(z + ahead, ahead * SLOT);
            if (TABLES) {
                if (ahead == 0)
                    fetch_tables();
            } else if (SOURCE && way().planes == 1) {
                fetch_source(z + ahead - 1, 0, turned(q.source + ahead * SLOT));
            } else if (SOURCE && ahead == 0 && p.source.field[0]) {
                fetch_sources(z - 1, q.source);
            }
            __pipeline_commit();
        }
        beside.arrive();
        /* step z makes planes z-LEVELS .. z-1 of the levels, so steps 1 .. LEVELS meet the first
         * plane; an even number of steps goes before any pairs */
        const int inside = from_end ? 1 + (LEVELS + 1) / 2 * 2 : z;
        while (z < end) {
            if (ends && ((z >= 1 && z < inside) || z >= p.nz - 1))
                advance_at_ends(at, z, z < inside ? min(inside, end) : end, q);
            else
                advance_inside(at, z, !ends ? end : z < 1 ? 1 : min(end, p.nz - 1), q);
        }
        beside.wait();
        __pipeline_wait_prior(0);
        if (CHANGE)
            star::put_max_norm(p.change, shared.change[threadIdx.x]);
    }
};

/* One block per tile and chunk of planes. Blocks that run at the same time are at about the same z,
 * so that rows shared by tiles are read once and few pages of memory are in use at a time. */
template <typename T, int LEVELS, fields HAS, bool CHANGE>
__global__ void __launch_bounds__(tile<T>::THREADS, 1)
    fused_march(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
    using of = sizes<T, LEVELS, HAS, CHANGE>;
    STAR_SHARED(memory, typename of::shared_memory, [1]);
    march<of> m(p, memory[0]);
    constexpr columns::shape tile = {of::NX, of::NY, of::HALO_X, of::HALO_Y};
    m.run(columns::column_of(tile, p.cut, p.nx, p.ny, p.nz, p));
#else
    (void)p; /* plan() refuses such GPUs */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T, int LEVELS, fields HAS, bool CHANGE = false>
hs_status launch_levels(const char *name, const hs_kernel_plan *plan, const hs_sweep *sweep,
                        hs_error *err)
{
    using of = sizes<T, LEVELS, HAS, CHANGE>;
    hs_geometry g = plan->launch;
    g.shared_bytes = sizeof(typename of::shared_memory);
    /* that a call is of a recursion, or is asked for the max-norm, a plan need not know */
    assert(CHANGE || of::RECURSION || g.shared_bytes == plan->launch.shared_bytes);
    hs_fused_columns cut;
    HS_PLAN_GET(plan, cut);
    g.launched = columns::blocks_of(cut, sweep->part, g.launched);
    auto p = columns::make_arguments<T, arguments<T>>(cut, sweep);
    p.change = (star::bits_of<T> *)sweep->change;
    if constexpr (of::RECURSION)
        take_recursion(sweep, &p);
    else if constexpr (of::TABLES)
        take_tables(sweep, &p.tables);
    else if constexpr (of::SOURCE)
        take_source<of>(sweep, &p.source);
    return star::launch(name, fused_march<T, LEVELS, HAS, CHANGE>, p, g, sweep->stream, err);
}

template <typename T, int MOST, fields HAS, uint32_t TAKES = ~0u>
hs_status launch(const char *name, const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    return star::choose_number<1, MOST, TAKES>("levels", sweep->steps, err, [&](auto levels) {
        return launch_levels<T, levels.value, HAS>(name, plan, sweep, err);
    });
}

/* The max-norm of the last sweep's change is only fused with the most levels. */
template <typename T, int LEVELS, fields HAS>
hs_status launch_with_max_norm(const char *name, const hs_kernel_plan *plan, const hs_sweep *sweep,
                               hs_error *err)
{
    return sweep->change ? launch_levels<T, LEVELS, HAS, true>(name, plan, sweep, err)
                         : launch_levels<T, LEVELS, HAS, false>(name, plan, sweep, err);
}

} // namespace fused_march

#endif
