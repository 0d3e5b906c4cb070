#include "output/resume.h"

#include "core/round.h"
#include "engine/outcome.h"
#include "input/field_file.h"
#include "output/files.h"
#include "output/fingerprint.h"
#include "output/h5.h"
#include "output/resume_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

uint32_t hs_timeline_sum(uint32_t before, struct hs_timeline timeline)
{
    const size_t bytes = (size_t)timeline.rows * sizeof *timeline.sweeps;
    const uLong after = crc32_z(before, (const unsigned char *)timeline.sweeps, bytes);
    return (uint32_t)crc32_z(after, (const unsigned char *)timeline.times, bytes);
}

static bool is_sound(struct hs_timeline timeline)
{
    static const double most = 9007199254740992.0; /* 2^53: larger counts are not exact */
    const double *sweeps = timeline.sweeps, *times = timeline.times;
    bool sound = true;
    for (int64_t i = 0; i < timeline.rows && sound; i++)
        sound = isfinite(times[i]) && sweeps[i] >= 0.0 && sweeps[i] <= most &&
                (i == 0 || (sweeps[i] > sweeps[i - 1] && times[i] >= times[i - 1]));
    return sound;
}

struct hs_timeline hs_timeline_read(struct hs_h5 *h5, hid_t file, const char *sweep,
                                    const char *time, const char *what)
{
    int64_t times;
    struct hs_timeline read;
    read.sweeps = hs_h5_read_column(h5, file, sweep, &read.rows);
    read.times = hs_h5_read_column(h5, file, time, &times);
    if (!h5->failed && (times != read.rows || !is_sound(read)))
        h5->failed = what;
    if (h5->failed)
        read.rows = 0;
    return read;
}

int64_t hs_timeline_until(struct hs_timeline timeline, int64_t sweep, int64_t most)
{
    int64_t rows = 0;
    while (rows < timeline.rows && rows < most && (int64_t)timeline.sweeps[rows] <= sweep)
        rows++;
    return rows;
}

static const char no_place[] = "its position: no run can be there";

/* ---- where ----------------------------------------------------------------------------------- */

static void read_checkpoint(struct hs_h5 *h5, hid_t file, struct hs_checkpoint_state *state)
{
    struct hs_resume *resume = &state->resume;
    resume->sweep = hs_h5_read_whole(h5, file, "sweep");
    resume->snapshots = hs_h5_read_whole(h5, file, "snapshots");
    resume->rows = hs_h5_read_whole(h5, file, "rows");
    resume->places = (uint32_t)hs_h5_read_whole(h5, file, "places");
    state->time = hs_h5_read_number(h5, file, "time");
    double sweep = (double)resume->sweep;
    if (!h5->failed && (!is_sound((struct hs_timeline){1, &sweep, &state->time}) ||
                        resume->snapshots < 0 || resume->rows < 0))
        h5->failed = no_place;
}

/* The last snapshot that the plan reaches by the same steps: a run that ended between two snapshot
 * times shortened its last steps, as a longer run would not. If only the start qualifies, or the
 * plan ends before the last snapshot, returns the last one for the caller to refuse. */
static int64_t last_that_fits(const struct hs_plan *plan, struct hs_timeline snapshots,
                              const struct hs_checkpoint_state *state)
{
    const int64_t last = snapshots.rows - 1;
    if (plan->sweeps < (int64_t)snapshots.sweeps[last])
        return last;
    for (int64_t n = last; n > 0; n--)
        if (hs_plan_goes_on(plan, &state->past, (int64_t)snapshots.sweeps[n], snapshots.times[n]))
            return n;
    return last;
}

