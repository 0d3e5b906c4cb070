/*
 * What a backend offers to methods that work on the modes of a stencil: arrays of doubles on the
 * swept nodes, products with one axis' matrix, and a factor for each mode.
 *
 * An array is [nz][ny][nx], x fastest, in the backend's memory, whatever the problem's precision:
 * of the box of swept nodes, each axis' at its slots. Products are a library's.
 */
#ifndef HS_CORE_TRANSFORMS_H
#define HS_CORE_TRANSFORMS_H

#include "core/grid.h"
#include "core/host_device.h"
#include "core/status.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_SLOTS = 4, HS_SLOTS_FROM = 32 };

/* Where the nodes of an axis lie in an array, and its modes: the lower half of a mirrored axis, its
 * middle with it, then the rest; else all are of the second group. A group of HS_SLOTS_FROM or more
 * has a multiple of HS_SLOTS slots, of which the last may hold zeros: libraries multiply rows of
 * such lengths faster (docs/performance/modes.md). */
struct hs_slots {
    int64_t nodes[2], slots[2];
};

static inline struct hs_slots hs_slots_of(int64_t nodes, int64_t even)
{
    struct hs_slots out = {{even, nodes - even}, {0, 0}};
    for (int group = 0; group < 2; group++) {
        const int64_t n = out.nodes[group];
        out.slots[group] = n < HS_SLOTS_FROM ? n : (n + HS_SLOTS - 1) / HS_SLOTS * HS_SLOTS;
    }
    return out;
}

static inline HS_HOST_DEVICE int64_t hs_slots_all(const struct hs_slots *axis)
{
    return axis->slots[0] + axis->slots[1];
}

static inline HS_HOST_DEVICE int64_t hs_slot(const struct hs_slots *axis, int64_t node)
{
    return node < axis->nodes[0] ? node : node - axis->nodes[0] + axis->slots[0];
}

/* -1: none. */
static inline HS_HOST_DEVICE int64_t hs_node_at(const struct hs_slots *axis, int64_t slot)
{
    const int group = slot >= axis->slots[0];
    const int64_t n = slot - (group ? axis->slots[0] : 0);
    return n >= axis->nodes[group] ? -1 : n + (group ? axis->nodes[0] : 0);
}

/* What becomes of a mode that a step multiplies by 1 + rate and to which it adds a constant. */
enum hs_mode_rule {
    HS_MODE_STEPS,  /* `amount` steps */
    HS_MODE_TIME,   /* d/dt = rate * mode + constant, for a time `amount` */
    HS_MODE_MEAN,   /* the same: its mean over the times from `begin` to `amount` */
    HS_MODE_STEADY, /* without end; where the rate is 0 it stays as it is */
};

/* A mode of amplitude T becomes kept * T + gained * constant. */
struct hs_mode_factors {
    double kept, gained;
};

/* (1 + rate)^n and ((1 + rate)^n - 1) / rate, without cancellation where the rate is small. */
static inline HS_HOST_DEVICE struct hs_mode_factors hs_mode_steps(double n, double rate)
{
    struct hs_mode_factors out;
    /* log |1 + rate| is at most |1 + rate| - 1, and below this exp() is 0: so are most modes */
    if (n * (rate > -1.0 ? rate : -2.0 - rate) < -746.0) {
        out.kept = 0.0;
        out.gained = -1.0 / rate;
        return out;
    }
    if (rate > -0.5) {
        const double exponent = n * log1p(rate);
        out.kept = exp(exponent);
        out.gained = rate != 0.0 ? expm1(exponent) / rate : n;
        return out;
    }
    const double size = pow(fabs(1.0 + rate), n); /* 1 + rate is exact from -2 to -1/2 */
    out.kept = rate < -1.0 && fmod(n, 2.0) != 0.0 ? -size : size;
    out.gained = (out.kept - 1.0) / rate;
    return out;
}

static inline HS_HOST_DEVICE struct hs_mode_factors hs_mode_time(double t, double rate)
{
    struct hs_mode_factors out;
    out.kept = exp(rate * t);
    out.gained = rate != 0.0 ? expm1(rate * t) / rate : t;
    return out;
}

/* ((exp(z) - 1)/z - 1)/z, by its series where that would cancel. */
static inline HS_HOST_DEVICE double hs_mode_second(double z)
{
    double sum = 0.0;
    if (fabs(z) > 0.5)
        return (expm1(z) / z - 1.0) / z;
    for (int k = 16; k > 1; k--)
        sum = (1.0 + sum * z) / k; /* 0.5^15/17! is 1e-19 */
    return sum;
}

