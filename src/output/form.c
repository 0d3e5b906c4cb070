#include "output/form.h"

#include "core/version.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* 1 and 2, and outputs that do not say, had no checksum of their contents, and in their fingerprint
 * no content of the files that were read. */
enum { FORM = 3 };

void hs_form_write(struct hs_h5 *h5, hid_t root)
{
    hs_h5_whole(h5, root, "form", FORM);
    hs_h5_text(h5, root, "version", hs_version());
    hs_h5_text(h5, root, "commit", hs_commit());
}

enum hs_status hs_form_check(hid_t file, enum hs_contents_sum sum, char *reason, size_t size)
{
    struct hs_h5 form = {NULL}, h5 = {NULL};
    const bool ours = hs_h5_read_whole(&form, file, "form") == FORM;
    if (ours && sum == HS_CONTENTS_SUM_FITS)
        return HS_OK;
    if (ours) {
        snprintf(
            reason, size,
            "another program wrote it anew, without the checksum of its contents; put back the "
            "file as heatsolve wrote it, or " HS_BEGIN_ANEW);
        return HS_BAD_INPUT;
    }
    char *version = hs_h5_read_text(&h5, file, "version");
    char *commit = hs_h5_read_text(&h5, file, "commit");
    snprintf(reason, size,
             "it was written by heatsolve %s (%s) in another form; resume with that version, "
             "or " HS_BEGIN_ANEW,
             version ? version : "of another version", commit ? commit : "unknown commit");
    free(version);
    free(commit);
    return HS_BAD_INPUT;
}
