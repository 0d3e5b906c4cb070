#include "output/fingerprint.h"

#include "core/version.h"
#include "input/fingerprint.h"
#include "input/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEY = 200 };

/* A fingerprint, and the line at which the search for a key begins. Keys are looked up in order, so
 * the next one is usually there. */
struct lines {
    const char *text, *next;
};

/* What follows " = " if the line has this key, else NULL. The strings are not NUL-terminated. */
static const char *value_at(const char *line, const char *key, size_t length)
{
    const bool found = !strncmp(line, key, length) && !strncmp(line + length, " = ", 3);
    return found ? line + length + 3 : NULL;
}

static const char *after(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : "";
}

/* The value of a key; NULL if no line has it. */
static const char *value_of(struct lines *lines, const char *key, size_t length)
{
    const char *value = NULL, *begin = lines->next;
    for (const char *line = begin; *line && !value; line = after(line)) {
        value = value_at(line, key, length);
        lines->next = value ? line : begin;
    }
    for (const char *line = lines->text; line < begin && !value; line = after(line)) {
        value = value_at(line, key, length);
        lines->next = value ? line : begin;
    }
    return value;
}

/* The value of "KEY content" if that is on the line after the value's; else NULL. */
static const char *content_of(const char *value, const char *key, size_t length)
{
    const char *line = value ? after(value) : "";
    return strncmp(line, key, length) ? NULL
                                      : value_at(line + length, " content", strlen(" content"));
}

static bool same(const char *value, const char *other)
{
    const size_t length = strcspn(value, "\n");
    return other && length == strcspn(other, "\n") && !strncmp(value, other, length);
}

/* The time of the last point of a table that was there before, if the contents are those of a table
 * that got more points; else NaN. */
static double grown_from(const struct hs_problem *problem, const char *saved, const char *current)
{
    int points;
    double until = NAN;
    if (!saved || !current || sscanf(saved, "2 x %d,", &points) != 1 || points < 1)
        return NAN;
    for (int f = 0; f < problem->time_function_count && isnan(until); f++) {
        const struct hs_time_function *table = &problem->time_functions[f];
        if (table->points <= points)
            continue;
        char *all = hs_content_of_table(table, table->points);
        char *first = hs_content_of_table(table, points);
        if (same(current, all) && same(saved, first))
            until = table->time[points - 1];
        free(all);
        free(first);
    }
    return until;
}

enum { VALUE = 160 };

/* Copies a value up to the end of its line; a number as typed, not as stored with 17 digits
 * (0.00020000000000000001). */
static void show_value(const char *value, char out[VALUE])
{
    snprintf(out, VALUE, "%.*s", value ? (int)strcspn(value, "\n") : 7, value ? value : "not set");
    double number;
    if (!hs_number_parse(out, &number))
        hs_number_write(number, out);
}

/* Finds the first key of `keys` on which the two differ. Input files are compared by their content,
 * not their name. */
static bool find_difference(const struct hs_problem *problem, const char *keys, const char *saved,
                            struct hs_grown *grown, char *out, size_t size)
{
    const char *current = problem->fingerprint ? problem->fingerprint : "";
    struct lines then = {saved, saved}, now = {current, current};
    for (const char *line = keys, *end; *line; line = end + 1) {
        const char *equals = strstr(line, " = ");
        end = strchr(line, '\n');
        if (!equals || !end || equals > end || equals - line > MOST_KEY) {
            snprintf(out, size, "its fingerprint is not one of heatsolve's");
            return true;
        }
        const size_t length = (size_t)(equals - line);
        const char *was = value_of(&then, line, length), *is = value_of(&now, line, length);
        const char *read = content_of(was, line, length), *reads = content_of(is, line, length);
        const bool files = read && reads;
        const char *before = files ? read : was, *after = files ? reads : is;
        if (before && same(before, after))
            continue;
        const double until = grown_from(problem, before, after);
        if (until < grown->until) {
            grown->until = until;
            snprintf(grown->key, sizeof grown->key, "%.*s", (int)length, line);
        }
        if (!isnan(until))
            continue;
        char now_is[VALUE], it_was[VALUE];
        show_value(is, now_is);
        show_value(was, it_was);
        if (files)
            snprintf(out, size,
                     "%.*s = %.*s: the content of this file has changed since the run began with "
                     "%.*s",
                     (int)length, line, (int)strcspn(is, "\n"), is, (int)strcspn(was, "\n"), was);
        else
            snprintf(out, size, "%.*s is %s, and was %s", (int)length, line, now_is, it_was);
        return true;
    }
    return false;
}

static enum hs_status compare(const char *path, const char *saved, const struct hs_problem *problem,
                              struct hs_grown *grown, struct hs_error *err)
{
    char difference[512];
    const char *current = problem->fingerprint ? problem->fingerprint : "";
    if (!find_difference(problem, saved, saved, grown, difference, sizeof difference) &&
        !find_difference(problem, current, saved, grown, difference, sizeof difference))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: it belongs to another run: %s; resume with what the fields depend on "
                        "as it was (heatsolve options marks what may change), or " HS_BEGIN_ANEW,
                        path, difference);
}

/* ---- the form -------------------------------------------------------------------------------- */

/* Format number. Formats 1 and 2, and outputs without a number, had no checksum of their contents,
 * and no content of input files in their fingerprint. */
enum { FORM = 3 };

void hs_fingerprint_write(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem)
{
    hs_h5_text(h5, root, "title", problem->title);
    hs_h5_text(h5, root, "config", problem->config_text);
    hs_h5_text(h5, root, "fingerprint", problem->fingerprint);
    hs_h5_whole(h5, root, "form", FORM);
    hs_h5_text(h5, root, "version", hs_version());
    hs_h5_text(h5, root, "commit", hs_commit());
}

static enum hs_status refuse_form(const char *path, hid_t file, struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    char *version = hs_h5_read_text(&h5, file, "version");
    char *commit = hs_h5_read_text(&h5, file, "commit");
    hs_error_add(err, HS_BAD_INPUT,
                 "%s: it was written by heatsolve %s (%s) in another form; resume with that "
                 "version, or " HS_BEGIN_ANEW,
                 path, version ? version : "of another version",
                 commit ? commit : "unknown commit");
    free(version);
    free(commit);
    return HS_BAD_INPUT;
}

enum hs_status hs_fingerprint_open(struct hs_h5 *h5, const char *path,
                                   const struct hs_problem *problem, hid_t *out,
                                   struct hs_grown *grown, struct hs_error *err)
{
    enum hs_contents_sum sum;
    struct hs_h5 form = {NULL};
    const hid_t file = *out = hs_h5_open(h5, path, &sum);
    grown->until = INFINITY;
    if (h5->failed)
        return HS_OK;
    char *saved = NULL;
    enum hs_status st = HS_OK;
    if (hs_h5_read_whole(&form, file, "form") != FORM)
        st = refuse_form(path, file, err);
    else if (sum != HS_CONTENTS_SUM_FITS)
        st = hs_error_add(err, HS_BAD_INPUT,
                          "%s: another program rewrote it, without the checksum of its contents; "
                          "put back the file as heatsolve wrote it, or " HS_BEGIN_ANEW,
                          path);
    else if ((saved = hs_h5_read_text(h5, file, "fingerprint")))
        st = compare(path, saved, problem, grown, err);
    free(saved);
    return st;
}
