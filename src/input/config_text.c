#include "input/config_text.h"

#include "core/regular.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 1 << 24, /* of a config: it holds words and numbers, never fields */
    MOST_INCLUDES = 64,   /* in all; a file that includes itself ends here */
    MOST_DEPTH = 8
};

/* One file or string on its way into the text. */
struct scan {
    struct hs_config_text *out;
    struct hs_error *err;
    const char *name; /* for messages and places */
    const char *at;   /* what comes next */
    int line;
    int depth;
    bool at_line_start; /* only blanks since the line began */
};

static enum hs_status out_of_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "out of memory while reading the config");
}

static bool reserve(void **array, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return true;
    const size_t more = needed + needed / 2 + 16;
    void *grown = realloc(*array, more * size);
    if (!grown)
        return false;
    *array = grown;
    *room = more;
    return true;
}

static bool append(char **text, size_t *length, size_t *room, const char *from, size_t count)
{
    if (!reserve((void **)text, room, *length + count + 1, 1))
        return false;
    memcpy(*text + *length, from, count);
    *length += count;
    (*text)[*length] = '\0';
    return true;
}

static bool append_marked(struct scan *scan, const char *from, size_t count)
{
    struct hs_config_text *out = scan->out;
    return append(&out->marked, &out->marked_length, &out->marked_room, from, count);
}

/* Where the output's last line, which may not have begun, comes from. */
static bool place_line(struct scan *scan)
{
    struct hs_config_text *out = scan->out;
    if (!reserve((void **)&out->places, &out->places_room, out->lines, sizeof *out->places))
        return false;
    out->places[out->lines - 1] = (struct hs_text_place){scan->name, scan->line};
    return true;
}

/* Takes `count` characters over into both texts. */
static bool copy(struct scan *scan, size_t count)
{
    struct hs_config_text *out = scan->out;
    const char *from = scan->at;
    if (!append(&out->plain, &out->plain_length, &out->plain_room, from, count) ||
        !append_marked(scan, from, count))
        return false;
    scan->at += count;
    for (size_t i = 0; i < count; i++) {
        if (from[i] == '\n') {
            scan->line++;
            out->lines++;
            if (!place_line(scan))
                return false;
            scan->at_line_start = true;
        } else if (from[i] != ' ' && from[i] != '\t')
            scan->at_line_start = false;
    }
    return true;
}

static size_t comment_length(const char *p, bool *open)
{
    *open = false;
    if (p[0] == '#' || (p[0] == '/' && p[1] == '/'))
        return strcspn(p, "\n");
    if (p[0] != '/' || p[1] != '*')
        return 0;
    const char *end = strstr(p + 2, "*/");
    *open = !end;
    return end ? (size_t)(end + 2 - p) : strlen(p);
}

/* A string ends on its line: a quote that was forgotten is then found where it is missing. */
static size_t string_length(const char *p, bool *open)
{
    size_t n = 1;
    while (p[n] && p[n] != '"' && p[n] != '\n')
        n += p[n] == '\\' && p[n + 1] && p[n + 1] != '\n' ? 2 : 1;
    *open = p[n] != '"';
    return *open ? n : n + 1;
}

/* Whatever begins like a number, to its end: "10m" is one token, so that the message can show it.
 */
static size_t number_length(const char *p)
{
    size_t n = p[0] == '+' || p[0] == '-';
    if (!isdigit((unsigned char)p[n]) && p[n] != '.')
        return 0;
    const bool hexadecimal = p[n] == '0' && (p[n + 1] == 'x' || p[n + 1] == 'X');
    for (;; n++) {
        const bool sign = (p[n] == '+' || p[n] == '-') && n > 0 &&
                          (p[n - 1] == 'e' || p[n - 1] == 'E') && !hexadecimal;
        if (!isalnum((unsigned char)p[n]) && p[n] != '.' && p[n] != '_' && !sign)
            return n;
    }
}

static size_t word_length(const char *p)
{
    if (!isalpha((unsigned char)p[0]))
        return 0;
    size_t n = 1;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-')
        n++;
    return n;
}

/* A word is a key where "=" or ":" follows, whatever blanks and comments are between. */
static bool is_key(const char *behind)
{
    for (;;) {
        bool open;
        behind += strspn(behind, " \t\r\n\f");
        const size_t comment = comment_length(behind, &open);
        if (!comment)
            return *behind == '=' || *behind == ':';
        behind += comment;
    }
}

static bool is_boolean(const char *word, size_t length)
{
    return (length == 4 && strncasecmp(word, "true", 4) == 0) ||
           (length == 5 && strncasecmp(word, "false", 5) == 0);
}

