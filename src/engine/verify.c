#include "engine/verify.h"

#include "core/memory.h"
#include "engine/loop.h"
#include "engine/make_plan.h"
#include "engine/network/of_problem.h"
#include "engine/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- against the reference ----------------------------------------------------------------- */

/* Point updates that the reference, a scalar loop, makes in some seconds. */
static const double reference_updates = 5e8;

/* Those that a kernel makes in a second or two. */
static const double kernel_updates = 2e9;

/* Cost of starting a sweep, in points. */
static const double points_of_a_start = 5000.0;

int64_t hs_verify_sweeps(const struct hs_problem *problem, const struct hs_plan *plan, bool power)
{
    const double sweep = (double)hs_grid_count(&problem->grid) + points_of_a_start;
    const double most = fmax(ceil((power ? kernel_updates : reference_updates) / sweep), 10.0);
    return (double)plan->sweeps < most ? plan->sweeps : (int64_t)most;
}

/* Maps numbers to integers in the order of the reals, so that neighbours differ by 1. */
static int64_t ordinal(enum hs_precision precision, const void *field, int64_t n)
{
    if (precision == HS_FLOAT) {
        int32_t bits;
        memcpy(&bits, (const float *)field + n, sizeof bits);
        return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
    }
    int64_t bits;
    memcpy(&bits, (const double *)field + n, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static void compare(const struct hs_problem *problem, const void *field, const void *reference,
                    struct hs_comparison *out)
{
    const enum hs_precision precision = problem->precision;
    out->nodes = hs_grid_count(&problem->grid);
    out->value = hs_read(precision, field, 0);
    out->reference = hs_read(precision, reference, 0);
    for (int64_t n = 0; n < out->nodes; n++) {
        const int64_t a = ordinal(precision, field, n), b = ordinal(precision, reference, n);
        if (a == b)
            continue;
        const uint64_t ulps = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
        const double T = hs_read(precision, field, n);
        const double R = hs_read(precision, reference, n);
        out->differing++;
        out->max_abs = fmax(out->max_abs, fabs(T - R));
        out->max_relative = fmax(out->max_relative, fabs(T - R) / fmax(fabs(T), fabs(R)));
        if (ulps > out->max_ulps) {
            out->max_ulps = ulps;
            out->value = T;
            out->reference = R;
            hs_grid_node(&problem->grid, n, out->worst);
        }
    }
}

/* Some sixteen looks for the largest |T|. */
static int64_t taker_next(void *self, int64_t sweep)
{
    const struct hs_reference *taken = self;
    const int64_t every = taken->sweeps / 16 + 1;
    return (sweep / every + 1) * every;
}

/* Takes the last field of a run, and records the largest |T| on the way to it. */
static enum hs_status taker_notify(void *self, const struct hs_step_state *step_state,
                                   struct hs_error *err)
{
    struct hs_reference *taken = self;
    const struct hs_reduction *reduction;
    HS_TRY(hs_step_state_reduction(step_state, &reduction, err));
    taken->largest = fmax(taken->largest, fmax(fabs(reduction->min), fabs(reduction->max)));
    if (step_state->phase != HS_PHASE_END)
        return HS_OK;
    const struct hs_problem *problem = step_state->problem;
    const struct hs_box box = hs_grid_box(&problem->grid);
    const size_t bytes = (size_t)hs_box_count(&box) * hs_precision_size(problem->precision);
    taken->field = malloc(bytes);
    return taken->field ? hs_step_state_box(step_state, false, &box, taken->field, err)
                        : hs_error_add(err, HS_DEVICE,
                                       "no memory for a copy of the field (%zu bytes)", bytes);
}

/* Runs the plan by the method for out->sweeps sweeps, even if the field becomes steady. */
static enum hs_status run_to(const struct hs_problem *problem, const struct hs_plan *plan,
                             const struct hs_method *method, struct hs_reference *out,
                             struct hs_error *err)
{
    struct hs_problem same = *problem; /* shares what it points to; not to be released */
    same.schedule.steady = false;
    struct hs_plan shorter = *plan;
    shorter.method = method;
    shorter.steady_method = NULL;
    shorter.sweeps = out->sweeps;
    shorter.end = hs_plan_time(plan, out->sweeps);
    struct hs_observer observer = {
        .name = "taker", .self = out, .next = taker_next, .notify = taker_notify};
    struct hs_observer *const observers[] = {&observer};
    struct hs_loop_result result;
    return hs_loop_run(&same, &shorter, NULL, observers, 1, NULL, &result, err);
}

/* Whether the backend evaluates expressions with other functions than the host's. */
static bool has_device_functions(const struct hs_problem *problem, const struct hs_plan *plan)
{
    if (plan->backend->device == HS_CPU)
        return false;
    unsigned varies = problem->source.present ? hs_value_varies(&problem->source.field.value) : 0;
    for (int f = 0; f < 2 * problem->grid.dims; f++)
        varies |= hs_value_varies(&problem->face[f].data);
    return varies & HS_VARIES_SPACE;
}

/* Rounding of one sweep as a share of max|T|: half an epsilon for each term. */
static double rounding_of_sweep(const struct hs_problem *problem, const struct hs_plan *plan)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, hs_plan_step(plan));
    const int terms = hs_stencil_count(stencil.dims, stencil.radius);
    double weight = 0.0;
    for (int i = 0; i < terms; i++)
        weight += fabs(stencil.c[i]);
    return (terms + 2) * 0.5 * hs_precision_epsilon(problem->precision) * weight;
}

