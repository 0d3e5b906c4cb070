/*
 * wavefront.c: how one call is cut. A `wave` is the call, a `tile` the part that a thread takes.
 * Here: how large tiles are, what each level of a tile covers, and where the ring holds its values.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_TILE_H
#define HS_KERNELS_CPU_WAVEFRONT_TILE_H

#include "common.h"
#include "core/machine.h"

enum {
    GROUP = 2,                     /* rows that are summed together in 3D */
    VISIT = 32,                    /* rows in 3D that a level sweeps before the next level */
    PLANES = 4,                    /* planes that level 1 sweeps together in 3D */
    AHEAD_BYTES = 6144,            /* least distance at which level 1 prefetches a line */
    PREFETCH_TIMES = 2,            /* how often a line is prefetched before its use */
    STEPS = 4,                     /* levels that are swept together, by pairs of planes or not */
    PAIR = 2,                      /* planes */
    PAIR_ROWS = 64,                /* rows of a tile then, ... */
    PAIR_ROWS_PLAIN = 32,          /* ... and if all fields fit in the last cache */
    PAIR_STRIP = 10 * LINE_BYTES,  /* of a row that is swept at once, about */
    PAIR_NEAR = 2,                 /* rows ahead at which the input is prefetched again */
    PAIR_SLOTS = 4,                /* pairs of planes in the ring */
    PAIR_PITCH = 53 * LINE_BYTES,  /* of its rows, known to the compiler, ... */
    PAIR_WIDE = 117 * LINE_BYTES,  /* ... and if they are longer */
    PAIR_LEAD = 4 * LINE_BYTES,    /* ... bytes of a row before the first point */
    PAIR_APART = 26 * LINE_BYTES,  /* between a pair's planes, beyond a multiple of 4096 */
    LATER = STEPS - 1,             /* levels after the first */
    STACK_PITCH = 4096,            /* as PAIR_PITCH, if each level sweeps single planes */
    STACK_APART = 13 * LINE_BYTES, /* */
    PREFETCH_ROWS = 2,             /* rows of the input prefetched per two rows of a tile then */
    MOST_GROUPS = 32,              /* most pairs of rows in one call */
    QUEUE = 128,                   /* rows that wait to be streamed */
    MOST_STEPS = 8,                /* most sweeps per call */
    WIDEST_BYTES_3D = 3584,        /* of a tile's rows */
    WIDEST_BYTES_PAIR = 6912,      /* */
    NARROW_BYTES_PAIR = 3072,      /* up to this, the ring has the shorter pitch */
    WIDEST_BYTES_2D = 16384,       /* */
    WIDEST_BYTES_1D = 8192,        /* */
    MOST_CACHE = 4096 * 1024,      /* most bytes of a core's L2 that tiles are cut for */
    SMALL_CACHE = 1024 * 1024,     /* up to this, there is no room for planes of the input */
    PAGE = 4096,
};

/* Kinds of stacks: two rows of all levels but the last; one, two rows of all; one of level 1. */
enum stack_kind { LOWER_OF_TWO, ALL_OF_ONE, ALL_OF_TWO, FIRST_OF_ONE, STACKS };

struct rule {
    double a, b, c;
};

struct rows;
struct carry;
struct stack;
struct pair;
typedef void stack_function(const struct stack *stack);
typedef void pair_function(const struct pair *pair);
typedef void rows_function(const struct rows *rows, struct carry *carry);
typedef void ghosts_function(void *ghost, const void *inner, const void *edge,
                             const struct rule *rule, const void *table, double data, int64_t count,
                             int64_t stride);
struct row_functions {
    ghosts_function *ghosts;
    rows_function *rows[HS_AXES][HS_MAX_RADIUS][GROUP];
    rows_function *planes[HS_MAX_RADIUS][PLANES];
    stack_function *stack[STACKS][2]; /* [into the cache] */
    /* [wide][levels - 1][with a source field] a strip with ends of rows; all levels of one without
     */
    pair_function *pair_ends[2][STEPS][2], *pair[2][2];
};

