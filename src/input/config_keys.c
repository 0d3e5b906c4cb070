#include "input/config_reader.h"

#include "core/boundary.h"
#include "core/memory.h"
#include "input/config_text.h"
#include "input/foreign.h"
#include "input/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 160 };

/* ---- the keys -------------------------------------------------------------------------------- */

static void report_unknown(struct hs_settings *settings, const struct hs_setting *entry)
{
    char place[256];
    if (entry->file)
        snprintf(place, sizeof place, "%.230s:%d", entry->file, entry->line);
    else
        snprintf(place, sizeof place, "%s", settings->by);
    struct hs_foreign foreign = {NULL, NULL};
    /* the search for the nearest key is slow, and unlisted errors need no remedy */
    if (!hs_error_is_full(settings->err) && !hs_foreign_key(entry->path, &foreign))
        foreign.meant = hs_option_nearest(entry->path);
    hs_settings_blame(settings, foreign.meant ? foreign.meant : entry->path);
    if (foreign.said)
        hs_error_add(settings->err, HS_BAD_INPUT, "%s: %s: unknown key; %s", place, entry->path,
                     foreign.said);
    else if (foreign.meant)
        hs_error_add(settings->err, HS_BAD_INPUT, "%s: %s: unknown key; did you mean %s?", place,
                     entry->path, foreign.meant);
    else
        hs_error_add(settings->err, HS_BAD_INPUT,
                     "%s: %s: unknown key; heatsolve options lists them all", place, entry->path);
    if (foreign.meant)
        hs_settings_mean(settings, foreign.meant);
}

static bool takes_only_words(const struct hs_option *option)
{
    return option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE;
}

static bool takes_words(const struct hs_option *option)
{
    return takes_only_words(option) || option->type == HS_OPTION_VALUE ||
           option->type == HS_OPTION_NUMBER_OR_AUTO;
}

static void check(struct hs_settings *settings, struct hs_setting *entry)
{
    const bool scalar = entry->kind != HS_SETTING_GROUP && entry->kind != HS_SETTING_LIST;
    if (scalar && !entry->text)
        hs_settings_complain(settings, entry->path,
                             "two values without a comma or semicolon between them%s",
                             takes_words(entry->option)
                                 ? "; a name or an expression stands in quotes, as in \"a.csv\""
                                 : "; a number stands without its unit");
    else if (entry->bare && entry->file && takes_words(entry->option) &&
             (takes_only_words(entry->option) || !hs_number_is_not_finite(entry->text)))
        hs_settings_complain(settings, entry->path, "a word without quotes; put it in quotes");
    else
        hs_settings_check(settings, entry);
    const int most = entry->members > 0 ? hs_config_text_most_members(entry->path) : 0;
    if (!entry->bad && entry->members > most)
        hs_settings_complain(settings, entry->path, "has %d members; at most %d are allowed",
                             entry->members, most);
}

void hs_config_check(struct hs_settings *settings, size_t first)
{
    const struct hs_setting *bad = NULL;
    for (size_t i = first; i < settings->count; i++) {
        struct hs_setting *entry = settings->entries[i];
        if (bad && hs_settings_is_within(entry->path, bad->path))
            continue;
        entry->option = hs_option_find(entry->path);
        if (entry->option)
            check(settings, entry);
        else
            report_unknown(settings, entry);
        bad = !entry->option || entry->bad ? entry : NULL;
    }
}

/* ---- overrides ------------------------------------------------------------------------------- */

