/*
 * Ranks: the processes that share a run, each with a slab of the grid (ranks/slab.h).
 *
 * Rank 0 runs the command as if it were alone, with a backend that hands each request to all ranks;
 * the others serve it. So nothing above the backend knows of ranks, except for the few lines of a
 * command that use this header. The usual program has one rank, heatsolve-mpi as many as it was
 * started with.
 */
#ifndef HS_ENGINE_RANKS_RANKS_H
#define HS_ENGINE_RANKS_RANKS_H

#include "core/backend.h"
#include "core/method.h"
#include "engine/ranks/together.h"

#include <stdbool.h>

/* To be called first. Errors: HS_BAD_INPUT if this is one of several processes, but the program is
 * for one. */
enum hs_status hs_ranks_begin(int *argc, char ***argv, struct hs_error *err);

/* At the end of the program: the status of all ranks, which is rank 0's. */
enum hs_status hs_ranks_end(enum hs_status status);

/* Whether this is the only rank, or rank 0: the one that prints. */
static inline bool hs_ranks_is_first(void)
{
    return hs_ranks_number() == 0;
}

/* For a command that reads a problem on all ranks, after each has: returns the status of all, and
 * checks that all have read the same. Errors: those of a rank that failed; HS_BAD_INPUT. */
enum hs_status hs_ranks_compare(enum hs_status status, const struct hs_problem *problem,
                                struct hs_error *err);

/* Whether the method works on so many ranks. */
static inline bool hs_ranks_can(const struct hs_method *method)
{
    return method->ranks || hs_ranks_count() == 1;
}

/* Gives the rank its share of the machine: a device and threads. Before the plan is made. */
void hs_ranks_share(struct hs_problem *problem);

/*
 * For a command that runs on all ranks, once each has the problem and the first has made a plan of
 * it, with `status`. True on the rank that goes on with the command: *status is then that of the
 * first rank that failed, or as before, and *backend, the first rank's, is replaced by one with
 * which all ranks do together what it does alone. False on others, which have served all requests.
 */
bool hs_ranks_enter(enum hs_status *status, const struct hs_problem *problem,
                    const struct hs_method *method, const struct hs_backend **backend,
                    struct hs_error *err);

/* Share of a rank's own layers in those that it sweeps; the rest is halo. */
double hs_ranks_owned(const struct hs_problem *problem, const struct hs_kernel *kernel);

/* "4 of 128 to 129 layers along z, ..." for a problem on this many ranks; "" for one. */
void hs_ranks_describe(const struct hs_problem *problem, const struct hs_kernel *kernel, char *out,
                       size_t size);

#endif
