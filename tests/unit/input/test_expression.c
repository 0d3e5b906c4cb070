#include "functions/evaluate.h"
#include "input/expression.h"
#include "muparser.h"
#include "random.h"
#include "test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compiles and evaluates; fails the test if it does not compile. */
static double value_at(const char *text, double x, double y, double z, double t)
{
    struct hs_expression expression;
    char reason[300] = "";
    struct hs_instruction *code = hs_expression_compile(text, &expression, reason, sizeof reason);
    if (!code)
        fail_msg("%s: %s", text, reason);
    const double value = hs_expression_at(code, expression.length, x, y, z, t);
    free(code);
    return value;
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void assert_reason(const char *text, const char *expected)
{
    struct hs_expression expression;
    char reason[300] = "";
    assert_null(hs_expression_compile(text, &expression, reason, sizeof reason));
    if (!strstr(reason, expected))
        fail_msg("%s: the reason is \"%s\", which lacks \"%s\"", text, reason, expected);
}

void test_expression__follows_the_rules_of_precedence(void **state)
{
    assert_true(value_at("-x^2", 3, 0, 0, 0) == -9.0);
    assert_true(value_at("2^-1", 0, 0, 0, 0) == 0.5);
    assert_true(value_at("2^3^2", 0, 0, 0, 0) == 512.0);
    assert_true(value_at("2^-x^2", 2, 0, 0, 0) == 0.0625);
    assert_true(value_at("8/4/2", 0, 0, 0, 0) == 1.0);
    assert_true(value_at("8-4-2", 0, 0, 0, 0) == 2.0);
    assert_true(value_at("-x*y", 2, 3, 0, 0) == -6.0);
    assert_true(value_at("x/-y*z", 8, 2, 4, 0) == -16.0);
    assert_true(value_at("1+x>2 && y<3 ? 5 : 7", 2, 2, 0, 0) == 5.0);
    assert_true(value_at("x>0 ? 1 : x<0 ? 2 : 3", -1, 0, 0, 0) == 2.0);
    assert_true(value_at("x>0 ? y>0 ? 1 : 2 : 3", 1, -1, 0, 0) == 2.0);
    assert_true(value_at("x--y", 1, 2, 0, 0) == 3.0);
    assert_true(value_at("1 || 0 && 0", 0, 0, 0, 0) == 1.0);
    assert_true(value_at("(1 < x) == (x < 3)", 2, 0, 0, 0) == 1.0);
}

void test_expression__knows_its_names(void **state)
{
    assert_true(value_at("x+10*y+100*z+1000*t", 1, 2, 3, 4) == 4321.0);
    assert_true(same_bits(value_at("pi", 0, 0, 0, 0), M_PI));
    assert_true(same_bits(value_at("e", 0, 0, 0, 0), M_E));
    assert_true(same_bits(value_at("log(x)", 5, 0, 0, 0), log(5.0)));
    assert_true(value_at("sign(x)", -5, 0, 0, 0) == -1.0);
    assert_true(value_at("rint(x)", 2.5, 0, 0, 0) == 3.0);
    assert_true(value_at("min(x, y, z)", 3, 1, 2, 0) == 1.0);
    assert_true(value_at("max(x, y, z)", 3, 1, 2, 0) == 3.0);
    assert_true(value_at("avg(x, y, z)", 3, 1, 2, 0) == 2.0);
    assert_true(value_at("sum(x)", 3, 0, 0, 0) == 3.0);
    assert_true(value_at("1e3*x + 2.5e-1 + .5 + 3.", 1, 0, 0, 0) == 1003.75);
}

/* Texts with every function and operator, at points of both signs and outside the domains: NaN must
 * be NaN. In these texts muParser's optimiser, which gathers constants, changes no rounding. */
void test_expression__agrees_with_muparser_bit_for_bit(void **state)
{
    static const char *const texts[] = {
        "sin(x)",
        "cos(x)",
        "tan(x)",
        "cot(x)",
        "asin(x)",
        "acos(x)",
        "atan(x)",
        "atan2(x,y)",
        "sinh(x)",
        "cosh(x)",
        "tanh(x)",
        "coth(x)",
        "asinh(x)",
        "acosh(x)",
        "atanh(x)",
        "exp(x)",
        "log(x)",
        "ln(x)",
        "log2(x)",
        "log10(x)",
        "sqrt(x)",
        "cbrt(x)",
        "pow(x,y)",
        "abs(x)",
        "sign(x)",
        "floor(x)",
        "ceil(x)",
        "trunc(x)",
        "rint(x)",
        "fmod(x,y)",
        "erf(x)",
        "erfc(x)",
        "min(x,y,z,t)",
        "max(x,y,z,t)",
        "sum(x,y,z,t)",
        "avg(x,y,z,t)",
        "x+y",
        "x-y",
        "x*y",
        "x/y",
        "x^y",
        "-x",
        "x<y",
        "x<=y",
        "x>y",
        "x>=y",
        "x==y",
        "x!=y",
        "x<y && z<t",
        "x<y || z<t",
        "x<y?z:t",
        "-x^2",
        "x^2",
        "x^y^z",
        "x/y/z",
        "x-y-z",
        "x/y*z",
        "x-y+z",
        "(x+y)*(z-t)",
        "x*-y",
        "x^-y",
        "-x^-y",
        "- x",
        "sin(x)*exp(-y)",
        "(x<y)==(z<t)",
        "x<y?z<t?1:2:3",
        "x<y?1:z<t?2:3",
        "x>0||y>0&&z>0",
        "x+y<z*t",
        "min(x)",
        "max(x,-y)",
        " x\t+ y ",
        "300+20*sin(2*pi*t/60)",
        "1e6*exp(-t)",
        "erfc(x/(2*sqrt(y*t)))",
    };
    static const double points[][4] = {
        {0.3, 0.7, -0.2, 1.5},  {-0.3, 0.7, 0.2, -1.5}, {1.0, 1.0, 1.0, 1.0},
        {0.0, 0.0, 0.0, 0.0},   {2.5, -3.5, 4.0, 0.25}, {-2.5, 3.0, -4.0, 60.0},
        {1e-8, 1e8, -1e-8, 10}, {700.0, 0.5, 2.0, 3.0}, {0.5, 0.5, 2.0, 2.0},
    };
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++)
        for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
            const double *at = points[p];
            double expected;
            assert_true(muparser_value(texts[n], at[0], at[1], at[2], at[3], &expected));
            const double value = value_at(texts[n], at[0], at[1], at[2], at[3]);
            if (!same_bits(value, expected))
                fail_msg("%s at point %zu: %.17g, muParser %.17g", texts[n], p, value, expected);
        }
}

