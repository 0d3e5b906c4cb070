#include "input/expression.h"
#include "core/memory.h"
#include "core/text.h"
#include "functions/evaluate.h"

#include "input/foreign.h"
#include "input/number.h"
#include "input/options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------- */

enum { MANY = -1, MEAN = -2 };

static const struct function {
    const char *name;
    enum hs_operation operation; /* folded from the left over more than two arguments */
    int arguments;               /* MANY: one or more; MEAN: the same, for their mean */
} functions[] = {
    {"sin", HS_OP_SIN, 1},     {"cos", HS_OP_COS, 1},     {"tan", HS_OP_TAN, 1},
    {"cot", HS_OP_COT, 1},     {"asin", HS_OP_ASIN, 1},   {"acos", HS_OP_ACOS, 1},
    {"atan", HS_OP_ATAN, 1},   {"atan2", HS_OP_ATAN2, 2}, {"sinh", HS_OP_SINH, 1},
    {"cosh", HS_OP_COSH, 1},   {"tanh", HS_OP_TANH, 1},   {"coth", HS_OP_COTH, 1},
    {"asinh", HS_OP_ASINH, 1}, {"acosh", HS_OP_ACOSH, 1}, {"atanh", HS_OP_ATANH, 1},
    {"exp", HS_OP_EXP, 1},     {"log", HS_OP_LOG, 1},     {"ln", HS_OP_LOG, 1},
    {"log2", HS_OP_LOG2, 1},   {"log10", HS_OP_LOG10, 1}, {"sqrt", HS_OP_SQRT, 1},
    {"cbrt", HS_OP_CBRT, 1},   {"pow", HS_OP_POWER, 2},   {"abs", HS_OP_ABS, 1},
    {"sign", HS_OP_SIGN, 1},   {"floor", HS_OP_FLOOR, 1}, {"ceil", HS_OP_CEIL, 1},
    {"trunc", HS_OP_TRUNC, 1}, {"rint", HS_OP_RINT, 1},   {"fmod", HS_OP_FMOD, 2},
    {"erf", HS_OP_ERF, 1},     {"erfc", HS_OP_ERFC, 1},   {"min", HS_OP_MIN, MANY},
    {"max", HS_OP_MAX, MANY},  {"sum", HS_OP_ADD, MANY},  {"avg", HS_OP_ADD, MEAN},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const struct variable {
    const char *name;
    struct hs_instruction push;
} variables[] = {
    {"x", {HS_OP_X, 0.0}},
    {"y", {HS_OP_Y, 0.0}},
    {"z", {HS_OP_Z, 0.0}},
    {"t", {HS_OP_T, 0.0}},
    {"pi", {HS_OP_CONSTANT, 3.14159265358979323846}},
    {"e", {HS_OP_CONSTANT, 2.71828182845904523536}},
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

const char *hs_expression_functions(void)
{
    static char names[400];
    if (names[0] == '\0')
        for (int i = 0; i < FUNCTIONS; i++) {
            strcat(names, i ? "|" : "");
            strcat(names, functions[i].name);
        }
    return names;
}

/* ---- the compiler -------------------------------------------------------------------------- */

enum { LONGEST_TEXT = 8000, DEEPEST_NESTING = 100 };

struct compiler {
    const char *text;
    const char *at;
    struct hs_instruction *code;
    int length;
    int nesting;
    char *reason;
    size_t size;
};

static bool HS_PRINTF(3, 4) fail_at(struct compiler *c, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->reason, c->size, format, args);
    va_end(args);
    hs_text_append(c->reason, c->size, " at column %d", (int)(where - c->text) + 1);
    return false;
}

/* Bytes of the character at the current position; each byte that is not UTF-8 counts as one. */
static int character(const struct compiler *c)
{
    const int length = hs_text_character(c->at);
    return length > 0 ? length : 1;
}

static bool go_deeper(struct compiler *c)
{
    return ++c->nesting <= DEEPEST_NESTING ||
           fail_at(c, c->at, "nested more than %d deep; write it with fewer parentheses,",
                   DEEPEST_NESTING);
}

static void skip_blanks(struct compiler *c)
{
    while (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')
        c->at++;
}

/* Returns true, for the caller to return. */
static bool emit(struct compiler *c, enum hs_operation operation, double constant)
{
    c->code = hs_reserve(c->code, (size_t)c->length, sizeof *c->code);
    c->code[c->length++] = (struct hs_instruction){operation, constant};
    return true;
}

static bool is_constant(const struct compiler *c, int from_end)
{
    return c->length >= from_end && c->code[c->length - from_end].operation == HS_OP_CONSTANT;
}

/* Emits an operation, or its result if all arguments are constants: these are then the last
 * instructions. */
static bool apply(struct compiler *c, enum hs_operation operation)
{
    emit(c, operation, 0.0);
    const int arguments = hs_operation_arguments(operation);
    for (int i = 0; i < arguments; i++)
        if (!is_constant(c, 2 + i))
            return true;
    const int first = c->length - 1 - arguments;
    const double value = hs_expression_at(c->code + first, arguments + 1, 0.0, 0.0, 0.0, 0.0);
    c->length = first;
    return emit(c, HS_OP_CONSTANT, value);
}

/* x^2 and x^3 become products: faster, and unlike pow the same on every device. */
static bool apply_power(struct compiler *c)
{
    const double exponent = is_constant(c, 1) ? c->code[c->length - 1].constant : 0.0;
    if ((exponent != 2.0 && exponent != 3.0) || is_constant(c, 2))
        return apply(c, HS_OP_POWER);
    c->length--;
    return apply(c, exponent == 2.0 ? HS_OP_SQUARE : HS_OP_CUBE);
}

static bool parse_choice(struct compiler *c);

static bool parse_number(struct compiler *c)
{
    const char *end = c->at + strspn(c->at, "0123456789.");
    if ((*end == 'e' || *end == 'E') &&
        isdigit((unsigned char)end[1 + (end[1] == '+' || end[1] == '-')]))
        end += 2 + strspn(end + 2, "0123456789");
    char token[64];
    double value = 0.0;
    const int length = (int)(end - c->at);
    snprintf(token, sizeof token, "%.*s", length, c->at);
    const char *fault =
        length < (int)sizeof token ? hs_number_parse(token, &value) : "is too long for a number";
    if (fault)
        return fail_at(c, c->at, "%.60s %s", token, fault);
    c->at = end;
    if (isalpha((unsigned char)*end) || *end == '_' || *end == '(')
        return fail_at(c, end, "an operator is missing between a number and \"%.1s\"", end);
    return emit(c, HS_OP_CONSTANT, value);
}

/* Words of other languages in place of an operator, as in "x > 0 and x < 1". */
static bool is_foreign_word(struct compiler *c, const char *at)
{
    char word[20];
    const int length = (int)strspn(at, "abcdefghijklmnopqrstuvwxyz");
    snprintf(word, sizeof word, "%.*s", length < (int)sizeof word ? length : 0, at);
    const char *remedy = hs_foreign_name(word);
    if (remedy)
        fail_at(c, at, "\"%s\" was not expected (%s)", word, remedy);
    return remedy != NULL;
}

/* Signs of other languages in place of an operator or a value; "x**2" fails at its second "*". */
static bool is_foreign_sign(struct compiler *c, const char *at)
{
    if (is_foreign_word(c, at))
        return true;
    if (at > c->text && at[0] == '*' && at[-1] == '*')
        at--;
    const char *remedy = hs_foreign_sign(at);
    if (!remedy)
        return false;
    const int length = at[0] == '*' ? 2 : hs_text_character(at);
    fail_at(c, at, "\"%.*s\" was not expected (%s)", length, at, remedy);
    return true;
}

/* After a value in parentheses: neither an operator nor the closing sign follows. */
static bool not_closed(struct compiler *c, const char *open)
{
    if (*c->at == '\0')
        return fail_at(c, open, "the \"(\" has no \")\"");
    return !is_foreign_sign(c, c->at) && fail_at(c, c->at, "a \")\" is missing");
}

static bool count_arguments(struct compiler *c, const struct function *function, int count,
                            const char *where)
{
    if (function->arguments == count || (function->arguments < 0 && count > 0))
        return true;
    return fail_at(c, where, "%s takes %s, not %d,", function->name,
                   function->arguments < 0    ? "one argument or more"
                   : function->arguments == 1 ? "one argument"
                                              : "two arguments",
                   count);
}

static bool parse_arguments(struct compiler *c, const struct function *function, const char *where)
{
    int count = 0;
    const char *open = c->at++;
    skip_blanks(c);
    while (*c->at != ')') {
        if (!parse_choice(c))
            return false;
        count++;
        if (function->arguments < 0 && count > 1 && !apply(c, function->operation))
            return false;
        if (*c->at == ',') {
            c->at++;
            skip_blanks(c);
            if (*c->at == ')')
                return fail_at(c, c->at, "an argument is missing");
        } else if (*c->at != ')')
            return not_closed(c, open);
    }
    c->at++;
    if (!count_arguments(c, function, count, where))
        return false;
    if (function->arguments == MEAN)
        return emit(c, HS_OP_CONSTANT, count) && apply(c, HS_OP_DIVIDE);
    return function->arguments < 0 || apply(c, function->operation);
}

static bool unknown_name(struct compiler *c, const char *name)
{
    char known[500];
    const char *foreign = hs_foreign_name(name);
    snprintf(known, sizeof known, "x|y|z|t|pi|%s", hs_expression_functions());
    const char *nearest = strcmp(name, "_pi") == 0 ? "pi" : hs_nearest_word(name, known);
    if (foreign)
        return fail_at(c, c->at, "unknown name \"%.40s\" (%s)", name, foreign);
    if (nearest)
        return fail_at(c, c->at, "unknown name \"%.40s\" (did you mean %s?)", name, nearest);
    return fail_at(c, c->at, "unknown name \"%.40s\" (known are x, y, z, t, pi, e)", name);
}

static bool parse_name(struct compiler *c)
{
    const char *where = c->at, *end = where;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(end - where < 63 ? end - where : 63), where);
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(name, functions[i].name) == 0) {
            c->at = end;
            return *end == '('
                       ? parse_arguments(c, &functions[i], where)
                       : fail_at(c, where, "the function %s needs \"(\" right after it,", name);
        }
    for (int i = 0; i < VARIABLES; i++)
        if (strcmp(name, variables[i].name) == 0) {
            c->at = end;
            return emit(c, variables[i].push.operation, variables[i].push.constant);
        }
    return unknown_name(c, name);
}

