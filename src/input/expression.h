/*
 * Turns the text of an expression into the bytecode of functions/program.h. What it means is what
 * muParser says, which the tests ask (tests/muparser.h).
 *
 * Operators, loosest first: ?: (from the right), ||, &&, comparisons (< <= > >= == != on one
 * level), + -, * /, a sign, ^ (from the right). So -x^2 is -(x^2) and 2^-1 is 0.5. Names: x, y, z,
 * t, pi, e.
 *
 * Every number but 0 is true. So it is for muParser where an operand varies; two constants it cuts
 * to whole numbers when it folds && and ||, so that 0.5 && 0.5 is 0 there and x && x is 1 at
 * x = 0.5. That is the one difference; here both are 1.
 */
#ifndef HS_INPUT_EXPRESSION_H
#define HS_INPUT_EXPRESSION_H

#include "core/status.h"
#include "core/value.h"

/*
 * Compiles `text`. On success *code is allocated (free it) and `out` points into it; what is
 * constant has been computed. On failure fills `reason` with what and where ("unknown name "r" at
 * column 4") and returns HS_BAD_INPUT (HS_DEVICE if memory is short).
 */
enum hs_status hs_expression_compile(const char *text, struct hs_instruction **code,
                                     struct hs_expression *out, char *reason, size_t size);

/* The names of all functions, separated by "|", for help and documents. */
const char *hs_expression_functions(void);

#endif
