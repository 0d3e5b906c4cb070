#include "engine/multigrid/kept.h"

#include "engine/multigrid/coarsest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A node is dropped if the geometric mean of its two cells is at most this many times the target
 * size. So an axis whose edges are 0.7 times as strong as the strongest is coarsened along with
 * that one. */
static const double mean_cell = 1.19523; /* 1/sqrt(0.7) */

/* The target size starts as the shortest cell and grows by the factor `longer` until at most the
 * fraction `stay` of the nodes is kept. From `far` times the shortest cell on, `stay_far` is
 * enough: otherwise an axis of even cells would be coarsened along with the last cells of an axis
 * that is dense in a small part only. From `very_far` times on, it is enough that one node goes:
 * otherwise those of a film between thick cells would go along with even cells, too. */
static const double longer = 1.4, stay = 0.7, far = 3.0, stay_far = 0.9, very_far = 10.0;

/* ---- those that stay ------------------------------------------------------------------------- */

static void find_runs(struct hs_kept *kept, int64_t *run)
{
    for (int64_t c = 0; c < kept->count; c++)
        if (c == 0 || hs_kept_skips(kept, c) != hs_kept_skips(kept, c - 1))
            run[kept->runs++] = c;
    run[kept->runs] = kept->count;
    kept->run = run;
}

static bool every_second(int64_t count, const int64_t *place)
{
    for (int64_t c = 0; c < count; c++)
        if (place[c] != 2 * c)
            return false;
    return true;
}

bool hs_kept_init(struct hs_kept *kept, int64_t n, int64_t count, const int64_t *place)
{
    *kept = (struct hs_kept){.n = n, .count = place ? count : (n + 1) / 2};
    if (place && !(count == (n + 1) / 2 && every_second(count, place))) {
        int64_t *own = malloc((size_t)(count + 1) * sizeof *own);
        if (!own)
            return false;
        memcpy(own, place, (size_t)count * sizeof *own);
        own[count] = n;
        kept->place = own;
    }
    int64_t *run = malloc((size_t)(kept->count + 1) * sizeof *run);
    if (run)
        find_runs(kept, run);
    return run != NULL;
}

void hs_kept_release(struct hs_kept *kept)
{
    free((void *)kept->place);
    free((void *)kept->run);
    kept->place = kept->run = NULL;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static double mean(const struct hs_spans *spans, int axis)
{
    double sum = 0.0;
    for (int64_t i = 0; i < spans->count[axis]; i++)
        sum += spans->length[axis][i];
    return sum / (double)spans->count[axis];
}

/* For n nodes: repeats the last cell's length beyond it, and sets the squares. */
static void complete(struct hs_spans *spans, int axis, int64_t n)
{
    const int64_t count = spans->count[axis];
    double *length = spans->length[axis];
    if (count == 0)
        return;
    const double of_all = mean(spans, axis);
    for (int64_t i = 0; i < n; i++) {
        if (i >= count)
            length[i] = length[count - 1];
        spans->square[axis][i] = length[i] / of_all * (length[i] / of_all);
    }
}

bool hs_spans_init(struct hs_spans *spans, const struct hs_grid *grid,
                   const struct hs_lattice *lattice)
{
    *spans = (struct hs_spans){.length = {NULL}};
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t n = lattice->n[axis];
        spans->count[axis] = grid->points[axis] - (lattice->wrap[axis] ? 0 : 1);
        spans->length[axis] = calloc((size_t)n, sizeof(double));
        spans->square[axis] = calloc((size_t)n, sizeof(double));
        if (!spans->length[axis] || !spans->square[axis])
            return false;
        for (int64_t i = 0; i < spans->count[axis]; i++)
            spans->length[axis][i] = hs_grid_cell(grid, axis, i);
        complete(spans, axis, n);
    }
    return true;
}

void hs_spans_release(struct hs_spans *spans)
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        free(spans->length[axis]);
        free(spans->square[axis]);
    }
    *spans = (struct hs_spans){.length = {NULL}};
}

void hs_spans_merge(struct hs_spans *spans, const struct hs_kept kept[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        const struct hs_kept *k = &kept[axis];
        double *length = spans->length[axis];
        int64_t count = 0;
        if (k->count == k->n)
            continue;
        for (int64_t c = 0; c < k->count; c++) {
            const int64_t at = hs_kept_place(k, c);
            const bool skips = hs_kept_skips(k, c);
            length[c] = skips ? length[at] + length[at + 1] : length[at];
            count += at + skips < spans->count[axis];
        }
        spans->count[axis] = k->count > 1 ? count : 0; /* one node has no next one */
        complete(spans, axis, k->count);
    }
}

/* ---- what stays ------------------------------------------------------------------------------ */

/* Whether a node after a kept one is dropped. For uniform conductivity, the sum of its edges along
 * the axis, over its share of the cells, is 2/(the product of the two). */
static bool goes(const double *length, int64_t i, double limit)
{
    return length[i - 1] * length[i] <= limit * limit;
}

/* Keeps the first of n nodes, and of the others at least every second. Returns how many, and
 * lists them in `place` unless it is NULL. */
static int64_t pick(const double *length, int64_t n, double limit, int64_t *place)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (place)
            place[count] = i;
        count++;
        i += i + 1 < n && goes(length, i + 1, limit);
    }
    return count;
}

