/* Values of expressions, at a point or along a row of nodes. */
#ifndef HS_FUNCTIONS_EVALUATE_H
#define HS_FUNCTIONS_EVALUATE_H

#include "functions/program.h"

#include <math.h>

#ifdef __CUDACC__
#define HS_HOST_DEVICE __host__ __device__
#else
#define HS_HOST_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Value at (x, y, z) [m] and t [s]. */
static inline HS_HOST_DEVICE double hs_expression_at(const struct hs_instruction *code, int length,
                                                     double x, double y, double z, double t)
{
    double stack[HS_EXPRESSION_DEPTH];
    int top = 0; /* values on the stack */
    for (int i = 0; i < length; i++) {
        double a = top > 0 ? stack[top - 1] : 0.0;
        switch (code[i].operation) {
        case HS_OP_CONSTANT: stack[top++] = code[i].constant; break;
        case HS_OP_X: stack[top++] = x; break;
        case HS_OP_Y: stack[top++] = y; break;
        case HS_OP_Z: stack[top++] = z; break;
        case HS_OP_T: stack[top++] = t; break;
#define HS_OPERATION_CASE(name, arguments, meaning)                                                \
    case HS_OP_##name: {                                                                           \
        top -= arguments;                                                                          \
        a = stack[top];                                                                            \
        const double b = arguments > 1 ? stack[top + (arguments > 1 ? 1 : 0)] : 0.0;               \
        const double c = arguments > 2 ? stack[top + (arguments > 2 ? 2 : 0)] : 0.0;               \
        (void)b, (void)c;                                                                          \
        stack[top++] = (meaning);                                                                  \
        break;                                                                                     \
    }
            HS_EXPRESSION_OPERATIONS(HS_OPERATION_CASE)
#undef HS_OPERATION_CASE
        default: break;
        }
    }
    /* a program has one instruction at least, and leaves one value */
    /* cppcheck-suppress uninitvar */
    return stack[0];
}

/* Values along a row of nodes: out[i] at x + i*dx, i < count. Much faster than one call a node. */
void hs_expression_row(const struct hs_expression *expression, int64_t count, double x, double dx,
                       double y, double z, double t, double *out);

static inline double hs_value_at(const struct hs_value *value, double x, double y, double z,
                                 double t)
{
    return value->expression.code
               ? hs_expression_at(value->expression.code, value->expression.length, x, y, z, t)
               : value->constant;
}

#ifdef __cplusplus
}
#endif

#endif
