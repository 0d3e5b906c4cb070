/*
 * Both questions concern the set of all sums of one eigenvalue per axis: how far from 0 it reaches
 * (amplification), and how large dt may be so that 1 + dt*set stays in the unit disc (limit). A
 * disc is convex, so the set's convex hull tells as much as the set. A hull is described by its
 * reach (support function) h(phi) in each direction phi,
 *
 *     h(phi) = max Re(exp(-i phi) lambda),
 *
 * which for a set of sums is the sum of the axes' reaches. No combination is ever formed.
 */
#include "engine/stability.h"

#include "engine/modes/axis_matrix.h"
#include "engine/modes/eigenvalues.h"

#include <math.h>

enum {
    SAMPLES = 720, /* of the symbol; even, so that theta = pi is one */
    ANGLES = 360,  /* directions phi between 0 and pi */
    REFINE = 48,   /* golden-section steps: 0.618^48 = 1e-10 of a sample's distance */
};

/* The operator along one axis, and its eigenvalues. */
struct axis {
    struct hs_axis_matrix matrix;
    double complex symbol[SAMPLES];
    int modes;
    double complex mode[2 * HS_EIGENVALUES_MAX]; /* with the faces' rules */
};

static double complex symbol_at(const struct axis *axis, double theta)
{
    const int radius = axis->matrix.radius;
    const double *c = axis->matrix.c + radius;
    double complex wave[HS_MAX_RADIUS + 1] = {1.0}, sum = 0.0; /* exp(i offset theta) */
    for (int offset = 1; offset <= radius; offset++)
        wave[offset] = cexp(I * offset * theta);
    for (int offset = -radius; offset <= radius; offset++)
        sum += c[offset] * (offset < 0 ? conj(wave[-offset]) : wave[offset]);
    return sum;
}

static void add_modes(struct axis *axis, const struct hs_axis_matrix *of)
{
    const int count = (int)hs_axis_matrix_rows(of);
    if (count < 1)
        return;
    double matrix[HS_EIGENVALUES_MAX * HS_EIGENVALUES_MAX] = {0.0};
    for (int n = 0; n < count; n++) {
        struct hs_axis_entry entry[HS_AXIS_ENTRIES];
        const int entries = hs_axis_matrix_row(of, n, entry);
        for (int e = 0; e < entries; e++)
            matrix[n * count + entry[e].column] += entry[e].c * entry[e].share;
    }
    hs_eigenvalues(count, matrix, &axis->mode[axis->modes]);
    axis->modes += count;
}

/*
 * Modes localised at a face have decayed within a few nodes, and the symbol covers the others. So a
 * long axis is cut to as many nodes as a matrix may have. But at a wall of weak convection a mode
 * decays slowly, and a holding face at the cut would make it seem more stable than it is. So each
 * face is taken by itself, with a mirror at the cut: there the mode is as stable or less. (Among
 * waves of a lopsided stencil a mirror has modes of its own.)
 */
static void find_modes(struct axis *axis)
{
    struct hs_axis_matrix of = axis->matrix;
    axis->modes = 0;
    if (of.face[0].wrap) /* all modes are waves, which the symbol covers */
        return;
    const struct hs_face mirror = {.a = {1.0, 1.0, 1.0}};
    const struct hs_face low[2] = {of.face[0], mirror}, high[2] = {mirror, of.face[1]};
    const bool cut = of.nodes > HS_EIGENVALUES_MAX;
    if (cut)
        of.nodes = HS_EIGENVALUES_MAX;
    if (cut && hs_axis_matrix_symmetric(&of)) {
        of.face = low;
        add_modes(axis, &of);
        of.face = high;
    }
    add_modes(axis, &of);
}

static void prepare(struct axis *axis)
{
    for (int s = 0; s < SAMPLES; s++)
        axis->symbol[s] = symbol_at(axis, 2.0 * M_PI * s / SAMPLES);
    find_modes(axis);
}

/* The argument in [lo, hi] for which f is least, if f has one minimum there. */
static double golden_section(double (*f)(const void *context, double x), const void *context,
                             double lo, double hi)
{
    const double share = 0.6180339887498949;
    double a = hi - share * (hi - lo), b = lo + share * (hi - lo);
    double fa = f(context, a), fb = f(context, b);
    for (int i = 0; i < REFINE; i++) {
        if (fa < fb) {
            hi = b, b = a, fb = fa;
            a = hi - share * (hi - lo);
            fa = f(context, a);
        } else {
            lo = a, a = b, fa = fb;
            b = lo + share * (hi - lo);
            fb = f(context, b);
        }
    }
    return 0.5 * (lo + hi);
}

struct direction {
    const struct axis *axis;
    double complex turn; /* exp(-i phi) */
};

static double minus_reach_of_wave(const void *context, double theta)
{
    const struct direction *d = context;
    return -creal(d->turn * symbol_at(d->axis, theta));
}

