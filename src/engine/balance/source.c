/* What the problem's source puts in: its integral over the nodes' volumes. */
#include "engine/balance/parts.h"

#include "core/memory.h"
#include "engine/threads.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/time_function.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Sums run along some axes: those with a bit, 1 << axis. */
enum { ALL_AXES = (1 << HS_AXES) - 1 };

static int64_t points_of(const struct hs_problem *problem, unsigned along, int axis)
{
    return along >> axis & 1 ? problem->grid.points[axis] : 1;
}

static double width_of(const struct hs_problem *problem, unsigned along, int axis, int64_t i)
{
    return along >> axis & 1 ? hs_problem_node_width(problem, axis, i) : 1.0;
}

/* m^dims along these axes. */
static double sum_volumes(const struct hs_problem *problem, unsigned along)
{
    double volume = 1.0;
    for (int axis = 0; axis < HS_AXES; axis++)
        volume *= along >> axis & 1 ? hs_problem_length(problem, axis) : 1.0;
    return volume;
}

/* Sum of density times volume along row (j, k). */
static double of_row(const struct hs_problem *problem, unsigned along, const double *density,
                     int64_t j, int64_t k)
{
    const double y = width_of(problem, along, HS_Y, j), z = width_of(problem, along, HS_Z, k);
    double sum = 0.0;
    for (int64_t i = 0; i < points_of(problem, along, HS_X); i++)
        sum += density[i] * (width_of(problem, along, HS_X, i) * y * z);
    return sum;
}

/* ---- numbers of a file that are not at hand -------------------------------------------------- */

/* The node's place among those of a face. */
static int64_t place_on(const struct hs_grid *grid, int face, const int64_t node[HS_AXES])
{
    const int first = hs_face_first_axis(face);
    return node[hs_face_second_axis(face)] * grid->points[first] + node[first];
}

/* Keeps the numbers of row (j, k) that lie on faces. */
static void keep_row(struct hs_balance *balance, const double *density, int64_t j, int64_t k)
{
    const struct hs_grid *grid = &balance->problem->grid;
    const int64_t nx = grid->points[HS_X];
    for (int face = 0; face < 2 * grid->dims; face++) {
        int64_t node[HS_AXES] = {0, j, k};
        const bool across = face / 2 == HS_X;
        if (!across && !hs_balance_is_on(grid, face, node))
            continue;
        for (int64_t i = across ? hs_grid_face_index(grid, face) : 0; i < nx;
             i += across ? nx : 1) {
            node[HS_X] = i;
            balance->source.face[face][place_on(grid, face, node)] = density[i];
        }
    }
}

static enum hs_status take(void *self, const double *values, int64_t first, int64_t count,
                           struct hs_error *err)
{
    (void)err;
    struct hs_balance *balance = self;
    const struct hs_problem *problem = balance->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    const int64_t rows = count / nx, from = first / nx;
    double *of_rows = hs_new((size_t)rows * sizeof *of_rows);
#pragma omp parallel for num_threads(hs_threads_of(problem)) schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        of_rows[r] = of_row(problem, ALL_AXES, values + r * nx, (from + r) % ny, (from + r) / ny);
        keep_row(balance, values + r * nx, (from + r) % ny, (from + r) / ny);
    }
    for (int64_t r = 0; r < rows; r++)
        hs_sum_add(&balance->source.sum, of_rows[r]);
    free(of_rows);
    return HS_OK;
}

/* Reads all numbers once: sums them, and keeps those on faces, which walls need. */
static enum hs_status pass(struct hs_balance *balance, struct hs_error *err)
{
    const struct hs_grid *grid = &balance->problem->grid;
    struct hs_balance_source *source = &balance->source;
    const struct hs_stored_reader reader = {take, balance};
    for (int face = 0; face < 2 * grid->dims; face++)
        source->face[face] =
            hs_new((size_t)hs_grid_face_count(grid, face) * sizeof *source->face[face]);
    HS_TRY(hs_stored_read_all(balance->problem->source.field.stored, &reader, err));
    source->total = source->factor * hs_sum_value(&source->sum);
    return HS_OK;
}

/* ---------------------------------------------------------------------------------------------- */

