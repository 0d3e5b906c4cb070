#include "output/contents.h"

#include "output/field_set.h"
#include "output/fingerprint.h"
#include "output/h5.h"
#include "output/labels.h"
#include "output/pictures/outlines.h"
#include "output/study.h"
#include "output/vtkhdf.h"

#include <hdf5_hl.h>
#include <string.h>
#include <unistd.h>

static void describe(struct hs_h5 *h5, hid_t set, const char *units, const char *long_name)
{
    hs_h5_text(h5, set, "units", units);
    hs_h5_text(h5, set, "long_name", long_name);
}

/* Makes a column a dimension scale, netCDF's coordinate variable. */
static hid_t scale(struct hs_h5 *h5, hid_t set, const char *name, const char *units,
                   const char *long_name)
{
    hs_h5_made(h5, H5DSset_scale(set, name), name);
    describe(h5, set, units, long_name);
    return set;
}

static hid_t time_scale(struct hs_h5 *h5, hid_t at, const struct hs_series *series)
{
    const struct hs_column *time = &series->columns[HS_SERIES_TIME];
    return scale(h5, hs_h5_column(h5, at, "time", series->rows, time->values, HS_H5_GROWS), "time",
                 time->units, time->long_name);
}

static hid_t axis_scale(struct hs_h5 *h5, hid_t at, const struct hs_grid *grid, int axis)
{
    static const char *const names[HS_AXES] = {"x", "y", "z"};
    static const char *const long_names[HS_AXES] = {"position along x", "position along y",
                                                    "position along z"};
    return scale(h5, hs_h5_axis(h5, at, names[axis], grid, axis), names[axis], "m",
                 long_names[axis]);
}

static void attach(struct hs_h5 *h5, hid_t set, hid_t to, int dimension)
{
    hs_h5_made(h5, H5DSattach_scale(set, to, (unsigned)dimension), "a dimension scale");
}

/* Writes the columns of one group, the time excepted, attached to its time scale. */
static void columns(struct hs_h5 *h5, hid_t at, const struct hs_series *series, hid_t times,
                    const char *group, const struct hs_problem *problem)
{
    for (int c = 0, probe = 0; c < series->column_count; c++) {
        const struct hs_column *column = &series->columns[c];
        if (c == HS_SERIES_TIME || (c >= HS_SERIES_FIRST && strcmp(column->group, group) != 0))
            continue;
        const hid_t set = hs_h5_column(h5, at, column->name, series->rows, column->values,
                                       column->whole ? HS_H5_WHOLE : HS_H5_GROWS);
        describe(h5, set, column->units, column->long_name);
        attach(h5, set, times, 0);
        if (!strcmp(column->group, "probes")) {
            const struct hs_probe *p = &problem->probes[probe++];
            double node[HS_AXES];
            for (int axis = 0; axis < HS_AXES; axis++)
                node[axis] = hs_grid_coordinate(&problem->grid, axis, p->node[axis]);
            if (series->rows > 0)
                hs_h5_number(h5, set, "last", column->values[series->rows - 1]);
            hs_h5_numbers(h5, set, "at", problem->grid.dims, p->at);
            hs_h5_array(h5, set, "node", H5T_NATIVE_INT64, H5T_STD_I64LE, problem->grid.dims,
                        p->node);
            hs_h5_numbers(h5, set, "node_at", problem->grid.dims, node);
        }
        hs_h5_close(set);
    }
}

/* The coefficients that a sweep of a stencil applies. */
static void coefficients(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem,
                         double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    hs_h5_numbers(h5, root, "coefficients", hs_stencil_count(stencil.dims, stencil.radius),
                  stencil.c);
    hs_h5_text(h5, root, "coefficient_order",
               "centre, then along x, y, z in turn: -1, +1, -2, +2, -3, +3");
    hs_h5_number(h5, root, "heat_capacity", hs_problem_heat_capacity(problem));
}

/* A group for each of a body's materials. */
static void materials(struct hs_h5 *h5, hid_t root, const struct hs_body *body, int dims)
{
    const hid_t all = hs_h5_group(h5, root, "materials");
    for (int n = 0; n < body->substance_count; n++) {
        const struct hs_substance *s = &body->substance[n];
        const hid_t one = hs_h5_group(h5, all, s->name);
        hs_h5_numbers(h5, one, "conductivity", dims, s->conductivity);
        hs_h5_number(h5, one, "heat_capacity", s->capacity);
        hs_h5_number(h5, one, "density", s->density);
        hs_h5_number(h5, one, "perfusion", s->perfusion);
        hs_h5_number(h5, one, "volume", s->volume);
        hs_h5_whole(h5, one, "number", n);
        hs_h5_close(one);
    }
    hs_h5_close(all);
}

