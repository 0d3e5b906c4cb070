/*
 * conduction_fused: several sweeps of a body of many materials in one pass over memory.
 *
 * As in fused_march_3d, a block marches a column of the grid along z and carries LEVELS time
 * levels: when plane z of level 0 arrives, plane z-1 of level 1 is made, from it plane z-2 of level
 * 2, and so on, all within one step. Only level 0 is read and only the last level is written.
 *
 *     y   +--------------+   a thread owns ROWS rows of WIDTH neighbouring nodes (16 bytes)
 *     |   | halo         |
 *     |   |  +--------+  |   of each level it keeps the newest plane, and what flows up to it,
 *     |   |  | stored |  |   G*(in - in below), with which the sum of its plane begins: as much
 *     |   |  +--------+  |   as two planes, and no G of the plane below
 *     |   |              |   x neighbours: in the thread, or by shuffle from the next lane
 *     |   +--------------+   y neighbours: in the thread, or edge rows by way of shared memory
 *     +---------------- x    Each difference is made once and used by both its nodes
 *
 * G and dt/C of the palette's rows are in shared memory, and so are the numbers of the current
 * planes. A thread looks up the rows of its first vector of nodes in a plane, and those of each
 * next vector only if numbers differ from the previous ones in any lane of the warp; a plane
 * without differences takes no branch. Most rows have neither sink nor source: only warps with such
 * rows look up the rest.
 *
 * Walls are rows. Beyond the grid's ends there are nodes without any edge (row 0), whose values are
 * zero or those of an interior plane, so walls need no code: only the copies know which axes are
 * periodic. Blocks exchange nothing; the tile's halo of LEVELS nodes is swept redundantly. Warps
 * only wait for their two neighbours.
 *
 * Words per node and sweep: (1.2 + 1)/3 and a number from and to device memory.
 *
 * What it reaches: docs/performance/bodies.md.
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; keeping rows and flows is
 * ours.
 */
#include "tile.cuh"

#include <assert.h>

namespace
{

using conduction::arguments;

template <typename Sizes>
struct march : conduction::place<Sizes> {
    using base = conduction::place<Sizes>;
    using base::AHEAD, base::DEPTH, base::EDGES, base::GROUPS, base::LANES, base::LEVELS,
        base::ROWS, base::SLOT, base::WIDTH, base::THREADS;
    using base::at, base::group, base::lane, base::mine, base::p, base::shared;
    using typename base::T, typename base::table, typename base::vector, typename base::word;

    /* For each plane a bit per row, and another one for the first row. */
    enum : unsigned { BITS = ROWS + 1, FIRST = 1u << ROWS };
    const table palette;
    typename base::meeting beside; /* the warps whose rows this one reads */
    vector now[EDGES][ROWS];   /* for each later level, the plane of its input that is swept next */
    vector flow[LEVELS][ROWS]; /* for each level, G*(the plane - the one below) */
    typename word::type comes[ROWS + 1]; /* numbers of the plane that level 0 sweeps next */
    unsigned newest;                     /* index in `shared` of the numbers of its last plane */
    unsigned changes;                    /* for each level, which rows differ from those below */
    network::lane_rows<HS_AXES, T> here; /* rows of the current vector */
    bool rest;                           /* whether the warp has sinks, sources or the like */

    __device__ march(const arguments<T> &arguments, const columns::column &column,
                     typename base::shared_memory &memory)
        : base(arguments, column, memory), palette(arguments.rows, memory.palette),
          beside(memory.arrived), now{}, flow{}, comes{}, newest(0), changes(0)
    {
    }

    /* ---- rows -------------------------------------------------------------------------------- */

    __device__ __forceinline__ typename base::numbers numbers_of(int l, int r) const
    {
        const int place = (int)newest - l;
        return shared.number[place < 0 ? place + LEVELS : place][r + 1][threadIdx.x];
    }

    /*
     * Level 0 next sweeps the plane whose numbers have arrived. Rows are swept one after the other,
     * level by level, with the planes in downward order. This finds which of them differ from the
     * row swept before, in any lane of the warp, and which first rows differ from the row below
     * them.
     */
    __device__ __forceinline__ void take_numbers()
    {
        const int above = (int)newest;
        newest = newest + 1 == LEVELS ? 0 : newest + 1;
        typename base::numbers(*const mine)[ROWS + 1][THREADS] = &shared.number[newest];
        for (int r = 0; r <= ROWS; r++) /* here, since using them means waiting for them */
            comes[r] = word::without(comes[r], this->missing);
        /* the last row of the previous step belongs to the plane that is overwritten */
        unsigned differ = comes[1] != (*mine)[ROWS][threadIdx.x] ? FIRST : 0u;
        if (LEVELS > 1)
            differ |= shared.number[above][1][threadIdx.x] != comes[ROWS] ? FIRST << BITS : 0u;
        for (int r = 0; r <= ROWS; r++) {
            (*mine)[r][threadIdx.x] = comes[r];
            if (r > 0)
                differ |= comes[r] != comes[r - 1] ? 1u << (r - 1) : 0u;
        }
        differ = __reduce_or_sync(0xffffffffu, differ);
        changes = (changes & ~FIRST) << BITS | differ;
    }

