#include "engine/network/probe_side.h"

#include "engine/network/octants.h"
#include "engine/network/of_problem.h"

#include <math.h>
#include <string.h>

static int substance_at(const struct hs_solids *solids, const double place[HS_AXES])
{
    const double at[HS_AXES] = {0.0};
    struct hs_node_box region = {.lo = {0.0}};
    memcpy(region.origin, place, sizeof region.origin);
    return hs_solids_at(solids, &region, &solids->all, at);
}

/* As hs_octants_side. */
static int side_of_node(const struct hs_solids *solids, const int64_t node[HS_AXES])
{
    double place[HS_AXES];
    for (int a = 0; a < HS_AXES; a++) {
        const struct hs_axis *axis = &solids->axis[a];
        const int64_t below = hs_axis_cell(axis, node[a], 0);
        place[a] = below < 0 ? axis->position[node[a]] + hs_axis_beside(axis, a)
                             : axis->position[below + 1] - hs_axis_beside(axis, a);
    }
    return substance_at(solids, place);
}

/* Looks around the probe for a substance that a contact separates from its node's side. */
static void look_around(const struct hs_body *body, const struct hs_solids *solids,
                        const double at[HS_AXES], struct hs_probe_side *out)
{
    const double little = 1e-6; /* of a cell: a place may be rounded to decimals */
    for (int n = 0; n < 2 * HS_AXES; n++) {
        const struct hs_axis *axis = &solids->axis[n / 2];
        const double by = little * 2.0 * axis->half[0] * (n % 2 ? 1.0 : -1.0);
        double place[HS_AXES] = {at[0], at[1], at[2]};
        if (!axis->there)
            continue;
        place[n / 2] = fmin(fmax(at[n / 2] + by, axis->position[0]), axis->position[axis->cells]);
        const int substance = substance_at(solids, place);
        const struct hs_contact *contact = hs_body_contact(body, substance, out->node);
        out->between = out->between || substance == out->node;
        if (contact && contact->resistance > 0.0)
            out->place = substance;
    }
}

bool hs_probe_side_find(const struct hs_problem *problem, struct hs_probe_side *out)
{
    const struct hs_body *body = problem->body;
    if (!body || body->contact_count == 0 || body->labels != HS_LABEL_NONE)
        return false;
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    struct hs_axis axis[HS_AXES];
    struct hs_solids solids;
    hs_axes_init(axis, &spec);
    hs_solids_init(&solids, body, axis);
    out->place = HS_NOWHERE;
    for (int n = 0; n < problem->probe_count && out->place == HS_NOWHERE; n++) {
        const struct hs_probe *probe = &problem->probes[n];
        *out = (struct hs_probe_side){n, side_of_node(&solids, probe->node), HS_NOWHERE, false};
        look_around(body, &solids, probe->at, out);
    }
    hs_solids_release(&solids);
    hs_axes_release(axis);
    return out->place != HS_NOWHERE;
}
