#include "engine/doubts.h"
#include "core/disk.h"
#include "core/text.h"
#include "engine/network/probe_side.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "engine/shape_ends.h"
#include "engine/slowest.h"
#include "engine/steps/pulses.h"
#include "engine/walls/boundary_data.h"
#include "engine/walls/boundary_data_parts.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/time_function.h"
#include "input/field_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a warning about what `place` has set. */
static void HS_PRINTF(3, 4) doubt(struct hs_error *out, const char *place, const char *format, ...)
{
    char said[400];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    hs_error_warn(out, place, said);
}

/* ---- the material ---------------------------------------------------------------------------- */

/* Limits of solids, liquids and gases at ordinary conditions, in the order of
 * HS_PLACE_CONDUCTIVITY and its followers. */
static const struct range {
    double least, most;
    const char *too_low, *too_high;
} ranges[] = {
    {0.003, 5000.0, "less than any gas conducts; look at the unit",
     "more than diamond conducts; look at the unit"},
    {0.05, 25000.0, "less than any gas has at 1 bar; look at the unit",
     "more than any metal has; look at the unit"},
    {10.0, 20000.0, "less than any material has; was it in kJ/(kg K)?",
     "more than any material has; look at the unit"},
};
enum { RANGES = sizeof ranges / sizeof ranges[0] };
_Static_assert((int)RANGES == (int)HS_SUBSTANCE_PROPERTIES, "of the same numbers");

/* Says why no material has this number; NULL: some may. A number that was not given is NaN. */
static const char *say_out_of_range(const struct range *range, double value)
{
    return value < range->least ? range->too_low : value > range->most ? range->too_high : NULL;
}

/* Solids that conduct are denser than this; gases are lighter, but conduct less. */
static bool is_too_light(double conductivity, double density)
{
    return density >= ranges[1].least && density < 30.0 && conductivity > 0.5;
}

static void doubt_light(struct hs_error *out, const char *place, double conductivity)
{
    doubt(out, place,
          "with a conductivity of %g W/(m K) that is too light for any solid; was it in g/cm^3?",
          conductivity);
}

/* For a single material. */
static void doubt_material(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_material *m = &problem->material;
    const double value[RANGES] = {m->conductivity, m->density, m->specific_heat};
    if (problem->raw || problem->body)
        return;
    for (int r = 0; r < RANGES; r++) {
        const char *said = say_out_of_range(&ranges[r], value[r]);
        if (said)
            hs_error_warn(out, hs_problem_place(problem, HS_PLACE_CONDUCTIVITY + r), said);
    }
    if (is_too_light(m->conductivity, m->density))
        doubt_light(out, hs_problem_place(problem, HS_PLACE_DENSITY), m->conductivity);
}

/* For a body's materials. */
static void doubt_substance(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        const bool known = !isnan(s->density); /* else only a diffusivity is given */
        const double value[RANGES] = {known ? s->conductivity[HS_X] : NAN, s->density,
                                      s->capacity / s->density};
        for (int r = 0; r < RANGES; r++) {
            const char *said = say_out_of_range(&ranges[r], value[r]);
            if (!said)
                continue;
            hs_error_warn(out, s->place[r], said);
            return;
        }
        /* the heat capacity of a steady state may be any, chosen for the search */
        if (!problem->schedule.steady && is_too_light(value[0], s->density)) {
            doubt_light(out, s->place[1], value[0]);
            return;
        }
    }
}

static void doubt_unused_substance(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body ? problem->body : problem->plain;
    const char *name = NULL;
    bool drawn = false;
    for (int n = 0; body && n < body->substance_count && !name; n++)
        if (!(body->substance[n].volume > 0.0)) {
            name = body->substance[n].name;
            for (int s = 0; s < body->solid_count; s++)
                drawn = drawn || body->solid[s].substance == n;
        }
    if (name)
        doubt(out, hs_problem_place(problem, HS_PLACE_BODY),
              "material %s is nowhere in the body; %s", name,
              drawn ? "other shapes hide its own, or these are too small for the grid: change "
                      "their order, give more grid.points, or remove it"
                    : "name it in body, or remove it");
}

/* m: the edge of the cube, square or line that the material would fill. */
static double size_of(const struct hs_problem *problem, int substance)
{
    return pow(problem->body->substance[substance].volume, 1.0 / problem->grid.dims);
}

