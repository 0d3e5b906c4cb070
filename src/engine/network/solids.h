/*
 * Shapes of a body: which of them contains a point, and which contain pieces of a line.
 *
 * Every shape is the intersection of a box, at most one round solid (sphere, or cylinder without
 * ends) and at most one half-space with an oblique boundary; so one code handles all.
 */
#ifndef HS_ENGINE_NETWORK_SOLIDS_H
#define HS_ENGINE_NETWORK_SOLIDS_H

#include "engine/network/axes.h"

enum { HS_NOWHERE = -1 }; /* in place of a substance: there is none */

struct hs_shape_parts {
    int substance;
    double lower[HS_AXES], upper[HS_AXES]; /* m; infinite where nothing bounds it */
    bool is_round, round[HS_AXES];         /* axes that count for the distance */
    double centre[HS_AXES], radius;
    bool oblique;
    double point[HS_AXES], normal[HS_AXES]; /* of length 1; 0 along axes that are not there */
};

/* The solids whose surfaces cross a region, topmost first, and the substance of its rest. */
struct hs_selection {
    int count;
    int *part;           /* [solids' count] */
    int base;            /* substance, or HS_NOWHERE */
    bool curved;         /* some surface is round or slanting */
    bool bends[HS_AXES]; /* ... and not parallel to this axis */
};

struct hs_solids {
    const struct hs_axis *axis; /* [HS_AXES] */
    int count;
    struct hs_shape_parts *part; /* [count], owned; the first is on top */
    struct hs_selection all;     /* of them, to be narrowed; its part is owned */
};

void hs_solids_init(struct hs_solids *solids, const struct hs_body *body,
                    const struct hs_axis *axis);
void hs_solids_release(struct hs_solids *solids);

/* A box near a node, from lo to hi relative to `origin`, m. So rounding is of small numbers. */
struct hs_node_box {
    double origin[HS_AXES], lo[HS_AXES], hi[HS_AXES];
};

/* Narrows `from`, the selection for a surrounding region, to this region. */
void hs_solids_narrow(const struct hs_solids *solids, const struct hs_node_box *region,
                      const struct hs_selection *from, struct hs_selection *out);

/* Finds the axes along which lines fit the selected surfaces best: of the grid's axes the one
 * nearest to the normal in the middle of the region, or several that are equally near; without a
 * curved surface the first. Returns how many. */
int hs_solids_best_axes(const struct hs_solids *solids, const struct hs_node_box *region,
                        const struct hs_selection *selection, int best[HS_AXES]);

/* Finds the places along `axis`, relative to the region's origin, of selected surfaces
 * perpendicular to it: at most 2 per solid. Returns how many. */
int hs_solids_planes(const struct hs_solids *solids, const struct hs_node_box *region,
                     const struct hs_selection *selection, int axis, double *place);

/* The substance at a point, which is relative to the region's origin. */
int hs_solids_at(const struct hs_solids *solids, const struct hs_node_box *region,
                 const struct hs_selection *selection, const double at[HS_AXES]);

/* A piece of a line in one substance. */
struct hs_piece {
    int substance;
    double from, to; /* m, relative to the region's origin */
    double facing;   /* cosine between the line and the normal of the surface at `from` */
};

enum { HS_CROSSINGS_MOST = 4 }; /* of a line and the surface of one solid */
struct hs_crossing {
    double at, facing;
};

/* Cuts the line along `axis` through `at`, from end to end of the region, into pieces; returns how
 * many (>= 1). One more piece, of no length, tells of a surface right at the end. `crossing`,
 * `piece`: room for HS_CROSSINGS_MOST per selected solid, and two more. */
int hs_solids_line(const struct hs_solids *solids, const struct hs_node_box *region,
                   const struct hs_selection *selection, int axis, const double at[HS_AXES],
                   struct hs_crossing *crossing, struct hs_piece *piece);

#endif
