/*
 * What ranks make together, before any of them has a slab.
 *
 * All of them call these, each at the same place. With one rank nothing calls them, but for what
 * asks how many there are.
 */
#ifndef HS_ENGINE_RANKS_TOGETHER_H
#define HS_ENGINE_RANKS_TOGETHER_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

int hs_ranks_count(void);
int hs_ranks_number(void); /* of this one */

/* The status of all: that of the first that failed, whose message rank 0 then has. */
enum hs_status hs_ranks_agree(enum hs_status status, struct hs_error *err);

/* What each has, one after the other, and how many bytes; both allocated. */
void *hs_ranks_gather(const void *here, size_t bytes, size_t **each);

/* The same, on rank 0 alone, in its `all`. */
void hs_ranks_collect(const void *here, size_t bytes, void *all);

/* Sums of all, number by number. */
void hs_ranks_add(double *sum, int64_t count);

/* Between neighbours among the first `ranks` of them, the last of which comes before the first:
 * out[0] goes to the one before, whose out[1] comes as in[0]; likewise with the one after. */
void hs_ranks_beside(int ranks, const void *const out[2], void *const in[2], size_t bytes);

#endif
