#include "engine/multigrid/conjugate_gradients.h"

#include "engine/multigrid/cycle.h"

#include <math.h>
#include <stdlib.h>

/* Shifts that differ by no more have the same levels: no eigenvalue of one matrix over the other's
 * is farther from 1. */
static const double near = 1.3;

/* What an iteration works with. */
struct work {
    const struct hs_equations *equations;
    struct hs_levels *levels;
    int64_t nodes;
    double *T, *r, *p, *q; /* [nodes] temperatures, residual, direction, A times that */
    double energy;         /* z.r of the guess: about the square of its error in the norm of A */
    const struct hs_solve_watch *watch;
    bool interrupted;
};

/* T += a p, r -= a q. Returns the largest rate of change that is left; *unit: the largest of r. */
static double advance(struct work *work, double a, double *unit)
{
    const struct hs_network *network = work->equations->network;
    double *T = work->T, *r = work->r, rates = 0.0, largest = 0.0;
    const double *p = work->p, *q = work->q;
#pragma omp parallel for num_threads(work->equations->threads) schedule(static)                    \
    reduction(max                                                                                  \
              : rates, largest)
    for (int64_t n = 0; n < work->nodes; n++) {
        const struct hs_network_row *row = hs_network_row_at(network, n);
        T[n] += a * p[n];
        r[n] -= a * q[n];
        const double size = fabs(r[n]);
        const double rate = row->kind == HS_NODE_FREE ? size / row->capacity : 0.0;
        largest = size > largest ? size : largest;
        rates = rate > rates ? rate : rates;
    }
    *unit = largest;
    return rates;
}

static double largest_of(const struct work *work)
{
    double largest = 0.0;
#pragma omp parallel for num_threads(work->equations->threads) schedule(static)                    \
    reduction(max                                                                                  \
              : largest)
    for (int64_t n = 0; n < work->nodes; n++)
        largest = fabs(work->r[n]) > largest ? fabs(work->r[n]) : largest;
    return largest;
}

/* z = M r stays in the first level's x, in its scale and divided by `unit`, which keeps what small
 * residuals are made of away from the ends of float. Returns the factor that is to be applied. */
static void precondition(struct work *work, double unit)
{
    struct hs_level *level = &work->levels->level[0];
#pragma omp parallel for num_threads(work->equations->threads) schedule(static)
    for (int64_t n = 0; n < work->nodes; n++)
        level->right[n] = (float)(work->r[n] / unit * (double)level->scale[n]);
    hs_cycle(work->levels);
}

/* z.r and z.q */
static void products(const struct work *work, double unit, double *with_r, double *with_q)
{
    const struct hs_level *level = &work->levels->level[0];
    double zr = 0.0, zq = 0.0;
#pragma omp parallel for num_threads(work->equations->threads) schedule(static)                    \
    reduction(+ : zr, zq)
    for (int64_t n = 0; n < work->nodes; n++) {
        const double z = (double)level->x[n] * (double)level->scale[n];
        zr += z * work->r[n];
        zq += z * work->q[n];
    }
    *with_r = unit * zr;
    *with_q = unit * zq;
}

/* p = z + b p */
static void turn(struct work *work, double unit, double b)
{
    const struct hs_level *level = &work->levels->level[0];
#pragma omp parallel for num_threads(work->equations->threads) schedule(static)
    for (int64_t n = 0; n < work->nodes; n++)
        work->p[n] = unit * (double)level->x[n] * (double)level->scale[n] + b * work->p[n];
}

static void note(struct work *work, struct hs_solution *out, double residual)
{
    out->residual = residual;
    if (out->iterations < HS_SOLUTION_RESIDUALS)
        out->residuals[out->iterations] = residual;
    if (work->watch && work->watch->notify(work->watch->self, out))
        work->interrupted = true;
}

/* From the residual in r, until it has fallen by the tolerance as a rate of change, by its
 * recurrence, and in the norm of A, too: where a few nodes change far faster than all others, the
 * first says little of these. `first`: the guess's largest rate of change. */
