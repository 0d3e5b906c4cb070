/*
 * reference: the definition that every other kernel must agree with.
 *
 * For a stencil, point by point, neighbour by neighbour in the order of hs_stencil_terms,
 *
 *     out = source;  for each term: out = fma(c, in at the neighbour, out)
 *
 * in double for any precision, with one rounding at the end. In double it agrees with every
 * kernel bit for bit; in float it is more accurate, and the others must agree with it within their
 * own roundings.
 *
 * For conduction, as core/network.h defines it, in the field's precision and its order of
 * additions, so that all kernels agree with it bit for bit. A node's members are looked up anew for
 * each term; an edge's members belong to its lower node.
 *
 * One thread, no tricks: at best 2 words per point, and far from that.
 *
 * Measured: 0.050 GCell/s, double, 3D radius 1, 384^3, one core of an AMD EPYC (Zen 4), 2026-11-21.
 */
#include "common.h"

#include <math.h>

/* Stores a node's new value. In a recursion the next term is made from it after rounding. */
static void put(const struct hs_sweep *s, int64_t node, double value)
{
    const struct hs_recursion *recursion = s->recursion;
    if (recursion && s->precision == HS_FLOAT) {
        const float swept = (float)value, before = ((const float *)recursion->before)[node];
        value = fmaf((float)*recursion->factor, swept - before, swept);
    } else if (recursion) {
        value = fma(*recursion->factor, value - ((const double *)recursion->before)[node], value);
    }
    hs_write(s->precision, s->out, node, value);
}

/* ---- a stencil ------------------------------------------------------------------------------- */

static void sweep_stencil(const struct hs_sweep *s)
{
    const void *source = hs_source_field(&s->source);
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&s->op->stencil, terms);

    for (int64_t k = s->box.lo[HS_Z]; k < s->box.hi[HS_Z]; k++)
        for (int64_t j = s->box.lo[HS_Y]; j < s->box.hi[HS_Y]; j++)
            for (int64_t i = s->box.lo[HS_X]; i < s->box.hi[HS_X]; i++) {
                const int64_t node = hs_layout_offset(&s->layout, i, j, k);
                double sum = source ? hs_read(s->precision, source, node) : s->source.value[0];
                for (int n = 0; n < count; n++) {
                    const int64_t neighbour =
                        node + terms[n].offset * s->layout.pitch[terms[n].axis];
                    sum = fma(terms[n].c, hs_read(s->precision, s->in, neighbour), sum);
                }
                put(s, node, sum);
            }
}

/* ---- conduction ------------------------------------------------------------------------------ */

/* G along each axis, dt/C, g, keep and s of a node. */
struct row {
    double conductance[HS_AXES], rate, sink, keep, added;
};

static double element(const struct hs_sweep *s, const void *field, int64_t at)
{
    return field ? hs_read(s->precision, field, at) : 0.0; /* NULL: 0 everywhere */
}

static struct row row_of(const struct hs_sweep *s, int64_t node)
{
    const struct hs_network_view *view = s->op->network;
    struct row row = {.keep = 1.0};
    if (view->form == HS_NETWORK_ARRAYS) {
        for (int axis = 0; axis < HS_AXES; axis++)
            row.conductance[axis] = element(s, view->conductance[axis], node);
        row.rate = element(s, view->rate, node);
        row.sink = element(s, view->sink, node);
        row.added = element(s, view->added, node);
        return row;
    }
    const int64_t number = view->form == HS_NETWORK_BYTES ? ((const uint8_t *)view->number)[node]
                                                          : ((const uint16_t *)view->number)[node];
    const int64_t first = number * HS_ROW_NUMBERS;
    for (int axis = 0; axis < HS_AXES; axis++)
        row.conductance[axis] = element(s, view->row, first + axis);
    row.rate = element(s, view->row, first + 3);
    row.sink = element(s, view->row, first + 4);
    row.keep = element(s, view->row, first + 5);
    row.added = element(s, view->forcing, number);
    return row;
}

/* A node's new value. */
#define DEFINE_NODE(T, FMA)                                                                        \
    static T node_##T(const struct hs_sweep *s, int64_t node)                                      \
    {                                                                                              \
        const T *in = (const T *)s->in + node, *source = hs_source_field(&s->source);              \
        const struct row row = row_of(s, node);                                                    \
        T sum = 0;                                                                                 \
        for (int axis = HS_Z; axis >= HS_X; axis--) {                                              \
            const int64_t pitch = s->layout.pitch[axis];                                           \
            if (s->layout.points[axis] > 1)                                                        \
                sum = FMA((T)row_of(s, node - pitch).conductance[axis], in[-pitch] - in[0], sum);  \
        }                                                                                          \
        for (int axis = HS_X; axis <= HS_Z; axis++)                                                \
            if (s->layout.points[axis] > 1)                                                        \
                sum = FMA((T)row.conductance[axis], in[s->layout.pitch[axis]] - in[0], sum);       \
        sum = FMA(-(T)row.sink, in[0], sum);                                                       \
        T kept = FMA((T)row.keep, in[0], (T)row.added);                                            \
        if (source)                                                                                \
            kept += source[node];                                                                  \
        return FMA((T)row.rate, sum, kept);                                                        \
    }
DEFINE_NODE(float, fmaf)
DEFINE_NODE(double, fma)

static void sweep_network(const struct hs_sweep *s)
{
    for (int64_t k = s->box.lo[HS_Z]; k < s->box.hi[HS_Z]; k++)
        for (int64_t j = s->box.lo[HS_Y]; j < s->box.hi[HS_Y]; j++)
            for (int64_t i = s->box.lo[HS_X]; i < s->box.hi[HS_X]; i++) {
                const int64_t node = hs_layout_offset(&s->layout, i, j, k);
                put(s, node, s->precision == HS_FLOAT ? node_float(s, node) : node_double(s, node));
            }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)of, (void)limits, (void)reason, (void)size;
    out->recursion = 1;
    return true;
}

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    if (s->op->network)
        sweep_network(s);
    else
        sweep_stencil(s);
    return HS_OK;
}

const struct hs_kernel hs_kernel_cpu_reference = {
    .name = "reference",
    .idea = "the definition, point by point: what the others are held to",
    .origin = "forward Euler and central differences: LeVeque 2007, ch. 9; Patankar 1980, ch. 4",
    .device = HS_CPU,
    .features = HS_STENCIL | HS_CONDUCTION | HS_ALL_FORMS | HS_ALL_DIMS | HS_ALL_RADII |
                HS_ALL_PRECISIONS | HS_ALL_VALUES | HS_SINK_TIME,
    .steps = 1,
    .plan = plan,
    .sweep = sweep,
};
