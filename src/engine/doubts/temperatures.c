/* Temperatures, and their unit. */
#include "core/text.h"
#include "engine/doubts/checks.h"
#include "engine/doubts/known.h"
#include "functions/fields.h"
#include "functions/time_function.h"
#include "input/field_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (!hs_doubts_initial_span(problem, span))
        return;
    for (int w = 0; w < hs_problem_wall_count(problem); w++)
        if (hs_doubts_wall_temperature(problem, w, &has) &&
            hs_doubts_two_units(problem, span, has)) {
            doubt_mixed(out, hs_doubts_place_of_wall(problem, w),
                        hs_doubts_is_patch(problem, w) ? "a patch of this wall" : "this wall", has,
                        span);
            return;
        }
    const struct hs_body *body = problem->body;
    for (int n = 0; body && n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        if (s->perfusion == 0.0)
            continue;
        has = hs_time_function_at(&problem->time_functions[s->reference], 0.0);
        if (!hs_doubts_two_units(problem, span, has))
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

static bool doubt_impossible(struct hs_error *out, const char *place, double value, double zero)
{
    const double most = 1e5; /* no solid and no flame, but 1e20 and 9.97e36 stand for "missing" */
    if (!(value < zero) && !(value > most && !isnan(zero)))
        return false;
    hs_error_warn(out, place, "has a temperature of %.6g, %s; does it stand for a missing value?",
                  value, value < zero ? "below absolute zero" : "which nothing has");
    return true;
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
        hs_doubts_widen(in_time,
                        f->points ? f->number[n] : hs_time_function_at(f, end * n / TIMES));
    for (int64_t n = 0; n < hs_grid_face_count(&problem->grid, face); n++)
        hs_doubts_widen(along, number->field ? number->field[n] : 1.0);
    out[0] = INFINITY;
    out[1] = -INFINITY;
    for (int n = 0; n < 4; n++)
        hs_doubts_widen(out, in_time[n / 2] * along[n % 2]);
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
    if (!hs_doubts_initial_span(problem, span))
        return;
    const double zero = hs_doubts_absolute_zero(problem, span[1]);
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
                 : hs_doubts_wall_temperature(problem, w, &has) &&
                       doubt_impossible(out, hs_doubts_place_of_wall(problem, w), has, zero))
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
                   hs_doubts_wall_temperature(problem, w, &at);
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

void hs_doubts_of_temperatures(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_error *out)
{
    doubt_temperatures(problem, out);
    doubt_unit(problem, out);
    doubt_unit_of_file(problem, out);
    doubt_missing(problem, out);
    doubt_regions(problem, plan, out);
}
