#include "functions/moving.h"

#include "functions/evaluate.h"

#include <string.h>

enum { STRIP = 128, PARTS = 64 };

/* Adds weights times values of a stretch to out: [count]. */
static void add_stretch(const struct hs_moving *moving, const struct hs_grid *grid,
                        const struct hs_moving_stretch *stretch, double t, double *out)
{
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
    const int64_t node = moving->node[stretch->first], r = node / nx;
    const double *weight = moving->weight + stretch->weight;
    double value[STRIP];
    struct hs_row row =
        hs_row_along(grid, HS_X, (const int64_t[HS_AXES]){node - r * nx, r % ny, r / ny}, 0, t);
    for (int64_t done = 0; done < stretch->count; done += row.count) {
        const int64_t left = stretch->count - done;
        row.first = node - r * nx + done;
        row.count = left < STRIP ? left : STRIP;
        hs_expression_row(&stretch->value->expression, &row, value);
        for (int64_t n = 0; n < row.count; n++)
            out[done + n] += weight[done + n] * value[n];
    }
}

/* The first stretch from `s` on that begins a row. */
static int64_t next_row(const struct hs_moving *moving, int64_t nx, int64_t s)
{
    const struct hs_moving_stretch *stretch = moving->stretch;
    while (s > 0 && s < moving->stretch_count &&
           moving->node[stretch[s].first] / nx == moving->node[stretch[s - 1].first] / nx)
        s++;
    return s;
}

/* Stretches of one row may share nodes, so one thread processes the whole row. */
void hs_moving_at(const struct hs_moving *moving, const struct hs_grid *grid, double t, int threads,
                  double *out)
{
    enum { FEW = 1024 };
    const int64_t nx = grid->points[HS_X];
    if (moving->count == 0)
        return;
    memset(out, 0, (size_t)moving->count * sizeof *out);
#pragma omp parallel for num_threads(threads) schedule(static) if (moving->count > FEW)
    for (int64_t part = 0; part < PARTS; part++) {
        const int64_t end = next_row(moving, nx, moving->stretch_count * (part + 1) / PARTS);
        for (int64_t s = next_row(moving, nx, moving->stretch_count * part / PARTS); s < end; s++)
            add_stretch(moving, grid, &moving->stretch[s], t, out + moving->stretch[s].first);
    }
}

/* Index of the first of ascending numbers, `apart` bytes apart, that is at least `least`. */
static int64_t first_from(const int64_t *number, int64_t count, size_t apart, int64_t least)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (*(const int64_t *)(const void *)((const char *)number + (size_t)middle * apart) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t hs_moving_node_from(const struct hs_moving *moving, int64_t node)
{
    return first_from(moving->node, moving->count, sizeof node, node);
}

int64_t hs_moving_stretch_from(const struct hs_moving *moving, int64_t first)
{
    return first_from(&moving->stretch->first, moving->stretch_count, sizeof *moving->stretch,
                      first);
}

const struct hs_moving_stretch *hs_moving_stretch_of(const struct hs_moving *moving, int64_t weight)
{
    const int64_t after = first_from(&moving->stretch->weight, moving->stretch_count,
                                     sizeof *moving->stretch, weight + 1);
    return &moving->stretch[after - 1];
}

void hs_moving_put_row(const struct hs_moving *moving, const struct hs_grid *grid, double t,
                       int64_t j, int64_t k, double *out)
{
    const int64_t nx = grid->points[HS_X], first = (k * grid->points[HS_Y] + j) * nx;
    const int64_t lo = hs_moving_node_from(moving, first),
                  hi = hs_moving_node_from(moving, first + nx);
    for (int64_t n = lo; n < hi; n++)
        out[moving->node[n] - first] = 0.0;
    if (lo == hi)
        return;
    const struct hs_moving_stretch *stretch = moving->stretch + hs_moving_stretch_from(moving, lo);
    for (; stretch < moving->stretch + moving->stretch_count && stretch->first < hi; stretch++)
        add_stretch(moving, grid, stretch, t, out + (moving->node[stretch->first] - first));
}

void hs_moving_take_row(const struct hs_moving *moving, int64_t first, int64_t nx,
                        const double *row, double *out)
{
    for (int64_t n = hs_moving_node_from(moving, first);
         n < moving->count && moving->node[n] < first + nx; n++)
        out[n] = row[moving->node[n] - first];
}
