#include "engine/modes/axis_matrix.h"

#include "functions/evaluate.h"

#include <string.h>

struct hs_axis_matrix hs_axis_matrix_of(const struct hs_problem *problem,
                                        const struct hs_stencil *stencil, int axis)
{
    struct hs_axis_matrix out = {.radius = stencil->radius,
                                 .face = &problem->face[2 * axis],
                                 .nodes = problem->grid.points[axis]};
    for (int offset = -out.radius; offset <= out.radius; offset++)
        out.c[out.radius + offset] = stencil->c[hs_stencil_index(out.radius, axis, offset)];
    return out;
}

static bool same_rule(const struct hs_face *one, const struct hs_face *other)
{
    return one->held == other->held && one->wrap == other->wrap &&
           !memcmp(one->a, other->a, sizeof one->a) && !memcmp(one->b, other->b, sizeof one->b);
}

bool hs_axis_matrix_same(const struct hs_axis_matrix *one, const struct hs_axis_matrix *other)
{
    return one->nodes == other->nodes && !memcmp(one->c, other->c, sizeof one->c) &&
           same_rule(&one->face[0], &other->face[0]) && same_rule(&one->face[1], &other->face[1]);
}

/* A ghost is a*inner + b*edge + c*datum. It pulls unless a + b is 1; a flux has a datum, too. */
static bool is_free(const struct hs_face *face, int radius)
{
    for (int m = 0; m < radius && !face->wrap; m++)
        if (face->b[m] != 1.0 - face->a[m]) /* a + b would round off the pull of weak convection */
            return false;
    return face->held == 0;
}

bool hs_axis_matrix_is_free(const struct hs_axis_matrix *matrix)
{
    return is_free(&matrix->face[0], matrix->radius) && is_free(&matrix->face[1], matrix->radius);
}

bool hs_axis_matrix_symmetric(const struct hs_axis_matrix *matrix)
{
    bool same = true;
    for (int offset = 1; offset <= matrix->radius; offset++)
        same = same && matrix->c[matrix->radius + offset] == matrix->c[matrix->radius - offset];
    return same;
}

bool hs_axis_matrix_mirrored(const struct hs_axis_matrix *matrix)
{
    return same_rule(&matrix->face[0], &matrix->face[1]) && hs_axis_matrix_symmetric(matrix);
}

int64_t hs_axis_matrix_rows(const struct hs_axis_matrix *matrix)
{
    const int64_t rows = matrix->nodes - matrix->face[0].held - matrix->face[1].held;
    return rows > 0 ? rows : 0;
}

struct row {
    const struct hs_axis_matrix *matrix;
    struct hs_axis_entry *entry; /* of swept nodes; NULL: not wanted */
    int count;
    double data[2], rest;
};

/* Held nodes have no column. */
static void add_node(struct row *row, int64_t node, double c, double share)
{
    const int64_t column = node - row->matrix->face[0].held;
    const bool below = column < 0, above = column >= hs_axis_matrix_rows(row->matrix);
    if (below || above)
        row->rest += c * share * row->data[above];
    else if (row->entry)
        row->entry[row->count++] = (struct hs_axis_entry){column, c, share};
}

/* Adds the neighbour at `node`, or what its ghost is made of where that is outside 0..nodes-1. */
static void add_neighbour(struct row *row, int64_t node, double c)
{
    const int64_t nodes = row->matrix->nodes;
    if (node >= 0 && node < nodes) {
        add_node(row, node, c, 1.0);
        return;
    }
    const bool low = node < 0;
    const struct hs_face *face = &row->matrix->face[low ? 0 : 1];
    if (face->wrap) {
        add_node(row, (node + nodes) % nodes, c, 1.0);
        return;
    }
    const int64_t m = low ? -node : node - (nodes - 1); /* ghost layer */
    add_node(row, low ? 0 : nodes - 1, c, face->b[m - 1]);
    add_node(row, low ? m : nodes - 1 - m, c, face->a[m - 1]);
    row->rest += c * face->c[m - 1] * row->data[low ? 0 : 1];
}

static void add_all(struct row *row, int64_t swept)
{
    const struct hs_axis_matrix *matrix = row->matrix;
    const int64_t node = matrix->face[0].held + swept;
    for (int offset = -matrix->radius; offset <= matrix->radius; offset++)
        add_neighbour(row, node + offset, matrix->c[matrix->radius + offset]);
}

int hs_axis_matrix_row(const struct hs_axis_matrix *matrix, int64_t row,
                       struct hs_axis_entry out[HS_AXIS_ENTRIES])
{
    struct row of = {.matrix = matrix, .entry = out};
    add_all(&of, row);
    return of.count;
}

static double number_of(const struct hs_problem *problem, const struct hs_value *value)
{
    const double *at = problem->grid.lower;
    return hs_value_at(value, at[HS_X], at[HS_Y], at[HS_Z], 0.0);
}

void hs_axis_matrix_forcing(const struct hs_axis_matrix *matrix, const struct hs_problem *problem,
                            double step, int axis, double *out)
{
    const double low = number_of(problem, &matrix->face[0].data);
    const double high = number_of(problem, &matrix->face[1].data);
    double source = 0.0;
    if (axis == HS_X && problem->source.present)
        source = number_of(problem, &problem->source.field.value) * problem->source.rate *
                 (problem->raw ? 1.0 : step);
    for (int64_t row = 0; row < hs_axis_matrix_rows(matrix); row++) {
        struct row of = {.matrix = matrix, .data = {low, high}};
        add_all(&of, row);
        out[row] = source + of.rest;
    }
}
