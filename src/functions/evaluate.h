/* Evaluates programs at a point or along a row of nodes. */
#ifndef HS_FUNCTIONS_EVALUATE_H
#define HS_FUNCTIONS_EVALUATE_H

#include "core/grid.h"
#include "functions/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value at (x, y, z) [m] and t [s]. */
double hs_expression_at(const struct hs_instruction *code, int length, double x, double y, double z,
                        double t);
double hs_value_at(const struct hs_value *value, double x, double y, double z, double t);
double hs_value_at_node(const struct hs_value *value, const struct hs_grid *grid,
                        const int64_t node[HS_AXES], double t);

/* The input of a program along a row of nodes. */
struct hs_row {
    int axis;               /* of the row */
    int64_t first, count;   /* the nodes to evaluate */
    double at[HS_AXES + 1]; /* x, y, z [m] of node 0, and t [s] */
    double step;            /* m: from node to node along the axis, ... */
    const double *places;   /* m: ... or node i lies at places[i], where this is not NULL */
    struct hs_row_table {
        const double *values;
        bool varies; /* values[i] is for node i; else values[0] is for all nodes */
    } table[HS_MOST_TABLES];
};

/* out[n] at node first + n of the row. Much faster than one call per node: what is the same at all
 * nodes is computed once. */
void hs_expression_row(const struct hs_expression *expression, const struct hs_row *row,
                       double *out);

/* `count` nodes from a node on, along an axis of the grid. */
struct hs_row hs_row_along(const struct hs_grid *grid, int axis, const int64_t node[HS_AXES],
                           int64_t count, double t);

#ifdef __cplusplus
}
#endif

#endif
