/* Brings programs into the form of functions/separation.h, by means of a tree of their operations,
 * ranges of the nodes' values, and rules for the form of an operation on arguments that have the
 * form. */
#include "functions/separation.h"

#include "core/memory.h"
#include "functions/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 600, LONGEST = 2000, NONE = -1 };

static const double largest = 1e100, latest = 1e10;

/* ---- ranges -------------------------------------------------------------------------------- */

struct range {
    double lo, hi; /* not finite: unknown */
};

static const struct range unknown = {-INFINITY, INFINITY};

static bool is_known(struct range r)
{
    return r.lo >= -largest && r.hi <= largest;
}

static struct range hull(const double *values, int count)
{
    struct range r = {values[0], values[0]};
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            return unknown;
        r.lo = fmin(r.lo, values[i]);
        r.hi = fmax(r.hi, values[i]);
    }
    return r;
}

/* An operation of one argument or two, monotone in each, has its extremes at corners. */
static struct range corners(int operation, struct range a, struct range b)
{
    const int arguments = hs_operation_arguments(operation);
    const struct hs_instruction code[] = {
        {HS_OP_X, 0.0}, {arguments == 1 ? HS_OP_X : HS_OP_Y, 0.0}, {operation, 0.0}};
    const double x[] = {a.lo, a.hi, a.lo, a.hi}, y[] = {b.lo, b.lo, b.hi, b.hi};
    double at[4];
    for (int n = 0; n < 4; n++)
        at[n] = hs_expression_at(code + 2 - arguments, arguments + 1, x[n], y[n], 0.0, 0.0);
    return hull(at, 4);
}

/* Whether its value is 1 or 0. */
static bool is_truth(int operation)
{
    return operation >= HS_OP_LESS && operation <= HS_OP_OR;
}

/* Operations that are monotone in each argument, whatever the others are. */
static const bool monotone[HS_OPERATIONS] = {
    [HS_OP_ADD] = true,  [HS_OP_SUBTRACT] = true, [HS_OP_MULTIPLY] = true, [HS_OP_MIN] = true,
    [HS_OP_MAX] = true,  [HS_OP_NEGATE] = true,   [HS_OP_CUBE] = true,     [HS_OP_EXP] = true,
    [HS_OP_ATAN] = true, [HS_OP_TANH] = true,     [HS_OP_ERF] = true,      [HS_OP_ERFC] = true,
    [HS_OP_SIGN] = true, [HS_OP_FLOOR] = true,    [HS_OP_CEIL] = true,     [HS_OP_TRUNC] = true,
    [HS_OP_RINT] = true, [HS_OP_SINH] = true,     [HS_OP_CBRT] = true};

static struct range range_of(int operation, struct range a, struct range b, struct range c)
{
    if (is_truth(operation))
        return (struct range){0.0, 1.0};
    if (monotone[operation])
        return corners(operation, a, b);
    switch (operation) {
    case HS_OP_SIN:
    case HS_OP_COS: return (struct range){-1.0, 1.0};
    case HS_OP_DIVIDE: return b.lo <= 0.0 && b.hi >= 0.0 ? unknown : corners(operation, a, b);
    case HS_OP_SQRT: return a.lo < 0.0 ? unknown : corners(operation, a, b);
    case HS_OP_LOG:
    case HS_OP_POWER: return a.lo <= 0.0 ? unknown : corners(operation, a, b);
    case HS_OP_SQUARE:
    case HS_OP_ABS: {
        struct range r = corners(operation, a, b);
        r.lo = a.lo <= 0.0 && a.hi >= 0.0 ? 0.0 : r.lo;
        return r;
    }
    case HS_OP_SELECT: return (struct range){fmin(b.lo, c.lo), fmax(b.hi, c.hi)};
    default: return unknown;
    }
}

/* ---- the tree ------------------------------------------------------------------------------ */

struct node {
    int operation;
    double constant;
    int argument[3];
    unsigned varies; /* HS_VARIES_... */
    struct range range;
};

/* Identical nodes are merged, so equal node numbers mean equal values. */
struct tree {
    struct node node[MOST_NODES];
    int count;
    bool full;
    struct range place[4]; /* of x, y, z, t */
    unsigned axis;         /* the bit of the axis to separate, ... */
    unsigned others;       /* ... and of the others */
};

static int add_node(struct tree *tree, struct node made)
{
    for (int n = 0; n < tree->count; n++) {
        const struct node *is = &tree->node[n];
        if (is->operation == made.operation && is->argument[0] == made.argument[0] &&
            is->argument[1] == made.argument[1] && is->argument[2] == made.argument[2] &&
            is->constant == made.constant && signbit(is->constant) == signbit(made.constant))
            return n;
    }
    if (tree->count == MOST_NODES) {
        tree->full = true;
        return 0;
    }
    tree->node[tree->count] = made;
    return tree->count++;
}

