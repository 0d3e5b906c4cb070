#include "engine/network/solids.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static void bound(struct hs_shape_parts *part, int axis, double lower, double upper)
{
    part->lower[axis] = lower;
    part->upper[axis] = upper;
}

/* Round about the centre along the axes that are there, but `along`; with a single one, a slab. The
 * box around it makes lines run through it, however small it is (hs_solids_planes). */
static void make_round(struct hs_shape_parts *part, const struct hs_solid *solid, int along,
                       const struct hs_axis *axis)
{
    const double radius = part->radius = solid->shape.radius;
    int count = 0;
    for (int a = 0; a < HS_AXES; a++)
        if (axis[a].there && a != along) {
            const double centre = part->centre[a] = solid->shape.centre[a];
            part->round[a] = true;
            bound(part, a, centre - radius, centre + radius);
            count++;
        }
    part->is_round = count > 1;
}

/* A half-space with its normal along an axis is a box with one side only. */
static void make_half_space(struct hs_shape_parts *part, const struct hs_solid *solid,
                            const struct hs_axis *axis)
{
    int count = 0, last = 0;
    double length = 0.0;
    for (int a = 0; a < HS_AXES; a++)
        if (axis[a].there && solid->shape.normal[a] != 0.0) {
            length = hypot(length, solid->shape.normal[a]); /* a square might be 0 or infinite */
            last = a;
            count++;
        }
    if (count == 1)
        (solid->shape.normal[last] > 0.0 ? part->upper : part->lower)[last] =
            solid->shape.point[last];
    part->oblique = count > 1;
    for (int a = 0; a < HS_AXES && part->oblique; a++) {
        part->point[a] = solid->shape.point[a];
        part->normal[a] = axis[a].there ? solid->shape.normal[a] / length : 0.0;
    }
}

static struct hs_shape_parts take_apart(const struct hs_solid *solid, const struct hs_axis *axis)
{
    struct hs_shape_parts part = {.substance = solid->substance};
    for (int a = 0; a < HS_AXES; a++)
        bound(&part, a, -INFINITY, INFINITY);
    switch (solid->shape.kind) {
    case HS_SHAPE_EVERYWHERE: break;
    case HS_SHAPE_BOX:
        for (int a = 0; a < HS_AXES; a++)
            if (axis[a].there)
                bound(&part, a, solid->shape.lower[a], solid->shape.upper[a]);
        break;
    case HS_SHAPE_SPHERE: make_round(&part, solid, -1, axis); break;
    case HS_SHAPE_CYLINDER:
        if (axis[solid->shape.axis].there)
            bound(&part, solid->shape.axis, solid->shape.from, solid->shape.to);
        make_round(&part, solid, solid->shape.axis, axis);
        break;
    case HS_SHAPE_HALF_SPACE: make_half_space(&part, solid, axis); break;
    }
    return part;
}

void hs_solids_init(struct hs_solids *solids, const struct hs_body *body,
                    const struct hs_axis *axis)
{
    *solids = (struct hs_solids){.axis = axis, .count = body->solid_count};
    solids->part = hs_new(((size_t)solids->count + 1) * sizeof *solids->part);
    solids->all = (struct hs_selection){.count = solids->count, .base = HS_NOWHERE, .curved = true};
    solids->all.part = hs_new(((size_t)solids->count + 1) * sizeof *solids->all.part);
    for (int n = 0; n < solids->count; n++) {
        solids->part[n] = take_apart(&body->solid[solids->count - 1 - n], axis);
        solids->all.part[n] = n;
    }
}

void hs_solids_release(struct hs_solids *solids)
{
    free(solids->part);
    free(solids->all.part);
}

/* How a region lies relative to a shape, or to a part of one. */
enum relation { OUTSIDE, CROSSED, INSIDE };

static enum relation to_box(const struct hs_solids *solids, const struct hs_shape_parts *part,
                            const struct hs_node_box *region)
{
    enum relation relation = INSIDE;
    for (int a = 0; a < HS_AXES; a++) {
        const double near = solids->axis[a].tolerance;
        const double lower = part->lower[a] - region->origin[a];
        const double upper = part->upper[a] - region->origin[a];
        if (upper <= region->lo[a] + near || lower >= region->hi[a] - near)
            return OUTSIDE;
        if (lower > region->lo[a] + near || upper < region->hi[a] - near)
            relation = CROSSED;
    }
    return relation;
}

