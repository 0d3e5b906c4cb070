/* Functions of time that act on a body, and numbers of its walls: function(t) * field[node], or
 * expressions of both place and time. */
#include "input/config_reader.h"

#include "core/memory.h"
#include "core/text.h"
#include "functions/evaluate.h"
#include "input/field_file.h"
#include "input/fingerprint.h"
#include "input/table_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_constant(const struct hs_time_function *function)
{
    return function->points == 0 && function->factor[0] == 0 && !function->value.expression.code;
}

/* Takes ownership of what `function` points to. Equal constants share one function. */
static int add_function(struct hs_problem *problem, struct hs_time_function function)
{
    for (int n = 0; n < problem->time_function_count && is_constant(&function); n++)
        if (is_constant(&problem->time_functions[n]) &&
            problem->time_functions[n].value.constant == function.value.constant)
            return n;
    problem->time_functions =
        hs_reserve(problem->time_functions, (size_t)problem->time_function_count,
                   sizeof *problem->time_functions);
    problem->time_functions[problem->time_function_count] = function;
    return problem->time_function_count++;
}

int hs_add_product(struct hs_problem *problem, int h, int other)
{
    const int here = problem->time_function_count;
    for (int n = 0; n < here; n++) {
        const int *factor = problem->time_functions[n].factor;
        if (factor[0] > 0 && n - factor[0] == h && n - factor[1] == other)
            return n;
    }
    return add_function(problem, (struct hs_time_function){.factor = {here - h, here - other}});
}

/* The constant 1, for numbers given by a field alone. */
static int add_one(struct hs_reader *reader)
{
    return add_function(reader->problem, (struct hs_time_function){.value = {.constant = 1.0}});
}

/* Adds a function of time; -1 if it is not finite at the start, which is reported. */
static int add_value(struct hs_reader *reader, const char *key, const struct hs_value *value)
{
    const double first = hs_value_at(value, 0.0, 0.0, 0.0, 0.0);
    if (isfinite(first))
        return add_function(reader->problem, (struct hs_time_function){.value = *value});
    hs_complain(reader, key, "is not a finite number at t = 0 s");
    return -1;
}

/* ---- over a face ----------------------------------------------------------------------------- */

/* The nodes of a face as a grid with one axis fewer. */
static struct hs_grid grid_of_face(const struct hs_grid *grid, int face)
{
    struct hs_grid plane = {
        .dims = grid->dims - 1, .points = {1, 1, 1}, .spacing = {1.0, 1.0, 1.0}};
    const int axes[] = {hs_face_first_axis(face), hs_face_second_axis(face)};
    for (int n = 0; n < plane.dims; n++)
        plane.points[n] = grid->points[axes[n]];
    return plane;
}

/* Values of an expression at the face's nodes at t = 0. */
static double *evaluate_on(const struct hs_grid *grid, int face, const struct hs_value *value)
{
    const struct hs_box box = hs_grid_face_box(grid, face);
    double *field = hs_new((size_t)hs_grid_face_count(grid, face) * sizeof *field), *to = field;
    for (int64_t k = box.lo[HS_Z]; k < box.hi[HS_Z]; k++)
        for (int64_t j = box.lo[HS_Y]; j < box.hi[HS_Y]; j++)
            for (int64_t i = box.lo[HS_X]; i < box.hi[HS_X]; i++)
                *to++ = hs_value_at_node(value, grid, (int64_t[]){i, j, k}, 0.0);
    return field;
}

/* Frees a field with numbers below `least` or not finite, and sets it to NULL; `when`: ", at t = 0
 * s" for values that change in time. */
static bool check_field(struct hs_reader *reader, const char *key, int face, double least,
                        const char *when, double **field)
{
    const struct hs_grid *grid = &reader->problem->grid;
    const int64_t count = hs_grid_face_count(grid, face);
    for (int64_t n = 0; n < count; n++) {
        const double found = (*field)[n];
        if (isfinite(found) && found >= least)
            continue;
        int64_t node[HS_AXES];
        hs_grid_face_node(grid, face, n, node);
        hs_complain(reader, key, "%s%s; it must be a finite number%s everywhere",
                    hs_found_at(reader, found, node).text, when,
                    least == 0.0 ? ", 0 or more," : "");
        free(*field);
        *field = NULL;
        return false;
    }
    return true;
}

