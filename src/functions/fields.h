/* Rows of a problem's fields: its initial temperature and its source. */
#ifndef HS_FUNCTIONS_FIELDS_H
#define HS_FUNCTIONS_FIELDS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a field at a node and time t. */
double hs_field_at(const struct hs_problem *problem, const struct hs_field *field, double t,
                   const int64_t node[HS_AXES]);

/* Evaluates `value` along row (j, k) of the grid at time t. out: [nx]. */
void hs_value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                  int64_t k, double *out);

/* Whether a shape covers a point, considering only the grid's axes. A point still counts as inside
 * if it is outside by at most a millionth of the spacing plus some roundings of the coordinates. */
bool hs_shape_covers(const struct hs_shape *shape, const struct hs_grid *grid,
                     const double at[HS_AXES]);

/* Whether the shape covers any node; examines only rows near the shape. */
bool hs_shape_has_node(const struct hs_shape *shape, const struct hs_grid *grid);

/* Initial temperature of the nodes of row (j, k) at t = 0, with regions applied and with the wall's
 * value on prescribed layers. out: [nx]. */
void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out);

/*
 * The same, bit for bit, for callers that need all rows (of a slab: all rows that it owns). Parts
 * of the expressions that do not depend on some axis are computed once, and a row costs nothing for
 * regions that are not near it.
 */
struct hs_initial_rows {
    const struct hs_problem *problem; /* must outlive this */
    struct hs_initial_part *part;     /* [1 + regions] for the field and each region; owned */
};

/* Uses `threads` threads. */
void hs_initial_rows_init(struct hs_initial_rows *rows, const struct hs_problem *problem,
                          int threads);
void hs_initial_rows_release(struct hs_initial_rows *rows);
void hs_initial_row(const struct hs_initial_rows *rows, int64_t j, int64_t k, double *out);

/* Writes the wall temperatures at time t to the prescribed nodes of row (j, k). out: [nx]. */
void hs_problem_prescribed_row(const struct hs_problem *problem, double t, int64_t j, int64_t k,
                               double *out);

/* What the source adds in one sweep of `step` [s] from time t, in K: along row (j, k), out: [nx];
 * and at a node, with the same bits. */
void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out);
double hs_problem_source_at(const struct hs_problem *problem, double step, double t,
                            const int64_t node[HS_AXES]);
/* The same for a source that is alike at all nodes; 0 without one. */
double hs_problem_source_uniform(const struct hs_problem *problem, double step, double t);
/* The factor of its values; in a body each node has a further one. */
double hs_problem_source_scale(const struct hs_problem *problem, double step);
/* Converts the source's own values along a row to what it adds in one sweep. */
void hs_problem_source_weigh(const struct hs_problem *problem, double step, int64_t j, int64_t k,
                             double *out);

#ifdef __cplusplus
}
#endif

#endif
