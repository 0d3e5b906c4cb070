/*
 * bulk_march: one sweep a launch in 2D and 3D, with rows that the bulk copy engine brings, and all
 * blocks in step.
 *
 * What a copy of the field costs is the floor. Five things stood between a sweep and that on an
 * H200. Each was found by leaving out the others (docs/performance/one-sweep.md), and each has its
 * answer here.
 *
 *   The engine asks L2 by the lines of shared memory that it fills. Rows that begin there as far
 *   from a multiple of 128 bytes as they do in memory cost one request a line, others 1.2. So a row
 *   has the pitch of its points and a line more, and what stands left of its first point stands in
 *   the room that the row before has. From 0.88 to 0.97.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y above one another. Shared memory has the plane
 *          |  [ warp  warp  warp  warp ]         that is being summed and those on their way
 *          |  [ halo rows                    ]   R
 *          +------------------------------- x
 *
 *   DRAM is as fast as in a copy only where what is asked for at one time lies together, and blocks
 *   that march on their own drift apart. So they march in step (lockstep.cuh), and few chunks along
 *   z at a time: tiles are low, so that two layers of them, or one, are all blocks that run.
 *
 *   Rows that the neighbouring tile needs as well must still be in L2 when it asks. They are kept
 *   there before what is stored (evict_last): 0.99 against 0.96. The engine takes that hint for all
 *   rows that a warp asks for at once, so all have it.
 *
 *   To ask for a row takes a warp 190 clocks beside others that sum, whose lanes ask one after the
 *   other: 2.6 us for the 28 rows of two planes with radius 3. So four warps do it, one for each
 *   scheduler.
 *
 *   Two warps a scheduler sum, so each must always have something to do: no branch between a row's
 *   first load and its store, whatever the row's end is, and no instruction but multiply-adds for
 *   what waits in registers. A point's sum begins with the planes below it as they come, goes on
 *   with its own plane, and ends with those above, which is the one order of additions; so of 2R
 *   planes it waits in 2R sums, each of which moves on by the very multiply-add that it gets. With
 *   radius 3 from 0.86 and 0.81 to 0.96 and 0.97.
 *
 * So shared memory has one plane in use instead of R+1, and all others are on their way. In 2D the
 * planes are rows, four of which come together. A field of sources comes as the rows do, for the
 * planes whose sums begin; then three words a point are the floor.
 *
 * Groups of 32 bytes at the ends of rows are stored whole where the caller allows it (may_copy).
 * What stood there waits in shared memory until it is stored, R planes later.
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it. From L2, with radius 1: 1 + 2/8, of
 * which 1.08 were counted.
 *
 * Measured on one H200 by a program that calls the kernel, GCell/s, float and double, 2026-11-21:
 * 512^3 radius 1 518 and 262, radius 2 512 and 260, radius 3 507 and 258, with a source field 352
 * and 179, 348 and 177, 347 and 176; 1024^3 radius 1 526 and 262; 16384^2, any radius, 519 and 264,
 * with a source field 356 and 180. Copies gave 525 and 265.
 *
 * z neighbours: registers. y neighbours: shared memory, or the row before; in 2D registers. x
 * neighbours: shared memory.
 *
 * Source: bulk copies and barriers in shared memory: NVIDIA, CUDA C++ Programming Guide,
 * asynchronous data copies; warps for loads and others for sums: Bauer, Cook, Khailany, CudaDMA,
 * SC'11.
 */
#include "bulk.cuh"
#include "lockstep.cuh"
#include "vector.cuh"

#include "core/problem.h"
#include "core/tiling_bulk.h"

#include <assert.h>
#include <stdio.h>

