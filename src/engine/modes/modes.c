#include "engine/modes/modes.h"

#include "core/memory.h"
#include "engine/modes/eigenbasis.h"
#include "engine/modes/openblas.h"
#include "engine/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NODES = 30000, /* along an axis: LAPACK counts the bytes of its matrices in int */
    PROBES = 6,         /* modes of an axis that check a beginning */
    PAIR = 2            /* a constant, and the forcing, along the axes so far */
};

/* Roundings in a node's value, from the kernel's sum and the modes'. */
static const double roundings = 32.0;

/* The error of a sum of coefficients that should be 1, for each coefficient. */
static const double sum_rounding = 1e-15;

/* ---- what suits ------------------------------------------------------------------------------ */

static enum hs_status check_time(const struct hs_problem *problem, struct hs_error *err)
{
    if (hs_problem_own_source_varies(problem) & HS_VARIES_T)
        return hs_error_add(err, HS_BAD_INPUT,
                            "the source changes in time (%s), and a mode needs a constant one; "
                            "take \"euler\"",
                            hs_problem_place(problem, HS_PLACE_SOURCE));
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        if (hs_value_varies(&problem->face[face].data) & HS_VARIES_T)
            return hs_error_add(err, HS_BAD_INPUT,
                                "the wall %s changes in time (%s), and a mode needs a constant "
                                "one; take \"euler\"",
                                hs_face_name(face),
                                hs_problem_place(problem, (enum hs_place)(HS_PLACE_FACE + face)));
    return HS_OK;
}

static enum hs_status check_grid(const struct hs_problem *problem, struct hs_error *err)
{
    const struct hs_box box = hs_problem_interior(problem);
    if (hs_box_count(&box) == 0)
        return hs_error_add(err, HS_BAD_INPUT, "the walls hold every node; give more grid.points");
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (problem->grid.points[axis] > MOST_NODES)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%lld nodes along %c: an axis has as many modes as nodes, and %d "
                                "are the most; take \"euler\"",
                                (long long)problem->grid.points[axis], "xyz"[axis], MOST_NODES);
    return HS_OK;
}

static enum hs_status make_basis(const struct hs_axis_matrix *matrix, int axis,
                                 struct hs_eigenbasis *out, struct hs_error *err)
{
    struct hs_error reason = {0};
    enum hs_status st = hs_eigenbasis_make(matrix, out, &reason);
    if (st)
        st = hs_error_add(err, st, "along %c %s%s", "xyz"[axis], hs_error_reason(&reason),
                          st == HS_BAD_INPUT ? "; take \"euler\", which makes sweeps" : "");
    hs_error_release(&reason);
    return st;
}

/* Raw coefficients may have no modes, or bad ones; those of a diffusion have good ones. */
static enum hs_status check_raw(const struct hs_problem *problem, struct hs_error *err)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, 1.0);
    enum hs_status st = HS_OK;
    for (int axis = 0; axis < problem->grid.dims && !st; axis++) {
        const struct hs_axis_matrix matrix = hs_axis_matrix_of(problem, &stencil, axis);
        struct hs_eigenbasis basis;
        st = make_basis(&matrix, axis, &basis, err);
        hs_eigenbasis_release(&basis);
    }
    return st;
}

enum hs_status hs_modes_suit(const struct hs_problem *problem, struct hs_error *err)
{
    const struct hs_openblas *unused;
    if (problem->body)
        return hs_error_add(
            err, HS_BAD_INPUT,
            "it can do only one material on equal cells, without patches and without a file, a "
            "table or an expression of h at a wall; take time.method \"euler\", \"rkl2\" or "
            "\"implicit\", or steady.method \"multigrid\"");
    HS_TRY(check_time(problem, err));
    HS_TRY(check_grid(problem, err));
    HS_TRY(hs_openblas_find(&unused, err));
    return problem->raw ? check_raw(problem, err) : HS_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void find_slots(const struct hs_problem *problem, struct hs_slots out[HS_AXES])
{
    const struct hs_box box = hs_problem_interior(problem);
    const struct hs_stencil stencil = hs_problem_stencil(problem, 1.0);
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool swept = axis < problem->grid.dims;
        const struct hs_axis_matrix matrix =
            swept ? hs_axis_matrix_of(problem, &stencil, axis) : (struct hs_axis_matrix){0};
        out[axis] =
            hs_slots_of(box.hi[axis] - box.lo[axis], swept ? hs_eigenbasis_even(&matrix) : 0);
    }
}

