/* Diffusion between walls of every kind, for tests of the methods by modes. */
#ifndef HS_TESTS_MODES_CASE_H
#define HS_TESTS_MODES_CASE_H

#include "core/method.h"
#include "core/vectors.h"
#include "test.h"
#include "walls.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_method hs_method_spectral, hs_method_exponential;

struct modes_case {
    struct hs_problem problem;
    void *initial; /* [nz][ny][nx] */
};

/* The kinds of the six faces, in their order; all these combinations are called "mixed". */
static const char *const mixed_walls[][HS_FACES] = {
    {"dirichlet", "robin", "neumann", "dirichlet", "fixed", "reflective"},
    {"periodic", "periodic", "clamp", "constant", "robin", "dirichlet"},
    {"clamp", "fixed", "robin", "reflective", "periodic", "periodic"},
};
enum { MIXED_WALLS = sizeof mixed_walls / sizeof *mixed_walls };

/* Sets `kind` to wall combination `n` and returns its name; NULL if there are no more. */
static inline const char *wall_names(int n, const char *kind[HS_FACES])
{
    const int kinds = count_kinds();
    if (n >= kinds + MIXED_WALLS)
        return NULL;
    for (int face = 0; face < HS_FACES; face++)
        kind[face] = n < kinds ? hs_boundary_kinds[n].name : mixed_walls[n - kinds][face];
    return n < kinds ? kind[0] : "mixed";
}

/* A scattered number between 0 and 1, fixed for each node. */
static inline double scatter_of(int64_t n)
{
    return fmod(0.6180339887498949 * (double)(n + 1), 1.0);
}

/* The walls' data: temperatures around 300 K, or values that lead to about as much. */
static inline double wall_data(int face, const char *kind)
{
    return strcmp(kind, "neumann") ? 290.0 + 7.0 * face : -40.0 * (face - 2.5);
}

static inline double initial_at(const struct hs_problem *problem, int64_t n)
{
    int64_t node[HS_AXES];
    hs_grid_node(&problem->grid, n, node);
    const int face = hs_problem_prescribing_face(problem, node);
    return face < 0 ? 280.0 + 50.0 * scatter_of(n) : problem->face[face].data.constant;
}

/* A case with different spacings; `heated`: with a source. Free with release_case. */
static inline struct modes_case make_case(int dims, int radius, enum hs_precision precision,
                                          const char *const kind[HS_FACES],
                                          const int64_t points[HS_AXES], bool heated)
{
    static const double spacing[HS_AXES] = {0.1, 0.12, 0.09};
    struct modes_case out;
    struct hs_problem *problem = &out.problem;
    hs_problem_init(problem);
    problem->precision = precision;
    problem->radius = radius;
    problem->grid.dims = dims;
    problem->material.conductivity = problem->material.diffusivity = 1.0;
    for (int axis = 0; axis < dims; axis++) {
        problem->grid.points[axis] = points[axis];
        problem->grid.spacing[axis] = spacing[axis];
    }
    for (int face = 0; face < 2 * dims; face++) {
        const struct hs_value data = {.constant = wall_data(face, kind[face])};
        problem->face[face] =
            make_wall(kind[face], data, 3.0,
                      (struct hs_boundary_spec){
                          .conductivity = 1.0, .spacing = spacing[face / 2], .radius = radius});
    }
    problem->source.present = heated;
    problem->source.rate = 1.0;
    problem->source.field.value.constant = 25.0; /* K/s */
    const int64_t count = hs_grid_count(&problem->grid);
    out.initial = malloc((size_t)count * hs_precision_size(precision));
    assert_non_null(out.initial);
    for (int64_t n = 0; n < count; n++)
        hs_write(precision, out.initial, n, initial_at(problem, n));
    return out;
}

static inline void release_case(struct modes_case *c)
{
    free(c->initial);
    hs_problem_release(&c->problem);
}

/* Whether some wall pulls towards a temperature. */
static inline bool holds_mean(const struct modes_case *c)
{
    bool holds = false;
    for (int face = 0; face < 2 * c->problem.grid.dims; face++)
        holds = holds || strstr("fixed dirichlet robin constant", c->problem.face[face].type);
    return holds;
}

/* Calls `with` for each combination `n` of walls, radius and precision, in one of the dimensions.
 */
static inline void for_all_walls(const int64_t points[HS_AXES],
                                 void (*with)(struct modes_case *c, const char *name, int n))
{
    const char *kind[HS_FACES], *walls;
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int precision = 0; precision < HS_PRECISIONS; precision++)
            for (int n = 0; (walls = wall_names(n, kind)); n++) {
                char name[128];
                const int dims = 1 + (radius + n) % 3;
                struct modes_case c =
                    make_case(dims, radius, (enum hs_precision)precision, kind, points, true);
                snprintf(name, sizeof name, "%dD, radius %d, %s, walls %s", dims, radius,
                         hs_precision_name((enum hs_precision)precision), walls);
                with(&c, name, n);
                release_case(&c);
            }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Takes `count` steps by the method (NULL: sweeps) in stretches of `stretch`, with the change of
 * the last step if `keep`. Returns the field in doubles, to be freed. `reduction` may be NULL. */
