#include "engine/multigrid/coarse_node.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096 }; /* nodes: below, starting threads costs more than it saves */

static bool is_large(const struct hs_lattice *lattice)
{
    return hs_lattice_count(lattice) > SMALL;
}

bool hs_coarse_network_init(struct hs_coarse_network *network, const struct hs_lattice *lattice)
{
    const size_t bytes = (size_t)hs_lattice_count(lattice) * sizeof(float);
    *network = (struct hs_coarse_network){.lattice = *lattice, .sink = malloc(bytes)};
    bool done = network->sink != NULL;
    for (int axis = 0; axis < HS_AXES; axis++)
        if (lattice->n[axis] > 1) {
            network->edge[axis] = malloc(bytes);
            done = done && network->edge[axis];
        }
    return done;
}

void hs_coarse_network_release(struct hs_coarse_network *network)
{
    for (int axis = 0; axis < HS_AXES; axis++)
        free(network->edge[axis]);
    free(network->sink);
    *network = (struct hs_coarse_network){.sink = NULL};
}

void hs_coarse_step_release(struct hs_coarse_step *step)
{
    free(step->before);
    free(step->after);
    *step = (struct hs_coarse_step){.before = NULL};
}

/* ---- a network of the nodes that stay -------------------------------------------------------- */

static void for_each(const struct hs_coarse_work *work, bool weigh, int threads)
{
    const int64_t *n = work->step->coarse.n, rows = n[HS_Y] * n[HS_Z];
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&work->step->coarse))
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            const int64_t at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            if (weigh)
                hs_coarse_weigh(work, at);
            else
                hs_coarse_make_node(work, at, r * n[HS_X] + i);
        }
}

bool hs_coarsen(const struct hs_coarse_network *fine, int axis, const struct hs_kept *kept,
                int threads, struct hs_coarse_step *step, struct hs_coarse_network *coarse)
{
    const struct hs_coarse_work work = hs_coarse_work_of(fine, axis, kept, step, coarse);
    const size_t bytes = (size_t)hs_lattice_count(&step->coarse) * sizeof(float);
    step->before = malloc(bytes);
    step->after = malloc(bytes);
    if (!hs_coarse_network_init(coarse, &step->coarse) || !step->before || !step->after)
        return false;
    for_each(&work, true, threads);
    for_each(&work, false, threads);
    return true;
}

/* ---- between their fields -------------------------------------------------------------------- */

/* Steps along y or z take whole rows along x from one side to the other. The place along the axis
 * of the coarse side's row r; *base: the fine node that begins the row at place 0 there. */
static int64_t place_of(const struct hs_coarse_step *step, int64_t r, int64_t *base)
{
    const int64_t rows = step->axis == HS_Z ? step->fine.n[HS_Y] : 1; /* between neighbours */
    const int64_t stack = r / rows / step->kept.count;
    *base = (stack * step->kept.n * rows + r % rows) * step->fine.n[HS_X];
    return r / rows % step->kept.count;
}

/* Nodes between neighbours along y or z, on both sides. */
static int64_t stride_of(const struct hs_coarse_step *step)
{
    return step->axis == HS_Z ? step->fine.n[HS_X] * step->fine.n[HS_Y] : step->fine.n[HS_X];
}

static int64_t kept_before(const struct hs_coarse_step *step, int64_t c)
{
    return hs_kept_before(&step->kept, step->fine.wrap[step->axis], c);
}

/* The kept node after the c-th one; -1: there is none. */
static int64_t kept_after(const struct hs_coarse_step *step, int64_t c)
{
    return c + 1 < step->kept.count ? c + 1 : step->fine.wrap[step->axis] ? 0 : -1;
}

static float gather(const struct hs_coarse_step *step, int64_t c, const float *before,
                    const float *after, const float *fine)
{
    const struct hs_kept *kept = &step->kept;
    const int64_t b = kept_before(step, c), at = hs_kept_place(kept, c);
    return fine[at] + (b >= 0 ? after[b] * fine[hs_kept_place(kept, b) + 1] : 0.0f) +
           (hs_kept_skips(kept, c) ? before[c] * fine[at + 1] : 0.0f);
}

static void restrict_along_x(const struct hs_coarse_step *step, const float *before,
                             const float *after, const float *fine, float *coarse)
{
    const struct hs_kept *kept = &step->kept;
    for (int64_t r = 0; r < kept->runs; r++) {
        const int64_t first = kept->run[r], count = kept->run[r + 1] - first;
        const float *from = fine + hs_kept_place(kept, first);
        const float *b = before + first, *a = after + first;
        float *to = coarse + first;
        to[0] = gather(step, first, before, after, fine);
        if (hs_kept_skips(kept, first))
#pragma omp simd
            for (int64_t i = 1; i < count; i++)
                to[i] = from[2 * i] + a[i - 1] * from[2 * i - 1] + b[i] * from[2 * i + 1];
        else
            memcpy(to + 1, from + 1, (size_t)(count - 1) * sizeof *to);
    }
}

/* Sets or adds. */
static inline void put(bool add, float *to, float value)
{
    *to = add ? *to + value : value;
}

static void spread(const struct hs_coarse_step *step, bool add, int64_t c, const float *before,
                   const float *after, const float *coarse, float *fine)
{
    const int64_t at = hs_kept_place(&step->kept, c), next = kept_after(step, c);
    put(add, &fine[at], coarse[c]);
    if (hs_kept_skips(&step->kept, c))
        put(add, &fine[at + 1],
            before[c] * coarse[c] + (next >= 0 ? after[c] * coarse[next] : 0.0f));
}

