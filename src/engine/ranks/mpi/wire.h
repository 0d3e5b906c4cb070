/* Communication between ranks by MPI. Any failure in it ends all ranks. */
#ifndef HS_ENGINE_RANKS_MPI_WIRE_H
#define HS_ENGINE_RANKS_MPI_WIRE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct hs_wire {
    int rank, ranks;
    int local, locals; /* of the ranks on this node */
};
extern struct hs_wire hs_wire;

/* False if this MPI lets only one thread speak, and there are several ranks. */
bool hs_wire_begin(int *argc, char ***argv);
void hs_wire_end(void);

/* Name and version of the MPI that it is linked with, in one line. */
void hs_wire_library(char *out, size_t size);

/* Broadcasts from rank 0. The others mostly sleep while they wait, since that may take long. */
void hs_wire_tell(void *data, size_t bytes);

void hs_wire_send(int to, const void *data, size_t bytes);
void hs_wire_receive(int from, void *data, size_t bytes);

/* One neighbour's part of an exchange: what is sent to it, and what comes from it. */
struct hs_wire_side {
    int rank; /* -1: no neighbour */
    const void *out;
    void *in;
    size_t bytes;
};
/* With the ranks below and above, which may be the same one. */
void hs_wire_exchange(const struct hs_wire_side *below, const struct hs_wire_side *above);

/* The status of all ranks: HS_OK, or that of the first that failed. Rank 0 gets its message, and
 * learns if a signal has asked one of them to stop. */
enum hs_status hs_wire_settle(enum hs_status status, struct hs_error *err);

/* Prints why, and ends all ranks with that status. */
_Noreturn void hs_wire_abort(enum hs_status status, const char *format, ...) HS_PRINTF(2, 3);

/* Whether no other rank on this node has the same bytes. All ranks of the node call it at once. */
bool hs_wire_apart(const void *what, size_t bytes);

/* The least over all ranks, on each. */
int hs_wire_least(int here);

#endif
