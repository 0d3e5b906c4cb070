/* Which attributes and datasets a file of ours has, so that one of another version is refused. */
#ifndef HS_OUTPUT_FORM_H
#define HS_OUTPUT_FORM_H

#include "core/status.h"
#include "output/h5.h"

/* What a message ends with whose file cannot be gone on with. */
#define HS_BEGIN_ANEW "begin anew with --overwrite instead of --resume"

/* Writes the form, and the program's version and commit. */
void hs_form_write(struct hs_h5 *h5, hid_t root);

/* HS_BAD_INPUT, with the version that wrote it and what to do, if the file has another form, or no
 * checksum of its contents. */
enum hs_status hs_form_check(hid_t file, enum hs_contents_sum sum, char *reason, size_t size);

#endif
