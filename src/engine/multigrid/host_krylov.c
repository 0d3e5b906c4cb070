#include "engine/multigrid/host_krylov.h"

#include "engine/multigrid/cycle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hs_krylov_state {
    const struct hs_equations *equations;
    struct hs_levels levels; /* none before they are wanted */
    double shift;            /* of the equations that the levels were made of */
    int64_t nodes;
    double *T;         /* [nodes] the caller's */
    double *r, *p, *q; /* [nodes] q = A p; p and q NULL before they are wanted */
    double unit;       /* of the cycle's right side; 0: not known */
};

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for conjugate gradients; take a smaller grid");
}

static enum hs_status begin(struct hs_krylov_state *self, double *T, struct hs_error *err)
{
    (void)err;
    self->T = T;
    if (self->p)
        memset(self->p, 0, (size_t)self->nodes * sizeof *self->p);
    return HS_OK;
}

static enum hs_status end(struct hs_krylov_state *self, struct hs_error *err)
{
    (void)err;
    self->T = NULL;
    return HS_OK;
}

static enum hs_status residual(struct hs_krylov_state *self, double *largest, double *rounding,
                               struct hs_error *err)
{
    (void)err;
    const struct hs_rates rates = hs_equations_residual(self->equations, self->T, self->r);
    *largest = rates.largest;
    *rounding = rates.rounding;
    self->unit = 0.0;
    return HS_OK;
}

static double largest_of(const struct hs_krylov_state *self)
{
    double largest = 0.0;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)                    \
    reduction(max                                                                                  \
              : largest)
    for (int64_t n = 0; n < self->nodes; n++)
        largest = fabs(self->r[n]) > largest ? fabs(self->r[n]) : largest;
    return largest;
}

/* Makes the levels, unless those that are there are of about this shift. */
static bool make_levels(struct hs_krylov_state *self)
{
    if (self->levels.count > 0 && hs_levels_serve(self->shift, self->equations->shift))
        return true;
    hs_levels_release(&self->levels);
    self->shift = self->equations->shift;
    return hs_levels_init(&self->levels, self->equations);
}

/* What iterations need; it is not wanted where the guess is the answer. */
static enum hs_status prepare(struct hs_krylov_state *self, struct hs_error *err)
{
    if (!self->p)
        self->p = calloc((size_t)self->nodes, sizeof *self->p);
    if (!self->q)
        self->q = calloc((size_t)self->nodes, sizeof *self->q);
    return self->p && self->q && make_levels(self) ? HS_OK : no_memory(err);
}

/* z stays in the first level's x, in its scale and divided by `unit`, which keeps what small
 * residuals are made of away from the ends of float. */
static enum hs_status precondition(struct hs_krylov_state *self, double *with_r,
                                   struct hs_error *err)
{
    const enum hs_status st = prepare(self, err);
    if (st)
        return st;
    struct hs_level *level = &self->levels.level[0];
    if (self->unit == 0.0)
        self->unit = largest_of(self);
    const double unit = self->unit;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t n = 0; n < self->nodes; n++)
        level->right[n] = (float)(self->r[n] / unit * (double)level->scale[n]);
    hs_cycle(&self->levels);
    double zr = 0.0;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static) reduction(+ : zr)
    for (int64_t n = 0; n < self->nodes; n++)
        zr += (double)level->x[n] * (double)level->scale[n] * self->r[n];
    *with_r = unit * zr;
    return HS_OK;
}

static enum hs_status turn(struct hs_krylov_state *self, double factor, double *curvature,
                           struct hs_error *err)
{
    (void)err;
    const struct hs_level *level = &self->levels.level[0];
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t n = 0; n < self->nodes; n++)
        self->p[n] =
            self->unit * (double)level->x[n] * (double)level->scale[n] + factor * self->p[n];
    *curvature = hs_equations_apply(self->equations, self->p, self->q);
    return HS_OK;
}

static enum hs_status advance(struct hs_krylov_state *self, double length, double *largest,
                              struct hs_error *err)
{
    (void)err;
    const struct hs_network *network = self->equations->network;
    double *T = self->T, *r = self->r, rates = 0.0, most = 0.0;
    const double *p = self->p, *q = self->q;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)                    \
    reduction(max                                                                                  \
              : rates, most)
    for (int64_t n = 0; n < self->nodes; n++) {
        const struct hs_network_row *row = hs_network_row_at(network, n);
        T[n] += length * p[n];
        r[n] -= length * q[n];
        const double size = fabs(r[n]);
        const double rate = row->kind == HS_NODE_FREE ? size / row->capacity : 0.0;
        most = size > most ? size : most;
        rates = rate > rates ? rate : rates;
    }
    self->unit = most;
    *largest = rates;
    return HS_OK;
}

static enum hs_status heat(struct hs_krylov_state *self, double *out, struct hs_error *err)
{
    (void)err;
    *out = hs_equations_heat(self->equations, self->T);
    return HS_OK;
}

static enum hs_status add(struct hs_krylov_state *self, double by, struct hs_error *err)
{
    (void)err;
    for (int64_t n = 0; n < self->nodes; n++)
        self->T[n] += by;
    return HS_OK;
}

static void destroy(struct hs_krylov_state *self)
{
    if (!self)
        return;
    hs_levels_release(&self->levels);
    free(self->r);
    free(self->p);
    free(self->q);
    free(self);
}

const struct hs_krylov hs_host_krylov = {
    .begin = begin,
    .end = end,
    .residual = residual,
    .precondition = precondition,
    .turn = turn,
    .advance = advance,
    .heat = heat,
    .add = add,
    .destroy = destroy,
};

enum hs_status hs_host_krylov_create(const struct hs_equations *equations,
                                     struct hs_krylov_state **out, struct hs_error *err)
{
    struct hs_krylov_state *self = calloc(1, sizeof *self);
    *out = self;
    if (!self)
        return no_memory(err);
    self->equations = equations;
    self->nodes = hs_grid_count(&equations->network->grid);
    self->r = malloc((size_t)self->nodes * sizeof *self->r);
    return self->r ? HS_OK : no_memory(err);
}
