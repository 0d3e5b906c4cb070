/*
 * openmp: threads, SIMD, cache blocks, and rows that bypass the cache on their way out.
 *
 * A sweep is bound by memory, so each value should be read from memory once and written once, and
 * nothing else should move. Each thread takes a slab of the outermost axis and marches through it
 * in blocks of rows, so narrow that the 2*radius+1 planes of a block stay in its cache:
 *
 *          z |  thread 1      +---- block of rows ----+
 *            |                |  z+1   just read      |  <- memory
 *            |  ----------    |  z     now updated    |  <- cache
 *            |  thread 0      |  z-1   read last      |  <- cache
 *            +------------ y  +-----------------------+
 *
 * An ordinary store first reads the line that it overwrites: a third word. So rows are written by
 * non-temporal stores, which bypass the cache. Four planes are swept together, a cache line of each
 * in turn, so that six lines are read from the cache for four, not twelve, and the lines that are
 * read first two rows further on are prefetched:
 *
 *     for each line of the row:  of four planes:  prefetch that line of the row to come
 *                                                 add up the line's points, in a register
 *                                store the four lines, non-temporal
 *
 * Nothing else is stored in this loop: a store to the stack would wait behind the streamed ones.
 * Nor may a load share the lowest twelve bits of its address with a pending store, so the backend
 * pads planes and shifts one of the two fields (hs_cpu_layout, hs_cpu_shift). Held nodes at the
 * ends of rows are selected in a register. If the fields fit in the cache, stores are ordinary.
 *
 * Rows use vectors with explicit fma() in the order of core/stencil.h. openmp_rows.h has one
 * variant per dims and radius, compiled for each instruction set and precision; the program selects
 * the set when it runs.
 *
 * Sweeps of a recursion need one more word, X_n-1, over which X_n+1 is stored. If no ghosts have to
 * be filled between them, several go through the field together, some planes apart, so that all but
 * the first find their input in the cache.
 *
 * Words per point: 2 (one read, one written), plus 2*radius/rows of a block. conduction_sweep.c
 * sweeps a body of many materials in the same way. Measurements, and what else was tried:
 * docs/performance/two-cores.md. Source: blocking of the middle axis, Rivera and Tseng, SC 2000;
 * streaming stores, Datta et al., SIAM Review 51 (2009).
 */
#include "conduction_rows.h"
#include "core/stream.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    GROUP = 4,                    /* planes that are swept together */
    AHEAD_BYTES = 6144,           /* at least: how far before its use a line is prefetched */
    LONG_ROW = 16 * 1024,         /* bytes: in longer rows, a row ahead would be too far */
    BLOCK_BYTES = 2048 * 1024,    /* of the planes that a block keeps */
    WIDEST_ROW = 1 << 17,         /* bytes: longer rows are cut, so that a block has several */
    MOST_IN_PASS = 6,             /* most sweeps of a recursion in a pass, ... */
    SLAB = 4,                     /* ... planes that each advances by, ... */
    PASS_BYTES = 8 * 1024 * 1024, /* ... and bytes of all planes in use */
    POINTS_PER_THREAD = 1 << 14   /* some microseconds of work */
};

/* A row's work: out[i] = start + sum of c * neighbours, for first <= i < last; c in the order of
 * the additions. Whole cache lines, 0 <= i < lines_end, are computed, and from <= i < to is stored.
 * Points that are stored but not updated keep their values of `in`. */
struct row {
    const void *in; /* point i = 0 */
    int64_t py, pz; /* elements to the next row and plane */
    int64_t rows;   /* rows, one after the other along y */
    int planes;     /* in which these rows are swept */
    int64_t lead;   /* elements from a point to what is prefetched */
    const void *c;
    const void *source; /* point i = 0, or NULL: start from source_value */
    double source_value;
    int64_t first, last, from, to, lines_end;
    bool streamed;  /* by non-temporal stores; those of a recursion are ordinary, since what they
                     * overwrite has just been read */
    int64_t before; /* of a recursion (core/kernel.h): elements from a point to that of X_-1 */
    double factor;
};
typedef void row_function(const struct row *row, void *out);
struct row_functions {
    row_function *rows[2][HS_AXES][HS_MAX_RADIUS]; /* [recursion][dims - 1][radius - 1] */
};

