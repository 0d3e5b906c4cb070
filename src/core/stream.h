/*
 * Copies by non-temporal (streaming) stores, for data that is not read again soon. They do not read
 * the line that they overwrite, as ordinary stores do, which saves a third of a copy's traffic.
 */
#ifndef HS_CORE_STREAM_H
#define HS_CORE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HS_STREAM_X86 1
#endif

/* Copies whole cache lines; `to` is at the beginning of a line. The suffix is the bytes per store:
 * wider stores take fewer entries in the store queue. */
static inline void hs_stream_lines_16(char *to, const char *from, size_t bytes)
{
#ifdef HS_STREAM_X86
    for (size_t b = 0; b < bytes; b += 16)
        _mm_stream_si128((__m128i *)(void *)(to + b),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + b)));
#else
    memcpy(to, from, bytes);
#endif
}

#ifdef HS_STREAM_X86
__attribute__((target("avx"))) static inline void hs_stream_lines_32(char *to, const char *from,
                                                                     size_t bytes)
{
    for (size_t b = 0; b < bytes; b += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + b),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + b)));
}

__attribute__((target("avx512f"))) static inline void hs_stream_lines_64(char *to, const char *from,
                                                                         size_t bytes)
{
    for (size_t b = 0; b < bytes; b += 64)
        _mm512_stream_si512((__m512i *)(void *)(to + b),
                            _mm512_loadu_si512((const void *)(from + b)));
}
#endif

static inline void hs_stream_lines(char *to, const char *from, size_t bytes)
{
#ifdef HS_STREAM_X86
    if (__builtin_cpu_supports("avx512f")) {
        hs_stream_lines_64(to, from, bytes);
        return;
    }
    if (__builtin_cpu_supports("avx")) {
        hs_stream_lines_32(to, from, bytes);
        return;
    }
#endif
    hs_stream_lines_16(to, from, bytes);
}

/* Whole lines by non-temporal stores, the ends by ordinary ones; without such stores, memcpy. */
static inline void hs_stream_copy(void *to, const void *from, size_t bytes)
{
    char *out = (char *)to;
    const char *in = (const char *)from;
    const size_t misfit = (64 - ((uintptr_t)out & 63)) & 63;
    const size_t head = misfit < bytes ? misfit : bytes;
    const size_t tail = head + ((bytes - head) & ~(size_t)63);
    memcpy(out, in, head);
    hs_stream_lines(out + head, in + head, tail - head);
    memcpy(out + tail, in + tail, bytes - tail);
}

/* Required after stream copies before another thread reads the result. */
static inline void hs_stream_fence(void)
{
#ifdef HS_STREAM_X86
    _mm_sfence();
#endif
}

#endif
