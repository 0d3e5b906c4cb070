/* Reading for pictures: see the header. */
#include "output/picture_file.h"

#include "core/regular.h"
#include "output/h5.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hs_picture_handles {
    hid_t file, temperature;
};

static const char dataset_name[] = "/temperature";
static const char *const axis_names[HS_AXES] = {"x", "y", "z"};

/* HDF5 prints its own stack of errors unless told not to; ours say more to a user. */
struct quiet {
    H5E_auto2_t print;
    void *data;
};

static struct quiet be_quiet(void)
{
    struct quiet before = {NULL, NULL};
    H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static void speak_again(struct quiet before)
{
    H5Eset_auto2(H5E_DEFAULT, before.print, before.data);
}

/* A string attribute of `object`, or "" where there is none or it is of another type. */
static void read_text(hid_t object, const char *name, char *out, size_t size)
{
    out[0] = 0;
    if (H5Aexists(object, name) <= 0)
        return;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        if (H5Tis_variable_str(type) > 0) {
            char *text = NULL;
            if (H5Aread(attribute, type, &text) >= 0 && text) {
                snprintf(out, size, "%s", text);
                H5free_memory(text);
            }
        } else {
            const size_t length = H5Tget_size(type);
            char *text = calloc(1, length + 1);
            if (text && H5Aread(attribute, type, text) >= 0)
                snprintf(out, size, "%s", text);
            free(text);
        }
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* The whole of a one-dimensional dataset of `count` numbers. */
static bool read_numbers(hid_t dataset, int64_t count, double *out)
{
    const hid_t space = H5Dget_space(dataset);
    const bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) >= count;
    const hsize_t wanted = (hsize_t)count, start = 0;
    bool good = fits && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &wanted, NULL) >= 0;
    if (good) {
        const hid_t memory = H5Screate_simple(1, &wanted, NULL);
        good = H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
        H5Sclose(memory);
    }
    if (space >= 0)
        H5Sclose(space);
    return good;
}

static enum hs_status read_axis(struct hs_picture_file *file, int a, struct hs_error *err)
{
    struct hs_picture_axis *axis = &file->axis[a];
    const hid_t dataset = H5Dopen2(file->handles->file, axis_names[a], H5P_DEFAULT);
    double *values = malloc((size_t)axis->points * sizeof *values);
    enum hs_status status = HS_OK;
    if (!values) {
        status = hs_error_add(err, HS_DEVICE, "%s: no memory for /%s", file->path, axis_names[a]);
    } else if (dataset < 0 || !read_numbers(dataset, axis->points, values)) {
        status = hs_error_add(err, HS_BAD_INPUT,
                              "%s: /%s does not hold the %lld coordinates of %s; is it a file "
                              "that heatsolve run wrote?",
                              file->path, axis_names[a], (long long)axis->points, dataset_name);
    } else {
        axis->lower = values[0];
        axis->upper = values[axis->points - 1];
        read_text(dataset, "units", axis->unit, sizeof axis->unit);
        const double largest = fmax(fabs(axis->lower), fabs(axis->upper));
        if (!(axis->upper - axis->lower > 1e-12 * largest) || !isfinite(axis->upper - axis->lower))
            status =
                hs_error_add(err, HS_BAD_INPUT,
                             "%s: /%s goes from %g to %g: coordinates are to ascend and be finite",
                             file->path, axis_names[a], axis->lower, axis->upper);
    }
    free(values);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

static enum hs_status read_times(struct hs_picture_file *file, struct hs_error *err)
{
    file->time = malloc((size_t)file->steps * sizeof *file->time);
    if (!file->time)
        return hs_error_add(err, HS_DEVICE, "%s: no memory for /time", file->path);
    const hid_t dataset = H5Dopen2(file->handles->file, "time", H5P_DEFAULT);
    const bool good = dataset >= 0 && read_numbers(dataset, file->steps, file->time);
    if (dataset >= 0)
        H5Dclose(dataset);
    return good ? HS_OK
                : hs_error_add(err, HS_BAD_INPUT,
                               "%s: /time does not hold the times of the %lld snapshots; is it a "
                               "file that heatsolve run wrote?",
                               file->path, (long long)file->steps);
}

static enum hs_status read_shape(struct hs_picture_file *file, struct hs_error *err)
{
    hsize_t shape[1 + HS_AXES];
    const hid_t space = H5Dget_space(file->handles->temperature);
    const int rank = H5Sget_simple_extent_ndims(space);
    const hid_t type = H5Dget_type(file->handles->temperature);
    const H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    const bool known = rank >= 2 && rank <= 1 + HS_AXES;
    if (known)
        H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    if (!known)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: %s has %d axes: a step and 1 to 3 axes of space are drawn",
                            file->path, dataset_name, rank);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s does not hold numbers", file->path,
                            dataset_name);
    file->dims = rank - 1;
    file->steps = (int64_t)shape[0];
    if (file->steps == 0)
        return hs_error_add(err, HS_BAD_INPUT, "%s: there is no snapshot in it yet", file->path);
    for (int a = 0; a < file->dims; a++) {
        file->axis[a].points = (int64_t)shape[rank - 1 - a];
        if (file->axis[a].points < 2)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: %s has %lld nodes along %s: 2 at least are drawn", file->path,
                                dataset_name, (long long)file->axis[a].points, axis_names[a]);
    }
    return HS_OK;
}

