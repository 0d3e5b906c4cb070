#include "engine/network/walls.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

bool hs_terms_add(struct hs_terms *terms, int function, double weight)
{
    int at = 0;
    while (at < terms->count && terms->function[at] < function)
        at++;
    if (at == terms->count || terms->function[at] != function) {
        if (terms->count == HS_FORCING_TERMS)
            return false;
        for (int n = terms->count++; n > at; n--) {
            terms->function[n] = terms->function[n - 1];
            terms->weight[n] = terms->weight[n - 1];
        }
        terms->function[at] = function;
        terms->weight[at] = 0.0;
    }
    terms->weight[at] += weight;
    return true;
}

void hs_terms_tidy(struct hs_terms *terms)
{
    struct hs_terms tidy;
    memset(&tidy, 0, sizeof tidy);
    for (int n = 0; n < terms->count; n++)
        if (terms->weight[n] != 0.0) {
            tidy.function[tidy.count] = terms->function[n];
            tidy.weight[tidy.count++] = terms->weight[n];
        }
    memcpy(terms, &tidy, sizeof tidy);
}

static bool is_on(const struct hs_axis *axis, int face, const int64_t node[HS_AXES])
{
    const struct hs_axis *own = &axis[face / 2];
    return own->there && !own->wrap && node[face / 2] == (face % 2 ? own->nodes - 1 : 0);
}

/* Whether a wall is the same for all nodes along x. */
static bool is_plain_along_x(const struct hs_wall *wall, const struct hs_axis *x)
{
    return wall->lower[HS_X] <= x->position[0] && wall->upper[HS_X] >= x->position[x->cells] &&
           !wall->label && !wall->h_field && !wall->flux.field && !wall->ambient.field &&
           !wall->value.field;
}

bool hs_walls_vary_along_x(const struct hs_walls *walls, int64_t j, int64_t k)
{
    const int64_t node[HS_AXES] = {-1, j, k};
    bool vary = false;
    for (int w = 0; w < walls->count; w++) {
        const int face = walls->wall[w].face;
        if (face / 2 != HS_X && is_on(walls->axis, face, node))
            vary = vary || !is_plain_along_x(&walls->wall[w], &walls->axis[HS_X]);
    }
    return vary;
}

/* Place of the node in fields of the face. */
static int64_t on_face(const struct hs_axis *axis, int face, const int64_t node[HS_AXES])
{
    const int b = hs_axis_across(face / 2, 0), c = hs_axis_across(face / 2, 1);
    return node[b] + axis[b].nodes * node[c];
}

static double at_node(const double *field, int64_t node)
{
    return field ? field[node] : 1.0;
}

/* Whether the wall contains the node along one axis. The first node of a periodic axis is also at
 * its end. */
static bool reaches(const struct hs_wall *wall, const struct hs_axis *axis, int a, int64_t node)
{
    const double lower = wall->lower[a] - axis->tolerance;
    const double upper = wall->upper[a] + axis->tolerance;
    const double first = axis->position[node];
    const double again = node == 0 && axis->wrap ? axis->position[axis->cells] : first;
    return !axis->there || (first >= lower && first <= upper) || (again >= lower && again <= upper);
}

static bool has_label(const struct hs_wall *wall, const struct hs_axis *axis,
                      const int64_t node[HS_AXES])
{
    return !wall->label || wall->label[on_face(axis, wall->face, node)] == wall->number;
}

static bool has_node(const struct hs_wall *wall, const struct hs_axis *axis,
                     const int64_t node[HS_AXES])
{
    const int b = hs_axis_across(wall->face / 2, 0), c = hs_axis_across(wall->face / 2, 1);
    return has_label(wall, axis, node) && reaches(wall, &axis[b], b, node[b]) &&
           reaches(wall, &axis[c], c, node[c]);
}

const struct hs_wall *hs_walls_holding_at(const struct hs_walls *walls, int face,
                                          const int64_t node[HS_AXES])
{
    const struct hs_wall *top = NULL;
    for (int w = 0; w < walls->count && is_on(walls->axis, face, node); w++)
        if (walls->wall[w].face == face && has_node(&walls->wall[w], walls->axis, node))
            top = &walls->wall[w];
    return top && top->kind != HS_WALL_EXCHANGES ? top : NULL;
}

const struct hs_wall *hs_walls_holding(const struct hs_walls *walls, const int64_t node[HS_AXES])
{
    const struct hs_wall *holding = NULL;
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_wall *top = hs_walls_holding_at(walls, face, node);
        if (top && (!holding || holding->kind == HS_WALL_HOLDS || top->kind == HS_WALL_PRESCRIBES))
            holding = top;
    }
    return holding;
}

void hs_walls_prescribe(const struct hs_walls *walls, const struct hs_wall *wall,
                        const int64_t node[HS_AXES], struct hs_forcing *forcing)
{
    if (wall->value.function >= 0)
        hs_terms_add(&forcing->inflow, wall->value.function,
                     at_node(wall->value.field, on_face(walls->axis, wall->face, node)));
}

/* One of the four rectangles of a control volume's face, one per cell. */
struct quarter {
    int face, across[2];
    double lo[2], hi[2]; /* m: coordinates */
    double half[2];      /* m: hi - lo, but for rounding */
};

