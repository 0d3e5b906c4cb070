/* A dataset of chunks that the store has written already: /temperature, /body/labels. */
#ifndef HS_OUTPUT_FIELD_SET_H
#define HS_OUTPUT_FIELD_SET_H

#include "output/chunks.h"
#include "output/h5.h"
#include "output/image.h"

/* [steps][z][y][x], fewer axes in 1D and 2D; can grow by steps. With `lead` 0 instead of 1 the
 * first step alone, [z][y][x], of the same bytes in the file. Of values of 1 and 2 bytes unsigned
 * integers, else floats and doubles. Groups are made. The caller closes it. */
hid_t hs_field_set(struct hs_h5 *h5, hid_t at, const char *name, const struct hs_chunks *chunks,
                   int lead, struct hs_image *image);

#endif
