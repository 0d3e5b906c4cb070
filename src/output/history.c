#include "output/history.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

static void temperature_unit(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, "%s", hs_problem_temperature_unit(problem));
}

static void difference_unit(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, "%s", hs_problem_difference_unit(problem));
}

static bool has_exact(const struct hs_problem *problem)
{
    return problem->exact.present;
}

/* NaN if some nodes are not finite: a value over the other nodes would be misleading. */
static double of_all(const struct hs_history_state *state, double value)
{
    return state->reduction->not_finite > 0 ? NAN : value;
}

/* Defines a function that reads one value of the state, for any wall. */
#define READ(name, from)                                                                           \
    static double name(const struct hs_history_state *state, int wall)                             \
    {                                                                                              \
        (void)wall;                                                                                \
        return from;                                                                               \
    }
READ(min, of_all(state, state->reduction->min))
READ(mean, of_all(state, state->reduction->mean))
READ(max, of_all(state, state->reduction->max))
READ(heat, of_all(state, state->reduction->heat))
READ(change, state->sweep > 0 ? of_all(state, state->reduction->change) : NAN)
READ(max_error, state->exact ? state->exact->max : NAN)
READ(l2_error, state->exact ? state->exact->l2 : NAN)
READ(stored, state->balance ? state->balance->stored : NAN)
READ(source, state->balance ? state->balance->source : NAN)
READ(imbalance, state->balance ? state->balance->imbalance : NAN)

static double flux(const struct hs_history_state *state, int wall)
{
    return state->balance ? state->balance->flux[wall] : NAN;
}

/* What several rows share. */
#define TEMPERATURE .unit = temperature_unit, .summary = "temperature"
#define POWER .unit = hs_problem_power_unit, .is_there = hs_balance_is_there
#define ERROR .unit = difference_unit, .is_there = has_exact

const struct hs_quantity hs_quantities[] = {
    {.name = "min", .long_name = "lowest temperature", TEMPERATURE, .value = min},
    {.name = "mean", .long_name = "volume average of the temperature", TEMPERATURE, .value = mean},
    {.name = "max", .long_name = "highest temperature", TEMPERATURE, .value = max},
    {.name = "heat",
     .long_name = "heat content",
     .note = "sum of volume x temperature x density x specific heat, or of volume x temperature "
             "where these are not given",
     .unit = hs_problem_heat_unit,
     .summary = "heat",
     .value = heat},
    {.name = "change",
     .long_name = "largest change of a node in the sweep before",
     .note = "NaN at sweep 0",
     .unit = difference_unit,
     .value = change},
    {.name = "flux",
     .long_name = "heat that leaves through the wall",
     .note = "mean over the sweep before, or with longer steps over the step "
             "before; NaN at sweep 0; not with radius 2 and 3 or raw coefficients",
     POWER,
     .each_wall = true,
     .summary = "heat out",
     .value = flux},
    {.name = "source",
     .long_name = "heat that sources put in",
     .note = "mean as for flux; less what the perfusion of materials takes",
     POWER,
     .value = source},
    {.name = "stored",
     .long_name = "heat that is stored",
     .note = "mean as for flux; the growth of the heat content",
     POWER,
     .value = stored},
    {.name = "imbalance",
     .long_name = "stored + all of flux - source",
     .note = "mean as for flux; 0 but for rounding, and for what implicit steps leave unsolved",
     POWER,
     .value = imbalance},
    {.name = "max_error",
     .long_name = "largest difference from the exact solution",
     .note = "if exact is given; NaN in rows without a snapshot",
     ERROR,
     .value = max_error},
    {.name = "l2_error",
     .long_name = "root mean square difference from the exact solution",
     .note = "as max_error",
     ERROR,
     .value = l2_error},
    {.name = NULL},
};

/* ---- its values ------------------------------------------------------------------------------ */

bool hs_history_value(const struct hs_quantity *table, const struct hs_problem *problem,
                      bool in_file, int n, struct hs_history_value *out)
{
    for (const struct hs_quantity *quantity = table; quantity->name; quantity++) {
        if (in_file && quantity->is_there && !quantity->is_there(problem))
            continue;
        const int values = quantity->each_wall ? hs_problem_wall_count(problem) : 1;
        if (n < values) {
            char wall[HS_QUANTITY_NAME / 2] = "";
            if (quantity->each_wall)
                hs_problem_wall_name(problem, n, wall, sizeof wall);
            *out = (struct hs_history_value){.quantity = quantity, .wall = n};
            snprintf(out->name, sizeof out->name, "%s%s%s", quantity->name, wall[0] ? "/" : "",
                     wall);
            return true;
        }
        n -= values;
    }
    return false;
}

