#include "engine/multigrid/pieces.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Rounding moves the mean of what is bound this weakly by up to a tenth of its distance. */
static const double weak = 10.0 * DBL_EPSILON;

/* What is known of each node; `bound` of a whole piece, at its root. */
struct piece {
    int64_t parent;   /* another node of the piece; itself: the root */
    double strongest; /* W/K: of its edges */
    double bound;     /* W/K: by weak edges and sinks; infinite: held */
};

static int64_t root_of(struct piece *piece, int64_t node)
{
    while (piece[node].parent != node)
        node = piece[node].parent = piece[piece[node].parent].parent;
    return node;
}

static void note_strongest(struct piece *piece, int64_t a, int64_t b, double g)
{
    piece[a].strongest = fmax(piece[a].strongest, g);
    piece[b].strongest = fmax(piece[b].strongest, g);
}

static void join(struct piece *piece, int64_t a, int64_t b, double g)
{
    if (g > weak * fmax(piece[a].strongest, piece[b].strongest))
        piece[root_of(piece, a)].parent = root_of(piece, b);
}

static void bind(struct piece *piece, int64_t a, int64_t b, double g)
{
    const int64_t from = root_of(piece, a), to = root_of(piece, b);
    piece[from].bound += from == to ? 0.0 : g;
    piece[to].bound += from == to ? 0.0 : g;
}

static void each_edge(const struct hs_network *network, struct piece *piece,
                      void (*visit)(struct piece *piece, int64_t a, int64_t b, double g))
{
    const int64_t *n = network->grid.points, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    for (int64_t node = 0; node < hs_grid_count(&network->grid); node++)
        for (int axis = 0; axis < network->grid.dims; axis++) {
            const int64_t at = node / stride[axis] % n[axis];
            const int64_t to =
                hs_next_node(n[axis], network->wrap[axis], at, stride[axis], 1, node);
            const double g = hs_network_row_at(network, node)->conductance[axis];
            if (to >= 0 && g > 0.0)
                visit(piece, node, to, g);
        }
}

/* W/K; infinite: a held node */
static double sink_of(const struct hs_network_row *row)
{
    return row->kind == HS_NODE_FREE ? row->sink : INFINITY;
}

/* After this `strongest` of a root is that of the piece. Returns the number of pieces. */
static int64_t find_pieces(const struct hs_network *network, struct piece *piece)
{
    const int64_t nodes = hs_grid_count(&network->grid);
    int64_t count = 0;
    for (int64_t n = 0; n < nodes; n++)
        piece[n] = (struct piece){.parent = n};
    each_edge(network, piece, note_strongest);
    each_edge(network, piece, join);
    each_edge(network, piece, bind);
    for (int64_t n = 0; n < nodes; n++) {
        struct piece *root = &piece[root_of(piece, n)];
        root->strongest = fmax(root->strongest, piece[n].strongest);
        root->bound += sink_of(hs_network_row_at(network, n));
        count += root == &piece[n];
    }
    return count;
}

static enum hs_status refuse(const struct hs_problem *problem, const struct piece *piece,
                             int64_t root, struct hs_error *err)
{
    int64_t node[HS_AXES];
    char place[160];
    hs_grid_node(&problem->grid, root, node);
    hs_grid_name_node(&problem->grid, node, place, sizeof place);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: steady.method = \"multigrid\": all that binds the piece of the body "
                        "at %s to the rest and to walls is %.3g of what its own edges conduct, and "
                        "rounding hides less than %.2g; hold its temperature, or take smaller "
                        "contacts, stronger convection or larger cells",
                        hs_problem_place(problem, HS_PLACE_STEADY), place,
                        piece[root].bound / piece[root].strongest, weak);
}

/* Most networks are one piece at sight, and bound: no edge is weak beside any other, and the sink
 * of one node is not. Rows without edges may be of no node. */
static bool is_bound_at_sight(const struct hs_equations *equations)
{
    int64_t count;
    const struct hs_network_row *rows = hs_network_rows(equations->network, &count);
    const int threads = equations->threads;
    double most = 0.0, resists = 0.0, sink = 0.0; /* resists: 1 over the weakest edge */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most, resists, sink)
    for (int64_t r = 0; r < count; r++) {
        bool edges = false;
        for (int axis = 0; axis < HS_AXES; axis++) {
            const double g = rows[r].conductance[axis];
            edges = edges || g > 0.0;
            resists = g > 0.0 ? fmax(resists, 1.0 / g) : resists;
            most = fmax(most, g);
        }
        sink = edges ? fmax(sink, sink_of(&rows[r])) : sink;
    }
    return weak * most * resists < 1.0 && (equations->floating || sink > weak * most);
}

enum hs_status hs_pieces_check(const struct hs_equations *equations, struct hs_error *err)
{
    if (is_bound_at_sight(equations))
        return HS_OK;
    const int64_t nodes = hs_grid_count(&equations->network->grid);
    struct piece *piece = malloc((size_t)nodes * sizeof *piece);
    if (!piece)
        return hs_error_add(err, HS_DEVICE, "no memory for the equations; take a smaller grid");
    const bool one = find_pieces(equations->network, piece) == 1;
    int64_t loose = -1;
    for (int64_t n = 0; n < nodes && loose < 0 && !(one && equations->floating); n++)
        if (piece[n].parent == n && piece[n].bound <= weak * piece[n].strongest)
            loose = n;
    const enum hs_status st = loose < 0 ? HS_OK : refuse(equations->problem, piece, loose, err);
    free(piece);
    return st;
}