static bool copy_marked(struct scan *scan, char mark, size_t count)
{
    struct hs_config_text *out = scan->out;
    char head[32];
    const int n = snprintf(head, sizeof head, "\"%c%zu:", mark, out->lines);
    if (!append_marked(scan, head, (size_t)n) || !append_marked(scan, scan->at, count) ||
        !append_marked(scan, "\"", 1) ||
        !append(&out->plain, &out->plain_length, &out->plain_room, scan->at, count))
        return false;
    scan->at += count;
    scan->at_line_start = false;
    return true;
}

static enum hs_status scan_text(struct scan *scan);

static const char *keep_name(struct hs_config_text *out, const char *name)
{
    if (!reserve((void **)&out->files, &out->files_room, out->file_count + 1, sizeof *out->files))
        return NULL;
    char *copied = strdup(name);
    if (copied)
        out->files[out->file_count++] = copied;
    return copied;
}

/* The whole file, NUL-terminated. `place` goes before the message: "case.cfg:3: " or "". */
static enum hs_status read_file(const char *path, const char *place, char **out,
                                struct hs_error *err)
{
    *out = NULL;
    const char *why;
    FILE *file = hs_regular_stream(path, true, &why);
    if (!file)
        return hs_error_add(err, HS_IO, "%s%s: cannot open: %s", place, path, why);
    enum hs_status status = HS_OK;
    char *text = NULL;
    size_t length = 0, room = 0;
    char part[4096];
    for (size_t n; status == HS_OK && (n = fread(part, 1, sizeof part, file)) > 0;) {
        if (!append(&text, &length, &room, part, n))
            status = out_of_memory(err);
        else if (length > MOST_BYTES)
            status = hs_error_add(err, HS_BAD_INPUT,
                                  "%s%s: larger than 16 MiB, so it is no config; give the config "
                                  "file, not an output file",
                                  place, path);
    }
    if (status == HS_OK && ferror(file))
        status = hs_error_add(err, HS_IO, "%s%s: cannot read: %s", place, path, strerror(errno));
    fclose(file);
    if (status == HS_OK && !text && !append(&text, &length, &room, "", 0))
        status = out_of_memory(err);
    if (status == HS_OK && memchr(text, '\0', length))
        status = hs_error_add(err, HS_BAD_INPUT,
                              "%s%s: contains NUL characters, so it is not text; save it as UTF-8",
                              place, path);
    if (status == HS_OK)
        *out = text;
    else
        free(text);
    return status;
}

static enum hs_status scan_file(struct hs_config_text *out, const char *path, const char *place,
                                int depth, struct hs_error *err)
{
    char *text;
    enum hs_status status = read_file(path, place, &text, err);
    if (status)
        return status;
    struct scan scan = {.out = out,
                        .err = err,
                        .name = keep_name(out, path),
                        .at = text,
                        .line = 1,
                        .depth = depth,
                        .at_line_start = true};
    if (strncmp(scan.at, "\xef\xbb\xbf", 3) == 0) /* a byte-order mark says nothing in UTF-8 */
        scan.at += 3;
    status = scan.name ? scan_text(&scan) : out_of_memory(err);
    free(text);
    return status;
}

static char *beside(const char *file, const char *name)
{
    const char *slash = name[0] == '/' ? NULL : strrchr(file, '/');
    char *path = NULL;
    if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name) < 0)
        return NULL;
    return path;
}

/* @include "name" on a line of its own: that file's text takes the line's place. */
static enum hs_status include(struct scan *scan)
{
    struct hs_config_text *out = scan->out;
    const char *p = scan->at + strlen("@include");
    p += strspn(p, " \t");
    const size_t length = *p == '"' ? strcspn(p + 1, "\"\n") : 0;
    if (*p != '"' || p[1 + length] != '"' || length == 0)
        return hs_error_add(scan->err, HS_BAD_INPUT,
                            "%s:%d: @include: write @include \"FILE\" on a line of its own",
                            scan->name, scan->line);
    if (scan->depth >= MOST_DEPTH || out->file_count > MOST_INCLUDES)
        return hs_error_add(scan->err, HS_BAD_INPUT,
                            "%s:%d: @include \"%.*s\": files include each other without end, or "
                            "more than %d of them, or deeper than %d",
                            scan->name, scan->line, (int)length, p + 1, MOST_INCLUDES, MOST_DEPTH);
    char *name = strndup(p + 1, length);
    char *path = name ? beside(scan->name, name) : NULL;
    char place[512];
    snprintf(place, sizeof place, "%s:%d: @include: ", scan->name, scan->line);
    enum hs_status status =
        path ? scan_file(out, path, place, scan->depth + 1, scan->err) : out_of_memory(scan->err);
    free(name);
    free(path);
    if (status)
        return status;
    scan->at = p + length + 2;
    const bool fresh = out->plain_length == 0 || out->plain[out->plain_length - 1] == '\n';
    return !fresh || place_line(scan) ? HS_OK : out_of_memory(scan->err);
}

static enum hs_status unfinished(struct scan *scan, const char *what)
{
    return hs_error_add(scan->err, HS_BAD_INPUT, "%s:%d: %s", scan->name, scan->line, what);
}

