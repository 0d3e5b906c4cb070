#include "functions/evaluate.h"

#include <math.h>

enum { STRIP = 128 }; /* nodes at a time, so that a program's stack stays in L1 */

/* A value on the stack. */
struct operand {
    const double *at; /* at[i & each] is for node i */
    int64_t each;     /* -1: one value per node; 0: one for all nodes */
};

/* Evaluates nodes from `first` on. False if all have the same value; then only *out is set. */
static bool strip(const struct hs_expression *program, const struct hs_row *row, int64_t first,
                  int count, double *out)
{
    /* `value` is separate, so that node values do not overwrite a value for all nodes that is still
     * read. Binary operations have loops of their own: the masked form takes twice as long. */
    double values[HS_EXPRESSION_DEPTH][STRIP], value[HS_EXPRESSION_DEPTH], along[STRIP];
    struct operand stack[HS_EXPRESSION_DEPTH];
    int top = 0, known = 0;
    for (int n = 0; n < program->length; n++) {
        const struct hs_instruction *in = &program->code[n];
        switch (in->operation) {
        case HS_OP_CONSTANT: stack[top++] = (struct operand){&in->constant, 0}; break;
        case HS_OP_X:
        case HS_OP_Y:
        case HS_OP_Z:
        case HS_OP_T: {
            const double *at = &row->at[in->operation - HS_OP_X];
            const bool varies = at == &row->at[row->axis];
            for (; varies && known < count && !row->places; known++)
                along[known] = *at + (double)(first + known) * row->step;
            if (varies)
                at = row->places ? row->places + first : along;
            stack[top++] = (struct operand){at, varies ? -1 : 0};
            break;
        }
#define HS_STRIP(first, second, third, meaning)                                                    \
    for (int i = 0; i < nodes; i++) {                                                              \
        const double a = first, b = second, c = third;                                             \
        (void)b, (void)c;                                                                          \
        to[i] = (meaning);                                                                         \
    }
#define HS_OPERATION_STRIP(name, arguments, meaning)                                               \
    case HS_OP_##name: {                                                                           \
        top -= arguments;                                                                          \
        const struct operand p = stack[top], q = stack[top + (arguments > 1 ? 1 : 0)],             \
                             r = stack[top + (arguments > 2 ? 2 : 0)];                             \
        const int64_t each = p.each | q.each | r.each;                                             \
        double *const to = n == program->length - 1 ? out : each ? values[top] : &value[top];      \
        const int nodes = each ? count : 1;                                                        \
        if (arguments == 2 && each && !q.each)                                                     \
            HS_STRIP(p.at[i], *q.at, 0.0, meaning)                                                 \
        else if (arguments == 2 && each && !p.each)                                                \
            HS_STRIP(*p.at, q.at[i], 0.0, meaning)                                                 \
        else if (arguments < 3)                                                                    \
            HS_STRIP(p.at[i], q.at[i], 0.0, meaning)                                               \
        else                                                                                       \
            HS_STRIP(p.at[i & p.each], q.at[i & q.each], r.at[i & r.each], meaning)                \
        stack[top++] = (struct operand){to, each};                                                 \
        break;                                                                                     \
    }
            HS_PLAIN_OPERATIONS(HS_OPERATION_STRIP)
            HS_CALL_OPERATIONS(HS_OPERATION_STRIP)
#undef HS_OPERATION_STRIP
#undef HS_STRIP
        default: {
            const struct hs_row_table *table = &row->table[in->operation - HS_OP_TABLE];
            stack[top++] = (struct operand){table->values + (table->varies ? first : 0),
                                            table->varies ? -1 : 0};
        }
        }
    }
    /* a program has at least one instruction and leaves one value */
    /* cppcheck-suppress uninitvar */
    const struct operand left = stack[0];
    for (int i = 0; i < (left.each ? count : 1) && left.at != out; i++)
        out[i] = left.at[i];
    return left.each != 0;
}

void hs_expression_row(const struct hs_expression *expression, const struct hs_row *row,
                       double *out)
{
    for (int64_t done = 0; done < row->count; done += STRIP) {
        const int64_t left = row->count - done;
        if (strip(expression, row, row->first + done, left < STRIP ? (int)left : STRIP, out + done))
            continue;
        for (int64_t i = 1; i < row->count; i++)
            out[i] = out[0];
        return;
    }
}

struct hs_row hs_row_along(const struct hs_grid *grid, int axis, const int64_t node[HS_AXES],
                           int64_t count, double t)
{
    struct hs_row row = {.axis = axis,
                         .first = node[axis],
                         .count = count,
                         .at = {[HS_AXES] = t},
                         .step = grid->spacing[axis],
                         .places = hs_grid_places(grid, axis)};
    for (int a = 0; a < HS_AXES; a++)
        row.at[a] = a == axis ? grid->lower[a] : hs_grid_coordinate(grid, a, node[a]);
    return row;
}

double hs_expression_at(const struct hs_instruction *code, int length, double x, double y, double z,
                        double t)
{
    /* x + 0*-0 is x, even if x is -0 */
    const struct hs_row row = {.count = 1, .at = {x, y, z, t}, .step = -0.0};
    double value;
    hs_expression_row(&(struct hs_expression){.code = code, .length = length}, &row, &value);
    return value;
}

double hs_value_at(const struct hs_value *value, double x, double y, double z, double t)
{
    return value->expression.code
               ? hs_expression_at(value->expression.code, value->expression.length, x, y, z, t)
               : value->constant;
}

double hs_value_at_node(const struct hs_value *value, const struct hs_grid *grid,
                        const int64_t node[HS_AXES], double t)
{
    return hs_value_at(value, hs_grid_coordinate(grid, HS_X, node[HS_X]),
                       hs_grid_coordinate(grid, HS_Y, node[HS_Y]),
                       hs_grid_coordinate(grid, HS_Z, node[HS_Z]), t);
}
