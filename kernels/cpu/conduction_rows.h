/*
 * Rows of nodes of the conduction kernels: what one call sweeps, and the functions that do it.
 *
 * A row is given by a pointer to its first node, at the begin of a cache line, in the field's
 * precision. Adjacent rows lie along the axis `across`, planes of rows along `march`.
 */
#ifndef HS_KERNELS_CPU_CONDUCTION_ROWS_H
#define HS_KERNELS_CPU_CONDUCTION_ROWS_H

#include "common.h"

enum {
    CONDUCTION_LINES = 64,                    /* most lines of a row of a stack: bits of a word */
    CONDUCTION_MOST_LEVELS = 8,               /* most levels whose forcing is kept */
    CONDUCTION_KEPT = 32768,                  /* bytes of coefficients, see `kept` */
    CONDUCTION_LEVELS = 4,                    /* levels of a stack, ... */
    CONDUCTION_LATER = CONDUCTION_LEVELS - 1, /* ... and those after the first */
    /* of a ring's rows; an odd number of lines, so that they lie in different sets of the cache */
    CONDUCTION_PITCH = 69 * LINE_BYTES
};

/* What all rows of a call have in common. */
struct conduction_rows {
    const struct hs_network_view *network;
    const void *source; /* node (0, 0, 0), or NULL */
    int across, march;
    int64_t across_pitch, march_pitch; /* strides of the fields, in nodes; 0: no such axis */
    int64_t points;                    /* of a row */
    int64_t from, to;                  /* what is swept; each at a line's begin or the row's end */
    int64_t count;                     /* rows, one after the other across */
    const void *forcing;               /* of the first level: for each row of the palette */
    int64_t forcing_pitch;             /* values from level to level */
    void *kept;    /* CONDUCTION_KEPT bytes from the begin of a line on: coefficients of lines that
                      were looked up; emptied by hs_conduction_forget */
    bool streamed; /* the output is written by non-temporal stores */
    const char *prefetch; /* rows to prefetch, as far apart as the fields'; or NULL */
    /* for a recursion (core/kernel.h), of one level: bytes from `out` to X_-1, and the factor */
    bool recurs;
    int64_t before;
    double factor;
};

/* One sweep of rows. */
struct conduction_level {
    int level;                       /* from 0 */
    int64_t first;                   /* element of the first row's first node in the fields */
    const void *in, *before, *after; /* the first row, and those beside it across, */
    const void *lower, *upper;       /* and along the march */
    void *out;
    int64_t in_pitch, out_pitch; /* bytes between rows */
};

/* What is known of the palette's numbers in a row, as a bit for each of its swept lines. */
struct conduction_lines {
    uint64_t alike;   /* the numbers of the line and of the line before it equal those in the row
                       * before it across and in the row below it along the march */
    uint64_t uniform; /* the line's numbers, and that before it, are equal; not at the row's ends */
};

/* A stack: the same two rows in all time levels. Each level's plane is one below that of the level
 * before, whose new rows it reads. Rows of the ring are CONDUCTION_PITCH bytes apart, those of the
 * fields across_pitch values. */
struct conduction_stack {
    int64_t first[CONDUCTION_LEVELS];  /* elements, as above */
    const char *input, *lower, *upper; /* of the first level */
    char *next;                        /* where its result goes */
    /* For each later level the plane that it sweeps, and the plane below, which its result
     * overwrites; but the last level's result goes to `out`. */
    char *centre[CONDUCTION_LATER], *below[CONDUCTION_LATER], *out;
    const struct conduction_lines *lines[CONDUCTION_LEVELS]; /* for each row of each level */
};

/* The position of a vector in four adjacent rows: byte offsets from the first node of the first of
 * two rows. */
struct conduction_place {
    int64_t row, next, before, after;
};

HS_INLINE void conduction_move(struct conduction_place *place, int64_t bytes)
{
    place->row += bytes, place->next += bytes, place->before += bytes, place->after += bytes;
    AS_IT_IS(place->row);
    AS_IT_IS(place->next);
    AS_IT_IS(place->before);
    AS_IT_IS(place->after);
}

HS_INLINE struct conduction_place conduction_place(int64_t byte, int64_t pitch)
{
    struct conduction_place place = {0, pitch, -pitch, 2 * pitch};
    conduction_move(&place, byte);
    return place;
}

struct conduction_functions {
    /* [form] rows of one level */
    void (*rows[3])(const struct conduction_rows *rows, const struct conduction_level *level);
    /* [form of a palette] fills `lines`, one for each row, for the rows from element `first` on */
    void (*look[2])(const struct conduction_rows *rows, int64_t first,
                    struct conduction_lines *lines);
    /* [form of a palette] an even number of whole rows, without a source field */
    void (*stack[2])(const struct conduction_rows *rows, const struct conduction_stack *stack);
};

/* The functions for this machine's instruction set. */
const struct conduction_functions *hs_conduction_functions(enum hs_precision precision);

/* Empties `kept`. Call it before the first rows of a call, whose network may be another one. */
void hs_conduction_forget(void *kept);

/* One sweep by threads, for `openmp`: rows of the box are whole. */
enum hs_status hs_conduction_sweep(const struct hs_sweep *s);

#endif