static bool is_path(const char *path)
{
    for (const char *p = path; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.[]-", *p))
            return false;
    return path[0] != '\0';
}

/* The first index in the path that is out of range or not in canonical form; *last: the largest
 * index that the list may have. */
static const char *odd_index(const char *path, int *last)
{
    for (const char *p = path; (p = strchr(p, '['));) {
        char *list = hs_format("%.*s", (int)(p - path), path);
        *last = hs_config_text_most_members(list) - 1;
        free(list);
        const size_t digits = strspn(++p, "0123456789");
        if ((*p == '0' && digits > 1) || digits > 7 || atoi(p) > *last)
            return p;
    }
    return NULL;
}

/* Adds groups and lists that enclose an override's key and that the config lacks. */
static void add_surroundings(struct hs_settings *settings, const char *path)
{
    for (const char *p = path; (p = strpbrk(p, ".[")); p++) {
        char *outer = hs_format("%.*s", (int)(p - path), path);
        const enum hs_setting_kind kind = *p == '[' ? HS_SETTING_LIST : HS_SETTING_GROUP;
        const struct hs_setting group = {
            .path = outer, .kind = kind, .option = hs_option_find(outer)};
        struct hs_setting *there = hs_settings_find(settings, outer);
        if (group.option && (!there || there->kind != kind)) {
            hs_settings_remove(settings, outer);
            there = hs_settings_add(settings, &group);
        }
        const int index = atoi(p + 1);
        if (there && *p == '[' && there->members <= index)
            there->members = index + 1;
        free(outer);
    }
}

/* Alternative keys for the same thing: an override with one of them removes the others. */
enum { WAYS = 3 };
static const struct {
    const char *group, *ways[WAYS];
} rivalries[] = {
    {"time.", {"end", "sweeps"}},
    {"output.", {"interval", "every"}},
    {"grid.", {"upper", "spacing"}},
    {"material.", {"diffusivity", "conductivity|density|specific_heat"}},
    {"materials[].", {"diffusivity", "conductivity|density|specific_heat"}},
    {"materials[].", {"source", "source_table"}},
    {"materials[].perfusion.", {"reference", "reference_table"}},
    {"initial.", {"value", "expression", "file|dataset|step"}},
    {"source.", {"value", "expression", "file|dataset|step"}},
};

/* Removes keys "a|b" beside `name`, which ends the path, if the config gave them. Two overrides
 * that exclude each other are an error. */
static void remove_beside(struct hs_settings *settings, const char *path, const char *name,
                          const char *others)
{
    char other[32];
    while (hs_list_next(&others, '|', other, sizeof other)) {
        char *beside = hs_format("%.*s%s", (int)(name - path), path, other);
        const struct hs_setting *entry = hs_settings_find(settings, beside);
        if (entry && entry->file)
            hs_settings_remove(settings, beside);
        free(beside);
    }
}

/* Removes all ways but the one that the name is in; false: it is in none. */
static bool keep_one_way(struct hs_settings *settings, const char *path, const char *name,
                         const char *const ways[WAYS])
{
    int taken = 0;
    while (taken < WAYS && !(ways[taken] && hs_list_match(ways[taken], name)))
        taken++;
    for (int way = 0; way < WAYS && taken < WAYS; way++)
        if (way != taken && ways[way])
            remove_beside(settings, path, name, ways[way]);
    return taken < WAYS;
}

static void remove_rivals(struct hs_settings *settings, const char *path)
{
    for (size_t i = 0; i < sizeof rivalries / sizeof rivalries[0]; i++) {
        const char *name = hs_option_match(rivalries[i].group, path);
        if (name)
            keep_one_way(settings, path, name, rivalries[i].ways);
    }
}

/* The last name in a wall's key, "boundary.x_min.flux" or "boundary.x_min.patches[0].flux"; NULL if
 * the path is not such a key. */
static const char *name_in_wall(const char *path)
{
    static const char *const groups[] = {"boundary.FACE.", "boundary.FACE.patches[]."};
    for (int n = 0; n < 2; n++) {
        const char *rest = hs_option_match(groups[n], path);
        if (rest && *rest && !strpbrk(rest, ".["))
            return rest;
    }
    return NULL;
}

/* The keys by which a wall's number is given otherwise than written out: a file times a table. */
static char *stored_keys(const char *number)
{
    return hs_format("%s_file|%s_dataset|%s_table", number, number, number);
}

/* Removes these keys and, if `written`, the number written out. */
static void remove_number(struct hs_settings *settings, const char *path, const char *name,
                          const char *number, bool written)
{
    char *stored = stored_keys(number);
    remove_beside(settings, path, name, stored);
    if (written)
        remove_beside(settings, path, name, number);
    free(stored);
}

/* Removes the other ways to give the same number, and numbers that exclude it. */
static void remove_rivals_of_wall(struct hs_settings *settings, const char *path)
{
    const char *name = name_in_wall(path);
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; name && kind->name; kind++)
        for (int given = 0; given < hs_boundary_key_count(kind); given++) {
            const struct hs_boundary_key *key = kind->key;
            char *stored = stored_keys(key[given].name);
            const char *const ways[WAYS] = {key[given].name, stored};
            const bool taken = keep_one_way(settings, path, name, ways);
            free(stored);
            for (int n = 0; n < hs_boundary_key_count(kind) && taken; n++)
                if (n != given && key[given].one_of && key[n].one_of)
                    remove_number(settings, path, name, key[n].name, true);
        }
}

/* After an override has changed a wall's kind from `before`: removes keys of the config that the
 * new kind does not use, including files and tables if only a body's walls have these. */
