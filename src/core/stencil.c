#include "core/stencil.h"

#include <assert.h>

double hs_second_difference(int radius, int distance)
{
    static const double weights[HS_MAX_RADIUS][HS_MAX_RADIUS + 1] = {
        {-2.0, 1.0},
        {-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0},
        {-49.0 / 18.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0},
    };
    assert(radius >= 1 && radius <= HS_MAX_RADIUS && distance >= 0 && distance <= radius);
    return weights[radius - 1][distance];
}

struct hs_stencil hs_stencil_of_diffusion(const struct hs_grid *grid, int radius,
                                          double diffusivity, double step)
{
    struct hs_stencil stencil = {.dims = grid->dims, .radius = radius};
    double centre = 0.0;
    for (int axis = 0; axis < grid->dims; axis++) {
        const double h = grid->spacing[axis];
        const double number = diffusivity * step / (h * h); /* grid Fourier number */
        centre += number * hs_second_difference(radius, 0);
        for (int offset = -radius; offset <= radius; offset++)
            if (offset != 0)
                stencil.c[hs_stencil_index(radius, axis, offset)] =
                    number * hs_second_difference(radius, offset < 0 ? -offset : offset);
    }
    stencil.c[0] = 1.0 + centre;
    return stencil;
}

int hs_stencil_terms(const struct hs_stencil *stencil,
                     struct hs_stencil_term terms[HS_MAX_COEFFICIENTS])
{
    int count = 0;
    const int radius = stencil->radius;
    for (int axis = stencil->dims - 1; axis >= 0; axis--)
        for (int offset = -radius; offset < 0; offset++)
            terms[count++] = (struct hs_stencil_term){
                axis, offset, stencil->c[hs_stencil_index(radius, axis, offset)]};
    terms[count++] = (struct hs_stencil_term){HS_X, 0, stencil->c[0]};
    for (int axis = 0; axis < stencil->dims; axis++)
        for (int offset = 1; offset <= radius; offset++)
            terms[count++] = (struct hs_stencil_term){
                axis, offset, stencil->c[hs_stencil_index(radius, axis, offset)]};
    return count;
}
