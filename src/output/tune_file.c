#include "output/tune_file.h"
#include "engine/trial.h"

#include "core/regular.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "heatsolve tuning, format 1";

enum { MOST_BYTES = 1 << 16 }; /* of a file: far more than the most kernels take */

/* ---- where it is ----------------------------------------------------------------------------- */

/* "DIRECTORY/heatsolve", allocated; NULL: neither variable names one. */
static char *directory(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "/heatsolve"}, {"HOME", "/.cache/heatsolve"}};
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        const char *base = getenv(places[n].variable);
        if (!base || base[0] != '/') /* not set, empty, or relative */
            continue;
        const size_t size = strlen(base) + strlen(places[n].below) + 1;
        char *out = malloc(size);
        if (out)
            snprintf(out, size, "%s%s", base, places[n].below);
        return out;
    }
    return NULL;
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). Going on from `hash`. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

char *hs_tune_file_path(const struct hs_tune_case *about, char *reason, size_t size)
{
    char *in = directory();
    const size_t room = in ? strlen(in) + 64 : 0;
    char *out = in ? malloc(room) : NULL;
    const uint64_t hash =
        hash_text(hash_text(hash_text(0xcbf29ce484222325u, about->device), "\n"), about->about);
    if (out)
        snprintf(out, room, "%s/tune-%016llx.txt", in, (unsigned long long)hash);
    else
        snprintf(reason, size, "%s",
                 in ? "no memory" : "neither XDG_CACHE_HOME nor HOME names a directory");
    free(in);
    return out;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The whole file, allocated. NULL with the reason, which is NULL where there is no file. */
static char *read_all(const char *path, const char **why)
{
    FILE *file = hs_regular_stream(path, false, why);
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        *why = NULL;
    char *text = file ? malloc(MOST_BYTES) : NULL;
    if (!text) {
        if (file) {
            *why = "no memory";
            fclose(file);
        }
        return NULL;
    }
    errno = 0;
    const size_t length = fread(text, 1, MOST_BYTES - 1, file);
    const int failed = ferror(file) ? errno : 0;
    fclose(file);
    text[length] = '\0';
    if (!failed && length < MOST_BYTES - 1 && strlen(text) == length)
        return text;
    free(text);
    *why = failed ? strerror(failed) : "it is damaged";
    return NULL;
}

/* The next line without its end; NULL if there is none, or it has no end. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

/* What follows "WORD " in the next line; NULL if it is not such a line. */
static char *next_value(char **at, const char *word)
{
    char *line = next_line(at);
    const size_t length = strlen(word);
    return line && strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1
                                                                           : NULL;
}

static bool read_row(const char *line, struct hs_tune_row *out)
{
    int used = 0;
    *out = (struct hs_tune_row){.seconds = NAN};
    if (sscanf(line, "kernel %63s %lf %d%n", out->kernel, &out->seconds, &out->samples, &used) == 3)
        return line[used] == '\0' && isfinite(out->seconds) && out->seconds > 0.0 &&
               out->samples > 0;
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

/* "" if the text is a finding of this case, else why not. */
static void parse(char *text, const struct hs_tune_case *about, struct hs_tuning *out, char *reason,
                  size_t size)
{
    char *at = text;
    const char *line = next_line(&at);
    if (!line || strcmp(line, first_line) != 0) {
        snprintf(reason, size, "it does not begin with \"%s\"", first_line);
        return;
    }
    const char *version = next_value(&at, "version"), *device = next_value(&at, "device");
    const char *driver = next_value(&at, "driver"), *what = next_value(&at, "case");
    const char *seconds = next_value(&at, "seconds");
    char *end = NULL;
    out->seconds = seconds ? strtod(seconds, &end) : NAN;
    if (!version || !device || !driver || !what || !seconds || end == seconds || *end != '\0' ||
        !read_rows(&at, out))
        snprintf(reason, size, "it is damaged");
    else if (strcmp(device, about->device) != 0 || strcmp(what, about->about) != 0)
        snprintf(reason, size, "it is of another device or case");
    else if (strcmp(version, about->version) != 0)
        snprintf(reason, size, "it is of heatsolve %s, this is %s", version, about->version);
    else if (strcmp(driver, about->driver) != 0)
        snprintf(reason, size, "it is of driver %s, this is %s", driver, about->driver);
}

bool hs_tune_file_read(const struct hs_tune_case *about, struct hs_tuning *out, char *reason,
                       size_t size)
{
    *out = (struct hs_tuning){.about = *about};
    reason[0] = '\0';
    char why[256] = "", unused[128];
    char *path = hs_tune_file_path(about, unused, sizeof unused);
    if (!path)
        return false; /* nothing can have been kept */
    const char *unreadable;
    char *text = read_all(path, &unreadable);
    if (text)
        parse(text, about, out, why, sizeof why);
    else if (unreadable)
        snprintf(why, sizeof why, "%s", unreadable);
    if (why[0])
        snprintf(reason, size, "%s: %s", path, why);
    const bool found = text && !why[0];
    free(text);
    free(path);
    return found;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void print(FILE *file, const struct hs_tuning *tuning)
{
    const struct hs_tune_case *about = &tuning->about;
    fprintf(file, "%s\nversion %s\ndevice %s\ndriver %s\ncase %s\nseconds %.3g\n", first_line,
            about->version, about->device, about->driver, about->about, tuning->seconds);
    for (int n = 0; n < tuning->count; n++) {
        const struct hs_tune_row *row = &tuning->row[n];
        if (isnan(row->seconds))
            fprintf(file, "failed %s %s\n", row->kernel, row->failure);
        else
            fprintf(file, "kernel %s %.9g %d\n", row->kernel, row->seconds, row->samples);
    }
    fprintf(file, "end\n");
}

/* For the user alone, as the specification has it. errno on failure. */
static bool make_directories(const char *path)
{
    char *part = strdup(path);
    bool good = part != NULL;
    for (char *slash = good ? strchr(part + 1, '/') : NULL; slash && good;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        good = !mkdir(part, 0700) || errno == EEXIST;
        *slash = '/';
    }
    free(part);
    return good;
}

/* A name of its own for each writer, so that two at once do not write into one file. */
static bool write_beside(const struct hs_tuning *tuning, const char *path, char *beside,
                         size_t size)
{
    snprintf(beside, size, "%s.XXXXXX", path);
    const int fd = mkstemp(beside);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return false;
    print(file, tuning);
    const bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

bool hs_tune_file_write(const struct hs_tuning *tuning, char *reason, size_t size)
{
    char *path = hs_tune_file_path(&tuning->about, reason, size);
    if (!path)
        return false;
    const size_t room = strlen(path) + 8;
    char *beside = calloc(1, room);
    errno = ENOMEM;
    bool good = beside && make_directories(path) && write_beside(tuning, path, beside, room) &&
                rename(beside, path) == 0;
    if (!good) {
        snprintf(reason, size, "%s: cannot write: %s", path, strerror(errno));
        if (beside && beside[0])
            unlink(beside);
    }
    free(beside);
    free(path);
    return good;
}

enum hs_status hs_tune_file_renew(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_tuning *out, char **path, char *reason, size_t size,
                                  struct hs_error *err)
{
    *path = NULL;
    const enum hs_status st = hs_tune_measure(problem, plan, out, err);
    if (!st && hs_tune_file_write(out, reason, size))
        *path = hs_tune_file_path(&out->about, reason, size);
    return st;
}

/* ---- the plan -------------------------------------------------------------------------------- */

enum hs_status hs_tune_file_take(const struct hs_problem *problem, struct hs_plan *plan,
                                 struct hs_error *err)
{
    struct hs_tuning *tuning = malloc(sizeof *tuning);
    if (!tuning)
        return hs_error_add(err, HS_DEVICE, "no memory for what was tuned");
    char reason[384] = "";
    struct hs_tune_case about;
    const enum hs_status st = hs_tune_case_of(problem, plan, &about, err);
    if (!st && hs_tune_file_read(&about, tuning, reason, sizeof reason) &&
        !hs_tune_apply(tuning, problem, plan))
        snprintf(reason, sizeof reason, "this build has no kernel %s for the case",
                 tuning->row[0].kernel);
    if (!st && reason[0])
        hs_plan_note(plan, "what was tuned is not used: %s; heatsolve tune --retune tries again",
                     reason);
    free(tuning);
    return st;
}

enum hs_status hs_tune_file_retune(const struct hs_problem *problem, struct hs_plan *plan,
                                   struct hs_error *err)
{
    struct hs_tuning *tuning = malloc(sizeof *tuning);
    if (!tuning)
        return hs_error_add(err, HS_DEVICE, "no memory for what is tuned");
    char reason[384] = "", *path;
    const enum hs_status st =
        hs_tune_file_renew(problem, plan, tuning, &path, reason, sizeof reason, err);
    if (!st) {
        hs_tune_apply(tuning, problem, plan);
        hs_plan_note(plan, "tuned anew in %.2g s", tuning->seconds);
    }
    if (!st && !path)
        hs_plan_note(plan, "not kept: %s", reason);
    free(path);
    free(tuning);
    return st;
}

enum hs_status hs_tune_file_try(const struct hs_problem *problem, struct hs_plan *plan,
                                int64_t from, struct hs_error *err)
{
    if (!hs_trial_due(problem, plan, from))
        return HS_OK;
    struct hs_tuning *tuning = malloc(sizeof *tuning);
    if (!tuning)
        return hs_error_add(err, HS_DEVICE, "no memory for what is tried");
    char reason[384] = "";
    hs_trial_make(problem, plan, from, tuning);
    if (hs_tune_apply(tuning, problem, plan)) {
        hs_plan_note(plan, "tried the kernels for %.2g s", tuning->seconds);
        if (!hs_tune_file_write(tuning, reason, sizeof reason))
            hs_plan_note(plan, "not kept: %s", reason);
    }
    free(tuning);
    return HS_OK;
}

enum hs_status hs_tune_file_plan(const struct hs_problem *problem, struct hs_plan *out,
                                 struct hs_error *err)
{
    const enum hs_status st = hs_plan_make(problem, out, err);
    return st || out->choice == HS_CHOICE_NAMED ? st : hs_tune_file_take(problem, out, err);
}
