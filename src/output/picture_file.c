#include "output/picture_file.h"

#include "core/regular.h"
#include "core/text.h"
#include "output/h5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dataset_name[] = "/temperature";
static const char *const axis_names[HS_AXES] = {"x", "y", "z"};

/* In place; pictures take UTF-8 only. */
static char *clean(char *text)
{
    for (char *s = text; s && *s;) {
        const int length = hs_text_character(s);
        if (length == 0 || hs_text_is_control(s))
            memset(s, '?', length ? (size_t)length : 1);
        s += length ? length : 1;
    }
    return text;
}

/* A text attribute, allocated; "" where there is none or it is something else. */
static char *read_text(hid_t object, const char *name)
{
    struct hs_h5 h5 = {NULL};
    char *text = H5Aexists(object, name) > 0 ? hs_h5_read_text(&h5, object, name) : NULL;
    return text ? clean(text) : strdup("");
}

/* A dataset of `rows` numbers at least, or with -1 of however many; allocated, NULL on failure. */
static double *read_column(hid_t file, const char *name, int64_t *rows, char **unit)
{
    struct hs_h5 h5 = {NULL};
    int64_t count = 0;
    double *values = hs_h5_read_column(&h5, file, name, &count);
    if (h5.failed || (*rows >= 0 && count < *rows)) {
        free(values);
        return NULL;
    }
    *rows = *rows < 0 ? count : *rows;
    if (unit) {
        const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
        *unit = read_text(set, "units");
        H5Dclose(set);
    }
    return values;
}

/* ---- the field ----------------------------------------------------------------------------- */

static enum hs_status read_axis(struct hs_picture_file *file, int a, struct hs_error *err)
{
    struct hs_picture_axis *axis = &file->axis[a];
    double *values = read_column(file->file, axis_names[a], &axis->points, &axis->unit);
    if (!values)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: /%s does not hold the %lld coordinates of %s; is it a file that "
                            "heatsolve run wrote?",
                            file->path, axis_names[a], (long long)axis->points, dataset_name);
    axis->lower = values[0];
    axis->upper = values[axis->points - 1];
    free(values);
    const double width = axis->upper - axis->lower;
    if (isfinite(width) && width > 1e-12 * fmax(fabs(axis->lower), fabs(axis->upper)))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: /%s goes from %g to %g: coordinates are to ascend and be finite",
                        file->path, axis_names[a], axis->lower, axis->upper);
}

static enum hs_status read_shape(struct hs_picture_file *file, struct hs_error *err)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(file->temperature), type = H5Dget_type(file->temperature);
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    const H5T_class_t class = H5Tget_class(type);
    hs_h5_close(type);
    hs_h5_close(space);
    if (rank < 2 || rank > 1 + HS_AXES)
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
    enum hs_status status = HS_OK;
    for (int a = 0; a < file->dims && status == HS_OK; a++) {
        file->axis[a].points = (int64_t)shape[rank - 1 - a];
        if (file->axis[a].points < 2)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: %s has %lld nodes along %s: 2 at least are drawn", file->path,
                                dataset_name, (long long)file->axis[a].points, axis_names[a]);
        status = read_axis(file, a, err);
    }
    return status;
}

static enum hs_status open_datasets(struct hs_picture_file *out, struct hs_error *err)
{
    const char *reason = "it is empty";
    FILE *file =
        hs_regular_stream(out->path, false, &reason); /* HDF5 does not tell, and may wait */
    const bool full = file && fgetc(file) != EOF;
    if (file)
        fclose(file);
    if (!full)
        return hs_error_add(err, HS_IO, "%s: cannot read: %s", out->path, reason);
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    out->file = hs_h5_open(&h5, out->path, &sum);
    if (sum == HS_CONTENTS_SUM_WRONG)
        return hs_error_add(err, HS_IO,
                            "%s: cannot read %s; make the file again, or, where you changed it "
                            "yourself, draw a copy of it that h5repack makes",
                            out->path, h5.failed);
    if (out->file < 0)
        return hs_error_add(err, HS_IO,
                            "%s: not an HDF5 file, or a damaged one; give the output.file of a "
                            "heatsolve run",
                            out->path);
    if (H5Lexists(out->file, dataset_name, H5P_DEFAULT) > 0)
        out->temperature = H5Dopen2(out->file, dataset_name, H5P_DEFAULT);
    return out->temperature >= 0
               ? HS_OK
               : hs_error_add(err, HS_BAD_INPUT,
                              "%s: there is no dataset %s in it; give the output.file of a "
                              "heatsolve run",
                              out->path, dataset_name);
}

enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err)
{
    *out = (struct hs_picture_file){.path = path, .file = -1, .temperature = -1};
    hs_h5_quiet();
    enum hs_status status = open_datasets(out, err);
    if (status == HS_OK)
        status = read_shape(out, err);
    if (status != HS_OK)
        return status;
    out->time = read_column(out->file, "time", &out->steps, NULL);
    if (!out->time)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: /time does not hold the times of the %lld snapshots; is it a "
                            "file that heatsolve run wrote?",
                            path, (long long)out->steps);
    out->title = read_text(out->file, "title");
    out->unit = read_text(out->temperature, "units");
    return HS_OK;
}

void hs_picture_close(struct hs_picture_file *file)
{
    hs_h5_close(file->temperature);
    hs_h5_close(file->file);
    for (int a = 0; a < HS_AXES; a++)
        free(file->axis[a].unit);
    free(file->time);
    free(file->title);
    free(file->unit);
}

/* The nodes with index `node` along cut_axis (-1: all nodes); their number in *total. */
static bool read_plane(const struct hs_picture_file *file, int64_t step, int cut_axis, int64_t node,
                       double *out, hsize_t *total)
{
    const int rank = file->dims + 1;
    hsize_t start[1 + HS_AXES] = {(hsize_t)step}, count[1 + HS_AXES] = {1};
    *total = 1;
    for (int a = 0; a < file->dims; a++) {
        start[rank - 1 - a] = a == cut_axis ? (hsize_t)node : 0;
        count[rank - 1 - a] = a == cut_axis ? 1 : (hsize_t)file->axis[a].points;
        *total *= count[rank - 1 - a];
    }
    const hid_t memory = H5Screate_simple(1, total, NULL), space = H5Dget_space(file->temperature);
    const bool good =
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Dread(file->temperature, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
    hs_h5_close(space);
    hs_h5_close(memory);
    return good;
}

enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err)
{
    hsize_t count;
    bool good = read_plane(file, step, cut->axis, cut->node, out, &count);
    if (good && cut->axis >= 0 && cut->share > 0) {
        double *next = malloc((size_t)count * sizeof *next);
        if (!next)
            return hs_error_add(err, HS_DEVICE, "%s: no memory for a slice of %lld nodes",
                                file->path, (long long)count);
        good = read_plane(file, step, cut->axis, cut->node + 1, next, &count);
        for (hsize_t i = 0; good && i < count; i++)
            out[i] += cut->share * (next[i] - out[i]);
        free(next);
    }
    return good ? HS_OK
                : hs_error_add(err, HS_IO,
                               "%s: cannot read snapshot %lld of %s: the file is damaged, its "
                               "checksum does not fit; draw another snapshot with --step, or make "
                               "the file again",
                               file->path, (long long)step, dataset_name);
}

/* ---- columns ------------------------------------------------------------------------------- */

static const char *const groups[] = {"history", "probes"};

static bool is_axis(const char *name)
{
    return strcmp(name, "time") == 0 || strcmp(name, "sweep") == 0;
}

/* H5Literate's: adds ", NAME" to a text of names. */
static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *names)
{
    (void)group, (void)info;
    char **text = names, *longer = realloc(*text, strlen(*text) + strlen(name) + 3);
    if (!longer)
        return -1;
    *text = longer;
    if (!is_axis(name))
        strcat(strcat(longer, *longer ? ", " : ""), name);
    return 0;
}

