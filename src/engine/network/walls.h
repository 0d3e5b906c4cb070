/* What walls do to a node. */
#ifndef HS_ENGINE_NETWORK_WALLS_H
#define HS_ENGINE_NETWORK_WALLS_H

#include "engine/network/axes.h"

/* Adds weight * function(t); false if there are too many time functions. Terms are kept in the
 * order of their functions. */
bool hs_forcing_add(struct hs_forcing *forcing, int function, double weight);

/* Removes terms of weight 0, and clears what is unused. */
void hs_forcing_tidy(struct hs_forcing *forcing);

/* Whether walls may act differently on nodes of a row along x that lie on no face of x. */
bool hs_walls_vary_along_x(const struct hs_network_spec *spec, const struct hs_axis *axis,
                           int64_t j, int64_t k);

/* The wall that holds or prescribes the node; NULL if none does. */
const struct hs_wall *hs_walls_holding(const struct hs_network_spec *spec,
                                       const struct hs_axis *axis, const int64_t node[HS_AXES]);

/* Of one face's walls, the one that would; NULL also if the node is not on that face. */
const struct hs_wall *hs_walls_holding_at(const struct hs_network_spec *spec,
                                          const struct hs_axis *axis, int face,
                                          const int64_t node[HS_AXES]);

/* Adds a prescribed node's value to an empty forcing. */
void hs_wall_prescribe(const struct hs_wall *wall, const struct hs_axis *axis,
                       const int64_t node[HS_AXES], struct hs_forcing *forcing);

/* Area of each wall in the quarters of a control volume's face, [wall_count], and borders of walls,
 * [2 * wall_count + 2]. */
struct hs_wall_scratch {
    double (*area)[4];
    double *place[2];
};

void hs_wall_scratch_init(struct hs_wall_scratch *scratch, int wall_count);
void hs_wall_scratch_release(struct hs_wall_scratch *scratch);

/* Finds the area of each wall in a control volume's face, for a node on that face: leaves it in
 * scratch->area, for hs_sum_of_4. */
void hs_walls_areas(const struct hs_network_spec *spec, const struct hs_axis *axis, int face,
                    const int64_t node[HS_AXES], const struct hs_wall_scratch *scratch);

/* Adds flux and convection through all faces that the node lies on. False as in hs_forcing_add. */
bool hs_walls_exchange(const struct hs_network_spec *spec, const struct hs_axis *axis,
                       const int64_t node[HS_AXES], const struct hs_wall_scratch *scratch,
                       double *sink, struct hs_forcing *forcing);

#endif
