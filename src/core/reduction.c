#include "core/reduction.h"

#include "core/backend.h"
#include "core/round.h"
#include "core/slab.h"

#include <assert.h>
#include <math.h>

/* The least nodes for which a piece is worth while. */
enum { PIECE = 4096 };

struct hs_blocks hs_blocks_of(const struct hs_problem *problem)
{
    const struct hs_slab *slab = problem->slab;
    const struct hs_grid *grid = slab ? &slab->whole->grid : &problem->grid;
    const int64_t *n = grid->points;
    const int slowest = grid->dims - 1;
    /* a block of a line begins where a GPU's vectors do */
    const int64_t least = grid->dims == 1 ? 64 : 1;
    struct hs_blocks out = {.row = problem->grid.points[HS_X], .end = n[slowest]};
    out.layers = least * hs_divide_up(out.end, least * HS_BLOCKS_MOST);
    out.across = slowest == 0 ? 0 : hs_grid_count(grid) / n[slowest] / n[HS_X];
    const int64_t blocks = hs_divide_up(out.end, out.layers);
    const int64_t nodes = out.layers * (hs_grid_count(grid) / out.end);
    const int64_t most = HS_PIECES_MOST / blocks, worth = hs_divide_up(nodes, PIECE);
    out.parts = worth < most ? worth : most;

    const int64_t first = slab ? hs_slab_layer(slab, slab->lo) : 0;
    const int64_t last = slab ? first + slab->hi - slab->lo : out.end;
    assert(first % out.layers == 0 && last <= out.end);
    assert(last % out.layers == 0 || last == out.end);
    out.shift = slab ? first - slab->lo : 0;
    out.first = first / out.layers;
    out.pieces = (hs_divide_up(last, out.layers) - out.first) * out.parts;
    return out;
}

static void join(struct hs_partial *all, const struct hs_partial *p)
{
    all->min = p->min < all->min ? p->min : all->min;
    all->max = p->max > all->max ? p->max : all->max;
    all->change = all->change >= p->change ? all->change : p->change;
    hs_sum_join(&all->sum, &p->sum);
    hs_sum_join(&all->volume, &p->volume);
    hs_sum_join(&all->heat, &p->heat);
    hs_sum_join(&all->stored, &p->stored);
    hs_sum_join(&all->sunk, &p->sunk);
    all->bad += p->bad;
    all->first_bad = p->first_bad < all->first_bad ? p->first_bad : all->first_bad;
}

struct hs_reduction hs_reduction_of(const struct hs_problem *whole,
                                    const struct hs_partial *partial, int64_t count)
{
    struct hs_partial all = {.min = INFINITY, .max = -INFINITY, .first_bad = INT64_MAX};
    for (int64_t n = 0; n < count; n++)
        join(&all, &partial[n]);
    const bool any = all.bad < hs_grid_count(&whole->grid), body = whole->network;
    const double capacity = body ? 1.0 : hs_problem_heat_capacity(whole);
    const double sum = hs_sum_value(&all.sum);
    struct hs_reduction out = {
        .min = any ? all.min : NAN,
        .max = any ? all.max : NAN,
        .mean = any ? sum / hs_sum_value(&all.volume) : NAN,
        .heat = any ? (body ? hs_sum_value(&all.heat) : sum) * capacity : NAN,
        .change = all.bad > 0 ? NAN : all.change,
        .stored = any ? hs_sum_value(&all.stored) * capacity : NAN,
        .sunk = any ? hs_sum_value(&all.sunk) : NAN,
        .not_finite = all.bad,
    };
    if (all.bad > 0)
        hs_grid_node(&whole->grid, all.first_bad, out.first_bad);
    return out;
}

enum hs_status hs_reduce(const struct hs_backend *backend, struct hs_backend_state *state,
                         const struct hs_problem *problem, struct hs_reduction *out,
                         struct hs_error *err)
{
    assert(!problem->slab);
    const struct hs_partial *partial = NULL;
    HS_TRY(backend->reduce(state, &partial, err));
    *out = hs_reduction_of(problem, partial, hs_blocks_of(problem).pieces);
    return HS_OK;
}
