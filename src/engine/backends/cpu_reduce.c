/*
 * Sums and extremes over all nodes, in double, the same bits whatever the number of threads: the
 * rows are cut into a fixed number of slabs, each summed by one thread in order, and the slabs'
 * results are put together in order.
 */
#include "core/sum.h"
#include "engine/backends/cpu_parts.h"

#include <float.h>
#include <math.h>

enum { SLABS = 256, LANES = 8 };

struct partial {
    double min, max, change;
    struct hs_sum sum, volume; /* of volume * T, of volume */
    struct hs_sum heat;        /* of a body: of heat capacity * T */
    struct hs_sum stored;      /* of volume, or of a body's heat capacity, * (T - T before) */
    struct hs_sum sunk;        /* of a body: of sink * T before */
    int64_t bad, first_bad;    /* count; index in memory order */
};

/* What a row gives when all of it is finite. */
struct row_sums {
    double min, max, sum, change, stored;
    int64_t bad;
};

/* LANES independent partial results, which the compiler keeps in vector registers. */
#define DEFINE_ROW(T)                                                                              \
    static struct row_sums reduce_row_##T(const T *row, const T *before, int64_t n) {              \
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
        struct row_sums out = {INFINITY, -INFINITY, 0.0, 0.0, 0.0, 0};                             \
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
DEFINE_ROW(float)
DEFINE_ROW(double)

struct view {
    const struct hs_problem *problem;
    const struct hs_layout *layout;
    const void *now, *before;
};

static double node(const struct view *v, const void *field, int64_t element)
{
    return hs_read(v->problem->precision, field, element);
}

/* Node by node. What is not finite is counted and left out. */
static void add_each(const struct view *v, int64_t j, int64_t k, struct partial *p)
{
    const int64_t nx = v->layout->points[HS_X];
    const int64_t first = (k * v->layout->points[HS_Y] + j) * nx;
    const struct hs_network *network = v->problem->network;
    for (int64_t i = 0; i < nx; i++) {
        const double x = node(v, v->now, hs_layout_offset(v->layout, i, j, k));
        if (!isfinite(x)) {
            if (p->bad++ == 0)
                p->first_bad = first + i;
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

/* All nodes of a row stand for the same volume but the two ends, which are put right here. */
static void add_good_row(const struct view *v, const struct row_sums *row, int64_t j, int64_t k,
                         struct partial *p)
{
    const int64_t nx = v->layout->points[HS_X];
    const int64_t first = hs_layout_offset(v->layout, 0, j, k);
    const double x_min = hs_problem_node_volume(v->problem, 0, j, k);
    const double x_max = hs_problem_node_volume(v->problem, nx - 1, j, k);
    const double middle = nx > 2 ? hs_problem_node_volume(v->problem, 1, j, k) : x_max;
    p->min = fmin(p->min, row->min);
    p->max = fmax(p->max, row->max);
    p->change = fmax(p->change, row->change);
    const double at_min = node(v, v->now, first), at_max = node(v, v->now, first + nx - 1);
    hs_sum_add(&p->sum, middle * row->sum);
    hs_sum_add(&p->sum, (x_min - middle) * at_min);
    hs_sum_add(&p->sum, (x_max - middle) * at_max);
    hs_sum_add(&p->volume, middle * (double)nx + (x_min - middle) + (x_max - middle));
    hs_sum_add(&p->stored, middle * row->stored);
    hs_sum_add(&p->stored, (x_min - middle) * (at_min - node(v, v->before, first)));
    hs_sum_add(&p->stored, (x_max - middle) * (at_max - node(v, v->before, first + nx - 1)));
}

static struct partial reduce_slab(const struct view *v, int slab)
{
    struct partial p = {.min = INFINITY, .max = -INFINITY};
    const int64_t ny = v->layout->points[HS_Y], rows = ny * v->layout->points[HS_Z];
    for (int64_t r = rows * slab / SLABS; r < rows * (slab + 1) / SLABS; r++) {
        const int64_t first = hs_layout_offset(v->layout, 0, r % ny, r / ny);
        const int64_t nx = v->layout->points[HS_X];
        const struct row_sums row = v->problem->precision == HS_FLOAT
                                        ? reduce_row_float((const float *)v->now + first,
                                                           (const float *)v->before + first, nx)
                                        : reduce_row_double((const double *)v->now + first,
                                                            (const double *)v->before + first, nx);
        if (row.bad || v->problem->network) {
            p.change = fmax(p.change, row.bad ? 0.0 : row.change);
            add_each(v, r % ny, r / ny, &p);
        } else
            add_good_row(v, &row, r % ny, r / ny, &p);
    }
    return p;
}

static void join(struct partial *all, const struct partial *p)
{
    all->min = fmin(all->min, p->min);
    all->max = fmax(all->max, p->max);
    all->change = fmax(all->change, p->change);
    hs_sum_join(&all->sum, &p->sum);
    hs_sum_join(&all->volume, &p->volume);
    hs_sum_join(&all->heat, &p->heat);
    hs_sum_join(&all->stored, &p->stored);
    hs_sum_join(&all->sunk, &p->sunk);
    if (all->bad == 0)
        all->first_bad = p->first_bad;
    all->bad += p->bad;
}

enum hs_status hs_cpu_reduce(struct hs_backend_state *state, struct hs_reduction *out,
                             struct hs_error *err)
{
    (void)err;
    const struct view v = {state->problem, &state->layout, state->now.origin,
                           state->change_known ? state->next.origin : state->now.origin};
    struct partial partial[SLABS];
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int slab = 0; slab < SLABS; slab++)
        partial[slab] = reduce_slab(&v, slab);
    struct partial all = {.min = INFINITY, .max = -INFINITY};
    for (int slab = 0; slab < SLABS; slab++)
        join(&all, &partial[slab]);

    const double sum = hs_sum_value(&all.sum), volume = hs_sum_value(&all.volume);
    const int64_t nx = state->layout.points[HS_X], ny = state->layout.points[HS_Y];
    const bool any = volume > 0.0;
    const bool known = any && state->change_known;
    const double capacity = hs_problem_heat_capacity(state->problem);
    const bool body = state->problem->network != NULL;
    *out = (struct hs_reduction){
        .min = any ? all.min : NAN,
        .max = any ? all.max : NAN,
        .mean = any ? sum / volume : NAN,
        .heat = !any   ? NAN
                : body ? hs_sum_value(&all.heat)
                       : sum * capacity,
        .change = state->change_known ? all.change : NAN,
        .stored = known ? hs_sum_value(&all.stored) * (body ? 1.0 : capacity) : NAN,
        .sunk = known ? hs_sum_value(&all.sunk) : NAN,
        .not_finite = all.bad,
        .first_bad = {all.first_bad % nx, all.first_bad / nx % ny, all.first_bad / nx / ny},
    };
    return HS_OK;
}
