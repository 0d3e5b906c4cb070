/*
 * wavefront.c: what is carried between memory and the ring while lines are summed.
 *
 * Memory is slow to read and to write, but does both while the core sums. So the rows of the last
 * level are not streamed to memory at once but wait in the ring, and the rows to come are
 * prefetched long before their use: some lines of either between any two lines that are summed, at
 * any level. Lines are prefetched twice, since that was found to help: a core with many requests
 * seems to drop some. Level 1 of a 3D tile prefetches its lines itself.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_CARRY_H
#define HS_KERNELS_CPU_WAVEFRONT_CARRY_H

#include "core/stream.h"
#include "wavefront_tile.h"

struct prefetch {
    const char *at, *end;
    int64_t row, row_end, plane; /* virtual; the rows still to be prefetched */
};

struct waiting {
    const char *from;
    char *to;
};

struct carry {
    const struct tile *t;
    int64_t credit, earned, cost; /* for each `cost` earned, a line of each is carried */
    const char *from, *from_end;
    char *to;
    int64_t row_bytes;
    bool plain;      /* into the cache: all fields fit there */
    int head, count; /* of the queue */
    struct waiting queue[QUEUE];
    struct prefetch prefetch[PREFETCH_TIMES];
};

/* The row being carried while lines are summed. */
struct load {
    const char *from, *end;
    char *to;
    int64_t credit;
};

HS_INLINE struct load carry_begin(const struct carry *c)
{
    return (struct load){c->from, c->from_end, c->to, c->credit};
}

HS_INLINE void carry_end(struct carry *c, const struct load *load)
{
    c->from = load->from;
    c->to = load->to;
    c->credit = load->credit;
}

static bool carry_next(struct carry *c)
{
    if (c->count == 0)
        return false;
    c->from = c->queue[c->head].from;
    c->to = c->queue[c->head].to;
    c->from_end = c->from + c->row_bytes;
    c->head = (c->head + 1) % QUEUE;
    c->count--;
    return true;
}

static bool prefetch_next(struct carry *c, struct prefetch *p)
{
    const struct tile *t = c->t;
    const struct wave *w = t->w;
    if (p->row >= p->row_end)
        return false;
    const int64_t lo = hs_larger(level_lo(t, 0, HS_X), 0);
    const int64_t hi = hs_smaller(level_hi(t, 0, HS_X), w->n[HS_X]);
    p->at = field_at(w, w->s->in, lo, wrapped(p->row, w->n[w->across]),
                     wrapped(p->plane, w->n[w->march]));
    p->end = p->at + (hi - lo) * w->size;
    p->row++;
    return true;
}

/* Schedules the rows of input plane k from row j on for prefetching. */
static void prefetch_plane(struct carry *c, struct prefetch *p, int64_t j, int64_t k)
{
    const struct tile *t = c->t;
    p->row = j;
    p->plane = k;
    p->row_end = k >= level_lo(t, 0, t->w->march) && k < level_hi(t, 0, t->w->march)
                     ? level_hi(t, 0, t->w->across)
                     : j;
}

/* Streams rows until no more than `left` wait. */
static void drain(struct carry *c, int left)
{
    while (c->from < c->from_end || c->count > left) {
        if (c->from == c->from_end)
            carry_next(c);
        if (c->plain)
            memcpy(c->to, c->from, (size_t)(c->from_end - c->from));
        else
            hs_stream_lines(c->to, c->from, (size_t)(c->from_end - c->from));
        c->from = c->from_end;
    }
}

/* Queues a row for output, in whole lines, also into the gap behind it: no node is there, and
 * ghosts are filled before they are read. */
static void wait_row(struct carry *c, int64_t j, int64_t k)
{
    const struct tile *t = c->t;
    const struct wave *w = t->w;
    const int64_t i = t->box.lo[HS_X];
    if (c->count == QUEUE)
        drain(c, QUEUE / 2);
    c->queue[(c->head + c->count++) % QUEUE] = (struct waiting){
        ring_at(t, w->steps, i, j, k), (char *)w->s->out + element(w, i, j, k) * w->size};
}

#endif
