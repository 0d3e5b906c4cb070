/* Shapes of initial regions and of bodies. */
#include "input/config_reader.h"

#include <math.h>
#include <string.h>

static const char shape_keys[] = "lower|upper|centre|radius|axis|from|to|point|normal";

static bool read_box(struct hs_reader *reader, const char *path, struct hs_shape *shape)
{
    const struct hs_key lower = hs_key("%s.lower", path), upper = hs_key("%s.upper", path);
    const bool both = hs_read_per_axis(reader, lower.text, false, shape->lower);
    if (!hs_read_per_axis(reader, upper.text, false, shape->upper) || !both)
        return false;
    for (int axis = 0; axis < reader->problem->grid.dims; axis++)
        if (shape->lower[axis] > shape->upper[axis])
            return hs_complain(reader, upper.text, "is below lower along %c; swap them",
                               "xyz"[axis]);
    return true;
}

static bool read_round(struct hs_reader *reader, const char *path, struct hs_shape *shape)
{
    const bool centre =
        hs_read_per_axis(reader, hs_key("%s.centre", path).text, false, shape->centre);
    return hs_settings_number(reader->settings, hs_key("%s.radius", path).text, &shape->radius) &&
           centre;
}

static bool read_cylinder(struct hs_reader *reader, const char *path, struct hs_shape *shape)
{
    struct hs_settings *settings = reader->settings;
    const struct hs_key from = hs_key("%s.from", path), to = hs_key("%s.to", path);
    const struct hs_key axis_key = hs_key("%s.axis", path);
    const char *axis = hs_settings_text(settings, axis_key.text);
    if (!axis)
        return false;
    shape->axis = axis[0] - 'x';
    shape->from = -INFINITY;
    shape->to = INFINITY;
    hs_settings_number(settings, from.text, &shape->from);
    hs_settings_number(settings, to.text, &shape->to);
    /* in 2D a cylinder along z, the default, is a disc, whatever its length */
    const int dims = reader->problem->grid.dims;
    const bool there = dims == 0 || shape->axis < dims;
    if (!there && (shape->axis != HS_Z || hs_given(reader, from.text) || hs_given(reader, to.text)))
        return hs_complain(reader,
                           shape->axis != HS_Z           ? axis_key.text
                           : hs_given(reader, from.text) ? from.text
                                                         : to.text,
                           "the grid has no %s axis; choose another, or remove it", axis);
    if (shape->from > shape->to)
        return hs_complain(reader, to.text, "is below from; swap them");
    return read_round(reader, path, shape);
}

static bool read_half_space(struct hs_reader *reader, const char *path, struct hs_shape *shape)
{
    const struct hs_key normal = hs_key("%s.normal", path);
    const bool point = hs_read_per_axis(reader, hs_key("%s.point", path).text, false, shape->point);
    if (!hs_read_per_axis(reader, normal.text, false, shape->normal))
        return false;
    double length = 0.0;
    for (int axis = 0; axis < reader->problem->grid.dims; axis++)
        length = hypot(length, shape->normal[axis]);
    if (isnormal(length))
        return point;
    return hs_complain(reader, normal.text,
                       "has no direction; give the one that points out of the half-space");
}

static const struct {
    const char *name, *needs, *takes; /* keys: "a|b" */
    bool (*read)(struct hs_reader *reader, const char *path, struct hs_shape *shape);
} shapes[] = {
    [HS_SHAPE_BOX] = {"box", "lower|upper", "", read_box},
    [HS_SHAPE_SPHERE] = {"sphere", "centre|radius", "", read_round},
    [HS_SHAPE_CYLINDER] = {"cylinder", "centre|radius", "axis|from|to", read_cylinder},
    [HS_SHAPE_HALF_SPACE] = {"half-space", "point|normal", "", read_half_space},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Whether the half-space contains any corner of the grid, i.e. the deepest one. */
static bool reaches_grid(const struct hs_reader *reader, const struct hs_shape *shape)
{
    const struct hs_grid *grid = &reader->problem->grid;
    double out = 0.0, slack = 0.0;
    for (int axis = 0; axis < grid->dims; axis++) {
        const double normal = shape->normal[axis];
        const double deepest = normal > 0.0 ? grid->lower[axis] : hs_read_end(reader, axis);
        out += normal * (deepest - shape->point[axis]);
        slack += 1e-9 * grid->spacing[axis] * fabs(normal);
    }
    return out <= slack;
}

/* Whether the box around the shape meets the grid. */
static bool is_in_grid(const struct hs_reader *reader, const struct hs_shape *shape)
{
    const struct hs_grid *grid = &reader->problem->grid;
    if (shape->kind == HS_SHAPE_HALF_SPACE)
        return reaches_grid(reader, shape);
    for (int axis = 0; axis < grid->dims; axis++) {
        const bool box = shape->kind == HS_SHAPE_BOX;
        const bool along = shape->kind == HS_SHAPE_CYLINDER && shape->axis == axis;
        const double low = box     ? shape->lower[axis]
                           : along ? shape->from
                                   : shape->centre[axis] - shape->radius;
        const double high = box     ? shape->upper[axis]
                            : along ? shape->to
                                    : shape->centre[axis] + shape->radius;
        const double slack = 1e-9 * grid->spacing[axis];
        if (high < hs_grid_coordinate(grid, axis, 0) - slack ||
            low > hs_read_end(reader, axis) + slack)
            return false;
    }
    return true;
}

/* Checks which keys a shape needs and which it does not take. */
static bool check_keys(struct hs_reader *reader, const char *path, int kind)
{
    const char *names = shape_keys;
    bool good = true;
    for (char name[8]; hs_list_next(&names, '|', name, sizeof name);) {
        const struct hs_key key = hs_key("%s.%s", path, name);
        const bool given = hs_given(reader, key.text);
        const bool needed = hs_list_match(shapes[kind].needs, name);
        if (needed && !given)
            good = hs_complain(reader, key.text, "missing; a %s needs it", shapes[kind].name);
        else if (given && !needed && !hs_list_match(shapes[kind].takes, name))
            good = hs_complain(reader, key.text, "a %s does not take it; remove it",
                               shapes[kind].name);
    }
    return good;
}

bool hs_read_shape(struct hs_reader *reader, const char *path, struct hs_shape *shape)
{
    const char *name = hs_settings_text(reader->settings, hs_key("%s.shape", path).text);
    for (int kind = 0; name && kind < SHAPES; kind++) {
        if (strcmp(name, shapes[kind].name) != 0)
            continue;
        shape->kind = (enum hs_shape_kind)kind;
        const bool keys = check_keys(reader, path, kind);
        if (!shapes[kind].read(reader, path, shape) || !keys ||
            !hs_check_coordinates(reader, HS_VARIES_SPACE, path))
            return false;
        return !reader->space_known || is_in_grid(reader, shape) ||
               hs_complain(reader, path, "lies outside the grid; check its coordinates, in m");
    }
    return false;
}

void hs_refuse_shape_keys(struct hs_reader *reader, const char *path)
{
    hs_refuse(reader, path, shape_keys,
              "belongs to a shape, which is missing; give shape, or remove it");
}
