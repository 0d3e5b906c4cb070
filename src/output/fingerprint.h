/* Checks that a file belongs to the run to be resumed, by its format and its fingerprint: the
 * settings that the fields depend on. */
#ifndef HS_OUTPUT_FINGERPRINT_H
#define HS_OUTPUT_FINGERPRINT_H

#include "core/problem.h"
#include "output/h5.h"

/* Ends a message about a file that cannot be resumed. */
#define HS_BEGIN_ANEW "start over with --overwrite instead of --resume"

/* Writes title, config, fingerprint, format number, and the program's version and commit. */
void hs_fingerprint_write(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem);

/* Tables may have more points than when the file was written: it is this run's until then. */
struct hs_grown {
    double until;  /* s: the last of such a table's old points; infinite: there is none */
    char key[200]; /* of the table */
};

/* Opens a file of this run for reading; the caller closes it, after a failure too. h5->failed is
 * set if it cannot be read. HS_BAD_INPUT with the reason if its fingerprint is another run's (with
 * the first key that differs), its format is another version's, or its checksum is missing. */
enum hs_status hs_fingerprint_open(struct hs_h5 *h5, const char *path,
                                   const struct hs_problem *problem, hid_t *out,
                                   struct hs_grown *grown, struct hs_error *err);

#endif