int hs_history_count(const struct hs_quantity *table, const struct hs_problem *problem)
{
    struct hs_history_value value;
    int count = 0;
    while (hs_history_value(table, problem, true, count, &value))
        count++;
    return count;
}

void hs_history_add_columns(const struct hs_quantity *table, const struct hs_problem *problem,
                            struct hs_series *history)
{
    struct hs_history_value value;
    for (int n = 0; hs_history_value(table, problem, true, n, &value); n++) {
        char unit[HS_QUANTITY_UNIT];
        value.quantity->unit(problem, unit, sizeof unit);
        hs_series_add_column(history, "history", value.name, unit, value.quantity->long_name);
    }
}

void hs_history_fill(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_series *history)
{
    struct hs_history_value value;
    for (int n = 0; hs_history_value(table, state->problem, true, n, &value); n++) {
        double *last = &history->columns[HS_SERIES_FIRST + n].values[history->rows - 1];
        if (isnan(*last))
            *last = value.quantity->value(state, value.wall);
    }
}

/* ---- at the end of a run --------------------------------------------------------------------- */

/* *column: index of the value in a row of the file; advanced to that of the next value. */
static double last_of(const struct hs_history_state *state, const struct hs_history_value *value,
                      int *column)
{
    const struct hs_quantity *quantity = value->quantity;
    const double number = quantity->value(state, value->wall);
    const bool in_file = !quantity->is_there || quantity->is_there(state->problem);
    const int at = *column;
    *column += in_file;
    return isnan(number) && in_file && state->row ? state->row[at] : number;
}

void hs_history_json(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_json *json)
{
    struct hs_history_value value;
    int column = 0;
    for (int n = 0; hs_history_value(table, state->problem, false, n, &value); n++)
        hs_json_number(json, value.name, last_of(state, &value, &column));
}

static void end_line(FILE *stream, const char *line, const char *unit)
{
    if (line)
        fprintf(stream, "%s%s\n", strcmp(unit, "1") == 0 ? "" : " ",
                strcmp(unit, "1") == 0 ? "" : unit);
}

void hs_history_text(const struct hs_quantity *table, const struct hs_history_state *state,
                     FILE *stream)
{
    struct hs_history_value value;
    const char *begun = NULL;
    char unit[HS_QUANTITY_UNIT] = "";
    int column = 0;
    for (int n = 0; hs_history_value(table, state->problem, true, n, &value); n++) {
        const char *line = value.quantity->summary;
        const double number = last_of(state, &value, &column);
        if (!line || isnan(number)) /* not known */
            continue;
        if (begun && strcmp(line, begun) == 0)
            fprintf(stream, ", ");
        else {
            end_line(stream, begun, unit);
            fprintf(stream, "  %-12s ", line);
        }
        const char *name = value.quantity->each_wall ? strrchr(value.name, '/') + 1 : value.name;
        fprintf(stream, "%s%s%.9g", strcmp(line, name) == 0 ? "" : name,
                strcmp(line, name) == 0 ? "" : " ", number);
        value.quantity->unit(state->problem, unit, sizeof unit);
        begun = line;
    }
    end_line(stream, begun, unit);
}

/* ---- for lists ------------------------------------------------------------------------------- */

/* Appends to a list "a, b", unless `text` is already in it. */
static void add_to_list(char *list, size_t size, const char *text)
{
    const size_t length = strlen(text);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p ? 2 : 0)
        if (strncmp(p, text, length) == 0 && (p[length] == ',' || !p[length]))
            return;
    hs_text_add(list, size, ", ", text);
}

void hs_quantity_units(const struct hs_quantity *quantity, char *out, size_t size)
{
    out[0] = '\0';
    for (int known = 1; known >= 0; known--)
        for (int dims = HS_AXES; dims >= 1; dims--) {
            struct hs_problem problem;
            char unit[HS_QUANTITY_UNIT];
            hs_problem_init(&problem);
            problem.grid.dims = dims;
            if (known)
                problem.material.density = problem.material.specific_heat = 1.0;
            quantity->unit(&problem, unit, sizeof unit);
            add_to_list(out, size, unit);
            hs_problem_release(&problem);
        }
}
