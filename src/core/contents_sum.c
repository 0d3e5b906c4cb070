#include "core/contents_sum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Source: HDF5 file format specification, version 0 superblock. */
static const unsigned char signature[9] = "\211HDF\r\n\032\n"; /* and the version, 0 */
enum { ROOT_AT = 64 }; /* offset of the root group's header address */

static const char magic[] = "HEATSUM1";
enum { BASE_AT = 8, LENGTH_AT = 16, SUM_AT = 24 };

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

int hs_contents_sum_make(const unsigned char superblock[HS_SUPERBLOCK_BYTES], int64_t base,
                         unsigned char *contents, size_t length)
{
    if (length < HS_CONTENTS_SUM_BYTES ||
        get(superblock + ROOT_AT, 8) != (uint64_t)base + HS_CONTENTS_SUM_BYTES)
        return -1;
    memset(contents, 0, HS_CONTENTS_SUM_BYTES);
    memcpy(contents, magic, BASE_AT);
    put(contents + BASE_AT, (uint64_t)base, 8);
    put(contents + LENGTH_AT, length, 8);
    const uLong sum = crc32_z(crc32_z(0, superblock, HS_SUPERBLOCK_BYTES), contents, length);
    put(contents + SUM_AT, sum, 4);
    return 0;
}

static bool read_at(int file, void *to, size_t bytes, int64_t at)
{
    unsigned char *out = to;
    while (bytes > 0) {
        const ssize_t n = pread(file, out, bytes, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        out += n;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Continues a CRC over `length` bytes of the file. */
static bool add_file(int file, int64_t at, int64_t length, uLong *sum)
{
    unsigned char piece[32768];
    while (length > 0) {
        const size_t bytes = length < (int64_t)sizeof piece ? (size_t)length : sizeof piece;
        if (!read_at(file, piece, bytes, at))
            return false;
        *sum = crc32_z(*sum, piece, bytes);
        at += (int64_t)bytes;
        length -= (int64_t)bytes;
    }
    return true;
}

static enum hs_contents_sum check(int file, const unsigned char *superblock)
{
    unsigned char record[HS_CONTENTS_SUM_BYTES];
    if (memcmp(superblock, signature, sizeof signature) != 0)
        return HS_CONTENTS_SUM_NONE;
    const int64_t base = (int64_t)(get(superblock + ROOT_AT, 8) - sizeof record);
    if (base < HS_SUPERBLOCK_BYTES || !read_at(file, record, sizeof record, base) ||
        memcmp(record, magic, BASE_AT) != 0)
        return HS_CONTENTS_SUM_NONE;
    const int64_t length = (int64_t)get(record + LENGTH_AT, 8);
    const uLong told = (uLong)get(record + SUM_AT, 4);
    put(record + SUM_AT, 0, 4);
    uLong sum = crc32_z(0, superblock, HS_SUPERBLOCK_BYTES);
    sum = crc32_z(sum, record, sizeof record);
    const bool fits =
        get(record + BASE_AT, 8) == (uint64_t)base && length >= (int64_t)sizeof record &&
        add_file(file, base + (int64_t)sizeof record, length - (int64_t)sizeof record, &sum) &&
        sum == told;
    return fits ? HS_CONTENTS_SUM_FITS : HS_CONTENTS_SUM_WRONG;
}

/* A run may be replacing the superblock at the same time. If the check fails and the superblock has
 * changed since, it may have been read during that write, so the check is repeated. */
enum hs_contents_sum hs_contents_sum_check(int file, unsigned char superblock[HS_SUPERBLOCK_BYTES])
{
    unsigned char again[HS_SUPERBLOCK_BYTES];
    enum hs_contents_sum sum;
    do {
        if (!read_at(file, superblock, HS_SUPERBLOCK_BYTES, 0))
            return HS_CONTENTS_SUM_NONE;
        sum = check(file, superblock);
    } while (sum != HS_CONTENTS_SUM_FITS && read_at(file, again, sizeof again, 0) &&
             memcmp(superblock, again, sizeof again) != 0);
    return sum;
}

enum hs_contents_sum hs_contents_sum_of(const char *path)
{
    unsigned char superblock[HS_SUPERBLOCK_BYTES];
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const enum hs_contents_sum sum =
        file < 0 ? HS_CONTENTS_SUM_NONE : hs_contents_sum_check(file, superblock);
    if (file >= 0)
        close(file);
    return sum;
}
