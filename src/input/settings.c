#include "input/settings.h"

#include "core/memory.h"
#include "input/foreign.h"
#include "input/number.h"

#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 160, LONGEST_VALUE = 60, LONGEST_MESSAGE = 600 };

void hs_settings_init(struct hs_settings *settings, const char *file, struct hs_error *err)
{
    *settings = (struct hs_settings){.file = file, .by = "--set", .err = err};
}

static void destroy_entry(struct hs_setting *entry)
{
    free(entry->path);
    free(entry->text);
    free(entry->content);
    free(entry);
}

static int by_path(const void *a, const void *b)
{
    const struct hs_setting *first = a, *second = b;
    return strcmp(first->path, second->path);
}

void hs_settings_release(struct hs_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        tdelete(settings->entries[i], &settings->by_path, by_path);
        destroy_entry(settings->entries[i]);
    }
    free(settings->entries);
    for (size_t i = 0; i < settings->meant_count; i++)
        free(settings->meant[i]);
    free(settings->meant);
    for (size_t i = 0; i < settings->blamed_count; i++)
        free(settings->blamed[i]);
    free(settings->blamed);
    hs_settings_init(settings, settings->file, settings->err);
}

static void add_path(char ***list, size_t *count, const char *path)
{
    *list = hs_reserve(*list, *count, sizeof **list);
    (*list)[(*count)++] = hs_copy(path);
}

void hs_settings_mean(struct hs_settings *settings, const char *path)
{
    add_path(&settings->meant, &settings->meant_count, path);
}

void hs_settings_blame(struct hs_settings *settings, const char *path)
{
    add_path(&settings->blamed, &settings->blamed_count, path);
}

/* Whether `meant` is the key `path` or inside that group; "[]" in `meant` matches any index. */
static bool stands_for(const char *meant, const char *path)
{
    while (*meant && *meant == *path) {
        if (*path++ == '[')
            path += strspn(path, "0123456789");
        meant++;
    }
    return *path == '\0' && (*meant == '\0' || *meant == '.');
}

bool hs_settings_is_meant(const struct hs_settings *settings, const char *path)
{
    for (size_t i = 0; i < settings->meant_count; i++)
        if (stands_for(settings->meant[i], path))
            return true;
    return false;
}

struct hs_setting *hs_settings_any(const struct hs_settings *settings, const char *path)
{
    const struct hs_setting wanted = {.path = (char *)(uintptr_t)path};
    struct hs_setting *const *found = tfind(&wanted, &settings->by_path, by_path);
    return found ? *found : NULL;
}

struct hs_setting *hs_settings_find(const struct hs_settings *settings, const char *path)
{
    struct hs_setting *found = hs_settings_any(settings, path);
    return found && found->option ? found : NULL;
}

struct hs_setting *hs_settings_add(struct hs_settings *settings, const struct hs_setting *setting)
{
    struct hs_setting *copy = hs_new(sizeof *copy);
    *copy = *setting;
    copy->path = hs_copy(setting->path);
    copy->by = settings->by;
    copy->text = setting->text ? hs_copy(setting->text) : NULL;
    tsearch(copy, &settings->by_path, by_path);
    settings->entries = hs_reserve(settings->entries, settings->count, sizeof copy);
    settings->entries[settings->count++] = copy;
    return copy;
}

bool hs_settings_is_within(const char *path, const char *outer)
{
    const size_t n = strlen(outer);
    return strncmp(path, outer, n) == 0 && (n == 0 || strchr(".[", path[n])); /* or the end */
}

bool hs_settings_is_sound(const struct hs_settings *settings, const char *path)
{
    for (size_t i = 0; i < settings->blamed_count; i++)
        if (hs_settings_is_within(settings->blamed[i], path) ||
            hs_settings_is_within(path, settings->blamed[i]))
            return false;
    return true;
}

