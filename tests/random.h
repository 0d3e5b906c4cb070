/* Random numbers that are the same on all machines; a test may set `seed`. */
#ifndef HS_TESTS_RANDOM_H
#define HS_TESTS_RANDOM_H

#include <stdint.h>

static uint64_t seed = 1;

/* 0 to count - 1, by Knuth's MMIX generator. */
static inline uint32_t below(uint32_t count)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % count;
}

static inline double between(double lo, double hi)
{
    return lo + (hi - lo) * (double)below(1u << 30) / (double)(1u << 30);
}

#endif
