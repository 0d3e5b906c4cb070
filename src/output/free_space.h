/*
 * Gaps in a file that superseded contents have left. They are reused only after a while, because a
 * reader that opened the file earlier may still read there.
 *
 * Gaps are in ascending order. Adjacent gaps that have both waited long enough are merged, so that
 * growing contents fit where several smaller ones were.
 */
#ifndef HS_OUTPUT_FREE_SPACE_H
#define HS_OUTPUT_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct hs_gap {
    int64_t at, bytes;
    double since; /* when it was freed [s] */
};

struct hs_free_space { /* begins as zeros */
    struct hs_gap *gaps;
    int count;
};

void hs_free_space_release(struct hs_free_space *space);

/* Adds a gap that was freed at `now` [s]. */
void hs_free_space_leave(struct hs_free_space *space, int64_t at, int64_t bytes, double now);

/* The smallest gap of at least `bytes` that was freed at or before `until` [s]; false if none. */
bool hs_free_space_find(struct hs_free_space *space, int64_t bytes, double until,
                        struct hs_gap *out);

/* Takes up to `most` bytes from the start of the gap at `at`; returns how many. */
int64_t hs_free_space_take(struct hs_free_space *space, int64_t at, int64_t most);

#endif
