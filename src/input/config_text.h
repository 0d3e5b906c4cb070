/*
 * The text of a config, made safe for libconfig.
 *
 * libconfig reads 3000000000 as -1294967296, 1e400 as inf, a lone "." as 0, and refuses [0, 0.5].
 * So it never sees a number: each number token, and each bare word in the place of a value, goes to
 * it as a string of HS_MARK_NUMBER or HS_MARK_WORD, the line, ":" and the token as it was written;
 * the reader takes the value, the place and the text of its messages from there. @include lines are
 * expanded here too, relative to the file that includes, which libconfig does not do.
 */
#ifndef HS_INPUT_CONFIG_TEXT_H
#define HS_INPUT_CONFIG_TEXT_H

#include "core/status.h"

#define HS_MARK_NUMBER '\1'
#define HS_MARK_WORD '\2'

struct hs_text_place {
    const char *file; /* owned by the text */
    int line;
};

/* libconfig looks at every key of a group for each one that it adds, so their number is bounded:
 * no group has as many that are known, and 1000 regions and probes have half of all. */
enum { HS_TEXT_MOST_KEYS = 20000, HS_TEXT_MOST_KEYS_OF_GROUP = 500, HS_TEXT_MOST_DEPTH = 32 };

struct hs_config_text {
    char *plain;  /* as written, includes expanded */
    char *marked; /* for libconfig */
    size_t plain_length, marked_length, plain_room, marked_room;
    struct hs_text_place *places; /* [lines], of each line of plain and marked */
    size_t lines, places_room;
    char **files; /* names, the first is the config itself */
    size_t file_count, files_room;
    int keys, depth;                     /* so far; groups that are open */
    int keys_of[HS_TEXT_MOST_DEPTH + 1]; /* of each open group */
};

/* HS_IO if a file cannot be read, HS_BAD_INPUT if its text is not one of a config; release
 * whatever the result. */
enum hs_status hs_config_text_read(const char *path, struct hs_config_text *out,
                                   struct hs_error *err);

/* The same for a text that is no file; its places have `name` for their file. */
enum hs_status hs_config_text_of(const char *text, const char *name, struct hs_config_text *out,
                                 struct hs_error *err);

void hs_config_text_release(struct hs_config_text *text);

/* Of a line of plain and marked, counted from 1; the last line's if it is beyond it. */
struct hs_text_place hs_config_text_place(const struct hs_config_text *text, int line);

#endif