/* Elements of an axis' vectors. */
static int64_t size_of(const struct hs_slots *axis)
{
    return hs_eigenbasis_size(hs_slots_all(axis), axis->slots[0]);
}

static double doubles_of(int dims, const struct hs_slots axes[HS_AXES])
{
    double count = 4.0, beside = PAIR;
    for (int axis = 0; axis < HS_AXES; axis++)
        count *= (double)hs_slots_all(&axes[axis]);
    for (int axis = 0; axis < dims; axis++)
        beside += 2.0 * (double)size_of(&axes[axis]) +
                  (double)hs_slots_all(&axes[axis]) * (1.0 + PROBES + PAIR * PAIR);
    return count + beside;
}

double hs_modes_memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    (void)backend;
    struct hs_slots axes[HS_AXES];
    find_slots(problem, axes);
    return (double)sizeof(double) * doubles_of(problem->grid.dims, axes);
}

static void lay_out(struct hs_modes *modes)
{
    double *next = modes->memory;
    double **const fields[] = {&modes->initial, &modes->forcing, &modes->work[0], &modes->work[1]};
    for (int n = 0; n < 4; n++, next += modes->count)
        *fields[n] = next;
    for (int axis = 0; axis < modes->problem->grid.dims; axis++) {
        const int64_t n = modes->extent[axis], size = size_of(&modes->axis[axis]);
        modes->vector[axis] = next;
        modes->inverse[axis] = next + size;
        modes->rate[axis] = next + 2 * size;
        modes->pair[axis] = next + 2 * size + n;
        next += 2 * size + n * (1 + PAIR * PAIR);
    }
    modes->no_pair = next;
    next += PAIR;
    for (int axis = 0; axis < modes->problem->grid.dims; next += PROBES * modes->extent[axis++])
        modes->probe[axis] = next;
}

enum hs_status hs_modes_create(size_t size, const struct hs_problem *problem,
                               const struct hs_backend *backend, struct hs_backend_state *state,
                               struct hs_method_state **out, struct hs_error *err)
{
    struct hs_modes *modes = hs_new(size);
    *out = (void *)modes;
    *modes = (struct hs_modes){.problem = problem, .backend = backend, .state = state};
    find_slots(problem, modes->axis);
    modes->count = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        modes->extent[axis] = hs_slots_all(&modes->axis[axis]);
        memcpy(modes->all[axis].count, modes->axis[axis].slots, sizeof modes->all[axis].count);
        modes->count *= modes->extent[axis];
    }
    enum hs_status st = backend->transforms->available(err);
    if (!st)
        st = backend->transforms->allocate(state, doubles_of(problem->grid.dims, modes->axis),
                                           &modes->memory, err);
    if (!st) {
        lay_out(modes);
        return HS_OK;
    }
    hs_modes_destroy(*out);
    *out = NULL;
    return st;
}

void hs_modes_destroy(struct hs_method_state *self)
{
    struct hs_modes *modes = (void *)self;
    if (modes)
        modes->backend->transforms->release(modes->state, modes->memory);
    free(modes);
}

/* ---- to modes and back ----------------------------------------------------------------------- */

/* Folds along each mirrored axis, or unfolds. */
static enum hs_status fold(struct hs_modes *modes, bool back, double *array, struct hs_error *err)
{
    for (int axis = 0; axis < modes->problem->grid.dims; axis++)
        if (modes->axis[axis].nodes[0] > 0)
            HS_TRY(modes->backend->transforms->fold(modes->state, axis, modes->axis, back, array,
                                                    err));
    return HS_OK;
}

