#include "output/checkpoint_file.h"

#include "output/chunks.h"
#include "output/field_set.h"
#include "output/files.h"
#include "output/fingerprint.h"
#include "output/form.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t field_bytes(const struct hs_problem *problem)
{
    return (size_t)hs_grid_count(&problem->grid) * hs_precision_size(problem->precision);
}

static enum hs_status make_contents(const struct hs_problem *problem, const char *path,
                                    const struct hs_checkpoint_state *state,
                                    const struct hs_chunks *chunks, struct hs_image *image,
                                    struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    const hid_t root = hs_h5_made(&h5, hs_image_create(image), "the file's contents");
    hs_h5_text(&h5, root, "title", problem->title);
    hs_form_write(&h5, root);
    hs_h5_text(&h5, root, "fingerprint", hs_fingerprint_of(problem));
    hs_h5_text(&h5, root, "config", problem->config_text);
    hs_h5_whole(&h5, root, "sweep", state->resume.sweep);
    hs_h5_whole(&h5, root, "snapshots", state->resume.snapshots);
    hs_h5_whole(&h5, root, "rows", state->resume.rows);
    hs_h5_number(&h5, root, "time", state->time);
    hs_h5_number(&h5, root, "step", state->step);
    hs_h5_number(&h5, root, "interval", state->interval);
    hs_h5_number(&h5, root, "end", state->end);
    hs_h5_whole(&h5, root, "places", state->resume.places);
    hs_h5_close(hs_field_set(&h5, root, chunks, image));
    if (root >= 0)
        hs_h5_did(&h5, H5Fclose(root), "the file's contents");
    return h5.failed ? hs_error_add(err, HS_IO, "%s: HDF5 could not make %s; is there memory left?",
                                    path, h5.failed)
                     : HS_OK;
}

/* The old one moves aside only when the new one is whole, and is there should this one be lost. */
static enum hs_status keep_old(const char *path, const char *older, struct hs_error *err)
{
    if (rename(path, older) && errno != ENOENT)
        return hs_file_failed(older, "put the older checkpoint there", errno, 0, err);
    return HS_OK;
}

enum hs_status hs_checkpoint_file_write(const struct hs_problem *problem, const char *path,
                                        const char *older, const struct hs_checkpoint_state *state,
                                        const void *field, struct hs_error *err)
{
    struct hs_store *store = NULL;
    struct hs_image image = {.placed = -1};
    struct hs_chunks chunks;
    int64_t capacity;
    hs_h5_quiet();
    hs_chunks_init(&chunks, &problem->grid, hs_precision_size(problem->precision), 0, 0);
    enum hs_status st = hs_store_create(path, HS_EXISTING_CHECKPOINT, true, &store, err);
    if (!st)
        st = hs_chunks_append_field(&chunks, store, field, err);
    if (!st) {
        hs_store_free_space(store, 0, 1, &image.base, &capacity, &image.end);
        st = make_contents(problem, path, state, &chunks, &image, err);
    }
    if (!st)
        st = hs_store_write(store, &image, err);
    if (!st)
        st = keep_old(path, older, err);
    if (!st)
        st = hs_store_commit(store, &image, err);
    hs_store_destroy(store);
    hs_image_release(&image);
    hs_chunks_release(&chunks);
    return st;
}

/* --- reading ----------------------------------------------------------------------------- */

static void *read_field(struct hs_h5 *h5, hid_t file, const struct hs_problem *problem)
{
    void *field = malloc(field_bytes(problem));
    const hid_t set =
        hs_h5_made(h5, field ? H5Dopen2(file, "temperature", H5P_DEFAULT) : -1, "the field");
    const hid_t space = set < 0 ? set : H5Dget_space(set);
    if (!h5->failed &&
        H5Sget_simple_extent_npoints(space) != (hssize_t)hs_grid_count(&problem->grid))
        h5->failed = "the field";
    if (!h5->failed)
        hs_h5_did(h5,
                  H5Dread(set,
                          problem->precision == HS_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                          H5S_ALL, H5S_ALL, H5P_DEFAULT, field),
                  "the field");
    hs_h5_close(space);
    hs_h5_close(set);
    return field;
}

static bool is_sound(const struct hs_checkpoint_state *state)
{
    const double sweep = (double)state->resume.sweep;
    return hs_places_are_sound(1, &sweep, &state->time) && state->resume.snapshots >= 0 &&
           state->resume.rows >= 0 && isfinite(state->step) && state->step > 0.0;
}

static enum hs_status read_state(struct hs_h5 *h5, hid_t file, const struct hs_problem *problem,
                                 struct hs_checkpoint_state *state, char *reason, size_t size)
{
    char *fingerprint = hs_h5_read_text(h5, file, "fingerprint");
    state->resume.sweep = hs_h5_read_whole(h5, file, "sweep");
    state->resume.snapshots = hs_h5_read_whole(h5, file, "snapshots");
    state->resume.rows = hs_h5_read_whole(h5, file, "rows");
    state->resume.places = (uint32_t)hs_h5_read_whole(h5, file, "places");
    state->time = hs_h5_read_number(h5, file, "time");
    state->step = hs_h5_read_number(h5, file, "step");
    state->interval = hs_h5_read_number(h5, file, "interval");
    state->end = hs_h5_read_number(h5, file, "end");
    if (!h5->failed && !is_sound(state))
        h5->failed = "its place: it is not one that a run comes to";
    const enum hs_status st =
        h5->failed || !fingerprint
            ? HS_OK
            : hs_fingerprint_compare(fingerprint, hs_fingerprint_of(problem), reason, size);
    free(fingerprint);
    return st;
}

enum hs_status hs_checkpoint_file_read(const struct hs_problem *problem, const char *path,
                                       struct hs_checkpoint_state *state, void **field,
                                       char *reason, size_t size)
{
    struct hs_h5 h5 = {NULL};
    hs_h5_quiet();
    *field = NULL;
    enum hs_contents_sum sum;
    const hid_t file = hs_h5_open(&h5, path, &sum);
    enum hs_status st = h5.failed ? HS_OK : hs_form_check(file, sum, reason, size);
    if (!st)
        st = read_state(&h5, file, problem, state, reason, size);
    void *values = st || h5.failed ? NULL : read_field(&h5, file, problem);
    hs_h5_close(file);
    if (h5.failed) {
        snprintf(reason, size, "cannot read %s", h5.failed);
        st = HS_IO;
    }
    if (st)
        free(values);
    else
        *field = values;
    return st;
}

int64_t hs_checkpoint_file_sweep(const char *path)
{
    struct hs_h5 h5 = {NULL};
    hs_h5_quiet();
    enum hs_contents_sum sum;
    const hid_t file = hs_h5_open(&h5, path, &sum);
    const int64_t sweep = hs_h5_read_whole(&h5, file, "sweep");
    hs_h5_close(file);
    return h5.failed || sum != HS_CONTENTS_SUM_FITS ? -1 : sweep;
}
