/*
 * Rows of nodes of the conduction kernels: what is asked for, and the functions that sweep them.
 *
 * A row is given by a pointer to its first node, which is at the begin of a cache line, in the
 * field's precision. Rows beside each other lie along the axis `across`, planes of rows along
 * `march`.
 */
#ifndef HS_KERNELS_CPU_CONDUCTION_ROWS_H
#define HS_KERNELS_CPU_CONDUCTION_ROWS_H

#include "common.h"

enum {
    CONDUCTION_LINE_BYTES = 64,
    CONDUCTION_LINES = 64,                        /* of a row of a stack at most: bits of a word */
    CONDUCTION_MOST_LEVELS = 8,                   /* whose forcing is kept */
    CONDUCTION_KEPT = 32768,                      /* bytes */
    CONDUCTION_LEVELS = 4,                        /* of a stack, */
    CONDUCTION_LATER = CONDUCTION_LEVELS - 1,     /* and those after the first */
    CONDUCTION_PITCH = 69 * CONDUCTION_LINE_BYTES /* of a ring's rows; an odd number of lines, so
                                                     that they lie in different sets of the cache */
};

/* What all rows of a call have in common. */
struct conduction_rows {
    const struct hs_network_view *network;
    const void *source; /* node (0, 0, 0), or NULL */
    int across, march;
    int64_t across_pitch, march_pitch; /* between nodes of the fields; 0: there is no such axis */
    int64_t points;                    /* of a row */
    int64_t from, to;                  /* that are swept; each at a line's begin or the row's end */
    int64_t count;                     /* of rows, one after the other across */
    const void *forcing;               /* of the first level: of each row of the palette */
    int64_t forcing_pitch;             /* values from level to level */
    void *kept;      /* CONDUCTION_KEPT bytes, from the begin of a line on, for what is found on
                        the way; made ready by conduction_forget */
    bool past;       /* the output goes past the cache, not into it */
    const char *ask; /* rows as far apart as the fields', asked for meanwhile; or NULL */
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

/* What is known of a row's numbers; a bit for each line of it that is swept. */
struct conduction_lines {
    uint64_t alike;   /* they, and that before the line, are those of the row before it across, and
                         of the row below it along the march */
    uint64_t uniform; /* they, and that before the line, are all the same; not at the row's ends */
};

/* Several sweeps, level after level: each one's plane is one below that of the level before, whose
 * new rows it reads. Rows of the ring are CONDUCTION_PITCH bytes apart, those of the fields
 * across_pitch values. */
struct conduction_stack {
    int64_t first[CONDUCTION_LEVELS];  /* elements, as above */
    const char *input, *lower, *upper; /* of the first level */
    char *next;                        /* where it goes */
    /* Of each later level its own plane, and the plane below, which the new one takes the place of;
     * but the last goes out. */
    char *centre[CONDUCTION_LATER], *below[CONDUCTION_LATER], *out;
    const struct conduction_lines *lines[CONDUCTION_LEVELS]; /* of each row of each level */
};

/* Where a vector is in four rows beside each other: bytes from the first of two rows' first node.
 * Held in registers as they are: the compiler would rather keep the addresses of all that is there
 * than add two numbers, and there are more of them than registers. */
struct conduction_place {
    int64_t row, next, before, after;
};

#ifdef __GNUC__
#define CONDUCTION_AS_IT_IS(x) __asm__("" : "+r"(x))
#else
#define CONDUCTION_AS_IT_IS(x) (void)(x)
#endif

HS_INLINE void conduction_move(struct conduction_place *place, int64_t bytes)
{
    place->row += bytes, place->next += bytes, place->before += bytes, place->after += bytes;
    CONDUCTION_AS_IT_IS(place->row);
    CONDUCTION_AS_IT_IS(place->next);
    CONDUCTION_AS_IT_IS(place->before);
    CONDUCTION_AS_IT_IS(place->after);
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
    /* [form of a palette] finds out what `lines`, one for each row, are to say of rows from element
     * `first` on */
    void (*look[2])(const struct conduction_rows *rows, int64_t first,
                    struct conduction_lines *lines);
    /* [form of a palette] an even number of whole rows, without a source field */
    void (*stack[2])(const struct conduction_rows *rows, const struct conduction_stack *stack);
};

/* For the instruction set of this machine. */
const struct conduction_functions *hs_conduction_functions(enum hs_precision precision);

/* Before the first rows of a call, whose network may be another. */
void hs_conduction_forget(void *kept);

/* One sweep by threads, of `openmp`: rows of the box are whole. */
enum hs_status hs_conduction_sweep(const struct hs_sweep *s);

#endif
