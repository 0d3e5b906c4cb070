/* Reads a whole field of a file. */
#ifndef HS_TESTS_FIELD_FILE_H
#define HS_TESTS_FIELD_FILE_H

#include "input/field_file.h"

#include <stdlib.h>

/* hs_field_file_find, then reads all numbers [nz][ny][nx] into *out, which it allocates; NULL on
 * failure. */
static enum hs_status read_field_file(const char *path, const char *name, int64_t step,
                                      const struct hs_field_shape *shape, double **out,
                                      struct hs_error *why)
{
    struct hs_stored *stored;
    enum hs_status status = hs_field_file_find(path, name, step, shape, &stored, why);
    *out = NULL;
    if (status)
        return status;
    const struct hs_box all = hs_grid_box(shape->grid);
    *out = malloc((size_t)hs_grid_count(shape->grid) * sizeof **out);
    status = stored->read(stored, &all, *out, why);
    if (status) {
        free(*out);
        *out = NULL;
    }
    hs_stored_destroy(stored);
    return status;
}

#endif
