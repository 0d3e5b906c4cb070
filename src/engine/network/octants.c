#include "engine/network/octants.h"

#include "core/memory.h"

#include <stdlib.h>

enum { LINES = 4 }; /* along each side of a region that a curved surface crosses */

void hs_octants_init(struct hs_octants *octants, const struct hs_network_spec *spec,
                     const struct hs_axis *axis, const struct hs_cells *cells)
{
    *octants = (struct hs_octants){.spec = spec, .axis = axis, .cells = cells};
    const size_t solids = (size_t)cells->solids.count;
    struct hs_selection *selection[] = {&octants->around[0], &octants->around[1],
                                        &octants->around[2], &octants->around[3],
                                        &octants->all,       &octants->here};
    enum { SELECTIONS = sizeof selection / sizeof selection[0] };
    octants->parts = hs_new((SELECTIONS * solids + 1) * sizeof *octants->parts);
    for (size_t n = 0; n < SELECTIONS; n++)
        selection[n]->part = octants->parts + n * solids;
    for (int d = 0; d < 2; d++)
        octants->place[d] = hs_new((2 * solids + 2) * sizeof *octants->place[d]);
    octants->crossing = hs_new((HS_CROSSINGS_MOST * solids + 2) * sizeof *octants->crossing);
    octants->piece = hs_new((HS_CROSSINGS_MOST * solids + 2) * sizeof *octants->piece);
}

void hs_octants_release(struct hs_octants *octants)
{
    free(octants->parts);
    free(octants->place[0]);
    free(octants->place[1]);
    free(octants->crossing);
    free(octants->piece);
}

void hs_octants_begin_row(struct hs_octants *octants, int64_t j, int64_t k)
{
    const struct hs_axis *axis = octants->axis;
    const struct hs_cells *cells = octants->cells;
    octants->node[HS_Y] = j;
    octants->node[HS_Z] = k;
    if (cells->marked)
        hs_solids_all(&cells->solids, &octants->all);
    for (int n = 0; n < 4; n++) {
        const int64_t y = hs_axis_cell(&axis[HS_Y], j, n & 1);
        const int64_t z = hs_axis_cell(&axis[HS_Z], k, n >> 1);
        const bool there = y >= 0 && z >= 0;
        if (cells->place == HS_LABEL_NODES)
            octants->label[n] = hs_cells_row(cells, j, k);
        else if (cells->place == HS_LABEL_CELLS)
            octants->label[n] = there ? hs_cells_row(cells, y, z) : NULL;
        if (!cells->marked || !there)
            continue;
        const int64_t lo[HS_AXES] = {0, y, z}, hi[HS_AXES] = {axis[HS_X].cells, y + 1, z + 1};
        struct hs_node_box region = hs_cells_box(axis, lo, hi);
        for (int a = 0; a < HS_AXES; a++) {
            region.lo[a] -= 2.0 * hs_octants_beside(octants, a);
            region.hi[a] += 2.0 * hs_octants_beside(octants, a);
        }
        hs_solids_narrow(&cells->solids, &region, &octants->all, &octants->around[n]);
    }
}

/* False where the octant lies beyond a wall. */
static bool find(const struct hs_octants *octants, int number, struct hs_octant *out)
{
    const struct hs_cells *cells = octants->cells;
    int64_t cell[HS_AXES];
    for (int a = 0; a < HS_AXES; a++) {
        const int side = number >> a & 1;
        cell[a] = hs_axis_cell(&octants->axis[a], octants->node[a], side);
        if (cell[a] < 0)
            return false;
        out->half[a] = octants->axis[a].half[cell[a]];
        out->region.origin[a] = octants->axis[a].position[cell[a]];
        out->region.lo[a] = side ? 0.0 : out->half[a];
        out->region.hi[a] = side ? out->half[a] : 2.0 * out->half[a];
    }
    const int64_t *at = cells->place == HS_LABEL_CELLS ? cell : octants->node;
    out->label =
        cells->place == HS_LABEL_NONE ? HS_CELL_EMPTY : octants->label[number >> 1][at[HS_X]];
    out->around = &octants->around[number >> 1];
    return true;
}

bool hs_octants_find(struct hs_octants *octants, int64_t i)
{
    const bool given = octants->cells->place != HS_LABEL_NONE && !octants->cells->marked;
    bool named = true;
    octants->node[HS_X] = i;
    for (int o = 0; o < 8; o++) {
        struct hs_octant *octant = &octants->octant[o];
        octant->there = find(octants, o, octant);
        if (octant->there && given)
            named = named && octant->label < octants->spec->body->substance_count;
    }
    return named;
}

void hs_octant_select(const struct hs_octants *octants, const struct hs_octant *octant,
                      const struct hs_node_box *region, struct hs_selection *out)
{
    if (octant->label == HS_CELL_MIXED) {
        hs_solids_narrow(&octants->cells->solids, region, octant->around, out);
        return;
    }
    *out = (struct hs_selection){.part = out->part};
    out->base = octant->label == HS_CELL_EMPTY ? HS_NOWHERE : octant->label;
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
