/* Strips of fused_march_2d. */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_2D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_MARCH_2D_PLAN_H

#include "tiles.h"

#include "core/host_device.h"

#include <stdbool.h>

enum {
    HS_STRIP_STEPS_FLOAT = 10,  /* fused_march_2d: most sweeps per launch */
    HS_STRIP_STEPS_DOUBLE = 24, /* */
    HS_STRIP_FEW_DOUBLE = 12,   /* most levels of the block shape for few levels */
    HS_STRIP_WIDTH_FLOAT = 8,   /* points per lane */
    HS_STRIP_WIDTH_DOUBLE = 6,  /* */
    HS_STRIP_DEEP_FLOAT = 10,   /* most levels of a warp; groups of warps share more */
    HS_STRIP_DEEP_DOUBLE = 3,   /* */
    HS_STRIP_WARPS_FLOAT = 1,   /* per group, side by side; fewer on narrow grids */
    HS_STRIP_WARPS_DOUBLE = 4,  /* */
    HS_STRIP_WARPS_MANY = 2,    /* ... if there are more than the few levels */
    HS_STRIP_OVERLAP = 8,       /* points by which warps overlap */
    HS_STRIP_BLOCKS_FLOAT = 8,  /* per multiprocessor, with up to two groups; else one */
    HS_STRIP_BLOCKS_DOUBLE = 2, /* */
    HS_STRIP_PLACES_FEW = 3,    /* for rows in flight to and from each group, ... */
    HS_STRIP_PLACES_MANY = 2,   /* */
    HS_STRIP_PAIRS_FEW = 1,     /* ... and pairs of rows in a place */
    HS_STRIP_PAIRS_MANY = 2,    /* */
    HS_STRIP_TABLE = 128,       /* most strips that are shared out exactly */
};

/* The numbers of sweeps that a launch may take (hs_kernel_plan), chosen so that the rest of a
 * stretch takes few launches. */
#define HS_STRIP_TAKES_FLOAT (1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 9)
#define HS_STRIP_TAKES_DOUBLE (1u << 0 | 1u << 1 | 1u << 2 | 1u << 5 | 1u << 11 | 1u << 23)

/* The block that takes `levels` levels of values of `size` bytes. */
struct hs_strip_block {
    int width;         /* points per lane */
    int warps, groups; /* groups of warps side by side, each for some levels; fewer warps run on
                        * narrow grids */
    int deep;          /* most levels of a group */
    int places, pairs; /* for rows in flight to and from each group; pairs of rows in each */
    int beside;        /* blocks on a multiprocessor */
};
HS_CONSTANT struct hs_strip_block hs_strip_block_of(int size, int levels)
{
    const bool single = size == 4, few = single || levels <= HS_STRIP_FEW_DOUBLE;
    const int deepest = single ? HS_STRIP_DEEP_FLOAT : HS_STRIP_DEEP_DOUBLE;
    struct hs_strip_block b = {0};
    b.width = single ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE;
    b.warps = single ? HS_STRIP_WARPS_FLOAT : few ? HS_STRIP_WARPS_DOUBLE : HS_STRIP_WARPS_MANY;
    b.groups = (levels + deepest - 1) / deepest;
    b.deep = (levels + b.groups - 1) / b.groups;
    b.places = few ? HS_STRIP_PLACES_FEW : HS_STRIP_PLACES_MANY;
    b.pairs = few ? HS_STRIP_PAIRS_FEW : HS_STRIP_PAIRS_MANY;
    b.beside = single ? HS_STRIP_BLOCKS_FLOAT : HS_STRIP_BLOCKS_DOUBLE;
    if (b.groups > 2)
        b.beside = 1;
    return b;
}

/* Bytes of its shared memory: rows in flight to each group and from the last one; where that is
 * less than the two newest rows of each level, and the block is one warp, the rest of those; the
 * barriers; and the block's share of the strips. */
HS_CONSTANT int hs_strip_shared_bytes(int size, int levels)
{
    const int unit = HS_VECTOR_BYTES, barrier = 8, share = 16;
    const struct hs_strip_block b = hs_strip_block_of(size, levels);
    const int row = HS_WARP * b.warps * b.width * size, stage = 2 * b.pairs * b.places * row;
    const int ends = 2 * b.deep * row;
    const int more = b.warps * b.groups == 1 && ends > stage ? ends - stage : unit;
    const int barriers = barrier * b.places * (b.warps + 2 * b.groups);
    return ((b.groups + 1) * stage + more + barriers + share + unit - 1) / unit * unit;
}

