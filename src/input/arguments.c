#include "input/arguments.h"
#include "core/memory.h"
#include "core/text.h"
#include "input/options.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hs_argument_list_release(struct hs_argument_list *list)
{
    free(list->items);
    *list = (struct hs_argument_list){NULL, 0};
}

static enum hs_status read_count(const char *command, const struct hs_argument *row,
                                 const char *text, struct hs_error *err)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    const bool number = end != text && *end == '\0', large = number && value > HS_MOST_COUNT;
    if (!number || large || errno || !(value >= 1.0) || value != rint(value))
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s %s: give a whole number, %s", command,
                            row->name, text, large ? "at most 2^53" : "at least 1");
    *(int64_t *)row->to = (int64_t)value;
    return HS_OK;
}

static enum hs_status store(const char *command, const struct hs_argument *row, const char *text,
                            struct hs_error *err)
{
    switch (row->type) {
    case HS_ARGUMENT_FLAG: *(bool *)row->to = true; return HS_OK;
    case HS_ARGUMENT_OPTIONAL:
    case HS_ARGUMENT_STRING: *(const char **)row->to = text; return HS_OK;
    case HS_ARGUMENT_COUNT: return read_count(command, row, text, err);
    case HS_ARGUMENT_LIST: break;
    }
    struct hs_argument_list *list = row->to;
    list->items = hs_reserve(list->items, (size_t)list->count, sizeof *list->items);
    list->items[list->count++] = text;
    return HS_OK;
}

/* The row of an option; "=value" may follow its name in the text. */
static const struct hs_argument *find(const struct hs_argument *table, int count, const char *text)
{
    const size_t length = strcspn(text, "=");
    for (int i = 0; i < count; i++)
        if (table[i].name && strlen(table[i].name) == length &&
            strncmp(table[i].name, text, length) == 0)
            return &table[i];
    return NULL;
}

static enum hs_status unknown_option(const char *command, const char *text,
                                     const struct hs_argument *table, int count,
                                     struct hs_error *err)
{
    char names[512] = "", given[64];
    for (int i = 0; i < count; i++)
        if (table[i].name)
            hs_text_add(names, sizeof names, "|", table[i].name);
    snprintf(given, sizeof given, "%.*s", (int)strcspn(text, "="), text);
    const char *nearest = hs_nearest_word(given, names);
    if (nearest)
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s: no such option; did you mean %s?", command,
                            text, nearest);
    return hs_error_add(err, HS_BAD_INPUT, "%s: %s: no such option; heatsolve %s --help lists them",
                        command, text, command);
}

/* Reads one option at argv[*at]; *at advances past its value. */
static enum hs_status read_option(int argc, char **argv, int *at, const struct hs_argument *table,
                                  int count, struct hs_error *err)
{
    const char *command = argv[0], *text = argv[*at];
    const struct hs_argument *row = find(table, count, text);
    const char *value = strchr(text, '=');
    if (!row)
        return unknown_option(command, text, table, count, err);
    const bool flag = row->type == HS_ARGUMENT_FLAG;
    if (flag && value)
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s: %s takes no value", command, text,
                            row->name);
    if (!flag && !value && *at + 1 >= argc)
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s: needs a value, %s %s", command, text,
                            row->name, row->what);
    return store(command, row, flag ? NULL : value ? value + 1 : argv[++*at], err);
}

enum hs_status hs_arguments_read(int argc, char **argv, const struct hs_argument *table, int count,
                                 struct hs_error *err)
{
    const struct hs_argument *positional = NULL;
    for (int i = 0; i < count; i++)
        if (!table[i].name)
            positional = &table[i];
    const char *found = NULL;
    enum hs_status first = HS_OK;
    for (int at = 1; at < argc; at++) {
        enum hs_status st = HS_OK;
        if (argv[at][0] == '-' && argv[at][1] != '\0')
            st = read_option(argc, argv, &at, table, count, err);
        else if (!positional || found)
            st = hs_error_add(err, HS_BAD_INPUT,
                              "%s: %s: one argument too many; see heatsolve %s --help", argv[0],
                              argv[at], argv[0]);
        else
            found = argv[at];
        first = first ? first : st;
    }
    const bool needed = positional && positional->type != HS_ARGUMENT_OPTIONAL;
    if (needed && !found && !first)
        first = hs_error_add(err, HS_BAD_INPUT, "%s: needs %s; see heatsolve %s --help", argv[0],
                             positional->what, argv[0]);
    if (positional && found)
        *(const char **)positional->to = found;
    return first;
}
