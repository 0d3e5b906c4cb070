#include "engine/multigrid/coarse_node.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL = 4096 }; /* nodes: below, starting threads costs more than it saves */

static int64_t count_of(const int64_t n[HS_AXES])
{
    return n[HS_X] * n[HS_Y] * n[HS_Z];
}

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

/* ---- a network of every second node ---------------------------------------------------------- */

static void for_each(const struct hs_coarse_work *work, const int64_t n[HS_AXES], bool coarse,
                     int threads)
{
    const int64_t rows = n[HS_Y] * n[HS_Z];
#pragma omp parallel for num_threads(threads) schedule(static) if (count_of(n) > SMALL)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < n[HS_X]; i++) {
            const int64_t at[HS_AXES] = {i, r % n[HS_Y], r / n[HS_Y]};
            if (coarse)
                hs_coarse_make_node(work, at, r * n[HS_X] + i);
            else
                hs_coarse_weigh(work, at);
        }
}

bool hs_coarsen(const struct hs_coarse_network *fine, int axis, int threads,
                struct hs_coarse_step *step, struct hs_coarse_network *coarse)
{
    const struct hs_coarse_work work = hs_coarse_work_of(fine, axis, step, coarse);
    const size_t bytes = (size_t)count_of(work.odd) * sizeof(float);
    step->before = malloc(bytes);
    step->after = malloc(bytes);
    if (!hs_coarse_network_init(coarse, &step->coarse) || !step->before || !step->after)
        return false;
    for_each(&work, work.odd, false, threads);
    for_each(&work, step->coarse.n, true, threads);
    return true;
}

/* ---- between their fields -------------------------------------------------------------------- */

/*
 * Fields as rows of `length` neighbours in memory that go from the fine to the coarse side alike:
 * one node, where the axis is x; else a row along x. `rows` lie between neighbours along the axis,
 * `sheets` are as many as such stacks of rows.
 */
struct rows {
    int64_t length, rows, sheets, fine, coarse, odd;
    bool wrap; /* the first coarse node comes after the last odd one */
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
                         .odd = n[axis] / 2,
                         .wrap = step->fine.wrap[axis] && n[axis] % 2 == 0};
}

/* Of the coarse node at place c of its row, the odd nodes before and after it; -1: none. */
static int64_t odd_before(const struct rows *rows, int64_t c)
{
    return c > 0 ? c - 1 : rows->wrap ? rows->odd - 1 : -1;
}

static int64_t odd_after(const struct rows *rows, int64_t c)
{
    return c < rows->odd ? c : -1;
}

static void restrict_along_x(const struct rows *rows, const float *before, const float *after,
                             const float *fine, float *coarse)
{
    const int64_t inner = rows->odd < rows->coarse ? rows->odd : rows->coarse;
    int64_t c = 0;
    for (int end = 0; end < 2; end++) { /* where one of the odd nodes may be missing */
        const int64_t b = odd_before(rows, c), a = odd_after(rows, c);
        coarse[c] = fine[2 * c] + (b >= 0 ? after[b] * fine[2 * b + 1] : 0.0f) +
                    (a >= 0 ? before[a] * fine[2 * a + 1] : 0.0f);
        c = rows->coarse - 1;
    }
#pragma omp simd
    for (int64_t i = 1; i < inner; i++)
        coarse[i] = fine[2 * i] + after[i - 1] * fine[2 * i - 1] + before[i] * fine[2 * i + 1];
}

/* Sets or adds. */
static inline void put(bool add, float *to, float value)
{
    *to = add ? *to + value : value;
}

static void interpolate_along_x(const struct rows *rows, bool add, const float *before,
                                const float *after, const float *coarse, float *fine)
{
    const int64_t inner = rows->odd < rows->coarse - 1 ? rows->odd : rows->coarse - 1;
#pragma omp simd
    for (int64_t i = 0; i < inner; i++) {
        put(add, &fine[2 * i], coarse[i]);
        put(add, &fine[2 * i + 1], before[i] * coarse[i] + after[i] * coarse[i + 1]);
    }
    const int64_t c = rows->coarse - 1;
    put(add, &fine[2 * c], coarse[c]);
    if (c < rows->odd)
        put(add, &fine[2 * c + 1],
            before[c] * coarse[c] + (rows->wrap ? after[c] * coarse[0] : 0.0f));
}