static double bound_of(const struct hs_problem *problem, const struct hs_plan *plan,
                       const struct hs_comparison *comparison)
{
    double share = comparison->device_functions ? 16.0 * 0x1p-53 : 0.0; /* of max|T|, a sweep */
    if (problem->precision == HS_FLOAT)
        share += rounding_of_sweep(problem, plan);
    return (double)comparison->sweeps * share * comparison->largest;
}

enum hs_status hs_verify_reference(const struct hs_problem *problem, const struct hs_plan *plan,
                                   int64_t sweeps, struct hs_reference *out, struct hs_error *err)
{
    *out = (struct hs_reference){.sweeps = sweeps};
    struct hs_plan reference = *plan;
    reference.backend = hs_backend_of(HS_CPU);
    HS_TRY(hs_kernel_find("reference", HS_CPU, &reference.kernel, err));
    return run_to(problem, &reference, hs_methods[0], out, err);
}

void hs_verify_reference_release(struct hs_reference *reference)
{
    free(reference->field);
    reference->field = NULL;
}

enum hs_status hs_verify_compare(const struct hs_problem *problem, const struct hs_plan *plan,
                                 const struct hs_reference *reference, struct hs_comparison *out,
                                 struct hs_error *err)
{
    *out = (struct hs_comparison){.sweeps = reference->sweeps};
    struct hs_reference found = {.sweeps = reference->sweeps};
    const enum hs_status st = run_to(problem, plan, hs_methods[0], &found, err);
    if (found.field && !st)
        compare(problem, found.field, reference->field, out);
    free(found.field);
    out->largest = fmax(reference->largest, found.largest);
    out->device_functions = has_device_functions(problem, plan);
    out->bound = bound_of(problem, plan, out);
    return st;
}

/* ---- against the power of a sweep ---------------------------------------------------------- */

/* The method by modes; NULL if it cannot do the problem, with the reason in `lacking`, but without
 * the advice to take another method, which does not apply to sweeps. */
static const struct hs_method *find_modes(const struct hs_problem *problem, char *lacking,
                                          size_t size)
{
    const struct hs_method *found = hs_method_named("spectral");
    struct hs_error reason = {0};
    if (found->suits(problem, &reason)) {
        snprintf(lacking, size, "%s", hs_error_reason(&reason));
        char *advice = strstr(lacking, "; take ");
        if (advice)
            *advice = '\0';
        found = NULL;
    }
    hs_error_release(&reason);
    return found;
}

