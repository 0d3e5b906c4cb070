/* The layout of a run's HDF5 file (docs/file-format.md): writes its contents into an image. */
#ifndef HS_OUTPUT_CONTENTS_H
#define HS_OUTPUT_CONTENTS_H

#include "engine/outcome.h"
#include "output/chunks.h"
#include "output/image.h"
#include "output/series.h"

struct hs_contents {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    const char *device; /* what the backend says it runs on */
    enum hs_outcome outcome;
    const struct hs_steady *steady;    /* the steady-state search; `sought` false: none */
    const char *started;               /* ISO 8601, UTC */
    double wall_seconds;               /* since `started` */
    double sweep_seconds;              /* of these, in sweeps */
    int64_t sweep;                     /* the last one done */
    const struct hs_series *snapshots; /* one row per step of `chunks` */
    const struct hs_series *history;
    const struct hs_chunks *chunks;
    const struct hs_chunks *labels; /* of the body; may be empty */
};

/* Writes the contents into `image`, whose base and end are set. HS_IO if HDF5 fails. */
enum hs_status hs_contents_write(const struct hs_contents *contents, struct hs_image *image,
                                 struct hs_error *err);

#endif
