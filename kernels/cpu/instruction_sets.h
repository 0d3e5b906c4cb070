/*
 * Includes ROWS_BODY for each instruction set and precision: on x86-64 for AVX-512 and for AVX2
 * with FMA, and for any machine. The body defines a struct ROWS_NAME(functions); ROWS_FUNCTIONS
 * selects the one for the machine that the program runs on. The body is written in terms of
 *
 *     ROWS_T, ROWS_V, ROWS_LANES    a value, a vector of values, how many
 *     ROWS_LOAD(p), ROWS_STORE(p, v), ROWS_SET(x), ROWS_FMA(a, b, c), ROWS_ADD(a, b),
 *     ROWS_SUB(a, b)
 *     ROWS_STREAM(p, v)             a non-temporal store, where there is one
 *     ROWS_STREAM_LINE(to, from)    copies a cache line by such
 *     ROWS_GATHER(f)                the vector of f(0), f(1), ...
 *     ROWS_SELECT(bits, a, b)       in each lane a if its bit is set, else b
 *     ROWS_SHIFT(a, b, n)           the values n points after those of a; b is the vector after a,
 *                                   n is constant. AVX-512 only
 *     ROWS_TOGETHER                 vectors that are summed together: faster so
 *     ROWS_TARGET, ROWS_NAME(x)     attribute of the functions, their names
 */
#ifdef ROWS_BODY

#include "common.h"
#include "core/stream.h"

#include <math.h>

#define ROWS_LANES ((int)(sizeof(ROWS_V) / sizeof(ROWS_T)))
#define ROWS_OF_SET(set, single) ((single) ? &set##_float_functions : &set##_double_functions)

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define EACH_4(f, at) f(at + 3), f(at + 2), f(at + 1), f(at)
#define EACH_8(f, at) EACH_4(f, at + 4), EACH_4(f, at)

#define ROWS_LOAD(p) ROWS_OP(loadu)(p)
#define ROWS_STORE(p, v) ROWS_OP(storeu)(p, v)
#define ROWS_STREAM(p, v) ROWS_OP(stream)(p, v)
#define ROWS_SET(x) ROWS_OP(set1)(x)
#define ROWS_FMA(a, b, c) ROWS_OP(fmadd)(a, b, c)
#define ROWS_ADD(a, b) ROWS_OP(add)(a, b)
#define ROWS_SUB(a, b) ROWS_OP(sub)(a, b)

#define ROWS_TARGET __attribute__((target("avx512f,fma")))
#define ROWS_STREAM_LINE(to, from) hs_stream_lines_64(to, from, 64)
#define ROWS_SELECT(bits, a, b) ROWS_OP(mask_blend)(bits, b, a)
#define ROWS_TOGETHER 1

#define ROWS_T double
#define ROWS_V __m512d
#define ROWS_OP(x) _mm512_##x##_pd
#define ROWS_GATHER(f) _mm512_set_pd(EACH_8(f, 0))
#define ROWS_SHIFT(a, b, n)                                                                        \
    _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(b), _mm512_castpd_si512(a), n))
#define ROWS_NAME(x) avx512_double_##x
#include "instruction_set.h"

#define ROWS_T float
#define ROWS_V __m512
#define ROWS_OP(x) _mm512_##x##_ps
#define ROWS_GATHER(f) _mm512_set_ps(EACH_8(f, 8), EACH_8(f, 0))
#define ROWS_SHIFT(a, b, n)                                                                        \
    _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), n))
#define ROWS_NAME(x) avx512_float_##x
#include "instruction_set.h"

#undef ROWS_TARGET
#undef ROWS_STREAM_LINE
#undef ROWS_SELECT
#undef ROWS_TOGETHER
#define ROWS_TARGET __attribute__((target("avx2,fma")))
#define ROWS_STREAM_LINE(to, from) hs_stream_lines_32(to, from, 64)
#define ROWS_SELECT(bits, a, b) ROWS_NAME(select)(bits, a, b)
#define ROWS_TOGETHER 2

ROWS_TARGET HS_INLINE __m256d avx2_double_select(unsigned bits, __m256d a, __m256d b)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), lane);
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane)));
}

ROWS_TARGET HS_INLINE __m256 avx2_float_select(unsigned bits, __m256 a, __m256 b)
{
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)bits), lane);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane)));
}

#define ROWS_T double
#define ROWS_V __m256d
#define ROWS_OP(x) _mm256_##x##_pd
#define ROWS_GATHER(f) _mm256_set_pd(EACH_4(f, 0))
#define ROWS_NAME(x) avx2_double_##x
#include "instruction_set.h"

#define ROWS_T float
#define ROWS_V __m256
#define ROWS_OP(x) _mm256_##x##_ps
#define ROWS_GATHER(f) _mm256_set_ps(EACH_8(f, 0))
#define ROWS_NAME(x) avx2_float_##x
#include "instruction_set.h"

#undef ROWS_LOAD
#undef ROWS_STORE
#undef ROWS_STREAM
#undef ROWS_SET
#undef ROWS_FMA
#undef ROWS_ADD
#undef ROWS_SUB
#undef ROWS_TARGET
#undef ROWS_STREAM_LINE
#undef ROWS_SELECT
#undef ROWS_TOGETHER

#define ROWS_FUNCTIONS(single)                                                                     \
    (__builtin_cpu_supports("avx512f") ? ROWS_OF_SET(avx512, single)                               \
     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")                             \
         ? ROWS_OF_SET(avx2, single)                                                               \
         : ROWS_OF_SET(baseline, single))
#else
#define ROWS_FUNCTIONS(single) ROWS_OF_SET(baseline, single)
#endif

/* Vectors of one value for any machine, with ordinary stores only. Without hardware for it fma() is
 * emulated: slowly, but with the same bits. */
#define ROWS_LOAD(p) (*(p))
#define ROWS_STORE(p, v) (*(p) = (v))
#define ROWS_STREAM ROWS_STORE
#define ROWS_SET(x) (x)
#define ROWS_ADD(a, b) ((a) + (b))
#define ROWS_SUB(a, b) ((a) - (b))
#define ROWS_TARGET
#define ROWS_STREAM_LINE(to, from) hs_stream_lines_16(to, from, 64)
#define ROWS_SELECT(bits, a, b) ((bits)&1 ? (a) : (b))
#define ROWS_TOGETHER 1

#define ROWS_T double
#define ROWS_V double
#define ROWS_FMA(a, b, c) fma(a, b, c)
#define ROWS_GATHER(f) f(0)
#define ROWS_NAME(x) baseline_double_##x
#include "instruction_set.h"

#undef ROWS_FMA
#define ROWS_T float
#define ROWS_V float
#define ROWS_FMA(a, b, c) fmaf(a, b, c)
#define ROWS_GATHER(f) f(0)
#define ROWS_NAME(x) baseline_float_##x
#include "instruction_set.h"

#endif