void hs_settings_remove(struct hs_settings *settings, const char *path)
{
    size_t kept = 0;
    for (size_t i = 0; i < settings->count; i++) {
        if (hs_settings_is_within(settings->entries[i]->path, path)) {
            tdelete(settings->entries[i], &settings->by_path, by_path);
            destroy_entry(settings->entries[i]);
        } else
            settings->entries[kept++] = settings->entries[i];
    }
    settings->count = kept;
}

/* The entry itself, or the innermost given group that contains it. */
static const struct hs_setting *nearest_given(const struct hs_settings *settings, const char *path)
{
    char outer[LONGEST_PATH];
    snprintf(outer, sizeof outer, "%s", path);
    for (;;) {
        const struct hs_setting *entry = hs_settings_find(settings, outer);
        if (entry)
            return entry;
        char *cut = strrchr(outer, '.');
        char *bracket = strrchr(outer, '[');
        cut = !cut || (bracket && bracket > cut) ? bracket : cut;
        if (!cut)
            return NULL;
        *cut = '\0';
    }
}

char *hs_settings_place(const struct hs_settings *settings, const char *path)
{
    const struct hs_setting *entry = nearest_given(settings, path);
    const bool itself = entry && strcmp(entry->path, path) == 0;
    const char *text = itself && entry->text ? entry->text : NULL;
    const char *quote = text && entry->kind == HS_SETTING_STRING ? "\"" : "";
    char *value = text ? hs_format(" = %s%.*s%s%s", quote, LONGEST_VALUE, text,
                                   strlen(text) > LONGEST_VALUE ? "..." : "", quote)
                       : hs_copy("");
    char *place = !entry        ? hs_format("%s: %s", settings->file, path)
                  : entry->file ? hs_format("%s:%d: %s%s", entry->file, entry->line, path, value)
                                : hs_format("%s: %s%s", entry->by, path, value);
    free(value);
    return place;
}

static bool fits(const struct hs_setting *setting);

/* True after a key's first report. What is inside a non-group counts as reported. */
static bool is_reported(const struct hs_settings *settings, const char *path)
{
    const struct hs_setting *entry = hs_settings_find(settings, path);
    const struct hs_setting *near = nearest_given(settings, path);
    const bool lacks = !entry || entry->kind == HS_SETTING_GROUP;
    return (near && near->bad && (near == entry || !fits(near))) ||
           (lacks && hs_settings_is_meant(settings, path));
}

void hs_settings_report(struct hs_settings *settings, const char *path, enum hs_status status,
                        const char *message)
{
    struct hs_setting *entry = hs_settings_find(settings, path);
    if (is_reported(settings, path))
        return;
    hs_settings_blame(settings, path);
    if (entry)
        entry->bad = true;
    char *place = hs_settings_place(settings, path);
    hs_error_add(settings->err, status, "%s: %s", place, message);
    free(place);
}

