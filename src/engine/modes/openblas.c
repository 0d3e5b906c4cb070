#include "engine/modes/openblas.h"

#include "core/library.h"
#include "core/memory.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

static const char file[] = "libopenblas.so.0";

static const char *load(struct hs_openblas *out, void *library)
{
    const struct hs_symbol symbols[] = {
        {"cblas_dgemm", &out->cblas_dgemm},
        {"dstevd_", &out->dstevd_},
        {"dsyevd_", &out->dsyevd_},
        {"dgeev_", &out->dgeev_},
        {"dgetrf_", &out->dgetrf_},
        {"dgetri_", &out->dgetri_},
        {"openblas_set_num_threads", &out->openblas_set_num_threads},
    };
    return hs_library_find(library, symbols, sizeof symbols / sizeof *symbols);
}

/* OpenBLAS takes a buffer for each thread when that first computes, and keeps it; without room
 * (ulimit -v) it tries for ever. Buffers are address space, mostly never touched. */
static enum hs_status check_room(int threads, struct hs_error *err)
{
    static const size_t buffer = (size_t)130 << 20;
    const size_t bytes = (size_t)threads * buffer;
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return hs_error_add(err, HS_DEVICE,
                            "not enough memory: OpenBLAS needs %zu MiB of address space; raise the "
                            "limit (ulimit -v), give fewer solver.threads, or take another method",
                            bytes >> 20);
    munmap(room, bytes);
    return HS_OK;
}

/* With one thread: OpenBLAS would otherwise create as many as the machine has, and each takes a
 * buffer when it gets to that. And without a heap for each further thread, which takes 64 MiB of
 * address space and might be created after the check for room. */
static void *open_library(void)
{
    mallopt(M_ARENA_MAX, 1);
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    const bool own = !getenv(variable);
    if (own)
        setenv(variable, "1", 0);
    void *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (own)
        unsetenv(variable);
    return opened;
}

enum hs_status hs_openblas_find(const struct hs_openblas **out, struct hs_error *err)
{
    static struct hs_openblas loaded;
    static void *library;
    *out = &loaded;
    if (library)
        return HS_OK;
    void *opened = open_library();
    if (!opened && check_room(1, err))
        return HS_DEVICE;
    if (!opened)
        return hs_error_add(err, HS_BAD_INPUT,
                            "it needs OpenBLAS, which cannot be opened (%s); install Debian's "
                            "libopenblas0, or name its directory in LD_LIBRARY_PATH",
                            dlerror());
    const char *lacking = load(&loaded, opened);
    if (lacking) {
        dlclose(opened);
        return hs_error_add(err, HS_BAD_INPUT,
                            "it needs OpenBLAS with LAPACK, and %s has no %s; install Debian's "
                            "libopenblas0",
                            file, lacking);
    }
    library = opened;
    return HS_OK;
}

/* Takes the buffers before others take the room: by a product large enough for all threads. */
static void take_buffers(const struct hs_openblas *blas)
{
    enum { N = 128 };
    double *zero = hs_new(2 * N * N * sizeof *zero);
    hs_openblas_product(blas, N, N, N, 1.0, zero, zero, 0.0, zero + N * N);
    free(zero);
}

enum hs_status hs_openblas_use_threads(const struct hs_openblas *blas, int threads,
                                       struct hs_error *err)
{
    static int now, most;
    if (threads > most && check_room(threads, err))
        return HS_DEVICE;
    if (threads != now)
        blas->openblas_set_num_threads(threads);
    now = threads;
    if (threads > most)
        take_buffers(blas);
    most = threads > most ? threads : most;
    return HS_OK;
}

void hs_openblas_product(const struct hs_openblas *blas, int64_t m, int64_t n, int64_t k,
                         double factor, const double *a, const double *b, double keep, double *out)
{
    blas->cblas_dgemm(HS_BLAS_BY_ROWS, HS_BLAS_AS_IT_IS, HS_BLAS_AS_IT_IS, (int)m, (int)n, (int)k,
                      factor, a, (int)k, b, (int)n, keep, out, (int)n);
}
