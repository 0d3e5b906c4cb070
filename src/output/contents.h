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
    char device[128]; /* what the backend says it runs on */
    enum hs_outcome outcome;
    struct hs_steady steady;    /* the steady-state search; `sought` false: none */
    char started[32];           /* ISO 8601, UTC */
    double wall_seconds;        /* since `started` */
    double sweep_seconds;       /* of these, in sweeps */
    int64_t sweep;              /* the last one done */
    struct hs_series snapshots; /* one row per step of `chunks` */
    struct hs_series history;
    struct hs_chunks chunks;
    struct hs_chunks labels; /* of the body; may be empty */
};

/* Writes the contents into `image`, whose base and end are set. HS_IO if HDF5 fails. */
enum hs_status hs_contents_write(const struct hs_contents *contents, struct hs_image *image,
                                 struct hs_error *err);

#endif
