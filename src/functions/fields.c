#include "functions/fields.h"

#include "core/memory.h"
#include "core/slab.h"
#include "functions/evaluate.h"
#include "functions/moving.h"
#include "functions/tables.h"
#include "functions/time_function.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values at `count` nodes of row (j, k) from node `first` on, at time t. */
static void value_stretch(const struct hs_grid *grid, const struct hs_value *value, double t,
                          int64_t first, int64_t count, int64_t j, int64_t k, double *out)
{
    const struct hs_row row =
        hs_row_along(grid, HS_X, (const int64_t[HS_AXES]){first, j, k}, count, t);
    if (value->expression.code)
        hs_expression_row(&value->expression, &row, out);
    else
        for (int64_t i = 0; i < count; i++)
            out[i] = value->constant;
}

void hs_value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                  int64_t k, double *out)
{
    value_stretch(grid, value, t, 0, grid->points[HS_X], j, k, out);
}

/* The numbers of a field in a box; `first`: index of the box's first node. A file is read by one
 * thread at a time; what cannot be read becomes NaN. */
static void numbers_of(const struct hs_field *field, const struct hs_box *box, int64_t first,
                       double *out)
{
    const int64_t count = hs_box_count(box);
    if (field->data) {
        memcpy(out, field->data + (first - field->first), (size_t)count * sizeof *out);
        return;
    }
    enum hs_status st;
#pragma omp critical(stored_numbers)
    st = field->stored->read(field->stored, box, out, NULL);
    for (int64_t n = 0; n < count && st; n++)
        out[n] = NAN;
}

/* Row (j, k) of the field; false if it is not a field of numbers. */
static bool numbers_row(const struct hs_problem *problem, const struct hs_field *field, int64_t j,
                        int64_t k, double *out)
{
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    const struct hs_box row = {{0, j, k}, {nx, j + 1, k + 1}};
    if (hs_field_is_numbers(field))
        numbers_of(field, &row, (k * ny + j) * nx, out);
    return hs_field_is_numbers(field);
}

double hs_field_at(const struct hs_problem *problem, const struct hs_field *field, double t,
                   const int64_t node[HS_AXES])
{
    const struct hs_box box = {{node[HS_X], node[HS_Y], node[HS_Z]},
                               {node[HS_X] + 1, node[HS_Y] + 1, node[HS_Z] + 1}};
    double out;
    if (!hs_field_is_numbers(field))
        return hs_value_at_node(&field->value, &problem->grid, node, t);
    numbers_of(field, &box, hs_grid_index(&problem->grid, node), &out);
    return out;
}

/* m: how far beyond a surface along an axis a node may lie and still count as on it. A decimal
 * bound is accurate to a millionth of the smallest cell, and both values were rounded a few
 * times. */
static double slack(const struct hs_grid *grid, int axis, double at, double bound)
{
    return 1e-6 * grid->spacing[axis] + 4.0 * DBL_EPSILON * (fabs(at) + fabs(bound));
}

static bool is_between(const struct hs_grid *grid, int axis, double at, double low, double high)
{
    return at >= low - slack(grid, axis, at, low) && at <= high + slack(grid, axis, at, high);
}

/* Whether a point lies on the half-space's side of its border. */
static bool is_behind(const struct hs_shape *shape, const struct hs_grid *grid,
                      const double at[HS_AXES])
{
    double beyond = 0.0;
    for (int axis = 0; axis < grid->dims; axis++)
        beyond += (at[axis] - shape->point[axis]) * shape->normal[axis] -
                  slack(grid, axis, at[axis], shape->point[axis]) * fabs(shape->normal[axis]);
    return beyond <= 0.0;
}

/* Whether a point can lie in the shape, judging only by its coordinates along axes `first` to `end`
 * - 1. */
