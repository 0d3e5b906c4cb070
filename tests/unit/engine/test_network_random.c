/*
 * Random bodies against the definition in engine/network/network.h, computed in the plainest way:
 * every shape is asked at every point of every line, in coordinates of the body. Only the test
 * whether a surface is near, which decides about cuts and lines, is the same as there.
 */
#include "functions/moving.h"
#include "network_case.h"
#include "random.h"

#include <float.h>

enum { CUTS = 2 * CASE_SOLIDS + CASE_WALLS * 2 + 4, LINES = 4, NONE = -1 };

struct random_case {
    struct network_case c;
    double coordinate[HS_AXES][16]; /* of nodes, and of the end of a periodic axis */
    uint16_t label[512];
    double face_field[2][64];
};

/* ---- the definition ---------------------------------------------------------------------- */

static bool there(const struct random_case *r, int axis)
{
    return axis < r->c.grid.dims;
}

static int64_t cells(const struct random_case *r, int axis)
{
    return r->c.grid.points[axis] - (there(r, axis) && !r->c.spec.wrap[axis]);
}

/* A box of the body. */
struct box {
    double lo[HS_AXES], hi[HS_AXES];
};

/* The cell on a side of a node; false if there is none. */
static bool cell_at(const struct random_case *r, const int64_t node[HS_AXES],
                    const int side[HS_AXES], int64_t cell[HS_AXES])
{
    for (int a = 0; a < HS_AXES; a++) {
        cell[a] = node[a] - 1 + side[a];
        if (cell[a] < 0 && r->c.spec.wrap[a])
            cell[a] += cells(r, a);
        if (cell[a] < 0 || cell[a] >= cells(r, a))
            return false;
    }
    return true;
}

/* The half of a cell that belongs to the node along all axes; along `whole` all of it. */
static struct box part_of(const struct random_case *r, const int64_t cell[HS_AXES],
                          const int side[HS_AXES], int whole)
{
    struct box box;
    for (int a = 0; a < HS_AXES; a++) {
        const double lo = there(r, a) ? r->coordinate[a][cell[a]] : 0.0;
        const double hi = there(r, a) ? r->coordinate[a][cell[a] + 1] : 1.0;
        const double middle = 0.5 * (lo + hi);
        const bool all = a == whole || !there(r, a);
        box.lo[a] = all || side[a] ? lo : middle;
        box.hi[a] = all || !side[a] ? hi : middle;
    }
    return box;
}

/* Whether distances along an axis count for a round shape. */
static bool counts(const struct random_case *r, const struct hs_solid *solid, int axis)
{
    return there(r, axis) &&
           (solid->shape.kind == HS_SHAPE_SPHERE ||
            (solid->shape.kind == HS_SHAPE_CYLINDER && axis != solid->shape.axis));
}

static int count_of(const struct random_case *r, const struct hs_solid *solid)
{
    return counts(r, solid, 0) + counts(r, solid, 1) + counts(r, solid, 2);
}

/* Components of a half-space's normal, along axes that are there. */
static int slopes(const struct random_case *r, const struct hs_solid *solid)
{
    int count = 0;
    for (int a = 0; a < HS_AXES; a++)
        count += solid->shape.kind == HS_SHAPE_HALF_SPACE && there(r, a) &&
                 solid->shape.normal[a] != 0.0;
    return count;
}

static bool contains(const struct random_case *r, const struct hs_solid *solid,
                     const double x[HS_AXES])
{
    double distance = 0.0, height = 0.0;
    for (int a = 0; a < HS_AXES; a++) {
        if (!there(r, a))
            continue;
        if (solid->shape.kind == HS_SHAPE_BOX &&
            (x[a] < solid->shape.lower[a] || x[a] > solid->shape.upper[a]))
            return false;
        if (solid->shape.kind == HS_SHAPE_CYLINDER && a == solid->shape.axis &&
            (x[a] < solid->shape.from || x[a] > solid->shape.to))
            return false;
        if (counts(r, solid, a))
            distance += pow(x[a] - solid->shape.centre[a], 2.0);
        if (solid->shape.kind == HS_SHAPE_HALF_SPACE)
            height += (x[a] - solid->shape.point[a]) * solid->shape.normal[a];
    }
    return distance <= solid->shape.radius * solid->shape.radius && height <= 0.0;
}

static int substance_at(const struct random_case *r, const double x[HS_AXES])
{
    for (int n = r->c.body.solid_count - 1; n >= 0; n--)
        if (contains(r, &r->c.solid[n], x))
            return r->c.solid[n].substance;
    return NONE;
}

/* Planes of a solid across an axis. */
static int planes(const struct random_case *r, const struct hs_solid *solid, int axis,
                  double place[2])
{
    place[0] = -INFINITY;
    place[1] = INFINITY;
    if (!there(r, axis))
        return 0;
    if (solid->shape.kind == HS_SHAPE_BOX) {
        place[0] = solid->shape.lower[axis];
        place[1] = solid->shape.upper[axis];
    } else if (solid->shape.kind == HS_SHAPE_CYLINDER && axis == solid->shape.axis) {
        place[0] = solid->shape.from;
        place[1] = solid->shape.to;
    } else if (counts(r, solid, axis)) { /* those that touch it */
        place[0] = solid->shape.centre[axis] - solid->shape.radius;
        place[1] = solid->shape.centre[axis] + solid->shape.radius;
    } else if (slopes(r, solid) == 1 && solid->shape.normal[axis] != 0.0)
        place[solid->shape.normal[axis] > 0.0] = solid->shape.point[axis];
    return 2;
}

