/* The data of the problem's source and walls: how large they are, where they drive the field, and
 * whether the precision can hold them. */
#ifndef HS_ENGINE_WALLS_BOUNDARY_DATA_H
#define HS_ENGINE_WALLS_BOUNDARY_DATA_H

#include "engine/plan.h"

#include <stddef.h>

/* Largest |T| that they can cause in the whole run, from a coarse lattice of the grid and of the
 * run's time: a narrow peak may be missed, by any factor. */
double hs_boundary_data_scale(const struct hs_problem *problem, const struct hs_plan *plan);

/* The same up to `sweep`, from the data at one node and at its projections on the faces, and from
 * what acts on a body: at about 65536 times (at least half as many), which are those of sweeps, and
 * times between them if sweeps are fewer. */
double hs_boundary_data_scale_at(const struct hs_problem *problem, const struct hs_plan *plan,
                                 const int64_t node[HS_AXES], int64_t sweep);

/* Whether any of them changes in time. */
bool hs_boundary_data_in_time(const struct hs_problem *problem);

/* Where they drive the field at t = 0: from all nodes, or a lattice of this many. */
extern const int64_t hs_boundary_data_looked_at;
struct hs_boundary_data_lead {
    double lowest, highest; /* temperatures that walls pull to; lowest > highest: none */
    double gain;            /* K a sweep: magnitudes of source and fluxes, spread over the grid */
};
struct hs_boundary_data_lead hs_boundary_data_lead(const struct hs_problem *problem,
                                                   const struct hs_plan *plan);

/*
 * Looks, on a lattice of the grid and at `suspect`, whether the sweeps after `from` up to `to` got
 * a value that is NaN, or more than the precision holds. If so returns true, and `out` says where
 * and when: `case.cfg:4: source.expression = "exp(1e4*t)" is inf at node (3), x = 0.1 m, t = 2 s`.
 * Such a value may be missed if it occurs at few nodes or for a few sweeps only.
 */
bool hs_boundary_data_find_excess(const struct hs_problem *problem, const struct hs_plan *plan,
                                  int64_t from, int64_t to, const int64_t suspect[HS_AXES],
                                  char *out, size_t size);

#endif
