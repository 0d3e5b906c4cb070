#include "core/stencil.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

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

/* The spacing of floats at `value`; 0 for 0. */
static double float_spacing(double value)
{
    return value == 0.0 ? 0.0 : ldexp(1.0, ilogb(value) + 1 - FLT_MANT_DIG);
}

/* Bound on the relative change of the diffusivity along an axis, which is proportional to the sum
 * of coefficients times distances squared. */
static double changed(const struct hs_stencil *from, const struct hs_stencil *to, int axis)
{
    double whole = 0.0, change = 0.0;
    for (int m = 1; m <= from->radius; m++) {
        const int n = hs_stencil_index(from->radius, axis, m);
        whole += m * m * from->c[n];
        change += m * m * fabs(to->c[n] - from->c[n]);
    }
    return whole == 0.0 ? 0.0 : change / fabs(whole);
}

/* Cuts the neighbours to floats that are multiples of `grain`; the centre is 1 minus their sum,
 * exactly, as it fits into a double. False if the diffusivity would change too much. */
static bool cut(const struct hs_stencil *from, double grain, struct hs_stencil *out)
{
    *out = *from;
    out->c[0] = 1.0;
    for (int n = 1; n < hs_stencil_count(from->dims, from->radius); n++) {
        const double quantum = fmax(grain, float_spacing(from->c[n]));
        if (quantum > 0.0)
            out->c[n] = trunc(from->c[n] / quantum) * quantum;
        out->c[0] -= out->c[n];
    }
    for (int axis = 0; axis < from->dims; axis++)
        if (changed(from, out, axis) > 1e-5)
            return false;
    return true;
}

void hs_stencil_balance(struct hs_stencil *stencil)
{
    struct hs_stencil balanced;
    /* a pair of equal neighbours changes the centre by two grains */
    double grain = 0.5 * float_spacing(stencil->c[0]);
    while (cut(stencil, grain, &balanced)) {
        if ((double)(float)balanced.c[0] == balanced.c[0]) {
            *stencil = balanced;
            return;
        }
        grain = grain > 0.0 ? 2.0 * grain : ldexp(1.0, -FLT_MANT_DIG);
    }
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