static enum hs_status open_datasets(const char *path, struct hs_picture_file *out,
                                    struct hs_error *err)
{
    const char *why;
    FILE *file = hs_regular_stream(path, false, &why); /* HDF5 does not tell, and may wait */
    if (!file || fgetc(file) == EOF) {
        const char *reason = !file ? why : "it is empty";
        if (file)
            fclose(file);
        return hs_error_add(err, HS_IO, "%s: cannot read: %s", path, reason);
    }
    fclose(file);
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    out->handles->file = hs_h5_open(&h5, path, &sum);
    if (sum == HS_CONTENTS_SUM_WRONG)
        return hs_error_add(err, HS_IO,
                            "%s: cannot read %s; make the file again, or, where you changed it "
                            "yourself, draw a copy of it that h5repack makes",
                            path, h5.failed);
    if (out->handles->file < 0)
        return hs_error_add(err, HS_IO,
                            "%s: not an HDF5 file, or a damaged one; give the output.file of a "
                            "heatsolve run",
                            path);
    if (H5Lexists(out->handles->file, dataset_name, H5P_DEFAULT) > 0)
        out->handles->temperature = H5Dopen2(out->handles->file, dataset_name, H5P_DEFAULT);
    if (out->handles->temperature < 0)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: there is no dataset %s in it; give the output.file of a heatsolve "
                            "run",
                            path, dataset_name);
    return HS_OK;
}

static enum hs_status open_quietly(const char *path, struct hs_picture_file *out,
                                   struct hs_error *err)
{
    enum hs_status status = open_datasets(path, out, err);
    if (status == HS_OK)
        status = read_shape(out, err);
    for (int a = 0; a < out->dims && status == HS_OK; a++)
        status = read_axis(out, a, err);
    if (status == HS_OK)
        status = read_times(out, err);
    if (status == HS_OK) {
        read_text(out->handles->file, "title", out->title, sizeof out->title);
        read_text(out->handles->temperature, "units", out->unit, sizeof out->unit);
    }
    return status;
}

enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->handles = malloc(sizeof *out->handles);
    if (!out->handles)
        return hs_error_add(err, HS_DEVICE, "%s: no memory to open it", path);
    *out->handles = (struct hs_picture_handles){-1, -1};
    const struct quiet before = be_quiet();
    const enum hs_status status = open_quietly(path, out, err);
    speak_again(before);
    return status;
}

void hs_picture_close(struct hs_picture_file *file)
{
    if (file->handles && file->handles->temperature >= 0)
        H5Dclose(file->handles->temperature);
    if (file->handles && file->handles->file >= 0)
        H5Fclose(file->handles->file);
    free(file->handles);
    free(file->time);
    memset(file, 0, sizeof *file);
}

/* The nodes with index `node` along cut_axis (-1: all nodes). */
static bool read_plane(const struct hs_picture_file *file, int64_t step, int cut_axis, int64_t node,
                       double *out)
{
    const int rank = file->dims + 1;
    hsize_t start[1 + HS_AXES] = {(hsize_t)step}, count[1 + HS_AXES] = {1}, total = 1;
    for (int a = 0; a < file->dims; a++) {
        const bool cut = a == cut_axis;
        start[rank - 1 - a] = cut ? (hsize_t)node : 0;
        count[rank - 1 - a] = cut ? 1 : (hsize_t)file->axis[a].points;
        total *= count[rank - 1 - a];
    }
    const hid_t memory = H5Screate_simple(1, &total, NULL);
    const hid_t space = H5Dget_space(file->handles->temperature);
    const struct quiet before = be_quiet();
    const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                      H5Dread(file->handles->temperature, H5T_NATIVE_DOUBLE, memory, space,
                              H5P_DEFAULT, out) >= 0;
    speak_again(before);
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

static int64_t plane_points(const struct hs_picture_file *file, int cut_axis)
{
    int64_t count = 1;
    for (int a = 0; a < file->dims; a++)
        count *= a == cut_axis ? 1 : file->axis[a].points;
    return count;
}

enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err)
{
    const int64_t count = plane_points(file, cut->axis);
    const bool between = cut->axis >= 0 && cut->share > 0;
    double *next = between ? malloc((size_t)count * sizeof *next) : NULL;
    if (between && !next)
        return hs_error_add(err, HS_DEVICE, "%s: no memory for a slice of %lld nodes", file->path,
                            (long long)count);
    bool good = read_plane(file, step, cut->axis, cut->node, out) &&
                (!between || read_plane(file, step, cut->axis, cut->node + 1, next));
    for (int64_t i = 0; good && between && i < count; i++)
        out[i] += cut->share * (next[i] - out[i]);
    free(next);
    return good ? HS_OK
                : hs_error_add(err, HS_IO,
                               "%s: cannot read snapshot %lld of %s: the file is damaged, its "
                               "checksum does not fit; draw another snapshot with --step, or make "
                               "the file again",
                               file->path, (long long)step, dataset_name);
}
