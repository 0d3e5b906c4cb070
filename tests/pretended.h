/* Simulated kernels and most of a simulated backend. Each test adds how long the kernels take. */
#ifndef HS_TESTS_PRETENDED_H
#define HS_TESTS_PRETENDED_H

#include "core/backend.h"
#include "core/kernel.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

struct hs_backend_state {
    const struct hs_kernel *kernel;
    int takes; /* how often it was timed */
};
static int alive; /* number of states */

static enum hs_status create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             struct hs_backend_state **out, struct hs_error *err)
{
    *out = NULL;
    if (strcmp(kernel->name, "broken") == 0)
        return hs_error_add(err, HS_DEVICE, "out of\nluck");
    *out = calloc(1, sizeof **out);
    (*out)->kernel = kernel;
    alive++;
    return HS_OK;
}

static void destroy(struct hs_backend_state *state)
{
    alive -= state != NULL;
    free(state);
}

static enum hs_status upload(struct hs_backend_state *state, const struct hs_box *box,
                             const void *values, struct hs_error *err)
{
    assert_true(hs_box_count(box) > 0);
    assert_non_null(values);
    return HS_OK;
}

static enum hs_status fingerprint(int device, int threads, struct hs_device_fingerprint *out,
                                  struct hs_error *err)
{
    strcpy(out->device, "a device,\nof two lines");
    strcpy(out->driver, "a driver");
    return HS_OK;
}

/* Never called: it marks the kernels as built. The backend makes up their times. */
static enum hs_status never(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                            struct hs_error *err)
{
    return HS_DEVICE;
}

#define KERNEL(variable, title, on)                                                                \
    static const struct hs_kernel variable = {                                                     \
        .name = title,                                                                             \
        .device = on,                                                                              \
        .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,   \
        .steps = 2,                                                                                \
        .sweep = never}

/* A cube with fixed walls. */
static struct hs_problem cube_of(int64_t points)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = 3;
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = points;
    problem.precision = HS_FLOAT;
    problem.raw = true;
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face] = (struct hs_face){.type = "fixed", .held = 1};
    return problem;
}

#endif
