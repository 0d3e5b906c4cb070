/*
 * conduction: what every other kernel of that operator is held to.
 *
 * The definition of core/network.h written down and nothing else: point by point, edge by edge, in
 * the field's precision and the one order of additions. What a node has is looked up anew for each
 * term, by its number in the palette or in the arrays; that of an edge is its lower node's. One
 * thread, no tricks.
 *
 * Source: finite volumes on a regular grid, Patankar 1980, ch. 4.
 */
#include "common.h"

#include <math.h>

/* G, dt/C, g and s of a node, by its element of the fields. */
struct row {
    double conductance[HS_AXES], rate, sink, keep, forcing;
};

static double at(enum hs_precision precision, const void *field, int64_t element, double without)
{
    return field ? hs_read(precision, field, element) : without;
}

static struct row row_of(const struct hs_sweep *s, int64_t node)
{
    const struct hs_network_view *view = s->op->network;
    const enum hs_precision p = s->precision;
    if (view->form == HS_NETWORK_ARRAYS)
        return (struct row){{at(p, view->conductance[HS_X], node, 0.0),
                             at(p, view->conductance[HS_Y], node, 0.0),
                             at(p, view->conductance[HS_Z], node, 0.0)},
                            hs_read(p, view->rate, node),
                            at(p, view->sink, node, 0.0),
                            1.0,
                            at(p, view->added, node, 0.0)};
    const int64_t number = view->form == HS_NETWORK_BYTES
                               ? (int64_t)((const uint8_t *)view->number)[node]
                               : (int64_t)((const uint16_t *)view->number)[node];
    const int64_t first = number * HS_ROW_NUMBERS;
    return (struct row){{hs_read(p, view->row, first), hs_read(p, view->row, first + 1),
                         hs_read(p, view->row, first + 2)},
                        hs_read(p, view->row, first + 3),
                        hs_read(p, view->row, first + 4),
                        hs_read(p, view->row, first + 5),
                        hs_read(p, view->forcing, number)};
}

#define DEFINE_NODE(T, FMA)                                                                        \
    static T node_##T(const struct hs_sweep *s, int dims, int64_t node)                            \
    {                                                                                              \
        const T *in = (const T *)s->in + node, *source = hs_source_field(&s->source);              \
        const struct row row = row_of(s, node);                                                    \
        T sum = 0;                                                                                 \
        for (int axis = dims - 1; axis >= 0; axis--) {                                             \
            const int64_t pitch = s->layout.pitch[axis];                                           \
            const T conductance = (T)row_of(s, node - pitch).conductance[axis];                    \
            sum = FMA(conductance, in[-pitch] - in[0], sum);                                       \
        }                                                                                          \
        for (int axis = 0; axis < dims; axis++)                                                    \
            sum = FMA((T)row.conductance[axis], in[s->layout.pitch[axis]] - in[0], sum);           \
        sum = FMA(-(T)row.sink, in[0], sum);                                                       \
        T kept = FMA((T)row.keep, in[0], (T)row.forcing);                                          \
        if (source)                                                                                \
            kept += source[node];                                                                  \
        return FMA((T)row.rate, sum, kept);                                                        \
    }
DEFINE_NODE(float, fmaf)
DEFINE_NODE(double, fma)

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    const int dims = s->layout.points[HS_Z] > 1 ? 3 : s->layout.points[HS_Y] > 1 ? 2 : 1;
    for (int64_t k = s->box.lo[HS_Z]; k < s->box.hi[HS_Z]; k++)
        for (int64_t j = s->box.lo[HS_Y]; j < s->box.hi[HS_Y]; j++)
            for (int64_t i = s->box.lo[HS_X]; i < s->box.hi[HS_X]; i++) {
                const int64_t node = hs_layout_offset(&s->layout, i, j, k);
                if (s->precision == HS_FLOAT)
                    ((float *)s->out)[node] = node_float(s, dims, node);
                else
                    ((double *)s->out)[node] = node_double(s, dims, node);
            }
    return HS_OK;
}

const struct hs_kernel hs_kernel_cpu_conduction = {
    .name = "conduction",
    .idea = "a body of many materials, point by point: what the others are held to",
    .origin = "finite volumes: Patankar 1980, ch. 4",
    .device = HS_CPU,
    .features = HS_CONDUCTION | HS_ALL_FORMS | HS_ALL_DIMS | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES,
    .steps = 1,
    .sweep = sweep,
};