static enum relation to_round(const struct hs_shape_parts *part, const struct hs_node_box *region)
{
    double nearest = 0.0, farthest = 0.0; /* squares */
    for (int a = 0; a < HS_AXES; a++) {
        if (!part->round[a])
            continue;
        const double lo = region->origin[a] - part->centre[a] + region->lo[a];
        const double hi = region->origin[a] - part->centre[a] + region->hi[a];
        const double beyond = fmax(fmax(lo, -hi), 0.0);
        nearest += beyond * beyond;
        farthest += fmax(lo * lo, hi * hi);
    }
    const double square = part->radius * part->radius;
    return nearest >= square ? OUTSIDE : farthest <= square ? INSIDE : CROSSED;
}

static enum relation to_oblique(const struct hs_shape_parts *part, const struct hs_node_box *region)
{
    double middle = 0.0, reach = 0.0;
    for (int a = 0; a < HS_AXES; a++) {
        const double origin = region->origin[a] - part->point[a];
        middle += part->normal[a] * (origin + 0.5 * (region->lo[a] + region->hi[a]));
        reach += fabs(part->normal[a]) * 0.5 * (region->hi[a] - region->lo[a]);
    }
    return middle >= reach ? OUTSIDE : middle <= -reach ? INSIDE : CROSSED;
}

void hs_solids_narrow(const struct hs_solids *solids, const struct hs_node_box *region,
                      const struct hs_selection *from, struct hs_selection *out)
{
    out->count = 0;
    out->base = from->base;
    out->curved = false;
    for (int a = 0; a < HS_AXES; a++)
        out->bends[a] = false;
    for (int n = 0; n < from->count; n++) {
        const struct hs_shape_parts *part = &solids->part[from->part[n]];
        const enum relation box = to_box(solids, part, region);
        const enum relation round = part->is_round ? to_round(part, region) : INSIDE;
        const enum relation half = part->oblique ? to_oblique(part, region) : INSIDE;
        if (box == OUTSIDE || round == OUTSIDE || half == OUTSIDE)
            continue;
        if (box == INSIDE && round == INSIDE && half == INSIDE) { /* it hides those below */
            out->base = part->substance;
            return;
        }
        out->part[out->count++] = from->part[n];
        out->curved |= round == CROSSED || half == CROSSED;
        for (int a = 0; a < HS_AXES; a++)
            out->bends[a] |=
                (round == CROSSED && part->round[a]) || (half == CROSSED && part->normal[a] != 0.0);
    }
}

/* Outward normal of a shape's curved surface, in the middle of a region; of any length. */
static void find_normal(const struct hs_shape_parts *part, const struct hs_node_box *region,
                        double normal[HS_AXES])
{
    for (int a = 0; a < HS_AXES; a++) {
        const double middle = region->origin[a] + 0.5 * (region->lo[a] + region->hi[a]);
        normal[a] = part->round[a] ? middle - part->centre[a] : part->normal[a];
    }
}

int hs_solids_best_axes(const struct hs_solids *solids, const struct hs_node_box *region,
                        const struct hs_selection *selection, int best[HS_AXES])
{
    double normal[HS_AXES] = {0.0, 0.0, 0.0}, most = 0.0;
    for (int n = selection->count - 1; n >= 0 && selection->curved; n--) {
        const struct hs_shape_parts *part = &solids->part[selection->part[n]];
        if (part->is_round || part->oblique) /* the last of them is on top */
            find_normal(part, region, normal);
    }
    for (int a = 0; a < HS_AXES; a++)
        most = fmax(most, fabs(normal[a]));
    int count = 0;
    for (int a = 0; a < HS_AXES; a++)
        if (solids->axis[a].there && fabs(normal[a]) >= (1.0 - 1e-9) * most)
            best[count++] = a;
    return selection->curved ? count : 1;
}

int hs_solids_planes(const struct hs_solids *solids, const struct hs_node_box *region,
                     const struct hs_selection *selection, int axis, double *place)
{
    int count = 0;
    for (int n = 0; n < selection->count; n++) {
        const struct hs_shape_parts *part = &solids->part[selection->part[n]];
        place[count++] = part->lower[axis] - region->origin[axis];
        place[count++] = part->upper[axis] - region->origin[axis];
    }
    return count;
}

/* Between the normal and a line whose distance from the tangent is `depth` radii. */
static double cosine_at(double depth)
{
    return sqrt(depth * (2.0 - depth));
}

/* Where the line crosses the surface of a round solid. A line that enters and leaves it within the
 * region only grazes it: it stands for lines up to the region's width further in, so its cosine is
 * at least theirs. */
