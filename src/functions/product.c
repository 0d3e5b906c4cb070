#include "functions/product.h"

#include "functions/evaluate.h"

/* Takes the last operation off: *rest is what it is applied to, *factor its other argument. */
static bool take_off(const struct hs_expression *whole, struct hs_expression *rest,
                     struct hs_expression *factor, bool *divides)
{
    const int last = whole->length - 1, operation = whole->code[last].operation;
    if (operation != HS_OP_MULTIPLY && operation != HS_OP_DIVIDE)
        return false;
    const struct hs_expression right = hs_expression_part(whole->code, last - 1);
    const struct hs_expression left = hs_expression_part(whole->code, last - 1 - right.length);
    *divides = operation == HS_OP_DIVIDE;
    const bool swap = !*divides && !(left.varies & HS_VARIES_SPACE);
    *rest = swap ? right : left;
    *factor = swap ? left : right;
    return !(factor->varies & HS_VARIES_SPACE);
}

bool hs_expression_factor(const struct hs_expression *expression, struct hs_product *out)
{
    *out = (struct hs_product){.part = *expression};
    while (out->part.varies & HS_VARIES_T) {
        struct hs_expression rest;
        if (out->factors == HS_MOST_FACTORS ||
            !take_off(&out->part, &rest, &out->factor[out->factors], &out->divides[out->factors]))
            return false;
        out->part = rest;
        out->factors++;
    }
    /* they were taken off last first */
    for (int n = 0; n < out->factors / 2; n++) {
        const int other = out->factors - 1 - n;
        const struct hs_expression factor = out->factor[n];
        const bool divides = out->divides[n];
        out->factor[n] = out->factor[other];
        out->divides[n] = out->divides[other];
        out->factor[other] = factor;
        out->divides[other] = divides;
    }
    return out->factors > 0 && (out->part.varies & HS_VARIES_SPACE);
}

void hs_product_at(const struct hs_product *product, double t, double out[HS_MOST_FACTORS])
{
    for (int n = 0; n < product->factors; n++)
        out[n] =
            hs_expression_at(product->factor[n].code, product->factor[n].length, 0.0, 0.0, 0.0, t);
}