/* ---- random expressions ---------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    assert_true(length + strlen(more) < size);
    strcpy(text + length, more);
}

enum { TEXT = 4000 };

/* Only sums, products, powers of small whole numbers, and comparisons. Every value is a whole
 * number below 2^53, so that no rounding hides a wrong order. At most 8 factors of at most 27. */
static void random_whole(char *text, int depth)
{
    static const char *const leaves[] = {"x", "y",   "z",   "t",  "0",  "1",  "2",
                                         "3", "x^2", "y^3", "-z", "-t", "2^3"};
    static const char *const between[] = {
        "+", "-", "*", " < ", "<=", ">", ">=", "==", "!=", "&&", "||", "*-", "- -"};
    const unsigned leaf_count = sizeof leaves / sizeof leaves[0];
    const unsigned form = depth == 0 ? 0 : below(8);
    if (form <= 1) {
        append(text, TEXT, leaves[below(leaf_count)]);
    } else if (form <= 4) {
        random_whole(text, depth - 1);
        append(text, TEXT, between[below(sizeof between / sizeof between[0])]);
        /* a sign must not follow a sign */
        append(text, TEXT, "(");
        random_whole(text, depth - 1);
        append(text, TEXT, ")");
    } else if (form == 5) {
        append(text, TEXT, leaves[below(10)]);
        append(text, TEXT, between[below(11)]);
        append(text, TEXT, leaves[below(10)]);
        append(text, TEXT, between[below(11)]);
        append(text, TEXT, leaves[below(10)]);
    } else if (form == 6) {
        append(text, TEXT, "(");
        random_whole(text, depth - 1);
        append(text, TEXT, ")?");
        random_whole(text, depth - 1);
        append(text, TEXT, ":");
        random_whole(text, depth - 1);
    } else {
        append(text, TEXT, below(2) ? "max(" : "min(");
        random_whole(text, depth - 1);
        append(text, TEXT, ",");
        random_whole(text, depth - 1);
        append(text, TEXT, ")");
    }
}

