#include "engine/network/of_problem.h"

#include "engine/network/network.h"
#include "engine/threads.h"

#include <stdlib.h>

struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem)
{
    struct hs_network_spec spec = {.grid = &problem->grid,
                                   .body = problem->body,
                                   .wall_count = problem->wall_count,
                                   .wall = problem->walls,
                                   .place = hs_problem_place(problem, HS_PLACE_BODY),
                                   .threads = hs_threads_for(&problem->grid, problem->solver.threads)};
    for (int axis = 0; axis < problem->grid.dims; axis++)
        spec.wrap[axis] = problem->face[2 * axis].wrap;
    return spec;
}

enum hs_status hs_network_of_problem(struct hs_problem *problem, struct hs_error *err)
{
    if (!problem->body)
        return HS_OK;
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    problem->network = calloc(1, sizeof *problem->network);
    if (!problem->network)
        return hs_error_add(err, HS_DEVICE, "no memory for the body's network");
    double most;
    const enum hs_status st = hs_network_make(&spec, problem->network, err);
    return st ? st
              : hs_network_limit(problem->network, spec.threads, &problem->network->limit, &most,
                                 err);
}

enum hs_status hs_network_problem_volumes(const struct hs_problem *problem, double *out,
                                          struct hs_error *err)
{
    const struct hs_network_spec spec = hs_network_problem_spec(problem);
    return hs_network_volumes(&spec, out, err);
}
