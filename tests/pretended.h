/* Kernels and a backend that are not there: a backend's own part is how long its kernels take. */
#ifndef HS_TESTS_PRETENDED_H
#define HS_TESTS_PRETENDED_H

#include "core/backend.h"
#include "core/kernel.h"

#include <stdlib.h>
#include <string.h>

struct hs_backend_state {
    const struct hs_kernel *kernel;
    int takes; /* times that it was timed */
};
static int alive; /* states */

static enum hs_status create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             int device, int threads, struct hs_backend_state **out,
                             struct hs_error *err)
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

/* What no test calls: the kernels are built, and their state's times are made up. */
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

#endif