enum hs_status hs_balance_source_init(struct hs_balance *balance, struct hs_error *err)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_source *given = &problem->source;
    struct hs_balance_source *source = &balance->source;
    const unsigned axes = (1u << problem->grid.dims) - 1;
    const unsigned varies = hs_problem_own_source_varies(problem);
    *source = (struct hs_balance_source){.varies_space = (varies & axes) != 0,
                                         .varies_time = (varies & HS_VARIES_T) != 0,
                                         .volume = sum_volumes(problem, ALL_AXES),
                                         .total = NAN};
    source->factor = given->rate * (problem->body ? 1.0 : hs_problem_heat_capacity(problem));
    if (given->field.stored && !given->field.data)
        return pass(balance, err);
    if (!given->present || !source->varies_space || !source->varies_time)
        return HS_OK;
    const struct hs_expression *expression = &given->field.value.expression;
    source->separates = hs_expression_separate(expression, problem->grid.dims, &source->separation);
    /* without memory for tables every node is evaluated by itself */
    hs_tables_init(&source->tables, expression, &problem->grid, HS_TABLES_OF_PLANES);
    return HS_OK;
}

void hs_balance_source_release(struct hs_balance_source *source)
{
    hs_tables_release(&source->tables);
    for (int face = 0; face < HS_FACES; face++)
        free(source->face[face]);
}

/* The source along row (j, k) at time t. values: [nx], used unless the row is in memory. */
static const double *density_row(const struct hs_balance *balance, double t, int64_t j, int64_t k,
                                 double *values)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_field *field = &problem->source.field;
    const int64_t nx = problem->grid.points[HS_X];
    if (field->data)
        return field->data + (k * problem->grid.points[HS_Y] + j) * nx;
    if (balance->source.tables.memory)
        hs_tables_row(&balance->source.tables, 0, nx, j, k, values);
    else
        hs_value_row(&problem->grid, &field->value, t, j, k, values);
    return values;
}

/* Integrates the source, or an expression that varies along some axes only. Sums row by row, so
 * that no bit depends on the threads. NaN without memory. */
static double integrate(const struct hs_balance *balance, const struct hs_expression *of,
                        unsigned along, double t)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = points_of(problem, along, HS_X), ny = points_of(problem, along, HS_Y);
    const int64_t rows = ny * points_of(problem, along, HS_Z);
    const int threads = hs_threads_of(problem);
    double *of_rows = malloc((size_t)rows * sizeof *of_rows);
    double *scratch = malloc((size_t)threads * (size_t)nx * sizeof *scratch);
    struct hs_sum sum = {0.0, 0.0};
    const bool enough = of_rows && scratch;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < (enough ? rows : 0); r++) {
        double *values = scratch + omp_get_thread_num() * nx;
        const struct hs_row row =
            hs_row_along(grid, HS_X, (const int64_t[HS_AXES]){0, r % ny, r / ny}, nx, t);
        const double *density = values;
        if (of)
            hs_expression_row(of, &row, values);
        else
            density = density_row(balance, t, r % ny, r / ny, values);
        of_rows[r] = of_row(problem, along, density, r % ny, r / ny);
    }
    for (int64_t r = 0; r < (enough ? rows : 0); r++)
        hs_sum_add(&sum, of_rows[r]);
    free(of_rows);
    free(scratch);
    return enough ? hs_sum_value(&sum) : NAN;
}

/* Integrates each part of plane * column + offset by itself, which costs next to nothing. */
static double integrate_parts(const struct hs_balance *balance, const struct hs_separation *of,
                              double t)
{
    const unsigned line = 1u << of->axis, plane = ALL_AXES & ~line;
    const double column = of->column.length > 0 ? integrate(balance, &of->column, line, t)
                                                : sum_volumes(balance->problem, line);
    const double sum = integrate(balance, &of->plane, plane, t) * column;
    return of->offset.length > 0 ? sum + sum_volumes(balance->problem, plane) *
                                             integrate(balance, &of->offset, line, t)
                                 : sum;
}

static double integrate_source(struct hs_balance *balance, double t)
{
    struct hs_balance_source *source = &balance->source;
    const struct hs_problem *problem = balance->problem;
    const double parts = source->separates ? integrate_parts(balance, &source->separation, t) : NAN;
    if (isfinite(parts)) /* a part may overflow where the whole does not */
        return parts;
    if (source->tables.memory)
        hs_tables_fill(&source->tables, t, hs_threads_of(problem));
    return integrate(balance, NULL, ALL_AXES, t);
}

