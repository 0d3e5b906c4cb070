/* Rows of the fields that a problem describes: its initial temperature, what its source adds. */
#ifndef HS_FUNCTIONS_FIELDS_H
#define HS_FUNCTIONS_FIELDS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a field, at a node and time t. */
double hs_field_at(const struct hs_problem *problem, const struct hs_field *field, double t,
                   const int64_t node[HS_AXES]);

/* Values of a value along row (j, k) of the grid at time t. out: [nx]. */
void hs_value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                  int64_t k, double *out);

/* Whether a region covers a point, along the grid's axes: inside is also what lies outside by no
 * more than a millionth of the spacing and some roundings of the coordinates. */
bool hs_shape_covers(const struct hs_shape *shape, const struct hs_grid *grid,
                     const double at[HS_AXES]);

/* Whether it covers a node; looks at rows near the shape only. */
bool hs_shape_has_node(const struct hs_shape *shape, const struct hs_grid *grid);

/* Initial temperature of the nodes of row (j, k), at t = 0: regions applied, and on prescribed
 * layers the wall's value. out: [nx]. */
void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out);

/*
 * The same, to the bit, for who wants all rows: of a slab, those that it owns. Parts of the
 * expressions that are free of an axis are worked out once, and a row pays nothing for regions that
 * do not come near it.
 */
struct hs_initial_rows {
    const struct hs_problem *problem; /* outlives this */
    struct hs_initial_part *part;     /* [1 + regions] the field and they; owned */
};

/* By so many threads. */
void hs_initial_rows_init(struct hs_initial_rows *rows, const struct hs_problem *problem,
                          int threads);
void hs_initial_rows_release(struct hs_initial_rows *rows);
void hs_initial_row(const struct hs_initial_rows *rows, int64_t j, int64_t k, double *out);

/* Puts what walls prescribe at time t on those nodes of row (j, k) that have it. out: [nx]. */
void hs_problem_prescribed_row(const struct hs_problem *problem, double t, int64_t j, int64_t k,
                               double *out);

/* What the source adds in one sweep of `step` [s] from time t, in K, along row (j, k), out: [nx];
 * and at a node, to the same bits. */
void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out);
double hs_problem_source_at(const struct hs_problem *problem, double step, double t,
                            const int64_t node[HS_AXES]);
/* Makes that of the source's own values along a row. */
void hs_problem_source_weigh(const struct hs_problem *problem, double step, int64_t j, int64_t k,
                             double *out);

#ifdef __cplusplus
}
#endif

#endif