/* "x < y < z", which muParser takes. */
static bool is_chain(const char *text)
{
    struct hs_expression expression;
    char reason[300] = "";
    free(hs_expression_compile(text, &expression, reason, sizeof reason));
    return strstr(reason, "comparisons cannot be chained") != NULL;
}

void test_expression__orders_random_operators_as_muparser_does(void **state)
{
    seed = 2;
    int chains = 0;
    for (int n = 0; n < 4000; n++) {
        char text[TEXT] = "";
        random_whole(text, 3);
        if (is_chain(text)) {
            chains++;
            continue;
        }
        double at[4], expected;
        for (int i = 0; i < 4; i++)
            at[i] = (double)below(7) - 3.0;
        assert_true(muparser_value(text, at[0], at[1], at[2], at[3], &expected));
        const double value = value_at(text, at[0], at[1], at[2], at[3]);
        if (value != expected)
            fail_msg("%s at (%g, %g, %g, %g): %.17g, muParser %.17g", text, at[0], at[1], at[2],
                     at[3], value, expected);
    }
    assert_true(chains < 1000); /* three in four are compared */
}

/* Every number but 0 is true, also constants. */
void test_expression__takes_fractions_for_true(void **state)
{
    static const char *const truths[] = {"x&&x",   "x||0",    "0||x",    "x&&0.5",
                                         "0.5&&x", "x?1:0",   "-x&&1",   "0.5&&0.5",
                                         "0.5||0", "0.5?1:0", "-0.1&&pi"};
    for (size_t n = 0; n < sizeof truths / sizeof truths[0]; n++)
        if (value_at(truths[n], 0.5, 0, 0, 0) != 1.0)
            fail_msg("%s is not true", truths[n]);
    double varies = 0.0; /* muParser's, which truncates constants that it folds */
    assert_true(muparser_value("x&&x", 0.5, 0, 0, 0, &varies) && varies == 1.0);
    assert_true(value_at("x&&0", 0.5, 0, 0, 0) == 0.0 && value_at("0||0.0", 0, 0, 0, 0) == 0.0);
}

/* Tokens in any order. Most texts are refused; the others must mean the same to muParser. Without
 * && and ||, whose constants it truncates; to a rounding, since it gathers constants. */
void test_expression__means_what_muparser_means(void **state)
{
    static const char *const tokens[] = {
        "x",  "y",  "z",  "t",     "e",    "pi",   "0.5",  "2",     "-0.5", "0",  "1e1",   "1E1",
        "3.", ".5", "+",  "-",     "*",    "/",    "^",    "<",     ">",    "<=", ">=",    "==",
        "!=", "?",  ":",  "(",     ")",    "min(", "max(", "sum(",  "avg(", ",",  "sign(", "rint(",
        "!",  "%",  "**", "fmod(", "abs(", "1e",   " ",    "sqrt(", "0x10", "x1", "--",    "^-",
    };
    int compared = 0;
    seed = 4;
    for (int n = 0; n < 60000; n++) {
        char text[TEXT] = "";
        for (unsigned i = 1 + below(9); i > 0; i--)
            append(text, TEXT, tokens[below(sizeof tokens / sizeof tokens[0])]);
        double at[4], expected = 0.0;
        for (int i = 0; i < 4; i++)
            at[i] = 0.5 * (double)below(8) - 1.5;
        struct hs_expression expression;
        char reason[300];
        struct hs_instruction *code =
            hs_expression_compile(text, &expression, reason, sizeof reason);
        if (!code)
            continue;
        compared++;
        assert_true(muparser_value(text, at[0], at[1], at[2], at[3], &expected));
        const double value = hs_expression_at(code, expression.length, at[0], at[1], at[2], at[3]);
        free(code);
        if (!same_bits(value, expected) && !(fabs(value - expected) <= 1e-12 * fabs(expected)))
            fail_msg("%s at (%g, %g, %g, %g): %.17g, muParser %.17g", text, at[0], at[1], at[2],
                     at[3], value, expected);
    }
    assert_true(compared > 1000);
}

