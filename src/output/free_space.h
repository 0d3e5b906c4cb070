/*
 * Space within a file that its contents were in and have left, to be used again after a while: a
 * reader that opened the file before may still read there.
 *
 * Gaps lie in ascending order. Neighbours that have both waited long enough are one, so that
 * contents which grow fit where several smaller ones were.
 */
#ifndef HS_OUTPUT_FREE_SPACE_H
#define HS_OUTPUT_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct hs_gap {
    int64_t at, bytes;
    double since; /* when it was left [s] */
};

struct hs_free_space { /* begins as zeros */
    struct hs_gap *gaps;
    int count;
};

void hs_free_space_release(struct hs_free_space *space);

/* Adds bytes that were left at `now` [s]. */
void hs_free_space_leave(struct hs_free_space *space, int64_t at, int64_t bytes, double now);

/* The smallest gap of `bytes` or more that was left at `until` [s] or before; false if none. */
bool hs_free_space_find(struct hs_free_space *space, int64_t bytes, double until,
                        struct hs_gap *out);

/* The first `most` bytes of the gap at `at`, or as many as it has, are in use again: returns how
 * many. */
int64_t hs_free_space_take(struct hs_free_space *space, int64_t at, int64_t most);

#endif
