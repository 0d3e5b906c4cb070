/* What the CPU kernels share: the contract, forcing inlining, prefetches, periodic axes,
 * coefficients, pieces. */
#ifndef HS_KERNELS_CPU_COMMON_H
#define HS_KERNELS_CPU_COMMON_H

#include "core/kernel.h"
#include "core/round.h"

#if defined(__GNUC__)
#define HS_INLINE static inline __attribute__((always_inline))
#else
#define HS_INLINE static inline
#endif

enum {
    LINE_BYTES = 64,
    CACHE_BYTES = 16 * 1024 * 1024 /* fields that fit in this much last-level cache stay there */
};

/* A condition that seldom holds: what it guards takes no registers from the rest. */
#ifdef __GNUC__
#define SELDOM(x) __builtin_expect(x, 0)
#else
#define SELDOM(x) (x)
#endif

/* Keeps x in a register. Otherwise the compiler would keep an address for each load of a row, and
 * there are more loads than registers. */
#ifdef __GNUC__
#define AS_IT_IS(x) __asm__("" : "+r"(x))
#else
#define AS_IT_IS(x) (void)(x)
#endif

/* Prefetches a line: into L2 if it is read much later, as L1 cannot hold so much; or into L1. */
HS_INLINE void prefetch_l2(const void *line)
{
#ifdef __GNUC__
    __builtin_prefetch(line, 0, 2);
#else
    (void)line;
#endif
}

HS_INLINE void prefetch_l1(const void *line)
{
#ifdef __GNUC__
    __builtin_prefetch(line, 0, 3);
#else
    (void)line;
#endif
}

/* Node i of a periodic axis, or of another one if i is inside it. */
HS_INLINE int64_t wrapped(int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i; /* a division takes as long as twenty additions */
    i %= n;
    return i < 0 ? i + n : i;
}

/* The coefficients in the order of the additions, in the sweep's precision. */
static inline void take_coefficients(const struct hs_sweep *s, void *to)
{
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&s->op->stencil, terms);
    for (int n = 0; n < count; n++)
        hs_write(s->precision, to, n, terms[n].c);
}

/* A bit for each of `count` values, set from `from` to `to`, which may lie outside. */
static inline unsigned bits_between(int64_t from, int64_t to, int64_t count)
{
    const int64_t lo = hs_larger(from, 0), hi = hs_smaller(to, count);
    return hi > lo ? (1u << hi) - (1u << lo) : 0;
}

/* Piece `number` of a box that is cut into `pieces` along each axis: x fastest, z slowest, so that
 * consecutive pieces share a slab. Along x it is cut at multiples of `line` from its begin. */
static inline struct hs_box piece_of(const struct hs_box *box, const int64_t pieces[HS_AXES],
                                     int64_t line, int64_t number)
{
    struct hs_box out = *box;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t lo = box->lo[axis], n = box->hi[axis] - lo, unit = axis == HS_X ? line : 1;
        const int64_t units = hs_divide_up(n, unit), piece = number % pieces[axis];
        number /= pieces[axis];
        out.lo[axis] = lo + hs_smaller(units * piece / pieces[axis] * unit, n);
        out.hi[axis] = lo + hs_smaller(units * (piece + 1) / pieces[axis] * unit, n);
    }
    return out;
}

#endif
