#include "output/checkpoint.h"

#include "core/clock.h"
#include "core/memory.h"
#include "output/checkpoint_file.h"
#include "output/existing.h"
#include "output/files.h"
#include "output/form.h"
#include "output/last_snapshot.h"
#include "output/resume_time.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct hs_checkpoint {
    struct hs_observer observer;
    const struct hs_problem *problem;
    struct hs_snapshots *snapshots;
    char *path, *older;
    double seconds;          /* between checkpoints; NaN: none but when stopped */
    double written, stopped; /* wall clock: last checkpoint (or start), last stop */
    int64_t last, stride;    /* last stop; sweeps to the next */
};

/* Looks at the clock this often within the time between two checkpoints. */
static const double looks = 50.0;

static int64_t next(void *self, int64_t sweep)
{
    const struct hs_checkpoint *c = self;
    if (isnan(c->seconds))
        return INT64_MAX;
    const int64_t due = c->last + c->stride;
    return due > sweep ? due : sweep + 1;
}

static enum hs_status write_now(struct hs_checkpoint *c, const struct hs_step_state *step_state,
                                struct hs_error *err)
{
    const void *field;
    enum hs_status st = hs_snapshots_flush(c->snapshots, err);
    if (!st)
        st = hs_existing_check(c->older, HS_EXISTING_CHECKPOINT, true, hs_existing_elsewhere, err);
    if (!st)
        st = hs_step_state_field(step_state, &field, err);
    if (!st) {
        const struct hs_checkpoint_state state = {
            .resume = hs_snapshots_resume(c->snapshots, step_state->sweep),
            .time = step_state->time,
            .step = hs_plan_step(step_state->plan),
            .interval = c->problem->schedule.output_interval,
            .end = c->problem->schedule.end};
        st = hs_checkpoint_file_write(c->problem, c->path, c->older, &state, field, err);
    }
    c->written = hs_clock_now();
    return st;
}

/* What is there and is no checkpoint came later than the run began, and stays. */
static enum hs_status remove_one(const char *path, struct hs_error *err)
{
    const enum hs_existing kind = hs_existing_at(path, true);
    if (kind != HS_EXISTING_CHECKPOINT && kind != HS_EXISTING_EMPTY)
        return HS_OK;
    if (unlink(path) && errno != ENOENT)
        return hs_file_failed(path, "remove this checkpoint", errno, 0, err);
    return HS_OK;
}

static enum hs_status remove_both(struct hs_checkpoint *c, struct hs_error *err)
{
    const enum hs_status st = remove_one(c->path, err);
    return st ? st : remove_one(c->older, err);
}

static enum hs_status start(struct hs_checkpoint *c, const struct hs_step_state *step_state,
                            struct hs_error *err)
{
    c->written = c->stopped = hs_clock_now();
    c->last = step_state->sweep;
    if (step_state->sweep == 0) /* those of an earlier run go on with a file that is no more */
        return remove_both(c, err);
    /* one that was passed over is not whole, and shall not push out the one that is */
    return hs_checkpoint_file_sweep(c->path) != step_state->sweep ? remove_one(c->path, err)
                                                                  : HS_OK;
}

static enum hs_status look(struct hs_checkpoint *c, const struct hs_step_state *step_state,
                           struct hs_error *err)
{
    const double t = hs_clock_now();
    if (step_state->sweep > c->last) {
        const double rate = (double)(step_state->sweep - c->last) / fmax(t - c->stopped, 1e-9);
        const double wanted = fmin(rate * c->seconds / looks, 8.0 * (double)c->stride);
        c->stride = (int64_t)fmax(1.0, fmin(wanted, 1e15));
    }
    c->last = step_state->sweep;
    c->stopped = t;
    return t - c->written >= c->seconds ? write_now(c, step_state, err) : HS_OK;
}

static enum hs_status notify(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err)
{
    struct hs_checkpoint *c = self;
    switch (step_state->phase) {
    case HS_PHASE_START: return start(c, step_state, err);
    case HS_PHASE_RUNNING: return look(c, step_state, err);
    case HS_PHASE_STOPPED: return write_now(c, step_state, err);
    case HS_PHASE_END: return remove_both(c, err);
    case HS_PHASE_DIVERGED: return HS_OK;
    }
    return HS_OK;
}

struct hs_checkpoint *hs_checkpoint_create(const struct hs_problem *problem,
                                           struct hs_snapshots *snapshots)
{
    struct hs_checkpoint *c = hs_new(sizeof *c);
    *c = (struct hs_checkpoint){
        .observer = {.name = "checkpoint", .self = c, .next = next, .notify = notify},
        .problem = problem,
        .snapshots = snapshots,
        .path = hs_file_sibling(problem->output.file, ".checkpoint.h5"),
        .older = hs_file_sibling(problem->output.file, ".checkpoint.1.h5"),
        .seconds = 60.0 * problem->output.checkpoint_minutes,
        .stride = 1};
    return c;
}

struct hs_observer *hs_checkpoint_observer(struct hs_checkpoint *checkpoint)
{
    return &checkpoint->observer;
}

void hs_checkpoint_destroy(struct hs_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    free(checkpoint->path);
    free(checkpoint->older);
    free(checkpoint);
}

/* The newest that is whole; or, where there is none at all, the last snapshot of the output. */
static enum hs_status read_newest(const struct hs_problem *problem, const struct hs_plan *plan,
                                  char *const paths[2], struct hs_checkpoint_state *state,
                                  void **field, struct hs_error *err)
{
    const char *output = problem->output.file, *from = output;
    char reason[512] = "";
    enum hs_status st = HS_IO;
    const char *left[2] = {NULL, NULL}; /* that are there and not whole */
    for (int i = 0; i < 2 && st == HS_IO; i++) {
        if (access(paths[i], F_OK))
            continue;
        from = left[left[0] != NULL] = paths[i];
        st = hs_checkpoint_file_read(problem, from, state, field, reason, sizeof reason);
    }
    if (!left[0])
        st = hs_last_snapshot_read(problem, plan, output, state, field, reason, sizeof reason);
    if (st == HS_IO && left[0])
        return hs_error_add(err, st,
                            "%s: no checkpoint to resume from: %s; remove %s%s%s to go on from the "
                            "last snapshot in %s, or " HS_BEGIN_ANEW,
                            from, reason, left[0], left[1] ? " and " : "", left[1] ? left[1] : "",
                            output);
    if (st == HS_IO)
        return hs_error_add(err, st,
                            "%s: no checkpoint to resume from, and no snapshot: %s; " HS_BEGIN_ANEW,
                            output, reason);
    if (st)
        return hs_error_add(err, st, "%s: %s", from, reason);
    if (access(output, F_OK))
        return hs_error_add(err, HS_IO,
                            "%s: is not there, and %s goes on with it; put back the file that "
                            "belongs to it, or " HS_BEGIN_ANEW,
                            output, from);
    return HS_OK;
}

enum hs_status hs_checkpoint_read(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_resume *resume, void **field, struct hs_error *err)
{
    struct hs_checkpoint_state state = {.resume = {.sweep = 0}};
    char *paths[] = {hs_file_sibling(problem->output.file, ".checkpoint.h5"),
                     hs_file_sibling(problem->output.file, ".checkpoint.1.h5")};
    *field = NULL;
    enum hs_status st = read_newest(problem, plan, paths, &state, field, err);
    free(paths[0]);
    free(paths[1]);
    if (!st)
        st = hs_resume_check_time(problem, plan, &state, err);
    *resume = state.resume;
    return st;
}
