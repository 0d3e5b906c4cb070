/*
 * How fused_march_2d's rows come to a warp and leave it. Where a block is one warp, it has them by
 * itself; where it is groups of warps, these pass them on.
 */
#ifndef HS_KERNELS_CUDA_STRIP_ROWS_CUH
#define HS_KERNELS_CUDA_STRIP_ROWS_CUH

#include "bulk.cuh"
#include "strips.cuh"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

namespace strip
{

/*
 * The group of a march whose code serves all groups, where all have as many levels. A loop in HELD
 * is 11 KB long; where each of two groups had its own, these did not stay in the cache for
 * instructions, depending on where the program lay: 2.9 ms in bench for 1.7 in a timing program.
 */
enum { ANY = -1 };

/* How a block sweeps so many levels. */
template <typename T, int LEVELS>
struct shape {
    enum {
        WIDTH = strip_shape<T>::WIDTH,
        GROUPS = (LEVELS + strip_shape<T>::DEEP - 1) / strip_shape<T>::DEEP,
        WARPS = GROUPS > 1 ? HS_STRIP_WARPS : 1, /* of a group, side by side */
        DEEP = (LEVELS + GROUPS - 1) / GROUPS,   /* levels of a group */
        NEXT = 32 * WIDTH - 2 * DEEP,            /* from warp to warp, in points */
        SHORT = DEEP * GROUPS - LEVELS,          /* so many of the last groups have one less */
        LAG = LEVELS, /* steps from a row's arrival to its being stored */
        PLACES = GROUPS > 1 ? HS_STRIP_PLACES : 3, /* for pairs of rows on their way */
        VECTOR = HS_VECTOR_BYTES / sizeof(T),
        VECTORS = WIDTH / VECTOR,
        BLOCKS = GROUPS > 1 ? 1 : HS_STRIP_BLOCKS /* on a multiprocessor */
    };
    struct alignas(HS_VECTOR_BYTES) vector {
        T v[VECTOR];
    };
};

/* Places that are gone through in turn. */
template <typename Place>
struct ring {
    bulk::spot first, behind, now;

    __device__ __forceinline__ ring(Place *begin, int places, int at)
        : first(bulk::spot_of(begin)), behind(first + places * (int)sizeof(Place)),
          now(first + at * (int)sizeof(Place))
    {
    }
    __device__ __forceinline__ bulk::spot next() const
    {
        return now + (int)sizeof(Place) == behind ? first : now + (int)sizeof(Place);
    }
    __device__ __forceinline__ bulk::spot before() const
    {
        return (now == first ? behind : now) - (int)sizeof(Place);
    }
    __device__ __forceinline__ Place *operator->() const
    {
        return bulk::at<Place>(now);
    }
};

/* A warp's part of a strip. */
template <typename T, int LEVELS, int GROUP>
struct part_of_strip {
    using block = shape<T, LEVELS>;

    const arguments<T> &p;
    int own_group, warp, lane;
    int first_x; /* node of the block's first point; outside the grid where the axis wraps, ... */
    int x;       /* ... and of the warp's */
    int left, right; /* nodes that the block stores, ... */
    int y_lo, y_hi;  /* ... and rows */
    int end;         /* step after the last */
    bool odd;        /* rows are not aligned in memory, or cross the wrap where there is one warp */
    unsigned faces;  /* bit of each face that the warp meets and that does not wrap */

    __device__ __forceinline__ part_of_strip(const arguments<T> &arguments, int which, int side)
        : p(arguments), own_group(which), warp(block::WARPS > 1 ? side : 0),
          lane(bulk::kept((int)(threadIdx.x % 32u)))
    {
    }
    __device__ __forceinline__ int group() const
    {
        return GROUP == ANY ? own_group : GROUP;
    }
    __device__ __forceinline__ int points() const
    {
        return block::NEXT * (p.cut.warps - 1) + 32 * block::WIDTH;
    }

