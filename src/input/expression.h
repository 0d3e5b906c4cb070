/*
 * Compiles the text of an expression to the bytecode of functions/program.h. The meaning is that of
 * muParser, against which the tests compare (tests/muparser.h).
 *
 * Operators from lowest precedence: ?: (right to left), ||, &&, comparisons (< <= > >= == != on one
 * level), + -, * /, unary sign, ^ (right to left). So -x^2 is -(x^2) and 2^-1 is 0.5. Names: x, y,
 * z, t, pi, e.
 *
 * Every number but 0 is true. In muParser this holds if an operand varies, but when it folds && and
 * || of two constants it truncates them to integers, so that 0.5 && 0.5 is 0 there while x && x is
 * 1 at x = 0.5. Here both are 1. This is the only difference.
 */
#ifndef HS_INPUT_EXPRESSION_H
#define HS_INPUT_EXPRESSION_H

#include "core/value.h"

#include <stddef.h>

/*
 * Compiles `text`; constant parts are folded. Returns the code of `out`, for the caller to free; or
 * NULL, and `reason` has the error and its position ("unknown name "r" at column 4").
 */
struct hs_instruction *hs_expression_compile(const char *text, struct hs_expression *out,
                                             char *reason, size_t size);

/* The names of all functions, separated by "|", for help texts and documents. */
const char *hs_expression_functions(void);

#endif