static inline double *run_case(const struct modes_case *c, const struct hs_backend *backend,
                               const struct hs_kernel *kernel, const struct hs_method *method,
                               double step, int64_t count, int64_t stretch, bool keep,
                               struct hs_reduction *reduction)
{
    const struct hs_problem *problem = &c->problem;
    const struct hs_box all = hs_grid_box(&problem->grid);
    const int64_t nodes = hs_box_count(&all);
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    double *out = malloc((size_t)nodes * sizeof *out);
    void *field = malloc((size_t)nodes * hs_precision_size(problem->precision));
    assert_true(out && field);
    assert_ok_of(kernel->name, backend->create(problem, kernel, &state, &err));
    assert_ok(backend->upload(state, &all, c->initial, &err));
    if (method)
        assert_ok_of(method->name, method->create(problem, backend, state, &self, &err));
    for (int64_t done = 0; done < count; done += stretch) {
        const struct hs_span span = {.count = stretch < count - done ? stretch : count - done,
                                     .first = done,
                                     .step = step,
                                     .op = hs_problem_operator(problem, step),
                                     .keep_last = keep,
                                     .keep_before = keep};
        if (method)
            assert_ok_of(method->name, method->advance(self, backend, state, &span, &err));
        else
            assert_ok(backend->sweep(state, &span, &err));
    }
    assert_ok(backend->download(state, &all, field, &err));
    if (reduction)
        assert_ok(hs_reduce(backend, state, problem, reduction, &err));
    for (int64_t n = 0; n < nodes; n++)
        out[n] = hs_read(problem->precision, field, n);
    if (method)
        method->destroy(self);
    backend->destroy(state);
    free(field);
    return out;
}

/* A backend without a pass for the stages of a recursion: each stage is a sweep and a sum. */
struct without_passes {
    struct hs_vectors vectors;
    struct hs_backend backend;
};

static inline int no_recursion(const struct hs_backend_state *state)
{
    return 0;
}

static inline const struct hs_backend *make_without_passes(const struct hs_backend *of,
                                                           struct without_passes *out)
{
    out->vectors = *of->vectors;
    out->vectors.recursion = no_recursion;
    out->backend = *of;
    out->backend.vectors = &out->vectors;
    return &out->backend;
}

/* The steady state by the method, to a relative residual: the field in doubles, to be freed. */
static inline double *solve_case_to(const struct modes_case *c, const struct hs_backend *backend,
                                    const struct hs_kernel *kernel, const struct hs_method *method,
                                    double tolerance, struct hs_solution *solution)
{
    const struct hs_problem *problem = &c->problem;
    const struct hs_box all = hs_grid_box(&problem->grid);
    const int64_t nodes = hs_box_count(&all);
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    double *out = malloc((size_t)nodes * sizeof *out);
    void *field = malloc((size_t)nodes * hs_precision_size(problem->precision));
    assert_true(out && field);
    assert_ok_of(kernel->name, backend->create(problem, kernel, &state, &err));
    assert_ok(backend->upload(state, &all, c->initial, &err));
    assert_ok_of(method->name, method->create(problem, backend, state, &self, &err));
    assert_ok_of(method->name,
                 hs_method_solve(method, self, backend, state, tolerance, solution, &err));
    assert_ok(backend->download(state, &all, field, &err));
    for (int64_t n = 0; n < nodes; n++)
        out[n] = hs_read(problem->precision, field, n);
    method->destroy(self);
    backend->destroy(state);
    free(field);
    return out;
}

static inline double *solve_case(const struct modes_case *c, const struct hs_backend *backend,
                                 const struct hs_kernel *kernel, const struct hs_method *method,
                                 struct hs_solution *solution)
{
    return solve_case_to(c, backend, kernel, method, 1e-9, solution);
}

/* The accuracy that the modes promise. In float the forcing and the result are each rounded once,
 * by 6e-8. */
static const double modes_accuracy[HS_PRECISIONS] = {[HS_DOUBLE] = 1e-11, [HS_FLOAT] = 1e-6};

/* If no wall holds the mean, the rounding of each sweep stays in it. Once the field is flat all
 * sweeps round alike: by half an epsilon in the sum, and as much in a ghost. */
static inline double modes_tolerance(const struct modes_case *c, int64_t sweeps)
{
    const enum hs_precision precision = c->problem.precision;
    const double accuracy = modes_accuracy[precision];
    if (precision == HS_FLOAT || holds_mean(c))
        return accuracy;
    return fmax(accuracy, DBL_EPSILON * (double)sweeps);
}

/* The largest difference, relative to the largest value of `b`. */
static inline double difference(const struct modes_case *c, const double *a, const double *b)
{
    double most = 0.0, size = 0.0;
    for (int64_t n = 0; n < hs_grid_count(&c->problem.grid); n++) {
        if (!isfinite(a[n]))
            return INFINITY; /* fmax() would ignore a NaN */
        most = fmax(most, fabs(a[n] - b[n]));
        size = fmax(size, fabs(b[n]));
    }
    return most / size;
}

#endif
