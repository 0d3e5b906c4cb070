/*
 * Expressions of x, y, z, t as a small bytecode that every device can execute (core/value.h).
 *
 * input/expression.c compiles them; in the tests muParser is the reference for their meaning. The
 * code is a stack program: constants and variables push, functions pop their arguments.
 */
#ifndef HS_FUNCTIONS_PROGRAM_H
#define HS_FUNCTIONS_PROGRAM_H

#include "core/value.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, arguments popped, C expression of a, b, c): one result is pushed. Each takes only a few
 * machine instructions. */
#define HS_PLAIN_OPERATIONS(X)                                                                     \
    X(NEGATE, 1, -a)                                                                               \
    X(ADD, 2, a + b)                                                                               \
    X(SUBTRACT, 2, a - b)                                                                          \
    X(MULTIPLY, 2, a *b)                                                                           \
    X(DIVIDE, 2, a / b)                                                                            \
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
    X(SQRT, 1, sqrt(a))                                                                            \
    X(ABS, 1, fabs(a))                                                                             \
    X(SIGN, 1, a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0)                                               \
    X(FLOOR, 1, floor(a))                                                                          \
    X(CEIL, 1, ceil(a))                                                                            \
    X(TRUNC, 1, trunc(a))                                                                          \
    X(RINT, 1, floor(a + 0.5))                                                                     \
    X(MIN, 2, b < a ? b : a)                                                                       \
    X(MAX, 2, a < b ? b : a)

/* Math library calls, which take many instructions and round differently on a GPU. */
#define HS_CALL_OPERATIONS(X)                                                                      \
    X(POWER, 2, pow(a, b))                                                                         \
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
    X(CBRT, 1, cbrt(a))                                                                            \
    X(FMOD, 2, fmod(a, b))                                                                         \
    X(ERF, 1, erf(a))                                                                              \
    X(ERFC, 1, erfc(a))

enum hs_operation {
    HS_OP_CONSTANT,
    HS_OP_X, /* HS_OP_X + axis pushes that coordinate */
    HS_OP_Y,
    HS_OP_Z,
    HS_OP_T,
#define HS_OPERATION_NAME(name, arguments, meaning) HS_OP_##name,
    HS_PLAIN_OPERATIONS(HS_OPERATION_NAME) HS_CALL_OPERATIONS(HS_OPERATION_NAME)
#undef HS_OPERATION_NAME
        HS_OPERATIONS,
    HS_OP_TABLE = HS_OPERATIONS /* HS_OP_TABLE + n pushes the node's value from table n */
};

enum {
    HS_EXPRESSION_DEPTH = 32, /* maximum stack depth of a program */
    HS_MOST_TABLES = 8
};

/* The number of values an operation pops; whether it is a math library call. */
int hs_operation_arguments(int operation);
bool hs_operation_is_call(int operation);

/* The maximum number of values on the stack. */
int hs_program_depth(const struct hs_instruction *code, int length);

/* The part of a program that computes the result of instruction `last`, arguments included. */
struct hs_expression hs_expression_part(const struct hs_instruction *code, int last);

#ifdef __cplusplus
}
#endif

#endif