/* A contact is a gap, or a layer too thin to draw. One that resists more than still air of the size
 * of both materials beside it is neither; 1 mm^2 K/W taken for 1 m^2 K/W is 26 mm of air. */
static void doubt_contact(const struct hs_problem *problem, struct hs_error *out)
{
    const double air = 0.026; /* W/(m K), at 300 K */
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->contact_count; n++) {
        const struct hs_contact *contact = &body->contact[n];
        const double size =
            fmax(size_of(problem, contact->between[0]), size_of(problem, contact->between[1]));
        const double gap = contact->resistance * air;
        if (!(gap > size && size > 0.0))
            continue;
        doubt(out, contact->place,
              "resists as %.2g m of still air would, and the materials beside it have a size of "
              "%.2g m at most; was it in mm^2 K/W?",
              gap, size);
        return;
    }
}

/* What crosses a contact too little if a share of a substance, by the part of the contact, counts
 * on its other side; NULL: nothing to speak of. */
static const char *say_bypass(const struct hs_problem *problem,
                              const struct hs_substance *substance, double share)
{
    const double least = 0.01, least_capacity = 0.05;
    if (share > least && substance->source >= 0)
        return "what its source makes there does not cross the contact";
    if (share > least && substance->perfusion != 0.0)
        return "what its perfusion takes there does not cross the contact";
    return share > least_capacity && !problem->schedule.steady
               ? "what it stores there does not cross the contact"
               : NULL;
}

/* The part of a temperature difference that a contact takes beside a substance of this size. */
static double part_of_contact(const struct hs_problem *problem, const struct hs_contact *contact,
                              int substance)
{
    const double *k = problem->body->substance[substance].conductivity;
    const double like = contact->resistance * fmax(fmax(k[HS_X], k[HS_Y]), k[HS_Z]); /* m */
    return like / (like + size_of(problem, substance));
}

/* A node's control volume is on one side of a contact (docs/numerics.md). */
static void doubt_bypass(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < 2 * body->contact_count; n++) {
        const struct hs_contact *contact = &body->contact[n / 2];
        const struct hs_substance *substance = &body->substance[contact->between[n % 2]];
        const double share = contact->reach.beyond[n % 2] / substance->volume;
        const double part = part_of_contact(problem, contact, contact->between[n % 2]);
        const char *said = say_bypass(problem, substance, share * part);
        if (!said)
            continue;
        doubt(out, contact->place,
              "is not halfway between nodes: %.2g %% of %s counts at nodes on the other side, and "
              "%s; put nodes half a cell before it and half a cell behind it",
              100.0 * share, substance->name, said);
        return;
    }
}

static void doubt_untouched(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->contact_count; n++) {
        const struct hs_contact *contact = &body->contact[n];
        const struct hs_substance *one = &body->substance[contact->between[0]];
        const struct hs_substance *other = &body->substance[contact->between[1]];
        if (contact->reach.lines > 0.0 || contact->resistance == 0.0 || !(one->volume > 0.0) ||
            !(other->volume > 0.0))
            continue;
        doubt(out, contact->place,
              "%s and %s touch nowhere, so it has no effect; look at their coordinates, or name "
              "the two that touch",
              one->name, other->name);
        return;
    }
}

static void doubt_probes(const struct hs_problem *problem, struct hs_error *out)
{
    struct hs_probe_side at;
    if (!hs_probe_side_find(problem, &at))
        return;
    const char *name = problem->probes[at.probe].name;
    const char *node = problem->body->substance[at.node].name;
    const char *place = problem->body->substance[at.place].name;
    if (at.between)
        doubt(out, problem->config_path,
              "probes[%d]: %s lies on the contact of %s and %s, where the temperature jumps, and "
              "reads the side of %s; give it the place of a node of the side that is meant",
              at.probe, name, place, node, node);
    else
        doubt(out, problem->config_path,
              "probes[%d]: %s lies in %s, but its node is on the side of %s, beyond a contact; "
              "give it the place of a node of %s",
              at.probe, name, place, node, place);
}

/* Whether two round shapes are spheres, or cylinders along one axis, with the same centre. */
static bool are_concentric(const struct hs_shape *outer, const struct hs_shape *inner, int dims)
{
    const bool round = outer->kind == HS_SHAPE_SPHERE || outer->kind == HS_SHAPE_CYLINDER;
    bool same = round && outer->kind == inner->kind;
    for (int a = 0; a < dims && same; a++)
        if (outer->kind == HS_SHAPE_SPHERE || a != outer->axis)
            same = fabs(outer->centre[a] - inner->centre[a]) <= 1e-6 * outer->radius;
    return same && (outer->kind == HS_SHAPE_SPHERE || outer->axis == inner->axis);
}

