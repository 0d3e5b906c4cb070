#include "engine/walls/ghost_rows.h"

#include "core/ghost.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86 1
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/*
 * Variants of the row functions for an instruction set. Rows of y and z faces are contiguous:
 * `along` is then the constant 1, and loops are vectorised, since no row reads where ghosts lie.
 */
#define DEFINE_ROWS(ISA, TARGET, T)                                                                \
    TARGET INLINE void ghosts_along_##ISA##_##T(const struct hs_ghost_row *row, int64_t along)     \
    {                                                                                              \
        const T *table = row->table;                                                               \
        const T value = (T)row->value;                                                             \
        for (int m = 1; m <= row->depth; m++) {                                                    \
            const T a = (T)row->rule->a[m - 1], b = (T)row->rule->b[m - 1],                        \
                    c = (T)row->rule->c[m - 1];                                                    \
            const T *edge = row->edge, *inner = edge + m * row->place.inward;                      \
            T *ghost = (T *)row->edge - m * row->place.inward;                                     \
            if (table)                                                                             \
                _Pragma("omp simd") for (int64_t i = 0; i < row->place.length; i++)                \
                    ghost[i * along] =                                                             \
                        hs_ghost_##T(a, inner[i * along], b, edge[i * along], c * table[i]);       \
            else                                                                                   \
                _Pragma("omp simd") for (int64_t i = 0; i < row->place.length; i++)                \
                    ghost[i * along] =                                                             \
                        hs_ghost_##T(a, inner[i * along], b, edge[i * along], c * value);          \
        }                                                                                          \
    }                                                                                              \
    TARGET static void ghosts_##ISA##_##T(const struct hs_ghost_row *row)                          \
    {                                                                                              \
        if (row->place.along == 1)                                                                 \
            ghosts_along_##ISA##_##T(row, 1);                                                      \
        else                                                                                       \
            ghosts_along_##ISA##_##T(row, row->place.along);                                       \
    }

/* The rows that only move values are the same for every instruction set. */
#define DEFINE_MOVES(T)                                                                            \
    static void wrap_##T(const struct hs_ghost_row *row)                                           \
    {                                                                                              \
        for (int m = 1; m <= row->depth; m++) {                                                    \
            T *ghost = (T *)row->edge - m * row->place.inward;                                     \
            const T *other = (const T *)row->edge + (row->place.extent - m) * row->place.inward;   \
            for (int64_t i = 0; i < row->place.length; i++)                                        \
                ghost[i * row->place.along] = other[i * row->place.along];                         \
        }                                                                                          \
    }                                                                                              \
    static void hold_##T(const struct hs_ghost_row *row)                                           \
    {                                                                                              \
        T *edge = row->edge;                                                                       \
        const T *table = row->table;                                                               \
        for (int64_t i = 0; i < row->place.length; i++)                                            \
            edge[i * row->place.along] = table ? table[i] : (T)row->value;                         \
    }
DEFINE_MOVES(float)
DEFINE_MOVES(double)

#define DEFINE_ISA(ISA, TARGET)                                                                    \
    DEFINE_ROWS(ISA, TARGET, float)                                                                \
    DEFINE_ROWS(ISA, TARGET, double)                                                               \
    static hs_ghost_row_function *const rows_##ISA[HS_GHOST_ACTIONS][HS_PRECISIONS] = {            \
        [HS_GHOSTS] = {[HS_FLOAT] = ghosts_##ISA##_float, [HS_DOUBLE] = ghosts_##ISA##_double},    \
        [HS_WRAP] = {[HS_FLOAT] = wrap_float, [HS_DOUBLE] = wrap_double},                          \
        [HS_HOLD] = {[HS_FLOAT] = hold_float, [HS_DOUBLE] = hold_double}};

DEFINE_ISA(baseline, )
#ifdef HAVE_X86
DEFINE_ISA(avx2, __attribute__((target("avx2,fma"))))
#endif

hs_ghost_row_function *hs_ghost_row_find(enum hs_ghost_action action, enum hs_precision precision)
{
#ifdef HAVE_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return rows_avx2[action][precision];
#endif
    return rows_baseline[action][precision];
}
