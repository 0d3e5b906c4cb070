#include "input/config_text.h"

#include "core/memory.h"
#include "core/regular.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 1 << 24, /* of a config, which holds words and numbers, never fields */
    MOST_INCLUDES = 64,   /* in all; stops a file that includes itself */
    MOST_DEPTH = 8,
    MOST_BRACKETS = 64, /* nested; of these groups: */
    MOST_GROUPS = 32,
    MOST_KEYS = 20000, /* 1000 regions and probes need half of them */
    MOST_KEYS_OF_GROUP = 500,
    MOST_MEMBERS = 1000, /* of a list; but of an axis: */
    MOST_COORDINATES = 1000000,
    LONGEST_KEY = 160,
    LONGEST_NAME = 40 /* of a key in a message about its bracket */
};

/* A file, or the value of an override. */
struct source {
    char *name, *text;
    const char *at;         /* next character */
    int line;               /* its line, from 1 */
    const char *line_begin; /* start of that line ... */
    int indent;             /* ... and its leading blanks */
    int depth;              /* nesting depth of includes */
    struct source *includer;
};

struct place {
    const struct source *source;
    int line;
    const char *line_begin;
};

enum token {
    END,
    KEY,    /* a name followed by "=" or ":" */
    STRING, /* in quotes */
    NUMBER, /* anything that begins like a number, to its end: "10m" */
    BOOLEAN,
    WORD, /* any other word; libconfig has none, and no key accepts it */
    SIGN  /* one character */
};

struct span {
    const char *begin;
    int size;
};

/* An open bracket. */
struct open {
    char bracket;
    struct place place;
    int indent;      /* of its line */
    struct span key; /* the key whose value it begins */
};

/* After the first error there are no more tokens. */
struct parser {
    struct hs_settings *settings;
    struct hs_error *err;
    struct source **sources;
    size_t count;
    struct source *from; /* being read */
    FILE *plain;
    enum token token; /* next token */
    struct span span;
    struct place place;
    struct span key; /* key of the next value */
    struct open open[MOST_BRACKETS];
    int depth;
    struct open suspect; /* a bracket that probably should have been closed earlier */
    char fault[96];      /* "the { of grid has no }"; "": none */
    struct place fault_place;
    bool is_file;
    int keys, groups; /* keys so far; open groups */
    int dropped;      /* nested lists whose further members are only counted */
};

