#include "input/config_parse.h"

#include <libconfig.h>

#include "core/boundary.h"
#include "input/brackets.h"
#include "input/foreign.h"
#include "input/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 160, MOST_MEMBERS = 1000 };

struct walk {
    const struct hs_config_text *text; /* NULL: an override's value */
    struct hs_settings *settings;
};

/* A setting's place and, of a marked token, its text. */
static void take_scalar(const struct walk *walk, const config_setting_t *from,
                        struct hs_setting *to, bool *word)
{
    int line = (int)config_setting_source_line(from);
    if (config_setting_type(from) == CONFIG_TYPE_STRING) {
        const char *text = config_setting_get_string(from);
        text = text ? text : "";
        to->kind = HS_SETTING_STRING;
        *word = text[0] == HS_MARK_WORD;
        if (text[0] == HS_MARK_NUMBER || *word) {
            to->kind = *word ? HS_SETTING_STRING : HS_SETTING_NUMBER;
            line = atoi(text + 1);
            const char *colon = strchr(text, ':');
            text = colon ? colon + 1 : text + 1;
        }
        to->text = (char *)(uintptr_t)text;
    } else if (config_setting_type(from) == CONFIG_TYPE_BOOL) {
        to->kind = HS_SETTING_BOOLEAN;
        to->text = (char *)(uintptr_t)(config_setting_get_bool(from) ? "true" : "false");
    } else
        to->kind = config_setting_is_group(from) ? HS_SETTING_GROUP : HS_SETTING_LIST;
    if (walk->text) {
        const struct hs_text_place place = hs_config_text_place(walk->text, line);
        to->file = place.file;
        to->line = place.line;
    }
}

