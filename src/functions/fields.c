#include "functions/fields.h"

#include "functions/drive.h"
#include "functions/evaluate.h"

#include <float.h>
#include <math.h>
#include <string.h>

void hs_value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                  int64_t k, double *out)
{
    const struct hs_row row = hs_row_along(grid, HS_X, hs_grid_coordinate(grid, HS_Y, j),
                                           hs_grid_coordinate(grid, HS_Z, k), t);
    if (value->expression.code)
        hs_expression_row(&value->expression, &row, out);
    else
        for (int64_t i = 0; i < row.count; i++)
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

/* Whether a point lies on the half-space's side of its border. */
static bool is_behind(const struct hs_shape *shape, int dims, const double at[HS_AXES])
{
    double beyond = 0.0, size = 0.0;
    for (int axis = 0; axis < dims; axis++) {
        beyond += (at[axis] - shape->point[axis]) * shape->normal[axis];
        size += (fabs(at[axis]) + fabs(shape->point[axis])) * fabs(shape->normal[axis]);
    }
    return beyond <= slack * size;
}

/* Whether a point whose coordinates from axis `first` on are known can lie in the region. */
static bool shape_holds(const struct hs_shape *shape, int first, int dims, const double at[HS_AXES])
{
    double square = 0.0; /* of the distance from a round one's axis or centre */
    if (shape->kind == HS_SHAPE_EVERYWHERE)
        return true;
    if (shape->kind == HS_SHAPE_HALF_SPACE)
        return first > HS_X || is_behind(shape, dims, at);
    for (int axis = first; axis < dims; axis++) {
        const double distance = at[axis] - shape->centre[axis];
        bool inside = true;
        if (shape->kind == HS_SHAPE_BOX)
            inside = is_between(at[axis], shape->lower[axis], shape->upper[axis],
                                shape->upper[axis] - shape->lower[axis]);
        else if (shape->kind == HS_SHAPE_CYLINDER && axis == shape->axis)
            inside = is_between(at[axis], shape->from, shape->to, shape->radius);
        else
            square += distance * distance;
        if (!inside)
            return false;
    }
    return shape->kind == HS_SHAPE_BOX || square <= shape->radius * shape->radius * (1.0 + slack);
}

bool hs_shape_covers(const struct hs_shape *shape, int dims, const double at[HS_AXES])
{
    return shape_holds(shape, HS_X, dims, at);
}

/* Puts the region's value on its nodes of row (j, k). */
static void apply_region(const struct hs_grid *grid, const struct hs_region *region, int64_t j,
                         int64_t k, double *out)
{
    double at[HS_AXES] = {0.0, hs_grid_coordinate(grid, HS_Y, j),
                          hs_grid_coordinate(grid, HS_Z, k)};
    if (!shape_holds(&region->shape, HS_Y, grid->dims, at))
        return;
    for (int64_t i = 0; i < grid->points[HS_X]; i++) {
        at[HS_X] = hs_grid_coordinate(grid, HS_X, i);
        if (shape_holds(&region->shape, HS_X, grid->dims, at))
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

/* The same of a body's walls. */
static void apply_network(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    const struct hs_network *network = problem->network;
    const int64_t nx = problem->grid.points[HS_X];
    const int64_t first = (k * problem->grid.points[HS_Y] + j) * nx;
    for (int64_t i = 0; i < nx; i++) {
        const struct hs_network_row *row = hs_network_row_at(network, first + i);
        if (row->kind == HS_NODE_PRESCRIBED)
            out[i] = hs_forcing_at(&network->forcing[row->forcing], problem->drives, 0.0);
    }
}

void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    field_row(problem, &problem->initial.field, 0.0, j, k, out);
    for (int r = 0; r < problem->initial.region_count; r++)
        apply_region(&problem->grid, &problem->initial.regions[r], j, k, out);
    if (problem->network)
        apply_network(problem, j, k, out);
    else
        apply_walls(problem, j, k, out);
}

void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out)
{
    field_row(problem, &problem->source.field, t, j, k, out);
    const double scale = problem->source.rate * (problem->raw ? 1.0 : step);
    const int64_t nx = problem->grid.points[HS_X];
    for (int64_t i = 0; i < nx; i++)
        out[i] *= scale;
    const int64_t first = (k * problem->grid.points[HS_Y] + j) * nx;
    for (int64_t i = 0; i < nx && problem->network; i++) { /* of W/m^3, dt V/C */
        const struct hs_network_row *row = hs_network_row_at(problem->network, first + i);
        out[i] *= row->kind == HS_NODE_FREE
                      ? hs_problem_node_volume(problem, i, j, k) / row->capacity
                      : 0.0;
    }
}
