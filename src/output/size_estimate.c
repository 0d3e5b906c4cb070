#include "output/size_estimate.h"

#include "core/fletcher.h"
#include "core/text.h"
#include "output/chunks.h"
#include "output/files.h"
#include "output/history.h"
#include "output/labels.h"
#include "output/snapshots.h"
#include "output/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum compression ratio of deflate. Source: zlib's technical details, zlib.net. */
static const double deflate_most = 1032.0;

/* Time of a small snapshot in addition to its sweeps, measured on two cores. */
static const double snapshot_seconds = 1e-4;

/* Rows of the history: at each snapshot and every output.history_every sweeps. */
static double rows_of(const struct hs_problem *problem, const struct hs_plan *plan)
{
    const int64_t every = problem->schedule.history_every, snapshots = hs_plan_snapshots(plan);
    if (every <= 0)
        return (double)snapshots;
    const bool among = plan->output_every > 0 && plan->output_every % every != 0;
    return (double)(plan->sweeps / every + (among ? snapshots : 2));
}

static int columns_of(const struct hs_problem *problem)
{
    return HS_SERIES_FIRST + hs_history_count(hs_quantities, problem) + problem->probe_count;
}

/* Size of one entry of the chunk index. */
static double key_bytes(const struct hs_problem *problem)
{
    return 8.0 + 8.0 * (problem->grid.dims + 2) + 8.0;
}

/* Size of names and attributes, measured with HDF5 1.10. */
static double names_bytes(const struct hs_problem *problem)
{
    double bytes = 36e3 + 2700.0 * columns_of(problem);
    if (problem->config_text)
        bytes += 1.2 * (double)strlen(problem->config_text);
    if (problem->body)
        bytes += 1600.0 * problem->body->substance_count + 450.0 * problem->body->solid_count;
    if (problem->plain)
        bytes += 1600.0 * problem->plain->substance_count;
    return bytes;
}

/* Upper bound of the labels: compression usually leaves a few per cent of it. */
static double labels_most(const struct hs_problem *problem)
{
    struct hs_chunks chunks;
    hs_labels_init(&chunks, problem);
    const double bytes = (double)(chunks.per_step * hs_chunks_bytes(&chunks));
    hs_chunks_release(&chunks);
    return bytes;
}

/* Size of the contents of a complete file: names, 8-byte numbers, and the chunk index. */
static double contents_bytes(const struct hs_problem *problem, const struct hs_plan *plan,
                             double chunks)
{
    double numbers =
        columns_of(problem) * rows_of(problem, plan) + 4.0 * (double)hs_plan_snapshots(plan);
    for (int axis = 0; axis < problem->grid.dims; axis++)
        numbers += (double)problem->grid.points[axis];
    return names_bytes(problem) + 8.0 * numbers + 1.1 * key_bytes(problem) * chunks;
}

double hs_size_estimate_bytes(const struct hs_problem *problem, const struct hs_plan *plan,
                              double seconds)
{
    struct hs_chunks chunks;
    hs_chunks_init(&chunks, &problem->grid, hs_precision_size(problem->precision), 0, 0);
    const double snapshots = (double)hs_plan_snapshots(plan);
    const int64_t chunk = hs_file_behind(0, hs_chunks_bytes(&chunks) + HS_FLETCHER_BYTES);
    const double fields = snapshots * (double)(chunks.per_step * chunk) +
                          (problem->output.compression > 0 ? labels_most(problem) : 0.0);
    const double contents = contents_bytes(problem, plan, snapshots * (double)chunks.per_step);
    hs_chunks_release(&chunks);
    return fields + contents +
           hs_store_superseded(names_bytes(problem), contents, fields + contents, hs_snapshots_gap,
                               seconds + snapshot_seconds * snapshots);
}

/* ---- the least ------------------------------------------------------------------------------- */

/* In floating point, because a mistyped interval can exceed the range of an integer. */
struct least {
    double snapshots, rows; /* how many */
    double fields, numbers; /* bytes */
};