/* An axis' nodes to some of its modes, or back. */
static struct hs_axis_factor factor_of(const struct hs_modes *modes, int axis,
                                       const struct hs_lasting *lasting, bool back)
{
    struct hs_axis_factor out = {.axis = axis};
    const double *square = back ? modes->vector[axis] : modes->inverse[axis];
    for (int group = 0; group < 2; group++) {
        const int64_t slots = modes->axis[axis].slots[group];
        out.rows[group] = back ? slots : lasting->count[group];
        out.columns[group] = back ? lasting->count[group] : slots;
        out.pitch[group] = slots;
        out.matrix[group] = square + lasting->first[group] * (back ? 1 : slots);
        square += slots * slots;
    }
    return out;
}

/* Folded nodes to these modes or back, axis by axis: `in` to `out`; `in` and `other` are work
 * space. */
static enum hs_status transform(struct hs_modes *modes, const struct hs_lasting lasting[HS_AXES],
                                bool back, double *in, double *other, double *out,
                                struct hs_error *err)
{
    double *here = in, *there = other;
    const int dims = modes->problem->grid.dims;
    int64_t extent[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        extent[axis] = back ? hs_lasting_all(&lasting[axis]) : modes->extent[axis];
    for (int axis = 0; axis < dims; axis++) {
        const struct hs_axis_factor by = factor_of(modes, axis, &lasting[axis], back);
        double *to = axis == dims - 1 ? out : there;
        HS_TRY(modes->backend->transforms->product(modes->state, &by, extent, here, to, err));
        extent[axis] = by.rows[0] + by.rows[1];
        there = here;
        here = to;
    }
    return HS_OK;
}

/* From nodes to modes, likewise. */
static enum hs_status transform_forth(struct hs_modes *modes,
                                      const struct hs_lasting lasting[HS_AXES], double *in,
                                      double *other, double *out, struct hs_error *err)
{
    HS_TRY(fold(modes, false, in, err));
    return transform(modes, lasting, false, in, other, out, err);
}

/* One block of `rows` rows, each of an axis' `columns`. */
static struct hs_axis_factor one_block(int axis, int64_t rows, int64_t columns,
                                       const double *matrix)
{
    return (struct hs_axis_factor){axis, {rows}, {columns}, {columns}, {matrix}};
}

/* ---- the axes' modes ------------------------------------------------------------------------- */

/* For some modes of each axis: the row sum of |inverse|, which bounds amplitudes, the rate, and
 * where the forcing is a sum, the amplitudes of a constant and of the forcing. */
struct probes {
    int count[HS_AXES];
    double row_sum[HS_AXES][PROBES], rate[HS_AXES][PROBES];
    double constant[HS_AXES][PROBES], forcing[HS_AXES][PROBES];
};

/* The p-th of `count` modes, spread evenly over `modes` of them from `first` on. */
static int64_t spread(int64_t first, int64_t modes, int count, int p)
{
    return first + (count > 1 ? (modes - 1) * p / (count - 1) : 0);
}

/* An axis' modes are ordered by rate, on a mirrored axis the even and the odd ones separately. So
 * the slowest and the fastest are among those probed. */
static int64_t probed_mode(const struct hs_eigenbasis *basis, int count, int p)
{
    const int half = (count + 1) / 2;
    if (basis->even == 0)
        return spread(0, basis->count, count, p);
    return p < half ? spread(0, basis->even, half, p)
                    : spread(basis->even, basis->count - basis->even, count - half, p - half);
}

static enum hs_status put_probes(struct hs_modes *modes, int axis,
                                 const struct hs_eigenbasis *basis, struct probes *probes,
                                 struct hs_error *err)
{
    const struct hs_slots *slots = &modes->axis[axis];
    const int64_t n = basis->count, all = modes->extent[axis];
    const int count = n < PROBES ? (int)n : PROBES;
    double *row = hs_new((size_t)all * sizeof *row);
    enum hs_status st = HS_OK;
    probes->count[axis] = count;
    for (int p = 0; p < count && !st; p++) {
        const int64_t mode = probed_mode(basis, count, p);
        probes->rate[axis][p] = basis->rate[mode];
        probes->row_sum[axis][p] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double value = hs_eigenbasis_inverse(basis, mode, i);
            row[hs_slot(slots, i)] = value;
            probes->row_sum[axis][p] += fabs(value);
        }
        st = modes->backend->transforms->put(modes->state, row, all, modes->probe[axis] + p * all,
                                             err);
    }
    free(row);
    return st;
}

