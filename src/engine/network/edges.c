#include "engine/network/edges.h"

/* m^2 K/W between two substances. */
static double contact_between(const struct hs_body *body, int one, int other)
{
    for (int n = 0; n < body->contact_count && one != other; n++) {
        const int *between = body->contact[n].between;
        if ((between[0] == one && between[1] == other) ||
            (between[0] == other && between[1] == one))
            return body->contact[n].resistance;
    }
    return 0.0;
}

/* For a line that meets the surface at an angle of this cosine. */
static double contact_at(const struct hs_body *body, int one, int other, double facing)
{
    const double resistance = contact_between(body, one, other);
    return resistance > 0.0 ? resistance / facing : 0.0;
}

/* What each m^2 of a line resists with, m^2 K/W; `before` is the substance before its pieces. */
static double resist(const struct hs_body *body, int axis, int before, int pieces,
                     const struct hs_piece *piece, bool *empty)
{
    double sum = 0.0;
    for (int n = 0; n < pieces; n++) {
        if (piece[n].substance == HS_NOWHERE) {
            *empty = true;
            return 1.0;
        }
        if (before != HS_NOWHERE)
            sum += contact_at(body, before, piece[n].substance, piece[n].facing);
        sum +=
            (piece[n].to - piece[n].from) / body->substance[piece[n].substance].conductivity[axis];
        before = piece[n].substance;
    }
    return sum;
}

/* Where an octant has a quarter of an edge's cross-section: all of its cell along the axis. */
static struct hs_node_box along_cell(const struct hs_octant *octant, int axis)
{
    struct hs_node_box region = octant->region;
    region.lo[axis] = 0.0;
    region.hi[axis] = 2.0 * octant->half[axis];
    return region;
}

static double area_of(const struct hs_octant *octant, int axis)
{
    return octant->half[hs_axis_across(axis, 0)] * octant->half[hs_axis_across(axis, 1)];
}

/* Of that only what touches the node: what ends before it has no contact there. */
static struct hs_node_box end_of_cell(const struct hs_octant *octant, int axis)
{
    struct hs_node_box region = along_cell(octant, axis);
    region.lo[axis] = (1.0 - 1e-6) * region.hi[axis];
    return region;
}

/* The substance right before the end of a line through the cell under the node. */
static int substance_under(struct hs_octants *octants, const struct hs_node_box *region, int axis,
                           const double at[HS_AXES])
{
    const int count = hs_solids_line(&octants->cells->solids, region, &octants->below, axis, at,
                                     octants->crossing, octants->piece);
    return octants->piece[count - 1].substance;
}

/* Of a quarter that surfaces cross, or where they cross the cell under it. */
static double trace(struct hs_octants *octants, const struct hs_octant *octant,
                    const struct hs_octant *under, int axis, bool *empty)
{
    const struct hs_node_box region = along_cell(octant, axis);
    const struct hs_node_box below = end_of_cell(under ? under : octant, axis);
    hs_octant_select(octants, octant, &region, &octants->here);
    if (under)
        hs_octant_select(octants, under, &below, &octants->below);
    struct hs_lines lines = hs_octants_lines(octants, &region, under ? &below : NULL, axis);
    double at[HS_AXES] = {0.0, 0.0, 0.0}, area, sum = 0.0, first = -1.0;
    bool same = true;
    while (hs_lines_next(&lines, at, &area)) {
        const int before = under ? substance_under(octants, &below, axis, at) : HS_NOWHERE;
        const int count = hs_solids_line(&octants->cells->solids, &region, &octants->here, axis, at,
                                         octants->crossing, octants->piece);
        const double each = resist(octants->spec->body, axis, before, count, octants->piece, empty);
        first = first < 0.0 ? each : first;
        same = same && each == first;
        sum += area / each;
    }
    return same ? area_of(octant, axis) / first : sum; /* the bits of one that nothing crosses */
}

/* Of the edge's quarter in the cell of an octant above the node. */
static double quarter(struct hs_octants *octants, int number, int axis, bool *empty)
{
    const struct hs_body *body = octants->spec->body;
    const struct hs_octant *octant = &octants->octant[number];
    const struct hs_octant *under = &octants->octant[number & ~(1 << axis)];
    if (!octant->there)
        return 0.0;
    if (body->contact_count == 0 || !under->there)
        under = NULL;
    if (octant->label == HS_CELL_MIXED || (under && under->label == HS_CELL_MIXED))
        return trace(octants, octant, under, axis, empty);
    if (octant->label == HS_CELL_EMPTY) {
        *empty = true;
        return 0.0;
    }
    double each = 2.0 * octant->half[axis] / body->substance[octant->label].conductivity[axis];
    if (under)
        each += contact_between(body, under->label, octant->label);
    return area_of(octant, axis) / each;
}

/* Between nodes that have one conductivity each. */
static double halves(const struct hs_octants *octants, int axis, const int64_t next[HS_AXES],
                     double area)
{
    const struct hs_body *body = octants->spec->body;
    const double half = octants->axis[axis].half[octants->node[axis]];
    const int64_t one = hs_grid_index(octants->spec->grid, octants->node);
    const int64_t other = hs_grid_index(octants->spec->grid, next);
    if (body->conductivity)
        return area / (half / body->conductivity[one] + half / body->conductivity[other]);
    const int label = body->label[one], beyond = body->label[other];
    return area / (half / body->substance[label].conductivity[axis] +
                   half / body->substance[beyond].conductivity[axis] +
                   contact_between(body, label, beyond));
}

double hs_edge(struct hs_octants *octants, int axis, bool *empty)
{
    int64_t next[HS_AXES] = {octants->node[0], octants->node[1], octants->node[2]};
    next[axis] = hs_axis_next(&octants->axis[axis], octants->node[axis]);
    if (!octants->axis[axis].there || next[axis] < 0)
        return 0.0;
    const bool by_nodes =
        octants->spec->body->conductivity || octants->cells->place == HS_LABEL_NODES;
    double part[4];
    for (int n = 0; n < 4; n++) {
        const int number =
            1 << axis | (n & 1) << hs_axis_across(axis, 0) | (n >> 1) << hs_axis_across(axis, 1);
        const struct hs_octant *octant = &octants->octant[number];
        if (!by_nodes)
            part[n] = quarter(octants, number, axis, empty);
        else
            part[n] = octant->there ? area_of(octant, axis) : 0.0;
    }
    return by_nodes ? halves(octants, axis, next, hs_sum_of_4(part)) : hs_sum_of_4(part);
}
