#include "engine/steps/pulses.h"

#include "core/round.h"
#include "engine/network/coefficients.h"
#include "engine/walls/boundary_data.h"
#include "engine/walls/boundary_data_parts.h"
#include "functions/evaluate.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdlib.h>

enum {
    TIMES = 1000,    /* of an interval */
    LEAST_TIMES = 8, /* of a step */
    WORK = 100000,   /* samples of an interval, where all numbers at all times would be more */
    CLOSELY = 100,   /* of these samples, in a step, that are looked at closely */
    SAMPLES = 10000  /* for steps of one length */
};

static const double worth = 0.1;      /* of a number's range, for steps of one length */
static const double mistake = 0.15;   /* of what a number does in all, likewise */
static const double seen_share = 0.5; /* of the range seen */
static const double bent_share = 0.1; /* likewise; a parabola that turns in mid-step has 0.083 */
static const double careful = 0.5;    /* of the tolerance: the rest is the error estimate's */

/* Numbers of one kind that act: a datum's at its nodes, the weights of what moves along walls, or
 * else the time functions. */
struct group {
    const struct hs_problem *problem;
    const struct hs_datum *datum;
    const struct hs_moving *moving;
    struct hs_datum_nodes nodes; /* of the datum */
    int64_t count;
    double time; /* s: length of the step */
    /* K of a node for each unit during the step: of the datum, or of each function; `prescribed`:
     * the part that is a node's temperature */
    const double *reach, *prescribed;
};

/* One of the numbers. flows: it flows in during the step; else it is its node's temperature. */
struct number {
    int64_t place;
    double reach;
    bool flows;
};

/* How many times within a step are looked at. */
static int64_t times_of(const struct hs_pulse_step *step)
{
    return LEAST_TIMES + (int64_t)(TIMES * (step->end - step->begin) / step->interval);
}

/* ---- what a number is ------------------------------------------------------------------------ */

static bool are_functions(const struct group *group)
{
    return !group->moving && !group->datum;
}

static int64_t moving_node(const struct group *group, int64_t weight)
{
    const struct hs_moving_stretch *stretch = hs_moving_stretch_of(group->moving, weight);
    return group->moving->node[stretch->first + weight - stretch->weight];
}

static double moving_at(const struct group *group, int64_t weight, double t)
{
    const struct hs_grid *grid = &group->problem->grid;
    int64_t at[HS_AXES];
    hs_grid_node(grid, moving_node(group, weight), at);
    return group->moving->weight[weight] *
           hs_value_at_node(hs_moving_stretch_of(group->moving, weight)->value, grid, at, t);
}

static double number_at(const struct group *group, int64_t place, double t)
{
    int64_t node[HS_AXES];
    if (group->moving)
        return moving_at(group, place, t);
    if (are_functions(group))
        return hs_time_function_at(&group->problem->time_functions[place], t);
    hs_datum_node(&group->problem->grid, &group->nodes, place, node);
    return hs_datum_at(group->problem, group->datum, node, t);
}

static struct number number_of(const struct group *group, int64_t place)
{
    const struct hs_problem *problem = group->problem;
    if (group->moving) {
        const struct hs_network_row *row =
            hs_network_row_at(problem->network, moving_node(group, place));
        return (struct number){place, hs_network_added_by(row, 1.0, group->time),
                               row->kind != HS_NODE_PRESCRIBED};
    }
    if (are_functions(group))
        return (struct number){place, group->reach[place], group->prescribed[place] == 0.0};
    const int face = group->datum->face;
    return (struct number){place, *group->reach, face < 0 || !problem->face[face].prescribed};
}

/* How far a value is off the line between the values at the step's ends. */
static double off_line(const struct hs_pulse_step *step, double begin, double end, double t,
                       double value)
{
    const double share = (t - step->begin) / (step->end - step->begin);
    return fabs(value - (begin + share * (end - begin)));
}

/* ---- one number, closely --------------------------------------------------------------------- */

/* What was seen of a number, how far outside of that it comes, and its mean distance from the
 * line. */
struct seen {
    double begin, end, low, high, outside, off;
};

