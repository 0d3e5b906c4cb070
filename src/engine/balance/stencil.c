/*
 * The balance of a stencil of radius 1: the conductance between neighbours is c*C/dt, and the
 * ghosts' rule says what leaves.
 *
 * A node of a face is the share w (`edge_weight`) of a cell, of area A on the face. Its neighbour
 * inside brings it K*A*(inner - edge), K = c*h*C/dt, while the sweep gives it w*K*A*(inner + ghost
 * - 2*edge). The difference leaves. For walls through the node, with the ghost inner + 2*h*dT/dn,
 * that is -k*A*dT/dn whatever is inside.
 */
#include "engine/balance/parts.h"

#include <math.h>

/* The number as sweeps use it, in the field's precision. */
static double rounded(const struct hs_balance *balance, double number)
{
    return balance->problem->precision == HS_FLOAT ? (double)(float)number : number;
}

/* What leaves is inner*T of the inner node + edge*T of the wall's node + data*the data, per area
 * and transfer. */
struct law {
    double inner, edge, data;
};

static struct law law_of(const struct hs_balance *balance, int face)
{
    const struct hs_face *rule = &balance->problem->face[face];
    const double w = rule->edge_weight;
    return (struct law){.inner = 1.0 - w * (1.0 + rule->a[0]),
                        .edge = 2.0 * w - 1.0 - w * rounded(balance, rule->b[0]),
                        .data = -w * rounded(balance, rule->c[0])};
}

static int depth(const struct hs_balance *balance, int face)
{
    const struct law law = law_of(balance, face);
    if (balance->problem->face[face].held > 0 || law.inner != 0.0)
        return 2;
    return law.edge != 0.0;
}

static int holding(const struct hs_balance *balance, int face, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = balance->problem;
    return problem->face[face].held > 0 && hs_balance_is_on(&problem->grid, face, node)
               ? balance->wall_of_face[face]
               : -1;
}

static int holder(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = balance->problem;
    int face = hs_problem_prescribing_face(problem, node);
    for (int f = 2 * problem->grid.dims - 1; f >= 0 && face < 0; f--)
        if (holding(balance, f, node) >= 0)
            face = f;
    return face < 0 ? -1 : balance->wall_of_face[face];
}

static double width(const struct hs_balance *balance, int axis, int64_t i)
{
    const int64_t last = balance->problem->grid.points[axis] - 1;
    return balance->width[axis][i == 0 ? 0 : i < last ? 1 : 2];
}

static double conductance(const struct hs_balance *balance, const int64_t node[HS_AXES], int axis)
{
    double area = 1.0;
    for (int a = 0; a < balance->problem->grid.dims; a++)
        area *= a == axis ? 1.0 : width(balance, a, node[a]);
    return balance->transfer[axis] * area;
}

static double capacity_at(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = balance->problem;
    return hs_problem_node_volume(problem, node[HS_X], node[HS_Y], node[HS_Z]) *
           hs_problem_heat_capacity(problem);
}

static double data_at(const struct hs_balance *balance, const struct hs_value *data,
                      const int64_t node[HS_AXES])
{
    return rounded(balance, hs_balance_value_at(balance, data, node));
}

static double prescribed(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = balance->problem;
    const int face = hs_problem_prescribing_face(problem, node);
    return face < 0 ? NAN : data_at(balance, &problem->face[face].data, node);
}

static void exchange(const struct hs_balance *balance, int face, int part,
                     struct hs_balance_sums *sums)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_face *rule = &problem->face[face];
    const struct law law = law_of(balance, face);
    const int axis = face / 2, wall = balance->wall_of_face[face];
    const struct hs_balance_layers *layers = &balance->mean[face];
    if (rule->held > 0 || (law.inner == 0.0 && law.edge == 0.0 && law.data == 0.0))
        return;
    const int64_t count = hs_grid_face_count(&problem->grid, face);
    for (int64_t n = hs_balance_part(count, part); n < hs_balance_part(count, part + 1); n++) {
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, n, node);
        const double G = conductance(balance, node, axis);
        const double edge = law.edge != 0.0 ? law.edge * hs_balance_at(balance, layers, node) : 0.0;
        const double data = law.data != 0.0 ? law.data * data_at(balance, &rule->data, node) : 0.0;
        double inner = 0.0;
        if (law.inner != 0.0) {
            int64_t inside[HS_AXES] = {node[HS_X], node[HS_Y], node[HS_Z]};
            inside[axis] += face % 2 ? -1 : 1;
            inner = law.inner * hs_balance_at(balance, layers, inside);
        }
        hs_balance_leave(sums, wall, holder(balance, node), G * (inner + edge + data),
                         G * (fabs(inner) + fabs(edge) + fabs(data)));
    }
}

static void begin(struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        balance->transfer[axis] =
            rounded(balance, balance->stencil.c[hs_stencil_index(1, axis, 1)]) *
            problem->grid.spacing[axis] * hs_problem_heat_capacity(problem) / balance->step.sweep;
}

static const struct hs_balance_operator stencil = {.depth = depth,
                                                   .holder = holder,
                                                   .holding = holding,
                                                   .conductance = conductance,
                                                   .capacity_at = capacity_at,
                                                   .begin = begin,
                                                   .prescribed = prescribed,
                                                   .exchange = exchange};

void hs_balance_of_stencil(struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    balance->op = &stencil;
    balance->capacity = balance->source.volume * hs_problem_heat_capacity(problem);
    for (int axis = 0; axis < problem->grid.dims; axis++)
        for (int n = 0; n < 3; n++)
            balance->width[axis][n] =
                hs_problem_node_width(problem, axis, n < 2 ? n : problem->grid.points[axis] - 1);
    for (int wall = 0; wall < balance->wall_count; wall++)
        balance->wall_of_face[hs_problem_wall_face(problem, wall)] = wall;
}
