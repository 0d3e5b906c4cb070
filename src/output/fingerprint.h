/* Whether a file is of the run that is to go on: by its form, and by what its fields depend on. */
#ifndef HS_OUTPUT_FINGERPRINT_H
#define HS_OUTPUT_FINGERPRINT_H

#include "core/problem.h"
#include "output/h5.h"

/* What a message ends with whose file cannot be gone on with. */
#define HS_BEGIN_ANEW "start over with --overwrite instead of --resume"

/* Title, config, fingerprint, the program's version and commit, and which attributes and datasets
 * there are. */
void hs_fingerprint_write(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem);

/* Opens a file of this run for reading. Else it is negative: with h5->failed where it cannot be
 * read; with HS_BAD_INPUT and the reason in `why` where another run's fingerprint (with the first
 * key that differs), another version's form or no checksum is in it. */
hid_t hs_fingerprint_open(struct hs_h5 *h5, const char *path, const struct hs_problem *problem,
                          struct hs_error *why);

#endif