/* The smallest cell along the axes across which a round shape is round [m]. */
static double cell_across(const struct hs_problem *problem, const struct hs_shape *shape)
{
    double least = INFINITY, cells[2];
    for (int a = 0; a < problem->grid.dims; a++) {
        hs_grid_cells(&problem->grid, a, problem->face[2 * a].wrap, cells);
        if (shape->kind == HS_SHAPE_SPHERE || a != shape->axis)
            least = fmin(least, cells[0]);
    }
    return least;
}

/* In a round layer of one or two cells, edges that should carry heat along the layer leave it on
 * their way, so the layer passes too little (docs/numerics.md). Insulating layers may be thin. */
static void doubt_thin_conductor(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    for (int n = 1; body && n + 1 < body->solid_count; n++) {
        const struct hs_solid *solid = &body->solid[n];
        const struct hs_substance *layer = &body->substance[solid->substance];
        const double k = layer->conductivity[HS_X];
        const double thickness = solid[0].shape.radius - solid[1].shape.radius;
        if (are_concentric(&solid[0].shape, &solid[1].shape, problem->grid.dims) &&
            thickness > 0.0 && thickness < 2.0 * cell_across(problem, &solid->shape) &&
            k > 2.0 * body->substance[solid[1].substance].conductivity[HS_X] &&
            k > 2.0 * body->substance[solid[-1].substance].conductivity[HS_X]) {
            doubt(out, hs_problem_place(problem, HS_PLACE_BODY),
                  "a round layer of %s is %.3g m thick, less than two cells of %.3g m, so "
                  "too little heat will flow along it; give more grid.points",
                  layer->name, thickness, cell_across(problem, &solid->shape));
            return;
        }
    }
}

/* ---- shapes at the ends of periodic axes ----------------------------------------------------- */

static const struct hs_shape *solid_of(const struct hs_problem *problem, int n)
{
    const struct hs_body *body = problem->body;
    return body && n < body->solid_count ? &body->solid[n].shape : NULL;
}

static const struct hs_shape *region_of(const struct hs_problem *problem, int n)
{
    return n < problem->initial.region_count ? &problem->initial.regions[n].shape : NULL;
}

static void doubt_ends(const struct hs_problem *problem, struct hs_error *out, enum hs_place place,
                       const char *list, hs_shape_of *shape_of)
{
    struct hs_shape_end at;
    if (hs_shape_ends_find(problem, shape_of, &at))
        doubt(out, hs_problem_place(problem, place),
              "%s[%d] reaches beyond %c = %g, an end of a periodic axis, and does not continue at "
              "the other end; draw that part as well: the same shape, moved by %g m along %c",
              list, at.shape, "xyz"[at.axis], at.end, at.shift, "xyz"[at.axis]);
}

static void doubt_solids_at_ends(const struct hs_problem *problem, struct hs_error *out)
{
    doubt_ends(problem, out, HS_PLACE_BODY, "body", solid_of);
}

static void doubt_regions_at_ends(const struct hs_problem *problem, struct hs_error *out)
{
    doubt_ends(problem, out, HS_PLACE_INITIAL, "initial.regions", region_of);
}

/* ---- sweeps -------------------------------------------------------------------------------- */

/* A sweep multiplies a level field by the sum of its coefficients. Six times 0.166666 was to be 1,
 * and takes heat out of all nodes instead. */
static void doubt_raw_sum(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    const double most_missing = 5e-3, least_felt = 1e-4;
    double sum = 0.0, sweeps = (double)plan->sweeps, nodes = 0.0;
    for (int c = 0; c < hs_stencil_count(problem->grid.dims, problem->radius); c++)
        sum += problem->c[c];
    for (int axis = 0; axis < problem->grid.dims; axis++)
        nodes = fmax(nodes, (double)problem->grid.points[axis]);
    if (problem->schedule.steady) /* heat is out through the walls by then */
        sweeps = fmin(sweeps, nodes * nodes);
    if (problem->raw && fabs(sum - 1.0) < most_missing && sweeps * fabs(sum - 1.0) > least_felt)
        doubt(out, hs_problem_place(problem, HS_PLACE_STENCIL),
              "stencil: the coefficients add up to %.9g, so %.9g sweeps multiply a level field by "
              "%.6g; "
              "give them more decimals if they are to add up to 1",
              sum, sweeps, pow(sum, sweeps));
}

