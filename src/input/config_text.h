/*
 * The syntax of a config, which is libconfig's: converts files to settings with unchecked keys.
 *
 * libconfig itself (1.5 in Debian and Ubuntu) is not used: it reads 3000000000 as -1294967296,
 * 1e400 as inf and a lone "." as 0, refuses [0, 0.5], searches all keys of a group for each that it
 * adds, and reports an unmatched bracket at the end of the file.
 */
#ifndef HS_INPUT_CONFIG_TEXT_H
#define HS_INPUT_CONFIG_TEXT_H

#include "input/settings.h"

/* The text that was read; the settings point to the names. */
struct hs_config_text {
    char *plain;  /* as written, with included files inserted in place */
    char **names; /* file names; the first is the config's */
    size_t count;
};

/* Reads a file and adds its settings, without options. HS_IO if it cannot be read; HS_BAD_INPUT,
 * with one message and no settings, if it is not a config. Release `out` in any case. */
enum hs_status hs_config_text_read(const char *path, struct hs_settings *settings,
                                   struct hs_config_text *out, struct hs_error *err);
void hs_config_text_release(struct hs_config_text *text);

/* Adds the setting of this path with an override's value, and all settings within it. False, adding
 * nothing, if it is not a value. */
bool hs_config_text_value(const char *path, const char *value, struct hs_settings *settings);

/* How many members of the list at this path are added; all are counted. An axis may have as many
 * coordinates as a config has room for. */
int hs_config_text_most_members(const char *path);

#endif
