/*
 * The warps of bulk_march that sum: what a plane adds to the pending sums in registers, and how the
 * completed sums are stored.
 */
#ifndef HS_KERNELS_CUDA_BULK_MARCH_SUMS_CUH
#define HS_KERNELS_CUDA_BULK_MARCH_SUMS_CUH

#include "tile.cuh"

namespace bulk_rows
{

/* The pending sums of a row's points, which planes before z have begun. */
template <class B>
class sums
{
    using T = typename B::T;
    enum { R = B::R, N = B::N, DIMS = B::DIMS };
    vec<T> above[R]; /* of planes z .. z+R-1, which wait for their own plane */
    vec<T> below[R]; /* of planes z-R .. z-1, which wait for planes above */

  public:
    __device__ __forceinline__ sums() : above{}, below{}
    {
    }

    /* Plane z has arrived with points `now`: returns the sums of plane z-R. Here and in begin(),
     * each multiply-add also moves its sum on to the next place, so no extra moves are needed. */
    __device__ __forceinline__ vec<T> end(const T (&c)[HS_MAX_COEFFICIENTS], const vec<T> &now)
    {
        vec<T> whole;
#pragma unroll
        for (int e = 0; e < N; e++)
            whole.v[e] = star::add_above<DIMS, R>(c, below[0].v[e], R, now.v[e]);
#pragma unroll
        for (int p = 1; p < R; p++)
#pragma unroll
            for (int e = 0; e < N; e++)
                below[p - 1].v[e] = star::add_above<DIMS, R>(c, below[p].v[e], R - p, now.v[e]);
        return whole;
    }

    /* Then: within(sum) adds the plane's terms to its points; source() is that of plane z+R. */
    template <typename Within, typename Source>
    __device__ __forceinline__ void begin(const T (&c)[HS_MAX_COEFFICIENTS], const vec<T> &now,
                                          Within within, Source source)
    {
        below[R - 1] = within(above[0]);
#pragma unroll
        for (int p = 1; p < R; p++)
#pragma unroll
            for (int e = 0; e < N; e++)
                above[p - 1].v[e] = star::add_below<DIMS, R>(c, above[p].v[e], p, now.v[e]);
        const vec<T> first = source();
#pragma unroll
        for (int e = 0; e < N; e++)
            above[R - 1].v[e] = star::add_below<DIMS, R>(c, first.v[e], R, now.v[e]);
    }
};

template <class B>
class summer
{
    using T = typename B::T;
    enum { R = B::R, N = B::N, ROWS = B::ROWS, HALO = B::HALO, LINES = 2 * B::HALO_Y };
    /* Bits of `flags`: one for each point of the thread's vector that is in the box; WHOLE if the
     * vector is stored whole all the same; from ROW on one for each of its rows in the box; from
     * END on the index of the row end that it holds; from WAY on how the warp stores. */
    enum : unsigned { ALL = (1u << N) - 1, WHOLE = 1u << N, ROW = N + 1, END = ROW + ROWS };
    enum : unsigned { END_BITS = 2, WAY = END + END_BITS };
    /* All vectors are whole; or those at ends are filled up with old values; or they are not. */
    enum way : unsigned { INSIDE, FILLED, PARTIAL };
    const star::request<T> &r;
    typename B::shared_memory &shared;
    const int place; /* offset of this thread's first point in a stage */
    unsigned flags;
    T *out; /* this thread's first point in plane z-R */
    sums<B> begun[B::DIMS == 3 ? ROWS : 1];

    /* The thread's points of a row, and the neighbours on either side. */
    struct wide {
        T value[N + 2 * HALO];
        __device__ __forceinline__ wide(const T *shared, const vec<T> &own)
        {
#pragma unroll
            for (int v = -HALO; v < N + HALO; v += N) {
                const vec<T> part = v == 0 ? own : star::at(shared + v);
#pragma unroll
                for (int e = 0; e < N; e++)
                    value[HALO + v + e] = part.v[e];
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
            return star::at(stage.source_at(n, 0) + place);
        } else {
            vec<T> v;
#pragma unroll
            for (int e = 0; e < N; e++)
                v.v[e] = r.source_value;
            return v;
        }
    }