static void random_smooth(char *text, int depth)
{
    static const char *const leaves[] = {"x", "y", "z", "t", "pi", "e", "0.37", "2.5", "1.25e-1"};
    static const char *const calls[] = {"sin(",  "cos(", "atan(", "tanh(",  "exp(-", "sqrt(1+",
                                        "cbrt(", "erf(", "erfc(", "asinh(", "abs(",  "-("};
    static const char *const between[] = {"+", "-", "*", "/"};
    const unsigned form = depth == 0 ? 0 : below(4);
    if (form == 0) {
        append(text, TEXT, leaves[below(sizeof leaves / sizeof leaves[0])]);
    } else if (form == 1) {
        append(text, TEXT, calls[below(sizeof calls / sizeof calls[0])]);
        append(text, TEXT, "(");
        random_smooth(text, depth - 1);
        append(text, TEXT, "))");
    } else {
        append(text, TEXT, "(");
        random_smooth(text, depth - 1);
        append(text, TEXT, ")");
        append(text, TEXT, between[below(4)]);
        append(text, TEXT, "(");
        random_smooth(text, depth - 1);
        append(text, TEXT, ")");
    }
}

/* muParser gathers constants in another order, so roundings differ. An expression that magnifies
 * them (nearly cancelling terms, poles) shows it when x changes by a few roundings, and is left
 * out. */
