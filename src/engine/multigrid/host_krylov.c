#include "engine/multigrid/host_krylov.h"

#include "core/sum.h"
#include "engine/multigrid/cycle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hs_krylov_state {
    const struct hs_equations *equations;
    struct hs_levels levels; /* none until they are needed */
    double shift;            /* of the equations from which the levels were made */
    int64_t nodes;
    double **vector; /* [count] by number; the inflow is the equations' own */
    int count;
    double *p, *q; /* [nodes] q = A p; NULL until they are needed */
    double unit;   /* of the cycle's right side; 0: not known */
};

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for conjugate gradients; take a smaller grid");
}

/* ---- vectors --------------------------------------------------------------------------------- */

static enum hs_status reserve(struct hs_krylov_state *self, int further, struct hs_error *err)
{
    const int count = HS_KRYLOV_MORE + further;
    if (count <= self->count)
        return HS_OK;
    double **const vector = realloc(self->vector, (size_t)count * sizeof *vector);
    if (!vector)
        return no_memory(err);
    self->vector = vector;
    for (; self->count < count; self->count++) {
        const bool there = self->count == HS_KRYLOV_NONE || self->count == HS_KRYLOV_INFLOW;
        vector[self->count] = there ? NULL : calloc((size_t)self->nodes, sizeof **vector);
        if (!there && !vector[self->count])
            return no_memory(err);
    }
    vector[HS_KRYLOV_INFLOW] = self->equations->inflow;
    return HS_OK;
}

double *hs_host_krylov_vector(struct hs_krylov_state *self, int vector)
{
    return self->vector[vector];
}

static enum hs_status put(struct hs_krylov_state *self, int vector, const double *values,
                          struct hs_error *err)
{
    (void)err;
    memcpy(self->vector[vector], values, (size_t)self->nodes * sizeof *values);
    return HS_OK;
}

static enum hs_status put_some(struct hs_krylov_state *self, int vector, int64_t count,
                               const int64_t *node, const double *values, struct hs_error *err)
{
    (void)err;
    for (int64_t n = 0; n < count; n++)
        self->vector[vector][node[n]] = values[n];
    return HS_OK;
}

static double power_of(const struct hs_network_row *row, int power)
{
    return row->kind != HS_NODE_FREE ? 0.0 : power > 0 ? row->capacity : 1.0 / row->capacity;
}

static double value_of(const struct hs_network *network, const struct hs_krylov_terms *sum,
                       int64_t node)
{
    double value = 0.0;
    for (int n = 0; n < sum->count; n++) {
        const double of = sum->plus[n][node] - (sum->minus[n] ? sum->minus[n][node] : 0.0);
        const double weight =
            sum->power[n] ? power_of(hs_network_row_at(network, node), sum->power[n]) : 1.0;
        value += sum->factor[n] * weight * of;
    }
    return value;
}

static enum hs_status combine(struct hs_krylov_state *self, int out, const struct hs_krylov_sum *of,
                              struct hs_error *err)
{
    (void)err;
    const struct hs_network *network = self->equations->network;
    const struct hs_krylov_terms sum = hs_krylov_terms_of(self->vector, of);
    double *const to = self->vector[out];
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t n = 0; n < self->nodes; n++)
        to[n] = value_of(network, &sum, n);
    return HS_OK;
}

static enum hs_status find_largest(struct hs_krylov_state *self, const struct hs_krylov_sum *of,
                                   bool free, double *out, struct hs_error *err)
{
    (void)err;
    const struct hs_network *network = self->equations->network;
    const struct hs_krylov_terms sum = hs_krylov_terms_of(self->vector, of);
    double largest = 0.0;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)                    \
    reduction(max                                                                                  \
              : largest)
    for (int64_t n = 0; n < self->nodes; n++)
        if (!free || hs_network_row_at(network, n)->kind == HS_NODE_FREE)
            largest = fmax(largest, fabs(value_of(network, &sum, n)));
    *out = largest;
    return HS_OK;
}

static enum hs_status total(struct hs_krylov_state *self, const struct hs_krylov_sum *of,
                            double *out, struct hs_error *err)
{
    (void)err;
    const struct hs_network *network = self->equations->network;
    const struct hs_krylov_terms sum = hs_krylov_terms_of(self->vector, of);
    struct hs_sum all = {0.0, 0.0};
    for (int64_t n = 0; n < self->nodes; n++)
        hs_sum_add(&all, value_of(network, &sum, n));
    *out = hs_sum_value(&all);
    return HS_OK;
}

