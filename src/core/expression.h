/*
 * Expressions of x, y, z, t as a small bytecode that every device can read.
 *
 * input/expression.c makes them (muParser is the judge of what is an expression and what it
 * means); this header evaluates them, on the host and, included from CUDA C++, on the device.
 * The code is a stack program: constants and variables push, functions pop their arguments.
 */
#ifndef HS_CORE_EXPRESSION_H
#define HS_CORE_EXPRESSION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HS_HOST_DEVICE __host__ __device__
#else
#define HS_HOST_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, arguments popped, C expression of a, b, c): one result is pushed. */
#define HS_EXPRESSION_OPERATIONS(X)                                                                \
    X(NEGATE, 1, -a)                                                                               \
    X(ADD, 2, a + b)                                                                               \
    X(SUBTRACT, 2, a - b)                                                                          \
    X(MULTIPLY, 2, a *b)                                                                           \
    X(DIVIDE, 2, a / b)                                                                            \
    X(POWER, 2, pow(a, b))                                                                         \
    X(SQUARE, 1, a *a)                                                                             \
    X(CUBE, 1, a *a *a)                                                                            \
    X(LESS, 2, a < b ? 1.0 : 0.0)                                                                  \
    X(LESS_EQUAL, 2, a <= b ? 1.0 : 0.0)                                                           \
    X(GREATER, 2, a > b ? 1.0 : 0.0)                                                               \
    X(GREATER_EQUAL, 2, a >= b ? 1.0 : 0.0)                                                        \
    X(EQUAL, 2, a == b ? 1.0 : 0.0)                                                                \
    X(NOT_EQUAL, 2, a != b ? 1.0 : 0.0)                                                            \
    X(AND, 2, a != 0.0 && b != 0.0 ? 1.0 : 0.0)                                                    \
    X(OR, 2, a != 0.0 || b != 0.0 ? 1.0 : 0.0)                                                     \
    X(SELECT, 3, a != 0.0 ? b : c)                                                                 \
    X(SIN, 1, sin(a))                                                                              \
    X(COS, 1, cos(a))                                                                              \
    X(TAN, 1, tan(a))                                                                              \
    X(COT, 1, 1.0 / tan(a))                                                                        \
    X(ASIN, 1, asin(a))                                                                            \
    X(ACOS, 1, acos(a))                                                                            \
    X(ATAN, 1, atan(a))                                                                            \
    X(ATAN2, 2, atan2(a, b))                                                                       \
    X(SINH, 1, sinh(a))                                                                            \
    X(COSH, 1, cosh(a))                                                                            \
    X(TANH, 1, tanh(a))                                                                            \
    X(COTH, 1, 1.0 / tanh(a))                                                                      \
    X(ASINH, 1, asinh(a))                                                                          \
    X(ACOSH, 1, acosh(a))                                                                          \
    X(ATANH, 1, atanh(a))                                                                          \
    X(EXP, 1, exp(a))                                                                              \
    X(LOG, 1, log(a))                                                                              \
    X(LOG2, 1, log2(a))                                                                            \
    X(LOG10, 1, log10(a))                                                                          \
    X(SQRT, 1, sqrt(a))                                                                            \
    X(CBRT, 1, cbrt(a))                                                                            \
    X(ABS, 1, fabs(a))                                                                             \
    X(SIGN, 1, a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0)                                               \
    X(FLOOR, 1, floor(a))                                                                          \
    X(CEIL, 1, ceil(a))                                                                            \
    X(TRUNC, 1, trunc(a))                                                                          \
    X(RINT, 1, floor(a + 0.5))                                                                     \
    X(FMOD, 2, fmod(a, b))                                                                         \
    X(MIN, 2, b < a ? b : a)                                                                       \
    X(MAX, 2, a < b ? b : a)                                                                       \
    X(ERF, 1, erf(a))                                                                              \
    X(ERFC, 1, erfc(a))

enum hs_operation {
    HS_OP_CONSTANT,
    HS_OP_X, /* HS_OP_X + axis pushes that coordinate */
    HS_OP_Y,
    HS_OP_Z,
    HS_OP_T,
#define HS_OPERATION_NAME(name, arguments, meaning) HS_OP_##name,
    HS_EXPRESSION_OPERATIONS(HS_OPERATION_NAME)
#undef HS_OPERATION_NAME
        HS_OPERATIONS
};

enum { HS_EXPRESSION_DEPTH = 32 }; /* deepest stack a program may need */

struct hs_instruction {
    int32_t operation; /* enum hs_operation */
    double constant;   /* of HS_OP_CONSTANT */
};

/* What the value of an expression changes with. */
enum { HS_VARIES_X = 1, HS_VARIES_Y = 2, HS_VARIES_Z = 4, HS_VARIES_T = 8, HS_VARIES_SPACE = 7 };

struct hs_expression {
    const struct hs_instruction *code; /* [length], owned by the problem; depth already checked */
    int length;
    unsigned varies; /* HS_VARIES_... */
};

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

/* How many values an operation pops. */
int hs_operation_arguments(int operation);

/* The part of a program that leaves the value which its instruction `last` leaves. */
struct hs_expression hs_expression_part(const struct hs_instruction *code, int last);

/*
 * A part f of an expression that does not change with time, and what happens to its value besides:
 * value = f, then op by op *= or /= a factor that is free of x, y, z. These are the expression's
 * own last operations, so the value has the same bits, and f need be evaluated once only.
 */
enum { HS_MOST_FACTORS = 4 };

struct hs_product {
    struct hs_expression part; /* of the expression's code */
    struct hs_expression factor[HS_MOST_FACTORS];
    bool divides[HS_MOST_FACTORS];
    int factors;
};

/* Whether the expression, which varies in space and time, is such a product. */
bool hs_expression_factor(const struct hs_expression *expression, struct hs_product *out);

/* The factors at time t, in order; where one divides, its value divides. */
void hs_product_at(const struct hs_product *product, double t, double out[HS_MOST_FACTORS]);

static inline HS_HOST_DEVICE double hs_product_value(double part, int factors, const double *factor,
                                                     const bool *divides)
{
    for (int n = 0; n < factors; n++)
        part = divides[n] ? part / factor[n] : part * factor[n];
    return part;
}

/* A number that may vary: an expression, or a constant where `expression.code` is NULL. */
struct hs_value {
    double constant;
    struct hs_expression expression;
};

static inline unsigned hs_value_varies(const struct hs_value *value)
{
    return value->expression.code ? value->expression.varies : 0;
}

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
