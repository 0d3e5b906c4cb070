/*
 * Snapshots go to the store as they come. The contents that make them visible follow at once, but
 * not so often that they slow the run down: see commit_due.
 *
 * A separate writer thread writes the file; while it has work, only it calls HDF5. The loop's
 * thread adds rows to the history, takes the field at a stop, hands it over and continues; it waits
 * only if the previous field has not been read completely. At the end of a run, at a resumed start
 * and at a checkpoint it waits until everything is written.
 */
#include "output/snapshots.h"

#include "core/clock.h"
#include "core/memory.h"
#include "output/contents.h"
#include "output/history.h"
#include "output/labels.h"
#include "output/writer.h"
#include "output/xdmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Each commit rewrites all contents. So commits are at least this [s] apart, and at least
 * hs_store_pause, because the store keeps superseded contents for a while ... */
const double hs_snapshots_gap = 0.25;
/* ... and take at most about this share of the time. */
static const double commit_share = 0.1;

/* The input of a round of the writer. */
struct job {
    struct hs_frame *frame; /* of a snapshot; or NULL */
    int64_t sweep;
    double time;
    bool commit; /* now; else when due */
    bool wait;   /* until the round is done */
};

struct hs_snapshots {
    struct hs_observer observer;
    bool resumed;
    double begun;
    int64_t last_snapshot;          /* sweep of the last one handed over; -1: none */
    bool extra_snapshot, extra_row; /* the last one exists only because the run stopped there */
    struct hs_exact_error last_error;
    struct hs_balance *balance; /* NULL: none, or taken over by the caller */
    struct hs_writer *writer;
    struct job job;
    enum hs_status (*when_named)(void *self, struct hs_error *err); /* or NULL */
    void *when_named_self;
    /* What the file is to show, as of the last notification. Its chunks, labels and snapshots
     * belong to the writer, as do the next four; others use them only while it is idle. What
     * changes of the rest is under the writer's lock, as are the last two. */
    struct hs_contents file;
    struct hs_store *store;
    struct hs_image image;
    bool broken;                    /* a write failed; do not try again */
    int64_t shown;                  /* snapshots that the file's contents show */
    double committed, commit_pause; /* time of the last commit; minimum wait for the next [s] */
    bool pending;                   /* there is data that the file's contents do not show yet */
};

/* --- what is due ------------------------------------------------------------------------- */

static int64_t next_multiple(int64_t every, int64_t sweep)
{
    return every > 0 ? (sweep / every + 1) * every : INT64_MAX;
}

static bool is_multiple(int64_t every, int64_t sweep)
{
    return sweep == 0 || (every > 0 && sweep % every == 0);
}

static int64_t next(void *self, int64_t sweep)
{
    const struct hs_snapshots *s = self;
    const int64_t snapshot = next_multiple(s->file.plan->output_every, sweep);
    const int64_t history = next_multiple(s->file.problem->schedule.history_every, sweep);
    return snapshot < history ? snapshot : history;
}

/* --- the contents ------------------------------------------------------------------------ */

/* If the contents turn out too large for a reused gap, writes them again at the end of the file. */
static enum hs_status make_contents(struct hs_snapshots *s, struct hs_error *err)
{
    const size_t last = s->image.used;
    enum hs_status st = HS_OK;
    s->file.wall_seconds = hs_clock_now() - s->begun;
    for (int fresh = 0; fresh < 2; fresh++) {
        const int64_t capacity = hs_store_free_space(s->store, last, fresh, &s->image);
        st = hs_contents_write(&s->file, &s->image, err);
        if (st || (int64_t)s->image.used <= capacity)
            break;
    }
    return st;
}

/* If the folder was moved away together with the output, reports that instead. */
static enum hs_status write_sidecar(struct hs_snapshots *s, struct hs_error *err)
{
    struct hs_error why = {0};
    enum hs_status st = hs_xdmf_write(s->file.problem->output.file, &s->file.problem->grid,
                                      s->file.chunks.size, &s->file.snapshots, &why);
    if (st && !hs_store_check_intact(s->store, err))
        hs_error_join(err, &why);
    hs_error_release(&why);
    return st;
}