    /* Stores one of the thread's rows; `now` is the row R planes above. Vectors are stored without
     * a branch, so that rows are summed side by side. */
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
            vec<T> *const ends = B::DIMS == 2 ? shared.ends[(turn + n) % R][0]
                                              : shared.ends[turn][bulk::row<B>() + n];
            vec<T> &kept = ends[in_box >> END & ((1u << END_BITS) - 1u)];
            vec<T> before = now;
            if (in_box & WHOLE)
                before = kept, kept = now;
#pragma unroll
            for (int e = 0; e < N; e++)
                sum.v[e] = in_box >> e & 1u ? sum.v[e] : before.v[e];
            if (due && (in_box & (ALL | WHOLE)))
                star::store(to, sum);
        } else if (due) {
#pragma unroll
            for (int e = 0; e < N; e++)
                if (in_box >> e & 1u)
                    to[e] = sum.v[e];
        }
    }

  public:
    __device__ __forceinline__ summer(const star::request<T> &request,
                                      typename B::shared_memory &memory)
        : r(request), shared(memory), place(bulk::row<B>() * B::PITCH + bulk::column<B>())
    {
    }

    /* The next plane to add is the chunk's first one, R below the planes that it sums. */
    __device__ __forceinline__ void begin(const chunk &c)
    {
        const int64_t x = c.x + bulk::column<B>(), group = x / B::GROUP * B::GROUP;
        flags = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            flags |= x + e >= r.lo[HS_X] && x + e < r.hi[HS_X] ? 1u << e : 0u;
        if (flags != ALL && r.may_copy && group + B::GROUP > r.lo[HS_X] && group < r.hi[HS_X])
            flags |= WHOLE;
        if (B::DIMS == 3) {
            const int own = (int)min(r.hi[HS_Y] - c.y, (int64_t)B::Y) - bulk::row<B>();
            flags |= ((1u << min(max(own, 0), (int)ROWS)) - 1u) << ROW;
        }
        flags |= ((unsigned)(x / N % 2) + (group < r.lo[HS_X] ? 0u : 2u)) << END;
        const bool inside = (flags & ALL) == ALL;
        const unsigned how =
            !__all_sync(0xffffffffu, inside) ? r.may_copy ? FILLED : PARTIAL : INSIDE;
        flags |= how << WAY;
        out = r.out + x + (c.y + (B::DIMS == 3 ? bulk::row<B>() : 0)) * r.pitch_y +
              (c.z - 2 * R) * pitch_of<B>(r);
    }

    /* Adds a stage's rows to the pending sums, and stores the completed ones, R planes below. */
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
        vec<T> line[ROWS + LINES]; /* rows -R .. ROWS+R-1; in 2D 0 .. */
#pragma unroll
        for (int n = 0; n < LINES; n++)
            line[n] = star::at(mine + (n - B::HALO_Y) * B::PITCH);
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            line[n + LINES] = star::at(mine + (n + B::HALO_Y) * B::PITCH);
            const vec<T> now = line[n + B::HALO_Y];
            sums<B> &mid = begun[B::DIMS == 3 ? n : 0];
            T *const to = out + n * r.pitch_y;
            const vec<T> sum = mid.end(r.c, now);
            store<HOW>(to, sum, now, n, due >> n & 1u, stage.note.turn);
            const auto within = [&](vec<T> sum) {
                const wide beside(mine + n * B::PITCH, now);
#pragma unroll
                for (int e = 0; e < N; e++)
                    sum.v[e] =
                        star::add_within<B::DIMS, R>(r.c, sum.v[e], [&](int axis, int o) -> T {
                            return axis == HS_X ? beside.at(e + o) : line[n + B::HALO_Y + o].v[e];
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
        bulk::wait(&shared.ring.full[stage.at()], stage.parity());
        typename B::stage &in = shared.stages[stage.at()];
        if (in.note.begins == B::END)
            break;
        if (in.note.begins != B::SAME)
            mine.begin(chunk_of<B>(r, in.note.begins, planes));
        mine.add(in);
        __mbarrier_arrive(&shared.ring.empty[stage.at()]); /* every lane arrives, for racecheck */
    }
}

} // namespace bulk_rows

#endif
