#include "input/field_file.h"

#include "core/contents_sum.h"
#include "core/memory.h"
#include "core/regular.h"
#include "input/npy.h"

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANK = HS_AXES + 1, LIST_SIZE = 300 };

/* ---- any array ------------------------------------------------------------------------------- */

/* Of whatever kind of file. */
struct array {
    const char *what; /* "dataset T", "the array of in.npy" */
    hid_t set;
    int rank;
    hsize_t shape[H5S_MAX_RANK]; /* slowest first */
    bool turned;                 /* the dataset has its axes in the opposite order */
};

/* "129 x 65" */
static char *name_shape(int rank, const hsize_t *shape)
{
    char *name = NULL;
    size_t size;
    FILE *stream = open_memstream(&name, &size);
    fputs(rank == 0 ? "a single value" : "", stream);
    for (int i = 0; i < rank; i++)
        fprintf(stream, "%s%llu", i ? " x " : "", (unsigned long long)shape[i]);
    fclose(stream);
    return name;
}

struct hs_field_shape hs_field_shape_of(const struct hs_grid *grid)
{
    static const char *const axes[] = {"", "(x)", "(y, x)", "(z, y, x)"};
    return (struct hs_field_shape){grid, "the grid", axes[grid->dims]};
}

static enum hs_status other_shape(const struct array *array, const hsize_t *wanted,
                                  const struct hs_field_shape *shape, struct hs_error *why)
{
    const int dims = shape->grid->dims;
    bool turned = array->rank == dims;
    for (int axis = 0; axis < dims; axis++)
        turned = turned && array->shape[axis] == wanted[dims - 1 - axis];
    char *have = name_shape(array->rank, array->shape), *want = name_shape(dims, wanted);
    hs_error_add(why, HS_BAD_INPUT, "%s is %s, %s is %s %s; %s", array->what, have, shape->what,
                 want, shape->axes,
                 turned ? "its axes are the other way round: save it transposed"
                        : "a leading axis of steps may come before. Make grid.points fit");
    free(have);
    free(want);
    return HS_BAD_INPUT;
}

/* Which part of the array is the field: all of it, or one of its steps. */
static enum hs_status choose_part(const struct array *array, int64_t step,
                                  const struct hs_field_shape *shape, hsize_t start[MOST_RANK],
                                  hsize_t count[MOST_RANK], struct hs_error *why)
{
    const int dims = shape->grid->dims, leading = array->rank - dims;
    hsize_t wanted[HS_AXES] = {0};
    for (int axis = 0; axis < dims; axis++)
        wanted[axis] = (hsize_t)shape->grid->points[dims - 1 - axis];
    if ((leading != 0 && leading != 1) ||
        memcmp(array->shape + leading, wanted, (size_t)dims * sizeof *wanted) != 0)
        return other_shape(array, wanted, shape, why);
    const int64_t steps = leading ? (int64_t)array->shape[0] : 1;
    const int64_t taken = step < 0 ? steps - 1 : step;
    if (taken < 0 || taken >= steps)
        return hs_error_add(why, HS_BAD_INPUT,
                            "%s has %lld step%s, so there is no step %lld; the first is 0, -1 the "
                            "last",
                            array->what, (long long)steps, steps == 1 ? "" : "s", (long long)taken);
    start[0] = leading ? (hsize_t)taken : 0;
    count[0] = 1;
    memcpy(count + leading, wanted, (size_t)dims * sizeof *wanted);
    return HS_OK;
}

static bool read_slab(const struct array *array, const hsize_t *start, const hsize_t *count,
                      double *to)
{
    hsize_t from[MOST_RANK], extent[MOST_RANK], all = 1;
    for (int axis = 0; axis < array->rank; axis++) {
        const int in_set = array->turned ? array->rank - 1 - axis : axis;
        from[in_set] = start[axis];
        extent[in_set] = count[axis];
        all *= count[axis];
    }
    const hid_t space = H5Dget_space(array->set), memory = H5Screate_simple(1, &all, NULL);
    const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, extent, NULL) >= 0 &&
                      H5Dread(array->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

/* Nodes of one x after another: they lie together in the file. */
static bool read_turned(const struct array *array, const hsize_t *start, const hsize_t *count,
                        const struct hs_grid *grid, double *out)
{
    const int x_axis = array->rank - 1;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y], nz = grid->points[HS_Z];
    hsize_t first[MOST_RANK] = {start[0]}, extent[MOST_RANK];
    memcpy(extent, count, sizeof extent);
    extent[x_axis] = 1;
    double *plane = hs_new((size_t)(ny * nz) * sizeof *plane);
    bool good = true;
    for (int64_t i = 0; i < nx && good; i++) {
        first[x_axis] = (hsize_t)i;
        good = read_slab(array, first, extent, plane);
        for (int64_t j = 0; j < ny; j++)
            for (int64_t k = 0; k < nz; k++)
                out[(k * ny + j) * nx + i] = plane[j * nz + k];
    }
    free(plane);
    return good;
}