static void look(struct seen *seen, double value)
{
    seen->outside = fmax(seen->outside, fmax(seen->low - value, value - seen->high));
}

/* The tables that a function of time is made of: itself, or its factors. */
static int tables_of(const struct hs_time_function *function,
                     const struct hs_time_function *table[2])
{
    int count = 0;
    for (int n = 0; n < 2; n++) {
        const struct hs_time_function *factor = function - function->factor[n];
        if (factor->points > 0 && (n == 0 || function->factor[0] > 0))
            table[count++] = factor;
    }
    return count;
}

/* A table is linear between its points, and its product with another one nearly so. */
static void look_at_points(const struct hs_time_function *function,
                           const struct hs_time_function *table, const struct hs_pulse_step *step,
                           struct seen *seen)
{
    double before = step->begin, off_before = 0.0;
    for (int64_t n = hs_interval_of(table->time, table->points, step->begin); n < table->points;
         n++) {
        const double t = table->time[n];
        if (t <= step->begin)
            continue;
        if (t >= step->end)
            break;
        const double value = hs_time_function_at(function, t);
        const double off = off_line(step, seen->begin, seen->end, t, value);
        look(seen, value);
        seen->off += 0.5 * (off + off_before) * (t - before);
        before = t;
        off_before = off;
    }
    seen->off += 0.5 * off_before * (step->end - before);
}

static void look_at_times(const struct group *group, int64_t place,
                          const struct hs_pulse_step *step, struct seen *seen)
{
    const int64_t times = times_of(step);
    for (int64_t s = 1; s < times; s++) {
        const double t = step->begin + (step->end - step->begin) * (double)s / (double)times;
        const double value = number_at(group, place, t);
        look(seen, value);
        seen->off += off_line(step, seen->begin, seen->end, t, value) / (double)times;
    }
}

static bool is_missed(const struct group *group, const struct number *number,
                      const struct hs_pulse_step *step)
{
    const int64_t place = number->place;
    const double before = number_at(group, place, step->before);
    struct seen seen = {.begin = number_at(group, place, step->begin),
                        .end = number_at(group, place, step->end)};
    seen.low = fmin(before, fmin(seen.begin, seen.end));
    seen.high = fmax(before, fmax(seen.begin, seen.end));
    const struct hs_time_function *const functions = group->problem->time_functions, *table[2];
    const int tables = are_functions(group) ? tables_of(&functions[place], table) : 0;
    for (int n = 0; n < tables; n++)
        look_at_points(&functions[place], table[n], step, &seen);
    seen.off /= step->end - step->begin;
    if (tables == 0)
        look_at_times(group, place, step, &seen);
    const double range = seen.high - seen.low, tolerance = step->tolerance;
    return (seen.outside > seen_share * range && seen.outside * number->reach > tolerance) ||
           (number->flows && seen.off > bent_share * range &&
            seen.off * number->reach > careful * tolerance);
}

/* ---- of many, some --------------------------------------------------------------------------- */

/* The n-th number in [0, 1) of a sequence that is evenly spread from the first on: Roberts'
 * sequence in two dimensions. */
static double spread(int64_t n, int dimension)
{
    static const double by[] = {0.7548776662466927, 0.5698402909980532};
    return fmod(0.5 + (double)n * by[dimension], 1.0);
}

/* Whether a number's value at some time could matter, if it lasted for the whole step. */
static bool may_matter(const struct group *group, const struct number *number,
                       const struct hs_pulse_step *step, double t)
{
    const double begin = number_at(group, number->place, step->begin);
    const double end = number_at(group, number->place, step->end);
    const double off = off_line(step, begin, end, t, number_at(group, number->place, t));
    return off * number->reach > careful * step->tolerance;
}

/* Where the numbers are too many, samples them and times together; looks closely if it may
 * matter. */
