#include "engine/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double out_of_scale = 1e6;
static const double look_share = 0.01; /* of the sweeps' time */

enum { SAMPLES = 9, TIMES = 5 }; /* along an axis; between start and end */

/* Largest |value| on a coarse lattice of the grid (or of a face, where `axis` >= 0) and of the
 * run's time. Only a scale: that it may miss a peak is what out_of_scale is large for. */
static double largest(const struct hs_problem *problem, const struct hs_value *value, int axis,
                      bool high, double end)
{
    const struct hs_grid *grid = &problem->grid;
    double most = 0.0;
    for (int n = 0; n < SAMPLES * SAMPLES * SAMPLES * TIMES; n++) {
        const int part[HS_AXES] = {n % SAMPLES, n / SAMPLES % SAMPLES,
                                   n / (SAMPLES * SAMPLES) % SAMPLES};
        const int at_time = n / (SAMPLES * SAMPLES * SAMPLES);
        double at[HS_AXES];
        for (int a = 0; a < HS_AXES; a++) {
            const int64_t last = grid->points[a] - 1;
            const int64_t node = a == axis ? (high ? last : 0) : last * part[a] / (SAMPLES - 1);
            at[a] = hs_grid_coordinate(grid, a, node);
        }
        const double found =
            fabs(hs_value_at(value, at[HS_X], at[HS_Y], at[HS_Z], end * at_time / (TIMES - 1)));
        if (isfinite(found)) /* elsewhere the sweeps will show it */
            most = fmax(most, found);
        if (!value->expression.code)
            break;
    }
    return most;
}

/* What the source adds in the whole run, at most. */
static double scale_of_source(const struct hs_problem *problem, const struct hs_plan *plan)
{
    const struct hs_source *source = &problem->source;
    if (!source->present)
        return 0.0;
    double most = 0.0;
    if (source->field.data)
        for (int64_t n = 0; n < hs_grid_count(&problem->grid); n++)
            most = fmax(most, fabs(source->field.data[n]));
    else
        most = largest(problem, &source->field.value, -1, false, plan->end);
    return most * fabs(source->rate) * (problem->raw ? (double)plan->sweeps : plan->end);
}

static double scale_of_faces(const struct hs_problem *problem, const struct hs_plan *plan)
{
    double sum = 0.0;
    for (int f = 0; f < 2 * problem->grid.dims; f++) {
        const struct hs_face *face = &problem->face[f];
        if (face->wrap)
            continue;
        const double drive = largest(problem, &face->drive, f / 2, f % 2, plan->end);
        sum += drive + fabs(face->c[0]) * drive * (double)plan->sweeps;
    }
    return sum;
}

/* "node (3, 4), x = 0.1 m, y = 0.2 m" */
static void name_node(const struct hs_grid *grid, const int64_t node[HS_AXES], char *out,
                      size_t size)
{
    static const char axis_name[] = "xyz";
    int used = snprintf(out, size, "node (");
    for (int axis = 0; axis < grid->dims; axis++)
        used += snprintf(out + used, size - (size_t)used, "%s%lld", axis ? ", " : "",
                         (long long)node[axis]);
    used += snprintf(out + used, size - (size_t)used, ")");
    for (int axis = 0; axis < grid->dims; axis++)
        used += snprintf(out + used, size - (size_t)used, ", %c = %.6g", axis_name[axis],
                         hs_grid_coordinate(grid, axis, node[axis]));
    snprintf(out + used, size - (size_t)used, " m");
}

/* The first node that is not finite, or else the one of largest |T|, and what it holds. */
static enum hs_status find_worst(const struct hs_moment *moment,
                                 const struct hs_reduction *reduction, int64_t node[HS_AXES],
                                 double *value, struct hs_error *err)
{
    if (reduction->not_finite > 0) {
        memcpy(node, reduction->first_bad, sizeof reduction->first_bad);
        return hs_moment_node(moment, node, value, err);
    }
    const void *field;
    const enum hs_status st = hs_moment_field(moment, &field, err);
    if (st)
        return st;
    const struct hs_grid *grid = &moment->problem->grid;
    int64_t worst = 0;
    *value = 0.0;
    for (int64_t n = 0; n < hs_grid_count(grid); n++) {
        const double T = moment->problem->precision == HS_FLOAT ? (double)((const float *)field)[n]
                                                                : ((const double *)field)[n];
        if (fabs(T) > fabs(*value)) {
            worst = n;
            *value = T;
        }
    }
    node[HS_X] = worst % grid->points[HS_X];
    node[HS_Y] = worst / grid->points[HS_X] % grid->points[HS_Y];
    node[HS_Z] = worst / (grid->points[HS_X] * grid->points[HS_Y]);
    return HS_OK;
}