/* Chooses from n nodes; `kept` stays as it is where none is dropped. False: out of memory. */
static bool keep(struct hs_kept *kept, int64_t n, const double *length, double limit)
{
    int64_t *place = malloc((size_t)n * sizeof *place);
    const int64_t count = place ? pick(length, n, limit, place) : 0;
    const bool done = place && (count == n || hs_kept_init(kept, n, count, place));
    free(place);
    return done;
}

static double shortest(const struct hs_spans *spans, int axis)
{
    double least = INFINITY;
    for (int64_t i = 0; i < spans->count[axis]; i++)
        least = fmin(least, spans->length[axis][i]);
    return least;
}

/* The unit of length along each axis: the square root of its share of the conductivity; 0 where
 * nothing conducts. */
static void find_units(const struct hs_spans *spans, const double strength[HS_AXES],
                       double unit[HS_AXES])
{
    double sum = 0.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double of_all = strength[axis] > 0.0 ? mean(spans, axis) : 0.0;
        unit[axis] = strength[axis] * of_all * of_all;
        sum += unit[axis];
    }
    for (int axis = 0; axis < HS_AXES; axis++)
        unit[axis] = unit[axis] > 0.0 ? sqrt(unit[axis] / sum) : 0.0;
}

/* The fraction of nodes kept, among those that cells lie between. */
static double part_kept(const struct hs_spans *spans, const struct hs_lattice *lattice,
                        const double unit[HS_AXES], double limit)
{
    double part = 1.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t n = spans->count[axis] + (lattice->wrap[axis] ? 0 : 1);
        part *= (double)pick(spans->length[axis], n, limit * unit[axis], NULL) / (double)n;
    }
    return part;
}

/* Whether at most the part of the nodes is kept that should be, at so many times the shortest cell.
 */
static bool suffices(double part, double times)
{
    return part <= (times < far ? stay : stay_far) || (times >= very_far && part < 1.0);
}

bool hs_kept_choose(const struct hs_spans *spans, const struct hs_lattice *lattice,
                    const double strength[HS_AXES], struct hs_kept kept[HS_AXES])
{
    double unit[HS_AXES], least = INFINITY;
    find_units(spans, strength, unit);
    for (int axis = 0; axis < HS_AXES; axis++) {
        kept[axis] = (struct hs_kept){.n = lattice->n[axis], .count = lattice->n[axis]};
        if (unit[axis] > 0.0)
            least = fmin(least, shortest(spans, axis) / unit[axis]);
    }
    if (isinf(least))
        return true;
    double size = least;
    while (!suffices(part_kept(spans, lattice, unit, mean_cell * size), size * longer / least))
        size *= longer;
    for (int axis = 0; axis < HS_AXES; axis++)
        if (!keep(&kept[axis], lattice->n[axis], spans->length[axis],
                  mean_cell * size * unit[axis]))
            return false;
    return true;
}

/* ---- how large levels will be ---------------------------------------------------------------- */

/* For uniform conductivity: an edge times the square of its cell is the same all along an axis. */
static void find_strengths(const struct hs_spans *spans, double strength[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double of_all = spans->count[axis] > 0 ? mean(spans, axis) : INFINITY;
        strength[axis] = 1.0 / (of_all * of_all);
    }
}

/* Advances `lattice` to the next level and adds the nodes of that level and of the steps to it. */
static bool go_on(struct hs_spans *spans, struct hs_lattice *lattice, struct hs_kept_sizes *out)
{
    struct hs_kept kept[HS_AXES];
    double strength[HS_AXES];
    find_strengths(spans, strength);
    const bool chosen = hs_kept_choose(spans, lattice, strength, kept);
    for (int axis = 0; axis < HS_AXES && chosen; axis++) {
        lattice->n[axis] = kept[axis].count;
        lattice->wrap[axis] = lattice->wrap[axis] && kept[axis].count > 1;
        if (kept[axis].count < kept[axis].n)
            out->steps += (double)hs_lattice_count(lattice);
    }
    if (chosen)
        hs_spans_merge(spans, kept);
    out->levels += (double)hs_lattice_count(lattice);
    for (int axis = 0; axis < HS_AXES; axis++)
        hs_kept_release(&kept[axis]);
    return chosen;
}

struct hs_kept_sizes hs_kept_estimate(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    const double nodes = (double)hs_grid_count(grid);
    struct hs_kept_sizes sizes = {.levels = nodes};
    struct hs_spans spans;
    struct hs_lattice lattice;
    if (grid->dims == 1 && !hs_grid_is_stretched(grid)) /* as many lengths as nodes, all alike */
        return (struct hs_kept_sizes){2.0, 1.0};
    for (int axis = 0; axis < HS_AXES; axis++) {
        lattice.n[axis] = grid->points[axis];
        lattice.wrap[axis] = problem->face[2 * axis].wrap && lattice.n[axis] > 1;
    }
    bool done = hs_spans_init(&spans, grid, &lattice);
    while (done && hs_lattice_count(&lattice) > HS_COARSEST_NODES)
        done = go_on(&spans, &lattice, &sizes);
    hs_spans_release(&spans);
    return (struct hs_kept_sizes){sizes.levels / nodes, sizes.steps / nodes};
}