static bool is_curved(const struct random_case *r, const struct hs_solid *solid)
{
    return count_of(r, solid) > 1 || slopes(r, solid) > 1;
}

static double near(const struct random_case *r, int axis)
{
    return 1e-13 * (fabs(r->coordinate[axis][0]) + fabs(r->coordinate[axis][cells(r, axis)]));
}

enum relation { APART, CROSSES, AROUND };

static enum relation curve_to(const struct random_case *r, const struct hs_solid *solid,
                              const struct box *box)
{
    double low = 0.0, high = 0.0, square = 0.0; /* bounds of the squared distance, or the height */
    if (!is_curved(r, solid))
        return AROUND;
    for (int a = 0; a < HS_AXES; a++) {
        if (counts(r, solid, a)) {
            const double lo = box->lo[a] - solid->shape.centre[a],
                         hi = box->hi[a] - solid->shape.centre[a];
            low += lo > 0.0 ? lo * lo : hi < 0.0 ? hi * hi : 0.0;
            high += fmax(lo * lo, hi * hi);
            square = solid->shape.radius * solid->shape.radius;
        }
        if (solid->shape.kind == HS_SHAPE_HALF_SPACE && there(r, a)) {
            const double lo = (box->lo[a] - solid->shape.point[a]) * solid->shape.normal[a];
            const double hi = (box->hi[a] - solid->shape.point[a]) * solid->shape.normal[a];
            low += fmin(lo, hi);
            high += fmax(lo, hi);
        }
    }
    return low >= square ? APART : high <= square ? AROUND : CROSSES;
}

static enum relation lies(const struct random_case *r, const struct hs_solid *solid,
                          const struct box *box)
{
    const enum relation curve = curve_to(r, solid, box);
    bool around = true;
    for (int a = 0; a < r->c.grid.dims; a++) {
        double place[2];
        planes(r, solid, a, place);
        if (place[1] <= box->lo[a] + near(r, a) || place[0] >= box->hi[a] - near(r, a))
            return APART;
        around =
            around && place[0] <= box->lo[a] + near(r, a) && place[1] >= box->hi[a] - near(r, a);
    }
    return curve == AROUND && !around ? CROSSES : curve;
}

/* Solids that cross a box and are not hidden there, topmost first. */
struct crossing {
    int count;
    const struct hs_solid *solid[CASE_SOLIDS];
    bool curved;
};

