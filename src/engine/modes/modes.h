/*
 * A stencil's field as modes of its axes.
 *
 * On the swept nodes a sweep is T <- S T + f, where S - 1 is a sum of one matrix per axis. So a
 * sweep multiplies each product of the axes' modes (engine/modes/eigenbasis.h) by a number. The
 * forcing f, from the source, the walls' data and the held nodes, is the result of a sweep over a
 * field of zeros. It must not change in time.
 *
 * The field that the modes begin with stays in the backend unchanged. Each beginning is checked: a
 * sweep of that field by the run's kernel must agree with the modes to rounding.
 */
#ifndef HS_ENGINE_MODES_MODES_H
#define HS_ENGINE_MODES_MODES_H

#include "core/backend.h"

struct hs_modes {
    const struct hs_problem *problem;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    struct hs_slots axis[HS_AXES];  /* of the swept nodes; folded where the axis is mirrored */
    int64_t extent[HS_AXES], count; /* slots */
    double *memory;                 /* the backend's; it holds all of the following */
    double *initial, *forcing;      /* [lasting modes], [modes] */
    struct hs_lasting lasting[HS_AXES], all[HS_AXES];
    double *work[2];
    double *vector[HS_AXES], *inverse[HS_AXES], *rate[HS_AXES];
    bool is_sum;            /* the forcing is a sum of one vector per axis: */
    double *pair[HS_AXES];  /* extends the modes of its sum, and of a constant, by this axis */
    double *no_pair;        /* those before the first axis */
    double *probe[HS_AXES]; /* some rows of an inverse, for the check */
    struct hs_operator op;
    double common;               /* part of all rates: that of a constant field far from walls */
    double largest;              /* K: of the initial field, at a node */
    double largest_forcing;      /* K: of f, at a node */
    int64_t not_finite;          /* nodes, in the sweep that checks the modes */
    double change;               /* K: the largest change in that sweep */
    bool is_free;                /* no face pulls towards a temperature */
    int64_t slow[HS_AXES];       /* the mode that changes least, */
    double slow_largest;         /* its largest value, */
    double slow_rate;            /* its rate without the common part, */
    double slow_off, slow_mixed; /* and the effect of rounding on it (engine/modes/eigenbasis.h) */
};

/* HS_OK, or why the problem has no such modes. */
enum hs_status hs_modes_suit(const struct hs_problem *problem, struct hs_error *err);

/* For a method's table: bytes of device memory in addition to the backend's. */
double hs_modes_memory(const struct hs_problem *problem, const struct hs_backend *backend);

/* Makes a method's state of `size` bytes, zero after the struct hs_modes at its start; NULL after
 * failure. */
struct hs_method_state;
enum hs_status hs_modes_create(size_t size, const struct hs_problem *problem,
                               const struct hs_backend *backend, struct hs_backend_state *state,
                               struct hs_method_state **out, struct hs_error *err);
void hs_modes_destroy(struct hs_method_state *self); /* accepts NULL */

/* Begins with the backend's field, for sweeps with the span's operator and step. `rule` and
 * `amount`: of the first call of hs_modes_put; no later one may ask for an earlier state. Only
 * those modes of the field are found of which something is left then. */
enum hs_status hs_modes_begin(struct hs_modes *modes, const struct hs_span *span,
                              enum hs_mode_rule rule, double amount, struct hs_error *err);

/* Puts what the initial field has become into the backend; a filter's rates and modes are set here.
 * `steps`: the backend's present field stays available as the one a step before. */
enum hs_status hs_modes_put(struct hs_modes *modes, struct hs_mode_filter becomes, bool steps,
                            struct hs_error *err);

/* *out: K a sweep, the most that f adds to the slowest mode at a node. */
enum hs_status hs_modes_drift(struct hs_modes *modes, double *out, struct hs_error *err);

/* Whether a mode has the rate 0, since neither a face nor the sum of the coefficients pulls: in a
 * steady state only the initial field determines it. */
bool hs_modes_have_still(const struct hs_modes *modes);

/* The relative error of the slowest mode in a steady state, where another mode is so much faster
 * that its rounding counts; INFINITY: any error. */
double hs_modes_doubt(const struct hs_modes *modes);

/* A sweep of a diffusion with half the longest stable step; its coefficients are those of double
 * whatever the precision. */
struct hs_span hs_modes_sweep(const struct hs_problem *problem);

#endif
