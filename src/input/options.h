/*
 * The options table: the master copy of every config key, except those of the boundary kinds, which
 * are in core/boundary.c.
 *
 * The reader, --set, the suggestions for unknown keys, `heatsolve options`, the man page and bash
 * completion all use it. It is the only place for defaults and ranges.
 */
#ifndef HS_INPUT_OPTIONS_H
#define HS_INPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum hs_option_type {
    HS_OPTION_GROUP,      /* { ... } */
    HS_OPTION_GROUP_LIST, /* ( { ... }, ... ) */
    HS_OPTION_STRING,
    HS_OPTION_STRINGS,     /* ["a", "b"] */
    HS_OPTION_CHOICE,      /* one of `choices` */
    HS_OPTION_FLAG,        /* true or false */
    HS_OPTION_COUNT,       /* integer; 1e5 is accepted when it is integral. The rest have ranges */
    HS_OPTION_NUMBER,      /* finite floating point */
    HS_OPTION_VALUE,       /* number or expression of x, y, z, t */
    HS_OPTION_COUNTS,      /* one per axis; a lone one needs no brackets */
    HS_OPTION_NUMBERS,     /* one per axis; a lone one needs no brackets */
    HS_OPTION_COORDINATES, /* any number of numbers, or a group */
    HS_OPTION_NUMBER_OR_AUTO,
    HS_OPTION_TYPES
};

/* `path` as in the config, with dots between groups and "[]" for the members of a list. FACE stands
 * for `all` and each face, AXIS for x, y and z, and cN for c0 ... c18. Ranges: lowest <= value <=
 * highest, or lowest < value with `above`; they also apply to each number of a list. */
struct hs_option {
    const char *path;
    enum hs_option_type type;
    const char *choices; /* "double|float" */
    double lowest, highest;
    bool above;
    const char *fallback; /* default, as it would be written; NULL: none */
    const char *unit;     /* "": none */
    const char *help;     /* one line */
    bool loose;           /* not in a run's fingerprint: a resumed run may change it */
};

/* 2^53: the upper limit of counts that are bounded only by what a double represents exactly. Ranges
 * in words omit it. */
#define HS_MOST_COUNT 9007199254740992.0

/* All options, ending with a NULL path. Those of the boundary come from the table of its kinds. */
const struct hs_option *hs_options(void);

/* The range in words: "> 0", "1 to 3", "double|float"; "" if anything is allowed. */
void hs_option_range(const struct hs_option *option, char *out, size_t size);

/* The entry for a concrete path ("boundary.x_min.h", "probes[0].at", "grid.points[2]"), or NULL. */
const struct hs_option *hs_option_find(const char *path);

/* The n-th path (0, 1, ...) that a pattern of the table stands for, with indices left as "[]";
 * false if there are no more. */
bool hs_option_concrete(const char *pattern, int n, char *out, size_t size);

/* The rest of a path after a prefix that matches the pattern; NULL if there is no match. */
const char *hs_option_match(const char *pattern, const char *path);

/* The known path nearest to a mistyped one, or NULL if none is close. Static storage. */
const char *hs_option_nearest(const char *path);

enum { HS_LONGEST_WORD = 80 };

/* Removes the next word, and spaces before it, from a list "a|b|c"; false at its end. */
bool hs_list_next(const char **list, char separator, char *word, size_t size);

/* Length of the word of a list "a|b|c" that equals the text, or the text before a "." or "[";
 * 0 if none does. */
size_t hs_list_match(const char *list, const char *text);

/* A list "a|b|c" in the form for messages, "a, b, c"; allocated. */
char *hs_list_said(const char *list);

/* Adds to an allocated text, after `between` unless it is empty. Returns the longer one. */
char *hs_list_add(char *list, const char *between, const char *more);

/* Letters to change, add, drop or swap to turn `a` into `b`; used to find the nearest names. */
size_t hs_edit_distance(const char *a, const char *b);

/* The nearest of names separated by "|", or NULL if none is close. Static storage. */
const char *hs_nearest_word(const char *word, const char *choices);

#endif
