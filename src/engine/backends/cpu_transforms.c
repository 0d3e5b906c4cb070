/* Arrays on the swept nodes in host memory, their products by OpenBLAS. */
#include "core/machine.h"
#include "engine/backends/cpu_parts.h"
#include "engine/modes/openblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 16 << 20 }; /* bytes, from which memory comes in large pages */

static enum hs_status available(struct hs_error *err)
{
    const struct hs_openblas *unused;
    return hs_openblas_find(&unused, err);
}

static enum hs_status allocate(struct hs_backend_state *state, double count, double **out,
                               struct hs_error *err)
{
    (void)state;
    const double bytes = count * (double)sizeof **out;
    const struct hs_memory_free available_now = hs_machine_memory_free("");
    *out = bytes < available_now.bytes ? hs_cpu_memory_create((size_t)bytes, LARGE) : NULL;
    if (*out)
        return HS_OK;
    return hs_error_add(err, HS_DEVICE,
                        "not enough memory: the modes need %.0f bytes (%.2f GiB) beside the "
                        "fields, %s has %.0f bytes (%.2f GiB) free; take fewer grid.points, or "
                        "another method",
                        bytes, bytes / 0x1p30, available_now.whose, available_now.bytes,
                        available_now.bytes / 0x1p30);
}

static void release(struct hs_backend_state *state, double *array)
{
    (void)state;
    free(array);
}

static enum hs_status put(struct hs_backend_state *state, const double *host, int64_t count,
                          double *array, struct hs_error *err)
{
    (void)state, (void)err;
    memcpy(array, host, (size_t)count * sizeof *array);
    return HS_OK;
}

static enum hs_status get(struct hs_backend_state *state, const double *array, int64_t count,
                          double *host, struct hs_error *err)
{
    return put(state, array, count, host, err);
}

/* ---- the field ------------------------------------------------------------------------------- */

/* Where row (j, k) of swept nodes begins in a field, in elements from node (0, 0, 0). */
static int64_t row_at(const struct hs_backend_state *state, int64_t j, int64_t k)
{
    const int64_t *lo = state->interior.lo;
    return hs_layout_offset(&state->layout, lo[HS_X], lo[HS_Y] + j, lo[HS_Z] + k);
}

static enum hs_status gather(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                             double *array, struct hs_error *err)
{
    (void)err;
    const struct hs_box *box = &state->interior;
    const int64_t nx = hs_slots_all(&axes[HS_X]), ny = hs_slots_all(&axes[HS_Y]);
#pragma omp parallel for num_threads(state->team.most) schedule(static)
    for (int64_t r = 0; r < ny * hs_slots_all(&axes[HS_Z]); r++) {
        const int64_t j = hs_node_at(&axes[HS_Y], r % ny), k = hs_node_at(&axes[HS_Z], r / ny);
        for (int64_t i = 0; i < nx; i++)
            array[r * nx + i] = 0.0;
        if (j < 0 || k < 0)
            continue;
        const int64_t row = row_at(state, j, k);
        for (int64_t i = 0; i < box->hi[HS_X] - box->lo[HS_X]; i++)
            array[r * nx + hs_slot(&axes[HS_X], i)] =
                hs_read(state->problem->precision, state->now.origin, row + i);
    }
    return HS_OK;
}

static enum hs_status scatter(struct hs_backend_state *state, const struct hs_slots axes[HS_AXES],
                              const double *array, bool steps, struct hs_error *err)
{
    (void)err;
    const struct hs_box *box = &state->interior;
    const int64_t nx = box->hi[HS_X] - box->lo[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y];
    const int64_t across = hs_slots_all(&axes[HS_X]), down = hs_slots_all(&axes[HS_Y]);
    if (steps)
        hs_cpu_field_exchange(&state->now, &state->next);
    state->change_known = steps;
#pragma omp parallel for num_threads(state->team.most) schedule(static)
    for (int64_t r = 0; r < hs_box_count(box) / nx; r++) {
        const int64_t row = row_at(state, r % ny, r / ny);
        const int64_t from =
            (hs_slot(&axes[HS_Z], r / ny) * down + hs_slot(&axes[HS_Y], r % ny)) * across;
        for (int64_t i = 0; i < nx; i++)
            hs_write(state->problem->precision, state->now.origin, row + i,
                     array ? array[from + hs_slot(&axes[HS_X], i)] : 0.0);
    }
    return HS_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static enum hs_status fold(struct hs_backend_state *state, int axis,
                           const struct hs_slots axes[HS_AXES], bool back, double *array,
                           struct hs_error *err)
{
    (void)err;
    const int64_t extent[] = {hs_slots_all(&axes[HS_X]), hs_slots_all(&axes[HS_Y]),
                              hs_slots_all(&axes[HS_Z])};
    const int64_t pairs = axes[axis].nodes[1], last = pairs + axes[axis].nodes[0] - 1;
    int64_t inner, outer;
    hs_axis_others(axis, extent, &inner, &outer);
#pragma omp parallel for num_threads(state->team.most) schedule(static) collapse(2)
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < pairs; i++)
            for (int64_t k = 0; k < inner; k++)
                hs_fold(back, &array[(o * extent[axis] + i) * inner + k],
                        &array[(o * extent[axis] + hs_slot(&axes[axis], last - i)) * inner + k]);
    return HS_OK;
}

