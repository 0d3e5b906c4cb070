/* What goes between ranks, by MPI. Whatever fails in it ends all ranks. */
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

void hs_wire_begin(int *argc, char ***argv);
void hs_wire_end(void);

/* From rank 0 to all others. They wait for it asleep most of the time, since it may take long. */
void hs_wire_tell(void *data, size_t bytes);

void hs_wire_send(int to, const void *data, size_t bytes);
void hs_wire_receive(int from, void *data, size_t bytes);

/* One neighbour's part of an exchange: what it gets and what comes from it. */
struct hs_wire_side {
    int rank; /* -1: no neighbour */
    const void *out;
    void *in;
    size_t bytes;
};
/* With the ranks below and above, which may be the same one. */
void hs_wire_exchange(const struct hs_wire_side *below, const struct hs_wire_side *above);

/* The status of all: HS_OK, or that of the first rank that failed. Rank 0 has its message then, and
 * knows if a signal has asked one of them for a stop. */
enum hs_status hs_wire_settle(enum hs_status status, struct hs_error *err);

/* Says why, and ends all ranks with that status. */
_Noreturn void hs_wire_abort(enum hs_status status, const char *format, ...) HS_PRINTF(2, 3);

/* Whether no other rank on this node says the same. All of the node ask at once. */
bool hs_wire_apart(const void *what, size_t bytes);

/* The least of all ranks; each knows. */
int hs_wire_least(int here);

/* Sums of all ranks, number by number; each knows. */
void hs_wire_add(double *sum, size_t count);

/* What each rank has, one after the other, and how many bytes; both allocated. */
void *hs_wire_gather(const void *here, size_t bytes, size_t **each);

#endif