static int cross_round(const struct hs_shape_parts *part, const struct hs_node_box *region,
                       int axis, const double at[HS_AXES], struct hs_crossing *out)
{
    if (!part->round[axis])
        return 0;
    double across = 0.0, width = 0.0;
    for (int a = 0; a < HS_AXES; a++)
        if (part->round[a] && a != axis) {
            const double off = region->origin[a] - part->centre[a] + at[a];
            across += off * off;
            width = fmax(width, region->hi[a] - region->lo[a]);
        }
    const double square = part->radius * part->radius - across;
    if (!(square > 0.0))
        return 0;
    const double root = sqrt(square), centre = part->centre[axis] - region->origin[axis];
    double facing = root / part->radius;
    if (centre - root > region->lo[axis] && centre + root < region->hi[axis])
        facing = fmax(facing, cosine_at(fmin(width / part->radius, 1.0)));
    out[0] = (struct hs_crossing){centre - root, facing};
    out[1] = (struct hs_crossing){centre + root, facing};
    return 2;
}

static int cross_oblique(const struct hs_shape_parts *part, const struct hs_node_box *region,
                         int axis, const double at[HS_AXES], struct hs_crossing *out)
{
    if (part->normal[axis] == 0.0)
        return 0;
    double across = 0.0;
    for (int a = 0; a < HS_AXES; a++)
        if (a != axis)
            across += part->normal[a] * (region->origin[a] - part->point[a] + at[a]);
    out->at = part->point[axis] - region->origin[axis] - across / part->normal[axis];
    out->facing = fabs(part->normal[axis]);
    return 1;
}

/* All crossings of a solid, in no order; some may lie outside the region. */
static int cross(const struct hs_shape_parts *part, const struct hs_node_box *region, int axis,
                 const double at[HS_AXES], struct hs_crossing *out)
{
    int count = 0;
    out[count++] = (struct hs_crossing){part->lower[axis] - region->origin[axis], 1.0};
    out[count++] = (struct hs_crossing){part->upper[axis] - region->origin[axis], 1.0};
    if (part->is_round)
        count += cross_round(part, region, axis, at, out + count);
    if (part->oblique)
        count += cross_oblique(part, region, axis, at, out + count);
    return count;
}

static void sort(int count, struct hs_crossing *crossing)
{
    for (int n = 1; n < count; n++)
        for (int m = n; m > 0 && crossing[m - 1].at > crossing[m].at; m--) {
            const struct hs_crossing other = crossing[m];
            crossing[m] = crossing[m - 1];
            crossing[m - 1] = other;
        }
}

static bool contains(const struct hs_shape_parts *part, const struct hs_node_box *region,
                     const double at[HS_AXES])
{
    double distance = 0.0, height = 0.0;
    for (int a = 0; a < HS_AXES; a++) {
        const double lower = part->lower[a] - region->origin[a];
        const double upper = part->upper[a] - region->origin[a];
        if (at[a] < lower || at[a] > upper)
            return false;
        if (part->round[a]) {
            const double off = region->origin[a] - part->centre[a] + at[a];
            distance += off * off;
        }
        height += part->normal[a] * (region->origin[a] - part->point[a] + at[a]);
    }
    return (!part->is_round || distance <= part->radius * part->radius) &&
           (!part->oblique || height <= 0.0);
}

int hs_solids_at(const struct hs_solids *solids, const struct hs_node_box *region,
                 const struct hs_selection *selection, const double at[HS_AXES])
{
    for (int n = 0; n < selection->count; n++) {
        const struct hs_shape_parts *part = &solids->part[selection->part[n]];
        if (contains(part, region, at))
            return part->substance;
    }
    return selection->base;
}

int hs_solids_line(const struct hs_solids *solids, const struct hs_node_box *region,
                   const struct hs_selection *selection, int axis, const double at[HS_AXES],
                   struct hs_crossing *crossing, struct hs_piece *piece)
{
    const double near = solids->axis[axis].tolerance;
    const double end = region->hi[axis];
    int crossings = 0, count = 0;
    for (int n = 0; n < selection->count; n++)
        crossings +=
            cross(&solids->part[selection->part[n]], region, axis, at, crossing + crossings);
    sort(crossings, crossing);
    crossing[crossings] = (struct hs_crossing){INFINITY, 1.0};

    double point[HS_AXES] = {at[0], at[1], at[2]};
    double from = region->lo[axis], facing = 1.0;
    int n;
    for (n = 0; from < end; n++) {
        const double to = crossing[n].at < end - near ? crossing[n].at : end;
        if (to < end && to <= from + near) { /* the same place, but for rounding */
            if (count == 0 && to >= from - near)
                facing = crossing[n].facing;
            continue;
        }
        point[axis] = 0.5 * (from + to);
        const int substance = hs_solids_at(solids, region, selection, point);
        if (count > 0 && piece[count - 1].substance == substance)
            piece[count - 1].to = to;
        else
            piece[count++] = (struct hs_piece){substance, from, to, facing};
        from = to;
        facing = crossing[n].facing;
    }
    piece[count] =
        (struct hs_piece){HS_NOWHERE, end, end, crossing[n - 1].at <= end + near ? facing : 1.0};
    return count;
}