static double bound_of_power(const struct hs_problem *problem, const struct hs_plan *plan,
                             const struct hs_comparison *comparison)
{
    const double modes = problem->precision == HS_FLOAT ? 16.0 * 0x1p-24 : 1e-13;
    return ((double)comparison->sweeps * rounding_of_sweep(problem, plan) + modes) *
           comparison->largest;
}

enum hs_status hs_verify_power(const struct hs_problem *problem, const struct hs_plan *plan,
                               int64_t sweeps, struct hs_power *out, struct hs_error *err)
{
    *out = (struct hs_power){.comparison = {.sweeps = sweeps}};
    const struct hs_method *modes = find_modes(problem, out->lacking, sizeof out->lacking);
    if (!modes)
        return HS_OK;
    struct hs_reference by_sweeps = {.sweeps = sweeps}, by_modes = by_sweeps;
    struct hs_plan even = *plan; /* equal steps, as many as asked for */
    even.tail_step = hs_plan_step(plan);
    even.intervals = even.interval_sweeps = 0;
    even.sweeps = sweeps;
    even.end = NAN;
    even.end = hs_plan_time(&even, sweeps);
    enum hs_status st = run_to(problem, &even, hs_methods[0], &by_sweeps, err);
    if (!st)
        st = run_to(problem, &even, modes, &by_modes, err);
    if (by_modes.field && !st)
        compare(problem, by_modes.field, by_sweeps.field, &out->comparison);
    free(by_sweeps.field);
    free(by_modes.field);
    out->comparison.largest = fmax(by_sweeps.largest, by_modes.largest);
    out->comparison.bound = bound_of_power(problem, plan, &out->comparison);
    return st;
}

/* ---- on three grids ------------------------------------------------------------------------ */

/* Whether a body or its walls have numbers for each node. */
static bool has_fields(const struct hs_problem *problem)
{
    bool found =
        problem->body && (problem->body->labels || hs_is_measured(&problem->body->conductivity));
    for (int w = 0; w < problem->wall_count; w++) {
        const struct hs_wall *wall = &problem->walls[w];
        found = found || wall->label || wall->h_field || wall->flux.field || wall->ambient.field ||
                wall->value.field;
    }
    return found;
}

const char *hs_verify_no_refinement(const struct hs_problem *problem)
{
    if (!problem->exact.present)
        return "the config has no exact solution";
    if (problem->raw)
        return "raw coefficients belong to one spacing";
    if (hs_field_is_numbers(&problem->initial.field) ||
        hs_field_is_numbers(&problem->source.field) || has_fields(problem))
        return "values given node by node, by a file or a wall's expression, belong to one grid";
    return NULL;
}

/* Spacings by which a wall lies beyond its nodes; a body's wall runs through them. */
static double wall_of(const struct hs_problem *problem, int face)
{
    return problem->body ? 0.0 : hs_face_wall(&problem->face[face]);
}

/* Spacings between the two walls of an axis with `points` nodes. */
static double cells(const struct hs_problem *problem, int axis, int64_t points)
{
    if (problem->face[2 * axis].wrap)
        return (double)points;
    return (double)(points - 1) + wall_of(problem, 2 * axis) + wall_of(problem, 2 * axis + 1);
}

/* Nodes of the axis with about `factor` times as many cells. */
static int64_t other_points(const struct hs_problem *problem, int axis, double factor)
{
    const double here = cells(problem, axis, problem->grid.points[axis]);
    const double beyond = here - (double)problem->grid.points[axis];
    return (int64_t)rint(factor * here - beyond);
}

