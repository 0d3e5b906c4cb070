/* Temperatures, sources and walls. */
#include "core/memory.h"
#include "core/text.h"
#include "engine/doubts/checks.h"
#include "engine/network/coefficients.h"
#include "engine/network/of_problem.h"
#include "engine/network/walls.h"
#include "engine/ranks/ranks.h"
#include "engine/walls/boundary_data_parts.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/time_function.h"
#include "input/field_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- temperatures ---------------------------------------------------------------------------- */

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

/* The range of the initial field, without nodes that a wall prescribes, from evenly spread rows. */
static bool initial_span(const struct hs_problem *problem, double span[2])
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

/* The initial temperature of a node; NaN in rows too long to be looked at. */
static double initial_at(const struct hs_problem *problem, const int64_t node[HS_AXES])
{
    const int64_t nx = problem->grid.points[HS_X];
    double *row = nx <= MOST_LONG ? malloc((size_t)nx * sizeof *row) : NULL;
    if (row)
        hs_problem_initial_row(problem, node[HS_Y], node[HS_Z], row);
    const double found = row ? row[node[HS_X]] : NAN;
    free(row);
    return found;
}

/* Whether the initial temperatures of a face's outermost two layers differ at nine places. */
static bool layers_differ(const struct hs_problem *problem, int face)
{
    enum { PLACES = 9 };
    const int64_t *points = problem->grid.points, edge = hs_grid_face_index(&problem->grid, face);
    bool differ = false;
    for (int place = 0; place < PLACES && !differ; place++) {
        int64_t node[HS_AXES];
        double layer[2];
        for (int axis = 0, part = place; axis < HS_AXES; axis++) {
            node[axis] = (points[axis] - 1) * (part % 3 + 1) / 4;
            part = axis == face / 2 ? part : part / 3;
        }
        for (int n = 0; n < 2; n++) {
            node[face / 2] = edge == 0 ? n : edge - n;
            layer[n] = initial_at(problem, node);
        }
        differ = fabs(layer[1] - layer[0]) > 1e-6 * (fabs(layer[0]) + fabs(layer[1]));
    }
    return differ;
}

/* With radius 2 and 3 a fixed wall is two and three layers thick. */
static void doubt_thick_wall(const struct hs_problem *problem, struct hs_error *out)
{
    for (int face = 0; face < 2 * problem->grid.dims && !problem->raw; face++) {
        const int held = problem->face[face].held;
        if (held < 2 || !layers_differ(problem, face))
            continue;
        hs_error_warn(out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
                      "with radius %d this wall holds the %d outermost layers at their initial "
                      "temperatures, which differ; \"dirichlet\" holds the outermost layer only",
                      problem->radius, held);
        return;
    }
}

/* Whether the boundary data of a kind are a temperature. */
static bool is_temperature(const struct hs_boundary_kind *kind)
{
    for (int n = 0; n < hs_boundary_key_count(kind); n++)
        if (!kind->key[n].number && strcmp(kind->key[n].unit, "K") == 0)
            return true;
    return false;
}

/* Whether a wall (of hs_problem_wall_count) is a patch on another. */
static bool is_patch(const struct hs_problem *problem, int wall)
{
    return problem->body && wall > 0 && problem->walls[wall - 1].face == problem->walls[wall].face;
}

static bool body_wall_temperature(const struct hs_problem *problem, int n, double *out)
{
    const struct hs_wall *wall = &problem->walls[n];
    const struct hs_wall_number *number =
        wall->kind == HS_WALL_PRESCRIBES ? &wall->value : &wall->ambient;
    if (number->function < 0 || (number->field && is_patch(problem, n)))
        return false;
    *out = hs_time_function_at(&problem->time_functions[number->function], 0.0);
    if (number->field)
        *out *= number->field[hs_grid_face_count(&problem->grid, wall->face) / 2];
    return true;
}

