/*
 * resident: a small grid stays on the chip, in registers, for up to 128 sweeps a launch.
 *
 * On a small grid a launch costs more than the sweep: 64^3 points in float are 1 MiB, which all
 * multiprocessors together read in a quarter of a microsecond from the cache, but a replayed launch
 * takes 1.3. Here all blocks run at once, and each keeps a box of the grid in its threads'
 * registers:
 *
 *      +-----------------+     a thread has ROWS x PLANES vectors of 16 bytes
 *      | halo: depth     |     x neighbours: in the thread, or by shuffle from the next lane
 *      |   +---------+   |     y, z neighbours: in the thread, or the neighbour's outer vectors by
 *      |   | own     |   |       way of a tile in shared memory, of which there are two
 *      |   +---------+   |     after `depth` sweeps, of which each leaves one layer less of the
 * halo
 *      +-----------------+       right, the halo is received anew; its outermost layer is in the
 * tile only, as nothing is swept there
 *
 * Blocks do not meet at a barrier, and there are no flags: a vector goes as a letter (mailbox.cuh)
 * to a place of its own in the receiver's set, and its values say that it is there. What is sent
 * comes from the tile and what is received goes there, by lists that are made once a launch: so any
 * thread sends and receives any letter, whatever the faces, depths, corners and odd sizes. While
 * the letters are on their way, those of the exchange before are emptied. Sets are used in turn, as
 * HS_RESIDENT_SETS says.
 *
 * Waiting for each other is safe only if all blocks run: the launch is a cooperative one, which the
 * device refuses otherwise, and suits() asks for a multiprocessor a block.
 *
 * At the grid's faces a ghost of a star of radius 1 depends on the node and its opposite neighbour
 * only, so the thread makes it on the spot. What a warp need not ask at every vector is known
 * before
 * (`walled`), or compiled in (`walls`). Values that change with time come from a table of the
 * launch's sweeps, fetched two sweeps ahead; where they do not, from the arguments.
 *
 * Measured by a test program on one H200, float, us per sweep with 128 a launch, 2026-11-21, fixed
 * walls (periodic): 64^3 1.45 (1.40), 1024^2 1.26 (1.09), 128^3 4.23 (4.06). Of 64^3, depth 2: 0.3
 * to go through the loop and its barriers, 0.25 the sweep, the rest half an exchange. What bounds
 * it, and what was tried: docs/performance.md.
 *
 * Source: persistent kernels that keep their data on the chip: Zhang, Wahib, Chen, Meng, Wang,
 * Endo, Matsuoka, ICS'23 (PERKS), with grid barriers; data that are their own flag: the "LL"
 * protocol of NVIDIA's NCCL, with half of its words.
 */
#include "levels.cuh"
#include "mailbox.cuh"

#include "core/tiling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

namespace resident
{

/* The kernel's own names of the axes: along memory, the one whose neighbours are a row away, and
 * the one of the planes: x, y, z in 3D; x, -, y in 2D. */
enum axis { ALONG, ROW, PLANE };
enum { LEVEL = HS_RESIDENT_LEVEL, SETS = HS_RESIDENT_SETS, FENCES = (SETS - 1) / 2 };
/* What a kernel is compiled for: a grid that wraps along each axis; or that has faces as well, all
 * of which keep their nodes, and rows of whole vectors; or faces of any kind. */
enum walls { NO_WALLS, FIXED_WALLS, ANY_WALLS, RAGGED_WALLS };

template <typename T>
struct arguments : star::faces<T, HS_FACES, 1> { /* of the kernel's axes */
    const T *in;
    T *out;
    mailbox::letter<T> *mail; /* [SETS][blocks][a tile's vectors] */
    const T *levels;          /* [steps][LEVEL], or NULL: `level` serves all */
    T level[LEVEL];
    T c[7];           /* in the order of the additions */
    int64_t pitch[3]; /* of fields */
    int n[3];
    int blocks[3];
    int halo[3]; /* layers around a block's nodes that others send; 0, or at least depth */
    int depth;   /* sweeps between exchanges */
    int steps;
    int lanes, groups[2]; /* threads along each axis */
    int letters;          /* most that a block gets in an exchange */
    unsigned last;        /* a row's last value in its vector, as a bit */
    bool ragged;          /* a row wraps, and is no whole number of vectors */
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

template <typename T, int DIMS, int ROWS, int PLANES, int WALLS>
struct block {
    enum {
        WIDTH = vector<T>::WIDTH,
        HAS_ROWS = DIMS == 3,
        VECTORS = ROWS * PLANES,
        ALL = (1u << VECTORS) - 1,
        AT_ONCE = 8,   /* letters that a thread waits for together */
        PART = 1 << 30 /* of a place: only the values up to the grid's last are taken */
    };
    using values = vector<T>;
    using letter = mailbox::letter<T>;