    /* Strip s from row lo to row hi, and `more` steps after the last row's. */
    __device__ __forceinline__ void choose(int s, int lo, int hi, int more)
    {
        const bool last = !p.wrap[0] && s == p.cut.strips - 1;
        first_x = p.cut.lead + (s - 1) * p.cut.stored - p.cut.rim;
        left = first_x + p.cut.rim;
        right = last ? p.nx : min(left + p.cut.stored, p.nx);
        faces = p.wrap[1] ? 0u : 12u;
        if (!p.wrap[0]) {
            first_x = last ? p.nx - points() : s == 0 ? 0 : first_x;
            left = s == 0 ? 0 : left;
            faces |= (s == 0 && warp == 0 ? 1u : 0u) | (last && warp == p.cut.warps - 1 ? 2u : 0u);
        }
        x = first_x + warp * block::NEXT;
        y_lo = lo;
        y_hi = hi;
        end = hi + block::LAG + more;
        const bool crosses = first_x < 0 || first_x + points() > p.nx;
        odd = (first_x | left | right) % block::VECTOR != 0 ||
              (crosses && (block::WARPS == 1 || p.nx % block::VECTOR != 0));
    }

    /* Row y of the grid, a row further, and the pair after next. Beyond the last row comes the
     * first, which does no harm where the axis does not wrap. */
    __device__ __forceinline__ static int64_t at_row(const arguments<T> &p, int y)
    {
        return (int64_t)y * (int)p.pitch;
    }
    __device__ __forceinline__ static const T *row_after(const arguments<T> &p, int y, const T *row)
    {
        return y + 1 < p.ny ? row + (int)p.pitch : p.in;
    }
    __device__ __forceinline__ static int pair_after(const arguments<T> &p, int y)
    {
        return y + 2 < p.ny ? y + 2 : y + 2 - p.ny;
    }

    template <typename Vector>
    __device__ __forceinline__ static void take_from(const Vector *from, T (&to)[block::WIDTH])
    {
#pragma unroll
        for (int v = 0; v < block::VECTORS; v++) {
            const Vector part = from[v];
#pragma unroll
            for (int e = 0; e < block::VECTOR; e++)
                to[v * block::VECTOR + e] = part.v[e];
        }
    }
};

/* ---- a warp alone ---------------------------------------------------------------------------- */

template <typename T, int LEVELS>
struct own_memory {
    using block = shape<T, LEVELS>;
    enum { PLACES = block::PLACES };
    struct place {
        typename block::vector rows[2][32 * block::VECTORS]; /* a lane's after each other */
        bulk::barrier come;
        uint64_t none;
    };
    /* Of the levels the two newest rows, at the ends of y: where elsewhere rows are on their way to
     * memory, or that is too small. */
    using ends = T[2][block::DEEP][block::WIDTH][32];
    enum : size_t { STAGE = sizeof(place[PLACES]) };

    place come[PLACES], leave[PLACES]; /* pairs of rows on their way from memory and to it */
    unsigned char more[sizeof(ends) > STAGE ? sizeof(ends) - STAGE : 16];
    share part;

    __device__ void init(const arguments<T> &)
    {
        for (place &from : come)
            __mbarrier_init(&from.come, 1);
    }
};

template <typename T, int LEVELS, int GROUP>
struct own_rows : part_of_strip<T, LEVELS, GROUP> {
    using base = part_of_strip<T, LEVELS, GROUP>;
    using block = shape<T, LEVELS>;
    using vector = typename block::vector;
    using memory = own_memory<T, LEVELS>;
    using place = typename memory::place;
    using base::at_row, base::end, base::lane, base::left, base::odd, base::p, base::right, base::x,
        base::y_lo;
    enum {
        WIDTH = block::WIDTH,
        VECTOR = block::VECTOR,
        VECTORS = block::VECTORS,
        PLACES = block::PLACES,
        LAG = block::LAG,
        MORE = 0,
        SIZE = sizeof(place),
        LEAVE = sizeof(memory::come) /* from a place of rows that come to one of those that leave */
    };

    memory &shared;
    ring<place> in;
    unsigned round; /* parity of the turns through it */
    int fetched;    /* row that is fetched next */
    bool there;     /* the next pair of rows, as far as is known */

    __device__ __forceinline__ own_rows(const arguments<T> &arguments, memory &own, int which,
                                        int side)
        : base(arguments, which, side), shared(own), in(own.come, PLACES, 0), round(0), fetched(0),
          there(false)
    {
    }