static void find_middle(const struct hs_problem *problem, int face, int64_t node[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        node[axis] = axis == face / 2 ? hs_grid_face_index(&problem->grid, face)
                                      : (problem->grid.points[axis] - 1) / 2;
}

static bool face_temperature(const struct hs_problem *problem, int face, double *out)
{
    const struct hs_boundary_kind *kind = hs_boundary_find(problem->face[face].type);
    int64_t node[HS_AXES];
    if (!kind || !is_temperature(kind))
        return false;
    find_middle(problem, face, node);
    *out = hs_value_at_node(&problem->face[face].data, &problem->grid, node, 0.0);
    return true;
}

/* A wall's temperature at t = 0, in the middle of its face, or of a patch, if it is one number;
 * false: it has none. */
static bool wall_temperature(const struct hs_problem *problem, int wall, double *out)
{
    return problem->body ? body_wall_temperature(problem, wall, out)
                         : face_temperature(problem, hs_problem_wall_face(problem, wall), out);
}

static const char *place_of_wall(const struct hs_problem *problem, int wall)
{
    return hs_problem_place(problem,
                            (enum hs_place)(HS_PLACE_FACE + hs_problem_wall_face(problem, wall)));
}

static const double least_kelvin = 200.0; /* of usual absolute temperatures */

/* degC mixed with K: 20 in one is 293 in the other. In a case that is said to be in degC, 1000 is
 * more likely that of a fire; in V or mol/m^3 any two numbers may meet. */
static bool are_of_two_units(const struct hs_problem *problem, const double span[2], double other)
{
    const char scale = hs_text_temperature_scale(hs_problem_temperature_unit(problem));
    const double most_celsius = 100.0, most_kelvin = scale == 'C' ? 500.0 : INFINITY;
    return scale && !problem->raw &&
           ((span[1] < most_celsius && other > least_kelvin && other < most_kelvin) ||
            (span[0] > least_kelvin && span[0] < most_kelvin && other < most_celsius));
}

static void doubt_mixed(struct hs_error *out, const char *place, const char *whose, double has,
                        const double span[2])
{
    hs_error_warn(out, place,
                  "%s has %g, the initial field %g to %g; are degrees Celsius and kelvin mixed?",
                  whose, has, span[0], span[1]);
}

static void doubt_temperatures(const struct hs_problem *problem, struct hs_error *out)
{
    double span[2], has;
    if (!initial_span(problem, span))
        return;
    for (int w = 0; w < hs_problem_wall_count(problem); w++)
        if (wall_temperature(problem, w, &has) && are_of_two_units(problem, span, has)) {
            doubt_mixed(out, place_of_wall(problem, w),
                        is_patch(problem, w) ? "a patch of this wall" : "this wall", has, span);
            return;
        }
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        if (s->perfusion == 0.0)
            continue;
        has = hs_time_function_at(&problem->time_functions[s->reference], 0.0);
        if (!are_of_two_units(problem, span, has))
            continue;
        doubt_mixed(out, s->place[HS_SUBSTANCE_REFERENCE], "this perfusion", has, span);
        return;
    }
}

static void doubt_unit_of_file(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_stored *stored = problem->initial.field.stored;
    const char *unit = hs_problem_temperature_unit(problem);
    char *there = stored ? hs_field_file_unit(stored) : NULL;
    const char scale = there ? hs_text_temperature_scale(there) : 0;
    const char mine = hs_text_temperature_scale(unit);
    const bool named = there && there[0] && strcmp(there, "1") != 0;
    if (named && (mine ? scale && scale != mine : strcmp(there, unit) != 0))
        hs_error_warn(out, hs_problem_place(problem, HS_PLACE_INITIAL),
                      "the file's numbers are in %s, those of the config in %s "
                      "(temperature_unit), and nothing is converted",
                      there, unit);
    free(there);
}

/* The unit is only a label, but W and J are per kelvin. */
static void doubt_unit(const struct hs_problem *problem, struct hs_error *out)
{
    const char *unit = hs_problem_temperature_unit(problem);
    if (hs_text_temperature_scale(unit) == 'F' && !problem->raw && hs_problem_has_capacity(problem))
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_UNIT),
            "nothing is converted, and W/(m K) is per kelvin, of which a degree Fahrenheit or "
            "Rankine is 5/9: heat in W and J comes out 1.8 times too large, and sources and "
            "fluxes warm 1.8 times too little; give temperatures in degC or K");
}

/* ---- below absolute zero --------------------------------------------------------------------- */

/* Absolute zero in the unit of the temperatures, where W and J say that they are temperatures and
 * the unit is one of two; else NaN. In kelvin they may be differences, but not where `usual` is one
 * of them. */
