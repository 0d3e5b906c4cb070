/*
 * A 3D grid as columns along z, for kernels whose blocks march through one column each and
 * redundantly sweep a halo around what they store. At a face there is no halo: the first tile
 * begins there, and the last one is moved back to end at the other face.
 */
#ifndef HS_KERNELS_CUDA_COLUMNS_CUH
#define HS_KERNELS_CUDA_COLUMNS_CUH

#include "levels.cuh"

#include "chunks.h"
#include "columns.h"

namespace columns
{

enum { LINE = (int)HS_FUSED_LINE_BYTES / (int)HS_VECTOR_BYTES }; /* vectors in a line */

/* A tile of NX points by as many rows as WARPS warps own, ROWS per thread. */
template <typename T, int NX_, int ROWS_, int WARPS_>
struct tile {
    enum {
        WIDTH = HS_VECTOR_BYTES / sizeof(T), /* points of a row that a lane moves at once */
        NX = NX_,
        LANES = NX / WIDTH, /* lanes that share a row */
        ROWS = ROWS_,
        WARPS = WARPS_,
        THREADS = 32 * WARPS,
        GROUPS = THREADS / LANES, /* groups of lanes, each owning ROWS rows */
        NY = GROUPS * ROWS
    };
};

template <typename P>
__device__ P *offset_by(P *from, unsigned bytes)
{
    return (P *)((char *)from + bytes);
}

/* The part of the grid that one block marches through along z. */
struct column {
    int x, y;       /* node of the tile's first point; outside the grid where the axis wraps */
    int x_lo, x_hi; /* nodes that it stores */
    int y_lo, y_hi;
    int z_lo, z_hi;
    unsigned held;  /* those of `faces` with held nodes */
    unsigned faces; /* bit of each non-periodic face that the tile touches */
};

/* Points of a tile, and of its halo on each side. A tile begins at a multiple of grain_x, so the
 * last one may extend beyond the grid. */
struct shape {
    int nx, ny, halo_x, halo_y;
    int grain_x = 1;
};

/* The number of tiles, points along x that the first one stores and the others store, and the
 * chunks along z (hs_fused_chunks). A request may cover only a part of them. */
struct cut {
    int tiles_x, tiles_y;
    int lead_x, stored_x;
    int whole, chunks, taper;
    hs_sweep_part part;
};

/*
 * What tile t covers and stores along an axis of n nodes; the first tile stores `lead` nodes, every
 * other one `stored`. Returns bit 0 if it begins at the lower face, bit 1 if it ends at the upper.
 */
__device__ inline unsigned tile_along(int t, int n, int size, int halo, int grain, int lead,
                                      int stored, bool wrap, int *first, int *lo, int *hi)
{
    if (wrap) {
        *first = t * stored - halo;
        *lo = t * stored;
        *hi = min(*lo + stored, n);
        return 0;
    }
    *lo = t == 0 ? 0 : lead + (t - 1) * stored;
    *first = t == 0 ? 0 : *lo - halo;
    const bool last = *first + size >= n;
    *hi = last ? n : t == 0 ? lead : *lo + stored;
    *first = last ? (n - size + grain - 1) / grain * grain : *first;
    return (t == 0 ? 1u : 0u) | (last ? 2u : 0u);
}

/* Numbers the tiles with a face of x or y first, then the others: they differ in cost. */
__device__ inline void tile_of(int index, int halos, int tiles_x, int tiles_y, bool faces_x,
                               bool faces_y, int *tx, int *ty)
{
    if (index < halos) {
        const int full_rows = faces_y ? (tiles_y > 1 ? 2 : 1) : 0;
        if (index < full_rows * tiles_x) {
            *tx = index % tiles_x;
            *ty = index < tiles_x ? 0 : tiles_y - 1;
            return;
        }
        index -= full_rows * tiles_x;
        const int columns = tiles_x > 1 ? 2 : 1;
        *tx = index % columns == 0 ? 0 : tiles_x - 1;
        *ty = (faces_y ? 1 : 0) + index / columns;
        return;
    }
    index -= halos;
    const int inner_x = faces_x ? tiles_x - 2 : tiles_x;
    *tx = (faces_x ? 1 : 0) + index % inner_x;
    *ty = (faces_y ? 1 : 0) + index / inner_x;
}
__device__ inline int halo_tiles(int tiles_x, int tiles_y, bool faces_x, bool faces_y)
{
    const int inner_x = faces_x ? (tiles_x > 2 ? tiles_x - 2 : 0) : tiles_x;
    const int inner_y = faces_y ? (tiles_y > 2 ? tiles_y - 2 : 0) : tiles_y;
    return tiles_x * tiles_y - inner_x * inner_y;
}

/* This block's tile and chunk of planes. Blocks that run at the same time are at about the same z,
 * so that rows shared by tiles are read once and few pages of memory are in use at a time. */
template <typename T, int RADIUS>
__device__ __forceinline__ column column_of(const shape &tile, const cut &cut, int nx, int ny,
                                            int nz, const star::faces<T, HS_FACES, RADIUS> &faces)
{
    const bool faces_x = !faces.wrap[0], faces_y = !faces.wrap[1];
    const int tiles = cut.tiles_x * cut.tiles_y;
    const int halos = halo_tiles(cut.tiles_x, cut.tiles_y, faces_x, faces_y);
    const int block = blockIdx.x, more = block - cut.whole, others = tiles - cut.whole;
    const bool whole = more < 0;
    int tx, ty;
    tile_of(whole ? block : cut.whole + more % others, halos, cut.tiles_x, cut.tiles_y, faces_x,
            faces_y, &tx, &ty);
    const hs_fused_planes planes =
        hs_fused_planes_of(cut.part, nz, cut.chunks, cut.taper, whole ? 0 : more / others);
    column at;
    at.z_lo = whole ? 0 : (int)planes.lo;
    at.z_hi = whole ? nz : (int)planes.hi;
    at.faces = faces.wrap[2] ? 0u : 48u;
    at.faces |= tile_along(tx, nx, tile.nx, tile.halo_x, tile.grain_x, cut.lead_x, cut.stored_x,
                           faces.wrap[0], &at.x, &at.x_lo, &at.x_hi);
    at.faces |= tile_along(ty, ny, tile.ny, tile.halo_y, 1, tile.ny - tile.halo_y,
                           tile.ny - 2 * tile.halo_y, faces.wrap[1], &at.y, &at.y_lo, &at.y_hi)
                << 2;
    at.held = at.faces & faces.held;
    return at;
}

/* ---- host ---------------------------------------------------------------------------------- */

/* The number of blocks of a request for a part of a call. */
inline int64_t blocks_of(const hs_fused_columns &columns, hs_sweep_part part, int64_t all)
{
    const int64_t tiles = columns.tiles_x * columns.tiles_y;
    return part == HS_SWEEP_ENDS ? 2 * tiles : part == HS_SWEEP_INSIDE ? all - 2 * tiles : all;
}

inline cut cut_of(const hs_fused_columns &columns, hs_sweep_part part)
{
    return {(int)columns.tiles_x, (int)columns.tiles_y, columns.x.first, columns.x.others,
            columns.z.whole,      columns.z.chunks,     columns.z.taper, part};
}

/* The common part of a march's parameter: the fields, how the grid is cut, coefficients, faces and
 * levels. */
template <typename T, typename Arguments>
Arguments make_arguments(const hs_fused_columns &columns, const hs_sweep *sweep)
{
    Arguments p = {};
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.pitch_y = sweep->layout.pitch[HS_Y];
    p.pitch_z = sweep->layout.pitch[HS_Z];
    p.nx = (int)sweep->layout.points[HS_X];
    p.ny = (int)sweep->layout.points[HS_Y];
    p.nz = (int)sweep->layout.points[HS_Z];
    p.cut = cut_of(columns, sweep->part);
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

} // namespace columns

#endif
