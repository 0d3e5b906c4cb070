#include "core/stream.h"
#include "engine/backends/cpu_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 * 1024 * 1024 };

double hs_cpu_memory_free(void)
{
    double kilobytes = INFINITY;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024.0;
}

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
    /* large pages spare the address translation misses of a march through planes */
    const bool large = bytes >= large_from;
    void *memory;
    if (posix_memalign(&memory, large ? HUGE_PAGE : 64, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        madvise(memory, bytes, MADV_HUGEPAGE); /* advice: refusal changes only the speed */
#endif
    return memory;
}

bool hs_cpu_field_create(const struct hs_layout *layout, enum hs_precision precision, int threads,
                         struct hs_cpu_field *out)
{
    const size_t size = hs_precision_size(precision);
    const size_t bytes = (size_t)layout->elements * size;
    *out = (struct hs_cpu_field){.memory = hs_cpu_memory_create(bytes, 8 * (size_t)HUGE_PAGE)};
    if (!out->memory)
        return false;
    touch(bytes, threads, out->memory);
    out->origin = (char *)out->memory + (size_t)layout->origin * size;
    return true;
}

void hs_cpu_field_destroy(struct hs_cpu_field *field)
{
    free(field->memory);
    *field = (struct hs_cpu_field){0};
}
