/*
 * Turns the text of an expression into the bytecode of functions/program.h. The only module that
 * includes muParser, which judges the syntax and is the reference for the meaning.
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

/* The value that muParser gives, with the same names defined. False if it refuses the text. */
bool hs_expression_reference(const char *text, double x, double y, double z, double t, double *out);

/* The names of all functions, separated by "|", for help and documents. */
const char *hs_expression_functions(void);

#endif
