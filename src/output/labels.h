/*
 * A body's labels in a run's file, /body/labels: the material of each node, or of each cell. They
 * are written once, as chunks like those of snapshots, so that later contents only say where they
 * are.
 */
#ifndef HS_OUTPUT_LABELS_H
#define HS_OUTPUT_LABELS_H

#include "core/problem.h"
#include "output/chunks.h"
#include "output/h5.h"
#include "output/image.h"

/* For the labels of a problem, none of which are written yet; without labels there are no chunks.
 */
void hs_labels_init(struct hs_chunks *chunks, const struct hs_problem *problem);

/* Writes them to the store, unless they are there already. */
enum hs_status hs_labels_append(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_body *body, struct hs_error *err);

/* The dataset, of chunks that were written; nothing without them. */
void hs_labels_write(struct hs_h5 *h5, hid_t root, const struct hs_chunks *chunks,
                     struct hs_image *image);

/* The labels of the nodes or cells of a plane, lower axis fastest. */
struct hs_label_plane {
    uint16_t *label; /* [count[1]][count[0]]; NULL: there are none */
    int64_t count[2];
    bool cells;
};

/* Those of a file whose `dims` axes have so many `points`, where `axis` has the place `node`, or
 * in 2D (`axis` -1) of all. HS_IO where there are some that cannot be read. */
enum hs_status hs_labels_read(hid_t file, int dims, const int64_t points[HS_AXES], int axis,
                              double node, struct hs_label_plane *out);

/* At a place of the plane, in nodes: 2.5 is half-way between the third and the fourth. */
int hs_labels_at(const struct hs_label_plane *plane, double across, double up);

#endif