static void iterate(struct work *work, double tolerance, double first, struct hs_solution *out)
{
    double unit = largest_of(work), left = INFINITY, zr, zq;
    precondition(work, unit);
    products(work, unit, &zr, &zq);
    turn(work, unit, 0.0);
    if (out->iterations == 0)
        work->energy = zr;
    while (out->iterations < HS_SOLUTION_ITERATIONS) {
        const double curvature = hs_equations_apply(work->equations, work->p, work->q);
        if (!(curvature > 0.0) || !(zr > 0.0))
            return;
        const double a = zr / curvature, before = zr;
        left = advance(work, a, &unit);
        out->iterations++;
        note(work, out, left / first);
        if (unit == 0.0 || work->interrupted)
            return;
        precondition(work, unit);
        products(work, unit, &zr, &zq);
        if (left <= tolerance * first && zr <= tolerance * tolerance * work->energy)
            return;
        turn(work, unit, -a * zq / before);
    }
}

/* Where nothing holds the mean, any constant may be added. */
static void keep_heat(struct work *work, double heat)
{
    const double shift =
        (heat - hs_equations_heat(work->equations, work->T)) / work->equations->capacity;
    for (int64_t n = 0; n < work->nodes; n++)
        work->T[n] += shift;
}

/* Again from a residual computed anew, as long as that helps: what the recurrence has lost to
 * rounding is found. `now`: of the guess, whose residual is in r. */
static void solve(struct work *work, struct hs_rates now, double tolerance, double rate,
                  struct hs_solution *out)
{
    const bool singular = hs_equations_are_singular(work->equations);
    const double first = now.largest,
                 heat = singular ? hs_equations_heat(work->equations, work->T) : 0.0;
    double before = INFINITY;
    tolerance = fmax(tolerance, fmax(rate, now.rounding) / first);
    note(work, out, 1.0);
    while (!work->interrupted && now.largest > fmax(tolerance * first, now.rounding) &&
           now.largest < 0.5 * before && out->iterations < HS_SOLUTION_ITERATIONS) {
        before = now.largest;
        iterate(work, 0.9 * tolerance, first, out);
        if (singular)
            keep_heat(work, heat);
        now = hs_equations_residual(work->equations, work->T, work->r);
        note(work, out, now.largest / first);
    }
    out->reached = isfinite(now.largest) && now.largest <= fmax(tolerance * first, now.rounding);
}

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for conjugate gradients; take a smaller grid");
}

enum hs_status hs_conjugate_gradients_init(struct hs_conjugate_gradients *gradients,
                                           const struct hs_equations *equations,
                                           struct hs_error *err)
{
    const size_t nodes = (size_t)hs_grid_count(&equations->network->grid);
    *gradients = (struct hs_conjugate_gradients){.equations = equations};
    gradients->r = malloc(nodes * sizeof *gradients->r);
    gradients->p = calloc(nodes, sizeof *gradients->p);
    gradients->q = calloc(nodes, sizeof *gradients->q);
    return gradients->r && gradients->p && gradients->q ? HS_OK : no_memory(err);
}

void hs_conjugate_gradients_release(struct hs_conjugate_gradients *gradients)
{
    hs_levels_release(&gradients->levels);
    free(gradients->r);
    free(gradients->p);
    free(gradients->q);
}

/* Makes the levels, unless those that are there are of about this shift. */
static bool make_levels(struct hs_conjugate_gradients *gradients)
{
    const double shift = gradients->equations->shift, made = gradients->shift;
    if (gradients->levels.count > 0 && fmax(shift, made) <= near * fmin(shift, made))
        return true;
    hs_levels_release(&gradients->levels);
    gradients->shift = shift;
    return hs_levels_init(&gradients->levels, gradients->equations);
}

enum hs_status hs_conjugate_gradients_solve(struct hs_conjugate_gradients *gradients,
                                            double tolerance, double rate, double *T,
                                            struct hs_solution *out, struct hs_error *err)
{
    const struct hs_equations *equations = gradients->equations;
    const struct hs_rates guess = hs_equations_residual(equations, T, gradients->r);
    struct work work = {.equations = equations,
                        .levels = &gradients->levels,
                        .nodes = hs_grid_count(&equations->network->grid),
                        .T = T,
                        .r = gradients->r,
                        .p = gradients->p,
                        .q = gradients->q,
                        .watch = gradients->watch};
    *out = (struct hs_solution){.reached = true};
    if (guess.largest <= fmax(guess.rounding, rate))
        return HS_OK;
    if (!make_levels(gradients))
        return no_memory(err);
    solve(&work, guess, tolerance, rate, out);
    return work.interrupted ? HS_INTERRUPTED : HS_OK;
}
