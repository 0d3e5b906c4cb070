/*
 * NumPy's .npy files: reads the header, which describes the file's one array of numbers.
 *
 * Format versions 1.0, 2.0 and 3.0; floats of 4 and 8 bytes, integers and booleans of up to 8, in
 * either byte order; in C or Fortran order. Source: NumPy, numpy.lib.format.
 */
#ifndef HS_INPUT_NPY_H
#define HS_INPUT_NPY_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { HS_NPY_MAGIC = 6, HS_NPY_RANK = 32 }; /* bytes; most axes in NumPy before version 2 */

struct hs_npy {
    char kind;       /* 'f' floats, 'i' integers, 'u' unsigned integers, 'b' booleans */
    int width;       /* bytes of a number: 1, 2, 4 or 8 */
    bool big_endian; /* byte order */
    bool fortran;
    int rank;
    int64_t shape[HS_NPY_RANK]; /* in NumPy's order */
    int64_t bytes;              /* size of all numbers */
    int64_t at;                 /* file offset of the first number [bytes] */
};

/* Whether a file that begins with these bytes is a .npy file. */
bool hs_npy_begins(const void *bytes, size_t count);

/* The same for the file at `path`; false if it cannot be read. */
bool hs_npy_is_at(const char *path);

/* Reads the header and checks the file's length against it. Returns HS_BAD_INPUT for arrays of
 * another kind, HS_IO for a file that cannot be read or is damaged, with the reason in `why`. */
enum hs_status hs_npy_read_header(int file, struct hs_npy *out, struct hs_error *why);

#endif
