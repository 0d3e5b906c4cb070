/* The plans of fused_march_3d and fused_fields_3d. */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H

#include "columns.h"

/* Sweeps that a launch of fused_march_3d may take (hs_kernel_plan), and of fused_fields_3d besides
 * its most. The rest of a stretch takes at most one launch more than it could. */
#define HS_FUSED_TAKES (1u << 0 | 1u << 1 | 1u << 3)
#define HS_FUSED_FIELDS_TAKES (1u << 0 | 1u << 2)

/* What comes to a march beside level 0; a thread has only its own points of it. */
enum hs_fused_source {
    HS_FUSED_NO_SOURCE,
    HS_FUSED_SOURCE_FIELDS, /* or X_-1 of a recursion */
    HS_FUSED_SOURCE_TABLES
};

/* Planes of level 0 in shared memory: two in use, the others in flight. */
HS_CONSTANT int hs_fused_depth(int levels, enum hs_fused_source source)
{
    return source != HS_FUSED_NO_SOURCE && levels > HS_FUSED_FIELDS_STEPS ? HS_FUSED_SOURCE_DEPTH
                                                                          : HS_FUSED_DEPTH;
}

/* The same of the source: of a field, one for each level and those in flight, which suffices for a
 * field per level too; of tables, one for each level, in double. `size`: bytes of a value. */
HS_CONSTANT int hs_fused_source_depth(int size, int levels, enum hs_fused_source source)
{
    const int flying = hs_fused_depth(levels, source) - 2;
    return source == HS_FUSED_SOURCE_TABLES ? levels * 8 / size : levels + flying;
}

/* Nodes along z of the tables in shared memory: all that the sweeps of a block's planes meet, and
 * that the last step may meet. */
HS_CONSTANT int hs_fused_source_nodes(int levels, enum hs_fused_source source)
{
    return source == HS_FUSED_SOURCE_TABLES ? (int)HS_FUSED_PLANES + 3 * levels + 1 : 1;
}

/* Bytes of a block's shared memory: planes of level 0 and of the source, each with a line, up to
 * which rows may begin later; two edge rows of every group of lanes, at the other levels, twice;
 * the tables along z; with the fused max-norm a number for each thread; two barriers per warp.
 * What is not needed is one element. */
HS_CONSTANT int hs_fused_shared_bytes(int size, int levels, enum hs_fused_source source,
                                      bool max_norm)
{
    const int unit = HS_VECTOR_BYTES, threads = (int)HS_WARP * HS_FUSED_WARPS;
    const int lanes = HS_FUSED_X * size / unit, groups = threads / lanes;
    const int plane = threads * HS_FUSED_ROWS, line = HS_FUSED_LINE_BYTES / unit;
    const int edges = levels > 1 ? levels - 1 : 1;
    const bool has = source != HS_FUSED_NO_SOURCE;
    const int sources = has ? hs_fused_source_depth(size, levels, source) * plane + line //
                            : lanes + 1;
    const int vectors = hs_fused_depth(levels, source) * plane + line +
                        2 * edges * (groups + 2) * 2 * lanes + sources +
                        levels * hs_fused_source_nodes(levels, source);
    const int largest = (size * (max_norm ? threads : 1) + 7) / 8 * 8;
    const int barriers = 2 * 8 * HS_FUSED_WARPS;
    return unit * vectors + (largest + barriers + unit - 1) / unit * unit;
}

#endif
