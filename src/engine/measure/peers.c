#include "engine/measure/peers.h"

#include "core/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what run.py is asked -------------------------------------------------------------------- */

/* The options of the case, one a line, and an empty line. */
static void write_options(FILE *file, const struct hs_bench_request *request,
                          const struct hs_backend *backend, const double *coefficients)
{
    const struct hs_timing_effort effort = hs_timing_usual(request->repeats);
    char points[HS_POINTS_TEXT];
    hs_points_name(request->dims, request->points, ",", points, sizeof points);
    fprintf(file, "--points=%s", points);
    for (int n = 0; n < hs_stencil_count(request->dims, request->radius); n++)
        fprintf(file, "%s%.17g", n ? "," : "\n--coefficients=", coefficients[n]);
    fprintf(file, "\n--precision=%s\n--backend=%s\n--device=0\n--threads=%d\n",
            hs_precision_name(request->precision), backend->name, request->threads);
    fprintf(file, "--repeats=%d\n--sample=%g\n--all=%g\n\n", effort.repeats, effort.sample,
            effort.all);
}

/* The options, and for the peers to compare with a small field before and after some sweeps by the
 * reference: a line with shape and number of sweeps, then both fields. */
static enum hs_status write_question(FILE *file, const struct hs_bench_request *request,
                                     const struct hs_backend *backend, struct hs_error *err)
{
    static const int64_t points[HS_AXES] = {21, 17, 13};
    enum { SWEEPS = 4 };
    char shape[HS_POINTS_TEXT];
    struct hs_bench_request small = *request;
    for (int axis = 0; axis < request->dims; axis++)
        small.points[axis] = points[axis];
    struct hs_bench bench;
    enum hs_status st = hs_bench_init(&bench, &small, err);
    write_options(file, request, backend, bench.problem.c);
    hs_points_name(request->dims, small.points, ",", shape, sizeof shape);
    fprintf(file, "%s %d\n", shape, SWEEPS);
    if (!st)
        st = hs_bench_expect(&bench, SWEEPS, err);
    if (!st) {
        const size_t count = (size_t)hs_grid_count(&bench.problem.grid);
        fwrite(bench.initial, hs_precision_size(request->precision), count, file);
        fwrite(bench.expected, hs_precision_size(request->precision), count, file);
    }
    hs_bench_release(&bench);
    return st;
}

/* ---- running it ------------------------------------------------------------------------------ */

static bool find_script(char *out, size_t size)
{
    char program[PATH_MAX] = "";
    const bool known = readlink("/proc/self/exe", program, sizeof program - 1) > 0;
    const char *asked = getenv("HEATSOLVE_PEERS"), *here = known ? dirname(program) : ".";
    const char *const folders[][2] = {{asked ? asked : "tests/peers", ""},
                                      {here, "/../share/heatsolve/peers"},
                                      {here, "/../tests/peers"},
                                      {"tests/peers", ""}};
    for (size_t n = asked ? 0 : 1; n < sizeof folders / sizeof *folders; n++) {
        const int used = snprintf(out, size, "%s%s/run.py", folders[n][0], folders[n][1]);
        if (used < (int)size && access(out, R_OK) == 0)
            return true;
    }
    return false;
}

static _Noreturn void become(char *const *argv, int input, int output)
{
    setpgid(0, 0);                    /* Ctrl-C reaches only heatsolve, */
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* at whose end run.py ends its peer and itself */
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execvp(argv[0], argv);
    dprintf(STDOUT_FILENO,
            "-\trefused\tbench: --peers: cannot start %s: %s: name a Python in PYTHON\n", argv[0],
            strerror(errno));
    _exit(0);
}

/* Starts run.py. Returns what it prints; NULL, with errno, if there is no child. */
static FILE *start(char *const *argv, int question, pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    FILE *rows = hs_regular_adopt(ends[0], "r");
    *child = rows ? fork() : -1;
    if (*child == 0)
        become(argv, question, ends[1]);
    const int why = errno;
    close(ends[1]);
    if (rows && *child < 0) {
        fclose(rows);
        rows = NULL;
    }
    errno = why;
    return rows;
}

