#include "engine/axis_matrix.h"

int64_t hs_axis_matrix_rows(const struct hs_axis_matrix *matrix)
{
    const int64_t rows = matrix->nodes - matrix->face[0].held - matrix->face[1].held;
    return rows > 0 ? rows : 0;
}

struct row {
    const struct hs_axis_matrix *matrix;
    struct hs_axis_entry *entry;
    int count;
};

/* Held nodes never change, so they have no column. */
static void add_node(struct row *row, int64_t node, double c, double share)
{
    const int64_t column = node - row->matrix->face[0].held;
    if (column < 0 || column >= hs_axis_matrix_rows(row->matrix))
        return;
    row->entry[row->count++] = (struct hs_axis_entry){column, c, share};
}

/* What the neighbour at `node` (a ghost where it is outside 0..nodes-1) is made of. */
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
}

int hs_axis_matrix_row(const struct hs_axis_matrix *matrix, int64_t row,
                       struct hs_axis_entry out[HS_AXIS_ENTRIES])
{
    struct row of = {matrix, out, 0};
    const int64_t node = matrix->face[0].held + row;
    for (int offset = -matrix->radius; offset <= matrix->radius; offset++)
        add_neighbour(&of, node + offset, matrix->c[matrix->radius + offset]);
    return of.count;
}
