/*
 * resident: a small grid stays on the chip, in registers, for up to 128 sweeps a launch.
 *
 * On a small grid a launch costs more than the sweep: 64^3 points in float are 1 MiB, which all
 * multiprocessors together read in a quarter of a microsecond from the cache, but a replayed launch
 * takes 1.3. Here all blocks run at once, each owns a box of the grid and keeps it, with a halo of
 * `depth` layers, in its threads' registers:
 *
 *      +-----------------+     a thread owns ROWS x PLANES vectors of 16 bytes
 *      | halo: depth     |     x neighbours: in the thread, or by shuffle from the next lane
 *      |   +---------+   |     y, z neighbours: in the thread, or the neighbour's outer vectors by
 *      |   | own     |   |       way of shared memory, two buffers of it, one barrier a sweep
 *      |   +---------+   |     after `depth` sweeps, of which each leaves one layer less of the
 * halo
 *      +-----------------+       right, the halo is received anew
 *
 * Blocks do not meet at a barrier. Who owns a node that others need stores it with the exchange's
 * number beside it, both in one 64-bit word (mailbox.cuh), at the node's place in an array that all
 * see; who needs it looks there until the number is due. So there are no neighbours to know of,
 * only nodes, and blocks may be thinner than the halo. Two such arrays, for even and odd exchanges,
 * are enough: who sends exchange n+2 has received n+1 from all that it sends to, and these had
 * received n before they sent n+1. The numbers go on from launch to launch (each block keeps its
 * own count in the scratch memory), so a replayed launch needs nothing cleared.
 *
 * Waiting for each other is safe only if all blocks run: the launch is a cooperative one, which the
 * device refuses otherwise, and suits() asks for a multiprocessor a block.
 *
 * At the grid's faces a ghost of a star of radius 1 depends on the node and its opposite neighbour
 * only, so the thread makes it on the spot. Values that change with time come from a table of the
 * launch's sweeps, fetched two sweeps ahead; where they do not, from the arguments.
 *
 * The model of hs_resident_plan picks the blocks: clocks of a sweep from the instructions of the
 * busiest scheduler, plus an exchange of about 1500 clocks and what its words take, over `depth`.
 * Predicted and measured in us per sweep on an H200, float, periodic, 2026-11-21: see
 * docs/performance.md.
 *
 * Source: persistent kernels that keep their data on the chip: Zhang, Wahib, Chen, Meng, Wang,
 * Endo, Matsuoka, ICS'23 (PERKS), with grid barriers; a tag in every word instead of a fence: the
 * "LL" protocol of NVIDIA's NCCL.
 */
#include "levels.cuh"
#include "mailbox.cuh"

#include "core/tiling.h"

#include <stdio.h>
#include <string.h>

