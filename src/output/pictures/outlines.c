#include "output/pictures/outlines.h"

#include "core/memory.h"
#include "functions/fields.h"

#include <stdlib.h>
#include <string.h>

/* Numbers per shape, and the indices of those that are whole. */
enum { KIND, MATERIAL, AXIS = 12, NUMBERS = 21 };
static const char layout[] = "of each: kind (0 box, 1 sphere, 2 cylinder, 3 half-space, 4 "
                             "everywhere), material from 0, lower[3], upper[3], centre[3], radius, "
                             "axis, from, to, point[3], normal[3]";
static const char name[] = "body/shapes";

/* Copies a solid to numbers (`put`), or numbers to a solid. */
static void copy(struct hs_solid *solid, double *numbers, bool put)
{
    struct hs_shape *s = &solid->shape;
    double kind = s->kind, material = solid->substance, axis = s->axis;
    const struct {
        double *member;
        size_t count;
    } parts[] = {{&kind, 1},     {&material, 1},  {s->lower, 3}, {s->upper, 3},
                 {s->centre, 3}, {&s->radius, 1}, {&axis, 1},    {&s->from, 1},
                 {&s->to, 1},    {s->point, 3},   {s->normal, 3}};
    for (size_t n = 0; n < sizeof parts / sizeof *parts; numbers += parts[n++].count)
        memcpy(put ? numbers : parts[n].member, put ? parts[n].member : numbers,
               parts[n].count * sizeof *numbers);
    s->kind = (enum hs_shape_kind)(int)kind;
    s->axis = (int)axis;
    solid->substance = (int)material;
}

void hs_outlines_write(struct hs_h5 *h5, hid_t root, const struct hs_body *body)
{
    if (body->solid_count == 0)
        return;
    double *numbers = hs_new((size_t)body->solid_count * NUMBERS * sizeof *numbers);
    for (int n = 0; n < body->solid_count; n++) {
        struct hs_solid solid = body->solid[n];
        copy(&solid, numbers + (ptrdiff_t)n * NUMBERS, true);
    }
    const hid_t set =
        hs_h5_column(h5, root, name, (int64_t)body->solid_count * NUMBERS, numbers, HS_H5_FIXED);
    hs_h5_text(h5, set, "layout", layout);
    hs_h5_close(set);
    free(numbers);
}

/* Whether the numbers describe a shape: a foreign file may hold anything. */
static bool is_shape(const double *numbers)
{
    return hs_is_label(numbers[KIND]) && numbers[KIND] <= HS_SHAPE_EVERYWHERE &&
           hs_is_label(numbers[AXIS]) && numbers[AXIS] < HS_AXES && hs_is_label(numbers[MATERIAL]);
}

static void read_shapes(hid_t file, struct hs_outlines *out)
{
    struct hs_h5 h5 = {NULL};
    int64_t rows;
    double *numbers = hs_h5_read_column(&h5, file, name, &rows);
    out->solid = hs_new((size_t)(1 + rows / NUMBERS) * sizeof *out->solid);
    for (double *shape = numbers; rows >= NUMBERS && is_shape(shape); shape += NUMBERS) {
        copy(&out->solid[out->count++], shape, false);
        rows -= NUMBERS;
    }
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

int hs_outlines_material(const struct hs_outlines *outlines, int dims, const double at[HS_AXES])
{
    const struct hs_grid exact = {.dims = dims}; /* without spacing: a pixel is not a node */
    for (int n = outlines->count - 1; n >= 0; n--)
        if (hs_shape_covers(&outlines->solid[n].shape, &exact, at))
            return outlines->solid[n].substance;
    return -1;
}
