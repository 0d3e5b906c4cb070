/* Conductance of the edge above a node. */
#include "engine/network/octants.h"

/* m^2 K/W of a line from one substance to another that meets the surface at an angle of this
 * cosine. */
static double contact_at(struct hs_octants *octants, int one, int other, double facing)
{
    const struct hs_body *body = octants->spec->body;
    const struct hs_contact *contact = hs_body_contact(body, one, other);
    if (!contact)
        return 0.0;
    octants->lines[contact - body->contact] += 1.0;
    return contact->resistance > 0.0 ? contact->resistance / facing : 0.0;
}

/* Whether a contact lies between two substances. */
static bool are_apart(const struct hs_body *body, int one, int other)
{
    const struct hs_contact *contact = hs_body_contact(body, one, other);
    return contact && contact->resistance > 0.0;
}

/* The region of an octant's quarter of an edge's cross-section: the whole cell along the axis. */
static struct hs_node_box along_cell(const struct hs_octants *octants, int octant, int axis)
{
    struct hs_node_box region = hs_octant_region(octants, octant);
    region.lo[axis] = 0.0;
    region.hi[axis] = 2.0 * octants->beside[axis][octant >> axis & 1].length;
    return region;
}

/* The octant in whose cell the n-th quarter of the edge above the node lies. */
static int octant_of(int axis, int n)
{
    return 1 << axis | (n & 1) << hs_axis_across(axis, 0) | (n >> 1) << hs_axis_across(axis, 1);
}

/* That of the first quarter that is there. */
static int first_octant(const struct hs_octants *octants, int axis)
{
    int n = 0;
    while (!octants->octant[octant_of(axis, n)].there)
        n++;
    return octant_of(axis, n);
}

