#include "engine/openblas.h"

#include <dlfcn.h>
#include <string.h>

static const char file[] = "libopenblas.so.0";

struct symbol {
    const char *name;
    void *place; /* of the pointer */
};

static const char *load(struct hs_openblas *out, void *library)
{
    const struct symbol symbols[] = {
        {"cblas_dgemm", &out->cblas_dgemm},
        {"dstevd_", &out->dstevd_},
        {"dsyevd_", &out->dsyevd_},
        {"dgeev_", &out->dgeev_},
        {"dgetrf_", &out->dgetrf_},
        {"dgetri_", &out->dgetri_},
        {"openblas_set_num_threads", &out->openblas_set_num_threads},
    };
    for (size_t n = 0; n < sizeof symbols / sizeof *symbols; n++) {
        void *found = dlsym(library, symbols[n].name);
        if (!found)
            return symbols[n].name;
        memcpy(symbols[n].place, &found, sizeof found); /* ISO C has no such cast */
    }
    return NULL;
}

enum hs_status hs_openblas_find(const struct hs_openblas **out, struct hs_error *err)
{
    static struct hs_openblas loaded;
    static void *library;
    *out = &loaded;
    if (library)
        return HS_OK;
    void *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
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

void hs_openblas_use_threads(const struct hs_openblas *blas, int threads)
{
    static int now;
    if (threads != now)
        blas->openblas_set_num_threads(threads);
    now = threads;
}

void hs_openblas_product(const struct hs_openblas *blas, int64_t m, int64_t n, int64_t k,
                         double factor, const double *a, const double *b, double keep, double *out)
{
    blas->cblas_dgemm(HS_BLAS_BY_ROWS, HS_BLAS_AS_IT_IS, HS_BLAS_AS_IT_IS, (int)m, (int)n, (int)k,
                      factor, a, (int)k, b, (int)n, keep, out, (int)n);
}