static bool any_missed(const struct group *group, const struct hs_pulse_step *step)
{
    const int64_t times = times_of(step), work = WORK / TIMES * times;
    const bool all = are_functions(group) || group->count * times <= work;
    int closely = 0;
    bool missed = false;
    for (int64_t n = 0; n < (all ? group->count : work) && closely < CLOSELY && !missed; n++) {
        const int64_t place = all ? n : (int64_t)(spread(n, 0) * (double)group->count);
        const struct number number = number_of(group, place);
        if (!all && !may_matter(group, &number, step, step->begin + spread(n, 1) * group->time))
            continue;
        missed = is_missed(group, &number, step);
        closely += !all;
    }
    return missed;
}

/* ---- what acts ------------------------------------------------------------------------------- */

/* All groups of a problem, for steps of a length; none where nothing changes in time. */
struct groups {
    int count;
    struct group group[3 + HS_DATA_MOST];
    struct hs_datum data[HS_DATA_MOST];
    double reach_of_data[HS_DATA_MOST];
    double *reach, *prescribed; /* of the time functions */
};

static void add_moving(struct groups *out, const struct hs_problem *problem,
                       const struct hs_moving *moving, double time)
{
    out->group[out->count++] = (struct group){
        .problem = problem, .moving = moving, .count = moving->weights, .time = time};
}

static void add_network(struct groups *out, const struct hs_problem *problem, double time)
{
    const struct hs_network *network = problem->network;
    if (hs_network_varies(network, problem->time_functions)) {
        out->reach = hs_data_function_reaches(problem, time, 1.0);
        out->prescribed = hs_data_function_reaches(problem, 0.0, 1.0);
        out->group[out->count++] = (struct group){.problem = problem,
                                                  .count = problem->time_function_count,
                                                  .time = time,
                                                  .reach = out->reach,
                                                  .prescribed = out->prescribed};
    }
    add_moving(out, problem, &network->inflow, time);
    add_moving(out, problem, &network->given, time);
}

/* K per unit at the node that changes most; `sweep` does in one what the step does. */
static double datum_reach(const struct hs_problem *problem, const struct hs_datum *datum,
                          const struct hs_stencil *sweep)
{
    double neighbour = 0.0;
    if (datum->face < 0)
        return datum->gain;
    const struct hs_face *face = &problem->face[datum->face];
    for (int apart = 1; apart <= sweep->radius; apart++)
        neighbour = fmax(neighbour,
                         fabs(sweep->c[hs_stencil_index(sweep->radius, datum->face / 2, apart)]));
    return face->prescribed ? 1.0 : fabs(face->c[0]) * neighbour;
}

static void find_groups(struct groups *out, const struct hs_problem *problem, double time)
{
    *out = (struct groups){.count = 0};
    if (!hs_boundary_data_in_time(problem))
        return;
    if (problem->network)
        add_network(out, problem, time);
    const struct hs_stencil sweep = hs_problem_stencil(problem, time);
    const int count = hs_data_list(problem, time, 1.0, time, out->data);
    for (int d = 0; d < count; d++) {
        const struct hs_datum *datum = &out->data[d];
        if (!(hs_value_varies(datum->value) & HS_VARIES_T) || datum->field)
            continue;
        struct group group = {.problem = problem, .datum = datum, .time = time};
        group.nodes = hs_datum_nodes_of(&problem->grid, datum, INT64_MAX);
        group.count = group.nodes.count;
        out->reach_of_data[d] = datum_reach(problem, datum, &sweep);
        group.reach = &out->reach_of_data[d];
        out->group[out->count++] = group;
    }
}

static void release(struct groups *groups)
{
    free(groups->reach);
    free(groups->prescribed);
}

bool hs_pulses_missed(const struct hs_problem *problem, const struct hs_pulse_step *step)
{
    struct groups groups;
    bool missed = false;
    find_groups(&groups, problem, step->end - step->begin);
    for (int n = 0; n < groups.count && !missed; n++)
        missed = any_missed(&groups.group[n], step);
    release(&groups);
    return missed;
}

/* ---- what lies ahead ------------------------------------------------------------------------- */

static bool differs(const struct group *group, const struct number *number,
                    const struct hs_pulse_ahead *ahead, double t)
{
    const double now = number_at(group, number->place, ahead->now);
    return fabs(number_at(group, number->place, t) - now) * number->reach > ahead->tolerance;
}

