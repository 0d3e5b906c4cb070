/*
 * What a backend offers to methods whose step is more than a sweep: further fields, one sweep from
 * any of them to another, and sums of them. A table beside the backend's; NULL where it has none.
 *
 * Fields are numbers: 0 is the state's own, 1 what is left of the one before, further ones are
 * there once they are reserved. What one call asks for is behind what calls before it asked for;
 * only `finish` waits for it.
 */
#ifndef HS_CORE_VECTORS_H
#define HS_CORE_VECTORS_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* factor * (field `plus` - field `minus`): of two fields that are nearly the same, so that their
 * size makes no rounding. */
struct hs_term {
    double factor; /* rounded to the fields' precision */
    int plus, minus;
};

enum { HS_TERMS = 3 }; /* of a sum, at most */

/* The fields of a call of a recursion (core/kernel.h). */
struct hs_recurrence {
    int in, before;
    int out, last_but_one; /* the latter only of more than one sweep */
};

struct hs_vectors {
    /* Bytes of the device's memory that so many fields take, 0 and 1 not counted. */
    double (*bytes)(const struct hs_problem *problem, int fields);
    /* Has so many fields in all; new ones begin with the values of field 0. HS_DEVICE where memory
     * is short. */
    enum hs_status (*reserve)(struct hs_backend_state *state, int fields, struct hs_error *err);
    /* One sweep of the span's step and operator, which begins at hs_span_time(span, 0); what walls
     * prescribe is that of hs_span_time(span, 1). `from` and `to` differ. */
    enum hs_status (*sweep)(struct hs_backend_state *state, const struct hs_span *span, int from,
                            int to, struct hs_error *err);
    /*
     * out = base + the terms, one after the other, at nodes that are free:
     *     out = base; out = fma(factor, plus - minus, out) for each term
     * in the fields' precision, so that the bits are the same on every backend; at other nodes out
     * is base. out may be any field but base. At most HS_TERMS terms. Nodes of the box
     * `but` stay as they are; NULL: none do.
     */
    enum hs_status (*combine)(struct hs_backend_state *state, int out, int base,
                              const struct hs_term *terms, int count, const struct hs_box *but,
                              struct hs_error *err);
    /* How many sweeps of a recursion one pass over the fields makes; 0: none, and then there is a
     * sweep and a sum of two terms for each. */
    int (*recursion)(const struct hs_backend_state *state);
    /* So many of them, where nothing changes with time, each the same bits as
     *     sweep(in, other); combine(out, other, {factor, other, before})
     * would give. */
    enum hs_status (*recur)(struct hs_backend_state *state, const struct hs_span *span,
                            const struct hs_recurrence *fields, const double *factor, int steps,
                            struct hs_error *err);
    /* Fields a and b change numbers. */
    void (*exchange)(struct hs_backend_state *state, int a, int b);
    /* Waits until all is done. known: field 1 is field 0 one step before, so that reduce tells the
     * change and download_before has it. */
    enum hs_status (*finish)(struct hs_backend_state *state, bool known, struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