static void note_slow(struct hs_modes *modes, int axis, const struct hs_eigenbasis *basis)
{
    double largest = 0.0;
    for (int64_t node = 0; node < basis->count; node++)
        if (fabs(hs_eigenbasis_vector(basis, node, basis->slow)) > fabs(largest))
            largest = hs_eigenbasis_vector(basis, node, basis->slow);
    modes->slow[axis] = basis->slow;
    modes->slow_largest *= largest;
    modes->slow_rate += basis->rate[basis->slow];
    modes->slow_off += basis->slow_off;
    modes->slow_mixed = fmax(modes->slow_mixed, basis->slow_mixed);
    modes->is_free = modes->is_free && basis->slow_stays;
}

static enum hs_status put_squares(struct hs_modes *modes, const struct hs_slots *axis,
                                  const double *in, double *out, struct hs_error *err)
{
    const int64_t size = size_of(axis);
    double *slots = hs_new((size_t)size * sizeof *slots), *square = slots;
    for (int group = 0; group < 2; group++) {
        const int64_t n = axis->nodes[group], pitch = axis->slots[group];
        for (int64_t row = 0; row < n; row++)
            memcpy(square + row * pitch, in + row * n, (size_t)n * sizeof *in);
        square += pitch * pitch;
        in += n * n;
    }
    const enum hs_status st = modes->backend->transforms->put(modes->state, slots, size, out, err);
    free(slots);
    return st;
}

/* A slot without a mode has the rate of some mode, so that only factors of modes occur. */
static enum hs_status put_rates(struct hs_modes *modes, int axis, const double *rate,
                                struct hs_error *err)
{
    const int64_t all = modes->extent[axis];
    double *slots = hs_new((size_t)all * sizeof *slots);
    for (int64_t slot = 0; slot < all; slot++) {
        const int64_t mode = hs_node_at(&modes->axis[axis], slot);
        slots[slot] = rate[mode < 0 ? 0 : mode];
    }
    const enum hs_status st =
        modes->backend->transforms->put(modes->state, slots, all, modes->rate[axis], err);
    free(slots);
    return st;
}

/* For the axes so far, a are the modes of a constant and b those of the forcing. With this axis
 * they become a * constant and a * forcing + b * constant. */
static enum hs_status put_pair(struct hs_modes *modes, const struct hs_span *span, int axis,
                               const struct hs_axis_matrix *matrix,
                               const struct hs_eigenbasis *basis, struct probes *probes,
                               struct hs_error *err)
{
    const int64_t n = basis->count, all = modes->extent[axis];
    double *constant = hs_new((size_t)(3 * n + PAIR * PAIR * all) * sizeof *constant);
    double *forcing = constant + n, *along = forcing + n, *pair = along + n, largest = 0.0;
    for (int64_t i = 0; i < n; i++)
        along[i] = 1.0;
    hs_eigenbasis_project(basis, along, constant);
    hs_axis_matrix_forcing(matrix, modes->problem, span->step, axis, along);
    hs_eigenbasis_project(basis, along, forcing);
    for (int64_t mode = 0; mode < n; mode++) {
        const int64_t slot = hs_slot(&modes->axis[axis], mode);
        pair[PAIR * slot] = pair[PAIR * (all + slot) + 1] = constant[mode];
        pair[PAIR * (all + slot)] = forcing[mode];
        largest = fmax(largest, fabs(along[mode]));
    }
    for (int p = 0; p < probes->count[axis]; p++) {
        probes->constant[axis][p] = constant[probed_mode(basis, probes->count[axis], p)];
        probes->forcing[axis][p] = forcing[probed_mode(basis, probes->count[axis], p)];
    }
    modes->largest_forcing += largest;
    const enum hs_status st = modes->backend->transforms->put(modes->state, pair, PAIR * PAIR * all,
                                                              modes->pair[axis], err);
    free(constant);
    return st;
}

