/*
 * The options table: the master copy of every config key.
 *
 * The reader, --set, the unknown-key suggestions, `heatsolve options`, the man page and bash
 * completion all come from it.
 */
#ifndef HS_INPUT_OPTIONS_H
#define HS_INPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum hs_option_type {
    HS_OPTION_GROUP,      /* { ... } */
    HS_OPTION_GROUP_LIST, /* ( { ... }, ... ) */
    HS_OPTION_STRING,
    HS_OPTION_CHOICE,  /* one of `choices` */
    HS_OPTION_COUNT,   /* integer; 1e5 is accepted when it is integral */
    HS_OPTION_NUMBER,  /* finite floating point */
    HS_OPTION_VALUE,   /* number or expression of x, y, z, t */
    HS_OPTION_COUNTS,  /* one per axis */
    HS_OPTION_NUMBERS, /* one per axis */
    HS_OPTION_NUMBER_OR_AUTO,
};

/* `path` as in the config, dots between groups; "[]" for the members of a list; FACE stands for
 * all, x_min ... z_max. Ranges: lowest <= value <= highest, or lowest < value where `above`. */
struct hs_option {
    const char *path;
    enum hs_option_type type;
    const char *choices; /* "double|float" */
    double lowest, highest;
    bool above;
    const char *fallback; /* default, as it would be written; NULL where there is none */
    const char *unit;
    const char *help; /* one line */
};

extern const struct hs_option hs_options[]; /* ends with a NULL path */

/* The entry for a concrete path ("boundary.x_min.h", "probes[0].at"), or NULL. */
const struct hs_option *hs_option_find(const char *path);

/* The known path nearest to a mistyped one, or NULL if none is near. Static storage. */
const char *hs_option_nearest(const char *path);

#endif
