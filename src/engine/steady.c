#include "engine/steady.h"

#include "engine/walls/boundary_data.h"
#include "functions/fields.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A stretch in which the change halves may take this much longer than the previous one. */
static const double even = 1.25;

/* Share of a change that may be the mean's though sources and walls balance: decimals round. */
static const double unbalanced = 0.01;

/* A change of this many roundings may be rounding only: each of up to 19 additions makes one. */
static const double noise = 16.0;

/* Half an ulp of this size. */
static double rounding_of(enum hs_precision precision, double size)
{
    const int digits = precision == HS_FLOAT ? FLT_MANT_DIG : DBL_MANT_DIG;
    return size > 0.0 && isfinite(size) ? ldexp(1.0, ilogb(size) - digits) : 0.0;
}

/* A mode with decay > 1 changes sign in each sweep. */
static double rate_of(double decay)
{
    return decay < 1.0 ? -log1p(-decay) : -log(decay - 1.0);
}

/* For a step of the plan: a sweep; or, of a method without an error in time, the exponential of a
 * short sweep's decay. Other methods cannot search for a steady state. */
static struct hs_slowest slowest_of(const struct hs_problem *problem, const struct hs_plan *plan)
{
    const bool exact = plan->method->step_rule == HS_STEP_ANY;
    const double step = hs_plan_step(plan), sweep = exact ? hs_plan_sweep_step(plan) : step;
    const struct hs_stencil stencil = hs_problem_stencil(problem, sweep);
    struct hs_slowest slowest = hs_slowest_mode(problem, &stencil, sweep);
    if (exact)
        slowest.decay = -expm1(-slowest.decay / sweep * step);
    return slowest;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* K: mean of what sweeps conserve if nothing holds the mean (engine/slowest.h); otherwise NaN. */
static double conserved_mean(const struct hs_steady *steady, const struct hs_reduction *reduction)
{
    return (steady->of_body ? reduction->heat : reduction->mean) / steady->slowest.capacity;
}

void hs_steady_begin(struct hs_steady *steady, const struct hs_problem *problem,
                     const struct hs_plan *plan, int64_t sweep,
                     const struct hs_reduction *reduction)
{
    *steady = (struct hs_steady){.sought = problem->schedule.steady,
                                 .tolerance = problem->schedule.steady_tolerance,
                                 .change = NAN,
                                 .rate = NAN,
                                 .kept = NAN,
                                 .precision = problem->precision,
                                 .of_body = problem->network != NULL,
                                 .sweep = sweep};
    if (!steady->sought)
        return;
    if (!plan->steady_method) /* may take seconds for a body, and a solver does not need it */
        steady->slowest = slowest_of(problem, plan);
    steady->conserved_mean = conserved_mean(steady, reduction);
    steady->trend = hs_boundary_data_in_time(problem) ? HS_STEADY_TIME_DEPENDENT : HS_STEADY_EARLY;
}

static double rounding_at(const struct hs_steady *steady, const struct hs_reduction *reduction)
{
    return rounding_of(steady->precision, fmax(fabs(reduction->min), fabs(reduction->max)));
}

void hs_steady_take_up(struct hs_steady *steady, const struct hs_steady_end *end,
                       const struct hs_reduction *reduction)
{
    if (!steady->sought || isnan(end->change))
        return;
    steady->reached = end->change < steady->tolerance;
    steady->change = end->change;
    steady->kept = end->distance;
    steady->rounding = rounding_at(steady, reduction);
    if (steady->trend != HS_STEADY_TIME_DEPENDENT)
        steady->trend = !isnan(end->distance)          ? HS_STEADY_EVEN
                        : isnan(steady->slowest.decay) ? HS_STEADY_EARLY
                                                       : HS_STEADY_NONE;
}

void hs_steady_solved(struct hs_steady *steady, const struct hs_solution *solution)
{
    steady->solution = *solution;
    steady->reached = solution->reached;
    steady->trend = HS_STEADY_SOLVED;
}

static void put_mark(struct hs_steady *steady)
{
    steady->mark[2] = steady->mark[1];
    steady->mark[1] = steady->mark[0];
    steady->mark[0] = (struct hs_steady_mark){steady->sweep, steady->change};
    steady->marks = steady->marks < 3 ? steady->marks + 1 : 3;
}

/* The rate at which the change fell between two sweeps; negative where it rose. */
static double fall(const struct hs_steady_mark *from, const struct hs_steady_mark *to)
{
    return log(from->change / to->change) / (double)(to->sweep - from->sweep);
}

/* The rate since the mark before the last, over which the change has at least halved. */
static void follow(struct hs_steady *steady)
{
    const struct hs_steady_mark now = {steady->sweep, steady->change};
    if (steady->marks > 0 && now.change > 2.0 * steady->mark[0].change)
        steady->marks = 0; /* something new acts */
    steady->rate = steady->marks > 1 ? fall(&steady->mark[1], &now) : NAN;
    if (steady->marks == 0 || now.change <= 0.5 * steady->mark[0].change)
        put_mark(steady);
}

/* Whether the slowest mode would have quartered the change since it last halved. */
static bool is_stalled(const struct hs_steady *steady)
{
    const double since = (double)(steady->sweep - steady->mark[0].sweep);
    return since * rate_of(steady->slowest.decay) > log(4.0);
}

static bool is_even(const struct hs_steady *steady)
{
    return steady->marks == 3 && even * steady->rate >= fall(&steady->mark[2], &steady->mark[1]);
}

/* `drift`: of the conserved mean, K a sweep */
static enum hs_steady_trend judge(const struct hs_steady *steady, double drift)
{
    const bool tiny = steady->change <= noise * steady->rounding;
    if (steady->trend == HS_STEADY_TIME_DEPENDENT)
        return HS_STEADY_TIME_DEPENDENT;
    if (steady->slowest.free_mean && !tiny && fabs(drift) > noise * steady->rounding &&
        fabs(drift) > unbalanced * steady->change)
        return HS_STEADY_NONE;
    if (is_stalled(steady) || steady->change == 0.0)
        return tiny ? HS_STEADY_ROUNDING : HS_STEADY_NONE;
    return is_even(steady) ? HS_STEADY_EVEN : HS_STEADY_EARLY;
}

void hs_steady_look(struct hs_steady *steady, int64_t sweep, const struct hs_reduction *reduction)
{
    if (!steady->sought || !isfinite(reduction->change) || sweep <= steady->sweep)
        return;
    const double mean = conserved_mean(steady, reduction);
    const double drift = (mean - steady->conserved_mean) / (double)(sweep - steady->sweep);
    steady->sweep = sweep;
    steady->conserved_mean = mean;
    steady->change = reduction->change;
    steady->reached = steady->change < steady->tolerance;
    steady->kept = NAN;
    steady->rounding = rounding_at(steady, reduction);
    if (steady->change > 0.0)
        follow(steady);
    steady->trend = judge(steady, drift);
}

/* ---- what is left ---------------------------------------------------------------------------- */

static bool has_steady_state(const struct hs_steady *steady)
{
    return steady->sought && steady->trend != HS_STEADY_NONE && steady->trend != HS_STEADY_SOLVED &&
           steady->trend != HS_STEADY_TIME_DEPENDENT;
}

/* The rate at which the change will fall from now on: the present one, or the slowest possible. */
static double rate_ahead(const struct hs_steady *steady)
{
    const double slowest = rate_of(steady->slowest.decay);
    if (steady->trend == HS_STEADY_EVEN || isnan(slowest))
        return fmax(steady->rate, slowest); /* fmax ignores a NaN */
    return slowest;
}

/* What is left if the change falls by exp(-rate) a sweep. If the slowest mode changes sign, all do,
 * and each change overshoots the steady state. */
static double left_by(const struct hs_slowest *slowest, double change, double rate)
{
    return change / (slowest->decay > 1.0 ? exp(rate) + 1.0 : expm1(rate));
}

double hs_steady_distance(const struct hs_steady *steady)
{
    if (!has_steady_state(steady))
        return NAN;
    if (!isnan(steady->kept))
        return steady->kept;
    const double rate = rate_ahead(steady), slowest = rate_of(steady->slowest.decay);
    /* the field stands still once a sweep would change less than a rounding */
    return left_by(&steady->slowest, steady->change, rate) +
           left_by(&steady->slowest, steady->rounding, isnan(slowest) ? rate : slowest);
}

static double most_of(const struct hs_slowest *slowest, double change, double rounding)
{
    return slowest->all_modes * (change + slowest->roundings * rounding) / slowest->decay;
}

double hs_steady_most(const struct hs_steady *steady)
{
    if (!has_steady_state(steady))
        return NAN;
    return most_of(&steady->slowest, steady->change, steady->rounding);
}

double hs_steady_sweeps_left(const struct hs_steady *steady)
{
    if (steady->reached)
        return 0.0;
    if (isnan(steady->change) || !has_steady_state(steady) || steady->trend == HS_STEADY_ROUNDING)
        return NAN;
    const double least = fmax(steady->tolerance, 2.0 * steady->rounding);
    const double left = log(steady->change / least) / rate_ahead(steady);
    return left < 1.0 ? 1.0 : left;
}

bool hs_steady_is_beyond_precision(const struct hs_steady *steady)
{
    return steady->tolerance < 2.0 * steady->rounding;
}

/* ---- before the run -------------------------------------------------------------------------- */

/* Rows of the initial field to look at along an axis: all, or as many as hold a number of nodes
 * that takes less than a second. */
static int64_t rows_along(const struct hs_grid *grid, int axis)
{
    const double rows = (double)hs_boundary_data_looked_at / (double)grid->points[HS_X];
    const double along = floor(grid->dims > 2 ? sqrt(rows) : rows);
    return (int64_t)fmin((double)grid->points[axis], fmax(along, 17.0));
}

/* Lowest and highest value of the initial field and of `lead`. NaN without memory for a row. */
static void survey(const struct hs_problem *problem, const struct hs_boundary_data_lead *lead,
                   double *lowest, double *highest)
{
    const int64_t *points = problem->grid.points;
    const int64_t ny = rows_along(&problem->grid, HS_Y), nz = rows_along(&problem->grid, HS_Z);
    double *row = malloc((size_t)points[HS_X] * sizeof *row);
    *lowest = row ? lead->lowest : NAN;
    *highest = row ? lead->highest : NAN;
    for (int64_t n = 0; row && n < ny * nz; n++) {
        const int64_t j = n % ny, k = n / ny;
        hs_problem_initial_row(problem, ny > 1 ? (points[HS_Y] - 1) * j / (ny - 1) : 0,
                               nz > 1 ? (points[HS_Z] - 1) * k / (nz - 1) : 0, row);
        for (int64_t i = 0; i < points[HS_X]; i++) {
            *lowest = fmin(*lowest, row[i]);
            *highest = fmax(*highest, row[i]);
        }
    }
    free(row);
}

/* Sweeps until the slowest mode, of this amplitude [K], changes by less than `tolerance` a sweep,
 * rounded up to a multiple of check_every. */
static double sweeps_of(double amplitude, double decay, double tolerance, int64_t check_every)
{
    const double sweeps = fmax(log(amplitude * decay / tolerance) / rate_of(decay), 1.0);
    return ceil(sweeps / (double)check_every) * (double)check_every;
}

struct hs_steady_outlook hs_steady_look_ahead(const struct hs_problem *problem,
                                              const struct hs_plan *plan)
{
    const struct hs_schedule *schedule = &problem->schedule;
    const struct hs_boundary_data_lead lead = hs_boundary_data_lead(problem, plan);
    struct hs_steady_outlook out = {.slowest = slowest_of(problem, plan),
                                    .time_dependent = hs_boundary_data_in_time(problem),
                                    .sweeps = NAN};
    double lowest, highest;
    survey(problem, &lead, &lowest, &highest);
    out.rounding = rounding_of(problem->precision, fmax(fabs(lowest), fabs(highest)));
    out.distance = left_by(&out.slowest, schedule->steady_tolerance + out.rounding,
                           rate_of(out.slowest.decay));
    out.most = most_of(&out.slowest, schedule->steady_tolerance, out.rounding);
    const double amplitude = highest - lowest + lead.gain / out.slowest.decay;
    if (!out.time_dependent && amplitude > 0.0)
        out.sweeps = sweeps_of(amplitude, out.slowest.decay, schedule->steady_tolerance,
                               schedule->steady_check_every);
    return out;
}
