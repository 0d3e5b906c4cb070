/*
 * HDF5's Fletcher32 checksum, in pieces: what its filter appends to a chunk.
 *
 * Source: H5_checksum_fletcher32 in HDF5's H5checksum.c. The bytes are taken as big-endian words of
 * 16 bits, an odd last byte as the upper half of one; two sums of them, the words and the sums so
 * far, go modulo 65535, where 0 stands for nothing but zeros and 65535 for other multiples.
 */
#ifndef HS_CORE_FLETCHER_H
#define HS_CORE_FLETCHER_H

#include <stddef.h>
#include <stdint.h>

/* {0} to begin. Both modulo 65535 as above, of words in the byte order of this machine. */
struct hs_fletcher {
    uint64_t words, sums;
};

/* `bytes` more; an odd number only at the end. */
void hs_fletcher_add(struct hs_fletcher *sum, const void *data, size_t bytes);

/* As many zeros more, an even number. */
void hs_fletcher_add_zeros(struct hs_fletcher *sum, size_t bytes);

/* What follows: the sum of `bytes` more, an even number. */
void hs_fletcher_join(struct hs_fletcher *sum, const struct hs_fletcher *more, size_t bytes);

enum { HS_FLETCHER_BYTES = 4 };

/* As they lie in the file: little-endian. */
void hs_fletcher_put(const struct hs_fletcher *sum, unsigned char out[HS_FLETCHER_BYTES]);

#endif
