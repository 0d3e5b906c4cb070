/* grid: points, lower, and upper or spacing, for axes without coordinates of their own. */
#include "core/largest_grid.h"
#include "core/machine.h"
#include "core/network.h"
#include "input/config_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ghost layer m needs the node m layers inside the face; the held layers of both faces and one node
 * between them must exist; and a wrap must not reach around the whole grid. */
static int64_t fewest_points(int radius)
{
    return 2 * radius + 1;
}

/* Assigns the axes in order: those with coordinates of their own, and `length` others. */
static bool name_axes(struct hs_reader *reader, int length)
{
    struct hs_grid *grid = &reader->problem->grid;
    int axis = 0;
    for (; axis < HS_AXES && (reader->listed < length || hs_axis_is_given(reader, axis)); axis++)
        if (!hs_axis_is_given(reader, axis))
            reader->list[reader->listed++] = axis;
    for (int after = axis; after < HS_AXES; after++)
        if (hs_axis_is_given(reader, after))
            return hs_complain(reader, hs_key("grid.%c", "xyz"[after]).text,
                               "the grid has no %c axis; give it coordinates as well, or its "
                               "points in grid.points",
                               "xyz"[axis]);
    if (reader->listed == length) {
        grid->dims = axis;
        return true;
    }
    reader->listed = 0;
    return hs_complain(reader, "grid.points",
                       "has %d numbers; give one for each axis that has no coordinates of its own, "
                       "of three axes in all",
                       length);
}

/* Refuses an override that gives a whole axis whose nodes the config counts in points. */
static bool is_counted_twice(struct hs_reader *reader, const struct hs_setting *points)
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        const struct hs_key key = hs_key("grid.%c", "xyz"[axis]);
        const struct hs_setting *entry = hs_settings_find(reader->settings, key.text);
        if (!entry || !entry->anew || !points || !points->file)
            continue;
        hs_complain(reader, key.text,
                    "the config counts the nodes of this axis in grid.points; override "
                    "grid.points as well, with those of the other axes alone, and lower, "
                    "upper or spacing where they are lists");
        return true;
    }
    return false;
}

static bool read_listed_points(struct hs_reader *reader, const struct hs_setting *points)
{
    struct hs_problem *problem = reader->problem;
    const int64_t fewest = fewest_points(problem->radius);
    bool good = true;
    for (int n = 0; n < reader->listed; n++) {
        const bool lone = points->kind == HS_SETTING_NUMBER;
        const struct hs_key key = lone ? hs_key("grid.points") : hs_key("grid.points[%d]", n);
        int64_t *count = &problem->grid.points[reader->list[n]];
        if (!hs_require(reader, key.text, "give the points of each axis") ||
            !hs_settings_count(reader->settings, key.text, count))
            good = false;
        else if (*count < fewest)
            hs_complain(reader, key.text, "at least %d points are needed for radius %d%s",
                        (int)fewest, problem->radius,
                        *count == 1 ? "; leave it out if the grid has no such axis" : "");
    }
    return good;
}

static bool read_points(struct hs_reader *reader)
{
    struct hs_settings *settings = reader->settings;
    const struct hs_setting *entry = hs_settings_find(settings, "grid.points");
    const bool own = hs_first_given(reader, "grid", "x|y|z").text[0]; /* an axis has coordinates */
    bool good = true;
    if (!own &&
        !hs_require(reader, "grid.points", "give the nodes along each axis, as in [129, 129]"))
        return false;
    if ((entry && entry->bad) || is_counted_twice(reader, entry))
        return false;
    const int length = hs_settings_length(settings, "grid.points");
    if (entry && (length < 1 || length > HS_AXES))
        return hs_complain(reader, "grid.points",
                           "has %d numbers; give 1, 2 or 3, one for each axis%s", length,
                           own ? " that has no coordinates of its own" : "");
    if (!name_axes(reader, length))
        return false;
    for (int axis = 0; axis < reader->problem->grid.dims; axis++)
        if (hs_axis_is_given(reader, axis))
            good = hs_count_axis(reader, axis, fewest_points(reader->problem->radius)) && good;
    return read_listed_points(reader, entry) && good;
}

/* Reads numbers of the axes that grid.points describes. */
static bool read_listed(struct hs_reader *reader, const char *key, bool spread, double *out)
{
    double number[HS_AXES];
    const bool all = reader->listed == reader->problem->grid.dims;
    if (!hs_read_axes(reader, key, spread, reader->listed,
                      all ? "the grid has" : "grid.points is for", number))
        return false;
    for (int n = 0; n < reader->listed; n++)
        out[reader->list[n]] = number[n];
    return true;
}

