#include "functions/tabulate.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* The rule for splitting an expression. */
struct rule {
    unsigned axes; /* HS_VARIES_... of the grid's */
    enum hs_tables_of which;
};

static bool is_same(const struct hs_expression *a, const struct hs_expression *b)
{
    if (a->length != b->length)
        return false;
    for (int i = 0; i < a->length; i++)
        if (a->code[i].operation != b->code[i].operation ||
            memcmp(&a->code[i].constant, &b->code[i].constant, sizeof a->code[i].constant) != 0)
            return false;
    return true;
}

/* Emits a table for the part, an existing or a new one. False if there is no table left. */
static bool emit_table(struct hs_tabulation *out, const struct hs_expression *part)
{
    int n = 0;
    while (n < out->tables && !is_same(&out->table[n], part))
        n++;
    if (n == HS_MOST_TABLES)
        return false;
    if (n == out->tables)
        out->table[out->tables++] = *part;
    out->code[out->length++] = (struct hs_instruction){HS_OP_TABLE + n, 0.0};
    return true;
}

/* Whether the part is constant along at least one axis; t alone gains nothing from a table. */
static bool is_flat(const struct hs_expression *part, struct rule rule)
{
    const unsigned along = part->varies & rule.axes;
    return along == 0 ? part->length > 1 : rule.which != HS_TABLES_OF_NUMBERS && along != rule.axes;
}

/* Whether these instructions cost more than reading a number from memory. */
static bool is_much(const struct hs_instruction *code, int length)
{
    bool calls = false;
    for (int i = 0; i < length; i++)
        calls = calls || hs_operation_is_call(code[i].operation);
    return calls || length > 3;
}

static void leave(struct hs_tabulation *out, const struct hs_expression *part, struct rule rule);

static void leave_operation(struct hs_tabulation *out, const struct hs_expression *part,
                            struct rule rule)
{
    const struct hs_instruction last = part->code[part->length - 1];
    struct hs_expression argument[3];
    const int count = hs_operation_arguments(last.operation);
    for (int n = count - 1, end = part->length - 2; n >= 0; n--) {
        argument[n] = hs_expression_part(part->code, end);
        end -= argument[n].length;
    }
    for (int n = 0; n < count; n++)
        leave(out, &argument[n], rule);
    out->code[out->length++] = last;
}

/* Emits what remains of the part for each node. */
static void leave(struct hs_tabulation *out, const struct hs_expression *part, struct rule rule)
{
    const bool constant = part->code[part->length - 1].operation == HS_OP_CONSTANT;
    if (!constant && is_flat(part, rule) && emit_table(out, part))
        return;
    if (rule.which != HS_TABLES_OF_FIELDS || (part->varies & HS_VARIES_T)) {
        leave_operation(out, part, rule);
        return;
    }
    const int length = out->length, tables = out->tables;
    const struct rule planes = {rule.axes, HS_TABLES_OF_PLANES};
    leave_operation(out, part, planes);
    if (!is_much(out->code + length, out->length - length))
        return;
    out->length = length;
    out->tables = tables;
    if (!emit_table(out, part))
        leave_operation(out, part, planes);
}

void hs_tabulation_init(struct hs_tabulation *out, const struct hs_expression *expression,
                        const struct hs_grid *grid, enum hs_tables_of which)
{
    *out = (struct hs_tabulation){.tables = 0};
    out->code = hs_new((size_t)expression->length * sizeof *out->code);
    leave(out, expression, (struct rule){(1u << grid->dims) - 1, which});
}

void hs_tabulation_release(struct hs_tabulation *tabulation)
{
    free(tabulation->code);
    *tabulation = (struct hs_tabulation){.tables = 0};
}

int64_t hs_table_strides(const struct hs_expression *table, const struct hs_grid *grid,
                         int64_t stride[HS_AXES])
{
    int64_t numbers = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool varies = (table->varies >> axis & 1) && axis < grid->dims;
        stride[axis] = varies ? numbers : 0;
        numbers *= varies ? grid->points[axis] : 1;
    }
    return numbers;
}

double hs_tabulation_bytes(const struct hs_tabulation *tabulation, const struct hs_grid *grid,
                           int times)
{
    double numbers = 0.0;
    for (int n = 0; n < tabulation->tables; n++) {
        const struct hs_expression *table = &tabulation->table[n];
        int64_t stride[HS_AXES];
        numbers += (double)hs_table_strides(table, grid, stride) *
                   (table->varies & HS_VARIES_T ? times : 1);
    }
    return numbers * (double)sizeof(double);
}
