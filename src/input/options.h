/*
 * The options table: the master copy of every config key, but for those of the boundary's kinds,
 * which core/boundary.c has.
 *
 * The reader, --set, the unknown-key suggestions, `heatsolve options`, the man page and bash
 * completion all come from it. It is the only place of defaults and ranges.
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
    HS_OPTION_COUNT,       /* integer; 1e5 is accepted when it is integral */
    HS_OPTION_NUMBER,      /* finite floating point */
    HS_OPTION_VALUE,       /* number or expression of x, y, z, t */
    HS_OPTION_COUNTS,      /* one per axis; a lone one needs no brackets */
    HS_OPTION_NUMBERS,     /* one per axis; a lone one needs no brackets */
    HS_OPTION_COORDINATES, /* numbers of any count, or a group */
    HS_OPTION_NUMBER_OR_AUTO,
    HS_OPTION_TYPES
};

/* `path` as in the config, dots between groups; "[]" for the members of a list; FACE stands for
 * all and each face, AXIS for x, y and z, and cN for c0 ... c18. Ranges: lowest <= value <=
 * highest, or lowest < value where `above`; of each number of a list, too. */
struct hs_option {
    const char *path;
    enum hs_option_type type;
    const char *choices; /* "double|float" */
    double lowest, highest;
    bool above;
    const char *fallback; /* default, as it would be written; NULL where there is none */
    const char *unit;     /* "" where there is none */
    const char *help;     /* one line */
    bool loose;           /* not what a run is known by: a resumed run may have it otherwise */
};

/* 2^53, the highest of a count that may be as large as a double tells apart; ranges in words leave
 * it out. */
#define HS_MOST_COUNT 9007199254740992.0

/* All of them, ending with a NULL path. Those of the boundary are made of its kinds' table. */
const struct hs_option *hs_options(void);

const char *hs_option_type_name(enum hs_option_type type); /* "number or expression" */

/* The range in words: "> 0", "1 to 3", "double|float"; "" where anything goes. */
void hs_option_range(const struct hs_option *option, char *out, size_t size);

/* The entry for a concrete path ("boundary.x_min.h", "probes[0].at", "grid.points[2]"), or NULL. */
const struct hs_option *hs_option_find(const char *path);

/* The n-th path (0, 1, ...) that a pattern of the table stands for, but for indices; false: there
 * are no more. */
bool hs_option_concrete(const char *pattern, int n, char *out, size_t size);

/* What is left of a path behind a pattern of the table's kind; NULL if it does not begin so. */
const char *hs_option_match(const char *pattern, const char *path);

/* The known path nearest to a mistyped one, or NULL if none is near. Static storage. */
const char *hs_option_nearest(const char *path);

enum { HS_LONGEST_WORD = 80 };

/* Takes the next word off a list "a|b|c"; false at its end. */
bool hs_list_next(const char **list, char separator, char *word, size_t size);

/* Length of the word of a list "a|b|c" that the text is, or has before a "."; 0 if there is none.
 */
size_t hs_list_match(const char *list, const char *text);

/* A list "a|b|c" as messages have it, "a, b, c"; allocated. */
char *hs_list_said(const char *list);

/* Letters to change, add, drop or swap to make `b` of `a`; what the nearest names are found by. */
size_t hs_edit_distance(const char *a, const char *b);

/* The nearest of names separated by "|", or NULL if none is near. Static storage. */
const char *hs_nearest_word(const char *word, const char *choices);

#endif