static struct crossing find_crossing(const struct random_case *r, const struct box *box)
{
    struct crossing out = {.count = 0};
    for (int n = r->c.body.solid_count - 1; n >= 0; n--) {
        const struct hs_solid *solid = &r->c.solid[n];
        const enum relation relation = lies(r, solid, box);
        if (relation == AROUND)
            break;
        if (relation == CROSSES) {
            out.solid[out.count++] = solid;
            out.curved |= curve_to(r, solid, box) == CROSSES;
        }
    }
    return out;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the places between lo and hi, and adds both ends. */
static int sort_cuts(double lo, double hi, double apart, int count, double *cut)
{
    int kept = 1;
    qsort(cut, (size_t)count, sizeof *cut, ascending);
    double out[CUTS] = {lo};
    for (int n = 0; n < count; n++)
        if (cut[n] > out[kept - 1] + apart && cut[n] < hi - apart)
            out[kept++] = cut[n];
    out[kept++] = hi;
    memcpy(cut, out, (size_t)kept * sizeof *cut);
    return kept;
}

/* Lines along an axis through a box, cut where the solids of a crossing are. */
struct bundle {
    int count;
    double at[4096][HS_AXES], area[4096];
};

static void find_lines(const struct random_case *r, const struct box *box, int axis,
                       const struct crossing *crossing, struct bundle *out)
{
    const int across[] = {axis == 0, axis == 2 ? 1 : 2};
    double cut[2][CUTS];
    int cuts[2], each[2];
    for (int d = 0; d < 2; d++) {
        const int a = across[d];
        int count = 0;
        for (int n = 0; n < crossing->count; n++)
            count += planes(r, crossing->solid[n], a, &cut[d][count]);
        cuts[d] = sort_cuts(box->lo[a], box->hi[a], there(r, a) ? near(r, a) : 0.0, count, cut[d]);
        each[d] = there(r, a) && crossing->curved ? LINES : 1;
    }
    out->count = 0;
    for (int m = 0; m < (cuts[1] - 1) * each[1]; m++)
        for (int n = 0; n < (cuts[0] - 1) * each[0]; n++) {
            const int number[] = {n, m};
            assert_true(out->count < 4096);
            out->area[out->count] = 1.0;
            for (int d = 0; d < 2; d++) {
                const double *ends = &cut[d][number[d] / each[d]];
                const double width = (ends[1] - ends[0]) / each[d];
                out->at[out->count][across[d]] = ends[0] + (number[d] % each[d] + 0.5) * width;
                out->area[out->count] *= width;
            }
            out->count++;
        }
}

/* Where and at which angle a line crosses surfaces: at most 4 of each solid. */
struct meeting {
    double at, cosine;
};

static int earlier(const void *a, const void *b)
{
    return ascending(&((const struct meeting *)a)->at, &((const struct meeting *)b)->at);
}

/* The part of a line that stands for a quarter of an edge's cross-section, of these widths. */
struct stretch {
    double lo, hi, width[HS_AXES];
};

static int meet(const struct random_case *r, const struct hs_solid *solid, int axis,
                const double x[HS_AXES], const struct stretch *of, struct meeting *out)
{
    double place[2], rest = 0.0, length = 0.0;
    int count = 0;
    planes(r, solid, axis, place);
    out[count++] = (struct meeting){place[0], 1.0};
    out[count++] = (struct meeting){place[1], 1.0};
    if (count_of(r, solid) > 1 && counts(r, solid, axis)) {
        for (int a = 0; a < HS_AXES; a++)
            if (counts(r, solid, a) && a != axis)
                rest += pow(x[a] - solid->shape.centre[a], 2.0);
        if (rest < solid->shape.radius * solid->shape.radius) {
            const double radius = solid->shape.radius, centre = solid->shape.centre[axis];
            const double root = sqrt(radius * radius - rest);
            double cosine = root / radius, width = 0.0;
            for (int a = 0; a < HS_AXES; a++)
                if (counts(r, solid, a) && a != axis)
                    width = fmax(width, of->width[a]);
            if (centre - root > of->lo && centre + root < of->hi) { /* it only grazes the solid */
                const double out_of_centre = 1.0 - fmin(width / radius, 1.0);
                cosine = fmax(cosine, sqrt(1.0 - out_of_centre * out_of_centre));
            }
            for (int side = -1; side <= 1; side += 2)
                out[count++] = (struct meeting){centre + side * root, cosine};
        }
    }
    if (slopes(r, solid) > 1 && solid->shape.normal[axis] != 0.0) {
        for (int a = 0; a < HS_AXES; a++)
            if (there(r, a)) {
                length += solid->shape.normal[a] * solid->shape.normal[a];
                rest += a == axis ? 0.0 : (x[a] - solid->shape.point[a]) * solid->shape.normal[a];
            }
        out[count++] = (struct meeting){solid->shape.point[axis] - rest / solid->shape.normal[axis],
                                        fabs(solid->shape.normal[axis]) / sqrt(length)};
    }
    return count;
}

static double contact(const struct random_case *r, int one, int other)
{
    for (int n = 0; n < r->c.body.contact_count; n++) {
        const int *b = r->c.contact[n].between;
        if (one != other && ((b[0] == one && b[1] == other) || (b[0] == other && b[1] == one)))
            return r->c.contact[n].resistance;
    }
    return 0.0;
}

/* Along a line from lo to hi: returns the resistance of 1 m^2 without contacts; adds up the
 * contacts that follow substance `before`, and the lengths by substance. */
static double walk(const struct random_case *r, int axis, const double line[HS_AXES],
                   const struct stretch *of, int before, double *contacts,
                   double length[CASE_SUBSTANCES])
{
    const double lo = of->lo, hi = of->hi;
    struct meeting meeting[4 * CASE_SOLIDS + 2] = {{lo, 1.0}};
    double x[HS_AXES] = {line[0], line[1], line[2]}, sum = 0.0, from = lo, cosine = 1.0;
    int count = 0;
    for (int n = 0; n < r->c.body.solid_count; n++)
        count += meet(r, &r->c.solid[n], axis, line, of, &meeting[count]);
    qsort(meeting, (size_t)count, sizeof *meeting, earlier);
    meeting[count++] = (struct meeting){INFINITY, 1.0};
    for (int n = 0; n < count && from < hi; n++) {
        const double to = fmin(meeting[n].at, hi);
        if (to <= from + 0.1 * near(r, axis))
            continue;
        x[axis] = 0.5 * (from + to);
        const int substance = substance_at(r, x);
        assert_true(substance != NONE);
        if (contacts && before != NONE && contact(r, before, substance) > 0.0)
            *contacts += contact(r, before, substance) / cosine;
        sum += (to - from) / r->c.substance[substance].conductivity[axis];
        if (length)
            length[substance] += to - from;
        before = substance;
        from = to;
        cosine = meeting[n].cosine;
    }
    return sum;
}

/* m: how much lower than they are nodes and edges are taken, for the side of a surface that they
 * are on; as much as hs_octants_beside. A line that touches a round surface has a piece in it whose
 * length is the root of that. */
static double lowered(const struct random_case *r, int axis)
{
    const double *coordinate = r->coordinate[axis];
    const double far = fmax(fabs(coordinate[0]), fabs(coordinate[cells(r, axis)]));
    return 4.0 * sqrt(1.0 + axis) * 32.0 * DBL_EPSILON * far;
}

/* The line from a node to the next one along an axis, lowered along all axes, or raised where
 * nothing lies below. */
static void node_line(const struct random_case *r, const int64_t node[HS_AXES], double x[HS_AXES])
{
    for (int a = 0; a < HS_AXES; a++) {
        const bool under = node[a] > 0 || r->c.spec.wrap[a];
        x[a] = !there(r, a) ? 0.5
               : under      ? r->coordinate[a][node[a] > 0 ? node[a] : cells(r, a)] - lowered(r, a)
                            : r->coordinate[a][0] + lowered(r, a);
    }
}

/* What a line from a node to the next one meets: the substances just below the node and at the next
 * one, and contacts. */
struct met {
    int under, end;
    double contacts;
};

static struct met meet_contacts(const struct random_case *r, const int64_t node[HS_AXES], int axis,
                                const double line[HS_AXES])
{
    const double little = lowered(r, axis), *coordinate = r->coordinate[axis];
    double x[HS_AXES], at[HS_AXES];
    struct met met = {.contacts = 0.0};
    node_line(r, node, x);
    memcpy(at, line, sizeof at);
    at[axis] = x[axis];
    struct stretch of = {.lo = coordinate[node[axis]] + (node[axis] > 0 ? -little : little),
                         .hi = coordinate[node[axis] + 1] - little};
    for (int a = 0; a < HS_AXES; a++)
        if (there(r, a) && a != axis) { /* half of the cell below, or above where there is none */
            const bool under = node[a] > 0 || r->c.spec.wrap[a];
            const int64_t cell = !under ? 0 : (node[a] > 0 ? node[a] : cells(r, a)) - 1;
            of.width[a] = 0.5 * (r->coordinate[a][cell + 1] - r->coordinate[a][cell]);
        }
    met.under = substance_at(r, at);
    walk(r, axis, at, &of, met.under, &met.contacts, NULL);
    at[axis] = of.hi;
    met.end = substance_at(r, at);
    return met;
}

/* The contacts of a line: its own, or those of the line of the nodes if a contact lies between. */
static double contacts_along(const struct random_case *r, const int64_t node[HS_AXES], int axis,
                             const double line[HS_AXES], const struct met *edge)
{
    const struct met own = meet_contacts(r, node, axis, line);
    const bool apart =
        contact(r, own.under, edge->under) > 0.0 || contact(r, own.end, edge->end) > 0.0;
    return apart ? edge->contacts : own.contacts;
}

/* Whether a curved surface that is not parallel to the axis is seen in the box, and more than
 * touches it. */
static bool bends(const struct random_case *r, const struct box *box, int axis)
{
    struct box within = *box;
    for (int a = 0; a < r->c.grid.dims; a++) {
        within.lo[a] += near(r, a);
        within.hi[a] -= near(r, a);
    }
    const struct crossing crossing = find_crossing(r, &within);
    for (int n = 0; n < crossing.count; n++) {
        const struct hs_solid *solid = crossing.solid[n];
        const bool slants = solid->shape.kind == HS_SHAPE_HALF_SPACE;
        if (curve_to(r, solid, &within) == CROSSES &&
            (slants ? solid->shape.normal[axis] != 0.0 : counts(r, solid, axis)))
            return true;
    }
    return false;
}

static double edge_of_solids(const struct random_case *r, const int64_t node[HS_AXES], int axis)
{
    static struct bundle bundle;
    double x[HS_AXES], sum = 0.0;
    node_line(r, node, x);
    const struct met edge = meet_contacts(r, node, axis, x);
    for (int n = 0; n < 4; n++) {
        int side[HS_AXES];
        int64_t cell[HS_AXES];
        side[axis] = 1;
        side[(axis + 1) % 3] = n % 2;
        side[(axis + 2) % 3] = n / 2;
        if (!cell_at(r, node, side, cell))
            continue;
        const struct box box = part_of(r, cell, side, axis);
        struct box reach = box; /* solids that end right below have contacts here */
        reach.lo[axis] -= r->c.body.contact_count > 0 ? 3.0 * near(r, axis) : 0.0;
        const struct crossing here = find_crossing(r, &reach);
        const bool as_node_line = bends(r, &box, axis);
        const struct stretch whole = {.lo = box.lo[axis], .hi = box.hi[axis]};
        double within[HS_AXES]; /* on the line of the nodes, but in the quarter */
        for (int a = 0; a < HS_AXES; a++)
            within[a] = !there(r, a) ? 0.5
                        : side[a]    ? box.lo[a] + lowered(r, a)
                                     : box.hi[a] - lowered(r, a);
        find_lines(r, &box, axis, &here, &bundle);
        for (int m = 0; m < bundle.count; m++)
            sum += bundle.area[m] /
                   (walk(r, axis, as_node_line ? within : bundle.at[m], &whole, NONE, NULL, NULL) +
                    (as_node_line ? edge.contacts
                                  : contacts_along(r, node, axis, bundle.at[m], &edge)));
    }
    return sum;
}

/* Axes along which an octant's lines run. */
static int best_axes(const struct random_case *r, const struct box *box,
                     const struct crossing *crossing, int best[HS_AXES])
{
    double normal[HS_AXES] = {0.0, 0.0, 0.0}, most = 0.0;
    int count = 0;
    best[0] = 0;
    if (!crossing->curved)
        return 1;
    int top = 0;
    while (!is_curved(r, crossing->solid[top]))
        top++;
    for (int a = 0; a < r->c.grid.dims; a++) {
        const struct hs_solid *solid = crossing->solid[top];
        if (counts(r, solid, a))
            normal[a] = fabs(0.5 * (box->lo[a] + box->hi[a]) - solid->shape.centre[a]);
        else if (solid->shape.kind == HS_SHAPE_HALF_SPACE)
            normal[a] = fabs(solid->shape.normal[a]);
        most = fmax(most, normal[a]);
    }
    for (int a = 0; a < r->c.grid.dims; a++)
        if (normal[a] > most * (1.0 - 1e-9))
            best[count++] = a;
    return count;
}

static void volumes_of_solids(const struct random_case *r, const int64_t node[HS_AXES],
                              double volume[CASE_SUBSTANCES])
{
    static struct bundle bundle;
    for (int o = 0; o < 8; o++) {
        const int side[] = {o & 1, o >> 1 & 1, o >> 2};
        int64_t cell[HS_AXES];
        int axes[HS_AXES];
        if (!cell_at(r, node, side, cell))
            continue;
        const struct box box = part_of(r, cell, side, NONE);
        const struct crossing here = find_crossing(r, &box);
        const int count = best_axes(r, &box, &here, axes);
        for (int n = 0; n < count; n++) {
            find_lines(r, &box, axes[n], &here, &bundle);
            for (int m = 0; m < bundle.count; m++) {
                double length[CASE_SUBSTANCES] = {0.0};
                walk(r, axes[n], bundle.at[m],
                     &(struct stretch){.lo = box.lo[axes[n]], .hi = box.hi[axes[n]]}, NONE, NULL,
                     length);
                for (int s = 0; s < r->c.body.substance_count; s++)
                    volume[s] += bundle.area[m] * length[s] / count;
            }
        }
    }
}

/* ---- walls ------------------------------------------------------------------------------- */

static int64_t on_face(const struct random_case *r, int face, const int64_t node[HS_AXES])
{
    const int a = face / 2, first = a == 0, second = a == 2 ? 1 : 2;
    return node[first] + r->c.grid.points[first] * node[second];
}

static bool is_on(const struct random_case *r, int face, const int64_t node[HS_AXES])
{
    const int a = face / 2;
    return there(r, a) && !r->c.spec.wrap[a] && node[a] == (face % 2 ? r->c.grid.points[a] - 1 : 0);
}

static bool has(const struct random_case *r, const struct hs_wall *wall, int face,
                const int64_t node[HS_AXES], const double x[HS_AXES], double apart)
{
    bool inside = wall->face == face;
    for (int a = 0; a < r->c.grid.dims && inside; a++)
        inside = a == face / 2 || (x[a] >= wall->lower[a] - apart * near(r, a) &&
                                   x[a] <= wall->upper[a] + apart * near(r, a));
    return inside && (!wall->label || wall->label[on_face(r, face, node)] == wall->number);
}

/* The topmost wall at a point of a face; at a node, borders count as inside. */
static int top_at(const struct random_case *r, int face, const int64_t node[HS_AXES],
                  const double x[HS_AXES], bool is_node)
{
    for (int w = r->c.spec.wall_count - 1; w >= 0; w--) {
        bool inside = has(r, &r->c.wall[w], face, node, x, is_node);
        for (int n = 1; n < 8 && is_node && !inside; n++) { /* once round periodic axes */
            double image[HS_AXES] = {x[0], x[1], x[2]};
            for (int a = 0; a < r->c.grid.dims; a++)
                if ((n >> a & 1) && r->c.spec.wrap[a] && node[a] == 0)
                    image[a] = r->coordinate[a][cells(r, a)];
            inside = has(r, &r->c.wall[w], face, node, image, is_node);
        }
        if (inside)
            return w;
    }
    return NONE;
}

/* Area of each wall on the node's part of a face. */
static void areas_of(const struct random_case *r, int face, const int64_t node[HS_AXES],
                     double area[CASE_WALLS])
{
    const int axis = face / 2, across[] = {axis == 0, axis == 2 ? 1 : 2};
    for (int n = 0; n < 4; n++) {
        int side[HS_AXES];
        int64_t cell[HS_AXES];
        double cut[2][CUTS];
        int cuts[2];
        side[axis] = 1 - face % 2;
        side[across[0]] = n % 2;
        side[across[1]] = n / 2;
        if (!cell_at(r, node, side, cell))
            continue;
        const struct box box = part_of(r, cell, side, NONE);
        for (int d = 0; d < 2; d++) {
            const int a = across[d];
            int count = 0;
            for (int w = 0; w < r->c.spec.wall_count && there(r, a); w++) {
                cut[d][count++] = r->c.wall[w].lower[a];
                cut[d][count++] = r->c.wall[w].upper[a];
            }
            cuts[d] =
                sort_cuts(box.lo[a], box.hi[a], there(r, a) ? near(r, a) : 0.0, count, cut[d]);
        }
        for (int c = 0; c < cuts[1] - 1; c++)
            for (int b = 0; b < cuts[0] - 1; b++) {
                double x[HS_AXES] = {0.0, 0.0, 0.0};
                x[across[0]] = 0.5 * (cut[0][b] + cut[0][b + 1]);
                x[across[1]] = 0.5 * (cut[1][c] + cut[1][c + 1]);
                const int top = top_at(r, face, node, x, false);
                if (top != NONE)
                    area[top] += (cut[0][b + 1] - cut[0][b]) * (cut[1][c + 1] - cut[1][c]);
            }
    }
}

/* ---- a node ------------------------------------------------------------------------------ */

enum { FUNCTIONS = 8 };
static const double moment = 1.75; /* s, the time of moving values */
struct expected {
    double conductance[HS_AXES], capacity, sink, weight[FUNCTIONS];
    double sink_weight[FUNCTIONS], steady_sink; /* of a sink that changes with time */
    double moving;                              /* W, or K of a prescribed one */
    enum hs_node_kind kind;
};

static void add_walls(const struct random_case *r, const int64_t node[HS_AXES],
                      struct expected *out)
{
    const struct hs_wall *holding = NULL;
    double x[HS_AXES] = {0.0, 0.0, 0.0};
    for (int a = 0; a < r->c.grid.dims; a++)
        x[a] = r->coordinate[a][node[a]];
    for (int face = 0; face < HS_FACES; face++) {
        if (!is_on(r, face, node))
            continue;
        const int top = top_at(r, face, node, x, true);
        double area[CASE_WALLS] = {0.0};
        areas_of(r, face, node, area);
        for (int w = 0; w < r->c.spec.wall_count; w++) {
            const struct hs_wall *wall = &r->c.wall[w];
            const int64_t at = on_face(r, face, node);
            if (wall->kind != HS_WALL_EXCHANGES)
                continue;
            const double share = wall->h_field ? wall->h_field[at] : 1.0, h = wall->h * share;
            const double ambient = wall->ambient.field ? wall->ambient.field[at] : 1.0;
            const bool varies = wall->h_function >= 0 && h > 0.0;
            out->sink += area[w] * h;
            if (varies) {
                out->sink_weight[wall->h_function] += area[w] * share;
                out->weight[wall->h_ambient] += area[w] * share * ambient;
            } else {
                out->steady_sink += area[w] * h;
                if (wall->ambient.function >= 0)
                    out->weight[wall->ambient.function] += area[w] * h * ambient;
            }
            if (wall->flux.function >= 0)
                out->weight[wall->flux.function] -=
                    area[w] * (wall->flux.field ? wall->flux.field[at] : 1.0);
            if (hs_wall_number_moves(&wall->ambient))
                out->moving += area[w] * h * case_moving_at(&wall->ambient, x, moment);
            if (hs_wall_number_moves(&wall->flux))
                out->moving -= area[w] * case_moving_at(&wall->flux, x, moment);
        }
        if (top == NONE || r->c.wall[top].kind == HS_WALL_EXCHANGES)
            continue;
        if (!holding || r->c.wall[top].kind == HS_WALL_PRESCRIBES)
            holding = &r->c.wall[top];
    }
    if (!holding)
        return;
    out->sink = out->moving = out->steady_sink = 0.0;
    memset(out->weight, 0, sizeof out->weight);
    memset(out->sink_weight, 0, sizeof out->sink_weight);
    out->kind = holding->kind == HS_WALL_PRESCRIBES ? HS_NODE_PRESCRIBED : HS_NODE_HELD;
    if (out->kind != HS_NODE_PRESCRIBED)
        return;
    if (hs_wall_number_moves(&holding->value))
        out->moving = case_moving_at(&holding->value, x, moment);
    else
        out->weight[holding->value.function] = 1.0;
}

static struct expected expect(const struct random_case *r, const int64_t node[HS_AXES])
{
    struct expected out = {.capacity = 0.0};
    double volume[CASE_SUBSTANCES] = {0.0};
    volumes_of_solids(r, node, volume);
    for (int s = 0; s < r->c.body.substance_count; s++) {
        const struct hs_substance *substance = &r->c.substance[s];
        out.capacity += volume[s] * substance->capacity;
        out.sink += volume[s] * substance->perfusion;
        out.steady_sink += volume[s] * substance->perfusion;
        out.weight[substance->reference] += volume[s] * substance->perfusion;
        if (substance->source >= 0)
            out.weight[substance->source] += volume[s];
        if (r->c.body.source >= 0)
            out.weight[r->c.body.source] += volume[s];
    }
    for (int a = 0; a < r->c.grid.dims; a++)
        if (node[a] < cells(r, a))
            out.conductance[a] = edge_of_solids(r, node, a);
    add_walls(r, node, &out);
    return out;
}

/* ---- random cases ------------------------------------------------------------------------ */

static void make_axes(struct random_case *r)
{
    int64_t points[HS_AXES];
    double size[HS_AXES];
    const int dims = 1 + (int)below(3);
    for (int a = 0; a < HS_AXES; a++) {
        points[a] = 3 + below(dims == 1 ? 12 : 4);
        size[a] = between(0.5, 2.0);
    }
    case_init(&r->c, dims, points, size);
    for (int a = 0; a < dims; a++) {
        r->c.grid.lower[a] = below(2) ? 0.0 : between(-2.0, 2.0);
        r->c.spec.wrap[a] = below(4) == 0;
        const bool stretched = below(3) == 0;
        double at = r->c.grid.lower[a];
        for (int i = 0; i <= points[a]; i++) {
            r->coordinate[a][i] = stretched ? at : hs_grid_coordinate(&r->c.grid, a, i);
            at += size[a] / (double)points[a] * between(0.5, 1.5);
        }
        r->c.grid.coordinate[a] = stretched ? r->coordinate[a] : NULL;
    }
}

/* Anywhere near the grid; or at a node, or halfway between two. */
static double somewhere(const struct random_case *r, int axis)
{
    if (!there(r, axis))
        return 0.0;
    const double *x = r->coordinate[axis];
    const int64_t n = cells(r, axis), i = below((uint32_t)n);
    const double width = x[n] - x[0];
    switch (below(4)) {
    case 0: return x[i];
    case 1: return 0.5 * (x[i] + x[i + 1]);
    default: return between(x[0] - 0.1 * width, x[n] + 0.1 * width);
    }
}

static void make_solids(struct random_case *r)
{
    const int substances = 2 + (int)below(3), solids = (int)below(7);
    for (int s = 0; s < substances; s++) {
        case_substance(&r->c, 1.0, between(1.0, 9.0));
        struct hs_substance *substance = &r->c.substance[s];
        for (int a = 0; a < HS_AXES; a++)
            substance->conductivity[a] = pow(10.0, between(-2.0, 3.0));
        substance->perfusion = below(2) ? 0.0 : between(0.0, 3.0);
        substance->reference = (int)below(3);
        substance->source = (int)below(4) - 1;
    }
    r->c.body.source = (int)below(6) - 1;
    case_solid(&r->c, HS_SHAPE_EVERYWHERE, (int)below((uint32_t)substances));
    for (int n = 0; n < solids; n++) {
        struct hs_solid *solid =
            case_solid(&r->c, (enum hs_shape_kind)below(4), (int)below((uint32_t)substances));
        solid->shape.radius = between(0.05, 1.0);
        solid->shape.axis = (int)below(3);
        const double one = somewhere(r, solid->shape.axis), other = somewhere(r, solid->shape.axis);
        solid->shape.from = below(3) ? fmin(one, other) : -INFINITY;
        solid->shape.to = below(3) ? fmax(one, other) : INFINITY;
        for (int a = 0; a < HS_AXES; a++) {
            const double lower = somewhere(r, a), upper = somewhere(r, a);
            solid->shape.lower[a] = below(4) ? fmin(lower, upper) : -INFINITY;
            solid->shape.upper[a] = below(4) ? fmax(lower, upper) : INFINITY;
            solid->shape.centre[a] = somewhere(r, a);
            solid->shape.point[a] = somewhere(r, a);
            solid->shape.normal[a] = below(2) && there(r, a) ? between(-1.0, 1.0) : 0.0;
        }
        const int towards = (int)below((uint32_t)r->c.grid.dims);
        solid->shape.normal[towards] += solid->shape.normal[towards] == 0.0;
    }
    for (int n = (int)below(3); n > 0; n--)
        case_contact(&r->c, (int)below((uint32_t)substances), (int)below((uint32_t)substances),
                     between(0.0, 0.5));
}

static void make_walls(struct random_case *r)
{
    for (int n = 0; n < 64; n++) {
        r->face_field[0][n] = between(0.5, 2.0);
        r->face_field[1][n] = between(-1.0, 1.0);
        r->label[n] = (uint16_t)below(2);
    }
    for (int face = 0; face < 2 * r->c.grid.dims; face++)
        for (int n = (int)below(4); n > 0 && !r->c.spec.wrap[face / 2]; n--) {
            struct hs_wall *wall = case_wall(&r->c, face,
                                             below(5)   ? HS_WALL_EXCHANGES
                                             : below(2) ? HS_WALL_HOLDS
                                                        : HS_WALL_PRESCRIBES);
            wall->value.function = 3;
            wall->h = below(2) ? 0.0 : between(0.1, 5.0);
            wall->h_field = below(4) ? NULL : r->face_field[0];
            wall->flux.function = (int)below(3) * 2 - 1;
            wall->flux.field = below(4) ? NULL : r->face_field[1];
            wall->ambient.function = (int)below(3) * 3 - 1;
            wall->label = below(6) ? NULL : r->label;
            if (wall->ambient.function >= 0 && below(3) == 0) {
                wall->h_function = 5 + (int)below(2);
                wall->h_ambient = 7;
            }
            struct hs_wall_number *const numbers[] = {&wall->value, &wall->flux, &wall->ambient};
            for (int which = 0; which < 3; which++)
                if (below(3) == 0 && (which < 2 || wall->h_function < 0))
                    *numbers[which] = case_moving((int)below(2));
            for (int a = 0; a < HS_AXES && below(3); a++) {
                const double lower = somewhere(r, a), upper = somewhere(r, a);
                wall->lower[a] = below(3) ? fmin(lower, upper) : -INFINITY;
                wall->upper[a] = below(3) ? fmax(lower, upper) : INFINITY;
            }
        }
}

/* Moving values at all nodes: [nodes], 0 where there are none. No bit depends on the threads. */
static void find_moving(const struct hs_network *network, const struct hs_moving *moving,
                        double *out)
{
    const size_t count = (size_t)moving->count;
    double *by[2];
    for (int n = 0; n < 2; n++) {
        by[n] = calloc(count + 1, sizeof *by[n]);
        hs_moving_at(moving, &network->grid, moment, 1 + 2 * n, by[n]);
    }
    assert_memory_equal(by[0], by[1], count * sizeof **by);
    for (int64_t n = 0; n < hs_grid_count(&network->grid); n++)
        out[n] = 0.0;
    for (size_t n = 0; n < count; n++) {
        assert_true(n == 0 || moving->node[n] > moving->node[n - 1]);
        out[moving->node[n]] = by[0][n];
    }
    free(by[0]);
    free(by[1]);
}

/* Returns the number of nodes on which something moving acts. */
static int assert_moving(const struct random_case *r, const struct hs_network *network, int number)
{
    static double inflow[4096], given[4096], row[64];
    const int64_t *p = r->c.grid.points;
    int found = 0;
    find_moving(network, &network->inflow, inflow);
    find_moving(network, &network->given, given);
    for (int64_t n = 0; n < hs_grid_count(&r->c.grid); n++) {
        const int64_t node[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
        const struct expected want = expect(r, node);
        const bool prescribed = want.kind == HS_NODE_PRESCRIBED;
        if (node[0] == 0) {
            memset(row, 0, sizeof row);
            hs_moving_put_row(&network->given, &r->c.grid, moment, node[1], node[2], row);
        }
        if (!(fabs(inflow[n] - (prescribed ? 0.0 : want.moving)) < 1e-9 &&
              fabs(given[n] - (prescribed ? want.moving : 0.0)) < 1e-12 &&
              given[n] == row[node[0]]))
            fail_msg("case %d, node %d %d %d: inflow %g, given %g, %g in its row (%g)", number,
                     (int)node[0], (int)node[1], (int)node[2], inflow[n], given[n], row[node[0]],
                     want.moving);
        found += want.moving != 0.0;
    }
    return found;
}

static double weight_of(const struct hs_terms *terms, int function)
{
    double weight = 0.0;
    for (int n = 0; n < terms->count; n++)
        weight += terms->function[n] == function ? terms->weight[n] : 0.0;
    return weight;
}

/* *varying: counts the nodes whose sink changes with time. */
static void assert_as_expected(const struct random_case *r, const struct hs_network *network,
                               int number, int *varying)
{
    const int64_t *p = r->c.grid.points;
    for (int64_t n = 0; n < hs_grid_count(&r->c.grid); n++) {
        const int64_t node[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
        const struct hs_network_row *row = hs_network_row_at(network, n);
        const struct hs_forcing *forcing = &network->forcing[row->forcing];
        const struct hs_terms *sink = &forcing->sink;
        const struct expected want = expect(r, node);
        /* lines end at roots of differences of squares, so in the worst case, of the last line of
         * four by four, half of the digits are certain */
        bool same = fabs(row->capacity / want.capacity - 1.0) < 1e-9;
        same = same && row->kind == (int32_t)want.kind;
        same = same && fabs(row->sink - want.sink) < 1e-9 * (1.0 + want.sink);
        for (int a = 0; a < HS_AXES; a++)
            same = same &&
                   fabs(row->conductance[a] - want.conductance[a]) <= 1e-9 * want.conductance[a];
        for (int d = 0; d < FUNCTIONS; d++)
            same = same && fabs(case_weight(network, row, d) - want.weight[d]) < 1e-9 &&
                   fabs(weight_of(sink, d) - want.sink_weight[d]) < 1e-9;
        const double steady = sink->count > 0 ? want.steady_sink : 0.0;
        same = same && fabs(forcing->steady_sink - steady) < 1e-9 * (1.0 + steady);
        *varying += sink->count > 0;
        if (!same)
            fail_msg("case %d, node %d %d %d: G %g %g %g (%g %g %g), C %g (%g), g %g (%g)", number,
                     (int)node[0], (int)node[1], (int)node[2], row->conductance[0],
                     row->conductance[1], row->conductance[2], want.conductance[0],
                     want.conductance[1], want.conductance[2], row->capacity, want.capacity,
                     row->sink, want.sink);
    }
}

void test_network_random__bodies_are_as_defined(void **state)
{
    static struct random_case r;
    int moving = 0, varying = 0;
    for (int n = 0; n < 1000; n++) {
        seed = (uint64_t)n * 7919 + 1;
        memset(&r, 0, sizeof r);
        make_axes(&r);
        make_solids(&r);
        make_walls(&r);
        struct hs_network network = case_make(&r.c);
        assert_as_expected(&r, &network, n, &varying);
        moving += assert_moving(&r, &network, n) > 0;
        hs_network_release(&network);
    }
    assert_true(moving > 400 && varying > 400);
}
