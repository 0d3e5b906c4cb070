/* Shapes that cross an end of a periodic axis. They do not continue at the other end. */
#include "engine/doubts/checks.h"

#include <math.h>

/* The n-th of a list of shapes; NULL after the last. */
typedef const struct hs_shape *list_of_shapes(const struct hs_problem *problem, int n);

/* The coordinates between which a shape lies; a half-space is taken as endless. */
static void find_extent(const struct hs_shape *shape, int axis, double out[2])
{
    const bool is_box = shape->kind == HS_SHAPE_BOX, ends = shape->kind == HS_SHAPE_CYLINDER;
    out[0] = -INFINITY;
    out[1] = INFINITY;
    if (is_box || (ends && axis == shape->axis)) {
        out[0] = is_box ? shape->lower[axis] : shape->from;
        out[1] = is_box ? shape->upper[axis] : shape->to;
    } else if (ends || shape->kind == HS_SHAPE_SPHERE) {
        out[0] = shape->centre[axis] - shape->radius;
        out[1] = shape->centre[axis] + shape->radius;
    }
}

/* A periodic axis: its ends, and a length that is nothing beside its cells. */
struct period {
    int axis;
    double lower, upper, near;
};

static bool are_near(double one, double other, double near)
{
    return one == other || fabs(one - other) <= near;
}

/* How far the part of a shape beyond an end must be moved to lie at the other end; 0: the shape
 * crosses no end, or fills the axis. */
static double period_beyond(const struct hs_shape *shape, const struct period *p)
{
    double at[2];
    find_extent(shape, p->axis, at);
    const bool begins = at[0] < p->lower - p->near;
    const bool goes_on = at[1] > p->upper + p->near;
    const bool meets = at[1] > p->lower + p->near && at[0] < p->upper - p->near;
    const bool fills = at[0] <= p->lower + p->near && at[1] >= p->upper - p->near;
    return !meets || fills || begins == goes_on ? 0.0
           : begins                             ? p->upper - p->lower
                                                : p->lower - p->upper;
}

/* Whether `other` draws within the grid what `shape` has beyond an end. */
static bool draws(const struct hs_shape *other, const struct hs_shape *shape, double shift,
                  const struct period *p)
{
    bool same = true;
    for (int a = 0; a < HS_AXES && same; a++) {
        double here[2], there[2];
        find_extent(shape, a, here);
        find_extent(other, a, there);
        for (int end = 0; end < 2 && a == p->axis; end++) {
            here[end] = fmin(fmax(here[end] + shift, p->lower), p->upper);
            there[end] = fmin(fmax(there[end], p->lower), p->upper);
        }
        same = are_near(here[0], there[0], p->near) && are_near(here[1], there[1], p->near);
    }
    return same;
}

static bool is_drawn(const struct hs_problem *problem, list_of_shapes *shape_of, int n,
                     double shift, const struct period *period)
{
    bool drawn = false;
    for (int m = 0; shape_of(problem, m) && !drawn; m++)
        drawn = draws(shape_of(problem, m), shape_of(problem, n), shift, period);
    return drawn;
}

/* Warns of the first shape of which a part beyond an end is not drawn at the other end by another.
 */
static void doubt(const struct hs_problem *problem, struct hs_error *out, enum hs_place place,
                  const char *list, list_of_shapes *shape_of)
{
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        double cells[2];
        if (!problem->face[2 * axis].wrap)
            continue;
        hs_grid_cells(&problem->grid, axis, true, cells);
        const double lower = hs_grid_coordinate(&problem->grid, axis, 0);
        const struct period period = {axis, lower, lower + hs_problem_length(problem, axis),
                                      1e-6 * cells[0]};
        for (int n = 0; shape_of(problem, n); n++) {
            const double shift = period_beyond(shape_of(problem, n), &period);
            if (shift == 0.0 || is_drawn(problem, shape_of, n, shift, &period))
                continue;
            hs_error_warn(
                out, hs_problem_place(problem, place),
                "%s[%d] reaches beyond %c = %g, an end of a periodic axis, and does not continue "
                "at the other end; draw that part as well: the same shape, moved by %g m along %c",
                list, n, "xyz"[axis], shift > 0.0 ? lower : period.upper, shift, "xyz"[axis]);
            return;
        }
    }
}

static const struct hs_shape *solid_of(const struct hs_problem *problem, int n)
{
    const struct hs_body *body = problem->body;
    return body && n < body->solid_count ? &body->solid[n].shape : NULL;
}

static const struct hs_shape *region_of(const struct hs_problem *problem, int n)
{
    return n < problem->initial.region_count ? &problem->initial.regions[n].shape : NULL;
}

void hs_doubts_of_shape_ends(const struct hs_problem *problem, struct hs_error *out)
{
    doubt(problem, out, HS_PLACE_BODY, "body", solid_of);
    doubt(problem, out, HS_PLACE_INITIAL, "initial.regions", region_of);
}