namespace
{

using star::vec;

enum { WARP = HS_WARP };

/* ---- what a block works on ------------------------------------------------------------------ */

/* A step of the lockstep is EVERY stages, a block at most DRIFT steps ahead; chosen by measuring.
 */
template <bool LARGE>
struct rhythm {
    enum { EVERY = 2, DRIFT = 2 };
};
template <>
struct rhythm<true> {
    enum { EVERY = 1, DRIFT = 3 };
};

template <int DIMS_, int RADIUS, typename REAL, bool IS_LARGE, bool FIELD>
struct tile {
    using T = REAL;
    enum {
        DIMS = DIMS_,
        SOURCE = FIELD, /* whether it is a field */
        R = RADIUS,
        N = vec<T>::N,
        MARCH = DIMS - 1, /* the axis that is marched along */
        WX = DIMS == 2 ? (int)HS_BULK_X_2D : (int)HS_BULK_X,
        WY = DIMS == 2  ? 1
             : IS_LARGE ? (int)HS_BULK_Y_LARGE
                        : (int)HS_BULK_Y,
        OWN = hs_bulk_rows(DIMS, IS_LARGE), /* rows of a stage, without halo */
        ROWS = (int)OWN / (int)WY,          /* of a thread */
        PLANES = DIMS == 2 ? (int)OWN : 1,  /* that the march goes on with a stage */
        HALO_Y = DIMS == 3 ? (int)R : 0,
        STAGES = hs_bulk_stages(DIMS, RADIUS, IS_LARGE, FIELD),
        SUMMING = (int)WX * (int)WY, /* warps; others have rows copied */
        COPYING = HS_BULK_COPYING,
        THREADS = (int)WARP * ((int)SUMMING + (int)COPYING),
        X = (int)WX * (int)WARP * (int)N,
        Y = DIMS == 3 ? (int)OWN : 1,
        HALO = (R + N - 1) / N * N, /* along x, in whole vectors */
        LINE = (int)HS_BULK_LINE_BYTES / (int)sizeof(T),
        PITCH = (int)X + (int)LINE,
        GROUP = 32 / sizeof(T),
        ENDS = 4 /* vectors of a row's two outer groups */
    };
    using rhythm = ::rhythm<IS_LARGE>;
    using pace = lockstep::pace<rhythm::EVERY, rhythm::DRIFT>;
    /* To the warps that sum: each value that they need not keep is a register. */
    enum { SAME = -1, END = -2 };
    struct message {
        int begins;   /* the chunk that begins with the stage, or SAME, or END */
        unsigned due; /* which of its planes end sums that are stored: a bit each */
        int turn;     /* in `ends`, of its first plane */
    };
    /* Rows from -HALO_Y, columns from -HALO. What is left of a row's first point stands where the
     * row before has room; before the first row is more than that takes. Then the rows of the
     * source, of points R planes above. */
    struct alignas(HS_BULK_LINE_BYTES) stage {
        message note;
        alignas(HS_BULK_LINE_BYTES /
                2) T value[LINE / 2 + (OWN + 2 * HALO_Y + (FIELD ? OWN : 0)) * PITCH];
        __device__ __forceinline__ T *at(int row, int column)
        {
            return value + LINE / 2 + (row + HALO_Y) * PITCH + column;
        }
        __device__ __forceinline__ T *source_at(int row, int column)
        {
            return at(OWN + HALO_Y + row, column);
        }
    };
    static_assert(sizeof(stage) == hs_bulk_stage_bytes(DIMS_, RADIUS, IS_LARGE, FIELD));
    struct shared_memory {
        stage stages[STAGES];
        vec<T> ends[R][Y][ENDS]; /* what the rows' outer groups had in planes z-R .. z-1 */
        bulk::barrier full[STAGES], empty[STAGES], asked[STAGES];
    };
    static_assert(HALO <= LINE / 2 && sizeof(message) <= HS_BULK_LINE_BYTES / 2);
    static_assert(sizeof(shared_memory) <= HS_BULK_SHARED_BYTES);
    static_assert((int)OWN + 2 * (int)HALO_Y <= (int)WARP * (int)COPYING);
};

/* Planes are rows in 2D, where y stays 0: both are marched along from z to z_end. */
struct chunk {
    int64_t x, y, z, z_end;
};

/* The i-th: along x first, then y, so that blocks that run at the same time read what lies
 * together. */
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

template <class B, typename T>
__device__ __forceinline__ int64_t pitch_of(const star::request<T> &r)
{
    return B::DIMS == 3 ? r.pitch_z : r.pitch_y;
}

/* A stage of the ring and the phase of its barriers, in one number: it goes around twice. */
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

/* ---- the warps that have rows copied -------------------------------------------------------- */

/* Columns of a block's tile that are needed. */
struct columns {
    int64_t begin, end;
    template <typename T>
    __device__ __forceinline__ unsigned bytes() const
    {
        return (unsigned)((end - begin) * (int64_t)sizeof(T));
    }
};

/* Whole vectors of a row with a point that is needed, or stored with its group. */
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

/* Which of the rows from `first` on, `count` of them, are this lane's: at most one. */
template <class B>
struct share {
    int row, of_warp; /* -1: none; rows of all lanes */
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

/* Of the planes of a stage, the first of which is the n-th of a chunk of `planes` and those around
 * it, which end sums that are stored. */
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
                                            lockstep::progress *of_all)
{
    enum { R = B::R, N = B::N };
    const int lane = threadIdx.x % WARP, warp = (int)(threadIdx.x / WARP) - B::SUMMING;
    const uint64_t keep = bulk::policy(bulk::KEEP), leave = bulk::policy(bulk::USUAL);
    const int64_t pitch = pitch_of<B>(r);
    const columns needed = columns_of<B>(r);
    typename B::pace step(of_all);
    turn<B::STAGES> stage(1); /* a barrier's phase before its first is over */
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
            /* the source of what is R planes above, in the chunk */
            const int sources = !B::SOURCE        ? 0
                                : B::DIMS == 2    ? (int)min((int64_t)B::PLANES, c.z_end - R - z)
                                : z + R < c.z_end ? rows_y
                                                  : 0;
            bulk::wait(&shared.empty[stage.at()], stage.parity());
            bulk::after_loads();
            if (warp > 0)
                bulk::wait(&shared.asked[stage.at()], stage.parity() ^ 1u);
            else if (lane == 0) {
                step.ask(n);
                __mbarrier_arrive(&shared.asked[stage.at()]);
            }
            if (warp == 0 && lane == 0)
                shared.stages[stage.at()].note = {
                    z == c.z - R ? i : (int)B::SAME,
                    due_with<B>((int)(z - c.z) + R, (int)(c.z_end - c.z)), n * B::PLANES % R};
            const share<B> of_rows(-halo, rows), of_sources(0, sources);
            if (lane == 0)
                bulk::arrive_with(&shared.full[stage.at()],
                                  wide.bytes<T>() * (unsigned)of_rows.of_warp +
                                      own.bytes<T>() * (unsigned)of_sources.of_warp);
            __syncwarp();
            typename B::stage &to = shared.stages[stage.at()];
            const int64_t from = c.y * r.pitch_y + z * pitch;
            if (of_rows.any())
                bulk::copy(to.at(of_rows.row, (int)(wide.begin - c.x)),
                           r.in + wide.begin + of_rows.row * r.pitch_y + from, wide.bytes<T>(),
                           &shared.full[stage.at()], keep);
            if (of_sources.any())
                bulk::copy(to.source_at(of_sources.row, (int)(own.begin - c.x)),
                           r.source + own.begin + of_sources.row * r.pitch_y + from + R * pitch,
                           own.bytes<T>(), &shared.full[stage.at()], leave);
            stage.next();
        }
    }
    bulk::wait(&shared.empty[stage.at()], stage.parity());
    if (warp == 0 && lane == 0)
        shared.stages[stage.at()].note.begins = B::END;
    if (lane == 0)
        bulk::arrive_with(&shared.full[stage.at()], 0);
    const int rounds = (chunks + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == 0 && lane == 0)
        step.end(n, rounds * ((planes + 2 * R + B::PLANES - 1) / B::PLANES));
}