struct wave {
    const struct hs_sweep *s;
    int dims, radius, steps;
    int planes;         /* that level 1 sweeps together, and is ahead by */
    int visit;          /* rows that a level sweeps before the next level */
    int across, march;  /* axes of adjacent rows, and of planes */
    int64_t size, line; /* bytes of a value; values of a cache line */
    int64_t n[HS_AXES];
    int64_t reach[HS_AXES]; /* points that a sweep reads to each side: radius, or 0 */
    bool wrap[HS_AXES];
    bool prescribed;     /* some face is prescribed */
    bool pair;           /* all levels together, by pairs of planes */
    bool wide;           /* ... with longer rows */
    bool stack;          /* all levels together, by single planes */
    bool ahead;          /* level 1 is some planes ahead */
    bool plain;          /* all fields fit in the last cache */
    int depth[HS_FACES]; /* ghost layers that are read */
    int64_t pieces[HS_AXES];
    int64_t slots, ring_rows, ring_pitch; /* planes; rows per plane; values per row */
    int64_t ring_plane;                   /* bytes from plane to plane, within a pair */
    int64_t ring_pair;                    /* bytes from pair to pair */
    const struct row_functions *functions;
    const char *source;            /* the field that sweeps add, or NULL */
    double c[HS_MAX_COEFFICIENTS]; /* or floats, in the order of the additions */
};

struct tile {
    const struct wave *w;
    struct hs_box box; /* of the last sweep */
    /* What each level covers so that the next can be swept: level 0 is the input, level `steps` the
     * output. Along periodic axes it may extend beyond the grid, which stands for its image
     * there. */
    struct hs_box level[MOST_STEPS + 1];
    char *ring;
    int64_t base_x, base_across; /* of the ring's first value */
    int64_t step;
    char *slot[2 * MOST_STEPS * HS_MAX_RADIUS + PLANES]; /* of the ring, back from the newest plane
                                                            that there may be in this step */
};

static int64_t round_down(int64_t a, int64_t multiple)
{
    return a >= 0 ? a / multiple * multiple : -hs_round_up(-a, multiple);
}

static int64_t level_lo(const struct tile *t, int level, int axis)
{
    return t->level[level].lo[axis];
}

static int64_t level_hi(const struct tile *t, int level, int axis)
{
    return t->level[level].hi[axis];
}

static bool touches(const struct tile *t, int level, int face)
{
    const int axis = face / 2;
    return t->w->depth[face] > 0 &&
           (face % 2 ? level_hi(t, level, axis) == t->w->n[axis] : level_lo(t, level, axis) == 0);
}

/*
 * Address in the ring if levels go by pairs of planes. A level's pair overwrites the older pair of
 * the level before; its upper plane lies a row earlier, since it is stored while that plane's next
 * row is still to be read. The pairs of a step begin a plane lower with each level.
 */
static char *pair_at(const struct tile *t, int level, int64_t i, int64_t j, int64_t k)
{
    enum { FAR = 2 * MOST_STEPS }; /* more than planes below the first, and even */
    /* so that few or no levels load lines that agree in the lowest twelve address bits with what
     * another has just stored */
    static const int64_t apart[PAIR_SLOTS] = {7 * LINE_BYTES, 26 * LINE_BYTES, 33 * LINE_BYTES,
                                              52 * LINE_BYTES};
    const struct wave *w = t->w;
    const int64_t since = k - level_lo(t, 1, w->march) + level - 1 + FAR;
    const int64_t slot = (since / PAIR - level + PAIR_SLOTS) % PAIR_SLOTS, upper = since % PAIR;
    return t->ring + slot * w->ring_pair + apart[slot] + upper * w->ring_plane +
           ((j - upper * (level - 1) - t->base_across) * w->ring_pitch + (i - t->base_x)) * w->size;
}