    const arguments<T> &p;
    const int thread;
    int row_length, plane_length; /* elements of a tile's */
    int left_lane, right_lane;
    bool active, working;  /* the thread has vectors of its own, some thread of the warp has */
    T *levels;             /* two rows */
    int *come, *go, *dest; /* places in the tile of what comes and what goes, and where to */
    int count;             /* letters */
    T *tile;               /* the buffer that is used next ... */
    int other;             /* ... and from there to the other */
    int slot;              /* of the thread's first vector in its tile */
    unsigned own, full; /* bit of each of the thread's vectors: some or all of it is of the block */
    unsigned faces;     /* that this block's sweeps meet */
    /* Bits of the thread's rows, and of its planes, on faces: the lower face's, then the upper's.
     */
    unsigned at_x, at_rows, at_planes;
    unsigned kept; /* FIXED_WALLS: bit of each vector all of which keeps its values */
    unsigned
        walled; /* bit of each vector that has a face of rows or planes in some lane of the warp */
    T c[2 * DIMS + 1];
    values now[PLANES][ROWS];

    /* ---- before the first sweep and after the last ------------------------------------------- */

    struct place {
        int at[3];        /* the block */
        int lo[3], hi[3]; /* its nodes */
        int origin[3];    /* of its tile: the first of its own nodes there */
        int node[3];      /* of the thread's first value */
    };

    __device__ __forceinline__ int edge(int axis, int at) const
    {
        const int unit = axis == ALONG ? WIDTH : 1, units = up(p.n[axis], unit);
        return min(units * at / p.blocks[axis] * unit, p.n[axis]);
    }
    /* Lanes of a warp are strips of p.lanes each, one of which is a row's; those that are left
     * double others' work. */
    __device__ __forceinline__ place find(int &column, int (&g)[2]) const
    {
        place f;
        const int index = (int)blockIdx.x, line = index / p.blocks[ALONG];
        f.at[ALONG] = index - line * p.blocks[ALONG];
        f.at[ROW] = line % p.blocks[ROW], f.at[PLANE] = line / p.blocks[ROW];
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            f.lo[axis] = edge(axis, f.at[axis]), f.hi[axis] = edge(axis, f.at[axis] + 1);
            f.origin[axis] = axis == ALONG              ? p.halo[ALONG]
                             : axis == ROW && !HAS_ROWS ? 0
                                                        : max(p.halo[axis], 1);
        }
        const int lane = thread % 32, in_warp = 32 / p.lanes, strip = lane / p.lanes;
        const int group = thread / 32 * in_warp + strip;
        const int mine = min(group, p.groups[0] * p.groups[1] - 1);
        g[1] = mine / p.groups[0], g[0] = mine - g[1] * p.groups[0];
        column = strip < in_warp ? lane - strip * p.lanes : p.lanes - 1;
        f.node[ALONG] = f.lo[ALONG] - f.origin[ALONG] + column * WIDTH;
        f.node[ROW] = f.lo[ROW] - f.origin[ROW] + g[0] * ROWS + HAS_ROWS;
        f.node[PLANE] = f.lo[PLANE] - f.origin[PLANE] + g[1] * PLANES + 1;
        return f;
    }
    __device__ __forceinline__ place find() const
    {
        int column, g[2];
        return find(column, g);
    }