static enum hs_status read_array(const struct array *array, int64_t step,
                                 const struct hs_field_shape *shape, double **out,
                                 struct hs_error *why)
{
    hsize_t start[MOST_RANK] = {0}, count[MOST_RANK] = {0};
    const enum hs_status status = choose_part(array, step, shape, start, count, why);
    if (status)
        return status;
    *out = malloc((size_t)hs_grid_count(shape->grid) * sizeof **out);
    if (!*out)
        return hs_error_add(why, HS_DEVICE, "out of memory for the %lld values of %s",
                            (long long)hs_grid_count(shape->grid), array->what);
    if (array->turned ? read_turned(array, start, count, shape->grid, *out)
                      : read_slab(array, start, count, *out))
        return HS_OK;
    free(*out);
    *out = NULL;
    return hs_error_add(why, HS_IO,
                        "%s cannot be read; is the file damaged, or made with a filter that this "
                        "HDF5 lacks?",
                        array->what);
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

/* Names of the datasets below a group, for the message about a missing one. */
static herr_t list_dataset(hid_t group, const char *name, const H5O_info_t *info, void *data)
{
    char *list = data;
    (void)group;
    const size_t used = strlen(list);
    if (info->type == H5O_TYPE_DATASET && used + strlen(name) + 8 < LIST_SIZE)
        snprintf(list + used, LIST_SIZE - used, "%s/%s", used ? ", " : "", name);
    return 0;
}

static enum hs_status read_dataset(hid_t set, const char *name, int64_t step,
                                   const struct hs_field_shape *shape, double **out,
                                   struct hs_error *why)
{
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const H5T_class_t class = H5Tget_class(type);
    char *what = hs_format("dataset %s", name);
    struct array array = {.what = what, .set = set, .rank = H5Sget_simple_extent_ndims(space)};
    if (array.rank > 0)
        H5Sget_simple_extent_dims(space, array.shape, NULL);
    const enum hs_status status =
        class == H5T_FLOAT || class == H5T_INTEGER
            ? read_array(&array, step, shape, out, why)
            : hs_error_add(why, HS_BAD_INPUT,
                           "%s does not hold numbers; floats, doubles and integers are read", what);
    H5Sclose(space);
    H5Tclose(type);
    free(what);
    return status;
}

static enum hs_status read_hdf5(const char *path, const char *name, int64_t step,
                                const struct hs_field_shape *shape, double **out,
                                struct hs_error *why)
{
    if (hs_contents_sum_of(path) == HS_CONTENTS_SUM_WRONG)
        return hs_error_add(
            why, HS_IO,
            "%s: a run's file that is damaged or was changed by another program: the checksum of "
            "its table of contents does not match; make it again, or read a copy of it that "
            "h5repack "
            "makes",
            path);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return hs_error_add(why, HS_IO,
                            "%s: not a readable HDF5 file; it is damaged, of another kind, or "
                            "being written. Fields are read from HDF5 and from .npy files",
                            path);
    enum hs_status status;
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set >= 0) {
        status = read_dataset(set, name, step, shape, out, why);
        H5Dclose(set);
    } else {
        char list[LIST_SIZE] = "";
        H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, list_dataset, list);
        status = hs_error_add(why, HS_BAD_INPUT, "%s has no dataset %s; it has %s", path, name,
                              list[0] ? list : "none");
    }
    H5Fclose(file);
    return status;
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* HDF5 reads it as the bytes of a dataset of a file in memory, and turns its numbers into ours. By
 * the open file: a name it would also look for in $HDF5_EXTFILE_PREFIX. */
