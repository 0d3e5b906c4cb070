/*
 * Numbers for each node that are stored in a file. Only their location is kept; they are read when
 * needed, some layers at a time, so that they never need to be in memory all at once.
 * input/field_file.h finds them.
 */
#ifndef HS_CORE_STORED_H
#define HS_CORE_STORED_H

#include "core/grid.h"
#include "core/status.h"

struct hs_stored {
    char *path, *name; /* of the file and its dataset */
    int64_t step;      /* index in a leading axis of steps; -1: the last */
    int64_t steps;     /* of the axis; 0 without it */
    char *place;       /* location in the config, for messages; NULL: none */
    int dims;
    int64_t points[HS_AXES];
    int64_t together; /* layers of the slowest axis that are read at the cost of one */
    /* After hs_stored_note has seen all numbers: the one with the largest magnitude, or the first
     * that is not finite; and its node. */
    double extreme;
    int64_t extreme_node;
    /* Reads the numbers of a box, dense. HS_IO with the reason, also if the file is no longer the
     * one that was found. */
    enum hs_status (*read)(const struct hs_stored *stored, const struct hs_box *box, double *out,
                           struct hs_error *err);
    /* Closes the file. `read` leaves it open for the next read; others cannot write to it until it
     * is closed. */
    void (*close)(const struct hs_stored *stored);
    void (*destroy)(struct hs_stored *stored);
};

static inline void hs_stored_destroy(struct hs_stored *stored) /* accepts NULL */
{
    if (stored)
        stored->destroy(stored);
}

/* Number of layers of the slowest axis; nodes per layer. */
int64_t hs_stored_layers(const struct hs_stored *stored);
int64_t hs_stored_plane(const struct hs_stored *stored);

/* `count` layers from layer `first` on. */
struct hs_box hs_stored_box(const struct hs_stored *stored, int64_t first, int64_t count);

/* Updates `extreme` with `count` numbers from node `first` on. */
void hs_stored_note(struct hs_stored *stored, const double *values, int64_t first, int64_t count);

/*
 * Reads all numbers, some layers at a time, and passes each part to `take` with the index of its
 * first node; then closes the file. Without a reader, finds out whether they can be read.
 * Errors: those of `read` and `take`, and HS_DEVICE if memory is short.
 */
struct hs_stored_reader {
    enum hs_status (*take)(void *self, const double *values, int64_t first, int64_t count,
                           struct hs_error *err);
    void *self;
};
enum hs_status hs_stored_read_all(const struct hs_stored *stored,
                                  const struct hs_stored_reader *reader, struct hs_error *err);

#endif
