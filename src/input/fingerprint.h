/* What a run is known by: the keys that its fields depend on, with the content of the files that it
 * reads; and not how long, how often or where to. */
#ifndef HS_INPUT_FINGERPRINT_H
#define HS_INPUT_FINGERPRINT_H

#include "core/grid.h"
#include "input/settings.h"

/*
 * A line "KEY = VALUE" for each key that was given and is not loose (input/options.h), sorted by
 * key; numbers in one form, defaults left out, so that it does not matter how the config says it.
 * After the line of a file that was read comes "KEY content = ...". Allocated.
 */
char *hs_settings_fingerprint(const struct hs_settings *settings);

/* The content of a field that was read from a file: its shape and checksums of its values
 * [nz][ny][nx], in whatever file they lie; added some after the other. */
struct hs_content {
    unsigned long crc, adler;
};
struct hs_content hs_content_begin(void);
void hs_content_add(struct hs_content *content, const double *values, int64_t count);
/* Allocated. */
char *hs_content_name(const struct hs_content *content, const struct hs_grid *grid);

#endif