/* The part common to all rates: the sum of the coefficients less 1, which the axes' matrices leave
 * out. */
static double common_rate(const struct hs_stencil *stencil)
{
    long double sum = -1.0L;
    const int count = hs_stencil_count(stencil->dims, stencil->radius);
    for (int n = 0; n < count; n++)
        sum += stencil->c[n];
    return (double)sum;
}

/* The same, or 0 where it is only rounding of a diffusion that goes on in time or without end. */
static double common_for(const struct hs_modes *modes, enum hs_mode_rule rule)
{
    const struct hs_stencil *stencil = &modes->op.stencil;
    const double least = sum_rounding * hs_stencil_count(stencil->dims, stencil->radius);
    return rule != HS_MODE_STEPS && fabs(modes->common) < least ? 0.0 : modes->common;
}

/* Leaves out modes of which nothing is left whatever the other axes' modes. */
static void find_lasting(struct hs_modes *modes, enum hs_mode_rule rule, double amount,
                         const struct hs_eigenbasis *const basis[HS_AXES])
{
    const int dims = modes->problem->grid.dims;
    double least = common_for(modes, rule), most = least, ends[HS_AXES][2];
    for (int axis = 0; axis < dims; axis++) {
        const double *rate = basis[axis]->rate;
        ends[axis][0] = ends[axis][1] = rate[0];
        for (int64_t mode = 1; mode < basis[axis]->count; mode++) {
            ends[axis][0] = fmin(ends[axis][0], rate[mode]);
            ends[axis][1] = fmax(ends[axis][1], rate[mode]);
        }
        least += ends[axis][0];
        most += ends[axis][1];
    }
    for (int axis = 0; axis < HS_AXES; axis++)
        for (int group = 0; group < 2; group++) {
            const struct hs_slots *slots = &modes->axis[axis];
            const int64_t last = slots->nodes[group] - 1;
            int64_t slot = 0;
            for (; axis < dims && slot < last; slot++) {
                const double rate = basis[axis]->rate[(group ? slots->nodes[0] : 0) + slot];
                if (!hs_mode_is_gone(rule, amount, rate + least - ends[axis][0]) ||
                    !hs_mode_is_gone(rule, amount, rate + most - ends[axis][1]))
                    break;
            }
            slot -= slot % HS_SLOTS;
            modes->lasting[axis].first[group] = slot;
            modes->lasting[axis].count[group] = slots->slots[group] - slot;
        }
}

/* The bases of all axes; axes that are alike share one. */
static enum hs_status make_bases(struct hs_modes *modes, const struct hs_span *span,
                                 enum hs_mode_rule rule, double amount, struct probes *probes,
                                 struct hs_error *err)
{
    const struct hs_problem *problem = modes->problem;
    const struct hs_stencil *stencil = &modes->op.stencil;
    struct hs_axis_matrix matrix[HS_AXES];
    struct hs_eigenbasis own[HS_AXES] = {{0}};
    const struct hs_eigenbasis *basis[HS_AXES] = {NULL};
    enum hs_status st = HS_OK;
    for (int axis = 0; axis < problem->grid.dims && !st; axis++) {
        int of = 0;
        matrix[axis] = hs_axis_matrix_of(problem, stencil, axis);
        while (!hs_axis_matrix_same(&matrix[of], &matrix[axis]))
            of++;
        basis[axis] = &own[of];
        if (of == axis)
            st = make_basis(&matrix[axis], axis, &own[axis], err);
        const struct hs_slots *slots = &modes->axis[axis];
        if (!st)
            st = put_squares(modes, slots, own[of].vector, modes->vector[axis], err);
        if (!st)
            st = put_squares(modes, slots, own[of].inverse, modes->inverse[axis], err);
        if (!st)
            st = put_rates(modes, axis, own[of].rate, err);
        if (!st)
            st = put_probes(modes, axis, &own[of], probes, err);
        if (!st && modes->is_sum)
            st = put_pair(modes, span, axis, &matrix[axis], &own[of], probes, err);
        if (!st)
            note_slow(modes, axis, &own[of]);
    }
    if (!st)
        find_lasting(modes, rule, amount, basis);
    for (int axis = 0; axis < HS_AXES; axis++)
        hs_eigenbasis_release(&own[axis]);
    return st;
}

