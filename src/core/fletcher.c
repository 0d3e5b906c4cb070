#include "core/fletcher.h"

#include <string.h>

/*
 * The words are summed in this machine's byte order: swapping a word's bytes multiplies it by 256
 * modulo 65535, so that is done at the end. They are summed in independent lanes, which compilers
 * turn into vector instructions. For ROWS rows of LANES words w, let a[l] be the sum of lane l and
 * b[l] the sum of its partial sums. Each word counts in the second sum as often as the number of
 * words from it to the end:
 *
 *     sum over r, l of ((ROWS - r) * LANES - l) * w[r][l] = LANES * sum b[l] - sum l * a[l]
 *
 * A lane's b stays below 2^32 as long as ROWS * (ROWS + 1) / 2 * 65535 does.
 */
enum { LANES = 8, ROWS = 360 };

/* Modulo 65535, with 65535 for multiples other than 0. */
static uint64_t reduce(uint64_t n)
{
    return n ? (n - 1) % 65535 + 1 : 0;
}

static void append(struct hs_fletcher *sum, uint64_t words, uint64_t sums, uint64_t count)
{
    sum->sums = reduce(sum->sums + count % 65535 * sum->words + sums);
    sum->words = reduce(sum->words + words);
}

static void add_rows(struct hs_fletcher *sum, const unsigned char *from, size_t rows)
{
    uint32_t a[LANES] = {0}, b[LANES] = {0};
    for (size_t r = 0; r < rows; r++) {
        uint16_t w[LANES];
        memcpy(w, from + r * sizeof w, sizeof w);
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            a[l] += w[l];
            b[l] += a[l];
        }
    }
    uint64_t words = 0, sums = 0;
    for (int l = 0; l < LANES; l++) {
        words += a[l];
        sums += (uint64_t)LANES * b[l] - (uint64_t)l * a[l];
    }
    append(sum, words, sums, rows * LANES);
}

void hs_fletcher_add(struct hs_fletcher *sum, const void *data, size_t bytes)
{
    const size_t row = LANES * sizeof(uint16_t);
    const unsigned char *from = data;
    while (bytes >= row) {
        const size_t rows = bytes / row < ROWS ? bytes / row : ROWS;
        add_rows(sum, from, rows);
        from += rows * row;
        bytes -= rows * row;
    }
    for (; bytes > 0; bytes -= bytes > 1 ? 2 : 1) {
        unsigned char pair[2] = {from[0], bytes > 1 ? from[1] : 0};
        uint16_t word;
        memcpy(&word, pair, sizeof word);
        append(sum, word, word, 1);
        from += sizeof word;
    }
}

void hs_fletcher_add_zeros(struct hs_fletcher *sum, size_t bytes)
{
    append(sum, 0, 0, bytes / 2);
}

void hs_fletcher_join(struct hs_fletcher *sum, const struct hs_fletcher *more, size_t bytes)
{
    append(sum, more->words, more->sums, bytes / 2);
}

void hs_fletcher_put(const struct hs_fletcher *sum, unsigned char out[HS_FLETCHER_BYTES])
{
    const uint16_t one = 1;
    const int swapped = *(const unsigned char *)&one; /* else the words were big-endian already */
    const uint64_t words = reduce(sum->words * (swapped ? 256 : 1));
    const uint64_t sums = reduce(sum->sums * (swapped ? 256 : 1));
    out[0] = (unsigned char)words;
    out[1] = (unsigned char)(words >> 8);
    out[2] = (unsigned char)sums;
    out[3] = (unsigned char)(sums >> 8);
}
