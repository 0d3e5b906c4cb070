/*
 * What a backend offers to methods that work on the modes of a stencil: arrays of doubles on the
 * swept nodes, products with one axis' matrix, and a factor for each mode.
 *
 * An array covers the box of swept nodes: doubles [nz][ny][nx], x fastest, in the backend's memory,
 * with each axis' nodes in their slots. Products are computed by a library.
 */
#ifndef HS_CORE_TRANSFORMS_H
#define HS_CORE_TRANSFORMS_H

#include "core/grid.h"
#include "core/host_device.h"
#include "core/status.h"

#include <math.h>

enum { HS_SLOTS = 4, HS_SLOTS_FROM = 32 };

/* Where an axis' nodes and modes lie in an array, in two groups. For a mirrored axis the first
 * group is the lower half including the middle node, the second the rest; else all are in the
 * second group. A group of HS_SLOTS_FROM or more has a multiple of HS_SLOTS slots, the last of
 * which may hold zeros: libraries multiply rows of such lengths faster
 * (docs/performance/modes.md). */
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

/* The node in a slot; -1: none. */
static inline HS_HOST_DEVICE int64_t hs_node_at(const struct hs_slots *axis, int64_t slot)
{
    const int group = slot >= axis->slots[0];
    const int64_t n = slot - (group ? axis->slots[0] : 0);
    return n >= axis->nodes[group] ? -1 : n + (group ? axis->nodes[0] : 0);
}

/* An axis' modes in the slots from first[group] on, which an array may have alone. */
struct hs_lasting {
    int64_t first[2], count[2];
};

static inline HS_HOST_DEVICE int64_t hs_lasting_all(const struct hs_lasting *axis)
{
    return axis->count[0] + axis->count[1];
}

/* The slot of the n-th of them, and back; -1: not among them. */
static inline HS_HOST_DEVICE int64_t hs_lasting_slot(const struct hs_lasting *axis, int64_t n)
{
    return axis->first[0] + n + (n < axis->count[0] ? 0 : axis->first[1]);
}

static inline HS_HOST_DEVICE int64_t hs_lasting_place(const struct hs_lasting *axis, int64_t slot)
{
    const int64_t second = axis->first[0] + axis->count[0], n = slot - second - axis->first[1];
    if (slot < second)
        return slot < axis->first[0] ? -1 : slot - axis->first[0];
    return n < 0 ? -1 : axis->count[0] + n;
}

/* How a mode evolves; a step multiplies it by 1 + rate and adds a constant. */
enum hs_mode_rule {
    HS_MODE_STEPS,  /* `amount` steps */
    HS_MODE_TIME,   /* d/dt = rate * mode + constant, for a time `amount` */
    HS_MODE_MEAN,   /* as HS_MODE_TIME, but its mean over the times from `begin` to `amount` */
    HS_MODE_STEADY, /* the steady state; unchanged if the rate is 0 */
};

/* A mode of amplitude T becomes kept * T + gained * constant. */
struct hs_mode_factors {
    double kept, gained;
};

/* An upper bound of log |1 + rate|. */
static inline HS_HOST_DEVICE double hs_mode_log(double rate)
{
    return rate > -1.0 ? rate : -2.0 - rate;
}

/* Whether nothing is left of a mode; for a mean `amount` is its begin. */
static inline HS_HOST_DEVICE bool hs_mode_is_gone(enum hs_mode_rule rule, double amount,
                                                  double rate)
{
    if (rule == HS_MODE_STEADY)
        return rate < 0.0;
    return amount * (rule == HS_MODE_STEPS ? hs_mode_log(rate) : rate) < -746.0; /* exp() is 0 */
}

