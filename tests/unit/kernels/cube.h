/* A cube for the tests of the CUDA kernels' plans. */
#ifndef HS_TESTS_CUBE_H
#define HS_TESTS_CUBE_H

#include "core/device.h"
#include "test.h"

/* The textbook's cube: n^3 points, the outermost layer held, 7-point stencil, float. */
struct cube {
    struct hs_case of;
    struct hs_face face[HS_FACES];
};

/* 132 multiprocessors, compute capability 9. */
static inline const struct hs_device_limits *h200(void)
{
    return hs_device_find("H200");
}

static inline void set_cube(struct cube *cube, int64_t n, int dims, int radius)
{
    *cube = (struct cube){.of = {.asked = hs_feature_stencil(dims, radius, HS_FLOAT),
                                 .precision = HS_FLOAT,
                                 .dims = dims,
                                 .radius = radius,
                                 .steps = 1}};
    cube->of.face = cube->face;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int halo = axis < dims ? radius : 0;
        cube->of.layout.points[axis] = axis < dims ? n : 1;
        cube->of.box.lo[axis] = halo;
        cube->of.box.hi[axis] = cube->of.layout.points[axis] - halo;
        cube->face[2 * axis].held = cube->face[2 * axis + 1].held = halo;
    }
}

static inline void set_precision(struct cube *cube, enum hs_precision precision)
{
    cube->of.precision = precision;
    cube->of.asked = hs_feature_stencil(cube->of.dims, cube->of.radius, precision);
}

static inline struct hs_kernel_plan plan_for(const struct hs_kernel *kernel,
                                             const struct hs_case *of)
{
    struct hs_kernel_plan plan;
    char reason[256];
    if (!hs_kernel_plan_make(kernel, of, h200(), &plan, reason, sizeof reason))
        fail_msg("%s", reason);
    return plan;
}

#endif
