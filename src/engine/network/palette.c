#include "engine/network/palette.h"

#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void hs_distinct_release(struct hs_distinct *set)
{
    free(set->item);
    free(set->slot);
    free(set->uses);
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
    set->uses = hs_grow(set->uses, (size_t)capacity, sizeof *set->uses);
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
        set->uses[set->count] = 0;
        *slot = set->count++;
    }
    return *slot;
}

typedef int compare_of(const void *, const void *);

/* Merges two sorted pieces of an array, from `first` and from `middle` on. */
static void merge(const char *from, char *to, size_t size, size_t first, size_t middle, size_t end,
                  compare_of *compare)
{
    size_t one = first, other = middle;
    for (size_t n = first; n < end; n++) {
        const bool takes_one =
            other == end || (one < middle && compare(from + one * size, from + other * size) <= 0);
        memcpy(to + n * size, from + (takes_one ? one++ : other++) * size, size);
    }
}

/* Sorts an array of pieces, from first[p] to first[p + 1], by a thread each: piece by piece, then
 * pair by pair of ever larger ones. Returns the array, or another that takes its place. */
static char *sort(char *item, size_t size, int pieces, const size_t *first, compare_of *compare)
{
    char *other = hs_new(first[pieces] * size + 1);
#pragma omp parallel for num_threads(pieces) schedule(static, 1)
    for (int p = 0; p < pieces; p++)
        qsort(item + first[p] * size, first[p + 1] - first[p], size, compare);
    for (int width = 1; width < pieces; width *= 2) {
#pragma omp parallel for num_threads(pieces) schedule(static, 1)
        for (int p = 0; p < pieces; p += 2 * width)
            merge(item, other, size, first[p], first[p + width < pieces ? p + width : pieces],
                  first[p + 2 * width < pieces ? p + 2 * width : pieces], compare);
        char *sorted = other;
        other = item;
        item = sorted;
    }
    free(other);
    return item;
}

void *hs_distinct_unite(int sets, struct hs_distinct *set, compare_of *compare, int *count)
{
    const size_t size = set[0].size;
    size_t *first = hs_new(((size_t)sets + 1) * sizeof *first), kept = 0;
    for (int s = 0; s < sets; s++)
        first[s + 1] = first[s] + (size_t)set[s].count;
    const size_t all = first[sets];
    char *item = hs_new(all * size + 1);
    for (int s = 0; s < sets; s++)
        if (set[s].count > 0)
            memcpy(item + first[s] * size, set[s].item, (size_t)set[s].count * size);
    item = sort(item, size, sets, first, compare);
    for (size_t n = 0; n < all; n++)
        if (kept == 0 || compare(item + (kept - 1) * size, item + n * size) != 0)
            memmove(item + kept++ * size, item + n * size, size);
    *count = (int)kept;
#pragma omp parallel for num_threads(sets) schedule(static, 1)
    for (int s = 0; s < sets; s++) {
        set[s].map = hs_grow(set[s].map, (size_t)set[s].count + 1, sizeof *set[s].map);
        for (int n = 0; n < set[s].count; n++) {
            const char *found = bsearch(set[s].item + (size_t)n * size, item, kept, size, compare);
            set[s].map[n] = (int)((size_t)(found - item) / size);
        }
    }
    free(first);
    return item;
}

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_terms(const struct hs_terms *one, const struct hs_terms *other)
{
    int by = order(one->count, other->count);
    for (int n = 0; n < one->count && by == 0; n++)
        by = order(one->function[n], other->function[n]);
    for (int n = 0; n < one->count && by == 0; n++)
        by = order(one->weight[n], other->weight[n]);
    return by;
}

int hs_forcing_compare(const void *a, const void *b)
{
    const struct hs_forcing *one = a, *other = b;
    int by = compare_terms(&one->inflow, &other->inflow);
    if (by == 0)
        by = compare_terms(&one->sink, &other->sink);
    return by != 0 ? by : order(one->steady_sink, other->steady_sink);
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