/* The factor of a sweep for the wave that changes its sign from each node to the next. */
static double factor_of_chequerboard(const struct hs_problem *problem, double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    double factor = stencil.c[0];
    for (int axis = 0; axis < stencil.dims; axis++)
        for (int offset = 1; offset <= stencil.radius; offset++)
            factor += (offset % 2 ? -1.0 : 1.0) *
                      (stencil.c[hs_stencil_index(stencil.radius, axis, offset)] +
                       stencil.c[hs_stencil_index(stencil.radius, axis, -offset)]);
    return factor;
}

/* Between insulated walls Jacobi's sweeps turn such a wave over for ever. */
static void doubt_turning(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    if (!problem->schedule.steady || plan->steady_method || problem->body ||
        plan->method->step_rule != HS_STEP_STABLE)
        return;
    const double step = hs_plan_step(plan), factor = factor_of_chequerboard(problem, step);
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    const struct hs_slowest slowest = hs_slowest_mode(problem, &stencil, step);
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (problem->face[2 * axis].wrap && problem->grid.points[axis] % 2)
            return; /* its ends do not fit */
    if (slowest.free_mean && 1.0 + factor < 0.1 * slowest.decay)
        doubt(out, hs_problem_place(problem, HS_PLACE_RESIDUAL),
              "steady.tolerance: no wall damps a chequerboard, and each sweep multiplies it by "
              "%.6g; with one in the initial field there is no steady state: give %s",
              factor, problem->raw ? "a larger c0" : "a time.safety below 1");
}

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
        doubt(out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
              "of radius %d this wall holds the %d outermost layers at their initial "
              "temperatures, which are not the same; \"dirichlet\" holds the outermost alone",
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

/* The temperature at t = 0 of a body's wall, in the middle of its face, or of a patch, if it is one
 * number. */
static bool body_wall_temperature(const struct hs_problem *problem, const struct hs_wall *wall,
                                  bool is_patch, double *out)
{
    const struct hs_wall_number *number =
        wall->kind == HS_WALL_PRESCRIBES ? &wall->value : &wall->ambient;
    if (number->function < 0 || (number->field && is_patch))
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

/* A stencil's wall's temperature at its middle at t = 0; false: it has none. */
static bool wall_temperature(const struct hs_problem *problem, int face, double *out)
{
    const struct hs_boundary_kind *kind = hs_boundary_find(problem->face[face].type);
    int64_t node[HS_AXES];
    if (!kind || !is_temperature(kind))
        return false;
    find_middle(problem, face, node);
    *out = hs_value_at_node(&problem->face[face].data, &problem->grid, node, 0.0);
    return true;
}

static const double least_kelvin = 200.0; /* of usual absolute temperatures */

/* degC mixed with K: 20 in one is 293 in the other. */
static bool are_of_two_units(const double span[2], double other)
{
    const double most_celsius = 100.0;
    return (span[1] < most_celsius && other > least_kelvin) ||
           (span[0] > least_kelvin && other < most_celsius);
}

static void doubt_mixed(struct hs_error *out, const char *place, const char *whose, double has,
                        const double span[2])
{
    doubt(out, place,
          "%s has %g, the initial field %g to %g; are degrees Celsius and kelvin mixed?", whose,
          has, span[0], span[1]);
}

static void doubt_temperatures(const struct hs_problem *problem, struct hs_error *out)
{
    double span[2], has;
    if (!initial_span(problem, span))
        return;
    for (int w = 0; problem->body && w < problem->wall_count; w++) {
        const struct hs_wall *wall = &problem->walls[w];
        const bool is_patch = w > 0 && wall[-1].face == wall->face;
        if (!body_wall_temperature(problem, wall, is_patch, &has) || !are_of_two_units(span, has))
            continue;
        doubt_mixed(out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + wall->face)),
                    is_patch ? "a patch of this wall" : "this wall", has, span);
        return;
    }
    for (int face = 0; !problem->body && face < 2 * problem->grid.dims; face++)
        if (wall_temperature(problem, face, &has) && are_of_two_units(span, has)) {
            doubt_mixed(out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
                        "this wall", has, span);
            return;
        }
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        if (s->perfusion == 0.0)
            continue;
        has = hs_time_function_at(&problem->time_functions[s->reference], 0.0);
        if (!are_of_two_units(span, has))
            continue;
        doubt_mixed(out, s->place[HS_SUBSTANCE_REFERENCE], "this perfusion", has, span);
        return;
    }
}