static bool space_upper(struct hs_reader *reader)
{
    struct hs_grid *grid = &reader->problem->grid;
    double upper[HS_AXES];
    if (!read_listed(reader, "grid.upper", false, upper))
        return false;
    bool good = true;
    for (int n = 0; n < reader->listed; n++) {
        const int axis = reader->list[n];
        const struct hs_key key =
            hs_given(reader, "grid.upper[0]") ? hs_key("grid.upper[%d]", n) : hs_key("grid.upper");
        if (!(upper[axis] > grid->lower[axis])) {
            good =
                hs_complain(reader, key.text, "must be above grid.lower, %g m", grid->lower[axis]);
            continue;
        }
        const int64_t cells = grid->points[axis] - (hs_axis_is_periodic(reader, axis) ? 0 : 1);
        grid->spacing[axis] = (upper[axis] - grid->lower[axis]) / (double)(cells > 0 ? cells : 1);
    }
    return good;
}

/* Checks that spacings have representable squares and that doubles can resolve the nodes. */
static bool check_spacing(struct hs_reader *reader, const char *key)
{
    const struct hs_grid *grid = &reader->problem->grid;
    for (int n = 0; n < reader->listed; n++) {
        const int axis = reader->list[n];
        const double h = grid->spacing[axis], first = grid->lower[axis];
        const double last = hs_grid_coordinate(grid, axis, grid->points[axis] - 1);
        const bool apart = first + h != first && last - h != last;
        if (isnormal(h * h) && isnormal(1.0 / (h * h)) && isfinite(last) && apart)
            continue;
        return hs_complain(reader, key,
                           "a spacing of %g m along %c, from %g m, is too small or too large to "
                           "compute with; choose other units or another origin",
                           h, "xyz"[axis], first);
    }
    return true;
}

bool hs_check_coordinates(struct hs_reader *reader, unsigned axes, const char *user)
{
    const struct hs_grid *grid = &reader->problem->grid;
    for (int n = 0; n < reader->listed && reader->space_known; n++) {
        const int axis = reader->list[n];
        const double h = grid->spacing[axis], first = grid->lower[axis];
        const double last = hs_read_end(reader, axis);
        if (!(axes & 1u << axis) || hs_tells_cell(fmax(fabs(first), fabs(last)), h))
            continue;
        return hs_complain(reader, hs_given(reader, "grid.upper") ? "grid.upper" : "grid.spacing",
                           "cells of %g m along %c, from %.9g m, are too small for their place: so "
                           "far from the origin their width is lost in rounding, and %s uses "
                           "coordinates; move the origin nearer to them",
                           h, "xyz"[axis], first, user);
    }
    return true;
}

static bool read_space(struct hs_reader *reader)
{
    struct hs_grid *grid = &reader->problem->grid;
    const bool by_upper = hs_given(reader, "grid.upper");
    if (reader->listed == 0)
        return grid->dims == 0 || hs_refuse(reader, "grid", "lower|upper|spacing",
                                            "all axes have coordinates of their own; remove it");
    if (by_upper && hs_given(reader, "grid.spacing"))
        return hs_complain(reader, "grid.spacing", "give upper or spacing, not both");
    if (!read_listed(reader, "grid.lower", false, grid->lower))
        return false;
    if (by_upper ? !space_upper(reader) : !read_listed(reader, "grid.spacing", true, grid->spacing))
        return false;
    return !reader->grid_known || check_spacing(reader, by_upper ? "grid.upper" : "grid.spacing");
}

/* The least host memory of a run: on the CPU two fields, the in and out buffers; one field if a GPU
 * holds the buffers. In addition, at most what kernels keep. */
struct demand {
    int fields;             /* including the source's, if it may be a field */
    double kernels;         /* bytes */
    double beside[HS_AXES]; /* bytes for each coordinate of an axis */
    double rows;            /* bytes for the coefficients of each node, where all differ */
};

static double bytes_of(const struct hs_problem *problem, const void *context)
{
    const struct demand *demand = context;
    const struct hs_grid *grid = &problem->grid;
    const int64_t size = (int64_t)hs_precision_size(problem->precision), align = 64 / size;
    double coordinates = 0.0;
    for (int axis = 0; axis < grid->dims; axis++)
        coordinates += demand->beside[axis] * (double)grid->points[axis];
    return demand->fields * hs_layout_bytes(grid, problem->radius, align, problem->precision) +
           demand->rows * (double)hs_grid_count(grid) + coordinates + demand->kernels;
}

/* The least that each coordinate of an axis given by x, y or z takes: while they are computed a
 * number, and if the cells then differ two more, for the widths that a body's equations need. */
