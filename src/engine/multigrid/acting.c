#include "engine/multigrid/acting.h"

#include "core/memory.h"
#include "engine/network/coefficients.h"
#include "functions/fields.h"
#include "functions/moving.h"

#include <stdlib.h>

/* ---- which nodes ----------------------------------------------------------------------------- */

/* For a stencil: whether a wall that the node lies on changes in time. */
static bool is_on_changing_wall(const struct hs_problem *problem, const int64_t at[HS_AXES])
{
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const struct hs_face *low = &problem->face[2 * axis];
        const int64_t last = problem->grid.points[axis] - 1;
        if (low->wrap || (at[axis] > 0 && at[axis] < last))
            continue;
        const struct hs_face *face = at[axis] == 0 ? low : low + 1;
        if (hs_value_varies(&face->data) & HS_VARIES_T)
            return true;
    }
    return false;
}

/* Counts the nodes of row r whose inflow changes, and lists them in `node` unless it is NULL. */
static int64_t find_row(const struct hs_equations *equations, const bool *changing, int64_t r,
                        int64_t *node)
{
    const struct hs_problem *problem = equations->problem;
    const struct hs_network *network = equations->network;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    int64_t moving = hs_moving_node_from(&network->inflow, r * nx), count = 0;
    for (int64_t i = 0; i < nx; i++) {
        const struct hs_network_row *row = hs_network_row_at(network, r * nx + i);
        const bool moves =
            moving < network->inflow.count && network->inflow.node[moving] == r * nx + i;
        moving += moves;
        if (row->kind != HS_NODE_FREE ||
            !(moves || changing[row->forcing] ||
              (!problem->network && is_on_changing_wall(problem, (int64_t[]){i, r % ny, r / ny}))))
            continue;
        if (node)
            node[count] = r * nx + i;
        count++;
    }
    return count;
}

/* What constant sources bring to the listed nodes of row r. */
static void find_sources(const struct hs_equations *equations, int64_t r, int64_t count,
                         const int64_t *node, double *source)
{
    const struct hs_problem *problem = equations->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    if (count == 0 || !problem->source.present ||
        (hs_problem_own_source_varies(problem) & HS_VARIES_T))
        return;
    double *row = hs_new((size_t)nx * sizeof *row);
    hs_problem_source_row(problem, 1.0, 0.0, r % ny, r / ny, row);
    for (int64_t m = 0; m < count; m++)
        source[m] = row[node[m] - r * nx];
    free(row);
}

/* For each row the first place in the list; at the end the number of nodes. first: [rows + 1] */
static void count_nodes(const struct hs_equations *equations, const bool *changing, int64_t rows,
                        int64_t *first)
{
#pragma omp parallel for num_threads(equations->threads) schedule(static)
    for (int64_t r = 0; r < rows; r++)
        first[r + 1] = find_row(equations, changing, r, NULL);
    first[0] = 0;
    for (int64_t r = 0; r < rows; r++)
        first[r + 1] += first[r];
}

static bool make_list(struct hs_acting *acting, const struct hs_equations *equations,
                      const bool *changing, int64_t rows, const int64_t *first)
{
    const size_t count = (size_t)acting->count + 1;
    acting->node = malloc(count * sizeof *acting->node);
    acting->source = calloc(count, sizeof *acting->source);
    const bool there = acting->node && acting->source;
#pragma omp parallel for num_threads(equations->threads) schedule(static)
    for (int64_t r = 0; r < (there ? rows : 0); r++) {
        find_row(equations, changing, r, acting->node + first[r]);
        find_sources(equations, r, first[r + 1] - first[r], acting->node + first[r],
                     acting->source + first[r]);
    }
    return there;
}

/* A list is only worth it where it is short. */
static bool make(struct hs_acting *acting, const struct hs_equations *equations, bool elsewhere,
                 const bool *changing, int64_t *first)
{
    enum { SHORT = 4 };
    const struct hs_grid *grid = &equations->network->grid;
    const int64_t nodes = hs_grid_count(grid), rows = nodes / grid->points[HS_X];
    const bool moves = hs_problem_own_source_varies(equations->problem) & HS_VARIES_T;
    acting->count = nodes;
    if (!moves || elsewhere) {
        count_nodes(equations, changing, rows, first);
        acting->count = first[rows] > nodes / SHORT ? nodes : first[rows];
    }
    acting->elsewhere = moves && elsewhere && acting->count < nodes;
    acting->value = malloc((size_t)(acting->count + 1) * sizeof *acting->value);
    return acting->value &&
           (acting->count == nodes || make_list(acting, equations, changing, rows, first));
}

enum hs_status hs_acting_init(struct hs_acting *acting, const struct hs_equations *equations,
                              bool elsewhere, struct hs_error *err)
{
    const struct hs_network *network = equations->network;
    const int64_t rows = hs_grid_count(&network->grid) / network->grid.points[HS_X];
    bool *changing = malloc((size_t)network->forcing_count * sizeof *changing);
    int64_t *first = malloc((size_t)(rows + 1) * sizeof *first);
    bool made = changing && first;
    *acting = (struct hs_acting){0};
    for (int n = 0; n < network->forcing_count && made; n++)
        changing[n] = hs_forcing_varies(&network->forcing[n], equations->problem->time_functions);
    made = made && make(acting, equations, elsewhere, changing, first);
    free(changing);
    free(first);
    return made ? HS_OK
                : hs_error_add(err, HS_DEVICE, "no memory for implicit steps; take a smaller grid");
}

void hs_acting_release(struct hs_acting *acting)
{
    free(acting->node);
    free(acting->source);
    free(acting->value);
}

/* ---- what they bring ------------------------------------------------------------------------- */

static double source_at(const struct hs_acting *acting, const struct hs_equations *equations,
                        double t, int64_t m)
{
    const struct hs_problem *problem = equations->problem;
    int64_t node[HS_AXES];
    if (!acting->elsewhere)
        return acting->source[m];
    hs_grid_node(&problem->grid, acting->node[m], node);
    return hs_problem_source_at(problem, 1.0, t, node);
}

bool hs_acting_at(struct hs_acting *acting, const struct hs_equations *equations, double t)
{
    if (!acting->node)
        return hs_equations_inflow_at(equations, equations->problem->source.present, t,
                                      acting->value);
    const struct hs_moving *moving = &equations->network->inflow;
    double *forcing = hs_equations_forcing_at(equations, t);
    double *sum = malloc((size_t)(moving->count + 1) * sizeof *sum);
    const bool done = forcing && sum;
#pragma omp parallel for num_threads(equations->threads) schedule(static)
    for (int64_t m = 0; m < (done ? acting->count : 0); m++)
        acting->value[m] = hs_equations_inflow_of(equations, forcing, t, acting->node[m],
                                                  source_at(acting, equations, t, m));
    if (done)
        hs_moving_at(moving, &equations->network->grid, t, equations->threads, sum);
    for (int64_t n = 0, m = 0; n < (done ? moving->count : 0); n++) {
        while (acting->node[m] < moving->node[n])
            m++;
        acting->value[m] += sum[n];
    }
    free(forcing);
    free(sum);
    return done;
}
