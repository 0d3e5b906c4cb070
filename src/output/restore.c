#include "output/restore.h"

#include "output/fingerprint.h"
#include "output/h5.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct hs_h5 h5;
    hid_t file;
    const struct hs_resume *resume;
};

static void read_history(struct reader *r, struct hs_series *history)
{
    const struct hs_timeline there =
        hs_timeline_read(&r->h5, r->file, "history/sweep", "history/time", "history/sweep");
    const int64_t keep = hs_timeline_until(there, r->resume->sweep, r->resume->rows);
    for (int64_t i = 0; i < keep; i++)
        hs_series_add_row(history, (int64_t)there.sweeps[i], there.times[i]);
    for (int c = HS_SERIES_FIRST; c < history->column_count && !r->h5.failed; c++) {
        struct hs_column *column = &history->columns[c];
        int64_t length;
        const hid_t group =
            hs_h5_made(&r->h5, H5Gopen2(r->file, column->group, H5P_DEFAULT), column->group);
        if (strcmp(column->group, "history") == 0 &&
            H5Lexists(group, column->name, H5P_DEFAULT) <= 0) {
            hs_h5_close(group); /* a quantity that an older version did not write: NaN */
            continue;
        }
        double *values = hs_h5_read_column(&r->h5, group, column->name, &length);
        if (!r->h5.failed && length != there.rows)
            r->h5.failed = column->name;
        if (!r->h5.failed && keep > 0)
            memcpy(column->values, values, (size_t)keep * sizeof *values);
        free(values);
        hs_h5_close(group);
    }
    free(there.sweeps);
    free(there.times);
}

/* Reads the locations of a step's chunks; `lead` 0: a dataset without steps. */
static void read_chunks(struct reader *r, hid_t set, int lead, int64_t step,
                        const struct hs_chunks *chunks, struct hs_chunk *out)
{
    const int dims = chunks->grid.dims;
    static const char what[] = "the places of its chunks";
    for (int64_t n = 0; n < chunks->per_step && !r->h5.failed; n++) {
        int64_t node[HS_AXES];
        hs_chunks_origin(chunks, n, node);
        hsize_t origin[1 + HS_AXES] = {(hsize_t)step}, bytes = 0;
        for (int d = 0; d < dims; d++)
            origin[lead + d] = (hsize_t)node[dims - 1 - d];
        haddr_t at = HADDR_UNDEF;
        hs_h5_made(&r->h5, H5Dget_chunk_info_by_coord(set, origin, &out[n].skipped, &at, &bytes),
                   what);
        hs_h5_made(&r->h5, at == HADDR_UNDEF ? -1 : 0, what);
        out[n].at = (int64_t)at;
        out[n].bytes = (int64_t)bytes;
    }
}

/* Whether a dataset has the shape, chunks and value size that this run writes. */
static bool fits(hid_t set, int lead, const struct hs_chunks *chunks)
{
    const int rank = lead + chunks->grid.dims;
    hsize_t length[1 + HS_AXES] = {0}, chunk[1 + HS_AXES] = {0};
    const hid_t space = H5Dget_space(set), form = H5Dget_create_plist(set), type = H5Dget_type(set);
    bool same = space >= 0 && form >= 0 && type >= 0 && H5Tget_size(type) == chunks->size &&
                H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, length, NULL) == rank &&
                H5Pget_layout(form) == H5D_CHUNKED && H5Pget_chunk(form, rank, chunk) == rank &&
                H5Pget_nfilters(form) == (chunks->compression > 0 ? 3 : 1);
    for (int d = lead; d < rank && same; d++)
        same = (int64_t)length[d] == chunks->grid.points[rank - 1 - d] &&
               (int64_t)chunk[d] == chunks->chunk[rank - 1 - d];
    hs_h5_close(space);
    hs_h5_close(form);
    hs_h5_close(type);
    return same;
}

static enum hs_status read_snapshots(struct reader *r, const char *file, struct hs_contents *out,
                                     struct hs_error *err)
{
    const struct hs_timeline there = hs_timeline_read(&r->h5, r->file, "sweep", "time", "sweep");
    const hid_t set =
        r->h5.failed
            ? H5I_INVALID_HID
            : hs_h5_made(&r->h5, H5Dopen2(r->file, "temperature", H5P_DEFAULT), "/temperature");
    enum hs_status st = HS_OK;
    if (!r->h5.failed && !fits(set, 1, &out->chunks))
        st = hs_error_add(err, HS_BAD_INPUT,
                          "%s: /temperature has another shape, type or compression than this "
                          "config's; resume with the config that began it, or " HS_BEGIN_ANEW,
                          file);
    const int64_t keep = hs_timeline_until(there, r->resume->sweep, r->resume->snapshots);
    for (int64_t i = 0; i < keep && !st && !r->h5.failed; i++) {
        hs_series_add_row(&out->snapshots, (int64_t)there.sweeps[i], there.times[i]);
        read_chunks(r, set, 1, i, &out->chunks, hs_chunks_add_step(&out->chunks));
    }
    hs_h5_close(set);
    free(there.sweeps);
    free(there.times);
    return st;
}

static void read_labels(struct reader *r, struct hs_chunks *labels)
{
    if (labels->per_step == 0 || r->h5.failed || H5Lexists(r->file, "body", H5P_DEFAULT) <= 0)
        return;
    const hid_t set = H5Dopen2(r->file, "body/labels", H5P_DEFAULT);
    if (set >= 0 && fits(set, 0, labels))
        read_chunks(r, set, 0, 0, labels, hs_chunks_add_step(labels));
    hs_h5_close(set);
}

/* Checks that the rows are those of the state to resume, not of a run with other output times. */
static enum hs_status check_places(const struct hs_resume *resume, const char *file,
                                   const struct hs_contents *out, struct hs_error *err)
{
    const struct hs_series *snapshots = &out->snapshots, *history = &out->history;
    const uint32_t places = hs_timeline_sum(hs_timeline_sum(0, hs_series_timeline(snapshots)),
                                            hs_series_timeline(history));
    if (snapshots->rows == resume->snapshots && history->rows == resume->rows &&
        places == resume->places)
        return HS_OK;
    return hs_error_add(
        err, HS_BAD_INPUT,
        "%s: its %lld snapshots and %lld rows up to %s %lld are not the %lld and %lld of the "
        "checkpoint's run; put back the file that belongs to the checkpoint, or " HS_BEGIN_ANEW,
        file, (long long)snapshots->rows, (long long)history->rows, hs_plan_step_name(out->plan),
        (long long)resume->sweep, (long long)resume->snapshots, (long long)resume->rows);
}

enum hs_status hs_restore(const struct hs_resume *resume, struct hs_contents *out,
                          struct hs_error *err)
{
    const char *file = out->problem->output.file;
    struct reader r = {{NULL}, H5I_INVALID_HID, resume};
    struct hs_grown grown; /* hs_resume_read has looked */
    enum hs_status st = hs_fingerprint_open(&r.h5, file, out->problem, &r.file, &grown, err);
    if (!st)
        st = read_snapshots(&r, file, out, err);
    if (!st)
        read_history(&r, &out->history);
    if (!st)
        read_labels(&r, &out->labels);
    hs_h5_close(r.file);
    if (st)
        return st;
    if (r.h5.failed)
        return hs_error_add(err, HS_IO,
                            "%s: cannot read %s, which is needed to continue this file; put back "
                            "the file that belongs to the checkpoint, or " HS_BEGIN_ANEW,
                            file, r.h5.failed);
    return check_places(resume, file, out, err);
}
