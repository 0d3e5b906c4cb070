/*
 * Values that may depend on place and time, as data: a constant, or a program that
 * functions/evaluate.h evaluates.
 */
#ifndef HS_CORE_VALUE_H
#define HS_CORE_VALUE_H

#include <stdint.h>

/* What the value of an expression depends on. */
enum { HS_VARIES_X = 1, HS_VARIES_Y = 2, HS_VARIES_Z = 4, HS_VARIES_T = 8, HS_VARIES_SPACE = 7 };

struct hs_instruction {
    int32_t operation; /* enum hs_operation of functions/program.h */
    double constant;   /* of HS_OP_CONSTANT */
};

struct hs_expression {
    const struct hs_instruction *code; /* [length], owned by the problem; depth already checked */
    int length;
    unsigned varies; /* HS_VARIES_... */
};

/* An expression, or a constant where `expression.code` is NULL. */
struct hs_value {
    double constant;
    struct hs_expression expression;
};

static inline unsigned hs_value_varies(const struct hs_value *value)
{
    return value->expression.code ? value->expression.varies : 0;
}

#endif