static double absolute_zero(const struct hs_problem *problem, double usual)
{
    const char *unit = hs_problem_temperature_unit(problem);
    if (problem->raw || !hs_problem_has_capacity(problem))
        return NAN;
    if (hs_text_temperature_scale(unit) == 'C')
        return -273.15;
    return hs_text_temperature_scale(unit) == 'K' && usual > least_kelvin ? 0.0 : NAN;
}

static bool doubt_impossible(struct hs_error *out, const char *place, double value, double zero)
{
    const double most = 1e5; /* no solid and no flame, but 1e20 and 9.97e36 stand for "missing" */
    if (!(value < zero) && !(value > most && !isnan(zero)))
        return false;
    hs_error_warn(out, place, "has a temperature of %.6g, %s; does it stand for a missing value?",
                  value, value < zero ? "below absolute zero" : "which nothing has");
    return true;
}

static void widen(double range[2], double value)
{
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* The range of a wall's number: at the points of a table, or at evenly spread times. */
static void range_of_number(const struct hs_problem *problem, int face,
                            const struct hs_wall_number *number, double out[2])
{
    enum { TIMES = 1000 };
    const struct hs_time_function *f = &problem->time_functions[number->function];
    const double end = isfinite(problem->schedule.end) ? problem->schedule.end : 0.0;
    double in_time[2] = {INFINITY, -INFINITY}, along[2] = {INFINITY, -INFINITY};
    for (int n = 0; n < (f->points ? f->points : TIMES); n++)
        widen(in_time, f->points ? f->number[n] : hs_time_function_at(f, end * n / TIMES));
    for (int64_t n = 0; n < hs_grid_face_count(&problem->grid, face); n++)
        widen(along, number->field ? number->field[n] : 1.0);
    out[0] = INFINITY;
    out[1] = -INFINITY;
    for (int n = 0; n < 4; n++)
        widen(out, in_time[n / 2] * along[n % 2]);
}

static bool doubt_number(const struct hs_problem *problem, int face,
                         const struct hs_wall_number *number, double zero, struct hs_error *out)
{
    double range[2];
    if (number->function < 0)
        return false;
    range_of_number(problem, face, number, range);
    return doubt_impossible(out, number->place, range[range[0] < zero ? 0 : 1], zero);
}

/* Data of weather and measured fields have -999, -9999 or 1e20 where there is none. */
static void doubt_missing(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_stored *stored = problem->initial.field.stored;
    double span[2], has;
    if (!initial_span(problem, span))
        return;
    const double zero = absolute_zero(problem, span[1]);
    if (doubt_impossible(out, hs_problem_place(problem, HS_PLACE_INITIAL),
                         stored           ? stored->extreme
                         : span[0] < zero ? span[0]
                                          : span[1],
                         zero))
        return;
    for (int w = 0; w < hs_problem_wall_count(problem); w++) {
        const struct hs_wall *wall = problem->body ? &problem->walls[w] : NULL;
        if (wall ? doubt_number(problem, wall->face, &wall->ambient, zero, out) ||
                       doubt_number(problem, wall->face, &wall->value, zero, out)
                 : wall_temperature(problem, w, &has) &&
                       doubt_impossible(out, place_of_wall(problem, w), has, zero))
            return;
    }
}

/* ---- regions of a first guess -------------------------------------------------------------------
 */

/* Whether a wall of the face holds initial temperatures. */
static bool holds_initial(const struct hs_problem *problem, int face)
{
    bool holds = !problem->body && strcmp(problem->face[face].type, "fixed") == 0;
    for (int w = 0; problem->body && w < problem->wall_count; w++)
        holds =
            holds || (problem->walls[w].face == face && problem->walls[w].kind == HS_WALL_HOLDS);
    return holds;
}

static bool is_region_held(const struct hs_problem *problem, const struct hs_shape *shape)
{
    bool held = false;
    for (int face = 0; face < 2 * problem->grid.dims; face++) {
        const int64_t nodes = hs_grid_face_count(&problem->grid, face);
        for (int64_t place = 0; holds_initial(problem, face) && place < nodes && !held; place++) {
            int64_t node[HS_AXES];
            double at[HS_AXES];
            hs_grid_face_node(&problem->grid, face, place, node);
            for (int axis = 0; axis < HS_AXES; axis++)
                at[axis] = hs_grid_coordinate(&problem->grid, axis, node[axis]);
            held = hs_shape_covers(shape, &problem->grid, at);
        }
    }
    return held;
}

/* A conductor inside the domain is no region: only fixed walls hold the initial field. Where no
 * wall has a temperature, its mean stays. */
static void doubt_regions(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    bool anchored = false;
    double at;
    for (int w = 0; w < hs_problem_wall_count(problem); w++)
        anchored = anchored || holds_initial(problem, hs_problem_wall_face(problem, w)) ||
                   wall_temperature(problem, w, &at);
    for (int n = 0; plan->steady_method && anchored && n < problem->initial.region_count; n++) {
        if (is_region_held(problem, &problem->initial.regions[n].shape))
            continue;
        hs_error_warn(out, hs_problem_place(problem, HS_PLACE_INITIAL),
                      "initial.regions[%d] is a first guess, and the steady state keeps nothing of "
                      "it; to hold a place at a temperature, give it a material with a strong "
                      "perfusion and that reference",
                      n);
        return;
    }
}

/* ---- what acts nowhere ----------------------------------------------------------------------- */

/* Whether an expression of place alone is 0 at all nodes, if these are looked at within 0.1 s. */
static bool is_nowhere(const struct hs_problem *problem, const struct hs_datum *datum)
{
    const int64_t most = 1 << 20;
    const struct hs_datum_nodes nodes = hs_datum_nodes_of(&problem->grid, datum, INT64_MAX);
    const unsigned varies = hs_value_varies(datum->value);
    bool none = !datum->field && varies && !(varies & HS_VARIES_T) && nodes.count <= most;
    for (int64_t n = 0; n < nodes.count && none; n++) {
        int64_t node[HS_AXES];
        hs_datum_node(&problem->grid, &nodes, n, node);
        none = hs_datum_at(problem, datum, node, 0.0) == 0.0;
    }
    return none;
}

static bool is_wall_nowhere(const struct hs_problem *problem, const struct hs_wall *wall)
{
    const double *field = wall->flux.function < 0 ? NULL : wall->flux.field;
    bool none = field;
    for (int64_t n = 0; none && n < hs_grid_face_count(&problem->grid, wall->face); n++)
        none = field[n] == 0.0;
    return none;
}

static void say_nowhere(const struct hs_problem *problem, enum hs_place place, const char *what,
                        struct hs_error *out)
{
    hs_error_warn(out, hs_problem_place(problem, place),
                  "%s is 0 at every node; look at its coordinates, which are in m, or give more "
                  "grid.points if it is narrower than a cell",
                  what);
}

static void doubt_nowhere(const struct hs_problem *problem, struct hs_error *out)
{
    struct hs_datum data[HS_DATA_MOST];
    const int count = hs_data_list(problem, 1.0, 1.0, 1.0, data);
    for (int d = 0; d < count; d++) {
        const int face = data[d].face;
        if ((face < 0 || strcmp(problem->face[face].type, "neumann") == 0) &&
            is_nowhere(problem, &data[d]))
            say_nowhere(problem, hs_datum_place(&data[d]), face < 0 ? "the source" : "the flux",
                        out);
    }
    for (int w = 0; problem->body && w < problem->wall_count; w++)
        if (is_wall_nowhere(problem, &problem->walls[w]))
            say_nowhere(problem, (enum hs_place)(HS_PLACE_FACE + problem->walls[w].face),
                        "the flux", out);
}

/* ---- what float loses ------------------------------------------------------------------------ */

/* K that a flux adds to a node in a sweep, spread over the depth that heat reaches by the end. */
static double spread_gain(const struct hs_problem *problem, int face, double step, double value)
{
    const double alpha = problem->material.diffusivity, end = problem->schedule.end;
    const double spacing = problem->grid.spacing[face / 2];
    const double length = hs_problem_length(problem, face / 2);
    const double depth = isfinite(end) ? fmin(length, sqrt(alpha * end)) : length;
    return alpha * step / (spacing * spacing) * fabs(problem->face[face].c[0]) * value * spacing /
           2.0 / fmax(depth, spacing / 2.0);
}

/* A float holds a temperature to some 1e-7 of it; what a sweep adds beyond that is rounded off. */
static void doubt_float(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out)
{
    const double step = hs_plan_step(plan), most_source = 4.0, most_flux = 1.0;
    const double end = isfinite(problem->schedule.end) ? problem->schedule.end : 0.0;
    double span[2];
    struct hs_datum data[HS_DATA_MOST];
    const int count = hs_data_list(problem, step, 1.0, step, data);
    if (problem->precision != HS_FLOAT || problem->raw || !hs_plan_sweeps_singly(plan) ||
        plan->method->step_rule != HS_STEP_STABLE || !initial_span(problem, span))
        return;
    const double at = fmax(fabs(span[0]), fabs(span[1]));
    const double held = hs_precision_epsilon(HS_FLOAT) * at;
    for (int d = 0; d < count; d++) {
        const int face = data[d].face;
        if (face >= 0 && (problem->body || strcmp(problem->face[face].type, "neumann") != 0))
            continue;
        const double value = hs_datum_largest(problem, &data[d], end);
        const double gain =
            face < 0 ? value * fabs(data[d].sweep_gain) : spread_gain(problem, face, step, value);
        if (!(gain > 0.0 && gain < held * (face < 0 ? most_source : most_flux)))
            continue;
        hs_error_warn(out, hs_problem_place(problem, hs_datum_place(&data[d])),
                      "warms by %.2g %s in a sweep, but near %.4g float resolves only %.2g, so "
                      "much or all of this heat is lost; give precision = \"double\"",
                      gain, hs_problem_difference_unit(problem), at, held);
        return;
    }
}

/* ---- walls that convect ---------------------------------------------------------------------- */

static const double most_biot = 10.0;

/* h*spacing/conductivity of a convecting wall; else 0. */
static double biot_of_cell(const struct hs_face *face)
{
    return face->a[0] == 1.0 ? -face->b[0] / 2.0 : 0.0;
}

/* The heat that convection takes through a wall must reach it through the last cell. */
static void doubt_coarse_wall(const struct hs_problem *problem, struct hs_error *out)
{
    for (int face = 0; face < 2 * problem->grid.dims; face++) {
        const double spacing = problem->grid.spacing[face / 2];
        const double biot = biot_of_cell(&problem->face[face]);
        if (!(biot > most_biot))
            continue;
        hs_error_warn(
            out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
            "a spacing of %g m makes h*spacing/conductivity (the Biot number of a cell) "
            "%.3g; above 1 the grid is too coarse for this wall. Look at the units, or give "
            "more points",
            spacing, biot);
        return;
    }
}

/* What convection does to a node in a sweep from neighbours as warm as it is. */
struct pull {
    double taken;   /* share of its distance to the ambient temperature */
    double ambient; /* with all that flows in counted */
};

static struct pull pull_of_stencil(const struct hs_problem *problem, int face, double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    const int outwards = face % 2 ? 1 : -1;
    const double biot = biot_of_cell(&problem->face[face]);
    struct pull out = {0.0, NAN};
    if (!(biot > 0.0) || biot > most_biot || !face_temperature(problem, face, &out.ambient))
        return out;
    for (int m = 1; m <= stencil.radius; m++)
        out.taken -= stencil.c[hs_stencil_index(stencil.radius, face / 2, outwards * m)] *
                     problem->face[face].b[m - 1];
    return out;
}

static struct pull pull_of_network(const struct hs_problem *problem, const int64_t node[HS_AXES],
                                   double step)
{
    const int64_t *n = problem->grid.points;
    const struct hs_network_row *row = hs_network_row_at(
        problem->network, node[HS_X] + n[HS_X] * (node[HS_Y] + n[HS_Y] * node[HS_Z]));
    const struct hs_forcing *forcing = &problem->network->forcing[row->forcing];
    const double sink = hs_network_sink(problem->network, row, problem->time_functions, 0.0);
    if (row->kind != HS_NODE_FREE || !(sink > 0.0))
        return (struct pull){0.0, NAN};
    return (struct pull){step * sink / row->capacity,
                         hs_terms_at(&forcing->inflow, problem->time_functions, 0.0) / sink};
}

/* K: between all temperatures of the initial field, of that span, and of the walls. */
static double range_with_walls(const struct hs_problem *problem, const double span[2])
{
    double range[2] = {span[0], span[1]}, at;
    for (int w = 0; w < hs_problem_wall_count(problem); w++)
        if (wall_temperature(problem, w, &at))
            widen(range, at);
    return range[1] - range[0];
}

/* A stable sweep may take a node of a convecting wall past the ambient temperature. That is felt by
 * a tenth of the range of all temperatures. */
static void doubt_swing(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out)
{
    const double step = hs_plan_step(plan), felt = 0.1;
    double span[2];
    if (problem->raw || problem->schedule.steady || plan->method->step_rule != HS_STEP_STABLE ||
        !hs_plan_sweeps_singly(plan) || (problem->network && hs_ranks_count() > 1))
        return; /* of several ranks each has a part of the network */
    for (int face = 0; face < 2 * problem->grid.dims; face++) {
        int64_t node[HS_AXES];
        find_middle(problem, face, node);
        const struct pull pull = problem->network ? pull_of_network(problem, node, step)
                                                  : pull_of_stencil(problem, face, step);
        if (!(pull.taken > 1.0) || !initial_span(problem, span) ||
            are_of_two_units(problem, span, pull.ambient))
            continue;
        const double by = (pull.taken - 1.0) * fabs(initial_at(problem, node) - pull.ambient);
        if (!(by > felt * range_with_walls(problem, span)))
            continue;
        char remedy[64] = "time.safety = 0.5";
        if (!isnan(problem->schedule.step))
            snprintf(remedy, sizeof remedy, "a time.step of %.2g s", 0.5 * plan->limit);
        hs_error_warn(
            out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
            "the first sweep, of %.3g s, takes this wall past the ambient temperature by %.2g %s, "
            "and its temperature swings for some sweeps more; give %s, or more points",
            step, by, hs_problem_difference_unit(problem), remedy);
        return;
    }
}

/* Beside faces with a type, one without is likely meant to be insulated, as in other programs. */
static void doubt_assumed(const struct hs_problem *problem, struct hs_error *out)
{
    char names[64] = "";
    const int faces = 2 * problem->grid.dims;
    for (int face = 0; face < faces; face++)
        if (problem->assumed_faces & 1u << face)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     names[0] ? ", " : "", hs_face_name(face));
    if (problem->assumed_faces && problem->assumed_faces != (1u << faces) - 1u && !problem->raw)
        hs_error_warn(out, problem->config_path,
                      "boundary: %s: no type is given, so the initial temperature is held and heat "
                      "passes through; give all = { type = \"reflective\"; } if the other faces "
                      "are insulated, or \"fixed\"",
                      names);
}