namespace resident
{

/* The kernel's own names of the axes: along memory, the one whose neighbours are a row away, and
 * the one of the planes: x, y, z in 3D; x, -, y in 2D. */
enum axis { ALONG, ROW, PLANE };
enum { LEVEL = HS_RESIDENT_LEVEL };

template <typename T>
struct arguments : star::faces<T, HS_FACES, 1> { /* of the kernel's axes */
    const T *in;
    T *out;
    mailbox::packet<T> *mail[2]; /* a packet a node, for even and for odd exchanges */
    unsigned *epoch;             /* [blocks] exchanges that were ever made */
    const T *levels;             /* [steps][LEVEL], or NULL: `level` serves all */
    T level[LEVEL];
    T c[7];           /* in the order of the additions */
    int64_t pitch[3]; /* of fields */
    int n[3];
    int blocks[3];
    int halo[3]; /* layers around the block's nodes that are swept too; 0, or at least depth */
    int depth;   /* sweeps between exchanges */
    int steps;
    int lanes, groups[2]; /* threads along each axis */
    unsigned last; /* a row's last value in its vector, as a bit: an index would be looked up */
    int mail_row;  /* packets from row to row */
};

template <typename T>
struct alignas(16) vector {
    enum { WIDTH = 16 / sizeof(T) };
    T v[WIDTH];
};

__host__ __device__ constexpr int up(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ inline int image(int i, int n)
{
    while (i < 0)
        i += n;
    while (i >= n)
        i -= n;
    return i;
}

/* The same for -n <= i < 2*n. */
__device__ inline int near_image(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* Layers that i lies outside [lo, hi). */
__device__ inline int beyond(int i, int lo, int hi)
{
    return i < lo ? lo - i : i >= hi ? i - hi + 1 : 0;
}

template <typename T, int DIMS, int ROWS, int PLANES, bool FACES>
struct block {
    enum {
        WIDTH = vector<T>::WIDTH,
        HAS_ROWS = DIMS == 3,
        LARGE = PLANES * ROWS > 6,
        AT_ONCE = sizeof(T) == 8 ? (LARGE ? 1 : 2) : (LARGE ? 2 : 4) /* vectors received */
    };
    using values = vector<T>;
    using packet = mailbox::packet<T>;
    using packets = mailbox::packets<T>;

    const arguments<T> &p;
    const int thread;
    int row_length, plane_length; /* elements */
    int x, y, z;                  /* node of the thread's first value */
    int left_lane, right_lane;
    bool active;
    T *levels; /* two rows */
    T *slot;   /* of the thread's first value, in the buffer that is written next ... */
    int other; /* ... and from there to the other buffer */
    int below, above, under, over; /* from a slot to the neighbour's beyond the thread's own */
    unsigned give, need;           /* bit of each of the thread's vectors: sent, received */
    bool split;                    /* whose vectors are received value by value */
    unsigned faces;                /* that this block's sweeps meet */
    /* Bits of the thread's rows, and of its planes, on faces: the lower face's, then the upper's.
     */
    unsigned at_x, at_rows, at_planes;
    int reach; /* layers that the warp's nearest vector is outside the block's nodes */
    values now[PLANES][ROWS];

    /* ---- before the first sweep and after the last ------------------------------------------- */

    /* The block's nodes. Looked up where they are needed: they would fill registers meanwhile. */
    __device__ __forceinline__ void find(int (&lo)[3], int (&hi)[3]) const
    {
        const int index = mailbox::afresh((int)blockIdx.x), line = index / p.blocks[ALONG];
        const int at[3] = {index - line * p.blocks[ALONG], line % p.blocks[ROW],
                           line / p.blocks[ROW]};
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            const int unit = axis == ALONG ? WIDTH : 1, units = up(p.n[axis], unit);
            lo[axis] = units * at[axis] / p.blocks[axis] * unit;
            hi[axis] = min(units * (at[axis] + 1) / p.blocks[axis] * unit, p.n[axis]);
        }
    }

    __device__ __forceinline__ block(const arguments<T> &arguments, unsigned char *shared)
        : p(arguments), thread((int)threadIdx.x)
    {
        int lo[3], hi[3];
        find(lo, hi);
        faces = 0;
        unsigned open = 0; /* sides beyond which lie nodes */
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            if (axis == ROW && !HAS_ROWS)
                continue;
            if (!p.wrap[axis]) {
                faces |= lo[axis] - p.halo[axis] <= 0 ? 1u << 2 * axis : 0u;
                faces |= hi[axis] + p.halo[axis] >= p.n[axis] ? 2u << 2 * axis : 0u;
            }
            open |= p.halo[axis] && (p.wrap[axis] || lo[axis] > 0) ? 1u << 2 * axis : 0u;
            open |= p.halo[axis] && (p.wrap[axis] || hi[axis] < p.n[axis]) ? 2u << 2 * axis : 0u;
        }
        row_length = p.lanes * WIDTH;
        plane_length = p.groups[0] * ROWS * row_length;
        levels = (T *)shared;
        place_thread((T *)shared + 2 * LEVEL, open, lo, hi);
    }

    __device__ __forceinline__ void place_thread(T *tile, unsigned open, const int (&lo)[3],
                                                 const int (&hi)[3])
    {
        const int lane = thread % 32, in_warp = 32 / p.lanes, strip = lane / p.lanes;
        const int all = p.groups[0] * p.groups[1];
        const int group = thread / 32 * in_warp + strip;
        active = strip < in_warp && group < all;
        const int mine = min(group, all - 1), g1 = mine / p.groups[0], g0 = mine - g1 * p.groups[0];
        const int column = strip < in_warp ? lane - strip * p.lanes : p.lanes - 1;
        const int first_lane = lane - column;
        left_lane = column > 0 ? lane - 1 : first_lane + p.lanes - 1;
        right_lane = column < p.lanes - 1 ? lane + 1 : first_lane;
        left_lane &= 31, right_lane &= 31;
        x = lo[ALONG] - p.halo[ALONG] + column * WIDTH;
        y = lo[ROW] - p.halo[ROW] + g0 * ROWS;
        z = lo[PLANE] - p.halo[PLANE] + g1 * PLANES;
        slot = tile + g1 * PLANES * plane_length + g0 * ROWS * row_length + column * WIDTH;
        other = p.groups[1] * PLANES * plane_length;
        below = g0 > 0 ? -row_length : 0;
        above = g0 < p.groups[0] - 1 ? row_length : 0;
        under = g1 > 0 ? -plane_length : 0;
        over = g1 < p.groups[1] - 1 ? plane_length : 0;
        split = p.wrap[ALONG] && p.n[ALONG] % WIDTH != 0 && (x < 0 || x + WIDTH > p.n[ALONG]);
        at_x = x == 0 && !p.wrap[ALONG] ? 1u : 0u;
        if (!p.wrap[ALONG] && x <= p.n[ALONG] - 1 && x + WIDTH > p.n[ALONG] - 1)
            at_x |= 2u;
        at_rows = at_planes = 0;
        give = need = 0;
        reach = 1 << 20;
#pragma unroll
        for (int k = 0; k < PLANES; k++) {
            if (!p.wrap[PLANE])
                at_planes |= (z + k == 0 ? 1u << k : 0u) |
                             (z + k == p.n[PLANE] - 1 ? 1u << (PLANES + k) : 0u);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (k == 0 && HAS_ROWS && !p.wrap[ROW])
                    at_rows |= (y + r == 0 ? 1u << r : 0u) |
                               (y + r == p.n[ROW] - 1 ? 1u << (ROWS + r) : 0u);
                mark(k, r, open, lo, hi);
            }
        }
        for (int far = 16; far > 0; far /= 2)
            reach = min(reach, __shfl_xor_sync(0xffffffffu, reach, far));
    }