/* Whether the forcing is a sum of one vector per axis: source and walls' data do not vary, and no
 * wall keeps the initial field. */
static bool is_forcing_a_sum(const struct hs_problem *problem)
{
    const struct hs_field *source = &problem->source.field;
    bool sum = !hs_field_is_numbers(source) && !hs_value_varies(&source->value);
    for (int n = 0; n < 2 * problem->grid.dims; n++) {
        const struct hs_face *face = &problem->face[n];
        sum = sum && !hs_value_varies(&face->data) && (face->held == 0 || face->prescribed);
    }
    return sum;
}

/* ---- to begin -------------------------------------------------------------------------------- */

enum { PROBED = PROBES * PROBES * PROBES };

/* The amplitudes of the probed modes in an array, in order; `a` and `b` are work space. */
static enum hs_status probe(struct hs_modes *modes, const struct probes *probes, const double *in,
                            double *a, double *b, double out[PROBED], struct hs_error *err)
{
    const struct hs_transforms *transforms = modes->backend->transforms;
    int64_t extent[HS_AXES], count = 1;
    memcpy(extent, modes->extent, sizeof extent);
    for (int axis = modes->problem->grid.dims - 1; axis >= 0; axis--) {
        double *to = in == a ? b : a;
        const struct hs_axis_factor by =
            one_block(axis, probes->count[axis], extent[axis], modes->probe[axis]);
        HS_TRY(transforms->product(modes->state, &by, extent, in, to, err));
        extent[axis] = probes->count[axis];
        count *= extent[axis];
        in = to;
    }
    return transforms->get(modes->state, in, count, out, err);
}

/* To check a beginning: some modes of a field, of its sweep, and of a sweep of zeros. */
struct trial {
    struct probes probes;
    double field[PROBED], swept[PROBED], forcing[PROBED];
    double largest; /* K: the largest of each of the three, added up */
};

/* How far a mode is off, and how far rounding alone may bring it. */
static void judge_mode(const struct hs_modes *modes, const struct trial *trial, int n, double *off,
                       double *may)
{
    const int *count = trial->probes.count;
    double rate = modes->common, size = 1.0;
    for (int axis = 0, rest = n; axis < modes->problem->grid.dims; axis++) {
        rate += trial->probes.rate[axis][rest % count[axis]];
        size *= trial->probes.row_sum[axis][rest % count[axis]];
        rest /= count[axis];
    }
    const double rounding = hs_precision_epsilon(modes->problem->precision);
    *off = fabs(trial->swept[n] - (trial->field[n] + rate * trial->field[n] + trial->forcing[n]));
    *may = roundings * rounding * size * trial->largest;
}

static enum hs_status judge(const struct hs_modes *modes, const struct trial *trial,
                            struct hs_error *err)
{
    int count = 1;
    for (int axis = 0; axis < modes->problem->grid.dims; axis++)
        count *= trial->probes.count[axis];
    for (int n = 0; n < count; n++) {
        double off, may;
        judge_mode(modes, trial, n, &off, &may);
        if (off > may)
            return hs_error_add(err, HS_FAILED_CHECK,
                                "a sweep is not what its modes say: one of them is off by %.3g, of "
                                "which rounding explains %.3g; the library of matrix products or "
                                "this program is at fault, so take \"euler\"",
                                off, may);
    }
    return HS_OK;
}

