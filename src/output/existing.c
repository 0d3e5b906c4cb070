#include "output/existing.h"

#include "core/regular.h"
#include "core/text.h"
#include "engine/plan.h"
#include "engine/registry.h"
#include "output/h5.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END_BYTES = 4096 }; /* read at each end of the file */

const char hs_existing_elsewhere[] = "write elsewhere with --output FILE";

/* ---- what it is ------------------------------------------------------------------------------ */

const char hs_existing_marks[][HS_MARK_BYTES] = {
    [HS_EXISTING_RUN] = "heatsolve run\n", [HS_EXISTING_CHECKPOINT] = "heatsolve checkpoint\n"};

const char hs_existing_part_mark[] = "heatsolve part\n";

struct ends {
    unsigned char first[END_BYTES], last[END_BYTES];
    size_t first_size, last_size;
};

static bool read_ends(int file, off_t size, struct ends *out)
{
    const ssize_t first = pread(file, out->first, END_BYTES, 0);
    const ssize_t last = pread(file, out->last, END_BYTES, size > END_BYTES ? size - END_BYTES : 0);
    out->first_size = first > 0 ? (size_t)first : 0;
    out->last_size = last > 0 ? (size_t)last : 0;
    return first >= 0 && last >= 0;
}

/* A text, which may hold NUL characters. */
struct bytes {
    const char *text;
    size_t length;
};
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }

static bool begins(const struct ends *ends, struct bytes with)
{
    return ends->first_size >= with.length && memcmp(ends->first, with.text, with.length) == 0;
}

static bool says(const struct ends *ends, struct bytes word)
{
    return memmem(ends->first, ends->first_size, word.text, word.length) ||
           memmem(ends->last, ends->last_size, word.text, word.length);
}

static const struct bytes hdf5 = BYTES("\x89HDF\r\n\x1a\n");

/* Files other than HDF5: how they begin, a word in their first bytes that gives the format, and a
 * word in their first or last bytes that says heatsolve made them. */
static const struct {
    struct bytes begin, within, word;
    enum hs_existing kind;
} others[] = {
    {BYTES("<?xml"), BYTES("<Xdmf"), BYTES("made by heatsolve"), HS_EXISTING_SIDECAR},
    /* as earlier versions wrote it, without "made by heatsolve" */
    {BYTES("<?xml version=\"1.0\" ?>\n<Xdmf Version=\"2.0\">\n <Domain>\n  <Grid Name=\"run\""),
     BYTES("<Xdmf"), BYTES("<Grid Name=\"run\""), HS_EXISTING_SIDECAR},
    {BYTES("<?xml"), BYTES("<svg"), BYTES("Software: heatsolve"), HS_EXISTING_PICTURE},
    {BYTES("\x89PNG\r\n\x1a\n"), BYTES("IHDR"), BYTES("Software\0heatsolve"), HS_EXISTING_PICTURE},
    {BYTES("%PDF-"), BYTES(""), BYTES("/Creator (heatsolve)"), HS_EXISTING_PICTURE},
    {BYTES("\0\0\0"), BYTES("ftyp"), BYTES("heatsolve"), HS_EXISTING_PICTURE},
    {BYTES("\x1a\x45\xdf\xa3"), BYTES("webm"), BYTES("heatsolve"), HS_EXISTING_PICTURE},
};

static bool has_attribute(hid_t file, const char *name)
{
    return H5Aexists(file, name) > 0;
}

/* Recognises HDF5 files by their attributes, as versions without the mark wrote them. */
static enum hs_existing unmarked(const char *path)
{
    struct hs_h5 h5 = {NULL};
    const hid_t file = hs_h5_open_unlocked(path);
    enum hs_existing kind = HS_EXISTING_OTHERS;
    if (file >= 0 && has_attribute(file, "program")) {
        char *program = hs_h5_read_text(&h5, file, "program");
        if (program && strcmp(program, "heatsolve") == 0)
            kind = HS_EXISTING_RUN;
        free(program);
    } else if (file >= 0 && has_attribute(file, "config") && has_attribute(file, "sweep") &&
               has_attribute(file, "crc32")) {
        kind = HS_EXISTING_CHECKPOINT;
    }
    hs_h5_close(file);
    return kind;
}