    /* A row by the lanes, across the wrap, or where its vectors are not aligned. */
    __device__ __forceinline__ void fetch_odd(const T *row, vector *to) const
    {
        const int begin = p.wrap[0] ? wrapped(x, p.nx) : x;
        const bool aligned = begin % VECTOR == 0 && (!p.wrap[0] || p.nx % VECTOR == 0);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int n = v * 32 + lane, from = begin + n * VECTOR;
            if (aligned) {
                __pipeline_memcpy_async(&to[n], row + (from < p.nx ? from : from - p.nx),
                                        HS_VECTOR_BYTES);
            } else {
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    __pipeline_memcpy_async(&to[n].v[e],
                                            row + (from + e < p.nx ? from + e : from + e - p.nx),
                                            sizeof(T));
            }
        }
    }

    /* The pair of rows that arrives with step t on its way to that place: by one lane, or by all
     * where the strip is odd. */
    template <bool PLAIN>
    __device__ __forceinline__ void fetch(int t, bulk::spot where)
    {
        place *const to = bulk::at<place>(where);
        const T *const a = p.in + at_row(p, fetched), *const b = base::row_after(p, fetched, a);
        if (!PLAIN && odd) {
            if (t < end) {
                fetch_odd(a, to->rows[0]);
                fetch_odd(b, to->rows[1]);
                if (lane == 0)
                    __mbarrier_arrive(&to->come);
            }
        } else {
            const unsigned bytes = 32 * WIDTH * sizeof(T);
            bulk::arrive_with_by_one(t < end, &to->come, 2 * bytes);
            bulk::copy_by_one(t < end, to->rows[0], a + x, bytes, &to->come);
            bulk::copy_by_one(t < end, to->rows[1], b + x, bytes, &to->come);
        }
        if (!PLAIN)
            __pipeline_commit(); /* an empty one too: they are counted */
        fetched = base::pair_after(p, fetched);
    }

    /* Before the first step of a strip. */
    __device__ __forceinline__ void begin(int t)
    {
        fetched = wrapped(t, p.ny);
        bulk::after_loads();
        __syncwarp();
        ring<place> to = in;
#pragma unroll 1
        for (int n = 0; n < PLACES - 1; n++) {
            fetch<false>(t + 2 * n, to.now);
            to.now = to.next();
        }
    }
    /* Before a pair of steps: its rows are there. */
    template <bool PLAIN>
    __device__ __forceinline__ void arrive(int t)
    {
        if (!there)
            bulk::wait(&in->come, round);
        there = false;
        if (!PLAIN) {
            __pipeline_wait_prior(PLACES - 2);
            __syncwarp(); /* lanes take what others fetched, and fetch over what others took */
            fetch<false>(t + 2 * (PLACES - 1), in.before());
        }
    }
    /* Between its two steps, until when the last pair has been put and taken by all lanes. */
    template <bool PLAIN>
    __device__ __forceinline__ void look_ahead(int t, int from)
    {
        if (PLAIN) {
            bulk::after_loads();
            __syncwarp();
            leave_for_memory(t, from);
            bulk::await_stores<1>();
            fetch<true>(t + 2 * (PLACES - 1), in.before());
            const bulk::spot next = in.next();
            there =
                __all_sync(0xffffffffu, bulk::is_over_now(&bulk::at<place>(next)->come,
                                                          next == in.first ? round ^ 1u : round));
        }
    }
    /* After it. */
    __device__ __forceinline__ void leave()
    {
        in.now = in.next();
        round ^= in.now == in.first ? 1u : 0u;
    }
    /* After some pairs, until step t. */
    template <bool PLAIN>
    __device__ __forceinline__ void pause(int t, int from) const
    {
        if (PLAIN) {
            bulk::after_loads();
            __syncwarp();
            leave_for_memory(t, from);
            bulk::await_stores<0>();
            __syncwarp();
        }
    }
    /* After all. */
    __device__ __forceinline__ void finish() const
    {
    }

    /* A row of the first level: the first or the second of the pair. */
    __device__ __forceinline__ void take(int which, T (&to)[WIDTH]) const
    {
        base::take_from(in->rows[which] + lane * VECTORS, to);
    }

