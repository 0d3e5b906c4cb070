/*
 * Lets HDF5 write a file's table of contents into memory: a virtual file driver.
 *
 * HDF5 asks the driver for space and gives it bytes. This one hands out space in an hs_image, but
 * for raw data whose place was announced in image->placed it names that place, where the bytes
 * already lie, and drops what is written there. So HDF5 itself makes groups, headers and chunk
 * indices, and nobody else knows their format. The first bytes of the image are the checksum's.
 */
#ifndef HS_OUTPUT_IMAGE_H
#define HS_OUTPUT_IMAGE_H

#include "output/h5.h"
#include "output/store.h"

/* Makes an empty HDF5 file in `image`, whose base and end are set (end: nothing of the file's
 * other bytes lies beyond); its memory is used again. Negative on failure. */
hid_t hs_image_open(struct hs_h5 *h5, struct hs_image *image);

/* Completes the image. HS_IO where that, or anything before, has failed; `path` is for the message.
 */
enum hs_status hs_image_close(struct hs_h5 *h5, hid_t root, const char *path, struct hs_error *err);

void hs_image_release(struct hs_image *image);

#endif
