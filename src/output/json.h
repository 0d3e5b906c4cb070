/* Writes JSON: one call for each object, array or member; adds commas and indentation. */
#ifndef HS_OUTPUT_JSON_H
#define HS_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Begins with the stream, and zeros. */
struct hs_json {
    FILE *stream;
    int depth;
    unsigned arrays; /* a bit for each depth, the innermost lowest: 1 for an array */
    bool begun;      /* the object or array at this depth has a member */
};

/* `key` is NULL inside arrays and for the outermost object. */
void hs_json_open(struct hs_json *json, const char *key);       /* an object */
void hs_json_open_array(struct hs_json *json, const char *key); /* an array */
void hs_json_close(struct hs_json *json); /* either; the outermost also ends the line */

void hs_json_text(struct hs_json *json, const char *key, const char *value); /* NULL: null */
void hs_json_number(struct hs_json *json, const char *key, double value);    /* not finite: null */
void hs_json_integer(struct hs_json *json, const char *key, int64_t value);
void hs_json_flag(struct hs_json *json, const char *key, bool value);

/* [1, 2, 3] on one line */
void hs_json_integers(struct hs_json *json, const char *key, const int64_t *values, int count);
void hs_json_numbers(struct hs_json *json, const char *key, const double *values, int count);

#endif
