#include "input/points.h"

#include "input/number.h"

#include <stdio.h>
#include <string.h>

int hs_points_counts(const char *option, const char *text, const char *remedy,
                     int64_t numbers[HS_AXES], struct hs_error *err)
{
    int count = 0;
    for (const char *p = text;; p++) {
        char word[32];
        p += strspn(p, " ");
        const size_t length = strcspn(p, ",x");
        snprintf(word, sizeof word, "%.*s", (int)length, p);
        const char *wrong = count == HS_AXES ? "is one axis too many"
                                             : hs_number_parse_count(word, &numbers[count]);
        if (!wrong && numbers[count] < 1)
            wrong = "is less than 1";
        if (wrong) {
            hs_error_add(err, HS_BAD_INPUT, "%s %s: \"%s\" %s; %s", option, text, word, wrong,
                         remedy);
            return -1;
        }
        count++;
        p += length;
        if (!*p)
            return count;
    }
}

enum hs_status hs_points_read(const char *command, const char *text, int64_t given_dims, int *dims,
                              int64_t points[HS_AXES], struct hs_error *err)
{
    int64_t numbers[HS_AXES] = {0, 0, 0};
    if (given_dims > HS_AXES)
        return hs_error_add(err, HS_BAD_INPUT, "%s: --dims %lld: give 1, 2 or 3", command,
                            (long long)given_dims);
    char option[32];
    snprintf(option, sizeof option, "%s: --points", command);
    const int count =
        hs_points_counts(option, text, "give 256 for every axis, or 512,512,256", numbers, err);
    if (count < 0)
        return HS_BAD_INPUT;
    *dims = given_dims > 0 ? (int)given_dims : count > 1 ? count : HS_AXES;
    if (count > 1 && count != *dims)
        return hs_error_add(err, HS_BAD_INPUT, "%s: --points %s: %d numbers for --dims %d", command,
                            text, count, *dims);
    for (int axis = 0; axis < HS_AXES; axis++)
        points[axis] = axis >= *dims ? 1 : numbers[count > 1 ? axis : 0];
    return HS_OK;
}
