#include "engine/network/probe_side.h"

#include "core/memory.h"
#include "engine/network/octants.h"
#include "engine/network/of_problem.h"

#include <math.h>
#include <stdlib.h>
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

static bool has_shapes(const struct hs_problem *problem)
{
    return problem->body && problem->body->labels == HS_LABEL_NONE;
}

bool hs_probe_side_find(const struct hs_problem *problem, struct hs_probe_side *out)
{
    const struct hs_body *body = problem->body;
    if (!has_shapes(problem) || body->contact_count == 0)
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

/* ---- layers ---------------------------------------------------------------------------------- */

/* Whether the pieces of the line along the axis through a probe have such a layer before `node`,
 * relative to the probe [m]. */
static bool is_behind_layer(const struct hs_body *body, const struct hs_piece *piece, int pieces,
                            double node, struct hs_probe_layer *out)
{
    const double much = 0.05, more = 5.0; /* than its share of the length */
    double all = 0.0, between = 0.0, most = 0.0;
    for (int n = 0; n < pieces; n++) {
        if (piece[n].substance == HS_NOWHERE)
            continue;
        const double k = body->substance[piece[n].substance].conductivity[out->axis];
        const double from = fmax(piece[n].from, fmin(node, 0.0));
        const double to = fmin(piece[n].to, fmax(node, 0.0));
        const double here = fmax(to - from, 0.0) / k;
        all += (piece[n].to - piece[n].from) / k;
        between += here;
        out->substance = here > most ? piece[n].substance : out->substance;
        most = fmax(here, most);
    }
    out->share = between / all;
    const double length = piece[pieces - 1].to - piece[0].from;
    return out->share > fmax(much, more * fabs(node) / length);
}

bool hs_probe_layer_find(const struct hs_problem *problem, struct hs_probe_layer *out)
{
    const struct hs_body *body = problem->body;
    if (!has_shapes(problem))
        return false;
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    struct hs_axis axis[HS_AXES];
    struct hs_solids solids;
    hs_axes_init(axis, &spec);
    hs_solids_init(&solids, body, axis);
    const size_t most = HS_CROSSINGS_MOST * (size_t)solids.count + 2;
    struct hs_crossing *crossing = hs_new(most * sizeof *crossing);
    struct hs_piece *piece = hs_new(most * sizeof *piece);
    bool found = false;
    for (int n = 0; n < HS_AXES * problem->probe_count && !found; n++) {
        const struct hs_probe *probe = &problem->probes[n / HS_AXES];
        const double at[HS_AXES] = {0.0};
        struct hs_node_box region;
        *out = (struct hs_probe_layer){n / HS_AXES, n % HS_AXES, HS_NOWHERE, 0.0};
        for (int a = 0; a < HS_AXES; a++) {
            region.origin[a] = probe->at[a];
            region.lo[a] = axis[a].position[0] - probe->at[a];
            region.hi[a] = axis[a].position[axis[a].cells] - probe->at[a];
        }
        if (!axis[out->axis].there || axis[out->axis].wrap) /* its node may be an image */
            continue;
        const int pieces =
            hs_solids_line(&solids, &region, &solids.all, out->axis, at, crossing, piece);
        const double node = axis[out->axis].position[probe->node[out->axis]];
        found = is_behind_layer(body, piece, pieces, node - probe->at[out->axis], out);
    }
    free(piece);
    free(crossing);
    hs_solids_release(&solids);
    hs_axes_release(axis);
    return found;
}