static struct least least_of(const struct hs_problem *problem, const struct hs_plan *plan,
                             int64_t from)
{
    const bool anew = from == HS_SIZE_ESTIMATE_ANEW;
    const int64_t begin = anew ? 0 : from, every = problem->schedule.history_every;
    const int64_t rows = every > 0 ? plan->sweeps / every - begin / every : 0;
    const double nodes = (double)hs_grid_count(&problem->grid);
    struct least least = {.snapshots = (double)(hs_plan_snapshots_after(plan, begin) + anew)};
    least.rows = fmax(least.snapshots, (double)(rows + anew));
    least.fields = least.snapshots * nodes * (double)hs_precision_size(problem->precision);
    if (problem->output.compression > 0)
        least.fields = floor(least.fields / deflate_most);
    least.fields += least.snapshots * key_bytes(problem);
    least.numbers = 8.0 * columns_of(problem) * least.rows;
    return least;
}

/* The config key that makes the file so large, what it results in, and what to change. */
struct cause {
    char key[400], count[48], change[64];
};

static struct cause cause_of(const struct hs_problem *problem, const struct least *least)
{
    const struct hs_schedule *schedule = &problem->schedule;
    struct cause cause;
    snprintf(cause.count, sizeof cause.count, "%.0f snapshot%s", least->snapshots,
             least->snapshots == 1.0 ? "" : "s");
    if (schedule->history_every > 0 && least->numbers > least->fields) {
        snprintf(cause.key, sizeof cause.key, "%.300s: output.history_every = %lld",
                 hs_problem_place(problem, HS_PLACE_HISTORY), (long long)schedule->history_every);
        snprintf(cause.count, sizeof cause.count, "%.0f rows", least->rows);
        snprintf(cause.change, sizeof cause.change, "give a larger one");
    } else if (!isnan(schedule->output_interval)) {
        snprintf(cause.key, sizeof cause.key, "%.300s: output.interval = %.9g",
                 hs_problem_place(problem, HS_PLACE_INTERVAL), schedule->output_interval);
        snprintf(cause.change, sizeof cause.change, "give a longer one");
    } else if (schedule->output_every > 0) {
        snprintf(cause.key, sizeof cause.key, "%.300s: output.every = %lld",
                 hs_problem_place(problem, HS_PLACE_EVERY), (long long)schedule->output_every);
        snprintf(cause.change, sizeof cause.change, "give a larger one");
    } else {
        snprintf(cause.key, sizeof cause.key, "%.300s: grid%s",
                 hs_problem_place(problem, HS_PLACE_POINTS),
                 problem->place[HS_PLACE_POINTS] ? ".points" : "");
        snprintf(cause.change, sizeof cause.change, "free space there");
    }
    return cause;
}

enum hs_status hs_size_estimate_check(const struct hs_problem *problem, const struct hs_plan *plan,
                                      int64_t from, struct hs_error *err)
{
    const char *file = problem->output.file;
    const bool anew = from == HS_SIZE_ESTIMATE_ANEW;
    const struct least least = least_of(problem, plan, from);
    const double needed = least.fields + least.numbers, available = hs_file_free_space(file, anew);
    if (problem->schedule.steady || !(needed > available))
        return HS_OK;
    const struct cause cause = cause_of(problem, &least);
    const bool packs = problem->output.compression == 0 && least.fields >= least.numbers;
    char needs[HS_BYTES_TEXT], has[HS_BYTES_TEXT];
    hs_bytes_name(needed, needs, sizeof needs);
    hs_bytes_name(available, has, sizeof has);
    return hs_error_add(err, HS_IO,
                        "%s: that is %s%s, at least %.0f bytes (%s) in %s, where %.0f (%s) are "
                        "free; %s%s, or output.file on another disk",
                        cause.key, cause.count, anew ? "" : " more", needed, needs, file, available,
                        has, cause.change, packs ? ", or output.compression" : "");
}