    __device__ __forceinline__ block(const arguments<T> &arguments, unsigned char *shared)
        : p(arguments), thread((int)threadIdx.x)
    {
        int column, g[2];
        const place f = find(column, g);
        const int lane = thread % 32, in_warp = 32 / p.lanes;
        const int all = p.groups[0] * p.groups[1];
        active = lane / p.lanes < in_warp && thread / 32 * in_warp + lane / p.lanes < all;
        working = thread / 32 * in_warp < all;
        row_length = p.lanes * WIDTH;
        plane_length = HAS_ROWS ? (p.groups[0] * ROWS + 2) * row_length : row_length;
        levels = (T *)shared;
        come = (int *)(levels + 2 * LEVEL);
        go = come + p.letters, dest = go + p.letters;
        tile = (T *)(come + up(3 * p.letters, 4) * 4);
        other = (p.groups[1] * PLANES + 2) * plane_length;
        slot = (g[1] * PLANES + 1) * plane_length + (g[0] * ROWS + HAS_ROWS) * row_length +
               column * WIDTH;
        const int first_lane = lane - column;
        left_lane = (column > 0 ? lane - 1 : first_lane + p.lanes - 1) & 31;
        right_lane = (column < p.lanes - 1 ? lane + 1 : first_lane) & 31;
#pragma unroll
        for (int n = 0; n < 2 * DIMS + 1; n++) {
            c[n] = p.c[n];
            mailbox::keep(c[n]);
        }
        find_own(f);
        find_faces(f);
        find_letters(f);
    }

    __device__ __forceinline__ void find_own(const place &f)
    {
        const int x = f.node[ALONG];
        own = full = 0;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int y = f.node[ROW] + r, z = f.node[PLANE] + k;
                if (!active || y < f.lo[ROW] || y >= f.hi[ROW] || z < f.lo[PLANE] ||
                    z >= f.hi[PLANE])
                    continue;
                own |= x + WIDTH > f.lo[ALONG] && x < f.hi[ALONG] ? 1u << (k * ROWS + r) : 0u;
                full |= x >= f.lo[ALONG] && x + WIDTH <= f.hi[ALONG] ? 1u << (k * ROWS + r) : 0u;
            }
    }

    __device__ __forceinline__ void find_faces(const place &f)
    {
        const int x = f.node[ALONG], y = f.node[ROW], z = f.node[PLANE];
        faces = 0;
#pragma unroll
        for (int axis = 0; axis < 3; axis++)
            if (!p.wrap[axis] && (axis != ROW || HAS_ROWS)) {
                faces |= f.lo[axis] - p.halo[axis] <= 0 ? 1u << 2 * axis : 0u;
                faces |= f.hi[axis] + p.halo[axis] >= p.n[axis] ? 2u << 2 * axis : 0u;
            }
        at_x = x == 0 && !p.wrap[ALONG] ? 1u : 0u;
        if (!p.wrap[ALONG] && x <= p.n[ALONG] - 1 && x + WIDTH > p.n[ALONG] - 1)
            at_x |= 2u;
        at_rows = at_planes = kept = 0;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
            if (!p.wrap[PLANE])
                at_planes |= (z + k == 0 ? 1u << k : 0u) |
                             (z + k == p.n[PLANE] - 1 ? 1u << (PLANES + k) : 0u);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (HAS_ROWS && !p.wrap[ROW])
                at_rows |=
                    (y + r == 0 ? 1u << r : 0u) | (y + r == p.n[ROW] - 1 ? 1u << (ROWS + r) : 0u);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                kept |= ((at_rows >> r | at_rows >> (ROWS + r) | at_planes >> k |
                          at_planes >> (PLANES + k)) &
                         1)
                        << (k * ROWS + r);
        walled = kept;
        for (int far = 16; far > 0; far /= 2)
            walled |= __shfl_xor_sync(0xffffffffu, walled, far);
    }

