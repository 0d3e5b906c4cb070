/* Nodes on which walls act by numbers that change along the wall and in time at once. */
#include "engine/network/pass.h"

#include "core/memory.h"

#include <stdlib.h>

/* A number that acts on a node. */
struct term {
    int64_t row, node;
    int number; /* by wall, and flux before ambient */
    const struct hs_value *value;
    double weight;
};

struct terms {
    struct term *term;
    int64_t count;
};

static void add(struct terms *terms, const struct hs_grid *grid, const int64_t node[HS_AXES],
                int number, const struct hs_wall_number *of, double weight)
{
    if (!hs_wall_number_moves(of) || weight == 0.0)
        return;
    terms->term = hs_reserve(terms->term, (size_t)terms->count, sizeof *terms->term);
    const int64_t row = node[HS_Z] * grid->points[HS_Y] + node[HS_Y];
    terms->term[terms->count++] = (struct term){.row = row,
                                                .node = row * grid->points[HS_X] + node[HS_X],
                                                .number = number,
                                                .value = &of->moving,
                                                .weight = weight};
}

static int compare_terms(const void *one, const void *other)
{
    const struct term *a = one, *b = other;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static int compare_nodes(const void *one, const void *other)
{
    const int64_t *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

/* Sets the distinct nodes of the terms, in order. */
static void set_nodes(const struct terms *terms, struct hs_moving *out)
{
    for (int64_t n = 0; n < terms->count; n++)
        out->node[n] = terms->term[n].node;
    qsort(out->node, (size_t)terms->count, sizeof *out->node, compare_nodes);
    for (int64_t n = 0; n < terms->count; n++)
        if (n == 0 || out->node[n] != out->node[out->count - 1])
            out->node[out->count++] = out->node[n];
}

/* Sets the stretches of adjacent nodes on which one number acts. */
static void set_stretches(const struct terms *terms, struct hs_moving *out)
{
    for (int64_t n = 0; n < terms->count; n++) {
        const struct term *term = &terms->term[n], *last = term - 1;
        out->weight[n] = term->weight;
        if (n > 0 && term->number == last->number && term->row == last->row &&
            term->node == last->node + 1) {
            out->stretch[out->stretch_count - 1].count++;
            continue;
        }
        const int64_t *node =
            bsearch(&term->node, out->node, (size_t)out->count, sizeof *node, compare_nodes);
        out->stretch[out->stretch_count++] = (struct hs_moving_stretch){
            .value = term->value, .first = node - out->node, .count = 1, .weight = n};
    }
}

static void conclude(struct terms *terms, struct hs_moving *out)
{
    const size_t count = (size_t)terms->count;
    *out = (struct hs_moving){.weights = terms->count};
    if (count == 0)
        return;
    qsort(terms->term, count, sizeof *terms->term, compare_terms);
    out->node = hs_new(count * sizeof *out->node);
    out->stretch = hs_new(count * sizeof *out->stretch);
    out->weight = hs_new(count * sizeof *out->weight);
    set_nodes(terms, out);
    set_stretches(terms, out);
    free(terms->term);
}

/* Whether anything of the face's walls moves. */
static bool any_moves(const struct hs_walls *walls, int face)
{
    bool any = false;
    for (int w = 0; w < walls->count; w++) {
        const struct hs_wall *wall = &walls->wall[w];
        any = any || (wall->face == face &&
                      (hs_wall_number_moves(&wall->flux) || hs_wall_number_moves(&wall->ambient) ||
                       hs_wall_number_moves(&wall->value)));
    }
    return any;
}

/* Adds what the walls of a face do to a node on it. */
static void add_node(const struct hs_grid *grid, const struct hs_walls *walls, int face,
                     int64_t place, struct terms *inflow, struct terms *given)
{
    int64_t node[HS_AXES];
    hs_grid_face_node(grid, face, place, node);
    const struct hs_wall *holding = hs_walls_holding(walls, node);
    if (holding) {
        const int number = 2 * (int)(holding - walls->wall);
        if (holding->kind == HS_WALL_PRESCRIBES && holding->face == face)
            add(given, grid, node, number, &holding->value, 1.0);
        return;
    }
    hs_walls_share(walls, face, node);
    for (int w = 0; w < walls->count; w++) {
        const struct hs_wall *wall = &walls->wall[w];
        const double area = hs_walls_area(walls, w);
        if (wall->face != face || wall->kind != HS_WALL_EXCHANGES)
            continue;
        add(inflow, grid, node, 2 * w, &wall->flux, -area);
        add(inflow, grid, node, 2 * w + 1, &wall->ambient, area * hs_wall_h_at(wall, place));
    }
}

void hs_pass_find_moving(const struct hs_pass *pass, struct hs_network *out)
{
    const struct hs_grid *grid = pass->spec->grid;
    const struct hs_walls *walls = &pass->worker[0].nodes.walls;
    struct terms inflow = {.count = 0}, given = {.count = 0};
    for (int face = 0; face < 2 * grid->dims; face++) {
        const int64_t nodes = any_moves(walls, face) ? hs_grid_face_count(grid, face) : 0;
        for (int64_t n = 0; n < nodes; n++)
            add_node(grid, walls, face, n, &inflow, &given);
    }
    conclude(&inflow, &out->inflow);
    conclude(&given, &out->given);
}
