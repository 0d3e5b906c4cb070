#include "engine/network/of_problem.h"

#include "core/memory.h"
#include "engine/network/network.h"
#include "engine/ranks/ranks.h"
#include "engine/threads.h"

struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem)
{
    struct hs_network_spec spec = {.grid = &problem->grid,
                                   .body = problem->body,
                                   .wall_count = problem->wall_count,
                                   .wall = problem->walls,
                                   .place = hs_problem_place(problem, HS_PLACE_BODY),
                                   .threads = hs_threads_of(problem)};
    for (int axis = 0; axis < problem->grid.dims; axis++)
        spec.wrap[axis] = problem->face[2 * axis].wrap;
    return spec;
}

/* One material fills all of it. */
static void find_volume(const struct hs_problem *problem)
{
    const struct hs_body *body = problem->plain;
    double volume = 1.0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        volume *= hs_problem_length(problem, axis);
    body->substance[body->solid[0].substance].volume = volume;
}

/* Whether ranks can make the network together: not if short odd cycles, which the limit needs as a
 * whole, go through the layers of several ranks. */
static bool can_be_shared(const struct hs_network_spec *spec)
{
    bool can = true;
    for (int axis = HS_Y; axis < spec->grid->dims; axis++) {
        const int64_t points = spec->grid->points[axis];
        can = can && !(spec->wrap[axis] && points % 2 == 1 && points <= HS_NETWORK_SHORT_CYCLE);
    }
    return can;
}

enum hs_status hs_network_of_problem(struct hs_problem *problem, bool together,
                                     struct hs_error *err)
{
    if (problem->plain)
        find_volume(problem);
    if (!problem->body)
        return HS_OK;
    struct hs_network_spec spec = hs_network_problem_spec(problem);
    if (together && can_be_shared(&spec)) {
        spec.ranks = hs_ranks_count();
        spec.rank = hs_ranks_number();
    }
    const struct hs_portion portion = hs_portion_of(spec.grid, spec.ranks, spec.rank);
    if (portion.ranks < 2) {
        spec.ranks = 0;
        if (!hs_ranks_is_first())
            return HS_OK;
    } else {
        hs_ranks_share(problem);
        spec.threads = hs_threads_of(problem);
    }
    struct hs_network *network = problem->network = hs_new(sizeof *problem->network);
    double most;
    enum hs_status st = hs_network_make(&spec, network, err);
    if (!st)
        st = hs_network_limit(network, &portion, spec.threads, &network->limit, &most, err);
    for (int n = 0; n < problem->body->substance_count && !st; n++)
        problem->body->substance[n].volume = network->volume[n];
    for (int n = 0; n < problem->body->contact_count && !st; n++)
        problem->body->contact[n].reach = network->contact[n];
    if (!st)
        st = hs_network_join(&spec, network, err);
    if (hs_ranks_is_first())
        return st;
    hs_network_destroy(network);
    problem->network = NULL;
    return st;
}
