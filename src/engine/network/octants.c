#include "engine/network/octants.h"

#include "core/memory.h"

#include <stdlib.h>

enum { LINES = 4 }; /* along each side of a region that a curved surface crosses */

void hs_octants_init(struct hs_octants *octants, const struct hs_network_spec *spec,
                     const struct hs_axis *axis, const struct hs_cells *cells)
{
    *octants = (struct hs_octants){.spec = spec, .axis = axis, .cells = cells};
    const size_t solids = (size_t)cells->solids.count;
    octants->here.part = hs_new((5 * solids + 1) * sizeof(int));
    for (size_t n = 0; n < 4; n++)
        octants->around[n].part = octants->here.part + (n + 1) * solids;
    octants->place[0] = hs_new(2 * (2 * solids + 2) * sizeof *octants->place[0]);
    octants->place[1] = octants->place[0] + 2 * solids + 2;
    octants->crossing = hs_new((HS_CROSSINGS_MOST * solids + 2) * sizeof *octants->crossing);
    octants->plain = hs_new((size_t)axis[HS_X].nodes * sizeof *octants->plain);
    octants->piece = hs_new((HS_CROSSINGS_MOST * solids + 2) * sizeof *octants->piece);
    octants->lines = hs_new(((size_t)spec->body->contact_count + 1) * sizeof *octants->lines);
}

void hs_octants_release(struct hs_octants *octants)
{
    free(octants->here.part);
    free(octants->place[0]);
    free(octants->crossing);
    free(octants->piece);
    free(octants->lines);
    free(octants->plain);
}

/* Lengths of 0 beyond walls make areas and volumes there 0. */
static void find_beside(struct hs_octants *octants, int a)
{
    const struct hs_axis *axis = &octants->axis[a];
    for (int side = 0; side < 2; side++) {
        const int64_t cell = hs_axis_cell(axis, octants->node[a], side);
        octants->beside[a][side] = (struct hs_half_cell){cell, cell >= 0 ? axis->half[cell] : 0.0};
    }
}

/* What the octants at one side along y and z are all along a row. */
static void begin_side(struct hs_octants *octants, int n)
{
    const struct hs_cells *cells = octants->cells;
    const struct hs_half_cell *y = &octants->beside[HS_Y][n & 1];
    const struct hs_half_cell *z = &octants->beside[HS_Z][n >> 1];
    octants->there[n] = y->cell >= 0 && z->cell >= 0;
    if (cells->place == HS_LABEL_NODES)
        octants->label[n] = hs_cells_row(cells, octants->node[HS_Y], octants->node[HS_Z]);
    else if (cells->place == HS_LABEL_CELLS)
        octants->label[n] = octants->there[n] ? hs_cells_row(cells, y->cell, z->cell) : NULL;
    if (!cells->marked || !octants->there[n])
        return;
    const int64_t lo[HS_AXES] = {0, y->cell, z->cell};
    const int64_t hi[HS_AXES] = {octants->axis[HS_X].cells, y->cell + 1, z->cell + 1};
    struct hs_node_box region = hs_cells_box(octants->axis, lo, hi);
    for (int a = 0; a < HS_AXES; a++) {
        region.lo[a] -= 2.0 * hs_octants_beside(octants, a);
        region.hi[a] += 2.0 * hs_octants_beside(octants, a);
    }
    hs_solids_narrow(&cells->solids, &region, &cells->solids.all, &octants->around[n]);
}

/* Labels of nodes, and measured conductivities, make edges of two halves (network.h). */
static void find_plain(struct hs_octants *octants)
{
    const struct hs_body *body = octants->spec->body;
    const int64_t nx = octants->axis[HS_X].nodes;
    const bool can =
        octants->cells->place == HS_LABEL_CELLS && !hs_is_measured(&body->conductivity);
    uint16_t *plain = octants->plain;
    for (int64_t i = 0; i < nx; i++)
        plain[i] = HS_CELL_MIXED;
    for (int n = 0, seen = 0; n < 4 && can; n++) {
        const uint16_t *label = octants->label[n];
        if (!label)
            continue;
        for (int64_t i = 1; i < nx - 1; i++)
            plain[i] = label[i - 1] == label[i] && (!seen || label[i] == plain[i]) &&
                               label[i] < body->substance_count
                           ? label[i]
                           : HS_CELL_MIXED;
        seen = 1;
    }
}