/* Spreads the nodes of a stretched axis over its cells, as evenly as possible. */
static void place_nodes(const struct hs_grid *grid, int axis, bool wraps, struct hs_grid *other)
{
    const int64_t here = grid->points[axis] - !wraps, there = other->points[axis] - !wraps;
    double *place = hs_new((size_t)(there + 1) * sizeof *place);
    for (int64_t i = 0; i <= there; i++) {
        const int64_t cell = i * here / there, part = i * here % there;
        place[i] = hs_grid_coordinate(grid, axis, cell);
        if (part > 0)
            place[i] += hs_grid_cell(grid, axis, cell) * (double)part / (double)there;
    }
    other->coordinate[axis] = place;
    other->spacing[axis] = INFINITY;
    for (int64_t i = 0; i < there; i++)
        other->spacing[axis] = fmin(other->spacing[axis], place[i + 1] - place[i]);
}

/* The problem with about `factor` times as many cells along each axis, its walls where they are,
 * without its network. All but the coordinates, which the caller frees, is shared. */
static struct hs_problem on_other_grid(const struct hs_problem *problem, double factor)
{
    struct hs_problem other = *problem;
    other.network = NULL;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        other.grid.points[axis] = other_points(problem, axis, factor);
        if (problem->grid.coordinate[axis]) {
            place_nodes(&problem->grid, axis, problem->face[2 * axis].wrap, &other.grid);
            continue;
        }
        const double spacing = problem->grid.spacing[axis];
        const double here = cells(problem, axis, problem->grid.points[axis]);
        const double there = cells(problem, axis, other.grid.points[axis]);
        other.grid.spacing[axis] = spacing * here / there;
        const double wall = wall_of(problem, 2 * axis);
        other.grid.lower[axis] += wall * (other.grid.spacing[axis] - spacing);
        for (int side = 0; side < 2; side++)
            hs_face_respace(&other.face[2 * axis + side], here / there);
    }
    return other;
}

static bool large_enough(const struct hs_problem *problem, double factor)
{
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (other_points(problem, axis, factor) < 2 * problem->radius + 3)
            return false;
    return true;
}

/* How many times as fine as the config's grid the finest one is: 4 down to 1/16; 8 or 16 if two
 * halvings would leave a small grid too few points. */
static double finest_factor(const struct hs_problem *problem, const struct hs_plan *plan,
                            double most_updates)
{
    const double points = (double)hs_grid_count(&problem->grid);
    const double sweeps = hs_plan_expected(plan, problem, 0);
    for (double factor = 16.0; factor >= 1.0 / 16.0; factor /= 2.0) {
        const double sweep = points * pow(factor, problem->grid.dims) + points_of_a_start;
        const bool cheap = sweep * sweeps * factor * factor <= most_updates;
        const bool coarsest = !large_enough(problem, factor / 8.0);
        if (factor > 4.0 ? cheap && coarsest : cheap || coarsest)
            return factor;
    }
    return 1.0 / 16.0;
}

static enum hs_status error_notify(void *self, const struct hs_step_state *step_state,
                                   struct hs_error *err)
{
    return step_state->phase == HS_PHASE_END ? hs_exact_error(step_state, self, err) : HS_OK;
}

static int64_t never(void *self, int64_t sweep)
{
    (void)self, (void)sweep;
    return INT64_MAX;
}

enum hs_status hs_verify_error(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_exact_error *out, struct hs_error *err)
{
    *out = (struct hs_exact_error){NAN, NAN};
    struct hs_observer observer = {
        .name = "error", .self = out, .next = never, .notify = error_notify};
    struct hs_observer *const observers[] = {&observer};
    struct hs_loop_result result;
    return hs_loop_run(problem, plan, NULL, observers, 1, NULL, &result, err);
}

