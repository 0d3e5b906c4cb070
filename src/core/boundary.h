/*
 * Boundaries: every kind is one row of a table and is lowered to data.
 *
 * The outermost `held` layers of a face are never updated by a sweep. Each ghost layer m =
 * 1..radius outside the face obeys one affine rule,
 *
 *     ghost(m) = a[m-1]*inner(m) + b[m-1]*edge + c[m-1]*data(x, y, z, t)
 *
 * where edge is the outermost node and inner(m) the node m layers inside it; or the axis wraps.
 * Backends and kernels know only held, wrap and this rule, never the name of a kind.
 *
 * Every backend evaluates it in the field's precision T, at the time of the sweep's input, by
 *     hs_ghost((T)a, inner, (T)b, edge, (T)c * (T)data)
 * of core/ghost.h, so that ghosts agree bit for bit.
 */
#ifndef HS_CORE_BOUNDARY_H
#define HS_CORE_BOUNDARY_H

#include "core/grid.h"
#include "core/status.h"
#include "core/value.h"
#include "core/wall.h"

struct hs_face {
    const char *type; /* for reports only */
    int held;         /* outermost layers that are not updated */
    bool prescribed;  /* the held layer takes `data` at the new time after every sweep;
                         else held layers keep their initial values */
    bool wrap;        /* periodic: ghosts are the other side's nodes; the rule below is not used */
    double a[HS_MAX_RADIUS];
    double b[HS_MAX_RADIUS];
    double c[HS_MAX_RADIUS];
    struct hs_value data; /* wall temperature, flux, gradient, ambient or outside temperature */
    double edge_weight;   /* fraction of a cell that belongs to the edge node: 1/2 if the wall runs
                             through the node, else 1 */
};

/* Distance of the wall outside the edge node, in spacings: 0, 1/2 (clamp) or 1 (constant). */
double hs_face_wall(const struct hs_face *face);

/* Changes the rule to `ratio` times the spacing: the terms that stand for a gradient scale with
 * it. */
void hs_face_respace(struct hs_face *face, double ratio);

/*
 * A config key of a kind. A face has at most one key that is not a `number`: its boundary data.
 * Keys of one name are the same in all kinds that have them.
 */
struct hs_boundary_key {
    const char *name;
    const char *unit;
    const char *help;     /* what it means, in one line */
    const char *known_as; /* what others call it: "htc|coefficient"; NULL: nothing else */
    bool number;          /* at least 0; else a number or an expression */
    bool one_of;  /* exactly one of the kind's keys with this flag must be given, and all keys
                     without it */
    bool no_file; /* never read from a file */
    const char *conducts; /* what needs a conductivity, for messages: "convection"; NULL: nothing */
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

/* A kind in a body: what its walls do, and the keys that they need and may have, "h|ambient". */
struct hs_body_wall {
    enum hs_wall_kind kind;
    const char *needs, *may; /* NULL: a body cannot have such walls */
};

/* A row of the table: everything about a kind. */
struct hs_boundary_kind {
    const char *name;
    const char *summary;
    const char *known_as; /* what others call it: "convection|cooling"; NULL: nothing else */
    struct hs_boundary_key key[HS_BOUNDARY_KEYS]; /* unused ones have no name */
    int held;                                     /* as of hs_face, at most the radius */
    bool prescribed, wrap;                        /* likewise */
    double a, b, c;                               /* of all ghosts, unless `lower` sets them */
    double edge_weight;
    struct hs_body_wall in_body;
    /* Sets what depends on the spec; NULL: nothing does. */
    void (*lower)(const struct hs_boundary_spec *spec, struct hs_face *face);
};

/* Ends with a NULL name. The first is the default for a face that the config does not mention. */
extern const struct hs_boundary_kind hs_boundary_kinds[];

const struct hs_boundary_kind *hs_boundary_find(const char *name); /* NULL if unknown */

/* The kind, or the key of a kind, that other programs call by this name, or NULL. Case is ignored;
 * "-" and " " equal "_". */
const struct hs_boundary_kind *hs_boundary_meant(const char *name);
const struct hs_boundary_key *hs_boundary_key_meant(const char *name);

int hs_boundary_key_count(const struct hs_boundary_kind *kind);

/* Index of the kind's key of this name; -1: none. */
int hs_boundary_key_find(const struct hs_boundary_kind *kind, const char *name);

/* The keys with this value of one_of: "flux or gradient" (one must be given), "h and ambient" (all
 * must be given), or "" if there are none. */
void hs_boundary_list_keys(const struct hs_boundary_kind *kind, bool one_of, char *out,
                           size_t size);

/* Whether a given key needs a conductivity that is missing. `out` then says which key and what to
 * do: "convection needs material.conductivity". */
bool hs_boundary_lacks(const struct hs_boundary_kind *kind, const struct hs_boundary_spec *spec,
                       char *out, size_t size);

/* The face in the form that backends use. The spec must lack nothing. */
struct hs_face hs_boundary_lower(const struct hs_boundary_kind *kind,
                                 const struct hs_boundary_spec *spec);

#endif
