/* Rows of conduction kernels, for any machine and, on x86-64, for AVX2 with FMA and for AVX-512;
 * which is taken is found when the program runs. */
#include "conduction_rows.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_X86 1
#endif

#ifdef HAS_X86
#define EACH_4(f, at) f(at + 3), f(at + 2), f(at + 1), f(at)
#define EACH_8(f, at) EACH_4(f, at + 4), EACH_4(f, at)

#define ROWS_T double
#define ROWS_V __m512d
#define ROWS_LANES 8
#define ROWS_LOAD(p) _mm512_loadu_pd(p)
#define ROWS_STORE(p, v) _mm512_storeu_pd(p, v)
#define ROWS_STREAM(p, v) _mm512_stream_pd(p, v)
#define ROWS_SET(x) _mm512_set1_pd(x)
#define ROWS_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define ROWS_ADD(a, b) _mm512_add_pd(a, b)
#define ROWS_SUB(a, b) _mm512_sub_pd(a, b)
#define ROWS_EACH(f) _mm512_set_pd(EACH_8(f, 0))
#define ROWS_SELECT(bits, a, b) _mm512_mask_blend_pd((__mmask8)(bits), b, a)
#define ROWS_TARGET __attribute__((target("avx512f,fma")))
#define ROWS_NAME(x) avx512_double_##x
#include "conduction_lines.h"

#define ROWS_T float
#define ROWS_V __m512
#define ROWS_LANES 16
#define ROWS_LOAD(p) _mm512_loadu_ps(p)
#define ROWS_STORE(p, v) _mm512_storeu_ps(p, v)
#define ROWS_STREAM(p, v) _mm512_stream_ps(p, v)
#define ROWS_SET(x) _mm512_set1_ps(x)
#define ROWS_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define ROWS_ADD(a, b) _mm512_add_ps(a, b)
#define ROWS_SUB(a, b) _mm512_sub_ps(a, b)
#define ROWS_EACH(f) _mm512_set_ps(EACH_8(f, 8), EACH_8(f, 0))
#define ROWS_SELECT(bits, a, b) _mm512_mask_blend_ps((__mmask16)(bits), b, a)
#define ROWS_TARGET __attribute__((target("avx512f,fma")))
#define ROWS_NAME(x) avx512_float_##x
#include "conduction_lines.h"

/* Of each lane the first where its bit is set. */
__attribute__((target("avx2,fma"))) HS_INLINE __m256d select_256d(unsigned bits, __m256d a,
                                                                  __m256d b)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), lane);
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane)));
}
__attribute__((target("avx2,fma"))) HS_INLINE __m256 select_256(unsigned bits, __m256 a, __m256 b)
{
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)bits), lane);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane)));
}

#define ROWS_T double
#define ROWS_V __m256d
#define ROWS_LANES 4
#define ROWS_LOAD(p) _mm256_loadu_pd(p)
#define ROWS_STORE(p, v) _mm256_storeu_pd(p, v)
#define ROWS_STREAM(p, v) _mm256_stream_pd(p, v)
#define ROWS_SET(x) _mm256_set1_pd(x)
#define ROWS_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define ROWS_ADD(a, b) _mm256_add_pd(a, b)
#define ROWS_SUB(a, b) _mm256_sub_pd(a, b)
#define ROWS_EACH(f) _mm256_set_pd(EACH_4(f, 0))
#define ROWS_SELECT select_256d
#define ROWS_TARGET __attribute__((target("avx2,fma")))
#define ROWS_NAME(x) avx2_double_##x
#include "conduction_lines.h"

#define ROWS_T float
#define ROWS_V __m256
#define ROWS_LANES 8
#define ROWS_LOAD(p) _mm256_loadu_ps(p)
#define ROWS_STORE(p, v) _mm256_storeu_ps(p, v)
#define ROWS_STREAM(p, v) _mm256_stream_ps(p, v)
#define ROWS_SET(x) _mm256_set1_ps(x)
#define ROWS_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define ROWS_ADD(a, b) _mm256_add_ps(a, b)
#define ROWS_SUB(a, b) _mm256_sub_ps(a, b)
#define ROWS_EACH(f) _mm256_set_ps(EACH_8(f, 0))
#define ROWS_SELECT select_256
#define ROWS_TARGET __attribute__((target("avx2,fma")))
#define ROWS_NAME(x) avx2_float_##x
#include "conduction_lines.h"
#endif

/* Vectors of one value for any machine, with ordinary stores only. Without hardware for it fma() is
 * emulated: slow, and the same bits. */
#define EITHER(bits, a, b) ((bits)&1 ? (a) : (b))

#define ROWS_T double
#define ROWS_V double
#define ROWS_LANES 1
#define ROWS_LOAD(p) (*(p))
#define ROWS_STORE(p, v) (*(p) = (v))
#define ROWS_STREAM(p, v) (*(p) = (v))
#define ROWS_SET(x) (x)
#define ROWS_FMA(a, b, c) fma(a, b, c)
#define ROWS_ADD(a, b) ((a) + (b))
#define ROWS_SUB(a, b) ((a) - (b))
#define ROWS_EACH(f) f(0)
#define ROWS_SELECT EITHER
#define ROWS_TARGET
#define ROWS_NAME(x) baseline_double_##x
#include "conduction_lines.h"

#define ROWS_T float
#define ROWS_V float
#define ROWS_LANES 1
#define ROWS_LOAD(p) (*(p))
#define ROWS_STORE(p, v) (*(p) = (v))
#define ROWS_STREAM(p, v) (*(p) = (v))
#define ROWS_SET(x) (x)
#define ROWS_FMA(a, b, c) fmaf(a, b, c)
#define ROWS_ADD(a, b) ((a) + (b))
#define ROWS_SUB(a, b) ((a) - (b))
#define ROWS_EACH(f) f(0)
#define ROWS_SELECT EITHER
#define ROWS_TARGET
#define ROWS_NAME(x) baseline_float_##x
#include "conduction_lines.h"

void hs_conduction_forget(void *kept)
{
    memset(kept, 0, CONDUCTION_LINE_BYTES);
}

const struct conduction_functions *hs_conduction_functions(enum hs_precision precision)
{
    const bool single = precision == HS_FLOAT;
#ifdef HAS_X86
    if (__builtin_cpu_supports("avx512f"))
        return single ? &avx512_float_functions : &avx512_double_functions;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? &avx2_float_functions : &avx2_double_functions;
#endif
    return single ? &baseline_float_functions : &baseline_double_functions;
}
