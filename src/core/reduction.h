/*
 * Minimum, maximum and sums over a field. Their bits depend neither on threads and devices nor on
 * how the grid is cut into slabs (core/slab.h).
 *
 * The whole grid has fixed blocks of some layers along its slowest axis; a layer is a node in 1D, a
 * row in 2D, a plane in 3D. Blocks are cut into pieces, and pieces into strips of a row, by rules
 * that depend only on the whole grid's points. A backend computes a partial for each piece of the
 * blocks that its state owns; partials are combined in order. Slabs are cut only where blocks
 * begin.
 */
#ifndef HS_CORE_REDUCTION_H
#define HS_CORE_REDUCTION_H

#include "core/host_device.h"
#include "core/problem.h"
#include "core/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Over all nodes, in double whatever the precision. Sums use hs_problem_node_volume. */
struct hs_reduction {
    double min;
    double max;
    double mean;   /* volume average */
    double heat;   /* J per m^(3-dims) with density and specific heat, else K m^dims */
    double change; /* max |out - in| of the last sweep, each difference in the field's precision.
                      NaN unless keep_last was set. NaN also if any node is not finite, as backends
                      differ in the nodes that they leave out */
    /* valid after a sweep with keep_before, else possibly NaN. stored: the heat of out - in; sunk,
     * bodies only, in W: the sum of sink * in over the nodes (core/network.h) */
    double stored, sunk;
    int64_t not_finite; /* nodes that are NaN or infinite; min, max and mean leave them out */
    int64_t first_bad[HS_AXES]; /* the first such node in memory order */
};

/* The result for a piece. Sums are over finite nodes; a GPU leaves their errors 0. Of change,
 * stored and sunk, those that are not known are NaN in all pieces of a field. */
struct hs_partial {
    double min, max, change;
    struct hs_sum sum, volume; /* of volume * T, of volume */
    struct hs_sum heat;        /* body: of heat capacity * T */
    struct hs_sum stored;      /* of (volume, or a body's heat capacity) * (T - T before) */
    struct hs_sum sunk;        /* body: of sink * T before */
    int64_t bad, first_bad;    /* count; index in memory order of the whole grid, INT64_MAX: none */
};

enum { HS_BLOCKS_MOST = 1024, HS_PIECES_MOST = 2048, HS_STRIP = 1024 /* nodes of a row */ };

/* The blocks of the whole grid, and which of them a problem owns: all, or its slab's. */
struct hs_blocks {
    int64_t layers; /* per block; the whole grid's last block may have fewer */
    int64_t parts;  /* pieces per block */
    int64_t across; /* rows per layer; 0 in 1D, where layers are nodes of one row */
    int64_t row;    /* nodes of a row along x in this problem */
    int64_t end;    /* layers of the whole grid */
    int64_t shift;  /* layer in the whole grid minus owned layer here */
    int64_t first;  /* the first owned block */
    int64_t pieces; /* pieces of the owned blocks, at most HS_PIECES_MOST */
};

struct hs_blocks hs_blocks_of(const struct hs_problem *problem);

/* Nodes begin <= i < end of row j + ny*k in this problem. */
struct hs_strip {
    uint32_t row;
    int64_t begin, end;
};

/* Strips first <= s < last of a block. Each row has `per_row` strips; the block starts at `row`. */
struct hs_piece {
    uint32_t first, last, per_row, row;
    int64_t begin, end; /* of each row */
};

static inline HS_HOST_DEVICE struct hs_piece hs_piece_of(const struct hs_blocks *b, int64_t piece)
{
    const int64_t block = b->first + piece / b->parts, part = piece % b->parts;
    const int64_t begin = block * b->layers, end = begin + b->layers;
    const int64_t lo = begin - b->shift, hi = (end < b->end ? end : b->end) - b->shift;
    const bool line = b->across == 0;
    struct hs_piece out;
    out.begin = line ? lo : 0;
    out.end = line ? hi : b->row;
    out.row = (uint32_t)(lo * b->across);
    out.per_row = (uint32_t)((out.end - out.begin + HS_STRIP - 1) / HS_STRIP);
    const int64_t strips = out.per_row * (line ? 1 : (hi - lo) * b->across);
    out.first = (uint32_t)(strips * part / b->parts);
    out.last = (uint32_t)(strips * (part + 1) / b->parts);
    return out;
}

/* In 32 bits, since a 64-bit division takes a GPU's lane longer than its nodes do. 2^32 rows would
 * take 512 GiB. */
static inline HS_HOST_DEVICE struct hs_strip hs_strip_of(const struct hs_piece *piece, uint32_t s)
{
    const uint32_t row = s / piece->per_row;
    struct hs_strip out;
    out.row = piece->row + row;
    out.begin = piece->begin + (int64_t)(s - row * piece->per_row) * HS_STRIP;
    out.end = out.begin + HS_STRIP < piece->end ? out.begin + HS_STRIP : piece->end;
    return out;
}

/* Combines all partials of the whole problem, in order. */
struct hs_reduction hs_reduction_of(const struct hs_problem *whole,
                                    const struct hs_partial *partial, int64_t count);

struct hs_backend;
struct hs_backend_state;

/* Reduces the field of a state that has the whole problem. */
enum hs_status hs_reduce(const struct hs_backend *backend, struct hs_backend_state *state,
                         const struct hs_problem *problem, struct hs_reduction *out,
                         struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
