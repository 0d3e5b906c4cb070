/*
 * The syntax of a config, which is libconfig's: from files to settings whose keys nobody has looked
 * at yet.
 *
 * libconfig itself (1.5, which Debian and Ubuntu have) is not used: it reads 3000000000 as
 * -1294967296, 1e400 as inf and a lone "." as 0, refuses [0, 0.5], looks at all keys of a group for
 * each that it adds, and tells of a bracket without its partner at the end of the file.
 */
#ifndef HS_INPUT_CONFIG_TEXT_H
#define HS_INPUT_CONFIG_TEXT_H

#include "input/settings.h"

/* What was read; the settings point to the names. */
struct hs_config_text {
    char *plain;  /* as it was written, with what was included in its place */
    char **names; /* of files; the first is the config's */
    size_t count;
};

/* Reads a file and adds its settings, their options not known. HS_IO if it cannot be read,
 * HS_BAD_INPUT, with one message and no settings, if it is no config. Release it in any case. */
enum hs_status hs_config_text_read(const char *path, struct hs_settings *settings,
                                   struct hs_config_text *out, struct hs_error *err);
void hs_config_text_release(struct hs_config_text *text);

/* Adds the setting of this path that an override gives this value, and all within it. False, with
 * none of them, if it is no value. */
bool hs_config_text_value(const char *path, const char *value, struct hs_settings *settings);

/* How many members of the list of this path are added; all are counted. Coordinates of an axis may
 * be as many as a config has room for. */
int hs_config_text_most_members(const char *path);

#endif
