/*
 * The settings of a config, flat: one entry a key, groups and lists among them, each with its place
 * and its text as it was written. The overrides are in; keys and types fit the options table, what
 * does not is flagged `bad` and has been reported.
 */
#ifndef HS_INPUT_SETTINGS_H
#define HS_INPUT_SETTINGS_H

#include "core/status.h"
#include "input/options.h"

#include <stdbool.h>
#include <stdint.h>

enum hs_setting_kind {
    HS_SETTING_NUMBER,
    HS_SETTING_STRING, /* text without its quotes */
    HS_SETTING_BOOLEAN,
    HS_SETTING_GROUP,
    HS_SETTING_LIST /* of groups, or of numbers: [ ] and ( ) are the same */
};

struct hs_setting {
    char *path; /* "grid.points[0]" */
    enum hs_setting_kind kind;
    char *text;       /* of numbers, strings and booleans; else NULL */
    bool bare;        /* a word without quotes */
    int members;      /* of a list: the highest index, and one */
    char *content;    /* of the file that it names, in short, once its values were read; or NULL */
    const char *file; /* NULL: an override, by the option ... */
    const char *by;   /* ... "--set" or "--output"; hs_settings_add sets it */
    int line;
    const struct hs_option *option; /* NULL: not known (yet), or within something bad */
    bool anew;                      /* an override of what the config does not have */
    bool doubted;                   /* a warning has been given */
    bool bad;
};

struct hs_settings {
    struct hs_setting **entries; /* in the order they were given */
    size_t count;
    void *by_path; /* tsearch's tree of them */
    char **meant;  /* keys that unknown ones seem to stand for */
    size_t meant_count;
    char **blamed; /* keys that something is wrong with, missing and unknown ones among them */
    size_t blamed_count;
    const char *file; /* the config's, for what is missing; not owned */
    const char *by;   /* the option that gives the overrides which are added */
    struct hs_error *err;
};

void hs_settings_init(struct hs_settings *settings, const char *file, struct hs_error *err);
void hs_settings_release(struct hs_settings *settings);

/* NULL if it was not given. A bad one is found, too; one without an option by the second only. */
struct hs_setting *hs_settings_find(const struct hs_settings *settings, const char *path);
struct hs_setting *hs_settings_any(const struct hs_settings *settings, const char *path);

/* Adds a copy of the setting, whose path is new. */
struct hs_setting *hs_settings_add(struct hs_settings *settings, const struct hs_setting *setting);

/* Whether `path` is `outer` or lies within it; all lie within "". */
bool hs_settings_is_within(const char *path, const char *outer);

/* Removes the setting of this path and all within it. */
void hs_settings_remove(struct hs_settings *settings, const char *path);

/* Reports what is wrong with a key, and flags it bad: "FILE:LINE: KEY = VALUE: ...". Of a key that
 * was not given the place is that of the group it belongs in. Silent on a key that is bad already,
 * or is missing since it, or the group it belongs in, was mistyped. Returns HS_BAD_INPUT. */
enum hs_status hs_settings_complain(struct hs_settings *settings, const char *path,
                                    const char *format, ...) HS_PRINTF(3, 4);

/* The same with any status, of the file that a key names. Returns it. */
enum hs_status hs_settings_report(struct hs_settings *settings, const char *path,
                                  enum hs_status status, const char *message);

/* An unknown key, which has been reported, seems to mean this one. */
void hs_settings_mean(struct hs_settings *settings, const char *path);

/* Whether some unknown key seems to mean this one, or one within this group. */
bool hs_settings_is_meant(const struct hs_settings *settings, const char *path);

/* Something is wrong with the key, and has been reported. */
void hs_settings_blame(struct hs_settings *settings, const char *path);

/* Whether nothing is wrong with the key and all within it. */
bool hs_settings_is_sound(const struct hs_settings *settings, const char *path);

/* "FILE:LINE: KEY = VALUE", or as above; allocated. */
char *hs_settings_place(const struct hs_settings *settings, const char *path);

/* Checks an entry's kind, range and choice against its option; complains. */
void hs_settings_check(struct hs_settings *settings, struct hs_setting *setting);

/*
 * What a key says, or its default from the options table. False if there is neither, or the key is
 * bad, which has been reported; *out is then left alone. The path may be a format for its indices.
 */
bool hs_settings_number(const struct hs_settings *settings, const char *path, double *out);
bool hs_settings_count(const struct hs_settings *settings, const char *path, int64_t *out);
const char *hs_settings_text(const struct hs_settings *settings, const char *path); /* or NULL */
bool hs_settings_flag(const struct hs_settings *settings, const char *path); /* false: unknown */

/* Whether the key was given, bad or not. */
bool hs_settings_given(const struct hs_settings *settings, const char *path);

/* Members of a list that was given; a lone number is a list of one. 0 if it was not given. */
int hs_settings_length(const struct hs_settings *settings, const char *path);

#endif
