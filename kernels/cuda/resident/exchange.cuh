/*
 * How blocks of `resident` send each other what their halos need (packets.cuh).
 *
 * A thread sends those of its own vectors that are in some halo, each once, directly from its
 * registers. A block reads what its halo needs where adjacent blocks' threads send it, and puts it
 * into its tile. A list made once per launch says what to read: so any thread can look for any
 * packet, whatever the faces, depths, corners and odd sizes.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_EXCHANGE_CUH
#define HS_KERNELS_CUDA_RESIDENT_EXCHANGE_CUH

#include "block.cuh"

namespace resident
{

/* A packet to look for: its place in even exchanges; and where its first value goes in the tile,
 * with a bit from 1 << TAKEN on for each value that is taken, or -1 if none is. */
struct alignas(8) entry {
    enum { TAKEN = 24 };
    int from, to;
};

template <typename Block>
struct exchange {
    using T = typename Block::number;
    using values = typename Block::values;
    using packet = packets::packet<T>;
    using header = packets::header;
    using place = typename Block::place;
    enum {
        WIDTH = Block::WIDTH,
        ROWS = Block::ROWS,
        PLANES = Block::PLANES,
        HAS_ROWS = Block::HAS_ROWS,
        RAGGED = Block::RAGGED,
        PACKETS = Block::VECTORS,
        LANES = packets::LANES,
        FLAT = !HAS_ROWS && Block::MANY, /* few packets, and no registers to spare */
        AT_ONCE = FLAT ? 4 : 8,          /* packets that a thread waits for together; ... */
        SOME = FLAT ? 2 : 6,             /* ... fewer, if it has no more than these */
        HELD = 4, /* remembered rather than looked up, if there are no more ... */
        HOLDS = Block::VECTORS <= 10, /* ... and it has registers for that */
        /* Clocks to wait before the first look, as a look in vain takes some 500. Threads with more
         * packets to send look late enough. */
        WAITS = PACKETS <= 4    ? 200
                : PACKETS <= 10 ? 100
                                : 0,
        EVERY = (1 << WIDTH) - 1
    };

    const arguments<T> &p;
    const int thread;
    const int lane;
    entry *list;     /* [count] */
    int count;       /* packets looked for */
    unsigned number; /* of the next exchange */
    /* Where its packets and headers are: all those sent, this thread's and its warp's, ... */
    packet *sent, *to;
    header *headers, *header_to;
    struct { /* ... and those that the thread remembers */
        const packet *from;
        const header *with;
        int lane, to;
    } held[HELD];
    /* Bit of each vector that is in a halo, and of those of any lane of the warp. */
    unsigned wanted, sends;

    __device__ __forceinline__ exchange(const Block &b, entry *entries)
        : p(b.p), thread(b.thread), lane(b.thread % LANES), list(entries)
    {
        const place f = b.find();
        number = p.exchanges[blockIdx.x] + packets::FIRST;
        sent = p.sent, headers = p.headers;
        if (packets::set_of(number) != 0)
            sent = packets::other_set(sent, LANES), headers = packets::other_set(headers, 1);
        to = sent + place_of((int)blockIdx.x, 0, thread);
        header_to = headers + header_of(place_of((int)blockIdx.x, 0, thread));
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
                        list_packets(b, f, {{x, y, z}});
    }

    /* Called after a barrier, before the first exchange. */
    __device__ __forceinline__ void remember()
    {
        if (!HOLDS)
            return;
        entry of[HELD];
        look_up<HELD>(thread, of);
#pragma unroll
        for (int i = 0; i < HELD; i++)
            held[i] = {sent + of[i].from, headers + header_of(of[i].from), of[i].from % LANES,
                       of[i].to};
    }
    /* Moves on to the places of the next exchange. */
    __device__ __forceinline__ void turn()
    {
        number++;
        sent = packets::other_set(sent, LANES), to = packets::other_set(to, LANES);
        headers = packets::other_set(headers, 1), header_to = packets::other_set(header_to, 1);
        if (HOLDS)
#pragma unroll
            for (int i = 0; i < HELD; i++) {
                held[i].from = packets::other_set(held[i].from, LANES);
                held[i].with = packets::other_set(held[i].with, 1);
            }
    }

