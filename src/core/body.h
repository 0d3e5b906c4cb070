/*
 * Bodies of many materials as described by a config: where each material is, and its properties.
 * Plain data; engine/network/ builds the network (core/network.h) from it.
 */
#ifndef HS_CORE_BODY_H
#define HS_CORE_BODY_H

#include "core/shape.h"
#include "core/stored.h"

enum {
    HS_SUBSTANCE_PROPERTIES = 3, /* conductivity, density and specific heat */
    HS_SUBSTANCE_REFERENCE = HS_SUBSTANCE_PROPERTIES,
    HS_SUBSTANCE_SOURCE,
    HS_SUBSTANCE_PLACES
};

struct hs_substance {
    char *name;
    /* config locations of its properties, of the reference of its perfusion and of its source, for
     * messages; NULL: not given */
    char *place[HS_SUBSTANCE_PLACES];
    double conductivity[HS_AXES]; /* W/(m K) along each axis; equal unless the config gives three */
    double capacity;              /* J/(m^3 K): density * specific heat */
    double density;   /* kg/m^3; NaN: only its product with the specific heat is known */
    double perfusion; /* W/(m^3 K): sink towards `reference`; 0: none */
    int reference;    /* time function: K */
    int source;       /* time function: W/m^3; -1: none */
    double volume; /* m^3, per metre along axes that are not there; 0 until the network is made */
};

/* A shape of one material. Where shapes overlap, the last one counts. */
struct hs_solid {
    struct hs_shape shape;
    int substance;
};

/* What the network has of a contact. */
struct hs_contact_reach {
    double lines;     /* that cross it */
    double beyond[2]; /* m^3 of each substance that count at nodes on the side of the other */
};

/* Contact between two substances: the temperature jumps by resistance * heat flux. */
struct hs_contact {
    int between[2];
    double resistance;             /* m^2 K/W */
    char *place;                   /* config location of the resistance, for messages */
    struct hs_contact_reach reach; /* 0 until the network is made */
};

enum hs_label_place { HS_LABEL_NONE, HS_LABEL_NODES, HS_LABEL_CELLS };

/* Labels in a file are integers from 0 to HS_LABEL_NUMBERS - 1; HS_UNNAMED means no substance. */
enum { HS_LABEL_NUMBERS = 65536, HS_UNNAMED = 0xffff };

static inline bool hs_is_label(double number)
{
    return number >= 0.0 && number <= UINT16_MAX && number == (double)(int)number;
}

/* A number at each node [nz][ny][nx]. */
struct hs_measured {
    double *value;            /* NULL: not in memory, left in the file ... */
    struct hs_stored *stored; /* ... given here. Both NULL: no numbers */
};

struct hs_body {
    int source; /* time function: W/m^3 everywhere; -1: none */
    int substance_count;
    struct hs_substance *substance;
    int solid_count;
    struct hs_solid *solid;
    /* Instead of solids: the substance of each node [nz][ny][nx], or of each cell between nodes,
     * one fewer along each axis. */
    enum hs_label_place labels;
    uint16_t *label;          /* NULL: not in memory, left in the file ... */
    struct hs_stored *stored; /* ... given here; */
    uint16_t *substance_of;   /* [HS_LABEL_NUMBERS] the substance of each label in the file */
    struct hs_measured conductivity, capacity; /* or values at nodes: W/(m K), J/(m^3 K) */
    int contact_count;
    struct hs_contact *contact;
};

void hs_body_destroy(struct hs_body *body); /* and all it owns; accepts NULL */

/* The substance that a number of the label file stands for, or HS_UNNAMED. */
uint16_t hs_body_substance_of(const struct hs_body *body, double number);

static inline bool hs_is_measured(const struct hs_measured *measured)
{
    return measured->value || measured->stored;
}

/* The contact between two substances; NULL: none. */
const struct hs_contact *hs_body_contact(const struct hs_body *body, int one, int other);

/* Whether any substance has a source or a sink. */
bool hs_body_is_active(const struct hs_body *body);

/* Reads a box from the body's label file as substances, dense, of 1 or 2 bytes (`size`); HS_UNNAMED
 * if a label has none. Errors: of reading the file, and HS_DEVICE if memory is short. */
enum hs_status hs_body_read_labels(const struct hs_body *body, const struct hs_box *box,
                                   size_t size, void *out, struct hs_error *err);

#endif