static void remove_unused_of_wall(struct hs_settings *settings, const char *path,
                                  const char *before)
{
    const char *name = name_in_wall(path);
    const struct hs_setting *type = hs_settings_find(settings, path);
    if (!name || strcmp(name, "type") != 0 || !type || !type->text ||
        strcmp(type->text, before) == 0)
        return;
    const struct hs_boundary_kind *kind = hs_boundary_find(type->text);
    for (const struct hs_boundary_kind *other = hs_boundary_kinds; kind && other->name; other++)
        for (int n = 0; n < hs_boundary_key_count(other); n++) {
            const char *number = other->key[n].name;
            if (hs_boundary_key_find(kind, number) < 0)
                remove_number(settings, path, name, number, true);
            else if (!kind->in_body.needs)
                remove_number(settings, path, name, number, false);
        }
}

/* Whether an override's value is taken literally, without quotes: words for a key that accepts
 * them. All else is read by the rules of a file. */
static bool is_plain(const struct hs_option *option, const char *value)
{
    double number;
    return takes_words(option) && value[0] != '"' &&
           (takes_only_words(option) || hs_number_parse(value, &number) != NULL);
}

/* Says how a run goes without a key, for which an override gives nothing. */
static bool complain_of_nothing(struct hs_settings *settings, const struct hs_setting *plain)
{
    const char *fallback = plain->option->fallback;
    size_t outer = strlen(plain->path); /* length of the path of the group or list around it */
    while (outer > 0 && plain->path[outer] != '.' && plain->path[outer] != '[')
        outer--;
    char *without = outer == 0
                        ? hs_copy("delete it in the config")
                        : hs_format("give its %s without it, --set '%.*s=%s'",
                                    plain->path[outer] == '[' ? "list" : "group", (int)outer,
                                    plain->path, plain->path[outer] == '[' ? "( ... )" : "{ ... }");
    hs_settings_complain(settings, plain->path, "no value; --set cannot remove a key: %s%s%s",
                         without, fallback ? ", or set its default, " : "",
                         fallback ? fallback : "");
    free(without);
    return false;
}

/* Adds an override's value; false if it is not a value, which is reported. */
static bool put_value(struct hs_settings *settings, const struct hs_setting *plain,
                      const char *value)
{
    /* a title may be empty; a name or a file, which are in groups, may not */
    if (!*value && (plain->option->type != HS_OPTION_STRING || strchr(plain->path, '.'))) {
        hs_settings_add(settings, plain)->kind = HS_SETTING_NUMBER; /* shown without quotes */
        return complain_of_nothing(settings, plain);
    }
    if (is_plain(plain->option, value))
        hs_settings_add(settings, plain);
    else if (!hs_config_text_value(plain->path, value, settings)) {
        hs_settings_add(settings, plain)->kind = HS_SETTING_NUMBER; /* shown without quotes */
        const bool commas = value[strspn(value, "0123456789+-.eE, ")] == '\0';
        return hs_settings_complain(
            settings, plain->path, "not a value; %s",
            commas ? "the decimal point is \".\", and a list of numbers stands in [ ]"
                   : "write a number, \"a string\", [a, list] or {a group;}");
    }
    return true;
}

void hs_config_override(const char *override, struct hs_settings *settings)
{
    const char *equals = strchr(override, '=');
    char path[LONGEST_PATH];
    const size_t length = equals ? (size_t)(equals - override) : 0;
    snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : 0), override);
    if (!is_path(path)) {
        hs_error_add(settings->err, HS_BAD_INPUT,
                     "--set: %s: write KEY=VALUE, as in time.end=1.0 or grid.points=[65,65,65]",
                     override);
        return;
    }
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    const struct hs_setting plain = {.path = path,
                                     .kind = HS_SETTING_STRING,
                                     .text = (char *)(uintptr_t)value,
                                     .option = hs_option_find(path)};
    if (!plain.option) {
        report_unknown(settings, &plain);
        return;
    }
    int last;
    const char *odd = odd_index(path, &last);
    if (odd) {
        hs_settings_blame(settings, path);
        hs_error_add(settings->err, HS_BAD_INPUT,
                     "%s: %s: %.*s is not an index; members are [0], [1] ... to [%d]", settings->by,
                     path, (int)strcspn(odd, "]"), odd, last);
        return;
    }
    const struct hs_setting *there = hs_settings_find(settings, path);
    const bool anew = !there;
    char *before = hs_copy(there && there->text ? there->text : "");
    hs_settings_remove(settings, path);
    remove_rivals(settings, path);
    remove_rivals_of_wall(settings, path);
    add_surroundings(settings, path);
    const size_t first = settings->count;
    if (put_value(settings, &plain, value)) {
        settings->entries[first]->anew = anew;
        hs_config_check(settings, first);
        remove_unused_of_wall(settings, path, before);
    }
    free(before);
}
