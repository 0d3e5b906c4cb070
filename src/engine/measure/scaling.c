#include "engine/measure/scaling.h"

#include "engine/ranks/ranks.h"

#include <math.h>

enum hs_status hs_scaling_init(struct hs_scaling *scaling, const struct hs_bench_request *request,
                               bool weak, struct hs_error *err)
{
    *scaling = (struct hs_scaling){.weak = weak, .ranks = hs_ranks_count()};
    struct hs_bench_request all = *request;
    if (weak)
        all.points[all.dims - 1] *= scaling->ranks;
    enum hs_status st = hs_bench_init(&scaling->all, &all, err);
    hs_ranks_share(&scaling->all.problem);
    if (!st && hs_ranks_is_first())
        st = hs_bench_init(&scaling->one, request, err);
    return st;
}

void hs_scaling_release(struct hs_scaling *scaling)
{
    hs_bench_release(&scaling->one);
    hs_bench_release(&scaling->all);
}

double hs_scaling_seconds(const struct hs_bench_row *row)
{
    const struct hs_bench_figures *memory = &row->figures[HS_BENCH_MEMORY];
    return (memory->pairs ? memory : &row->figures[HS_BENCH_CACHE])->seconds.median;
}

enum hs_status hs_scaling_kernel(struct hs_scaling *scaling, const struct hs_backend *own,
                                 const struct hs_backend *all, const struct hs_kernel *kernel,
                                 struct hs_scaling_row *out, struct hs_error *err)
{
    *out = (struct hs_scaling_row){.efficiency = NAN, .owned = NAN};
    HS_TRY(hs_bench_kernel(&scaling->one, own, kernel, &out->one, err));
    HS_TRY(hs_bench_kernel(&scaling->all, all, kernel, &out->all, err));
    if (!out->one.proven || !out->all.proven)
        return HS_OK;
    const double share = scaling->weak ? 1.0 : scaling->ranks;
    out->efficiency = hs_scaling_seconds(&out->one) / (share * hs_scaling_seconds(&out->all));
    out->owned = hs_ranks_owned(&scaling->all.problem, kernel);
    return HS_OK;
}