/* (1 + rate)^n and ((1 + rate)^n - 1) / rate, without cancellation where the rate is small. */
static inline HS_HOST_DEVICE struct hs_mode_factors hs_mode_steps(double n, double rate)
{
    struct hs_mode_factors out;
    if (hs_mode_is_gone(HS_MODE_STEPS, n, rate)) { /* as most are */
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

/* A filter of modes. Mode (i, j, k) has rate common + rate[X][i] + rate[Y][j] + rate[Z][k]. */
struct hs_mode_filter {
    enum hs_mode_rule rule;
    double amount;
    double begin; /* HS_MODE_MEAN only */
    double common;
    const double *rate[HS_AXES]; /* [slots] in the backend's memory; NULL: 0 along this axis */
    struct hs_lasting lasting[HS_AXES]; /* the modes of which something may be left */
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

/* The n-th mode along an axis of what a filter writes, which is all or the lasting ones. */
struct hs_mode_index {
    int64_t slot, lasting; /* lasting: its number among these, or -1 */
};

static inline HS_HOST_DEVICE struct hs_mode_index hs_mode_index_of(const struct hs_lasting *axis,
                                                                   bool all, int64_t n)
{
    struct hs_mode_index out;
    out.slot = all ? n : hs_lasting_slot(axis, n);
    out.lasting = all ? hs_lasting_place(axis, n) : n;
    return out;
}

static inline HS_HOST_DEVICE int64_t hs_mode_count(const struct hs_lasting *axis, bool all)
{
    return hs_lasting_all(axis) + (all ? axis->first[0] + axis->first[1] : 0);
}

/* A matrix to apply along an axis: one or two blocks, the second for the columns and rows that
 * follow. Rows of a block are `pitch` apart. */
struct hs_axis_factor {
    int axis;
    int64_t rows[2], columns[2], pitch[2];
    const double *matrix[2];
};

/* The extents of the other axes: `inner` elements between two neighbours along this one, in `outer`
 * groups. */
static inline void hs_axis_others(int axis, const int64_t extent[HS_AXES], int64_t *inner,
                                  int64_t *outer)
{
    *inner = *outer = 1;
    for (int other = 0; other < HS_AXES; other++) {
        *inner *= other < axis ? extent[other] : 1;
        *outer *= other > axis ? extent[other] : 1;
    }
}

/* For two nodes that mirror each other: the lower becomes half their sum, the upper half their
 * difference; `back`: the inverse. */
static inline HS_HOST_DEVICE void hs_fold(bool back, double *lower, double *upper)
{
    const double a = *lower, b = *upper;
    *lower = back ? a - b : 0.5 * (b + a);
    *upper = back ? a + b : 0.5 * (b - a);
}

struct hs_backend_state;

struct hs_transforms {
    /* HS_OK, or an error with the missing library and what to do. */
    enum hs_status (*available)(struct hs_error *err);
    /* Allocates `count` doubles; HS_DEVICE if memory is short, with the needed and free bytes. */
    enum hs_status (*allocate)(struct hs_backend_state *state, double count, double **out,
                               struct hs_error *err);
    void (*release)(struct hs_backend_state *state, double *array); /* accepts NULL */
    enum hs_status (*put)(struct hs_backend_state *state, const double *host, int64_t count,
                          double *array, struct hs_error *err);
    enum hs_status (*get)(struct hs_backend_state *state, const double *array, int64_t count,
                          double *host, struct hs_error *err);
    /* Copies the field at the swept nodes to the array, each node to its slot. */
    enum hs_status (*gather)(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                             double *array, struct hs_error *err);
    /* Copies the array, rounded once, to the field at the swept nodes; NULL: zeros. `steps`: the
     * old field is kept as the one a step before. */
    enum hs_status (*scatter)(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                              const double *array, bool steps, struct hs_error *err);
    /* hs_fold for all mirror pairs along an axis. */
    enum hs_status (*fold)(struct hs_backend_state *state, int axis,
                           const struct hs_slots axes[HS_AXES], bool back, double *array,
                           struct hs_error *err);
    /* out[.., r, ..] = sum over i of matrix[r][i] * in[.., i, ..] along the axis. `in` has
     * `extent`, there all columns; `out` has all rows. */
    enum hs_status (*product)(struct hs_backend_state *state, const struct hs_axis_factor *by,
                              const int64_t extent[HS_AXES], const double *in, double *out,
                              struct hs_error *err);
    /* out = kept * in + gained * constant, mode by mode. `in` has the filter's lasting modes,
     * `constant` and `out` have all; `constant` NULL: it is 0, and `out` has what `in` has. */
    enum hs_status (*filter)(struct hs_backend_state *state, const struct hs_mode_filter *filter,
                             const double *in, const double *constant, double *out,
                             struct hs_error *err);
    /* The largest absolute value. */
    enum hs_status (*largest)(struct hs_backend_state *state, const double *array, int64_t count,
                              double *out, struct hs_error *err);
    /* Returns when all of the above is done, so that it can be timed. */
    enum hs_status (*wait)(struct hs_backend_state *state, struct hs_error *err);
};

#endif
