/* What walls do to a node. */
#ifndef HS_ENGINE_NETWORK_WALLS_H
#define HS_ENGINE_NETWORK_WALLS_H

#include "engine/network/axes.h"

/* Adds weight * function(t); false if there are too many time functions. Terms are kept in the
 * order of their functions. */
bool hs_terms_add(struct hs_terms *terms, int function, double weight);

/* Removes terms of weight 0, and clears what is unused. */
void hs_terms_tidy(struct hs_terms *terms);

/* All walls of a body, with what one thread needs to look at them. */
struct hs_walls {
    int count;
    const struct hs_wall *wall; /* [count] */
    const struct hs_axis *axis; /* [HS_AXES] */
    double (*quarter)[4];       /* m^2, [count]: of hs_walls_share */
    double *place[2];           /* m, [2 * count + 2]: borders of walls across a face */
};

void hs_walls_init(struct hs_walls *walls, const struct hs_network_spec *spec,
                   const struct hs_axis *axis);
void hs_walls_release(struct hs_walls *walls);

/* Whether walls may act differently on nodes of a row along x that lie on no face of x. */
bool hs_walls_vary_along_x(const struct hs_walls *walls, int64_t j, int64_t k);

/* The wall that holds or prescribes the node; NULL if none does. */
const struct hs_wall *hs_walls_holding(const struct hs_walls *walls, const int64_t node[HS_AXES]);
/* Of one face's walls, the one that would; NULL also if the node is not on that face. */
const struct hs_wall *hs_walls_holding_at(const struct hs_walls *walls, int face,
                                          const int64_t node[HS_AXES]);

/* Adds the value of a wall that prescribes the node to an empty forcing. */
void hs_walls_prescribe(const struct hs_walls *walls, const struct hs_wall *wall,
                        const int64_t node[HS_AXES], struct hs_forcing *forcing);

/* Shares out the face of a control volume, of a node on that face; then the area of each wall in
 * it [m^2]. */
void hs_walls_share(const struct hs_walls *walls, int face, const int64_t node[HS_AXES]);
static inline double hs_walls_area(const struct hs_walls *walls, int wall)
{
    return hs_sum_of_4(walls->quarter[wall]);
}

/* Adds flux and convection through all faces that the node lies on. False as in hs_forcing_add. */
bool hs_walls_exchange(const struct hs_walls *walls, const int64_t node[HS_AXES], double *sink,
                       struct hs_forcing *forcing);

#endif
