/* The matrix of a stencil along one axis, between the two faces of that axis. */
#ifndef HS_ENGINE_MODES_AXIS_MATRIX_H
#define HS_ENGINE_MODES_AXIS_MATRIX_H

#include "core/problem.h"

struct hs_axis_matrix {
    int radius;
    double c[2 * HS_MAX_RADIUS + 1]; /* of neighbours -radius..radius, at [radius + offset] */
    const struct hs_face *face;      /* [2] */
    int64_t nodes;                   /* along the axis, held ones included */
};

struct hs_axis_matrix hs_axis_matrix_of(const struct hs_problem *problem,
                                        const struct hs_stencil *stencil, int axis);

/* Whether both are the same for swept nodes. */
bool hs_axis_matrix_same(const struct hs_axis_matrix *one, const struct hs_axis_matrix *other);

/* Whether no face pulls towards a temperature, so that a constant stays as it is. */
bool hs_axis_matrix_is_free(const struct hs_axis_matrix *matrix);

/* Whether the stencil weighs both sides alike. */
bool hs_axis_matrix_symmetric(const struct hs_axis_matrix *matrix);

/* Whether it is the same seen from either side, with its faces. */
bool hs_axis_matrix_mirrored(const struct hs_axis_matrix *matrix);

/* Swept node `column` enters another one's sum with the factor c * share. */
struct hs_axis_entry {
    int64_t column;
    double c, share;
};

enum { HS_AXIS_ENTRIES = 2 * (2 * HS_MAX_RADIUS + 1) }; /* of a row, at most */

/* The number of swept nodes, from the first that is not held; 0 where walls hold all. */
int64_t hs_axis_matrix_rows(const struct hs_axis_matrix *matrix);

/* The swept nodes in a swept node's sum; a column may come several times. Returns their number. */
int hs_axis_matrix_row(const struct hs_axis_matrix *matrix, int64_t row,
                       struct hs_axis_entry out[HS_AXIS_ENTRIES]);

/* The rest of that sum, for all rows, where the faces' data are one number each; layers that a face
 * holds have its number as their value. Along x also what a source of one number adds in a sweep of
 * `step` [s]. The sum of all axes is a sweep over a field of zeros. */
void hs_axis_matrix_forcing(const struct hs_axis_matrix *matrix, const struct hs_problem *problem,
                            double step, int axis, double *out);

#endif
