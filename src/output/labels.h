/*
 * A body's labels in a run's file, /body/labels: the material of each node or cell. They are
 * written once, as chunks like those of snapshots; later tables of contents only refer to them.
 */
#ifndef HS_OUTPUT_LABELS_H
#define HS_OUTPUT_LABELS_H

#include "core/problem.h"
#include "output/chunks.h"
#include "output/h5.h"
#include "output/image.h"

/* Prepares the chunks of a problem's labels, none written yet. No labels: no chunks. */
void hs_labels_init(struct hs_chunks *chunks, const struct hs_problem *problem);

/* Writes the labels to the store, unless they are already there. */
enum hs_status hs_labels_append(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_body *body, struct hs_error *err);

/* Makes the dataset from the written chunks; does nothing if there are none. */
void hs_labels_write(struct hs_h5 *h5, hid_t root, const struct hs_chunks *chunks,
                     struct hs_image *image);

/* The labels of the nodes or cells of a plane; the lower axis varies fastest. */
struct hs_label_plane {
    uint16_t *label; /* [count[1]][count[0]]; NULL: there are none */
    int64_t count[2];
    bool cells;
};

/* Reads the labels of a file with `points` along its `dims` axes, in the plane where `axis` is at
 * position `node`; with `axis` -1, of 1D or 2D, all. Of a line `count[1]` is 1. HS_IO if there are
 * labels that cannot be read. */
enum hs_status hs_labels_read(hid_t file, int dims, const int64_t points[HS_AXES], int axis,
                              double node, struct hs_label_plane *out);

/* The label at a position in the plane, in nodes: 2.5 is half-way between the third and fourth. */
int hs_labels_at(const struct hs_label_plane *plane, double across, double up);

#endif