static double point_differs(const struct group *group, const struct hs_pulse_ahead *ahead)
{
    for (int64_t f = 0; f < group->count; f++) {
        const struct hs_time_function *table[2];
        const int tables = tables_of(&group->problem->time_functions[f], table);
        const struct number number = number_of(group, f);
        for (int m = 0; m < tables; m++)
            for (int n = 0; n < table[m]->points; n++) {
                const double t = table[m]->time[n];
                if (t > ahead->now && t <= ahead->end && differs(group, &number, ahead, t))
                    return t;
            }
    }
    return NAN;
}

/* A time at which one of the numbers differs; NaN: none. Looks first at times that lie ever farther
 * apart, for what begins soon in a long run, then at evenly spread ones. */
static double any_differs(const struct group *group, const struct hs_pulse_ahead *ahead)
{
    const double left = ahead->end - ahead->now;
    const double point = are_functions(group) ? point_differs(group, ahead) : NAN;
    if (!isnan(point))
        return point;
    const bool all = group->count * 2 * TIMES <= WORK;
    const int64_t each = all ? group->count * TIMES : WORK / 2;
    for (int64_t n = 0; n < 2 * each && group->count > 0; n++) {
        const int64_t s = n % each;
        const double share = all ? (double)(s / group->count + 1) / TIMES : spread(s, 1);
        const int64_t place =
            all ? s % group->count : (int64_t)(spread(s, 0) * (double)group->count);
        const struct number number = number_of(group, place);
        const double t = ahead->now + (n >= each ? share * left
                                                 : ahead->sweep * pow(left / ahead->sweep, share));
        if (differs(group, &number, ahead, t))
            return t;
    }
    return NAN;
}

double hs_pulses_ahead(const struct hs_problem *problem, const struct hs_pulse_ahead *ahead)
{
    struct groups groups;
    double t = NAN;
    if (!(ahead->end > ahead->now))
        return t;
    find_groups(&groups, problem, ahead->sweep);
    for (int n = 0; n < groups.count && isnan(t); n++)
        t = any_differs(&groups.group[n], ahead);
    release(&groups);
    return t;
}

/* ---- what steps of one length jump over ------------------------------------------------------ */

/* The values of one number or of many, and the one that steps see least of. */
struct unseen {
    double step, end;          /* s */
    double share;              /* of the range of the values, that matters */
    bool alike, by_expression; /* only what acts alike everywhere; no tables */
    double low, high;
    double outside, t; /* how far it is outside of the values at the ends of its step, and when */
};

static void look_between(struct unseen *unseen, const struct group *group, int64_t place, double t)
{
    const double step = unseen->step, begin = floor(t / step) * step;
    const double value = number_at(group, place, t), first = number_at(group, place, begin);
    const double last = number_at(group, place, begin + step);
    const double outside = fmax(value - fmax(first, last), fmin(first, last) - value);
    unseen->low = fmin(unseen->low, value);
    unseen->high = fmax(unseen->high, value);
    if (outside > unseen->outside) {
        unseen->outside = outside;
        unseen->t = t;
    }
}

static bool is_unseen(const struct unseen *unseen)
{
    return unseen->outside > 0.0 && unseen->outside > unseen->share * (unseen->high - unseen->low);
}

/* Table or expression of time alone. */
static void look_at_function(struct unseen *unseen, const struct group *group, int64_t place,
                             int64_t samples)
{
    const struct hs_time_function *function = &group->problem->time_functions[place];
    for (int n = 0; n < function->points; n++) {
        unseen->low = fmin(unseen->low, function->number[n]);
        unseen->high = fmax(unseen->high, function->number[n]);
        if (function->time[n] >= 0.0 && function->time[n] <= unseen->end)
            look_between(unseen, group, place, function->time[n]);
    }
    for (int64_t n = 0; n < samples && function->points == 0; n++)
        look_between(unseen, group, place, spread(n, 1) * unseen->end);
}

