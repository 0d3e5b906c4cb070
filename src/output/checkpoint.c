#include "output/checkpoint.h"

#include "core/clock.h"
#include "core/memory.h"
#include "output/chunks.h"
#include "output/field_set.h"
#include "output/files.h"
#include "output/fingerprint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct checkpoint {
    struct hs_observer observer;
    const struct hs_problem *problem;
    struct hs_snapshots *snapshots;
    bool resumed;
    char *path, *older;
    double seconds;          /* between checkpoints; NaN: only when the run is stopped */
    double written, stopped; /* wall clock: last checkpoint (or start), last stop */
    int64_t last, stride;    /* sweep of the last stop; sweeps to the next */
};

/* ---- the file -------------------------------------------------------------------------------- */

static enum hs_status make_contents(const struct checkpoint *c,
                                    const struct hs_checkpoint_state *state,
                                    const struct hs_chunks *chunks, struct hs_image *image,
                                    struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    const hid_t root = hs_image_open(&h5, image);
    hs_fingerprint_write(&h5, root, c->problem);
    hs_h5_whole(&h5, root, "sweep", state->resume.sweep);
    hs_h5_whole(&h5, root, "snapshots", state->resume.snapshots);
    hs_h5_whole(&h5, root, "rows", state->resume.rows);
    hs_h5_number(&h5, root, "time", state->time);
    hs_h5_number(&h5, root, "step", state->past.step);
    hs_h5_number(&h5, root, "interval", state->past.interval);
    hs_h5_number(&h5, root, "end", state->past.end);
    hs_h5_whole(&h5, root, "places", state->resume.places);
    hs_h5_close(hs_field_set(&h5, root, "temperature", chunks, 1, image));
    return hs_image_close(&h5, root, c->path, err);
}

static enum hs_status write_file(const struct checkpoint *c,
                                 const struct hs_checkpoint_state *state, struct hs_frame *frame,
                                 struct hs_error *err)
{
    struct hs_store *store = NULL;
    struct hs_image image = {.placed = -1};
    struct hs_chunks chunks;
    hs_chunks_init(&chunks, &c->problem->grid, hs_precision_size(c->problem->precision), 0, 0);
    enum hs_status st = hs_store_create(c->path, HS_EXISTING_CHECKPOINT, true, &store, err);
    if (!st)
        st = hs_chunks_append_frame(&chunks, store, frame, err);
    if (!st) {
        hs_store_free_space(store, 0, 1, &image);
        st = make_contents(c, state, &chunks, &image, err);
    }
    if (!st)
        st = hs_store_write(store, &image, err);
    if (!st && rename(c->path, c->older) && errno != ENOENT) /* the new one is whole */
        st = hs_file_failed(c->older, "put the older checkpoint there", errno, 0, err);
    if (!st)
        st = hs_store_commit(store, &image, err);
    hs_store_destroy(store);
    hs_image_release(&image);
    hs_chunks_release(&chunks);
    return st;
}

/* The sweep of a checkpoint, whether or not its field is intact; -1 if it cannot be read. */
static int64_t sweep_of(const char *path)
{
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    const hid_t file = hs_h5_open(&h5, path, &sum);
    const int64_t sweep = hs_h5_read_whole(&h5, file, "sweep");
    hs_h5_close(file);
    return h5.failed || sum != HS_CONTENTS_SUM_FITS ? -1 : sweep;
}

/* ---- the observer ---------------------------------------------------------------------------- */

/* Number of clock readings between two checkpoints. */
static const double clock_readings = 50.0;

static int64_t next(void *self, int64_t sweep)
{
    const struct checkpoint *c = self;
    if (isnan(c->seconds))
        return INT64_MAX;
    const int64_t due = c->last + c->stride;
    return due > sweep ? due : sweep + 1;
}

