#include "output/body_text.h"

#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void hs_body_text(const struct hs_problem *problem)
{
    const struct hs_network *network = problem->network;
    const int64_t nodes = hs_grid_count(&problem->grid);
    if (hs_is_measured(&problem->body->conductivity))
        printf("measured fields");
    else
        printf("%d material%s", problem->body->substance_count,
               problem->body->substance_count == 1 ? "" : "s");
    if (network->form == HS_NETWORK_ARRAYS)
        printf("; %" PRId64 " nodes, each with its own coefficients", nodes);
    else
        printf("; %" PRId64 " nodes, %d of them distinct, stored as %d-byte indices", nodes,
               network->row_count - 1, network->form == HS_NETWORK_BYTES ? 1 : 2);
}

static const struct hs_body *body_of(const struct hs_problem *problem)
{
    return problem->body ? problem->body : problem->plain;
}

void hs_body_material_text(const struct hs_problem *problem, int n)
{
    static const char *const volumes[] = {"", "m", "m^2", "m^3"};
    static const char *const masses[] = {"", "kg/m^2", "kg/m", "kg"};
    const struct hs_substance *s = &body_of(problem)->substance[n];
    const int dims = problem->grid.dims;
    hs_text_put(stdout, s->name, "");
    printf(": %.6g %s", s->volume, volumes[dims]);
    if (!isnan(s->density))
        printf(", %.6g %s", s->volume * s->density, masses[dims]);
}

void hs_body_json(struct hs_json *json, const struct hs_problem *problem)
{
    const struct hs_body *body = body_of(problem);
    hs_json_open_array(json, "materials");
    for (int n = 0; n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        hs_json_open(json, NULL);
        hs_json_text(json, "name", s->name);
        hs_json_number(json, "volume", s->volume);
        hs_json_number(json, "mass", s->volume * s->density);
        hs_json_close(json);
    }
    hs_json_close(json);
}
