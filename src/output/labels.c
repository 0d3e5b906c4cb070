#include "output/labels.h"

#include "core/memory.h"
#include "output/field_set.h"

#include <math.h>
#include <stdlib.h>

static const char group[] = "body", name[] = "body/labels";

/* Equal labels are adjacent, so the fastest level of deflate compresses them well. Chunks are small
 * so that reading a slice unpacks little. */
enum { COMPRESSION = 1, CHUNK = 4 << 20 };

void hs_labels_init(struct hs_chunks *chunks, const struct hs_problem *problem)
{
    const struct hs_body *body = problem->body;
    struct hs_grid grid = problem->grid;
    *chunks = (struct hs_chunks){0};
    if (!body || body->labels == HS_LABEL_NONE)
        return;
    for (int axis = 0; axis < grid.dims; axis++)
        grid.points[axis] -= body->labels == HS_LABEL_CELLS && !problem->face[2 * axis].wrap;
    const bool small = body->substance_count <= UINT8_MAX + 1;
    hs_chunks_init(chunks, &grid, small ? sizeof(uint8_t) : sizeof(uint16_t), COMPRESSION, CHUNK);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct source {
    const struct hs_chunks *chunks;
    const struct hs_body *body;
    void *room; /* for the labels of a chunk */
};

static enum hs_status read_box(void *self, const struct hs_box *box, const struct hs_box *next,
                               const void **values, struct hs_error *err)
{
    (void)next;
    const struct source *source = self;
    const struct hs_body *body = source->body;
    const bool narrow = source->chunks->size == sizeof(uint8_t);
    uint8_t *byte = source->room;
    *values = byte;
    if (!body->label)
        return hs_body_read_labels(body, box, source->chunks->size, source->room, err);
    const uint16_t *from = body->label + hs_grid_index(&source->chunks->grid, box->lo);
    for (int64_t n = 0; n < hs_box_count(box) && narrow; n++)
        byte[n] = (uint8_t)from[n];
    *values = narrow ? (const void *)byte : from;
    return HS_OK;
}

enum hs_status hs_labels_append(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_body *body, struct hs_error *err)
{
    if (chunks->per_step == 0 || chunks->steps > 0)
        return HS_OK;
    struct source source = {chunks, body, hs_new((size_t)hs_chunks_bytes(chunks))};
    const struct hs_values values = {read_box, &source};
    const enum hs_status st = hs_chunks_append(chunks, store, &values, err);
    if (body->stored)
        body->stored->close(body->stored);
    free(source.room);
    return st;
}

void hs_labels_write(struct hs_h5 *h5, hid_t root, const struct hs_chunks *chunks,
                     struct hs_image *image)
{
    if (chunks->steps == 0)
        return;
    const hid_t set = hs_field_set(h5, root, name, chunks, 0, image);
    hs_h5_text(h5, set, "long_name", "material, by its attribute number");
    hs_h5_close(set);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The extent along each axis; false if it matches neither nodes nor cells. */
static bool read_extent(hid_t file, int dims, const int64_t points[HS_AXES],
                        int64_t extent[HS_AXES], bool *cells)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    bool fits = H5Sget_simple_extent_dims(space, shape, NULL) == dims;
    *cells = false;
    for (int axis = 0; axis < dims && fits; axis++) {
        extent[axis] = (int64_t)shape[dims - 1 - axis];
        fits = extent[axis] == points[axis] || extent[axis] == points[axis] - 1;
        *cells = *cells || extent[axis] < points[axis]; /* not along a periodic axis */
    }
    hs_h5_close(space);
    hs_h5_close(set);
    return fits;
}

/* The node or cell at a position given in nodes. */
static int64_t owner(double place, int64_t count, bool cells)
{
    return (int64_t)fmax(0, fmin((double)(count - 1), floor(place + (cells ? 0.0 : 0.5))));
}

enum hs_status hs_labels_read(hid_t file, int dims, const int64_t points[HS_AXES], int axis,
                              double node, struct hs_label_plane *out)
{
    struct hs_h5 h5 = {NULL};
    int64_t extent[HS_AXES];
    hsize_t first[HS_AXES] = {0}, count[HS_AXES];
    *out = (struct hs_label_plane){.count = {1, 1}};
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0 || H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return HS_OK;
    if (!read_extent(file, dims, points, extent, &out->cells))
        return HS_IO;
    for (int a = 0, n = 0; a < dims; a++) {
        const int d = dims - 1 - a;
        count[d] = a == axis ? 1 : (hsize_t)extent[a];
        if (a == axis)
            first[d] = (hsize_t)owner(node, extent[a], out->cells);
        else
            out->count[n++] = extent[a];
    }
    out->label = hs_new((size_t)(out->count[0] * out->count[1]) * sizeof *out->label);
    hs_h5_read_block(&h5, file, name, dims, first, count, H5T_NATIVE_UINT16, out->label);
    if (!h5.failed)
        return HS_OK;
    free(out->label);
    out->label = NULL;
    return HS_IO;
}

int hs_labels_at(const struct hs_label_plane *plane, double across, double up)
{
    return plane->label[owner(up, plane->count[1], plane->cells) * plane->count[0] +
                        owner(across, plane->count[0], plane->cells)];
}
