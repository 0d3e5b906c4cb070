/* The reference for what an expression means (input/expression.h): muParser with our names.
 * Functions that the C library lacks are defined here. */
#ifndef HS_TESTS_MUPARSER_H
#define HS_TESTS_MUPARSER_H

#include <math.h>
#include <muParserDLL.h>
#include <stdbool.h>

static double square_wave_sign(double a)
{
    return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0;
}

static double nearest_whole(double a)
{
    return floor(a + 0.5);
}

static double cotangent(double a)
{
    return 1.0 / tan(a);
}

static double hyperbolic_cotangent(double a)
{
    return 1.0 / tanh(a);
}

static double sum_of(const double *a, int count)
{
    double sum = a[0];
    for (int i = 1; i < count; i++)
        sum += a[i];
    return sum;
}

static double average_of(const double *a, int count)
{
    return sum_of(a, count) / count;
}

static double least_of(const double *a, int count)
{
    double least = a[0];
    for (int i = 1; i < count; i++)
        least = a[i] < least ? a[i] : least;
    return least;
}

static double largest_of(const double *a, int count)
{
    double largest = a[0];
    for (int i = 1; i < count; i++)
        largest = largest < a[i] ? a[i] : largest;
    return largest;
}

/* muParser gets only these functions: its own asinh loses digits, its _pi has 12 digits, and its
 * rnd is random. */
static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double (*many)(const double *, int);
} muparser_functions[] = {
    {"sin", .one = sin},
    {"cos", .one = cos},
    {"tan", .one = tan},
    {"cot", .one = cotangent},
    {"asin", .one = asin},
    {"acos", .one = acos},
    {"atan", .one = atan},
    {"atan2", .two = atan2},
    {"sinh", .one = sinh},
    {"cosh", .one = cosh},
    {"tanh", .one = tanh},
    {"coth", .one = hyperbolic_cotangent},
    {"asinh", .one = asinh},
    {"acosh", .one = acosh},
    {"atanh", .one = atanh},
    {"exp", .one = exp},
    {"log", .one = log},
    {"ln", .one = log},
    {"log2", .one = log2},
    {"log10", .one = log10},
    {"sqrt", .one = sqrt},
    {"cbrt", .one = cbrt},
    {"pow", .two = pow},
    {"abs", .one = fabs},
    {"sign", .one = square_wave_sign},
    {"floor", .one = floor},
    {"ceil", .one = ceil},
    {"trunc", .one = trunc},
    {"rint", .one = nearest_whole},
    {"fmod", .two = fmod},
    {"erf", .one = erf},
    {"erfc", .one = erfc},
    {"min", .many = least_of},
    {"max", .many = largest_of},
    {"sum", .many = sum_of},
    {"avg", .many = average_of},
};

/* Sets *out to the value that muParser computes; false if it refuses the text. */
static bool muparser_value(const char *text, double x, double y, double z, double t, double *out)
{
    double at[4] = {x, y, z, t};
    const muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
    mupClearFun(parser);
    mupClearConst(parser);
    for (size_t i = 0; i < sizeof muparser_functions / sizeof *muparser_functions; i++) {
        const char *name = muparser_functions[i].name;
        if (muparser_functions[i].one)
            mupDefineFun1(parser, name, muparser_functions[i].one, 1);
        else if (muparser_functions[i].two)
            mupDefineFun2(parser, name, muparser_functions[i].two, 1);
        else
            mupDefineMultFun(parser, name, muparser_functions[i].many, 1);
    }
    for (int i = 0; i < 4; i++)
        mupDefineVar(parser, (const char *const[]){"x", "y", "z", "t"}[i], &at[i]);
    mupDefineConst(parser, "pi", M_PI);
    mupDefineConst(parser, "e", M_E);
    mupSetExpr(parser, text);
    const double value = mupEval(parser);
    const bool fine = !mupError(parser);
    if (fine)
        *out = value;
    mupRelease(parser);
    return fine;
}

#endif
