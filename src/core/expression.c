#include "core/expression.h"

enum { STRIP = 64 }; /* nodes at a time: the whole stack stays in the L1 cache */

static void strip(const struct hs_expression *expression, int count, const double *x, double y,
                  double z, double t, double *out)
{
    double stack[HS_EXPRESSION_DEPTH][STRIP];
    int top = 0;
    for (int n = 0; n < expression->length; n++) {
        const struct hs_instruction *in = &expression->code[n];
        switch (in->operation) {
        case HS_OP_CONSTANT:
        case HS_OP_Y:
        case HS_OP_Z:
        case HS_OP_T: {
            const double value = in->operation == HS_OP_CONSTANT ? in->constant
                                 : in->operation == HS_OP_Y      ? y
                                 : in->operation == HS_OP_Z      ? z
                                                                 : t;
            for (int i = 0; i < count; i++)
                stack[top][i] = value;
            top++;
            break;
        }
        case HS_OP_X:
            for (int i = 0; i < count; i++)
                stack[top][i] = x[i];
            top++;
            break;
#define HS_OPERATION_STRIP(name, arguments, meaning)                                               \
    case HS_OP_##name:                                                                             \
        top -= arguments;                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            const double a = stack[top][i];                                                        \
            const double b = stack[top + (arguments > 1 ? 1 : 0)][i];                              \
            const double c = stack[top + (arguments > 2 ? 2 : 0)][i];                              \
            (void)b, (void)c;                                                                      \
            stack[top][i] = (meaning);                                                             \
        }                                                                                          \
        top++;                                                                                     \
        break;
            HS_EXPRESSION_OPERATIONS(HS_OPERATION_STRIP)
#undef HS_OPERATION_STRIP
        default: break;
        }
    }
    for (int i = 0; i < count; i++)
        out[i] = stack[0][i];
}

void hs_expression_row(const struct hs_expression *expression, int64_t count, double x, double dx,
                       double y, double z, double t, double *out)
{
    if (!(expression->varies & HS_VARIES_X)) {
        const double value = hs_expression_at(expression->code, expression->length, x, y, z, t);
        for (int64_t i = 0; i < count; i++)
            out[i] = value;
        return;
    }
    double at[STRIP];
    for (int64_t first = 0; first < count; first += STRIP) {
        const int n = (int)(count - first < STRIP ? count - first : STRIP);
        for (int i = 0; i < n; i++)
            at[i] = x + (double)(first + i) * dx;
        strip(expression, n, at, y, z, t, out + first);
    }
}

int hs_operation_arguments(int operation)
{
    switch (operation) {
#define HS_OPERATION_ARGUMENTS(name, arguments, meaning)                                           \
    case HS_OP_##name: return arguments;
        HS_EXPRESSION_OPERATIONS(HS_OPERATION_ARGUMENTS)
#undef HS_OPERATION_ARGUMENTS
    default: return 0;
    }
}

struct hs_expression hs_expression_part(const struct hs_instruction *code, int last)
{
    struct hs_expression part = {.code = code + last + 1};
    for (int wanted = 1; wanted > 0; wanted--) {
        const int operation = (--part.code)->operation;
        part.length++;
        wanted += hs_operation_arguments(operation);
        if (operation >= HS_OP_X && operation <= HS_OP_Z)
            part.varies |= (unsigned)HS_VARIES_X << (operation - HS_OP_X);
        part.varies |= operation == HS_OP_T ? HS_VARIES_T : 0u;
    }
    return part;
}

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
