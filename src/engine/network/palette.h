/*
 * Distinct rows, and distinct forcings: each thread has its own, which are then united and sorted,
 * so that numbers do not depend on threads.
 */
#ifndef HS_ENGINE_NETWORK_PALETTE_H
#define HS_ENGINE_NETWORK_PALETTE_H

#include "core/network.h"

#include <stdbool.h>
#include <stddef.h>

/* Things of one size that differ in some byte, in the order in which they came. */
struct hs_distinct {
    size_t size; /* bytes of one */
    int count, capacity;
    char *item; /* [capacity] */
    int *slot;  /* [2 * capacity]: number of what is there, -1: nothing */
};

void hs_distinct_init(struct hs_distinct *set, size_t size);
void hs_distinct_release(struct hs_distinct *set);

/* The number of one like it, which is added if there is none. */
int hs_distinct_place(struct hs_distinct *set, const void *item);

/*
 * Makes the sets one, allocated, that is sorted by `compare` [an order of all that differ];
 * map[s][n] says where what set s has as number n went. `map` is of the sets' counts.
 */
void *hs_distinct_unite(int sets, const struct hs_distinct *set,
                        int (*compare)(const void *, const void *), int *count, int **map);

/* Orders of forcings and of rows, for qsort: by their numbers from first to last. */
int hs_forcing_compare(const void *a, const void *b);
int hs_network_row_compare(const void *a, const void *b);

#endif
