/* Cuts the field of a snapshot into HDF5 chunks, compresses them and writes them to the store. */
#ifndef HS_OUTPUT_CHUNKS_H
#define HS_OUTPUT_CHUNKS_H

#include "core/grid.h"
#include "core/packing.h"
#include "engine/step_state.h"
#include "output/store.h"

struct hs_chunks {
    struct hs_grid grid;
    size_t size;             /* bytes of a value; 1 only if compressed */
    int compression;         /* 0 none, 1..9 deflate, after shuffling the bytes of the values */
    int64_t chunk[HS_AXES];  /* nodes; slabs along the slowest axis that is cut */
    int64_t pieces[HS_AXES]; /* chunks along each axis */
    int64_t per_step, steps;
    struct hs_chunk *list; /* [steps][pieces z][pieces y][pieces x] */
    int threads;           /* that it may use */
};

/* `most`: bytes that a chunk should not exceed; 0: the usual (32 MiB). */
void hs_chunks_init(struct hs_chunks *chunks, const struct hs_grid *grid, size_t size,
                    int compression, int64_t most);
void hs_chunks_release(struct hs_chunks *chunks);

int64_t hs_chunks_bytes(const struct hs_chunks *chunks); /* of one chunk, uncompressed */

/* Where the values of a step come from: `*values` is the box, dense, until the next call; `next`
 * is the box that will be asked for then, or NULL. */
struct hs_values {
    enum hs_status (*read)(void *self, const struct hs_box *box, const struct hs_box *next,
                           const void **values, struct hs_error *err);
    void *self;
};

/* Writes the next step, chunk by chunk in memory order. */
enum hs_status hs_chunks_append(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_values *values, struct hs_error *err);

/* The same, with the field of a stop. */
enum hs_status hs_chunks_append_frame(struct hs_chunks *chunks, struct hs_store *store,
                                      struct hs_frame *frame, struct hs_error *err);

/* The next step's place in the list, for the caller to fill; steps is counted up. */
struct hs_chunk *hs_chunks_add_step(struct hs_chunks *chunks);

/* First node of chunk `n` (0 <= n < per_step) of a step. */
void hs_chunks_origin(const struct hs_chunks *chunks, int64_t n, int64_t origin[HS_AXES]);

#endif