/* How a steady-state search ended, whether or not it succeeded or met exact.max_error. */
static void read_ended(struct hs_h5 *h5, hid_t file, struct hs_steady_end *out)
{
    char *status = hs_h5_read_text(h5, file, "status");
    if (status && H5Aexists(file, "steady_distance") > 0 &&
        (strcmp(status, hs_outcome_name(HS_OUTCOME_STEADY)) == 0 ||
         strcmp(status, hs_outcome_name(HS_OUTCOME_NOT_STEADY)) == 0 ||
         strcmp(status, hs_outcome_name(HS_OUTCOME_INACCURATE)) == 0)) {
        out->change = hs_h5_read_number(h5, file, "steady_change");
        out->distance = hs_h5_read_number(h5, file, "steady_distance");
    }
    free(status);
}

/* Resumes from one of the first `most` snapshots and the history rows up to its sweep. Both stay,
 * whether due or not. */
static void read_snapshot(struct hs_h5 *h5, hid_t file, const struct hs_plan *plan, int64_t most,
                          struct hs_checkpoint_state *state)
{
    static const char what[] = "a snapshot";
    struct hs_timeline snapshots = hs_timeline_read(h5, file, "sweep", "time", what),
                       history = hs_timeline_read(h5, file, "history/sweep", "history/time", what);
    if (!h5->failed && snapshots.rows < 1)
        h5->failed = what;
    if (!h5->failed) {
        const int64_t all = snapshots.rows;
        snapshots.rows = hs_smaller(all, most);
        const int64_t last = last_that_fits(plan, snapshots, state);
        struct hs_resume *resume = &state->resume;
        if (last == all - 1)
            read_ended(h5, file, &resume->ended);
        resume->sweep = (int64_t)snapshots.sweeps[last];
        state->time = snapshots.times[last];
        snapshots.rows = resume->snapshots = last + 1;
        history.rows = resume->rows = hs_timeline_until(history, resume->sweep, history.rows);
        resume->places = hs_timeline_sum(hs_timeline_sum(0, snapshots), history);
    }
    free(snapshots.sweeps);
    free(snapshots.times);
    free(history.sweeps);
    free(history.times);
}

/* ---- what ------------------------------------------------------------------------------------ */

/* Finds a step of /temperature, with the shape of the problem's grid, and reads all of it, so that
 * damage is found now, while another checkpoint may still be used. */
static enum hs_status find_field(const char *path, const struct hs_problem *problem, int64_t step,
                                 struct hs_stored **out, struct hs_error *why)
{
    const struct hs_field_shape shape = hs_field_shape_of(&problem->grid);
    HS_TRY(hs_field_file_find(path, "temperature", step, &shape, out, why));
    return hs_stored_read_all(*out, NULL, why);
}

/* Reads a checkpoint if `plan` is NULL, else one of the first `most` snapshots of an output.
 * *harmed: only its field cannot be read. */
static enum hs_status read_file(const struct hs_problem *problem, const struct hs_plan *plan,
                                const char *path, int64_t most, struct hs_checkpoint_state *state,
                                struct hs_stored **field, bool *harmed, struct hs_error *why)
{
    struct hs_h5 h5 = {NULL};
    *harmed = false;
    *state = (struct hs_checkpoint_state){.resume = {.ended = {NAN, NAN}}};
    hid_t file;
    struct hs_grown grown;
    enum hs_status st = hs_fingerprint_open(&h5, path, problem, &file, &grown, why);
    if (st) {
        hs_h5_close(file);
        return st;
    }
    state->past.step = hs_h5_read_number(&h5, file, "step");
    state->past.interval = hs_h5_read_number(&h5, file, "interval");
    state->past.end = hs_h5_read_number(&h5, file, "end");
    if (!h5.failed && !(isfinite(state->past.step) && state->past.step > 0.0))
        h5.failed = no_place;
    if (plan)
        read_snapshot(&h5, file, plan, most, state);
    else
        read_checkpoint(&h5, file, state);
    hs_h5_close(file);
    if (h5.failed)
        return hs_error_add(why, HS_IO, "cannot read %s", h5.failed);
    if (state->time > grown.until)
        return hs_error_add(why, HS_BAD_INPUT,
                            "%s: %s has new points after t = %.9g s, but the run has reached %.9g "
                            "s without them; resume with the table as it was, or " HS_BEGIN_ANEW,
                            path, grown.key, grown.until, state->time);
    struct hs_error fault = {0};
    st = find_field(path, problem, plan ? state->resume.snapshots - 1 : 0, field, &fault);
    if (st) {
        *harmed = st == HS_IO;
        st = hs_error_add(why, HS_IO, "%s", hs_error_reason(&fault));
        hs_stored_destroy(*field);
        *field = NULL;
    }
    hs_error_release(&fault);
    return st;
}

