/*
 * Boundaries: every kind is one row of a table and lowers to data.
 *
 * A face holds its outermost `held` layers, which no sweep updates, and each ghost layer
 * m = 1..radius outside it obeys one affine rule,
 *
 *     ghost(m) = a[m-1]*inner(m) + b[m-1]*edge + c[m-1]*drive(x, y, z, t)
 *
 * where edge is the outermost node and inner(m) the node m layers inside it; or the axis wraps.
 * Backends and kernels know held, wrap and this rule, never a kind's name.
 *
 * In the field's precision T every backend evaluates it at the time of the sweep's input by
 *     hs_ghost((T)a, inner, (T)b, edge, (T)c * (T)drive)
 * of core/ghost.h, so that ghosts agree bit for bit.
 */
#ifndef HS_CORE_BOUNDARY_H
#define HS_CORE_BOUNDARY_H

#include "core/grid.h"
#include "core/status.h"
#include "core/value.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_face {
    const char *type; /* for reports only */
    int held;         /* outermost layers that are not updated */
    bool prescribed;  /* the held layer takes `drive` at the new time after every sweep;
                         else held layers keep their initial values */
    bool wrap;        /* periodic: ghosts are the other side's nodes; no rule below is used */
    double a[HS_MAX_RADIUS];
    double b[HS_MAX_RADIUS];
    double c[HS_MAX_RADIUS];
    struct hs_value drive; /* wall temperature, flux, gradient, ambient or outside temperature */
    double edge_weight;    /* share of a cell that the edge node stands for: 1/2 where the wall
                              runs through the node, else 1 */
};

/* How far outside the edge node the wall stands, in spacings: 0, 1/2 (clamp) or 1 (constant). */
double hs_face_wall(const struct hs_face *face);

/* The same wall's rule for `ratio` times the spacing: what stands for a gradient goes with it. */
void hs_face_respace(struct hs_face *face, double ratio);

/* What a config may say of one face; `given` has a bit for each member that was. */
enum hs_boundary_key {
    HS_BOUNDARY_VALUE,    /* K */
    HS_BOUNDARY_FLUX,     /* W/m^2, outward */
    HS_BOUNDARY_GRADIENT, /* K/m, along the outward normal */
    HS_BOUNDARY_H,        /* W/(m^2 K) */
    HS_BOUNDARY_AMBIENT,  /* K */
    HS_BOUNDARY_KEYS
};
const char *hs_boundary_key_name(enum hs_boundary_key key);

struct hs_boundary_spec {
    unsigned given; /* 1u << HS_BOUNDARY_... */
    struct hs_value value[HS_BOUNDARY_KEYS];
};

struct hs_boundary_kind {
    const char *name;
    const char *summary;
    const char *known_as; /* what others call it: "convection|cooling"; NULL: nothing else */
    unsigned any_of;      /* exactly one of these keys must be given (0: none needed) */
    unsigned all_of;      /* all of these must be given */
    /* Fills `face`, whose type is set and whose rest is zero. `conductivity` [W/(m K)] is NaN
     * where the config gives none; `spacing` [m]. On failure adds the reason without file or
     * line ("needs material.conductivity ..."), which the caller completes. */
    enum hs_status (*lower)(const struct hs_boundary_spec *spec, double conductivity,
                            double spacing, int radius, struct hs_face *face, const char **reason);
};

extern const struct hs_boundary_kind hs_boundary_kinds[];          /* ends with a NULL name */
const struct hs_boundary_kind *hs_boundary_find(const char *name); /* NULL if unknown */

/* The kind that others call so, whatever the case of its letters, "-" and " " for "_"; or NULL. */
const struct hs_boundary_kind *hs_boundary_meant(const char *name);

/* "flux or gradient": the names of a set of keys, with `between` between them. */
void hs_boundary_list_keys(unsigned keys, const char *between, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
