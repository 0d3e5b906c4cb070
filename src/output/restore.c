#include "output/restore.h"

#include "output/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct hs_h5 h5;
    hid_t file;
    const struct hs_resume *resume;
};

/* A column of the file, allocated; *rows is its length. NULL on failure. */
static double *read_column(struct reader *r, const char *group, const char *name, int64_t *rows)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", group[0] == '/' ? "" : group, name);
    if (r->h5.failed)
        return NULL;
    const hid_t set = hs_h5_made(&r->h5, H5Dopen2(r->file, path, H5P_DEFAULT), name);
    const hid_t space = set < 0 ? set : hs_h5_made(&r->h5, H5Dget_space(set), name);
    *rows = space < 0 ? 0 : (int64_t)H5Sget_simple_extent_npoints(space);
    double *values = malloc((size_t)(*rows + 1) * sizeof *values);
    hs_h5_made(&r->h5, values ? 0 : -1, name);
    if (!r->h5.failed && *rows > 0)
        hs_h5_did(&r->h5, H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                  name);
    hs_h5_close(space);
    hs_h5_close(set);
    return values;
}

/* As many of the file's `rows` as belong to the run, while their sweeps do. */
static int64_t kept(const struct reader *r, int64_t belonging, int64_t rows, const double *sweeps)
{
    int64_t n = 0;
    while (n < rows && n < belonging && (int64_t)sweeps[n] <= r->resume->sweep)
        n++;
    return n;
}

static enum hs_status read_history(struct reader *r, struct hs_series *history,
                                   struct hs_error *err)
{
    enum hs_status st = HS_OK;
    int64_t rows = 0, length;
    double *sweeps = read_column(r, "history", "sweep", &rows);
    double *times = read_column(r, "history", "time", &length);
    const int64_t keep = r->h5.failed ? 0 : kept(r, r->resume->rows, rows, sweeps);
    for (int64_t i = 0; i < keep && !st; i++)
        st = hs_series_add_row(history, (int64_t)sweeps[i], times[i], err);
    for (int c = HS_SERIES_FIRST; c < history->column_count && !st && !r->h5.failed; c++) {
        struct hs_column *column = &history->columns[c];
        double *values = read_column(r, column->group, column->name, &length);
        for (int64_t i = 0; !r->h5.failed && i < keep && i < length; i++)
            column->values[i] = values[i];
        free(values);
    }
    free(sweeps);
    free(times);
    return st;
}

/* Where the chunks of snapshot `step` lie. */
static void read_chunks(struct reader *r, hid_t set, int64_t step, const struct hs_chunks *chunks,
                        struct hs_chunk *out)
{
    const int dims = chunks->grid.dims;
    for (int64_t n = 0; n < chunks->per_step && !r->h5.failed; n++) {
        int64_t node[HS_AXES];
        hs_chunks_origin(chunks, n, node);
        hsize_t origin[1 + HS_AXES] = {(hsize_t)step}, bytes = 0;
        for (int d = 0; d < dims; d++)
            origin[1 + d] = (hsize_t)node[dims - 1 - d];
        haddr_t at = HADDR_UNDEF;
        hs_h5_did(&r->h5, H5Dget_chunk_info_by_coord(set, origin, &out[n].skipped, &at, &bytes),
                  "a chunk of /temperature");
        hs_h5_made(&r->h5, at == HADDR_UNDEF ? -1 : 0, "a chunk of /temperature");
        out[n].at = (int64_t)at;
        out[n].bytes = (int64_t)bytes;
    }
}

