#include "engine/multigrid/level.h"

#include <math.h>
#include <stdlib.h>

/* ---- the finest network ---------------------------------------------------------------------- */

double hs_levels_unit(const struct hs_equations *equations)
{
    int64_t count;
    const struct hs_network_row *row = hs_network_rows(equations->network, &count);
    double largest = 0.0;
#pragma omp parallel for num_threads(equations->threads) schedule(static) reduction(max : largest)
    for (int64_t n = 0; n < count; n++) {
        for (int axis = 0; axis < HS_AXES; axis++)
            largest = fmax(largest, row[n].conductance[axis]);
        if (row[n].kind == HS_NODE_FREE)
            largest = fmax(largest, equations->shift * row[n].capacity);
    }
    return largest > 0.0 ? largest : 1.0;
}

static bool make_finest(const struct hs_equations *equations, struct hs_coarse_network *out)
{
    const struct hs_network *network = equations->network;
    const struct hs_lattice lattice = hs_kept_lattice(&network->grid, network->wrap);
    const double factor = 1.0 / hs_levels_unit(equations);
    if (!hs_coarse_network_init(out, &lattice))
        return false;
    const int64_t nodes = hs_lattice_count(&lattice);
#pragma omp parallel for num_threads(equations->threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++) {
        const struct hs_network_row *row = hs_network_row_at(network, n);
        const double sink = row->sink + equations->shift * row->capacity;
        out->sink[n] = row->kind == HS_NODE_FREE ? (float)(factor * sink) : INFINITY;
        for (int axis = 0; axis < HS_AXES; axis++)
            if (out->edge[axis])
                out->edge[axis][n] = (float)(factor * row->conductance[axis]);
    }
    return true;
}

/* ---- a level of a network -------------------------------------------------------------------- */

/* The sum of a node's edges along an axis; *squares: each times the square of its cell. */
static double edges_along(const struct hs_coarse_network *net, const struct hs_spans *spans,
                          int axis, const int64_t at[HS_AXES], const int64_t stride[HS_AXES],
                          int64_t node, double *squares)
{
    *squares = 0.0;
    if (!net->edge[axis])
        return 0.0;
    const int64_t n = net->lattice.n[axis], i = at[axis];
    const int64_t before = hs_lattice_next(&net->lattice, axis, i, stride[axis], -1, node);
    const double one = before < 0 ? 0.0 : (double)net->edge[axis][before];
    const double two = (double)net->edge[axis][node];
    *squares = one * spans->square[axis][i > 0 ? i - 1 : n - 1] + two * spans->square[axis][i];
    return two + one;
}

/* Sets the scales, and finds how strong edges are along each axis (kept.h). */
static void look(struct hs_level *level, const struct hs_coarse_network *net,
                 const struct hs_spans *spans, int threads, double strength[HS_AXES])
{
    const int64_t *n = net->lattice.n, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    for (int axis = 0; axis < HS_AXES; axis++)
        strength[axis] = 0.0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : strength[:HS_AXES])
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            const int64_t node = r * n[HS_X] + i;
            const int64_t at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            double along[HS_AXES], sum = 0.0;
            for (int axis = 0; axis < HS_AXES; axis++)
                sum += edges_along(net, spans, axis, at, stride, node, &along[axis]);
            const double diagonal = sum + (double)net->sink[node];
            const bool unknown = diagonal > 0.0 && !isinf(diagonal);
            level->scale[node] = unknown ? (float)(1.0 / sqrt(diagonal)) : 0.0f;
            if (!unknown || sum == 0.0)
                continue;
            const double all = along[HS_X] + along[HS_Y] + along[HS_Z];
            for (int axis = 0; axis < HS_AXES; axis++)
                strength[axis] += along[axis] / all;
        }
}

/* The sum of a node's edges to unknowns. */
static float edges_to_unknowns(const struct hs_level *level, const struct hs_coarse_network *net,
                               const int64_t at[HS_AXES], const int64_t stride[HS_AXES],
                               int64_t node)
{
    float sum = 0.0f;
    for (int axis = 0; axis < HS_AXES; axis++)
        for (int side = -1; side <= 1 && net->edge[axis]; side += 2) {
            const int64_t to =
                hs_lattice_next(&net->lattice, axis, at[axis], stride[axis], side, node);
            if (to >= 0 && level->scale[to] > 0.0f)
                sum += net->edge[axis][side > 0 ? node : to];
        }
    return sum;
}

/* Bounds the largest eigenvalue; then the network's edges become N and move to the level. */
static void scale_edges(struct hs_level *level, struct hs_coarse_network *net, int threads)
{
    const int64_t *n = net->lattice.n, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    const float *scale = level->scale;
    float largest = 0.0f;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : largest)
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            const int64_t node = r * n[HS_X] + i, at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            const float sum = edges_to_unknowns(level, net, at, stride, node);
            largest = fmaxf(largest, sum * scale[node] * scale[node]);
        }
    level->largest = 1.0 + (double)largest;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            const int64_t node = r * n[HS_X] + i, at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            for (int axis = 0; axis < HS_AXES; axis++) {
                const int64_t to =
                    hs_lattice_next(&net->lattice, axis, at[axis], stride[axis], 1, node);
                if (net->edge[axis])
                    net->edge[axis][node] *= to < 0 ? 0.0f : scale[node] * scale[to];
            }
        }
    for (int axis = 0; axis < HS_AXES; axis++) {
        level->edge[axis] = net->edge[axis];
        net->edge[axis] = NULL;
    }
}

