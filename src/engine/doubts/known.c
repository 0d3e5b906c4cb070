#include "engine/doubts/known.h"

#include "core/text.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a wall has its own temperature at a node, or at others of its face. */
static bool is_prescribed(const struct hs_problem *problem, const int64_t node[HS_AXES])
{
    bool is = !problem->body && hs_problem_prescribing_face(problem, node) >= 0;
    for (int w = 0; w < problem->wall_count && !is; w++) {
        const int face = problem->walls[w].face;
        is = problem->walls[w].kind == HS_WALL_PRESCRIBES &&
             node[face / 2] == hs_grid_face_index(&problem->grid, face);
    }
    return is;
}

enum { MOST_LONG = 1 << 20 }; /* nodes of a row that is looked at */

bool hs_doubts_initial_span(const struct hs_problem *problem, double span[2])
{
    enum { ROWS = 64 };
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X], rows = grid->points[HS_Y] * grid->points[HS_Z];
    double *row = nx <= MOST_LONG ? malloc((size_t)nx * sizeof *row) : NULL;
    span[0] = INFINITY;
    span[1] = -INFINITY;
    for (int64_t n = 0; n < ROWS && row; n++) {
        const int64_t r = rows <= ROWS ? n : n * (rows - 1) / (ROWS - 1);
        const int64_t j = r % grid->points[HS_Y], k = r / grid->points[HS_Y];
        if (r >= rows)
            break;
        hs_problem_initial_row(problem, j, k, row);
        for (int64_t i = 0; i < nx; i++) {
            if (is_prescribed(problem, (const int64_t[]){i, j, k}))
                continue;
            span[0] = fmin(span[0], row[i]);
            span[1] = fmax(span[1], row[i]);
        }
    }
    free(row);
    return span[0] <= span[1];
}

double hs_doubts_initial_at(const struct hs_problem *problem, const int64_t node[HS_AXES])
{
    const int64_t nx = problem->grid.points[HS_X];
    double *row = nx <= MOST_LONG ? malloc((size_t)nx * sizeof *row) : NULL;
    if (row)
        hs_problem_initial_row(problem, node[HS_Y], node[HS_Z], row);
    const double found = row ? row[node[HS_X]] : NAN;
    free(row);
    return found;
}

/* Whether the boundary data of a kind are a temperature. */
static bool is_temperature(const struct hs_boundary_kind *kind)
{
    for (int n = 0; n < hs_boundary_key_count(kind); n++)
        if (!kind->key[n].number && strcmp(kind->key[n].unit, "K") == 0)
            return true;
    return false;
}

bool hs_doubts_is_patch(const struct hs_problem *problem, int wall)
{
    return problem->body && wall > 0 && problem->walls[wall - 1].face == problem->walls[wall].face;
}

static bool body_wall_temperature(const struct hs_problem *problem, int n, double *out)
{
    const struct hs_wall *wall = &problem->walls[n];
    const struct hs_wall_number *number =
        wall->kind == HS_WALL_PRESCRIBES ? &wall->value : &wall->ambient;
    if (number->function < 0 || (number->field && hs_doubts_is_patch(problem, n)))
        return false;
    *out = hs_time_function_at(&problem->time_functions[number->function], 0.0);
    if (number->field)
        *out *= number->field[hs_grid_face_count(&problem->grid, wall->face) / 2];
    return true;
}

void hs_doubts_middle(const struct hs_problem *problem, int face, int64_t node[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        node[axis] = axis == face / 2 ? hs_grid_face_index(&problem->grid, face)
                                      : (problem->grid.points[axis] - 1) / 2;
}

bool hs_doubts_face_temperature(const struct hs_problem *problem, int face, double *out)
{
    const struct hs_boundary_kind *kind = hs_boundary_find(problem->face[face].type);
    int64_t node[HS_AXES];
    if (!kind || !is_temperature(kind))
        return false;
    hs_doubts_middle(problem, face, node);
    *out = hs_value_at_node(&problem->face[face].data, &problem->grid, node, 0.0);
    return true;
}

bool hs_doubts_wall_temperature(const struct hs_problem *problem, int wall, double *out)
{
    return problem->body
               ? body_wall_temperature(problem, wall, out)
               : hs_doubts_face_temperature(problem, hs_problem_wall_face(problem, wall), out);
}

const char *hs_doubts_place_of_wall(const struct hs_problem *problem, int wall)
{
    return hs_problem_place(problem,
                            (enum hs_place)(HS_PLACE_FACE + hs_problem_wall_face(problem, wall)));
}

static const double least_kelvin = 200.0; /* of usual absolute temperatures */

bool hs_doubts_two_units(const struct hs_problem *problem, const double span[2], double other)
{
    const char scale = hs_text_temperature_scale(hs_problem_temperature_unit(problem));
    const double most_celsius = 100.0, most_kelvin = scale == 'C' ? 500.0 : INFINITY;
    return scale && !problem->raw &&
           ((span[1] < most_celsius && other > least_kelvin && other < most_kelvin) ||
            (span[0] > least_kelvin && span[0] < most_kelvin && other < most_celsius));
}

double hs_doubts_absolute_zero(const struct hs_problem *problem, double usual)
{
    const char *unit = hs_problem_temperature_unit(problem);
    if (problem->raw || !hs_problem_has_capacity(problem))
        return NAN;
    if (hs_text_temperature_scale(unit) == 'C')
        return -273.15;
    return hs_text_temperature_scale(unit) == 'K' && usual > least_kelvin ? 0.0 : NAN;
}

void hs_doubts_widen(double range[2], double value)
{
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}