static enum hs_status read_row(char *line, struct hs_peers *out, struct hs_error *err)
{
    enum { COLUMNS = 10 };
    static const char *const outcomes[HS_PEER_OUTCOMES] = {
        [HS_PEER_TIMED] = "timed", [HS_PEER_ABSENT] = "absent", [HS_PEER_FAILED] = "failed"};
    const char *column[COLUMNS];
    line[strcspn(line, "\n")] = '\0';
    for (int n = 0; n < COLUMNS; n++)
        column[n] = line ? strsep(&line, "\t") : "";
    if (strcmp(column[1], "refused") == 0)
        return hs_error_add(err, HS_BAD_INPUT, "%s", column[2]);
    int outcome = 0;
    while (outcome < HS_PEER_OUTCOMES && strcmp(column[1], outcomes[outcome]) != 0)
        outcome++;
    if (outcome == HS_PEER_OUTCOMES)
        return hs_error_add(err, HS_IO, "bench: --peers: \"%s\" is no row of a peer", column[0]);
    if (out->count == HS_PEERS_MOST)
        return HS_OK;
    struct hs_peer *peer = &out->peer[out->count++];
    *peer = (struct hs_peer){.outcome = (enum hs_peer_outcome)outcome};
    snprintf(peer->name, sizeof peer->name, "%s", column[0]);
    if (outcome != HS_PEER_TIMED) {
        snprintf(peer->why, sizeof peer->why, "%s", column[2]);
        return HS_OK;
    }
    peer->seconds = (struct hs_samples){.count = (int)strtol(column[2], NULL, 10),
                                        .min = strtod(column[3], NULL),
                                        .median = strtod(column[4], NULL),
                                        .max = strtod(column[5], NULL)};
    peer->apart = strtod(column[6], NULL);
    snprintf(peer->version, sizeof peer->version, "%s", column[7]);
    snprintf(peer->device, sizeof peer->device, "%s", column[8]);
    peer->steps = strtoll(column[9], NULL, 10);
    return HS_OK;
}

static enum hs_status ask(const char *folder, const char *only, double seconds, int question,
                          struct hs_peers *out, struct hs_error *err)
{
    out->count = 0;
    char script[PATH_MAX], limit[32], line[4096], *python = getenv("PYTHON");
    if (!find_script(script, sizeof script))
        return hs_error_add(err, HS_BAD_INPUT,
                            "no run.py of peers in share/heatsolve/peers beside the program "
                            "nor in tests/peers: name its folder in HEATSOLVE_PEERS");
    snprintf(limit, sizeof limit, "%g", seconds);
    char *const argv[] = {python && *python ? python : "python3",
                          script,
                          (char *)(uintptr_t)folder,
                          limit,
                          (char *)(uintptr_t)only,
                          NULL};
    pid_t child;
    FILE *rows = start(argv, question, &child);
    if (!rows)
        return hs_error_add(err, HS_IO, "bench: --peers: cannot start %s: %s", argv[0],
                            strerror(errno));
    enum hs_status st = HS_OK;
    while (!st && fgets(line, sizeof line, rows))
        st = read_row(line, out, err);
    fclose(rows);
    int ended = 0;
    waitpid(child, &ended, 0);
    if (!st && ended != 0)
        st = hs_error_add(err, HS_IO, "bench: --peers: %s failed", script);
    return st;
}

enum hs_status hs_peers_check(const char *folder, const char *only, struct hs_error *err)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct hs_peers none;
    const enum hs_status st = ask(folder, only, 0.0, nothing, &none, err);
    close(nothing);
    return st;
}

enum hs_status hs_peers_ask(const char *folder, const char *only, double seconds, FILE *question,
                            struct hs_peers *out, struct hs_error *err)
{
    if (fflush(question) != 0 || ferror(question))
        return hs_error_add(err, HS_IO, "bench: --peers: no file in memory: %s", strerror(errno));
    rewind(question);
    return ask(folder, only, seconds, fileno(question), out, err);
}

enum hs_status hs_peers_run(const char *only, const struct hs_bench_request *request,
                            const struct hs_backend *backend, double seconds, struct hs_peers *out,
                            struct hs_error *err)
{
    FILE *question = hs_regular_adopt(memfd_create("peers", MFD_CLOEXEC), "w+b");
    if (!question)
        return hs_error_add(err, HS_IO, "bench: --peers: no file in memory: %s", strerror(errno));
    enum hs_status st = write_question(question, request, backend, err);
    if (!st)
        st = hs_peers_ask(HS_PEERS_SWEEPS, only, seconds, question, out, err);
    fclose(question);
    return st;
}
