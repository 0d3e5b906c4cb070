#include "engine/measure/bench_methods.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/regular.h"
#include "core/version.h"
#include "engine/initial.h"
#include "engine/make_plan.h"
#include "engine/multigrid/equations.h"
#include "engine/network/of_problem.h"
#include "engine/registry.h"
#include "functions/fields.h"
#include "generated/templates.h" /* TEMPLATE_NAME, the text of configs/methods/NAME.cfg */
#include "input/config.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    const char *name, *text;
} cases[HS_METHODS_CASES] = {{"smooth", TEMPLATE_smooth},
                             {"box", TEMPLATE_box},
                             {"stack", TEMPLATE_stack},
                             {"cube", TEMPLATE_cube}};

/* Fields of the reference, in double. */
enum { MOST_LEVELS = 6 };

/* Rows of methods: not those of peers, and one is kept for a method that refuses. */
enum { MOST_ROWS = HS_METHODS_ROWS - HS_PEERS_MOST - 1 };

/* ---- a case ---------------------------------------------------------------------------------- */

/* Reads the text as if from a file. `points`: an override, or NULL. Release in either case. */
static enum hs_status read_text(const char *text, const char *points, struct hs_problem *out,
                                struct hs_error *err)
{
    char path[64];
    const int memory = memfd_create("case", MFD_CLOEXEC);
    const size_t length = strlen(text);
    hs_problem_init(out);
    if (memory < 0)
        return hs_error_add(err, HS_IO, "bench: --methods: no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    const enum hs_status st =
        write(memory, text, length) == (ssize_t)length
            ? hs_config_read(path, &points, points ? 1 : 0, (struct hs_config_how){0}, out, err)
            : hs_error_add(err, HS_IO, "bench: --methods: no file in memory: it cannot be written");
    close(memory);
    return st;
}

/* The config's grid with `points` points along its longest axis, and the others to scale. */
static char *scaled_points(const struct hs_grid *grid, int64_t points)
{
    int64_t n[HS_AXES] = {1, 1, 1};
    const int64_t longest = hs_grid_longest(grid);
    for (int axis = 0; axis < grid->dims; axis++)
        n[axis] = 1 + (int64_t)rint((double)((grid->points[axis] - 1) * (points - 1)) /
                                    (double)(longest - 1));
    return hs_format("grid.points=[%lld,%lld,%lld]", (long long)n[HS_X], (long long)n[HS_Y],
                     (long long)n[HS_Z]);
}

/* Release in either case. */
static enum hs_status read_case(int which, const struct hs_methods_request *request,
                                enum hs_precision precision, struct hs_problem *out,
                                struct hs_error *err)
{
    enum hs_status st = read_text(cases[which].text, NULL, out, err);
    if (st)
        return st;
    char *points = scaled_points(&out->grid, request->points);
    hs_problem_release(out);
    st = read_text(cases[which].text, points, out, err);
    free(points);
    free(out->solver.backend);
    out->precision = precision;
    out->solver.backend = hs_copy(request->backend);
    out->solver.threads = request->threads;
    return st ? st : hs_network_of_problem(out, false, err);
}

/* ---- a method -------------------------------------------------------------------------------- */

/* One way through a case. The problem shares what it points to with the case's problem. */
struct way {
    struct hs_problem problem;
    struct hs_plan plan;
    struct hs_backend_state *state;
    double tolerance, rate; /* steady state: of the residual; K/s, rate of the initial field */
    int64_t iterations;     /* number needed */
};

/* With `steps` steps to the end; 0: as many as "auto" makes. */
static enum hs_status open_way(const struct hs_problem *problem, const struct hs_method *method,
                               int64_t steps, struct way *out, struct hs_error *err)
{
    *out = (struct way){.problem = *problem};
    struct hs_schedule *schedule = &out->problem.schedule;
    char *name = (char *)(uintptr_t)method->name;
    schedule->method = isnan(schedule->end) ? NULL : name;
    schedule->steady_method = isnan(schedule->end) && method->solve ? name : NULL;
    if (steps > 0)
        schedule->step = schedule->end / (double)steps;
    HS_TRY(hs_plan_make(&out->problem, &out->plan, err));
    return out->plan.backend->create(&out->problem, out->plan.kernel, &out->state, err);
}

static void close_way(struct way *way)
{
    if (way->state)
        way->plan.backend->destroy(way->state);
}

static enum hs_status advance(struct way *way, struct hs_method_state *self, struct hs_error *err)
{
    const struct hs_plan *plan = &way->plan;
    for (int64_t at = 0; at < plan->sweeps;) {
        const struct hs_span span = hs_plan_span(plan, &way->problem, at, plan->sweeps);
        HS_TRY(plan->method->advance(self, plan->backend, way->state, &span, err));
        at += span.count;
    }
    return HS_OK;
}

/* Makes `count` sweeps. *rate: the largest rate of change in the last one [K/s]. */
static enum hs_status sweep(struct way *way, int64_t count, double *rate, struct hs_error *err)
{
    const struct hs_backend *backend = way->plan.backend;
    const double step = way->problem.schedule.safety * way->plan.limit;
    const struct hs_span span = {.count = count,
                                 .step = step,
                                 .op = hs_problem_operator(&way->problem, step),
                                 .keep_last = true};
    struct hs_reduction reduction;
    HS_TRY(backend->sweep(way->state, &span, err));
    HS_TRY(hs_reduce(backend, way->state, &way->problem, &reduction, err));
    *rate = reduction.change / step;
    return HS_OK;
}

/* Checks as often as a run does. */
static enum hs_status sweep_to_steady(struct way *way, struct hs_error *err)
{
    const int64_t every = way->problem.schedule.steady_check_every;
    double rate = way->rate;
    for (way->iterations = 0; rate > way->tolerance * way->rate; way->iterations += every) {
        if (way->iterations >= HS_PLAN_MOST_SWEEPS)
            return hs_error_add(err, HS_FAILED_CHECK, "bench: sweeps reach no steady state");
        HS_TRY(sweep(way, every, &rate, err));
    }
    return HS_OK;
}

static enum hs_status solve(struct way *way, struct hs_method_state *self, struct hs_error *err)
{
    struct hs_solution solution;
    const struct hs_plan *plan = &way->plan;
    if (!plan->steady_method)
        return sweep_to_steady(way, err);
    HS_TRY(hs_method_solve(plan->steady_method, self, plan->backend, way->state, way->tolerance,
                           &solution, err));
    way->iterations = solution.iterations;
    return HS_OK;
}

/* From the initial field to the end. *seconds: from the creation of the method on. */
static enum hs_status go(struct way *way, double *seconds, struct hs_error *err)
{
    const struct hs_plan *plan = &way->plan;
    const struct hs_method *method = hs_plan_method(plan);
    struct hs_method_state *self = NULL;
    enum hs_status st = hs_initial_upload(&way->problem, NULL, plan->backend, way->state, err);
    const double begin = hs_clock_now();
    if (!st && method->create)
        st = method->create(&way->problem, plan->backend, way->state, &self, err);
    if (!st)
        st = way->problem.schedule.steady ? solve(way, self, err) : advance(way, self, err);
    *seconds = hs_clock_now() - begin;
    if (method->destroy)
        method->destroy(self);
    return st;
}

static enum hs_status time_way(struct way *way, int repeats, struct hs_samples *out,
                               struct hs_error *err)
{
    const struct hs_timing_effort effort = hs_timing_usual(repeats);
    double seconds[HS_TIMING_SAMPLES];
    enum hs_status st = go(way, &seconds[0], err);
    const int count = st ? 0 : hs_timing_repeats(&effort, seconds[0]);
    for (int n = 1; n < count && !st; n++)
        st = go(way, &seconds[n], err);
    *out = hs_samples_of(seconds, st ? 0 : count);
    return st;
}

/* Downloads the field, in double. */
static enum hs_status take(struct way *way, double *out, struct hs_error *err)
{
    const enum hs_precision precision = way->problem.precision;
    const struct hs_box box = hs_grid_box(&way->problem.grid);
    enum hs_status st = way->plan.backend->download(way->state, &box, out, err);
    for (int64_t n = hs_box_count(&box) - 1; n >= 0 && !st; n--) /* no float lies after its node */
        out[n] = hs_read(precision, out, n);
    return st;
}

/* Largest |a - b| over largest |b|. */
static double apart(const double *a, const double *b, int64_t count)
{
    double most = 0.0, largest = 0.0;
    for (int64_t n = 0; n < count; n++) {
        most = fmax(most, isfinite(a[n]) ? fabs(a[n] - b[n]) : INFINITY);
        largest = fmax(largest, fabs(b[n]));
    }
    return most / largest;
}

/* ---- the reference --------------------------------------------------------------------------- */

static bool refuses(const struct hs_method *method, const struct hs_problem *problem, char *reason,
                    size_t size)
{
    struct hs_error why = {0};
    const bool refused = method->suits && method->suits(problem, &why);
    if (refused)
        snprintf(reason, size, "%.*s", (int)strcspn(hs_error_reason(&why), ";"),
                 hs_error_reason(&why)); /* the rows beside it show what to do instead */
    hs_error_release(&why);
    return refused;
}

/* The method that makes Euler's steps: all at once where there is one that can. */
static const struct hs_method *stepper(const struct hs_problem *problem)
{
    const struct hs_method *found = hs_methods[0];
    for (int n = 0; hs_methods[n]; n++)
        if (hs_methods[n]->advance && hs_methods[n]->step_rule == HS_STEP_STABLE &&
            hs_methods[n]->jumps && !refuses(hs_methods[n], problem, NULL, 0))
            found = hs_methods[n];
    return found;
}

/* Counts Euler's longest stable steps, as "auto" chooses them. */
static enum hs_status count_stable(const struct hs_problem *problem, int64_t *steps,
                                   struct hs_error *err)
{
    struct hs_problem by_euler = *problem;
    by_euler.schedule.method = by_euler.schedule.steady_method = NULL;
    struct hs_plan plan;
    const enum hs_status st = hs_plan_steps(&by_euler, &plan, err);
    *steps = plan.sweeps;
    return st;
}

/* The field at the end after `steps` steps of the method. */
static enum hs_status end_of(const struct hs_problem *problem, const struct hs_method *method,
                             int64_t steps, double *out, struct hs_error *err)
{
    struct way way;
    double seconds;
    enum hs_status st = open_way(problem, method, steps, &way, err);
    if (!st)
        st = go(&way, &seconds, err);
    if (!st)
        st = take(&way, out, err);
    close_way(&way);
    return st;
}

/* Leaves the reference in T[0]; the other fields are work space. Each sweep rounds its
 * coefficients, even if a method makes all sweeps at once. So this ends where the difference of two
 * extrapolations does not halve, and claims no accuracy beyond an epsilon for each sweep. */
static enum hs_status extrapolate(const struct hs_problem *problem, double *T[MOST_LEVELS],
                                  struct hs_methods_case *out, struct hs_error *err)
{
    const struct hs_method *method = stepper(problem);
    const int64_t nodes = hs_grid_count(&problem->grid);
    const int levels = method->jumps ? MOST_LEVELS : 3;
    int64_t steps = 0;
    HS_TRY(count_stable(problem, &steps, err));
    steps *= method->jumps ? 2 : 1; /* at the limit the shortest waves hardly decay */
    bool falls = true;
    out->by = method->name;
    out->uncertainty = INFINITY;
    for (int level = 0; level < levels && falls; level++) {
        HS_TRY(end_of(problem, method, steps << level, T[level], err));
        for (int k = 1; k <= level; k++)
            for (int64_t n = 0; n < nodes; n++) {
                const double finer = T[level - k + 1][n];
                T[level - k][n] = finer + (finer - T[level - k][n]) / (double)((1 << k) - 1);
            }
        const double before = out->uncertainty;
        if (level > 0) /* T[1] less the former T[0] */
            out->uncertainty = (double)((1 << level) - 1) * apart(T[1], T[0], nodes);
        falls = level < 2 || out->uncertainty < 0.5 * before;
        out->uncertainty = fmax(out->uncertainty, (double)(steps << level) * DBL_EPSILON);
    }
    return HS_OK;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* The case as equations (engine/multigrid/equations.h), in double: C [0 at nodes of fixed
 * temperature], sink, inflow, G along x, y, z, the initial field and the reference. */
static enum hs_status write_equations(FILE *file, const struct hs_problem *problem,
                                      const double *reference, struct hs_error *err)
{
    enum { INITIAL = 6, COLUMNS };
    const int64_t *points = problem->grid.points, nodes = hs_grid_count(&problem->grid);
    struct hs_equations equations;
    double *column = hs_new((size_t)nodes * sizeof *column);
    const enum hs_status st = hs_equations_init(&equations, problem, err);
    for (int which = 0; which < COLUMNS && !st; which++) {
        for (int64_t n = 0; n < nodes && which < INITIAL; n++) {
            const struct hs_network_row *row = hs_network_row_at(equations.network, n);
            column[n] = which == 0   ? (row->kind == HS_NODE_FREE ? row->capacity : 0.0)
                        : which == 1 ? row->sink
                        : which == 2 ? equations.inflow[n]
                                     : row->conductance[which - 3];
        }
        for (int64_t r = 0; r < points[HS_Y] * points[HS_Z] && which == INITIAL; r++)
            hs_problem_initial_row(problem, r % points[HS_Y], r / points[HS_Y],
                                   column + r * points[HS_X]);
        fwrite(column, sizeof *column, (size_t)nodes, file);
    }
    fwrite(reference, sizeof *reference, (size_t)nodes, file);
    hs_equations_release(&equations);
    free(column);
    return st;
}

static void add_peers(struct hs_methods_case *of)
{
    for (int n = 0; n < of->peers.count; n++) {
        const struct hs_peer *peer = &of->peers.peer[n];
        struct hs_methods_row *row = &of->row[of->count++];
        *row = (struct hs_methods_row){.name = peer->name,
                                       .peer = true,
                                       .version = peer->version,
                                       .steps = peer->steps,
                                       .sweeps = NAN,
                                       .error = peer->apart,
                                       .seconds = peer->seconds};
        static_assert(sizeof row->why >= sizeof peer->why, "a reason has room");
        memcpy(row->why, peer->why, sizeof peer->why);
    }
}

static enum hs_status ask_peers(const struct hs_methods_request *request,
                                const struct hs_problem *problem, const double *reference,
                                struct hs_methods_case *out, struct hs_error *err)
{
    FILE *question = hs_regular_adopt(memfd_create("peers", MFD_CLOEXEC), "w+b");
    if (!question)
        return hs_error_add(err, HS_IO, "bench: --peers: no file in memory");
    fprintf(question, "--case=%s\n--points=%lld,%lld,%lld\n--end=%.17g\n--tolerance=%g\n",
            out->name, (long long)out->points[HS_X], (long long)out->points[HS_Y],
            (long long)out->points[HS_Z], out->end, out->tolerance);
    fprintf(question, "--threads=%d\n--repeats=%d\n\n", request->threads, request->repeats);
    enum hs_status st = write_equations(question, problem, reference, err);
    if (!st)
        st = hs_peers_ask(HS_PEERS_METHODS, request->peer, request->peer_seconds, question,
                          &out->peers, err);
    fclose(question);
    add_peers(out);
    return st;
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Numbers of steps that show how the error and the time depend on them; 0: as "auto". */
static int choose_steps(const struct hs_method *method, int64_t stable, int64_t out[5])
{
    enum { FEWEST = 10 }; /* of a method whose steps are long */
    const bool any = method->step_rule == HS_STEP_ANY;
    const bool sweeps = method->step_rule == HS_STEP_STABLE;
    const int count = any ? 1 : sweeps ? 3 : 5;
    for (int n = 0; n < count; n++)
        out[n] = any ? 0 : (sweeps ? stable : FEWEST) << n;
    return count;
}

/* One row: a method that goes through time, or one that finds a steady state. */
static enum hs_status measure(const struct hs_problem *problem, const struct hs_method *method,
                              int64_t steps, const double *reference, double *T, int repeats,
                              struct hs_methods_case *of, struct hs_error *err)
{
    const bool steady = problem->schedule.steady;
    struct hs_methods_row *row = &of->row[of->count++];
    struct way way;
    double rate = NAN;
    *row = (struct hs_methods_row){.version = hs_version(), .sweeps = NAN, .error = NAN};
    enum hs_status st = open_way(problem, method, steps, &way, err);
    row->name = steady && !method->solve ? "sweeps" : method->name;
    way.tolerance = of->tolerance;
    if (!st && steady)
        st = hs_initial_upload(&way.problem, NULL, way.plan.backend, way.state, err);
    if (!st && steady)
        st = sweep(&way, 1, &way.rate, err);
    if (!st)
        st = time_way(&way, repeats, &row->seconds, err);
    if (!st && steady)
        st = sweep(&way, 1, &rate, err);
    else if (!st)
        st = take(&way, T, err);
    if (!st) {
        row->steps = steady ? way.iterations : way.plan.sweeps;
        if (!steady && method->step_rule != HS_STEP_ANY && !method->jumps)
            row->sweeps = hs_plan_sweeps(&way.plan, &way.problem, 0, way.plan.sweeps);
        row->error = steady ? rate / way.rate : apart(T, reference, hs_grid_count(&problem->grid));
        snprintf(of->device, sizeof of->device, "%s", way.plan.backend->describe(way.state));
    }
    close_way(&way);
    return st;
}

static enum hs_status measure_all(const struct hs_problem *problem, const double *reference,
                                  double *T, int repeats, struct hs_methods_case *of,
                                  struct hs_error *err)
{
    const bool steady = problem->schedule.steady;
    int64_t stable = 0;
    HS_TRY(count_stable(problem, &stable, err));
    for (int n = 0; hs_methods[n]; n++) {
        const struct hs_method *method = hs_methods[n];
        struct hs_methods_row *row = &of->row[of->count];
        int64_t steps[5] = {0};
        const bool sweeps = method == hs_methods[0]; /* they search for a steady state, too */
        if (steady ? !method->solve && !sweeps : !method->advance)
            continue;
        if (refuses(method, problem, row->why, sizeof row->why)) {
            row->name = method->name;
            of->count++;
            continue;
        }
        const int count = steady ? 1 : choose_steps(method, stable, steps);
        for (int k = 0; k < count && of->count < MOST_ROWS; k++)
            HS_TRY(measure(problem, method, steps[k], reference, T, repeats, of, err));
    }
    return HS_OK;
}

static enum hs_status run_case(int which, const struct hs_methods_request *request,
                               struct hs_methods_case *out, struct hs_error *err)
{
    struct hs_problem exact, problem;
    double *T[MOST_LEVELS] = {NULL};
    *out = (struct hs_methods_case){.name = cases[which].name};
    hs_problem_init(&problem);
    enum hs_status st = read_case(which, request, HS_DOUBLE, &exact, err);
    if (!st)
        st = read_case(which, request, request->precision, &problem, err);
    const size_t nodes = st ? 0 : (size_t)hs_grid_count(&exact.grid);
    for (int n = 0; n < MOST_LEVELS && !st; n++)
        if (!(T[n] = calloc(nodes, sizeof **T)))
            st = hs_error_add(err, HS_DEVICE, "bench: no memory for fields; take fewer --points");
    if (!st) {
        snprintf(out->title, sizeof out->title, "%s", exact.title);
        memcpy(out->points, exact.grid.points, sizeof out->points);
        out->dims = exact.grid.dims;
        out->end = exact.schedule.end;
        out->tolerance = exact.schedule.steady_tolerance;
    }
    if (!st && !exact.schedule.steady)
        st = extrapolate(&exact, T, out, err);
    if (!st)
        st = measure_all(&problem, T[0], T[1], request->repeats, out, err);
    if (!st && request->peers)
        st = ask_peers(request, &exact, T[0], out, err);
    for (int n = 0; n < MOST_LEVELS; n++)
        free(T[n]);
    hs_problem_release(&exact);
    hs_problem_release(&problem);
    return st;
}

enum hs_status hs_bench_methods(const struct hs_methods_request *request,
                                struct hs_methods_bench *out, struct hs_error *err)
{
    *out = (struct hs_methods_bench){.request = *request};
    for (; out->count < HS_METHODS_CASES; out->count++)
        HS_TRY(run_case(out->count, request, &out->of[out->count], err));
    return HS_OK;
}