static bool shape_holds(const struct hs_shape *shape, const struct hs_grid *grid, int first,
                        int end, const double at[HS_AXES])
{
    double square = 0.0; /* of the distance from the axis or centre of a round shape */
    if (shape->kind == HS_SHAPE_EVERYWHERE)
        return true;
    if (shape->kind == HS_SHAPE_HALF_SPACE)
        return first > HS_X || end < grid->dims || is_behind(shape, grid, at);
    for (int axis = first; axis < end; axis++) {
        const double centre = shape->centre[axis];
        const double off = fabs(at[axis] - centre) - slack(grid, axis, at[axis], centre);
        bool inside = true;
        if (shape->kind == HS_SHAPE_BOX)
            inside = is_between(grid, axis, at[axis], shape->lower[axis], shape->upper[axis]);
        else if (shape->kind == HS_SHAPE_CYLINDER && axis == shape->axis)
            inside = is_between(grid, axis, at[axis], shape->from, shape->to);
        else if (off > 0.0)
            square += off * off;
        if (!inside)
            return false;
    }
    return shape->kind == HS_SHAPE_BOX || square <= shape->radius * shape->radius;
}

bool hs_shape_covers(const struct hs_shape *shape, const struct hs_grid *grid,
                     const double at[HS_AXES])
{
    return shape_holds(shape, grid, HS_X, grid->dims, at);
}

/* Shrinks the range of nodes lo to hi - 1 along an axis by those at its ends that cannot lie in the
 * shape, judging by their coordinates from that axis to `end` - 1. The rest has no gaps: all shapes
 * are convex, and rounding preserves the order of coordinates and distances. */
static void shrink(const struct hs_grid *grid, const struct hs_shape *shape, int axis, int end,
                   double at[HS_AXES], int64_t *lo, int64_t *hi)
{
    for (; *lo < *hi; ++*lo) {
        at[axis] = hs_grid_coordinate(grid, axis, *lo);
        if (shape_holds(shape, grid, axis, end, at))
            break;
    }
    for (; *lo < *hi; --*hi) {
        at[axis] = hs_grid_coordinate(grid, axis, *hi - 1);
        if (shape_holds(shape, grid, axis, end, at))
            break;
    }
}

/* A box around the shape; for a half-space only the corner of the grid that lies deepest in it. */
static struct hs_box box_around(const struct hs_shape *shape, const struct hs_grid *grid)
{
    struct hs_box box = hs_grid_box(grid);
    double at[HS_AXES];
    for (int axis = 0; axis < grid->dims; axis++) {
        int64_t *lo = &box.lo[axis], *hi = &box.hi[axis];
        if (shape->kind != HS_SHAPE_HALF_SPACE)
            shrink(grid, shape, axis, axis + 1, at, lo, hi);
        else if (shape->normal[axis] > 0.0)
            *hi = 1;
        else
            *lo = *hi - 1;
    }
    return box;
}

bool hs_shape_has_node(const struct hs_shape *shape, const struct hs_grid *grid)
{
    const struct hs_box box = box_around(shape, grid);
    for (int64_t k = box.lo[HS_Z]; k < box.hi[HS_Z]; k++)
        for (int64_t j = box.lo[HS_Y]; j < box.hi[HS_Y]; j++) {
            double at[HS_AXES] = {0.0, hs_grid_coordinate(grid, HS_Y, j),
                                  hs_grid_coordinate(grid, HS_Z, k)};
            int64_t lo = box.lo[HS_X], hi = box.hi[HS_X];
            if (!shape_holds(shape, grid, HS_Y, grid->dims, at))
                continue;
            shrink(grid, shape, HS_X, grid->dims, at, &lo, &hi);
            if (lo < hi)
                return true;
        }
    return false;
}

struct hs_initial_part {
    struct hs_tables tables; /* of its expression; none if `memory` is NULL */
    struct hs_box box;       /* contains all nodes of the region */
};

/* Writes the region's value to its nodes in row (j, k). part: NULL if nothing was precomputed. */
static void apply_region(const struct hs_grid *grid, const struct hs_region *region,
                         const struct hs_initial_part *part, int64_t j, int64_t k, double *out)
{
    const struct hs_box box = part ? part->box : hs_grid_box(grid);
    if (j < box.lo[HS_Y] || j >= box.hi[HS_Y] || k < box.lo[HS_Z] || k >= box.hi[HS_Z])
        return;
    double at[HS_AXES] = {0.0, hs_grid_coordinate(grid, HS_Y, j),
                          hs_grid_coordinate(grid, HS_Z, k)};
    if (!shape_holds(&region->shape, grid, HS_Y, grid->dims, at))
        return;
    int64_t lo = box.lo[HS_X], hi = box.hi[HS_X];
    shrink(grid, &region->shape, HS_X, grid->dims, at, &lo, &hi);
    if (part && part->tables.memory)
        hs_tables_row(&part->tables, lo, hi - lo, j, k, out + lo);
    else
        value_stretch(grid, &region->value, 0.0, lo, hi - lo, j, k, out + lo);
}

