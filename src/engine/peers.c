#include "engine/peers.h"

#include "core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- which there are ------------------------------------------------------------------------- */

static bool is_peer(const char *file, size_t *length)
{
    const char *dot = strrchr(file, '.');
    *length = dot ? (size_t)(dot - file) : 0;
    return dot && strcmp(dot, ".py") == 0 && *length > 0 &&
           *length < sizeof((struct hs_peer *)0)->name && strcmp(file, "common.py") != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hs_peer *)a)->name, ((const struct hs_peer *)b)->name);
}

static void list_folder(struct hs_peers *out)
{
    DIR *folder = opendir(out->folder);
    out->count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length;
        if (out->count < HS_PEERS_MOST && is_peer(entry->d_name, &length))
            snprintf(out->peer[out->count++].name, sizeof out->peer->name, "%.*s", (int)length,
                     entry->d_name);
    }
    if (folder)
        closedir(folder);
    qsort(out->peer, (size_t)out->count, sizeof *out->peer, by_name);
}

static void find_folder(struct hs_peers *out)
{
    static const char *const beside[] = {"/../share/heatsolve/peers", "/../tests/peers"};
    const char *asked = getenv("HEATSOLVE_PEERS");
    if (asked) {
        snprintf(out->folder, sizeof out->folder, "%s", asked);
        list_folder(out);
        return;
    }
    char program[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    const char *here = dirname(program);
    for (size_t n = 0; n < sizeof beside / sizeof *beside && out->count == 0; n++) {
        const int used = snprintf(out->folder, sizeof out->folder, "%s%s", here, beside[n]);
        if (used < (int)sizeof out->folder)
            list_folder(out);
    }
    if (out->count == 0) {
        snprintf(out->folder, sizeof out->folder, "tests/peers");
        list_folder(out);
    }
}

static enum hs_status keep_only(const char *only, struct hs_peers *out, struct hs_error *err)
{
    char known[1024] = "", list[1024];
    for (int n = 0; n < out->count; n++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", n ? ", " : "",
                 out->peer[n].name);
    struct hs_peers kept = {.count = 0};
    snprintf(list, sizeof list, "%s", only);
    char *rest = list;
    for (const char *name; (name = strsep(&rest, ","));) {
        int n = 0;
        while (n < out->count && strcmp(out->peer[n].name, name) != 0)
            n++;
        if (n == out->count)
            return hs_error_add(err, HS_BAD_INPUT, "no peer \"%s\" in %s: there are %s", name,
                                out->folder, known);
        if (kept.count < HS_PEERS_MOST)
            kept.peer[kept.count++] = out->peer[n];
    }
    memcpy(out->peer, kept.peer, sizeof out->peer);
    out->count = kept.count;
    return HS_OK;
}

enum hs_status hs_peers_find(const char *only, struct hs_peers *out, struct hs_error *err)
{
    *out = (struct hs_peers){.count = 0};
    find_folder(out);
    if (out->count == 0)
        return hs_error_add(err, HS_BAD_INPUT,
                            "no scripts of peers in share/heatsolve/peers beside the program nor "
                            "in %s: name their folder in HEATSOLVE_PEERS",
                            out->folder);
    return only ? keep_only(only, out, err) : HS_OK;
}

/* ---- the proof's case ------------------------------------------------------------------------ */

/* The shape, and both fields; false, with errno, if it is not all written. */
static bool write_fields(FILE *file, const struct hs_bench_request *request, int sweeps,
                         const struct hs_bench *bench)
{
    const size_t count = (size_t)hs_grid_count(&bench->problem.grid);
    const size_t bytes = hs_precision_size(request->precision);
    for (int axis = 0; axis < request->dims; axis++)
        fprintf(file, "%s%lld", axis ? "," : "", (long long)request->points[axis]);
    fprintf(file, " %d\n", sweeps);
    const bool written = fwrite(bench->initial, bytes, count, file) == count &&
                         fwrite(bench->expected, bytes, count, file) == count;
    return fclose(file) == 0 && written;
}

/* A small field before and after some sweeps by the reference, for the script to compare with. */
static enum hs_status write_proof(const struct hs_bench_request *request, char *path, size_t size,
                                  struct hs_error *err)
{
    static const int64_t points[HS_AXES] = {21, 17, 13};
    enum { SWEEPS = 4 };
    struct hs_bench_request small = *request;
    for (int axis = 0; axis < request->dims; axis++)
        small.points[axis] = points[axis];
    struct hs_bench bench;
    enum hs_status st = hs_bench_init(&bench, &small, SWEEPS, err);
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/heatsolve-peers-XXXXXX", folder && *folder ? folder : "/tmp");
    const int number = st ? -1 : mkstemp(path);
    FILE *file = number < 0 ? NULL : fdopen(number, "wb");
    if (!st && (!file || !write_fields(file, &small, SWEEPS, &bench))) {
        st = hs_error_add(err, HS_IO, "%s: cannot write: %s", path, strerror(errno));
        if (number >= 0)
            unlink(path);
        if (number >= 0 && !file)
            close(number);
    }
    hs_bench_release(&bench);
    return st;
}

/* ---- the command ----------------------------------------------------------------------------- */

enum { MOST_WORDS = 32, WORD = 4352 };

struct words {
    char text[MOST_WORDS][WORD];
    char *argv[MOST_WORDS + 1]; /* ends with NULL */
    int count;
};

static void HS_PRINTF(2, 3) add_word(struct words *words, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(words->text[words->count], WORD, format, values);
    va_end(values);
    words->argv[words->count] = words->text[words->count];
    words->argv[++words->count] = NULL;
}

static void add_numbers(struct words *words, const char *option, const double *values, int count,
                        const char *format)
{
    char text[1024] = "";
    for (int n = 0; n < count; n++) {
        const size_t used = strlen(text);
        if (n)
            text[used] = ',', text[used + 1] = '\0';
        char number[64];
        snprintf(number, sizeof number, format, values[n]);
        strncat(text, number, sizeof text - strlen(text) - 1);
    }
    add_word(words, "%s", option);
    add_word(words, "%s", text);
}

static void make_command(const struct hs_peers *peers, const struct hs_peer *peer,
                         const struct hs_bench_request *request, const struct hs_stencil *stencil,
                         const struct hs_backend *backend, const char *proof, struct words *out)
{
    const char *python = getenv("PYTHON");
    const struct hs_timing_effort effort = hs_timing_usual(request->repeats);
    double points[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        points[axis] = (double)request->points[axis];
    out->count = 0;
    add_word(out, "%s", python && *python ? python : "python3");
    add_word(out, "%s/%s.py", peers->folder, peer->name);
    add_numbers(out, "--points", points, request->dims, "%.0f");
    add_numbers(out, "--coefficients", stencil->c, hs_stencil_count(request->dims, request->radius),
                "%.17g");
    add_word(out, "--precision");
    add_word(out, "%s", hs_precision_name(request->precision));
    add_word(out, "--backend");
    add_word(out, "%s", backend->name);
    add_word(out, "--device=%d", request->device);
    add_word(out, "--threads=%d", request->threads);
    add_word(out, "--repeats=%d", effort.repeats);
    add_word(out, "--sample=%g", effort.sample);
    add_word(out, "--all=%g", effort.all);
    add_word(out, "--proof=%s", proof);
}

/* ---- running it ------------------------------------------------------------------------------ */

struct child {
    pid_t pid;
    int output;         /* its standard output; read without waiting */
    FILE *complaints;   /* its standard error */
    char answer[16384]; /* as much as it has written */
    size_t length;
    bool ended;
    int status; /* of waitpid */
};

static _Noreturn void become(char *const *argv, int output, int complaints)
{
    setpgid(0, 0);                    /* so that what it starts can be ended with it */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nor does it outlive this program */
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(complaints, STDERR_FILENO);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* False, with errno, if there is no child. */
static bool start(char *const *argv, struct child *child)
{
    int pipe_ends[2], why;
    child->complaints = tmpfile();
    if (!child->complaints)
        return false;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        why = errno;
        fclose(child->complaints);
        errno = why;
        return false;
    }
    fflush(NULL); /* what this program has still to print is not the child's */
    child->pid = fork();
    if (child->pid == 0)
        become(argv, pipe_ends[1], fileno(child->complaints));
    why = errno;
    close(pipe_ends[1]);
    child->output = pipe_ends[0];
    fcntl(child->output, F_SETFL, O_NONBLOCK);
    if (child->pid > 0)
        return true;
    close(child->output);
    fclose(child->complaints);
    errno = why;
    return false;
}

/* What there is to read now; what does not fit is dropped. */
static void drain(struct child *child)
{
    char chunk[4096];
    for (ssize_t got; (got = read(child->output, chunk, sizeof chunk)) > 0;) {
        const size_t room = sizeof child->answer - 1 - child->length;
        const size_t taken = (size_t)got < room ? (size_t)got : room;
        memcpy(child->answer + child->length, chunk, taken);
        child->length += taken;
    }
    child->answer[child->length] = '\0';
}

/* Until it ends or the time is over. Not until its output is closed: what it started and left
 * behind may hold that open. */
static void attend(struct child *child, double seconds)
{
    const double end = hs_clock_now() + seconds;
    struct pollfd ready = {.fd = child->output, .events = POLLIN};
    do {
        if (poll(&ready, 1, 50) > 0 && (ready.revents & POLLHUP))
            usleep(1000); /* closed, not yet ended */
        drain(child);
        child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
    } while (!child->ended && hs_clock_now() < end);
    kill(-child->pid, SIGKILL);
    if (!child->ended)
        waitpid(child->pid, &child->status, 0);
    drain(child);
}

/* The last line of the complaints that says something: of a Python traceback, the error. */
static void last_complaint(const struct child *child, char *out, size_t size)
{
    char line[1024];
    rewind(child->complaints);
    while (fgets(line, sizeof line, child->complaints)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[strspn(line, " \t")])
            snprintf(out, size, "%.*s", (int)size - 1, line);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The value of a member of a flat object, after its colon; NULL if there is none. */
static const char *member(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

static bool read_text(const char *json, const char *key, char *out, size_t size)
{
    const char *at = member(json, key);
    if (!at || *at++ != '"')
        return false;
    size_t length = 0;
    for (; *at && *at != '"'; at++) {
        char letter = *at;
        if (letter == '\\') { /* \" \\ \/ are themselves; others are of no use in one line */
            letter = *++at;
            if (letter == 'u')
                at += strnlen(at, 5) == 5 ? 4 : 0;
            if (!letter)
                break;
            if (!strchr("\"\\/", letter))
                letter = ' ';
        }
        if (length + 1 < size)
            out[length++] = letter;
    }
    out[length] = '\0';
    return true;
}

static double read_number(const char *json, const char *key)
{
    const char *at = member(json, key);
    char *end;
    const double value = at ? strtod(at, &end) : NAN;
    return at && end != at ? value : NAN;
}

/* Its last line that is an object. */
static const char *find_answer(char *text)
{
    const char *answer = NULL;
    for (char *line; (line = strsep(&text, "\n"));)
        if (line[0] == '{')
            answer = line;
    return answer;
}

static void read_answer(const char *json, struct hs_peer *peer)
{
    if (read_text(json, "absent", peer->why, sizeof peer->why)) {
        peer->outcome = HS_PEER_ABSENT;
        return;
    }
    peer->outcome = HS_PEER_FAILED;
    if (read_text(json, "error", peer->why, sizeof peer->why))
        return;
    read_text(json, "version", peer->version, sizeof peer->version);
    read_text(json, "device", peer->device, sizeof peer->device);
    peer->apart = read_number(json, "apart");
    peer->seconds = (struct hs_samples){
        .count = (int)fmin(1e6, fmax(0.0, read_number(json, "samples"))),
        .min = read_number(json, "seconds_min"),
        .median = read_number(json, "seconds"),
        .max = read_number(json, "seconds_max"),
    };
    if (peer->seconds.median > 0.0 && peer->seconds.min > 0.0 && peer->seconds.max > 0.0 &&
        peer->seconds.count > 0)
        peer->outcome = HS_PEER_TIMED;
    else
        snprintf(peer->why, sizeof peer->why, "its answer has no time");
}

static void judge(struct child *child, double seconds, struct hs_peer *peer)
{
    const char *json = find_answer(child->answer);
    peer->outcome = HS_PEER_FAILED;
    if (!child->ended) {
        snprintf(peer->why, sizeof peer->why, "took longer than %g s", seconds);
    } else if (json) {
        read_answer(json, peer);
    } else {
        snprintf(peer->why, sizeof peer->why, "no answer");
        last_complaint(child, peer->why, sizeof peer->why);
    }
}

enum hs_status hs_peers_run(const struct hs_peers *peers, struct hs_peer *peer,
                            const struct hs_bench_request *request,
                            const struct hs_backend *backend, double seconds, struct hs_error *err)
{
    char proof[PATH_MAX];
    enum hs_status st = write_proof(request, proof, sizeof proof, err);
    if (st)
        return st;
    static struct words words;
    static struct child child;
    child = (struct child){.pid = 0};
    const struct hs_stencil stencil = hs_bench_stencil(request);
    make_command(peers, peer, request, &stencil, backend, proof, &words);
    if (start(words.argv, &child)) {
        attend(&child, seconds);
        judge(&child, seconds, peer);
        close(child.output);
        fclose(child.complaints);
    } else {
        peer->outcome = HS_PEER_FAILED;
        snprintf(peer->why, sizeof peer->why, "cannot start %s: %s", words.argv[0],
                 strerror(errno));
    }
    unlink(proof);
    return HS_OK;
}