/* m^2: the areas of a face's walls that hold, and those whose heat leaves through each: a node
 * counts for one wall. */
static void add_held_areas(const struct hs_problem *problem, const struct hs_walls *walls, int face,
                           double *own, double *counted)
{
    for (int64_t n = 0; n < hs_grid_face_count(&problem->grid, face); n++) {
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, n, node);
        const struct hs_wall *holding = hs_walls_holding_at(walls, face, node);
        if (!holding)
            continue;
        hs_walls_share(walls, face, node);
        for (int w = 0; w < walls->count; w++)
            if (walls->wall[w].kind != HS_WALL_EXCHANGES) {
                own[w] += hs_walls_area(walls, w);
                counted[holding - walls->wall] += hs_walls_area(walls, w);
            }
    }
}

/* Such as the meter of a guarded hot plate. */
static void doubt_shared_nodes(const struct hs_problem *problem, struct hs_error *out)
{
    const double most = 0.01;
    const int count = problem->wall_count;
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    struct hs_axis axis[HS_AXES];
    struct hs_walls walls;
    double *own = hs_new(2 * ((size_t)count + 1) * sizeof *own), *counted = own + count;
    hs_axes_init(axis, &spec);
    hs_walls_init(&walls, &spec, axis);
    for (int face = 0, holding = 0; face < 2 * problem->grid.dims; face++, holding = 0) {
        for (int w = 0; w < count; w++)
            holding += walls.wall[w].face == face && walls.wall[w].kind != HS_WALL_EXCHANGES;
        if (holding > 1)
            add_held_areas(problem, &walls, face, own, counted);
    }
    double worst = 1.0 + most;
    char name[32] = "";
    for (int w = 0; w < count; w++)
        if (own[w] > 0.0 && counted[w] / own[w] > worst) {
            worst = counted[w] / own[w];
            hs_problem_wall_name(problem, w, name, sizeof name);
        }
    if (name[0])
        hs_error_warn(out, problem->config_path,
                      "boundary: the flux of %s is that of %.4g times its area, since a node on "
                      "the border of two walls that hold counts for one of them; put their border "
                      "halfway between nodes",
                      name, worst);
    hs_walls_release(&walls);
    hs_axes_release(axis);
    free(own);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void hs_doubts_of_temperatures(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_error *out)
{
    doubt_assumed(problem, out);
    if (problem->body)
        doubt_shared_nodes(problem, out);
    doubt_temperatures(problem, out);
    doubt_unit(problem, out);
    doubt_unit_of_file(problem, out);
    doubt_missing(problem, out);
    doubt_regions(problem, plan, out);
    doubt_nowhere(problem, out);
    doubt_float(problem, plan, out);
    doubt_thick_wall(problem, out);
    doubt_coarse_wall(problem, out);
    doubt_swing(problem, plan, out);
}

/* A tolerance that suits kelvins lets a field of 1e-3 mol/m^3 be anything. */
static void doubt_tolerance(const struct hs_problem *problem, const struct hs_plan *plan,
                            const struct hs_loop_result *result, const double range[2],
                            struct hs_error *out)
{
    const struct hs_steady *steady = &result->steady;
    const double worth = plan->cut ? 0.1 : 0.01, width = range[1] - range[0];
    const double level = 1e-6 * fmax(fabs(range[0]), fabs(range[1]));
    const double distance = hs_steady_distance(steady);
    const bool searched = steady->reached && steady->trend != HS_STEADY_SOLVED &&
                          steady->change > 2.0 * steady->rounding;
    const double off = plan->cut         ? problem->schedule.tolerance
                       : !searched       ? NAN
                       : isnan(distance) ? hs_steady_most(steady)
                                         : distance;
    if (width > level && off > worth * width)
        hs_error_warn(
            out, hs_problem_place(problem, plan->cut ? HS_PLACE_TOLERANCE : HS_PLACE_RESIDUAL),
            "%s = %g: it lets %s be off by %.2g %s, and all temperatures of the run lie within "
            "%.2g; give a smaller one%s",
            plan->cut ? "time.tolerance" : "steady.tolerance",
            plan->cut ? problem->schedule.tolerance : steady->tolerance,
            plan->cut ? "each step" : "the steady state", off, hs_problem_difference_unit(problem),
            width, plan->cut ? "" : ", or a steady.method that solves for it");
}

/* Each sweep rounds each node. */
static void doubt_rounding(const struct hs_problem *problem, const struct hs_loop_result *result,
                           const double range[2], struct hs_error *out)
{
    const double worth = 0.01, of_a_sweep = 0.04; /* measured: docs/numerics.md */
    const double at = fmax(fabs(range[0]), fabs(range[1])), width = range[1] - range[0];
    const double off =
        of_a_sweep * hs_precision_epsilon(problem->precision) * at * (double)result->sweeps;
    if (off > worth * width && width > 0.0)
        hs_error_warn(out, problem->config_path,
                      "precision = \"%s\": the roundings of %lld sweeps may put it off by %.2g "
                      "%s, and all temperatures of the run lie within %.2g; give \"double\"",
                      hs_precision_name(problem->precision), (long long)result->sweeps, off,
                      hs_problem_difference_unit(problem), width);
}

void hs_doubts_of_result(const struct hs_problem *problem, const struct hs_plan *plan,
                         const struct hs_loop_result *result, struct hs_error *out)
{
    double span[2], range[2] = {result->range[0], result->range[1]};
    const bool known = initial_span(problem, span); /* a run that goes on has not seen it */
    for (int end = 0; end < 2 && known; end++)
        widen(range, span[end]);
    doubt_tolerance(problem, plan, result, range, out);
    if (problem->precision == HS_FLOAT && !problem->raw && hs_plan_sweeps_singly(plan))
        doubt_rounding(problem, result, range, out);
    const double zero = known ? absolute_zero(problem, span[0]) : NAN;
    if (result->last.min < zero && span[0] > zero)
        hs_error_warn(
            out, problem->config_path,
            "the lowest temperature is %.6g %s, below absolute zero; look at the signs: a flux "
            "is the heat that leaves, so one that heats is negative, and a source is the heat "
            "that is put in",
            result->last.min, hs_problem_temperature_unit(problem));
}