/* The addresses of a group's rows: the first bytes of all rows that it reads along the outermost
 * axis, and offsets from there to the current line, its neighbours along y, and others. So an
 * address is the sum of two registers, few of which change from line to line. */
struct place {
    const char *row[GROUP + 2 * HS_MAX_RADIUS]; /* from `radius` below the group on */
    int64_t at, far, out, before;
    int64_t down[HS_MAX_RADIUS + 1], up[HS_MAX_RADIUS + 1]; /* 1 to radius */
};

HS_INLINE void move_by(bool recursion, struct place *place, int dims, int radius, int64_t bytes)
{
    place->at += bytes, place->far += bytes, place->out += bytes;
    AS_IT_IS(place->at);
    AS_IT_IS(place->far);
    AS_IT_IS(place->out);
    if (recursion) {
        place->before += bytes;
        AS_IT_IS(place->before);
    }
    for (int m = 1; m <= radius && dims > 2; m++) {
        place->down[m] += bytes, place->up[m] += bytes;
        AS_IT_IS(place->down[m]);
        AS_IT_IS(place->up[m]);
    }
}

/* `outer`: stride in bytes along the outermost axis; `row`: to the next row. */
HS_INLINE struct place place_at(bool recursion, int dims, int radius, int planes, const char *in,
                                const char *out, int64_t outer, int64_t row, int64_t lead,
                                int64_t before)
{
    struct place place = {.far = lead - radius * outer, .out = out - in, .before = before};
    for (int n = 0; n < planes + 2 * (dims > 1 ? radius : 0); n++) {
        place.row[n] = in + (n - (dims > 1 ? radius : 0)) * outer;
        AS_IT_IS(place.row[n]);
    }
    for (int m = 1; m <= radius; m++)
        place.down[m] = -m * row, place.up[m] = m * row;
    move_by(recursion, &place, dims, radius, 0);
    return place;
}

#define ROWS_BODY "openmp_rows.h"
#include "instruction_sets.h"

struct job {
    const struct hs_sweep *sweep;
    row_function *row;
    bool streamed;
    double c[HS_MAX_COEFFICIENTS]; /* or floats, in the order of the additions */
    size_t size;                   /* bytes of a value */
    int64_t lead;
    int group; /* planes that are swept together */
    int threads;
    int64_t cut[HS_AXES]; /* pieces of the box along each axis */
};

/*
 * Sweeps points i0 to i1 of rows j to j_end in `planes` planes along the outermost axis. What is
 * computed beside the box, up to whole lines, is in the layout's gaps: a row's end is padded to a
 * line at least, and one more line follows the last row. If the caller allows it, held nodes at the
 * box's ends are stored with their lines: part of a line would need an ordinary store, which first
 * reads the rest.
 */
static void sweep_rows(const struct job *job, int64_t i0, int64_t i1, int64_t j, int64_t j_end,
                       int64_t k, int planes)
{
    const struct hs_sweep *s = job->sweep;
    const int64_t line = LINE_BYTES / (int64_t)job->size, begin = i0 / line * line;
    const int64_t at = hs_layout_offset(&s->layout, begin, j, k) * (int64_t)job->size;
    const int64_t lines_end = (i1 - begin + line - 1) / line * line;
    const bool lower = s->may_copy && i0 == s->box.lo[HS_X];
    const bool upper =
        s->may_copy && i1 == s->box.hi[HS_X] && begin + lines_end <= s->layout.points[HS_X];
    const void *source = hs_source_field(&s->source);
    const char *before = s->recursion ? s->recursion->before : NULL;
    const struct row row = {
        .in = (const char *)s->in + at,
        .py = s->layout.pitch[HS_Y],
        .pz = s->layout.pitch[HS_Z],
        .rows = j_end - j,
        .planes = planes,
        .lead = job->lead / (int64_t)job->size,
        .c = job->c,
        .source = source ? (const char *)source + at : NULL,
        .source_value = source ? 0.0 : s->source.value[0],
        .first = i0 - begin,
        .last = i1 - begin,
        .from = lower ? 0 : i0 - begin,
        .to = upper ? lines_end : i1 - begin,
        .lines_end = lines_end,
        .streamed = job->streamed,
        .before = before ? (before - (const char *)s->in) / (int64_t)job->size : 0,
        .factor = before ? *s->recursion->factor : 0.0,
    };
    job->row(&row, (char *)s->out + at);
}

