#include "input/field_file.h"

#include "core/contents_sum.h"
#include "core/memory.h"
#include "core/regular.h"
#include "input/npy.h"
#include "input/options.h"

#include <errno.h>
#include <hdf5.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_RANK = HS_AXES + 1, LIST_SIZE = 300 };

/* ---- any array ------------------------------------------------------------------------------- */

/* An open array in a file of either kind. */
struct array {
    char *what; /* "dataset T", "the array of in.npy" */
    int file;   /* descriptor, by which the numbers of a .npy file are read; -1: none */
    hid_t set;
    int rank;
    hsize_t shape[H5S_MAX_RANK]; /* slowest first */
    bool turned;                 /* the dataset has its axes in reverse order */
    double missing[2];           /* what stands for a missing number; NaN: nothing does */
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
    return (struct hs_field_shape){grid, "the grid", axes[grid->dims], "make grid.points fit",
                                   NULL};
}

static char *other_shape(const struct array *array, const hsize_t *wanted,
                         const struct hs_field_shape *shape)
{
    const int dims = shape->grid->dims;
    bool turned = array->rank == dims;
    for (int axis = 0; axis < dims; axis++)
        turned = turned && array->shape[axis] == wanted[dims - 1 - axis];
    char *have = name_shape(array->rank, array->shape), *want = name_shape(dims, wanted);
    char *said =
        hs_format("%s is %s, %s is %s %s; %s%s", array->what, have, shape->what, want, shape->axes,
                  turned ? "its axes are the other way round: save it transposed"
                         : "a leading axis of steps may come before; ",
                  turned ? "" : shape->fit);
    free(have);
    free(want);
    return said;
}

/* Sets *taken to the field's index among the array's steps; or returns why it has no such field,
 * allocated. */
static char *choose_step(const struct array *array, int64_t step,
                         const struct hs_field_shape *shape, hsize_t *taken)
{
    const int dims = shape->grid->dims, leading = array->rank - dims;
    hsize_t wanted[HS_AXES] = {0};
    for (int axis = 0; axis < dims; axis++)
        wanted[axis] = (hsize_t)shape->grid->points[dims - 1 - axis];
    if ((leading != 0 && leading != 1) ||
        memcmp(array->shape + leading, wanted, (size_t)dims * sizeof *wanted) != 0)
        return other_shape(array, wanted, shape);
    const int64_t steps = leading ? (int64_t)array->shape[0] : 1;
    const int64_t at = step < 0 ? steps - 1 : step;
    if (at < 0 || at >= steps)
        return hs_format(
            "%s has %lld step%s, so there is no step %lld; the first is 0, -1 the last",
            array->what, (long long)steps, steps == 1 ? "" : "s", (long long)at);
    *taken = (hsize_t)at;
    return NULL;
}