void test_expression__computes_random_functions_as_muparser_does(void **state)
{
    seed = 3;
    int compared = 0;
    for (int n = 0; n < 3000; n++) {
        char text[TEXT] = "";
        random_smooth(text, 5);
        double at[4], expected;
        for (int i = 0; i < 4; i++)
            at[i] = 0.1 + below(1000) * 0.002;
        assert_true(muparser_value(text, at[0], at[1], at[2], at[3], &expected));
        const double value = value_at(text, at[0], at[1], at[2], at[3]);
        const double tolerance = 1e-11 * (1.0 + fabs(expected)); /* 5e4 roundings */
        double moved = 0.0;
        for (int i = 0; i < 4; i++) {
            double near[4];
            memcpy(near, at, sizeof near);
            near[i] *= 1.0 + 1e-13;
            moved = fmax(moved, fabs(value_at(text, near[0], near[1], near[2], near[3]) - value));
        }
        if (!isfinite(expected) || !(moved < tolerance))
            continue;
        compared++;
        if (!(fabs(value - expected) <= tolerance))
            fail_msg("%s at (%g, %g, %g, %g): %.17g, muParser %.17g", text, at[0], at[1], at[2],
                     at[3], value, expected);
    }
    assert_true(compared > 2500);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

void test_expression__says_what_is_wrong_and_where(void **state)
{
    assert_reason("300+r*2", "unknown name \"r\"");
    assert_reason("300+r*2", "column 5");
    assert_reason("sine(x)", "did you mean sin?");
    assert_reason("_pi*x", "did you mean pi?");
    assert_reason("rnd()", "unknown name \"rnd\"");
    assert_reason("sin x", "the function sin needs \"(\"");
    assert_reason("sin (x)", "the function sin needs \"(\"");
    assert_reason("2x", "an operator is missing");
    assert_reason("2(x)", "an operator is missing");
    assert_reason("x+", "ends too early");
    assert_reason("(x+1", "the \"(\" has no \")\" at column 1");
    assert_reason("x+1)", "\")\" was not expected");
    assert_reason("sin(x", "the \"(\" has no \")\" at column 4");
    assert_reason("min(x y)", "a \")\" is missing at column 7");
    assert_reason("x**2", "\"**\" was not expected (write x^2 or x*x for a power) at column 2");
    assert_reason("sin()", "sin takes one argument, not 0");
    assert_reason("sin(x,y)", "sin takes one argument, not 2");
    assert_reason("atan2(x)", "atan2 takes two arguments, not 1");
    assert_reason("min()", "min takes one argument or more");
    assert_reason("min(x,)", "an argument is missing");
    assert_reason("x=3", "\"=\" assigns");
    assert_reason("x,y", "\",\" was not expected");
    assert_reason("x ? 1", "a \":\" is missing");
    assert_reason("--x", "two signs in a row");
    assert_reason("1e400", "too large");
    assert_reason("1..2", "is not a number");
    assert_reason(".", "is not a number");
    assert_reason("", "ends too early");
    assert_reason("x y", "\"y\" was not expected");
    assert_reason("(x > 0 and x < 1)", "\"and\" was not expected (write &&) at column 8");
    assert_reason("1 if x < 2 else 0", "\"if\" was not expected (write x > 0 ? 1 : 0) at column 3");
    assert_reason("x < 1 or y", "\"or\" was not expected (write ||) at column 7");
    assert_reason("0.5 < x < 0.6", "comparisons cannot be chained; write 0.2 < x && x < 0.3 for");
    assert_reason("1*(x>=y>=z)", "and (x < 1) == (y < 1), at column 8");
    assert_reason("x == y == z", "comparisons cannot be chained");
    assert_reason("x < 1 == y < 1", "(x < 1) == (y < 1), at column 7");
    assert_reason("\"x\"", "is missing before");
    assert_reason("x & y", "\"&\" was not expected");
    assert_reason("\xc3\xa4", "is missing before \"\xc3\xa4\" at column 1");
    assert_reason("x \xe2\x82\xac", "\"\xe2\x82\xac\" was not expected at column 3");
    assert_reason("x\xff", "\"\xff\" was not expected at column 2");
    assert_reason("x\xe2\x88\x92y",
                  "\"\xe2\x88\x92\" was not expected (a sign of its own; write the plain -)");
    assert_reason("2\xc2\xb7x", "\"\xc2\xb7\" was not expected (write * to multiply)");
    assert_reason("sin(2\xc3\x97x)", "\"\xc3\x97\" was not expected (write * to multiply)");
    assert_reason("2*\xcf\x80", "\"\xcf\x80\" was not expected (write pi) at column 3");
}

void test_expression__refuses_what_no_stack_holds(void **state)
{
    char deep[600] = "";
    for (int i = 0; i < 250; i++)
        strcat(deep, "(");
    assert_reason(deep,
                  "nested more than 100 deep; write it with fewer parentheses, at column 101");
    char wide[600] = "";
    for (int i = 0; i < HS_EXPRESSION_DEPTH + 2; i++)
        strcat(wide, "x+(");
    strcat(wide, "x");
    for (int i = 0; i < HS_EXPRESSION_DEPTH + 2; i++)
        strcat(wide, ")");
    assert_reason(wide, "nested too deeply; write it with fewer");
    char *longest = malloc(20001);
    memset(longest, '1', 20000);
    longest[20000] = '\0';
    assert_reason(longest, "at most 8000 characters; shorten it: the rest begins at column 8001");
    free(longest);
}

void test_expression__uses_a_full_stack(void **state)
{
    char text[600] = "";
    for (int i = 0; i < HS_EXPRESSION_DEPTH - 1; i++)
        strcat(text, "x+(");
    strcat(text, "x");
    for (int i = 0; i < HS_EXPRESSION_DEPTH - 1; i++)
        strcat(text, ")");
    assert_true(value_at(text, 1, 0, 0, 0) == HS_EXPRESSION_DEPTH);
}

void test_expression__tells_what_it_varies_with(void **state)
{
    static const struct {
        const char *text;
        unsigned varies;
    } cases[] = {{"1+2", 0},
                 {"x", HS_VARIES_X},
                 {"sin(y)*t", HS_VARIES_Y | HS_VARIES_T},
                 {"z>0 ? 1 : 2", HS_VARIES_Z},
                 {"x+y+z+t", 15}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct hs_expression expression;
        char reason[300];
        struct hs_instruction *code =
            hs_expression_compile(cases[n].text, &expression, reason, sizeof reason);
        assert_non_null(code);
        assert_int_equal(expression.varies, cases[n].varies);
        free(code);
    }
}

void test_expression__computes_constants_once(void **state)
{
    static const struct {
        const char *text;
        int length;
    } cases[] = {{"2*pi/60+sin(1)^2", 1}, {"2*pi*t", 3},     {"x^2", 2}, {"x^3", 2}, {"-3", 1},
                 {"min(1,2,3)", 1},       {"1>0 ? 5 : 7", 1}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct hs_expression expression;
        char reason[300];
        struct hs_instruction *code =
            hs_expression_compile(cases[n].text, &expression, reason, sizeof reason);
        assert_non_null(code);
        assert_int_equal(expression.length, cases[n].length);
        free(code);
    }
}

/* A decimal comma in the locale must not change "1.5". Without such a locale setlocale keeps the
 * plain one, and the test shows nothing. */
void test_expression__has_a_decimal_point_in_every_locale(void **state)
{
    setlocale(LC_ALL, "de_DE.UTF-8");
    const double value = value_at("1.5*x", 1, 0, 0, 0);
    setlocale(LC_ALL, "C");
    assert_true(value == 1.5);
}
