#include "engine/balance/power.h"

#include "core/memory.h"
#include "engine/balance/parts.h"
#include "engine/network/of_problem.h"
#include "engine/network/walls.h"
#include "engine/threads.h"
#include "functions/evaluate.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdlib.h>

/* ---- fluxes of a stencil --------------------------------------------------------------------- */

/* W/m^2 per unit of a face's data; 0: it has no flux. By the rule of core/boundary.h, ghost = inner
 * - 2 spacing flux/conductivity, or + 2 spacing gradient. */
static double flux_per_datum(const struct hs_problem *problem, int face)
{
    const struct hs_face *rule = &problem->face[face];
    const bool is_flux = !rule->wrap && rule->held == 0 && rule->a[0] == 1.0 && rule->b[0] == 0.0;
    return is_flux ? -rule->c[0] * problem->material.conductivity /
                         (2.0 * problem->grid.spacing[face / 2])
                   : 0.0;
}

static double power_of_face(const struct hs_problem *problem, int face, double t)
{
    const int b = hs_face_first_axis(face), c = hs_face_second_axis(face);
    struct hs_sum sum = {0.0, 0.0};
    for (int64_t n = 0; n < hs_grid_face_count(&problem->grid, face); n++) {
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, n, node);
        hs_sum_add(&sum, hs_problem_node_width(problem, b, node[b]) *
                             hs_problem_node_width(problem, c, node[c]) *
                             hs_value_at_node(&problem->face[face].data, &problem->grid, node, t));
    }
    return flux_per_datum(problem, face) * hs_sum_value(&sum) + 0.0; /* not -0 */
}

/* ---- fluxes of a body ------------------------------------------------------------------------ */

/* What one of the parts of a face's nodes is added up by. */
struct adding {
    struct hs_walls walls;
    struct hs_sum *sum; /* [wall_count] */
};

static double flux_at(const struct hs_problem *problem, const struct hs_wall *wall,
                      const int64_t node[HS_AXES], int64_t place, double t)
{
    const struct hs_wall_number *flux = &wall->flux;
    if (hs_wall_number_moves(flux))
        return hs_value_at_node(&flux->moving, &problem->grid, node, t);
    return hs_time_function_at(&problem->time_functions[flux->function], t) *
           (flux->field ? flux->field[place] : 1.0);
}

static bool has_flux(const struct hs_wall *wall, int face)
{
    return wall->face == face && wall->kind == HS_WALL_EXCHANGES &&
           hs_wall_number_is_given(&wall->flux);
}

static void add_part(const struct hs_problem *problem, int face, int part, double t,
                     struct adding *to)
{
    const int64_t count = hs_grid_face_count(&problem->grid, face);
    for (int64_t n = hs_balance_part(count, part); n < hs_balance_part(count, part + 1); n++) {
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, n, node);
        hs_walls_share(&to->walls, face, node);
        for (int w = 0; w < problem->wall_count; w++)
            if (has_flux(&problem->walls[w], face))
                hs_sum_add(&to->sum[w], hs_walls_area(&to->walls, w) *
                                            flux_at(problem, &problem->walls[w], node, n, t));
    }
}

static void add_face(const struct hs_problem *problem, int face, double t,
                     struct hs_balance_power *out)
{
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    struct adding part[HS_BALANCE_PARTS];
    struct hs_axis axis[HS_AXES];
    hs_axes_init(axis, &spec);
#pragma omp parallel for num_threads(hs_threads_of(problem)) schedule(static)
    for (int p = 0; p < HS_BALANCE_PARTS; p++) {
        hs_walls_init(&part[p].walls, &spec, axis);
        part[p].sum = hs_new((size_t)problem->wall_count * sizeof *part[p].sum);
        add_part(problem, face, p, t, &part[p]);
        hs_walls_release(&part[p].walls);
    }
    for (int w = 0; w < problem->wall_count; w++) {
        struct hs_sum sum = {0.0, 0.0};
        for (int p = 0; p < HS_BALANCE_PARTS; p++)
            hs_sum_join(&sum, &part[p].sum[w]);
        if (has_flux(&problem->walls[w], face))
            out[w].power = hs_sum_value(&sum) + 0.0;
    }
    for (int p = 0; p < HS_BALANCE_PARTS; p++)
        free(part[p].sum);
    hs_axes_release(axis);
}

static bool changes(const struct hs_problem *problem, const struct hs_wall_number *flux)
{
    return hs_wall_number_moves(flux) ||
           (flux->function >= 0 &&
            hs_time_function_varies(&problem->time_functions[flux->function]));
}

/* ---------------------------------------------------------------------------------------------- */

void hs_balance_fluxes(const struct hs_problem *problem, double t, struct hs_balance_power *out)
{
    const int walls = hs_problem_wall_count(problem);
    for (int w = 0; w < walls; w++)
        out[w] = (struct hs_balance_power){NAN, problem->body &&
                                                    changes(problem, &problem->walls[w].flux)};
    for (int w = 0; w < walls && !problem->body; w++) {
        const int face = hs_problem_wall_face(problem, w);
        if (flux_per_datum(problem, face) != 0.0)
            out[w] =
                (struct hs_balance_power){power_of_face(problem, face, t),
                                          hs_value_varies(&problem->face[face].data) & HS_VARIES_T};
    }
    for (int face = 0; face < 2 * problem->grid.dims && problem->body; face++) {
        bool any = false;
        for (int w = 0; w < walls; w++)
            any = any || has_flux(&problem->walls[w], face);
        if (any)
            add_face(problem, face, t, out);
    }
}

/* ---- sources --------------------------------------------------------------------------------- */

static bool varies(const struct hs_problem *problem, int function)
{
    return function >= 0 && hs_time_function_varies(&problem->time_functions[function]);
}

enum hs_status hs_balance_source_power(const struct hs_problem *problem, double t,
                                       struct hs_balance_power *out, struct hs_error *err)
{
    static const double all = 1.0;
    const struct hs_body *body = problem->body;
    struct hs_balance balance = {.problem = problem,
                                 .step = {.count = 1, .time = &t, .weight = &all}};
    const enum hs_status st = hs_balance_source_init(&balance, err);
    bool any = problem->source.present || (body && body->source >= 0);
    *out = (struct hs_balance_power){NAN, false};
    if (!st)
        *out = (struct hs_balance_power){hs_balance_source_total(&balance),
                                         balance.source.varies_time ||
                                             (body && varies(problem, body->source))};
    for (int s = 0; body && s < body->substance_count && !st; s++) {
        const struct hs_substance *substance = &body->substance[s];
        if (substance->source < 0)
            continue;
        any = true;
        out->changes |= varies(problem, substance->source);
        out->power += substance->volume *
                      hs_balance_function(&balance, &problem->time_functions[substance->source]);
    }
    if (!any)
        out->power = NAN;
    hs_balance_source_release(&balance.source);
    return st;
}