    /* Ends the launch's exchanges. */
    __device__ __forceinline__ void leave() const
    {
        if (thread == 0)
            p.exchanges[blockIdx.x] = number - packets::FIRST;
    }

    /* ---- what is sent ------------------------------------------------------------------------ */

    /* Whether there is a block on that side that needs a halo from this one. */
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

    /* Index of the place where a thread of a block sends its n-th packet in even exchanges; and
     * index of the header of such a place. */
    __device__ __forceinline__ int place_of(int block, int n, int sender) const
    {
        const int warp = block * ((int)blockDim.x / LANES) + sender / LANES;
        return (warp * PACKETS + n) * packets::ROW + sender % LANES;
    }
    static __device__ __forceinline__ int header_of(int place)
    {
        return place / packets::ROW * packets::SETS;
    }

    __device__ __forceinline__ void send(const values (&now)[PLANES][ROWS]) const
    {
        const unsigned mine = star::anew(wanted), all = star::anew(sends);
        unsigned bits = 0; /* lane n: bits of the n-th packets */
#pragma unroll
        for (int n = 0; n < PACKETS; n++) {
            if (PACKETS > 4 && !(all >> n & 1))
                continue;
            packet l;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                l.v[e] = now[n / ROWS][n % ROWS].v[e];
            const unsigned of_all = packets::send(mine >> n & 1, to + n * packets::ROW, l, number);
            bits = lane == n ? of_all : bits;
        }
        packets::put_if(lane < PACKETS && all >> lane & 1, header_to + lane * packets::SETS,
                        packets::header{bits, number});
    }

    /* ---- what is looked for ------------------------------------------------------------------ */

    struct along_axes {
        int a[3];
    };

    /* Where a block sends one of its own vectors; `at` counts vectors, rows and planes from its
     * first. */
    __device__ __forceinline__ int sent_at(int block, const along_axes &origin,
                                           const int (&at)[3]) const
    {
        const int column = origin.a[ALONG] / WIDTH + at[ALONG];
        const int row = at[ROW] + origin.a[ROW] - HAS_ROWS, plane = at[PLANE] + origin.a[PLANE] - 1;
        const int group = plane / PLANES * p.groups[0] + row / ROWS;
        return place_of(block, plane % PLANES * ROWS + row % ROWS, thread_of(group, column));
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

    /* Lists the halo on one side as far as the adjacent block there owns it. Along each axis this
     * part has `size` nodes; the first of them is that block's `from`-th. */
    __device__ __forceinline__ void list_packets(const Block &b, const place &f,
                                                 const along_axes side)
    {
        along_axes from, size, extent, origin; /* of the adjacent block's */
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
        const auto vector_at = [&](int n, int(&at)[3]) {
            const int line = n / extent.a[0], plane = line / extent.a[1];
            at[0] = from.a[0] / WIDTH + n - line * extent.a[0];
            at[1] = from.a[1] + line - plane * extent.a[1], at[2] = from.a[2] + plane;
        };
        /* no farther from the block's nodes than the sweeps before the next exchange reach */
        const auto is_needed = [&](const int(&at)[3]) {
            int away = 0;
#pragma unroll
            for (int axis = 0; axis < 3; axis++) {
                const int unit = axis == ALONG ? WIDTH : 1, d = side.a[axis];
                const int end = from.a[axis] + size.a[axis];
                if (d > 0)
                    away += max(at[axis] * unit - from.a[axis], 0) + 1;
                else if (d < 0)
                    away += end - min(at[axis] * unit + unit, end) + 1;
            }
            return away <= p.depth;
        };
        /* At edges along x whole rows are needed or not, and only needed rows are listed. Elsewhere
         * few vectors are not needed; in place of such a vector the nearest one is looked for. */
        const bool by_rows = side.a[ALONG] == 0 && side.a[ROW] != 0 && side.a[PLANE] != 0;
        const auto listed_before = [&](int end) {
            int listed = end % extent.a[0], at[3];
            for (int n = 0; by_rows && n + extent.a[0] <= end; n += extent.a[0]) {
                vector_at(n, at);
                listed += is_needed(at) ? extent.a[0] : 0;
            }
            return by_rows ? listed : end;
        };
        int nearest[3];
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            const int unit = axis == ALONG ? WIDTH : 1, end = from.a[axis] + size.a[axis];
            nearest[axis] = (side.a[axis] < 0 ? end - 1 : from.a[axis]) / unit;
        }
        const int instead = sent_at(next_block, origin, nearest);
        for (int n = thread; n < all; n += (int)blockDim.x) {
            int at[3];
            vector_at(n, at);
            const bool needed = is_needed(at);
            if (!needed && !by_rows)
                list[count + n] = {instead, -1};
            if (!needed)
                continue;
            const int value = at[ALONG] * WIDTH;
            int taken = 0;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (value + e >= from.a[0] && value + e < from.a[0] + size.a[0])
                    taken |= 1 << e;
            const int goes =
                to + value + at[ROW] * step[ROW] + at[PLANE] * step[PLANE] + WIDTH; /* >= 0 */
            list[count + listed_before(n)] = {sent_at(next_block, origin, at),
                                              goes | (RAGGED && p.ragged ? taken : EVERY)
                                                         << entry::TAKEN};
        }
        count += listed_before(all);
    }

