/* The boundary: its walls. */
#include "core/memory.h"
#include "engine/doubts/checks.h"
#include "engine/doubts/known.h"
#include "engine/network/coefficients.h"
#include "engine/network/of_problem.h"
#include "engine/network/walls.h"
#include "engine/ranks/ranks.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            layer[n] = hs_doubts_initial_at(problem, node);
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
    if (!(biot > 0.0) || biot > most_biot ||
        !hs_doubts_face_temperature(problem, face, &out.ambient))
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
        if (hs_doubts_wall_temperature(problem, w, &at))
            hs_doubts_widen(range, at);
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
        hs_doubts_middle(problem, face, node);
        const struct pull pull = problem->network ? pull_of_network(problem, node, step)
                                                  : pull_of_stencil(problem, face, step);
        if (!(pull.taken > 1.0) || !hs_doubts_initial_span(problem, span) ||
            hs_doubts_two_units(problem, span, pull.ambient))
            continue;
        const double by =
            (pull.taken - 1.0) * fabs(hs_doubts_initial_at(problem, node) - pull.ambient);
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

void hs_doubts_of_walls(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out)
{
    doubt_assumed(problem, out);
    if (problem->body)
        doubt_shared_nodes(problem, out);
    doubt_thick_wall(problem, out);
    doubt_coarse_wall(problem, out);
    doubt_swing(problem, plan, out);
}
