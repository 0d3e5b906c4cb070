/*
 * Shapes of a body: which of them has a point, and which pieces of a line.
 *
 * Every shape is the common part of a box, at most one round solid (sphere, or cylinder without
 * ends) and at most one half-space whose border is oblique; so there is one code for all.
 */
#ifndef HS_ENGINE_NETWORK_SOLIDS_H
#define HS_ENGINE_NETWORK_SOLIDS_H

#include "engine/network/axes.h"

enum { HS_NOWHERE = -1 }; /* in place of a substance: there is none */

struct hs_shape_parts {
    int substance;
    double lower[HS_AXES], upper[HS_AXES]; /* m; infinite where nothing bounds it */
    bool is_round, round[HS_AXES];         /* along these axes the distance counts */
    double centre[HS_AXES], radius;
    bool oblique;
    double point[HS_AXES], normal[HS_AXES]; /* of length 1; 0 along axes that are not there */
};

struct hs_solids {
    const struct hs_axis *axis; /* [HS_AXES] */
    int count;
    struct hs_shape_parts *part; /* [count], owned; the first is on top */
};

void hs_solids_init(struct hs_solids *solids, const struct hs_body *body,
                    const struct hs_axis *axis);
void hs_solids_release(struct hs_solids *solids);

/* A box near a node: from lo to hi beyond `origin`, m. So rounding is that of small numbers. */
struct hs_node_box {
    double origin[HS_AXES], lo[HS_AXES], hi[HS_AXES];
};

/* Those solids whose surface crosses a region, the first on top, and what has the rest of it. */
struct hs_selection {
    int count;
    int *part;   /* [solids' count] */
    int base;    /* substance, or HS_NOWHERE */
    bool curved; /* some surface is not along the axes */
};

/* A selection of all: to be narrowed. */
void hs_solids_all(const struct hs_solids *solids, struct hs_selection *all);

/* What of `from`, which is for a region around this one, matters here. */
void hs_solids_narrow(const struct hs_solids *solids, const struct hs_node_box *region,
                      const struct hs_selection *from, struct hs_selection *out);

/* Axes along which lines fit the selected surfaces best, of those that are there: nearest to the
 * normal in the middle of the region. Several where they are equally near; without a curved surface
 * the first. Returns how many. */
int hs_solids_best_axes(const struct hs_solids *solids, const struct hs_node_box *region,
                        const struct hs_selection *selection, int best[HS_AXES]);

/* Adds the places along `axis`, beyond the region's origin, where selected surfaces along the other
 * axes stand: no more than 2 each. Returns the new count. */
int hs_solids_planes(const struct hs_solids *solids, const struct hs_node_box *region,
                     const struct hs_selection *selection, int axis, int count, double *place);

/* The substance at a point, beyond the region's origin. */
int hs_solids_at(const struct hs_solids *solids, const struct hs_node_box *region,
                 const struct hs_selection *selection, const double at[HS_AXES]);

/* What a line runs through. */
struct hs_piece {
    int substance;
    double from, to; /* m, beyond the region's origin */
    double facing;   /* cosine between the line and the normal of the surface at `from` */
};

enum { HS_CROSSINGS_MOST = 4 }; /* of a line and the surface of one solid */
struct hs_crossing {
    double at, facing;
};

/* Pieces, at least 1, of the line along `axis` through `at` from end to end of the region.
 * `crossing` and `piece` have room for HS_CROSSINGS_MOST of each solid selected, and one more. */
int hs_solids_line(const struct hs_solids *solids, const struct hs_node_box *region,
                   const struct hs_selection *selection, int axis, const double at[HS_AXES],
                   struct hs_crossing *crossing, struct hs_piece *piece);

#endif