static double coordinate_bytes(const struct hs_reader *reader, int axis, bool placed)
{
    if (placed)
        return reader->problem->grid.coordinate[axis] ? 2.0 * sizeof(double) : 0.0;
    return hs_axis_is_given(reader, axis) ? sizeof(double) : 0.0;
}

/* What the coefficients of each node take, if its cells alone make more rows than a palette holds.
 */
static double row_bytes(const struct hs_reader *reader)
{
    double rows = 1.0;
    for (int axis = 0; axis < reader->problem->grid.dims; axis++)
        rows *= hs_axis_widths(reader, axis);
    return rows > HS_NETWORK_MOST_ROWS ? sizeof(struct hs_network_row) : 0.0;
}

/* The largest grid that fits into the memory that is free now. A sixteenth is reserved for walls,
 * and up to a quarter for kernels. */
static void say_what_fits(const struct hs_reader *reader, bool on_gpu, double free_bytes, char *out,
                          size_t size)
{
    const struct hs_problem *problem = reader->problem;
    const bool source = hs_given(reader, "source.expression") || hs_given(reader, "source.file");
    const double processors =
        fmin(hs_machine_processors(""), fmax(1.0, (double)sysconf(_SC_NPROCESSORS_ONLN)));
    /* none is known yet; they keep the like of a core's L2 for each thread, or some MB */
    const double each = fmax(1.5 * (double)hs_machine_l2_bytes(), 5e6);
    const double rows = row_bytes(reader);
    const int arrays = problem->grid.dims + 2; /* conductances, rates and sinks */
    struct demand demand = {.fields = on_gpu ? 1 : 2 + source + (rows > 0.0 ? arrays : 0),
                            .kernels = on_gpu ? 0.0 : fmin(processors * each, free_bytes / 4),
                            .rows = rows};
    for (int axis = 0; axis < problem->grid.dims; axis++)
        demand.beside[axis] = hs_axis_is_given(reader, axis) ? 3.0 * sizeof(double) : 0.0;
    const struct hs_largest_grid limit = {bytes_of, &demand, free_bytes * 15 / 16};
    hs_largest_grid_say(&limit, problem, out, size);
}

/* Refuses what cannot fit, before the coordinates are computed or, once they are, the fields. What
 * is free now changes by itself, so it counts only for coordinates. */
static void check_memory(struct hs_reader *reader, bool placed)
{
    const struct hs_problem *problem = reader->problem;
    const char *backend = hs_settings_text(reader->settings, "solver.backend");
    const bool cpu = backend && strcmp(backend, "cpu") == 0;
    double nodes = 1.0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        nodes *= (double)problem->grid.points[axis];
    double needed = (cpu ? 2.0 : 1.0) * (double)hs_precision_size(problem->precision) * nodes;
    double coordinates = row_bytes(reader) * nodes;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        coordinates += coordinate_bytes(reader, axis, placed) * (double)problem->grid.points[axis];
    const struct hs_memory_free available = hs_machine_memory("");
    const double now = fmin(hs_machine_memory_free("").bytes, available.bytes);
    needed += coordinates;
    if (needed <= (coordinates > 0.0 ? now : available.bytes))
        return;
    char points[HS_POINTS_TEXT], largest[HS_LARGEST_GRID_TEXT];
    char *place = hs_settings_place(reader->settings,
                                    hs_given(reader, "grid.points") ? "grid.points" : "grid");
    hs_grid_name_points(&problem->grid, points, sizeof points);
    say_what_fits(reader, backend && strcmp(backend, "cuda") == 0, now, largest, sizeof largest);
    hs_error_add(reader->settings->err, HS_DEVICE,
                 "%s: %s nodes in %s need at least %.0f bytes (%.2f GiB), %s has %.0f (%.2f GiB), "
                 "%.0f (%.2f GiB) of them free; give fewer points%s; %s",
                 place, points, hs_precision_name(problem->precision), needed, needed / 0x1p30,
                 available.whose, available.bytes, available.bytes / 0x1p30, now, now / 0x1p30,
                 problem->precision == HS_DOUBLE ? ", or precision = \"float\"" : "", largest);
    free(place);
    reader->grid_known = false; /* so that nothing of its size is allocated */
}

void hs_read_grid(struct hs_reader *reader)
{
    reader->grid_known = read_points(reader);
    bool spaced = read_space(reader);
    if (!reader->grid_known)
        return;
    check_memory(reader, false);
    for (int axis = 0; axis < reader->problem->grid.dims && reader->grid_known; axis++)
        if (hs_axis_is_given(reader, axis))
            spaced = hs_place_axis(reader, axis) && spaced;
    if (reader->grid_known)
        check_memory(reader, true);
    reader->space_known = reader->grid_known && spaced;
}