bool hs_settings_complain(struct hs_settings *settings, const char *path, const char *format, ...)
{
    char message[LONGEST_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hs_settings_report(settings, path, HS_BAD_INPUT, message);
    return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* " > 0 [m]": the range and the unit, if any. */
static void show_range(const struct hs_option *option, char *out, size_t size)
{
    char range[80];
    hs_option_range(option, range, sizeof range);
    const bool unit = option->unit[0];
    snprintf(out, size, "%s%s%s%s%s", range[0] ? " " : "", range, unit ? " [" : "", option->unit,
             unit ? "]" : "");
}

static void check_range(struct hs_settings *settings, const struct hs_setting *entry, double value)
{
    const struct hs_option *option = entry->option;
    const bool low = option->above ? !(value > option->lowest) : !(value >= option->lowest);
    if (!low && value <= option->highest)
        return;
    char range[120];
    show_range(option, range, sizeof range);
    if (value > option->highest && option->highest == HS_MOST_COUNT)
        hs_settings_complain(settings, entry->path, "must be at most %.0f (2^53)", HS_MOST_COUNT);
    else
        hs_settings_complain(settings, entry->path, "must be%s", range);
}

static void check_number(struct hs_settings *settings, const struct hs_setting *entry)
{
    const enum hs_option_type type = entry->option->type;
    const bool whole = type == HS_OPTION_COUNT || type == HS_OPTION_COUNTS;
    int64_t count = 0;
    double value = 0.0;
    const char *fault =
        whole ? hs_number_parse_count(entry->text, &count) : hs_number_parse(entry->text, &value);
    if (!fault) {
        check_range(settings, entry, whole ? (double)count : value);
        return;
    }
    char range[120];
    show_range(entry->option, range, sizeof range);
    hs_settings_complain(settings, entry->path, "%s; give a %snumber%s", fault,
                         whole ? "whole " : "", range);
}

static void check_choice(struct hs_settings *settings, const struct hs_setting *entry)
{
    const char *choices = entry->option->choices;
    const size_t length = strlen(entry->text);
    if (length > 0 && hs_list_match(choices, entry->text) == length)
        return;
    char write[200], *said = hs_list_said(choices);
    const char *nearest = hs_nearest_word(entry->text, choices);
    if (hs_foreign_choice(entry->option, entry->text, write, sizeof write))
        hs_settings_complain(settings, entry->path, "write %s", write);
    else if (nearest)
        hs_settings_complain(settings, entry->path, "did you mean \"%s\"? Choose one of %s",
                             nearest, said);
    else
        hs_settings_complain(settings, entry->path, "must be one of %s", said);
    free(said);
}

static void check_auto(struct hs_settings *settings, const struct hs_setting *entry)
{
    if (strcmp(entry->text, "auto") != 0)
        hs_settings_complain(settings, entry->path, "must be a number or \"auto\"");
}

static void check_expression(struct hs_settings *settings, const struct hs_setting *entry)
{
    if (entry->text[strspn(entry->text, " \t\r\n")] == '\0')
        hs_settings_complain(settings, entry->path, "is empty; give a number or an expression");
}

#define NUMBER (1u << HS_SETTING_NUMBER)
#define STRING (1u << HS_SETTING_STRING)
#define LIST (1u << HS_SETTING_LIST)
#define GROUP (1u << HS_SETTING_GROUP)

/* For each type: its name, the kinds of setting, how to write it, for remedies, and the check of a
 * text. */
static const struct {
    const char *name;
    unsigned kinds;
    const char *example;
    void (*check)(struct hs_settings *settings, const struct hs_setting *entry);
} types[HS_OPTION_TYPES] = {
    [HS_OPTION_GROUP] = {"group", GROUP, "a group { ... }", NULL},
    [HS_OPTION_GROUP_LIST] = {"list of groups", LIST, "a list of groups ( { ... }, ... )", NULL},
    [HS_OPTION_STRING] = {"string", STRING, "a string \"...\"", NULL},
    [HS_OPTION_STRINGS] = {"strings", LIST, "a list of strings [\"...\", \"...\"]", NULL},
    [HS_OPTION_CHOICE] = {"string", STRING, "a string \"...\"", check_choice},
    [HS_OPTION_FLAG] = {"true or false", 1u << HS_SETTING_BOOLEAN, "true or false, without quotes",
                        NULL},
    [HS_OPTION_COUNT] = {"integer", NUMBER, "a whole number without quotes or brackets", NULL},
    [HS_OPTION_NUMBER] = {"number", NUMBER, "a number without quotes or brackets", NULL},
    [HS_OPTION_VALUE] = {"number or expression", NUMBER | STRING,
                         "a number, or an expression \"...\"", check_expression},
    [HS_OPTION_COUNTS] = {"integers", NUMBER | LIST, "whole numbers [ ... ], one for each axis",
                          NULL},
    [HS_OPTION_NUMBERS] = {"numbers", NUMBER | LIST, "numbers [ ... ], one for each axis", NULL},
    [HS_OPTION_COORDINATES] = {"numbers or group", LIST | GROUP,
                               "a list of coordinates [ ... ], or a group { segments = ( { to; "
                               "cells; }, ... ); }",
                               NULL},
    [HS_OPTION_NUMBER_OR_AUTO] = {"number or \"auto\"", NUMBER | STRING, "a number or \"auto\"",
                                  check_auto},
};

const char *hs_settings_type_name(enum hs_option_type type)
{
    return types[type].name;
}

/* The option's type, or that of the members of the option's list. */
static enum hs_option_type type_of(const struct hs_setting *setting)
{
    const enum hs_option_type type = setting->option->type;
    const bool member = setting->path[strlen(setting->path) - 1] == ']';
    return !member                        ? type
           : type == HS_OPTION_GROUP_LIST ? HS_OPTION_GROUP
           : type == HS_OPTION_COUNTS     ? HS_OPTION_COUNT
           : type == HS_OPTION_STRINGS    ? HS_OPTION_STRING
                                          : HS_OPTION_NUMBER;
}

static bool fits(const struct hs_setting *setting)
{
    return types[type_of(setting)].kinds & 1u << setting->kind;
}

/* A number in quotes needs no explanation where a number belongs; other texts may ask for a missing
 * feature. */
static void complain_of_kind(struct hs_settings *settings, const struct hs_setting *setting,
                             const char *example)
{
    double number;
    const bool quoted = types[type_of(setting)].kinds & NUMBER && setting->text &&
                        hs_number_parse(setting->text, &number) == NULL;
    const char *said = quoted ? NULL : hs_foreign_value(setting->path, setting->kind);
    hs_settings_complain(settings, setting->path, "must be %s%s%s", example, said ? "; " : "",
                         said ? said : "");
}

void hs_settings_check(struct hs_settings *settings, struct hs_setting *setting)
{
    const enum hs_option_type type = setting->option->type;
    const char *example = types[type_of(setting)].example;
    const bool numbers = types[type_of(setting)].kinds & NUMBER;
    if (numbers && setting->kind == HS_SETTING_STRING && hs_number_is_not_finite(setting->text))
        hs_settings_complain(settings, setting->path, "is not finite; give %s", example);
    else if (!fits(setting))
        complain_of_kind(settings, setting, example);
    else if (setting->kind == HS_SETTING_NUMBER)
        check_number(settings, setting);
    else if (setting->kind == HS_SETTING_STRING && types[type].check)
        types[type].check(settings, setting);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

const char *hs_settings_text(const struct hs_settings *settings, const char *path)
{
    const struct hs_setting *entry = hs_settings_find(settings, path);
    if (entry)
        return entry->bad ? NULL : entry->text;
    const struct hs_option *option = hs_option_find(path);
    return option ? option->fallback : NULL;
}

bool hs_settings_number(const struct hs_settings *settings, const char *path, double *out)
{
    const char *text = hs_settings_text(settings, path);
    double value;
    if (!text || hs_number_parse(text, &value) != NULL)
        return false;
    *out = value;
    return true;
}

bool hs_settings_count(const struct hs_settings *settings, const char *path, int64_t *out)
{
    const char *text = hs_settings_text(settings, path);
    int64_t value;
    if (!text || hs_number_parse_count(text, &value) != NULL)
        return false;
    *out = value;
    return true;
}

bool hs_settings_flag(const struct hs_settings *settings, const char *path)
{
    const char *text = hs_settings_text(settings, path);
    return text && strcmp(text, "true") == 0;
}

int hs_settings_length(const struct hs_settings *settings, const char *path)
{
    const struct hs_setting *entry = hs_settings_find(settings, path);
    if (!entry || entry->bad)
        return 0;
    return entry->kind == HS_SETTING_NUMBER ? 1 : entry->members;
}
