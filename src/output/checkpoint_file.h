/* One checkpoint: an HDF5 file with the field, where it belongs, and what the run is known by; all
 * of it under checksums. */
#ifndef HS_OUTPUT_CHECKPOINT_FILE_H
#define HS_OUTPUT_CHECKPOINT_FILE_H

#include "core/problem.h"
#include "output/restore.h"

struct hs_checkpoint_state {
    struct hs_resume resume;
    double time, step;    /* s: at the sweep; of the sweeps of full intervals before it */
    double interval, end; /* s: output.interval and time.end, or NaN */
};

/* Writes beside `path` and syncs, moves what was at `path` to `older`, then takes its place. */
enum hs_status hs_checkpoint_file_write(const struct hs_problem *problem, const char *path,
                                        const char *older, const struct hs_checkpoint_state *state,
                                        const void *field, struct hs_error *err);

/* HS_IO if it is not there or not whole, HS_BAD_INPUT if its fingerprint is another or it was
 * written by a version with another form; with the reason. *field is allocated on success only. */
enum hs_status hs_checkpoint_file_read(const struct hs_problem *problem, const char *path,
                                       struct hs_checkpoint_state *state, void **field,
                                       char *reason, size_t size);

/* The sweep that it is of, whether its field is whole or not; -1 if it cannot be told. */
int64_t hs_checkpoint_file_sweep(const char *path);

#endif