/* Reads the output's last snapshot that is intact. */
static enum hs_status read_output(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_checkpoint_state *state, struct hs_stored **field,
                                  struct hs_error *why)
{
    int64_t most = INT64_MAX, last = 0;
    bool harmed = true;
    enum hs_status st = HS_IO;
    while (st == HS_IO && harmed && most > 0) {
        hs_error_release(why);
        st = read_file(problem, plan, problem->output.file, most, state, field, &harmed, why);
        last = hs_larger(last, state->resume.snapshots);
        most = state->resume.snapshots - 1;
    }
    state->resume.damaged = last - state->resume.snapshots;
    return st;
}

/* Reads the newest intact checkpoint or, if there are no checkpoint files, the output. */
static enum hs_status read_newest(const struct hs_problem *problem, const struct hs_plan *plan,
                                  char *const paths[2], struct hs_checkpoint_state *state,
                                  struct hs_stored **field, struct hs_error *err)
{
    const char *output = problem->output.file, *from = output;
    struct hs_error why = {0};
    enum hs_status st = HS_IO;
    bool harmed;
    const char *left[2] = {NULL, NULL}; /* checkpoints that exist */
    for (int i = 0; i < 2 && st == HS_IO; i++) {
        if (access(paths[i], F_OK))
            continue;
        from = left[left[0] != NULL] = paths[i];
        hs_error_release(&why);
        st = read_file(problem, NULL, from, 0, state, field, &harmed, &why);
    }
    if (!left[0])
        st = read_output(problem, plan, state, field, &why);
    const char *reason = hs_error_reason(&why);
    if (st == HS_IO && left[0])
        hs_error_add(err, st,
                     "%s: no checkpoint to resume from: %s; remove %s%s%s to continue from the "
                     "last snapshot in %s, or " HS_BEGIN_ANEW,
                     from, reason, left[0], left[1] ? " and " : "", left[1] ? left[1] : "", output);
    else if (st == HS_IO)
        hs_error_add(err, st,
                     "%s: no checkpoint to resume from, and no snapshot: %s; " HS_BEGIN_ANEW,
                     output, reason);
    else if (st)
        hs_error_join(err, &why);
    else if (access(output, F_OK))
        st = hs_error_add(err, HS_IO,
                          "%s: is not there, but the checkpoint %s continues it; put back the file "
                          "that belongs to the checkpoint, or " HS_BEGIN_ANEW,
                          output, from);
    hs_error_release(&why);
    return st;
}

enum hs_status hs_resume_read(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_resume *resume, struct hs_stored **field,
                              struct hs_error *err)
{
    *field = NULL;
    /* a solver's residual is relative to the initial field, and its only snapshot stays */
    if (plan->steady_method)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: steady.method = \"%s\": it does not step through time, so there "
                            "is nothing to resume; " HS_BEGIN_ANEW,
                            hs_problem_place(problem, HS_PLACE_STEADY), plan->steady_method->name);
    struct hs_checkpoint_state state;
    char *paths[] = {hs_file_sibling(problem->output.file, ".checkpoint.h5"),
                     hs_file_sibling(problem->output.file, ".checkpoint.1.h5")};
    enum hs_status st = read_newest(problem, plan, paths, &state, field, err);
    free(paths[0]);
    free(paths[1]);
    if (!st)
        st = hs_resume_check_time(problem, plan, &state, err);
    *resume = state.resume;
    return st;
}