static void numerics(struct hs_h5 *h5, hid_t root, const struct hs_contents *contents)
{
    const struct hs_problem *problem = contents->problem;
    const double step = hs_plan_step(contents->plan);
    hs_h5_text(h5, root, "operator", problem->body ? "conduction" : "stencil");
    hs_h5_text(h5, root, "method", hs_plan_method(contents->plan)->name);
    hs_h5_text(h5, root, "precision", hs_precision_name(problem->precision));
    hs_h5_whole(h5, root, "radius", problem->radius);
    hs_h5_number(h5, root, "step", step);
    hs_h5_whole(h5, root, "sweeps_per_step", hs_plan_stages(contents->plan, problem, step));
    if (problem->schedule.tolerance > 0.0)
        hs_h5_number(h5, root, "time_tolerance", problem->schedule.tolerance);
    hs_h5_number(h5, root, "interval", problem->schedule.output_interval);
    hs_h5_number(h5, root, "end", problem->schedule.end);
    if (!problem->raw)
        hs_h5_number(h5, root, "stability_limit", contents->plan->limit);
    if (problem->exact.present)
        hs_h5_number(h5, root, "error_bound", problem->exact.max_error);
    if (problem->body) {
        materials(h5, root, problem->body, problem->grid.dims);
        hs_outlines_write(h5, root, problem->body);
    } else
        coefficients(h5, root, problem, step);
    if (problem->plain)
        materials(h5, root, problem->plain, problem->grid.dims);
}

static void provenance(struct hs_h5 *h5, hid_t root, const struct hs_contents *contents)
{
    const struct hs_problem *problem = contents->problem;
    const struct hs_plan *plan = contents->plan;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    hs_h5_text(h5, root, "Conventions", "CF-1.8");
    hs_h5_text(h5, root, "config_path", problem->config_path);
    hs_h5_text(h5, root, "program", "heatsolve");
    hs_fingerprint_write(h5, root, problem);
    hs_h5_text(h5, root, "kernel", plan->kernel ? plan->kernel->name : "");
    hs_h5_text(h5, root, "kernel_choice", plan->kernel ? hs_choice_name(plan->choice) : "");
    hs_h5_text(h5, root, "backend", plan->backend ? plan->backend->name : "");
    hs_h5_text(h5, root, "device", contents->device);
    hs_h5_text(h5, root, "host", host);
    hs_h5_text(h5, root, "started", contents->started);
    hs_h5_number(h5, root, "wall_seconds", contents->wall_seconds);
    hs_h5_number(h5, root, "sweep_seconds", contents->sweep_seconds);
    hs_h5_whole(h5, root, "sweeps", contents->sweep);
    hs_h5_text(h5, root, "status", hs_outcome_name(contents->outcome));
    hs_h5_whole(h5, root, "finished", hs_outcome_passed(contents->outcome));
}

static void solution(struct hs_h5 *h5, hid_t root, const struct hs_solution *solution)
{
    hs_h5_number(h5, root, "steady_residual", solution->residual);
    hs_h5_whole(h5, root, "steady_iterations", solution->iterations);
    if (solution->iterations == 0)
        return;
    const hid_t residual = hs_h5_column(h5, root, "solver/residual", solution->iterations + 1,
                                        solution->residuals, HS_H5_FIXED);
    describe(h5, residual, "1", "largest rate of change over that of the initial field");
    hs_h5_close(residual);
}

static void steady_state(struct hs_h5 *h5, hid_t root, const struct hs_steady *steady)
{
    if (!steady->sought)
        return;
    hs_h5_number(h5, root, "steady_tolerance", steady->tolerance);
    if (steady->trend == HS_STEADY_SOLVED)
        solution(h5, root, &steady->solution);
    hs_h5_number(h5, root, "steady_change", steady->change);
    hs_h5_number(h5, root, "steady_distance", hs_steady_distance(steady));
    hs_h5_number(h5, root, "steady_distance_most", hs_steady_most(steady));
}

static void fields(struct hs_h5 *h5, hid_t root, const struct hs_contents *contents,
                   struct hs_image *image)
{
    const struct hs_grid *grid = &contents->problem->grid;
    const struct hs_series *snapshots = &contents->snapshots;
    const hid_t set = hs_field_set(h5, root, "temperature", &contents->chunks, 1, image);
    describe(h5, set, hs_problem_temperature_unit(contents->problem), "temperature");
    const hid_t times = time_scale(h5, root, snapshots);
    attach(h5, set, times, 0);
    for (int axis = grid->dims - 1; axis >= 0; axis--) {
        const hid_t along = axis_scale(h5, root, grid, axis);
        attach(h5, set, along, grid->dims - axis);
        hs_h5_close(along);
    }
    columns(h5, root, snapshots, times, "/", contents->problem);
    hs_h5_close(times);
    hs_h5_close(set);
}

static void groups(struct hs_h5 *h5, hid_t root, const struct hs_contents *contents)
{
    static const char *const names[] = {"history", "probes"};
    for (int i = 0; i < 1 + (contents->problem->probe_count > 0); i++) {
        const hid_t group = hs_h5_group(h5, root, names[i]);
        const hid_t times = time_scale(h5, group, &contents->history);
        columns(h5, group, &contents->history, times, names[i], contents->problem);
        hs_h5_close(times);
        hs_h5_close(group);
    }
}

enum hs_status hs_contents_write(const struct hs_contents *contents, struct hs_image *image,
                                 struct hs_error *err)
{
    struct hs_h5 h5 = {NULL};
    const hid_t root = hs_image_open(&h5, image);
    provenance(&h5, root, contents);
    numerics(&h5, root, contents);
    steady_state(&h5, root, &contents->steady);
    fields(&h5, root, contents, image);
    hs_labels_write(&h5, root, &contents->labels, image);
    groups(&h5, root, contents);
    hs_study_attributes(&h5, root, contents->problem);
    hs_vtkhdf_write(&h5, root, &contents->chunks, &contents->snapshots, image);
    return hs_image_close(&h5, root, contents->problem->output.file, err);
}
