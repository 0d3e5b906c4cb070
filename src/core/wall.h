/* Walls of a body of many materials: the effect of a face, or a part of it, on the nodes on it. */
#ifndef HS_CORE_WALL_H
#define HS_CORE_WALL_H

#include "core/grid.h"
#include "core/value.h"

#include <stdint.h>

/* A function of time: an expression of t; or linear between points and constant beyond them; or the
 * product of two others. */
struct hs_time_function {
    struct hs_value value;
    int points;            /* 0: the value */
    double *time, *number; /* [points], owned; times [s] increase */
    int factor[2];         /* how many places before this one the factors are; 0: no product */
};

enum hs_wall_kind {
    HS_WALL_EXCHANGES, /* flux and convection, either or both; neither: insulated */
    HS_WALL_HOLDS,     /* nodes keep their temperature */
    HS_WALL_PRESCRIBES /* nodes take `value` */
};

/* function(t) * field[node]. A face's fields list its nodes with the lower axis fastest. */
struct hs_wall_number {
    int function;           /* index in the problem's time functions; -1: none */
    const double *field;    /* NULL: 1 everywhere */
    struct hs_value moving; /* of place and time at once, replaces both; or no expression */
    char *place;            /* where the config has it; NULL: not known */
};

static inline bool hs_wall_number_moves(const struct hs_wall_number *number)
{
    return number->moving.expression.code;
}

static inline bool hs_wall_number_is_given(const struct hs_wall_number *number)
{
    return number->function >= 0 || hs_wall_number_moves(number);
}

/*
 * A face, or a rectangle of it. Flux and convection are integrals over exactly its area. A holding
 * or prescribing wall acts on the nodes in it, borders included; where it covers control volumes of
 * other nodes, it insulates.
 */
struct hs_wall {
    int face;                              /* 0 ... HS_FACES - 1, of an axis that is not periodic */
    double lower[HS_AXES], upper[HS_AXES]; /* m, may be infinite; ignored along the face's own axis
                                              and axes that are not there */
    const uint16_t *label; /* the problem's, for each node of the face; NULL: none. The wall */
    int number;            /* consists of the whole face areas of the nodes with this label */
    enum hs_wall_kind kind;
    double h;                      /* W/(m^2 K), >= 0: the largest over time ... */
    const double *h_field;         /* ... times this field of the face; NULL: 1 */
    int h_function;                /* h in time; -1: always h */
    int h_number;                  /* among the walls' h that change with time */
    int h_ambient;                 /* the function of h times that of `ambient` */
    char *h_place;                 /* where the config has h; NULL: it does not change */
    struct hs_wall_number flux;    /* W/m^2 that leave */
    struct hs_wall_number ambient; /* K */
    struct hs_wall_number value;   /* K */
};

/* At a node of the face, given by its index in the face's fields: what h is a multiple of, and the
 * largest h. */
static inline double hs_wall_h_share(const struct hs_wall *wall, int64_t place)
{
    return wall->h_field ? wall->h_field[place] : 1.0;
}

static inline double hs_wall_h_at(const struct hs_wall *wall, int64_t place)
{
    return wall->h * hs_wall_h_share(wall, place);
}

/* How many h change with time. */
static inline int hs_walls_varying_h(const struct hs_wall *wall, int count)
{
    int most = 0;
    for (int w = 0; w < count; w++)
        most = wall[w].h_function >= 0 && wall[w].h_number >= most ? wall[w].h_number + 1 : most;
    return most;
}

void hs_wall_release(struct hs_wall *wall); /* frees its fields and places */

#endif
