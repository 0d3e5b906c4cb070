/*
 * Ranks: the processes that share a run, each with a slab of the grid (ranks/slab.h).
 *
 * Rank 0 runs the command as if it were alone, with a backend that hands each request to all ranks;
 * the others serve it. So nothing above the backend knows of ranks, but for the few lines of a
 * command that this header is for. The usual program has one rank; heatsolve-mpi as many as it was
 * started as.
 */
#ifndef HS_ENGINE_RANKS_RANKS_H
#define HS_ENGINE_RANKS_RANKS_H

#include "core/backend.h"
#include "core/method.h"
#include "engine/ranks/together.h"

#include <stdbool.h>

/* To be called first. Errors: HS_BAD_INPUT where this is one of several processes, and the program
 * is for one. */
enum hs_status hs_ranks_begin(int *argc, char ***argv, struct hs_error *err);

/* At the end of the program: the status of all, which is rank 0's. */
enum hs_status hs_ranks_end(enum hs_status status);

/* Whether this is the one rank, or rank 0: who speaks. */
bool hs_ranks_is_first(void);

/* For a command that reads a problem on all ranks, once each has: the status of all, and whether
 * what they have read is the same. Errors: those of a rank that failed; HS_BAD_INPUT. */
enum hs_status hs_ranks_compare(enum hs_status status, const struct hs_problem *problem,
                                struct hs_error *err);

/* Gives the rank its share of the node: a device and threads. Before the plan is made. */
void hs_ranks_share(struct hs_problem *problem);

/*
 * For a command that goes on all ranks, once each has the problem and the first has made a
 * plan of it, with `status`. Whether this rank goes on with the command: with that status, or that
 * of the first rank that failed, and a backend by which all ranks do what `*backend`, which is the
 * first one's, does on one. The other ranks have served that when it returns, and are done.
 */
bool hs_ranks_enter(enum hs_status *status, const struct hs_problem *problem,
                    const struct hs_method *method, const struct hs_backend **backend,
                    struct hs_error *err);

/* Share of the layers that ranks sweep which are their own; the rest is halo. */
double hs_ranks_owned(const struct hs_problem *problem, const struct hs_kernel *kernel);

/* "4 of 128 to 129 layers along z, ..." of a problem on this many ranks; "" for one. */
void hs_ranks_describe(const struct hs_problem *problem, const struct hs_kernel *kernel, char *out,
                       size_t size);

#endif
