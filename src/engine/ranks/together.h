/*
 * Collective operations of the ranks, before any of them has a slab.
 *
 * All ranks call each of these at the same point. With one rank only those that ask how many there
 * are get called.
 */
#ifndef HS_ENGINE_RANKS_TOGETHER_H
#define HS_ENGINE_RANKS_TOGETHER_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

int hs_ranks_count(void);
int hs_ranks_number(void); /* of this one */

/* The status of all ranks: that of the first that failed, whose message rank 0 then has. */
enum hs_status hs_ranks_agree(enum hs_status status, struct hs_error *err);

/* The data of all ranks, concatenated, and how many bytes each has; both allocated. */
void *hs_ranks_gather(const void *here, size_t bytes, size_t **each);

/* The same on rank 0 only, in its `all`. */
void hs_ranks_collect(const void *here, size_t bytes, void *all);

/* Sums over all ranks, number by number. */
void hs_ranks_add(double *sum, int64_t count);

/* Exchanges layers with neighbours in a ring of the first `ranks` ranks. An array has a layer of
 * the rank before, `own` bytes of this rank, and a layer of the rank after. */
void hs_ranks_beside(int ranks, void *array, size_t layer, size_t own);

#endif