static void fail(struct parser *p, const char *said)
{
    if (!p->err->status)
        hs_error_add(p->err, HS_BAD_INPUT, "%s:%d: %s", p->place.source->name, p->place.line, said);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void push(struct parser *p, const char *name, char *text)
{
    struct source *source = hs_new(sizeof *source);
    const bool marked = strncmp(text, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
    *source = (struct source){.name = hs_copy(name),
                              .text = text,
                              .at = text + 3 * marked,
                              .line = 1,
                              .line_begin = text + 3 * marked,
                              .indent = (int)strspn(text + 3 * marked, " \t"),
                              .depth = p->from ? p->from->depth + 1 : 0,
                              .includer = p->from};
    p->sources = hs_reserve(p->sources, p->count, sizeof source);
    p->sources[p->count++] = p->from = source;
}

/* Other control characters could affect the terminal that displays them. */
static void check_characters(struct parser *p, const char *path, const char *text)
{
    int line = 1;
    for (; *text; text++) {
        line += *text == '\n';
        if ((unsigned char)*text < ' ' && !isspace(*text)) {
            hs_error_add(p->err, HS_BAD_INPUT,
                         "%s:%d: a control character (code %d); a config is plain text", path, line,
                         *text);
            return;
        }
    }
}

/* `place` is prefixed to messages: "case.cfg:3: @include: " or "". */
static void read_file(struct parser *p, const char *path, const char *place)
{
    const char *why;
    FILE *file = hs_regular_stream(path, true, &why);
    if (!file) {
        hs_error_add(p->err, HS_IO, "%s%s: cannot open: %s", place, path, why);
        return;
    }
    char *text = hs_new(MOST_BYTES + 2);
    errno = 0;
    const size_t length = fread(text, 1, MOST_BYTES + 1, file);
    if (ferror(file))
        hs_error_add(p->err, HS_IO, "%s%s: cannot read: %s", place, path, strerror(errno));
    else if (length > MOST_BYTES)
        hs_error_add(p->err, HS_BAD_INPUT,
                     "%s%s: larger than 16 MiB, so it is no config; give the config file, not an "
                     "output file",
                     place, path);
    else if (length > 3 && memcmp(text, "\x89HDF", 4) == 0)
        hs_error_add(p->err, HS_BAD_INPUT,
                     "%s%s: an HDF5 file, no config; heatsolve render draws the output of a run",
                     place, path);
    else if (strlen(text) < length)
        hs_error_add(p->err, HS_BAD_INPUT,
                     "%s%s: contains NUL characters, so it is not text; save it as UTF-8", place,
                     path);
    else
        check_characters(p, path, text);
    push(p, path, hs_grow(text, strlen(text) + 1, 1));
    fclose(file);
}

/* @include "name" on a line of its own is replaced by that file's text. */
static void include(struct parser *p)
{
    struct source *from = p->from;
    const char *name = from->at + strlen("@include");
    name += strspn(name, " \t");
    const int length = *name == '"' ? (int)strcspn(++name, "\"\n") : 0;
    if (length == 0 || name[length] != '"')
        fail(p, "@include: write @include \"FILE\" on a line of its own");
    else if (from->depth >= MOST_DEPTH || p->count > MOST_INCLUDES)
        hs_error_add(p->err, HS_BAD_INPUT,
                     "%s:%d: @include \"%.*s\": files include each other without end, or more than "
                     "%d of them, or deeper than %d",
                     from->name, from->line, length, name, MOST_INCLUDES, MOST_DEPTH);
    else {
        const char *slash = *name == '/' ? NULL : strrchr(from->name, '/');
        char *path = hs_format("%.*s%.*s", slash ? (int)(slash + 1 - from->name) : 0, from->name,
                               length, name);
        char *place = hs_format("%s:%d: @include: ", from->name, from->line);
        from->at = name + length + 1;
        read_file(p, path, place);
        free(path);
        free(place);
    }
}

/* ---- characters ------------------------------------------------------------------------------ */

/* Consumes `count` characters and copies them to the plain text. */
static void pass(struct parser *p, size_t count)
{
    struct source *from = p->from;
    fwrite(from->at, 1, count, p->plain);
    for (const char *end = from->at + count; from->at < end; from->at++)
        if (*from->at == '\n') {
            from->line++;
            from->line_begin = from->at + 1;
            from->indent = (int)strspn(from->line_begin, " \t");
        }
}

static bool at_line_start(const struct source *from)
{
    return from->at - from->line_begin <= from->indent;
}

static bool is_unclosed(const char *p)
{
    return p[0] == '/' && p[1] == '*' && !strstr(p + 2, "*/");
}

/* Length of blanks or of one comment. */
static size_t quiet_length(const char *p)
{
    if (*p == '#' || (p[0] == '/' && p[1] == '/'))
        return strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*')
        return is_unclosed(p) ? strlen(p) : (size_t)(strstr(p + 2, "*/") + 2 - p);
    return strspn(p, " \t\r\n\f\v");
}

/* Length to the closing quote on the same line, so that a missing quote is reported at its line. */
static size_t string_length(const char *p)
{
    size_t n = *p == '"';
    while (n > 0 && p[n] && p[n] != '"' && p[n] != '\n')
        n += p[n] == '\\' && p[n + 1] && p[n + 1] != '\n' ? 2 : 1;
    return n + (n > 0 && p[n] == '"');
}

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
    size_t n = isalpha((unsigned char)p[0]) ? 1 : 0;
    while (n > 0 && (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-'))
        n++;
    return n;
}

/* A word is a key if "=" or ":" follows, after any blanks and comments. */
static enum token kind_of_word(const char *p, size_t length)
{
    const char *behind = p + length;
    for (size_t n; (n = quiet_length(behind)) > 0;)
        behind += n;
    if (*behind == '=' || *behind == ':')
        return KEY;
    const bool boolean = (length == 4 && strncasecmp(p, "true", 4) == 0) ||
                         (length == 5 && strncasecmp(p, "false", 5) == 0);
    return boolean ? BOOLEAN : WORD;
}

/* ---- brackets -------------------------------------------------------------------------------- */

static char partner(char bracket)
{
    return bracket == '{' ? '}' : bracket == '[' ? ']' : ')';
}

/* A group probably lacks its bracket if a line begins with a key and is not indented further than
 * the group's own line. The first such group is reported instead of those around it. */
static void note_key(struct parser *p)
{
    const struct open *inner = p->depth > 0 ? &p->open[p->depth - 1] : NULL;
    if (inner && !p->suspect.bracket && at_line_start(p->from) &&
        inner->indent >= p->from->indent &&
        (inner->place.line < p->place.line || inner->place.source != p->place.source))
        p->suspect = *inner;
    p->key = p->span;
}

/* The end of the text (0) matches no bracket. */
static void note_sign(struct parser *p, char sign)
{
    const struct open *inner = p->depth > 0 ? &p->open[p->depth - 1] : NULL;
    if (p->fault[0]) /* the first */
        return;
    if (sign && strchr("{[(", sign)) {
        if (p->depth < MOST_BRACKETS)
            p->open[p->depth++] = (struct open){sign, p->place, p->from->indent, p->key};
        p->key.size = 0;
    } else if (inner && partner(inner->bracket) == sign)
        p->depth--;
    else if (inner && strchr("}])", sign)) {
        inner = p->suspect.bracket ? &p->suspect : inner;
        const int size = inner->key.size < LONGEST_NAME ? inner->key.size : LONGEST_NAME;
        snprintf(p->fault, sizeof p->fault, "the %c%s%.*s has no %c", inner->bracket,
                 size ? " of " : "", size, inner->key.begin, partner(inner->bracket));
        p->fault_place = inner->place;
    } else if (sign && strchr("}])", sign)) {
        snprintf(p->fault, sizeof p->fault, "the %c closes nothing", sign);
        p->fault_place = p->place;
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Skips blanks, comments, includes and ends of included files; sets the place of what follows. */
static void skip(struct parser *p)
{
    while (!p->err->status) {
        struct source *from = p->from;
        const size_t quiet = quiet_length(from->at);
        p->place = (struct place){from, from->line, from->line_begin};
        if (is_unclosed(from->at))
            fail(p, "the comment that begins here has no closing */");
        else if (quiet > 0)
            pass(p, quiet);
        else if (at_line_start(from) && strncmp(from->at, "@include", 8) == 0)
            include(p);
        else if (!*from->at && from->includer)
            p->from = from->includer;
        else
            return;
    }
}

static void next(struct parser *p)
{
    skip(p);
    const char *at = p->from->at;
    size_t length;
    p->token = END;
    if ((length = string_length(at)) > 0)
        p->token = STRING;
    else if ((length = number_length(at)) > 0)
        p->token = NUMBER;
    else if ((length = word_length(at)) > 0)
        p->token = kind_of_word(at, length);
    else if ((length = *at != '\0') > 0)
        p->token = SIGN;
    p->span = (struct span){at, (int)length};
    if (p->token == STRING && (length == 1 || at[length - 1] != '"'))
        fail(p,
             "a string has no closing \" on its line; a long one may go on as a second \"...\" on "
             "the next");
    if (p->err->status)
        p->token = END;
    else if (p->token == KEY)
        note_key(p);
    else if (p->token == SIGN || p->token == END)
        note_sign(p, *at);
    if (p->token != END)
        pass(p, length);
}

static bool is(const struct parser *p, char sign)
{
    return p->token == SIGN && *p->span.begin == sign;
}

/* Consumes the character; false if the next one differs. */
static bool take(struct parser *p, char sign)
{
    const bool taken = is(p, sign);
    if (taken)
        next(p);
    return taken;
}

/* Writes a string without its quotes, with libconfig's escapes replaced and others left. */
static void put_string(const struct parser *p, FILE *to)
{
    static const char escapes[] = "nrtf\\\"", characters[] = "\n\r\t\f\\\"";
    const char *end = p->span.begin + p->span.size - 1;
    for (const char *at = p->span.begin + 1; at < end; at++) {
        const char *escape = *at == '\\' ? strchr(escapes, at[1]) : NULL;
        char code[3] = "";
        if (at[0] == '\\' && (at[1] == 'x' || at[1] == 'X') && isxdigit((unsigned char)at[2]) &&
            isxdigit((unsigned char)at[3])) {
            memcpy(code, at + 2, 2);
            const int character = (int)strtol(code, NULL, 16);
            if (character)
                fputc(character, to);
            at += 3;
        } else {
            fputc(escape ? characters[escape - escapes] : *at, to);
            at += escape != NULL;
        }
    }
}

/* ---- the syntax -------------------------------------------------------------------------------
 *
 *     members = { KEY ("=" | ":") value [";" | ","] }
 *     value   = scalar | "{" members "}" | "[" scalars "]" | "(" values ")", with commas between
 *     scalar  = NUMBER | BOOLEAN | WORD | STRING { STRING }
 */

/* Reports an error at the next token; but if a bracket has no partner, here or further on, reports
 * that bracket at its own position. */
static void refuse(struct parser *p, const char *said)
{
    enum { MOST = 72 };
    struct place place = p->place;
    while (p->token != END)
        next(p);
    if (p->err->status) /* an unterminated string or comment */
        return;
    if (p->fault[0])
        place = p->fault_place;
    const char *line = place.line_begin + strspn(place.line_begin, " \t");
    const int length = (int)strcspn(line, "\r\n");
    hs_error_add(p->err, HS_BAD_INPUT, "%s:%d: %s%s%s%.*s%s", place.source->name, place.line,
                 p->fault[0] ? "syntax error: " : "", p->fault[0] ? p->fault : said,
                 length ? "; the line: " : "", length > MOST ? MOST : length, line,
                 length > MOST ? " ..." : "");
    p->token = END;
}

/* Quotes as word processors make them, and single ones. */
static bool is_foreign_quote(const char *at)
{
    static const char *const quotes[] = {"'",
                                         "\xe2\x80\x98", /* U+2018, U+2019: single */
                                         "\xe2\x80\x99",
                                         "\xe2\x80\x9c", /* U+201C, U+201D, U+201E: double */
                                         "\xe2\x80\x9d",
                                         "\xe2\x80\x9e"};
    for (size_t n = 0; n < sizeof quotes / sizeof *quotes; n++)
        if (strncmp(at, quotes[n], strlen(quotes[n])) == 0)
            return true;
    return false;
}

static void expect(struct parser *p, bool good)
{
    if (!good && p->token == SIGN && is_foreign_quote(p->span.begin))
        refuse(p, "another kind of quote; names and expressions stand in plain double quotes, as "
                  "in \"steel\"");
    else if (!good)
        refuse(p, "syntax error here or just before; settings are written key = value; groups "
                  "key = { ... }; lists key = [ ... ]; names and expressions stand in quotes");
}

static void parse_value(struct parser *p, const char *path);

static void parse_members(struct parser *p, const char *path)
{
    for (int count = 1; p->token == KEY; count++) {
        if (++p->keys > MOST_KEYS || count > MOST_KEYS_OF_GROUP) {
            fail(p,
                 "more than 500 keys in one group, or 20000 in all, which no config has; heatsolve "
                 "options lists those that are known");
            break;
        }
        char *inner =
            hs_format("%s%s%.*s", path, path[0] ? "." : "",
                      p->span.size < LONGEST_KEY ? p->span.size : LONGEST_KEY, p->span.begin);
        if (hs_settings_any(p->settings, inner))
            refuse(p, "a key is given twice in the same group; keep one of them");
        next(p);
        if (take(p, '=') || take(p, ':'))
            parse_value(p, inner);
        if (!take(p, ';') && take(p, ',') && p->token == NUMBER)
            refuse(p, "a number after a comma, but no list [ ... ]; the decimal point is \".\"");
        free(inner);
    }
}

int hs_config_text_most_members(const char *path)
{
    const char *rest = hs_option_match("grid.AXIS", path);
    return rest && !*rest ? MOST_COORDINATES : MOST_MEMBERS;
}

static void parse_list(struct parser *p, const char *path, char closing)
{
    const int most = hs_config_text_most_members(path);
    int count = 0;
    if (!is(p, closing))
        do {
            expect(p, p->token != SIGN || closing == ')');
            char *inner = hs_format("%s[%d]", path, count);
            p->dropped += count == most;
            parse_value(p, inner);
            count++;
            free(inner);
        } while (take(p, ','));
    p->dropped -= count > most;
    if (p->dropped == 0)
        hs_settings_any(p->settings, path)->members = count;
}

/* Adjacent strings are joined. Other values without a separator get no text; that is reported
 * later, once it is known whether the key exists. */
static void parse_scalar(struct parser *p, struct hs_setting *setting)
{
    static const enum hs_setting_kind kinds[] = {[STRING] = HS_SETTING_STRING,
                                                 [NUMBER] = HS_SETTING_NUMBER,
                                                 [BOOLEAN] = HS_SETTING_BOOLEAN,
                                                 [WORD] = HS_SETTING_STRING};
    const enum token token = p->token;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    setting->kind = kinds[token];
    setting->bare = token == WORD;
    if (token == BOOLEAN)
        fputs(tolower(*p->span.begin) == 't' ? "true" : "false", stream);
    else if (token != STRING)
        fwrite(p->span.begin, 1, (size_t)p->span.size, stream);
    for (; token == STRING && p->token == STRING; next(p))
        put_string(p, stream);
    if (token != STRING)
        next(p);
    fclose(stream);
    const bool alone = p->token < STRING || p->token > WORD;
    for (; p->token >= STRING && p->token <= WORD; next(p))
        continue;
    setting->text = alone ? text : NULL;
    if (p->dropped == 0)
        hs_settings_add(p->settings, setting);
    free(text);
}

static void parse_value(struct parser *p, const char *path)
{
    struct hs_setting setting = {.path = (char *)(uintptr_t)path,
                                 .kind = is(p, '{') ? HS_SETTING_GROUP : HS_SETTING_LIST,
                                 .file = p->is_file ? p->place.source->name : NULL,
                                 .line = p->place.line};
    if (p->token >= STRING && p->token <= WORD) {
        parse_scalar(p, &setting);
        return;
    }
    const char opening = is(p, '{') ? '{' : is(p, '[') ? '[' : '(';
    if (p->depth == MOST_BRACKETS)
        fail(p, "too many lists within lists");
    if (opening == '{' && p->groups == MOST_GROUPS)
        fail(p, "groups within groups, more than 32");
    if (!take(p, opening)) {
        expect(p, false);
        return;
    }
    if (p->dropped == 0)
        hs_settings_add(p->settings, &setting);
    p->groups += opening == '{';
    if (opening == '{')
        parse_members(p, path);
    else
        parse_list(p, path, partner(opening));
    p->groups -= opening == '{';
    expect(p, take(p, partner(opening)));
}

/* ---- the interface --------------------------------------------------------------------------- */

static void release_sources(struct parser *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->sources[i]->text);
        free(p->sources[i]);
    }
    free(p->sources);
}

enum hs_status hs_config_text_read(const char *path, struct hs_settings *settings,
                                   struct hs_config_text *out, struct hs_error *err)
{
    size_t length;
    struct parser p = {.settings = settings, .err = err, .is_file = true};
    *out = (struct hs_config_text){.count = 0};
    p.plain = open_memstream(&out->plain, &length);
    read_file(&p, path, "");
    if (p.from) {
        next(&p);
        parse_members(&p, "");
        expect(&p, p.token == END);
    }
    fclose(p.plain);
    if (err->status)
        hs_settings_remove(settings, "");
    out->names = hs_new((p.count + 1) * sizeof *out->names);
    for (; out->count < p.count; out->count++)
        out->names[out->count] = p.sources[out->count]->name;
    release_sources(&p);
    return err->status;
}

void hs_config_text_release(struct hs_config_text *text)
{
    for (size_t i = 0; i < text->count; i++)
        free(text->names[i]);
    free(text->names);
    free(text->plain);
}

bool hs_config_text_value(const char *path, const char *value, struct hs_settings *settings)
{
    char *plain, name[] = "--set";
    size_t length;
    struct hs_error unsaid = {0};
    struct parser p = {.settings = settings, .err = &unsaid};
    p.plain = open_memstream(&plain, &length);
    push(&p, name, hs_copy(value));
    p.from->depth = MOST_DEPTH; /* no includes */
    next(&p);
    parse_value(&p, path);
    const bool read = p.token == END && !unsaid.status;
    if (!read)
        hs_settings_remove(settings, path);
    fclose(p.plain);
    free(plain);
    free(p.sources[0]->name);
    release_sources(&p);
    hs_error_release(&unsaid);
    return read;
}