/* ---- the warps that sum --------------------------------------------------------------------- */

/* The sums of a row's points that planes before z have begun. */
template <class B>
class sums
{
    using T = typename B::T;
    enum { R = B::R, N = B::N, DIMS = B::DIMS };
    vec<T> above[R]; /* of planes z .. z+R-1, which wait for their own */
    vec<T> below[R]; /* of planes z-R .. z-1, which wait for those above them */

  public:
    __device__ __forceinline__ sums() : above{}, below{}
    {
    }

    /* Plane z has come, and `now` are its points: gives the sums of plane z-R. In here and below,
     * each sum moves on by the multiply-add that it waits for, so nothing is moved besides. */
    __device__ __forceinline__ vec<T> end(const T (&c)[HS_MAX_COEFFICIENTS], const vec<T> &now)
    {
        vec<T> whole;
#pragma unroll
        for (int e = 0; e < N; e++)
            whole.at[e] = star::add_above<DIMS, R>(c, below[0].at[e], R, now.at[e]);
#pragma unroll
        for (int p = 1; p < R; p++)
#pragma unroll
            for (int e = 0; e < N; e++)
                below[p - 1].at[e] = star::add_above<DIMS, R>(c, below[p].at[e], R - p, now.at[e]);
        return whole;
    }

    /* Then: within(sum) adds what the plane gives to its points, source() is that of plane z+R. */
    template <typename Within, typename Source>
    __device__ __forceinline__ void begin(const T (&c)[HS_MAX_COEFFICIENTS], const vec<T> &now,
                                          Within within, Source source)
    {
        below[R - 1] = within(above[0]);
#pragma unroll
        for (int p = 1; p < R; p++)
#pragma unroll
            for (int e = 0; e < N; e++)
                above[p - 1].at[e] = star::add_below<DIMS, R>(c, above[p].at[e], p, now.at[e]);
        const vec<T> first = source();
#pragma unroll
        for (int e = 0; e < N; e++)
            above[R - 1].at[e] = star::add_below<DIMS, R>(c, first.at[e], R, now.at[e]);
    }
};

