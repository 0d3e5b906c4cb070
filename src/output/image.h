/*
 * Lets HDF5 write a file's table of contents into memory: a virtual file driver.
 *
 * HDF5 asks the driver for space and passes it the bytes. This driver allocates space in an
 * hs_image. For raw data that is already in the file, the caller sets image->placed to its offset;
 * the driver returns that offset and discards what HDF5 writes there. So HDF5 itself makes groups,
 * headers and chunk indices, and no other code knows their format. The image begins with the
 * checksum.
 */
#ifndef HS_OUTPUT_IMAGE_H
#define HS_OUTPUT_IMAGE_H

#include "output/h5.h"
#include "output/store.h"

/* Makes an empty HDF5 file in `image`, reusing its memory. Its base and end must be set (end: no
 * other bytes of the file lie beyond). Negative on failure. */
hid_t hs_image_open(struct hs_h5 *h5, struct hs_image *image);

/* Completes the image. HS_IO if this or any earlier call failed; `path` is for the message. */
enum hs_status hs_image_close(struct hs_h5 *h5, hid_t root, const char *path, struct hs_error *err);

void hs_image_release(struct hs_image *image);

#endif
