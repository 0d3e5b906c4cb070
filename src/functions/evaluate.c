#include "functions/evaluate.h"

enum { STRIP = 64 }; /* nodes at a time: the whole stack stays in the L1 cache */

static void strip(const struct hs_expression *expression, int count, const double *x, double y,
                  double z, double t, double *out)
{
    double stack[HS_EXPRESSION_DEPTH][STRIP];
    int top = 0;
    for (int n = 0; n < expression->length; n++) {
        const struct hs_instruction *in = &expression->code[n];
        switch (in->operation) {
        case HS_OP_CONSTANT:
        case HS_OP_Y:
        case HS_OP_Z:
        case HS_OP_T: {
            const double value = in->operation == HS_OP_CONSTANT ? in->constant
                                 : in->operation == HS_OP_Y      ? y
                                 : in->operation == HS_OP_Z      ? z
                                                                 : t;
            for (int i = 0; i < count; i++)
                stack[top][i] = value;
            top++;
            break;
        }
        case HS_OP_X:
            for (int i = 0; i < count; i++)
                stack[top][i] = x[i];
            top++;
            break;
#define HS_OPERATION_STRIP(name, arguments, meaning)                                               \
    case HS_OP_##name:                                                                             \
        top -= arguments;                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            const double a = stack[top][i];                                                        \
            const double b = stack[top + (arguments > 1 ? 1 : 0)][i];                              \
            const double c = stack[top + (arguments > 2 ? 2 : 0)][i];                              \
            (void)b, (void)c;                                                                      \
            stack[top][i] = (meaning);                                                             \
        }                                                                                          \
        top++;                                                                                     \
        break;
            HS_EXPRESSION_OPERATIONS(HS_OPERATION_STRIP)
#undef HS_OPERATION_STRIP
        default: break;
        }
    }
    for (int i = 0; i < count; i++)
        out[i] = stack[0][i];
}

void hs_expression_row(const struct hs_expression *expression, int64_t count, double x, double dx,
                       double y, double z, double t, double *out)
{
    if (!(expression->varies & HS_VARIES_X)) {
        const double value = hs_expression_at(expression->code, expression->length, x, y, z, t);
        for (int64_t i = 0; i < count; i++)
            out[i] = value;
        return;
    }
    double at[STRIP];
    for (int64_t first = 0; first < count; first += STRIP) {
        const int n = (int)(count - first < STRIP ? count - first : STRIP);
        for (int i = 0; i < n; i++)
            at[i] = x + (double)(first + i) * dx;
        strip(expression, n, at, y, z, t, out + first);
    }
}