static enum hs_existing kind_of(const char *path, const struct ends *ends)
{
    const size_t behind = ends->first_size > HS_MARK_AT ? ends->first_size - HS_MARK_AT : 0;
    const size_t length = behind < HS_MARK_BYTES ? behind : HS_MARK_BYTES;
    for (int k = HS_EXISTING_RUN; k <= HS_EXISTING_CHECKPOINT; k++) /* cut short in some parts */
        if (length > strlen("heatsolve") &&
            memcmp(ends->first + HS_MARK_AT, hs_existing_marks[k], length) == 0)
            return (enum hs_existing)k;
    if (begins(ends, hdf5))
        return unmarked(path);
    if (begins(ends, (struct bytes){hs_existing_part_mark, HS_PART_MARK_BYTES}))
        return HS_EXISTING_PART;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(ends, others[i].begin) &&
            memmem(ends->first, ends->first_size, others[i].within.text, others[i].within.length) &&
            says(ends, others[i].word))
            return others[i].kind;
    return HS_EXISTING_OTHERS;
}

/* A link that leads back to itself. */
static bool is_circle(const char *path)
{
    struct stat s;
    return stat(path, &s) && errno == ELOOP && lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

enum hs_existing hs_existing_at(const char *path, bool follow)
{
    struct stat s;
    if (follow ? stat(path, &s) : lstat(path, &s)) /* not accessible: writing it will say why */
        return is_circle(path) ? HS_EXISTING_SPECIAL : HS_EXISTING_NOTHING;
    if (!S_ISREG(s.st_mode))
        return HS_EXISTING_SPECIAL;
    if (s.st_size == 0)
        return HS_EXISTING_EMPTY;
    const char *why;
    const int file = hs_regular_open(path, false, &why);
    struct ends *ends = file < 0 ? NULL : malloc(sizeof *ends);
    const enum hs_existing kind = ends && fstat(file, &s) == 0 && read_ends(file, s.st_size, ends)
                                      ? kind_of(path, ends)
                                      : HS_EXISTING_OTHERS; /* in doubt it is not ours */
    free(ends);
    if (file >= 0)
        close(file);
    return kind;
}

/* ---- what to say ----------------------------------------------------------------------------- */

static const char *name_of(enum hs_existing kind, const char *path)
{
    static const char *const names[] = {
        [HS_EXISTING_NOTHING] = "nothing",
        [HS_EXISTING_EMPTY] = "an empty file",
        [HS_EXISTING_RUN] = "the output of a run",
        [HS_EXISTING_CHECKPOINT] = "a checkpoint",
        [HS_EXISTING_SIDECAR] = "the .xdmf file of a run",
        [HS_EXISTING_PICTURE] = "a picture",
        [HS_EXISTING_PART] = "a file that heatsolve did not finish",
        [HS_EXISTING_OTHERS] = "a file that heatsolve did not write, or can no longer recognise",
        [HS_EXISTING_SPECIAL] = "a pipe or a device",
    };
    struct stat s = {0};
    if (kind == HS_EXISTING_SPECIAL && lstat(path, &s) == 0 && S_ISLNK(s.st_mode))
        return is_circle(path) ? "a symbolic link that leads back to itself" : "a symbolic link";
    if (kind == HS_EXISTING_SPECIAL && S_ISDIR(s.st_mode))
        return "a directory";
    return names[kind];
}

static enum hs_status refuse(const char *path, enum hs_existing kind, const char *elsewhere,
                             struct hs_error *err)
{
    return hs_error_add(err, HS_IO, "%s: this is %s, which is never replaced; move it away, or %s",
                        path, name_of(kind, path), elsewhere);
}

enum hs_status hs_existing_check(const char *path, enum hs_existing own, const char *elsewhere,
                                 struct hs_error *err)
{
    const enum hs_existing kind = hs_existing_at(path, true);
    if (kind == HS_EXISTING_NOTHING || kind == HS_EXISTING_EMPTY || kind == own)
        return HS_OK;
    return refuse(path, kind, elsewhere, err);
}

enum hs_status hs_existing_check_part(const char *part, const char *elsewhere, struct hs_error *err)
{
    const enum hs_existing kind = hs_existing_at(part, false);
    const bool foreign = kind == HS_EXISTING_OTHERS || kind == HS_EXISTING_SPECIAL;
    return foreign ? refuse(part, kind, elsewhere, err) : HS_OK;
}

/* The attribute `status` of a run's file in words, and what the user can do. */
static const struct {
    const char *status, *words, *resume;
} states[] = {
    {"finished", "a finished run", "--resume with a later end extends it"},
    {"steady", "a finished run", "--resume with a smaller tolerance continues it"},
    {"not steady", "a run that is not steady yet", "--resume with a later end continues it"},
    {"failed check", "a run whose check failed", "--resume with a later end extends it"},
    {"stopped", "an interrupted run", "--resume continues it"},
    {"running", "a run that was cut off", "--resume continues it"},
    {"diverged", "a run that diverged", NULL},
    {"unsolved", "a run with a step that was not solved",
     "--resume with another time.step or time.tolerance continues it"},
    {NULL, "a run", "--resume continues it"},
};

/* What the run calls its steps. */
static const char *step_name(struct hs_h5 *h5, hid_t file)
{
    char *name = has_attribute(file, "method") ? hs_h5_read_text(h5, file, "method") : NULL;
    const struct hs_method *method = hs_method_named(name);
    free(name);
    return !method || hs_method_counts_sweeps(method) ? "sweep" : "step";
}

struct run_told {
    char what[320]; /* "a finished run ("Rod"): 11 snapshots, at sweep 4000, the last at ..." */
    const char *resume;
};

static struct run_told tell_run(const char *path)
{
    struct run_told told;
    struct hs_h5 h5 = {NULL};
    int64_t snapshots = 0;
    const hid_t file = hs_h5_made(&h5, hs_h5_open_unlocked(path), "the file");
    char *title = hs_h5_read_text(&h5, file, "title"),
         *status = hs_h5_read_text(&h5, file, "status");
    const int64_t sweeps = hs_h5_read_whole(&h5, file, "sweeps");
    double *times = hs_h5_read_column(&h5, file, "time", &snapshots);
    int s = 0;
    while (states[s].status && status && strcmp(states[s].status, status) != 0)
        s++;
    if (!status)
        told = (struct run_told){"the output of a run, which cannot be read", NULL};
    else {
        told.resume =
            has_attribute(file, "steady_residual") ? NULL : states[s].resume; /* a solver */
        snprintf(told.what, sizeof told.what, "%s", states[s].words);
        if (title && title[0])
            hs_text_append(told.what, sizeof told.what, " (\"%.120s\")", title);
        if (snapshots > 0)
            hs_text_append(told.what, sizeof told.what,
                           ": %lld snapshot%s, at %s %lld, the last at t = %.9g s",
                           (long long)snapshots, snapshots == 1 ? "" : "s", step_name(&h5, file),
                           (long long)sweeps, times[snapshots - 1]);
    }
    free(times);
    free(title);
    free(status);
    hs_h5_close(file);
    return told;
}

static enum hs_status refuse_run(const char *path, struct hs_error *err)
{
    const struct run_told told = tell_run(path);
    return hs_error_add(err, HS_IO, "%s: this is %s; %s%s--overwrite replaces it, or %s", path,
                        told.what, told.resume ? told.resume : "", told.resume ? ", " : "",
                        hs_existing_elsewhere);
}

static enum hs_status refuse_checkpoint(const char *path, struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    const hid_t file = hs_h5_made(&h5, hs_h5_open_unlocked(path), "the file");
    const int64_t sweep = hs_h5_read_whole(&h5, file, "sweep");
    const double time = hs_h5_read_number(&h5, file, "time");
    char at[80] = "";
    if (!h5.failed)
        snprintf(at, sizeof at, " at sweep %lld, t = %.9g s", (long long)sweep, time);
    hs_h5_close(file);
    return hs_error_add(err, HS_IO,
                        "%s: this is the state of an interrupted run%s, whose output is gone; "
                        "--overwrite removes it and starts over, or %s",
                        path, at, hs_existing_elsewhere);
}

enum hs_status hs_existing_check_work(const char *path, enum hs_existing own, bool overwrite,
                                      struct hs_error *err)
{
    const enum hs_existing kind = overwrite ? HS_EXISTING_NOTHING : hs_existing_at(path, true);
    if (kind == own && own == HS_EXISTING_RUN)
        return refuse_run(path, err);
    if (kind == own && own == HS_EXISTING_CHECKPOINT)
        return refuse_checkpoint(path, err);
    return hs_existing_check(path, own, hs_existing_elsewhere, err);
}
