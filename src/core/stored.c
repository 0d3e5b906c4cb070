#include "core/stored.h"

#include <math.h>
#include <stdlib.h>

int64_t hs_stored_layers(const struct hs_stored *stored)
{
    return stored->points[stored->dims - 1];
}

int64_t hs_stored_plane(const struct hs_stored *stored)
{
    int64_t plane = 1;
    for (int axis = 0; axis < stored->dims - 1; axis++)
        plane *= stored->points[axis];
    return plane;
}

struct hs_box hs_stored_box(const struct hs_stored *stored, int64_t first, int64_t count)
{
    struct hs_box box = {.hi = {1, 1, 1}};
    for (int axis = 0; axis < stored->dims; axis++)
        box.hi[axis] = stored->points[axis];
    box.lo[stored->dims - 1] = first;
    box.hi[stored->dims - 1] = first + count;
    return box;
}

void hs_stored_note(struct hs_stored *stored, const double *values, int64_t first, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        if (!isfinite(stored->extreme) || fabs(values[n]) <= fabs(stored->extreme))
            continue;
        stored->extreme = values[n];
        stored->extreme_node = first + n;
    }
}

enum hs_status hs_stored_read_all(const struct hs_stored *stored,
                                  const struct hs_stored_reader *reader, struct hs_error *err)
{
    const int64_t layers = hs_stored_layers(stored), plane = hs_stored_plane(stored);
    const int64_t together = stored->together < layers ? stored->together : layers;
    double *values = malloc((size_t)(together * plane) * sizeof *values);
    enum hs_status st = HS_OK;
    if (!values)
        st = hs_error_add(err, HS_DEVICE, "%s: out of memory for %lld of its values", stored->path,
                          (long long)(together * plane));
    for (int64_t k = 0; k < layers && !st; k += together) {
        const int64_t count = together < layers - k ? together : layers - k;
        const struct hs_box box = hs_stored_box(stored, k, count);
        st = stored->read(stored, &box, values, err);
        if (!st && reader)
            st = reader->take(reader->self, values, k * plane, count * plane, err);
    }
    free(values);
    stored->close(stored);
    return st;
}