    /* The letters of an exchange: with the block on each side, those of the halo on that side come
     * from there, and what lies in its halo on the other side goes there. */
    __device__ __forceinline__ void find_letters(const place &f)
    {
        count = 0;
        const int far[3] = {p.halo[ALONG] > 0, p.halo[ROW] > 0, p.halo[PLANE] > 0};
#pragma unroll 1
        for (int z = -far[PLANE]; z <= far[PLANE]; z++)
#pragma unroll 1
            for (int y = -far[ROW]; y <= far[ROW]; y++)
#pragma unroll 1
                for (int x = -far[ALONG]; x <= far[ALONG]; x++)
                    if (x != 0 || y != 0 || z != 0)
                        list_letters(f, {{x, y, z}});
    }

    struct along_axes {
        int a[3];
    };
    __device__ __forceinline__ void list_letters(const place &f, const along_axes side)
    {
        along_axes extent, come0, go0, dest0; /* and the first place along each axis */
        int to = 0, all = 1;
#pragma unroll
        for (int axis = PLANE; axis >= ALONG; axis--) {
            const int unit = axis == ALONG ? WIDTH : 1, d = side.a[axis];
            const int halo = p.halo[axis], first = f.origin[axis];
            const int size = f.hi[axis] - f.lo[axis];
            int next = f.at[axis] + d;
            if (next < 0 || next >= p.blocks[axis]) {
                if (!p.wrap[axis])
                    return;
                next += next < 0 ? p.blocks[axis] : -p.blocks[axis];
            }
            to = to * p.blocks[axis] + next;
            const int beyond = d < 0 ? edge(axis, next + 1) - edge(axis, next) : 0;
            extent.a[axis] = up(d != 0 ? halo : size, unit);
            all *= extent.a[axis];
            come0.a[axis] = d < 0 ? first - halo : d > 0 ? first + size : first;
            go0.a[axis] = d > 0 ? first + size - halo : first;
            dest0.a[axis] = d > 0 ? first - halo : first + beyond;
        }
        to *= (other < 0 ? -other : other) / WIDTH;
        for (int n = thread; n < all; n += (int)blockDim.x) {
            const int line = n / extent.a[0], plane = line / extent.a[1];
            const int i[3] = {(n - line * extent.a[0]) * WIDTH, line - plane * extent.a[1], plane};
            int here = 0, there = 0; /* layers away from their block's nodes */
#pragma unroll
            for (int axis = 0; axis < 3; axis++) {
                const int d = side.a[axis], above = i[axis] + 1;
                const int below = p.halo[axis] - i[axis] - (axis == ALONG ? WIDTH - 1 : 0);
                here += d > 0 ? above : d < 0 ? below : 0;
                there += d < 0 ? above : d > 0 ? below : 0;
            }
            const bool part =
                p.ragged && side.a[ALONG] == 0 && f.lo[ALONG] + i[ALONG] + WIDTH > f.hi[ALONG];
            come[count + n] = here <= p.depth ? in_tile(come0, i) | (part ? PART : 0) : -1;
            go[count + n] = there <= p.depth ? in_tile(go0, i) : -1;
            dest[count + n] = to + where(in_tile(dest0, i));
        }
        count += all;
    }
    __device__ __forceinline__ int in_tile(const along_axes &first, const int (&i)[3]) const
    {
        return (first.a[PLANE] + i[PLANE]) * plane_length + (first.a[ROW] + i[ROW]) * row_length +
               first.a[ALONG] + i[ALONG];
    }

