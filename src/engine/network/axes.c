#include "engine/network/axes.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Halves of the widths between the positions. Widths in a list that are meant to be equal differ by
 * rounding, and so would rows: the least of such widths stands for all. Cells near the origin may
 * be smaller than the roundings far from it; they are told apart all the same. */
static void find_halves(struct hs_axis *axis, double roundings)
{
    const int64_t n = axis->cells;
    double *width = hs_new((size_t)n * sizeof *width);
    for (int64_t i = 0; i < n; i++)
        width[i] = axis->position[i + 1] - axis->position[i];
    qsort(width, (size_t)n, sizeof *width, compare);
    int64_t distinct = 0;
    for (int64_t i = 0; i < n; i++)
        if (distinct == 0 ||
            width[i] > width[distinct - 1] + fmin(roundings, 1e-5 * width[distinct - 1]))
            width[distinct++] = width[i];
    for (int64_t i = 0; i < n; i++) {
        const double exact = axis->position[i + 1] - axis->position[i];
        axis->half[i] = 0.5 * width[hs_interval_of(width, distinct, exact)];
    }
    free(width);
}

static void init_axis(struct hs_axis *axis, const struct hs_network_spec *spec, int which)
{
    const struct hs_grid *grid = spec->grid;
    axis->there = which < grid->dims;
    axis->wrap = axis->there && spec->wrap[which];
    axis->nodes = grid->points[which];
    axis->cells = axis->nodes - (axis->there && !axis->wrap);
    axis->position = hs_new((size_t)(2 * axis->cells + 1) * sizeof *axis->position);
    axis->half = axis->position + axis->cells + 1;
    for (int64_t i = 0; i <= axis->cells; i++)
        axis->position[i] = hs_grid_coordinate(grid, which, i);
    const double far = fmax(fabs(axis->position[0]), fabs(axis->position[axis->cells]));
    axis->tolerance = 32.0 * DBL_EPSILON * far;
    for (int64_t i = 0; i < axis->cells; i++) /* never differences: equal cells have equal bits */
        axis->half[i] = axis->there ? 0.5 * grid->spacing[which] : 1.0;
    if (grid->coordinate[which])
        find_halves(axis, 8.0 * DBL_EPSILON * far);
}

void hs_axes_init(struct hs_axis axis[HS_AXES], const struct hs_network_spec *spec)
{
    for (int which = 0; which < HS_AXES; which++)
        init_axis(&axis[which], spec, which);
}

void hs_axes_release(struct hs_axis axis[HS_AXES])
{
    for (int which = 0; which < HS_AXES; which++)
        free(axis[which].position);
}

int hs_axis_places(const struct hs_axis *axis, double lo, double hi, int count, double *place)
{
    for (int n = 1; n < count; n++) /* few */
        for (int m = n; m > 0 && place[m - 1] > place[m]; m--) {
            const double other = place[m];
            place[m] = place[m - 1];
            place[m - 1] = other;
        }
    int kept = 0;
    for (int n = 0; n < count; n++)
        if (place[n] > (kept > 0 ? place[kept - 1] : lo) + axis->tolerance &&
            place[n] < hi - axis->tolerance)
            place[kept++] = place[n];
    for (int n = kept; n > 0; n--)
        place[n] = place[n - 1];
    place[0] = lo;
    place[kept + 1] = hi;
    return kept + 2;
}
