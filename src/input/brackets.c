#include "input/brackets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 64, LONGEST_NAME = 40 };

struct open {
    char bracket;
    int line, indent; /* of the line it stands on */
    char name[LONGEST_NAME + 1];
};

struct scan {
    const char *at;
    int line, indent;
    bool at_line_start;
    char name[LONGEST_NAME + 1]; /* the key whose value comes */
    struct open open[DEEPEST];
    int depth;
    struct open suspect; /* a group that looks as if it ended earlier; line 0: none */
};

static char partner(char bracket)
{
    return bracket == '{' ? '}' : bracket == '[' ? ']' : ')';
}

/* Behind a string or a comment that begins here; `at` itself if none does. */
static const char *skip_quiet(const char *at)
{
    if (*at == '"') {
        for (at++; *at && *at != '"'; at++)
            at += *at == '\\' && at[1];
        return at + (*at == '"');
    }
    if (*at == '#' || (at[0] == '/' && at[1] == '/'))
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    return at;
}

static void pass(struct scan *scan, const char *to)
{
    for (; scan->at < to; scan->at++)
        if (*scan->at == '\n') {
            scan->line++;
            scan->indent = (int)strspn(scan->at + 1, " \t");
            scan->at_line_start = true;
        } else if (*scan->at != ' ' && *scan->at != '\t')
            scan->at_line_start = false;
}

static bool is_key(const char *behind)
{
    behind += strspn(behind, " \t\r\n");
    return *behind == '=' || *behind == ':';
}

static void take_word(struct scan *scan)
{
    size_t length = 1;
    while (isalnum((unsigned char)scan->at[length]) || scan->at[length] == '_' ||
           scan->at[length] == '-')
        length++;
    const bool key = is_key(scan->at + length);
    const struct open *inner = scan->depth > 0 ? &scan->open[scan->depth - 1] : NULL;
    if (key && scan->at_line_start && inner && inner->line < scan->line &&
        inner->indent >= scan->indent && scan->suspect.line == 0)
        scan->suspect = *inner;
    if (key)
        snprintf(scan->name, sizeof scan->name, "%.*s",
                 (int)(length < LONGEST_NAME ? length : LONGEST_NAME), scan->at);
    pass(scan, scan->at + length);
}

static void take_open(struct scan *scan)
{
    struct open *open = &scan->open[scan->depth++];
    *open = (struct open){.bracket = *scan->at, .line = scan->line, .indent = scan->indent};
    memcpy(open->name, scan->name, sizeof open->name);
    scan->name[0] = '\0';
    pass(scan, scan->at + 1);
}

/* "the { of grid has no }" */
static bool is_open(const struct open *open, int *line, char *out, size_t size)
{
    *line = open->line;
    snprintf(out, size, "the %c%s%s has no %c", open->bracket, open->name[0] ? " of " : "",
             open->name, partner(open->bracket));
    return true;
}

static bool fault_at_close(struct scan *scan, int *line, char *out, size_t size)
{
    if (scan->depth == 0) {
        *line = scan->line;
        snprintf(out, size, "the %c closes nothing", *scan->at);
        return true;
    }
    const struct open *inner = &scan->open[scan->depth - 1];
    if (partner(inner->bracket) == *scan->at)
        return false;
    return is_open(scan->suspect.line > 0 ? &scan->suspect : inner, line, out, size);
}

bool hs_brackets_fault(const char *text, int *line, char *out, size_t size)
{
    struct scan scan = {
        .at = text, .line = 1, .indent = (int)strspn(text, " \t"), .at_line_start = true};
    while (*scan.at) {
        const char *behind = skip_quiet(scan.at);
        if (behind > scan.at)
            pass(&scan, behind);
        else if (isalpha((unsigned char)*scan.at))
            take_word(&scan);
        else if (strchr("{[(", *scan.at)) {
            if (scan.depth == DEEPEST) /* deeper than any config: that is the fault */
                return false;
            take_open(&scan);
        } else if (strchr("}])", *scan.at)) {
            if (fault_at_close(&scan, line, out, size))
                return true;
            scan.depth--;
            pass(&scan, scan.at + 1);
        } else
            pass(&scan, scan.at + 1);
    }
    if (scan.depth == 0)
        return false;
    return is_open(scan.suspect.line > 0 ? &scan.suspect : &scan.open[scan.depth - 1], line, out,
                   size);
}