/* All of a group's columns, "a, b"; allocated. */
static char *names_in(hid_t file, const char *group)
{
    char *names = strdup("");
    if (names && H5Lexists(file, group, H5P_DEFAULT) > 0)
        H5Literate_by_name(file, group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &names,
                           H5P_DEFAULT);
    return names;
}

static enum hs_status not_there(const struct hs_picture_file *file, const char *name,
                                struct hs_error *err)
{
    char *history = names_in(file->file, groups[0]), *probes = names_in(file->file, groups[1]);
    hs_error_add(err, HS_BAD_INPUT, "--plot %s: %s has no such column; its history has %s%s%s",
                 name, file->path, history && *history ? history : "none",
                 probes && *probes ? ", its probes are " : ", and there are no probes",
                 probes ? probes : "");
    free(history);
    free(probes);
    return HS_BAD_INPUT;
}

static enum hs_status read_one(const struct hs_picture_file *file, const char *name,
                               struct hs_picture_column *out, struct hs_error *err)
{
    char path[600], times[32];
    out->rows = -1;
    for (int g = 0; g < 2 && !out->value && !is_axis(name) && !strchr(name, '/'); g++) {
        snprintf(path, sizeof path, "%s/%s", groups[g], name);
        snprintf(times, sizeof times, "%s/time", groups[g]);
        if (H5Lexists(file->file, groups[g], H5P_DEFAULT) > 0 &&
            H5Lexists(file->file, path, H5P_DEFAULT) > 0)
            out->value = read_column(file->file, path, &out->rows, &out->unit);
    }
    if (!out->value)
        return not_there(file, name, err);
    out->name = clean(strdup(name));
    out->time = read_column(file->file, times, &out->rows, NULL);
    if (!out->time)
        return hs_error_add(err, HS_IO, "%s: cannot read /%s: the file is damaged", file->path,
                            times);
    int64_t kept = 0;
    for (int64_t i = 0; i < out->rows; i++)
        if (isfinite(out->value[i]) && isfinite(out->time[i])) {
            out->time[kept] = out->time[i];
            out->value[kept++] = out->value[i];
        }
    out->rows = kept;
    return kept ? HS_OK
                : hs_error_add(err, HS_BAD_INPUT, "--plot %s: %s has no value in any row", name,
                               path);
}

enum hs_status hs_picture_read_columns(const struct hs_picture_file *file, const char *names,
                                       struct hs_picture_columns *out, struct hs_error *err)
{
    *out = (struct hs_picture_columns){NULL, 0};
    char *list = strcmp(names, "probes") == 0    ? names_in(file->file, groups[1])
                 : strcmp(names, "history") == 0 ? strdup("min, mean, max")
                                                 : strdup(names);
    enum hs_status status = HS_OK;
    char *rest = list;
    if (!list || !*list)
        status = not_there(file, names, err);
    while (status == HS_OK && rest) {
        const char *name = strsep(&rest, ",");
        name += strspn(name, " ");
        void *more = realloc(out->column, (size_t)(out->count + 1) * sizeof *out->column);
        if (!more)
            status = hs_error_add(err, HS_DEVICE, "no memory for --plot %s", names);
        if (status != HS_OK)
            break;
        out->column = more;
        struct hs_picture_column *column = &out->column[out->count++];
        *column = (struct hs_picture_column){.rows = 0};
        status = read_one(file, name, column, err);
        if (status == HS_OK && strcmp(column->unit, out->column->unit) != 0)
            status = hs_error_add(err, HS_BAD_INPUT,
                                  "--plot %s: %s is in %s and %s in %s: draw them one at a time",
                                  names, out->column->name, out->column->unit, name, column->unit);
    }
    free(list);
    return status;
}

void hs_picture_columns_release(struct hs_picture_columns *columns)
{
    for (int i = 0; i < columns->count; i++) {
        free(columns->column[i].name);
        free(columns->column[i].unit);
        free(columns->column[i].time);
        free(columns->column[i].value);
    }
    free(columns->column);
}
