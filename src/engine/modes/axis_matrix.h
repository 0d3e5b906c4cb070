/* The matrix of what a stencil does along one axis, between its two faces. */
#ifndef HS_ENGINE_MODES_AXIS_MATRIX_H
#define HS_ENGINE_MODES_AXIS_MATRIX_H

#include "core/problem.h"

struct hs_axis_matrix {
    int radius;
    double c[2 * HS_MAX_RADIUS + 1]; /* of neighbour -radius..radius, at [radius + offset] */
    const struct hs_face *face;      /* [2] */
    int64_t nodes;                   /* along the axis, held ones included */
};

struct hs_axis_matrix hs_axis_matrix_of(const struct hs_problem *problem,
                                        const struct hs_stencil *stencil, int axis);

/* Whether both are the same for swept nodes. */
bool hs_axis_matrix_same(const struct hs_axis_matrix *one, const struct hs_axis_matrix *other);

/* Whether no face pulls to a temperature: a constant stays as it is. */
bool hs_axis_matrix_is_free(const struct hs_axis_matrix *matrix);

/* Whether it is the same seen from either side. */
bool hs_axis_matrix_mirrored(const struct hs_axis_matrix *matrix);

/* A swept node's share in another's sum is c * share. */
struct hs_axis_entry {
    int64_t column;
    double c, share;
};

enum { HS_AXIS_ENTRIES = 2 * (2 * HS_MAX_RADIUS + 1) }; /* of a row, at most */

/* Swept nodes, from the first that is not held; 0 where walls hold all. */
int64_t hs_axis_matrix_rows(const struct hs_axis_matrix *matrix);

/* What a swept node's sum takes from swept nodes; a column may come several times. How many. */
int hs_axis_matrix_row(const struct hs_axis_matrix *matrix, int64_t row,
                       struct hs_axis_entry out[HS_AXIS_ENTRIES]);

/* What it takes besides, from the faces' data, one number each; where a face holds a layer, that
 * has this value. */
double hs_axis_matrix_rest(const struct hs_axis_matrix *matrix, int64_t row, const double data[2]);

#endif