    __device__ __forceinline__ void load()
    {
        const place f = find();
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                now[k][r] = values{};
                if (!(own >> (k * ROWS + r) & 1))
                    continue;
                const T *from = p.in + (f.node[PLANE] + k) * p.pitch[PLANE] +
                                (f.node[ROW] + r) * p.pitch[ROW] + f.node[ALONG];
                if (full >> (k * ROWS + r) & 1)
                    now[k][r] = *(const values *)from;
                else
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (f.node[ALONG] + e < f.hi[ALONG])
                            now[k][r].v[e] = from[e];
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    now[k][r].v[e] = mailbox::speakable(now[k][r].v[e]);
            }
    }

    __device__ __forceinline__ void store() const
    {
        const place f = find();
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (!(own >> (k * ROWS + r) & 1))
                    continue;
                T *to = p.out + (f.node[PLANE] + k) * p.pitch[PLANE] +
                        (f.node[ROW] + r) * p.pitch[ROW] + f.node[ALONG];
                if (full >> (k * ROWS + r) & 1)
                    *(values *)to = now[k][r];
                else
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (f.node[ALONG] + e < f.hi[ALONG])
                            to[e] = now[k][r].v[e];
            }
    }

    /* ---- what neighbours need ---------------------------------------------------------------- */

    __device__ __forceinline__ T *my(int k, int r) const
    {
        return tile + slot + k * plane_length + r * row_length;
    }

    /* To the block's other threads, between exchanges. */
    __device__ __forceinline__ void show() const
    {
        if (active)
#pragma unroll
            for (int k = 0; k < PLANES; k++)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    if (k == 0 || k == PLANES - 1 || (HAS_ROWS && (r == 0 || r == ROWS - 1)))
                        *(values *)my(k, r) = now[k][r];
    }

    /* Before one: all of the block's, from where they are sent. */
    __device__ __forceinline__ void show_own() const
    {
        if (own == 0)
            return;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (own >> (k * ROWS + r) & 1)
                    *(values *)my(k, r) = now[k][r];
    }

    __device__ __forceinline__ void take_others()
    {
        if (full == ALL)
            return;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (!(full >> (k * ROWS + r) & 1))
                    now[k][r] = *(const values *)my(k, r);
    }

    /* ---- an exchange ------------------------------------------------------------------------- */

    static __device__ __forceinline__ bool aligned(int at)
    {
        return at % WIDTH == 0;
    }

    __device__ __forceinline__ void send(letter *mail) const
    {
#pragma unroll 4
        for (int n = thread; n < count; n += (int)blockDim.x)
            if (go[n] >= 0)
                send_one(mail + dest[n], go[n]);
    }
    __device__ __forceinline__ void send_one(letter *to, int from) const
    {
        values v;
        if (!p.ragged || aligned(from))
            v = *(const values *)(tile + from);
        else
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = tile[from + e];
        mailbox::put(to, mailbox::sealed<T>(v.v));
    }

    __device__ __forceinline__ void receive(letter *mail) const
    {
        mail += (int)blockIdx.x * ((other < 0 ? -other : other) / WIDTH);
        if (count <= AT_ONCE / 2 * (int)blockDim.x)
            receive_some<AT_ONCE / 2>(mail, thread);
        else
#pragma unroll 1
            for (int n = thread; n < count; n += AT_ONCE * (int)blockDim.x)
                receive_some<AT_ONCE>(mail, n);
    }
    /* All that are missing are looked for together. */
    template <int N>
    __device__ __forceinline__ void receive_some(letter *mail, int first) const
    {
        int at[N];
        bool missing[N], any = false;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int n = first + i * (int)blockDim.x;
            at[i] = n < count ? come[n] : -1;
            missing[i] = at[i] >= 0;
            any = any || missing[i];
        }
        letter got[N];
        for (int looks = 0; any; looks++) {
#pragma unroll
            for (int i = 0; i < N; i++)
                mailbox::get_if(missing[i], mail + where(at[i]), got[i]);
            any = false;
#pragma unroll
            for (int i = 0; i < N; i++) {
                const bool now_here = missing[i] && mailbox::has_come(got[i]);
                missing[i] = missing[i] && !now_here;
                any = any || missing[i];
                if (p.ragged && now_here)
                    take_part(at[i], got[i]);
                else if (now_here)
                    take(at[i], got[i]);
            }
            if (any)
                mailbox::wait_for_others(looks);
        }
    }
    /* The letter of a place. */
    static __device__ __forceinline__ int where(int at)
    {
        return (at & ~PART) / WIDTH + ((at & ~PART) % WIDTH != 0);
    }
    __device__ __forceinline__ void clear(letter *mail) const
    {
        mail += (int)blockIdx.x * ((other < 0 ? -other : other) / WIDTH);
#pragma unroll 4
        for (int n = thread; n < count; n += (int)blockDim.x)
            mailbox::empty_if(come[n] >= 0, mail + where(come[n]));
    }
    __device__ __forceinline__ void take(int at, const letter &l) const
    {
        values v;
        mailbox::open(l, v.v);
        *(values *)(tile + at) = v;
    }
    __device__ __forceinline__ void take_part(int at, const letter &l) const
    {
        values v;
        mailbox::open(l, v.v);
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            if (at < PART || 1u << e <= p.last)
                tile[(at & ~PART) + e] = v.v[e];
    }

    /* ---- a sweep ----------------------------------------------------------------------------- */

    __device__ __forceinline__ T ghost_of(T offset, int f, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, offset);
    }
    __device__ __forceinline__ void put_ghosts(const T *level, int f, const values &inner,
                                               const values &edge, values &to) const
    {
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            to.v[e] = ghost_of(level[1 + f], f, inner.v[e], edge.v[e]);
    }

    __device__ __forceinline__ void put_ghosts_around(const T *level, int k, int r,
                                                      const values &centre, values &zm, values &ym,
                                                      values &yp, values &zp) const
    {
        const unsigned open_faces = faces & ~p.held;
        if (HAS_ROWS && open_faces & 4 && at_rows >> r & 1)
            put_ghosts(level, 2, yp, centre, ym);
        if (HAS_ROWS && open_faces & 8 && at_rows >> (ROWS + r) & 1)
            put_ghosts(level, 3, ym, centre, yp);
        if (open_faces & 16 && at_planes >> k & 1)
            put_ghosts(level, 4, zp, centre, zm);
        if (open_faces & 32 && at_planes >> (PLANES + k) & 1)
            put_ghosts(level, 5, zm, centre, zp);
    }

    /* FIXED_WALLS */
    __device__ __forceinline__ void keep(int n, bool at_wall, const values &before,
                                         values &made) const
    {
        made.v[0] = at_x & 1 ? before.v[0] : made.v[0];
        made.v[WIDTH - 1] = at_x & 2 ? before.v[WIDTH - 1] : made.v[WIDTH - 1];
        if (at_wall)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made.v[e] = kept >> n & 1 ? before.v[e] : made.v[e];
    }

    /* Held nodes keep what they have or take what is prescribed; of several faces that prescribe,
     * the last has the node. Here for a vector at faces of rows or planes, its ends done before. */
    __device__ __forceinline__ void put_held(const T *level, int k, int r, const values &before,
                                             values &made) const
    {
        unsigned on = (at_planes >> k & 1 ? 16u : 0u) | (at_planes >> (PLANES + k) & 1 ? 32u : 0u);
        if (HAS_ROWS)
            on |= (at_rows >> r & 1 ? 4u : 0u) | (at_rows >> (ROWS + r) & 1 ? 8u : 0u);
        on &= p.held;
        const bool keeps = on & p.keeping, takes = on & ~p.keeping;
        T value = T(0);
#pragma unroll
        for (int face = HAS_ROWS ? 2 : 4; face < 6; face++)
            value = on & ~p.keeping & 1u << face ? level[7 + face] : value;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const bool end = at_x & p.held & ~p.keeping & ends_at(e); /* has been given a value */
            made.v[e] = takes ? value : keeps && !end ? before.v[e] : made.v[e];
        }
    }
    /* Faces of x that have value e of the grid's first or last vector. */
    __device__ __forceinline__ unsigned ends_at(int e) const
    {
        return (e == 0 ? 1u : 0u) | (p.last >> e & 1 ? 2u : 0u);
    }
    /* The same for its ends, if they are at faces of x. */
    __device__ __forceinline__ void put_held_ends(const T (&hold)[2], const values &before,
                                                  values &made) const
    {
        const unsigned on = at_x & p.held;
        if (WALLS == ANY_WALLS) {
            const T low = p.keeping & 1 ? before.v[0] : hold[0];
            const T high = p.keeping & 2 ? before.v[WIDTH - 1] : hold[1];
            made.v[0] = on & 1 ? low : made.v[0];
            made.v[WIDTH - 1] = on & 2 ? high : made.v[WIDTH - 1];
        } else
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const unsigned here = on & ends_at(e);
                const T value = here & p.keeping ? before.v[e] : here & 2 ? hold[1] : hold[0];
                made.v[e] = here ? value : made.v[e];
            }
    }

    /* Neighbours along x of a vector at a face that is not held. */
    __device__ __forceinline__ void put_ghosts_beside(const T (&off)[2], const values &centre,
                                                      T &left, T (&right)[WIDTH]) const
    {
        const unsigned on = at_x & ~p.held;
        if (WALLS == ANY_WALLS) {
            const T high = ghost_of(off[1], 1, centre.v[WIDTH - 2], centre.v[WIDTH - 1]);
            right[WIDTH - 1] = on & 2 ? high : right[WIDTH - 1];
        } else
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T inner = e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left;
                const T high = ghost_of(off[1], 1, inner, centre.v[e]);
                right[e] = on & ends_at(e) & 2 ? high : right[e];
            }
        const T low = ghost_of(off[0], 0, right[0], centre.v[0]);
        left = on & 1 ? low : left;
    }

    __device__ __forceinline__ void sweep(const T *level)
    {
        const T source = level[0];
        T off[2], hold[2]; /* of the faces of x */
        if (WALLS >= ANY_WALLS)
#pragma unroll
            for (int f = 0; f < 2; f++)
                off[f] = level[1 + f], hold[f] = level[7 + f];
        const T *from = tile + slot;
        values older[ROWS]; /* the plane before, as it was */
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            older[r] = *(const values *)(from + r * row_length - plane_length);
#pragma unroll
        for (int k = 0; k < PLANES; k++, from += plane_length) {
            values made[ROWS], low, high;
            if (HAS_ROWS) {
                low = *(const values *)(from - row_length);
                high = *(const values *)(from + ROWS * row_length);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const values &centre = now[k][r];
                values zm = older[r], zp, ym, yp;
                if (k < PLANES - 1)
                    zp = now[(k + 1) % PLANES][r];
                else
                    zp = *(const values *)(from + r * row_length + plane_length);
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
                const bool at_wall = WALLS && walled >> (k * ROWS + r) & 1;
                if (WALLS >= ANY_WALLS) {
                    if (faces & ~p.held & 3)
                        put_ghosts_beside(off, centre, left, beside);
                    if (at_wall)
                        put_ghosts_around(level, k, r, centre, zm, ym, yp, zp);
                }
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = star::fused(c[0], zm.v[e], source);
                    if (HAS_ROWS)
                        sum = star::fused(c[1], ym.v[e], sum);
                    sum = star::fused(c[DIMS - 1], e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left,
                                      sum);
                    sum = star::fused(c[DIMS], centre.v[e], sum);
                    sum = star::fused(c[DIMS + 1], beside[e], sum);
                    if (HAS_ROWS)
                        sum = star::fused(c[DIMS + 2], yp.v[e], sum);
                    made[r].v[e] = star::fused(c[2 * DIMS], zp.v[e], sum);
                }
                if (WALLS == FIXED_WALLS)
                    keep(k * ROWS + r, at_wall, centre, made[r]);
                else if (WALLS >= ANY_WALLS) {
                    if (faces & p.held & 3)
                        put_held_ends(hold, centre, made[r]);
                    if (at_wall)
                        put_held(level, k, r, centre, made[r]);
                }
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                older[r] = now[k][r];
                now[k][r] = made[r];
            }
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
        if (thread < 2 * LEVEL)
            levels[thread] = p.levels ? (thread / LEVEL < p.steps ? p.levels[thread] : T(0))
                                      : p.level[thread % LEVEL];
        T coming = fetch_level(2);
        load();
        const int set = p.blocks[0] * p.blocks[1] * p.blocks[2] * (other / WIDTH);
        int exchange = 0, until = 0; /* sweeps to the next */
#pragma unroll 1
        for (int s = 0; s < p.steps; s++) {
            if (until == 0) {
                show_own();
                __syncthreads();
                send(p.mail + exchange % SETS * set);
                if (p.ragged)
                    __syncthreads(); /* what is sent may lie in vectors that are completed */
                /* while the letters are on their way */
                if (exchange > 0)
                    clear(p.mail + (exchange - 1) % SETS * set);
                if (exchange % FENCES == 0)
                    mailbox::fence();
                receive(p.mail + exchange % SETS * set);
                exchange++, until = p.depth;
                __syncthreads();
                take_others();
            } else {
                show();
                __syncthreads();
            }
            until--;
            if (working)
                sweep(levels + (s & 1) * LEVEL);
            tile += other, other = -other;
            if (p.levels && thread < LEVEL && s > 0)
                levels[(s + 1 & 1) * LEVEL + thread] = coming;
            if (p.levels && s > 0)
                coming = fetch_level(s + 2);
        }
        if (exchange > 0)
            clear(p.mail + (exchange - 1) % SETS * set);
        store();
    }
};