static enum hs_status commit(struct hs_snapshots *s, struct hs_error *err)
{
    const double begin = hs_clock_now();
    hs_writer_lock(s->writer);
    enum hs_status st = make_contents(s, err);
    s->pending = false;
    hs_writer_unlock(s->writer);
    if (!st)
        st = hs_store_write(s->store, &s->image, err);
    if (!st)
        st = hs_store_commit(s->store, &s->image, err);
    if (!st)
        s->shown = s->file.snapshots.rows;
    if (!st && s->when_named) {
        st = s->when_named(s->when_named_self, err);
        s->when_named = NULL;
    }
    if (!st)
        st = write_sidecar(s, err);
    const double end = hs_clock_now();
    hs_writer_lock(s->writer);
    if (!st)
        s->committed = end;
    s->commit_pause = fmax((end - begin) / commit_share,
                           hs_store_pause((double)s->image.used, (double)hs_store_end(s->store)));
    hs_writer_unlock(s->writer);
    return st;
}

static bool commit_due(struct hs_snapshots *s)
{
    hs_writer_lock(s->writer);
    const bool due =
        s->pending && hs_clock_now() - s->committed >= fmax(hs_snapshots_gap, s->commit_pause);
    hs_writer_unlock(s->writer);
    return due;
}

/* --- the writer's rounds ----------------------------------------------------------------- */

/* Commits what was written before a snapshot that could not be. Contents are small, so a full disk
 * may have room for them; the failure of the snapshot is reported in any case. */
static void save_earlier(struct hs_snapshots *s)
{
    struct hs_error unused = {0};
    if (s->committed > 0.0 && s->shown < s->file.snapshots.rows)
        (void)commit(s, &unused);
    hs_error_release(&unused);
}

static enum hs_status round_of_work(void *self, struct hs_error *err)
{
    struct hs_snapshots *s = self;
    const struct job job = s->job;
    enum hs_status st = HS_OK;
    if (job.frame) {
        if (!s->broken)
            st = hs_chunks_append_frame(&s->file.chunks, s->store, job.frame, err);
        hs_frame_release(job.frame);
        if (st)
            save_earlier(s);
    }
    hs_writer_took(s->writer);
    if (s->broken)
        return HS_OK; /* already reported */
    if (!st && job.frame) {
        hs_series_add_row(&s->file.snapshots, job.sweep, job.time);
        hs_writer_lock(s->writer);
        s->pending = true;
        hs_writer_unlock(s->writer);
    }
    if (!st && (job.commit || commit_due(s))) {
        st = hs_labels_append(&s->file.labels, s->store, s->file.problem->body, err);
        st = st ? st : commit(s, err);
    }
    s->broken = st;
    return st;
}

/* --- rows -------------------------------------------------------------------------------- */

/* Adds a row with the values of the probes. */
static void add_row(struct hs_snapshots *s, const struct hs_step_state *step_state,
                    const double *probes)
{
    struct hs_series *history = &s->file.history;
    hs_series_add_row(history, step_state->sweep, step_state->time);
    const int first = history->column_count - s->file.problem->probe_count;
    for (int i = 0; i < s->file.problem->probe_count; i++)
        history->columns[first + i].values[history->rows - 1] = probes[i];
}

/* Fills a new row of the history or, if there is one of this sweep already, that row. */
static enum hs_status add_history(struct hs_snapshots *s, const struct hs_step_state *step_state,
                                  bool new_row, const struct hs_exact_error *exact,
                                  struct hs_error *err)
{
    struct hs_history_state state = {
        .problem = s->file.problem, .sweep = step_state->sweep, .exact = exact};
    const int probes = new_row ? s->file.problem->probe_count : 0;
    double *values = hs_new((size_t)(probes + 1) * sizeof *values);
    enum hs_status st = hs_step_state_reduction(step_state, &state.reduction, err);
    if (!st && s->balance && new_row)
        st = hs_balance_look(s->balance, step_state, err);
    if (s->balance)
        state.balance = hs_balance_terms(s->balance);
    for (int i = 0; i < probes && !st; i++)
        st = hs_step_state_node(step_state, s->file.problem->probes[i].node, &values[i], err);
    if (!st) {
        hs_writer_lock(s->writer); /* the writer may be reading the history */
        if (new_row)
            add_row(s, step_state, values);
        hs_history_fill(hs_quantities, &state, &s->file.history);
        s->pending = true;
        hs_writer_unlock(s->writer);
    }
    free(values);
    return st;
}