    /* A row of the last level, made in step t, goes to memory: by way of shared memory where PLAIN.
     */
    template <bool PLAIN>
    __device__ __forceinline__ void put(int which, int t, const T (&made)[WIDTH]) const
    {
        vector part[VECTORS];
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            part[e / VECTOR].v[e % VECTOR] = made[e];
        if (PLAIN) {
            vector *const to = bulk::at<place>(in.now + (int)LEAVE)->rows[which] + lane * VECTORS;
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                to[v] = part[v];
            return;
        }
        const int k = t - LAG;
        if (k < y_lo || t >= end)
            return;
        T *const row = p.out + k * p.pitch;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int from = x + lane * WIDTH + v * VECTOR;
            if (from >= left && from + VECTOR <= right && x % VECTOR == 0) {
                *(vector *)(row + from) = part[v];
                continue;
            }
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                if (from + e >= left && from + e < right)
                    row[from + e] = part[v].v[e];
        }
    }

    /* What the pair of steps before t has put goes to memory, as far as it is stored and was made
     * from step `from` on. */
    __device__ __forceinline__ void leave_for_memory(int t, int from) const
    {
        const unsigned bytes = (unsigned)(right - left) * (unsigned)sizeof(T);
        const unsigned since = (unsigned)(t - 2 - from), steps = (unsigned)(end - from);
        T *const to = p.out + at_row(p, t - 2 - LAG) + left;
        const place *const put = bulk::at<place>(in.before() + (int)LEAVE);
        bulk::store_by_one(since < steps, to, (const T *)put->rows[0] + (left - x), bytes);
        bulk::store_by_one(since + 1 < steps, to + (int)p.pitch,
                           (const T *)put->rows[1] + (left - x), bytes);
        bulk::end_stores();
    }

    /* A value of the rows at the ends of y. */
    template <typename Rows>
    __device__ __forceinline__ T &at(Rows &, int which, int l, int e) const
    {
        return reinterpret_cast<typename memory::ends &>(shared.leave)[which][l][e][lane];
    }
};

/* ---- groups of warps ------------------------------------------------------------------------- */

/*
 * A block's row lies in shared memory as in the grid: where two warps overlap, each gives the
 * points that are right after its levels. So a row from memory or to it is one copy.
 *
 *     memory -> AHEAD places -> group 0 -> PLACES -> group 1 -> ... -> BEHIND places -> memory
 *
 * Pairs of rows are numbered through all strips of the block, and go through the places in turn. A
 * group takes pair n when it has come and when its own next place is free, which one barrier tells:
 * the group before has given n, the group after has taken n - PLACES.
 *
 * Groups that take from another and give to another order the copies, since they hear from both
 * ends. When group 1 has pair n, group 0 no longer needs its place, and n + AHEAD is fetched to
 * there. When the last group but one has it, the last has made n - PLACES, which is stored; that
 * has read shared memory before n is given, and the last group writes there again only in n + 1. An
 * order takes about 400 clocks of a warp and a pair of steps 1850: the warps take turns.
 */
template <typename T, int LEVELS>
struct passed_memory {
    using block = shape<T, LEVELS>;
    enum {
        PLACES = block::PLACES,
        AHEAD = HS_STRIP_AHEAD,
        BEHIND = PLACES + 1,
        TAKEN = AHEAD + (block::GROUPS - 1) * PLACES, /* places from which groups take */
        ROW = (block::NEXT * (block::WARPS - 1) + 32 * block::WIDTH) / block::VECTOR
    };
    struct place {
        typename block::vector rows[2][ROW];
        bulk::barrier come;
        uint64_t none;
    };

    place places[TAKEN + BEHIND];
    share part;

    __device__ void init(const arguments<T> &p)
    {
        const int threads = 32 * p.cut.warps;
        for (int n = 0; n < TAKEN + BEHIND; n++)
            __mbarrier_init(&places[n].come, n < AHEAD            ? 1 + threads
                                             : n < TAKEN - PLACES ? 2 * threads
                                                                  : threads);
    }
};

