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

/*
 * A field for steps along y or z: rows of `length` contiguous nodes, which go from the fine to the
 * coarse side alike. Neighbours along the axis are `rows` rows apart; a field has `sheets` such
 * stacks of rows. Along x only `fine`, `coarse`, `kept` and `wrap` matter.
 */
struct rows {
    int64_t length, rows, sheets, fine, coarse;
    const struct hs_kept *kept;
    bool wrap;
};

static struct rows rows_of(const struct hs_coarse_step *step)
{
    const int64_t *n = step->fine.n;
    const int axis = step->axis;
    return (struct rows){.length = n[HS_X],
                         .rows = axis == HS_Z ? n[HS_Y] : 1,
                         .sheets = axis == HS_Z ? 1 : n[HS_Z],
                         .fine = n[axis],
                         .coarse = step->coarse.n[axis],
                         .kept = &step->kept,
                         .wrap = step->fine.wrap[axis]};
}

static float gather(const struct rows *rows, int64_t c, const float *before, const float *after,
                    const float *fine)
{
    const int64_t b = hs_kept_before(rows->kept, rows->wrap, c), at = hs_kept_place(rows->kept, c);
    return fine[at] + (b >= 0 ? after[b] * fine[hs_kept_place(rows->kept, b) + 1] : 0.0f) +
           (hs_kept_skips(rows->kept, c) ? before[c] * fine[at + 1] : 0.0f);
}

static void restrict_along_x(const struct rows *rows, const float *before, const float *after,
                             const float *fine, float *coarse)
{
    const struct hs_kept *kept = rows->kept;
    for (int64_t r = 0; r < kept->runs; r++) {
        const int64_t first = kept->run[r], count = kept->run[r + 1] - first;
        const float *from = fine + hs_kept_place(kept, first);
        const float *b = before + first, *a = after + first;
        float *to = coarse + first;
        to[0] = gather(rows, first, before, after, fine);
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

static void spread(const struct rows *rows, bool add, int64_t c, const float *before,
                   const float *after, const float *coarse, float *fine)
{
    const int64_t at = hs_kept_place(rows->kept, c);
    const int64_t next = c + 1 < rows->coarse ? c + 1 : rows->wrap ? 0 : -1;
    put(add, &fine[at], coarse[c]);
    if (hs_kept_skips(rows->kept, c))
        put(add, &fine[at + 1],
            before[c] * coarse[c] + (next >= 0 ? after[c] * coarse[next] : 0.0f));
}

static void interpolate_along_x(const struct rows *rows, bool add, const float *before,
                                const float *after, const float *coarse, float *fine)
{
    const struct hs_kept *kept = rows->kept;
    const int64_t last = rows->coarse - 1;
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
    spread(rows, add, last, before, after, coarse, fine);
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
    const struct rows rows = rows_of(step);
    const int64_t length = rows.length, each = rows.rows;
    const bool along_x = step->axis == HS_X;
    const int64_t count = hs_lattice_count(&step->coarse) / (along_x ? rows.coarse : length);
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < count; r++) {
        if (along_x) {
            const int64_t first = r * rows.coarse;
            restrict_along_x(&rows, step->before + first, step->after + first, fine + r * rows.fine,
                             coarse + first);
            continue;
        }
        const int64_t row = r % each, c = r / each % rows.coarse, sheet = r / each / rows.coarse;
        const int64_t b = hs_kept_before(rows.kept, rows.wrap, c);
        const float *at =
            fine + ((sheet * rows.fine + hs_kept_place(rows.kept, c)) * each + row) * length;
        const float *before =
            b < 0 ? NULL
                  : fine + ((sheet * rows.fine + hs_kept_place(rows.kept, b) + 1) * each + row) *
                               length;
        restrict_row(length, at, step->before + r * length,
                     hs_kept_skips(rows.kept, c) ? at + each * length : NULL,
                     step->after + (r + (b - c) * each) * length, before, coarse + r * length);
    }
}

void hs_interpolate(const struct hs_coarse_step *step, int threads, bool add, const float *coarse,
                    float *fine)
{
    const struct rows rows = rows_of(step);
    const int64_t length = rows.length, each = rows.rows;
    const bool along_x = step->axis == HS_X;
    const int64_t count = hs_lattice_count(&step->coarse) / (along_x ? rows.coarse : length);
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < count; r++) {
        if (along_x) {
            const int64_t first = r * rows.coarse;
            interpolate_along_x(&rows, add, step->before + first, step->after + first,
                                coarse + first, fine + r * rows.fine);
            continue;
        }
        const int64_t row = r % each, c = r / each % rows.coarse, sheet = r / each / rows.coarse;
        const int64_t next = c + 1 < rows.coarse ? c + 1 : rows.wrap ? 0 : -1;
        const float *one = coarse + r * length;
        float *to =
            fine + ((sheet * rows.fine + hs_kept_place(rows.kept, c)) * each + row) * length;
        interpolate_row(length, add, NULL, one, NULL, NULL, to);
        if (hs_kept_skips(rows.kept, c))
            interpolate_row(length, add, step->before + r * length, one, step->after + r * length,
                            next >= 0 ? one + (next - c) * each * length : NULL,
                            to + each * length);
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
