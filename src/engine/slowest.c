#include "engine/slowest.h"

#include "engine/modes/axis_matrix.h"
#include "engine/network/network.h"
#include "engine/network/slowest.h"
#include "engine/threads.h"

#include <math.h>

/* A wave with a smaller theta counts as constant: its decay, 1e-16, is below rounding. */
static const double no_wave = 1e-8;

/* No bounded source heats a slab, a square or a cube between cold walls by more than 1.24, 1.46 or
 * 1.67 times what it does to the slowest mode alone. */
static const double all_modes = 2.0;

/* For a body: two where the heat from a wall and from neighbours is added to a temperature, and two
 * more where the heat of a wall that convects nearly cancels in their sum. */
enum { OF_STENCIL = 1, OF_BODY = 4 };

/* Phase of the wave at a face's edge node, counted inwards. */
static double phase(const struct hs_face *face, double theta)
{
    if (face->held > 0) /* the innermost held layer stands still */
        return -theta * (face->held - 1);
    return atan2((1.0 + face->a[0]) * sin(theta), (1.0 - face->a[0]) * cos(theta) - face->b[0]);
}

/* Theta of the axis's wave number `which` (1: the slowest); 0 for a constant. */
static double wave(const struct hs_face face[2], int64_t points, int which)
{
    if (face[0].wrap)
        return 2.0 * M_PI * (which - 1) / (double)points;
    double lo = 0.0, hi = M_PI;
    for (int i = 0; i < 64; i++) { /* pi * 2^-64 */
        const double theta = 0.5 * (lo + hi);
        const double turns =
            theta * (double)(points - 1) + phase(&face[0], theta) + phase(&face[1], theta);
        if (turns < which * M_PI)
            lo = theta;
        else
            hi = theta;
    }
    return hi < no_wave ? 0.0 : hi;
}

/* The axis's part of a wave's decay. */
static double axis_decay(const struct hs_stencil *stencil, int axis, double theta)
{
    double sum = 0.0;
    for (int m = 1; m <= stencil->radius; m++) {
        const double half = sin(0.5 * m * theta);
        sum += 4.0 * stencil->c[hs_stencil_index(stencil->radius, axis, m)] * half * half;
    }
    return sum;
}

/* Whether the stencil is symmetric, and its longest waves are the slowest. */
static bool diffuses(const struct hs_problem *problem, const struct hs_stencil *stencil)
{
    enum { SAMPLES = 32 };
    for (int axis = 0; axis < stencil->dims; axis++) {
        const struct hs_axis_matrix matrix = hs_axis_matrix_of(problem, stencil, axis);
        if (!hs_axis_matrix_symmetric(&matrix))
            return false;
        const double slow = axis_decay(stencil, axis, M_PI / SAMPLES);
        for (int s = 2; s <= SAMPLES; s++)
            if (!(axis_decay(stencil, axis, M_PI * s / SAMPLES) >= slow && slow >= 0.0))
                return false;
    }
    return true;
}

/* Decay of all waves, a constant too: 1 - the sum of the coefficients, or 0 if that is rounding. */
static double common_decay(const struct hs_stencil *stencil)
{
    double rest = 1.0;
    const int count = hs_stencil_count(stencil->dims, stencil->radius);
    for (int n = 0; n < count; n++)
        rest -= stencil->c[n];
    return fabs(rest) < 1e-15 * count ? 0.0 : rest;
}

/* Whether some node is held, or exchanges heat with its surroundings. */
static bool is_anchored(const struct hs_problem *problem)
{
    int64_t count;
    const struct hs_network_row *row = hs_network_rows(problem->network, &count);
    for (int64_t n = 0; n < count; n++)
        if (row[n].kind != HS_NODE_FREE || row[n].sink > 0.0)
            return true;
    return false;
}

static struct hs_slowest slowest_of_body(const struct hs_problem *problem, double step)
{
    const bool free_mean = !is_anchored(problem);
    const int threads = hs_threads_of(problem);
    const struct hs_network_slowest of = hs_network_slowest(problem->network, free_mean, threads);
    /* + step: in the sweep that made the change nodes may have changed sign */
    return (struct hs_slowest){.decay = step * of.rate,
                               .free_mean = free_mean,
                               .capacity =
                                   free_mean ? hs_network_capacity(problem->network, threads) : NAN,
                               .all_modes = of.rate * (of.longest + step),
                               .roundings = OF_BODY};
}

/* Whether any loss of one node of a stencil is another node's gain: each ghost beyond the first
 * must be the image of a node, too. */
static bool conserves_mean(const struct hs_problem *problem)
{
    bool conserves = true;
    for (int f = 0; f < 2 * problem->grid.dims && problem->radius > 1; f++)
        conserves = conserves && (problem->face[f].wrap || problem->face[f].b[0] == 0.0);
    return conserves;
}

struct hs_slowest hs_slowest_mode(const struct hs_problem *problem,
                                  const struct hs_stencil *stencil, double step)
{
    if (problem->network)
        return slowest_of_body(problem, step);
    if (!diffuses(problem, stencil))
        return (struct hs_slowest){.decay = NAN, .all_modes = NAN};
    const double common = common_decay(stencil);
    double slowest = common, next = INFINITY;
    bool constant = common == 0.0;
    for (int axis = 0; axis < stencil->dims; axis++) {
        const struct hs_face *face = &problem->face[2 * axis];
        const double theta = wave(face, problem->grid.points[axis], 1);
        constant = constant && theta == 0.0;
        slowest += axis_decay(stencil, axis, theta);
        next = fmin(next, axis_decay(stencil, axis, wave(face, problem->grid.points[axis], 2)));
    }
    const double decay = constant ? next : slowest; /* constant along all axes but one */
    return (struct hs_slowest){.decay = decay > 0.0 ? decay : NAN,
                               .free_mean = constant,
                               .capacity = conserves_mean(problem) ? 1.0 : NAN,
                               .all_modes = all_modes,
                               .roundings = OF_STENCIL};
}
