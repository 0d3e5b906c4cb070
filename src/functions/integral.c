#include "functions/integral.h"

#include "core/memory.h"
#include "functions/evaluate.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 1 << 22, TIMES = 8 };

/* Places along an axis, each with the length that it counts for [m]. */
struct places {
    int64_t count;
    double *at, *width;
};

/* The nodes of an axis (`parts` 0), or the middles of equal parts of each node's length; if the
 * value is the same along the axis, one node. What lies below the first node of a periodic axis is
 * at the axis' other end. */
static struct places places_along(const struct hs_grid *grid, const bool wraps[HS_AXES], int face,
                                  unsigned varies, int axis, int parts)
{
    const bool across = face >= 0 && face / 2 == axis, one = across || !(varies & 1u << axis);
    const int64_t nodes = one ? 1 : grid->points[axis], each = one || !parts ? 1 : parts;
    const size_t size = (size_t)(nodes * each) * sizeof(double);
    const double start = hs_grid_coordinate(grid, axis, 0);
    struct places out = {nodes * each, hs_new(size), hs_new(size)};
    for (int64_t n = 0; n < out.count; n++) {
        const int64_t i = across ? hs_grid_face_index(grid, face) : n / each;
        const int64_t below = i > 0 ? i - 1 : grid->points[axis] - 1;
        const double here = hs_grid_coordinate(grid, axis, i);
        const double from = i > 0 || wraps[axis] ? -0.5 * hs_grid_cell(grid, axis, below) : 0.0;
        const double width = hs_grid_node_width(grid, axis, wraps[axis], i);
        const double share = ((double)(n % each) + 0.5) / (double)each;
        out.at[n] = one || !parts ? here : here + from + share * width;
        if (out.at[n] < start)
            out.at[n] += hs_grid_coordinate(grid, axis, grid->points[axis]) - start;
        out.width[n] = one ? 1.0 : width / (double)each;
    }
    return out;
}

/* The integral at a moment by these numbers of parts. */
static double integrate(const struct hs_grid *grid, const bool wraps[HS_AXES], int face,
                        const struct hs_value *value, unsigned varies, int parts, double t)
{
    struct places p[HS_AXES];
    double sum = 0.0;
    for (int axis = 0; axis < HS_AXES; axis++)
        p[axis] = places_along(grid, wraps, face, varies, axis, parts);
    double *row = hs_new((size_t)p[HS_X].count * sizeof *row);
    for (int64_t k = 0; k < p[HS_Z].count; k++)
        for (int64_t j = 0; j < p[HS_Y].count; j++) {
            const struct hs_row along = {.axis = HS_X,
                                         .count = p[HS_X].count,
                                         .at = {p[HS_X].at[0], p[HS_Y].at[j], p[HS_Z].at[k], t},
                                         .places = p[HS_X].at};
            hs_expression_row(&value->expression, &along, row);
            for (int64_t i = 0; i < p[HS_X].count; i++)
                sum += p[HS_Z].width[k] * p[HS_Y].width[j] * p[HS_X].width[i] * fabs(row[i]);
        }
    free(row);
    for (int axis = 0; axis < HS_AXES; axis++) {
        free(p[axis].at);
        free(p[axis].width);
    }
    return sum;
}

bool hs_integral_of(const struct hs_grid *grid, const bool wraps[HS_AXES], int face,
                    const struct hs_value *value, double end, struct hs_integral *out)
{
    const double golden = 0.6180339887498949; /* of the interval, so that times fall evenly */
    const unsigned varies = hs_value_varies(value);
    const int times = varies & HS_VARIES_T && isfinite(end) ? TIMES : 1;
    double nodes = times;
    int axes = 0, parts;
    for (int axis = 0; axis < grid->dims; axis++)
        if (varies & HS_VARIES_X << axis && !(face >= 0 && face / 2 == axis)) {
            nodes *= (double)grid->points[axis];
            axes++;
        }
    parts = axes == 1 ? 64 : 4; /* a foil may be far thinner than a cell */
    while (parts >= 2 && nodes * pow(parts, axes) > MOST)
        parts /= 2;
    *out = (struct hs_integral){0.0, 0.0};
    for (int n = 0; n < times && axes > 0 && parts >= 2; n++) {
        const double t = times > 1 ? end * fmod(n * golden, 1.0) : 0.0; /* at 0, a flash */
        out->nodes += integrate(grid, wraps, face, value, varies, 0, t);
        out->fine += integrate(grid, wraps, face, value, varies, parts, t);
    }
    return axes > 0 && parts >= 2 && isfinite(out->nodes) && isfinite(out->fine);
}