/* Whether /temperature has the shape, chunks and type that this run writes. */
static bool fits(struct reader *r, hid_t set, const struct hs_chunks *chunks)
{
    const int rank = 1 + chunks->grid.dims;
    hsize_t length[1 + HS_AXES] = {0}, chunk[1 + HS_AXES] = {0};
    const hid_t space = H5Dget_space(set), form = H5Dget_create_plist(set), type = H5Dget_type(set);
    bool same = space >= 0 && form >= 0 && type >= 0 && H5Tget_size(type) == chunks->size &&
                H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, length, NULL) == rank &&
                H5Pget_layout(form) == H5D_CHUNKED && H5Pget_chunk(form, rank, chunk) == rank &&
                H5Pget_nfilters(form) == (chunks->compression > 0 ? 2 : 0);
    for (int d = 1; d < rank && same; d++)
        same = (int64_t)length[d] == chunks->grid.points[rank - 1 - d] &&
               (int64_t)chunk[d] == chunks->chunk[rank - 1 - d];
    hs_h5_close(space);
    hs_h5_close(form);
    hs_h5_close(type);
    (void)r;
    return same;
}

static enum hs_status read_snapshots(struct reader *r, const char *file, struct hs_chunks *chunks,
                                     struct hs_series *snapshots, struct hs_error *err)
{
    int64_t rows = 0, length;
    double *sweeps = read_column(r, "/", "sweep", &rows);
    double *times = read_column(r, "/", "time", &length);
    const hid_t set =
        r->h5.failed
            ? H5I_INVALID_HID
            : hs_h5_made(&r->h5, H5Dopen2(r->file, "temperature", H5P_DEFAULT), "/temperature");
    enum hs_status st = HS_OK;
    if (!r->h5.failed && !fits(r, set, chunks))
        st = hs_error_add(err, HS_BAD_INPUT,
                          "%s: /temperature has another shape, type or compression than this "
                          "config's; resume with the config that began it, or begin anew with "
                          "--overwrite instead of --resume",
                          file);
    const int64_t keep = r->h5.failed ? 0 : kept(r, r->resume->snapshots, rows, sweeps);
    for (int64_t i = 0; i < keep && !st && !r->h5.failed; i++) {
        struct hs_chunk *list;
        st = hs_series_add_row(snapshots, (int64_t)sweeps[i], times[i], err);
        if (!st)
            st = hs_chunks_add_step(chunks, &list, err);
        if (!st)
            read_chunks(r, set, i, chunks, list);
    }
    hs_h5_close(set);
    free(sweeps);
    free(times);
    return st;
}

static enum hs_status check_complete(const struct hs_resume *resume, const char *file,
                                     const struct hs_series *snapshots,
                                     const struct hs_series *history, struct hs_error *err)
{
    if (snapshots->rows == resume->snapshots && history->rows == resume->rows)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: has %lld of the %lld snapshots up to sweep %lld, and %lld of the %lld "
                        "rows of its history, where the checkpoint goes on; put back the file that "
                        "belongs to it, or begin anew with --overwrite instead of --resume",
                        file, (long long)snapshots->rows, (long long)resume->snapshots,
                        (long long)resume->sweep, (long long)history->rows,
                        (long long)resume->rows);
}

enum hs_status hs_restore(const char *file, const struct hs_resume *resume,
                          struct hs_chunks *chunks, struct hs_series *snapshots,
                          struct hs_series *history, struct hs_error *err)
{
    struct reader r = {{NULL}, H5I_INVALID_HID, resume};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0)
        H5Pset_file_locking(access, 0, 1); /* readers may have it open */
    r.file = hs_h5_made(&r.h5, H5Fopen(file, H5F_ACC_RDONLY, access), "the file");
    enum hs_status st = read_snapshots(&r, file, chunks, snapshots, err);
    if (!st)
        st = read_history(&r, history, err);
    hs_h5_close(access);
    hs_h5_close(r.file);
    if (st)
        return st;
    if (r.h5.failed)
        return hs_error_add(
            err, HS_IO,
            "%s: cannot read %s, to go on with this file; put back the file that "
            "belongs to the checkpoint, or begin anew with --overwrite instead of --resume",
            file, r.h5.failed);
    return check_complete(resume, file, snapshots, history, err);
}
