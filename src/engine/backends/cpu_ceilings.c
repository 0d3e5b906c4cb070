/* The processor's peak: fused multiply-adds by all threads at once. */
#include "engine/backends/cpu_parts.h"

#include "core/clock.h"

#include <math.h>
#include <omp.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

enum {
    CHAINS = 10,      /* independent sums: two units with four clocks of latency, some to spare */
    LENGTH = 1 << 20, /* multiply-adds of each */
    SAMPLES = 9,      /* of which the fastest counts: a ceiling is what was reached once */
};

/* Multiply-adds of vectors, written out so that the sums are in registers however the compiler
 * treats loops; it cannot leave them out, since one is returned. */
#define CHAINS_OF(name, attributes, vector, set, fma, number, lanes, store)                        \
    attributes static double name(void)                                                            \
    {                                                                                              \
        const vector f = set((number)0.5);                                                         \
        vector a = f, b = f, c = f, d = f, e = f, g = f, h = f, k = f, l = f, m = f;               \
        for (int i = 0; i < LENGTH; i++) {                                                         \
            a = fma(a, f, f), b = fma(b, f, f), c = fma(c, f, f), d = fma(d, f, f);                \
            e = fma(e, f, f), g = fma(g, f, f), h = fma(h, f, f), k = fma(k, f, f);                \
            l = fma(l, f, f), m = fma(m, f, f);                                                    \
            KEEP(a, b, c, d, e);                                                                   \
            KEEP(g, h, k, l, m);                                                                   \
        }                                                                                          \
        number all[lanes];                                                                         \
        store(all, a);                                                                             \
        return (double)all[0];                                                                     \
    }

/* Tells the compiler that registers may have changed: else it would compute equal sums once. */
#if defined(HAVE_X86)
#define KEEP(a, b, c, d, e) __asm__("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e))
#elif defined(__aarch64__)
#define KEEP(a, b, c, d, e) __asm__("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d), "+w"(e))
#else
#define KEEP(a, b, c, d, e) __asm__("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d), "+m"(e))
#endif

#define SAME(x) (x)
#define PUT(to, from) ((to)[0] = (from))
CHAINS_OF(plain_float, , float, SAME, fmaf, float, 1, PUT)
CHAINS_OF(plain_double, , double, SAME, fma, double, 1, PUT)
#ifdef HAVE_X86
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
CHAINS_OF(avx2_float, AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps, float, 8, _mm256_storeu_ps)
CHAINS_OF(avx2_double, AVX2, __m256d, _mm256_set1_pd, _mm256_fmadd_pd, double, 4, _mm256_storeu_pd)
CHAINS_OF(avx512_float, AVX512, __m512, _mm512_set1_ps, _mm512_fmadd_ps, float, 16,
          _mm512_storeu_ps)
CHAINS_OF(avx512_double, AVX512, __m512d, _mm512_set1_pd, _mm512_fmadd_pd, double, 8,
          _mm512_storeu_pd)
#endif

struct probe {
    double (*run)(void);
    int lanes;
};

static struct probe choose(enum hs_precision precision)
{
    const bool single = precision == HS_FLOAT;
#ifdef HAVE_X86
    if (__builtin_cpu_supports("avx512f"))
        return single ? (struct probe){avx512_float, 16} : (struct probe){avx512_double, 8};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? (struct probe){avx2_float, 8} : (struct probe){avx2_double, 4};
#endif
    return single ? (struct probe){plain_float, 1} : (struct probe){plain_double, 1};
}

enum hs_status hs_cpu_ceilings(int device, int threads, enum hs_precision precision,
                               struct hs_ceilings *out, struct hs_error *err)
{
    (void)device, (void)err;
    const struct probe probe = choose(precision);
    const int used = threads > 0 ? threads : omp_get_max_threads();
    double fastest = INFINITY, all = 0.0;
    for (int n = 0; n < SAMPLES; n++) {
        const double start = hs_clock_now();
#pragma omp parallel num_threads(used) reduction(+ : all)
        all += probe.run();
        fastest = fmin(fastest, hs_clock_now() - start);
    }
    const double done = 2.0 * probe.lanes * CHAINS * LENGTH * used;
    *out = (struct hs_ceilings){.flops = isfinite(all) ? done / fastest : 0.0};
    return HS_OK;
}