/* Where the config has a time function of a wall or a material, or a wall's `moving` value. */
static const char *place_in_body(const struct hs_problem *problem, int function,
                                 const struct hs_value *moving)
{
    for (int w = 0; w < problem->wall_count; w++) {
        const struct hs_wall *wall = &problem->walls[w];
        const struct hs_wall_number *const numbers[] = {&wall->flux, &wall->ambient, &wall->value};
        if (!moving && wall->h_function >= 0 &&
            (wall->h_function == function || wall->h_ambient == function))
            return wall->h_place;
        for (int n = 0; n < 3; n++)
            if (moving ? &numbers[n]->moving == moving : numbers[n]->function == function)
                return numbers[n]->place;
    }
    for (int n = 0; n < problem->body->substance_count; n++) {
        const struct hs_substance *s = &problem->body->substance[n];
        if (s->source == function || s->reference == function)
            return s->place[s->source == function ? HS_SUBSTANCE_SOURCE : HS_SUBSTANCE_REFERENCE];
    }
    return hs_problem_place(problem, HS_PLACE_SOURCE); /* the same all over a body */
}

/* Where the config has a number of a group. */
static const char *place_of(const struct group *group, int64_t place)
{
    if (group->datum)
        return hs_problem_place(group->problem, hs_datum_place(group->datum));
    return are_functions(group) ? place_in_body(group->problem, (int)place, NULL)
                                : place_in_body(group->problem, -1,
                                                hs_moving_stretch_of(group->moving, place)->value);
}

static double unseen_function(const struct group *group, const struct unseen *nothing,
                              const char **place)
{
    const int64_t samples = hs_larger(SAMPLES / group->count, TIMES);
    for (int64_t f = 0; f < group->count; f++) {
        struct unseen unseen = *nothing;
        const struct hs_time_function *function = &group->problem->time_functions[f], *table[2];
        if (!hs_time_function_varies(function) ||
            (nothing->by_expression && tables_of(function, table) > 0))
            continue;
        look_at_function(&unseen, group, f, samples);
        if (!is_unseen(&unseen))
            continue;
        *place = place_of(group, f);
        return unseen.t;
    }
    return NAN;
}

/* Of numbers that differ from place to place: places and times together. */
static double unseen_number(const struct group *group, const struct unseen *nothing,
                            const char **place)
{
    struct unseen unseen = *nothing;
    int64_t number = 0;
    for (int64_t n = 0; n < SAMPLES && group->count > 0; n++) {
        const double before = unseen.outside;
        const int64_t at = (int64_t)(spread(n, 0) * (double)group->count);
        look_between(&unseen, group, at, spread(n, 1) * unseen.end);
        number = unseen.outside > before ? at : number;
    }
    if (!is_unseen(&unseen))
        return NAN;
    *place = place_of(group, number);
    return unseen.t;
}

static bool acts_alike(const struct group *group)
{
    return are_functions(group) ||
           (group->datum && !(hs_value_varies(group->datum->value) & HS_VARIES_SPACE));
}

static double find_unseen(const struct hs_problem *problem, const struct unseen *nothing,
                          const char **place)
{
    struct groups groups;
    double t = NAN;
    if (!(nothing->end > 0.0))
        return t;
    find_groups(&groups, problem, nothing->step);
    for (int n = 0; n < groups.count && isnan(t); n++) {
        const struct group *group = &groups.group[n];
        if (!nothing->alike || acts_alike(group))
            t = are_functions(group) ? unseen_function(group, nothing, place)
                                     : unseen_number(group, nothing, place);
    }
    release(&groups);
    return t;
}

/* Nothing is seen yet. */
#define UNSEEN .low = INFINITY, .high = -INFINITY, .t = NAN

double hs_pulses_unseen(const struct hs_problem *problem, double step, double end,
                        const char **place)
{
    const struct unseen nothing = {step, end, .share = worth, UNSEEN};
    return find_unseen(problem, &nothing, place);
}

double hs_pulses_unshown(const struct hs_problem *problem, double apart, double end,
                         const char **place)
{
    const struct unseen nothing = {apart, end, .share = seen_share, .alike = true, UNSEEN};
    return find_unseen(problem, &nothing, place);
}