    /* Which of the thread's vectors go to other blocks, and which come from there. */
    __device__ __forceinline__ void mark(int k, int r, unsigned open, const int (&lo)[3],
                                         const int (&hi)[3])
    {
        const unsigned bit = 1u << (k * ROWS + r);
        const int j[3] = {x, y + r, z + k};
        bool own = true, inside = true, near = false;
        int away = 0;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            const int width = axis == ALONG ? WIDTH : 1;
            const int last = j[axis] + width - 1; /* of the vector */
            const int outside = last < lo[axis]       ? lo[axis] - last
                                : j[axis] >= hi[axis] ? j[axis] - hi[axis] + 1
                                                      : 0;
            away += outside;
            own = own && outside == 0;
            inside = inside && (p.wrap[axis] || (last >= 0 && j[axis] < p.n[axis]));
            near = near || (open >> 2 * axis & 1 && j[axis] - lo[axis] < p.depth) ||
                   (open >> (2 * axis + 1) & 1 && hi[axis] - 1 - last < p.depth);
        }
        const bool mixed = split && open & 3 && x < hi[ALONG] && x + WIDTH > hi[ALONG];
        if (active && inside)
            reach = min(reach, away);
        if (active && own && near)
            give |= bit;
        if (active && inside && away <= p.depth && (away > 0 || mixed))
            need |= bit;
    }

    __device__ __forceinline__ void load()
    {
        int lo[3], hi[3];
        find(lo, hi);
        const int rows = p.groups[0] * ROWS, all = p.groups[1] * PLANES * rows;
        T *tile = levels + 2 * LEVEL;
        for (int n = thread / 32; n < all; n += (int)blockDim.x / 32) {
            int k = lo[PLANE] - p.halo[PLANE] + n / rows, j = lo[ROW] - p.halo[ROW] + n % rows;
            k = p.wrap[PLANE] ? image(k, p.n[PLANE]) : k;
            j = p.wrap[ROW] ? image(j, p.n[ROW]) : j;
            if (j < 0 || j >= p.n[ROW] || k < 0 || k >= p.n[PLANE])
                continue;
            const T *from = p.in + k * p.pitch[PLANE] + j * p.pitch[ROW];
            for (int e = thread % 32; e < row_length; e += 32) {
                int i = lo[ALONG] - p.halo[ALONG] + e;
                i = p.wrap[ALONG] ? image(i, p.n[ALONG]) : i;
                if (i >= 0 && i < p.n[ALONG])
                    tile[n * row_length + e] = from[i];
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                now[k][r] = *(const values *)(slot + k * plane_length + r * row_length);
        slot += other, other = -other; /* where nobody reads */
    }

    __device__ __forceinline__ void store()
    {
        if (!active)
            return;
        int lo[3], hi[3];
        find(lo, hi);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (beyond(y + r, lo[ROW], hi[ROW]) || beyond(z + k, lo[PLANE], hi[PLANE]))
                    continue;
                T *to = p.out + (z + k) * p.pitch[PLANE] + (y + r) * p.pitch[ROW] + x;
                if (x >= lo[ALONG] && x + WIDTH <= hi[ALONG])
                    *(values *)to = now[k][r];
                else
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (x + e >= lo[ALONG] && x + e < hi[ALONG])
                            to[e] = now[k][r].v[e];
            }
    }

    /* ---- a sweep ----------------------------------------------------------------------------- */

    __device__ __forceinline__ void show()
    {
        if (!active)
            return;
        const int row = mailbox::afresh(row_length), plane = mailbox::afresh(plane_length);
        T *to = slot;
#pragma unroll
        for (int k = 0; k < PLANES; k++, to += plane)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (k == 0 || k == PLANES - 1 || (HAS_ROWS && (r == 0 || r == ROWS - 1)))
                    *(values *)(to + r * row) = now[k][r];
    }

    __device__ __forceinline__ T ghost(const T *level, int f, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, level[1 + f]);
    }
    __device__ __forceinline__ void put_ghosts(const T *level, int f, const values &inner,
                                               const values &edge, values &to) const
    {
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            to.v[e] = ghost(level, f, inner.v[e], edge.v[e]);
    }

    /* Held nodes keep what they have or take what is prescribed; of several that prescribe, the
     * last face has the node. */
    __device__ __forceinline__ void put_held(const T *level, int k, int r, const values &before,
                                             values &made) const
    {
        unsigned on = (at_planes >> k & 1 ? 16u : 0u) | (at_planes >> (PLANES + k) & 1 ? 32u : 0u);
        if (HAS_ROWS)
            on |= (at_rows >> r & 1 ? 4u : 0u) | (at_rows >> (ROWS + r) & 1 ? 8u : 0u);
        on = (on | at_x) & p.held;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const unsigned here = (e == 0 ? on : on & ~1u) & (p.last >> e & 1 ? ~0u : ~2u);
            T value = here & p.keeping ? before.v[e] : made.v[e];
#pragma unroll
            for (int f = 0; f < 6; f++)
                value = here & ~p.keeping & 1u << f ? level[7 + f] : value;
            made.v[e] = value;
        }
    }
    /* The same where only faces of x may be near. */
    __device__ __forceinline__ void put_held_ends(const T *level, const values &before,
                                                  values &made) const
    {
        if (faces & p.held & 1) {
            const T value = p.keeping & 1 ? before.v[0] : level[7];
            made.v[0] = at_x & 1 ? value : made.v[0];
        }
        if (faces & p.held & 2)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (p.last >> e & 1) { /* the same for all */
                    const T value = p.keeping & 2 ? before.v[e] : level[8];
                    made.v[e] = at_x & 2 ? value : made.v[e];
                }
    }

    /* Neighbours along x of a vector at a face that is not held. */
    __device__ __forceinline__ void put_ghosts_beside(const T *level, const values &centre, T &left,
                                                      T (&right)[WIDTH]) const
    {
        const unsigned open_faces = faces & ~p.held;
        if (open_faces & 2)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (p.last >> e & 1) { /* the same for all */
                    const T value = ghost(
                        level, 1, e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left, centre.v[e]);
                    right[e] = at_x & 2 ? value : right[e];
                }
        if (open_faces & 1) {
            const T value = ghost(level, 0, right[0], centre.v[0]);
            left = at_x & 1 ? value : left;
        }
    }

    __device__ __forceinline__ void sweep(const T *level)
    {
        const T source = level[0];
        unsigned ghost_rows = 0, ghost_planes = 0, held_rows = 0, held_planes = 0;
        if (FACES) {
            enum { LOWER_ROWS = (1 << ROWS) - 1, LOWER_PLANES = (1 << PLANES) - 1 };
            held_rows =
                at_rows & ((p.held & 4 ? LOWER_ROWS : 0) | (p.held & 8 ? LOWER_ROWS << ROWS : 0));
            held_planes = at_planes & ((p.held & 16 ? LOWER_PLANES : 0) |
                                       (p.held & 32 ? LOWER_PLANES << PLANES : 0));
            ghost_rows = at_rows & ~held_rows, ghost_planes = at_planes & ~held_planes;
        }
        const int row = mailbox::afresh(row_length), plane = mailbox::afresh(plane_length);
        const T *from = slot, *from_above = slot + (ROWS - 1) * row + above;
        values older[ROWS]; /* the plane before, as it was */
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            older[r] = *(const values *)(from + r * row + under);
#pragma unroll
        for (int k = 0; k < PLANES; k++, from += plane, from_above += plane) {
            values made[ROWS], low, high;
            if (HAS_ROWS) {
                low = *(const values *)(from + below);
                high = *(const values *)from_above;
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const values &centre = now[k][r];
                values zm = older[r], zp, ym, yp;
                if (k < PLANES - 1)
                    zp = now[(k + 1) % PLANES][r];
                else
                    zp = *(const values *)(from + r * row + over);
                if (HAS_ROWS) {
                    ym = r > 0 ? now[k][(r + ROWS - 1) % ROWS] : low;
                    yp = r < ROWS - 1 ? now[k][(r + 1) % ROWS] : high;
                }
                T left = __shfl_sync(0xffffffffu, centre.v[WIDTH - 1], left_lane);
                T right = __shfl_sync(0xffffffffu, centre.v[0], right_lane);
                T beside[WIDTH]; /* the neighbour on the right of each */
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    beside[e] = e + 1 < WIDTH ? centre.v[(e + 1) % WIDTH] : right;
                if (FACES) {
                    put_ghosts_beside(level, centre, left, beside);
                    if (HAS_ROWS && ghost_rows >> r & 1)
                        put_ghosts(level, 2, yp, centre, ym);
                    if (HAS_ROWS && ghost_rows >> (ROWS + r) & 1)
                        put_ghosts(level, 3, ym, centre, yp);
                    if (ghost_planes >> k & 1)
                        put_ghosts(level, 4, zp, centre, zm);
                    if (ghost_planes >> (PLANES + k) & 1)
                        put_ghosts(level, 5, zm, centre, zp);
                }
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = star::fused(p.c[0], zm.v[e], source);
                    if (HAS_ROWS)
                        sum = star::fused(p.c[1], ym.v[e], sum);
                    sum = star::fused(p.c[DIMS - 1],
                                      e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left, sum);
                    sum = star::fused(p.c[DIMS], centre.v[e], sum);
                    sum = star::fused(p.c[DIMS + 1], beside[e], sum);
                    if (HAS_ROWS)
                        sum = star::fused(p.c[DIMS + 2], yp.v[e], sum);
                    made[r].v[e] = star::fused(p.c[2 * DIMS], zp.v[e], sum);
                }
                if (FACES && ((held_rows >> r | held_rows >> (ROWS + r) | held_planes >> k |
                               held_planes >> (PLANES + k)) &
                              1))
                    put_held(level, k, r, centre, made[r]);
                else if (FACES)
                    put_held_ends(level, centre, made[r]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                older[r] = now[k][r];
                now[k][r] = made[r];
            }
        }
    }

    /* ---- an exchange ------------------------------------------------------------------------- */

    __device__ __forceinline__ void send(packet *mail, unsigned tag) const
    {
        const int row = mailbox::afresh(p.mail_row), plane = p.n[ROW] * row;
        packet *to = mail + (z * plane + y * row + x);
#pragma unroll
        for (int k = 0; k < PLANES; k++, to += plane)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (give >> (k * ROWS + r) & 1)
                    mailbox::put_values(to + r * row, now[k][r].v, tag);
    }

    /* Where in the mail the node's packet is. */
    __device__ __forceinline__ int sent(int i, int j, int k) const
    {
        i = p.wrap[ALONG] ? near_image(i, p.n[ALONG]) : i;
        j = p.wrap[ROW] ? near_image(j, p.n[ROW]) : j;
        k = p.wrap[PLANE] ? near_image(k, p.n[PLANE]) : k;
        return (k * p.n[ROW] + j) * p.mail_row + i;
    }

    /* By way of the thread's slots, where nobody looks now: so no value needs a register of its own
     * before it is there. */
    __device__ __forceinline__ void receive(const packet *mail, unsigned tag)
    {
        if (split)
            receive_values(mail, tag);
        else
            receive_vectors(mail, tag);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (need >> (k * ROWS + r) & 1)
                    now[k][r] = *(const values *)(slot + k * plane_length + r * row_length);
    }

    __device__ __forceinline__ void receive_vectors(const packet *mail, unsigned tag)
    {
        unsigned rest = need;
#pragma unroll 1
        while (rest) {
            packets got[AT_ONCE];
            int from[AT_ONCE], to[AT_ONCE];
            unsigned missing = 0;
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int v = rest ? mailbox::lowest_bit(rest) : 0, r = v % ROWS, k = v / ROWS;
                missing |= rest ? 1u << n : 0u;
                rest &= rest - 1;
                from[n] = sent(x, y + r, z + k);
                to[n] = k * plane_length + r * row_length;
            }
            for (int looks = 0; missing;
                 looks++) { /* all that are missing are on their way together */
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++)
                    if (missing >> n & 1)
                        got[n] = packets::from(mail + from[n]);
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++)
                    if (missing >> n & 1 && got[n].has(tag)) {
                        values made;
                        got[n].take(made.v);
                        *(values *)(slot + to[n]) = made;
                        missing &= ~(1u << n);
                    }
                if (missing)
                    mailbox::wait_for_others(looks);
            }
        }
    }

    /* Where a row of the grid is no whole number of vectors and wraps. */
    __device__ __forceinline__ void receive_values(const packet *mail, unsigned tag)
    {
        int lo[3], hi[3];
        find(lo, hi);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (need >> (k * ROWS + r) & 1)
                    *(values *)(slot + k * plane_length + r * row_length) = now[k][r];
#pragma unroll 1
        for (int n = 0; n < PLANES * ROWS * WIDTH; n++) {
            const int v = n / WIDTH, e = n % WIDTH, r = v % ROWS, k = v / ROWS;
            const int away = beyond(x + e, lo[ALONG], hi[ALONG]) + beyond(y + r, lo[ROW], hi[ROW]) +
                             beyond(z + k, lo[PLANE], hi[PLANE]);
            if (!(need >> v & 1) || away == 0 || away > p.depth)
                continue;
            const packet *from = mail + sent(x + e, y + r, z + k);
            packet one = packet::from(from);
            for (int looks = 0; !one.has(tag); looks++) {
                mailbox::wait_for_others(looks);
                one = packet::from(from);
            }
            slot[k * plane_length + r * row_length + e] = one.value();
        }
    }

    /* ---- all --------------------------------------------------------------------------------- */

    /* Numbers of a level: fetched two sweeps before they are used, put in their row one before. */
    __device__ __forceinline__ T fetch_level(int step) const
    {
        return thread < LEVEL && p.levels && step < p.steps ? p.levels[step * LEVEL + thread]
                                                            : T(0);
    }

    __device__ __forceinline__ void run()
    {
        unsigned epoch = p.epoch[blockIdx.x];
        if (thread < 2 * LEVEL)
            levels[thread] = p.levels ? (thread / LEVEL < p.steps ? p.levels[thread] : T(0))
                                      : p.level[thread % LEVEL];
        T coming = fetch_level(2);
        load();
        for (int done = 0; done < p.steps;) {
            const int count = min(p.depth, p.steps - done);
            for (int s = 0; s < count; s++, done++) {
                const int margin = count - 1 - s; /* layers of the halo that are still needed */
                if (reach <= margin + 1)
                    show();
                __syncthreads();
                if (reach <= margin)
                    sweep(levels + (done & 1) * LEVEL);
                slot += other, other = -other;
                if (p.levels && thread < LEVEL && done > 0)
                    levels[(done + 1 & 1) * LEVEL + thread] = coming;
                if (p.levels && done > 0)
                    coming = fetch_level(done + 2);
            }
            if (done < p.steps) {
                epoch++;
                send(p.mail[epoch & 1], epoch);
                receive(p.mail[epoch & 1], epoch);
            }
        }
        store();
        if (thread == 0)
            p.epoch[blockIdx.x] = epoch;
    }
};