static bool parse_primary(struct compiler *c)
{
    if (isdigit((unsigned char)*c->at) || *c->at == '.')
        return parse_number(c);
    if (isalpha((unsigned char)*c->at) || *c->at == '_')
        return parse_name(c);
    if (*c->at != '(' && is_foreign_sign(c, c->at))
        return false;
    if (*c->at != '(')
        return *c->at ? fail_at(c, c->at, "a number, a name or \"(\" is missing before \"%.*s\"",
                                character(c), c->at)
                      : fail_at(c, c->at, "the expression ends too early,");
    const char *open = c->at++;
    if (!parse_choice(c))
        return false;
    if (*c->at != ')')
        return not_closed(c, open);
    c->at++;
    return true;
}

/* Operators and their precedence; longer texts come before their prefixes. */
static const struct operator
{
    const char *text;
    enum hs_operation operation;
    int binds;
}
operators[] = {
    {"||", HS_OP_OR, 1},         {"&&", HS_OP_AND, 2},
    {"<=", HS_OP_LESS_EQUAL, 3}, {">=", HS_OP_GREATER_EQUAL, 3},
    {"==", HS_OP_EQUAL, 3},      {"!=", HS_OP_NOT_EQUAL, 3},
    {"<", HS_OP_LESS, 3},        {">", HS_OP_GREATER, 3},
    {"+", HS_OP_ADD, 4},         {"-", HS_OP_SUBTRACT, 4},
    {"*", HS_OP_MULTIPLY, 5},    {"/", HS_OP_DIVIDE, 5},
    {"^", HS_OP_POWER, 6},
};
enum { OPERATORS = sizeof operators / sizeof operators[0], BINDS_COMPARISON = 3, BINDS_POWER = 6 };

