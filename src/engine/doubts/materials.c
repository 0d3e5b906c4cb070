/* Materials and contacts. */
#include "core/text.h"
#include "engine/doubts/checks.h"
#include "engine/network/probe_side.h"

#include <math.h>

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

/* The heat capacity of a steady state may be any, chosen for the search. */
static int checked_of(const struct hs_problem *problem)
{
    return problem->schedule.steady ? 1 : RANGES;
}

/* Solids that conduct are denser than this; gases are lighter, but conduct less. */
static bool is_too_light(const struct hs_problem *problem, double conductivity, double density)
{
    return checked_of(problem) == RANGES && density >= ranges[1].least && density < 30.0 &&
           conductivity > 0.5;
}

static void doubt_light(struct hs_error *out, const char *place, double conductivity)
{
    hs_error_warn(
        out, place,
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
    for (int r = 0; r < checked_of(problem); r++) {
        const char *said = say_out_of_range(&ranges[r], value[r]);
        if (said)
            hs_error_warn(out, hs_problem_place(problem, HS_PLACE_CONDUCTIVITY + r), "%s", said);
    }
    if (is_too_light(problem, m->conductivity, m->density))
        doubt_light(out, hs_problem_place(problem, HS_PLACE_DENSITY), m->conductivity);
}

/* For a body's material with its conductivity along an axis. */
static bool doubt_along(const struct hs_problem *problem, const struct hs_substance *s, int axis,
                        struct hs_error *out)
{
    const bool known = !isnan(s->density); /* else only a diffusivity is given */
    const double value[RANGES] = {known ? s->conductivity[axis] : NAN, s->density,
                                  s->capacity / s->density};
    for (int r = 0; r < checked_of(problem); r++) {
        const char *said = say_out_of_range(&ranges[r], value[r]);
        if (!said)
            continue;
        hs_error_warn(out, s->place[r], "%s", said);
        return true;
    }
    const bool light = is_too_light(problem, value[0], s->density);
    if (light)
        doubt_light(out, s->place[1], value[0]);
    return light;
}

/* For a body's materials: the first that is in doubt. */
static void doubt_substance(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    bool said = false;
    for (int n = 0; body && n < body->substance_count && !said; n++)
        for (int axis = 0; axis < problem->grid.dims && !said; axis++)
            said = doubt_along(problem, &body->substance[n], axis, out);
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
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_BODY), "material %s is nowhere in the body; %s",
            name,
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
        hs_error_warn(out, contact->place,
                      "resists as much as %.2g m of still air, but the materials beside it are at "
                      "most %.2g m in size; was it in mm^2 K/W?",
                      gap, size);
        return;
    }
}

/* What crosses a contact too little if a share of a substance, by the part of the contact, counts
 * on its other side; NULL: nothing to speak of. `reached`: of the substance, by heat from the
 * contact. */
static const char *say_bypass(const struct hs_problem *problem,
                              const struct hs_substance *substance, double share, double reached)
{
    const double least = 0.01, least_capacity = 0.05;
    if (share > least && substance->source >= 0)
        return "the heat of its source there does not cross the contact";
    if (share > least * reached && substance->perfusion != 0.0)
        return "the heat that its perfusion takes there does not cross the contact";
    return share > least_capacity && !problem->schedule.steady
               ? "the heat that it stores there does not cross the contact"
               : NULL;
}

static double most_conductivity(const struct hs_substance *substance)
{
    const double *k = substance->conductivity;
    return fmax(fmax(k[HS_X], k[HS_Y]), k[HS_Z]);
}

/* m: how far behind a contact heat goes into a substance; its perfusion may take it before. */
static double depth_of(const struct hs_problem *problem, int substance)
{
    const struct hs_substance *s = &problem->body->substance[substance];
    const double size = size_of(problem, substance);
    return s->perfusion > 0.0 ? fmin(size, sqrt(most_conductivity(s) / s->perfusion)) : size;
}

/* The part of a temperature difference that a contact takes beside so much of a substance. */
static double part_of_contact(const struct hs_problem *problem, const struct hs_contact *contact,
                              int substance, double depth)
{
    const double like =
        contact->resistance * most_conductivity(&problem->body->substance[substance]); /* m */
    return like / (like + depth);
}

/* A node's control volume is on one side of a contact (docs/numerics.md). */
static void doubt_bypass(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < 2 * body->contact_count; n++) {
        const struct hs_contact *contact = &body->contact[n / 2];
        const struct hs_substance *substance = &body->substance[contact->between[n % 2]];
        const double share = contact->reach.beyond[n % 2] / substance->volume;
        const double depth = depth_of(problem, contact->between[n % 2]);
        const double part = part_of_contact(problem, contact, contact->between[n % 2], depth);
        const char *said = say_bypass(problem, substance, share * part,
                                      depth / size_of(problem, contact->between[n % 2]));
        if (!said)
            continue;
        hs_error_warn(out, contact->place,
                      "is not halfway between nodes: %.2g %% of %s belongs to nodes on the other "
                      "side, and %s; put nodes half a cell before it and half a cell behind it%s",
                      100.0 * share, substance->name, said,
                      substance->perfusion > 0.0 ? ", or two cells of a material without perfusion"
                                                 : "");
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
        hs_error_warn(
            out, contact->place,
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
        hs_error_warn(
            out, problem->config_path,
            "probes[%d]: %s lies on the contact of %s and %s, where the temperature jumps, and "
            "reads the side of %s; move it to a node on the side that you mean",
            at.probe, name, place, node, node);
    else
        hs_error_warn(out, problem->config_path,
                      "probes[%d]: %s lies in %s, but the nearest node is on the side of %s, "
                      "beyond a contact; move it to a node of %s",
                      at.probe, name, place, node, place);
}

/* The probe of a baseplate above a layer of paste, at a node below it. */
static void doubt_probe_layers(const struct hs_problem *problem, struct hs_error *out)
{
    struct hs_probe_layer at;
    if (!hs_probe_layer_find(problem, &at))
        return;
    const struct hs_probe *probe = &problem->probes[at.probe];
    const char axis = "xyz"[at.axis];
    hs_error_warn(out, problem->config_path,
                  "probes[%d]: %s is read at the node at %c = %.9g m, and %.2g %% of the body's "
                  "thermal resistance along %c lies in between, most of it in %s; put a node at %c "
                  "= %.9g m, or move the probe to a node",
                  at.probe, probe->name, axis,
                  hs_grid_coordinate(&problem->grid, at.axis, probe->node[at.axis]),
                  100.0 * at.share, axis, problem->body->substance[at.substance].name, axis,
                  probe->at[at.axis]);
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
            hs_error_warn(out, hs_problem_place(problem, HS_PLACE_BODY),
                          "a round layer of %s is %.3g m thick, less than two cells of %.3g m, so "
                          "too little heat will flow along it; give more grid.points",
                          layer->name, thickness, cell_across(problem, &solid->shape));
            return;
        }
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

void hs_doubts_of_materials(const struct hs_problem *problem, struct hs_error *out)
{
    if (hs_text_temperature_scale(hs_problem_temperature_unit(problem))) { /* else no W/(m K) */
        doubt_material(problem, out);
        doubt_substance(problem, out);
        doubt_contact(problem, out);
    }
    doubt_unused_substance(problem, out);
    doubt_thin_conductor(problem, out);
    doubt_bypass(problem, out);
    doubt_untouched(problem, out);
    hs_doubts_of_shape_ends(problem, out);
    doubt_probes(problem, out);
    doubt_probe_layers(problem, out);
}
