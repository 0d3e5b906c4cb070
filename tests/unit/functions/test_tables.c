#include "functions/evaluate.h"
#include "functions/tables.h"
#include "input/expression.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_grid grid = {
    .dims = 3, .points = {70, 5, 6}, .lower = {-0.5, 0.25, 0.0}, .spacing = {0.0625, 0.125, 0.3}};

static const char *const texts[] = {
    "exp(-(x - t)^2 - y*t)*cos(z) + t", "x*t", "y*z + t",        "sin(x*y*z)*sin(t)", "x + y + z*t",
    "(x - t)^2 + y^2 + z^2 < 0.3",      "t*t", "z > 0.5 ? t : x"};

/* At increasing times and back: the bits of the whole expression at each node. */
void test_tables__rows_have_the_expressions_bits(void **state)
{
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
        for (int which = HS_TABLES_OF_NUMBERS; which <= HS_TABLES_OF_FIELDS; which++) {
            struct hs_expression e;
            struct hs_tables tables;
            char reason[200];
            struct hs_instruction *code =
                hs_expression_compile(texts[n], &e, reason, sizeof reason);
            assert_non_null(code);
            assert_true(hs_tables_init(&tables, &e, &grid, (enum hs_tables_of)which));
            for (int turn = 0; turn < 12; turn++) {
                const double t = 0.1 * (turn % 5);
                hs_tables_fill(&tables, t, 1 + turn % 3);
                for (int64_t row = 0; row < grid.points[HS_Y] * grid.points[HS_Z]; row++) {
                    double got[70], expected[70], part[13];
                    const int64_t j = row % grid.points[HS_Y], k = row / grid.points[HS_Y];
                    hs_tables_row(&tables, 0, 70, j, k, got);
                    hs_tables_row(&tables, 50, 13, j, k, part);
                    const struct hs_row at =
                        hs_row_along(&grid, HS_X, (const int64_t[HS_AXES]){0, j, k}, 70, t);
                    hs_expression_row(&e, &at, expected);
                    if (memcmp(got, expected, sizeof got) != 0 ||
                        memcmp(part, expected + 50, sizeof part) != 0)
                        fail_msg("%s, %d, row %lld, t = %g", texts[n], which, (long long)row, t);
                }
            }
            hs_tables_release(&tables);
            free(code);
        }
}