static const struct operator* find_operator(const char *at)
{
    for (int i = 0; i < OPERATORS; i++)
        if (strncmp(at, operators[i].text, strlen(operators[i].text)) == 0)
            return &operators[i];
    return NULL;
}

/* "0.2 < x < 0.3" would compare the 0 or 1 of its first part, and so would "x < 1 == y < 1". */
static bool is_chain(struct compiler *c, const struct operator* before, const struct operator* op)
{
    if (!before || before->binds != BINDS_COMPARISON || op->binds != BINDS_COMPARISON)
        return false;
    fail_at(c, c->at,
            "comparisons cannot be chained; write 0.2 < x && x < 0.3 for 0.2 < x < 0.3, and "
            "(x < 1) == (y < 1),");
    return true;
}

/* Parses operators with a precedence of at least `least`. */
static bool parse_operators(struct compiler *c, int least)
{
    skip_blanks(c);
    if (!go_deeper(c))
        return false;
    const char *where = c->at;
    if (*c->at == '-' || *c->at == '+') {
        const bool negative = *c->at++ == '-';
        skip_blanks(c);
        if (*c->at == '-' || *c->at == '+')
            return fail_at(c, where, "two signs in a row; use parentheses,");
        if (!parse_operators(c, BINDS_POWER) || (negative && !apply(c, HS_OP_NEGATE)))
            return false;
    } else if (!parse_primary(c))
        return false;
    skip_blanks(c);
    for (const struct operator* op, *before = NULL;
         (op = find_operator(c->at)) && op->binds >= least; before = op) {
        if (is_chain(c, before, op))
            return false;
        c->at += strlen(op->text);
        const bool power = op->binds == BINDS_POWER;
        if (!parse_operators(c, power ? BINDS_POWER : op->binds + 1) ||
            !(power ? apply_power(c) : apply(c, op->operation)))
            return false;
    }
    c->nesting--;
    return true;
}

