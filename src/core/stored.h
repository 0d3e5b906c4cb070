/*
 * Numbers for each node that lie in a file: known by where they are, and read when they are needed,
 * some layers of them at a time, so that nobody has to hold them all. input/field_file.h finds
 * them.
 */
#ifndef HS_CORE_STORED_H
#define HS_CORE_STORED_H

#include "core/grid.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_stored {
    char *path, *name; /* of the file, and of its dataset */
    int64_t step;      /* of a leading axis of steps; -1: the last */
    char *place;       /* where a config names it, for messages; NULL: none does */
    int dims;
    int64_t points[HS_AXES];
    int64_t together; /* layers of the slowest axis that are read for the price of one */
    /* Once all have been looked at (hs_stored_note): the number that is farthest from 0, or the
     * first that is none; and its node. */
    double extreme;
    int64_t extreme_node;
    /* The numbers of a box, dense. HS_IO with the reason, also where the file is another than the
     * one that was found. */
    enum hs_status (*read)(const struct hs_stored *stored, const struct hs_box *box, double *out,
                           struct hs_error *err);
    /* Reading opens the file, and leaves it open for the next; others cannot write to it then. */
    void (*close)(const struct hs_stored *stored);
    void (*destroy)(struct hs_stored *stored);
};

static inline void hs_stored_destroy(struct hs_stored *stored) /* accepts NULL */
{
    if (stored)
        stored->destroy(stored);
}

/* Layers of the slowest axis; nodes of one. */
int64_t hs_stored_layers(const struct hs_stored *stored);
int64_t hs_stored_plane(const struct hs_stored *stored);

/* `count` layers from layer `first` on. */
struct hs_box hs_stored_box(const struct hs_stored *stored, int64_t first, int64_t count);

/* Notes what is extreme among `count` numbers from node `first` on. */
void hs_stored_note(struct hs_stored *stored, const double *values, int64_t first, int64_t count);

/*
 * All of it, some layers after the other, each given to `take` with the number of its first node;
 * then it is closed.
 * Errors: those of `read` and `take`, and HS_DEVICE where memory is short.
 */
struct hs_stored_reader {
    enum hs_status (*take)(void *self, const double *values, int64_t first, int64_t count,
                           struct hs_error *err);
    void *self;
};
enum hs_status hs_stored_read_all(const struct hs_stored *stored,
                                  const struct hs_stored_reader *reader, struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
