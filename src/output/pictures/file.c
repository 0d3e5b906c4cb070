#include "output/pictures/file.h"

#include "core/memory.h"
#include "core/regular.h"
#include "core/text.h"
#include "output/h5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dataset_name[] = "/temperature";

/* A text made safe for display, allocated. */
static char *shown(const char *text)
{
    char *out;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    hs_text_put(stream, text, "");
    fclose(stream);
    return out;
}

/* A text attribute; "" if it does not exist or is not a text. */
static char *read_text(hid_t object, const char *name)
{
    struct hs_h5 h5 = {NULL};
    char *text = hs_h5_read_text(&h5, object, name), *out = shown(text ? text : "");
    free(text);
    return out;
}

/* False if there is no such dataset. */
static bool read_column(hid_t file, const char *path, struct hs_picture_column *out)
{
    struct hs_h5 h5 = {NULL};
    out->value = hs_h5_read_column(&h5, file, path, &out->count);
    if (!out->value)
        return false;
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    out->unit = read_text(set, "units");
    out->name = shown(strrchr(path, '/') + 1);
    hs_h5_close(set);
    return true;
}

static void release_column(struct hs_picture_column *column)
{
    free(column->name);
    free(column->unit);
    free(column->path);
    free(column->quantity);
    free(column->value);
    free(column->time);
}

/* ---- the field ----------------------------------------------------------------------------- */

/* The coordinates along an axis of /temperature. */
static enum hs_status read_axis(const struct hs_picture_file *file, const char *name, hsize_t count,
                                struct hs_picture_column *out, struct hs_error *err)
{
    if (!read_column(file->file, name, out) || out->count < (int64_t)count)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: %s does not hold the %llu coordinates of %s; is it a file that "
                            "heatsolve run wrote?",
                            file->path, name, (unsigned long long)count, dataset_name);
    out->count = (int64_t)count; /* a run in progress may have written more */
    const double lower = out->value[0], upper = out->value[count - 1], width = upper - lower;
    bool ascends = isfinite(width) && width > 1e-12 * fmax(fabs(lower), fabs(upper));
    for (hsize_t i = 1; i < count; i++)
        ascends = ascends && out->value[i] > out->value[i - 1];
    if (out == &file->step || ascends)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: %s goes from %g to %g: coordinates are to ascend and be finite",
                        file->path, name, lower, upper);
}

static enum hs_status read_axes(struct hs_picture_file *file, struct hs_error *err)
{
    static const char *const names[] = {"/x", "/y", "/z"};
    hsize_t shape[H5S_MAX_RANK];
    const hid_t set = H5Dopen2(file->file, dataset_name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    const H5T_class_t class = H5Tget_class(type);
    file->unit = read_text(set, "units");
    hs_h5_close(type);
    hs_h5_close(space);
    hs_h5_close(set);
    const char *wrong = rank < 0 ? "is not in it; give the output.file of a heatsolve run"
                        : rank < 2 || rank > 1 + HS_AXES
                            ? "has other axes than a step and 1 to 3 of space"
                        : shape[0] == 0                              ? "has no snapshot yet"
                        : class != H5T_FLOAT && class != H5T_INTEGER ? "does not hold numbers"
                                                                     : NULL;
    if (wrong)
        return hs_error_add(err, HS_BAD_INPUT, "%s: %s %s", file->path, dataset_name, wrong);
    file->dims = rank - 1;
    for (int a = 0; a < file->dims; a++)
        HS_TRY(read_axis(file, names[a], shape[rank - 1 - a], &file->axis[a], err));
    return read_axis(file, "/time", shape[0], &file->step, err);
}

enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err)
{
    *out = (struct hs_picture_file){.path = path, .file = -1};
    const char *reason = "it is empty";
    FILE *file = hs_regular_stream(path, false, &reason); /* HDF5 gives no reason and may block */
    const bool full = file && fgetc(file) != EOF;
    if (file)
        fclose(file);
    if (!full)
        return hs_error_add(err, HS_IO, "%s: cannot read: %s", path, reason);
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    hs_h5_quiet();
    out->file = hs_h5_open(&h5, path, &sum);
    if (out->file < 0)
        return hs_error_add(err, HS_IO, "%s: cannot read %s; %s", path, h5.failed,
                            sum == HS_CONTENTS_SUM_WRONG
                                ? "make the file again, or, where you changed it yourself, draw a "
                                  "copy of it that h5repack makes"
                                : "give the output.file of a heatsolve run");
    out->title = read_text(out->file, "title");
    char *status = read_text(out->file, "status");
    out->solved = strcmp(status, "steady") == 0 && H5Aexists(out->file, "steady_residual") > 0;
    free(status);
    return read_axes(out, err);
}

void hs_picture_close(struct hs_picture_file *file)
{
    hs_h5_close(file->file);
    for (int a = 0; a < HS_AXES; a++)
        release_column(&file->axis[a]);
    for (int c = 0; c < file->columns; c++)
        release_column(&file->column[c]);
    release_column(&file->step);
    free(file->column);
    free(file->title);
    free(file->unit);
}

enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    const int dims = file->dims; /* the dataset's axes are step, z, y, x */
    hsize_t start[2 + HS_AXES] = {(hsize_t)step}, count[1 + HS_AXES] = {1}, nodes = 1;
    for (int a = 0; a < dims; a++)
        nodes *= count[dims - a] = a == cut->axis ? 1 : (hsize_t)file->axis[a].count;
    for (int plane = 0; plane < (cut->share > 0 ? 2 : 1); plane++) {
        start[dims - cut->axis] = (hsize_t)(cut->node + plane); /* no cut: beyond the last axis */
        hs_h5_read_block(&h5, file->file, dataset_name, 1 + dims, start, count, H5T_NATIVE_DOUBLE,
                         out + plane * nodes);
    }
    for (hsize_t i = 0; i < nodes && cut->share > 0 && !h5.failed; i++)
        out[i] += cut->share * (out[nodes + i] - out[i]);
    if (!h5.failed)
        return HS_OK;
    return hs_error_add(err, HS_IO,
                        "%s: cannot read snapshot %lld of %s: the file is damaged, its checksum "
                        "does not fit; draw another snapshot with --step, or make the file again",
                        file->path, (long long)step, dataset_name);
}

