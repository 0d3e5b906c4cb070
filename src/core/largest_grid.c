#include "core/largest_grid.h"

#include <stdio.h>

static int64_t fewest_points(const struct hs_problem *problem)
{
    return 2 * problem->radius + 1;
}

/* The grid of `asked` with `points` along its longest axis. */
static struct hs_grid scaled(const struct hs_problem *asked, int64_t points)
{
    struct hs_grid grid = asked->grid;
    const double longest = (double)hs_grid_longest(&asked->grid);
    for (int axis = 0; axis < grid.dims; axis++) {
        const int64_t all = grid.points[axis], least = fewest_points(asked);
        const int64_t fewest = all < least ? all : least;
        const int64_t part = (int64_t)((double)all * (double)points / longest);
        grid.points[axis] = part < fewest ? fewest : part;
    }
    return grid;
}

bool hs_largest_grid_find(const struct hs_largest_grid *limit, const struct hs_problem *asked,
                          struct hs_grid *out)
{
    struct hs_problem problem = *asked;
    int64_t low = fewest_points(asked) - 1;        /* fits, or no grid */
    int64_t high = hs_grid_longest(&problem.grid); /* does not fit */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        problem.grid = scaled(asked, middle);
        if (limit->bytes(&problem, limit->context) <= limit->free_bytes)
            low = middle;
        else
            high = middle;
    }
    *out = scaled(asked, low);
    return low >= fewest_points(asked);
}

void hs_largest_grid_say(const struct hs_largest_grid *limit, const struct hs_problem *asked,
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
