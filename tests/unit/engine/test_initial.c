/* The initial field's way to a stand-in backend, which keeps it. */
#include "engine/initial.h"
#include "functions/fields.h"
#include "functions/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4 << 20 }; /* at a time: a device locks memory for them */

struct hs_backend_state {
    const struct hs_grid *grid;
    double *field;
    int64_t nodes; /* received */
    double *space;
    size_t bytes;
};

static enum hs_status upload_space(struct hs_backend_state *s, size_t bytes, void **values,
                                   struct hs_error *err)
{
    free(s->space);
    *values = s->space = malloc(bytes);
    s->bytes = bytes;
    return HS_OK;
}

static enum hs_status upload(struct hs_backend_state *s, const struct hs_box *box,
                             const void *values, struct hs_error *err)
{
    const int64_t *points = s->grid->points;
    const size_t bytes = (size_t)hs_box_count(box) * sizeof *s->field;
    const int64_t first = (box->lo[HS_Z] * points[HS_Y] + box->lo[HS_Y]) * points[HS_X];
    assert_int_equal(box->hi[HS_X] - box->lo[HS_X], points[HS_X]); /* whole rows, and whole */
    if (box->hi[HS_Z] - box->lo[HS_Z] > 1)                         /* planes if several */
        assert_int_equal(box->hi[HS_Y] - box->lo[HS_Y], points[HS_Y]);
    assert_true(bytes <= MOST_BYTES);
    if (s->space) {
        assert_ptr_equal(values, s->space);
        assert_true(bytes <= s->bytes && s->bytes <= MOST_BYTES);
    }
    memcpy(s->field + first, values, bytes);
    s->nodes += hs_box_count(box);
    return HS_OK;
}

static void check(struct hs_grid grid, bool own_memory)
{
    static const struct hs_instruction code[] = {
        {HS_OP_X, 0}, {HS_OP_Y, 0}, {HS_OP_ADD, 0}, {HS_OP_Z, 0}, {HS_OP_ADD, 0}};
    const struct hs_backend backend = {.upload = upload,
                                       .upload_space = own_memory ? upload_space : NULL};
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid = grid;
    problem.precision = HS_DOUBLE;
    problem.initial.field.value.expression = (struct hs_expression){
        code, sizeof code / sizeof *code, HS_VARIES_X | HS_VARIES_Y | HS_VARIES_Z};
    const int64_t nx = grid.points[HS_X], ny = grid.points[HS_Y];
    struct hs_backend_state state = {.grid = &grid,
                                     .field = calloc((size_t)hs_grid_count(&grid), sizeof(double))};
    assert_ok(hs_initial_upload(&problem, NULL, &backend, &state, &err));
    assert_int_equal(state.nodes, hs_grid_count(&grid));
    double *row = malloc((size_t)nx * sizeof *row);
    for (int64_t r = 0; r < ny * grid.points[HS_Z]; r++) {
        hs_problem_initial_row(&problem, r % ny, r / ny, row);
        assert_memory_equal(state.field + r * nx, row, (size_t)nx * sizeof *row);
    }
    free(row);
    free(state.field);
    free(state.space);
}

/* Many planes at a time, parts of a plane, and a last part that is smaller. */
void test_initial__little_goes_up_at_once(void **state)
{
    static const struct hs_grid grids[] = {
        {.dims = 3, .points = {201, 151, 49}, .spacing = {0.5, 1.0, 2.0}},
        {.dims = 3, .points = {1003, 601, 3}, .spacing = {0.5, 1.0, 2.0}},
        {.dims = 2, .points = {5003, 307, 1}, .spacing = {0.5, 1.0, 1.0}},
        {.dims = 1, .points = {30001, 1, 1}, .spacing = {0.5, 1.0, 1.0}}};
    for (size_t n = 0; n < sizeof grids / sizeof *grids; n++) {
        check(grids[n], false);
        check(grids[n], true);
    }
}