/* A key, or the beginning or end of a group, is to come; libconfig sees to it that they match. */
static enum hs_status count_keys(struct scan *scan, bool key)
{
    struct hs_config_text *out = scan->out;
    if (*scan->at == '{' && ++out->depth > HS_TEXT_MOST_DEPTH)
        return hs_error_add(scan->err, HS_BAD_INPUT, "%s:%d: groups within groups, more than %d",
                            scan->name, scan->line, HS_TEXT_MOST_DEPTH);
    if (*scan->at == '{')
        out->keys_of[out->depth] = 0;
    if (*scan->at == '}' && out->depth > 0)
        out->depth--;
    if (key && (++out->keys > HS_TEXT_MOST_KEYS ||
                ++out->keys_of[out->depth] > HS_TEXT_MOST_KEYS_OF_GROUP))
        return hs_error_add(scan->err, HS_BAD_INPUT,
                            "%s:%d: more than %d keys in one group, or %d in all, which no config "
                            "has; heatsolve options lists those that are known",
                            scan->name, scan->line, HS_TEXT_MOST_KEYS_OF_GROUP, HS_TEXT_MOST_KEYS);
    return HS_OK;
}

static enum hs_status scan_token(struct scan *scan)
{
    bool open = false;
    const char *p = scan->at;
    if (scan->at_line_start && strncmp(p, "@include", 8) == 0)
        return include(scan);
    size_t length = comment_length(p, &open);
    if (open)
        return unfinished(scan, "the comment that begins here has no closing */");
    if (!length && *p == '"') {
        length = string_length(p, &open);
        if (open)
            return unfinished(scan,
                              "a string has no closing \" on its line; a long one may go on as a "
                              "second \"...\" on the next");
    }
    bool fine;
    const size_t word = length ? 0 : word_length(p);
    const bool key = word > 0 && is_key(p + word);
    const enum hs_status counted = length ? HS_OK : count_keys(scan, key);
    if (counted)
        return counted;
    size_t token;
    if (!length && (token = number_length(p)) > 0)
        fine = copy_marked(scan, HS_MARK_NUMBER, token);
    else if (word > 0)
        fine =
            key || is_boolean(p, word) ? copy(scan, word) : copy_marked(scan, HS_MARK_WORD, word);
    else
        fine = copy(scan, length ? length : 1);
    return fine ? HS_OK : out_of_memory(scan->err);
}

/* The marks are control characters, so that a config may have none. */
static enum hs_status check_characters(const struct scan *scan)
{
    int line = 1;
    for (const char *p = scan->at; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        line += c == '\n';
        if (c < ' ' && !isspace(c))
            return hs_error_add(scan->err, HS_BAD_INPUT,
                                "%s:%d: a control character (code %d); a config is plain text",
                                scan->name, line, c);
    }
    return HS_OK;
}

static enum hs_status scan_text(struct scan *scan)
{
    enum hs_status status = check_characters(scan);
    if (scan->out->lines == 0)
        scan->out->lines = 1;
    if (!place_line(scan))
        return out_of_memory(scan->err);
    while (status == HS_OK && *scan->at) {
        if (scan->out->plain_length > MOST_BYTES)
            status =
                hs_error_add(scan->err, HS_BAD_INPUT, "%s:%d: larger than 16 MiB with its includes",
                             scan->name, scan->line);
        else
            status = scan_token(scan);
    }
    return status;
}

enum hs_status hs_config_text_of(const char *text, const char *name, struct hs_config_text *out,
                                 struct hs_error *err)
{
    *out = (struct hs_config_text){.lines = 0};
    struct scan scan = {
        .out = out, .err = err, .name = keep_name(out, name), .at = text, .line = 1};
    return scan.name ? scan_text(&scan) : out_of_memory(err);
}

enum hs_status hs_config_text_read(const char *path, struct hs_config_text *out,
                                   struct hs_error *err)
{
    *out = (struct hs_config_text){.lines = 0};
    enum hs_status status = scan_file(out, path, "", 0, err);
    /* an empty file has texts too */
    if (status == HS_OK && (!append(&out->plain, &out->plain_length, &out->plain_room, "", 0) ||
                            !append(&out->marked, &out->marked_length, &out->marked_room, "", 0)))
        status = out_of_memory(err);
    return status;
}

void hs_config_text_release(struct hs_config_text *text)
{
    free(text->plain);
    free(text->marked);
    free(text->places);
    for (size_t i = 0; i < text->file_count; i++)
        free(text->files[i]);
    free(text->files);
    *text = (struct hs_config_text){.lines = 0};
}

struct hs_text_place hs_config_text_place(const struct hs_config_text *text, int line)
{
    const size_t at = line < 1 ? 1 : (size_t)line > text->lines ? text->lines : (size_t)line;
    return text->places[at - 1];
}