template <typename T, int LEVELS, int GROUP>
struct passed_rows : part_of_strip<T, LEVELS, GROUP> {
    using base = part_of_strip<T, LEVELS, GROUP>;
    using block = shape<T, LEVELS>;
    using vector = typename block::vector;
    using memory = passed_memory<T, LEVELS>;
    using place = typename memory::place;
    using base::at_row, base::end, base::first_x, base::group, base::lane, base::left, base::odd,
        base::p, base::right, base::warp, base::y_hi, base::y_lo;
    enum {
        WIDTH = block::WIDTH,
        VECTOR = block::VECTOR,
        VECTORS = block::VECTORS,
        GROUPS = block::GROUPS,
        PLACES = block::PLACES,
        LAG = block::LAG,
        AHEAD = memory::AHEAD,
        BEHIND = memory::BEHIND,
        MORE = 2 * PLACES, /* steps until the last pair's order */
        SIZE = sizeof(place)
    };
    memory &shared;
    ring<place> in, out;
    ring<place>
        freed;      /* whose barrier hears that a pair was taken: that of the pair put there next */
    unsigned round; /* parity of the turns through `in` */
    unsigned turn;  /* pairs so far, through all strips */
    bulk::spot own; /* of the warp's lane in a row */
    bool not_first, not_last; /* a lane whose first, or last, points are the warp's beside it */

    __device__ __forceinline__ passed_rows(const arguments<T> &arguments, memory &of, int which,
                                           int side)
        : base(arguments, which, side), shared(of),
          in(&of.places[group() == 0 ? 0 : AHEAD + (group() - 1) * PLACES],
             group() == 0 ? AHEAD : PLACES, 0),
          out(&of.places[AHEAD + group() * PLACES], group() == GROUPS - 1 ? BEHIND : PLACES, 0),
          freed(&of.places[group() == 0   ? memory::TAKEN /* nobody waits there */
                           : group() == 1 ? 0
                                          : AHEAD + (group() - 2) * PLACES],
                group() <= 1 ? AHEAD : PLACES, group() == 1 ? PLACES : 0),
          round(0), turn(0),
          own(bulk::kept(warp * (int)block::NEXT + lane * (int)WIDTH) * (int)sizeof(T)),
          not_first(warp > 0 && lane == 0), not_last(warp < p.cut.warps - 1 && lane == 31)
    {
        /* at first nothing lies between the groups */
        for (int n = 0; n < PLACES && group() > 0; n++)
            __mbarrier_arrive(&bulk::at<place>(freed.first + n * (int)SIZE)->come);
    }

    /* The rows of the pair that arrives with step t, which is pair n, to their place. */
    __device__ __forceinline__ void fetch(int t, unsigned n) const
    {
        place *const to = &shared.places[n % AHEAD];
        const int y = t < 0 || t >= p.ny ? wrapped(t, p.ny) : t;
        const T *const a = p.in + at_row(p, y), *const b = base::row_after(p, y, a);
        const int begin = first_x < 0 ? first_x + p.nx : first_x, points = base::points();
        const int before = min(points, p.nx - begin); /* points before the wrap */
        if (odd) {
#pragma unroll 1
            for (int i = lane; i < points; i += 32) {
                const int from = i < before ? begin + i : i - before;
                __pipeline_memcpy_async((T *)to->rows[0] + i, a + from, sizeof(T));
                __pipeline_memcpy_async((T *)to->rows[1] + i, b + from, sizeof(T));
            }
            __pipeline_arrive_on(&to->come);
            __syncwarp();
            if (lane == 0)
                __mbarrier_arrive(&to->come);
            __syncwarp();
            return;
        }
        const unsigned bytes = (unsigned)points * (unsigned)sizeof(T);
        const unsigned most = (unsigned)before * (unsigned)sizeof(T);
        bulk::arrive_with_by_one(true, &to->come, 2 * bytes);
        bulk::copy_by_one(true, to->rows[0], a + begin, most, &to->come);
        bulk::copy_by_one(true, to->rows[1], b + begin, most, &to->come);
        if (before < points) {
            bulk::copy_by_one(true, (T *)to->rows[0] + before, a, bytes - most, &to->come);
            bulk::copy_by_one(true, (T *)to->rows[1] + before, b, bytes - most, &to->come);
        }
    }

