/*
 * Builds the network of conduction (core/network.h) from a body of many materials and its walls.
 *
 * Cells lie between neighbouring nodes; an octant is half a cell along each axis, so a control
 * volume is the octants around its node. The rules:
 *
 * - An edge's conductance is summed over its cross-section, which consists of a quarter in each of
 *   the cells around the edge: area / (integral of dx/k along the edge + contacts crossed). A
 *   contact right at a node belongs to the edge above it. Lines that a contact separates from the
 *   edge cross the edge's contacts instead of their own.
 * - Capacity, sink and source are summed over the control volume's octants, along the lines that
 *   are nearest to the surface's normal.
 * - Faces of boxes, half-spaces along an axis and ends of cylinders cut quarters and octants
 *   exactly, wherever they lie. Where another surface (sphere, cylinder, oblique half-space)
 *   crosses an octant, 4 x 4 lines are integrated, on each of which the crossings are exact. A
 *   quarter is integrated so if the surface is parallel to the edge; else it conducts like the line
 *   from node to node. A contact at such a surface is divided by the cosine between the edge and
 *   the normal, along which heat crosses it; it holds for all lines of the edge.
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
    bool wrap[HS_AXES]; /* periodic axes; they have as many cells as nodes */
    /* Conductivities and capacities > 0. Solids are ignored if there are labels. */
    const struct hs_body *body;
    int wall_count;
    const struct hs_wall *wall; /* of one face, later over earlier; insulated elsewhere */
    const char *place;          /* of the body, for messages: "case.cfg:12: body" */
    int threads;                /* at least 1; no bit depends on it */
    /* How many ranks make the network together, and which of them this is; 0: this one makes all of
     * it. All ranks call what follows, with the same spec except for the numbers of files. */
    int ranks, rank;
};

/*
 * Rows are sorted, so they do not depend on threads. Where walls of several faces meet at a node,
 * prescribed overrides held, and held overrides the rest; of several prescribed values the last
 * face's is taken. HS_BAD_INPUT if a point has no material, numbers overflow, or more than
 * HS_FORCING_TERMS time functions act on one node.
 * With several ranks, each gets the nodes of its portion and a layer before and after them;
 * `inflow` and `given` are on rank 0 only. hs_network_join then collects all nodes on rank 0 and
 * empties the networks of the others.
 */
enum hs_status hs_network_make(const struct hs_network_spec *spec, struct hs_network *out,
                               struct hs_error *err);
enum hs_status hs_network_join(const struct hs_network_spec *spec, struct hs_network *network,
                               struct hs_error *err);

/* J/K, of all nodes; the same bits with any number of threads. */
double hs_network_capacity(const struct hs_network *network, int threads);

enum { HS_NETWORK_SHORT_CYCLE = 9 }; /* longer odd cycles are within 0.98 of even ones */

/*
 * Largest step [s] for which forward Euler is proven to be stable: 2/lambda, with lambda an upper
 * bound of the largest eigenvalue of C^-1 (L + g) at the nodes that are not held. No step beyond
 * `most` is stable. Both are infinite if all nodes are held.
 *
 * For any positive v, no eigenvalue of a matrix A exceeds the largest |A|v / v (Collatz 1942,
 * Wielandt 1950). Where chequerboard signs turn |A| into A that bound is sharp, and power iteration
 * brings v to it. The Rayleigh quotient of v with those signs is a lower bound, as is that of a
 * block around the largest entry of v (block.h). Iterations end when the bounds are close and the
 * upper one no longer falls.
 * A periodic axis with an odd number of nodes has no such signs: there each short line is bounded
 * by its own largest eigenvalue, if the portion has all of it.
 */
enum hs_status hs_network_limit(const struct hs_network *network, const struct hs_portion *portion,
                                int threads, double *step, double *most, struct hs_error *err);

#endif
