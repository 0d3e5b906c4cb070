#include "output/fingerprint.h"

#include <stdio.h>
#include <string.h>

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

/* The first line of `a` that is not in `b`, cut up: key and value; and b's value of the key. */
static bool find_difference(const char *a, const char *b, char *out, size_t size, bool swapped)
{
    for (const char *line = a; *line; line = strchr(line, '\n') + 1) {
        const size_t length = strcspn(line, "\n"), key = (size_t)(strstr(line, " = ") - line);
        const char *mine = line + key + 3, *other = value_of(b, line, key);
        const size_t mine_length = length - key - 3;
        const size_t other_length = other ? strcspn(other, "\n") : 0;
        if (other && mine_length == other_length && !strncmp(mine, other, mine_length))
            continue;
        const char *was = swapped ? other : mine, *is = swapped ? mine : other;
        const int was_length = (int)(swapped ? other_length : mine_length);
        const int is_length = (int)(swapped ? mine_length : other_length);
        snprintf(out, size, "%.*s is %.*s, and was %.*s", (int)key, line, is ? is_length : 7,
                 is ? is : "not set", was ? was_length : 7, was ? was : "not set");
        return true;
    }
    return false;
}

enum hs_status hs_fingerprint_compare(const char *saved, const char *current, char *reason,
                                      size_t size)
{
    char difference[256];
    if (!find_difference(saved, current, difference, sizeof difference, false) &&
        !find_difference(current, saved, difference, sizeof difference, true))
        return HS_OK;
    snprintf(reason, size,
             "it belongs to another run: %s; resume with what the fields depend on as it was "
             "(heatsolve options marks what may change), or begin anew with --overwrite instead of "
             "--resume",
             difference);
    return HS_BAD_INPUT;
}
