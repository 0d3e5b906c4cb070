/*
 * NumPy's .npy files: what the header says of the one array of numbers in it.
 *
 * Versions 1.0, 2.0 and 3.0 of the format; floats of 4 and 8 bytes, integers and truth values of up
 * to 8, in either order of bytes; in C order or in Fortran's. Source: NumPy, numpy.lib.format.
 */
#ifndef HS_INPUT_NPY_H
#define HS_INPUT_NPY_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { HS_NPY_MAGIC = 6, HS_NPY_RANK = 32 }; /* bytes; most axes that NumPy's arrays had until 2 */

struct hs_npy {
    char kind;       /* 'f' floats, 'i' integers, 'u' unsigned ones, 'b' truth values */
    int width;       /* bytes of a number: 1, 2, 4 or 8 */
    bool big_endian; /* the order of its bytes */
    bool fortran;
    int rank;
    int64_t shape[HS_NPY_RANK]; /* as NumPy tells it */
    int64_t bytes;              /* of all numbers */
    int64_t at;                 /* where they begin [bytes] */
};

/* Whether a file that begins so is one. */
bool hs_npy_begins(const void *bytes, size_t count);

/* The same of a file by its name; false where it cannot be read. */
bool hs_npy_is_at(const char *path);

/* Reads the header, and checks that the file is as long as that says. Else HS_BAD_INPUT for arrays
 * of another kind, HS_IO for what cannot be read or is damaged, and the reason. */
enum hs_status hs_npy_read_header(int file, struct hs_npy *out, struct hs_error *why);

#endif
