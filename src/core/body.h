/*
 * Bodies of many materials, as a config says them: which material is where, and what it is like.
 * Plain data; engine/network/ makes the network (core/network.h) of it.
 */
#ifndef HS_CORE_BODY_H
#define HS_CORE_BODY_H

#include "core/shape.h"
#include "core/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_SUBSTANCE_PLACES = 3 };

struct hs_substance {
    char *name;
    /* where its conductivity, density and specific heat stand, for messages; NULL: not given */
    char *place[HS_SUBSTANCE_PLACES];
    double conductivity[HS_AXES]; /* W/(m K) along each axis; equal unless the config gives three */
    double capacity;              /* J/(m^3 K): density * specific heat */
    double density;               /* kg/m^3, or NaN: only its product with specific heat is known */
    double perfusion;             /* W/(m^3 K): sink towards `reference`; 0: none */
    int reference;                /* time function: K */
    int source;                   /* time function: W/m^3; -1: none */
    double
        volume; /* m^3, for each metre along axes that are not there; 0 until the network is made */
};

/* A shape of one material; of several over a point the last one has it. */
struct hs_solid {
    struct hs_shape shape;
    int substance;
};

/* Between two substances: temperature jumps by resistance * heat flux. */
struct hs_contact {
    int between[2];
    double resistance; /* m^2 K/W */
};

enum hs_label_place { HS_LABEL_NONE, HS_LABEL_NODES, HS_LABEL_CELLS };

/* Numbers that labels in a file may be, whole, from 0 on; what stands for no substance. */
enum { HS_LABEL_NUMBERS = 65536, HS_UNNAMED = 0xffff };

static inline bool hs_is_label(double number)
{
    return number >= 0.0 && number <= UINT16_MAX && number == (double)(int)number;
}

/* A number at each node [nz][ny][nx]. */
struct hs_measured {
    double *value;            /* NULL: they are left in their file, */
    struct hs_stored *stored; /* which this is. Neither: there are none */
};

struct hs_body {
    int source; /* time function: W/m^3 everywhere; -1: none */
    int substance_count;
    struct hs_substance *substance;
    int solid_count;
    struct hs_solid *solid;
    /* Or the substance of each node [nz][ny][nx], or of each cell between nodes, one less along
     * each axis. */
    enum hs_label_place labels;
    uint16_t *label;          /* NULL: they are left in their file, */
    struct hs_stored *stored; /* where this is, */
    uint16_t *substance_of;   /* [HS_LABEL_NUMBERS] and this what its numbers stand for */
    struct hs_measured conductivity, capacity; /* or at the nodes: W/(m K), J/(m^3 K) */
    int contact_count;
    struct hs_contact *contact;
};

void hs_body_destroy(struct hs_body *body); /* with all that it owns; accepts NULL */

static inline bool hs_is_measured(const struct hs_measured *measured)
{
    return measured->value || measured->stored;
}

/* Whether a substance has a source or a sink. */
bool hs_body_is_active(const struct hs_body *body);

/* The labels of a box that lie in the body's file, dense, of 1 or 2 bytes; HS_UNNAMED what stands
 * for nothing. Errors: of reading the file. */
enum hs_status hs_body_read_labels(const struct hs_body *body, const struct hs_box *box,
                                   size_t size, void *out, struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
