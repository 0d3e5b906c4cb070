#include "engine/network/of_problem.h"

#include "core/memory.h"
#include "core/sum.h"
#include "engine/network/network.h"
#include "engine/ranks/ranks.h"
#include "engine/threads.h"

#include <stdlib.h>

struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem)
{
    struct hs_network_spec spec = {.grid = &problem->grid,
                                   .body = problem->body,
                                   .wall_count = problem->wall_count,
                                   .wall = problem->walls,
                                   .place = hs_problem_place(problem, HS_PLACE_BODY),
                                   .threads =
                                       hs_threads_for(&problem->grid, problem->solver.threads)};
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        spec.coordinate[axis] = problem->grid.coordinate[axis];
        spec.wrap[axis] = problem->face[2 * axis].wrap;
    }
    return spec;
}

/* Where each material is, by volume. */
static enum hs_status find_volumes(struct hs_problem *problem, const struct hs_network_spec *spec,
                                   struct hs_error *err)
{
    struct hs_body *body = problem->body;
    if (body->substance_count == 0)
        return HS_OK;
    double *volume = hs_new((size_t)body->substance_count * sizeof *volume);
    const enum hs_status st = hs_network_volumes(spec, volume, err);
    for (int n = 0; n < body->substance_count && !st; n++)
        body->substance[n].volume = volume[n];
    free(volume);
    return st;
}

/* All of it is one material's. */
static void find_volume(const struct hs_problem *problem)
{
    const struct hs_body *body = problem->plain;
    double volume = 1.0;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        struct hs_sum sum = {0.0, 0.0};
        for (int64_t i = 0; i < problem->grid.points[axis]; i++)
            hs_sum_add(&sum, hs_problem_node_width(problem, axis, i));
        volume *= hs_sum_value(&sum);
    }
    body->substance[body->solid[0].substance].volume = volume;
}

enum hs_status hs_network_of_problem(struct hs_problem *problem, struct hs_error *err)
{
    if (problem->plain)
        find_volume(problem);
    if (!problem->body || !hs_ranks_is_first())
        return HS_OK;
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    problem->network = hs_new(sizeof *problem->network);
    double most;
    enum hs_status st = hs_network_make(&spec, problem->network, err);
    if (!st)
        st = hs_network_limit(problem->network, spec.threads, &problem->network->limit, &most, err);
    return st ? st : find_volumes(problem, &spec, err);
}
