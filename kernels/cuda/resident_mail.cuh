/*
 * How blocks of `resident` hand each other what their halos need (mailbox.cuh).
 *
 * A thread sends those of its own vectors that some halo has, each once, straight from its
 * registers. What a block's halo needs it reads from where the next blocks' threads send it, by a
 * list made once a launch, and puts it into its tile: so any thread looks for any letter, whatever
 * the faces, depths, corners and odd sizes.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_MAIL_CUH
#define HS_KERNELS_CUDA_RESIDENT_MAIL_CUH

#include "resident_block.cuh"

namespace resident
{

/* A letter to look for: where it comes, or -1; and where its first value goes in the tile, with a
 * bit from 1 << TAKEN on for each value that is taken. */
struct alignas(8) entry {
    enum { TAKEN = 24 };
    int from, to;
};

template <typename Block>
struct mail {
    using T = typename Block::number;
    using values = typename Block::values;
    using letter = mailbox::letter<T>;
    using slip = mailbox::slip;
    using place = typename Block::place;
    enum {
        WIDTH = Block::WIDTH,
        ROWS = Block::ROWS,
        PLANES = Block::PLANES,
        HAS_ROWS = Block::HAS_ROWS,
        RAGGED = Block::RAGGED,
        LETTERS = Block::VECTORS,
        LANES = mailbox::LANES,
        AT_ONCE = 8, /* letters that a thread waits for together; of those whose number ... */
        SOME = 6,    /* ... is no greater, fewer */
        HELD = 4,    /* that it remembers, instead of looking them up; if there are no more ... */
        HOLDS = Block::VECTORS <= 10, /* ... and it has registers for that */
        EVERY = (1 << WIDTH) - 1
    };

    const arguments<T> &p;
    const int thread;
    const int lane;
    int slots, set;  /* places of letters, of a block and of all */
    entry *list;     /* [count] */
    int count;       /* letters looked for */
    unsigned number; /* of the next exchange */
    entry held[HELD];
    /* Bit of each vector that a halo has, and of those of the warp's lanes. */
    unsigned wanted, sends;

    __device__ __forceinline__ mail(const Block &b, entry *entries)
        : p(b.p), thread(b.thread), lane(b.thread % LANES), list(entries)
    {
        const place f = b.find();
        slots = LETTERS * (int)blockDim.x;
        set = p.blocks[ALONG] * p.blocks[ROW] * p.blocks[PLANE] * slots;
        number = p.exchanges[blockIdx.x] + mailbox::FIRST;
        find_wanted(b, f);
        count = 0;
        const int far[3] = {p.halo[ALONG] > 0, p.halo[ROW] > 0, p.halo[PLANE] > 0};
#pragma unroll 1
        for (int z = -far[PLANE]; z <= far[PLANE]; z++)
#pragma unroll 1
            for (int y = -far[ROW]; y <= far[ROW]; y++)
#pragma unroll 1
                for (int x = -far[ALONG]; x <= far[ALONG]; x++)
                    if ((x != 0 || y != 0 || z != 0) && abs(x) + abs(y) + abs(z) <= p.depth)
                        list_letters(b, f, {{x, y, z}});
    }

    /* After a barrier, before the first exchange. */
    __device__ __forceinline__ void remember()
    {
        if (HOLDS)
            look_up<HELD>(thread, held);
    }

    /* The launch's exchanges are done. */
    __device__ __forceinline__ void leave() const
    {
        if (thread == 0)
            p.exchanges[blockIdx.x] = number - mailbox::FIRST;
    }

    /* ---- what is sent ------------------------------------------------------------------------ */