/* The unit is only a label, but W and J are per kelvin. */
static void doubt_unit(const struct hs_problem *problem, struct hs_error *out)
{
    const char *unit = hs_problem_temperature_unit(problem);
    if (hs_text_is_among(unit, "degf|°f|f|fahrenheit|degree_fahrenheit|degrees_fahrenheit|"
                               "r|degr|°r|rankine|degree_rankine|degrees_rankine") &&
        !problem->raw && hs_problem_has_capacity(problem))
        doubt(out, hs_problem_place(problem, HS_PLACE_UNIT),
              "nothing is converted, and W/(m K) is per kelvin, of which a degree Fahrenheit or "
              "Rankine is 5/9: heat in W and J comes out 1.8 times too large, and sources and "
              "fluxes warm 1.8 times too little; give temperatures in degC or K");
}

/* ---- what acts nowhere ----------------------------------------------------------------------- */

/* Whether an expression of place alone is 0 at all nodes. */
static bool is_nowhere(const struct hs_problem *problem, const struct hs_datum *datum)
{
    const int64_t most = 1 << 24;
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
    doubt(out, hs_problem_place(problem, place),
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

/* ---- lengths and times ----------------------------------------------------------------------- */

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
        doubt(out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
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
    if (!(biot > 0.0) || biot > most_biot || !wall_temperature(problem, face, &out.ambient))
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
    double inflow = 0.0;
    if (row->kind != HS_NODE_FREE || !(row->sink > 0.0))
        return (struct pull){0.0, NAN};
    for (int term = 0; term < forcing->count; term++)
        inflow += forcing->weight[term] *
                  hs_time_function_at(&problem->time_functions[forcing->function[term]], 0.0);
    return (struct pull){step * row->sink / row->capacity, inflow / row->sink};
}

/* K: between all temperatures of the initial field, of that span, and of the walls. */
static double range_with_walls(const struct hs_problem *problem, const double span[2])
{
    double least = span[0], most = span[1], at;
    const int count = problem->body ? problem->wall_count : 2 * problem->grid.dims;
    for (int n = 0; n < count; n++)
        if (problem->body ? body_wall_temperature(problem, &problem->walls[n], false, &at)
                          : wall_temperature(problem, n, &at)) {
            least = fmin(least, at);
            most = fmax(most, at);
        }
    return most - least;
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
            are_of_two_units(span, pull.ambient))
            continue;
        const double by = (pull.taken - 1.0) * fabs(initial_at(problem, node) - pull.ambient);
        if (!(by > felt * range_with_walls(problem, span)))
            continue;
        char remedy[64] = "time.safety = 0.5";
        if (!isnan(problem->schedule.step))
            snprintf(remedy, sizeof remedy, "a time.step of %.2g s", 0.5 * plan->limit);
        doubt(
            out, hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)),
            "the first sweep, of %.3g s, takes this wall past the ambient temperature by %.2g %s, "
            "and it swings for some more; give %s, or more points",
            step, by, hs_problem_difference_unit(problem), remedy);
        return;
    }
}

/* m^2/s: the largest of the materials of a body; 0 if it has none. */
static double most_diffusivity(const struct hs_body *body)
{
    double most = 0.0;
    for (int n = 0; n < body->substance_count; n++)
        for (int a = 0; a < HS_AXES && body->substance[n].volume > 0.0; a++)
            most = fmax(most, body->substance[n].conductivity[a] / body->substance[n].capacity);
    return most;
}

/* m^2: square of the distance that heat spreads by the end, in a body at most; NaN if not known. */
static double spread(const struct hs_problem *problem)
{
    const double most = problem->body ? most_diffusivity(problem->body) : 0.0;
    if (problem->raw || (problem->body && !(most > 0.0)))
        return NAN;
    return (problem->body ? most : problem->material.diffusivity) * problem->schedule.end;
}

