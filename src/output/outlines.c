#include "output/outlines.h"

#include "core/memory.h"
#include "functions/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a shape: its kind and material, then these. */
enum {
    KIND,
    MATERIAL,
    LOWER,
    UPPER = LOWER + 3,
    CENTRE = UPPER + 3,
    RADIUS = CENTRE + 3,
    AXIS,
    FROM,
    TO,
    POINT,
    NORMAL = POINT + 3,
    NUMBERS = NORMAL + 3
};
static const char layout[] = "of each: kind (0 box, 1 sphere, 2 cylinder, 3 half-space, 4 "
                             "everywhere), material from 0, lower[3], upper[3], centre[3], radius, "
                             "axis, from, to, point[3], normal[3]";
static const char name[] = "body/shapes";

static void put(double *to, const struct hs_solid *solid)
{
    const struct hs_shape *shape = &solid->shape;
    const size_t three = sizeof shape->lower;
    to[KIND] = shape->kind;
    to[MATERIAL] = solid->substance;
    memcpy(to + LOWER, shape->lower, three);
    memcpy(to + UPPER, shape->upper, three);
    memcpy(to + CENTRE, shape->centre, three);
    to[RADIUS] = shape->radius;
    to[AXIS] = shape->axis;
    to[FROM] = shape->from;
    to[TO] = shape->to;
    memcpy(to + POINT, shape->point, three);
    memcpy(to + NORMAL, shape->normal, three);
}

static struct hs_solid get(const double *from)
{
    struct hs_solid solid = {.substance = (int)from[MATERIAL]};
    struct hs_shape *shape = &solid.shape;
    const size_t three = sizeof shape->lower;
    shape->kind = (enum hs_shape_kind)(int)from[KIND];
    memcpy(shape->lower, from + LOWER, three);
    memcpy(shape->upper, from + UPPER, three);
    memcpy(shape->centre, from + CENTRE, three);
    shape->radius = from[RADIUS];
    shape->axis = (int)from[AXIS];
    shape->from = from[FROM];
    shape->to = from[TO];
    memcpy(shape->point, from + POINT, three);
    memcpy(shape->normal, from + NORMAL, three);
    return solid;
}

void hs_outlines_write(struct hs_h5 *h5, hid_t root, const struct hs_body *body)
{
    if (body->solid_count == 0)
        return;
    double *numbers = hs_new((size_t)body->solid_count * NUMBERS * sizeof *numbers);
    for (int n = 0; n < body->solid_count; n++)
        put(numbers + (ptrdiff_t)n * NUMBERS, &body->solid[n]);
    const hid_t set =
        hs_h5_column(h5, root, name, (int64_t)body->solid_count * NUMBERS, numbers, HS_H5_FIXED);
    hs_h5_text(h5, set, "layout", layout);
    hs_h5_close(set);
    free(numbers);
}

/* What a file of another's says may be anything. */
static bool is_shape(const double *numbers)
{
    const double kind = numbers[KIND], axis = numbers[AXIS], material = numbers[MATERIAL];
    return kind >= 0 && kind <= HS_SHAPE_EVERYWHERE && kind == floor(kind) && axis >= 0 &&
           axis < HS_AXES && axis == floor(axis) && material >= 0 && material <= UINT16_MAX;
}

static void read_shapes(hid_t file, struct hs_outlines *out)
{
    struct hs_h5 h5 = {NULL};
    int64_t rows = 0;
    if (H5Lexists(file, "body", H5P_DEFAULT) <= 0 || H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return;
    double *numbers = hs_h5_read_column(&h5, file, name, &rows);
    const int64_t count = numbers ? rows / NUMBERS : 0;
    out->solid = hs_new((size_t)(count > 0 ? count : 1) * sizeof *out->solid);
    for (int64_t n = 0; n < count && is_shape(numbers + n * NUMBERS); n++)
        out->solid[out->count++] = get(numbers + n * NUMBERS);
    free(numbers);
}

struct hs_outlines hs_outlines_read(const struct hs_picture_file *file, const struct hs_cut *cut,
                                    struct hs_error *err)
{
    struct hs_outlines out = {0};
    int64_t points[HS_AXES] = {0};
    for (int axis = 0; axis < file->dims; axis++)
        points[axis] = file->axis[axis].count;
    read_shapes(file->file, &out);
    if (hs_labels_read(file->file, file->dims, points, cut->axis, (double)cut->node + cut->share,
                       &out.labels))
        hs_error_add(err, HS_OK,
                     "%s: cannot read /body/labels: the file is damaged, or they are of another "
                     "grid; materials are not outlined. Make the file again",
                     file->path);
    return out;
}

void hs_outlines_release(struct hs_outlines *outlines)
{
    free(outlines->solid);
    free(outlines->labels.label);
}

bool hs_outlines_are_there(const struct hs_outlines *outlines)
{
    return outlines->count > 1 || outlines->labels.label;
}

int hs_outlines_material(const struct hs_outlines *outlines, int dims, const double at[HS_AXES])
{
    for (int n = outlines->count - 1; n >= 0; n--)
        if (hs_shape_covers(&outlines->solid[n].shape, dims, at))
            return outlines->solid[n].substance;
    return -1;
}
