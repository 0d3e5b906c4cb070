/* The group /VTKHDF, by which ParaView 5.12 and VTK 9.3 or later open the file as it is. */
#ifndef HS_OUTPUT_VTKHDF_H
#define HS_OUTPUT_VTKHDF_H

#include "core/grid.h"
#include "output/h5.h"
#include "output/series.h"

/* Links /temperature into it, which must be there. */
void hs_vtkhdf_write(struct hs_h5 *h5, hid_t root, const struct hs_grid *grid,
                     const struct hs_series *snapshots);

#endif
