/*
 * The value of a ghost by the affine rule of core/boundary.h, for host and device.
 *
 * hs_ghost(a, inner, b, edge, offset) takes floats or doubles, all in the field's precision. offset
 * is the rule's c*data, rounded to that precision. Two fused multiply-adds in a fixed order, so
 * that all code that fills ghosts agrees bit for bit.
 */
#ifndef HS_CORE_GHOST_H
#define HS_CORE_GHOST_H

#include "core/host_device.h"

#include <math.h>

static inline HS_HOST_DEVICE float hs_ghost_float(float a, float inner, float b, float edge,
                                                  float offset)
{
    return fmaf(a, inner, fmaf(b, edge, offset));
}

static inline HS_HOST_DEVICE double hs_ghost_double(double a, double inner, double b, double edge,
                                                    double offset)
{
    return fma(a, inner, fma(b, edge, offset));
}

#ifdef __cplusplus
static inline HS_HOST_DEVICE float hs_ghost(float a, float inner, float b, float edge, float offset)
{
    return hs_ghost_float(a, inner, b, edge, offset);
}

static inline HS_HOST_DEVICE double hs_ghost(double a, double inner, double b, double edge,
                                             double offset)
{
    return hs_ghost_double(a, inner, b, edge, offset);
}
#else
#define hs_ghost(a, inner, b, edge, offset)                                                        \
    _Generic((a), float : hs_ghost_float, double : hs_ghost_double)(a, inner, b, edge, offset)
#endif

#endif