static void doubt_short_time(const struct hs_problem *problem, struct hs_error *out)
{
    const double least = 0.1; /* Fourier number of a cell */
    double spacing = INFINITY;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        spacing = fmin(spacing, problem->grid.spacing[axis]);
    if (spread(problem) < least * spacing * spacing)
        doubt(out, hs_problem_place(problem, HS_PLACE_END),
              "time.end = %g: until then heat spreads over about %.2g m, less than a spacing of "
              "%g m (the Fourier number of a cell is %.2g); look at the units of grid and time",
              problem->schedule.end, sqrt(spread(problem)), spacing,
              spread(problem) / (spacing * spacing));
}

static void doubt_long_time(const struct hs_problem *problem, struct hs_error *out)
{
    const double most = 1e4; /* Fourier number of the body: uniform to the last bit long before */
    double length = 0.0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        length = fmax(length, hs_problem_length(problem, axis));
    if (!problem->body && spread(problem) > most * length * length &&
        !hs_boundary_data_in_time(problem))
        doubt(out, hs_problem_place(problem, HS_PLACE_END),
              "time.end = %g: heat crosses the whole grid, %.3g m, in about %.2g s; look at the "
              "units of grid and time",
              problem->schedule.end, length, length * length / problem->material.diffusivity);
}

/* A run begins at t = 0, whenever its initial field was. */
static void doubt_begin(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_stored *stored = problem->initial.field.stored;
    const bool moves =
        hs_boundary_data_in_time(problem) || (hs_value_varies(&problem->exact.value) & HS_VARIES_T);
    const double begun = stored && moves ? hs_field_file_time(stored) : 0.0;
    if (begun > 0.0)
        doubt(out, hs_problem_place(problem, HS_PLACE_INITIAL),
              "this field is of t = %.9g s, and here it stands at t = 0, where walls, source and "
              "exact solution have their values of t = 0; --resume continues a run, or write "
              "t + %.9g for t in the config",
              begun, begun);
}

static void doubt_pulses(const struct hs_problem *problem, const struct hs_plan *plan,
                         struct hs_error *out)
{
    enum hs_place place;
    const double step = hs_plan_step(plan);
    if (plan->cut)
        return;
    const double t = hs_pulses_unseen(problem, step, plan->end, &place);
    if (!isnan(t)) {
        doubt(out, hs_problem_place(problem, place),
              "what acts here at t = %.9g s is over before a step of %.3g s sees it; give a "
              "shorter time.step, or a method with time.tolerance",
              t, step);
        return;
    }
    const double share = hs_pulses_mistaken(problem, step, plan->end, &place);
    if (share > 0.0)
        doubt(out, hs_problem_place(problem, place),
              "steps of %.3g s may take what acts here for %.2g %% too much or too little, since "
              "it jumps where they end or within them; give a shorter time.step, or a method with "
              "time.tolerance",
              step, 100.0 * share);
}

/* The method whose steps are cut to a tolerance and may have any length; of several the implicit
 * one, whose steps cost the same whatever their length. NULL: none suits the problem
 * and this number of ranks. */
static const struct hs_method *method_of_any_step(const struct hs_problem *problem)
{
    const struct hs_method *found = NULL;
    for (int n = 0; hs_methods[n]; n++) {
        const struct hs_method *method = hs_methods[n];
        if (method->cuts && hs_ranks_can(method) && (!found || method->implicit) &&
            !method->suits(problem, NULL))
            found = method;
    }
    return found;
}

static const double many_steps = 1e9; /* on any device a quarter of an hour or more */

static void doubt_many_sweeps(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_error *out)
{
    const struct hs_method *other = method_of_any_step(problem);
    if (other)
        doubt(out, hs_problem_place(problem, HS_PLACE_END),
              "time.end = %g: that takes %.2g sweeps, since no stable one is longer than %.2g s; "
              "time.method = \"%s\" with a time.tolerance takes steps of any length",
              problem->schedule.end, (double)plan->sweeps, plan->limit, other->name);
}

/* For a step that the config gives and that may be longer. */
static void doubt_short_step(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *out)
{
    char remedy[128] = "give a longer one";
    if (plan->method->step_rule == HS_STEP_STABLE)
        snprintf(remedy, sizeof remedy, "leave it out: the longest stable one is %.3g s",
                 plan->limit);
    else if (plan->method->cuts)
        snprintf(remedy, sizeof remedy, "give a longer one, or %s",
                 plan->cut ? "leave it out" : "a time.tolerance instead");
    doubt(out, hs_problem_place(problem, HS_PLACE_STEP),
          "time.step = %g: that takes %.2g steps to time.end = %g; %s", problem->schedule.step,
          (double)plan->sweeps, problem->schedule.end, remedy);
}