/* How far the axis's eigenvalues reach in direction phi. */
static double axis_reach(const struct axis *axis, double phi)
{
    const double complex turn = cexp(-I * phi);
    double best = -INFINITY;
    int at = 0;
    for (int s = 0; s < SAMPLES; s++) {
        const double reach = creal(turn * axis->symbol[s]);
        if (reach > best) {
            best = reach;
            at = s;
        }
    }
    const struct direction d = {axis, turn};
    const double apart = 2.0 * M_PI / SAMPLES;
    const double theta =
        golden_section(minus_reach_of_wave, &d, (at - 1) * apart, (at + 1) * apart);
    best = fmax(best, -minus_reach_of_wave(&d, theta));
    for (int n = 0; n < axis->modes; n++)
        best = fmax(best, creal(turn * axis->mode[n]));
    return best;
}

struct spectrum {
    int dims;
    struct axis axis[HS_AXES];
};

static double reach(const struct spectrum *op, double phi)
{
    double sum = 0.0;
    for (int axis = 0; axis < op->dims; axis++)
        sum += axis_reach(&op->axis[axis], phi);
    return sum;
}

static double minus_reach(const void *context, double phi)
{
    return -reach(context, phi);
}

/* |1 + dt*lambda| <= 1 in direction phi: cos(phi) + dt*h(phi) <= 1. The operator is scaled to
 * coefficients of order 1, so that 1e-11 is rounding and nothing else. */
static double step_of_direction(const void *context, double phi)
{
    const double h = reach(context, phi);
    return h > 1e-11 ? (1.0 - cos(phi)) / h : INFINITY;
}

static bool all_real(const double complex *value, int count)
{
    while (count > 0 && cimag(value[count - 1]) == 0.0)
        count--;
    return count == 0;
}

static bool is_real(const struct spectrum *op)
{
    bool real = true;
    for (int n = 0; n < op->dims; n++)
        real = real && all_real(op->axis[n].symbol, SAMPLES) &&
               all_real(op->axis[n].mode, op->axis[n].modes);
    return real;
}

/* Least value of f over all directions but 0. The spectrum is symmetric about the real axis; a real
 * one reaches farthest along it. */
static double least_over_directions(double (*f)(const void *context, double x),
                                    const struct spectrum *op)
{
    if (is_real(op))
        return f(op, M_PI);
    double best = INFINITY;
    int at = 0;
    for (int n = 1; n <= ANGLES; n++) {
        const double value = f(op, M_PI * n / ANGLES);
        if (value < best) {
            best = value;
            at = n;
        }
    }
    const double apart = M_PI / ANGLES;
    const double phi = golden_section(f, op, (at - 1) * apart, (at + 1) * apart);
    return fmin(best, f(op, phi));
}

double hs_stability_limit(const struct hs_problem *problem)
{
    if (problem->network)
        return problem->network->limit;
    const struct hs_grid *grid = &problem->grid;
    double scale = 0.0; /* 1/s: largest of the axes' diffusion rates */
    for (int axis = 0; axis < grid->dims; axis++)
        scale = fmax(scale,
                     problem->material.diffusivity / (grid->spacing[axis] * grid->spacing[axis]));
    struct spectrum op = {.dims = grid->dims};
    for (int n = 0; n < grid->dims; n++) {
        struct hs_axis_matrix *matrix = &op.axis[n].matrix;
        const double rate =
            problem->material.diffusivity / (grid->spacing[n] * grid->spacing[n]) / scale;
        *matrix = (struct hs_axis_matrix){
            .radius = problem->radius, .face = &problem->face[2 * n], .nodes = grid->points[n]};
        for (int offset = -problem->radius; offset <= problem->radius; offset++)
            matrix->c[problem->radius + offset] =
                rate * hs_second_difference(problem->radius, offset < 0 ? -offset : offset);
        prepare(&op.axis[n]);
    }
    if (reach(&op, 0.0) > 1e-9) /* a mode that grows in the differential equation itself */
        return 0.0;
    return least_over_directions(step_of_direction, &op) / scale;
}

struct hs_span hs_stability_sweep(const struct hs_problem *problem)
{
    const struct hs_schedule *schedule = &problem->schedule;
    struct hs_span span = {.count = 1, .step = schedule->step};
    if (!problem->raw) /* fmin ignores a NaN */
        span.step = fmin(schedule->step, schedule->safety * hs_stability_limit(problem));
    span.op = hs_problem_operator(problem, span.step);
    span.keep_last = span.keep_before = true;
    return span;
}

double hs_amplification(const struct hs_problem *problem, const struct hs_stencil *stencil)
{
    struct spectrum op = {.dims = stencil->dims};
    for (int n = 0; n < stencil->dims; n++) {
        op.axis[n].matrix = hs_axis_matrix_of(problem, stencil, n);
        if (n > 0) /* the centre counts once */
            op.axis[n].matrix.c[stencil->radius] = 0.0;
        prepare(&op.axis[n]);
    }
    return fmax(reach(&op, 0.0), -least_over_directions(minus_reach, &op));
}
