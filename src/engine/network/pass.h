/* A pass through the rows of nodes of a rank's portion, by threads that take one part of it after
 * the other. */
#ifndef HS_ENGINE_NETWORK_PASS_H
#define HS_ENGINE_NETWORK_PASS_H

#include "engine/network/nodes.h"

/* The first node where something is wrong. */
struct hs_node_fault_at {
    enum hs_node_fault what;
    int64_t node[HS_AXES];
};

/* What one thread works with. */
struct hs_pass_worker {
    int thread, part;      /* part: of the rows (portion.h), in which the current one lies */
    struct hs_nodes nodes; /* begun at the current row */
    struct hs_node_fault_at fault;
    bool goes_on; /* no row has failed */
};

struct hs_pass {
    const struct hs_network_spec *spec;
    struct hs_portion portion;
    struct hs_axis axis[HS_AXES];
    struct hs_cells cells;
    int threads;
    struct hs_pass_worker *worker; /* [threads] */
    int taker[HS_PARTS_OF_ROWS];   /* the thread that took each part in the last pass */
};

/* Errors: those of hs_cells_init. Release it whatever the result. */
enum hs_status hs_pass_init(struct hs_pass *pass, const struct hs_network_spec *spec,
                            struct hs_error *err);
void hs_pass_release(struct hs_pass *pass);

/* Calls `of_row` for all rows, in each thread until it fails. */
void hs_pass_go(struct hs_pass *pass, void *self,
                bool (*of_row)(void *self, struct hs_pass_worker *worker, int64_t row));

/* For of_row: notes a fault at node i of the row. Returns whether there is none. */
bool hs_pass_note(struct hs_pass_worker *worker, enum hs_node_fault what, int64_t i);

/* The pass's result: HS_BAD_INPUT with the fault of the first node that has one, on all ranks. */
enum hs_status hs_pass_outcome(const struct hs_pass *pass, struct hs_error *err);

/* The status of all ranks. */
enum hs_status hs_pass_agree(const struct hs_pass *pass, enum hs_status status,
                             struct hs_error *err);

/* Sums over all ranks. */
void hs_pass_add(const struct hs_pass *pass, double *sum, int64_t count);

/* Arrays of the portion: their nodes, and where a row begins. */
int64_t hs_pass_nodes(const struct hs_pass *pass);
int64_t hs_pass_place(const struct hs_pass *pass, int64_t row);

/* Calls `of_nodes` for the nodes first <= n < end of such arrays, part by part, and with the thread
 * that took the part in the last pass. */
void hs_pass_again(const struct hs_pass *pass, void *self,
                   void (*of_nodes)(void *self, int thread, int64_t first, int64_t end));

/* What a network has beside its rows: the volume of each substance, with the held shares if one of
 * them has sources or sinks, and what it has of each contact, in a pass after the rows were made;
 * `inflow` and `given`. */
enum hs_status hs_pass_find_substances(struct hs_pass *pass, struct hs_network *out,
                                       struct hs_error *err);
void hs_pass_find_moving(const struct hs_pass *pass, struct hs_network *out);

#endif