template <typename T, int DIMS, int ROWS, int PLANES, bool FACES>
__global__ void __launch_bounds__(DIMS == 2 ? HS_RESIDENT_THREADS_2D : HS_RESIDENT_THREADS_3D, 1)
    resident(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    STAR_SHARED(memory, unsigned char, [1]);
    block<T, DIMS, ROWS, PLANES, FACES> b(p, memory);
    b.run();
#else
    (void)p; /* suits() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

/* The scratch memory: exchanges of every block, levels of a call, two packets of every node. */
constexpr size_t EPOCHS = 4 * 1024, LEVELS = (size_t)HS_RESIDENT_STEPS * LEVEL * 8;

size_t packets_of(const hs_sweep *sweep)
{
    const size_t width = 16 / hs_precision_size(sweep->precision);
    const int64_t *n = sweep->layout.points;
    return ((size_t)n[HS_X] + width - 1) / width * width * (size_t)n[HS_Y] * (size_t)n[HS_Z];
}

size_t scratch(const hs_sweep *sweep)
{
    const size_t packet = 2 * hs_precision_size(sweep->precision);
    return EPOCHS + LEVELS + 2 * packet * packets_of(sweep);
}

/* The faces of the grid in the kernel's order of axes. */
int face_of(int dims, int f)
{
    const int axis = hs_resident_axis(dims, f / 2);
    return axis < 0 ? -1 : 2 * axis + f % 2;
}

template <typename T>
void make_level(const hs_sweep *sweep, int step, T (&level)[LEVEL])
{
    level[0] = star::source_of<T>(sweep, step);
    for (int f = 0; f < HS_FACES; f++) {
        const int face = face_of(sweep->stencil->dims, f);
        level[1 + f] = face < 0 ? (T)0 : star::offset_of<T>(sweep, step, face, 1);
        level[7 + f] = face < 0 ? (T)0 : (T)sweep->level[step].hold[face];
    }
}

template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep, const hs_resident &plan)
{
    arguments<T> p = {};
    char *memory = (char *)sweep->scratch;
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.epoch = (unsigned *)memory;
    for (int parity = 0; parity < 2; parity++)
        p.mail[parity] =
            (mailbox::packet<T> *)(memory + EPOCHS + LEVELS) + parity * packets_of(sweep);
    star::take_coefficients(sweep, p.c);
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(sweep->stencil->dims, axis);
        p.n[axis] = along < 0 ? 1 : (int)sweep->layout.points[along];
        p.pitch[axis] = along < 0 ? 0 : sweep->layout.pitch[along];
        p.blocks[axis] = plan.blocks[axis];
        p.halo[axis] = plan.halo[axis];
        for (int f = 2 * axis; along >= 0 && f < 2 * axis + 2; f++)
            star::take_face(sweep->face[face_of(sweep->stencil->dims, f)], f, &p);
    }
    p.depth = plan.depth;
    p.steps = sweep->steps;
    p.lanes = plan.lanes;
    p.groups[0] = plan.groups[0], p.groups[1] = plan.groups[1];
    const int width = vector<T>::WIDTH;
    p.mail_row = up(p.n[ALONG], width) * width;
    p.last = 1u << (p.n[ALONG] - 1) % width;
    return p;
}