double *hs_read_face_field(struct hs_reader *reader, const char *key, int face)
{
    const struct hs_grid plane = grid_of_face(&reader->problem->grid, face);
    const char first = "xyz"[hs_face_first_axis(face)], second = "xyz"[hs_face_second_axis(face)];
    const struct hs_key axes =
        plane.dims > 1 ? hs_key("(%c, %c)", second, first) : hs_key("(%c)", first);
    const struct hs_field_shape shape = {&plane, "the face", axes.text,
                                         "resample it to the nodes of the face", NULL};
    struct hs_stored *stored = NULL;
    double *values = NULL;
    if (plane.dims == 0)
        hs_complain(reader, key, "a face of a 1D grid is a point; give a number instead");
    else
        stored = hs_find_dataset(reader, key, &shape);
    if (stored)
        hs_take_dataset(reader, key, stored, NULL, &values);
    hs_stored_destroy(stored);
    return values;
}

/* A number given by an expression: a field if it depends on place, kept as it is if on place and
 * time, else a function of time. */
static bool read_by_value(struct hs_reader *reader, const char *key, int face, double least,
                          struct hs_wall_number *out)
{
    const struct hs_grid *grid = &reader->problem->grid;
    struct hs_value value;
    if (!hs_read_value(reader, key, &value))
        return false;
    const unsigned varies = hs_value_varies(&value);
    if (!(varies & HS_VARIES_SPACE)) {
        out->function = add_value(reader, key, &value);
        return out->function >= 0;
    }
    hs_doubt_on_face(reader, key, face, &value);
    double *field = evaluate_on(grid, face, &value);
    if (!check_field(reader, key, face, least, varies & HS_VARIES_T ? ", at t = 0 s" : "", &field))
        return false;
    if (varies & HS_VARIES_T) {
        free(field);
        out->moving = value;
        return true;
    }
    out->field = field;
    out->function = add_one(reader);
    return true;
}

enum { MANY_POINTS = 8 }; /* written by hand, a table is shorter */

/* Whether the numbers change to the end, and have turned before: weather, no ramp that ends. One
 * turn is that of a year from winter to winter, but also of a pulse, of fewer points or to 0. */
static bool is_cut_off(const struct hs_time_function *table)
{
    int turns = 0;
    double before = 0.0;
    for (int n = 1; n < table->points; n++) {
        const double change = table->number[n] - table->number[n - 1];
        turns += change * before < 0.0;
        before = change != 0.0 ? change : before;
        if (n == table->points - 1 && change == 0.0)
            return false;
    }
    return turns >= 2 ||
           (turns == 1 && table->points >= MANY_POINTS && table->number[table->points - 1] != 0.0);
}

/* The unit in which the table's last time is the run's end; NULL: none, or a load that is over, or
 * a ramp, or a few points of which the last is far beyond the run. */
static const char *likely_unit(const struct hs_time_function *table, double end)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1e-6, "us"}, {1e-3, "ms"}, {60.0, "min"}, {3600.0, "h"}, {86400.0, "days"}};
    const double near = 0.01, last = table->time[table->points - 1];
    const bool may = last < end ? table->points > 2 && table->number[table->points - 1] != 0.0
                                : table->points >= MANY_POINTS;
    for (int n = 0; n < (int)(sizeof units / sizeof *units) && may; n++)
        if (fabs(end / (last * units[n].seconds) - 1.0) < near)
            return units[n].name;
    return NULL;
}

static bool is_one_number(const struct hs_time_function *table)
{
    int n = 1;
    while (n < table->points && table->number[n] == table->number[0])
        n++;
    return n == table->points;
}

/* Warns once per key, as faces share `all`, of a table that begins after the run or ends before it,
 * or would end with it in another unit. */
static void doubt_times(struct hs_reader *reader, const char *key,
                        const struct hs_time_function *table)
{
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    double end;
    if (!hs_settings_number(reader->settings, "time.end", &end) || entry->doubted)
        return;
    if (table->time[0] >= end && !is_one_number(table))
        entry->doubted =
            hs_doubt(reader, key,
                     "begins at t = %.17g s, but the run ends at %.9g s: only its first number, "
                     "%.9g, is used. Give times from the beginning of the run",
                     table->time[0], end, table->number[0]);
    const double last = table->time[table->points - 1], number = table->number[table->points - 1];
    const char *unit = is_one_number(table) ? NULL : likely_unit(table, end);
    if (!unit && !(last < end && is_cut_off(table)))
        return;
    char stays[80] = "", in_unit[64] = "";
    if (last < end)
        snprintf(stays, sizeof stays, "; after its end its last number, %.9g, is used", number);
    if (unit)
        snprintf(in_unit, sizeof in_unit, "Are its times in %s? They are read in s", unit);
    entry->doubted = hs_doubt(
        reader, key, "ends at t = %.9g s, and the run at %.9g s%s. %s", last, end, stays,
        unit ? in_unit : "Look at the unit of its times, or add lines: a table does not repeat");
}