/* Writes the walls' temperatures to the prescribed nodes of row (j, k). All inner nodes have the
 * owner of node 1, a y or z face; only the ends may be owned by an x face. */
static void apply_walls(const struct hs_problem *problem, double t, int64_t j, int64_t k,
                        double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t last = grid->points[HS_X] - 1;
    const int inside =
        last > 1 ? hs_problem_prescribing_face(problem, (const int64_t[]){1, j, k}) : -1;
    if (inside >= 0)
        hs_value_row(grid, &problem->face[inside].data, t, j, k, out);
    for (int64_t i = 0; i <= last; i += last > 0 ? last : 1) {
        const int64_t node[HS_AXES] = {i, j, k};
        const int face = hs_problem_prescribing_face(problem, node);
        if (face >= 0)
            out[i] = hs_value_at_node(&problem->face[face].data, grid, node, t);
    }
}

/* The same for a body's walls. */
static void apply_network(const struct hs_problem *problem, double t, int64_t j, int64_t k,
                          double *out)
{
    const struct hs_network *network = problem->network;
    const int64_t nx = problem->grid.points[HS_X];
    const int64_t first = (k * problem->grid.points[HS_Y] + j) * nx;
    for (int64_t i = 0; i < nx; i++) {
        const struct hs_network_row *row = hs_network_row_at(network, first + i);
        if (row->kind == HS_NODE_PRESCRIBED)
            out[i] =
                hs_terms_at(&network->forcing[row->forcing].inflow, problem->time_functions, t);
    }
    hs_moving_put_row(&network->given, &problem->grid, t, j, k, out);
}

void hs_problem_prescribed_row(const struct hs_problem *problem, double t, int64_t j, int64_t k,
                               double *out)
{
    if (problem->network)
        apply_network(problem, t, j, k, out);
    else
        apply_walls(problem, t, j, k, out);
}

static void initial_row(const struct hs_problem *problem, const struct hs_initial_part *part,
                        int64_t j, int64_t k, double *out)
{
    const struct hs_initial *initial = &problem->initial;
    if (!numbers_row(problem, &initial->field, j, k, out)) {
        if (part && part[0].tables.memory)
            hs_tables_row(&part[0].tables, 0, problem->grid.points[HS_X], j, k, out);
        else
            hs_value_row(&problem->grid, &initial->field.value, 0.0, j, k, out);
    }
    for (int r = 0; r < initial->region_count; r++)
        apply_region(&problem->grid, &initial->regions[r], part ? &part[1 + r] : NULL, j, k, out);
    hs_problem_prescribed_row(problem, 0.0, j, k, out);
}

void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    initial_row(problem, NULL, j, k, out);
}

/* Makes the value's tables if they fit into *left bytes, and subtracts their size from it. */
static void tabulate(struct hs_tables *tables, const struct hs_value *value,
                     const struct hs_grid *grid, int threads, double *left)
{
    if (!value->expression.code)
        return;
    const bool made = hs_tables_init(tables, &value->expression, grid, HS_TABLES_OF_PLANES);
    const double bytes = hs_tabulation_bytes(&tables->tabulation, grid, 1);
    if (!made || bytes > *left) {
        hs_tables_release(tables);
        return;
    }
    *left -= bytes;
    hs_tables_fill(tables, 0.0, threads);
}

/* A slab's own layers are in the order of their coordinates. Together with its halo, the nodes that
 * a shape covers may have gaps. */
static struct hs_box own_box(const struct hs_problem *problem)
{
    struct hs_box box = hs_grid_box(&problem->grid);
    if (problem->slab) {
        box.lo[problem->grid.dims - 1] = problem->slab->lo;
        box.hi[problem->grid.dims - 1] = problem->slab->hi;
    }
    return box;
}