/* Adds the history's row of this stop if one is due, and sets job->frame if a snapshot is. */
static enum hs_status record(struct hs_snapshots *s, const struct hs_step_state *step_state,
                             struct job *job, struct hs_error *err)
{
    const int64_t sweep = step_state->sweep;
    const bool last = step_state->phase == HS_PHASE_END || step_state->phase == HS_PHASE_STOPPED;
    const bool snapshot =
        (last || is_multiple(s->file.plan->output_every, sweep)) && s->last_snapshot < sweep;
    const bool history =
        (snapshot || last || is_multiple(s->file.problem->schedule.history_every, sweep)) &&
        hs_series_last_sweep(&s->file.history) < sweep;
    const bool measured = snapshot && s->file.problem->exact.present;
    enum hs_status st = measured ? hs_exact_error(step_state, &s->last_error, err) : HS_OK;
    if (history)
        s->extra_row = !is_multiple(s->file.plan->output_every, sweep) &&
                       !is_multiple(s->file.problem->schedule.history_every, sweep);
    if (!st && (history || measured))
        st = add_history(s, step_state, history, measured ? &s->last_error : NULL, err);
    if (!snapshot || st)
        return st;
    hs_writer_await_taken(s->writer); /* one frame at a time */
    s->last_snapshot = sweep;
    s->extra_snapshot = !is_multiple(s->file.plan->output_every, sweep);
    return hs_step_state_frame(step_state, &job->frame, err);
}

/* Adds to the error of a failed write that the earlier data stays readable, if it does. */
static enum hs_status say_what_is_left(const struct hs_snapshots *s, enum hs_status st,
                                       struct hs_error *err)
{
    if (st == HS_IO && s->committed > 0.0 && !hs_store_check_intact(s->store, NULL))
        hs_error_add(err, st, "%s: what was written before stays readable",
                     s->file.problem->output.file);
    return st;
}

/* HS_OK, or the writer's failure; the first call adds its messages. */
static enum hs_status ask_writer(void *self, struct hs_error *err)
{
    const struct hs_snapshots *s = self;
    const size_t before = err->count;
    const enum hs_status st = hs_writer_failed(s->writer, err);
    return st && err->count > before ? say_what_is_left(s, st, err) : st;
}

static void note_step_state(struct hs_snapshots *s, const struct hs_step_state *step_state)
{
    hs_writer_lock(s->writer);
    s->file.sweep = step_state->sweep;
    s->file.sweep_seconds = step_state->seconds;
    if (step_state->steady)
        s->file.steady = *step_state->steady;
    if (step_state->device)
        snprintf(s->file.device, sizeof s->file.device, "%s", step_state->device);
    hs_writer_unlock(s->writer);
}

/* Call once the error of this stop is known. */
static void note_outcome(struct hs_snapshots *s, enum hs_phase phase)
{
    hs_writer_lock(s->writer);
    s->file.outcome = hs_outcome_of(s->file.problem, phase, &s->file.steady, s->last_error.max);
    hs_writer_unlock(s->writer);
}

/* Hands the job to the writer. Waits for it if the file must be complete, or if the frame is not
 * kept while the loop continues. */
static enum hs_status write_out(struct hs_snapshots *s, const struct job *job, struct hs_error *err)
{
    const bool wait = job->wait || (job->frame && !hs_frame_kept(job->frame));
    hs_writer_await_taken(s->writer);
    s->job = *job;
    hs_writer_hand_over(s->writer);
    if (wait)
        hs_writer_await_idle(s->writer);
    return wait ? ask_writer(s, err) : HS_OK;
}

