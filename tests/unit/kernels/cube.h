/* A cube to be swept, for the tests of the tilings. */
#ifndef HS_TESTS_CUBE_H
#define HS_TESTS_CUBE_H

#include "core/kernel.h"

/* The textbook's cube: n^3 points, the outermost layer held, seven points, float. */
struct cube {
    struct hs_sweep sweep;
    struct hs_stencil stencil;
    struct hs_face face[HS_FACES];
};

static inline void set_cube(struct cube *cube, int64_t n, int dims, int radius)
{
    *cube = (struct cube){.stencil = {.dims = dims, .radius = radius},
                          .sweep = {.precision = HS_FLOAT, .steps = 1}};
    cube->sweep.stencil = &cube->stencil;
    cube->sweep.face = cube->face;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int halo = axis < dims ? radius : 0;
        cube->sweep.layout.points[axis] = axis < dims ? n : 1;
        cube->sweep.box.lo[axis] = halo;
        cube->sweep.box.hi[axis] = cube->sweep.layout.points[axis] - halo;
        cube->face[2 * axis].held = cube->face[2 * axis + 1].held = halo;
    }
}

#endif
