#include "core/expression.h"
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

void test_expression__is_a_stack_program(void **state)
{
    (void)state;
    const double s = sin(0.3);
    assert_true(hs_expression_at(program, LENGTH, 0.3, 2.0, 5.0, 1.0) == s * s + 10.0);
    assert_true(hs_expression_at(program, LENGTH, 0.3, 2.0, 5.0, -1.0) == exp(-0.3));
}

/* Lengths about the strip of 64 and beyond; the same bits as one call a node. */
void test_expression__rows_are_the_same_as_single_nodes(void **state)
{
    (void)state;
    const struct hs_expression all = {program, LENGTH, 15};
    static const struct hs_instruction only_t[] = {{HS_OP_T, 0}, {HS_OP_COS, 0}};
    const struct hs_expression uniform = {only_t, 2, HS_VARIES_T};
    const struct hs_expression *const both[] = {&all, &uniform};
    const double lower = 0.1, dx = 1.0 / 3.0;
    for (int e = 0; e < 2; e++)
        for (int count = 1; count < 200; count += 21) {
            double row[200];
            row[count] = -77.0;
            hs_expression_row(both[e], count, lower, dx, 0.5, 0.7, 2.0, row);
            for (int i = 0; i < count; i++) {
                const double one =
                    hs_expression_at(both[e]->code, both[e]->length, lower + i * dx, 0.5, 0.7, 2.0);
                assert_memory_equal(&row[i], &one, sizeof one);
            }
            assert_true(row[count] == -77.0);
        }
}

void test_expression__a_value_without_code_is_its_constant(void **state)
{
    (void)state;
    const struct hs_value constant = {.constant = 4.5};
    const struct hs_value varying = {.expression = {program, LENGTH, 15}};
    assert_true(hs_value_at(&constant, 1, 2, 3, 4) == 4.5);
    assert_int_equal(hs_value_varies(&constant), 0);
    assert_int_equal(hs_value_varies(&varying), 15);
    assert_true(hs_value_at(&varying, 0.3, 2, 5, -1) == exp(-0.3));
}
