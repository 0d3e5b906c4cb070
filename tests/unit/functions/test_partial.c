#include "test.h"

#include "core/grid.h"
#include "functions/evaluate.h"
#include "functions/partial.h"
#include "input/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XYZ = HS_VARIES_SPACE };

/* What the plan gives at a node: the tables' parts at coordinates that they may not know are moved
 * first, so that one which depends on them shows. */
static double value_by(const struct hs_partial *plan, unsigned axes, const double at[HS_AXES + 1])
{
    double stack[HS_PARTIAL_DEPTH][1], *top = stack[0];
    for (int i = 0; i < plan->length; i++) {
        const int operation = plan->code[i].operation;
        assert_true(top <= stack[HS_PARTIAL_DEPTH]);
        if (operation >= HS_OP_TABLE) {
            const struct hs_expression *part = &plan->table[operation - HS_OP_TABLE];
            double of[HS_AXES];
            for (int axis = 0; axis < HS_AXES; axis++)
                of[axis] = part->varies & axes & (1u << axis) ? at[axis] : 7.0 + axis;
            *top++ = hs_expression_at(part->code, part->length, of[HS_X], of[HS_Y], of[HS_Z],
                                      at[HS_AXES]);
            continue;
        }
        const int count = hs_operation_arguments(operation);
        struct hs_instruction code[4];
        double given[3] = {0.0};
        top -= count;
        for (int n = 0; n < count; n++) {
            given[n] = top[n];
            code[n] = (struct hs_instruction){HS_OP_CONSTANT, given[n]};
        }
        code[count] = plan->code[i];
        *top++ = hs_expression_at(code, count + 1, 0.0, 0.0, 0.0, 0.0);
    }
    assert_true(top == stack[1]);
    return *stack[0];
}

static const struct {
    const char *text;
    unsigned axes;
    int tables, length; /* 0: not taken apart */
} cases[] = {
    {"x*y + t*z", XYZ, 2, 3},
    {"(x - t)^2 + (y - 0.5)^2 + z^2 < 0.01 ? 1 : 0", XYZ, 2, 8},
    {"sin(x*y*z*t)", XYZ, 3, 6},
    {"x*y*z + x*y*t*z - z*(x*y)", XYZ, 3, 11},
    {"max(x*x, y) - abs(z - x)*min(z, 2*t) + x*y*z", XYZ, 4, 7},
    {"(3 - x*y)^z", XYZ, 2, 3},
    {"x*t + y", HS_VARIES_X | HS_VARIES_Y, 2, 3},
    {"x*t + y", XYZ, 0, 0},          /* does not change along z */
    {"sin(x)*t", HS_VARIES_X, 0, 0}, /* nothing to work out once */
    {"x*y*z + 2*x*z*y + 3*y*x*z + 4*y*z*x + 5*z*x*y + 6*z*y*x + x^2*y*z + x^3*y*z + y^2*x*z + "
     "y^3*x*z",
     XYZ, 0, 0},                                                /* too many tables */
    {"x*(y+z*(x+y*(z+x*(y+z*(x+y*(z+x*(y+z)))))))", XYZ, 0, 0}, /* too deep */
};

void test_partial__gives_the_bits_of_the_whole(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hs_instruction *code;
        struct hs_expression e;
        struct hs_partial plan;
        char reason[200];
        if (hs_expression_compile(cases[n].text, &code, &e, reason, sizeof reason))
            fail_msg("%s: %s", cases[n].text, reason);
        const bool done = hs_expression_partial(&e, cases[n].axes, &plan);
        if (done != (cases[n].length > 0) ||
            (done && (plan.tables != cases[n].tables || plan.length != cases[n].length)))
            fail_msg("%s: %d, %d tables, %d instructions", cases[n].text, done, plan.tables,
                     plan.length);
        for (int i = 0; i < 60 && done; i++) {
            const double at[] = {-0.4 + 0.03 * i, 1.1 - 0.02 * i, 0.9 - 0.015 * i, 0.1 * i};
            const double value = value_by(&plan, cases[n].axes, at);
            const double expected =
                hs_expression_at(e.code, e.length, at[0], at[1], at[2], at[HS_AXES]);
            if (memcmp(&value, &expected, sizeof value) != 0)
                fail_msg("%s: %.17g, not %.17g", cases[n].text, value, expected);
        }
        free(code);
    }
}
