/* Makes a dataset from chunks that the store has already written: /temperature, /body/labels. */
#ifndef HS_OUTPUT_FIELD_SET_H
#define HS_OUTPUT_FIELD_SET_H

#include "output/chunks.h"
#include "output/h5.h"
#include "output/image.h"

/* [steps][z][y][x], with fewer axes in 1D and 2D, extendible along steps. `lead` 0 instead of 1:
 * the first step only, [z][y][x], sharing its bytes in the file. Values of 1 and 2 bytes are
 * unsigned integers, others float or double. Creates groups as needed. The caller closes it. */
hid_t hs_field_set(struct hs_h5 *h5, hid_t at, const char *name, const struct hs_chunks *chunks,
                   int lead, struct hs_image *image);

#endif