static enum hs_status notify(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err)
{
    struct hs_snapshots *s = self;
    const enum hs_phase phase = step_state->phase;
    const bool resumes = phase == HS_PHASE_START && s->resumed;
    struct job job = {.sweep = step_state->sweep,
                      .time = step_state->time,
                      .commit = phase != HS_PHASE_RUNNING,
                      .wait = resumes || (phase != HS_PHASE_RUNNING && phase != HS_PHASE_START)};
    note_step_state(s, step_state);
    HS_TRY(ask_writer(s, err));
    /* a resumed run's file already has the rows of its start, or they were not due */
    const bool failed = phase == HS_PHASE_DIVERGED || phase == HS_PHASE_UNSOLVED;
    if (!failed && !resumes)
        HS_TRY(record(s, step_state, &job, err));
    note_outcome(s, phase);
    /* a busy writer checks itself, at the end of its round, whether a commit is due */
    const bool now_due = hs_writer_idle(s->writer) && commit_due(s);
    return job.frame || job.commit || now_due ? write_out(s, &job, err) : HS_OK;
}

static void drain(void *self)
{
    const struct hs_snapshots *s = self;
    hs_writer_await_idle(s->writer);
}

/* --- life -------------------------------------------------------------------------------- */

static void make_series(struct hs_snapshots *s)
{
    const char *const unit = hs_problem_temperature_unit(s->file.problem);
    hs_series_init(&s->file.snapshots, "/");
    hs_series_init(&s->file.history, "history");
    hs_history_add_columns(hs_quantities, s->file.problem, &s->file.history);
    for (int i = 0; i < s->file.problem->probe_count; i++)
        hs_series_add_column(&s->file.history, "probes", s->file.problem->probes[i].name, unit,
                             "temperature at the nearest node");
}

/* Reopens a run's file; locks it through the store first, so that no other run changes it. */
static enum hs_status take_up(struct hs_snapshots *s, const struct hs_resume *resume,
                              struct hs_error *err)
{
    const char *file = s->file.problem->output.file;
    HS_TRY(hs_store_reopen(file, &s->store, err));
    HS_TRY(hs_restore(resume, &s->file, err));
    s->shown = s->file.snapshots.rows;
    return HS_OK;
}

/* The error at the last snapshot of a resumed run, which may make no further snapshot. A due row
 * stays without its errors if they belong to a dropped snapshot, written at a stop. */
static struct hs_exact_error restored_error(struct hs_snapshots *s)
{
    const struct hs_series *history = &s->file.history;
    double *max = hs_series_last(history, "history", "max_error"),
           *l2 = hs_series_last(history, "history", "l2_error");
    if (!max || !l2)
        return (struct hs_exact_error){NAN, NAN};
    if (hs_series_last_sweep(history) != hs_series_last_sweep(&s->file.snapshots))
        *max = *l2 = NAN;
    return (struct hs_exact_error){*max, *l2};
}