static enum hs_status write_now(struct checkpoint *c, const struct hs_step_state *step_state,
                                struct hs_error *err)
{
    struct hs_frame *frame = NULL;
    enum hs_status st = hs_snapshots_flush(c->snapshots, err);
    if (!st)
        st = hs_existing_check(c->older, HS_EXISTING_CHECKPOINT, hs_existing_elsewhere, err);
    if (!st)
        st = hs_step_state_frame(step_state, &frame, err);
    if (!st) {
        const struct hs_checkpoint_state state = {
            .resume = hs_snapshots_resume(c->snapshots, step_state->sweep),
            .time = step_state->time,
            .past = {.step = hs_plan_step(step_state->plan),
                     .interval = c->problem->schedule.output_interval,
                     .end = c->problem->schedule.end}};
        st = write_file(c, &state, frame, err);
    }
    hs_frame_release(frame);
    c->written = hs_clock_now();
    return st;
}

/* Leaves any other file alone: even an empty one may be a file that someone is about to write. */
static enum hs_status remove_one(const char *path, struct hs_error *err)
{
    if (hs_existing_at(path, true) != HS_EXISTING_CHECKPOINT)
        return HS_OK;
    if (unlink(path) && errno != ENOENT)
        return hs_file_failed(path, "remove this checkpoint", errno, 0, err);
    return HS_OK;
}

static enum hs_status remove_both(void *self, struct hs_error *err)
{
    const struct checkpoint *c = self;
    HS_TRY(remove_one(c->path, err));
    return remove_one(c->older, err);
}

static enum hs_status start(struct checkpoint *c, const struct hs_step_state *step_state,
                            struct hs_error *err)
{
    c->written = c->stopped = hs_clock_now();
    c->last = step_state->sweep;
    if (!c->resumed)
        return HS_OK;
    /* a checkpoint that was not used is damaged, and must not displace the intact older one */
    return sweep_of(c->path) != step_state->sweep ? remove_one(c->path, err) : HS_OK;
}

static enum hs_status read_clock(struct checkpoint *c, const struct hs_step_state *step_state,
                                 struct hs_error *err)
{
    const double t = hs_clock_now();
    if (step_state->sweep > c->last) {
        const double rate = (double)(step_state->sweep - c->last) / fmax(t - c->stopped, 1e-9);
        const double wanted = fmin(rate * c->seconds / clock_readings, 8.0 * (double)c->stride);
        c->stride = (int64_t)fmax(1.0, fmin(wanted, 1e15));
    }
    c->last = step_state->sweep;
    c->stopped = t;
    return t - c->written >= c->seconds ? write_now(c, step_state, err) : HS_OK;
}

static enum hs_status notify(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err)
{
    struct checkpoint *c = self;
    switch (step_state->phase) {
    case HS_PHASE_START: return start(c, step_state, err);
    case HS_PHASE_RUNNING: return read_clock(c, step_state, err);
    case HS_PHASE_STOPPED: return write_now(c, step_state, err);
    case HS_PHASE_END: return remove_both(c, err);
    case HS_PHASE_DIVERGED:
    case HS_PHASE_UNSOLVED: return HS_OK;
    }
    return HS_OK;
}

static void destroy(void *self)
{
    struct checkpoint *c = self;
    free(c->path);
    free(c->older);
    free(c);
}

struct hs_observer *hs_checkpoint_create(const struct hs_problem *problem,
                                         struct hs_snapshots *snapshots, bool resumed)
{
    struct checkpoint *c = hs_new(sizeof *c);
    *c = (struct checkpoint){.observer = {.name = "checkpoint",
                                          .self = c,
                                          .by_clock = true,
                                          .next = next,
                                          .notify = notify,
                                          .destroy = destroy},
                             .problem = problem,
                             .snapshots = snapshots,
                             .resumed = resumed,
                             .path = hs_file_sibling(problem->output.file, ".checkpoint.h5"),
                             .older = hs_file_sibling(problem->output.file, ".checkpoint.1.h5"),
                             .seconds = 60.0 * problem->output.checkpoint_minutes,
                             .stride = 1};
    if (!resumed) /* an earlier run's checkpoints go once its output is replaced */
        hs_snapshots_when_named(snapshots, remove_both, c);
    return &c->observer;
}
