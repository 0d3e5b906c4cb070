/* The partials of a reduction (core/reduction.h), each by one thread, strip by strip. */
#include "engine/backends/cpu_parts.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LANES = 8 };

/* The results of a strip; valid if all of it is finite. */
struct strip_sums {
    double min, max, sum, change, stored;
    int64_t bad;
};

/* LANES independent partial results, which the compiler keeps in vector registers. */
#define DEFINE_STRIP(T)                                                                            \
    static struct strip_sums reduce_strip_##T(const T *row, const T *before, int64_t n) {          \
        double min[LANES], max[LANES], sum[LANES], change[LANES], stored[LANES], bad[LANES];       \
        for (int l = 0; l < LANES; l++) {                                                          \
            min[l] = INFINITY, max[l] = -INFINITY;                                                 \
            sum[l] = change[l] = stored[l] = bad[l] = 0.0;                                         \
        }                                                                                          \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            const int lanes = (int)(n - i < LANES ? n - i : LANES);                                \
            for (int l = 0; l < lanes; l++) {                                                      \
                const double x = (double)row[i + l];                                               \
                const double step = fabs((double)(T)(row[i + l] - before[i + l]));                 \
                min[l] = x < min[l] ? x : min[l];                                                  \
                max[l] = x > max[l] ? x : max[l];                                                  \
                change[l] = step > change[l] ? step : change[l];                                   \
                bad[l] += fabs(x) <= DBL_MAX ? 0.0 : 1.0;                                          \
                sum[l] += x;                                                                       \
                stored[l] += x - (double)before[i + l];                                            \
            }                                                                                      \
        }                                                                                          \
        struct strip_sums out = {INFINITY, -INFINITY, 0.0, 0.0, 0.0, 0};                           \
        for (int l = 0; l < LANES; l++) {                                                          \
            out.min = min[l] < out.min ? min[l] : out.min;                                         \
            out.max = max[l] > out.max ? max[l] : out.max;                                         \
            out.change = change[l] > out.change ? change[l] : out.change;                          \
            out.sum += sum[l];                                                                     \
            out.stored += stored[l];                                                               \
            out.bad += (int64_t)bad[l];                                                            \
        }                                                                                          \
        return out;                                                                                \
    }
DEFINE_STRIP(float)
DEFINE_STRIP(double)

struct view {
    const struct hs_problem *problem;
    const struct hs_layout *layout;
    const void *now, *before;
    int64_t first;       /* of node (0, 0, 0) here, in the memory order of the whole grid */
    const double *width; /* [nx] m, along x if cells differ there; else NULL */
};

static double node(const struct view *v, const void *field, int64_t element)
{
    return hs_read(v->problem->precision, field, element);
}

/* Node by node. Values that are not finite are counted and left out. */
static void add_each(const struct view *v, const struct hs_strip *s, int64_t j, int64_t k,
                     struct hs_partial *p)
{
    const int64_t first = s->row * v->layout->points[HS_X];
    const struct hs_network *network = v->problem->network;
    for (int64_t i = s->begin; i < s->end; i++) {
        const double x = node(v, v->now, hs_layout_offset(v->layout, i, j, k));
        if (!isfinite(x)) {
            if (p->bad++ == 0)
                p->first_bad = v->first + first + i;
            continue;
        }
        const double volume = hs_problem_node_volume(v->problem, i, j, k);
        p->min = fmin(p->min, x);
        p->max = fmax(p->max, x);
        hs_sum_add(&p->sum, volume * x);
        hs_sum_add(&p->volume, volume);
        const double before = node(v, v->before, hs_layout_offset(v->layout, i, j, k));
        const struct hs_network_row *row = network ? hs_network_row_at(network, first + i) : NULL;
        hs_sum_add(&p->stored, (row ? row->capacity : volume) * (x - before));
        if (row) {
            hs_sum_add(&p->heat, row->capacity * x);
            hs_sum_add(&p->sunk, row->sink * before);
        }
    }
}

/* In a row of equal cells all nodes but the two ends have the same volume. So the first and the
 * last node of a strip are corrected here. */
static void add_volumes(const struct view *v, const struct hs_strip *s,
                        const struct strip_sums *sums, int64_t j, int64_t k, struct hs_partial *p)
{
    const int64_t first = hs_layout_offset(v->layout, s->begin, j, k), n = s->end - s->begin;
    const double x_min = hs_problem_node_volume(v->problem, s->begin, j, k);
    const double x_max = hs_problem_node_volume(v->problem, s->end - 1, j, k);
    const double middle = n > 2 ? hs_problem_node_volume(v->problem, s->begin + 1, j, k) : x_max;
    const double at_min = node(v, v->now, first), at_max = node(v, v->now, first + n - 1);
    hs_sum_add(&p->sum, middle * sums->sum);
    hs_sum_add(&p->sum, (x_min - middle) * at_min);
    hs_sum_add(&p->sum, (x_max - middle) * at_max);
    hs_sum_add(&p->volume, middle * (double)n + (x_min - middle) + (x_max - middle));
    if (v->problem->network)
        return;
    hs_sum_add(&p->stored, middle * sums->stored);
    hs_sum_add(&p->stored, (x_min - middle) * (at_min - node(v, v->before, first)));
    hs_sum_add(&p->stored, (x_max - middle) * (at_max - node(v, v->before, first + n - 1)));
}

