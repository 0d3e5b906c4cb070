/*
 * HDF5's Fletcher32 checksum, which its filter appends to a chunk, computed in pieces.
 *
 * Source: H5_checksum_fletcher32 in HDF5's H5checksum.c. The bytes are big-endian 16-bit words; an
 * odd last byte is the upper half of a word. Two sums modulo 65535: of the words, and of the
 * partial sums. 0 stands only for all words zero; other multiples of 65535 are written as 65535.
 */
#ifndef HS_CORE_FLETCHER_H
#define HS_CORE_FLETCHER_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. Both sums are modulo 65535 as above, with words in this machine's byte order. */
struct hs_fletcher {
    uint64_t words, sums;
};

/* Appends `bytes` bytes; an odd number only at the end. */
void hs_fletcher_add(struct hs_fletcher *sum, const void *data, size_t bytes);

/* Appends an even number of zero bytes. */
void hs_fletcher_add_zeros(struct hs_fletcher *sum, size_t bytes);

/* Appends a checksum `more` of the next `bytes` bytes, an even number. */
void hs_fletcher_join(struct hs_fletcher *sum, const struct hs_fletcher *more, size_t bytes);

enum { HS_FLETCHER_BYTES = 4 };

/* The checksum as stored in the file: little-endian. */
void hs_fletcher_put(const struct hs_fletcher *sum, unsigned char out[HS_FLETCHER_BYTES]);

#endif
