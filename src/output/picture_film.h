/* A film of pictures: frames piped into ffmpeg. */
#ifndef HS_OUTPUT_PICTURE_FILM_H
#define HS_OUTPUT_PICTURE_FILM_H

#include "output/picture_canvas.h"

#include <sys/types.h>

struct hs_film {
    const char *path;
    char *part;   /* what ffmpeg writes, renamed when it is whole */
    pid_t ffmpeg; /* 0: there is none, and the frames become numbered pictures */
    FILE *pipe;
};

/* Whether `path` ends like a film, .mp4 or .webm. */
bool hs_film_is_name(const char *path);

/* Starts ffmpeg where it is installed. Finish it whatever comes. */
enum hs_status hs_film_begin(struct hs_film *film, const char *path, int per_second,
                             struct hs_error *err);
enum hs_status hs_film_add(struct hs_film *film, const struct hs_canvas *frame,
                           struct hs_error *err);
/* `status`: how it went so far. The film is whole, or not there. */
enum hs_status hs_film_finish(struct hs_film *film, enum hs_status status, struct hs_error *err);

#endif
