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

#include "output/store.h"

#include <hdf5.h>

/* Makes an empty HDF5 file in `image`, whose base and end are set (end: nothing of the file's
 * other bytes lies beyond); its memory is used again. Close it with H5Fclose, which completes the
 * image. Negative on failure. */
hid_t hs_image_create(struct hs_image *image);

void hs_image_release(struct hs_image *image);

#endif
