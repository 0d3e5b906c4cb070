#include "engine/network/palette.h"

#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void hs_distinct_release(struct hs_distinct *set)
{
    free(set->item);
    free(set->slot);
    free(set->map);
    *set = (struct hs_distinct){.size = set->size};
}

/* FNV-1a by words, with the high bits mixed into the low ones once more. */
static uint64_t hash(const char *item, size_t size)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t n = 0; n < size; n += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, item + n, size - n < sizeof word ? size - n : sizeof word);
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* The slot where the item is, or would be. */
static int *find(const struct hs_distinct *set, const char *item)
{
    const uint64_t slots = 2 * (uint64_t)set->capacity;
    uint64_t at = hash(item, set->size) & (slots - 1);
    while (set->slot[at] >= 0 &&
           memcmp(set->item + (size_t)set->slot[at] * set->size, item, set->size) != 0)
        at = (at + 1) & (slots - 1);
    return &set->slot[at];
}

static void grow(struct hs_distinct *set)
{
    const int capacity = set->capacity > 0 ? 2 * set->capacity : 64;
    set->item = hs_grow(set->item, (size_t)capacity, set->size);
    set->slot = hs_grow(set->slot, 2 * (size_t)capacity, sizeof *set->slot);
    set->capacity = capacity;
    memset(set->slot, 0xff, 2 * (size_t)capacity * sizeof *set->slot);
    for (int n = 0; n < set->count; n++)
        *find(set, set->item + (size_t)n * set->size) = n;
}

int hs_distinct_place(struct hs_distinct *set, const void *item)
{
    if (set->count == set->capacity)
        grow(set);
    int *slot = find(set, item);
    if (*slot < 0) {
        memcpy(set->item + (size_t)set->count * set->size, item, set->size);
        *slot = set->count++;
    }
    return *slot;
}

void *hs_distinct_unite(int sets, struct hs_distinct *set,
                        int (*compare)(const void *, const void *), int *count)
{
    const size_t size = set[0].size;
    size_t all = 0, kept = 0;
    for (int s = 0; s < sets; s++)
        all += (size_t)set[s].count;
    char *item = hs_new(all * size + 1);
    all = 0;
    for (int s = 0; s < sets; s++) {
        if (set[s].count > 0)
            memcpy(item + all * size, set[s].item, (size_t)set[s].count * size);
        all += (size_t)set[s].count;
    }
    qsort(item, all, size, compare);
    for (size_t n = 0; n < all; n++)
        if (kept == 0 || compare(item + (kept - 1) * size, item + n * size) != 0)
            memmove(item + kept++ * size, item + n * size, size);
    *count = (int)kept;
    for (int s = 0; s < sets; s++) {
        set[s].map = hs_grow(set[s].map, (size_t)set[s].count + 1, sizeof *set[s].map);
        for (int n = 0; n < set[s].count; n++) {
            const char *found = bsearch(set[s].item + (size_t)n * size, item, kept, size, compare);
            set[s].map[n] = (int)((size_t)(found - item) / size);
        }
    }
    return item;
}

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

int hs_forcing_compare(const void *a, const void *b)
{
    const struct hs_forcing *one = a, *other = b;
    int by = order(one->count, other->count);
    for (int n = 0; n < one->count && by == 0; n++)
        by = order(one->function[n], other->function[n]);
    for (int n = 0; n < one->count && by == 0; n++)
        by = order(one->weight[n], other->weight[n]);
    return by;
}

int hs_network_row_compare(const void *a, const void *b)
{
    const struct hs_network_row *one = a, *other = b;
    int by = 0;
    for (int axis = 0; axis < HS_AXES && by == 0; axis++)
        by = order(one->conductance[axis], other->conductance[axis]);
    if (by == 0)
        by = order(one->capacity, other->capacity);
    if (by == 0)
        by = order(one->sink, other->sink);
    if (by == 0)
        by = order(one->forcing, other->forcing);
    return by != 0 ? by : order(one->kind, other->kind);
}