void hs_initial_rows_init(struct hs_initial_rows *rows, const struct hs_problem *problem,
                          int threads)
{
    const struct hs_grid *grid = &problem->grid;
    const struct hs_initial *initial = &problem->initial;
    /* a large plane with few layers would cost more than it saves */
    double left = (double)hs_grid_count(grid) * (double)hs_precision_size(problem->precision) / 8.0;
    rows->problem = problem;
    rows->part = hs_new((size_t)(initial->region_count + 1) * sizeof *rows->part);
    if (!hs_field_is_numbers(&initial->field))
        tabulate(&rows->part[0].tables, &initial->field.value, grid, threads, &left);
    for (int r = 0; r < initial->region_count; r++) {
        struct hs_initial_part *part = &rows->part[1 + r];
        double at[HS_AXES];
        part->box = own_box(problem);
        for (int axis = 0; axis < grid->dims; axis++)
            shrink(grid, &initial->regions[r].shape, axis, axis + 1, at, &part->box.lo[axis],
                   &part->box.hi[axis]);
        tabulate(&part->tables, &initial->regions[r].value, grid, threads, &left);
    }
}

void hs_initial_rows_release(struct hs_initial_rows *rows)
{
    for (int n = 0; n <= rows->problem->initial.region_count; n++)
        hs_tables_release(&rows->part[n].tables);
    free(rows->part);
}

void hs_initial_row(const struct hs_initial_rows *rows, int64_t j, int64_t k, double *out)
{
    initial_row(rows->problem, rows->part, j, k, out);
}

double hs_problem_source_scale(const struct hs_problem *problem, double step)
{
    return problem->source.rate * (problem->raw ? 1.0 : step);
}

static double volume_by_capacity(const struct hs_problem *problem, const int64_t node[HS_AXES])
{
    const struct hs_network_row *row =
        hs_network_row_at(problem->network, hs_grid_index(&problem->grid, node));
    return row->kind == HS_NODE_FREE
               ? hs_problem_node_volume(problem, node[HS_X], node[HS_Y], node[HS_Z]) / row->capacity
               : 0.0;
}

double hs_problem_source_at(const struct hs_problem *problem, double step, double t,
                            const int64_t node[HS_AXES])
{
    const double out = hs_field_at(problem, &problem->source.field, t, node) *
                       hs_problem_source_scale(problem, step);
    return problem->network ? out * volume_by_capacity(problem, node) : out;
}

double hs_problem_source_uniform(const struct hs_problem *problem, double step, double t)
{
    const int64_t any[HS_AXES] = {0};
    return problem->source.present ? hs_problem_source_at(problem, step, t, any) : 0.0;
}

/* Multiplies by volume_by_capacity at each node, which is mostly the same as at the node before. */
static void weigh_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X], first = (k * grid->points[HS_Y] + j) * nx;
    const double y = hs_problem_node_width(problem, HS_Y, j);
    const double z = hs_problem_node_width(problem, HS_Z, k);
    const bool even = !grid->coordinate[HS_X] && !(problem->slab && grid->dims == 1);
    const struct hs_network_row *last = NULL;
    double x = 0.0, share = 0.0;
    for (int64_t i = 0; i < nx; i++) {
        const struct hs_network_row *row = hs_network_row_at(problem->network, first + i);
        const bool as_wide = even && i > 1 && i < nx - 1;
        if (!as_wide)
            x = hs_problem_node_width(problem, HS_X, i);
        if (!as_wide || row != last)
            share = row->kind == HS_NODE_FREE ? x * y * z / row->capacity : 0.0;
        last = row;
        out[i] *= share;
    }
}

void hs_problem_source_weigh(const struct hs_problem *problem, double step, int64_t j, int64_t k,
                             double *out)
{
    const double scale = hs_problem_source_scale(problem, step);
    for (int64_t i = 0; i < problem->grid.points[HS_X]; i++)
        out[i] *= scale;
    if (problem->network)
        weigh_row(problem, j, k, out);
}

void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out)
{
    if (!numbers_row(problem, &problem->source.field, j, k, out))
        hs_value_row(&problem->grid, &problem->source.field.value, t, j, k, out);
    hs_problem_source_weigh(problem, step, j, k, out);
}
