#include "input/field_file.h"

#include "core/contents_sum.h"
#include "core/regular.h"

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

/* Chooses the part of the dataset that is the field. */
static enum hs_status select_part(hid_t space, const char *name, int64_t step,
                                  const struct hs_grid *grid, char *reason, size_t size)
{
    const int dims = grid->dims, rank = H5Sget_simple_extent_ndims(space);
    hsize_t wanted[HS_AXES], found[H5S_MAX_RANK] = {0};
    shape_of(grid, wanted);
    if (rank >= 0)
        H5Sget_simple_extent_dims(space, found, NULL);
    const int leading = rank - dims;
    if ((leading != 0 && leading != 1) ||
        memcmp(found + leading, wanted, (size_t)dims * sizeof *wanted) != 0) {
        char have[120], want[120];
        show_shape(rank, found, have, sizeof have);
        show_shape(dims, wanted, want, sizeof want);
        snprintf(reason, size,
                 "dataset %s is %s, the grid is %s (z, y, x); a leading axis of steps may come "
                 "before. Make grid.points fit",
                 name, have, want);
        return HS_BAD_INPUT;
    }
    const int64_t steps = leading ? (int64_t)found[0] : 1;
    const int64_t chosen = step < 0 ? steps - 1 : step;
    if (chosen < 0 || chosen >= steps) {
        snprintf(reason, size,
                 "dataset %s has %lld step%s, so there is no step %lld; the first is "
                 "0, -1 the last",
                 name, (long long)steps, steps == 1 ? "" : "s", (long long)chosen);
        return HS_BAD_INPUT;
    }
    hsize_t start[MOST_RANK] = {0}, count[MOST_RANK] = {1, 1, 1, 1};
    if (leading)
        start[0] = (hsize_t)chosen;
    memcpy(count + leading, wanted, (size_t)dims * sizeof *wanted);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) {
        snprintf(reason, size, "dataset %s: cannot select step %lld", name, (long long)chosen);
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
        snprintf(reason, size, "dataset %s holds no numbers; float, double or integers are read",
                 name);
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

static enum hs_status read_file(const char *path, const char *name, int64_t step,
                                const struct hs_grid *grid, double **out, char *reason, size_t size)
{
    const char *why;
    const int there = hs_regular_open(path, false, &why); /* HDF5 does not say, and may wait */
    if (there < 0) {
        snprintf(reason, size, "cannot open %s: %s", path, why);
        return HS_IO;
    }
    close(there);
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
                 "%s: not a readable HDF5 file; it is damaged, of another kind, or being written",
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
