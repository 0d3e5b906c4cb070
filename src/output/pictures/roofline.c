#include "output/pictures/roofline.h"

#include "output/pictures/chart.h"

#include <math.h>

/* A ceiling and the kernels that it bounds have the same colour. */
static const uint32_t colours[] = {[HS_BOUND_MEMORY] = HS_BLUE,
                                   [HS_BOUND_CACHE] = 0x5E9EA0,
                                   [HS_BOUND_COMPUTE] = 0xB23C28,
                                   [HS_BOUND_NEITHER] = HS_SOFT};

/* Axes from below the lowest point to above the ceilings, wide enough to show where these meet. */
static void choose_ends(const struct hs_roofline *r, struct hs_scale *x, struct hs_scale *y)
{
    const double peak = r->ceilings.flops;
    double lowest = INFINITY, highest = peak, least = INFINITY, most = peak / r->bandwidth;
    for (int n = 0; n < r->count; n++) {
        lowest = fmin(lowest, r->point[n].flops);
        highest = fmax(highest, r->point[n].flops);
        least = fmin(least, r->point[n].intensity);
        most = fmax(most, r->point[n].intensity);
    }
    if (!(peak > 0))
        highest = fmax(highest, most * r->bandwidth);
    *x = (struct hs_scale){"operational intensity", least / 5, 4 * most, .log = true,
                           .unit = {1, "", "FLOP/byte"}};
    *y = (struct hs_scale){"performance", fmin(lowest / 2.5, 0.45 * x->from * r->bandwidth),
                           1.78 * highest, .log = true, .unit = {1e9, "", "GFLOP/s"}};
    if (y->to >= 2e12)
        y->unit = (struct hs_unit){1e12, "", "TFLOP/s"};
}

enum hs_status hs_picture_roofline(const struct hs_roofline *r, const char *title,
                                   const char *subtitle, const char *path, struct hs_error *err)
{
    if (r->count == 0 || !(r->bandwidth > 0.0))
        return hs_error_add(err, HS_FAILED_CHECK, "%s: no kernel was timed: nothing to draw", path);
    const double peak = r->ceilings.flops, cache = r->ceilings.cache;
    const bool in_cache = r->place == HS_BENCH_CACHE;
    const struct {
        enum hs_roofline_bound bound;
        const char *what, *unit;
        double rate, slope; /* rise per FLOP/byte, up to the peak or the plot's top */
    } ceilings[] = {{HS_BOUND_CACHE, "reads from cache", "B/s", cache, cache},
                    {in_cache ? HS_BOUND_CACHE : HS_BOUND_MEMORY,
                     in_cache ? "copy in cache" : "copy", "B/s", r->bandwidth, r->bandwidth},
                    {HS_BOUND_COMPUTE, "multiply-adds", "FLOP/s", peak, 0}};
    enum { CEILINGS = sizeof ceilings / sizeof *ceilings, MOST = CEILINGS + HS_BENCH_MOST };
    struct hs_curve curves[MOST], *next = curves;
    double x[CEILINGS][2], y[CEILINGS][2];
    char texts[MOST][128], (*text)[128] = texts;
    struct hs_chart c = {
        .width = HS_CANVAS_UNITS, .title = title, .subtitle = subtitle, .curves = curves};
    choose_ends(r, &c.x, &c.y);
    for (int n = 0; n < CEILINGS; n++) {
        const double rate = ceilings[n].rate, slope = ceilings[n].slope, tera = rate >= 1e12;
        if (!(rate > 0))
            continue;
        x[n][0] = slope > 0 ? c.x.from : peak / fmax(r->bandwidth, cache);
        x[n][1] = slope > 0 ? fmin((peak > 0 ? peak : c.y.to) / slope, c.x.to) : c.x.to;
        for (int end = 0; end < 2; end++)
            y[n][end] = slope > 0 ? x[n][end] * slope : peak;
        snprintf(*text, sizeof *text, "%s %.3g %s%s", ceilings[n].what, rate / (tera ? 1e12 : 1e9),
                 tera ? "T" : "G", ceilings[n].unit);
        *next++ = (struct hs_curve){x[n], y[n], 2, colours[ceilings[n].bound], .label = *text++};
    }
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        const bool bound = p->bound != HS_BOUND_NEITHER;
        snprintf(*text, sizeof *text,
                 bound ? "%s %.0f %%, bound by %s" : "%s %.0f %% of the ceiling", p->name,
                 100.0 * p->fraction, hs_roofline_bound_name(p->bound));
        *next++ =
            (struct hs_curve){&p->intensity, &p->flops, 1, colours[p->bound], .name = *text++};
    }
    c.count = (int)(next - curves);
    return hs_charts_write(&c, 1, path, err);
}
