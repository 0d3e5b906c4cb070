/* The problem's data, of its source and walls: how large they are, where they lead the field, and
 * whether it can hold them. */
#ifndef HS_ENGINE_WALLS_BOUNDARY_DATA_H
#define HS_ENGINE_WALLS_BOUNDARY_DATA_H

#include "engine/plan.h"

#include <stddef.h>

/* How large |T| can become by them in the whole run, from a coarse lattice of the grid and of the
 * run's time: a narrow peak may be missed, by any factor. */
double hs_boundary_data_scale(const struct hs_problem *problem, const struct hs_plan *plan);

/* The same from what they are at one node, and at its projections on the faces, and from what acts
 * on a body, up to `sweep`: at its sweeps' times, 65536 of them at least, and at as many times
 * where the sweeps are fewer. */
double hs_boundary_data_scale_at(const struct hs_problem *problem, const struct hs_plan *plan,
                                 const int64_t node[HS_AXES], int64_t sweep);

/* Whether one of them changes in time. */
bool hs_boundary_data_in_time(const struct hs_problem *problem);

/* Where they lead the field, at t = 0: from all nodes, or a lattice of so many. */
extern const int64_t hs_boundary_data_looked_at;
struct hs_boundary_data_lead {
    double lowest, highest; /* temperatures that walls pull to; lowest > highest: none does */
    double gain;            /* K a sweep, by source and fluxes, their size spread over the grid */
    bool in_time;           /* one of them changes in time */
};
struct hs_boundary_data_lead hs_boundary_data_lead(const struct hs_problem *problem,
                                                   const struct hs_plan *plan);

/*
 * Looks, on a lattice of the grid and at `suspect`, for what they gave the sweeps after `from` up
 * to `to`: is it NaN, or more than the precision holds? True if so, and `out` says where and when:
 * `case.cfg:4: source.expression = "exp(1e4*t)" is inf at node (3), x = 0.1 m, t = 2 s`. What is so
 * at few nodes or for a few sweeps only may be missed.
 */
bool hs_boundary_data_find_excess(const struct hs_problem *problem, const struct hs_plan *plan,
                                  int64_t from, int64_t to, const int64_t suspect[HS_AXES],
                                  char *out, size_t size);

#endif
