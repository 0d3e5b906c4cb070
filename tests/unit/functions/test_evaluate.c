#include "functions/evaluate.h"
#include "functions/product.h"
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

/* ---- products ---- */

#define X HS_OP_X, 0
#define T HS_OP_T, 0
#define NUMBER(value) HS_OP_CONSTANT, value
#define OP(name) HS_OP_##name, 0

/* Texts with the factors that are taken off, and whether each divides; -1: none are. */
static const struct {
    const char *text;
    struct hs_instruction code[16];
    int length, factors;
    bool divides[HS_MOST_FACTORS];
} products[] = {
    {"x*t", {{X}, {T}, {OP(MULTIPLY)}}, 3, 1, {false}},
    {"t*x", {{T}, {X}, {OP(MULTIPLY)}}, 3, 1, {false}},
    {"x/exp(t)", {{X}, {T}, {OP(EXP)}, {OP(DIVIDE)}}, 4, 1, {true}},
    {"t/x", {{T}, {X}, {OP(DIVIDE)}}, 3, -1, {false}},
    {"x+t", {{X}, {T}, {OP(ADD)}}, 3, -1, {false}},
    {"x*(x+t)", {{X}, {X}, {T}, {OP(ADD)}, {OP(MULTIPLY)}}, 5, -1, {false}},
    {"sin(x*t)", {{X}, {T}, {OP(MULTIPLY)}, {OP(SIN)}}, 4, -1, {false}},
    /* what does not change is taken off with the rest while a change is within */
    {"0.3*((sin(x)*exp(t))/t)",
     {{NUMBER(0.3)},
      {X},
      {OP(SIN)},
      {T},
      {OP(EXP)},
      {OP(MULTIPLY)},
      {T},
      {OP(DIVIDE)},
      {OP(MULTIPLY)}},
     9,
     3,
     {false, true, false}},
    {"((((x*t)*t)*t)*t)*t", /* more than there is room for */
     {{X},
      {T},
      {OP(MULTIPLY)},
      {T},
      {OP(MULTIPLY)},
      {T},
      {OP(MULTIPLY)},
      {T},
      {OP(MULTIPLY)},
      {T},
      {OP(MULTIPLY)}},
     11,
     -1,
     {false}},
};

void test_expression__products_are_taken_apart_to_the_bit(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof products / sizeof *products; n++) {
        const struct hs_expression whole = {products[n].code, products[n].length,
                                            HS_VARIES_X | HS_VARIES_T};
        struct hs_product product;
        const bool is = hs_expression_factor(&whole, &product);
        if (is != (products[n].factors > 0) || (is && product.factors != products[n].factors))
            fail_msg("%s: %d, %d factors", products[n].text, is, product.factors);
        for (int i = 0; i < 50 && is; i++) {
            const double x = 0.1 + i / 7.0, t = 1.7 - i / 11.0;
            double factor[HS_MOST_FACTORS];
            hs_product_at(&product, t, factor);
            assert_memory_equal(product.divides, products[n].divides, (size_t)product.factors);
            /* at another time, which it must not know */
            const double part =
                hs_expression_at(product.part.code, product.part.length, x, 0.0, 0.0, -5.0);
            const double value = hs_product_value(part, product.factors, factor, product.divides);
            const double expected = hs_expression_at(whole.code, whole.length, x, 0.0, 0.0, t);
            assert_memory_equal(&value, &expected, sizeof value);
        }
    }
}
