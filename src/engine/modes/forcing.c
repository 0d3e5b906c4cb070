#include "engine/modes/forcing.h"

#include "engine/modes/axis_matrix.h"
#include "functions/evaluate.h"

static double number_of(const struct hs_problem *problem, const struct hs_value *value)
{
    const double *at = problem->grid.lower;
    return hs_value_at(value, at[HS_X], at[HS_Y], at[HS_Z], 0.0);
}

bool hs_forcing_is_sum(const struct hs_problem *problem)
{
    const struct hs_field *source = &problem->source.field;
    bool sum = !hs_field_is_numbers(source) && !hs_value_varies(&source->value);
    for (int n = 0; n < 2 * problem->grid.dims; n++) {
        const struct hs_face *face = &problem->face[n];
        sum = sum && !hs_value_varies(&face->data) && (face->held == 0 || face->prescribed);
    }
    return sum;
}

void hs_forcing_along(const struct hs_problem *problem, const struct hs_stencil *stencil,
                      double step, int axis, double *out)
{
    const struct hs_axis_matrix matrix = hs_axis_matrix_of(problem, stencil, axis);
    const double data[2] = {number_of(problem, &matrix.face[0].data),
                            number_of(problem, &matrix.face[1].data)};
    double source = 0.0;
    if (axis == HS_X && problem->source.present)
        source = number_of(problem, &problem->source.field.value) * problem->source.rate *
                 (problem->raw ? 1.0 : step);
    for (int64_t row = 0; row < hs_axis_matrix_rows(&matrix); row++)
        out[row] = source + hs_axis_matrix_rest(&matrix, row, data);
}
