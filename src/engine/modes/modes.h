/*
 * A stencil's field as modes of its axes.
 *
 * On the swept nodes a sweep is T <- S T + f, where S - 1 is a sum of one matrix per axis, so that
 * the products of the axes' modes (engine/modes/eigenbasis.h) are multiplied by a number each. f,
 * which has the source, the walls' data and the held nodes, is what a sweep makes of a field of
 * zeros. It must not change in time.
 *
 * The field that the modes begin with stays in the backend as it is. Each beginning is checked: a
 * sweep of that field, by the run's kernel, must be what the modes say of it to rounding.
 */
#ifndef HS_ENGINE_MODES_MODES_H
#define HS_ENGINE_MODES_MODES_H

#include "core/backend.h"

struct hs_modes {
    const struct hs_problem *problem;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    struct hs_slots axis[HS_AXES];  /* of the swept nodes; a mirrored one's are folded */
    int64_t extent[HS_AXES], count; /* slots */
    double *memory;                 /* the backend's, all of the following */
    double *initial, *forcing;      /* [modes] */
    bool from_initial;              /* what is asked for depends on the initial field */
    double *work[2];
    double *vector[HS_AXES], *inverse[HS_AXES], *rate[HS_AXES];
    bool is_sum;           /* the forcing is, of one vector per axis (engine/modes/forcing.h): */
    double *pair[HS_AXES]; /* what makes its modes, and a constant's, of those of the axes before */
    double *no_pair;       /* those of no axis */
    double *probe;         /* some rows of an inverse */
    struct hs_operator op;
    double common;               /* of the rates: of a constant field where no wall is near */
    double largest;              /* K: of the field that they begin with, at a node; */
    double largest_forcing;      /* and of f */
    int64_t not_finite;          /* nodes, of the sweep that the modes were checked by; */
    double change;               /* K: and what it changed */
    bool is_free;                /* no face pulls to a temperature */
    int64_t slow[HS_AXES];       /* the mode that changes least, */
    double slow_largest;         /* its largest value, */
    double slow_rate;            /* without what is common, */
    double slow_off, slow_mixed; /* and what rounding makes of it (engine/modes/eigenbasis.h) */
};

/* HS_OK, or why the problem has no such modes. */
enum hs_status hs_modes_suit(const struct hs_problem *problem, struct hs_error *err);

/* For tables of methods: bytes of the device's memory beside the backend's. */
double hs_modes_memory(const struct hs_problem *problem, const struct hs_backend *backend);

/* Likewise: a state of `size` bytes, all zero but the modes that it begins with, and its end. */
struct hs_method_state;
enum hs_status hs_modes_create(size_t size, const struct hs_problem *problem,
                               const struct hs_backend *backend, struct hs_backend_state *state,
                               struct hs_method_state **out, struct hs_error *err);
void hs_modes_destroy(struct hs_method_state *self);

/* To be released after failure too. */
enum hs_status hs_modes_init(struct hs_modes *modes, const struct hs_problem *problem,
                             const struct hs_backend *backend, struct hs_backend_state *state,
                             struct hs_error *err);
void hs_modes_release(struct hs_modes *modes);

/* From the field as it is, for sweeps of the span's operator and step, and what hs_modes_put will
 * be asked for. */
enum hs_status hs_modes_begin(struct hs_modes *modes, const struct hs_span *span,
                              enum hs_mode_rule rule, struct hs_error *err);

/* What has become of the field that they began with, into the backend; `steps`: the field that is
 * there stays at hand as the one a step before. The steady state has no amount: 0. */
enum hs_status hs_modes_put(struct hs_modes *modes, enum hs_mode_rule rule, double amount,
                            bool steps, struct hs_error *err);

/* Its mean over some time, likewise, without that. */
enum hs_status hs_modes_put_mean(struct hs_modes *modes, double begin, double end,
                                 struct hs_error *err);

/* K a sweep: what f adds to the mode that changes least, at most at a node. */
enum hs_status hs_modes_drift(struct hs_modes *modes, double *out, struct hs_error *err);

/* Whether a mode stays as it is, so that nothing but the initial field says what it is in a steady
 * state: neither a face nor the sum of the coefficients pulls. */
bool hs_modes_have_still(const struct hs_modes *modes);

/* By how much of it the slowest mode's share in a steady state may be off, where one mode is so
 * much faster that its rounding counts; INFINITY: by any. */
double hs_modes_doubt(const struct hs_modes *modes);

/* A sweep of a diffusion, of half the longest stable step; its coefficients are those of double
 * whatever the precision. */
struct hs_span hs_modes_sweep(const struct hs_problem *problem);

#endif