/* condition ? one : other; each may be such a choice itself. */
static bool parse_choice(struct compiler *c)
{
    if (!parse_operators(c, 1))
        return false;
    if (*c->at != '?')
        return true;
    if (!go_deeper(c))
        return false;
    c->at++;
    if (!parse_choice(c))
        return false;
    if (*c->at != ':')
        return fail_at(c, c->at, "a \":\" is missing for the \"?\"");
    c->at++;
    if (!parse_choice(c))
        return false;
    c->nesting--;
    return apply(c, HS_OP_SELECT);
}

static bool parse_all(struct compiler *c)
{
    if (!parse_choice(c))
        return false;
    if (*c->at == '\0')
        return true;
    return !is_foreign_sign(c, c->at) &&
           fail_at(c, c->at, "\"%.*s\" was not expected", character(c), c->at);
}

static bool compile(struct compiler *c)
{
    if (strlen(c->text) > LONGEST_TEXT)
        return fail_at(c, c->text + LONGEST_TEXT,
                       "an expression has at most %d characters; shorten it: the rest begins",
                       LONGEST_TEXT);
    if (!parse_all(c))
        return false;
    if (hs_program_depth(c->code, c->length) > HS_EXPRESSION_DEPTH)
        return fail_at(c, c->text, "nested too deeply; write it with fewer parentheses,");
    return true;
}

struct hs_instruction *hs_expression_compile(const char *text, struct hs_expression *out,
                                             char *reason, size_t size)
{
    struct compiler c = {.text = text, .at = text, .reason = reason, .size = size};
    *out = (struct hs_expression){.code = NULL};
    if (!compile(&c)) {
        free(c.code);
        return NULL;
    }
    *out = hs_expression_part(c.code, c.length - 1); /* "0*x" varies, as does "x > 0 ? 1 : 1" */
    return c.code;
}