    /* Looks up the rows of row r's nodes. All lanes of the warp call it. */
    __device__ __forceinline__ void look_up(int l, int r)
    {
        const bool any = palette.get(numbers_of(l, r), here.conductance, here.rate) != 0;
        here.beside = __shfl_up_sync(0xffffffffu, here.conductance[WIDTH - 1][HS_X], 1, LANES);
        here.beside = lane == 0 ? T(0) : here.beside;
        rest = __any_sync(0xffffffffu, any);
    }

    /* The same if they differ from those of the row swept before; also G of the edges from the row
     * below. */
    __device__ __forceinline__ void take_rows(int l, int r)
    {
        const unsigned differ = changes >> l * BITS;
        const bool first = r == 0;
        if (first && differ & FIRST)
            look_up(l, 0);
        if (first || differ >> (first ? 0 : r - 1) & 3u) /* row r differs, or the one below did */
            for (int e = 0; e < WIDTH; e++)
                here.below[e] = here.conductance[e][HS_Y];
        if (!first && differ >> r & 1u)
            look_up(l, r);
        if (first && differ & 1u)
            palette.conductances(HS_Y, numbers_of(l, -1), here.below);
    }

    /* Where the queue stands: byte offsets of this step's previous plane, its plane, and the
     * farthest one ahead. */
    struct position {
        unsigned before, at, ahead;
    };

    /* ---- sweeps ------------------------------------------------------------------------------ */

    /* One sweep of level l's current plane; `below` and `above` are the rows beside the thread's
     * own. `made` is the plane above it on entry, and the swept plane on return; level 0's planes
     * lie in the queue. SAME: all its rows are like the one swept before, and have no rest. */
    template <int l, bool SAME>
    __device__ __forceinline__ void sweep_rows(const position &q, vector (&made)[ROWS],
                                               const vector &below, const vector &above)
    {
        vector(&plane)[ROWS] = now[l > 0 ? l - 1 : 0];
        vector row = l > 0 ? plane[0] : mine(q.before)[0], rise; /* along y, from the row below */
        for (int e = 0; e < WIDTH; e++)
            rise.v[e] = row.v[e] - below.v[e];
        for (int e = 0; e < WIDTH && SAME; e++)
            here.below[e] = here.conductance[e][HS_Y];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (!SAME)
                take_rows(l, r);
            const vector next = l > 0 ? made[r] : mine(q.at)[r * LANES];
            vector after = above;
            if (r + 1 < ROWS)
                after = l > 0 ? plane[(r + 1) % ROWS] : mine(q.before)[(r + 1) * LANES];
            const T left = __shfl_up_sync(0xffffffffu, row.v[WIDTH - 1], 1, LANES);
            const T right = __shfl_down_sync(0xffffffffu, row.v[0], 1, LANES);
            const vector sums = here.sum(row, left, right, after, next, rise, flow[l][r]);
            made[r] = here.advanced(
                row, sums, !SAME && rest,
                [&](int e, T *sink, T *keep, T *added) {
                    palette.get_rest(l, word::node(numbers_of(l, r), e), sink, keep, added);
                },
                (const T *)nullptr);
            if (l > 0)
                plane[r] = next;
            row = after;
        }
    }
    template <int l>
    __device__ __forceinline__ void sweep(const position &q, vector (&made)[ROWS],
                                          const vector &below, const vector &above)
    {
        const unsigned all = (1u << BITS) - 1u;
        if (rest || changes >> l * BITS & all)
            sweep_rows<l, false>(q, made, below, above);
        else
            sweep_rows<l, true>(q, made, below, above);
    }

    /* Sweeps all levels from l on. */
    template <int l>
    __device__ __forceinline__ void sweep_from(const position &q, int buffer, vector (&made)[ROWS],
                                               vector below, vector above)
    {
        sweep<l>(q, made, below, above);
        if (l == 0)
            beside.wait();
        if constexpr (l + 1 < LEVELS) {
            /* for the neighbouring groups' next step, and from their previous one */
            shared.edge[buffer][l][group + 1][0][lane] = made[0];
            shared.edge[buffer][l][group + 1][1][lane] = made[ROWS - 1];
            below = shared.edge[1 - buffer][l][group][1][lane];
            above = shared.edge[1 - buffer][l][group + 2][0][lane];
        }
        if (l + 2 == LEVELS || LEVELS == 1)
            beside.arrive(); /* all rows for others are written, all of theirs read */
        if constexpr (l + 1 < LEVELS)
            sweep_from<l + 1>(q, buffer, made, below, above);
    }

    /* ---- steps ------------------------------------------------------------------------------- */

    /* What comes next from device memory. */
    struct source {
        conduction::planes<T> values;
        conduction::planes<typename Sizes::NUMBER> numbers;
    };

