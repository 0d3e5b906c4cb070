/*
 * Copies past the cache, for data that is not read again soon: an ordinary store first reads the
 * line that it is about to overwrite, a non-temporal one does not, which saves a third of the
 * traffic of a copy.
 */
#ifndef HS_CORE_STREAM_H
#define HS_CORE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <emmintrin.h>
#define HS_STREAM_X86 1
#endif

/* Whole lines by non-temporal stores, the ends by ordinary ones; where there are none, memcpy. */
static inline void hs_stream_copy(void *to, const void *from, size_t bytes)
{
#ifdef HS_STREAM_X86
    char *out = (char *)to;
    const char *in = (const char *)from;
    const size_t misfit = (64 - ((uintptr_t)out & 63)) & 63;
    const size_t head = misfit < bytes ? misfit : bytes;
    const size_t tail = head + ((bytes - head) & ~(size_t)63);
    memcpy(out, in, head);
    for (size_t b = head; b < tail; b += 16)
        _mm_stream_si128((__m128i *)(void *)(out + b),
                         _mm_loadu_si128((const __m128i *)(const void *)(in + b)));
    memcpy(out + tail, in + tail, bytes - tail);
#else
    memcpy(to, from, bytes);
#endif
}

/* After stream copies, before another thread reads what they wrote. */
static inline void hs_stream_fence(void)
{
#ifdef HS_STREAM_X86
    _mm_sfence();
#endif
}

#endif