static inline HS_HOST_DEVICE struct hs_mode_factors hs_mode_mean(double begin, double end,
                                                                 double rate)
{
    const struct hs_mode_factors before = hs_mode_time(begin, rate);
    const double z = rate * (end - begin);
    struct hs_mode_factors out;
    out.kept = before.kept * (z != 0.0 ? expm1(z) / z : 1.0);
    out.gained = before.gained + before.kept * (end - begin) * hs_mode_second(z);
    return out;
}

static inline HS_HOST_DEVICE struct hs_mode_factors hs_mode_steady(double rate)
{
    struct hs_mode_factors out;
    out.kept = rate == 0.0 ? 1.0 : 0.0;
    out.gained = rate == 0.0 ? 0.0 : -1.0 / rate;
    return out;
}

/* Of all modes: the rate of mode (i, j, k) is common + rate[X][i] + rate[Y][j] + rate[Z][k]. */
struct hs_mode_filter {
    enum hs_mode_rule rule;
    double amount;
    double begin; /* of a mean */
    double common;
    const double *rate[HS_AXES]; /* [extent] in the backend's memory; NULL: 0 along this axis */
    int64_t extent[HS_AXES];
};

static inline HS_HOST_DEVICE struct hs_mode_factors
hs_mode_factors_of(const struct hs_mode_filter *filter, double rate)
{
    const double amount = filter->amount;
    switch (filter->rule) {
    case HS_MODE_STEPS: return hs_mode_steps(amount, rate);
    case HS_MODE_TIME: return hs_mode_time(amount, rate);
    case HS_MODE_MEAN: return hs_mode_mean(filter->begin, amount, rate);
    default: return hs_mode_steady(rate);
    }
}

/* What multiplies along an axis: [rows][extent]; or, where `even` is not 0, two squares, of the
 * axis' first `even` slots and of the rest. */
struct hs_axis_factor {
    int axis;
    int64_t rows, even;
    const double *matrix;
};

/* Of two nodes as far from the lower end as from the upper one: the lower becomes half their sum,
 * the upper half their difference; or back. */
static inline HS_HOST_DEVICE void hs_fold(bool back, double *lower, double *upper)
{
    const double a = *lower, b = *upper;
    *lower = back ? a - b : 0.5 * (b + a);
    *upper = back ? a + b : 0.5 * (b - a);
}

struct hs_backend_state;

struct hs_transforms {
    /* HS_OK, or which library lacks and what to do. */
    enum hs_status (*available)(struct hs_error *err);
    /* Memory for so many doubles; HS_DEVICE when it is short, with needed and free bytes. */
    enum hs_status (*allocate)(struct hs_backend_state *state, double count, double **out,
                               struct hs_error *err);
    void (*release)(struct hs_backend_state *state, double *array); /* accepts NULL */
    enum hs_status (*put)(struct hs_backend_state *state, const double *host, int64_t count,
                          double *array, struct hs_error *err);
    enum hs_status (*get)(struct hs_backend_state *state, const double *array, int64_t count,
                          double *host, struct hs_error *err);
    /* The field at the swept nodes, each node in its slot. */
    enum hs_status (*gather)(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                             double *array, struct hs_error *err);
    /* The array, rounded once, becomes the field at the swept nodes; NULL: zeros do. `steps`: the
     * field that was there stays at hand as the one a step before. */
    enum hs_status (*scatter)(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                              const double *array, bool steps, struct hs_error *err);
    /* Of all such pairs along an axis. */
    enum hs_status (*fold)(struct hs_backend_state *state, int axis,
                           const struct hs_slots axes[HS_AXES], bool back, double *array,
                           struct hs_error *err);
    /* out[.., r, ..] = sum over i of matrix[r][i] * in[.., i, ..] along the axis, where `in` has
     * `extent` and out `rows` instead. */
    enum hs_status (*product)(struct hs_backend_state *state, const struct hs_axis_factor *by,
                              const int64_t extent[HS_AXES], const double *in, double *out,
                              struct hs_error *err);
    /* out = kept * in + gained * constant, mode by mode; NULL: a constant of 0. `out` may be
     * either. */
    enum hs_status (*filter)(struct hs_backend_state *state, const struct hs_mode_filter *filter,
                             const double *in, const double *constant, double *out,
                             struct hs_error *err);
    /* The largest absolute value. */
    enum hs_status (*largest)(struct hs_backend_state *state, const double *array, int64_t count,
                              double *out, struct hs_error *err);
    /* Returns when all of the above is done, so that its time can be measured. */
    enum hs_status (*wait)(struct hs_backend_state *state, struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
