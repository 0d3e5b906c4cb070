/*
 * From a body of many materials and its walls to the network of conduction (core/network.h).
 *
 * Cells lie between neighbouring nodes; an octant is half a cell along each axis, so a control
 * volume is the octants around its node. Where things are and what counts for what:
 *
 * - An edge's conductance is summed over its cross-section, which consists of a quarter in each of
 *   the cells around the edge: area / (integral of dx/k along the edge + contacts crossed). A
 *   contact right at a node belongs to the edge above it.
 * - Capacity, sink and source are summed over the control volume's octants, along lines that are
 *   nearest to the surface's normal.
 * - Faces of boxes, half-spaces along an axis and ends of cylinders cut quarters and octants
 *   exactly, wherever they lie. Where another surface (sphere, cylinder, oblique half-space)
 *   crosses one, it is taken along 4 x 4 lines, on each of which the crossings are exact. A contact
 *   at such a surface counts for each line by the cosine between line and normal, as heat crosses
 *   the surface along the normal.
 * - Labels of nodes, and measured numbers, fill the whole control volume; edges between them
 *   consist of two halves in series.
 * - A solid has no extent along axes that the grid lacks: a sphere is a disc in 2D.
 */
#ifndef HS_ENGINE_NETWORK_NETWORK_H
#define HS_ENGINE_NETWORK_NETWORK_H

#include "core/body.h"
#include "core/network.h"
#include "core/status.h"
#include "core/wall.h"
#include "engine/network/portion.h"

/* All that the network needs of the problem. */
struct hs_network_spec {
    const struct hs_grid *grid;
    /* m, increasing, of the nodes [points] along an axis that is stretched; on a periodic one of
     * points + 1, the last where the first node comes again. NULL: uniform. */
    const double *coordinate[HS_AXES];
    bool wrap[HS_AXES]; /* periodic axes. Labels of cells are as many as nodes there. */
    /* Conductivities and capacities > 0. Solids are not looked at where there are labels. */
    const struct hs_body *body;
    int wall_count;
    const struct hs_wall *wall; /* of one face, later over earlier; elsewhere it is insulated */
    const char *place;          /* of the body, for messages: "case.cfg:12: body" */
    int threads;                /* at least 1; no bit depends on it */
    /* Ranks that make it together, and which of them this is; 0: this one makes all of it. All of
     * them call what follows, with the same spec but for the numbers of files. */
    int ranks, rank;
};

/* The rows that this rank makes. */
struct hs_portion hs_network_portion(const struct hs_network_spec *spec);

/*
 * Rows are sorted, so they do not depend on threads. Where walls of several faces meet in a node,
 * prescribed goes over held, held over the rest, and of several values that of the last face has
 * it. HS_BAD_INPUT where a point has no material, numbers overflow, or more than HS_FORCING_TERMS
 * time functions act on one node.
 * Of several ranks each has the nodes of its portion, and a layer before and after them; what moves
 * is the first one's. hs_network_join then gives the first one all of them, and leaves the others'
 * empty.
 */
enum hs_status hs_network_make(const struct hs_network_spec *spec, struct hs_network *out,
                               struct hs_error *err);
enum hs_status hs_network_join(const struct hs_network_spec *spec, struct hs_network *network,
                               struct hs_error *err);

/* J/K, of all nodes; the same bits with any number of threads. */
double hs_network_capacity(const struct hs_network *network, int threads);

enum { HS_NETWORK_SHORT_CYCLE = 9 }; /* longer odd ones are within 0.98 of even ones */

/*
 * Largest step [s] for which forward Euler is proven to be stable: 2/lambda, lambda a bound of the
 * largest eigenvalue of C^-1 (L + g) at the nodes that are not held. No step beyond `most` is
 * stable. Both are infinite where no node may change.
 *
 * For any positive v no eigenvalue of a matrix A is beyond the largest |A|v / v (Collatz 1942,
 * Wielandt 1950). Where the signs of a chequerboard make A of |A| that is sharp, and power
 * iteration brings v to it. The Rayleigh quotient of v with those signs bounds it from below, as
 * does that of a block around where v is largest (block.h). Iterations end where the two are near
 * and the upper one falls no longer.
 * A periodic axis of an odd number of nodes has no such signs: there each short line is bounded by
 * its own largest eigenvalue, if the portion has all of it.
 */
enum hs_status hs_network_limit(const struct hs_network *network, const struct hs_portion *portion,
                                int threads, double *step, double *most, struct hs_error *err);

#endif
