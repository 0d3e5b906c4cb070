/* Writes a step of chunks from an array in memory. */
#ifndef DENSE_CHUNKS_H
#define DENSE_CHUNKS_H

#include "output/chunks.h"

struct dense {
    const struct hs_chunks *chunks;
    const unsigned char *field;
};

static enum hs_status read_dense(void *self, const struct hs_box *box, const struct hs_box *next,
                                 const void **values, struct hs_error *err)
{
    const struct dense *dense = self;
    const int64_t first = hs_grid_index(&dense->chunks->grid, box->lo);
    *values = dense->field + (size_t)first * dense->chunks->size;
    return HS_OK;
}

/* Appends `field`, a dense array [nz][ny][nx]. */
static enum hs_status append_dense(struct hs_chunks *chunks, struct hs_store *store,
                                   const void *field, struct hs_error *err)
{
    struct dense dense = {chunks, field};
    const struct hs_values values = {read_dense, &dense};
    return hs_chunks_append(chunks, store, &values, err);
}

#endif
