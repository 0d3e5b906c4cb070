#include "engine/multigrid/cycle.h"

enum { SMALL = 4096 }; /* nodes: below, starting threads costs more than it saves */

/* Smoothing covers the spectrum from this fraction of the largest eigenvalue upwards. That includes
 * every wave that a grid of twice the spacing along one of three axes cannot represent, even if
 * that axis is the weakest of those coarsened: 0.7/(2 (1 + 1 + 0.7)). */
static const double smoothed = 0.13;

struct hs_smoother hs_smoother_of(double largest)
{
    const double high = largest, low = smoothed * high;
    const double middle = 0.5 * (high + low), half = 0.5 * (high - low), ratio = middle / half;
    const double rho = 1.0 / ratio, next = 1.0 / (2.0 * ratio - rho);
    return (struct hs_smoother){(float)(1.0 / middle), (float)(next * rho),
                                (float)(2.0 * next / half)};
}

/* N and x of a node's neighbours along y and z: rows along x, zeros where there are none. */
struct rows {
    const float *edge[4], *x[4];
};

static void find_rows(const struct hs_level *level, const float *x, int64_t r, struct rows *out)
{
    const int64_t *n = level->lattice.n, first = r * n[HS_X];
    const int64_t at[HS_AXES] = {0, r % n[HS_Y], r / n[HS_Y]};
    const int64_t stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    for (int axis = HS_Y; axis <= HS_Z; axis++)
        for (int side = 0; side < 2; side++) {
            const int which = 2 * (axis - HS_Y) + side;
            const int64_t to = level->edge[axis]
                                   ? hs_lattice_next(&level->lattice, axis, at[axis], stride[axis],
                                                     side ? 1 : -1, first)
                                   : -1;
            out->edge[which] = to < 0 ? level->none : level->edge[axis] + (side ? first : to);
            out->x[which] = to < 0 ? level->none : x + to;
        }
}

/* N x at a node, without its neighbours along x. */
static inline float sum_of(const struct rows *rows, int64_t i)
{
    return rows->edge[0][i] * rows->x[0][i] + rows->edge[1][i] * rows->x[1][i] +
           (rows->edge[2][i] * rows->x[2][i] + rows->edge[3][i] * rows->x[3][i]);
}

/* What the neighbours along x add to N x, for the nodes at the ends of a row. */
static float along_x(const struct hs_level *level, const float *x, int64_t first, int64_t i)
{
    const float *edge = level->edge[HS_X];
    float sum = 0.0f;
    for (int side = -1; side <= 1 && edge; side += 2) {
        const int64_t to = hs_lattice_next(&level->lattice, HS_X, i, 1, side, first + i);
        if (to >= 0)
            sum += edge[side > 0 ? first + i : to] * x[to];
    }
    return sum;
}

/* What is computed from a node's x, N x there, and b. */
enum task { START, STEP, RESIDUAL };

static inline __attribute__((always_inline)) float made(enum task task, struct hs_smoother p,
                                                        float x, float sum, float b, float before)
{
    switch (task) {
    case START: /* x is b; both steps from 0 */
        return p.first * ((1.0f + p.again) * x + p.second * (sum - x)) + p.second * x;
    case STEP: return x + p.again * (x - before) + p.second * (b + sum - x);
    default: return b + sum - x;
    }
}

static inline __attribute__((always_inline)) void do_row(const struct hs_level *level,
                                                         enum task task, struct hs_smoother p,
                                                         const float *x, float *out, int64_t r)
{
    const int64_t nx = level->lattice.n[HS_X], first = r * nx;
    const float *b = level->right + first, *row = x + first;
    const float *edge = nx > 1 ? level->edge[HS_X] + first : NULL;
    float *to = out + first;
    struct rows rows;
    find_rows(level, x, r, &rows);
    for (int64_t i = 0; i<nx; i += nx> 1 ? nx - 1 : 1)
        to[i] = made(task, p, row[i], sum_of(&rows, i) + along_x(level, x, first, i), b[i], to[i]);
#pragma omp simd
    for (int64_t i = 1; i < nx - 1; i++)
        to[i] =
            made(task, p, row[i],
                 sum_of(&rows, i) + (edge[i - 1] * row[i - 1] + edge[i] * row[i + 1]), b[i], to[i]);
}

static void do_task(const struct hs_level *level, int threads, enum task task, struct hs_smoother p,
                    const float *x, float *out)
{
    const int64_t rows = level->lattice.n[HS_Y] * level->lattice.n[HS_Z];
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (hs_lattice_count(&level->lattice) > SMALL)
    for (int64_t r = 0; r < rows; r++)
        switch (task) {
        case START: do_row(level, START, p, x, out, r); break;
        case STEP: do_row(level, STEP, p, x, out, r); break;
        case RESIDUAL: do_row(level, RESIDUAL, p, x, out, r); break;
        }
}

static void multiply(int64_t count, int threads, const float *factor, float *field)
{
#pragma omp parallel for simd num_threads(threads) schedule(static) if (count > SMALL)
    for (int64_t n = 0; n < count; n++)
        field[n] *= factor[n];
}

/* Restricts the residual to the next level's right side. */
static void go_down(struct hs_level *level, struct hs_level *next, int threads)
{
    const float *from = level->other;
    for (int s = 0; s < level->step_count; s++) {
        float *to = s + 1 < level->step_count ? level->between[s] : next->right;
        hs_restrict(&level->step[s], threads, from, to);
        from = to;
    }
    multiply(hs_lattice_count(&next->lattice), threads, level->ratio, next->right);
}

/* Interpolates the next level's x and adds it to this one's. */
static void go_up(struct hs_level *level, struct hs_level *next, int threads)
{
    const float *from = next->x;
    multiply(hs_lattice_count(&next->lattice), threads, level->ratio, next->x);
    for (int s = level->step_count - 1; s >= 0; s--) {
        float *to = s > 0 ? level->between[s - 1] : level->x;
        hs_interpolate(&level->step[s], threads, s == 0, from, to);
        from = to;
    }
}

static void smooth_again(struct hs_level *level, int threads)
{
    const struct hs_smoother p = hs_smoother_of(level->largest);
    do_task(level, threads, STEP, (struct hs_smoother){.second = p.first}, level->x, level->other);
    do_task(level, threads, STEP, p, level->other, level->x);
}

void hs_cycle(struct hs_levels *levels)
{
    const int last = levels->count - 1;
    for (int k = 0; k < last; k++) {
        struct hs_level *level = &levels->level[k];
        do_task(level, levels->threads, START, hs_smoother_of(level->largest), level->right,
                level->x);
        do_task(level, levels->threads, RESIDUAL, hs_smoother_of(level->largest), level->x,
                level->other);
        go_down(level, level + 1, levels->threads);
    }
    hs_coarsest_solve(&levels->coarsest, levels->level[last].right, levels->level[last].x);
    for (int k = last - 1; k >= 0; k--) {
        struct hs_level *level = &levels->level[k];
        go_up(level, level + 1, levels->threads);
        smooth_again(level, levels->threads);
    }
}
