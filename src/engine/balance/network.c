/* The balance of a body: its walls' areas, as in the network, and its materials' sources. */
#include "core/memory.h"
#include "engine/balance/parts.h"

#include "engine/network/of_problem.h"
#include "engine/network/walls.h"
#include "engine/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A wall's area at a node of its face. */
struct part {
    int64_t place; /* of the node on the face */
    int wall;
    int holder; /* the wall that holds the node; -1: none */
    double area;
};

struct own {
    struct hs_network_spec spec;
    struct hs_axis axis[HS_AXES];
    struct hs_walls walls;
    struct part *part[HS_FACES]; /* of walls that let heat pass */
    int64_t parts[HS_FACES];
    double *function; /* means of the time functions in the step */
};

/* ---- before the first look ------------------------------------------------------------------- */

static bool passes(const struct hs_wall *wall)
{
    return wall->kind == HS_WALL_EXCHANGES &&
           (wall->h > 0.0 || hs_wall_number_is_given(&wall->flux));
}

static int depth(const struct hs_balance *balance, int face)
{
    const struct hs_problem *problem = balance->problem;
    int most = 0;
    for (int w = 0; w < problem->wall_count; w++) {
        const struct hs_wall *wall = &problem->walls[w];
        const int wants = wall->kind != HS_WALL_EXCHANGES ? 2 : wall->h > 0.0;
        if (wall->face == face && wants > most)
            most = wants;
    }
    return most;
}

static const struct hs_network_row *row_of(const struct hs_balance *balance,
                                           const int64_t node[HS_AXES])
{
    return hs_network_row_at(balance->problem->network,
                             hs_grid_index(&balance->problem->grid, node));
}

static int holder(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct own *own = balance->own;
    if (row_of(balance, node)->kind == HS_NODE_FREE)
        return -1;
    const struct hs_wall *wall = hs_walls_holding(&own->walls, node);
    return wall ? (int)(wall - balance->problem->walls) : -1;
}

static int holding(const struct hs_balance *balance, int face, const int64_t node[HS_AXES])
{
    const struct own *own = balance->own;
    const struct hs_wall *wall = hs_walls_holding_at(&own->walls, face, node);
    return wall ? (int)(wall - balance->problem->walls) : -1;
}

/* What one thread lists. */
struct listing {
    struct hs_walls walls;
    struct part *part;
    int64_t parts;
};

static void list_node(const struct hs_balance *balance, int face, int64_t place,
                      struct listing *out)
{
    const struct hs_problem *problem = balance->problem;
    struct part part = {.place = place};
    int64_t node[HS_AXES];
    hs_grid_face_node(&problem->grid, face, place, node);
    hs_walls_share(&out->walls, face, node);
    part.holder = holder(balance, node);
    for (part.wall = 0; part.wall < problem->wall_count; part.wall++) {
        part.area = hs_walls_area(&out->walls, part.wall);
        if (!(part.area > 0.0) || !passes(&problem->walls[part.wall]))
            continue;
        out->part = hs_reserve(out->part, (size_t)out->parts, sizeof part);
        out->part[out->parts++] = part;
    }
}

/* Each thread has consecutive places. */
static void list_parts(struct hs_balance *balance, struct own *own, int face)
{
    const struct hs_problem *problem = balance->problem;
    const int64_t places = hs_grid_face_count(&problem->grid, face);
    const int threads = hs_threads_of(problem);
    bool any = false;
    for (int w = 0; w < problem->wall_count; w++)
        any = any || (problem->walls[w].face == face && passes(&problem->walls[w]));
    if (!any)
        return;
    struct listing *of = hs_new((size_t)threads * sizeof *of);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        hs_walls_init(&of[t].walls, &own->spec, own->axis);
        for (int64_t n = places * t / threads; n < places * (t + 1) / threads; n++)
            list_node(balance, face, n, &of[t]);
        hs_walls_release(&of[t].walls);
    }
    for (int t = 0; t < threads; t++)
        own->parts[face] += of[t].parts;
    own->part[face] = hs_new(((size_t)own->parts[face] + 1) * sizeof *own->part[face]);
    struct part *to = own->part[face];
    for (int t = 0; t < threads; t++) {
        if (of[t].parts > 0)
            memcpy(to, of[t].part, (size_t)of[t].parts * sizeof *to);
        to += of[t].parts;
        free(of[t].part);
    }
    free(of);
}

