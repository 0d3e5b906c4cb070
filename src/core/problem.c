#include "core/problem.h"

#include "core/memory.h"
#include "core/slab.h"
#include "core/sum.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
        .solver = {.overlap = true},
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
    for (int axis = 0; axis < HS_AXES; axis++)
        free((double *)(uintptr_t)problem->grid.coordinate[axis]);
    hs_body_destroy(problem->body);
    hs_body_destroy(problem->plain);
    for (int i = 0; i < problem->wall_count; i++)
        hs_wall_release(&problem->walls[i]);
    free(problem->walls);
    for (int face = 0; face < HS_FACES; face++)
        free(problem->face_labels[face]);
    for (int i = 0; i < problem->time_function_count; i++) {
        free(problem->time_functions[i].time);
        free(problem->time_functions[i].number);
    }
    free(problem->time_functions);
    hs_network_destroy(problem->network);
    hs_stored_destroy(problem->initial.field.stored);
    free(problem->initial.field.data);
    free(problem->initial.regions);
    hs_stored_destroy(problem->source.field.stored);
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
    free(problem->schedule.method);
    free(problem->schedule.steady_method);
    free(problem->solver.backend);
    free(problem->solver.kernel);
    for (int i = 0; i < HS_PLACES; i++)
        free(problem->place[i]);
    for (int i = 0; i < problem->program_count; i++)
        free(problem->programs[i]);
    free(problem->programs);
    hs_problem_init(problem);
}

void hs_problem_add_input(struct hs_problem *problem, const char *key, const char *path)
{
    problem->inputs =
        hs_reserve(problem->inputs, (size_t)problem->input_count, sizeof *problem->inputs);
    problem->inputs[problem->input_count++] =
        (struct hs_input){.key = hs_copy(key), .path = hs_copy(path)};
}

const char *hs_problem_place(const struct hs_problem *problem, enum hs_place which)
{
    return problem->place[which] ? problem->place[which] : hs_problem_config(problem);
}

const char *hs_problem_config(const struct hs_problem *problem)
{
    return problem->config_path ? problem->config_path : "config";
}

struct hs_stencil hs_problem_stencil(const struct hs_problem *problem, double step)
{
    struct hs_stencil stencil = {.dims = problem->grid.dims, .radius = problem->radius};
    if (problem->body)
        return (struct hs_stencil){.dims = problem->grid.dims, .radius = 1};
    if (problem->raw) {
        for (int i = 0; i < hs_stencil_count(stencil.dims, stencil.radius); i++)
            stencil.c[i] = problem->c[i];
        return stencil;
    }
    stencil = hs_stencil_of_diffusion(&problem->grid, problem->radius,
                                      problem->material.diffusivity, step);
    if (problem->precision == HS_FLOAT)
        hs_stencil_balance(&stencil);
    return stencil;
}

struct hs_operator hs_problem_operator(const struct hs_problem *problem, double step)
{
    return (struct hs_operator){.stencil = hs_problem_stencil(problem, step)};
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

int hs_problem_prescribing_face(const struct hs_problem *problem, const int64_t node[HS_AXES])
{
    int owner = -1;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        if (node[axis] == 0 && problem->face[2 * axis].prescribed)
            owner = 2 * axis;
        if (node[axis] == problem->grid.points[axis] - 1 && problem->face[2 * axis + 1].prescribed)
            owner = 2 * axis + 1;
    }
    return owner;
}

double hs_problem_node_width(const struct hs_problem *problem, int axis, int64_t i)
{
    const struct hs_grid *grid = &problem->grid;
    const struct hs_face *low = &problem->face[2 * axis];
    if (axis >= grid->dims)
        return 1.0;
    if (problem->slab)
        return hs_problem_node_width(problem->slab->whole, axis,
                                     axis == grid->dims - 1 ? hs_slab_layer(problem->slab, i) : i);
    if (grid->coordinate[axis])
        return hs_grid_node_width(grid, axis, low->wrap, i);
    const double below = i == 0 ? low->edge_weight : 1.0;
    const double above = i == grid->points[axis] - 1 ? (low + 1)->edge_weight : 1.0;
    return grid->spacing[axis] * below * above;
}