/* Cuts a line by the solids selected in `here` (hs_solids_line). */
static int cut(struct hs_octants *octants, const struct hs_node_box *region, int axis,
               const double at[HS_AXES])
{
    return hs_solids_line(&octants->cells->solids, region, &octants->here, axis, at,
                          octants->crossing, octants->piece);
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* The octant's cell, with nodes and edges taken a little lower (hs_octants_beside), or a little
 * higher where nothing lies below them; the edge is at `at`. */
static struct hs_node_box beside_cell(const struct hs_octants *octants, int octant, int axis,
                                      double at[HS_AXES])
{
    struct hs_node_box region = along_cell(octants, octant, axis);
    for (int a = 0; a < HS_AXES; a++) {
        const bool above = a != axis && region.lo[a] == 0.0;
        const double beside = hs_octants_beside(octants, a);
        region.origin[a] += above ? beside : -beside;
        at[a] = above ? 0.0 : region.hi[a];
    }
    return region;
}

/* The substance at `at`. Selects the solids of such a cell, those too whose surfaces only touch it,
 * but for rounding. */
static int select_beside(struct hs_octants *octants, int octant, const struct hs_node_box *region,
                         const double at[HS_AXES])
{
    const struct hs_solids *solids = &octants->cells->solids;
    struct hs_node_box around = *region;
    for (int a = 0; a < HS_AXES; a++) {
        around.lo[a] -= hs_octants_beside(octants, a);
        around.hi[a] += hs_octants_beside(octants, a);
    }
    hs_solids_narrow(solids, &around, &octants->around[octant >> 1], &octants->here);
    return hs_solids_at(solids, region, &octants->here, at);
}

int hs_octants_side(struct hs_octants *octants)
{
    int octant = 0;
    while (!octants->octant[octant].there)
        octant++;
    if (octants->octant[octant].label != HS_CELL_MIXED)
        return octants->octant[octant].label;
    struct hs_node_box region = hs_octant_region(octants, octant);
    double at[HS_AXES];
    for (int a = 0; a < HS_AXES; a++) {
        const bool above = octant >> a & 1;
        const double beside = hs_octants_beside(octants, a);
        region.origin[a] += above ? beside : -beside;
        at[a] = above ? 0.0 : region.hi[a];
    }
    return select_beside(octants, octant, &region, at);
}

/* What a line from node to node meets: the substances just below the node and at the next one, and
 * contacts, m^2 K/W. */
struct met {
    int under, end;
    double resistance;
};

/* The region of a line and its place `at`: that of the edge, or of its quarter's line at `across`.
 * Both are taken a little lower along the axis, so that a contact right at a node is above it. */
static struct hs_node_box line_cell(const struct hs_octants *octants, int octant, int axis,
                                    const double *across, double at[HS_AXES])
{
    if (!across)
        return beside_cell(octants, octant, axis, at);
    struct hs_node_box region = along_cell(octants, octant, axis);
    region.origin[axis] -= hs_octants_beside(octants, axis);
    for (int a = 0; a < HS_AXES; a++)
        at[a] = a == axis ? region.hi[a] : across[a];
    return region;
}

static struct met trace_contacts(struct hs_octants *octants, int octant, int axis,
                                 const double *across)
{
    const int under = octant & ~(1 << axis);
    const bool has_under = octants->octant[under].there;
    double at[HS_AXES];
    struct met met = {.under = HS_NOWHERE};
    struct hs_node_box region;
    if (has_under) {
        region = line_cell(octants, under, axis, across, at);
        met.under = select_beside(octants, under, &region, at);
    }
    region = line_cell(octants, octant, axis, across, at);
    met.end = select_beside(octants, octant, &region, at);
    if (!has_under) { /* the same sum for the node's place as along the other axes */
        struct hs_node_box above = region;
        above.origin[axis] =
            hs_octant_region(octants, octant).origin[axis] + hs_octants_beside(octants, axis);
        at[axis] = 0.0;
        met.under = hs_solids_at(&octants->cells->solids, &above, &octants->here, at);
    }
    if (octants->node[axis] == 0) /* nothing is below, or the other end of a periodic axis */
        region.lo[axis] = 2.0 * hs_octants_beside(octants, axis);
    const int count = cut(octants, &region, axis, at);
    int before = met.under;
    for (int n = 0; n < count; before = octants->piece[n++].substance)
        met.resistance +=
            contact_at(octants, before, octants->piece[n].substance, octants->piece[n].facing);
    met.resistance += contact_at(octants, before, met.end, octants->piece[count].facing);
    return met;
}

/* Whether surfaces cross the octant's cell, or the one below it along the axis. */
static bool is_mixed(const struct hs_octants *octants, int octant, int axis)
{
    const struct hs_octant *under = &octants->octant[octant & ~(1 << axis)];
    return octants->octant[octant].label == HS_CELL_MIXED ||
           (under->there && under->label == HS_CELL_MIXED);
}

/* What the line of the octant's quarter at `across` meets; NULL: the edge. */
static struct met contacts_of(struct hs_octants *octants, int octant, int axis,
                              const double *across)
{
    const struct hs_octant *under = &octants->octant[octant & ~(1 << axis)];
    const int label = octants->octant[octant].label, below = under->there ? under->label : label;
    if (is_mixed(octants, octant, axis))
        return trace_contacts(octants, octant, axis, across);
    return (struct met){below, label, contact_at(octants, below, label, 1.0)};
}

/* The contacts of a quarter's line, m^2 K/W. A node, with all of its control volume, is on one side
 * of a surface. So where a contact lies between the line and the edge, those of the edge hold for
 * the line, too, or heat would bypass them along it. */
static double contacts_along(struct hs_octants *octants, int octant, int axis, const double *across,
                             const struct met *edge)
{
    const struct hs_body *body = octants->spec->body;
    if (body->contact_count == 0)
        return 0.0;
    const struct met line = contacts_of(octants, octant, axis, across);
    const bool apart =
        are_apart(body, line.under, edge->under) || are_apart(body, line.end, edge->end);
    return apart ? edge->resistance : line.resistance;
}

/* ---- conduction ------------------------------------------------------------------------------ */

/* Resistance of a line, m^2 K/W, by the solids selected in `here`. */
static double resist(struct hs_octants *octants, const struct hs_node_box *region, int axis,
                     const double at[HS_AXES], bool *empty)
{
    const struct hs_substance *substance = octants->spec->body->substance;
    const struct hs_piece *piece = octants->piece;
    const int count = cut(octants, region, axis, at);
    double sum = 0.0;
    for (int n = 0; n < count; n++) {
        if (piece[n].substance == HS_NOWHERE) {
            *empty = true;
            return 1.0;
        }
        sum += (piece[n].to - piece[n].from) / substance[piece[n].substance].conductivity[axis];
    }
    return sum;
}

/* Resistance of the line from node to node without contacts, m^2 K/W. Where it lies in a plane
 * surface, the quarter's side of that counts. */
static double along_edge(struct hs_octants *octants, int octant, int axis, bool *empty)
{
    double at[HS_AXES];
    struct hs_node_box region = beside_cell(octants, octant, axis, at);
    region.origin[axis] = hs_octant_region(octants, octant).origin[axis];
    hs_octant_select(octants, octant, &region, &octants->here);
    return resist(octants, &region, axis, at, empty);
}

/* Whether a round or slanting surface in a quarter is not parallel to the edge. A surface that only
 * touches the quarter does not count. */
static bool is_bent(struct hs_octants *octants, int octant, int axis)
{
    struct hs_node_box within = along_cell(octants, octant, axis);
    for (int a = 0; a < HS_AXES; a++) {
        within.lo[a] += octants->axis[a].tolerance;
        within.hi[a] -= octants->axis[a].tolerance;
    }
    hs_octant_select(octants, octant, &within, &octants->here);
    return octants->here.bends[axis];
}

/* Selects the solids that cut a quarter into lines; with contacts, those that end right below it,
 * too. */
static void select_lines(struct hs_octants *octants, int octant, int axis,
                         const struct hs_node_box *region)
{
    struct hs_node_box reach = *region;
    if (octants->spec->body->contact_count == 0) {
        hs_octant_select(octants, octant, region, &octants->here);
        return;
    }
    reach.lo[axis] -= 2.0 * hs_octants_beside(octants, axis);
    hs_solids_narrow(&octants->cells->solids, &reach, &octants->around[octant >> 1],
                     &octants->here);
}

/*
 * Conductance of a quarter of an edge that surfaces cross.
 *
 * If a round or slanting surface is not parallel to the edge, all of the quarter conducts like the
 * line from node to node. Separate lines would let heat bypass a thin layer: they miss it in this
 * quarter and meet it in the next one. The edges that cross a layer along all axes together have
 * the resistance of its area, since each has that of its thickness over the cosine to its normal.
 */
static double trace(struct hs_octants *octants, int octant, int axis, double quarter,
                    const struct met *edge, bool *empty)
{
    const struct hs_node_box region = along_cell(octants, octant, axis);
    if (is_bent(octants, octant, axis))
        return quarter / (along_edge(octants, octant, axis, empty) + edge->resistance);
    select_lines(octants, octant, axis, &region);
    struct hs_lines lines = hs_octants_lines(octants, &region, axis);
    double at[HS_AXES] = {0.0, 0.0, 0.0}, area, sum = 0.0, first = -1.0;
    bool same = true;
    while (hs_lines_next(&lines, at, &area)) {
        const double contacts = contacts_along(octants, octant, axis, at, edge);
        hs_octant_select(octants, octant, &region, &octants->here);
        const double each = resist(octants, &region, axis, at, empty) + contacts;
        first = first < 0.0 ? each : first;
        same = same && each == first;
        sum += area / each;
    }
    return same ? quarter / first : sum; /* same bits as without a crossing */
}

/* Resistance from node to node through a cell of one substance, m^2 K/W. */
static double along_plain(const struct hs_octants *octants, int axis, int substance)
{
    return 2.0 * octants->beside[axis][1].length /
           octants->spec->body->substance[substance].conductivity[axis];
}

/* m^2: the quarters of the edge's cross-section; 0 beyond walls. */
static void find_areas(const struct hs_octants *octants, int axis, double area[4])
{
    const struct hs_half_cell *b = octants->beside[hs_axis_across(axis, 0)];
    const struct hs_half_cell *c = octants->beside[hs_axis_across(axis, 1)];
    for (int n = 0; n < 4; n++)
        area[n] = b[n & 1].length * c[n >> 1].length;
}

/* Conductance of an edge through cells that are all of one substance: the bits of its quarters. */
static double plain_edge(const struct hs_octants *octants, int axis)
{
    const double resistance = along_plain(octants, axis, octants->only);
    double part[4];
    find_areas(octants, axis, part);
    for (int n = 0; n < 4; n++)
        part[n] /= resistance;
    return hs_sum_of_4(part);
}

/* Conductance of an area that is the edge's quarter in the cell of an octant above the node. */
static double through(struct hs_octants *octants, int octant, int axis, double area,
                      const struct met *edge, bool *empty)
{
    const int label = octants->octant[octant].label;
    const bool has_contacts = octants->spec->body->contact_count > 0;
    if (label == HS_CELL_MIXED || (has_contacts && is_mixed(octants, octant, axis)))
        return trace(octants, octant, axis, area, edge, empty);
    if (label == HS_CELL_EMPTY) {
        *empty = true;
        return 0.0;
    }
    return area /
           (along_plain(octants, axis, label) + contacts_along(octants, octant, axis, NULL, edge));
}

/* Conductance between nodes that have one conductivity each. */
static double halves(struct hs_octants *octants, int axis, const int64_t next[HS_AXES])
{
    const struct hs_body *body = octants->spec->body;
    const double half = octants->beside[axis][1].length;
    const int64_t *node = octants->node;
    double part[4];
    find_areas(octants, axis, part);
    const double area = hs_sum_of_4(part);
    if (hs_is_measured(&body->conductivity))
        return area / (half / *hs_cells_measured(octants->cells, HS_CONDUCTIVITY, node) +
                       half / *hs_cells_measured(octants->cells, HS_CONDUCTIVITY, next));
    const int label = hs_cells_row(octants->cells, node[HS_Y], node[HS_Z])[node[HS_X]];
    const int beyond = hs_cells_row(octants->cells, next[HS_Y], next[HS_Z])[next[HS_X]];
    return area / (half / body->substance[label].conductivity[axis] +
                   half / body->substance[beyond].conductivity[axis] +
                   contact_at(octants, label, beyond, 1.0));
}

/* Conductance of an edge through cells of several substances, or that surfaces cross. */
static double quarters(struct hs_octants *octants, int axis, bool *empty)
{
    struct met edge = {.resistance = 0.0};
    if (octants->spec->body->contact_count > 0)
        edge = contacts_of(octants, first_octant(octants, axis), axis, NULL);
    double part[4];
    find_areas(octants, axis, part);
    for (int n = 0; n < 4; n++) {
        const int octant = octant_of(axis, n);
        if (octants->octant[octant].there) /* else its area is 0 */
            part[n] = through(octants, octant, axis, part[n], &edge, empty);
    }
    return hs_sum_of_4(part);
}

double hs_octants_edge(struct hs_octants *octants, int axis, bool *empty)
{
    int64_t next[HS_AXES] = {octants->node[0], octants->node[1], octants->node[2]};
    next[axis] = hs_axis_next(&octants->axis[axis], octants->node[axis]);
    if (!octants->axis[axis].there || next[axis] < 0)
        return 0.0;
    if (octants->only != HS_NOWHERE)
        return plain_edge(octants, axis);
    if (hs_is_measured(&octants->spec->body->conductivity) ||
        octants->cells->place == HS_LABEL_NODES)
        return halves(octants, axis, next);
    return quarters(octants, axis, empty);
}