static void release(struct hs_balance *balance)
{
    struct own *own = balance->own;
    if (!own)
        return;
    for (int face = 0; face < HS_FACES; face++)
        free(own->part[face]);
    hs_walls_release(&own->walls);
    hs_axes_release(own->axis);
    free(own->function);
    free(own);
}

/* ---- a look ---------------------------------------------------------------------------------- */

static double conductance(const struct hs_balance *balance, const int64_t node[HS_AXES], int axis)
{
    return row_of(balance, node)->conductance[axis];
}

static double capacity_at(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    return row_of(balance, node)->capacity;
}

/* A wall's number at a node, which is at `place` on the face. */
static double number_at(const struct hs_balance *balance, const struct hs_wall_number *number,
                        const int64_t node[HS_AXES], int64_t place)
{
    if (hs_wall_number_moves(number))
        return hs_balance_value_at(balance, &number->moving, node);
    const struct own *own = balance->own;
    return number->function < 0
               ? 0.0
               : own->function[number->function] * (number->field ? number->field[place] : 1.0);
}

static void begin(struct hs_balance *balance)
{
    const struct own *own = balance->own;
    for (int d = 0; d < balance->problem->time_function_count; d++)
        own->function[d] = hs_balance_function(balance, &balance->problem->time_functions[d]);
}

static double prescribed(const struct hs_balance *balance, const int64_t node[HS_AXES])
{
    const struct hs_network_row *row = row_of(balance, node);
    const struct hs_forcing *forcing = &balance->problem->network->forcing[row->forcing];
    const struct own *own = balance->own;
    double sum = 0.0;
    if (row->kind != HS_NODE_PRESCRIBED)
        return NAN;
    const struct hs_wall *wall = &balance->problem->walls[holder(balance, node)];
    if (hs_wall_number_moves(&wall->value))
        return hs_balance_value_at(balance, &wall->value.moving, node);
    for (int n = 0; n < forcing->inflow.count; n++)
        sum += forcing->inflow.weight[n] * own->function[forcing->inflow.function[n]];
    return sum;
}

/* W/m^2 that convection takes from a node. *gross: the magnitudes of which it is the difference. */
static double convect(const struct hs_balance *balance, const struct hs_wall *wall,
                      const int64_t node[HS_AXES], int64_t place, double *gross)
{
    const struct own *own = balance->own;
    const double share = hs_wall_h_share(wall, place), most = wall->h * share;
    *gross = 0.0;
    if (!(most > 0.0))
        return 0.0;
    const double T = hs_balance_at(balance, &balance->mean[wall->face], node);
    if (wall->h_function < 0) {
        const double ambient = number_at(balance, &wall->ambient, node, place);
        *gross = most * (fabs(T) + fabs(ambient));
        return most * (T - ambient);
    }
    /* the means of h*T and of h*ambient (core/method.h); at a node that a wall holds or prescribes,
     * which takes that heat, of h times that of T */
    const double weighted =
        row_of(balance, node)->kind == HS_NODE_FREE
            ? hs_balance_at(balance, &balance->weighted[wall->h_number][wall->face], node)
            : T;
    const double h = share * own->function[wall->h_function];
    const double brought = share * own->function[wall->h_ambient] *
                           (wall->ambient.field ? wall->ambient.field[place] : 1.0);
    *gross = most * fabs(T) + fabs(brought);
    return most * (weighted - T) + h * T - brought;
}

static void exchange(const struct hs_balance *balance, int face, int which,
                     struct hs_balance_sums *sums)
{
    const struct own *own = balance->own;
    const struct hs_problem *problem = balance->problem;
    const int64_t count = own->parts[face];
    for (int64_t n = hs_balance_part(count, which); n < hs_balance_part(count, which + 1); n++) {
        const struct part *part = &own->part[face][n];
        const struct hs_wall *wall = &problem->walls[part->wall];
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, part->place, node);
        const double flux = number_at(balance, &wall->flux, node, part->place);
        double gross;
        const double convected = convect(balance, wall, node, part->place, &gross);
        hs_balance_leave(sums, part->wall, part->holder, part->area * (convected + flux),
                         part->area * (gross + fabs(flux)));
    }
}

