#include "output/last_snapshot.h"

#include "output/fingerprint.h"
#include "output/form.h"
#include "output/h5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The last of `count` snapshots whose sweep has the same time in the plan: a run that ended between
 * times of snapshots made shorter steps before its end, which a longer one does not make. The last
 * of all where there is none but the start, for the caller to refuse. */
static int64_t last_that_fits(const struct hs_plan *plan, int64_t count, const double *sweep,
                              const double *time, double step)
{
    for (int64_t n = count - 1; n > 0; n--)
        if (hs_plan_keeps_time(plan, (int64_t)sweep[n], time[n], step))
            return n;
    return count - 1;
}

/* Where to go on, and as much of the history as had been written by then. */
static void read_place(struct hs_h5 *h5, hid_t file, const struct hs_plan *plan,
                       struct hs_checkpoint_state *state)
{
    int64_t snapshots, times, rows, row_times;
    double *sweep = hs_h5_read_column(h5, file, "sweep", &snapshots);
    double *time = hs_h5_read_column(h5, file, "time", &times);
    double *row_sweep = hs_h5_read_column(h5, file, "history/sweep", &rows);
    double *row_time = hs_h5_read_column(h5, file, "history/time", &row_times);
    if (!h5->failed && (snapshots < 1 || times != snapshots || row_times != rows ||
                        !hs_places_are_sound(snapshots, sweep, time) ||
                        !hs_places_are_sound(rows, row_sweep, row_time)))
        h5->failed = "a snapshot";
    if (!h5->failed) {
        const bool shorter = plan->sweeps < (int64_t)sweep[snapshots - 1];
        const int64_t last =
            shorter ? snapshots - 1 : last_that_fits(plan, snapshots, sweep, time, state->step);
        struct hs_resume *resume = &state->resume;
        resume->sweep = (int64_t)sweep[last];
        resume->snapshots = last + 1;
        state->time = time[last];
        while (resume->rows < rows && row_sweep[resume->rows] <= sweep[last])
            resume->rows++;
        resume->places = hs_places(hs_places(0, resume->snapshots, sweep, time), resume->rows,
                                   row_sweep, row_time);
    }
    free(sweep);
    free(time);
    free(row_sweep);
    free(row_time);
}

/* The last of /temperature's steps, which has the shape that the fingerprint says. */
static void *read_step(struct hs_h5 *h5, hid_t file, const struct hs_problem *problem, int64_t step)
{
    const int dims = problem->grid.dims;
    hsize_t first[1 + HS_AXES] = {(hsize_t)step}, count[1 + HS_AXES] = {1};
    for (int d = 0; d < dims; d++)
        count[1 + d] = (hsize_t)problem->grid.points[dims - 1 - d];
    void *field =
        malloc((size_t)hs_grid_count(&problem->grid) * hs_precision_size(problem->precision));
    hs_h5_made(h5, field ? 0 : -1, "the last snapshot: there is no memory for it");
    const hid_t set =
        h5->failed ? H5I_INVALID_HID
                   : hs_h5_made(h5, H5Dopen2(file, "temperature", H5P_DEFAULT), "/temperature");
    const hid_t there = set < 0 ? set : H5Dget_space(set);
    if (!h5->failed && H5Sget_simple_extent_ndims(there) != 1 + dims)
        h5->failed = "/temperature";
    const hid_t here = H5Screate_simple(1 + dims, count, NULL);
    if (!h5->failed)
        hs_h5_did(h5, H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL),
                  "the last snapshot");
    if (!h5->failed)
        hs_h5_did(h5,
                  H5Dread(set,
                          problem->precision == HS_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                          here, there, H5P_DEFAULT, field),
                  "the last snapshot");
    hs_h5_close(here);
    hs_h5_close(there);
    hs_h5_close(set);
    return field;
}

enum hs_status hs_last_snapshot_read(const struct hs_problem *problem, const struct hs_plan *plan,
                                     const char *path, struct hs_checkpoint_state *state,
                                     void **field, char *reason, size_t size)
{
    struct hs_h5 h5 = {NULL};
    *field = NULL;
    *state = (struct hs_checkpoint_state){.resume = {.sweep = 0}};
    hs_h5_quiet();
    enum hs_contents_sum sum;
    const hid_t file = hs_h5_open(&h5, path, &sum);
    enum hs_status st = h5.failed ? HS_OK : hs_form_check(file, sum, reason, size);
    char *fingerprint = st || h5.failed ? NULL : hs_h5_read_text(&h5, file, "fingerprint");
    if (fingerprint)
        st = hs_fingerprint_compare(fingerprint, hs_fingerprint_of(problem), reason, size);
    state->step = st ? 0.0 : hs_h5_read_number(&h5, file, "step");
    state->interval = st ? 0.0 : hs_h5_read_number(&h5, file, "interval");
    state->end = st ? 0.0 : hs_h5_read_number(&h5, file, "end");
    if (!st && !h5.failed && !(isfinite(state->step) && state->step > 0.0))
        h5.failed = "step";
    if (!st)
        read_place(&h5, file, plan, state);
    void *values =
        st || h5.failed ? NULL : read_step(&h5, file, problem, state->resume.snapshots - 1);
    free(fingerprint);
    hs_h5_close(file);
    if (!st && h5.failed) {
        snprintf(reason, size, "cannot read %s", h5.failed);
        st = HS_IO;
    }
    if (st)
        free(values);
    else
        *field = values;
    return st;
}
