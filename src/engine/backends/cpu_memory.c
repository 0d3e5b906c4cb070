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

/* Elements in slabs of the outermost axis, as the kernels cut it. */
static void touch(const struct hs_layout *layout, size_t size, int threads, char *memory)
{
    const size_t bytes = (size_t)layout->elements * size;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        const size_t from = bytes / (size_t)threads * (size_t)part;
        const size_t to = part == threads - 1 ? bytes : from + bytes / (size_t)threads;
        memset(memory + from, 0, to - from);
    }
}

bool hs_cpu_field_create(const struct hs_layout *layout, enum hs_precision precision, int threads,
                         struct hs_cpu_field *out)
{
    const size_t size = hs_precision_size(precision);
    const size_t bytes = (size_t)layout->elements * size;
    /* large pages spare the address translation misses of a march through planes */
    const size_t align = bytes >= 8 * (size_t)HUGE_PAGE ? HUGE_PAGE : 64;
    *out = (struct hs_cpu_field){0};
    if (posix_memalign(&out->memory, align, bytes) != 0) {
        out->memory = NULL;
        return false;
    }
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE)
        madvise(out->memory, bytes, MADV_HUGEPAGE); /* advice: refusal changes only the speed */
#endif
    touch(layout, size, threads, out->memory);
    out->origin = (char *)out->memory + (size_t)layout->origin * size;
    return true;
}

void hs_cpu_field_destroy(struct hs_cpu_field *field)
{
    free(field->memory);
    *field = (struct hs_cpu_field){0};
}