static void doubt_many_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *out)
{
    const bool stable = plan->method->step_rule == HS_STEP_STABLE;
    if (!isfinite(problem->schedule.end) || !((double)plan->sweeps > many_steps))
        return;
    if (stable && !(problem->schedule.step < 0.5 * plan->limit)) /* NaN: chosen by the limit */
        doubt_many_sweeps(problem, plan, out);
    else if (!isnan(problem->schedule.step))
        doubt_short_step(problem, plan, out);
}

/* Output every so many steps, of which the run has fewer. */
static void doubt_no_output(const struct hs_problem *problem, const struct hs_plan *plan,
                            struct hs_error *out)
{
    const struct {
        enum hs_place place;
        const char *key, *what;
        int64_t every;
    } outputs[] = {
        {HS_PLACE_EVERY, "output.every", "snapshot", problem->schedule.output_every},
        {HS_PLACE_HISTORY, "output.history_every", "row", problem->schedule.history_every},
    };
    for (int n = 0; n < 2 && !plan->steady_method && plan->sweeps > 0; n++)
        if (outputs[n].every > plan->sweeps)
            doubt(
                out, hs_problem_place(problem, outputs[n].place),
                "%s = %lld: the run has %lld %s%s%s, so it makes no %s on its way; give fewer, or "
                "output.interval",
                outputs[n].key, (long long)outputs[n].every, (long long)plan->sweeps,
                hs_plan_step_name(plan), plan->sweeps == 1 ? "" : "s",
                plan->cut ? " before the tolerance cuts them" : "", outputs[n].what);
}

/* ---- the output's name ----------------------------------------------------------------------- */

/* An .xdmf file can neither escape ":" and "|" nor hold what is not text. */
static void doubt_name(const struct hs_problem *problem, struct hs_error *out)
{
    const char *name = hs_file_name(problem->output.file);
    if (hs_text_is_plain(name) && !strpbrk(name, ":|"))
        return;
    doubt(out, hs_problem_place(problem, HS_PLACE_OUTPUT),
          "%s; choose another name, or read the file itself",
          hs_text_is_plain(name)
              ? "ParaView's readers of .xdmf take \":\" and \"|\" for the end of a file's name"
              : "a name with control characters, or that is not UTF-8, makes the .xdmf unreadable");
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void (*const checks[])(const struct hs_problem *problem, struct hs_error *out) = {
    doubt_material,  doubt_substance,      doubt_unused_substance, doubt_temperatures,
    doubt_unit,      doubt_coarse_wall,    doubt_short_time,       doubt_long_time,
    doubt_name,      doubt_thin_conductor, doubt_contact,          doubt_bypass,
    doubt_untouched, doubt_solids_at_ends, doubt_regions_at_ends,  doubt_probes,
    doubt_nowhere,   doubt_begin,          doubt_thick_wall,
};

void hs_doubts_find(const struct hs_problem *problem, const struct hs_plan *plan,
                    struct hs_error *out)
{
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        checks[c](problem, out);
    doubt_raw_sum(problem, plan, out);
    doubt_turning(problem, plan, out);
    doubt_swing(problem, plan, out);
    doubt_no_output(problem, plan, out);
    doubt_pulses(problem, plan, out);
    doubt_many_steps(problem, plan, out);
}

void hs_doubts_of_result(const struct hs_problem *problem, double lowest, struct hs_error *out)
{
    const char *unit = hs_problem_temperature_unit(problem);
    const bool celsius = strcmp(unit, hs_problem_difference_unit(problem)) != 0;
    const double zero = celsius ? -273.15 : 0.0;
    double span[2];
    if (problem->raw || !hs_problem_has_capacity(problem) ||
        !(celsius || hs_text_is_among(unit, "k|kelvin")) || !(lowest < zero))
        return;
    if (initial_span(problem, span) && span[0] > (celsius ? zero : least_kelvin))
        doubt(out, problem->config_path,
              "the lowest temperature is %.6g %s, below absolute zero; look at the signs: a flux "
              "is the heat that leaves, so one that heats is negative, and a source is the heat "
              "that is put in",
              lowest, unit);
}

void hs_doubts_say(const struct hs_error *doubts, void (*say)(void *self, const char *text),
                   void *self)
{
    const char *at = doubts->text ? doubts->text : "";
    while (*at) {
        char line[1000];
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        say(self, line);
        at += length + (at[length] == '\n');
    }
}
