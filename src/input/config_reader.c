#include "input/config_reader.h"

#include "core/memory.h"
#include "functions/program.h"
#include "input/expression.h"
#include "input/number.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hs_key hs_key(const char *format, ...)
{
    struct hs_key key;
    va_list args;
    va_start(args, format);
    vsnprintf(key.text, sizeof key.text, format, args);
    va_end(args);
    return key;
}

struct hs_key hs_found_at(const struct hs_reader *reader, double found, const int64_t node[HS_AXES])
{
    char place[120];
    hs_grid_name_node(&reader->problem->grid, node, place, sizeof place);
    return isnan(found) ? hs_key("is not a number (NaN) at %s", place) /* printf adds a sign */
                        : hs_key("is %g at %s", found, place);
}

bool hs_given(const struct hs_reader *reader, const char *key)
{
    return hs_settings_find(reader->settings, key) != NULL;
}

struct hs_key hs_first_given(const struct hs_reader *reader, const char *group, const char *names)
{
    for (char name[32]; hs_list_next(&names, '|', name, sizeof name);) {
        const struct hs_key key = hs_key("%s%s%s", group, group[0] ? "." : "", name);
        if (hs_given(reader, key.text))
            return key;
    }
    return (struct hs_key){""};
}

bool hs_require(struct hs_reader *reader, const char *key, const char *remedy)
{
    return hs_given(reader, key) || hs_complain(reader, key, "missing; %s", remedy);
}

bool hs_refuse(struct hs_reader *reader, const char *group, const char *names, const char *why)
{
    bool good = true;
    for (char name[32]; hs_list_next(&names, '|', name, sizeof name);) {
        const struct hs_key key = hs_key("%s%s%s", group, group[0] ? "." : "", name);
        if (hs_given(reader, key.text))
            good = hs_complain(reader, key.text, "%s", why);
    }
    return good;
}

bool hs_member(struct hs_reader *reader, const char *list, int n, struct hs_key *path)
{
    *path = hs_key("%s[%d]", list, n);
    return hs_require(reader, path->text, "members are numbered from 0, without gaps") &&
           !hs_settings_find(reader->settings, path->text)->bad;
}

char *hs_read_string(struct hs_reader *reader, const char *key)
{
    const char *text = hs_settings_text(reader->settings, key);
    return text ? hs_copy(text) : NULL;
}

void hs_keep_program(struct hs_reader *reader, struct hs_instruction *code)
{
    struct hs_problem *problem = reader->problem;
    problem->programs =
        hs_reserve(problem->programs, (size_t)problem->program_count, sizeof *problem->programs);
    problem->programs[problem->program_count++] = code;
}

bool hs_doubt(struct hs_reader *reader, const char *key, const char *format, ...)
{
    enum { MOST = 10 };
    va_list args;
    if (!reader->doubts || reader->doubts->count >= MOST)
        return false;
    char *place = hs_settings_place(reader->settings, key), said[300];
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    hs_error_warn(reader->doubts, place, "%s", said);
    free(place);
    return true;
}

/* Warns once per key of coordinates along axes that the grid lacks, as faces share `all`. */
static void doubt_axes(struct hs_reader *reader, struct hs_setting *entry, unsigned varies)
{
    static const char *const names[] = {
        [HS_VARIES_Y] = "y", [HS_VARIES_Z] = "z", [HS_VARIES_Y | HS_VARIES_Z] = "y and z"};
    const int dims = reader->problem->grid.dims;
    const unsigned there = (1u << dims) - 1u, missing = varies & HS_VARIES_SPACE & ~there;
    if (dims > 0 && missing && !entry->doubted)
        entry->doubted = hs_doubt(reader, entry->path,
                                  "a %dD grid has no %s, taken as 0 here; look at the expression, "
                                  "or at the grid",
                                  dims, names[missing]);
}

/* The node's coordinate nearest to `at` along an axis. */
static double nearest(const struct hs_grid *grid, int axis, double at)
{
    double found = NAN;
    for (int64_t i = 0; i < grid->points[axis]; i++) {
        const double here = hs_grid_coordinate(grid, axis, i);
        if (!(fabs(here - at) >= fabs(found - at)))
            found = here;
    }
    return found;
}