double hs_balance_value_at(const struct hs_balance *balance, const struct hs_value *value,
                           const int64_t node[HS_AXES])
{
    const struct hs_step_mean *step = &balance->step;
    const struct hs_grid *grid = &balance->problem->grid;
    double sum = 0.0;
    if (!(hs_value_varies(value) & HS_VARIES_T))
        return hs_value_at_node(value, grid, node, 0.0);
    for (int64_t n = 0; n < step->count; n++)
        sum += step->weight[n] * hs_value_at_node(value, grid, node, step->time[n]);
    return sum;
}

double hs_balance_function(const struct hs_balance *balance,
                           const struct hs_time_function *function)
{
    const struct hs_step_mean *step = &balance->step;
    double sum = 0.0;
    if (!hs_time_function_varies(function))
        return hs_time_function_at(function, 0.0);
    for (int64_t n = 0; n < step->count; n++)
        sum += step->weight[n] * hs_time_function_at(function, step->time[n]);
    return sum;
}

/* W/m^3: a body's uniform source. */
static double of_body(const struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    return problem->body && problem->body->source >= 0
               ? hs_balance_function(balance, &problem->time_functions[problem->body->source])
               : 0.0;
}

/* Adds to row r of a face's nodes what they have at the step's times. values: room for the row. */
static void add_times(struct hs_balance *balance, int face, int64_t r, double *values)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_grid *grid = &problem->grid;
    const struct hs_step_mean *step = &balance->step;
    const int axis = hs_face_first_axis(face);
    const int64_t count = grid->points[axis];
    double *out = balance->source.face[face] + r * count;
    int64_t node[HS_AXES];
    hs_grid_face_node(grid, face, r * count, node);
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t n = 0; n < step->count; n++) {
        const struct hs_row row = hs_row_along(grid, axis, node, count, step->time[n]);
        hs_expression_row(&problem->source.field.value.expression, &row, values);
        for (int64_t i = 0; i < count; i++)
            out[i] += step->weight[n] * values[i];
    }
}

void hs_balance_source_begin(struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_grid *grid = &problem->grid;
    double **kept = balance->source.face;
    if (!balance->source.varies_space || !balance->source.varies_time)
        return;
    for (int face = 0; face < 2 * grid->dims; face++) {
        const int64_t all = hs_grid_face_count(grid, face);
        const int64_t count = grid->points[hs_face_first_axis(face)];
        if (balance->mean[face].depth < 2)
            continue;
        kept[face] = kept[face] ? kept[face] : hs_new((size_t)all * sizeof *kept[face]);
#pragma omp parallel num_threads(hs_threads_of(problem))
        {
            double *values = hs_new((size_t)count * sizeof *values);
#pragma omp for schedule(static)
            for (int64_t r = 0; r < all / count; r++)
                add_times(balance, face, r, values);
            free(values);
        }
    }
}

/* Density of the source, in its unit. */
static double density_at(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_field *field = &problem->source.field;
    for (int face = 0; face < HS_FACES; face++)
        if (balance->source.face[face] && hs_balance_is_on(&problem->grid, face, node))
            return balance->source.face[face][place_on(&problem->grid, face, node)];
    return field->data ? field->data[hs_grid_index(&problem->grid, node)]
                       : hs_balance_value_at(balance, &field->value, node);
}

/* Sum of density times volume over all nodes. */
static double sum_of(struct hs_balance *balance)
{
    static const int64_t origin[HS_AXES] = {0, 0, 0};
    const struct hs_step_mean *step = &balance->step;
    double sum = 0.0;
    if (!balance->source.varies_space)
        return density_at(balance, origin) * balance->source.volume;
    if (!balance->source.varies_time)
        return integrate_source(balance, 0.0);
    for (int64_t n = 0; n < step->count; n++)
        sum += step->weight[n] * integrate_source(balance, step->time[n]);
    return sum;
}

double hs_balance_source_total(struct hs_balance *balance)
{
    struct hs_balance_source *source = &balance->source;
    const double of_all = of_body(balance) * source->volume;
    if (!balance->problem->source.present)
        return of_all;
    if (isnan(source->total) || source->varies_time)
        source->total = source->factor * sum_of(balance);
    return of_all + source->total;
}

double hs_balance_source_at(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    double density = of_body(balance);
    if (balance->problem->source.present)
        density += balance->source.factor * density_at(balance, node);
    if (density == 0.0)
        return 0.0;
    return density * hs_problem_node_volume(balance->problem, node[HS_X], node[HS_Y], node[HS_Z]);
}
