#include "core/packing.h"

#include "core/fletcher.h"
#include "core/memory.h"
#include "core/round.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory to compress a snapshot");
}

/* Compressing takes a hundred times as long as writing, so all threads do it; but the buffers take
 * about as much memory as the chunks. */
enum hs_status hs_packings_init(struct hs_packings *packings, const struct hs_packing_form *form,
                                int64_t chunks, int threads, struct hs_error *err)
{
    enum { MOST = 8 };
    const size_t bytes = (size_t)form->chunk + HS_FLETCHER_BYTES;
    const int64_t count = hs_larger(1, hs_smaller(hs_smaller((chunks + 1) / 2, MOST), threads));
    *packings = (struct hs_packings){.form = *form, .count = (int)count};
    packings->packing = hs_new((size_t)count * sizeof *packings->packing);
    bool there = true;
    for (int n = 0; n < packings->count; n++) {
        struct hs_packing *p = &packings->packing[n];
        p->values = malloc(bytes);
        p->shuffled = malloc(bytes);
        there = there && p->values && p->shuffled;
    }
    if (there)
        return HS_OK;
    hs_packings_release(packings);
    return no_memory(err);
}

void hs_packings_release(struct hs_packings *packings)
{
    for (int n = 0; n < packings->count; n++) {
        free(packings->packing[n].values);
        free(packings->packing[n].shuffled);
    }
    free(packings->packing);
    *packings = (struct hs_packings){0};
}

/* HDF5's shuffle filter: the first bytes of all values, then the second bytes, and so on, so that
 * similar bytes are together. Values from `count` up to `whole` are zeros. */
static void shuffle(const unsigned char *from, size_t count, size_t whole, size_t size,
                    unsigned char *to)
{
    for (size_t byte = 0; byte < size; byte++) {
        for (size_t i = 0; i < count; i++)
            to[byte * whole + i] = from[i * size + byte];
        memset(to + byte * whole + count, 0, whole - count);
    }
}

/* Shuffles and deflates a chunk; the result overwrites its values. False: no memory. */
static bool pack(const struct hs_packing_form *form, struct hs_packing *p)
{
    const uLong whole = (uLong)form->chunk;
    shuffle(p->values, p->count, whole / form->size, form->size, p->shuffled);
    uLongf packed = whole;
    const int z = compress2(p->values, &packed, p->shuffled, whole, form->level);
    const bool larger = z == Z_BUF_ERROR || (z == Z_OK && packed >= whole);
    packed = larger ? whole : packed;
    p->bytes = larger ? p->shuffled : p->values;
    p->chunk =
        (struct hs_chunk){.bytes = (int64_t)packed + HS_FLETCHER_BYTES, .skipped = larger ? 2 : 0};
    struct hs_fletcher sum = {0};
    hs_fletcher_add(&sum, p->bytes, packed);
    hs_fletcher_put(&sum, p->bytes + packed);
    return z == Z_OK || larger;
}

enum hs_status hs_packings_pack(struct hs_packings *packings, int count, struct hs_error *err)
{
    bool failed = false;
#pragma omp parallel for num_threads(count) schedule(dynamic, 1) reduction(|| : failed)
    for (int n = 0; n < count; n++)
        failed = !pack(&packings->form, &packings->packing[n]) || failed;
    return failed ? no_memory(err) : HS_OK;
}
