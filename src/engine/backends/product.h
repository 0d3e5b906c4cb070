/* What the products along an axis by a library have in common (core/transforms.h). */
#ifndef HS_ENGINE_BACKENDS_PRODUCT_H
#define HS_ENGINE_BACKENDS_PRODUCT_H

#include "core/grid.h"
#include "core/status.h"

/* Nodes along the other axes: `inner` between two neighbours along this one; `outer` groups. */
static inline void hs_product_others(int axis, const int64_t extent[HS_AXES], int64_t *inner,
                                     int64_t *outer)
{
    *inner = *outer = 1;
    for (int other = 0; other < HS_AXES; other++) {
        *inner *= other < axis ? extent[other] : 1;
        *outer *= other > axis ? extent[other] : 1;
    }
}

/* The same for a library, whose numbers are ints: HS_BAD_INPUT where they are too large for it. */
static inline enum hs_status hs_product_fits(int axis, const int64_t extent[HS_AXES],
                                             int64_t *inner, int64_t *outer, struct hs_error *err)
{
    hs_product_others(axis, extent, inner, outer);
    return *inner <= INT32_MAX && *outer <= INT32_MAX
               ? HS_OK
               : hs_error_add(err, HS_BAD_INPUT,
                              "the modes need fewer than 2^31 nodes in a plane; take fewer "
                              "grid.points, or another method");
}

#endif
