/*
 * The checksum of a file's table of contents: everything in an output file but chunks of the field.
 *
 * A record of 32 bytes right before the root group's header, to which the superblock points, holds
 * it. HDF5 never reads the record, so the file can be checked before anything in it is trusted:
 *
 *     "HEATSUM1" | base, length (int64) | CRC-32 of superblock and contents, this word as 0 | 0
 *
 * The contents are the `length` bytes from file offset `base` on and begin with the record. Each
 * chunk has HDF5's own checksum (core/fletcher.h).
 */
#ifndef HS_CORE_CONTENTS_SUM_H
#define HS_CORE_CONTENTS_SUM_H

#include <stddef.h>
#include <stdint.h>

enum {
    HS_SUPERBLOCK_BYTES = 96,  /* HDF5's version 0 with 8-byte offsets and lengths */
    HS_CONTENTS_SUM_BYTES = 32 /* size of the record */
};

/* Writes the record at the beginning of the `length` bytes that will be stored at `base`. Not 0 if
 * the superblock does not point to what follows the record. */
int hs_contents_sum_make(const unsigned char superblock[HS_SUPERBLOCK_BYTES], int64_t base,
                         unsigned char *contents, size_t length);

enum hs_contents_sum {
    HS_CONTENTS_SUM_FITS,
    HS_CONTENTS_SUM_NONE, /* no record: another program's file, or an earlier version's */
    HS_CONTENTS_SUM_WRONG
};

/* Checks an open file, which a run may be writing. `superblock` gets the one that was checked. */
enum hs_contents_sum hs_contents_sum_check(int file, unsigned char superblock[HS_SUPERBLOCK_BYTES]);

/* The same for a file's path; also NONE if it cannot be opened. */
enum hs_contents_sum hs_contents_sum_of(const char *path);

#endif
