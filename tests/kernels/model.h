/*
 * A run written as plainly as possible, from core/boundary.h and core/stencil.h alone. Every value
 * is looked up by its indices, ghosts are computed where they are needed, and only nodes are
 * stored. Kernels and backends are compared with it under boundaries of any kind.
 */
#ifndef HS_TESTS_KERNELS_MODEL_H
#define HS_TESTS_KERNELS_MODEL_H

#include "core/backend.h"
#include "core/ghost.h"
#include "core/problem.h"
#include "functions/evaluate.h"
#include "functions/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct model {
    const struct hs_problem *problem;
    double *now, *next; /* [nz][ny][nx]; in float precision every value is a float's */
};

static inline double model_round(const struct model *m, double x)
{
    return m->problem->precision == HS_FLOAT ? (double)(float)x : x;
}

static inline double model_ghost(const struct model *m, double a, double inner, double b,
                                 double edge, double offset)
{
    return m->problem->precision == HS_FLOAT
               ? (double)hs_ghost((float)a, (float)inner, (float)b, (float)edge, (float)offset)
               : hs_ghost(a, inner, b, edge, offset);
}

static inline double *model_node(const struct model *m, double *field, const int64_t n[HS_AXES])
{
    const int64_t *points = m->problem->grid.points;
    return field + (n[HS_Z] * points[HS_Y] + n[HS_Y]) * points[HS_X] + n[HS_X];
}

static inline double model_data(const struct model *m, int face, const int64_t node[HS_AXES],
                                double t)
{
    const struct hs_grid *grid = &m->problem->grid;
    double at[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        at[axis] = hs_grid_coordinate(grid, axis, node[axis]);
    return model_round(m, hs_value_at(&m->problem->face[face].data, at[0], at[1], at[2], t));
}

/* The value of a node or, if `n` is outside along one axis, of a ghost. */
static inline double model_value(const struct model *m, const int64_t n[HS_AXES], double t)
{
    const int64_t *points = m->problem->grid.points;
    int axis = 0;
    while (axis < HS_AXES && n[axis] >= 0 && n[axis] < points[axis])
        axis++;
    if (axis == HS_AXES)
        return *model_node(m, m->now, n);
    const bool upper = n[axis] >= points[axis];
    const int face = 2 * axis + upper;
    const struct hs_face *rule = &m->problem->face[face];
    int64_t edge[HS_AXES], inner[HS_AXES];
    memcpy(edge, n, sizeof edge);
    if (rule->wrap) {
        edge[axis] = (n[axis] + points[axis]) % points[axis];
        return *model_node(m, m->now, edge);
    }
    const int64_t distance = upper ? n[axis] - points[axis] + 1 : -n[axis];
    edge[axis] = upper ? points[axis] - 1 : 0;
    memcpy(inner, edge, sizeof inner);
    inner[axis] += upper ? -distance : distance;
    const double a = model_round(m, rule->a[distance - 1]);
    const double b = model_round(m, rule->b[distance - 1]);
    const double c = model_round(m, rule->c[distance - 1]);
    const double offset = model_round(m, c * model_data(m, face, edge, t));
    return model_ghost(m, a, *model_node(m, m->now, inner), b, *model_node(m, m->now, edge),
                       offset);
}

static inline double model_swept(const struct model *m, const struct hs_stencil *stencil,
                                 const int64_t n[HS_AXES], double source, double t)
{
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(stencil, terms);
    double sum = source;
    for (int i = 0; i < count; i++) {
        int64_t neighbour[HS_AXES] = {n[0], n[1], n[2]};
        neighbour[terms[i].axis] += terms[i].offset;
        sum = fma(terms[i].c, model_value(m, neighbour, t), sum);
    }
    return model_round(m, sum);
}

/* A source that is the same everywhere reaches the kernel as a double, any other as a field. */
static inline double model_source(const struct model *m, double source)
{
    const unsigned axes = (1u << m->problem->grid.dims) - 1;
    return hs_value_varies(&m->problem->source.field.value) & axes ? model_round(m, source)
                                                                   : source;
}

static inline bool model_holds(const struct hs_problem *problem, const int64_t n[HS_AXES])
{
    const struct hs_box box = hs_problem_interior(problem);
    for (int axis = 0; axis < HS_AXES; axis++)
        if (n[axis] < box.lo[axis] || n[axis] >= box.hi[axis])
            return true;
    return false;
}

/* Sweep `s` of the span. */
static inline void model_sweep(struct model *m, const struct hs_span *span, int64_t s)
{
    const struct hs_problem *problem = m->problem;
    const int64_t *points = problem->grid.points;
    const double t = hs_span_time(span, s), t_next = hs_span_time(span, s + 1);
    double *source = calloc((size_t)points[HS_X], sizeof *source);
    int64_t n[HS_AXES];
    for (n[2] = 0; n[2] < points[2]; n[2]++)
        for (n[1] = 0; n[1] < points[1]; n[1]++) {
            if (problem->source.present)
                hs_problem_source_row(problem, span->step, t, n[1], n[2], source);
            for (n[0] = 0; n[0] < points[0]; n[0]++) {
                const int face = hs_problem_prescribing_face(problem, n);
                *model_node(m, m->next, n) =
                    face >= 0 ? model_data(m, face, n, t_next)
                    : model_holds(problem, n)
                        ? *model_node(m, m->now, n)
                        : model_swept(m, &span->op.stencil, n, model_source(m, source[n[0]]), t);
            }
        }
    free(source);
    double *before = m->now;
    m->now = m->next;
    m->next = before;
}

#endif
