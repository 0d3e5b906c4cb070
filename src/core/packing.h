/* Compresses chunks of an HDF5 dataset as HDF5's filters shuffle, deflate and Fletcher32 do. */
#ifndef HS_CORE_PACKING_H
#define HS_CORE_PACKING_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

/* A chunk in the file, including its checksum. Bit n of `skipped` is set if filter n was left out.
 * The filters are shuffle, deflate and Fletcher32 if compressed, else only Fletcher32. */
struct hs_chunk {
    int64_t at, bytes;
    unsigned skipped;
};

struct hs_packing_form {
    int64_t chunk; /* bytes of a chunk, uncompressed */
    size_t size;   /* bytes of a value */
    int level;     /* of deflate, 1..9; 0: chunks are not compressed */
};

/* A chunk that is being compressed. */
struct hs_packing {
    unsigned char *values;   /* filled by the caller; at the grid's end a chunk may have fewer */
    size_t count;            /* of these values */
    unsigned char *shuffled; /* both buffers have room for a chunk and its checksum */
    unsigned char *bytes;    /* one of the two buffers: the bytes for the file */
    struct hs_chunk chunk;   /* all but its place */
};

/* Chunks that are compressed at the same time. */
struct hs_packings {
    struct hs_packing_form form;
    int count; /* at least 1 */
    struct hs_packing *packing;
};

/* As many as `threads` can use for a field of `chunks`. HS_DEVICE if there is no memory; then
 * nothing needs to be released. */
enum hs_status hs_packings_init(struct hs_packings *packings, const struct hs_packing_form *form,
                                int64_t chunks, int threads, struct hs_error *err);
void hs_packings_release(struct hs_packings *packings);

/* Compresses the first `count` chunks, with one thread for each. HS_DEVICE if there is no memory.
 */
enum hs_status hs_packings_pack(struct hs_packings *packings, int count, struct hs_error *err);

#endif