/*
 * Address in the ring: a level's plane k overwrites the level before's plane k - radius, of which a
 * row is not read again once that row of k is swept. In 1D, without planes, levels alternate.
 */
static char *ring_at(const struct tile *t, int level, int64_t i, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    if (w->pair)
        return pair_at(t, level, i, j, k);
    char *plane =
        t->slot[w->dims > 1 ? t->step + w->planes - 1 - (k - level * w->radius) : level & 1];
    return plane + ((j - t->base_across) * w->ring_pitch + (i - t->base_x)) * w->size;
}

/* Index of a field's element; i, j, k are real indices. */
static int64_t element(const struct wave *w, int64_t i, int64_t j, int64_t k)
{
    return i + j * w->s->layout.pitch[w->across] + k * w->s->layout.pitch[w->march];
}

static const char *field_at(const struct wave *w, const void *field, int64_t i, int64_t j,
                            int64_t k)
{
    return (const char *)field + element(w, i, j, k) * w->size;
}

static int64_t cache_bytes(void)
{
    return hs_smaller(hs_machine_l2_bytes(), MOST_CACHE);
}

/* Pieces of an axis, at most `longest` each; as many for each thread if that leaves `shortest`. */
static int64_t cut_axis(int64_t n, int64_t longest, int64_t shortest, int64_t threads)
{
    const int64_t pieces = hs_divide_up(n, hs_larger(longest, 1));
    const int64_t shared = hs_round_up(pieces, threads);
    return n / shared >= shortest ? shared : pieces;
}

/* Cuts tiles whose planes of all levels fit in a core's L2; threads get whole tiles. */
static void cut(struct wave *w, bool source)
{
    static const int64_t widest[HS_AXES] = {WIDEST_BYTES_1D, WIDEST_BYTES_2D, WIDEST_BYTES_3D};
    const int64_t overlap = 2 * w->steps * w->radius, threads = w->s->threads;
    const int64_t kept = w->slots + (w->ahead ? 0 : 2 * w->radius + 2) +
                         (source ? (w->steps - 1) * w->radius + 2 : 0);
    /* planes to come pass through the cache too */
    const int64_t bytes = w->stack ? cache_bytes() / 8 * 5 : cache_bytes();
    const int64_t points = bytes / (kept * w->size);
    int64_t *pieces = w->pieces;
    pieces[HS_X] = pieces[HS_Y] = pieces[HS_Z] = 1;
    if (w->dims < 3) {
        pieces[HS_X] = cut_axis(w->n[HS_X], hs_smaller(points, widest[w->dims - 1] / w->size),
                                hs_larger(8 * overlap, 32 * w->line), threads);
    } else {
        pieces[HS_X] = hs_divide_up(w->n[HS_X] * w->size, w->pair ? WIDEST_BYTES_PAIR : widest[2]);
        const int64_t width = hs_divide_up(w->n[HS_X], pieces[HS_X]) + (pieces[HS_X] < 2 ? 0
                                                                        : w->stack ? 2 * w->line
                                                                                   : overlap);
        const int64_t rows = !w->pair   ? points / width - overlap
                             : w->plain ? PAIR_ROWS_PLAIN
                                        : PAIR_ROWS;
        pieces[w->across] =
            cut_axis(w->n[w->across], hs_larger(rows, GROUP), hs_larger(overlap, 8), threads);
    }
    const int64_t tiles = pieces[HS_X] * pieces[w->across];
    if (w->dims > 1 && tiles % threads != 0 && tiles < 4 * threads)
        pieces[w->march] = hs_larger(1, hs_smaller(hs_divide_up(threads, tiles),
                                                   w->n[w->march] / hs_larger(2 * overlap, 8)));
}