static bool find_quarter(const struct hs_axis *axis, int face, const int64_t node[HS_AXES],
                         int which, struct quarter *out)
{
    out->face = face;
    for (int d = 0; d < 2; d++) {
        const int a = out->across[d] = hs_axis_across(face / 2, d);
        const int side = which >> d & 1;
        const int64_t cell = hs_axis_cell(&axis[a], node[a], side);
        if (cell < 0)
            return false;
        const double at = axis[a].position[cell];
        out->half[d] = axis[a].half[cell];
        out->lo[d] = side ? at : at + out->half[d];
        out->hi[d] = side ? at + out->half[d] : axis[a].position[cell + 1];
    }
    return true;
}

/* Whether a wall of the face overlaps a box in the quarter, or a point if lo is hi. */
static bool overlaps(const struct hs_wall *wall, const struct hs_axis *axis,
                     const struct quarter *quarter, const double lo[2], const double hi[2])
{
    if (wall->face != quarter->face)
        return false;
    for (int d = 0; d < 2; d++) {
        const int a = quarter->across[d];
        if (axis[a].there && (hi[d] < wall->lower[a] || lo[d] > wall->upper[a]))
            return false;
    }
    return true;
}

/* The places where borders of walls cut the quarter along its axis `d`, and its ends. */
static int find_cuts(const struct hs_walls *walls, const struct quarter *quarter, int d)
{
    const int a = quarter->across[d];
    double *place = walls->place[d];
    int count = 0;
    for (int w = 0; w < walls->count && walls->axis[a].there; w++)
        if (overlaps(&walls->wall[w], walls->axis, quarter, quarter->lo, quarter->hi)) {
            place[count++] = walls->wall[w].lower[a];
            place[count++] = walls->wall[w].upper[a];
        }
    return hs_axis_places(&walls->axis[a], quarter->lo[d], quarter->hi[d], count, place);
}

/* Divides a quarter among the walls. */
static void divide(const struct hs_walls *walls, const int64_t node[HS_AXES],
                   const struct quarter *quarter, int which)
{
    const int b = find_cuts(walls, quarter, 0), c = find_cuts(walls, quarter, 1);
    for (int n = 0; n < (b - 1) * (c - 1); n++) {
        double length[2], at[2];
        for (int d = 0; d < 2; d++) {
            const double *ends = walls->place[d] + (d ? n / (b - 1) : n % (b - 1));
            length[d] = (d ? c : b) == 2 ? quarter->half[d] : ends[1] - ends[0];
            at[d] = 0.5 * (ends[0] + ends[1]);
        }
        int top = walls->count - 1;
        while (top >= 0 && !(overlaps(&walls->wall[top], walls->axis, quarter, at, at) &&
                             has_label(&walls->wall[top], walls->axis, node)))
            top--;
        if (top >= 0)
            walls->quarter[top][which] += length[0] * length[1];
    }
}

/* Adds convection through a wall's area. */
static bool convect(const struct hs_wall *wall, int64_t node, double area, double *sink,
                    struct hs_forcing *forcing)
{
    const bool varies = wall->h_function >= 0;
    const double share = area * hs_wall_h_share(wall, node), most = area * hs_wall_h_at(wall, node);
    const double ambient = at_node(wall->ambient.field, node);
    if (most == 0.0)
        return true;
    *sink += most;
    forcing->steady_sink += varies ? 0.0 : most;
    if (varies && !hs_terms_add(&forcing->sink, wall->h_function, share))
        return false;
    return wall->ambient.function < 0 ||
           hs_terms_add(&forcing->inflow, varies ? wall->h_ambient : wall->ambient.function,
                        (varies ? share : most) * ambient);
}

/* Adds the exchange through a wall's area. */
static bool exchange(const struct hs_wall *wall, int64_t node, double area, double *sink,
                     struct hs_forcing *forcing)
{
    if (wall->kind != HS_WALL_EXCHANGES || area == 0.0)
        return true;
    return convect(wall, node, area, sink, forcing) &&
           (wall->flux.function < 0 || hs_terms_add(&forcing->inflow, wall->flux.function,
                                                    -area * at_node(wall->flux.field, node)));
}

void hs_walls_init(struct hs_walls *walls, const struct hs_network_spec *spec,
                   const struct hs_axis *axis)
{
    const size_t count = (size_t)spec->wall_count;
    *walls = (struct hs_walls){.count = spec->wall_count, .wall = spec->wall, .axis = axis};
    walls->quarter = hs_new((count + 1) * sizeof *walls->quarter);
    walls->place[0] = hs_new(2 * (2 * count + 2) * sizeof *walls->place[0]);
    walls->place[1] = walls->place[0] + 2 * count + 2;
}

void hs_walls_release(struct hs_walls *walls)
{
    free(walls->quarter);
    free(walls->place[0]);
}

void hs_walls_share(const struct hs_walls *walls, int face, const int64_t node[HS_AXES])
{
    memset(walls->quarter, 0, (size_t)walls->count * sizeof *walls->quarter);
    struct quarter quarter;
    for (int which = 0; which < 4; which++)
        if (find_quarter(walls->axis, face, node, which, &quarter))
            divide(walls, node, &quarter, which);
}

bool hs_walls_exchange(const struct hs_walls *walls, const int64_t node[HS_AXES], double *sink,
                       struct hs_forcing *forcing)
{
    bool fits = true;
    for (int face = 0; face < HS_FACES; face++) {
        if (!is_on(walls->axis, face, node))
            continue;
        hs_walls_share(walls, face, node);
        for (int w = 0; w < walls->count; w++)
            fits = fits && exchange(&walls->wall[w], on_face(walls->axis, face, node),
                                    hs_walls_area(walls, w), sink, forcing);
    }
    return fits;
}
