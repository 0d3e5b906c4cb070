/* The .xdmf beside the HDF5 file, which lets ParaView open the run as a time series. */
#ifndef HS_OUTPUT_XDMF_H
#define HS_OUTPUT_XDMF_H

#include "core/grid.h"
#include "core/status.h"
#include "output/series.h"

#include <stddef.h>

/* Writes or replaces the sidecar of `file` with these snapshots; `size`: bytes per value. */
enum hs_status hs_xdmf_write(const char *file, const struct hs_grid *grid, size_t size,
                             const struct hs_series *snapshots, struct hs_error *err);

#endif
