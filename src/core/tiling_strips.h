/* Strips of fused_march_2d. */
#ifndef HS_CORE_TILING_STRIPS_H
#define HS_CORE_TILING_STRIPS_H

#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_STRIP_STEPS_FLOAT = 10,  /* fused_march_2d: most sweeps a launch */
    HS_STRIP_STEPS_DOUBLE = 24, /* a call takes all of these ... */
    HS_STRIP_FEW_DOUBLE = 12,   /* ... or up to so many */
    HS_STRIP_WIDTH_FLOAT = 8,   /* points of a lane */
    HS_STRIP_WIDTH_DOUBLE = 6,  /* */
    HS_STRIP_DEEP_FLOAT = 10,   /* most levels of a warp; more are shared by groups of warps */
    HS_STRIP_DEEP_DOUBLE = 3,   /* */
    HS_STRIP_WARPS_FLOAT = 1,   /* of a group, side by side; fewer on narrow grids */
    HS_STRIP_WARPS_DOUBLE = 4,  /* */
    HS_STRIP_WARPS_MANY = 2,    /* where there are more than the few levels */
    HS_STRIP_SEAM = 8,          /* points by which these overlap */
    HS_STRIP_BLOCKS_FLOAT = 8,  /* of up to two groups, on a multiprocessor; of more there is one */
    HS_STRIP_BLOCKS_DOUBLE = 2, /* */
    HS_STRIP_PLACES_FEW = 3,    /* for rows on their way, to and from each group, ... */
    HS_STRIP_PLACES_MANY = 2,   /* */
    HS_STRIP_PAIRS_FEW = 1,     /* ... and pairs of rows in a place */
    HS_STRIP_PAIRS_MANY = 2,    /* */
};

/* How fused_march_2d cuts a grid: into strips along y, which its blocks share in parts of equal
 * cost, a strip at a time or more. */
struct hs_strip_cut {
    int groups, warps; /* of a block: groups of warps side by side, each for some of the levels */
    int places, pairs; /* for rows on their way to and from each group, and of rows in each */
    int points;        /* that a block marches with */
    int rim;           /* points on each side of a strip that are swept redundantly */
    int lead, stored;  /* points that the first strip stores, and the others */
    int strips, blocks;
    int fill;  /* rows that a strip costs more than it has, */
    int slow;  /* those that each of its ends at a face costs more, */
    int outer; /* and sixteenths of a row's cost of one of the first and the last strip */
};
struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep);

#ifdef __cplusplus
}
#endif

#endif