static void describe(const struct hs_sweep *s, int steps, bool source, struct wave *w)
{
    *w = (struct wave){
        .s = s,
        .dims = s->op->stencil.dims,
        .radius = s->op->stencil.radius,
        .steps = steps,
        .size = (int64_t)hs_precision_size(s->precision),
    };
    w->line = LINE_BYTES / w->size;
    w->plain = s->layout.elements * w->size * (source ? 3 : 2) <= CACHE_BYTES;
    w->across = w->dims == 2 ? HS_Z : HS_Y;
    w->march = w->dims == 2 ? HS_Y : HS_Z;
    for (int axis = 0; axis < HS_AXES; axis++) {
        w->n[axis] = s->layout.points[axis];
        w->reach[axis] = axis < w->dims ? w->radius : 0;
    }
    for (int face = 0; face < 2 * w->dims && s->face; face++) {
        w->wrap[face / 2] = s->face[face].wrap;
        w->prescribed = w->prescribed || s->face[face].prescribed;
        w->depth[face] = s->face[face].wrap ? 0 : w->radius - s->face[face].held;
    }
    const bool together = w->dims > 2 && w->radius == 1 && steps == STEPS && !w->wrap[HS_X];
    w->pair = together && cache_bytes() <= SMALL_CACHE;
    w->stack = together && !w->pair && !source;
    w->wide = w->pair && w->n[HS_X] * w->size > NARROW_BYTES_PAIR;
    w->ahead = w->dims > 2 && steps > 1 && !w->pair && !w->stack;
    w->planes = w->ahead ? PLANES : w->pair ? PAIR : 1;
    w->visit = w->dims < 3 ? 1 : steps > 1 ? VISIT : GROUP;
    /* in 2D one more, so that a row may wait through a step; in 1D levels alternate */
    w->slots = w->pair       ? PAIR * PAIR_SLOTS
               : w->dims > 1 ? 2 * w->radius * (steps - 1) + w->planes + (w->dims == 2)
                             : 2;
    cut(w, source);
    const int64_t rows = hs_divide_up(w->n[w->across], w->pieces[w->across]);
    const int64_t width = hs_divide_up(w->n[HS_X], w->pieces[HS_X]);
    w->ring_rows = rows + (w->pair ? 4 : 2) * steps * w->reach[w->across];
    /* an odd number of lines, so that rows lie in different sets of the cache */
    w->ring_pitch = (hs_divide_up(width + 2 * (steps - 1) * w->radius, w->line) + 6) / 2 * 2 + 1;
    w->ring_pitch *= w->line;
    if (w->pair || w->stack)
        w->ring_pitch = (w->wide ? PAIR_WIDE : w->pair ? PAIR_PITCH : STACK_PITCH) / w->size;
    w->ring_plane = w->ring_rows * w->ring_pitch * w->size;
    if (w->ring_plane >= 8 * PAGE || w->pair)
        w->ring_plane = hs_round_up(w->ring_plane, PAGE);
    w->ring_pair = PAIR * w->ring_plane + PAGE;
    if (w->pair || w->stack)
        w->ring_plane += w->pair ? PAIR_APART : STACK_APART;
}

/* Bytes of a pair's overlaps: for each later level and row, the line before a strip. */
static int64_t overlap_bytes(const struct wave *w)
{
    return LATER * w->ring_rows * LINE_BYTES;
}

static size_t ring_bytes(const struct wave *w)
{
    if (w->pair)
        return (size_t)hs_round_up(PAIR_SLOTS * w->ring_pair + PAGE + overlap_bytes(w), PAGE);
    const int64_t gathered = w->visit * w->ring_pitch * w->size;
    return (size_t)hs_round_up(w->slots * w->ring_plane + gathered, PAGE);
}

static void find_level(struct tile *t, int level)
{
    const struct wave *w = t->w;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t more = (w->steps - level) * w->reach[axis];
        int64_t *lo = &t->level[level].lo[axis], *hi = &t->level[level].hi[axis];
        *lo = t->box.lo[axis] - more;
        *hi = t->box.hi[axis] + more;
        if (!w->wrap[axis]) {
            *lo = hs_larger(*lo, 0);
            *hi = hs_smaller(*hi, w->n[axis]);
        }
    }
}

#endif
