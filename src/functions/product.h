/* Expressions that are a field which does not change with time, times or divided by what is free of
 * place. */
#ifndef HS_FUNCTIONS_PRODUCT_H
#define HS_FUNCTIONS_PRODUCT_H

#include "functions/evaluate.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A part f of an expression that does not change with time, and what happens to its value besides:
 * value = f, then op by op *= or /= a factor that is free of x, y, z. These are the expression's
 * own last operations, so the value has the same bits, and f need be evaluated once only.
 */
enum { HS_MOST_FACTORS = 4 };

struct hs_product {
    struct hs_expression part; /* of the expression's code */
    struct hs_expression factor[HS_MOST_FACTORS];
    bool divides[HS_MOST_FACTORS];
    int factors;
};

/* Whether the expression, which varies in space and time, is such a product. */
bool hs_expression_factor(const struct hs_expression *expression, struct hs_product *out);

/* The factors at time t, in order; where one divides, its value divides. */
void hs_product_at(const struct hs_product *product, double t, double out[HS_MOST_FACTORS]);

static inline HS_HOST_DEVICE double hs_product_value(double part, int factors, const double *factor,
                                                     const bool *divides)
{
    for (int n = 0; n < factors; n++)
        part = divides[n] ? part / factor[n] : part * factor[n];
    return part;
}

#ifdef __cplusplus
}
#endif

#endif