template <class B>
class summer
{
    using T = typename B::T;
    enum { R = B::R, N = B::N, ROWS = B::ROWS, HALO = B::HALO, LINES = 2 * B::HALO_Y };
    /* Of `flags`: a bit for each point of the thread's vectors that is in the box, whether they are
     * stored whole all the same, from ROW on a bit for each of its rows in the box, from END on
     * which of the ends of rows is the thread's, and from WAY on how the warp stores. */
    enum : unsigned { ALL = (1u << N) - 1, WHOLE = 1u << N, ROW = N + 1, END = ROW + ROWS };
    enum : unsigned { END_BITS = 2, WAY = END + END_BITS };
    /* All vectors are whole; or those at ends are filled up with what was there; or not. */
    enum way : unsigned { INSIDE, FILLED, PARTIAL };
    const star::request<T> &r;
    typename B::shared_memory &shared;
    const int place; /* of this thread's first point in a stage */
    unsigned flags;
    T *out; /* its first point in plane z-R */
    sums<B> begun[B::DIMS == 3 ? ROWS : 1];

    /* Its first point in the tile. */
    __device__ __forceinline__ static int column()
    {
        return (int)(threadIdx.x / WARP % B::WX * WARP + threadIdx.x % WARP) * N;
    }
    __device__ __forceinline__ static int row()
    {
        return (int)(threadIdx.x / WARP) / B::WX * ROWS;
    }

    __device__ __forceinline__ static vec<T> at(const T *shared)
    {
        return *reinterpret_cast<const vec<T> *>(shared);
    }

    /* A row's points of the thread, and those beside them. */
    struct wide {
        T value[N + 2 * HALO];
        __device__ __forceinline__ wide(const T *shared, const vec<T> &own)
        {
#pragma unroll
            for (int v = -HALO; v < N + HALO; v += N) {
                const vec<T> part = v == 0 ? own : summer::at(shared + v);
#pragma unroll
                for (int e = 0; e < N; e++)
                    value[HALO + v + e] = part.at[e];
            }
        }
        __device__ __forceinline__ T at(int e) const
        {
            return value[HALO + e];
        }
    };

    __device__ __forceinline__ vec<T> source(typename B::stage &stage, int n) const
    {
        if constexpr (B::SOURCE) {
            return at(stage.source_at(n, 0) + place);
        } else {
            vec<T> v;
#pragma unroll
            for (int e = 0; e < N; e++)
                v.at[e] = r.source_value;
            return v;
        }
    }