static void note_start(struct hs_snapshots *s)
{
    const time_t t = time(NULL);
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(s->file.started, sizeof s->file.started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    s->begun = hs_clock_now();
}

enum hs_status hs_snapshots_create(const struct hs_problem *problem, const struct hs_plan *plan,
                                   const struct hs_resume *resume, struct hs_snapshots **out,
                                   struct hs_error *err)
{
    struct hs_snapshots *s = hs_new(sizeof *s);
    s->observer = (struct hs_observer){.name = "snapshots",
                                       .self = s,
                                       .wants_change = true,
                                       .next = next,
                                       .notify = notify,
                                       .ask = ask_writer,
                                       .drain = drain};
    s->file.problem = problem;
    s->file.plan = plan;
    s->resumed = resume != NULL;
    note_start(s);
    hs_chunks_init(&s->file.chunks, &problem->grid, hs_precision_size(problem->precision),
                   problem->output.compression, 0);
    hs_labels_init(&s->file.labels, problem);
    make_series(s);
    enum hs_status st = HS_OK;
    if (hs_balance_is_there(problem))
        st = hs_balance_create(problem, &s->balance, err);
    s->observer.wants_before = s->balance != NULL;
    if (!st)
        st = resume ? take_up(s, resume, err)
                    : hs_store_create(problem->output.file, HS_EXISTING_RUN,
                                      problem->output.overwrite, &s->store, err);
    s->last_snapshot = hs_series_last_sweep(&s->file.snapshots);
    s->last_error = restored_error(s);
    if (!st)
        st = hs_writer_create(round_of_work, s, &s->writer, err);
    if (st)
        hs_snapshots_destroy(s);
    *out = st ? NULL : s;
    return st;
}

struct hs_observer *hs_snapshots_observer(struct hs_snapshots *snapshots)
{
    return &snapshots->observer;
}

void hs_snapshots_when_named(struct hs_snapshots *snapshots,
                             enum hs_status (*act)(void *self, struct hs_error *err), void *self)
{
    snapshots->when_named = act;
    snapshots->when_named_self = self;
}

enum hs_status hs_snapshots_flush(struct hs_snapshots *snapshots, struct hs_error *err)
{
    const struct job job = {.commit = true, .wait = true};
    hs_writer_await_idle(snapshots->writer);
    if (snapshots->pending)
        return write_out(snapshots, &job, err);
    HS_TRY(ask_writer(snapshots, err));
    return hs_store_check_intact(snapshots->store, err);
}

struct hs_resume hs_snapshots_resume(const struct hs_snapshots *s, int64_t sweep)
{
    struct hs_timeline snapshots = hs_series_timeline(&s->file.snapshots),
                       history = hs_series_timeline(&s->file.history);
    snapshots.rows -= s->extra_snapshot;
    history.rows -= s->extra_row;
    return (struct hs_resume){.sweep = sweep,
                              .snapshots = snapshots.rows,
                              .rows = history.rows,
                              .places = hs_timeline_sum(hs_timeline_sum(0, snapshots), history)};
}

static void find_worst(const struct hs_series *history, struct hs_snapshots_end *end)
{
    const double *last = hs_series_last(history, "history", "max_error");
    for (int64_t back = 0; last && back < history->rows; back++)
        if (last[-back] > end->worst) { /* NaN in rows without a snapshot */
            end->worst = last[-back];
            end->worst_time = history->columns[HS_SERIES_TIME].values[history->rows - 1 - back];
        }
}

struct hs_snapshots_end hs_snapshots_end(struct hs_snapshots *snapshots)
{
    const struct hs_series *history = &snapshots->file.history;
    const int count = history->column_count - HS_SERIES_FIRST;
    hs_writer_await_idle(snapshots->writer);
    struct hs_snapshots_end end = {.count = snapshots->broken ? snapshots->shown
                                                              : snapshots->file.snapshots.rows,
                                   .error = snapshots->last_error,
                                   .balance = snapshots->balance,
                                   .sweep = hs_series_last_sweep(history)};
    snapshots->balance = NULL;
    find_worst(history, &end);
    if (history->rows > 0)
        end.row = hs_new((size_t)count * sizeof *end.row);
    for (int n = 0; n < count && end.row; n++)
        end.row[n] = history->columns[HS_SERIES_FIRST + n].values[history->rows - 1];
    return end;
}

/* Commits pending data after another part of the run failed; that part reports the error. */
static void write_what_is_left(struct hs_snapshots *s)
{
    hs_writer_await_idle(s->writer);
    if (s->broken || !s->pending || !(s->committed > 0.0))
        return;
    s->job = (struct job){.commit = true};
    hs_writer_hand_over(s->writer);
}

void hs_snapshots_destroy(struct hs_snapshots *snapshots)
{
    if (!snapshots)
        return;
    if (snapshots->writer)
        write_what_is_left(snapshots);
    hs_writer_destroy(snapshots->writer);
    hs_store_destroy(snapshots->store);
    hs_balance_destroy(snapshots->balance);
    hs_image_release(&snapshots->image);
    hs_chunks_release(&snapshots->file.chunks);
    hs_chunks_release(&snapshots->file.labels);
    hs_series_release(&snapshots->file.snapshots);
    hs_series_release(&snapshots->file.history);
    free(snapshots);
}
