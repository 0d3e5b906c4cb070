#include "core/largest_grid.h"

#include <stdio.h>

/* `asked` with `points` along its longest axis. */
static struct hs_grid scaled(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                             int64_t points, int64_t longest)
{
    struct hs_grid grid = *asked;
    for (int axis = 0; axis < grid.dims; axis++) {
        const int64_t all = asked->points[axis];
        const int64_t fewest = all < limit->fewest ? all : limit->fewest;
        const int64_t part = (int64_t)((double)all * (double)points / (double)longest);
        grid.points[axis] = part < fewest ? fewest : part;
    }
    return grid;
}

bool hs_largest_grid_find(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                          struct hs_grid *out)
{
    int64_t longest = 0;
    for (int axis = 0; axis < asked->dims; axis++)
        longest = asked->points[axis] > longest ? asked->points[axis] : longest;
    int64_t low = limit->fewest - 1, high = longest; /* low: fits, or no grid; high: does not */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const struct hs_grid grid = scaled(limit, asked, middle, longest);
        if (limit->bytes(&grid, limit->context) <= limit->free_bytes)
            low = middle;
        else
            high = middle;
    }
    *out = scaled(limit, asked, low, longest);
    return low >= limit->fewest;
}

void hs_largest_grid_say(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                         char *out, size_t size)
{
    struct hs_grid largest;
    char points[HS_POINTS_TEXT];
    if (!hs_largest_grid_find(limit, asked, &largest)) {
        snprintf(out, size, "no grid of these proportions fits");
        return;
    }
    hs_grid_name_points(&largest, points, sizeof points);
    snprintf(out, size, "the largest grid of these proportions that fits is %s", points);
}
