/* heatsolve options: lists every config key, boundary kind, method and history quantity, each from
 * its table. */
#include "input/options.h"
#include "commands/command.h"
#include "core/boundary.h"
#include "core/stencil.h"
#include "core/text.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "input/expression.h"
#include "input/settings.h"
#include "output/history.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What of an option is put into words. */
struct row {
    const char *type, *loose;
    char fallback[80], range[80];
};

static struct row row_of(const struct hs_option *option)
{
    struct row row = {.type = hs_settings_type_name(option->type),
                      .loose = option->loose ? "; may change with --resume" : ""};
    const bool quoted = option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE;
    const char *quote = quoted && option->fallback ? "\"" : "";
    snprintf(row.fallback, sizeof row.fallback, "%s%s%s", quote,
             option->fallback ? option->fallback : "", quote);
    hs_option_range(option, row.range, sizeof row.range);
    return row;
}

/* ---- tables, as text or Markdown ----------------------------------------------------------- */

enum { COLUMNS = 6, CELL = 400 };
struct line {
    char cell[COLUMNS][CELL]; /* unused ones are empty */
};

/* The n-th line of a table; false: there are no more. */
typedef bool line_function(int n, bool markdown, struct line *out);

/* In text a long list of choices goes to the last column, so that it does not widen its own. */
static bool option_line(int n, bool markdown, struct line *out)
{
    const struct hs_option *option = &hs_options()[n];
    if (!option->path)
        return false;
    const struct row row = row_of(option);
    const bool aside = !markdown && strlen(row.range) > 20;
    char *words = hs_list_said(row.range); /* a "|" would end a cell in Markdown */
    snprintf(out->cell[0], CELL, markdown ? "`%s`" : "%s", option->path);
    snprintf(out->cell[1], CELL, "%s", row.type);
    snprintf(out->cell[2], CELL, "%s", row.fallback);
    snprintf(out->cell[3], CELL, "%s", option->unit);
    snprintf(out->cell[4], CELL, "%s", aside ? "" : markdown ? words : row.range);
    snprintf(out->cell[5], CELL, "%s%s%s%s", option->help, aside ? ": " : "",
             aside ? row.range : "", row.loose);
    free(words);
    return true;
}

/* "h, ambient", "flux or gradient"; in Markdown in code marks and with units */
static void list_keys(const struct hs_boundary_kind *kind, bool markdown, char *out, size_t size)
{
    out[0] = '\0';
    for (int n = 0; n < hs_boundary_key_count(kind); n++) {
        const struct hs_boundary_key *key = &kind->key[n];
        const char *between = n == 0 ? "" : key->one_of && key[-1].one_of ? " or " : ", ";
        hs_text_append(out, size, markdown ? "%s`%s` (%s)" : "%s%s", between, key->name, key->unit);
    }
}

static bool kind_line(int n, bool markdown, struct line *out)
{
    const struct hs_boundary_kind *kind = &hs_boundary_kinds[n];
    if (!kind->name)
        return false;
    snprintf(out->cell[0], CELL, markdown ? "`%s`" : "%s", kind->name);
    list_keys(kind, markdown, out->cell[1], CELL);
    snprintf(out->cell[2], CELL, "%s%s", kind->summary, n == 0 ? " (the default)" : "");
    return true;
}

static bool method_line(int n, bool markdown, struct line *out)
{
    const struct hs_method *method = hs_methods[n];
    if (!method)
        return false;
    snprintf(out->cell[0], CELL, markdown ? "`%s`" : "%s", method->name);
    snprintf(out->cell[1], CELL, "%s%s%s", method->advance ? "time" : "",
             method->advance && method->solve ? ", " : "", method->solve ? "steady" : "");
    snprintf(out->cell[2], CELL, "%s (%s)%s", method->idea, method->origin,
             n == 0 ? "; the default" : "");
    return true;
}

static bool quantity_line(int n, bool markdown, struct line *out)
{
    const struct hs_quantity *quantity = &hs_quantities[n];
    if (!quantity->name)
        return false;
    snprintf(out->cell[0], CELL, markdown ? "`/history/%s%s`" : "%s%s", quantity->name,
             quantity->each_wall ? "/WALL" : "");
    hs_quantity_units(quantity, out->cell[1], CELL);
    snprintf(out->cell[2], CELL, "%s%s%s", quantity->long_name, quantity->note ? "; " : "",
             quantity->note ? quantity->note : "");
    return true;
}

