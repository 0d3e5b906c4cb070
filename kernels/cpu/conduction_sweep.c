/*
 * One sweep of conduction by threads, vectors and cache blocks: how `openmp` sweeps a body.
 *
 * A block is a group of adjacent rows in all planes of a slab. Its current and its previous plane
 * stay in the core's cache until they have been read for the last time. Rows of large fields are
 * written by non-temporal stores, and what is read some rows later is prefetched.
 */
#include "conduction_rows.h"
#include "core/stream.h"

#include <assert.h>

enum {
    BLOCK_BYTES = 512 * 1024, /* of the planes that a block keeps */
    PLANES = 4,               /* number of these: three of the input, one of the output */
    AHEAD = 4,                /* rows */
    NODES_PER_THREAD = 4096,  /* fewest that are worth a thread */
    SHORTEST = 512            /* piece of a row, in nodes */
};

struct job {
    const struct hs_sweep *s;
    const struct conduction_functions *functions;
    int64_t size;
    int64_t reach[HS_AXES]; /* 1; 0 along axes that are not there */
    bool prefetched;        /* fields come from memory */
    bool streamed;          /* the output is written by non-temporal stores */
    int threads;
    int64_t pieces[HS_AXES];
};

/* Rows j to j_end of plane k, from node `from` to `to`. */
static void sweep_rows(const struct job *job, void *kept, const int64_t from[HS_AXES],
                       const int64_t to[HS_AXES], int64_t k)
{
    const struct hs_sweep *s = job->s;
    const int64_t *pitch = s->layout.pitch, first = hs_layout_offset(&s->layout, 0, from[HS_Y], k);
    const int64_t across = job->reach[HS_Y] * pitch[HS_Y], march = job->reach[HS_Z] * pitch[HS_Z];
    const char *in = (const char *)s->in + first * job->size;
    const struct conduction_rows rows = {
        .network = s->op->network,
        .source = hs_source_field(&s->source),
        .across = HS_Y,
        .march = HS_Z,
        .across_pitch = across,
        .march_pitch = march,
        .points = s->layout.points[HS_X],
        .from = from[HS_X],
        .to = to[HS_X],
        .count = to[HS_Y] - from[HS_Y],
        .forcing = s->op->network->forcing,
        .kept = kept,
        .streamed = job->streamed,
        .prefetch = job->prefetched ? in + (march + AHEAD * pitch[HS_Y]) * job->size : NULL,
        .recurs = s->recursion != NULL,
        .before = s->recursion ? (const char *)s->recursion->before - (const char *)s->out : 0,
        .factor = s->recursion ? *s->recursion->factor : 0.0,
    };
    const struct conduction_level level = {
        .first = first,
        .in = in,
        .before = in - across * job->size,
        .after = in + across * job->size,
        .lower = in - march * job->size,
        .upper = in + march * job->size,
        .out = (char *)s->out + first * job->size,
        .in_pitch = across * job->size,
        .out_pitch = across * job->size,
    };
    job->functions->rows[s->op->network->form](&rows, &level);
}

static void sweep_block(const struct job *job, void *kept, int64_t number)
{
    const struct hs_box block = piece_of(&job->s->box, job->pieces, LINE_BYTES / job->size, number);
    for (int64_t k = block.lo[HS_Z]; k < block.hi[HS_Z]; k++)
        sweep_rows(job, kept, block.lo, block.hi, k);
}

/* Slabs of planes, one per thread; with too few planes, rows are divided too, and a single row is
 * cut. */
static void cut_box(struct job *job)
{
    const struct hs_box *box = &job->s->box;
    int64_t *pieces = job->pieces;
    const int64_t row_bytes = job->s->layout.pitch[HS_Y] * job->size;
    const int64_t rows = box->hi[HS_Y] - box->lo[HS_Y], planes = box->hi[HS_Z] - box->lo[HS_Z];
    const int64_t in_block = hs_larger(BLOCK_BYTES / (PLANES * row_bytes), 1);
    pieces[HS_Z] = hs_smaller(job->threads, planes);
    pieces[HS_Y] = planes > 1 ? hs_divide_up(rows, in_block) : 1;
    const int64_t needed = hs_divide_up(job->threads, pieces[HS_Z]);
    pieces[HS_Y] = hs_larger(pieces[HS_Y], hs_smaller(needed, rows));
    pieces[HS_X] =
        rows * planes == 1
            ? hs_smaller(job->threads, hs_divide_up(job->s->layout.points[HS_X], SHORTEST))
            : 1;
}

enum hs_status hs_conduction_sweep(const struct hs_sweep *s)
{
    const int64_t nodes = hs_box_count(&s->box);
    if (nodes == 0)
        return HS_OK;
    assert(s->box.lo[HS_X] == 0 && s->box.hi[HS_X] == s->layout.points[HS_X]);
    struct job job = {.s = s,
                      .functions = hs_conduction_functions(s->precision),
                      .size = (int64_t)hs_precision_size(s->precision)};
    for (int axis = 0; axis < HS_AXES; axis++)
        job.reach[axis] = s->layout.points[axis] > 1;
    const int64_t fields = hs_source_field(&s->source) ? 3 : 2;
    job.prefetched = nodes * fields * job.size > CACHE_BYTES;
    job.streamed = job.prefetched && !s->recursion; /* a recursion has just read it */
    job.threads = (int)hs_smaller(s->threads, hs_divide_up(nodes, NODES_PER_THREAD));
    cut_box(&job);
    const int64_t blocks = job.pieces[HS_X] * job.pieces[HS_Y] * job.pieces[HS_Z];
#pragma omp parallel num_threads(job.threads) if (job.threads > 1)
    {
        _Alignas(LINE_BYTES) char kept[CONDUCTION_KEPT];
        hs_conduction_forget(kept);
#pragma omp for schedule(static)
        for (int64_t n = 0; n < blocks; n++)
            sweep_block(&job, kept, n);
        hs_stream_fence();
    }
    return HS_OK;
}