static void exchange(struct hs_krylov_state *self, int a, int b)
{
    double *const other = self->vector[a];
    self->vector[a] = self->vector[b];
    self->vector[b] = other;
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

static enum hs_status begin(struct hs_krylov_state *self, struct hs_error *err)
{
    (void)err;
    if (self->p)
        memset(self->p, 0, (size_t)self->nodes * sizeof *self->p);
    return HS_OK;
}

/* T already is the solution. */
static enum hs_status end(struct hs_krylov_state *self, struct hs_error *err)
{
    (void)self, (void)err;
    return HS_OK;
}

static enum hs_status residual(struct hs_krylov_state *self, double slack,
                               struct hs_krylov_rates *out, struct hs_error *err)
{
    (void)err;
    *out = hs_equations_residual(self->equations, slack, self->vector[HS_KRYLOV_T],
                                 self->vector[HS_KRYLOV_RESIDUAL]);
    self->unit = 0.0;
    return HS_OK;
}

/* Makes the levels, unless the present ones serve for this shift. */
static bool make_levels(struct hs_krylov_state *self)
{
    if (self->levels.count > 0 && hs_levels_serve(self->shift, self->equations->shift))
        return true;
    hs_levels_release(&self->levels);
    self->shift = self->equations->shift;
    return hs_levels_init(&self->levels, self->equations);
}

/* What iterations need; if the guess is the answer, there are none. */
static enum hs_status prepare(struct hs_krylov_state *self, struct hs_error *err)
{
    if (!self->p)
        self->p = calloc((size_t)self->nodes, sizeof *self->p);
    if (!self->q)
        self->q = calloc((size_t)self->nodes, sizeof *self->q);
    return self->p && self->q && make_levels(self) ? HS_OK : no_memory(err);
}

/* z stays in the first level's x, in its scale and divided by `unit`, which keeps intermediate
 * values within the range of float where residuals are small. */
static enum hs_status precondition(struct hs_krylov_state *self, double *with_r,
                                   struct hs_error *err)
{
    HS_TRY(prepare(self, err));
    static const struct hs_krylov_sum left = {1, {{1.0, HS_KRYLOV_RESIDUAL, HS_KRYLOV_NONE, 0}}};
    struct hs_level *level = &self->levels.level[0];
    if (self->unit == 0.0)
        find_largest(self, &left, false, &self->unit, err);
    const double unit = self->unit, *const r = self->vector[HS_KRYLOV_RESIDUAL];
#pragma omp parallel for num_threads(self->equations->threads) schedule(static)
    for (int64_t n = 0; n < self->nodes; n++)
        level->right[n] = (float)(r[n] / unit * (double)level->scale[n]);
    hs_cycle(&self->levels);
    double zr = 0.0;
#pragma omp parallel for num_threads(self->equations->threads) schedule(static) reduction(+ : zr)
    for (int64_t n = 0; n < self->nodes; n++)
        zr += (double)level->x[n] * (double)level->scale[n] * r[n];
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
    double *const T = self->vector[HS_KRYLOV_T], *const r = self->vector[HS_KRYLOV_RESIDUAL];
    double rates = 0.0, most = 0.0;
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

static enum hs_status add(struct hs_krylov_state *self, double by, struct hs_error *err)
{
    (void)err;
    for (int64_t n = 0; n < self->nodes; n++)
        self->vector[HS_KRYLOV_T][n] += by;
    return HS_OK;
}

static void destroy(struct hs_krylov_state *self)
{
    if (!self)
        return;
    hs_levels_release(&self->levels);
    for (int n = 0; n < self->count; n++)
        if (n != HS_KRYLOV_INFLOW)
            free(self->vector[n]);
    free(self->vector);
    free(self->p);
    free(self->q);
    free(self);
}

const struct hs_krylov hs_host_krylov = {
    .reserve = reserve,
    .put = put,
    .put_some = put_some,
    .combine = combine,
    .largest = find_largest,
    .total = total,
    .exchange = exchange,
    .begin = begin,
    .end = end,
    .residual = residual,
    .precondition = precondition,
    .turn = turn,
    .advance = advance,
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
    return reserve(self, 0, err);
}
