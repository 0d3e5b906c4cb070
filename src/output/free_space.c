#include "output/free_space.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

void hs_free_space_release(struct hs_free_space *space)
{
    free(space->gaps);
    *space = (struct hs_free_space){0};
}

static void remove_gap(struct hs_free_space *space, int n)
{
    space->count--;
    memmove(&space->gaps[n], &space->gaps[n + 1], (size_t)(space->count - n) * sizeof *space->gaps);
}

void hs_free_space_leave(struct hs_free_space *space, int64_t at, int64_t bytes, double now)
{
    space->gaps = hs_reserve(space->gaps, (size_t)space->count, sizeof *space->gaps);
    int n = space->count++;
    for (; n > 0 && space->gaps[n - 1].at > at; n--)
        space->gaps[n] = space->gaps[n - 1];
    space->gaps[n] = (struct hs_gap){.at = at, .bytes = bytes, .since = now};
}

static void join_neighbours(struct hs_free_space *space, double until)
{
    for (int n = 1; n < space->count;) {
        struct hs_gap *a = &space->gaps[n - 1];
        const struct hs_gap *b = &space->gaps[n];
        if (a->at + a->bytes != b->at || a->since > until || b->since > until) {
            n++;
            continue;
        }
        a->bytes += b->bytes;
        a->since = b->since > a->since ? b->since : a->since;
        remove_gap(space, n);
    }
}

bool hs_free_space_find(struct hs_free_space *space, int64_t bytes, double until,
                        struct hs_gap *out)
{
    const struct hs_gap *best = NULL;
    join_neighbours(space, until);
    for (int n = 0; n < space->count; n++) {
        const struct hs_gap *gap = &space->gaps[n];
        if (gap->since <= until && gap->bytes >= bytes && (!best || gap->bytes < best->bytes))
            best = gap;
    }
    if (best)
        *out = *best;
    return best != NULL;
}

int64_t hs_free_space_take(struct hs_free_space *space, int64_t at, int64_t most)
{
    for (int n = 0; n < space->count; n++) {
        struct hs_gap *gap = &space->gaps[n];
        if (gap->at != at)
            continue;
        const int64_t taken = gap->bytes < most ? gap->bytes : most;
        gap->at += taken;
        gap->bytes -= taken;
        if (gap->bytes == 0)
            remove_gap(space, n);
        return taken;
    }
    return 0;
}