/* out = fine + before*f1 + after*f0, where there are such rows */
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
    for (int64_t i = 0; i < length; i++)
        out[i] = fine[i] + (other ? weight[i] * other[i] : 0.0f);
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
    for (int64_t i = 0; i < length; i++)
        put(add, &out[i], before ? before[i] * one[i] : one[i]);
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
            restrict_along_x(&rows, step->before + r * rows.odd, step->after + r * rows.odd,
                             fine + r * rows.fine, coarse + r * rows.coarse);
            continue;
        }
        const int64_t row = r % each, c = r / each % rows.coarse, sheet = r / each / rows.coarse;
        const int64_t b = odd_before(&rows, c), a = odd_after(&rows, c);
        const float *from = fine + sheet * rows.fine * each * length;
        const int64_t weights = sheet * rows.odd * each * length;
        restrict_row(length, from + (2 * c * each + row) * length,
                     step->before + weights + (a * each + row) * length,
                     a >= 0 ? from + ((2 * a + 1) * each + row) * length : NULL,
                     step->after + weights + (b * each + row) * length,
                     b >= 0 ? from + ((2 * b + 1) * each + row) * length : NULL,
                     coarse + r * length);
    }
}

void hs_interpolate(const struct hs_coarse_step *step, int threads, bool add, const float *coarse,
                    float *fine)
{
    const struct rows rows = rows_of(step);
    const int64_t length = rows.length, each = rows.rows;
    const bool along_x = step->axis == HS_X;
    const int64_t count = hs_lattice_count(&step->fine) / (along_x ? rows.fine : length);
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < count; r++) {
        if (along_x) {
            interpolate_along_x(&rows, add, step->before + r * rows.odd, step->after + r * rows.odd,
                                coarse + r * rows.coarse, fine + r * rows.fine);
            continue;
        }
        const int64_t row = r % each, f = r / each % rows.fine, sheet = r / each / rows.fine;
        const int64_t odd = f / 2, next = odd + 1 < rows.coarse ? odd + 1 : rows.wrap ? 0 : -1;
        const float *from = coarse + sheet * rows.coarse * each * length;
        const int64_t weights = ((sheet * rows.odd + odd) * each + row) * length;
        interpolate_row(length, add, f % 2 ? step->before + weights : NULL,
                        from + (odd * each + row) * length, step->after + weights,
                        f % 2 && next >= 0 ? from + (next * each + row) * length : NULL,
                        fine + r * length);
    }
}

/* ---- scales ---------------------------------------------------------------------------------- */

void hs_coarse_step_scale(struct hs_coarse_step *step, const float *scale, int threads)
{
    const int64_t *n = step->fine.n;
    const int axis = step->axis;
    const int64_t stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    int64_t odd[HS_AXES] = {n[HS_X], n[HS_Y], n[HS_Z]};
    odd[axis] = n[axis] / 2;
#pragma omp parallel for num_threads(threads) schedule(static) if (is_large(&step->fine))
    for (int64_t r = 0; r < odd[HS_Y] * odd[HS_Z]; r++)
        for (int64_t i = 0; i < odd[HS_X]; i++) {
            int64_t at[HS_AXES] = {i, r % odd[HS_Y], r / odd[HS_Y]};
            const int64_t place = r * odd[HS_X] + i;
            at[axis] = 2 * at[axis] + 1;
            const int64_t node = at[HS_X] + stride[HS_Y] * at[HS_Y] + stride[HS_Z] * at[HS_Z];
            const int64_t after =
                hs_lattice_next(&step->fine, axis, at[axis], stride[axis], 1, node);
            const float own = scale[node] > 0.0f ? 1.0f / scale[node] : 0.0f;
            step->before[place] *= own * scale[node - stride[axis]];
            step->after[place] *= after >= 0 ? own * scale[after] : 0.0f;
        }
}