static bool allocate(struct hs_level *level, const struct hs_lattice *lattice)
{
    const size_t bytes = (size_t)hs_lattice_count(lattice) * sizeof(float);
    level->lattice = *lattice;
    level->scale = malloc(bytes);
    level->none = calloc((size_t)lattice->n[HS_X], sizeof *level->none);
    level->right = malloc(bytes);
    level->x = malloc(bytes);
    level->other = malloc(bytes);
    return level->scale && level->none && level->right && level->x && level->other;
}

/* Values at the kept nodes. */
static void sample(const struct hs_coarse_step *step, int threads, const float *fine, float *coarse)
{
    const int64_t *n = step->coarse.n, *f = step->fine.n;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            int64_t at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            at[step->axis] = hs_kept_place(&step->kept, at[step->axis]);
            coarse[r * n[HS_X] + i] = fine[at[HS_X] + f[HS_X] * (at[HS_Y] + f[HS_Y] * at[HS_Z])];
        }
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Steps from a level's network to the next one's. *scale: the level's scale at the nodes of the
 * next level, for the caller to free. */
static bool make_steps(struct hs_level *level, const struct hs_coarse_network *net, int threads,
                       struct hs_coarse_network *next, float **scale)
{
    const struct hs_coarse_network *from = net;
    struct hs_coarse_network made = {.sink = NULL};
    bool done = true;
    *scale = NULL;
    for (int axis = 0; axis < HS_AXES && done; axis++) {
        const struct hs_kept *kept = &level->kept[axis];
        if (kept->count == kept->n)
            continue;
        struct hs_coarse_step *step = &level->step[level->step_count++];
        struct hs_coarse_network to;
        done = hs_coarsen(from, axis, kept, threads, step, &to);
        const size_t bytes = (size_t)hs_lattice_count(&step->coarse) * sizeof(float);
        float *sampled = malloc(bytes);
        if (level->step_count > 1) {
            level->between[level->step_count - 2] =
                malloc((size_t)hs_lattice_count(&step->fine) * sizeof(float));
            done = done && level->between[level->step_count - 2];
        }
        done = done && sampled;
        if (done) {
            const float *own = *scale ? *scale : level->scale;
            hs_coarse_step_scale(step, own, threads);
            sample(step, threads, own, sampled);
        }
        free(*scale);
        *scale = sampled;
        hs_coarse_network_release(&made);
        made = to;
        from = &made;
    }
    *next = made;
    return done;
}

/* ratio: the scale of `next` over `scale`. */
static void compare_scales(const struct hs_level *next, int threads, const float *scale,
                           float *ratio)
{
    const int64_t nodes = hs_lattice_count(&next->lattice);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++)
        ratio[n] = scale[n] > 0.0f ? next->scale[n] / scale[n] : 0.0f;
}

static bool is_small(const struct hs_coarse_network *net, const double strength[HS_AXES])
{
    return hs_lattice_count(&net->lattice) <= HS_COARSEST_NODES ||
           strength[HS_X] + strength[HS_Y] + strength[HS_Z] == 0.0;
}

/* Makes levels from `net` and releases it. */
static bool make_levels(struct hs_levels *levels, struct hs_coarse_network *net,
                        struct hs_spans *spans, bool floating)
{
    float *scale = NULL; /* of the level before, at this level's nodes */
    bool done = true;
    for (bool last = false; done && !last;) {
        struct hs_level *level = &levels->level[levels->count++];
        struct hs_coarse_network next = {.sink = NULL};
        double strength[HS_AXES];
        done = allocate(level, &net->lattice);
        if (!done)
            break;
        look(level, net, spans, levels->threads, strength);
        if (scale) {
            float *ratio = level[-1].ratio =
                malloc((size_t)hs_lattice_count(&level->lattice) * sizeof(float));
            done = ratio != NULL;
            if (done)
                compare_scales(level, levels->threads, scale, ratio);
            free(scale);
            scale = NULL;
        }
        last = is_small(net, strength) || levels->count == HS_LEVELS;
        if (last && done)
            done = hs_coarsest_init(&levels->coarsest, net, floating);
        else if (done)
            done = hs_kept_choose(spans, &level->lattice, strength, level->kept) &&
                   make_steps(level, net, levels->threads, &next, &scale);
        if (done)
            scale_edges(level, net, levels->threads);
        if (done && !last)
            hs_spans_merge(spans, level->kept);
        hs_coarse_network_release(net);
        *net = next;
    }
    free(scale);
    hs_coarse_network_release(net);
    return done;
}

bool hs_levels_init(struct hs_levels *levels, const struct hs_equations *equations)
{
    struct hs_coarse_network net;
    struct hs_spans spans;
    *levels = (struct hs_levels){.threads = equations->threads};
    bool done = make_finest(equations, &net);
    done = hs_spans_init(&spans, &equations->network->grid, &net.lattice) && done &&
           make_levels(levels, &net, &spans, hs_equations_are_singular(equations));
    hs_coarse_network_release(&net);
    hs_spans_release(&spans);
    return done;
}

void hs_levels_release(struct hs_levels *levels)
{
    for (int k = 0; k < levels->count; k++) {
        struct hs_level *level = &levels->level[k];
        for (int axis = 0; axis < HS_AXES; axis++) {
            free(level->edge[axis]);
            free(level->between[axis]);
            hs_coarse_step_release(&level->step[axis]);
            hs_kept_release(&level->kept[axis]);
        }
        free(level->scale);
        free(level->none);
        free(level->right);
        free(level->x);
        free(level->other);
        free(level->ratio);
    }
    hs_coarsest_release(&levels->coarsest);
}
