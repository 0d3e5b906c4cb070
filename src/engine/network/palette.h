/*
 * Distinct rows, and distinct forcings: each thread has its own sets, which are then united and
 * sorted, so that numbers do not depend on threads.
 */
#ifndef HS_ENGINE_NETWORK_PALETTE_H
#define HS_ENGINE_NETWORK_PALETTE_H

#include "core/network.h"

#include <stddef.h>

/* Distinct items of one size, in the order in which they came. A new set has only that. */
struct hs_distinct {
    size_t size; /* bytes of one */
    int count, capacity;
    char *item;    /* [capacity] */
    int *slot;     /* [2 * capacity]: number of the item there, -1: none */
    int64_t *uses; /* [capacity]: 0 when it comes; counted by who places it */
    int *map;      /* [count], once it has been united: the place of each item in the union */
};

void hs_distinct_release(struct hs_distinct *set); /* leaves it empty */

/* The number of the equal item, which is added if there is none. */
int hs_distinct_place(struct hs_distinct *set, const void *item);

/* Unites the sets, and sets their maps. Returns the union, [count], allocated and sorted by
 * `compare`, a total order. */
void *hs_distinct_unite(int sets, struct hs_distinct *set,
                        int (*compare)(const void *, const void *), int *count);

/* Orders of forcings and of rows, for qsort: by their numbers from first to last. */
int hs_forcing_compare(const void *a, const void *b);
int hs_network_row_compare(const void *a, const void *b);

#endif