static void interpolate_along_x(const struct hs_coarse_step *step, bool add, const float *before,
                                const float *after, const float *coarse, float *fine)
{
    const struct hs_kept *kept = &step->kept;
    const int64_t last = kept->count - 1;
    for (int64_t r = 0; r < kept->runs; r++) {
        const int64_t first = kept->run[r];
        const int64_t end = kept->run[r + 1] < last ? kept->run[r + 1] : last;
        const float *b = before + first, *a = after + first, *from = coarse + first;
        float *to = fine + hs_kept_place(kept, first);
        if (hs_kept_skips(kept, first))
#pragma omp simd
            for (int64_t i = 0; i < end - first; i++) {
                put(add, &to[2 * i], from[i]);
                put(add, &to[2 * i + 1], b[i] * from[i] + a[i] * from[i + 1]);
            }
        else
#pragma omp simd
            for (int64_t i = 0; i < end - first; i++)
                put(add, &to[i], from[i]);
    }
    spread(step, add, last, before, after, coarse, fine);
}

/* out = fine + before*fine_after + after*fine_before; either row may be NULL */
static void restrict_row(int64_t length, const float *fine, const float *before,
                         const float *fine_after, const float *after, const float *fine_before,
                         float *out)
{
    if (fine_after && fine_before) {
#pragma omp simd
        for (int64_t i = 0; i < length; i++)
            out[i] = fine[i] + before[i] * fine_after[i] + after[i] * fine_before[i];
        return;
    }
    const float *weight = fine_after ? before : after;
    const float *other = fine_after ? fine_after : fine_before;
    if (!other) {
        memcpy(out, fine, (size_t)length * sizeof *out);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < length; i++)
        out[i] = fine[i] + weight[i] * other[i];
}

static void interpolate_row(int64_t length, bool add, const float *before, const float *one,
                            const float *after, const float *two, float *out)
{
    if (before && two) {
#pragma omp simd
        for (int64_t i = 0; i < length; i++)
            put(add, &out[i], before[i] * one[i] + after[i] * two[i]);
        return;
    }
    if (before)
#pragma omp simd
        for (int64_t i = 0; i < length; i++)
            put(add, &out[i], before[i] * one[i]);
    else
#pragma omp simd
        for (int64_t i = 0; i < length; i++)
            put(add, &out[i], one[i]);
}

void hs_restrict(const struct hs_coarse_step *step, int threads, const float *fine, float *coarse)
{
    const struct hs_kept *kept = &step->kept;
    const int64_t length = step->coarse.n[HS_X], stride = stride_of(step);
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < step->coarse.n[HS_Y] * step->coarse.n[HS_Z]; r++) {
        const float *before = step->before + r * length, *after = step->after + r * length;
        float *to = coarse + r * length;
        if (step->axis == HS_X) {
            restrict_along_x(step, before, after, fine + r * kept->n, to);
            continue;
        }
        int64_t base;
        const int64_t c = place_of(step, r, &base), b = kept_before(step, c);
        const float *at = fine + base + hs_kept_place(kept, c) * stride;
        restrict_row(length, at, before, hs_kept_skips(kept, c) ? at + stride : NULL,
                     after + (b - c) * stride,
                     b < 0 ? NULL : fine + base + (hs_kept_place(kept, b) + 1) * stride, to);
    }
}

void hs_interpolate(const struct hs_coarse_step *step, int threads, bool add, const float *coarse,
                    float *fine)
{
    const struct hs_kept *kept = &step->kept;
    const int64_t length = step->coarse.n[HS_X], stride = stride_of(step);
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < step->coarse.n[HS_Y] * step->coarse.n[HS_Z]; r++) {
        const float *before = step->before + r * length, *after = step->after + r * length;
        const float *from = coarse + r * length;
        if (step->axis == HS_X) {
            interpolate_along_x(step, add, before, after, from, fine + r * kept->n);
            continue;
        }
        int64_t base;
        const int64_t c = place_of(step, r, &base), next = kept_after(step, c);
        float *to = fine + base + hs_kept_place(kept, c) * stride;
        interpolate_row(length, add, NULL, from, NULL, NULL, to);
        if (hs_kept_skips(kept, c))
            interpolate_row(length, add, before, from, after,
                            next >= 0 ? from + (next - c) * stride : NULL, to + stride);
    }
}

/* ---- scales ---------------------------------------------------------------------------------- */

void hs_coarse_step_scale(struct hs_coarse_step *step, const float *scale, int threads)
{
    const int64_t *n = step->coarse.n, *f = step->fine.n;
    const int axis = step->axis;
    const int64_t stride[HS_AXES] = {1, f[HS_X], f[HS_X] * f[HS_Y]};
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            int64_t at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            const int64_t place = r * n[HS_X] + i;
            if (!hs_kept_skips(&step->kept, at[axis]))
                continue;
            at[axis] = hs_kept_place(&step->kept, at[axis]) + 1;
            const int64_t node = at[HS_X] + stride[HS_Y] * at[HS_Y] + stride[HS_Z] * at[HS_Z];
            const int64_t after =
                hs_lattice_next(&step->fine, axis, at[axis], stride[axis], 1, node);
            const float own = scale[node] > 0.0f ? 1.0f / scale[node] : 0.0f;
            step->before[place] *= own * scale[node - stride[axis]];
            step->after[place] *= after >= 0 ? own * scale[after] : 0.0f;
        }
}