/* ---- columns ------------------------------------------------------------------------------- */

struct reader {
    struct hs_picture_file *file;
    const char *asked; /* the value of --plot */
    const char *group; /* that is being listed */
    char **path;       /* of all columns, first the history's: "history/max", "probes/tip" */
    int paths, history;
};

static herr_t add_path(hid_t group, const char *name, const H5L_info_t *link, void *to)
{
    (void)link;
    struct reader *r = to;
    const hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set >= 0 && strcmp(name, "time") && strcmp(name, "sweep")) {
        r->path = hs_reserve(r->path, (size_t)r->paths, sizeof *r->path);
        r->path[r->paths++] = hs_format("%s/%s", r->group, name);
    }
    hs_h5_close(set);
    return 0;
}

static void list_group(struct reader *r, const char *group)
{
    r->group = group;
    H5Lvisit_by_name(r->file->file, group, H5_INDEX_NAME, H5_ITER_INC, add_path, r, H5P_DEFAULT);
}

static const char *name_of(const char *path)
{
    return strchr(path, '/') + 1;
}

static enum hs_status add_column(struct reader *r, const char *path, struct hs_error *err)
{
    struct hs_picture_file *file = r->file;
    struct hs_h5 h5 = {NULL};
    file->column = hs_reserve(file->column, (size_t)file->columns, sizeof *file->column);
    struct hs_picture_column *out = &file->column[file->columns++];
    const bool probe = strncmp(path, "probes/", 7) == 0;
    int64_t rows;
    *out = (struct hs_picture_column){
        .time = hs_h5_read_column(&h5, file->file, probe ? "probes/time" : "history/time", &rows)};
    if (!read_column(file->file, path, out) || rows < out->count)
        return hs_error_add(err, HS_IO, "%s: cannot read /%s and its times: the file is damaged",
                            file->path, path);
    rows = out->count;
    out->count = 0;
    out->path = shown(name_of(path));
    out->quantity = hs_copy(out->path);
    char *slash = strrchr(out->quantity, '/');
    if (slash)
        *slash = '\0';
    for (int64_t i = 0; i < rows; i++)
        if (isfinite(out->value[i]) && isfinite(out->time[i])) {
            out->time[out->count] = out->time[i];
            out->value[out->count++] = out->value[i];
        }
    if (out->count == 0)
        return hs_error_add(err, HS_BAD_INPUT, "--plot %s: /%s has no value in any row",
                            name_of(path), path);
    if (strcmp(out->unit, file->column->unit) == 0)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--plot %s: %s is in %s and %s in %s: draw them one at a time", r->asked,
                        file->column->name, file->column->unit, name_of(path), out->unit);
}

static enum hs_status refuse(const struct reader *r, const char *word, struct hs_error *err)
{
    char *list;
    size_t size;
    FILE *stream = open_memstream(&list, &size);
    fputs(r->history ? "" : "none", stream);
    for (int n = 0; n < r->paths; n++)
        fprintf(stream, "%s%s",
                n == r->history ? ", its probes are "
                : n             ? ", "
                                : "",
                name_of(r->path[n]));
    fputs(r->paths > r->history ? "" : ", and there are no probes", stream);
    fclose(stream);
    hs_error_add(err, HS_BAD_INPUT, "--plot %s: %s has no such column; its history has %s", word,
                 r->file->path, list);
    free(list);
    return HS_BAD_INPUT;
}

/* Adds "name", from either group, or "group/name", or all probes. */
static enum hs_status add_named(struct reader *r, const char *word, struct hs_error *err)
{
    const bool probes = strcmp(word, "probes") == 0 && r->paths > r->history;
    enum hs_status status = HS_OK;
    int found = 0;
    for (int n = 0; n < r->paths && !status; n++) {
        const char *path = r->path[n];
        if (probes ? n < r->history : strcmp(path, word) != 0 && strcmp(name_of(path), word) != 0)
            continue;
        status = found++ == 0 || probes
                     ? add_column(r, path, err)
                     : hs_error_add(err, HS_BAD_INPUT,
                                    "--plot %s: a column of the history and a probe have this "
                                    "name: give history/%s or probes/%s",
                                    word, word, word);
    }
    return found ? status : refuse(r, word, err);
}

static enum hs_status add_words(struct reader *r, const char *names, struct hs_error *err)
{
    char *words = hs_copy(names), *rest = words, *word;
    enum hs_status status = HS_OK;
    while (!status && (word = strsep(&rest, ","))) {
        word += strspn(word, " ");
        status = strcmp(word, "history") == 0 && r->history > 0
                     ? add_words(r, "history/min,history/mean,history/max", err)
                     : add_named(r, word, err);
    }
    free(words);
    return status;
}

enum hs_status hs_picture_read_columns(struct hs_picture_file *file, const char *names,
                                       struct hs_error *err)
{
    struct reader r = {.file = file, .asked = names};
    list_group(&r, "history");
    r.history = r.paths;
    list_group(&r, "probes");
    const enum hs_status status = add_words(&r, names, err);
    for (int n = 0; n < r.paths; n++)
        free(r.path[n]);
    free(r.path);
    return status;
}