double hs_problem_length(const struct hs_problem *problem, int axis)
{
    struct hs_sum sum = {0.0, 0.0};
    for (int64_t i = 0; i < problem->grid.points[axis]; i++)
        hs_sum_add(&sum, hs_problem_node_width(problem, axis, i));
    return hs_sum_value(&sum);
}

double hs_problem_node_volume(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k)
{
    return hs_problem_node_width(problem, HS_X, i) * hs_problem_node_width(problem, HS_Y, j) *
           hs_problem_node_width(problem, HS_Z, k);
}

double hs_problem_heat_capacity(const struct hs_problem *problem)
{
    const double capacity = problem->material.density * problem->material.specific_heat;
    return isnan(capacity) ? 1.0 : capacity;
}

unsigned hs_problem_own_source_varies(const struct hs_problem *problem)
{
    const struct hs_source *source = &problem->source;
    if (!source->present)
        return 0;
    return hs_field_is_numbers(&source->field) ? HS_VARIES_SPACE
                                               : hs_value_varies(&source->field.value);
}

unsigned hs_problem_source_varies(const struct hs_problem *problem)
{
    const bool moves = problem->network && hs_network_moves(problem->network);
    return hs_problem_own_source_varies(problem) | (moves ? HS_VARIES_SPACE | HS_VARIES_T : 0);
}

const char *hs_problem_temperature_unit(const struct hs_problem *problem)
{
    const char *unit = problem->temperature_unit;
    return unit && unit[0] ? unit : "K";
}

const char *hs_problem_difference_unit(const struct hs_problem *problem)
{
    const char *unit = hs_problem_temperature_unit(problem);
    return hs_text_temperature_scale(unit) == 'C' ? "K" : unit;
}

bool hs_problem_has_capacity(const struct hs_problem *problem)
{
    const struct hs_body *body = problem->body;
    if (body)
        return hs_is_measured(&body->capacity) ||
               (body->substance_count > 0 && !isnan(body->substance[0].density));
    return !isnan(problem->material.density) && !isnan(problem->material.specific_heat);
}

void hs_problem_heat_unit(const struct hs_problem *problem, char *out, size_t size)
{
    static const char *const joules[] = {"", "J/m^2", "J/m", "J"};
    static const char *const volumes[] = {"", "m", "m^2", "m^3"};
    if (problem->raw)
        snprintf(out, size, "1");
    else if (hs_problem_has_capacity(problem))
        snprintf(out, size, "%s", joules[problem->grid.dims]);
    else
        snprintf(out, size, "%s %s", hs_problem_difference_unit(problem),
                 volumes[problem->grid.dims]);
}

void hs_problem_power_unit(const struct hs_problem *problem, char *out, size_t size)
{
    char heat[64];
    hs_problem_heat_unit(problem, heat, sizeof heat);
    if (heat[0] == 'J')
        snprintf(out, size, "W%s", heat + 1);
    else
        snprintf(out, size, "%s/s", heat);
}

int hs_problem_wall_count(const struct hs_problem *problem)
{
    int count = 0;
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        count += !problem->face[face].wrap;
    return problem->body ? problem->wall_count : count;
}

int hs_problem_wall_face(const struct hs_problem *problem, int wall)
{
    if (problem->body)
        return problem->walls[wall].face;
    int face = 0;
    while (problem->face[face].wrap || wall-- > 0)
        face++;
    return face;
}

void hs_problem_wall_name(const struct hs_problem *problem, int wall, char *out, size_t size)
{
    const int face = hs_problem_wall_face(problem, wall);
    int before = 0; /* walls of the same face */
    for (int other = 0; other < wall; other++)
        before += hs_problem_wall_face(problem, other) == face;
    if (before > 0)
        snprintf(out, size, "%s_%d", hs_face_name(face), before);
    else
        snprintf(out, size, "%s", hs_face_name(face));
}
