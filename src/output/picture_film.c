#include "output/picture_film.h"

#include "output/beside.h"
#include "output/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *format_of(const char *path)
{
    static const char *const formats[] = {".mp4", ".webm"};
    const size_t length = strlen(path);
    for (int f = 0; f < 2; f++)
        if (length > strlen(formats[f]) &&
            strcasecmp(path + length - strlen(formats[f]), formats[f]) == 0)
            return formats[f] + 1;
    return NULL;
}

bool hs_film_is_name(const char *path)
{
    return format_of(path) != NULL;
}

/* Pixels and bytes are those of the frames alone: no date, no version of ffmpeg's. */
static int start(struct hs_film *film, int per_second, const int ends[2])
{
    extern char **environ;
    char rate[16];
    snprintf(rate, sizeof rate, "%d", per_second);
    const char *const argv[] = {"ffmpeg",     "-y",
                                "-loglevel",  "error",
                                "-f",         "image2pipe",
                                "-c:v",       "png",
                                "-framerate", rate,
                                "-i",         "-",
                                "-pix_fmt",   "yuv420p",
                                "-fflags",    "+bitexact",
                                "-flags",     "+bitexact",
                                "-metadata",  "comment=heatsolve",
                                "-f",         format_of(film->path),
                                film->part,   NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    const int failed = posix_spawnp(&film->ffmpeg, argv[0], &actions, NULL, (char **)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

enum hs_status hs_film_begin(struct hs_film *film, const char *path, int per_second,
                             struct hs_error *err)
{
    *film = (struct hs_film){.path = path, .part = hs_beside_name(path)};
    int ends[2];
    if (!film->part)
        return hs_error_add(err, HS_DEVICE, "%s: no memory for its name", path);
    enum hs_status status =
        hs_existing_check(path, HS_EXISTING_PICTURE, true, hs_canvas_elsewhere, err);
    if (status == HS_OK)
        status = hs_beside_clear(film->part, hs_canvas_elsewhere, err);
    if (status == HS_OK)
        status = hs_file_make_parents(path, hs_canvas_elsewhere, err);
    if (status != HS_OK)
        return status;
    if (pipe2(ends, O_CLOEXEC))
        return hs_error_add(err, HS_IO, "%s: no pipe to ffmpeg: %s", path, strerror(errno));
    const int failed = start(film, per_second, ends);
    close(ends[0]);
    if (failed) {
        film->ffmpeg = 0;
        close(ends[1]);
        return failed == ENOENT ? HS_OK
                                : hs_error_add(err, HS_IO, "%s: cannot start ffmpeg: %s", path,
                                               strerror(failed));
    }
    signal(SIGPIPE, SIG_IGN); /* where ffmpeg gives up, its message says why */
    film->pipe = fdopen(ends[1], "w");
    return film->pipe ? HS_OK : hs_error_add(err, HS_DEVICE, "%s: no memory", path);
}

enum hs_status hs_film_add(struct hs_film *film, const struct hs_canvas *frame,
                           struct hs_error *err)
{
    return hs_canvas_put(frame, film->path, film->pipe, err);
}

enum hs_status hs_film_finish(struct hs_film *film, enum hs_status status, struct hs_error *err)
{
    int how = 0;
    if (film->pipe)
        fclose(film->pipe);
    if (film->ffmpeg > 0 && (waitpid(film->ffmpeg, &how, 0) < 0 || how != 0))
        status = hs_error_add(err, HS_IO, "%s: ffmpeg failed, see its message above", film->path);
    else if (film->ffmpeg > 0 && status == HS_OK && rename(film->part, film->path))
        status = hs_error_add(err, HS_IO, "%s: cannot put the film there: %s", film->path,
                              strerror(errno));
    if (film->ffmpeg > 0 && status != HS_OK)
        unlink(film->part);
    free(film->part);
    return status;
}
