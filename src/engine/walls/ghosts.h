/*
 * Ghost layers and prescribed layers of a field in host memory, by the rules of core/boundary.h:
 * hs_ghosts_at evaluates the boundary data at a time, hs_ghosts_fill and hs_ghosts_prescribe write.
 */
#ifndef HS_ENGINE_WALLS_GHOSTS_H
#define HS_ENGINE_WALLS_GHOSTS_H

#include "engine/walls/face_data.h"

struct hs_ghosts {
    struct hs_face_slots slots;
    struct hs_layout layout;
    int threads;
    double *scratch; /* [threads][longest row of a face] */
    int64_t scratch_row;
};

/* Errors: HS_DEVICE when memory is short. Safe to release after failure. */
enum hs_status hs_ghosts_init(struct hs_ghosts *ghosts, const struct hs_problem *problem,
                              const struct hs_layout *layout, int slots, int threads,
                              struct hs_error *err);
void hs_ghosts_release(struct hs_ghosts *ghosts);

/* Evaluates the boundary data at time t [s] into a slot; does nothing if they are there already. */
void hs_ghosts_at(struct hs_ghosts *ghosts, int slot, double t);

/* Fills the ghost layers that a sweep reads (depth radius - held), along every axis, for all nodes
 * of each face. The field is given by its node (0, 0, 0). */
void hs_ghosts_fill(const struct hs_ghosts *ghosts, int slot, void *field);

/* Writes the data to the outermost layer of each prescribed face; where two meet the later wins. */
void hs_ghosts_prescribe(const struct hs_ghosts *ghosts, int slot, void *field);

#endif