static double sum_of_lanes(const double lane[LANES])
{
    double sum = 0.0;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* The same where widths differ along x. */
static void add_wide(const struct view *v, const struct hs_strip *s, int64_t j, int64_t k,
                     struct hs_partial *p)
{
    const int64_t first = hs_layout_offset(v->layout, s->begin, j, k), n = s->end - s->begin;
    const double *const of = v->width + s->begin;
    const double across =
        hs_problem_node_width(v->problem, HS_Y, j) * hs_problem_node_width(v->problem, HS_Z, k);
    double sum[LANES] = {0.0}, width[LANES] = {0.0};
    for (int64_t i = 0; i < n; i++) {
        sum[i % LANES] += of[i] * node(v, v->now, first + i);
        width[i % LANES] += of[i];
    }
    hs_sum_add(&p->sum, across * sum_of_lanes(sum));
    hs_sum_add(&p->volume, across * sum_of_lanes(width));
}

/* The further sums of a body's strip. */
static void add_body(const struct view *v, const struct hs_strip *s, int64_t j, int64_t k,
                     struct hs_partial *p)
{
    const struct hs_network *network = v->problem->network;
    const int64_t of = s->row * v->layout->points[HS_X] + s->begin;
    const int64_t first = hs_layout_offset(v->layout, s->begin, j, k), n = s->end - s->begin;
    double heat[LANES] = {0.0}, stored[LANES] = {0.0}, sunk[LANES] = {0.0};
    for (int64_t i = 0; i < n; i++) {
        const struct hs_network_row *row = hs_network_row_at(network, of + i);
        const double x = node(v, v->now, first + i), before = node(v, v->before, first + i);
        heat[i % LANES] += row->capacity * x;
        stored[i % LANES] += row->capacity * (x - before);
        sunk[i % LANES] += row->sink * before;
    }
    hs_sum_add(&p->heat, sum_of_lanes(heat));
    hs_sum_add(&p->stored, sum_of_lanes(stored));
    hs_sum_add(&p->sunk, sum_of_lanes(sunk));
}

static struct strip_sums sums_of(const struct view *v, int64_t first, int64_t count)
{
    return v->problem->precision == HS_FLOAT
               ? reduce_strip_float((const float *)v->now + first, (const float *)v->before + first,
                                    count)
               : reduce_strip_double((const double *)v->now + first,
                                     (const double *)v->before + first, count);
}

static struct hs_partial reduce_piece(const struct view *v, const struct hs_piece *piece)
{
    struct hs_partial p = {.min = INFINITY, .max = -INFINITY, .first_bad = INT64_MAX};
    const int64_t ny = v->layout->points[HS_Y];
    for (uint32_t n = piece->first; n < piece->last; n++) {
        const struct hs_strip s = hs_strip_of(piece, n);
        const int64_t j = s.row % ny, k = s.row / ny;
        const struct strip_sums sums =
            sums_of(v, hs_layout_offset(v->layout, s.begin, j, k), s.end - s.begin);
        if (sums.bad) {
            add_each(v, &s, j, k, &p);
            continue;
        }
        p.min = fmin(p.min, sums.min);
        p.max = fmax(p.max, sums.max);
        p.change = fmax(p.change, sums.change);
        if (v->width)
            add_wide(v, &s, j, k, &p);
        else
            add_volumes(v, &s, &sums, j, k, &p);
        if (v->problem->network)
            add_body(v, &s, j, k, &p);
    }
    return p;
}

enum hs_status hs_cpu_reduce(struct hs_backend_state *state, const struct hs_partial **out,
                             struct hs_error *err)
{
    (void)err;
    const struct hs_grid *grid = &state->problem->grid;
    const struct hs_blocks blocks = hs_blocks_of(state->problem);
    const int64_t layer = hs_grid_count(grid) / grid->points[grid->dims - 1];
    double *width = NULL;
    if (grid->coordinate[HS_X]) {
        width = hs_new((size_t)grid->points[HS_X] * sizeof *width);
        for (int64_t i = 0; i < grid->points[HS_X]; i++)
            width[i] = hs_problem_node_width(state->problem, HS_X, i);
    }
    const struct view v = {
        state->problem,       &state->layout,
        state->now.origin,    state->change_known ? state->next.origin : state->now.origin,
        blocks.shift * layer, width};
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t at = 0; at < blocks.pieces; at++) {
        const struct hs_piece piece = hs_piece_of(&blocks, at);
        struct hs_partial *p = &state->partial[at];
        *p = reduce_piece(&v, &piece);
        if (!state->change_known)
            p->change = p->stored.sum = p->sunk.sum = NAN;
    }
    free(width);
    *out = state->partial;
    return HS_OK;
}
