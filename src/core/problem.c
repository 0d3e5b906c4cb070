#include "core/problem.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

void hs_problem_init(struct hs_problem *problem)
{
    *problem = (struct hs_problem){
        .precision = HS_DOUBLE,
        .grid = {.points = {1, 1, 1}, .spacing = {1.0, 1.0, 1.0}},
        .radius = 1,
        .material = {NAN, NAN, NAN, NAN},
        .schedule = {.end = NAN,
                     .sweeps = -1,
                     .step = NAN,
                     .safety = 0.9,
                     .output_interval = NAN,
                     .output_every = -1,
                     .history_every = -1},
        .output = {.checkpoint_minutes = NAN},
        .exact = {.max_error = NAN},
    };
}

void hs_problem_release(struct hs_problem *problem)
{
    free(problem->title);
    free(problem->temperature_unit);
    free(problem->config_path);
    free(problem->config_text);
    free(problem->fingerprint);
    for (int i = 0; i < problem->override_count; i++)
        free(problem->overrides[i]);
    free(problem->overrides);
    free(problem->initial.field.data);
    free(problem->initial.regions);
    free(problem->source.field.data);
    free(problem->output.file);
    for (int i = 0; i < problem->input_count; i++) {
        free(problem->inputs[i].key);
        free(problem->inputs[i].path);
    }
    free(problem->inputs);
    for (int i = 0; i < problem->probe_count; i++)
        free(problem->probes[i].name);
    free(problem->probes);
    free(problem->solver.backend);
    free(problem->solver.kernel);
    for (int i = 0; i < HS_PLACES; i++)
        free(problem->place[i]);
    for (int i = 0; i < problem->program_count; i++)
        free(problem->programs[i]);
    free(problem->programs);
    hs_problem_init(problem);
}

bool hs_problem_add_input(struct hs_problem *problem, const char *key, const char *path)
{
    const size_t size = ((size_t)problem->input_count + 1) * sizeof *problem->inputs;
    struct hs_input *grown = (struct hs_input *)realloc(problem->inputs, size);
    if (!grown)
        return false;
    struct hs_input *added = &grown[problem->input_count++];
    problem->inputs = grown;
    *added = (struct hs_input){.key = strdup(key), .path = strdup(path)};
    return added->key && added->path;
}

const char *hs_problem_place(const struct hs_problem *problem, enum hs_place which)
{
    if (problem->place[which])
        return problem->place[which];
    return problem->config_path ? problem->config_path : "config";
}

static struct hs_stencil diffusion_stencil(const struct hs_problem *problem, double step)
{
    struct hs_stencil stencil = hs_stencil_of_diffusion(&problem->grid, problem->radius,
                                                        problem->material.diffusivity, step);
    if (problem->precision == HS_FLOAT)
        hs_stencil_balance(&stencil);
    return stencil;
}

struct hs_stencil hs_problem_stencil(const struct hs_problem *problem, double step)
{
    if (!problem->raw)
        return diffusion_stencil(problem, step);
    struct hs_stencil stencil = {.dims = problem->grid.dims, .radius = problem->radius};
    for (int i = 0; i < hs_stencil_count(stencil.dims, stencil.radius); i++)
        stencil.c[i] = problem->c[i];
    return stencil;
}

struct hs_operator hs_problem_operator(const struct hs_problem *problem, double step)
{
    return (struct hs_operator){HS_OPERATOR_STENCIL, hs_problem_stencil(problem, step), NULL};
}

struct hs_box hs_problem_interior(const struct hs_problem *problem)
{
    struct hs_box box = hs_grid_box(&problem->grid);
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        box.lo[axis] += problem->face[2 * axis].held;
        box.hi[axis] -= problem->face[2 * axis + 1].held;
    }
    return box;
}

/* Values of a value along row (j, k) at time t. */
static void value_row(const struct hs_grid *grid, const struct hs_value *value, double t, int64_t j,
                      int64_t k, double *out)
{
    const int64_t nx = grid->points[HS_X];
    if (value->expression.code)
        hs_expression_row(&value->expression, nx, grid->lower[HS_X], grid->spacing[HS_X],
                          hs_grid_coordinate(grid, HS_Y, j), hs_grid_coordinate(grid, HS_Z, k), t,
                          out);
    else
        for (int64_t i = 0; i < nx; i++)
            out[i] = value->constant;
}

/* Values of a field along row (j, k) at time t. */
static void field_row(const struct hs_problem *problem, const struct hs_field *field, double t,
                      int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const size_t nx = (size_t)grid->points[HS_X];
    if (field->data)
        memcpy(out, field->data + (size_t)(k * grid->points[HS_Y] + j) * nx, nx * sizeof *out);
    else
        value_row(grid, &field->value, t, j, k, out);
}

/* A node on the surface belongs to the region, however its coordinate was rounded: let by are a
 * billionth of the region's size and a few roundings of the coordinate itself. */
static const double slack = 1e-9;