template <typename T, int DIMS, int ROWS, int PLANES, int WALLS>
__global__ void __launch_bounds__(HS_RESIDENT_THREADS, 1)
    resident(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    STAR_SHARED(memory, unsigned char, [1]);
    block<T, DIMS, ROWS, PLANES, WALLS> b(p, memory);
    b.run();
#else
    (void)p; /* suits() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

/* The scratch memory: levels of a call, and the letters. */
constexpr size_t LEVELS = (size_t)HS_RESIDENT_STEPS * LEVEL * 8;

bool find_plan(const hs_sweep *sweep, hs_resident *out);

size_t scratch(const hs_sweep *sweep)
{
    hs_resident plan;
    if (!find_plan(sweep, &plan))
        return LEVELS;
    const size_t blocks = (size_t)(plan.blocks[0] * plan.blocks[1] * plan.blocks[2]);
    return LEVELS + SETS * blocks * (size_t)plan.tile_bytes;
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
        const T hold = face < 0 ? (T)0 : (T)sweep->level[step].hold[face];
        level[7 + f] = isnan(hold) ? (T)NAN : hold; /* see mailbox::speakable */
    }
}

template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep, const hs_resident &plan)
{
    arguments<T> p = {};
    char *memory = (char *)sweep->scratch;
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.mail = (mailbox::letter<T> *)(memory + LEVELS);
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
    p.letters = plan.letters;
    const int width = vector<T>::WIDTH;
    p.last = 1u << (p.n[ALONG] - 1) % width;
    p.ragged = p.wrap[ALONG] && p.n[ALONG] % width != 0;
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
    T *levels = (T *)(sweep->scratch);
    HS_CUDA_TRY("kernel resident", err,
                cudaMemcpyAsync(levels, all, (size_t)sweep->steps * sizeof p.level,
                                cudaMemcpyHostToDevice, (cudaStream_t)sweep->stream));
    p.levels = levels;
    return HS_OK;
}

