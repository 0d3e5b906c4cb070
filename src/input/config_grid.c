/* grid: points, lower, and upper or spacing. */
#include "core/machine.h"
#include "input/config_reader.h"

#include <math.h>
#include <stdio.h>

/* Every ghost layer m needs the node m layers inside the face, held layers of both faces and one
 * node between them must be there, and a wrap must not reach round the grid. */
static int64_t fewest_points(int radius)
{
    return 2 * radius + 1;
}

static bool read_points(struct hs_reader *reader)
{
    struct hs_settings *settings = reader->settings;
    struct hs_grid *grid = &reader->problem->grid;
    const struct hs_setting *entry = hs_settings_find(settings, "grid.points");
    if (!hs_require(reader, "grid.points", "give the nodes along each axis, as in [129, 129]") ||
        entry->bad)
        return false;
    const int length = hs_settings_length(settings, "grid.points");
    if (length < 1 || length > HS_AXES) {
        hs_settings_complain(settings, "grid.points", "has %d numbers; give 1, 2 or 3, one an axis",
                             length);
        return false;
    }
    bool good = true;
    for (int axis = 0; axis < length; axis++) {
        const bool lone = entry->kind == HS_SETTING_NUMBER;
        const struct hs_key key = lone ? hs_key("grid.points") : hs_key("grid.points[%d]", axis);
        if (hs_settings_count(settings, key.text, &grid->points[axis]))
            continue;
        if (!hs_given(reader, key.text))
            hs_settings_complain(settings, key.text,
                                 "missing; the points before it are not enough");
        good = false;
    }
    grid->dims = length;
    return good;
}

static void check_points(struct hs_reader *reader)
{
    const struct hs_problem *problem = reader->problem;
    const int64_t fewest = fewest_points(problem->radius);
    const bool lone = !hs_given(reader, "grid.points[0]");
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const struct hs_key key = lone ? hs_key("grid.points") : hs_key("grid.points[%d]", axis);
        if (problem->grid.points[axis] < fewest && hs_given(reader, key.text))
            hs_settings_complain(reader->settings, key.text,
                                 "at least %d points are needed for radius %d%s", (int)fewest,
                                 problem->radius,
                                 problem->grid.points[axis] == 1
                                     ? "; leave the axis out if the grid does not have it"
                                     : "");
    }
}

static bool is_periodic(const struct hs_reader *reader, int axis)
{
    for (int face = 2 * axis; face < 2 * axis + 2; face++) {
        const struct hs_boundary_kind *kind = hs_face_kind(reader, face);
        if (kind && kind == hs_boundary_find("periodic"))
            return true;
    }
    return false;
}

static bool space_upper(struct hs_reader *reader)
{
    struct hs_grid *grid = &reader->problem->grid;
    double upper[HS_AXES];
    if (!hs_read_per_axis(reader, "grid.upper", false, upper))
        return false;
    bool good = true;
    for (int axis = 0; axis < grid->dims; axis++) {
        const struct hs_key key = hs_given(reader, "grid.upper[0]") ? hs_key("grid.upper[%d]", axis)
                                                                    : hs_key("grid.upper");
        if (!(upper[axis] > grid->lower[axis])) {
            hs_settings_complain(reader->settings, key.text, "must be above grid.lower, %g m",
                                 grid->lower[axis]);
            good = false;
            continue;
        }
        const int64_t cells = grid->points[axis] - (is_periodic(reader, axis) ? 0 : 1);
        grid->spacing[axis] = (upper[axis] - grid->lower[axis]) / (double)(cells > 0 ? cells : 1);
    }
    return good;
}

/* Spacings whose square is a number, and nodes that a double can tell apart. */
static bool check_spacing(struct hs_reader *reader, const char *key)
{
    const struct hs_grid *grid = &reader->problem->grid;
    for (int axis = 0; axis < grid->dims; axis++) {
        const double h = grid->spacing[axis], first = grid->lower[axis];
        const double last = hs_grid_coordinate(grid, axis, grid->points[axis] - 1);
        const bool apart = first + h != first && last - h != last;
        if (isnormal(h * h) && isnormal(1.0 / (h * h)) && isfinite(last) && apart)
            continue;
        hs_settings_complain(reader->settings, key,
                             "a spacing of %g m along %c, from %g m, cannot be computed with; "
                             "choose other units or another origin",
                             h, "xyz"[axis], first);
        return false;
    }
    return true;
}

static bool read_space(struct hs_reader *reader)
{
    struct hs_settings *settings = reader->settings;
    struct hs_grid *grid = &reader->problem->grid;
    const bool by_upper = hs_given(reader, "grid.upper");
    if (by_upper && hs_given(reader, "grid.spacing")) {
        hs_settings_complain(settings, "grid.spacing", "give upper or spacing, not both");
        return false;
    }
    if (!hs_read_per_axis(reader, "grid.lower", false, grid->lower))
        return false;
    if (by_upper ? !space_upper(reader)
                 : !hs_read_per_axis(reader, "grid.spacing", true, grid->spacing))
        return false;
    return !reader->grid_known || check_spacing(reader, by_upper ? "grid.upper" : "grid.spacing");
}

/* Two fields on the CPU, which the in and out buffers are; one where a GPU has those. */
static void check_memory(struct hs_reader *reader)
{
    const struct hs_problem *problem = reader->problem;
    const struct hs_grid *grid = &problem->grid;
    const char *backend = hs_settings_text(reader->settings, "solver.backend");
    const bool cpu = backend && backend[0] == 'c' && backend[1] == 'p';
    double needed = (cpu ? 2.0 : 1.0) * (double)hs_precision_size(problem->precision);
    for (int axis = 0; axis < grid->dims; axis++)
        needed *= (double)grid->points[axis];
    const struct hs_memory_room room = hs_machine_memory("");
    if (needed <= room.bytes)
        return;
    const double gib = 1024.0 * 1024.0 * 1024.0;
    char place[1024];
    hs_settings_place(reader->settings, "grid.points", place, sizeof place);
    hs_error_add(reader->err, HS_DEVICE,
                 "%s: %lld x %lld x %lld nodes in %s need %.1f GiB, %s has %.1f GiB; give fewer "
                 "points%s",
                 place, (long long)grid->points[HS_X], (long long)grid->points[HS_Y],
                 (long long)grid->points[HS_Z], hs_precision_name(problem->precision), needed / gib,
                 room.whose, room.bytes / gib,
                 problem->precision == HS_DOUBLE ? ", or precision = \"float\"" : "");
    reader->grid_known = false; /* nothing may be allocated by it */
}

void hs_read_grid(struct hs_reader *reader)
{
    reader->grid_known = read_points(reader);
    check_points(reader);
    const bool spaced = read_space(reader);
    if (!reader->grid_known)
        return;
    check_memory(reader);
    reader->space_known = reader->grid_known && spaced;
}
