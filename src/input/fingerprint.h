/* The fingerprint of a run: the keys that its fields depend on and the content of the files that it
 * reads, but not its duration, output cadence or file names. */
#ifndef HS_INPUT_FINGERPRINT_H
#define HS_INPUT_FINGERPRINT_H

#include "core/grid.h"
#include "core/wall.h"
#include "input/settings.h"

/*
 * A line "KEY = VALUE" for each given key that is not loose (input/options.h), sorted by key.
 * Numbers are in one form and defaults are left out, so that the wording of the config does not
 * matter. The line of a file that was read is followed by "KEY content = ...". Allocated.
 */
char *hs_settings_fingerprint(const struct hs_settings *settings);

/* The content of a field that was read from a file: its shape, and checksums of its values
 * [nz][ny][nx], which do not depend on the file format. Values are added in parts. */
struct hs_content {
    unsigned long crc, adler;
};
#define HS_CONTENT_NONE ((struct hs_content){0, 1}) /* where zlib's checksums begin */
void hs_content_add(struct hs_content *content, const double *values, int64_t count);
/* Allocated. */
char *hs_content_name(const struct hs_content *content, int dims, const int64_t *points);

/* The content of the first points of a table, as a field of two rows: "2 x POINTS, ...". */
char *hs_content_of_table(const struct hs_time_function *table, int points);

#endif
