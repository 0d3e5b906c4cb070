/*
 * Boundaries: every kind is one row of a table and lowers to data.
 *
 * A face holds its outermost `held` layers, which no sweep updates, and each ghost layer
 * m = 1..radius outside it obeys one affine rule,
 *
 *     ghost(m) = a[m-1]*inner(m) + b[m-1]*edge + c[m-1]*data(x, y, z, t)
 *
 * where edge is the outermost node and inner(m) the node m layers inside it; or the axis wraps.
 * Backends and kernels know held, wrap and this rule, never a kind's name.
 *
 * In the field's precision T every backend evaluates it at the time of the sweep's input by
 *     hs_ghost((T)a, inner, (T)b, edge, (T)c * (T)data)
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
    bool prescribed;  /* the held layer takes `data` at the new time after every sweep;
                         else held layers keep their initial values */
    bool wrap;        /* periodic: ghosts are the other side's nodes; no rule below is used */
    double a[HS_MAX_RADIUS];
    double b[HS_MAX_RADIUS];
    double c[HS_MAX_RADIUS];
    struct hs_value data; /* wall temperature, flux, gradient, ambient or outside temperature */
    double edge_weight;   /* share of a cell that the edge node stands for: 1/2 where the wall
                             runs through the node, else 1 */
};

/* How far outside the edge node the wall stands, in spacings: 0, 1/2 (clamp) or 1 (constant). */
double hs_face_wall(const struct hs_face *face);

/* The same wall's rule for `ratio` times the spacing: what stands for a gradient goes with it. */
void hs_face_respace(struct hs_face *face, double ratio);

/*
 * A key that a kind takes from the config. One that is no number is the face's boundary data, of
 * which a face has one. Keys of one name are the same in all kinds that have them.
 */
struct hs_boundary_key {
    const char *name;
    const char *unit;
    const char *help;     /* what it means, in one line */
    const char *known_as; /* what others call it: "htc|coefficient"; NULL: nothing else */
    bool number;          /* at least 0; else a number or an expression */
    bool one_of;          /* exactly one of the kind's keys that say so is given, and all others */
    bool no_file;         /* it is never read from a file */
    const char *conducts; /* what of it needs a conductivity: "convection"; NULL: nothing */
};

enum { HS_BOUNDARY_KEYS = 4 }; /* that a kind has, at most */

/* What a config says of one face. */
struct hs_boundary_spec {
    unsigned given; /* 1u << n: the kind's n-th key */
    struct hs_value value[HS_BOUNDARY_KEYS];
    double conductivity; /* W/(m K); NaN where the config gives none */
    double spacing;      /* m */
    int radius;
};

/* A row of the table, and all that is said of a kind. */
struct hs_boundary_kind {
    const char *name;
    const char *summary;
    const char *known_as; /* what others call it: "convection|cooling"; NULL: nothing else */
    struct hs_boundary_key key[HS_BOUNDARY_KEYS]; /* the rest have no name */
    int held;                                     /* as of hs_face, at most the radius */
    bool prescribed, wrap;                        /* likewise */
    double a, b, c;                               /* of all ghosts, if `lower` does not say */
    double edge_weight;
    /* Changes what depends on the spec; NULL: nothing does. */
    void (*lower)(const struct hs_boundary_spec *spec, struct hs_face *face);
};

/* Ends with a NULL name. The first is that of a face of which the config says nothing. */
extern const struct hs_boundary_kind hs_boundary_kinds[];

const struct hs_boundary_kind *hs_boundary_find(const char *name); /* NULL if unknown */

/* The kind, or the key of one, that others call so, whatever the case of its letters, "-" and " "
 * for "_"; or NULL. */
const struct hs_boundary_kind *hs_boundary_meant(const char *name);
const struct hs_boundary_key *hs_boundary_key_meant(const char *name);

int hs_boundary_key_count(const struct hs_boundary_kind *kind);

/* The place of the key of this name among the kind's; -1: it has none. */
int hs_boundary_key_find(const struct hs_boundary_kind *kind, const char *name);

/* "flux or gradient", of which one must be given; or "h and ambient", of which all; "" where there
 * are none. */
void hs_boundary_list_keys(const struct hs_boundary_kind *kind, bool one_of, char *out,
                           size_t size);

/* Whether a key that is given needs a conductivity where there is none; `out` says which, and what
 * to do: "convection needs material.conductivity". */
bool hs_boundary_lacks(const struct hs_boundary_kind *kind, const struct hs_boundary_spec *spec,
                       char *out, size_t size);

/* The face as backends know it, of a spec that lacks nothing. */
struct hs_face hs_boundary_lower(const struct hs_boundary_kind *kind,
                                 const struct hs_boundary_spec *spec);

#ifdef __cplusplus
}
#endif

#endif
