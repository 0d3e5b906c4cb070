/*
 * Star stencils: one sweep is out = source + sum of c_i * in_i.
 *
 * Coefficients: c[0] is the centre, then along x, y, z in turn -1, +1, then -2, +2, then -3, +3.
 *
 * Order of additions, the same in every kernel of every backend, so that their results agree bit
 * for bit: start from the source (0 if there is none), then one fused multiply-add per neighbour
 * in ascending order of memory:
 *     z-R .. z-1,  y-R .. y-1,  x-R .. x-1,  centre,  x+1 .. x+R,  y+1 .. y+R,  z+1 .. z+R
 */
#ifndef HS_CORE_STENCIL_H
#define HS_CORE_STENCIL_H

#include "core/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_MAX_COEFFICIENTS = 1 + 2 * HS_AXES * HS_MAX_RADIUS }; /* 19 */

struct hs_stencil {
    int dims;
    int radius;
    double c[HS_MAX_COEFFICIENTS];
};

/* Number of coefficients: 3/5/7 for radius 1, 5/9/13 for radius 2, 7/13/19 for radius 3. */
static inline int hs_stencil_count(int dims, int radius)
{
    return 1 + 2 * dims * radius;
}

/* Index in c of the coefficient of the neighbour `offset` (-radius..radius) along `axis`. */
static inline int hs_stencil_index(int radius, int axis, int offset)
{
    if (offset == 0)
        return 0;
    const int distance = offset < 0 ? -offset : offset;
    return 1 + axis * 2 * radius + 2 * (distance - 1) + (offset > 0);
}

/* Weight of the neighbour at `distance` (0..radius) in the central second difference of order
 * 2*radius, times spacing^2. Source: Fornberg, Math. Comp. 51 (1988), table 1. */
double hs_second_difference(int radius, int distance);

/* Forward Euler on dT/dt = diffusivity * laplace(T): c from diffusivity [m^2/s] and step [s]. */
struct hs_stencil hs_stencil_of_diffusion(const struct hs_grid *grid, int radius,
                                          double diffusivity, double step);

/*
 * Rounds each coefficient of a diffusion stencil to float while keeping their sum exactly 1.
 * Rounded one by one, they add up to 1 + d with |d| about 1e-8, and every sweep multiplies the mean
 * by that, so that a field drifts. The neighbours' coefficients are
 * cut towards 0, pairs alike, to multiples of a power of two such that the remaining centre is a
 * float. So no step becomes less stable, and a centre that was not negative stays so. Nothing is
 * changed if the diffusivity along an axis would change by more than 1e-5 relatively (steps far
 * below the stability limit).
 */
void hs_stencil_balance(struct hs_stencil *stencil);

/*
 * The same coefficients in the order of the additions: `count` entries of axis, offset and
 * coefficient. A kernel that walks this list needs no knowledge of the order.
 */
struct hs_stencil_term {
    int axis;
    int offset;
    double c;
};
int hs_stencil_terms(const struct hs_stencil *stencil,
                     struct hs_stencil_term terms[HS_MAX_COEFFICIENTS]);

#ifdef __cplusplus
}
#endif

#endif
