#include "output/tune_file.h"

#include "core/memory.h"
#include "core/regular.h"
#include "engine/make_plan.h"
#include "engine/measure/trial.h"
#include "engine/registry.h"
#include "output/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char first_line[] = "heatsolve tuning, format 1";

enum { MOST_BYTES = 1 << 16 }; /* of a file: far more than all kernels need */

/* Plausible times of a sweep [s]: no machine is faster, nobody waits longer. */
static const double least_seconds = 1e-12, most_seconds = 1e9;

/* ---- where it is ----------------------------------------------------------------------------- */

/* The cache directory, allocated; NULL if neither variable names one. */
static char *directory(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "/heatsolve"}, {"HOME", "/.cache/heatsolve"}};
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        const char *base = getenv(places[n].variable);
        if (base && base[0] == '/') /* set, and not relative */
            return hs_format("%s%s", base, places[n].below);
    }
    return NULL;
}

char *hs_tune_file_path(const struct hs_tune_case *about)
{
    char *in = directory(), *what = hs_format("%s\n%s", about->device, about->about);
    const unsigned char *bytes = (const unsigned char *)what;
    char *path = in ? hs_format("%s/tune-%08lx%08lx.txt", in, crc32_z(0, bytes, strlen(what)),
                                adler32_z(1, bytes, strlen(what)))
                    : NULL;
    free(in);
    free(what);
    return path;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The whole file, allocated. NULL with the reason in `why`, left unchanged if there is no file. */
static char *read_all(const char *path, char *why, size_t size)
{
    const char *reason;
    FILE *file = hs_regular_stream(path, false, &reason);
    if (!file) {
        if (errno != ENOENT && errno != ENOTDIR)
            snprintf(why, size, "%s", reason);
        return NULL;
    }
    char *text = hs_new(MOST_BYTES);
    errno = 0;
    const size_t length = fread(text, 1, MOST_BYTES - 1, file);
    const int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (!failed && length < MOST_BYTES - 1 && strlen(text) == length)
        return text;
    free(text);
    snprintf(why, size, "%s", failed ? strerror(failed) : "it is damaged");
    return NULL;
}

/* The next line without its newline; NULL if there is none or it has no newline. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static bool read_row(const char *line, struct hs_tune_row *out)
{
    int used = 0;
    *out = (struct hs_tune_row){.seconds = NAN};
    if (sscanf(line, "kernel %63s %lf %d%n", out->kernel, &out->seconds, &out->samples, &used) == 3)
        return line[used] == '\0' && out->seconds >= least_seconds &&
               out->seconds <= most_seconds && out->samples > 0;
    out->seconds = NAN;
    return sscanf(line, "failed %63s %159[^\n]", out->kernel, out->failure) >= 1;
}

static bool read_rows(char **at, struct hs_tuning *out)
{
    for (char *line = next_line(at); line; line = next_line(at)) {
        if (strcmp(line, "end") == 0)
            return **at == '\0' && out->count > 0 && out->row[0].seconds > 0.0;
        if (out->count == HS_TUNE_MOST || !read_row(line, &out->row[out->count++]))
            return false;
    }
    return false;
}

/* Leaves `why` unchanged if the text is a valid result for this case. */
static void parse(char *at, const struct hs_tune_case *about, struct hs_tuning *out, char *why,
                  size_t size)
{
    static const char other[] = "it is for another device or case";
    const struct {
        const char *word, *ours, *fault;
    } heads[] = {{"version ", about->version, "it is from heatsolve %s, this is %s"},
                 {"driver ", about->driver, "it is for driver %s, this is %s"},
                 {"device ", about->device, other},
                 {"case ", about->about, other}};
    const char *line = next_line(&at);
    if (!line || strcmp(line, first_line) != 0) {
        snprintf(why, size, "it does not begin with \"%s\"", first_line);
        return;
    }
    bool good = true;
    for (size_t n = 0; n < sizeof heads / sizeof *heads && good; n++) {
        const size_t length = strlen(heads[n].word);
        line = next_line(&at);
        good = line && strncmp(line, heads[n].word, length) == 0;
        if (good && strcmp(line + length, heads[n].ours) != 0 && !why[0])
            snprintf(why, size, heads[n].fault, line + length, heads[n].ours);
    }
    int used = 0;
    line = good ? next_line(&at) : NULL;
    if (!line || sscanf(line, "seconds %lf%n", &out->seconds, &used) != 1 || line[used] ||
        !(out->seconds >= 0.0 && out->seconds <= most_seconds) || !read_rows(&at, out))
        snprintf(why, size, "it is damaged");
}

bool hs_tune_file_read(const struct hs_tune_case *about, struct hs_tuning *out)
{
    *out = (struct hs_tuning){.about = *about};
    char *path = hs_tune_file_path(about);
    if (!path)
        return false; /* no directory: nothing can have been kept */
    char why[256] = "";
    char *text = read_all(path, why, sizeof why);
    if (text)
        parse(text, about, out, why, sizeof why);
    if (why[0])
        snprintf(out->why, sizeof out->why, "%s: %s", path, why);
    const bool found = text && !why[0];
    free(text);
    free(path);
    return found;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void print(FILE *file, const struct hs_tuning *tuning)
{
    const struct hs_tune_case *about = &tuning->about;
    fprintf(file, "%s\nversion %s\ndriver %s\ndevice %s\ncase %s\nseconds %.3g\n", first_line,
            about->version, about->driver, about->device, about->about, tuning->seconds);
    for (int n = 0; n < tuning->count; n++) {
        const struct hs_tune_row *row = &tuning->row[n];
        if (isnan(row->seconds))
            fprintf(file, "failed %s %s\n", row->kernel, row->failure);
        else
            fprintf(file, "kernel %s %.9g %d\n", row->kernel, row->seconds, row->samples);
    }
    fprintf(file, "end\n");
}

/* Each writer uses a temporary name of its own, so that two at once do not write to one file. New
 * directories are private to the user, as the specification demands. */
bool hs_tune_file_write(struct hs_tuning *tuning)
{
    char *path = hs_tune_file_path(&tuning->about);
    if (!path) {
        snprintf(tuning->why, sizeof tuning->why,
                 "neither XDG_CACHE_HOME nor HOME names a directory");
        return false;
    }
    size_t made;
    char *beside = hs_format("%s.XXXXXX", path);
    char *failed = hs_file_make_directories(path, 0700, &made);
    FILE *file = failed ? NULL : hs_regular_adopt(mkstemp(beside), "w");
    bool good = file != NULL;
    if (file) {
        print(file, tuning);
        good = !ferror(file);
        good = fclose(file) == 0 && good && rename(beside, path) == 0;
    }
    if (!good) {
        snprintf(tuning->why, sizeof tuning->why, "%s: cannot write: %s", path, strerror(errno));
        unlink(beside);
    }
    free(failed);
    free(beside);
    free(path);
    return good;
}

bool hs_tune_file_suits(const struct hs_plan *plan)
{
    return !plan->steady_method && !plan->method->jumps && hs_plan_sweeps_singly(plan);
}

enum hs_status hs_tune_file_renew(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_tuning *out, struct hs_error *err)
{
    if (!hs_tune_file_suits(plan)) {
        const bool steady = plan->steady_method;
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: %s.method = \"%s\": tuning times sweeps, which this method does "
                            "not make by themselves; tune the case as \"%s\"",
                            hs_problem_place(problem, steady ? HS_PLACE_STEADY : HS_PLACE_METHOD),
                            steady ? "steady" : "time", hs_plan_method(plan)->name,
                            steady ? "sweeps" : "euler");
    }
    HS_TRY(hs_tune_measure(hs_kernels, problem, plan, out, err));
    hs_tune_file_write(out);
    return HS_OK;
}

/* ---- the plan -------------------------------------------------------------------------------- */

bool hs_tune_file_use(const struct hs_tune_case *about, const struct hs_problem *problem,
                      struct hs_plan *plan, struct hs_tuning *out)
{
    if (!hs_tune_file_read(about, out))
        return false;
    if (hs_tune_apply(out, problem, plan))
        return true;
    snprintf(out->why, sizeof out->why, "this build has no kernel %s for the case",
             out->row[0].kernel);
    return false;
}

enum hs_status hs_tune_file_take(const struct hs_problem *problem, struct hs_plan *plan,
                                 struct hs_error *err)
{
    struct hs_tuning *tuning = hs_new(sizeof *tuning);
    struct hs_tune_case about;
    const enum hs_status st = hs_tune_case_of(problem, plan, &about, err);
    if (!st && !hs_tune_file_use(&about, problem, plan, tuning) && tuning->why[0])
        hs_plan_note(plan,
                     "the tuned kernel is not used: %s; heatsolve tune --retune measures again",
                     tuning->why);
    free(tuning);
    return st;
}

enum hs_status hs_tune_file_retune(const struct hs_problem *problem, struct hs_plan *plan,
                                   struct hs_error *err)
{
    struct hs_tuning *tuning = hs_new(sizeof *tuning);
    const enum hs_status st = hs_tune_file_renew(problem, plan, tuning, err);
    if (!st) {
        hs_tune_apply(tuning, problem, plan);
        hs_plan_note(plan, "tuned anew in %.2g s", tuning->seconds);
    }
    if (!st && tuning->why[0])
        hs_plan_note(plan, "not kept: %s", tuning->why);
    free(tuning);
    return st;
}

void hs_tune_file_try(const struct hs_problem *problem, struct hs_plan *plan, int64_t from)
{
    if (!hs_trial_due(hs_kernels, problem, plan, from))
        return;
    struct hs_tuning *tuning = hs_new(sizeof *tuning);
    hs_trial_make(hs_kernels, problem, plan, from, tuning);
    if (hs_tune_apply(tuning, problem, plan)) {
        hs_plan_note(plan, "tried the kernels for %.2g s", tuning->seconds);
        if (!hs_tune_file_write(tuning))
            hs_plan_note(plan, "not kept: %s", tuning->why);
    }
    free(tuning);
}

enum hs_status hs_tune_file_plan(const struct hs_problem *problem, struct hs_plan *out,
                                 struct hs_error *err)
{
    HS_TRY(hs_plan_make(problem, out, err));
    /* tuning applies only to runs whose steps are single sweeps */
    return !hs_plan_sweeps_singly(out) || out->choice == HS_CHOICE_NAMED
               ? HS_OK
               : hs_tune_file_take(problem, out, err);
}