void hs_octants_begin_row(struct hs_octants *octants, int64_t j, int64_t k)
{
    octants->node[HS_Y] = j;
    octants->node[HS_Z] = k;
    find_beside(octants, HS_Y);
    find_beside(octants, HS_Z);
    for (int n = 0; n < 4; n++)
        begin_side(octants, n);
    find_plain(octants);
}

bool hs_octants_find(struct hs_octants *octants, int64_t i)
{
    const enum hs_label_place place = octants->cells->place;
    const bool given = place != HS_LABEL_NONE && !octants->cells->marked;
    bool named = true;
    octants->node[HS_X] = i;
    octants->only = octants->plain[i] == HS_CELL_MIXED ? HS_NOWHERE : octants->plain[i];
    find_beside(octants, HS_X);
    for (int o = 0; o < 8 && octants->only == HS_NOWHERE; o++) {
        const struct hs_half_cell *x = &octants->beside[HS_X][o & 1];
        struct hs_octant *octant = &octants->octant[o];
        octant->there = x->cell >= 0 && octants->there[o >> 1];
        if (!octant->there)
            continue;
        if (place != HS_LABEL_NONE)
            octant->label = octants->label[o >> 1][place == HS_LABEL_CELLS ? x->cell : i];
        named = named && (!given || octant->label < octants->spec->body->substance_count);
    }
    return named;
}

struct hs_node_box hs_octant_region(const struct hs_octants *octants, int octant)
{
    struct hs_node_box region;
    for (int a = 0; a < HS_AXES; a++) {
        const int side = octant >> a & 1;
        const struct hs_half_cell half = octants->beside[a][side];
        region.origin[a] = octants->axis[a].position[half.cell];
        region.lo[a] = side ? 0.0 : half.length;
        region.hi[a] = side ? half.length : 2.0 * half.length;
    }
    return region;
}

void hs_octant_select(const struct hs_octants *octants, int octant,
                      const struct hs_node_box *region, struct hs_selection *out)
{
    const int label = octants->octant[octant].label;
    if (label == HS_CELL_MIXED) {
        hs_solids_narrow(&octants->cells->solids, region, &octants->around[octant >> 1], out);
        return;
    }
    *out = (struct hs_selection){.part = out->part};
    out->base = label == HS_CELL_EMPTY ? HS_NOWHERE : label;
}

struct hs_lines hs_octants_lines(struct hs_octants *octants, const struct hs_node_box *region,
                                 int axis)
{
    const struct hs_solids *solids = &octants->cells->solids;
    struct hs_lines lines = {.next = 0};
    for (int d = 0; d < 2; d++) {
        const int a = lines.across[d] = hs_axis_across(axis, d);
        double *place = octants->place[d];
        int count =
            octants->axis[a].there ? hs_solids_planes(solids, region, &octants->here, a, place) : 0;
        count = hs_axis_places(&octants->axis[a], region->lo[a], region->hi[a], count, place);
        lines.place[d] = place;
        lines.intervals[d] = count - 1;
        lines.in_each[d] = octants->here.curved && octants->axis[a].there ? LINES : 1;
    }
    return lines;
}

bool hs_lines_next(struct hs_lines *lines, double at[HS_AXES], double *area)
{
    const int row = lines->intervals[0] * lines->in_each[0];
    const int number[2] = {lines->next % row, lines->next / row};
    if (number[1] == lines->intervals[1] * lines->in_each[1])
        return false;
    lines->next++;
    *area = 1.0;
    for (int d = 0; d < 2; d++) {
        const double *ends = lines->place[d] + number[d] / lines->in_each[d];
        const double width = (ends[1] - ends[0]) / lines->in_each[d];
        at[lines->across[d]] = ends[0] + (number[d] % lines->in_each[d] + 0.5) * width;
        *area *= width;
    }
    return true;
}