/* "the temperature is NaN at node (3, 4), x = 0.1, y = 0.2 m" */
static enum hs_status describe_worst(const struct hs_moment *moment,
                                     const struct hs_reduction *reduction, char *out, size_t size,
                                     struct hs_error *err)
{
    int64_t node[HS_AXES];
    double value;
    const enum hs_status st = find_worst(moment, reduction, node, &value, err);
    if (st)
        return st;
    char number[32], place[160];
    if (isnan(value)) /* printf would give it a sign */
        snprintf(number, sizeof number, "NaN");
    else
        snprintf(number, sizeof number, "%g", value);
    name_node(&moment->problem->grid, node, place, sizeof place);
    snprintf(out, size, "the temperature is %s at %s", number, place);
    return HS_OK;
}

static const char *config_name(const struct hs_problem *problem)
{
    return problem->config_path ? problem->config_path : "config";
}

enum hs_status hs_watch_begin(struct hs_watch *watch, const struct hs_moment *moment,
                              const struct hs_reduction *reduction, struct hs_error *err)
{
    const struct hs_problem *problem = moment->problem;
    *watch =
        (struct hs_watch){.last_good = moment->sweep, .look_seconds = NAN, .sweep_seconds = NAN};
    if (reduction->not_finite > 0) {
        char worst[256];
        const enum hs_status st = describe_worst(moment, reduction, worst, sizeof worst, err);
        if (st)
            return st;
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: initial: %s (%lld nodes are not finite); give a field that is "
                            "finite everywhere",
                            config_name(problem), worst, (long long)reduction->not_finite);
    }
    const double scale = fmax(fabs(reduction->min), fabs(reduction->max)) +
                         scale_of_source(problem, moment->plan) +
                         scale_of_faces(problem, moment->plan);
    watch->bound = scale > 0.0 ? out_of_scale * scale : INFINITY;
    return HS_OK;
}

enum hs_status hs_watch_judge(struct hs_watch *watch, const struct hs_moment *moment,
                              const struct hs_reduction *reduction, struct hs_error *err)
{
    const bool finite = reduction->not_finite == 0;
    if (finite && fabs(reduction->min) <= watch->bound && fabs(reduction->max) <= watch->bound) {
        watch->last_good = moment->sweep;
        return HS_OK;
    }
    char worst[256];
    const enum hs_status st = describe_worst(moment, reduction, worst, sizeof worst, err);
    if (st)
        return st;
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: diverged: %s, at sweep %lld, t = %.9g s "
                        "(in order at sweep %lld, t = %.9g s); %s; snapshots before it are kept",
                        config_name(moment->problem), worst, (long long)moment->sweep, moment->time,
                        (long long)watch->last_good, hs_plan_time(moment->plan, watch->last_good),
                        finite ? "that is a million times what initial field, walls and source "
                                 "can bring"
                               : "look at what the walls' and the source's expressions give then");
}

void hs_watch_cost(struct hs_watch *watch, double look_seconds, double sweep_seconds)
{
    watch->look_seconds = look_seconds;
    watch->sweep_seconds = sweep_seconds;
}

int64_t hs_watch_next(const struct hs_watch *watch, int64_t sweep)
{
    double apart = 64.0; /* until the costs are known */
    if (watch->look_seconds > 0.0 && watch->sweep_seconds > 0.0)
        apart = ceil(watch->look_seconds / (look_share * watch->sweep_seconds));
    return sweep + (int64_t)fmin(fmax(apart, 16.0), 1e12);
}
