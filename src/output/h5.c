#include "output/h5.h"

#include "core/memory.h"
#include "core/regular.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hid_t hs_h5_made(struct hs_h5 *h5, hid_t id, const char *what)
{
    if (id < 0 && !h5->failed)
        h5->failed = what;
    return id;
}

void hs_h5_quiet(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hs_h5_close(hid_t id)
{
    if (id >= 0)
        H5Idec_ref(id);
}

hid_t hs_h5_group(struct hs_h5 *h5, hid_t at, const char *name)
{
    return h5->failed
               ? H5I_INVALID_HID
               : hs_h5_made(h5, H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
}

hid_t hs_h5_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t rows, const double *values,
                   enum hs_h5_kind kind)
{
    if (h5->failed)
        return H5I_INVALID_HID;
    const hsize_t length = (hsize_t)rows, most = kind == HS_H5_FIXED ? length : H5S_UNLIMITED;
    const hsize_t chunk = rows > 0 ? length : 1;
    const hid_t space = hs_h5_made(h5, H5Screate_simple(1, &length, &most), name);
    const hid_t form = hs_h5_made(h5, H5Pcreate(H5P_DATASET_CREATE), name);
    const hid_t link = hs_h5_made(h5, H5Pcreate(H5P_LINK_CREATE), name);
    hs_h5_made(h5, H5Pset_create_intermediate_group(link, 1), name);
    if (kind != HS_H5_FIXED)
        hs_h5_made(h5, H5Pset_chunk(form, 1, &chunk), name);
    const hid_t set =
        hs_h5_made(h5,
                   H5Dcreate2(at, name, kind == HS_H5_WHOLE ? H5T_STD_I64LE : H5T_IEEE_F64LE, space,
                              link, form, H5P_DEFAULT),
                   name);
    if (rows > 0)
        hs_h5_made(h5, H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                   name);
    hs_h5_close(link);
    hs_h5_close(form);
    hs_h5_close(space);
    return set;
}

hid_t hs_h5_axis(struct hs_h5 *h5, hid_t at, const char *name, const struct hs_grid *grid, int axis)
{
    const int64_t count = grid->points[axis];
    double *values = hs_new((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = hs_grid_coordinate(grid, axis, i);
    const hid_t set = hs_h5_column(h5, at, name, count, values, HS_H5_FIXED);
    free(values);
    return set;
}

/* Scalar if `count` is 0. */
void hs_h5_array(struct hs_h5 *h5, hid_t at, const char *name, hid_t memory, hid_t type,
                 int64_t count, const void *values)
{
    if (h5->failed)
        return;
    const hsize_t length = (hsize_t)count;
    const hid_t space = hs_h5_made(
        h5, count > 0 ? H5Screate_simple(1, &length, NULL) : H5Screate(H5S_SCALAR), name);
    const hid_t set =
        hs_h5_made(h5, H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name);
    hs_h5_made(h5, H5Awrite(set, memory, values), name);
    hs_h5_close(set);
    hs_h5_close(space);
}

/* Variable-length strings: HDF5 stores them outside the header, which is limited to 64 KiB. */
void hs_h5_text(struct hs_h5 *h5, hid_t at, const char *name, const char *text)
{
    if (h5->failed)
        return;
    const char *value = text ? text : "";
    const hid_t type = hs_h5_made(h5, H5Tcopy(H5T_C_S1), name);
    hs_h5_made(h5, H5Tset_size(type, H5T_VARIABLE), name);
    hs_h5_made(h5, H5Tset_cset(type, H5T_CSET_UTF8), name);
    hs_h5_array(h5, at, name, type, type, 0, &value);
    hs_h5_close(type);
}

void hs_h5_numbers(struct hs_h5 *h5, hid_t at, const char *name, int64_t count,
                   const double *values)
{
    hs_h5_array(h5, at, name, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, count, values);
}

void hs_h5_number(struct hs_h5 *h5, hid_t at, const char *name, double value)
{
    hs_h5_numbers(h5, at, name, 0, &value);
}

void hs_h5_whole(struct hs_h5 *h5, hid_t at, const char *name, int64_t value)
{
    hs_h5_array(h5, at, name, H5T_NATIVE_INT64, H5T_STD_I64LE, 0, &value);
}

/* ---- reading ------------------------------------------------------------------------------- */

hid_t hs_h5_open_unlocked(const char *path)
{
    hs_h5_quiet();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0)
        H5Pset_file_locking(access, 0, 1);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    hs_h5_close(access);
    return file;
}

/* Opens exactly the contents that were checked: retries if a run commits others in between. */
static hid_t open_checked(const char *path, int descriptor, enum hs_contents_sum *sum)
{
    unsigned char checked[HS_SUPERBLOCK_BYTES], read[HS_SUPERBLOCK_BYTES];
    for (;;) {
        *sum = hs_contents_sum_check(descriptor, checked);
        if (*sum == HS_CONTENTS_SUM_WRONG)
            return H5I_INVALID_HID;
        const hid_t file = hs_h5_open_unlocked(path);
        if (file < 0 || *sum == HS_CONTENTS_SUM_NONE ||
            (pread(descriptor, read, sizeof read, 0) == sizeof read &&
             !memcmp(checked, read, sizeof read)))
            return file;
        hs_h5_close(file);
    }
}

hid_t hs_h5_open(struct hs_h5 *h5, const char *path, enum hs_contents_sum *sum)
{
    *sum = HS_CONTENTS_SUM_NONE;
    const char *why;
    hs_h5_quiet(); /* for what the caller asks of a file that is not opened, too */
    const int descriptor = hs_regular_open(path, false, &why);
    const hid_t file = descriptor < 0 ? H5I_INVALID_HID : open_checked(path, descriptor, sum);
    if (descriptor >= 0)
        close(descriptor);
    return hs_h5_made(h5, file,
                      *sum == HS_CONTENTS_SUM_WRONG
                          ? "its table of contents, which is damaged or was changed by another "
                            "program: its checksum does not match"
                      : descriptor >= 0 ? "the file, which is damaged or not an HDF5 file"
                                        : "the file, or there is none");
}

static hid_t open_attribute(struct hs_h5 *h5, hid_t file, const char *name)
{
    return h5->failed ? H5I_INVALID_HID : hs_h5_made(h5, H5Aopen(file, name, H5P_DEFAULT), name);
}

/* Whether the attribute is a single value of this class. In a foreign file it may be anything, and
 * larger than the caller's buffer. */
static bool is_one(hid_t set, H5T_class_t class)
{
    const hid_t type = H5Aget_type(set), space = H5Aget_space(set);
    const bool one = type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                     H5Tget_class(type) == class &&
                     (class != H5T_STRING || H5Tis_variable_str(type) > 0);
    hs_h5_close(type);
    hs_h5_close(space);
    return one;
}

static void read_scalar(struct hs_h5 *h5, hid_t file, const char *name, hid_t type, void *value)
{
    const hid_t set = open_attribute(h5, file, name);
    hs_h5_made(h5, is_one(set, H5Tget_class(type)) ? H5Aread(set, type, value) : -1, name);
    hs_h5_close(set);
}

int64_t hs_h5_read_whole(struct hs_h5 *h5, hid_t file, const char *name)
{
    int64_t value = 0;
    read_scalar(h5, file, name, H5T_NATIVE_INT64, &value);
    return value;
}

double hs_h5_read_number(struct hs_h5 *h5, hid_t file, const char *name)
{
    double value = 0.0;
    read_scalar(h5, file, name, H5T_NATIVE_DOUBLE, &value);
    return value;
}

char *hs_h5_read_text(struct hs_h5 *h5, hid_t file, const char *name)
{
    char *value = NULL;
    const hid_t set = open_attribute(h5, file, name);
    const hid_t type = hs_h5_made(h5, H5Aget_type(set), name);
    hs_h5_made(h5, is_one(set, H5T_STRING) ? H5Aread(set, type, &value) : -1, name);
    hs_h5_close(type);
    hs_h5_close(set);
    char *copy = value ? strdup(value) : NULL;
    H5free_memory(value);
    return copy;
}

double *hs_h5_read_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t *rows)
{
    *rows = 0;
    if (h5->failed)
        return NULL;
    const hid_t set = hs_h5_made(h5, H5Dopen2(at, name, H5P_DEFAULT), name);
    const hid_t space = hs_h5_made(h5, H5Dget_space(set), name);
    const hssize_t length = H5Sget_simple_extent_npoints(space);
    double *values = length < 0 ? NULL : malloc((size_t)(length + 1) * sizeof *values);
    hs_h5_made(h5, values ? 0 : -1, name);
    if (!h5->failed && length > 0)
        hs_h5_made(h5, H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                   name);
    hs_h5_close(space);
    hs_h5_close(set);
    if (h5->failed) {
        free(values);
        return NULL;
    }
    *rows = (int64_t)length;
    return values;
}

void hs_h5_read_block(struct hs_h5 *h5, hid_t at, const char *name, int rank, const hsize_t *first,
                      const hsize_t *count, hid_t type, void *out)
{
    if (h5->failed)
        return;
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT), there = H5Dget_space(set),
                here = H5Screate_simple(rank, count, NULL);
    if (H5Sget_simple_extent_ndims(there) != rank ||
        H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL) < 0 ||
        H5Dread(set, type, here, there, H5P_DEFAULT, out) < 0)
        h5->failed = name;
    hs_h5_close(here);
    hs_h5_close(there);
    hs_h5_close(set);
}
