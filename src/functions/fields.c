#include "functions/fields.h"

#include "functions/evaluate.h"

#include <float.h>
#include <math.h>
#include <string.h>

void hs_value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                  int64_t k, double *out)
{
    const int64_t nx = grid->points[HS_X];
    if (value->expression.code)
        hs_expression_row(&value->expression, nx, grid->lower[HS_X], grid->spacing[HS_X],
                          hs_grid_coordinate(grid, HS_Y, j), hs_grid_coordinate(grid, HS_Z, k), t,
                          out);
    else
        for (int64_t i = 0; i < nx; i++)
            out[i] = value->constant;
}

/* Values of a field along row (j, k) at time t. */
static void field_row(const struct hs_problem *problem, const struct hs_field *field, double t,
                      int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const size_t nx = (size_t)grid->points[HS_X];
    if (field->data)
        memcpy(out, field->data + (size_t)(k * grid->points[HS_Y] + j) * nx, nx * sizeof *out);
    else
        hs_value_row(grid, &field->value, t, j, k, out);
}

/* A node on the surface belongs to the region, however its coordinate was rounded: let by are a
 * billionth of the region's size and a few roundings of the coordinate itself. */
static const double slack = 1e-9;

static bool is_between(double at, double low, double high, double size)
{
    const double margin = slack * size, roundings = 8.0 * DBL_EPSILON;
    return at >= low - margin - roundings * fabs(low) &&
           at <= high + margin + roundings * fabs(high);
}

/* Whether a point whose coordinates from axis `first` on are known can lie in the region. */
static bool region_holds(const struct hs_region *region, int first, int dims,
                         const double at[HS_AXES])
{
    double square = 0.0; /* of the distance from a round one's axis or centre */
    for (int axis = first; axis < dims; axis++) {
        const double distance = at[axis] - region->centre[axis];
        bool inside = true;
        if (region->shape == HS_SHAPE_BOX)
            inside = is_between(at[axis], region->lower[axis], region->upper[axis],
                                region->upper[axis] - region->lower[axis]);
        else if (region->shape == HS_SHAPE_CYLINDER && axis == region->axis)
            inside = is_between(at[axis], region->from, region->to, region->radius);
        else
            square += distance * distance;
        if (!inside)
            return false;
    }
    return region->shape == HS_SHAPE_BOX ||
           square <= region->radius * region->radius * (1.0 + slack);
}

bool hs_region_covers(const struct hs_region *region, int dims, const double at[HS_AXES])
{
    return region_holds(region, HS_X, dims, at);
}

/* Puts the region's value on its nodes of row (j, k). */
static void apply_region(const struct hs_grid *grid, const struct hs_region *region, int64_t j,
                         int64_t k, double *out)
{
    double at[HS_AXES] = {0.0, hs_grid_coordinate(grid, HS_Y, j),
                          hs_grid_coordinate(grid, HS_Z, k)};
    if (!region_holds(region, HS_Y, grid->dims, at))
        return;
    for (int64_t i = 0; i < grid->points[HS_X]; i++) {
        at[HS_X] = hs_grid_coordinate(grid, HS_X, i);
        if (region_holds(region, HS_X, grid->dims, at))
            out[i] = hs_value_at(&region->value, at[HS_X], at[HS_Y], at[HS_Z], 0.0);
    }
}

/* Puts the walls' temperatures on the prescribed nodes of row (j, k): those inside its ends have
 * the owner of node 1, by the y and z faces; only the ends may be owned by an x face. */
static void apply_walls(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t last = grid->points[HS_X] - 1;
    const int inside = last > 1 ? hs_problem_prescribing_face(problem, 1, j, k) : -1;
    if (inside >= 0)
        hs_value_row(grid, &problem->face[inside].data, 0.0, j, k, out);
    for (int64_t i = 0; i <= last; i += last > 0 ? last : 1) {
        const int face = hs_problem_prescribing_face(problem, i, j, k);
        if (face >= 0)
            out[i] = hs_value_at(&problem->face[face].data, hs_grid_coordinate(grid, HS_X, i),
                                 hs_grid_coordinate(grid, HS_Y, j),
                                 hs_grid_coordinate(grid, HS_Z, k), 0.0);
    }
}

void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    field_row(problem, &problem->initial.field, 0.0, j, k, out);
    for (int r = 0; r < problem->initial.region_count; r++)
        apply_region(&problem->grid, &problem->initial.regions[r], j, k, out);
    apply_walls(problem, j, k, out);
}

void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out)
{
    field_row(problem, &problem->source.field, t, j, k, out);
    const double scale = problem->source.rate * (problem->raw ? 1.0 : step);
    for (int64_t i = 0; i < problem->grid.points[HS_X]; i++)
        out[i] *= scale;
}
