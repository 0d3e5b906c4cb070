/*
 * reference: what every other kernel is held to.
 *
 * The definition of a sweep written down and nothing else: point by point, neighbour by neighbour
 * in the order of hs_stencil_terms,
 *
 *     out = source;  for each term: out = fma(c, in at the neighbour, out)
 *
 * in double whatever the precision, and one rounding at the end. In double it agrees with every
 * kernel bit for bit; in float it is the better number, and the others are held to within their
 * roundings of it. One thread, no tricks: 2 words a point at best, and far from them.
 *
 * Measured: 0.050 GCell/s, double, 3D radius 1, 384^3, one core of an AMD EPYC (Zen 4), 2026-11-21.
 */
#include "common.h"

#include <math.h>

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
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
                hs_write(s->precision, s->out, node, sum);
            }
    return HS_OK;
}

const struct hs_kernel hs_kernel_cpu_reference = {
    .name = "reference",
    .idea = "the definition, point by point in double: what the others are held to",
    .origin = "forward Euler and central differences: LeVeque 2007, ch. 9",
    .device = HS_CPU,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .sweep = sweep,
};
