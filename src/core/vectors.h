/*
 * What a backend offers to methods whose step is more than a sweep: further fields, a sweep from
 * any field to another, and linear combinations of fields. A table beside the backend's.
 *
 * Fields are identified by numbers: 0 is the state's field, 1 what remains of the previous field,
 * and further ones exist once they are reserved. Calls are asynchronous and executed in order; only
 * `finish` waits.
 */
#ifndef HS_CORE_VECTORS_H
#define HS_CORE_VECTORS_H

#include "core/backend.h"

/* factor * (field `plus` - field `minus`). The two fields are nearly equal, so that the rounding
 * errors do not scale with their magnitude. */
struct hs_term {
    double factor; /* rounded to the fields' precision */
    int plus, minus;
};

enum { HS_TERMS = 3 }; /* most terms of a sum */

/* The fields of a recursion call (core/kernel.h). */
struct hs_recurrence {
    int in, before;
    int out, last_but_one; /* last_but_one: only used with more than one sweep */
};

struct hs_vectors {
    /* Bytes of device memory that `fields` fields take, 0 and 1 not counted. */
    double (*bytes)(const struct hs_problem *problem, int fields);
    /* Provides `fields` fields in all; new ones start with the values of field 0. HS_DEVICE if
     * memory is short. */
    enum hs_status (*reserve)(struct hs_backend_state *state, int fields, struct hs_error *err);
    /* One sweep with the span's step and operator, from hs_span_time(span, 0); prescribed wall
     * values are taken at hs_span_time(span, 1). `from` and `to` must differ. */
    enum hs_status (*sweep)(struct hs_backend_state *state, const struct hs_span *span, int from,
                            int to, struct hs_error *err);
    /*
     * out = base + the terms in turn, at free nodes:
     *     out = base; out = fma(factor, plus - minus, out) for each term
     * in the fields' precision, so that every backend gives the same bits; at other nodes out =
     * base. `out` may be any field but `base`. At most HS_TERMS terms. Nodes of the box `but` are
     * left as they are; NULL: no such box.
     */
    enum hs_status (*combine)(struct hs_backend_state *state, int out, int base,
                              const struct hs_term *terms, int count, const struct hs_box *but,
                              struct hs_error *err);
    /* How many sweeps of a recursion one pass over the fields performs; 0: recur is not available,
     * and each takes a sweep and a sum of two terms. */
    int (*recursion)(const struct hs_backend_state *state);
    /* `steps` sweeps of a recursion, if nothing changes with time. Each gives the same bits as
     *     sweep(in, other); combine(out, other, {factor, other, before})
     */
    enum hs_status (*recur)(struct hs_backend_state *state, const struct hs_span *span,
                            const struct hs_recurrence *fields, const double *factor, int steps,
                            struct hs_error *err);
    /* Swaps the numbers of fields a and b. */
    void (*exchange)(struct hs_backend_state *state, int a, int b);
    /* Waits until all calls are done. known: field 1 is field 0 one step before, for reduce (the
     * change) and download_before. */
    enum hs_status (*finish)(struct hs_backend_state *state, bool known, struct hs_error *err);
};

#endif