/* Of what is no temperature, which is then below absolute zero: a logger's mark for a missing one.
 */
static void doubt_marks(struct hs_reader *reader, const char *key,
                        const struct hs_time_function *table)
{
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    for (int n = 0; n < table->points && !entry->doubted; n++)
        if (table->number[n] == -9999.0 || fabs(table->number[n]) >= 1e20)
            entry->doubted =
                hs_doubt(reader, key, "has %.9g at t = %.9g s; does it stand for a missing value?",
                         table->number[n], table->time[n]);
}

/* That of the number whose table this is; a temperature's is the config's. */
static const char *unit_of_table(const struct hs_reader *reader, const char *key)
{
    const struct hs_key number = hs_key("%.*s", (int)(strlen(key) - strlen("_table")), key);
    const char *unit = hs_option_find(number.text)->unit;
    return strcmp(unit, "K") == 0 ? hs_problem_temperature_unit(reader->problem) : unit;
}

/* `unit`: of its numbers, "" beside a file, which they multiply. */
static int read_table(struct hs_reader *reader, const char *key, const char *unit)
{
    char *path = hs_locate_input(reader, key);
    if (!path)
        return -1;
    struct hs_time_function function;
    struct hs_error why = {0};
    const enum hs_status status = hs_table_file_read(path, unit, &function, &why);
    if (status)
        hs_settings_report(reader->settings, key, status, hs_error_reason(&why));
    else {
        hs_keep_content(reader, key, hs_content_of_table(&function, function.points));
        doubt_times(reader, key, &function);
        if (!hs_text_temperature_scale(unit))
            doubt_marks(reader, key, &function);
    }
    hs_error_release(&why);
    free(path);
    return status ? -1 : add_function(reader->problem, function);
}

bool hs_read_time_function(struct hs_reader *reader, const char *key, const char *instead,
                           int *function)
{
    const struct hs_key table = hs_key("%s_table", key);
    struct hs_value value;
    if (hs_given(reader, table.text)) {
        if (hs_given(reader, key))
            return hs_complain(reader, key, "give either this or %s", strrchr(table.text, '.') + 1);
        *function = read_table(reader, table.text, unit_of_table(reader, table.text));
        return *function >= 0;
    }
    if (!hs_read_value(reader, key, &value))
        return false;
    if (hs_value_varies(&value) & HS_VARIES_SPACE)
        return hs_complain(reader, key, "may change in time only; %s", instead);
    *function = add_value(reader, key, &value);
    return *function >= 0;
}

struct hs_key hs_other_ways(const char *name, const char *between)
{
    const bool table = hs_option_find(hs_key("boundary.all.%s_table", name).text) != NULL;
    return table ? hs_key("%s_file%s%s_table", name, between, name) : hs_key("%s_file", name);
}

bool hs_read_wall_number(struct hs_reader *reader, const struct hs_wall_keys *keys,
                         const char *name, double least, struct hs_wall_number *out)
{
    const int face = keys->face;
    const struct hs_key value = hs_wall_key(reader, keys, name);
    const struct hs_key file = hs_wall_key(reader, keys, hs_key("%s_file", name).text);
    const struct hs_key table = hs_wall_key(reader, keys, hs_key("%s_table", name).text);
    const bool by_file = hs_given(reader, file.text), by_table = hs_given(reader, table.text);
    *out = (struct hs_wall_number){.function = -1};
    if (hs_given(reader, value.text)) {
        if (!by_file && !by_table) {
            const bool read = read_by_value(reader, value.text, face, least, out);
            out->place = read ? hs_settings_place(reader->settings, value.text) : NULL;
            return read;
        }
        return hs_complain(reader, value.text, "give either %s, or %s%s", name,
                           hs_other_ways(name, " and ").text,
                           hs_option_find(table.text) ? ", one or both, which are multiplied" : "");
    }
    if (by_file) {
        /* the number's key may be in `all`, which a face shares key by key */
        const struct hs_key group =
            hs_key("%.*s", (int)(strlen(file.text) - strlen("_file")), file.text);
        double *field = hs_read_face_field(reader, group.text, face);
        if (!field || !check_field(reader, file.text, face, least, "", &field))
            return false;
        out->field = field;
    }
    const char *unit = by_table && !by_file ? unit_of_table(reader, table.text) : "";
    out->function = by_table ? read_table(reader, table.text, unit) : add_one(reader);
    if (out->function >= 0)
        out->place = hs_settings_place(reader->settings, by_table ? table.text : file.text);
    return out->function >= 0;
}
