/*
 * The settings of a config as a flat list: one entry per key, including groups and lists, each with
 * its location and original text. Overrides are included. Keys and types match the options table;
 * entries that do not are flagged `bad` and have been reported.
 */
#ifndef HS_INPUT_SETTINGS_H
#define HS_INPUT_SETTINGS_H

#include "core/status.h"
#include "input/options.h"

#include <stdbool.h>
#include <stdint.h>

enum hs_setting_kind {
    HS_SETTING_NUMBER,
    HS_SETTING_STRING, /* text without quotes */
    HS_SETTING_BOOLEAN,
    HS_SETTING_GROUP,
    HS_SETTING_LIST /* of groups or of numbers; [ ] and ( ) are equivalent */
};

struct hs_setting {
    char *path; /* "grid.points[0]" */
    enum hs_setting_kind kind;
    char *text;       /* for numbers, strings and booleans; else NULL */
    bool bare;        /* a word without quotes */
    int members;      /* of a list: the highest index plus one */
    char *content;    /* digest of the file that it names, once its values are read; else NULL */
    const char *file; /* NULL: an override, by the option ... */
    const char *by;   /* ... "--set" or "--output"; hs_settings_add sets it */
    int line;
    const struct hs_option *option; /* NULL: not known (yet), or inside a bad entry */
    bool anew;                      /* an override for a key that the config does not have */
    bool doubted;                   /* a warning has been given */
    bool bad;
};

struct hs_settings {
    struct hs_setting **entries; /* in the order they were given */
    size_t count;
    void *by_path; /* tree of the entries (tsearch) */
    char **meant;  /* keys that unknown keys probably mean */
    size_t meant_count;
    char **blamed; /* keys with errors, including missing and unknown keys */
    size_t blamed_count;
    const char *file; /* name of the config, for missing keys; not owned */
    const char *by;   /* the option that gives the overrides being added */
    struct hs_error *err;
};

void hs_settings_init(struct hs_settings *settings, const char *file, struct hs_error *err);
void hs_settings_release(struct hs_settings *settings);

/* The setting at `path`, bad or not; NULL if not given. Only hs_settings_any finds settings without
 * an option. */
struct hs_setting *hs_settings_find(const struct hs_settings *settings, const char *path);
struct hs_setting *hs_settings_any(const struct hs_settings *settings, const char *path);

/* Adds a copy of the setting, whose path must be new. */
struct hs_setting *hs_settings_add(struct hs_settings *settings, const struct hs_setting *setting);

/* Whether `path` is `outer` or inside it; all paths are inside "". */
bool hs_settings_is_within(const char *path, const char *outer);

/* Removes the setting at this path and all inside it. */
void hs_settings_remove(struct hs_settings *settings, const char *path);

/* Reports an error in a key and flags the key bad: "FILE:LINE: KEY = VALUE: ...". For a key that
 * was not given the location is that of the enclosing group. Silent if the key is already bad, or
 * is missing because it or its group was mistyped. Returns false, for the caller to return. */
bool hs_settings_complain(struct hs_settings *settings, const char *path, const char *format, ...)
    HS_PRINTF(3, 4);

/* The same with any status, for the file that a key names. */
void hs_settings_report(struct hs_settings *settings, const char *path, enum hs_status status,
                        const char *message);

/* Notes that an unknown key, already reported, probably means this one. */
void hs_settings_mean(struct hs_settings *settings, const char *path);

/* Whether some unknown key probably means this one, or one inside this group. */
bool hs_settings_is_meant(const struct hs_settings *settings, const char *path);

/* Notes that an error in the key has been reported. */
void hs_settings_blame(struct hs_settings *settings, const char *path);

/* Whether no error was reported for the key or anything inside it. */
bool hs_settings_is_sound(const struct hs_settings *settings, const char *path);

/* The location, "FILE:LINE: KEY = VALUE" or as above; allocated. */
char *hs_settings_place(const struct hs_settings *settings, const char *path);

const char *hs_settings_type_name(enum hs_option_type type); /* "number or expression" */

/* Checks an entry's kind, range and choice against its option; complains. */
void hs_settings_check(struct hs_settings *settings, struct hs_setting *setting);

/*
 * A key's value, or its default from the options table. False if there is neither, or the key is
 * bad, which has been reported; *out is then unchanged.
 */
bool hs_settings_number(const struct hs_settings *settings, const char *path, double *out);
bool hs_settings_count(const struct hs_settings *settings, const char *path, int64_t *out);
const char *hs_settings_text(const struct hs_settings *settings, const char *path); /* or NULL */
bool hs_settings_flag(const struct hs_settings *settings, const char *path); /* false: unknown */

/* Number of members of a list; a single number is a list of one. 0 if not given. */
int hs_settings_length(const struct hs_settings *settings, const char *path);

#endif