static void print_table(bool markdown, const struct line *head, int columns, line_function *line)
{
    int width[COLUMNS] = {0};
    struct line row = *head;
    for (int n = 0, more = 1; more; more = line(n++, markdown, &row))
        for (int c = 0; c < columns - 1 && !markdown; c++)
            width[c] = (int)strlen(row.cell[c]) > width[c] ? (int)strlen(row.cell[c]) : width[c];
    row = *head;
    for (int n = 0, more = 1; more; more = line(n++, markdown, &row)) {
        for (int c = 0; c < columns; c++)
            printf(markdown          ? "| %-*s "
                   : c < columns - 1 ? "%-*s  "
                                     : "%-*s",
                   width[c], row.cell[c]);
        printf(markdown ? "|\n" : "\n");
        for (int c = 0; c < columns && markdown && n == 0; c++)
            printf(c < columns - 1 ? "|---" : "|---|\n");
    }
}

static void print_variables(void)
{
    char name[CELL];
    printf("\nFACE is ");
    for (int n = 0; hs_option_concrete("FACE", n, name, sizeof name); n++)
        printf("%s%s", n ? ", " : "", name);
    printf("; AXIS is x, y, z; cN is c0 to c%d.\n", HS_MAX_COEFFICIENTS - 1);
}

static void print_tables(bool markdown)
{
    static const struct line options[] = {
        {{"KEY", "TYPE", "DEFAULT", "UNIT", "RANGE", "WHAT IT IS"}},
        {{"key", "type", "default", "unit", "range", "what it is"}}};
    static const struct line kinds[] = {{{"BOUNDARY", "KEYS", "WHAT IT IS"}},
                                        {{"type", "keys", "meaning"}}};
    static const struct line methods[] = {{{"METHOD", "OF", "WHAT IT IS"}},
                                          {{"method", "of", "meaning"}}};
    static const struct line quantities[] = {{{"HISTORY", "UNIT", "WHAT IT IS"}},
                                             {{"quantity", "unit", "meaning"}}};
    print_table(markdown, &options[markdown], 6, option_line);
    if (!markdown)
        print_variables();
    char *functions = hs_list_said(hs_expression_functions());
    printf("%s%s.\n\n",
           markdown
               ? "\nFunctions of expressions: "
               : "Expressions know x, y, z [m], t [s], pi, e, + - * / ^ ( ) < <= > >= == != && "
                 "|| ?: and\n",
           functions);
    free(functions);
    print_table(markdown, &kinds[markdown], 3, kind_line);
    printf("\n");
    print_table(markdown, &methods[markdown], 3, method_line);
    printf("\n");
    print_table(markdown, &quantities[markdown], 3, quantity_line);
}

/* ---- the keys ------------------------------------------------------------------------------ */

/* Escapes what mdoc interprets: backslashes, and a dot or quote at the start of a line. */
static void print_mdoc(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text; text++)
        printf(*text == '\\' ? "\\e" : "%c", *text);
}

static void print_fact(const char *name, const char *text)
{
    if (!text[0])
        return;
    printf("%s: ", name);
    print_mdoc(text);
    printf(".\n");
}

/* Items of an mdoc list, for the man page. */
static void print_man(void)
{
    printf(".Bl -tag -width Ds\n");
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        const struct row row = row_of(option);
        printf(".It Cm ");
        print_mdoc(option->path);
        printf(" Pq %s\n", row.type);
        print_mdoc(option->help);
        printf("%s.\n", row.loose);
        print_fact("Unit", option->unit);
        print_fact("Range", row.range);
        print_fact("Default", row.fallback);
    }
    printf(".El\n");
}

/* One key per line, for the completion of --set. */
static void print_keys(void)
{
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        char path[CELL];
        if (option->type == HS_OPTION_GROUP || option->type == HS_OPTION_GROUP_LIST)
            continue;
        for (int n = 0; hs_option_concrete(option->path, n, path, sizeof path); n++)
            printf("%s\n", path);
    }
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    bool markdown = false, man = false, keys = false;
    const struct hs_argument table[] = {
        {"--markdown", HS_ARGUMENT_FLAG, &markdown, ""},
        {"--man", HS_ARGUMENT_FLAG, &man, ""},
        {"--keys", HS_ARGUMENT_FLAG, &keys, ""},
    };
    HS_TRY(hs_arguments_read(argc, argv, table, sizeof table / sizeof table[0], err));
    if (markdown + man + keys > 1)
        return hs_error_add(err, HS_BAD_INPUT, "options: give one of --markdown, --man, --keys");
    if (man)
        print_man();
    else if (keys)
        print_keys();
    else
        print_tables(markdown);
    return HS_OK;
}

const struct hs_command hs_command_options = {
    .name = "options",
    .usage = "heatsolve options [--markdown | --man | --keys]",
    .summary = "list every key of a config: type, default, unit, range, meaning",
    .help = "  --markdown   as tables for a document\n"
            "  --man        the keys as a list for a man page (mdoc)\n"
            "  --keys       the names of the keys alone, one a line\n"
            "\n"
            "After the keys come the kinds of boundary and what the history of a run holds.\n",
    .run = run,
};
