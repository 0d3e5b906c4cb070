/*
 * Turns the text of an expression into the bytecode of core/expression.h. The only module that
 * includes muParser, which judges the syntax and is the reference for the meaning.
 */
#ifndef HS_INPUT_EXPRESSION_H
#define HS_INPUT_EXPRESSION_H

#include "core/expression.h"
#include "core/status.h"

/*
 * Compiles `text`, in x, y, z, t and pi, e. On success *code is allocated (free it) and `out`
 * points into it. On failure fills `reason` with what and where ("unknown name \"r\" at column 4")
 * and returns HS_BAD_INPUT.
 */
enum hs_status hs_expression_compile(const char *text, struct hs_instruction **code,
                                     struct hs_expression *out, char *reason, size_t size);

#endif