    /* The rows of the pair made from step t on, which is pair n, to memory, as far as they are
     * stored. */
    __device__ __forceinline__ void store(int t, unsigned n) const
    {
        const int k = t - LAG;
        const bool one = k >= y_lo && k < y_hi, other = k + 1 >= y_lo && k + 1 < y_hi;
        const place *const made = &shared.places[memory::TAKEN + n % BEHIND];
        const T *const first = (const T *)made->rows[0] + (left - first_x);
        const T *const second = (const T *)made->rows[1] + (left - first_x);
        T *const to = p.out + at_row(p, k) + left;
        if (odd) {
#pragma unroll 1
            for (int i = lane; i < right - left; i += 32) {
                if (one)
                    to[i] = first[i];
                if (other)
                    to[i + (int)p.pitch] = second[i];
            }
            return;
        }
        const unsigned bytes = (unsigned)(right - left) * (unsigned)sizeof(T);
        bulk::after_loads();
        bulk::store_by_one(one, to, first, bytes);
        bulk::store_by_one(other, to + (int)p.pitch, second, bytes);
        bulk::end_stores();
    }

    /* Whether this is the warp that orders copies of pair n: the warps take turns. */
    __device__ __forceinline__ bool has_turn(unsigned n) const
    {
        const int who = (int)(n % HS_STRIP_WARPS);
        return warp == (who < p.cut.warps ? who : 0);
    }
    /* The copies that the warp orders, in the pair of steps from t on. */
    __device__ __forceinline__ void order(int t)
    {
        if (group() == 1 && t + 2 * AHEAD < end && has_turn(turn))
            fetch(t + 2 * AHEAD, turn + AHEAD);
        if (group() == GROUPS - 2 && has_turn(turn + HS_STRIP_WARPS / 2))
            store(t - 2 * PLACES, turn - PLACES);
    }

    /* Before the first step of a strip. */
    __device__ __forceinline__ void begin(int t) const
    {
        if (group() != 1 || warp != 0)
            return;
        bulk::after_loads();
#pragma unroll 1
        for (unsigned n = 0; n < AHEAD && t + 2 * (int)n < end; n++)
            fetch(t + 2 * (int)n, turn + n);
    }
    /* Before a pair of steps: its rows are there. */
    template <bool PLAIN>
    __device__ __forceinline__ void arrive(int t)
    {
        bulk::wait(&in->come, round);
        order(t);
    }
    /* After it: its rows are the next group's, and those of the group before are no longer needed.
     */
    __device__ __forceinline__ void leave()
    {
        bulk::await_stores<0>(); /* if the warp ordered some, they have read shared memory */
        __mbarrier_arrive(&out->come);
        __mbarrier_arrive(&freed->come);
        turn++;
        in.now = in.next();
        round ^= in.now == in.first ? 1u : 0u;
        out.now = out.next();
        freed.now = freed.next();
    }
    template <bool PLAIN>
    __device__ __forceinline__ void look_ahead(int, int) const
    {
    }
    template <bool PLAIN>
    __device__ __forceinline__ void pause(int, int) const
    {
    }
    /* After all. */
    __device__ __forceinline__ void finish() const
    {
    }

    /* A row of the group's first level: the first or the second of the pair. */
    __device__ __forceinline__ void take(int which, T (&to)[WIDTH]) const
    {
        base::take_from(bulk::at<vector>(in.now + own + which * (int)sizeof(in->rows[0])), to);
    }

    /* A row of the group's last level. */
    template <bool PLAIN>
    __device__ __forceinline__ void put(int which, int, const T (&made)[WIDTH]) const
    {
        /* so many points are wrong after as many levels */
        enum { LOW = block::DEEP, HIGH = WIDTH - block::DEEP };
        static_assert((int)LOW < (int)WIDTH, "more than a lane's points are wrong");
        vector *const to = bulk::at<vector>(out.now + own + which * (int)sizeof(in->rows[0]));
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int begin = v * VECTOR, end_v = begin + VECTOR;
            vector part;
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                part.v[e] = made[begin + e];
            if (!(begin < LOW && not_first) && !(end_v > HIGH && not_last))
                to[v] = part;
#pragma unroll
            for (int e = 0; e < VECTOR; e++) {
                if (begin < LOW && begin + e >= LOW && not_first)
                    to[v].v[e] = part.v[e];
                if (end_v > HIGH && begin + e < HIGH && not_last)
                    to[v].v[e] = part.v[e];
            }
        }
    }

    /* A value of the rows at the ends of y. */
    template <typename Rows>
    __device__ __forceinline__ T &at(Rows &own_level, int which, int l, int e) const
    {
        return own_level.row[which][l][e];
    }
};

} // namespace strip

#endif