template <typename T>
walls walls_of(const arguments<T> &p)
{
    unsigned faces = 0;
    for (int f = 0; f < 6; f++)
        faces |= p.wrap[f / 2] || p.n[f / 2] == 1 ? 0u : 1u << f;
    if (faces == 0)
        return NO_WALLS;
    if (p.last != 1u << (vector<T>::WIDTH - 1))
        return RAGGED_WALLS;
    return (faces & ~p.keeping) == 0 ? FIXED_WALLS : ANY_WALLS;
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
    void (*const kernels[])(arguments<T>) = {
        resident<T, DIMS, ROWS, PLANES, NO_WALLS>, resident<T, DIMS, ROWS, PLANES, FIXED_WALLS>,
        resident<T, DIMS, ROWS, PLANES, ANY_WALLS>, resident<T, DIMS, ROWS, PLANES, RAGGED_WALLS>};
    const auto kernel = kernels[walls_of(p)];
    return star::launch_together("resident", kernel, p, g, sweep->stream, err);
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
    constexpr int MANY = sizeof(T) == 8 ? 2 : 4; /* rows; with more, doubles spill */
    const int shape = 1000 * sweep->stencil->dims + 100 * plan.rows + plan.planes;
    switch (shape) {
    case 2104: return launch_shape<T, 2, 1, 4>(sweep, plan, err);
    case 2110: return launch_shape<T, 2, 1, 10>(sweep, plan, err);
    case 3202: return launch_shape<T, 3, 2, 2>(sweep, plan, err);
    case 3000 + 100 * MANY + 4: return launch_shape<T, 3, MANY, 4>(sweep, plan, err);
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