/* Sweeps the backend's field, or zeros in its place, once; `out` gets the swept nodes. */
static enum hs_status sweep_once(struct hs_modes *modes, const struct hs_span *span, double *out,
                                 struct hs_error *err)
{
    struct hs_span once = *span;
    once.count = 1;
    once.keep_last = true;
    once.keep_before = false;
    HS_TRY(modes->backend->sweep(modes->state, &once, err));
    return modes->backend->transforms->gather(modes->state, modes->axis, out, err);
}

/* Leaves the field in work[0]. */
static enum hs_status sweep_field(struct hs_modes *modes, const struct hs_span *span,
                                  struct trial *trial, struct hs_error *err)
{
    const struct hs_transforms *transforms = modes->backend->transforms;
    struct hs_backend_state *state = modes->state;
    double *field = modes->work[0], *swept = modes->work[1];
    double *a = modes->initial, *b = modes->forcing;
    struct hs_reduction reduction;
    HS_TRY(transforms->gather(state, modes->axis, field, err));
    HS_TRY(transforms->largest(state, field, modes->count, &modes->largest, err));
    HS_TRY(probe(modes, &trial->probes, field, a, b, trial->field, err));
    HS_TRY(sweep_once(modes, span, swept, err));
    HS_TRY(hs_reduce(modes->backend, state, modes->problem, &reduction, err));
    HS_TRY(probe(modes, &trial->probes, swept, a, b, trial->swept, err));
    modes->not_finite = reduction.not_finite;
    modes->change = reduction.change;
    trial->largest = modes->largest + fmax(fabs(reduction.min), fabs(reduction.max));
    return HS_OK;
}

static void probe_sum(const struct hs_modes *modes, const struct probes *probes, double *out)
{
    const int *count = probes->count, dims = modes->problem->grid.dims;
    const int all = count[HS_X] * (dims > 1 ? count[HS_Y] : 1) * (dims > 2 ? count[HS_Z] : 1);
    for (int n = 0; n < all; n++) {
        double constant = 1.0;
        out[n] = 0.0;
        for (int axis = 0, rest = n; axis < dims; rest /= count[axis++]) {
            const int p = rest % count[axis];
            out[n] = constant * probes->forcing[axis][p] + out[n] * probes->constant[axis][p];
            constant *= probes->constant[axis][p];
        }
    }
}

/* Leaves the forcing in work[1], unless it is a sum. */
static enum hs_status find_forcing(struct hs_modes *modes, const struct hs_span *span,
                                   struct trial *trial, struct hs_error *err)
{
    const struct hs_transforms *transforms = modes->backend->transforms;
    double *forcing = modes->work[1];
    if (modes->is_sum) {
        probe_sum(modes, &trial->probes, trial->forcing);
    } else {
        HS_TRY(transforms->scatter(modes->state, modes->axis, NULL, false, err));
        HS_TRY(sweep_once(modes, span, forcing, err));
        HS_TRY(
            transforms->largest(modes->state, forcing, modes->count, &modes->largest_forcing, err));
        HS_TRY(probe(modes, &trial->probes, forcing, modes->initial, modes->forcing, trial->forcing,
                     err));
    }
    trial->largest += modes->largest_forcing;
    return HS_OK;
}

/* The modes of a forcing that is a sum, axis by axis. */
static enum hs_status transform_sum(struct hs_modes *modes, struct hs_error *err)
{
    const int dims = modes->problem->grid.dims;
    const double none[PAIR] = {1.0, 0.0};
    int64_t extent[HS_AXES] = {1, 1, 1};
    double *in = modes->no_pair;
    HS_TRY(modes->backend->transforms->put(modes->state, none, PAIR, in, err));
    for (int axis = 0; axis < dims; axis++) {
        const int64_t n = modes->extent[axis];
        const bool last = axis == dims - 1; /* the constant's modes are not needed */
        const struct hs_axis_factor by =
            one_block(axis, last ? n : PAIR * n, PAIR, modes->pair[axis] + (last ? PAIR * n : 0));
        double *out = last ? modes->forcing : axis == HS_X ? modes->probe[HS_X] : modes->work[0];
        extent[axis] = PAIR;
        HS_TRY(modes->backend->transforms->product(modes->state, &by, extent, in, out, err));
        extent[axis] = n;
        in = out;
    }
    return HS_OK;
}