    /* A block has so many layers next to the one on that side, or there is none. */
    __device__ __forceinline__ bool has_next(const place &f, int axis, int side) const
    {
        return p.halo[axis] > 0 &&
               (p.wrap[axis] || (side < 0 ? f.at[axis] > 0 : f.at[axis] < p.blocks[axis] - 1));
    }
    __device__ __forceinline__ bool is_wanted(const place &f, int axis, int from, int size) const
    {
        const int layers = axis == ALONG ? p.halo[ALONG] : p.depth;
        return (has_next(f, axis, -1) && from < f.lo[axis] + layers) ||
               (has_next(f, axis, 1) && from + size > f.hi[axis] - layers);
    }
    __device__ __forceinline__ void find_wanted(const Block &b, const place &f)
    {
        wanted = 0;
        const bool beside = is_wanted(f, ALONG, f.node[ALONG], WIDTH);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (beside || is_wanted(f, ROW, f.node[ROW] + r, 1) ||
                    is_wanted(f, PLANE, f.node[PLANE] + k, 1))
                    wanted |= 1u << (k * ROWS + r);
        wanted &= b.own;
        sends = Block::of_warp(wanted);
    }

    /* Places of a block: a warp's lanes' of one letter lie in a row, and have a slip. */
    __device__ __forceinline__ int place_of(int n, int sender) const
    {
        return (sender / LANES * LETTERS + n) * LANES + sender % LANES;
    }

    __device__ __forceinline__ void send(const values (&now)[PLANES][ROWS]) const
    {
        const int first = (int)mailbox::set_of(number) * set + (int)blockIdx.x * slots;
        letter *const to = p.letters + (first + place_of(0, thread));
        const unsigned mine = star::anew(wanted), all = star::anew(sends);
        slip *const slips = p.slips + (first / LANES + thread / LANES * LETTERS);
#pragma unroll
        for (int n = 0; n < LETTERS; n++) {
            if (LETTERS > 4 && !(all >> n & 1))
                continue;
            letter l;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                l.v[e] = now[n / ROWS][n % ROWS].v[e];
            const unsigned slip_bits = mailbox::send(mine >> n & 1, to + n * LANES, l, number);
            mailbox::put_if(lane == 0, slips + n, mailbox::slip{slip_bits, number});
        }
    }

    /* ---- what is looked for ------------------------------------------------------------------ */

    struct along_axes {
        int a[3];
    };

    /* Where a block sends a vector of its own, so many vectors, rows and planes from its first. */
    __device__ __forceinline__ int sent_at(const along_axes &origin, const int (&at)[3]) const
    {
        const int column = origin.a[ALONG] / WIDTH + at[ALONG];
        const int row = at[ROW] + origin.a[ROW] - HAS_ROWS, plane = at[PLANE] + origin.a[PLANE] - 1;
        const int group = plane / PLANES * p.groups[0] + row / ROWS;
        return place_of(plane % PLANES * ROWS + row % ROWS, thread_of(group, column));
    }
    __device__ __forceinline__ int thread_of(int group, int column) const
    {
        const int in_warp = 32 / p.lanes;
        return group / in_warp * 32 + group % in_warp * p.lanes + column;
    }
    /* The block next to this one along an axis; -1 if there is none. */
    __device__ __forceinline__ int next_to(const place &f, int axis, int step) const
    {
        const int next = f.at[axis] + step, blocks = p.blocks[axis];
        if (next >= 0 && next < blocks)
            return next;
        return p.wrap[axis] ? next + (next < 0 ? blocks : -blocks) : -1;
    }

