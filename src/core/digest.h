/* A digest of a text or a file, to find copies that differ by accident. */
#ifndef HS_CORE_DIGEST_H
#define HS_CORE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_digest {
    int64_t bytes; /* -1: the file cannot be read */
    uint64_t crc;
};

struct hs_digest hs_digest_of(const void *data, size_t bytes);

/* For a file above 16 MiB: its size, and 256 blocks of 64 KiB spread from beginning to end. */
struct hs_digest hs_digest_of_file(const char *path);

static inline bool hs_digest_is(struct hs_digest a, struct hs_digest b)
{
    return a.bytes == b.bytes && a.crc == b.crc;
}

#endif