static enum hs_status product(struct hs_backend_state *state, const struct hs_axis_factor *by,
                              const int64_t extent[HS_AXES], const double *in, double *out,
                              struct hs_error *err)
{
    const struct hs_openblas *blas;
    HS_TRY(hs_openblas_find(&blas, err));
    HS_TRY(hs_openblas_use_threads(blas, state->team.most, err));
    const int64_t columns = by->columns[0] + by->columns[1], rows = by->rows[0] + by->rows[1];
    int64_t inner, outer;
    hs_axis_others(by->axis, extent, &inner, &outer);
    for (int b = 0; b < 2; b++) {
        const double *from = in + (b ? by->columns[0] : 0) * inner, *matrix = by->matrix[b];
        double *to = out + (b ? by->rows[0] : 0) * inner;
        const int m = (int)by->rows[b], k = (int)by->columns[b], pitch = (int)by->pitch[b];
        if (m > 0 && by->axis == HS_X)
            blas->cblas_dgemm(HS_BLAS_BY_ROWS, HS_BLAS_AS_IT_IS, HS_BLAS_TRANSPOSED, (int)outer, m,
                              k, 1.0, from, (int)columns, matrix, pitch, 0.0, to, (int)rows);
        else if (m > 0)
            for (int64_t o = 0; o < outer; o++)
                blas->cblas_dgemm(HS_BLAS_BY_ROWS, HS_BLAS_AS_IT_IS, HS_BLAS_AS_IT_IS, m,
                                  (int)inner, k, 1.0, matrix, pitch, from + o * columns * inner,
                                  (int)inner, 0.0, to + o * rows * inner, (int)inner);
    }
    return HS_OK;
}

static double rate_at(const struct hs_mode_filter *filter, int axis, int64_t mode)
{
    return filter->rate[axis] ? filter->rate[axis][mode] : 0.0;
}

static enum hs_status filter_modes(struct hs_backend_state *state,
                                   const struct hs_mode_filter *filter, const double *in,
                                   const double *constant, double *out, struct hs_error *err)
{
    (void)err;
    const struct hs_lasting *x = &filter->lasting[HS_X], *y = &filter->lasting[HS_Y],
                            *z = &filter->lasting[HS_Z];
    const bool all = constant != NULL;
    const int64_t nx = hs_mode_count(x, all), ny = hs_mode_count(y, all),
                  nz = hs_mode_count(z, all);
#pragma omp parallel for num_threads(state->team.most) schedule(static)
    for (int64_t r = 0; r < ny * nz; r++) {
        const struct hs_mode_index j = hs_mode_index_of(y, all, r % ny);
        const struct hs_mode_index k = hs_mode_index_of(z, all, r / ny);
        const double rest = rate_at(filter, HS_Y, j.slot) + rate_at(filter, HS_Z, k.slot);
        const int64_t row = j.lasting < 0 || k.lasting < 0
                                ? -1
                                : (k.lasting * hs_lasting_all(y) + j.lasting) * hs_lasting_all(x);
        for (int64_t n = 0; n < nx; n++) {
            const struct hs_mode_index i = hs_mode_index_of(x, all, n);
            const double rate = filter->common + (rate_at(filter, HS_X, i.slot) + rest);
            const struct hs_mode_factors f = hs_mode_factors_of(filter, rate);
            const double before = row < 0 || i.lasting < 0 ? 0.0 : in[row + i.lasting];
            out[r * nx + n] = f.kept * before + (all ? f.gained * constant[r * nx + n] : 0.0);
        }
    }
    return HS_OK;
}

static enum hs_status largest(struct hs_backend_state *state, const double *array, int64_t count,
                              double *out, struct hs_error *err)
{
    (void)err;
    double most = 0.0;
#pragma omp parallel for num_threads(state->team.most) schedule(static) reduction(max : most)
    for (int64_t n = 0; n < count; n++)
        most = fmax(most, fabs(array[n]));
    *out = most;
    return HS_OK;
}

static enum hs_status wait(struct hs_backend_state *state, struct hs_error *err)
{
    (void)state, (void)err;
    return HS_OK;
}

const struct hs_transforms hs_cpu_transforms = {
    .available = available,
    .allocate = allocate,
    .release = release,
    .put = put,
    .get = get,
    .gather = gather,
    .scatter = scatter,
    .fold = fold,
    .product = product,
    .filter = filter_modes,
    .largest = largest,
    .wait = wait,
};