/* Warns of x == 0.3 where no node is there to the last bit: 3 * 0.1 is 0.30000000000000004. */
static void doubt_equality(struct hs_reader *reader, struct hs_setting *entry,
                           const struct hs_expression *expression)
{
    const struct hs_instruction *code = expression->code;
    for (int n = 2; n < expression->length && reader->space_known && !entry->doubted; n++) {
        const bool turned = code[n - 2].operation == HS_OP_CONSTANT;
        const int axis = code[turned ? n - 1 : n - 2].operation - HS_OP_X;
        const struct hs_instruction *number = &code[turned ? n - 2 : n - 1];
        if ((code[n].operation != HS_OP_EQUAL && code[n].operation != HS_OP_NOT_EQUAL) ||
            number->operation != HS_OP_CONSTANT || axis < 0 || axis >= reader->problem->grid.dims)
            continue;
        const double at = number->constant, there = nearest(&reader->problem->grid, axis, at);
        if (there != at)
            entry->doubted = hs_doubt(reader, entry->path,
                                      "no node is at %c == %.9g, the nearest is at %.17g; use < "
                                      "and > with places between nodes",
                                      "xyz"[axis], at, there);
    }
}

/* Warns of log, which is the natural logarithm here and that to base 10 in many a formula. */
static void doubt_log(struct hs_reader *reader, struct hs_setting *entry)
{
    const char *at = entry->text;
    for (; (at = strstr(at, "log(")) && !entry->doubted; at++)
        if (at == entry->text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            entry->doubted = hs_doubt(reader, entry->path,
                                      "log is the natural logarithm; write ln, or log10 for that "
                                      "to base 10");
}

bool hs_read_value(struct hs_reader *reader, const char *key, struct hs_value *out)
{
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    if (!entry || entry->bad)
        return false;
    *out = (struct hs_value){.constant = 0.0};
    if (entry->kind == HS_SETTING_NUMBER)
        return hs_number_parse(entry->text, &out->constant) == NULL;
    struct hs_expression expression;
    char reason[300];
    struct hs_instruction *code =
        hs_expression_compile(entry->text, &expression, reason, sizeof reason);
    if (!code)
        return hs_complain(reader, key, "%s", reason);
    if (expression.length == 1 && code[0].operation == HS_OP_CONSTANT) {
        out->constant = code[0].constant;
        free(code);
        return true;
    }
    out->expression = expression;
    hs_keep_program(reader, code);
    doubt_axes(reader, entry, expression.varies);
    doubt_equality(reader, entry, &out->expression);
    doubt_log(reader, entry);
    return hs_check_coordinates(reader, expression.varies, key);
}

bool hs_read_axes(struct hs_reader *reader, const char *key, bool spread, int dims,
                  const char *whose, double *out)
{
    const struct hs_setting *entry = hs_settings_find(reader->settings, key);
    if (dims == 0)
        return false;
    const bool lone = !entry || entry->kind == HS_SETTING_NUMBER;
    if (lone) {
        double value;
        if (!hs_settings_number(reader->settings, key, &value))
            return false;
        for (int axis = 0; axis < dims; axis++)
            out[axis] = value;
        if (!entry || dims == 1 || spread)
            return true;
    }
    const int length = hs_settings_length(reader->settings, key);
    if (entry->bad)
        return false;
    if (length != dims)
        return hs_complain(reader, key, "has %d number%s; %s %d ax%ss, give one for each", length,
                           length == 1 ? "" : "s", whose, dims, dims == 1 ? "i" : "e");
    bool good = true;
    for (int axis = 0; axis < dims; axis++) {
        const struct hs_key member = hs_key("%s[%d]", key, axis);
        good = hs_require(reader, member.text, "the list needs one number for each axis") &&
               hs_settings_number(reader->settings, member.text, &out[axis]) && good;
    }
    return good;
}

bool hs_read_per_axis(struct hs_reader *reader, const char *key, bool spread, double *out)
{
    return hs_read_axes(reader, key, spread, reader->problem->grid.dims, "the grid has", out);
}

void hs_keep_place(struct hs_reader *reader, enum hs_place which, const char *key)
{
    reader->problem->place[which] = hs_settings_place(reader->settings, key);
}

void hs_keep_content(struct hs_reader *reader, const char *key, char *content)
{
    struct hs_setting *setting = hs_settings_find(reader->settings, key);
    free(setting->content); /* each face that shares `all` reads its file */
    setting->content = content;
}