static void report_unknown(struct hs_settings *settings, const struct hs_setting *entry)
{
    char place[256] = "--set";
    if (entry->file)
        snprintf(place, sizeof place, "%.230s:%d", entry->file, entry->line);
    struct hs_foreign foreign = {NULL, NULL};
    /* looking for the nearest key takes long, and what is not listed needs no remedy */
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

static bool takes_words(const struct hs_option *option)
{
    return option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE ||
           option->type == HS_OPTION_VALUE || option->type == HS_OPTION_NUMBER_OR_AUTO;
}

/* Two values with nothing between them reach us as one string. */
static bool is_run_together(const char *text)
{
    return strpbrk(text, "\1\2") != NULL;
}

static enum hs_status flatten(const struct walk *walk, const config_setting_t *from,
                              const char *path);

static enum hs_status flatten_members(const struct walk *walk, const config_setting_t *from,
                                      const char *path, bool named)
{
    enum hs_status status = HS_OK;
    const int count = config_setting_length(from);
    if (!named && count > MOST_MEMBERS)
        return hs_settings_complain(walk->settings, path, "has %d members; at most %d are allowed",
                                    count, MOST_MEMBERS);
    for (int i = 0; i < count && status != HS_DEVICE; i++) {
        const config_setting_t *member = config_setting_get_elem(from, (unsigned)i);
        char inner[2 * LONGEST_PATH];
        if (named)
            snprintf(inner, sizeof inner, "%s%s%.100s", path, path[0] ? "." : "",
                     config_setting_name(member));
        else
            snprintf(inner, sizeof inner, "%s[%d]", path, i);
        status = flatten(walk, member, inner);
    }
    return status;
}

/* Adds the setting of this path and all within it. HS_DEVICE if memory is short; what is wrong with
 * the settings is only reported. */
static enum hs_status flatten(const struct walk *walk, const config_setting_t *from,
                              const char *path)
{
    struct hs_settings *settings = walk->settings;
    struct hs_setting entry = {.path = (char *)(uintptr_t)path};
    bool word = false;
    take_scalar(walk, from, &entry, &word);
    entry.option = hs_option_find(path);
    if (!entry.option) {
        report_unknown(settings, &entry);
        return HS_OK;
    }
    if (!hs_settings_add(settings, &entry))
        return hs_error_add(settings->err, HS_DEVICE, "out of memory while reading the config");
    struct hs_setting *added = hs_settings_find(settings, path);
    if (added->text && is_run_together(added->text)) {
        free(added->text);
        added->text = NULL;
        hs_settings_complain(settings, path,
                             "two values without a comma or semicolon between them");
    } else if (word && walk->text && takes_words(entry.option))
        hs_settings_complain(settings, path, "a word without quotes; put it in quotes");
    else
        hs_settings_check(settings, added);
    if (hs_settings_find(settings, path)->bad)
        return HS_OK;
    if (entry.kind == HS_SETTING_GROUP || entry.kind == HS_SETTING_LIST)
        return flatten_members(walk, from, path, entry.kind == HS_SETTING_GROUP);
    return HS_OK;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

/* libconfig's words, and what to do about them. */
static const struct {
    const char *text, *said;
} syntax[] = {
    {"syntax error", "syntax error here or just before; settings are written key = value; groups "
                     "key = { ... }; lists key = [ ... ]"},
    {"duplicate setting name", "a key is given twice in the same group; keep one of them"},
    {"mismatched element type in array",
     "a list [ ... ] holds values of different kinds; write all as numbers, or use ( ... )"},
    {"memory exhausted", "too many lists within lists"},
};

static const char *explain(const char *text)
{
    for (size_t i = 0; i < sizeof syntax / sizeof syntax[0]; i++)
        if (text && strcmp(text, syntax[i].text) == 0)
            return syntax[i].said;
    return text ? text : "not a config";
}

/* What stands on a line, from 1: libconfig tells where, not which of the keys there. */
static const char *line_at(const struct hs_config_text *text, int line, int *length)
{
    const char *at = text->plain;
    for (int n = 1; n < line && strchr(at, '\n'); n++)
        at = strchr(at, '\n') + 1;
    at += strspn(at, " \t");
    *length = (int)strcspn(at, "\r\n");
    return at;
}

/* Of a bracket without its partner the place where it stands, else where libconfig stopped. */
static enum hs_status report_syntax(const struct hs_config_text *text, const config_t *config,
                                    struct hs_error *err)
{
    enum { MOST = 72 };
    char fault[160];
    int number = config_error_line(config), length;
    const bool bracket = hs_brackets_fault(text->plain, &number, fault, sizeof fault);
    const struct hs_text_place place = hs_config_text_place(text, number);
    const char *line = line_at(text, number, &length);
    return hs_error_add(err, HS_BAD_INPUT, "%s:%d: %s%s%s%.*s%s", place.file, place.line,
                        bracket ? "syntax error: " : "",
                        bracket ? fault : explain(config_error_text(config)),
                        length ? "; the line: " : "", length > MOST ? MOST : length, line,
                        length > MOST ? " ..." : "");
}

enum hs_status hs_config_parse(const struct hs_config_text *text, struct hs_settings *settings)
{
    config_t config;
    config_init(&config);
    enum hs_status status = HS_OK;
    if (config_read_string(&config, text->marked)) {
        const struct walk walk = {text, settings};
        status = flatten_members(&walk, config_root_setting(&config), "", true);
    } else
        status = report_syntax(text, &config, settings->err);
    config_destroy(&config);
    return status ? status : settings->err->status;
}

/* ---- overrides --------------------------------------------------------------------------------
 */

static bool is_path(const char *path)
{
    for (const char *p = path; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.[]-", *p))
            return false;
    return path[0] != '\0';
}

/* Groups and lists around an override's key that the config does not have. */
static enum hs_status add_surroundings(struct hs_settings *settings, const char *path)
{
    char outer[LONGEST_PATH];
    for (size_t i = 0; path[i]; i++) {
        if (path[i] != '.' && path[i] != '[')
            continue;
        snprintf(outer, sizeof outer, "%.*s", (int)i, path);
        const struct hs_setting *there = hs_settings_find(settings, outer);
        const enum hs_setting_kind kind = path[i] == '[' ? HS_SETTING_LIST : HS_SETTING_GROUP;
        if (there && there->kind == kind)
            continue;
        const struct hs_setting group = {
            .path = outer, .kind = kind, .option = hs_option_find(outer)};
        if (group.option && !hs_settings_add(settings, &group))
            return hs_error_add(settings->err, HS_DEVICE, "out of memory while reading --set");
    }
    return HS_OK;
}

/* What an override puts aside: of two ways to say the same, the config's gives way to --set's. */
static const struct {
    const char *key;
    const char *rivals[5];
} rivalries[] = {
    {"time.end", {"time.sweeps"}},
    {"time.sweeps", {"time.end"}},
    {"output.interval", {"output.every"}},
    {"output.every", {"output.interval"}},
    {"grid.upper", {"grid.spacing"}},
    {"grid.spacing", {"grid.upper"}},
    {"material.diffusivity",
     {"material.conductivity", "material.density", "material.specific_heat"}},
    {"material.conductivity", {"material.diffusivity"}},
    {"material.density", {"material.diffusivity"}},
    {"material.specific_heat", {"material.diffusivity"}},
    {"initial.value", {"initial.expression", "initial.file", "initial.dataset", "initial.step"}},
    {"initial.expression", {"initial.value", "initial.file", "initial.dataset", "initial.step"}},
    {"initial.file", {"initial.value", "initial.expression"}},
    {"source.value", {"source.expression", "source.file", "source.dataset", "source.step"}},
    {"source.expression", {"source.value", "source.file", "source.dataset", "source.step"}},
    {"source.file", {"source.value", "source.expression"}},
};

static void remove_rivals(struct hs_settings *settings, const char *path)
{
    for (size_t i = 0; i < sizeof rivalries / sizeof rivalries[0]; i++) {
        if (strcmp(rivalries[i].key, path) != 0)
            continue;
        for (const char *const *rival = rivalries[i].rivals; *rival; rival++) {
            const struct hs_setting *entry = hs_settings_find(settings, *rival);
            if (entry && entry->file) /* two overrides that exclude each other are an error */
                hs_settings_remove(settings, *rival);
        }
    }
}

/* A key of a face, "boundary.x_min.flux": where its name begins; else NULL. */
static const char *name_in_face(const char *path)
{
    const char *rest = hs_option_match("boundary.FACE.", path);
    return rest && *rest && !strpbrk(rest, ".[") ? rest : NULL;
}

/* Removes a key of the same face, if the config gave it: two overrides that exclude each other are
 * an error. */
static void remove_beside(struct hs_settings *settings, const char *path, const char *name,
                          const char *other)
{
    char beside[2 * LONGEST_PATH];
    snprintf(beside, sizeof beside, "%.*s%s", (int)(name - path), path, other);
    const struct hs_setting *entry = hs_settings_find(settings, beside);
    if (entry && entry->file)
        hs_settings_remove(settings, beside);
}

/* Of keys of a face of which one is to be given, those that an override does not give. */
static void remove_rivals_of_face(struct hs_settings *settings, const char *path)
{
    const char *name = name_in_face(path);
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; name && kind->name; kind++) {
        const int given = hs_boundary_key_find(kind, name);
        for (int n = 0; n < hs_boundary_key_count(kind); n++)
            if (given >= 0 && n != given && kind->key[given].one_of && kind->key[n].one_of)
                remove_beside(settings, path, name, kind->key[n].name);
    }
}

/* Of a face whose kind an override changes, what the config says and the new kind does not use. */
static void remove_unused_of_face(struct hs_settings *settings, const char *path)
{
    const char *name = name_in_face(path);
    const struct hs_setting *type = hs_settings_find(settings, path);
    if (!name || strcmp(name, "type") != 0 || !type || !type->text)
        return;
    const struct hs_boundary_kind *kind = hs_boundary_find(type->text);
    for (const struct hs_boundary_kind *other = hs_boundary_kinds; kind && other->name; other++)
        for (int n = 0; n < hs_boundary_key_count(other); n++)
            if (hs_boundary_key_find(kind, other->key[n].name) < 0)
                remove_beside(settings, path, name, other->key[n].name);
}

/* An override's value that is taken as it stands, without quotes: words for a key that takes them.
 * All else is read by libconfig's rules. */
static bool is_plain(const struct hs_option *option, const char *value)
{
    const bool only_words = option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE;
    double number;
    return takes_words(option) && value[0] != '"' &&
           (only_words || hs_number_parse(value, &number) != NULL);
}

static enum hs_status add_plain(const struct hs_option *option, const char *path, const char *value,
                                struct hs_settings *settings)
{
    const struct hs_setting plain = {.path = (char *)(uintptr_t)path,
                                     .kind = HS_SETTING_STRING,
                                     .text = (char *)(uintptr_t)value,
                                     .option = option};
    if (!hs_settings_add(settings, &plain))
        return hs_error_add(settings->err, HS_DEVICE, "out of memory while reading --set");
    hs_settings_check(settings, hs_settings_find(settings, path));
    return HS_OK;
}

static enum hs_status parse_value(const char *path, const char *value, struct hs_settings *settings)
{
    char *setting = NULL;
    if (asprintf(&setting, "v = %s\n;", value) < 0)
        return hs_error_add(settings->err, HS_DEVICE, "out of memory while reading --set");
    struct hs_config_text text;
    struct hs_error trouble;
    hs_error_init(&trouble);
    config_t config;
    config_init(&config);
    enum hs_status status = hs_config_text_of(setting, "--set", &text, &trouble);
    const bool read = status == HS_OK && config_read_string(&config, text.marked) &&
                      config_setting_length(config_root_setting(&config)) == 1;
    if (status == HS_DEVICE)
        hs_error_add(settings->err, status, "out of memory while reading --set");
    else if (!read) {
        hs_settings_blame(settings, path);
        status = hs_error_add(settings->err, HS_BAD_INPUT,
                              "--set: %s = %s: not a value; write a number, \"a string\", "
                              "[a, list] or {a group;}",
                              path, value);
    } else {
        const struct walk walk = {NULL, settings};
        status = flatten(&walk, config_setting_get_elem(config_root_setting(&config), 0), path);
    }
    config_destroy(&config);
    hs_config_text_release(&text);
    hs_error_release(&trouble);
    free(setting);
    return status;
}

enum hs_status hs_config_override(const char *override, struct hs_settings *settings)
{
    const char *equals = strchr(override, '=');
    char path[LONGEST_PATH];
    const size_t length = equals ? (size_t)(equals - override) : 0;
    snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : 0), override);
    if (!is_path(path))
        return hs_error_add(settings->err, HS_BAD_INPUT,
                            "--set: %s: write KEY=VALUE, as in time.end=1.0 or "
                            "grid.points=[65,65,65]",
                            override);
    const struct hs_setting unknown = {.path = path};
    const struct hs_option *option = hs_option_find(path);
    if (!option) {
        report_unknown(settings, &unknown);
        return HS_BAD_INPUT;
    }
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    hs_settings_remove(settings, path);
    remove_rivals(settings, path);
    remove_rivals_of_face(settings, path);
    enum hs_status status = add_surroundings(settings, path);
    if (!status)
        status = is_plain(option, value) ? add_plain(option, path, value, settings)
                                         : parse_value(path, value, settings);
    if (!status)
        remove_unused_of_face(settings, path);
    return status;
}
