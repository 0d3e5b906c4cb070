/* Makes faces of boundary kinds, for tests. */
#ifndef HS_TESTS_WALLS_H
#define HS_TESTS_WALLS_H

#include "core/boundary.h"
#include "core/problem.h"
#include "test.h"

static inline int count_kinds(void)
{
    int count = 0;
    while (hs_boundary_kinds[count].name)
        count++;
    return count;
}

/* A face of the kind, with boundary data `data` and `number` for its numbers. Of keys that exclude
 * each other the last is given. `spec` has conductivity, spacing and radius. */
static inline struct hs_face make_wall(const char *kind, struct hs_value data, double number,
                                       struct hs_boundary_spec spec)
{
    const struct hs_boundary_kind *row = hs_boundary_find(kind);
    assert_non_null(row);
    const int count = hs_boundary_key_count(row);
    for (int n = 0; n < count; n++) {
        if (row->key[n].one_of && n + 1 < count && row->key[n + 1].one_of)
            continue;
        spec.given |= 1u << n;
        spec.value[n] = row->key[n].number ? (struct hs_value){.constant = number} : data;
    }
    char reason[200];
    if (hs_boundary_lacks(row, &spec, reason, sizeof reason))
        fail_msg("%s: %s", kind, reason);
    return hs_boundary_lower(row, &spec);
}

/* Sets a face of the problem likewise, with the problem's conductivity, spacing and radius. */
static inline void set_wall(struct hs_problem *problem, int face, const char *kind,
                            struct hs_value data, double number)
{
    problem->face[face] =
        make_wall(kind, data, number,
                  (struct hs_boundary_spec){.conductivity = problem->material.conductivity,
                                            .spacing = problem->grid.spacing[face / 2],
                                            .radius = problem->radius});
}

/* A line of diffusivity 1, without walls. */
static inline struct hs_problem make_line(int64_t points, double spacing)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = 1;
    problem.grid.points[HS_X] = points;
    problem.grid.spacing[HS_X] = spacing;
    problem.material.diffusivity = 1.0;
    return problem;
}

/* Such a line between held walls. */
static inline struct hs_problem make_held_line(int64_t points, double spacing)
{
    struct hs_problem problem = make_line(points, spacing);
    for (int face = 0; face < 2; face++)
        problem.face[face] = (struct hs_face){.held = 1, .b = {1.0}};
    return problem;
}

/* 3D, 5 x 4 x 6 nodes, spacing 0.5, 1, 2; the value 1 everywhere, no walls. */
static inline struct hs_problem box_problem(void)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid = (struct hs_grid){
        .dims = 3, .points = {5, 4, 6}, .lower = {-1.0, 0.0, 3.0}, .spacing = {0.5, 1.0, 2.0}};
    problem.initial.field.value.constant = 1.0;
    problem.material.diffusivity = 0.25;
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face].edge_weight = 1.0;
    return problem;
}

#endif