/* The group of planes at *at. The last one begins earlier if it would be smaller, since sweeping
 * some planes again costs less than sweeping each by itself. Not in a recursion, which may have
 * overwritten its input. */
static int group_at(const struct job *job, int64_t lo, int64_t hi, int64_t *at)
{
    const int64_t from = hi - job->group < *at ? hi - job->group : *at;
    if (!job->sweep->recursion)
        *at = from > lo ? from : lo;
    return (int)(hi - *at < job->group ? hi - *at : job->group);
}

static void sweep_block(const struct job *job, int64_t number)
{
    const struct hs_box block = piece_of(&job->sweep->box, job->cut, 1, number);
    const int64_t *lo = block.lo, *hi = block.hi;
    const int dims = job->sweep->op->stencil.dims;
    if (dims == 1) {
        sweep_rows(job, lo[HS_X], hi[HS_X], 0, 1, 0, 1);
        return;
    }
    for (int64_t at = lo[dims - 1]; at < hi[dims - 1]; at += job->group) {
        int64_t from = at;
        const int planes = group_at(job, lo[dims - 1], hi[dims - 1], &from);
        if (dims == 2)
            sweep_rows(job, lo[HS_X], hi[HS_X], from, from + 1, 0, planes);
        else
            sweep_rows(job, lo[HS_X], hi[HS_X], lo[HS_Y], hi[HS_Y], from, planes);
    }
}

/* Cuts blocks whose planes stay in the cache, in slabs of the outermost axis, one per thread. If
 * that axis is too short, the next inner one is cut for the threads too. */
static void cut_box(struct job *job)
{
    static const int64_t shortest[HS_AXES] = {512, 8, 8}; /* piece worth a thread, in points */
    const struct hs_sweep *s = job->sweep;
    const int dims = s->op->stencil.dims;
    int64_t extent[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        extent[axis] = s->box.hi[axis] - s->box.lo[axis];
    const int64_t planes = 2 * s->op->stencil.radius + job->group;
    const int64_t row_bytes = extent[HS_X] * (int64_t)job->size;

    job->cut[HS_X] = dims > 1 ? hs_divide_up(row_bytes, WIDEST_ROW) : 1;
    const int64_t rows = BLOCK_BYTES / (planes * hs_divide_up(row_bytes, job->cut[HS_X]));
    job->cut[HS_Y] = dims > 2 ? hs_divide_up(extent[HS_Y], rows > 1 ? rows : 1) : 1;
    job->cut[HS_Z] = 1;
    int64_t needed = job->threads;
    for (int axis = dims - 1; axis >= 0 && needed > 1; axis--) {
        const int64_t most = hs_divide_up(extent[axis], shortest[axis]);
        const int64_t pieces = needed < most ? needed : most;
        if (pieces > job->cut[axis])
            job->cut[axis] = pieces;
        needed = hs_divide_up(needed, pieces);
    }
}

/* Distance from a point to what is prefetched while it is summed: to the farthest point in its sum,
 * plus whole rows, so that every line of a row is prefetched equally early, or AHEAD_BYTES in long
 * rows. */
static int64_t lead_bytes(const struct hs_sweep *s)
{
    const int64_t size = (int64_t)hs_precision_size(s->precision);
    const int64_t farthest =
        s->op->stencil.radius * s->layout.pitch[s->op->stencil.dims - 1] * size;
    const int64_t row = s->layout.pitch[HS_Y] * size;
    return farthest + (row <= LONG_ROW ? hs_round_up(AHEAD_BYTES, row) : AHEAD_BYTES);
}

static enum hs_status sweep_once(const struct hs_sweep *s)
{
    if (s->op->network)
        return hs_conduction_sweep(s);
    const int64_t points = hs_box_count(&s->box);
    if (points == 0)
        return HS_OK;
    struct job job = {.sweep = s, .size = hs_precision_size(s->precision)};
    take_coefficients(s, job.c);
    const int words = hs_source_field(&s->source) ? 3 : 2;
    job.streamed = !s->recursion && points * words * (int64_t)job.size > CACHE_BYTES;
    job.row = ROWS_FUNCTIONS(s->precision == HS_FLOAT)
                  ->rows[s->recursion != NULL][s->op->stencil.dims - 1][s->op->stencil.radius - 1];
    job.group = s->op->stencil.dims > 1 ? GROUP : 1;
    /* a thread is worth waking for some microseconds of work */
    const int64_t worth = hs_divide_up(points, POINTS_PER_THREAD);
    job.threads = worth < s->threads ? (int)worth : s->threads;
    cut_box(&job);
    job.lead = lead_bytes(s);

    const int64_t blocks = job.cut[HS_X] * job.cut[HS_Y] * job.cut[HS_Z];
#pragma omp parallel num_threads(job.threads) if (job.threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t n = 0; n < blocks; n++)
            sweep_block(&job, n);
        hs_stream_fence();
    }
    return HS_OK;
}

