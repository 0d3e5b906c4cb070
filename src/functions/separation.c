#include "functions/separation.h"

static unsigned bit_of(int axis)
{
    return (unsigned)HS_VARIES_X << axis;
}

static const struct hs_expression none;

/* Splits a last `operation` with an argument free of `others` (to `taken`; the rest to `whole`). */
static bool take_off(struct hs_expression *whole, int operation, unsigned others,
                     struct hs_expression *taken)
{
    const int last = whole->length - 1;
    if (whole->code[last].operation != operation)
        return false;
    const struct hs_expression right = hs_expression_part(whole->code, last - 1);
    const struct hs_expression left = hs_expression_part(whole->code, last - 1 - right.length);
    const bool swap = !(left.varies & others);
    if (!swap && (right.varies & others))
        return false;
    *taken = swap ? left : right;
    *whole = swap ? right : left;
    return true;
}

static bool separate_along(const struct hs_expression *expression, int axis,
                           struct hs_separation *out)
{
    const unsigned others = HS_VARIES_SPACE & ~bit_of(axis);
    *out = (struct hs_separation){.axis = axis, .plane = *expression};
    if (!take_off(&out->plane, HS_OP_ADD, others, &out->offset))
        out->offset = none;
    if ((out->plane.varies & bit_of(axis)) &&
        !take_off(&out->plane, HS_OP_MULTIPLY, others, &out->column))
        return false;
    return !(out->plane.varies & bit_of(axis)) && (out->plane.varies & others) != 0;
}

bool hs_expression_separate(const struct hs_expression *expression, int dims,
                            struct hs_separation *out)
{
    const unsigned all = (1u << dims) - 1;
    if (dims < 2 || (expression->varies & all) != all)
        return false;
    for (int axis = dims - 1; axis >= 0; axis--)
        if (separate_along(expression, axis, out))
            return true;
    return false;
}