enum hs_status hs_modes_begin(struct hs_modes *modes, const struct hs_span *span,
                              enum hs_mode_rule rule, double amount, struct hs_error *err)
{
    struct trial trial;
    modes->op = span->op;
    modes->common = common_rate(&span->op.stencil);
    modes->largest_forcing = modes->slow_rate = modes->slow_off = modes->slow_mixed = 0.0;
    modes->is_free = true;
    modes->slow_largest = 1.0;
    modes->is_sum = is_forcing_a_sum(modes->problem);
    enum hs_status st = make_bases(modes, span, rule, amount, &trial.probes, err);
    if (!st)
        st = sweep_field(modes, span, &trial, err);
    if (!st)
        st = find_forcing(modes, span, &trial, err);
    if (!st)
        st = modes->backend->transforms->scatter(modes->state, modes->axis, modes->work[0], false,
                                                 err);
    if (!st && modes->not_finite == 0) /* else the loop says where and why */
        st = judge(modes, &trial, err);
    double *const *work = modes->work;
    if (!st)
        st = transform_forth(modes, modes->lasting, work[0], modes->forcing, modes->initial, err);
    if (!st && modes->largest_forcing > 0.0)
        st = modes->is_sum
                 ? transform_sum(modes, err)
                 : transform_forth(modes, modes->all, work[1], work[0], modes->forcing, err);
    return st;
}

/* ---- what becomes of them -------------------------------------------------------------------- */

enum hs_status hs_modes_put(struct hs_modes *modes, struct hs_mode_filter becomes, bool steps,
                            struct hs_error *err)
{
    const struct hs_transforms *transforms = modes->backend->transforms;
    becomes.common = common_for(modes, becomes.rule);
    for (int axis = 0; axis < HS_AXES; axis++) {
        becomes.rate[axis] = modes->rate[axis];
        becomes.lasting[axis] = modes->lasting[axis];
    }
    double *const *work = modes->work;
    double *out = modes->problem->grid.dims % 2 ? work[1] : work[0];
    const double *forcing = modes->largest_forcing > 0.0 ? modes->forcing : NULL;
    HS_TRY(transforms->filter(modes->state, &becomes, modes->initial, forcing, work[0], err));
    HS_TRY(
        transform(modes, forcing ? modes->all : modes->lasting, true, work[0], work[1], out, err));
    HS_TRY(fold(modes, true, out, err));
    HS_TRY(transforms->scatter(modes->state, modes->axis, out, steps, err));
    return transforms->wait(modes->state, err);
}

enum hs_status hs_modes_drift(struct hs_modes *modes, double *out, struct hs_error *err)
{
    const double *place = modes->forcing;
    *out = 0.0;
    if (modes->largest_forcing == 0.0)
        return HS_OK;
    for (int64_t axis = 0, apart = 1; axis < HS_AXES; apart *= modes->extent[axis++])
        place += apart * hs_slot(&modes->axis[axis], modes->slow[axis]);
    const enum hs_status st = modes->backend->transforms->get(modes->state, place, 1, out, err);
    *out *= modes->slow_largest;
    return st;
}

bool hs_modes_have_still(const struct hs_modes *modes)
{
    return modes->is_free && common_for(modes, HS_MODE_STEADY) == 0.0;
}

double hs_modes_doubt(const struct hs_modes *modes)
{
    const double rate = modes->slow_rate + common_for(modes, HS_MODE_STEADY);
    if (hs_modes_have_still(modes))
        return 0.0;
    return rate == 0.0 ? INFINITY : fmax(modes->slow_mixed, modes->slow_off / fabs(rate));
}

struct hs_span hs_modes_sweep(const struct hs_problem *problem)
{
    struct hs_span span = {.count = 1, .step = 0.5 * hs_stability_limit(problem)};
    span.op.stencil = hs_stencil_of_diffusion(&problem->grid, problem->radius,
                                              problem->material.diffusivity, span.step);
    return span;
}
