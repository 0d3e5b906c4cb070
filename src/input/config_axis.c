/* grid.x, grid.y, grid.z: axes by the coordinates of their nodes, or by segments. */
#include "input/config_reader.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static struct hs_key key_of(int axis, const char *inner)
{
    return hs_key("grid.%c%s", "xyz"[axis], inner);
}

static struct hs_key key_in(int axis, int segment, const char *name)
{
    return hs_key("grid.%c.segments[%d].%s", "xyz"[axis], segment, name);
}

bool hs_axis_is_given(const struct hs_reader *reader, int axis)
{
    return hs_given(reader, key_of(axis, "").text);
}

static bool is_list(const struct hs_reader *reader, int axis)
{
    return hs_settings_find(reader->settings, key_of(axis, "").text)->kind == HS_SETTING_LIST;
}

/* ---- how many nodes -------------------------------------------------------------------------- */

static bool count_segments(struct hs_reader *reader, int axis, int64_t *cells)
{
    struct hs_settings *settings = reader->settings;
    const struct hs_key key = key_of(axis, ".segments");
    const int count = hs_settings_length(settings, key.text);
    if (!hs_require(reader, key.text, "give the segments of the axis, or a list of coordinates"))
        return false;
    if (count == 0)
        return hs_complain(reader, key.text,
                           "has no segment; give one at least: { to = 0.01; cells = 20; }");
    bool good = true;
    *cells = 0;
    for (int n = 0; n < count; n++) {
        const struct hs_key to = key_in(axis, n, "to"), number = key_in(axis, n, "cells");
        double place;
        int64_t more = 0;
        good = hs_require(reader, to.text, "say where the segment ends, in m") && good;
        good = hs_settings_number(settings, to.text, &place) && good;
        good = hs_require(reader, number.text, "say how many cells the segment has") && good;
        good = hs_settings_count(settings, number.text, &more) && good;
        *cells += more;
    }
    return good;
}

bool hs_count_axis(struct hs_reader *reader, int axis, int64_t fewest)
{
    struct hs_settings *settings = reader->settings;
    const struct hs_key key = key_of(axis, "");
    if (hs_settings_find(settings, key.text)->bad)
        return false;
    int64_t cells = hs_settings_length(settings, key.text) - 1;
    if (!is_list(reader, axis) && !count_segments(reader, axis, &cells))
        return false;
    const bool wraps = hs_axis_is_periodic(reader, axis);
    reader->problem->grid.points[axis] = cells + !wraps;
    if (cells + !wraps >= fewest)
        return true;
    if (is_list(reader, axis))
        return hs_complain(reader, key.text, "has %lld coordinates; at least %lld are needed%s",
                           (long long)(cells + 1), (long long)(fewest + wraps),
                           wraps ? ", the last where the first node comes again" : "");
    return hs_complain(reader, key_of(axis, ".segments").text,
                       "%lld cell%s in all; at least %lld are needed", (long long)cells,
                       cells == 1 ? "" : "s", (long long)(fewest - !wraps));
}

/* At least so many widths that rounding of the nodes cannot make equal has a segment: those of its
 * range that are apart by eight units of rounding, or by what the largest cell exceeds the next. */
static double widths(double from, double to, double ratio, int64_t cells)
{
    const double growth = fabs(log(ratio)), all = (double)cells;
    const double largest =
        growth > 0.0 ? (to - from) * expm1(-growth) / expm1(-growth * all) : (to - from) / all;
    const double rounding = 8.0 * DBL_EPSILON * fmax(fabs(from), fabs(to)) / largest;
    return largest > 0.0 ? -expm1(-growth * (all - 1.0)) / (growth + rounding) : 1.0;
}

double hs_axis_widths(const struct hs_reader *reader, int axis)
{
    struct hs_settings *settings = reader->settings;
    double most = 1.0, from = 0.0, to, ratio;
    int64_t cells;
    if (!hs_axis_is_given(reader, axis) || is_list(reader, axis))
        return most;
    hs_settings_number(settings, key_of(axis, ".from").text, &from);
    const int count = hs_settings_length(settings, key_of(axis, ".segments").text);
    for (int n = 0; n < count; n++, from = to) {
        if (!hs_settings_number(settings, key_in(axis, n, "to").text, &to) ||
            !hs_settings_number(settings, key_in(axis, n, "ratio").text, &ratio) ||
            !hs_settings_count(settings, key_in(axis, n, "cells").text, &cells))
            return most;
        most = fmax(most, widths(from, to, ratio, cells));
    }
    return most;
}

/* ---- where they are -------------------------------------------------------------------------- */