double hs_pulses_too_short(const struct hs_problem *problem, double interval, double end,
                           const char **place)
{
    const struct unseen nothing = {interval / TIMES,      end,   .share = worth, .alike = true,
                                   .by_expression = true, UNSEEN};
    return find_unseen(problem, &nothing, place);
}

/* ---- what steps of one length take for too much or too little -------------------------------- */

/* Sums over steps of one length. */
struct taken {
    double low, high; /* of all values */
    double seen, is;  /* sums of the mean of a step's ends, and of the step's mean */
    double bends;     /* the sum of squares of its mean distance from the line between its ends */
    double jumps, steps; /* the sum of jumps where steps end; how many steps */
};

static void take_step(struct taken *taken, const struct group *group, int64_t place, double begin,
                      double end)
{
    enum { WITHIN = 16 };
    const double little = 1e-9 * (end - begin), first = number_at(group, place, begin);
    const double before = number_at(group, place, end - little);
    const double after = number_at(group, place, end + little);
    const double last = number_at(group, place, end);
    const struct hs_pulse_step step = {.begin = begin, .end = end};
    double off = 0.0;
    taken->seen += 0.5 * (first + last);
    taken->jumps += fabs(after - before);
    taken->steps += 1.0;
    taken->low = fmin(taken->low, fmin(first, last));
    taken->high = fmax(taken->high, fmax(first, last));
    for (int n = 0; n < WITHIN; n++) {
        const double t = begin + (n + 0.5) / WITHIN * (end - begin);
        const double value = number_at(group, place, t);
        taken->is += value / WITHIN;
        off += off_line(&step, first, last, t, value) / WITHIN;
        taken->low = fmin(taken->low, value);
        taken->high = fmax(taken->high, value);
    }
    taken->bends += off * off;
}

/* What is over within a step counts where little else acts: a flash, but no load that begins, or
 * ends, within one. */
static double mistaken_share(const struct group *group, int64_t place, double step, double end)
{
    struct taken taken = {.low = INFINITY, .high = -INFINITY};
    for (double begin = 0.0; begin < end - 1e-6 * step; begin = taken.steps * step)
        take_step(&taken, group, place, begin, begin + step);
    const double range = taken.high - taken.low, little = 0.01;
    const double above = taken.is - taken.steps * taken.low;
    const double below = taken.steps * taken.high - taken.is, sum = fmin(above, below);
    const double off =
        fmax(fabs(taken.seen - taken.is), fmax(2.0 * sqrt(taken.bends), 0.5 * taken.jumps));
    const bool alone = fabs(above < below ? taken.low : taken.high) <= little * range;
    return off > 0.0 && (alone || sum > range) ? off / sum : 0.0;
}

/* Of numbers that differ from place to place, the largest at once: what moves, or is alike. */
static int64_t largest_number(const struct group *group, double t)
{
    int64_t largest = group->count / 2;
    for (int64_t n = 0; n < hs_smaller(group->count, TIMES); n++) {
        const int64_t place =
            group->count <= TIMES ? n : (int64_t)(spread(n, 0) * (double)group->count);
        if (fabs(number_at(group, place, t)) > fabs(number_at(group, largest, t)))
            largest = place;
    }
    return largest;
}

double hs_pulses_mistaken(const struct hs_problem *problem, double step, double end,
                          const char **place)
{
    const double most_steps = 20000.0;
    struct groups groups;
    double share = 0.0;
    if (!(end > 0.0))
        return share;
    end = fmin(end, most_steps * step);
    find_groups(&groups, problem, step);
    for (int n = 0; n < groups.count && share <= mistake; n++) {
        const struct group *group = &groups.group[n];
        const bool all = are_functions(group);
        for (int64_t f = all ? 0 : largest_number(group, 0.0); f < group->count && share <= mistake;
             f++) {
            if (all && !hs_time_function_varies(&problem->time_functions[f]))
                continue;
            share = mistaken_share(group, f, step, end);
            *place = place_of(group, f);
            if (!all)
                break;
        }
    }
    release(&groups);
    return share > mistake ? share : 0.0;
}
