#include "functions/evaluate.h"
#include "functions/tabulate.h"
#include "input/expression.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = HS_TABLES_OF_NUMBERS, PLANES = HS_TABLES_OF_PLANES, FIELDS = HS_TABLES_OF_FIELDS };

/* The remaining program's value at a node. The tables' parts are evaluated at shifted coordinates
 * and times along what they must not depend on, so that any dependence shows. */
static double value_by(const struct hs_tabulation *tabulation, unsigned axes,
                       const double at[HS_AXES + 1])
{
    double number[HS_MOST_TABLES];
    struct hs_row row = {.count = 1, .step = -0.0};
    memcpy(row.at, at, sizeof row.at);
    for (int n = 0; n < tabulation->tables; n++) {
        const struct hs_expression *part = &tabulation->table[n];
        double of[HS_AXES + 1];
        for (int axis = 0; axis <= HS_AXES; axis++)
            of[axis] = part->varies & (axes | HS_VARIES_T) & (1u << axis) ? at[axis] : 7.0 + axis;
        number[n] =
            hs_expression_at(part->code, part->length, of[HS_X], of[HS_Y], of[HS_Z], of[HS_AXES]);
        row.table[n] = (struct hs_row_table){&number[n], false};
    }
    double value;
    hs_expression_row(
        &(struct hs_expression){.code = tabulation->code, .length = tabulation->length}, &row,
        &value);
    return value;
}

static const struct {
    const char *text;
    int dims, which, tables, length; /* of what is left */
} cases[] = {
    {"x*y + t*z", 3, PLANES, 2, 3},
    {"x*y + t*z", 3, NUMBERS, 0, 7},
    {"(x - t)^2 + (y - 0.5)^2 + z^2 < 0.01 ? 1 : 0", 3, PLANES, 2, 8},
    {"(x - t)^2 + (y - 0.5)^2 + z^2 < 0.01 ? 1 : 0", 3, FIELDS, 2, 8},
    {"sin(x*y*z*t)", 3, PLANES, 2, 6},
    {"sin(x*y*z*t)", 3, FIELDS, 2, 6}, /* x*y*z is only the product of its tables */
    {"x*y*z + x*y*t*z - z*(x*y)", 3, PLANES, 3, 11},
    {"max(x*x, y) - abs(z - x)*min(z, 2*t) + x*y*z", 3, PLANES, 4, 7},
    {"(3 - x*y)^z", 3, PLANES, 2, 3},
    {"x*t + y", 2, PLANES, 2, 3},
    {"x*t + y", 3, PLANES, 1, 1}, /* does not change along z: all of it */
    {"x*sin(t)", 3, NUMBERS, 1, 3},
    {"x*sin(t)*cos(2*t)/(1 + t)", 3, NUMBERS, 3, 7},
    {"x*(sin(t) + 2*t)*t", 3, NUMBERS, 1, 5}, /* t as it is */
    {"sin(x)*t", 1, PLANES, 0, 4},
    {"sin(x)*t", 1, FIELDS, 1, 3},
    {"sin(x*y*z)*exp(-t)", 3, PLANES, 3, 6},
    {"sin(x*y*z)*exp(-t)", 3, FIELDS, 2, 3},
    {"(x^2 + y^2 + z^2 < 0.3 ? 2 : x)*sin(t) + x*y*z", 3, FIELDS, 4, 7},
    {"0.3*((sin(x*y*z)*exp(t))/t)", 3, FIELDS, 2, 7},
    {"sin(x*z)*y + t", 2, FIELDS, 2, 5}, /* a line along x */
    /* more parts than tables: the last ones stay */
    {"x*y*z + 2*x*z*y + 3*y*x*z + 4*y*z*x + 5*z*x*y + 6*z*y*x + x^2*y*z + x^3*y*z + y^2*x*z + "
     "y^3*x*z",
     3, PLANES, 8, 55},
    {"x*(y+z*(x+y*(z+x*(y+z*(x+y*(z+x*(y+z)))))))", 3, PLANES, 4, 27},
};

void test_tabulate__gives_the_bits_of_the_whole(void **state)
{
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hs_expression e;
        struct hs_tabulation tabulation;
        char reason[200];
        struct hs_grid grid = {.dims = cases[n].dims, .points = {9, 9, 9}};
        struct hs_instruction *code =
            hs_expression_compile(cases[n].text, &e, reason, sizeof reason);
        if (!code)
            fail_msg("%s: %s", cases[n].text, reason);
        hs_tabulation_init(&tabulation, &e, &grid, (enum hs_tables_of)cases[n].which);
        if (tabulation.tables != cases[n].tables || tabulation.length != cases[n].length)
            fail_msg("%s, %d: %d tables, %d instructions", cases[n].text, cases[n].which,
                     tabulation.tables, tabulation.length);
        for (int i = 0; i < 60; i++) {
            const double z = cases[n].dims > 2 ? 0.9 - 0.015 * i : 7.0 + HS_Z; /* as moved */
            const double at[] = {-0.4 + 0.03 * i, 1.1 - 0.02 * i, z, 0.1 * i};
            const double value = value_by(&tabulation, (1u << grid.dims) - 1, at);
            const double expected =
                hs_expression_at(e.code, e.length, at[0], at[1], at[2], at[HS_AXES]);
            if (memcmp(&value, &expected, sizeof value) != 0 && !(isnan(value) && isnan(expected)))
                fail_msg("%s: %.17g, not %.17g", cases[n].text, value, expected);
        }
        hs_tabulation_release(&tabulation);
        free(code);
    }
}
