#include "bulk.h"

#include <stdio.h>

bool hs_bulk_capable(const char *name, const struct hs_device_limits *limits, char *reason,
                     size_t size)
{
    const bool is = limits->capability[0] >= 9 && //
                    limits->shared_bytes_per_block >= HS_BULK_SHARED_BYTES;
    if (!is)
        snprintf(reason, size,
                 "%s needs a GPU of compute capability 9 or later with %d bytes of shared memory a "
                 "block",
                 name, HS_BULK_SHARED_BYTES);
    return is;
}

void hs_bulk_share(const struct hs_device_limits *limits, struct hs_geometry *g)
{
    const int64_t chunks = g->launched;
    if (chunks <= limits->multiprocessors)
        return;
    g->launched = hs_divide_up(chunks, hs_divide_up(chunks, limits->multiprocessors));
    g->points_loaded = g->points_loaded * chunks / g->launched;
    g->points_written = g->points_written * chunks / g->launched;
}