static bool is_between(double at, double low, double high, double size)
{
    const double margin = slack * size, roundings = 8.0 * DBL_EPSILON;
    return at >= low - margin - roundings * fabs(low) &&
           at <= high + margin + roundings * fabs(high);
}

/* Whether a point whose coordinates from axis `first` on are known can lie in the region. */
static bool region_holds(const struct hs_region *region, int first, int dims,
                         const double at[HS_AXES])
{
    double square = 0.0; /* of the distance from a round one's axis or centre */
    for (int axis = first; axis < dims; axis++) {
        const double distance = at[axis] - region->centre[axis];
        bool inside = true;
        if (region->shape == HS_SHAPE_BOX)
            inside = is_between(at[axis], region->lower[axis], region->upper[axis],
                                region->upper[axis] - region->lower[axis]);
        else if (region->shape == HS_SHAPE_CYLINDER && axis == region->axis)
            inside = is_between(at[axis], region->from, region->to, region->radius);
        else
            square += distance * distance;
        if (!inside)
            return false;
    }
    return region->shape == HS_SHAPE_BOX ||
           square <= region->radius * region->radius * (1.0 + slack);
}

bool hs_region_covers(const struct hs_region *region, int dims, const double at[HS_AXES])
{
    return region_holds(region, HS_X, dims, at);
}

/* Puts the region's value on its nodes of row (j, k). */
static void apply_region(const struct hs_grid *grid, const struct hs_region *region, int64_t j,
                         int64_t k, double *out)
{
    double at[HS_AXES] = {0.0, hs_grid_coordinate(grid, HS_Y, j),
                          hs_grid_coordinate(grid, HS_Z, k)};
    if (!region_holds(region, HS_Y, grid->dims, at))
        return;
    for (int64_t i = 0; i < grid->points[HS_X]; i++) {
        at[HS_X] = hs_grid_coordinate(grid, HS_X, i);
        if (region_holds(region, HS_X, grid->dims, at))
            out[i] = hs_value_at(&region->value, at[HS_X], at[HS_Y], at[HS_Z], 0.0);
    }
}

int hs_problem_prescribing_face(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k)
{
    const int64_t node[HS_AXES] = {i, j, k};
    int owner = -1;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        if (node[axis] == 0 && problem->face[2 * axis].prescribed)
            owner = 2 * axis;
        if (node[axis] == problem->grid.points[axis] - 1 && problem->face[2 * axis + 1].prescribed)
            owner = 2 * axis + 1;
    }
    return owner;
}

/* Puts the walls' temperatures on the prescribed nodes of row (j, k): those inside its ends have
 * the owner of node 1, by the y and z faces; only the ends may be owned by an x face. */
static void apply_walls(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t last = grid->points[HS_X] - 1;
    const int inside = last > 1 ? hs_problem_prescribing_face(problem, 1, j, k) : -1;
    if (inside >= 0)
        value_row(grid, &problem->face[inside].drive, 0.0, j, k, out);
    for (int64_t i = 0; i <= last; i += last > 0 ? last : 1) {
        const int face = hs_problem_prescribing_face(problem, i, j, k);
        if (face >= 0)
            out[i] = hs_value_at(&problem->face[face].drive, hs_grid_coordinate(grid, HS_X, i),
                                 hs_grid_coordinate(grid, HS_Y, j),
                                 hs_grid_coordinate(grid, HS_Z, k), 0.0);
    }
}

void hs_problem_initial_row(const struct hs_problem *problem, int64_t j, int64_t k, double *out)
{
    field_row(problem, &problem->initial.field, 0.0, j, k, out);
    for (int r = 0; r < problem->initial.region_count; r++)
        apply_region(&problem->grid, &problem->initial.regions[r], j, k, out);
    apply_walls(problem, j, k, out);
}

void hs_problem_source_row(const struct hs_problem *problem, double step, double t, int64_t j,
                           int64_t k, double *out)
{
    field_row(problem, &problem->source.field, t, j, k, out);
    const double scale = problem->source.rate * (problem->raw ? 1.0 : step);
    for (int64_t i = 0; i < problem->grid.points[HS_X]; i++)
        out[i] *= scale;
}

double hs_problem_node_volume(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k)
{
    const int64_t node[HS_AXES] = {i, j, k};
    double volume = 1.0;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        volume *= problem->grid.spacing[axis];
        if (node[axis] == 0)
            volume *= problem->face[2 * axis].edge_weight;
        if (node[axis] == problem->grid.points[axis] - 1)
            volume *= problem->face[2 * axis + 1].edge_weight;
    }
    return volume;
}

double hs_problem_heat_capacity(const struct hs_problem *problem)
{
    const double capacity = problem->material.density * problem->material.specific_heat;
    return isnan(capacity) ? 1.0 : capacity;
}

const char *hs_problem_temperature_unit(const struct hs_problem *problem)
{
    const char *unit = problem->temperature_unit;
    return unit && unit[0] ? unit : "K";
}