static hid_t dataset_of(int open, const struct hs_npy *npy)
{
    char path[64];
    hsize_t shape[HS_NPY_RANK];
    snprintf(path, sizeof path, "/proc/self/fd/%d", open);
    for (int axis = 0; axis < npy->rank; axis++)
        shape[axis] = (hsize_t)npy->shape[npy->fortran ? npy->rank - 1 - axis : axis];
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), form = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(npy->rank, shape, NULL),
                type = H5Tcopy(npy->kind == 'f' && npy->width == 4 ? H5T_IEEE_F32LE
                               : npy->kind == 'f'                  ? H5T_IEEE_F64LE
                               : npy->kind == 'i'                  ? H5T_STD_I64LE
                                                                   : H5T_STD_U64LE);
    if (npy->kind != 'f')
        H5Tset_size(type, (size_t)npy->width);
    H5Tset_order(type, npy->big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
    H5Pset_fapl_core(access, 1 << 16, 0);
    H5Pset_external(form, path, (off_t)npy->at, (hsize_t)npy->bytes);
    const hid_t file = H5Fcreate("npy", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t set = H5Dcreate2(file, "array", type, space, H5P_DEFAULT, form, H5P_DEFAULT);
    H5Fclose(file); /* once the dataset is */
    H5Tclose(type);
    H5Sclose(space);
    H5Pclose(form);
    H5Pclose(access);
    return set;
}

static enum hs_status read_npy(const char *path, int file, int64_t step,
                               const struct hs_field_shape *shape, double **out,
                               struct hs_error *why)
{
    struct hs_npy npy;
    struct hs_error fault;
    hs_error_init(&fault);
    enum hs_status status = hs_npy_read_header(file, &npy, &fault);
    if (status)
        hs_error_add(why, status, "%s: %s", path, fault.text);
    hs_error_release(&fault);
    if (status)
        return status;
    char *what = hs_format("the array of %s", path);
    struct array array = {
        .what = what, .set = dataset_of(file, &npy), .rank = npy.rank, .turned = npy.fortran};
    for (int axis = 0; axis < npy.rank; axis++)
        array.shape[axis] = (hsize_t)npy.shape[axis];
    status = read_array(&array, step, shape, out, why);
    H5Dclose(array.set);
    free(what);
    return status;
}

/* ---- which of them --------------------------------------------------------------------------- */

/* Files that people have instead, by their first bytes. */
static const struct {
    const char *magic, *said;
} others[] = {
    {"PK\3\4", "a .npz or other zip archive; save the one array with numpy.save"},
    {"CDF", "a netCDF file of the classic format; nccopy -k nc4 makes HDF5 of it"},
    {"MATLAB 5.0", "a MATLAB file of the old format; save it with -v7.3, which is HDF5"},
    {"\x1f\x8b", "compressed with gzip; uncompress it"},
};

/* By what the file holds, whatever its name ends in. */
static enum hs_status read_file(const char *path, const char *name, int64_t step,
                                const struct hs_field_shape *shape, double **out,
                                struct hs_error *why)
{
    char head[16] = "";
    const char *reason;
    const int file = hs_regular_open(path, false, &reason); /* HDF5 does not say, and may wait */
    if (file < 0)
        return hs_error_add(why, HS_IO, "cannot open %s: %s", path, reason);
    const ssize_t begun = pread(file, head, sizeof head - 1, 0);
    enum hs_status status = HS_OK;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(head, others[i].magic, strlen(others[i].magic)) == 0)
            status = hs_error_add(why, HS_IO, "%s: %s", path, others[i].said);
    if (!status)
        status = hs_npy_begins(head, begun > 0 ? (size_t)begun : 0)
                     ? read_npy(path, file, step, shape, out, why)
                     : read_hdf5(path, name, step, shape, out, why);
    close(file);
    return status;
}

enum hs_status hs_field_file_read(const char *path, const char *name, int64_t step,
                                  const struct hs_field_shape *shape, double **out,
                                  struct hs_error *why)
{
    /* HDF5 would print its own errors to stderr; only main prints */
    H5E_auto2_t print;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    *out = NULL;
    const enum hs_status status = read_file(path, name, step, shape, out, why);
    H5Eset_auto2(H5E_DEFAULT, print, data);
    return status;
}
