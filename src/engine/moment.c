#include "engine/moment.h"

#include <stdlib.h>

enum hs_status hs_moment_field(const struct hs_moment *moment, const void **out,
                               struct hs_error *err)
{
    struct hs_moment_cache *cache = moment->cache;
    if (!cache->field_valid) {
        const struct hs_box box = hs_grid_box(&moment->problem->grid);
        const size_t bytes =
            (size_t)hs_box_count(&box) * hs_precision_size(moment->problem->precision);
        if (!cache->field)
            cache->field = malloc(bytes);
        if (!cache->field)
            return hs_error_add(err, HS_DEVICE, "no memory for a copy of the field (%zu bytes)",
                                bytes);
        const enum hs_status st = cache->backend->download(cache->state, &box, cache->field, err);
        if (st)
            return st;
        cache->field_valid = true;
    }
    *out = cache->field;
    return HS_OK;
}

enum hs_status hs_moment_node(const struct hs_moment *moment, const int64_t node[HS_AXES],
                              double *out, struct hs_error *err)
{
    struct hs_box box;
    for (int axis = 0; axis < HS_AXES; axis++) {
        box.lo[axis] = node[axis];
        box.hi[axis] = node[axis] + 1;
    }
    union {
        float f;
        double d;
    } value;
    const enum hs_status st =
        moment->cache->backend->download(moment->cache->state, &box, &value, err);
    if (!st)
        *out = moment->problem->precision == HS_FLOAT ? (double)value.f : value.d;
    return st;
}

enum hs_status hs_moment_reduction(const struct hs_moment *moment, const struct hs_reduction **out,
                                   struct hs_error *err)
{
    struct hs_moment_cache *cache = moment->cache;
    if (!cache->reduction_valid) {
        const enum hs_status st = cache->backend->reduce(cache->state, &cache->reduction, err);
        if (st)
            return st;
        cache->reduction_valid = true;
    }
    *out = &cache->reduction;
    return HS_OK;
}