/* The levels go by value where they are all the same, else by way of the scratch memory. */
template <typename T>
hs_status put_levels(const hs_sweep *sweep, arguments<T> &p, hs_error *err)
{
    make_level(sweep, 0, p.level);
    T all[HS_RESIDENT_STEPS][LEVEL] = {};
    bool vary = false;
    for (int s = 0; s < sweep->steps; s++) {
        make_level(sweep, s, all[s]);
        vary = vary || memcmp(all[s], p.level, sizeof p.level) != 0;
    }
    if (!vary)
        return HS_OK;
    T *levels = (T *)((char *)sweep->scratch + EPOCHS);
    HS_CUDA_TRY("kernel resident", err,
                cudaMemcpyAsync(levels, all, (size_t)sweep->steps * sizeof p.level,
                                cudaMemcpyHostToDevice, (cudaStream_t)sweep->stream));
    p.levels = levels;
    return HS_OK;
}

template <typename T, int DIMS, int ROWS, int PLANES>
hs_status launch_shape(const hs_sweep *sweep, const hs_resident &plan, hs_error *err)
{
    arguments<T> p = make_arguments<T>(sweep, plan);
    const hs_status st = put_levels(sweep, p, err);
    if (st)
        return st;
    hs_geometry g = {};
    for (int axis = 0; axis < 3; axis++) {
        g.blocks[axis] = plan.blocks[axis];
        g.threads[axis] = axis == HS_X ? plan.threads : 1;
    }
    g.shared_bytes = plan.shared_bytes;
    const bool closed = p.wrap[ALONG] && p.wrap[PLANE] && (DIMS == 2 || p.wrap[ROW]);
    return star::launch_together("resident",
                                 closed ? resident<T, DIMS, ROWS, PLANES, false>
                                        : resident<T, DIMS, ROWS, PLANES, true>,
                                 p, g, sweep->stream, err);
}

