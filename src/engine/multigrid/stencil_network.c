#include "engine/multigrid/stencil_network.h"

#include "core/memory.h"
#include "functions/evaluate.h"

#include <stdlib.h>

/* Where a node is along an axis. Nodes with the same places along all axes share a row. */
enum place { LOWER, INSIDE, UPPER, PLACES };
enum { ROWS = PLACES * PLACES * PLACES };

static enum place place_of(const struct hs_grid *grid, int axis, int64_t i)
{
    if (axis >= grid->dims)
        return INSIDE;
    return i == 0 ? LOWER : i == grid->points[axis] - 1 ? UPPER : INSIDE;
}

/* The wall that a node of this place lies on; NULL: none. */
static const struct hs_face *face_at(const struct hs_problem *problem, int axis, enum place place)
{
    const struct hs_face *face = place == INSIDE ? NULL : &problem->face[2 * axis + place / UPPER];
    return face && !face->wrap ? face : NULL;
}

/* The share of a cell along an axis that a node of this place stands for. */
static double weight_at(const struct hs_problem *problem, int axis, enum place place)
{
    const struct hs_face *face = face_at(problem, axis, place);
    return face ? face->edge_weight : 1.0;
}

/* 1/s: of an edge along the axis, for nodes at these places along the others. */
static double conductance(const struct hs_problem *problem, int axis,
                          const enum place place[HS_AXES])
{
    const double h = problem->grid.spacing[axis];
    double g = problem->material.diffusivity / (h * h);
    for (int a = 0; a < problem->grid.dims; a++)
        g *= a == axis ? 1.0 : weight_at(problem, a, place[a]);
    return g;
}

/* The part of w*(inner + ghost - 2*edge) that is in neither the edge inwards nor the data. In this
 * order a b near 0, of weak convection, keeps all its digits: w is 1/2 there. */
static double sink_of(const struct hs_face *face)
{
    return (2.0 * face->edge_weight - 1.0) - face->edge_weight * face->b[0];
}

static struct hs_network_row row_at(const struct hs_problem *problem,
                                    const enum place place[HS_AXES])
{
    struct hs_network_row row = {.capacity = 1.0, .kind = HS_NODE_FREE};
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const struct hs_face *face = face_at(problem, axis, place[axis]);
        row.capacity *= weight_at(problem, axis, place[axis]);
        if (!face || place[axis] != UPPER)
            row.conductance[axis] = conductance(problem, axis, place);
        if (face && face->held > 0)
            row.kind = HS_NODE_HELD;
        else if (face)
            row.sink += sink_of(face) * conductance(problem, axis, place);
    }
    return row;
}

double hs_stencil_network_inflow(const struct hs_problem *problem, double t,
                                 const int64_t node[HS_AXES])
{
    const struct hs_grid *grid = &problem->grid;
    enum place place[HS_AXES];
    double at[HS_AXES], inflow = 0.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        place[axis] = place_of(grid, axis, node[axis]);
        at[axis] = hs_grid_coordinate(grid, axis, node[axis]);
    }
    for (int axis = 0; axis < grid->dims; axis++) {
        const struct hs_face *face = face_at(problem, axis, place[axis]);
        if (face && face->held == 0 && face->c[0] != 0.0)
            inflow += face->edge_weight * face->c[0] * conductance(problem, axis, place) *
                      hs_value_at(&face->data, at[HS_X], at[HS_Y], at[HS_Z], t);
    }
    return inflow;
}

/* No node has row 0. */
static uint8_t number_of(const struct hs_grid *grid, int64_t i, int64_t j, int64_t k)
{
    return (uint8_t)(1 + place_of(grid, HS_X, i) + PLACES * place_of(grid, HS_Y, j) +
                     PLACES * PLACES * place_of(grid, HS_Z, k));
}

enum hs_status hs_stencil_network_make(const struct hs_problem *problem, int threads,
                                       struct hs_network *out, struct hs_error *err)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
    *out = (struct hs_network){
        .grid = *grid, .form = HS_NETWORK_BYTES, .row_count = 1 + ROWS, .forcing_count = 1};
    for (int axis = 0; axis < grid->dims; axis++)
        out->wrap[axis] = problem->face[2 * axis].wrap;
    out->row = hs_new((1 + ROWS) * sizeof *out->row);
    out->forcing = hs_new(sizeof *out->forcing);
    out->row[0].kind = HS_NODE_HELD;
    for (int n = 0; n < ROWS; n++) {
        const enum place place[HS_AXES] = {n % PLACES, n / PLACES % PLACES, n / PLACES / PLACES};
        bool there = true;
        for (int axis = grid->dims; axis < HS_AXES; axis++)
            there = there && place[axis] == INSIDE;
        out->row[1 + n] = there ? row_at(problem, place) : out->row[0];
    }
    uint8_t *number = malloc((size_t)hs_grid_count(grid));
    out->number = number;
    if (!number)
        return hs_error_add(err, HS_DEVICE, "no memory for the equations; take a smaller grid");
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < ny * grid->points[HS_Z]; r++)
        for (int64_t i = 0; i < nx; i++)
            number[r * nx + i] = number_of(grid, i, r % ny, r / ny);
    return HS_OK;
}
