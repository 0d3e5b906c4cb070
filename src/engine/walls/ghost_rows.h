/* Writes rows of a face's ghosts and prescribed nodes, with the processor's best instructions. */
#ifndef HS_ENGINE_WALLS_GHOST_ROWS_H
#define HS_ENGINE_WALLS_GHOST_ROWS_H

#include "engine/walls/face_data.h"

enum hs_ghost_action {
    HS_GHOSTS, /* ghosts by the face's affine rule */
    HS_WRAP,   /* ghosts from the nodes of the other side */
    HS_HOLD,   /* the data to the face's own nodes */
    HS_GHOST_ACTIONS
};

struct hs_ghost_row {
    void *edge; /* the row's first node on the face */
    struct hs_face_place place;
    int depth; /* ghosts at each node */
    const struct hs_face *rule;
    double value;      /* the data, if uniform; */
    const void *table; /* [length] else, in the field's precision */
};

typedef void hs_ghost_row_function(const struct hs_ghost_row *row);

/* The fastest for this processor. All give the same bits, those of core/ghost.h. */
hs_ghost_row_function *hs_ghost_row_find(enum hs_ghost_action action, enum hs_precision precision);

#endif