static int leaf(struct tree *tree, int operation, double constant)
{
    struct node made = {operation, constant, {NONE, NONE, NONE}, 0, {constant, constant}};
    if (operation != HS_OP_CONSTANT) {
        made.varies = (unsigned)HS_VARIES_X << (operation - HS_OP_X);
        made.range = tree->place[operation - HS_OP_X];
    }
    return add_node(tree, made);
}

static int apply(struct tree *tree, int operation, int a, int b, int c)
{
    const int argument[] = {a, b, c};
    struct node made = {operation, 0.0, {a, b, c}, 0, unknown};
    struct range range[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    bool known = true;
    for (int i = 0; i < hs_operation_arguments(operation); i++) {
        made.varies |= tree->node[argument[i]].varies;
        range[i] = tree->node[argument[i]].range;
        known = known && is_known(range[i]);
    }
    if (known)
        made.range = range_of(operation, range[0], range[1], range[2]);
    return add_node(tree, made);
}

/* Builds the tree; returns the node of the program's value, or NONE if there is no room. */
static int grow(struct tree *tree, const struct hs_expression *expression)
{
    int stack[HS_EXPRESSION_DEPTH + 1] = {0}, top = 0;
    for (int i = 0; i < expression->length && !tree->full; i++) {
        const struct hs_instruction *in = &expression->code[i];
        const int count = hs_operation_arguments(in->operation);
        top -= count;
        stack[top] = count == 0
                         ? leaf(tree, in->operation, in->constant)
                         : apply(tree, in->operation, stack[top], count > 1 ? stack[top + 1] : NONE,
                                 count > 2 ? stack[top + 2] : NONE);
        top++;
    }
    return tree->full ? NONE : stack[0];
}

/* ---- the form ------------------------------------------------------------------------------ */

/*
 * plane * column + offset, nodes of the tree or NONE. A plane of NONE: the value is the offset
 * alone. A column of NONE is 1, an offset of NONE beside a plane is 0.
 */
struct form {
    int plane, column, offset;
};

static bool free_of(const struct tree *tree, int node, unsigned varies)
{
    return !(tree->node[node].varies & varies);
}

static bool is_column(struct form f)
{
    return f.plane == NONE;
}

static bool is_product(struct form f)
{
    return f.plane != NONE && f.offset == NONE;
}

/* An operation whose arguments may be missing; a missing one acts as the neutral element. */
static int combine(struct tree *tree, int operation, int a, int b)
{
    if (a == NONE && b != NONE && operation == HS_OP_SUBTRACT)
        return apply(tree, HS_OP_NEGATE, b, NONE, NONE);
    return a == NONE ? b : b == NONE ? a : apply(tree, operation, a, b, NONE);
}

static int one(struct tree *tree, int operation, int a)
{
    return a == NONE ? NONE : apply(tree, operation, a, NONE, NONE);
}

static int or_one(struct tree *tree, int a)
{
    return a == NONE ? leaf(tree, HS_OP_CONSTANT, 1.0) : a;
}

static bool sum(struct tree *tree, int operation, struct form f, struct form g, struct form *out)
{
    *out = (struct form){NONE, NONE, combine(tree, operation, f.offset, g.offset)};
    if (is_column(f) || is_column(g) || f.column == g.column) {
        out->plane = combine(tree, operation, f.plane, g.plane);
        out->column = is_column(f) ? g.column : f.column;
        return true;
    }
    if (f.plane != g.plane)
        return false;
    out->plane = f.plane;
    out->column = apply(tree, operation, or_one(tree, f.column), or_one(tree, g.column), NONE);
    return true;
}

/* f times or divided by a column. If f has no column and the factor does not depend on the axis,
 * the plane takes the factor, so that a sum keeps its form. */
static struct form scaled(struct tree *tree, int operation, struct form f, int by)
{
    struct form out = {f.plane, f.column, NONE};
    if (f.offset != NONE)
        out.offset = apply(tree, operation, f.offset, by, NONE);
    if (f.column == NONE && free_of(tree, by, tree->axis))
        out.plane = apply(tree, operation, f.plane, by, NONE);
    else
        out.column = apply(tree, operation, or_one(tree, f.column), by, NONE);
    return out;
}

static bool product(struct tree *tree, struct form f, struct form g, struct form *out)
{
    if (is_column(f) || is_column(g)) {
        *out = is_column(f) ? scaled(tree, HS_OP_MULTIPLY, g, f.offset)
                            : scaled(tree, HS_OP_MULTIPLY, f, g.offset);
        return true;
    }
    *out = (struct form){combine(tree, HS_OP_MULTIPLY, f.plane, g.plane),
                         combine(tree, HS_OP_MULTIPLY, f.column, g.column), NONE};
    return is_product(f) && is_product(g);
}

static bool quotient(struct tree *tree, struct form f, struct form g, struct form *out)
{
    if (is_column(g)) {
        *out = scaled(tree, HS_OP_DIVIDE, f, g.offset);
        return true;
    }
    if (!is_product(g) || !(is_column(f) || is_product(f)))
        return false;
    const int over = is_column(f) ? f.offset : f.column;
    out->plane = apply(tree, HS_OP_DIVIDE, or_one(tree, f.plane), g.plane, NONE);
    out->column =
        g.column == NONE ? over : apply(tree, HS_OP_DIVIDE, or_one(tree, over), g.column, NONE);
    out->offset = NONE;
    return true;
}

/* exp, or a power of a constant; of a sum it is the product of those of the terms. */
static int raise(struct tree *tree, const struct node *whole, int exponent)
{
    return whole->operation == HS_OP_EXP
               ? apply(tree, HS_OP_EXP, exponent, NONE, NONE)
               : apply(tree, HS_OP_POWER, whole->argument[0], exponent, NONE);
}

/* Whether the node can only be 1 or 0. */
static bool is_condition(const struct tree *tree, int node)
{
    const struct node *of = &tree->node[node];
    if (of->operation == HS_OP_CONSTANT)
        return of->constant == 1.0;
    if (of->operation == HS_OP_MULTIPLY)
        return is_condition(tree, of->argument[0]) && is_condition(tree, of->argument[1]);
    return is_truth(of->operation);
}

/* The truth of f as 1 or 0, so that a choice between a value and 0 becomes a product. A product is
 * true if both factors are, unless it underflows to 0; a product of conditions never does. */
static bool truth(struct tree *tree, struct form f, struct form *out)
{
    const int zero = leaf(tree, HS_OP_CONSTANT, 0.0);
    *out = (struct form){NONE, NONE, NONE};
    if (is_column(f)) {
        out->offset = apply(tree, HS_OP_NOT_EQUAL, f.offset, zero, NONE);
        return true;
    }
    out->plane = apply(tree, HS_OP_NOT_EQUAL, f.plane, zero, NONE);
    if (f.column == NONE)
        return is_product(f);
    out->column = apply(tree, HS_OP_NOT_EQUAL, f.column, zero, NONE);
    return is_product(f) && is_condition(tree, f.plane) && is_condition(tree, f.column);
}

static bool is_zero(const struct tree *tree, struct form f)
{
    return is_column(f) && tree->node[f.offset].operation == HS_OP_CONSTANT &&
           tree->node[f.offset].constant == 0.0;
}

static bool choice(struct tree *tree, int condition, struct form when, struct form f, struct form g,
                   struct form *out)
{
    struct form factor;
    if (is_zero(tree, g))
        return truth(tree, when, &factor) && product(tree, factor, f, out);
    *out = f;
    if (is_column(f) || is_column(g) || f.column != g.column || f.offset != g.offset ||
        !free_of(tree, condition, tree->axis))
        return false;
    out->plane = apply(tree, HS_OP_SELECT, condition, f.plane, g.plane);
    return true;
}

static bool form_of(struct tree *tree, int node, struct form *out);

static bool form_of_exponential(struct tree *tree, int node, struct form *out)
{
    const struct node whole = tree->node[node];
    struct form f;
    if (whole.operation == HS_OP_POWER && tree->node[whole.argument[0]].operation != HS_OP_CONSTANT)
        return false;
    if (!form_of(tree, whole.argument[whole.operation == HS_OP_POWER], &f) || f.column != NONE)
        return false;
    *out = (struct form){raise(tree, &whole, f.plane),
                         f.offset == NONE ? NONE : raise(tree, &whole, f.offset), NONE};
    return true;
}

static bool form_of_two(struct tree *tree, int node, struct form *out)
{
    const struct node whole = tree->node[node];
    struct form f, g;
    if (!form_of(tree, whole.argument[0], &f) || !form_of(tree, whole.argument[1], &g))
        return false;
    switch (whole.operation) {
    case HS_OP_MULTIPLY: return product(tree, f, g, out);
    case HS_OP_DIVIDE: return quotient(tree, f, g, out);
    case HS_OP_AND: return truth(tree, f, &f) && truth(tree, g, &g) && product(tree, f, g, out);
    default: return sum(tree, whole.operation, f, g, out);
    }
}

/* Whether the node's value has the form, from its last operation and its arguments' forms. */
static bool form_of(struct tree *tree, int node, struct form *out)
{
    const struct node whole = tree->node[node];
    struct form when, f, g;
    *out = (struct form){NONE, NONE, NONE};
    if (tree->full)
        return false;
    if (free_of(tree, node, tree->others)) {
        out->offset = node;
        return true;
    }
    if (free_of(tree, node, tree->axis)) {
        out->plane = node;
        return true;
    }
    switch (whole.operation) {
    case HS_OP_ADD:
    case HS_OP_SUBTRACT:
    case HS_OP_MULTIPLY:
    case HS_OP_DIVIDE:
    case HS_OP_AND: return form_of_two(tree, node, out);
    case HS_OP_EXP:
    case HS_OP_POWER: return form_of_exponential(tree, node, out);
    case HS_OP_NEGATE:
        if (!form_of(tree, whole.argument[0], &f))
            return false;
        *out = (struct form){one(tree, HS_OP_NEGATE, f.plane), f.column,
                             one(tree, HS_OP_NEGATE, f.offset)};
        return true;
    case HS_OP_SQUARE:
    case HS_OP_CUBE:
    case HS_OP_ABS:
        if (!form_of(tree, whole.argument[0], &f) || !is_product(f))
            return false;
        *out = (struct form){one(tree, whole.operation, f.plane),
                             one(tree, whole.operation, f.column), NONE};
        return true;
    case HS_OP_SELECT:
        return form_of(tree, whole.argument[0], &when) && form_of(tree, whole.argument[1], &f) &&
               form_of(tree, whole.argument[2], &g) &&
               choice(tree, whole.argument[0], when, f, g, out);
    default: return false;
    }
}

/* ---- the program --------------------------------------------------------------------------- */

struct program {
    struct hs_instruction code[LONGEST];
    int length;
    bool bounded; /* all its intermediate values are bounded */
};

static void emit(struct program *program, int operation, double constant)
{
    if (program->length < LONGEST)
        program->code[program->length] = (struct hs_instruction){operation, constant};
    program->length++;
}

static void emit_node(const struct tree *tree, int node, struct program *program)
{
    const struct node *n = &tree->node[node];
    if (program->length >= LONGEST)
        return;
    for (int i = 0; i < hs_operation_arguments(n->operation); i++)
        emit_node(tree, n->argument[i], program);
    emit(program, n->operation, n->constant);
    program->bounded = program->bounded && is_known(n->range);
}

static void emit_form(const struct tree *tree, struct form form, struct program *program)
{
    *program = (struct program){.length = 0, .bounded = true};
    emit_node(tree, form.plane, program);
    if (form.column != NONE) {
        emit_node(tree, form.column, program);
        emit(program, HS_OP_MULTIPLY, 0.0);
    }
    if (form.offset != NONE) {
        emit_node(tree, form.offset, program);
        emit(program, HS_OP_ADD, 0.0);
    }
}

static bool rearrange_along(const struct hs_expression *expression, const struct hs_grid *grid,
                            int axis, struct tree *tree, struct program *program)
{
    struct form form;
    tree->count = 0;
    tree->full = false;
    tree->axis = (unsigned)HS_VARIES_X << axis;
    tree->others = HS_VARIES_SPACE & ~tree->axis;
    for (int a = 0; a < HS_AXES; a++) {
        const double from = grid->lower[a], to = hs_grid_coordinate(grid, a, grid->points[a] - 1);
        tree->place[a] = (struct range){fmin(from, to), fmax(from, to)};
    }
    tree->place[HS_AXES] = (struct range){0.0, latest};
    const int value = grow(tree, expression);
    if (value == NONE || !form_of(tree, value, &form) || tree->full || form.plane == NONE)
        return false;
    emit_form(tree, form, program);
    return program->bounded && program->length < LONGEST &&
           hs_program_depth(program->code, program->length) < HS_EXPRESSION_DEPTH;
}

bool hs_expression_rearrange(const struct hs_expression *expression, const struct hs_grid *grid,
                             struct hs_instruction **code, struct hs_expression *out)
{
    struct tree *tree = hs_new(sizeof *tree);
    struct program *program = hs_new(sizeof *program);
    struct hs_separation separation;
    bool done = false;
    *code = NULL;
    for (int axis = grid->dims - 1; axis >= 0 && !done; axis--)
        done = rearrange_along(expression, grid, axis, tree, program);
    if (done) {
        *code = hs_new((size_t)program->length * sizeof **code);
        memcpy(*code, program->code, (size_t)program->length * sizeof **code);
        *out = hs_expression_part(*code, program->length - 1);
        done = hs_expression_separate(out, grid->dims, &separation);
    }
    free(program);
    free(tree);
    if (!done) {
        free(*code);
        *code = NULL;
    }
    return done;
}
