#include "input/field_file.h"

#include "core/contents_sum.h"
#include "core/regular.h"
#include "input/npy.h"

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANK = HS_AXES + 1, LIST_SIZE = 300 };

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

static void list_datasets(hid_t file, char *list)
{
    list[0] = '\0';
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, list_dataset, list);
    if (!list[0])
        snprintf(list, LIST_SIZE, "none");
}

/* "129 x 65" */
static void show_shape(int rank, const hsize_t *shape, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (rank == 0)
        snprintf(out, size, "a single value");
    for (int i = 0; i < rank && used < size; i++) {
        const int n = snprintf(out + used, size - used, "%s%llu", i ? " x " : "",
                               (unsigned long long)shape[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* The grid's shape as a dataset has it: z, y, x, without the axes that are not there. */
static void shape_of(const struct hs_grid *grid, hsize_t *shape)
{
    for (int axis = 0; axis < grid->dims; axis++)
        shape[axis] = (hsize_t)grid->points[grid->dims - 1 - axis];
}

/* Which part of an array is the field: all of it, or one of its steps. */
struct part {
    bool leading; /* there is an axis of steps */
    int64_t step;
};

static enum hs_status choose_part(const char *what, int rank, const hsize_t *found, int64_t step,
                                  const struct hs_grid *grid, struct part *out, char *reason,
                                  size_t size)
{
    const int dims = grid->dims, leading = rank - dims;
    hsize_t wanted[HS_AXES] = {0};
    shape_of(grid, wanted);
    if ((leading != 0 && leading != 1) ||
        memcmp(found + leading, wanted, (size_t)dims * sizeof *wanted) != 0) {
        static const char *const axes[] = {"", "(x)", "(y, x)", "(z, y, x)"};
        char have[120], want[120];
        bool turned = rank == dims;
        for (int axis = 0; axis < dims; axis++)
            turned = turned && found[axis] == wanted[dims - 1 - axis];
        show_shape(rank, found, have, sizeof have);
        show_shape(dims, wanted, want, sizeof want);
        snprintf(reason, size, "%s is %s, the grid is %s %s; %s", what, have, want, axes[dims],
                 turned ? "its axes are the other way round: save it transposed"
                        : "a leading axis of steps may come before. Make grid.points fit");
        return HS_BAD_INPUT;
    }
    const int64_t steps = leading ? (int64_t)found[0] : 1;
    *out = (struct part){leading == 1, step < 0 ? steps - 1 : step};
    if (out->step >= 0 && out->step < steps)
        return HS_OK;
    snprintf(reason, size,
             "%s has %lld step%s, so there is no step %lld; the first is 0, -1 the last", what,
             (long long)steps, steps == 1 ? "" : "s", (long long)out->step);
    return HS_BAD_INPUT;
}

/* Chooses the part of the dataset that is the field. */
static enum hs_status select_part(hid_t space, const char *name, int64_t step,
                                  const struct hs_grid *grid, char *reason, size_t size)
{
    const int rank = H5Sget_simple_extent_ndims(space);
    hsize_t found[H5S_MAX_RANK] = {0};
    char what[200];
    struct part part;
    snprintf(what, sizeof what, "dataset %.180s", name);
    if (rank >= 0)
        H5Sget_simple_extent_dims(space, found, NULL);
    const enum hs_status status = choose_part(what, rank, found, step, grid, &part, reason, size);
    if (status)
        return status;
    hsize_t start[MOST_RANK] = {0}, count[MOST_RANK] = {1, 1, 1, 1};
    if (part.leading)
        start[0] = (hsize_t)part.step;
    shape_of(grid, count + part.leading);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) {
        snprintf(reason, size, "dataset %s: cannot select step %lld", name, (long long)part.step);
        return HS_IO;
    }
    return HS_OK;
}

static enum hs_status read_part(hid_t dataset, hid_t space, const char *name,
                                const struct hs_grid *grid, double **out, char *reason, size_t size)
{
    hsize_t count = (hsize_t)hs_grid_count(grid);
    double *values = malloc((size_t)count * sizeof *values);
    if (!values) {
        snprintf(reason, size, "out of memory for the %llu values of dataset %s",
                 (unsigned long long)count, name);
        return HS_DEVICE;
    }
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    const herr_t failed = H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
    if (memory >= 0)
        H5Sclose(memory);
    if (failed < 0) {
        free(values);
        snprintf(reason, size,
                 "dataset %s cannot be read; is the file damaged, or made with a "
                 "filter that this HDF5 lacks?",
                 name);
        return HS_IO;
    }
    *out = values;
    return HS_OK;
}

static enum hs_status read_dataset(hid_t dataset, const char *name, int64_t step,
                                   const struct hs_grid *grid, double **out, char *reason,
                                   size_t size)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    enum hs_status status = HS_OK;
    if (class != H5T_FLOAT && class != H5T_INTEGER) {
        snprintf(reason, size,
                 "dataset %s does not hold numbers; floats, doubles and integers are read", name);
        status = HS_BAD_INPUT;
    }
    if (status == HS_OK)
        status = select_part(space, name, step, grid, reason, size);
    if (status == HS_OK)
        status = read_part(dataset, space, name, grid, out, reason, size);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

static enum hs_status read_hdf5(const char *path, const char *name, int64_t step,
                                const struct hs_grid *grid, double **out, char *reason, size_t size)
{
    if (hs_contents_sum_of(path) == HS_CONTENTS_SUM_WRONG) {
        snprintf(reason, size,
                 "%s: a run's file that is damaged or was changed by another program: the checksum "
                 "of its table of contents does not fit; make it again, or read a copy of it that "
                 "h5repack makes",
                 path);
        return HS_IO;
    }
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        snprintf(reason, size,
                 "%s: not a readable HDF5 file; it is damaged, of another kind, or being written. "
                 "Fields are read from HDF5 and from .npy files",
                 path);
        return HS_IO;
    }
    enum hs_status status;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset >= 0) {
        status = read_dataset(dataset, name, step, grid, out, reason, size);
        H5Dclose(dataset);
    } else {
        char list[LIST_SIZE];
        list_datasets(file, list);
        snprintf(reason, size, "%s has no dataset %s; it has %s", path, name, list);
        status = HS_BAD_INPUT;
    }
    H5Fclose(file);
    return status;
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

static enum hs_status allocate(const struct hs_grid *grid, const char *path, double **out,
                               char *reason, size_t size)
{
    *out = malloc((size_t)hs_grid_count(grid) * sizeof **out);
    if (*out)
        return HS_OK;
    snprintf(reason, size, "out of memory for the %lld values of %s",
             (long long)hs_grid_count(grid), path);
    return HS_DEVICE;
}

static enum hs_status read_npy(const char *path, int file, int64_t step, const struct hs_grid *grid,
                               double **out, char *reason, size_t size)
{
    struct hs_npy npy;
    struct part part = {false, 0};
    char why[400] = "", what[300];
    hsize_t found[HS_NPY_RANK];
    enum hs_status status = hs_npy_open(file, &npy, why, sizeof why);
    for (int axis = 0; axis < npy.rank; axis++)
        found[axis] = (hsize_t)npy.shape[axis];
    snprintf(what, sizeof what, "the array of %.250s", path);
    if (status)
        snprintf(reason, size, "%s: %s", path, why);
    else
        status = choose_part(what, npy.rank, found, step, grid, &part, reason, size);
    if (!status)
        status = allocate(grid, path, out, reason, size);
    if (!status &&
        (status = hs_npy_read(&npy, part.leading ? part.step : -1, *out, why, sizeof why))) {
        snprintf(reason, size, "%s: %s", path, why);
        free(*out);
        *out = NULL;
    }
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

/* Whether the file is neither kind that is read, for certain. */
static bool is_other(const char *path, const char *head, char *reason, size_t size)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(head, others[i].magic, strlen(others[i].magic)) == 0) {
            snprintf(reason, size, "%s: %s", path, others[i].said);
            return true;
        }
    return false;
}

/* By what the file holds, whatever its name ends in. */
static enum hs_status read_file(const char *path, const char *name, int64_t step,
                                const struct hs_grid *grid, double **out, char *reason, size_t size)
{
    char head[16] = "";
    const char *why;
    const int file = hs_regular_open(path, false, &why); /* HDF5 does not say, and may wait */
    if (file < 0) {
        snprintf(reason, size, "cannot open %s: %s", path, why);
        return HS_IO;
    }
    const ssize_t begun = pread(file, head, sizeof head - 1, 0);
    enum hs_status status;
    if (hs_npy_begins(head, begun > 0 ? (size_t)begun : 0))
        status = read_npy(path, file, step, grid, out, reason, size);
    else if (is_other(path, head, reason, size))
        status = HS_IO;
    else
        status = read_hdf5(path, name, step, grid, out, reason, size);
    close(file);
    return status;
}

enum hs_status hs_field_file_read(const char *path, const char *name, int64_t step,
                                  const struct hs_grid *grid, double **out, char *reason,
                                  size_t size)
{
    /* HDF5 would print its own errors to stderr; only main prints */
    H5E_auto2_t print;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    *out = NULL;
    const enum hs_status status = read_file(path, name, step, grid, out, reason, size);
    H5Eset_auto2(H5E_DEFAULT, print, data);
    return status;
}