/* ---- several sweeps of a recursion ----------------------------------------------------------- */

/* Bytes of the planes that all sweeps of a pass use: of both fields that they write, and as many of
 * those that the pass begins with. */
static int64_t pass_bytes(const struct hs_case *of, int sweeps)
{
    const int outer = of->dims - 1;
    const int64_t plane = of->layout.pitch[outer] * (int64_t)hs_precision_size(of->precision);
    return 4 * (sweeps * of->radius + SLAB) * plane;
}

/* As many sweeps as stay within the cache; one if ghosts have to be filled between them. */
static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    bool ghosts = false;
    for (int face = 0; face < 2 * of->dims; face++)
        ghosts = ghosts || of->face[face].wrap ||
                 ((of->asked & HS_STENCIL) && of->face[face].held < of->radius);
    out->recursion = ghosts || of->dims == 1 ? 1 : MOST_IN_PASS;
    while (out->recursion > 1 && pass_bytes(of, out->recursion) > PASS_BYTES)
        out->recursion--;
    return true;
}

/*
 * Slab by slab along the outermost axis; each sweep is `radius` planes behind the one before, whose
 * new planes it reads. X_n goes to `out` and `last_but_one` in turn, over X_n-2: each plane of that
 * is read for the last time when X_n is made there.
 */
static enum hs_status sweep_in_pass(const struct hs_sweep *s)
{
    const struct hs_recursion *all = s->recursion;
    const int outer = s->layout.points[HS_Z] > 1 ? HS_Z : HS_Y, last = s->steps - 1;
    const int radius = s->op->network ? 1 : s->op->stencil.radius;
    const int64_t lo = s->box.lo[outer], hi = s->box.hi[outer];
    void *const field[] = {s->out,
                           all->last_but_one}; /* of the last sweep, the last but one, ... */
    enum hs_status st = HS_OK;
    for (int64_t front = lo; front - last * radius < hi; front += SLAB)
        for (int n = 0; n <= last && !st; n++) {
            struct hs_sweep one = *s;
            one.steps = 1;
            one.in = n == 0 ? s->in : field[(last - n + 1) % 2];
            one.out = field[(last - n) % 2];
            const struct hs_recursion its = {.before = n == 0   ? all->before
                                                       : n == 1 ? s->in
                                                                : one.out,
                                             .factor = all->factor + n};
            one.recursion = &its;
            const int64_t from = front - n * radius, to = from + SLAB;
            one.box.lo[outer] = from > lo ? from : lo;
            one.box.hi[outer] = to < hi ? to : hi;
            if (one.box.lo[outer] < one.box.hi[outer])
                st = sweep_once(&one);
        }
    return st;
}

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    return s->recursion && s->steps > 1 ? sweep_in_pass(s) : sweep_once(s);
}

const struct hs_kernel hs_kernel_cpu_openmp = {
    .name = "openmp",
    .idea = "threads, SIMD, cache blocks; rows written by non-temporal stores",
    .origin = "Rivera and Tseng, SC 2000; Datta et al., SIAM Review 51 (2009)",
    .device = HS_CPU,
    .features = HS_STENCIL | HS_CONDUCTION | HS_ALL_FORMS | HS_ALL_DIMS | HS_ALL_RADII |
                HS_ALL_PRECISIONS | HS_ALL_VALUES | HS_SINK_TIME,
    .steps = 1,
    .plan = plan,
    .sweep = sweep,
};
