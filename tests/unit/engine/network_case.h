/* Bodies and walls made by hand, for the tests of the network. */
#ifndef HS_TEST_NETWORK_CASE_H
#define HS_TEST_NETWORK_CASE_H

#include "engine/network/network.h"
#include "functions/program.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_SUBSTANCES = 8, CASE_SOLIDS = 16, CASE_WALLS = 24, CASE_CONTACTS = 8 };

struct network_case {
    struct hs_grid grid;
    struct hs_substance substance[CASE_SUBSTANCES];
    struct hs_solid solid[CASE_SOLIDS];
    struct hs_contact contact[CASE_CONTACTS];
    struct hs_wall wall[CASE_WALLS];
    struct hs_body body;
    struct hs_network_spec spec;
};

/* A grid from 0 to `size` along each of its axes; nothing else. */
static inline void case_init(struct network_case *c, int dims, const int64_t points[HS_AXES],
                             const double size[HS_AXES])
{
    memset(c, 0, sizeof *c);
    c->grid.dims = dims;
    for (int a = 0; a < HS_AXES; a++) {
        c->grid.points[a] = a < dims ? points[a] : 1;
        c->grid.spacing[a] = a < dims ? size[a] / (double)(points[a] - 1) : 1.0;
    }
    c->body.substance = c->substance;
    c->body.solid = c->solid;
    c->body.contact = c->contact;
    c->body.source = -1;
    c->spec = (struct hs_network_spec){.grid = &c->grid,
                                       .body = &c->body,
                                       .wall = c->wall,
                                       .place = "case.cfg:3: body",
                                       .threads = 2};
}

static inline int case_substance(struct network_case *c, double conductivity, double capacity)
{
    assert_true(c->body.substance_count < CASE_SUBSTANCES);
    c->substance[c->body.substance_count] =
        (struct hs_substance){.conductivity = {conductivity, conductivity, conductivity},
                              .capacity = capacity,
                              .source = -1};
    return c->body.substance_count++;
}

static inline struct hs_solid *case_solid(struct network_case *c, enum hs_shape_kind kind,
                                          int substance)
{
    assert_true(c->body.solid_count < CASE_SOLIDS);
    struct hs_solid *solid = &c->solid[c->body.solid_count++];
    *solid = (struct hs_solid){.shape = {.kind = kind}, .substance = substance};
    for (int a = 0; a < HS_AXES; a++) {
        solid->shape.lower[a] = -INFINITY;
        solid->shape.upper[a] = INFINITY;
    }
    solid->shape.from = -INFINITY;
    solid->shape.to = INFINITY;
    return solid;
}

/* A layer between two coordinates along one axis. */
static inline void case_layer(struct network_case *c, int substance, int axis, double lower,
                              double upper)
{
    struct hs_solid *solid = case_solid(c, HS_SHAPE_BOX, substance);
    solid->shape.lower[axis] = lower;
    solid->shape.upper[axis] = upper;
}

static inline void case_contact(struct network_case *c, int one, int other, double resistance)
{
    assert_true(c->body.contact_count < CASE_CONTACTS);
    c->contact[c->body.contact_count++] =
        (struct hs_contact){.between = {one, other}, .resistance = resistance};
}

/* A wall over a whole face. */
static inline struct hs_wall *case_wall(struct network_case *c, int face, enum hs_wall_kind kind)
{
    assert_true(c->spec.wall_count < CASE_WALLS);
    struct hs_wall *wall = &c->wall[c->spec.wall_count++];
    *wall = (struct hs_wall){.face = face,
                             .kind = kind,
                             .h_function = -1,
                             .h_ambient = -1,
                             .flux = {.function = -1},
                             .ambient = {.function = -1},
                             .value = {.function = -1}};
    for (int a = 0; a < HS_AXES; a++) {
        wall->lower[a] = -INFINITY;
        wall->upper[a] = INFINITY;
    }
    return wall;
}