/* The plan of the last grid is kept: to look for one takes as long as a few sweeps. */
bool find_plan(const hs_sweep *sweep, hs_resident *out)
{
    struct question {
        int64_t points[HS_AXES];
        int64_t wrap[HS_AXES], dims, precision;
    };
    thread_local question last = {};
    thread_local hs_resident plan;
    thread_local bool fits;
    question now = {};
    now.dims = sweep->stencil->dims;
    now.precision = sweep->precision;
    for (int axis = 0; axis < HS_AXES; axis++) {
        now.points[axis] = sweep->layout.points[axis];
        now.wrap[axis] = axis < sweep->stencil->dims && sweep->face[2 * axis].wrap;
    }
    if (memcmp(&now, &last, sizeof now) != 0) {
        fits = hs_resident_plan(sweep, &plan);
        last = now;
    }
    *out = plan;
    return fits;
}

template <typename T>
hs_status launch(const hs_sweep *sweep, hs_error *err)
{
    hs_resident plan;
    if (!find_plan(sweep, &plan))
        return hs_error_add(err, HS_BAD_INPUT,
                            "kernel resident: the grid does not fit on the chip");
    const int shape = 100 * sweep->stencil->dims + 10 * plan.rows + plan.planes;
    switch (shape) {
    case 214: return launch_shape<T, 2, 1, 4>(sweep, plan, err);
    case 216: return launch_shape<T, 2, 1, 6>(sweep, plan, err);
    case 322: return launch_shape<T, 3, 2, 2>(sweep, plan, err);
    case 324: return launch_shape<T, 3, 2, 4>(sweep, plan, err);
    default:
        return hs_error_add(err, HS_BAD_INPUT, "kernel resident: shape %d is not compiled in",
                            shape);
    }
}

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("resident", sweep, out);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? launch<float>(sweep, err) : launch<double>(sweep, err);
}