static bool place_list(struct hs_reader *reader, int axis, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        const struct hs_key key = hs_key("grid.%c[%d]", "xyz"[axis], (int)i);
        if (!hs_require(reader, key.text, "give the coordinates from the first node to the last") ||
            !hs_settings_number(reader->settings, key.text, &out[i]))
            return false;
        if (i > 0 && !(out[i] > out[i - 1]))
            return hs_complain(reader, key.text, "must be above the coordinate before it, %.9g m",
                               out[i - 1]);
    }
    return true;
}

/* The fraction of a segment in its k smallest cells, each `ratio` >= 1 times as large as the one
 * before: (ratio^k - 1) / (ratio^cells - 1), computed so that no power overflows. */
static double part(double ratio, int64_t k, int64_t cells)
{
    const double growth = log(ratio), first = (double)k, all = (double)cells;
    return growth > 0.0
               ? exp((first - all) * growth) * expm1(-first * growth) / expm1(-all * growth)
               : first / all;
}

/* Node k of a segment, computed from the end with the small cells, where precision matters most. */
static double node(double from, double to, double ratio, int64_t k, int64_t cells)
{
    return ratio < 1.0 ? to - (to - from) * part(1.0 / ratio, cells - k, cells)
                       : from + (to - from) * part(ratio, k, cells);
}

static bool place_segments(struct hs_reader *reader, int axis, double *out)
{
    struct hs_settings *settings = reader->settings;
    const int count = hs_settings_length(settings, key_of(axis, ".segments").text);
    if (!hs_settings_number(settings, key_of(axis, ".from").text, out))
        return false;
    for (int n = 0; n < count; n++) {
        const struct hs_key key = key_in(axis, n, "to");
        const double from = *out;
        double to, ratio;
        int64_t cells;
        if (!hs_settings_number(settings, key_in(axis, n, "ratio").text, &ratio) ||
            !hs_settings_number(settings, key.text, &to) ||
            !hs_settings_count(settings, key_in(axis, n, "cells").text, &cells))
            return false;
        if (!(to > from))
            return hs_complain(reader, key.text, "must be above %.9g m, where the segment begins",
                               from);
        for (int64_t k = 1; k < cells; k++)
            out[k] = node(from, to, ratio, k, cells);
        out[cells] = to;
        for (int64_t k = 1; k <= cells; k++)
            if (!(out[k] > out[k - 1]))
                return hs_complain(reader, key_in(axis, n, "ratio").text,
                                   "makes cells too small to tell apart; give one nearer to 1, or "
                                   "fewer cells");
        out += cells;
    }
    return true;
}

bool hs_tells_cell(double at, double h)
{
    return DBL_EPSILON * fabs(at) <= 1e-5 * h;
}

/* Checks that cells have representable squares and that the coordinates resolve their widths; finds
 * the smallest and the largest. */
static bool check_cells(struct hs_reader *reader, int axis, int64_t cells, const double *place,
                        double range[2])
{
    range[0] = INFINITY;
    range[1] = 0.0;
    for (int64_t i = 0; i < cells; i++) {
        const double h = place[i + 1] - place[i];
        range[0] = fmin(range[0], h);
        range[1] = fmax(range[1], h);
        const char *fault = NULL;
        if (!isnormal(h * h) || !isnormal(1.0 / (h * h)))
            fault = "is too small or too large to compute with; choose other units";
        else if (!hs_tells_cell(fmax(fabs(place[i]), fabs(place[i + 1])), h))
            fault = "is too small for its place: so far from the origin its width is lost in "
                    "rounding; move the origin nearer to it";
        if (fault)
            return hs_complain(reader, key_of(axis, "").text, "a cell of %g m, from %.9g m, %s", h,
                               place[i], fault);
    }
    return true;
}

bool hs_place_axis(struct hs_reader *reader, int axis)
{
    struct hs_grid *grid = &reader->problem->grid;
    const int64_t cells = grid->points[axis] - !hs_axis_is_periodic(reader, axis);
    double *place = hs_new((size_t)(cells + 1) * sizeof *place);
    const bool placed = is_list(reader, axis) ? place_list(reader, axis, cells + 1, place)
                                              : place_segments(reader, axis, place);
    double range[2];
    if (!placed || !check_cells(reader, axis, cells, place, range)) {
        free(place);
        return false;
    }
    grid->lower[axis] = place[0];
    grid->spacing[axis] = range[0];
    /* cells that differ only by rounding are uniform: two cells have four ends, each rounded */
    if (range[1] - range[0] > 8.0 * DBL_EPSILON * fmax(fabs(place[0]), fabs(place[cells]))) {
        grid->coordinate[axis] = place;
        return true;
    }
    grid->spacing[axis] = (place[cells] - place[0]) / (double)cells;
    free(place);
    return true;
}