/* What a part of a strip costs, in sixteenths of an interior row: a fixed cost, an extra one for
 * its end at the lower or the upper face of y, and the cost of a row, in interior strips and in the
 * first and last one. `end_step` is the extra cost of a step through rows at a face of y. */
struct hs_strip_costs {
    int part, low, high;
    int inside, outer;
    int end_step;
};

/* Where a block begins: the strip and the row in it. */
struct hs_strip_place {
    int strip, row;
};

/* How fused_march_2d cuts a grid into strips along y. Blocks share the strips in parts of equal
 * cost, of one strip or several. */
struct hs_strip_cut {
    int groups, warps; /* per block: groups of warps side by side, each for some levels */
    int places, pairs; /* for rows in flight to and from each group; pairs of rows in each */
    int points;        /* width of a block's march */
    int halo;          /* points on each side of a strip that are swept redundantly */
    int lead, stored;  /* points that the first strip stores, and the others */
    int strips, blocks;
    int steps;
    int rows;                  /* of a strip */
    int least_low, least_high; /* of the parts at a strip's ends, if it has several */
    struct hs_strip_costs cost;
    /* Most that the parts of a block may cost, unless one has only a few rows at an end; 0 if there
     * are more strips than the table holds. And the number of blocks that then have a part. */
    int64_t most;
    int used;
    /* For each strip the first block that begins in it, and the row where it does. */
    struct {
        int block, row;
    } table[HS_STRIP_TABLE];
};
struct hs_strip_cut hs_strip_cuts(const struct hs_case *of, const struct hs_device_limits *limits);

/* The row in a strip where the n-th block after the one that begins at `row` begins. */
static inline HS_HOST_DEVICE int hs_strip_next(const struct hs_strip_cut *cut, int strip, int row,
                                               int n)
{
    const bool outer = strip == 0 || strip == cut->strips - 1;
    const int64_t most = cut->most - cut->cost.part,
                  one = outer ? cut->cost.outer : cut->cost.inside;
    const int64_t each = most / one, second = (most - cut->cost.low) / one;
    int64_t at = row;
    if (n > 0 && row == 0)
        at = second > cut->least_low ? second : cut->least_low, n--;
    at += n * (each > 1 ? each : 1);
    const int last = cut->rows - cut->least_high;
    return (int)(at < last ? at : last);
}

/* Where block b begins; block b + 1 begins where it ends. */
static inline HS_HOST_DEVICE struct hs_strip_place hs_strip_begin(const struct hs_strip_cut *cut,
                                                                  int b)
{
    const struct hs_strip_costs *cost = &cut->cost;
    struct hs_strip_place place = {cut->strips, 0};
    if (b >= (cut->most > 0 ? cut->used : cut->blocks))
        return place;
    if (cut->most > 0) {
        place.strip = 0;
        for (int step = HS_STRIP_TABLE / 2; step > 0; step /= 2) {
            const int strip = place.strip + step;
            if (strip < cut->strips && cut->table[strip].block <= b)
                place.strip = strip;
        }
        const int first = cut->table[place.strip].block;
        place.row = hs_strip_next(cut, place.strip, cut->table[place.strip].row, b - first);
        return place;
    }
    /* the strips' costs form one line, which is cut into equal parts */
    const int64_t ends = cost->part + cost->low + cost->high;
    const int64_t inside = ends + (int64_t)cut->rows * cost->inside;
    const int64_t outer = ends + (int64_t)cut->rows * cost->outer;
    const int64_t length = (cut->strips - 2) * inside + 2 * outer, at = length * b / cut->blocks;
    const int64_t strip = at < outer ? 0 : 1 + (at - outer) / inside;
    place.strip = (int)(strip < cut->strips - 1 ? strip : cut->strips - 1);
    const int64_t begin = place.strip > 0 ? outer + (place.strip - 1) * inside : 0;
    const int64_t past = at - begin - cost->part - cost->low;
    const bool dear = place.strip == 0 || place.strip == cut->strips - 1;
    const int64_t row = past > 0 ? past / (dear ? cost->outer : cost->inside) : 0;
    place.row = (int)(row < cut->rows ? row : cut->rows);
    return place;
}

#endif