    /* Waits for the exchange's packets and puts them into the tile. */
    __device__ __forceinline__ void receive(T *tile) const
    {
        if (HOLDS && count <= HELD * (int)blockDim.x)
            receive_held(tile);
        else if (count <= SOME * (int)blockDim.x)
            receive_listed<SOME>(tile);
        else
            receive_listed<AT_ONCE>(tile);
    }
    __device__ __forceinline__ void receive_held(T *tile) const
    {
        if (count == 0)
            return;
        packet got[HELD];
        header with[HELD];
        look_for<HELD>([this](int i) { return held[i].from; },
                       [this](int i) { return held[i].with; }, got, with);
#pragma unroll
        for (int i = 0; i < HELD; i++)
            take(tile, held[i].lane, held[i].to, got[i], with[i]);
    }
    template <int N>
    __device__ __forceinline__ void receive_listed(T *tile) const
    {
#pragma unroll 1
        for (int n = thread; n < count; n += N * (int)blockDim.x) {
            entry of[N];
            packet got[N];
            header with[N];
            look_up<N>(n, of);
            look_for<N>([&](int i) { return sent + of[i].from; },
                        [&](int i) { return headers + header_of(of[i].from); }, got, with);
#pragma unroll
            for (int i = 0; i < N; i++)
                take(tile, of[i].from % LANES, of[i].to, got[i], with[i]);
        }
    }
    /* Entries beyond the last repeat the first, and are not taken. */
    template <int N>
    __device__ __forceinline__ void look_up(int first, entry (&of)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int n = first + i * (int)blockDim.x;
            of[i] = list[n < count ? n : 0];
            of[i].to = n < count ? of[i].to : -1;
        }
    }
    /* Looks for all packets together, again if one is missing. */
    template <int N, typename From, typename With>
    __device__ __forceinline__ void look_for(From from, With with, packet (&got)[N],
                                             header (&beside)[N]) const
    {
        bool all = false;
        packets::wait(WAITS);
        for (int looks = 0; !all; looks++) {
#pragma unroll
            for (int i = 0; i < N; i++) {
                packets::get(from(i), got[i]);
                packets::get(with(i), beside[i]);
            }
            unsigned missing = 0;
#pragma unroll
            for (int i = 0; i < N; i++)
                missing |= packets::is_missing(got[i], beside[i], number);
            all = missing == 0;
            if (!all)
                packets::wait_for_others(looks);
        }
    }
    __device__ __forceinline__ void take(T *tile, int sender, int goes, packet l, header s) const
    {
        if (goes < 0)
            return;
        packets::open(l, s, sender);
        T *const to = tile + (goes & ((1 << entry::TAKEN) - 1)) - WIDTH;
        if (!(RAGGED && p.ragged))
            *(packet *)to = l;
        else
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (goes >> (entry::TAKEN + e) & 1)
                    to[e] = l.v[e];
    }
};

} // namespace resident

#endif