    /* One of the thread's rows, which was `now` R planes above; without a branch where there is a
     * vector, so that rows are summed side by side. */
    template <way HOW>
    __device__ __forceinline__ void store(T *to, vec<T> sum, const vec<T> &now, int n, bool due,
                                          int turn)
    {
        if (HOW == INSIDE) {
            if (due)
                star::store(to, sum);
            return;
        }
        const unsigned in_box = star::anew(flags);
        if (HOW == FILLED) {
            vec<T> *const ends =
                B::DIMS == 2 ? shared.ends[(turn + n) % R][0] : shared.ends[turn][row() + n];
            vec<T> &kept = ends[in_box >> END & ((1u << END_BITS) - 1u)];
            vec<T> before = now;
            if (in_box & WHOLE)
                before = kept, kept = now;
#pragma unroll
            for (int e = 0; e < N; e++)
                sum.at[e] = in_box >> e & 1u ? sum.at[e] : before.at[e];
            if (due && (in_box & (ALL | WHOLE)))
                star::store(to, sum);
        } else if (due) {
#pragma unroll
            for (int e = 0; e < N; e++)
                if (in_box >> e & 1u)
                    to[e] = sum.at[e];
        }
    }

  public:
    __device__ __forceinline__ summer(const star::request<T> &request,
                                      typename B::shared_memory &memory)
        : r(request), shared(memory), place(row() * B::PITCH + column())
    {
    }

    /* The next plane to add is the chunk's first, R below what it sums. */
    __device__ __forceinline__ void begin(const chunk &c)
    {
        const int64_t x = c.x + column(), group = x / B::GROUP * B::GROUP;
        flags = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            flags |= x + e >= r.lo[HS_X] && x + e < r.hi[HS_X] ? 1u << e : 0u;
        if (flags != ALL && r.may_copy && group + B::GROUP > r.lo[HS_X] && group < r.hi[HS_X])
            flags |= WHOLE;
        if (B::DIMS == 3) {
            const int own = (int)min(r.hi[HS_Y] - c.y, (int64_t)B::Y) - row();
            flags |= ((1u << min(max(own, 0), (int)ROWS)) - 1u) << ROW;
        }
        flags |= ((unsigned)(x / N % 2) + (group < r.lo[HS_X] ? 0u : 2u)) << END;
        const bool inside = (flags & ALL) == ALL;
        const unsigned how =
            !__all_sync(0xffffffffu, inside) ? r.may_copy ? FILLED : PARTIAL : INSIDE;
        flags |= how << WAY;
        out = r.out + x + (c.y + (B::DIMS == 3 ? row() : 0)) * r.pitch_y +
              (c.z - 2 * R) * pitch_of<B>(r);
    }

    /* Adds a stage's rows to the sums that are begun, and has those that are due stored, R planes
     * below. */
    __device__ __forceinline__ void add(typename B::stage &stage)
    {
        const unsigned how = star::anew(flags) >> WAY;
        if (how == INSIDE)
            add_and_store<INSIDE>(stage);
        else if (how == FILLED)
            add_and_store<FILLED>(stage);
        else
            add_and_store<PARTIAL>(stage);
    }

  private:
    template <way HOW>
    __device__ __forceinline__ void add_and_store(typename B::stage &stage)
    {
        const unsigned planes = stage.note.due;
        const unsigned due = B::DIMS == 2 ? planes : planes ? star::anew(flags) >> ROW : 0u;
        const T *const mine = stage.at(0, 0) + place;
        vec<T> line[ROWS + LINES]; /* rows -R .. ROWS+R-1; without a y beside the march, 0 .. */
#pragma unroll
        for (int n = 0; n < LINES; n++)
            line[n] = at(mine + (n - B::HALO_Y) * B::PITCH);
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            line[n + LINES] = at(mine + (n + B::HALO_Y) * B::PITCH);
            const vec<T> now = line[n + B::HALO_Y];
            sums<B> &mid = begun[B::DIMS == 3 ? n : 0];
            T *const to = out + n * r.pitch_y;
            const vec<T> sum = mid.end(r.c, now);
            store<HOW>(to, sum, now, n, due >> n & 1u, stage.note.turn);
            const auto within = [&](vec<T> sum) {
                const wide beside(mine + n * B::PITCH, now);
#pragma unroll
                for (int e = 0; e < N; e++)
                    sum.at[e] =
                        star::add_within<B::DIMS, R>(r.c, sum.at[e], [&](int axis, int o) -> T {
                            return axis == HS_X ? beside.at(e + o) : line[n + B::HALO_Y + o].at[e];
                        });
                return sum;
            };
            mid.begin(r.c, now, within, [&] { return source(stage, n); });
        }
        out += B::PLANES * pitch_of<B>(r);
    }
};

