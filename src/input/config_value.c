/* A number or an expression, and warnings of likely mistakes in it. */
#include "input/config_reader.h"

#include "core/text.h"
#include "functions/integral.h"
#include "functions/program.h"
#include "input/expression.h"
#include "input/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void hs_doubt_uptake(struct hs_reader *reader, const char *key, int face,
                     const struct hs_value *value)
{
    const double most = 0.1;
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    struct hs_integral sum;
    double end = NAN;
    bool wraps[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        wraps[axis] = hs_axis_is_periodic(reader, axis);
    hs_settings_number(reader->settings, "time.end", &end);
    if (!reader->space_known || !reader->doubts || !entry || entry->doubted ||
        !hs_integral_of(&reader->problem->grid, wraps, face, value, end, &sum) ||
        !(sum.fine > 0.0) || !(fabs(sum.nodes - sum.fine) > most * sum.fine) ||
        (sum.nodes == 0.0 && !(hs_value_varies(value) & HS_VARIES_T))) /* else it acts nowhere */
        return;
    entry->doubted = hs_doubt(
        reader, key,
        "the nodes take %.3g times the heat that it gives, since each takes its own value for half "
        "a cell on each side; put its edges halfway between nodes, or give more grid.points where "
        "it is narrow",
        sum.nodes / sum.fine);
}

void hs_doubt_on_face(struct hs_reader *reader, const char *key, int face,
                      const struct hs_value *value)
{
    const unsigned varies = hs_value_varies(value);
    const struct hs_grid *grid = &reader->problem->grid;
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    const int axis = face / 2;
    const bool shared = strncmp(key, "boundary.all.", strlen("boundary.all.")) == 0;
    if (grid->dims > 1 && reader->space_known && !shared && !entry->doubted &&
        (varies & HS_VARIES_SPACE) == (unsigned)HS_VARIES_X << axis)
        entry->doubted =
            hs_doubt(reader, key,
                     "on all of %s %c is %.9g, so this has one value on the whole face; was "
                     "another coordinate meant?",
                     hs_face_name(face), "xyz"[axis],
                     hs_grid_coordinate(grid, axis, hs_grid_face_index(grid, face)));
    if (hs_text_is_among(strrchr(key, '.') + 1, "flux|gradient"))
        hs_doubt_uptake(reader, key, face, value);
}
