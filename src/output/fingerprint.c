#include "output/fingerprint.h"

#include "output/form.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEY = 200 };

const char *hs_fingerprint_of(const struct hs_problem *problem)
{
    return problem->fingerprint ? problem->fingerprint : "";
}

/* The value of a line's key in a fingerprint; NULL if it has none. Neither ends with a 0. */
static const char *value_of(const char *fingerprint, const char *key, size_t length)
{
    for (const char *line = fingerprint; *line; line++) {
        if (!strncmp(line, key, length) && !strncmp(line + length, " = ", 3))
            return line + length + 3;
        line = strchr(line, '\n');
        if (!line)
            break;
    }
    return NULL;
}

/* "KEY content" of a line that has this key; NULL if the fingerprint has none. */
static const char *content_of(const char *fingerprint, const char *key, size_t length)
{
    char name[MOST_KEY + 16];
    const int n = snprintf(name, sizeof name, "%.*s content", (int)length, key);
    return n < (int)sizeof name ? value_of(fingerprint, name, (size_t)n) : NULL;
}

static bool same(const char *value, const char *other)
{
    const size_t length = strcspn(value, "\n");
    return other && length == strcspn(other, "\n") && !strncmp(value, other, length);
}

/* "is VALUE, and was VALUE", to the ends of their lines. */
static void show(const char *is, const char *was, char *out, size_t size)
{
    snprintf(out, size, " is %.*s, and was %.*s", is ? (int)strcspn(is, "\n") : 7,
             is ? is : "not set", was ? (int)strcspn(was, "\n") : 7, was ? was : "not set");
}

/* The first key of `keys` that the two do not agree on. Of a file that both have read its content
 * says whether they do, and its name does not matter. */
static bool find_difference(const char *keys, const char *saved, const char *current, char *out,
                            size_t size)
{
    for (const char *line = keys, *end; *line; line = end + 1) {
        const char *equals = strstr(line, " = ");
        end = strchr(line, '\n');
        if (!equals || !end || equals > end || equals - line > MOST_KEY) {
            snprintf(out, size, "its fingerprint is not one of heatsolve's");
            return true;
        }
        const size_t length = (size_t)(equals - line);
        const char *was = value_of(saved, line, length), *is = value_of(current, line, length);
        const char *read = content_of(saved, line, length),
                   *reads = content_of(current, line, length);
        if (read && reads ? same(read, reads) : was && same(was, is))
            continue;
        const int n = snprintf(out, size, "%.*s", (int)length, line);
        show(is, was, out + n, size - (size_t)n);
        if (read && reads)
            snprintf(out + n, size - (size_t)n,
                     " = %.*s: the content of this file has changed since the run began with %.*s",
                     (int)strcspn(is, "\n"), is, (int)strcspn(was, "\n"), was);
        return true;
    }
    return false;
}

enum hs_status hs_fingerprint_compare(const char *saved, const char *current, char *reason,
                                      size_t size)
{
    char difference[512];
    if (!find_difference(saved, saved, current, difference, sizeof difference) &&
        !find_difference(current, saved, current, difference, sizeof difference))
        return HS_OK;
    snprintf(reason, size,
             "it belongs to another run: %s; resume with what the fields depend on as it was "
             "(heatsolve options marks what may change), or " HS_BEGIN_ANEW,
             difference);
    return HS_BAD_INPUT;
}
