#include "core/stream.h"
#include "engine/backends/cpu_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 * 1024 * 1024 };

/* Where part `n` of `parts` of a field begins [bytes]: slabs of the outermost axis, as the kernels
 * cut it, in whole cache lines. */
static size_t part_begin(size_t bytes, int parts, int n)
{
    return n == parts ? bytes : bytes / 64 * (size_t)n / (size_t)parts * 64;
}

static void touch(size_t bytes, int threads, char *memory)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int n = 0; n < threads; n++) {
        const size_t from = part_begin(bytes, threads, n);
        memset(memory + from, 0, part_begin(bytes, threads, n + 1) - from);
    }
}

void hs_cpu_field_copy(const struct hs_layout *layout, enum hs_precision precision, int threads,
                       const struct hs_cpu_field *from, struct hs_cpu_field *to)
{
    const size_t bytes = (size_t)layout->elements * hs_precision_size(precision);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int n = 0; n < threads; n++) {
        const size_t first = part_begin(bytes, threads, n);
        hs_stream_copy((char *)to->memory + first, (const char *)from->memory + first,
                       part_begin(bytes, threads, n + 1) - first);
        hs_stream_fence();
    }
}

void *hs_cpu_memory_create(size_t bytes, size_t large_from)
{
    /* large pages avoid the TLB misses of a march through planes */
    const bool large = bytes >= large_from;
    if (large) /* to the end of the last page, which else is made of small ones */
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory;
    if (posix_memalign(&memory, large ? HUGE_PAGE : 64, bytes) != 0)
        return NULL;
    if (large)
        madvise(memory, bytes, MADV_HUGEPAGE); /* advice: refusal changes only the speed */
    return memory;
}

/*
 * A core finds the stores that a load has to wait for by the lowest twelve bits of their addresses.
 * Non-temporal stores take long to complete, and a load that agrees with one of them in these bits
 * waits for it needlessly. A sweep over planes at arbitrary distances meets such pairs all the
 * time: this took a fifth of its rate at 384^3 in double. So all planes begin at nearly the same
 * twelve bits, a line apart, and the two fields differ by `hs_cpu_shift` in these bits.
 */
enum {
    LINE = 64,
    ALIKE = 4096,
    APART = 7 * LINE,        /* no effect was seen from here on */
    PADDED_FROM = 128 * 1024 /* bytes of a plane: the padding is at most 3 % of it */
};

double hs_cpu_field_bytes(const struct hs_problem *problem)
{
    const int64_t align = LINE / (int64_t)hs_precision_size(problem->precision);
    return hs_layout_bytes(&problem->grid, problem->radius, align, problem->precision);
}

struct hs_layout hs_cpu_layout(const struct hs_problem *problem)
{
    const int64_t size = (int64_t)hs_precision_size(problem->precision);
    struct hs_layout layout = hs_layout_make(&problem->grid, problem->radius, LINE / size);
    const int64_t plane = layout.pitch[HS_Z] * size;
    if (problem->grid.dims < 3 || plane < PADDED_FROM)
        return layout;
    const int64_t padding = (ALIKE + LINE - plane % ALIKE) % ALIKE / size;
    layout.pitch[HS_Z] += padding;
    layout.origin += layout.ghost * padding;
    layout.elements += (layout.points[HS_Z] + 2 * (int64_t)layout.ghost) * padding;
    return layout;
}

/* How far `at` is behind the nearest row before it that a sweep reads, in the lowest bits. */
static int64_t distance(const struct hs_layout *layout, int64_t size, int64_t at)
{
    int64_t nearest = ALIKE;
    for (int row = -layout->ghost; row <= layout->ghost; row++) {
        const int64_t apart = (at - row * layout->pitch[HS_Y] * size) % ALIKE;
        const int64_t behind = apart < 0 ? apart + ALIKE : apart;
        nearest = behind < nearest ? behind : nearest;
    }
    return nearest;
}

/* Sweeps write either field, so the shift has to serve both directions. It is the first that does:
 * half of ALIKE is as good for one thread, but was a tenth slower where two wait for memory. */
size_t hs_cpu_shift(const struct hs_layout *layout, enum hs_precision precision)
{
    const int64_t size = (int64_t)hs_precision_size(precision);
    int64_t best = 0, farthest = 0;
    for (int64_t at = LINE; at < ALIKE && farthest < APART; at += LINE) {
        const int64_t there = distance(layout, size, at), back = distance(layout, size, -at);
        const int64_t nearest = there < back ? there : back;
        if (nearest > farthest)
            farthest = nearest, best = at;
    }
    return (size_t)best;
}

bool hs_cpu_field_create(const struct hs_layout *layout, enum hs_precision precision, int threads,
                         size_t shift, struct hs_cpu_field *out)
{
    const size_t size = hs_precision_size(precision);
    const size_t bytes = (size_t)layout->elements * size;
    void *allocation = hs_cpu_memory_create(bytes + shift, 8 * (size_t)HUGE_PAGE);
    *out = (struct hs_cpu_field){.allocation = allocation};
    if (!allocation)
        return false;
    out->memory = (char *)allocation + shift;
    out->origin = (char *)out->memory + (size_t)layout->origin * size;
    touch(bytes, threads, out->memory);
    return true;
}

void hs_cpu_field_destroy(struct hs_cpu_field *field)
{
    free(field->allocation);
    *field = (struct hs_cpu_field){0};
}