template <class B, typename T>
__device__ __forceinline__ void sum_chunks(const star::request<T> &r, int planes,
                                           typename B::shared_memory &shared)
{
    summer<B> mine(r, shared);
    for (turn<B::STAGES> stage(0);; stage.next()) {
        bulk::wait(&shared.full[stage.at()], stage.parity());
        typename B::stage &in = shared.stages[stage.at()];
        if (in.note.begins == B::END)
            break;
        if (in.note.begins != B::SAME)
            mine.begin(chunk_of<B>(r, in.note.begins, planes));
        mine.add(in);
        __mbarrier_arrive(&shared.empty[stage.at()]); /* every lane, for racecheck to follow */
    }
}

template <class B>
__global__ void __launch_bounds__(B::THREADS, 1)
    bulk_march(const __grid_constant__ star::request<typename B::T> r, int planes, int chunks,
               lockstep::progress *of_all)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    STAR_SHARED(memory, typename B::shared_memory, [1]);
    if (threadIdx.x == 0) {
        for (int s = 0; s < B::STAGES; s++) {
            __mbarrier_init(&memory[0].full[s], B::COPYING);
            __mbarrier_init(&memory[0].asked[s], 1);
            __mbarrier_init(&memory[0].empty[s], B::SUMMING * WARP);
        }
        bulk::publish();
    }
    __syncthreads();
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<B>(r, planes, memory[0]);
    else
        have_copied<B>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)chunks, (void)of_all; /* suits() tells such GPUs apart */
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

template <class B>
hs_status launch(const hs_sweep *sweep, const hs_geometry &shape, int multiprocessors,
                 hs_error *err)
{
    using T = typename B::T;
    star::request<T> r = star::make_request<T>(sweep, shape);
    r.first[HS_X] = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
    hs_geometry launched = shape;
    const int64_t chunks = shape.blocks[HS_X] * shape.blocks[HS_Y] * shape.blocks[HS_Z];
    int64_t blocks = chunks;
    if (blocks > multiprocessors) { /* no more than run at once, as many each time */
        const int64_t rounds = (blocks + multiprocessors - 1) / multiprocessors;
        blocks = (blocks + rounds - 1) / rounds;
    }
    launched.blocks[HS_X] = blocks;
    launched.blocks[HS_Y] = launched.blocks[HS_Z] = 1;
    assert(shape.shared_bytes == sizeof(typename B::shared_memory));
    return star::launch("bulk_march", bulk_march<B>, r, launched, sweep->stream, err,
                        shape.output_tile[B::MARCH], (int)chunks,
                        (lockstep::progress *)sweep->scratch);
}

template <int DIMS, int R, typename T, bool LARGE>
hs_status launch_with_source(const hs_sweep *sweep, const hs_geometry &shape, int multiprocessors,
                             hs_error *err)
{
    return sweep->source
               ? launch<tile<DIMS, R, T, LARGE, true>>(sweep, shape, multiprocessors, err)
               : launch<tile<DIMS, R, T, LARGE, false>>(sweep, shape, multiprocessors, err);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    geometry(sweep, &shape);
    int device = 0, multiprocessors = 0;
    HS_CUDA_TRY("kernel bulk_march", err, cudaGetDevice(&device));
    HS_CUDA_TRY("kernel bulk_march", err,
                cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return star::choose<2, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        enum { DIMS = dims.value, R = radius.value };
        using T = decltype(zero);
        if constexpr (DIMS == 3 && R == 1)
            if (shape.output_tile[HS_Y] == hs_bulk_rows(3, true))
                return launch_with_source<3, 1, T, true>(sweep, shape, multiprocessors, err);
        return launch_with_source<DIMS, R, T, false>(sweep, shape, multiprocessors, err);
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
    .idea = "march in step along the slowest axis, whole rows by the bulk copy engine, ahead",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .dims = 1u << 2 | 1u << 3,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .suits = suits,
    .geometry = geometry,
    .scratch = scratch,
    .sweep = sweep,
};
