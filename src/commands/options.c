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
#include "output/history.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 80 };

/* An option as text for a table. */
struct row {
    const char *path, *type, *unit, *help, *loose;
    char fallback[CELL], range[CELL];
};

static struct row row_of(const struct hs_option *option)
{
    struct row row = {.path = option->path,
                      .type = hs_option_type_name(option->type),
                      .unit = option->unit,
                      .help = option->help,
                      .loose = option->loose ? "; may change with --resume" : ""};
    const bool quoted = option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE;
    const char *quote = quoted && option->fallback ? "\"" : "";
    snprintf(row.fallback, sizeof row.fallback, "%s%s%s", quote,
             option->fallback ? option->fallback : "", quote);
    hs_option_range(option, row.range, sizeof row.range);
    return row;
}

static int wider(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
}

/* Prints the words of "a|b" as "a, b"; a "|" would end a cell in Markdown. */
static void print_words(const char *before, const char *words, const char *after)
{
    char *said = hs_list_said(words);
    printf("%s%s%s", before, said, after);
    free(said);
}

/* ---- kinds of boundary, methods, quantities of the history ------------------------------- */

enum { NAME, BETWEEN, MEANING, COLUMNS, LONG_CELL = 400 };
struct line {
    char cell[COLUMNS][LONG_CELL];
};

/* The n-th line of a table, as text or Markdown; false: there are no more. */
typedef bool line_function(int n, bool markdown, struct line *out);

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
    *out = (struct line){0};
    if (!kind->name)
        return false;
    snprintf(out->cell[NAME], LONG_CELL, markdown ? "`%s`" : "%s", kind->name);
    list_keys(kind, markdown, out->cell[BETWEEN], LONG_CELL);
    snprintf(out->cell[MEANING], LONG_CELL, "%s%s", kind->summary, n == 0 ? " (the default)" : "");
    return true;
}

static bool method_line(int n, bool markdown, struct line *out)
{
    const struct hs_method *method = hs_methods[n];
    if (!method)
        return false;
    snprintf(out->cell[NAME], LONG_CELL, markdown ? "`%s`" : "%s", method->name);
    snprintf(out->cell[BETWEEN], LONG_CELL, "%s%s%s", method->advance ? "time" : "",
             method->advance && method->solve ? ", " : "", method->solve ? "steady" : "");
    snprintf(out->cell[MEANING], LONG_CELL, "%s (%s)%s", method->idea, method->origin,
             n == 0 ? "; the default" : "");
    return true;
}

static bool quantity_line(int n, bool markdown, struct line *out)
{
    const struct hs_quantity *quantity = &hs_quantities[n];
    if (!quantity->name)
        return false;
    snprintf(out->cell[NAME], LONG_CELL, markdown ? "`/history/%s%s`" : "%s%s", quantity->name,
             quantity->each_wall ? "/WALL" : "");
    hs_quantity_units(quantity, out->cell[BETWEEN], LONG_CELL);
    snprintf(out->cell[MEANING], LONG_CELL, "%s%s%s", quantity->long_name,
             quantity->note ? "; " : "", quantity->note ? quantity->note : "");
    return true;
}

static void print_lines(bool markdown, const struct line *head, line_function *line)
{
    int width[COLUMNS] = {0};
    struct line row = *head;
    for (int n = 0, more = 1; more; more = line(n++, markdown, &row))
        for (int c = 0; c < MEANING; c++)
            width[c] = markdown ? 0 : wider(width[c], row.cell[c]);
    row = *head;
    printf("\n");
    for (int n = 0, more = 1; more; more = line(n++, markdown, &row)) {
        printf(markdown ? "| %-*s | %-*s | %s |\n" : "%-*s  %-*s  %s\n", width[NAME],
               row.cell[NAME], width[BETWEEN], row.cell[BETWEEN], row.cell[MEANING]);
        if (markdown && n == 0)
            printf("|---|---|---|\n");
    }
}

static void print_tables(bool markdown)
{
    static const struct line kinds[] = {{{"BOUNDARY", "KEYS", "WHAT IT IS"}},
                                        {{"type", "keys", "meaning"}}};
    static const struct line methods[] = {{{"METHOD", "OF", "WHAT IT IS"}},
                                          {{"method", "of", "meaning"}}};
    static const struct line quantities[] = {{{"HISTORY", "UNIT", "WHAT IT IS"}},
                                             {{"quantity", "unit", "meaning"}}};
    print_lines(markdown, &kinds[markdown], kind_line);
    print_lines(markdown, &methods[markdown], method_line);
    print_lines(markdown, &quantities[markdown], quantity_line);
}

/* ---------------------------------------------------------------------------------------------- */

static void print_variables(void)
{
    char name[CELL];
    printf("\nFACE is ");
    for (int n = 0; hs_option_concrete("FACE", n, name, sizeof name); n++)
        printf("%s%s", n ? ", " : "", name);
    printf("; AXIS is x, y, z; cN is c0 to c%d.\n", HS_MAX_COEFFICIENTS - 1);
}

static void print_text(void)
{
    int path = 0, type = 0, fallback = 0, range = 0, unit = 0;
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        const struct row row = row_of(option);
        path = wider(path, row.path);
        type = wider(type, row.type);
        fallback = wider(fallback, row.fallback);
        unit = wider(unit, row.unit);
        /* long lists of choices go to the help column, so that they do not widen this one */
        range = strlen(row.range) <= 20 ? wider(range, row.range) : range;
    }
    printf("%-*s  %-*s  %-*s  %-*s  %-*s  %s\n", path, "KEY", type, "TYPE", fallback, "DEFAULT",
           unit, "UNIT", range, "RANGE", "WHAT IT IS");
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        const struct row row = row_of(option);
        const bool wide = (int)strlen(row.range) > range;
        printf("%-*s  %-*s  %-*s  %-*s  %-*s  %s%s%s%s\n", path, row.path, type, row.type, fallback,
               row.fallback, unit, row.unit, range, wide ? "" : row.range, row.help,
               wide ? ": " : "", wide ? row.range : "", row.loose);
    }
    print_variables();
    print_words(
        "Expressions know x, y, z [m], t [s], pi, e, + - * / ^ ( ) < <= > >= == != && || ?: "
        "and\n",
        hs_expression_functions(), ".\n");
    print_tables(false);
}

static void print_markdown(void)
{
    printf("| key | type | default | unit | range | what it is |\n"
           "|---|---|---|---|---|---|\n");
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        const struct row row = row_of(option);
        printf("| `%s` | ", row.path);
        print_words("", row.type, " | ");
        print_words("", row.fallback, " | ");
        print_words("", row.unit, " | ");
        print_words("", row.range, " | ");
        printf("%s%s |\n", row.help, row.loose);
    }
    print_words("\nFunctions of expressions: ", hs_expression_functions(), ".\n");
    print_tables(true);
}

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
        print_mdoc(row.path);
        printf(" Pq %s\n", row.type);
        print_mdoc(row.help);
        printf("%s.\n", row.loose);
        print_fact("Unit", row.unit);
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
    const enum hs_status status =
        hs_arguments_read(argc, argv, table, sizeof table / sizeof table[0], err);
    if (status)
        return status;
    if (markdown + man + keys > 1)
        return hs_error_add(err, HS_BAD_INPUT, "options: give one of --markdown, --man, --keys");
    (markdown ? print_markdown : man ? print_man : keys ? print_keys : print_text)();
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
            "Behind the keys come the kinds of boundary and what the history of a run holds.\n",
    .run = run,
};
