#include "functions/partial.h"

#include <string.h>

static bool is_same(const struct hs_expression *a, const struct hs_expression *b)
{
    if (a->length != b->length)
        return false;
    for (int i = 0; i < a->length; i++)
        if (a->code[i].operation != b->code[i].operation ||
            memcmp(&a->code[i].constant, &b->code[i].constant, sizeof a->code[i].constant) != 0)
            return false;
    return true;
}

/* The table that holds the part's values, a new one if there is none; -1 if there is no room. */
static int table_of(struct hs_partial *out, const struct hs_expression *part)
{
    for (int n = 0; n < out->tables; n++)
        if (is_same(&out->table[n], part))
            return n;
    if (out->tables == HS_PARTIAL_TABLES)
        return -1;
    out->table[out->tables] = *part;
    return out->tables++;
}

static bool emit(struct hs_partial *out, struct hs_instruction instruction)
{
    if (out->length == HS_PARTIAL_LONGEST)
        return false;
    out->code[out->length++] = instruction;
    return true;
}

/* What is left of the part for each node, before which `depth` values are on the stack. */
static bool leave(struct hs_partial *out, const struct hs_expression *part, unsigned axes,
                  int depth)
{
    const struct hs_instruction last = part->code[part->length - 1];
    out->depth = depth + 1 > out->depth ? depth + 1 : out->depth;
    if (last.operation == HS_OP_CONSTANT)
        return emit(out, last);
    if ((part->varies & axes) != axes) {
        const int n = table_of(out, part);
        return n >= 0 && emit(out, (struct hs_instruction){HS_OP_TABLE + n, 0.0});
    }
    struct hs_expression argument[3];
    const int count = hs_operation_arguments(last.operation);
    for (int n = count - 1, end = part->length - 2; n >= 0; n--) {
        argument[n] = hs_expression_part(part->code, end);
        end -= argument[n].length;
    }
    for (int n = 0; n < count; n++)
        if (!leave(out, &argument[n], axes, depth + n))
            return false;
    return emit(out, last);
}

bool hs_expression_partial(const struct hs_expression *expression, unsigned axes,
                           struct hs_partial *out)
{
    *out = (struct hs_partial){.tables = 0};
    return (expression->varies & axes) == axes && (axes & (axes - 1)) != 0 &&
           leave(out, expression, axes, 0) && out->depth <= HS_PARTIAL_DEPTH;
}
