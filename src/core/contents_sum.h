/*
 * The checksum of a table of contents: all of a file of ours that is not a chunk of the field.
 *
 * It lies in a record of 32 bytes in front of the root group's header, where the superblock leads
 * and HDF5 never looks, so that it can be checked before anything in the file is believed:
 *
 *     "HEATSUM1" | base, length (int64) | CRC-32 of superblock and contents, this word as 0 | 0
 *
 * The contents are the `length` bytes from file offset `base` on, of which the record is the first.
 * The chunks have HDF5's own checksum each (core/fletcher.h).
 */
#ifndef HS_CORE_CONTENTS_SUM_H
#define HS_CORE_CONTENTS_SUM_H

#include <stddef.h>
#include <stdint.h>

enum {
    HS_SUPERBLOCK_BYTES = 96,  /* HDF5's version 0 with 8-byte offsets and lengths */
    HS_CONTENTS_SUM_BYTES = 32 /* of the record */
};

/* Makes the record at the beginning of the `length` bytes that will lie at `base`. Not 0 if the
 * superblock does not lead to what comes behind it. */
int hs_contents_sum_make(const unsigned char superblock[HS_SUPERBLOCK_BYTES], int64_t base,
                         unsigned char *contents, size_t length);

enum hs_contents_sum {
    HS_CONTENTS_SUM_FITS,
    HS_CONTENTS_SUM_NONE, /* a file without: of another program, or of an earlier version */
    HS_CONTENTS_SUM_WRONG
};

/* Of an open file, which a run may be writing. The superblock that it is about goes to the third.
 */
enum hs_contents_sum hs_contents_sum_check(int file, unsigned char superblock[HS_SUPERBLOCK_BYTES]);

/* The same of a file's name; NONE, too, where it cannot be opened. */
enum hs_contents_sum hs_contents_sum_of(const char *path);

#endif