/* The config's schedule, with the step at the same share of the other grid's limit. */
static enum hs_status plan_other(const struct hs_problem *problem, const struct hs_plan *plan,
                                 struct hs_problem *other, struct hs_plan *out,
                                 struct hs_error *err)
{
    const double share = hs_plan_step(plan) / plan->limit;
    other->schedule.step = NAN;
    other->schedule.safety = share;
    other->schedule.output_interval = NAN;
    other->schedule.output_every = -1;
    const bool unbounded = isnan(problem->schedule.end) && problem->schedule.sweeps < 0;
    if (!unbounded) {
        other->schedule.end = plan->end;
        other->schedule.sweeps = -1;
    }
    HS_TRY(hs_plan_steps(other, out, err));
    out->backend = plan->backend;
    out->kernel = plan->kernel;
    /* the change in a sweep is proportional to its step */
    other->schedule.steady_tolerance *= hs_plan_step(out) / hs_plan_step(plan);
    return HS_OK;
}

/* m: geometric mean of the axes' mean cells. */
static double mean_cell(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    double volume = 1.0;
    for (int axis = 0; axis < grid->dims; axis++) {
        const int64_t end = grid->points[axis] - !problem->face[2 * axis].wrap;
        volume *= grid->coordinate[axis]
                      ? (hs_grid_coordinate(grid, axis, end) - hs_grid_coordinate(grid, axis, 0)) /
                            (double)end
                      : grid->spacing[axis];
    }
    return pow(volume, 1.0 / grid->dims);
}

static enum hs_status solve_other(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_problem *other, struct hs_refined *out,
                                  struct hs_error *err)
{
    struct hs_plan other_plan;
    HS_TRY(hs_network_of_problem(other, false, err));
    HS_TRY(plan_other(problem, plan, other, &other_plan, err));
    struct hs_observer observer = {
        .name = "error", .self = &out->error, .next = never, .notify = error_notify};
    struct hs_observer *const observers[] = {&observer};
    struct hs_loop_result result;
    const enum hs_status st =
        hs_loop_run(other, &other_plan, NULL, observers, 1, NULL, &result, err);
    memcpy(out->points, other->grid.points, sizeof out->points);
    out->spacing = mean_cell(other);
    out->step = hs_plan_step(&other_plan);
    out->sweeps = result.sweeps;
    out->time = result.time;
    out->distance = result.steady.sought ? hs_steady_distance(&result.steady) : 0.0;
    const double half = 0.5 * hs_precision_epsilon(problem->precision);
    const double largest = fmax(fabs(result.last.min), fabs(result.last.max));
    out->rounding = half * largest * (double)result.swept;
    return st;
}

static enum hs_status solve(const struct hs_problem *problem, const struct hs_plan *plan,
                            double factor, struct hs_refined *out, struct hs_error *err)
{
    struct hs_problem other = on_other_grid(problem, factor);
    const enum hs_status st = solve_other(problem, plan, &other, out, err);
    for (int axis = 0; axis < other.grid.dims; axis++)
        free((double *)(uintptr_t)other.grid.coordinate[axis]);
    hs_network_destroy(other.network);
    return st;
}

enum hs_status hs_verify_refine(const struct hs_problem *problem, const struct hs_plan *plan,
                                double most_updates, struct hs_refinement *out,
                                struct hs_error *err)
{
    *out = (struct hs_refinement){0};
    const double finest = finest_factor(problem, plan, most_updates);
    if (!large_enough(problem, finest / 4.0))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: grid: too few points to be halved twice for a grid refinement; "
                            "give more points",
                            hs_problem_config(problem));
    for (int g = 0; g < HS_REFINEMENT_GRIDS; g++) {
        const double factor = finest * pow(2.0, g - (HS_REFINEMENT_GRIDS - 1));
        HS_TRY(solve(problem, plan, factor, &out->grid[g], err));
    }
    for (int g = 0; g + 1 < HS_REFINEMENT_GRIDS; g++) {
        const struct hs_refined *coarse = &out->grid[g], *fine = &out->grid[g + 1];
        const double ratio = log(coarse->spacing / fine->spacing);
        const bool known = fine->error.max > fine->rounding;
        out->order_max[g] = known ? log(coarse->error.max / fine->error.max) / ratio : NAN;
        out->order_l2[g] = known ? log(coarse->error.l2 / fine->error.l2) / ratio : NAN;
    }
    return HS_OK;
}