/* All blocks must run at once, each on a multiprocessor of its own. */
bool suits(const hs_problem *problem, char *reason, size_t size)
{
    const int device = problem->solver.device;
    int major = 0, multiprocessors = 0, together = 0;
    hs_stencil stencil = {};
    stencil.dims = problem->grid.dims;
    stencil.radius = problem->radius;
    hs_sweep request = {};
    request.precision = problem->precision;
    request.layout = hs_layout_make(&problem->grid, problem->radius, 32);
    request.stencil = &stencil;
    request.face = problem->face;
    hs_resident plan;
    if (!hs_resident_plan(&request, &plan)) {
        snprintf(reason, size, "resident needs a grid that fits on the chip, not %lld points",
                 (long long)hs_grid_count(&problem->grid));
        return false;
    }
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device);
    const int blocks = plan.blocks[0] * plan.blocks[1] * plan.blocks[2];
    if (major != 9 || !together || multiprocessors < blocks) {
        snprintf(reason, size,
                 "resident needs a GPU of compute capability 9 with %d multiprocessors", blocks);
        return false;
    }
    return true;
}

} // namespace resident

extern "C" const hs_kernel hs_kernel_cuda_resident = {
    .name = "resident",
    .idea = "2D, 3D: a small grid stays in registers for up to 128 sweeps",
    .origin = "persistent kernels: Zhang et al., ICS'23 (PERKS)",
    .device = HS_CUDA,
    .dims = 1u << 2 | 1u << 3,
    .radius = 1u << 1,
    .precision = HS_ALL_PRECISIONS,
    .steps = HS_RESIDENT_STEPS,
    .own_ghosts = true,
    .uniform = true,
    .suits = resident::suits,
    .geometry = resident::geometry,
    .scratch = resident::scratch,
    .sweep = resident::sweep,
};
