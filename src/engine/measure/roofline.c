#include "engine/measure/roofline.h"
#include "engine/registry.h"

#include <math.h>

static const double bound_from = 0.75; /* fraction of a ceiling from which it is the bound */

const char *hs_roofline_bound_name(enum hs_roofline_bound bound)
{
    static const char *const names[] = {
        [HS_BOUND_MEMORY] = "memory",
        [HS_BOUND_CACHE] = "cache",
        [HS_BOUND_COMPUTE] = "arithmetic",
        [HS_BOUND_NEITHER] = "neither",
    };
    return names[bound];
}

/* Words moved per point and sweep. */
static double words_of(const struct hs_bench *bench, const struct hs_kernel *kernel)
{
    struct hs_kernel_plan plan;
    hs_kernel_plan_here(kernel, &bench->problem, &plan, NULL, 0);
    const struct hs_geometry *g = &plan.launch;
    const int steps = plan.steps;
    if (steps == 1 || g->launched == 0)
        return 2.0 / steps;
    const double words = (double)g->launched * (double)(g->points_loaded + g->points_written) /
                         ((double)g->points_updated * steps);
    return fmax(words, 2.0 / steps); /* a kernel that reports less has miscounted */
}

static struct hs_roofline_point make_point(const struct hs_roofline *roofline,
                                           const struct hs_bench *bench,
                                           const struct hs_bench_row *row)
{
    struct hs_roofline_point p = {.name = row->kernel->name, .words = words_of(bench, row->kernel)};
    const double seconds = row->figures[roofline->place].seconds.median;
    p.intensity =
        roofline->flops_per_point / (p.words * (double)hs_precision_size(bench->request.precision));
    p.flops = 1e9 * hs_bench_gcells(bench, seconds) * roofline->flops_per_point;
    const bool cached = roofline->place == HS_BENCH_CACHE;
    const double flow =
        cached ? fmax(roofline->bandwidth, roofline->ceilings.cache) : roofline->bandwidth;
    const double moving = p.intensity * flow;
    const double counting = roofline->ceilings.flops > 0.0 ? roofline->ceilings.flops : INFINITY;
    p.ceiling = fmin(moving, counting);
    p.fraction = p.flops / p.ceiling;
    p.bound = !(p.fraction >= bound_from) ? HS_BOUND_NEITHER
              : counting < moving         ? HS_BOUND_COMPUTE
              : cached                    ? HS_BOUND_CACHE
                                          : HS_BOUND_MEMORY;
    return p;
}

void hs_roofline_make(const struct hs_bench *bench, const struct hs_bench_row *rows, int count,
                      const struct hs_ceilings *ceilings, struct hs_roofline *out)
{
    *out = (struct hs_roofline){.place = HS_BENCH_CACHE, .ceilings = *ceilings};
    const int terms = hs_stencil_count(bench->request.dims, bench->request.radius);
    /* of a body: a difference and a multiply-add for each edge, and three more multiply-adds */
    out->flops_per_point = bench->problem.body ? 3.0 * (terms - 1) + 6.0 : 2.0 * terms - 1.0;
    for (int n = 0; n < count; n++)
        if (rows[n].proven && rows[n].figures[HS_BENCH_MEMORY].pairs)
            out->place = HS_BENCH_MEMORY;
    out->bandwidth = hs_bench_copy(rows, count, out->place);
    for (int n = 0; n < count; n++)
        if (rows[n].proven && rows[n].figures[out->place].pairs)
            out->point[out->count++] = make_point(out, bench, &rows[n]);
}
