#include "output/free_space.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

void hs_free_space_release(struct hs_free_space *room)
{
    free(room->gaps);
    *room = (struct hs_free_space){0};
}

static void remove_gap(struct hs_free_space *room, int n)
{
    room->count--;
    memmove(&room->gaps[n], &room->gaps[n + 1], (size_t)(room->count - n) * sizeof *room->gaps);
}

void hs_free_space_leave(struct hs_free_space *room, int64_t at, int64_t bytes, double now)
{
    room->gaps = hs_room(room->gaps, (size_t)room->count, sizeof *room->gaps);
    int n = room->count++;
    for (; n > 0 && room->gaps[n - 1].at > at; n--)
        room->gaps[n] = room->gaps[n - 1];
    room->gaps[n] = (struct hs_gap){.at = at, .bytes = bytes, .since = now};
}

static void join_neighbours(struct hs_free_space *room, double until)
{
    for (int n = 1; n < room->count;) {
        struct hs_gap *a = &room->gaps[n - 1];
        const struct hs_gap *b = &room->gaps[n];
        if (a->at + a->bytes != b->at || a->since > until || b->since > until) {
            n++;
            continue;
        }
        a->bytes += b->bytes;
        a->since = b->since > a->since ? b->since : a->since;
        remove_gap(room, n);
    }
}

bool hs_free_space_find(struct hs_free_space *room, int64_t bytes, double until, struct hs_gap *out)
{
    const struct hs_gap *best = NULL;
    join_neighbours(room, until);
    for (int n = 0; n < room->count; n++) {
        const struct hs_gap *gap = &room->gaps[n];
        if (gap->since <= until && gap->bytes >= bytes && (!best || gap->bytes < best->bytes))
            best = gap;
    }
    if (best)
        *out = *best;
    return best != NULL;
}

int64_t hs_free_space_take(struct hs_free_space *room, int64_t at, int64_t most)
{
    for (int n = 0; n < room->count; n++) {
        struct hs_gap *gap = &room->gaps[n];
        if (gap->at != at)
            continue;
        const int64_t taken = gap->bytes < most ? gap->bytes : most;
        gap->at += taken;
        gap->bytes -= taken;
        if (gap->bytes == 0)
            remove_gap(room, n);
        return taken;
    }
    return 0;
}
