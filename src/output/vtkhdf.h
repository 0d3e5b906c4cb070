/* The group /VTKHDF, which lets ParaView 5.12 and VTK 9.3 or later open the file directly. */
#ifndef HS_OUTPUT_VTKHDF_H
#define HS_OUTPUT_VTKHDF_H

#include "output/chunks.h"
#include "output/h5.h"
#include "output/image.h"
#include "output/series.h"

/* Writes the group. It refers to /temperature, which must already exist. */
void hs_vtkhdf_write(struct hs_h5 *h5, hid_t root, const struct hs_chunks *chunks,
                     const struct hs_series *snapshots, struct hs_image *image);

#endif