    /* Plane z of level 0 has arrived: the levels sweep planes z-1, z-2, ... What level 0 needs from
     * the neighbours was complete when they finished the step before the previous one: the wait for
     * them comes only after level 0. So a plane must have arrived one step before it is needed. */
    __device__ __forceinline__ void step(int z, position &q, source &of)
    {
        __pipeline_wait_prior(AHEAD - 2);
        this->clear_missing(next(q.at));
        this->fetch(of.values, q.ahead);
        take_numbers();
        this->load_numbers(of.numbers, comes);
        const int buffer = (int)((beside.steps - 1) % 2);
        /* from the neighbours' slots; at the tile's ends any value will do */
        vector below = mine(q.before)[group > 0 ? -(int)LANES : 0];
        vector above = mine(q.before)[(group < GROUPS - 1 ? ROWS : ROWS - 1) * LANES];
        vector made[ROWS];
        sweep_from<0>(q, buffer, made, below, above);
        if (z - LEVELS >= at.z_lo && z - LEVELS < at.z_hi)
            this->store(z - LEVELS, made);
        q = {q.at, next(q.at), next(q.ahead)};
    }
    __device__ __forceinline__ static unsigned next(unsigned slot)
    {
        return slot == (DEPTH - 1) * SLOT ? 0 : slot + SLOT;
    }

    __device__ void run()
    {
        table::copy(p.rows, shared.palette, threadIdx.x, THREADS);
        /* Before the first planes arrive, levels have planes of zeros, without a node. */
        position q = {(DEPTH - 1) * SLOT, 0, AHEAD * SLOT};
        for (int r = 0; r < ROWS; r++)
            mine(q.before)[r * LANES] = {};
        for (int i = threadIdx.x; i < (int)(sizeof shared.edge / sizeof(vector)); i += THREADS)
            (&shared.edge[0][0][0][0][0])[i] = {};
        for (int l = 0; l < LEVELS; l++)
            for (int r = 0; r <= ROWS; r++)
                shared.number[l][r][threadIdx.x] = 0;
        const bool from_end = !p.faces.wrap[2] && at.z_lo <= LEVELS;
        int z = from_end ? 0 : at.z_lo - LEVELS;
        beside.start();
        source of = {this->template planes_from<T>(z, p.in),
                     this->template planes_from<typename Sizes::NUMBER>(z, p.number)};
        for (int ahead = 0; ahead < AHEAD; ahead++)
            this->fetch(of.values, ahead * SLOT);
        __pipeline_wait_prior(AHEAD - 1);
        this->clear_missing(0);
        beside.arrive();
        look_up(0, 0); /* of no node, like everything so far */
#pragma unroll 1
        for (; z < at.z_hi + LEVELS; z++)
            step(z, q, of);
        beside.wait();
        __pipeline_wait_prior(0);
    }
};

template <typename Sizes>
__global__ void __launch_bounds__(Sizes::THREADS, 1)
    conduction_fused(const __grid_constant__ arguments<typename Sizes::T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
    STAR_SHARED(memory, typename Sizes::shared_memory, [1]);
    constexpr columns::shape tile = {Sizes::NX, Sizes::NY, Sizes::HALO_X, Sizes::LEVELS,
                                     Sizes::WIDTH};
    const auto column = columns::column_of(tile, p.cut, p.nx, p.ny, p.nz, p.faces);
    march<Sizes>(p, column, memory[0]).run();
#else
    (void)p; /* plan() refuses such GPUs */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T>
arguments<T> make_arguments(const hs_kernel_plan *plan, const hs_sweep *sweep)
{
    hs_fused_columns cut;
    HS_PLAN_GET(plan, cut);
    const int64_t *n = sweep->layout.points;
    arguments<T> p = {network::make_request<T>(sweep, plan->launch), (int)n[HS_X], (int)n[HS_Y],
                      (int)n[HS_Z]};
    for (int axis = 0; axis < HS_AXES; axis++)
        p.faces.wrap[axis] = sweep->op->network->wrap[axis];
    p.cut = columns::cut_of(cut, sweep->part);
    return p;
}

} // namespace

HS_CUDA_SWEEP(conduction_fused)
{
    return network::choose_form(sweep, [&](auto form, auto zero) -> hs_status {
        using FORM = decltype(form);
        using T = decltype(zero);
        if constexpr (std::is_same_v<FORM, network::arrays>) {
            return hs_error_add(err, HS_BAD_INPUT, "conduction_fused: arrays are not compiled in");
        } else {
            const auto p = make_arguments<T>(plan, sweep);
            return star::choose_number<1, HS_CONDUCTION_STEPS>(
                "levels", sweep->steps, err, [&](auto levels) {
                    using of = conduction::sizes<T, typename FORM::NUMBER, levels.value>;
                    assert(plan->launch.shared_bytes == sizeof(typename of::shared_memory));
                    return star::launch("conduction_fused", conduction_fused<of>, p, plan->launch,
                                        sweep->stream, err);
                });
        }
    });
}