    /* Lists what the block on one side has of the halo there. Along each axis the halo has `size`
     * nodes on that side, the first of which is the next block's `from`-th. */
    __device__ __forceinline__ void list_letters(const Block &b, const place &f,
                                                 const along_axes side)
    {
        along_axes from, size, extent, origin; /* of the next block's */
        int next_block = 0, all = 1, to = 0;
        const int step[3] = {1, Block::ROW_LENGTH, b.plane_length()};
#pragma unroll
        for (int axis = PLANE; axis >= ALONG; axis--) {
            const int d = side.a[axis], unit = axis == ALONG ? WIDTH : 1;
            const int mine = f.hi[axis] - f.lo[axis];
            const int next = next_to(f, axis, d);
            if (next < 0)
                return;
            origin.a[axis] = b.origin(axis, next);
            next_block = next_block * p.blocks[axis] + next;
            size.a[axis] = d != 0 ? p.halo[axis] : mine;
            from.a[axis] = d < 0 ? b.edge(axis, next + 1) - b.edge(axis, next) - p.halo[axis] : 0;
            extent.a[axis] = up(from.a[axis] + size.a[axis], unit) - from.a[axis] / unit;
            all *= extent.a[axis];
            const int first = f.origin[axis] + (d < 0 ? -p.halo[axis] : d > 0 ? mine : 0);
            to += (first - from.a[axis]) * step[axis];
        }
        for (int n = thread; n < all; n += (int)blockDim.x) {
            const int line = n / extent.a[0], plane = line / extent.a[1];
            const int at[3] = {from.a[0] / WIDTH + n - line * extent.a[0],
                               from.a[1] + line - plane * extent.a[1], from.a[2] + plane};
            int away = 0; /* layers from the block's nodes to the nearest of these */
#pragma unroll
            for (int axis = 0; axis < 3; axis++) {
                const int unit = axis == ALONG ? WIDTH : 1, d = side.a[axis];
                const int end = from.a[axis] + size.a[axis];
                if (d > 0)
                    away += max(at[axis] * unit - from.a[axis], 0) + 1;
                else if (d < 0)
                    away += end - min(at[axis] * unit + unit, end) + 1;
            }
            const int value = at[ALONG] * WIDTH;
            int taken = 0;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (value + e >= from.a[0] && value + e < from.a[0] + size.a[0])
                    taken |= 1 << e;
            const int goes =
                to + value + at[ROW] * step[ROW] + at[PLANE] * step[PLANE] + WIDTH; /* >= 0 */
            list[count + n] = {away <= p.depth ? next_block * slots + sent_at(origin, at) : -1,
                               goes | (RAGGED && p.ragged ? taken : EVERY) << entry::TAKEN};
        }
        count += all;
    }

    /* Waits for the exchange's letters and puts them into the tile. */
    __device__ __forceinline__ void receive(T *tile) const
    {
        if (HOLDS && count <= HELD * (int)blockDim.x)
            receive_some<HELD>(tile, held);
        else if (count <= SOME * (int)blockDim.x)
            receive_listed<SOME>(tile);
        else
            receive_listed<AT_ONCE>(tile);
    }
    template <int N>
    __device__ __forceinline__ void receive_listed(T *tile) const
    {
#pragma unroll 1
        for (int n = thread; n < count; n += N * (int)blockDim.x) {
            entry of[N];
            look_up<N>(n, of);
            receive_some<N>(tile, of);
        }
    }
    template <int N>
    __device__ __forceinline__ void look_up(int first, entry (&of)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int n = first + i * (int)blockDim.x;
            of[i] = n < count ? list[n] : entry{-1, 0};
        }
    }
    /* All are looked for together, again if one is missing, which is rare: who sends late makes
     * those wait who are early, so that few are. */
    template <int N>
    __device__ __forceinline__ void receive_some(T *tile, const entry (&of)[N]) const
    {
        const int skip = (int)mailbox::set_of(number) * set;
        const letter *const letters = p.letters + skip;
        const slip *const slips = p.slips + skip / mailbox::LANES;
        letter got[N];
        slip with[N];
        bool all = false;
        for (int looks = 0; !all; looks++) {
#pragma unroll
            for (int i = 0; i < N; i++) {
                got[i] = mailbox::nothing<T>(number), with[i] = {0, number};
                mailbox::get_if(of[i].from >= 0, letters + of[i].from, got[i]);
                mailbox::get_if(of[i].from >= 0, slips + of[i].from / mailbox::LANES, with[i]);
            }
            unsigned missing = 0;
#pragma unroll
            for (int i = 0; i < N; i++)
                missing |= mailbox::is_missing(got[i], with[i], number);
            all = missing == 0;
            if (!all)
                mailbox::wait_for_others(looks);
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            if (of[i].from >= 0)
                take(tile, of[i], got[i], with[i]);
    }
    __device__ __forceinline__ void take(T *tile, entry of, letter l, slip s) const
    {
        mailbox::open(l, s, of.from % mailbox::LANES);
        T *const to = tile + (of.to & ((1 << entry::TAKEN) - 1)) - WIDTH;
        if (!(RAGGED && p.ragged))
            *(letter *)to = l;
        else
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (of.to >> (entry::TAKEN + e) & 1)
                    to[e] = l.v[e];
    }
};

} // namespace resident

#endif
