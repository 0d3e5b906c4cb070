/* Sources and fluxes: those that act nowhere, or that float loses. */
#include "engine/doubts/checks.h"
#include "engine/doubts/known.h"
#include "engine/walls/boundary_data_parts.h"

#include <math.h>
#include <string.h>

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
    const double step = hs_plan_sweep_step(plan), most_source = 4.0, most_flux = 1.0;
    const double end = isfinite(problem->schedule.end) ? problem->schedule.end : 0.0;
    double span[2];
    struct hs_datum data[HS_DATA_MOST];
    const int count = hs_data_list(problem, step, 1.0, step, data);
    if (problem->precision != HS_FLOAT || problem->raw || !hs_plan_rounds_sweeps(plan) ||
        !hs_doubts_initial_span(problem, span))
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

void hs_doubts_of_sources(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    doubt_nowhere(problem, out);
    doubt_float(problem, plan, out);
}