/* For one part of a face's list, with the largest h, as in the rows. */
static struct hs_sum convection_of(const struct hs_balance *balance, int face, int which)
{
    const struct own *own = balance->own;
    const int64_t count = own->parts[face];
    struct hs_sum sum = {0.0, 0.0};
    for (int64_t n = hs_balance_part(count, which); n < hs_balance_part(count, which + 1); n++) {
        const struct part *part = &own->part[face][n];
        const double h = hs_wall_h_at(&balance->problem->walls[part->wall], part->place);
        int64_t node[HS_AXES];
        hs_grid_face_node(&balance->problem->grid, face, part->place, node);
        if (part->holder < 0 && h > 0.0)
            hs_sum_add(&sum, part->area * h * hs_balance_at(balance, &balance->mean[face], node));
    }
    return sum;
}

/* W: sum of the convection in the sinks of free nodes' rows. */
static double convection(const struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    struct hs_sum part[HS_FACES * HS_BALANCE_PARTS], sum = {0.0, 0.0};
    const int parts = 2 * problem->grid.dims * HS_BALANCE_PARTS;
    const int threads = hs_threads_of(problem);
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (hs_grid_count(&problem->grid) > 1 << 16)
    for (int n = 0; n < parts; n++)
        part[n] = convection_of(balance, n / HS_BALANCE_PARTS, n % HS_BALANCE_PARTS);
    for (int n = 0; n < parts; n++)
        hs_sum_join(&sum, &part[n]);
    return hs_sum_value(&sum);
}

/* What a material at 0 K puts in [W/m^3]. */
static double put_in(const struct own *own, const struct hs_substance *substance)
{
    return (substance->source >= 0 ? own->function[substance->source] : 0.0) +
           (substance->perfusion > 0.0 ? substance->perfusion * own->function[substance->reference]
                                       : 0.0);
}

static void sources(struct hs_balance *balance, double sunk)
{
    const struct own *own = balance->own;
    const struct hs_body *body = balance->problem->body;
    if (!hs_body_is_active(body))
        return;
    for (int s = 0; s < body->substance_count; s++)
        hs_balance_put_in(balance, body->substance[s].volume * put_in(own, &body->substance[s]));
    if (balance->sinks) {
        const double convected = convection(balance);
        balance->all.gross += fabs(convected) + fabs(sunk);
        hs_balance_put_in(balance, convected - sunk);
    }
    const struct hs_network *of = balance->problem->network;
    for (int64_t n = 0; n < of->held_count; n++) {
        const struct hs_held_share *share = &of->held[n];
        const struct hs_substance *substance = &body->substance[share->substance];
        const int face = balance->problem->walls[share->wall].face;
        const double sink = share->volume * substance->perfusion *
                            hs_balance_at(balance, &balance->mean[face], share->node);
        hs_balance_put_in(balance, -sink); /* rows of held nodes leave it out */
        const double power = share->volume * put_in(own, substance) - sink;
        hs_balance_leave(&balance->all, share->wall, -1, power, fabs(power));
    }
}

static const struct hs_balance_operator network = {.depth = depth,
                                                   .holder = holder,
                                                   .holding = holding,
                                                   .conductance = conductance,
                                                   .capacity_at = capacity_at,
                                                   .begin = begin,
                                                   .prescribed = prescribed,
                                                   .exchange = exchange,
                                                   .sources = sources,
                                                   .release = release};

void hs_balance_of_network(struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    struct own *own = hs_new(sizeof *own);
    balance->op = &network;
    balance->own = own;
    balance->capacity = hs_network_capacity(problem->network, hs_threads_of(problem));
    own->spec = hs_network_problem_spec(problem);
    own->function = hs_new(((size_t)problem->time_function_count + 1) * sizeof *own->function);
    hs_axes_init(own->axis, &own->spec);
    hs_walls_init(&own->walls, &own->spec, own->axis);
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        if (!problem->face[face].wrap)
            list_parts(balance, own, face);
}