/* The shape that the array has; NULL: none of them, and why. */
static const struct hs_field_shape *choose_shape(const struct array *array, int64_t step,
                                                 const struct hs_field_shape *shape, hsize_t *taken,
                                                 struct hs_error *why)
{
    char *faults = hs_copy("");
    for (char *fault; shape && (fault = choose_step(array, step, shape, taken)); free(fault)) {
        if (strcmp(fault, faults) != 0)
            faults = hs_list_add(faults, "; or ", fault);
        shape = shape->other;
    }
    if (!shape)
        hs_error_add(why, HS_BAD_INPUT, "%s", faults);
    free(faults);
    return shape;
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

/* Reads the nodes of one x at a time: they are contiguous in the file. */
static bool read_turned(const struct array *array, const hsize_t *start, const hsize_t *count,
                        const struct hs_box *box, double *out)
{
    const int x_axis = array->rank - 1;
    const int64_t nx = box->hi[HS_X] - box->lo[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y],
                  nz = box->hi[HS_Z] - box->lo[HS_Z];
    hsize_t first[MOST_RANK], extent[MOST_RANK];
    memcpy(first, start, sizeof first);
    memcpy(extent, count, sizeof extent);
    extent[x_axis] = 1;
    double *plane = hs_new((size_t)(ny * nz) * sizeof *plane);
    bool good = true;
    for (int64_t i = 0; i < nx && good; i++) {
        first[x_axis] = start[x_axis] + (hsize_t)i;
        good = read_slab(array, first, extent, plane);
        for (int64_t j = 0; j < ny; j++)
            for (int64_t k = 0; k < nz; k++)
                out[(k * ny + j) * nx + i] = plane[j * nz + k];
    }
    free(plane);
    return good;
}

static enum hs_status check_none_missing(const struct array *array, const struct hs_box *box,
                                         const double *values, struct hs_error *why)
{
    const int64_t nx = box->hi[HS_X] - box->lo[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y],
                  count = hs_box_count(box);
    const bool some = !isnan(array->missing[0]) || !isnan(array->missing[1]);
    for (int64_t n = 0; some && n < count; n++)
        if (values[n] == array->missing[0] || values[n] == array->missing[1])
            return hs_error_add(why, HS_BAD_INPUT,
                                "%s has no number at (%lld, %lld, %lld) along x, y, z: by its "
                                "attribute _FillValue or missing_value %.9g stands for a missing "
                                "one; fill it in",
                                array->what, (long long)(box->lo[HS_X] + n % nx),
                                (long long)(box->lo[HS_Y] + n / nx % ny),
                                (long long)(box->lo[HS_Z] + n / nx / ny), values[n]);
    return HS_OK;
}

/* Reads the numbers of a box of the field at that step. */
static enum hs_status read_box(const struct array *array, hsize_t step, int dims,
                               const struct hs_box *box, double *out, struct hs_error *why)
{
    hsize_t start[MOST_RANK] = {step}, count[MOST_RANK] = {1};
    for (int axis = 0; axis < dims; axis++) {
        start[array->rank - 1 - axis] = (hsize_t)box->lo[axis];
        count[array->rank - 1 - axis] = (hsize_t)(box->hi[axis] - box->lo[axis]);
    }
    if (array->turned ? read_turned(array, start, count, box, out)
                      : read_slab(array, start, count, out))
        return check_none_missing(array, box, out, why);
    return hs_error_add(why, HS_IO,
                        "%s cannot be read; is the file damaged, or made with a filter that this "
                        "HDF5 lacks?",
                        array->what);
}

static void close_array(struct array *array)
{
    if (array->set >= 0)
        H5Dclose(array->set);
    if (array->file >= 0)
        close(array->file);
    free(array->what);
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

/* Lists the datasets below a group, for the message about a missing one. */
static herr_t list_dataset(hid_t group, const char *name, const H5O_info_t *info, void *data)
{
    char *list = data;
    (void)group;
    const size_t used = strlen(list);
    if (info->type == H5O_TYPE_DATASET && used + strlen(name) + 8 < LIST_SIZE)
        snprintf(list + used, LIST_SIZE - used, "%s/%s", used ? ", " : "", name);
    return 0;
}

/* A dataset's attribute that is one number; NaN: it has none. */
static double number_beside(hid_t set, const char *name)
{
    double out = NAN;
    const hid_t found = H5Aexists(set, name) > 0 ? H5Aopen(set, name, H5P_DEFAULT) : -1;
    if (found < 0)
        return NAN;
    const hid_t space = H5Aget_space(found);
    if (H5Sget_simple_extent_npoints(space) != 1 || H5Aread(found, H5T_NATIVE_DOUBLE, &out) < 0)
        out = NAN;
    H5Sclose(space);
    H5Aclose(found);
    return out;
}

static enum hs_status describe_dataset(const char *name, struct array *out, struct hs_error *why)
{
    const hid_t type = H5Dget_type(out->set), space = H5Dget_space(out->set);
    const H5T_class_t class = H5Tget_class(type);
    out->what = hs_format("dataset %s", name);
    out->rank = H5Sget_simple_extent_ndims(space);
    if (out->rank > 0)
        H5Sget_simple_extent_dims(space, out->shape, NULL);
    H5Sclose(space);
    H5Tclose(type);
    out->missing[0] = number_beside(out->set, "_FillValue");
    out->missing[1] = number_beside(out->set, "missing_value");
    if (H5Aexists(out->set, "scale_factor") > 0 || H5Aexists(out->set, "add_offset") > 0)
        return hs_error_add(why, HS_BAD_INPUT,
                            "%s is packed: its numbers count only with its attributes scale_factor "
                            "and add_offset, which are not used here; write it unpacked",
                            out->what);
    /* an enumeration's members are integers; h5py writes a bool as one of 0 and 1 */
    return class == H5T_FLOAT || class == H5T_INTEGER || class == H5T_ENUM
               ? HS_OK
               : hs_error_add(why, HS_BAD_INPUT,
                              "%s does not hold numbers; floats, doubles, integers, bool and "
                              "other enumerations are read",
                              out->what);
}

/* A dataset's chunks; `bytes` is 0 if it has none. */
struct chunk {
    hsize_t extent[H5S_MAX_RANK], bytes;
};

static struct chunk chunk_of(hid_t set)
{
    struct chunk chunk = {.bytes = 0};
    const hid_t form = H5Dget_create_plist(set), type = H5Dget_type(set);
    const int rank =
        H5Pget_layout(form) == H5D_CHUNKED ? H5Pget_chunk(form, H5S_MAX_RANK, chunk.extent) : 0;
    if (rank > 0)
        chunk.bytes = H5Tget_size(type);
    for (int n = 0; n < rank; n++)
        chunk.bytes *= chunk.extent[n];
    H5Pclose(form);
    H5Tclose(type);
    return chunk;
}

/* Reopens a dataset with a cache that holds one chunk, so that a chunk is read and unpacked only
 * once. */
enum { LEAST_ROOM = 1 << 20, MOST_ROOM = 1 << 28 };
static hid_t with_room(hid_t set, hid_t file, const char *name)
{
    enum { SLOTS = 521 };
    const struct chunk chunk = chunk_of(set);
    if (chunk.bytes <= LEAST_ROOM || chunk.bytes > MOST_ROOM)
        return set;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, SLOTS, (size_t)chunk.bytes, 1.0);
    H5Dclose(set); /* an open dataset keeps its cache size */
    set = H5Dopen2(file, name, access);
    H5Pclose(access);
    return set;
}

static enum hs_status open_hdf5(const char *path, const char *name, struct array *out,
                                struct hs_error *why)
{
    if (hs_contents_sum_of(path) == HS_CONTENTS_SUM_WRONG)
        return hs_error_add(
            why, HS_IO,
            "%s: a run's file that is damaged or was changed by another program: the checksum of "
            "its table of contents does not match; make it again, or read a copy of it that "
            "h5repack makes",
            path);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return hs_error_add(why, HS_IO,
                            "%s: not a readable HDF5 file; it is damaged, of another kind, or "
                            "being written. Fields are read from HDF5 and from .npy files",
                            path);
    enum hs_status status;
    out->set = H5Dopen2(file, name, H5P_DEFAULT);
    if (out->set >= 0)
        out->set = with_room(out->set, file, name);
    if (out->set >= 0) {
        status = describe_dataset(name, out, why);
    } else {
        char list[LIST_SIZE] = "";
        H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, list_dataset, list);
        status = hs_error_add(why, HS_BAD_INPUT, "%s has no dataset %s; it has %s", path, name,
                              list[0] ? list : "none");
    }
    H5Fclose(file); /* once the dataset is */
    return status;
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Makes HDF5 read a .npy file as external data of a dataset in an in-memory file, and convert it.
 * By the open descriptor: HDF5 would also look for a name in $HDF5_EXTFILE_PREFIX. */
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

static enum hs_status open_npy(const char *path, struct array *out, struct hs_error *why)
{
    struct hs_npy npy;
    struct hs_error fault = {0};
    const enum hs_status status = hs_npy_read_header(out->file, &npy, &fault);
    if (status)
        hs_error_add(why, status, "%s: %s", path, fault.text);
    hs_error_release(&fault);
    if (status)
        return status;
    out->what = hs_format("the array of %s", path);
    out->set = dataset_of(out->file, &npy);
    out->rank = npy.rank;
    out->turned = npy.fortran;
    for (int axis = 0; axis < npy.rank; axis++)
        out->shape[axis] = (hsize_t)npy.shape[axis];
    return HS_OK;
}

/* ---- which of them --------------------------------------------------------------------------- */

/* Other kinds of file that users may have, by their first bytes. */
static const struct {
    const char *magic, *said;
} others[] = {
    {"PK\3\4", "a .npz or other zip archive; save the one array with numpy.save"},
    {"CDF", "a netCDF file of the classic format; nccopy -k nc4 makes HDF5 of it"},
    {"MATLAB 5.0", "a MATLAB file of the old format; save it with -v7.3, which is HDF5"},
    {"\x1f\x8b", "compressed with gzip; uncompress it"},
};

/* Opens a file according to its content, whatever its name. Must be closed even after failure. */
static enum hs_status open_array(const char *path, const char *name, struct array *out,
                                 struct hs_error *why)
{
    char head[16] = "";
    const char *reason;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* HDF5 would print its errors; only main prints */
    *out = (struct array){.set = H5I_INVALID_HID, .missing = {NAN, NAN}};
    out->file = hs_regular_open(path, false, &reason); /* HDF5 gives no reason and may block */
    if (out->file < 0)
        return hs_error_add(why, HS_IO, "cannot open %s: %s", path, reason);
    const ssize_t begun = pread(out->file, head, sizeof head - 1, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(head, others[i].magic, strlen(others[i].magic)) == 0)
            return hs_error_add(why, HS_IO, "%s: %s", path, others[i].said);
    return hs_npy_begins(head, begun > 0 ? (size_t)begun : 0) ? open_npy(path, out, why)
                                                              : open_hdf5(path, name, out, why);
}

/* ---- where they lie -------------------------------------------------------------------------- */

struct stored_file {
    struct hs_stored stored;
    struct stat status;
    struct array array; /* while open */
    bool open;
    hsize_t taken; /* index in the array's steps */
};

static void close_stored(const struct hs_stored *stored)
{
    struct stored_file *file = (struct stored_file *)(uintptr_t)stored;
    if (file->open)
        close_array(&file->array);
    file->open = false;
}

static void destroy(struct hs_stored *stored)
{
    struct stored_file *file = (struct stored_file *)stored;
    close_stored(stored);
    free(stored->path);
    free(stored->name);
    free(stored->place);
    free(file);
}

/* Layers to read together because of chunks: those of a chunk, unless a cache can keep it. */
static int64_t layers_of_chunk(const struct stored_file *file)
{
    const struct array *array = &file->array;
    const int slowest = array->rank - file->stored.dims;
    const struct chunk chunk = chunk_of(array->set);
    bool alone = chunk.bytes <= MOST_ROOM;
    for (int axis = slowest + 1; axis < array->rank; axis++)
        alone = alone && chunk.extent[axis] >= array->shape[axis];
    return chunk.bytes == 0 || alone ? 1 : (int64_t)chunk.extent[slowest];
}

/* A few MB, in whole chunks; more with reversed axes, where a layer is scattered over the file. In
 * 1D a layer is a node, and all are read together. */
static int64_t layers_together(const struct stored_file *file)
{
    enum { LEAST_BYTES = 4 << 20, TURNED_PARTS = 8 };
    const struct hs_stored *stored = &file->stored;
    if (stored->dims == 1)
        return stored->points[HS_X];
    const int64_t of_chunk = layers_of_chunk(file);
    int64_t layers = LEAST_BYTES / (hs_stored_plane(stored) * (int64_t)sizeof(double));
    if (file->array.turned && layers < hs_stored_layers(stored) / TURNED_PARTS)
        layers = hs_stored_layers(stored) / TURNED_PARTS;
    return layers < of_chunk ? of_chunk : layers / of_chunk * of_chunk;
}

/* Files named in a config must not change; a run may continue to write its own output. */
static bool is_as_found(const struct stored_file *file, const struct stat *now)
{
    const struct stat *found = &file->status;
    return !file->stored.place ||
           (now->st_ino == found->st_ino && now->st_dev == found->st_dev &&
            now->st_size == found->st_size && now->st_mtim.tv_sec == found->st_mtim.tv_sec &&
            now->st_mtim.tv_nsec == found->st_mtim.tv_nsec);
}

static enum hs_status open_again(struct stored_file *file, struct hs_error *why)
{
    struct stat now;
    if (file->open)
        return HS_OK;
    enum hs_status status = open_array(file->stored.path, file->stored.name, &file->array, why);
    if (!status && (fstat(file->array.file, &now) || !is_as_found(file, &now)))
        status = hs_error_add(
            why, HS_IO, "%s: was replaced or changed since this run began; start the run again",
            file->stored.path);
    file->open = status == HS_OK;
    if (status)
        close_array(&file->array);
    return status;
}

static enum hs_status read_stored(const struct hs_stored *stored, const struct hs_box *box,
                                  double *out, struct hs_error *err)
{
    struct stored_file *file = (struct stored_file *)(uintptr_t)stored;
    struct hs_error why = {0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* in each thread */
    enum hs_status status = open_again(file, &why);
    if (!status)
        status = read_box(&file->array, file->taken, stored->dims, box, out, &why);
    if (status)
        hs_error_add(err, status, "%s%s%s", stored->place ? stored->place : "",
                     stored->place ? ": " : "", hs_error_reason(&why));
    hs_error_release(&why);
    return status;
}

enum hs_status hs_field_file_find(const char *path, const char *name, int64_t step,
                                  const struct hs_field_shape *shape, struct hs_stored **out,
                                  struct hs_error *why)
{
    struct stored_file *file = hs_new(sizeof *file);
    file->stored = (struct hs_stored){.path = hs_copy(path),
                                      .name = hs_copy(name),
                                      .step = step,
                                      .dims = shape->grid->dims,
                                      .read = read_stored,
                                      .close = close_stored,
                                      .destroy = destroy};
    enum hs_status status = open_array(path, name, &file->array, why);
    if (!status && !(shape = choose_shape(&file->array, step, shape, &file->taken, why)))
        status = HS_BAD_INPUT;
    if (!status) {
        memcpy(file->stored.points, shape->grid->points, sizeof file->stored.points);
        file->stored.steps =
            file->array.rank > shape->grid->dims ? (int64_t)file->array.shape[0] : 0;
    }
    if (!status && fstat(file->array.file, &file->status))
        status = hs_error_add(why, HS_IO, "%s: %s", path, strerror(errno));
    if (!status)
        file->stored.together = layers_together(file);
    close_array(&file->array);
    if (status)
        destroy(&file->stored);
    *out = status ? NULL : &file->stored;
    return status;
}

/* Reads the numbers of a dataset beside the field, such as "x"; NULL: there is none. */
static double *read_beside(const struct hs_stored *stored, const char *what, int64_t *count)
{
    const char *slash = strrchr(stored->name, '/');
    char *name =
        hs_format("%.*s%s", slash ? (int)(slash + 1 - stored->name) : 0, stored->name, what);
    struct array array;
    struct hs_error unsaid = {0};
    const hsize_t start = 0;
    double *out = NULL;
    if (open_array(stored->path, name, &array, &unsaid) == HS_OK && array.rank == 1) {
        *count = (int64_t)array.shape[0];
        out = hs_new((size_t)(*count + 1) * sizeof *out);
        if (!read_slab(&array, &start, &array.shape[0], out)) {
            free(out);
            out = NULL;
        }
    }
    close_array(&array);
    hs_error_release(&unsaid);
    free(name);
    return out;
}

int64_t hs_field_file_misplaced(const struct hs_stored *stored, const struct hs_grid *grid,
                                int axis, double *there)
{
    int64_t count, found = -1;
    double *at = read_beside(stored, (const char[]){"xyz"[axis], '\0'}, &count);
    for (int64_t i = 0; at && count == grid->points[axis] && i < count && found < 0; i++)
        if (fabs(at[i] - hs_grid_coordinate(grid, axis, i)) > 0.01 * grid->spacing[axis]) {
            *there = at[i];
            found = i;
        }
    free(at);
    return found;
}

double hs_field_file_time(const struct hs_stored *stored)
{
    const struct stored_file *file = (const struct stored_file *)stored;
    int64_t count;
    double *time = stored->steps > 0 ? read_beside(stored, "time", &count) : NULL;
    const double found = time && (int64_t)file->taken < count ? time[file->taken] : NAN;
    free(time);
    return found;
}

char *hs_field_file_unit(const struct hs_stored *stored)
{
    struct array array;
    struct hs_error unsaid = {0};
    char *out = NULL;
    if (open_array(stored->path, stored->name, &array, &unsaid) == HS_OK &&
        H5Aexists(array.set, "units") > 0) {
        const hid_t found = H5Aopen(array.set, "units", H5P_DEFAULT), type = H5Aget_type(found);
        const size_t size = H5Tget_size(type);
        char *text = NULL; /* HDF5 converts no strings of fixed length to others */
        if (H5Tis_variable_str(type) > 0) {
            out = H5Aread(found, type, &text) >= 0 && text ? hs_copy(text) : NULL;
            H5free_memory(text);
        } else if (H5Tget_class(type) == H5T_STRING && H5Aget_storage_size(found) == size) {
            out = hs_new(size + 1);
            H5Aread(found, type, out);
        }
        H5Tclose(type);
        H5Aclose(found);
    }
    close_array(&array);
    hs_error_release(&unsaid);
    return out;
}
