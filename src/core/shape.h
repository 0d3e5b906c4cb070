/* Shapes in the grid's coordinates. */
#ifndef HS_CORE_SHAPE_H
#define HS_CORE_SHAPE_H

#include "core/grid.h"

enum hs_shape_kind {
    HS_SHAPE_BOX,
    HS_SHAPE_SPHERE,
    HS_SHAPE_CYLINDER,
    HS_SHAPE_HALF_SPACE,
    HS_SHAPE_EVERYWHERE,
};

/* Lengths in m. A shape is unbounded along axes that the grid lacks. */
struct hs_shape {
    enum hs_shape_kind kind;
    double lower[HS_AXES], upper[HS_AXES]; /* box; may be infinite */
    double centre[HS_AXES], radius;        /* sphere and cylinder */
    int axis;                              /* cylinder: along this axis ... */
    double from, to;                       /* ... between these coordinates; may be infinite */
    double point[HS_AXES];                 /* half-space: a point on its border ... */
    double normal[HS_AXES];                /* ... and its outward normal, not zero */
};

#endif
