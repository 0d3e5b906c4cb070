#include "functions/evaluate.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* t > 0 ? sin(x)^2 + y*z : exp(-x), by hand */
static const struct hs_instruction program[] = {
    {HS_OP_T, 0},        {HS_OP_CONSTANT, 0.0}, {HS_OP_GREATER, 0}, {HS_OP_X, 0},
    {HS_OP_SIN, 0},      {HS_OP_SQUARE, 0},     {HS_OP_Y, 0},       {HS_OP_Z, 0},
    {HS_OP_MULTIPLY, 0}, {HS_OP_ADD, 0},        {HS_OP_X, 0},       {HS_OP_NEGATE, 0},
    {HS_OP_EXP, 0},      {HS_OP_SELECT, 0}};
enum { LENGTH = sizeof program / sizeof program[0] };

void test_evaluate__is_a_stack_program(void **state)
{
    const double s = sin(0.3);
    assert_true(hs_expression_at(program, LENGTH, 0.3, 2.0, 5.0, 1.0) == s * s + 10.0);
    assert_true(hs_expression_at(program, LENGTH, 0.3, 2.0, 5.0, -1.0) == exp(-0.3));
}

/* Lengths around the strip of 128 and beyond; the same bits as one call per node. */
void test_evaluate__rows_are_the_same_as_single_nodes(void **state)
{
    const struct hs_expression all = {program, LENGTH, 15};
    static const struct hs_instruction only_t[] = {{HS_OP_T, 0}, {HS_OP_COS, 0}};
    const struct hs_expression uniform = {only_t, 2, HS_VARIES_T};
    const struct hs_expression *const both[] = {&all, &uniform};
    const double lower = 0.1, dx = 1.0 / 3.0;
    for (int e = 0; e < 2; e++)
        for (int count = 1; count < 300; count += 21) {
            double row[300];
            row[count] = -77.0;
            const struct hs_row at = {.count = count, .at = {lower, 0.5, 0.7, 2.0}, .step = dx};
            hs_expression_row(both[e], &at, row);
            for (int i = 0; i < count; i++) {
                const double one =
                    hs_expression_at(both[e]->code, both[e]->length, lower + i * dx, 0.5, 0.7, 2.0);
                assert_memory_equal(&row[i], &one, sizeof one);
            }
            assert_true(row[count] == -77.0);
        }
}

/* Also y alone, which is the list itself. */
void test_evaluate__rows_of_a_stretched_axis_have_its_coordinates(void **state)
{
    static const struct hs_instruction only_y[] = {{HS_OP_Y, 0}};
    const struct hs_expression all = {program, LENGTH, 15}, plain = {only_y, 1, HS_VARIES_Y};
    const struct hs_expression *const both[] = {&all, &plain};
    double place[300], row[300];
    for (int i = 0; i < 300; i++)
        place[i] = 0.1 + 0.01 * i * i;
    const struct hs_grid grid = {.dims = 2,
                                 .points = {5, 300, 1},
                                 .lower = {0.5, 0.1, 0.7},
                                 .spacing = {1.0, 0.01, 1.0},
                                 .coordinate = {NULL, place}};
    for (int e = 0; e < 2; e++) {
        const struct hs_row at = hs_row_along(&grid, HS_Y, (const int64_t[]){3, 0, 0}, 300, 2.0);
        hs_expression_row(both[e], &at, row);
        for (int i = 0; i < 300; i++) {
            const double one =
                hs_expression_at(both[e]->code, both[e]->length, 3.5, place[i], 0.7, 2.0);
            assert_memory_equal(&row[i], &one, sizeof one);
        }
    }
}

void test_evaluate__a_value_without_code_is_its_constant(void **state)
{
    const struct hs_value constant = {.constant = 4.5};
    const struct hs_value varying = {.expression = {program, LENGTH, 15}};
    assert_true(hs_value_at(&constant, 1, 2, 3, 4) == 4.5);
    assert_int_equal(hs_value_varies(&constant), 0);
    assert_int_equal(hs_value_varies(&varying), 15);
    assert_true(hs_value_at(&varying, 0.3, 2, 5, -1) == exp(-0.3));
}

/* Operations between values that differ from node to node and one that all nodes share, on either
 * side, and rows' values from tables: as with each node's own. */
void test_evaluate__what_all_nodes_share_mixes_with_what_they_do_not(void **state)
{
    static const struct hs_instruction terms[] = {
        {HS_OP_X, 0}, {HS_OP_Y, 0}, {HS_OP_TABLE, 0}, {HS_OP_TABLE + 1, 0}, {HS_OP_CONSTANT, 3.5}};
    enum { TERMS = sizeof terms / sizeof terms[0], COUNT = 150 };
    double values[COUNT], once = -1.25, row[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = 0.01 * i * i;
    const struct hs_row at = {
        .count = COUNT, .at = {0.25, 7.0}, .step = 0.5, .table = {{values, true}, {&once, false}}};
    for (int n = 0; n < TERMS * TERMS * TERMS; n++) {
        const int a = n % TERMS, b = n / TERMS % TERMS, c = n / TERMS / TERMS;
        const struct hs_instruction code[] = {
            terms[a],          terms[b],         {HS_OP_SUBTRACT, 0},
            terms[c],          terms[a],         {HS_OP_MULTIPLY, 0},
            {HS_OP_DIVIDE, 0}, {HS_OP_NEGATE, 0}};
        hs_expression_row(
            &(struct hs_expression){.code = code, .length = sizeof code / sizeof *code}, &at, row);
        for (int i = 0; i < COUNT; i++) {
            const double of[TERMS] = {0.25 + 0.5 * i, 7.0, values[i], once, 3.5};
            const double expected = -((of[a] - of[b]) / (of[c] * of[a]));
            assert_memory_equal(&row[i], &expected, sizeof expected);
        }
    }
    for (int n = 0; n < TERMS; n++) { /* a value alone */
        hs_expression_row(&(struct hs_expression){.code = &terms[n], .length = 1}, &at, row);
        for (int i = 0; i < COUNT; i++) {
            const double of[TERMS] = {0.25 + 0.5 * i, 7.0, values[i], once, 3.5};
            assert_true(row[i] == of[n]);
        }
    }
}

void test_evaluate__a_point_keeps_the_sign_of_its_zero(void **state)
{
    static const struct hs_instruction over[] = {
        {HS_OP_CONSTANT, 1.0}, {HS_OP_X, 0}, {HS_OP_DIVIDE, 0}};
    assert_true(hs_expression_at(over, 3, -0.0, 0, 0, 0) == -INFINITY);
    assert_true(hs_expression_at(over, 3, 0.0, 0, 0, 0) == INFINITY);
}