/* Wall values that vary in space and time: x*t - y, and y*t + z. */
static inline struct hs_wall_number case_moving(int which)
{
    static const struct hs_instruction one[] = {
        {HS_OP_X, 0.0}, {HS_OP_T, 0.0},        {HS_OP_MULTIPLY, 0.0},
        {HS_OP_Y, 0.0}, {HS_OP_SUBTRACT, 0.0},
    };
    static const struct hs_instruction other[] = {
        {HS_OP_Y, 0.0}, {HS_OP_T, 0.0}, {HS_OP_MULTIPLY, 0.0}, {HS_OP_Z, 0.0}, {HS_OP_ADD, 0.0},
    };
    return (struct hs_wall_number){
        .function = -1,
        .moving = {.expression = {.code = which ? other : one,
                                  .length = 5,
                                  .varies = HS_VARIES_SPACE | HS_VARIES_T}}};
}

static inline double case_moving_at(const struct hs_wall_number *number, const double x[HS_AXES],
                                    double t)
{
    const bool other = number->moving.expression.code[0].operation == HS_OP_Y;
    return other ? x[HS_Y] * t + x[HS_Z] : x[HS_X] * t - x[HS_Y];
}

static inline struct hs_network case_make(const struct network_case *c)
{
    struct hs_network network;
    struct hs_error err = {0};
    const enum hs_status st = hs_network_make(&c->spec, &network, &err);
    if (st)
        fail_msg("%s", err.text);
    assert_null(err.text);
    return network;
}

/* The spec must be refused with `text` in the message. */
static inline void case_refused(const struct network_case *c, const char *text)
{
    struct hs_network network;
    assert_fails(hs_network_make(&c->spec, &network, &err), HS_BAD_INPUT, text);
    assert_null(network.row);
    assert_null(network.number);
    assert_null(network.forcing);
}

static inline const struct hs_network_row *case_row(const struct hs_network *network, int64_t i,
                                                    int64_t j, int64_t k)
{
    const int64_t *n = network->grid.points;
    return hs_network_row_at(network, i + n[HS_X] * (j + n[HS_Y] * k));
}

/* Weight of a function in the forcing of a row; 0 if it has none. */
static inline double case_weight(const struct hs_network *network, const struct hs_network_row *row,
                                 int function)
{
    const struct hs_forcing *forcing = &network->forcing[row->forcing];
    for (int n = 0; n < forcing->inflow.count; n++)
        if (forcing->inflow.function[n] == function)
            return forcing->inflow.weight[n];
    return 0.0;
}

/* Width of the part of a node's control volume between two coordinates, on a grid from 0. */
static inline double case_overlap(const struct hs_grid *grid, int axis, int64_t i, double lower,
                                  double upper)
{
    if (axis >= grid->dims)
        return 1.0;
    const double dx = grid->spacing[axis], end = dx * (double)(grid->points[axis] - 1);
    const double lo = fmax(fmax(((double)i - 0.5) * dx, 0.0), lower);
    const double hi = fmin(fmin(((double)i + 0.5) * dx, end), upper);
    return fmax(hi - lo, 0.0);
}

/* Sum over all nodes of one number of their rows. */
static inline double case_sum(const struct hs_network *network,
                              double (*of)(const struct hs_network *, const struct hs_network_row *,
                                           int which),
                              int which)
{
    double sum = 0.0;
    for (int64_t n = 0; n < hs_grid_count(&network->grid); n++)
        sum += of(network, hs_network_row_at(network, n), which);
    return sum;
}

static inline double case_capacity_of(const struct hs_network *network,
                                      const struct hs_network_row *row, int which)
{
    return row->capacity;
}

static inline double case_conductance_of(const struct hs_network *network,
                                         const struct hs_network_row *row, int axis)
{
    return row->conductance[axis];
}

static inline double case_sink_of(const struct hs_network *network,
                                  const struct hs_network_row *row, int which)
{
    return row->sink;
}

/* Two numbers are equal within a relative tolerance. */
#define assert_close(a, b, relative) assert_near(a, b, (relative)*fmax(fabs(a), fabs(b)))

#endif
