/* The last check: values of expressions and datasets must be finite where they are used. */
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "input/config_reader.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Expressions are checked at the corners of a box and half-way between them. */
enum { SAMPLES = 3 };

static int64_t sample(const struct hs_box *box, int axis, int which)
{
    return box->lo[axis] + which * (box->hi[axis] - 1 - box->lo[axis]) / (SAMPLES - 1);
}

/* "is not a number (NaN) at node (3, 4), x = 0.3, y = 0.4 m, t = 0 s; ..." `dataset`: name in the
 * file that the key gives; or NULL. */
static void complain_of_node(struct hs_reader *reader, const char *key, const char *dataset,
                             double found, const int64_t node[HS_AXES], double t)
{
    const struct hs_problem *problem = reader->problem;
    hs_complain(reader, key, "%s%.250s%s%s, t = %g s; it must be a finite number everywhere%s",
                dataset ? "dataset " : "", dataset ? dataset : "", dataset ? " " : "",
                hs_found_at(reader, found, node).text, t,
                !isfinite(found)                 ? ""
                : problem->precision == HS_FLOAT ? ", in float at most 3.4e38"
                                                 : ", at most 1e300");
}

/* Reports the first sampled node of the box where the value is not finite. */
static void check_value(struct hs_reader *reader, const char *key, const struct hs_value *value,
                        double t, const struct hs_box *box)
{
    const struct hs_grid *grid = &reader->problem->grid;
    if (!value->expression.code && isfinite(value->constant))
        return;
    for (int n = 0; n < SAMPLES * SAMPLES * SAMPLES; n++) {
        const int64_t node[HS_AXES] = {sample(box, HS_X, n % SAMPLES),
                                       sample(box, HS_Y, n / SAMPLES % SAMPLES),
                                       sample(box, HS_Z, n / (SAMPLES * SAMPLES))};
        const double found = hs_value_at_node(value, grid, node, t);
        if (isfinite(found))
            continue;
        complain_of_node(reader, key, NULL, found, node, t);
        return;
    }
}

/* Stores the source's location, and a file's dataset if one is given. */
static void keep_source(struct hs_reader *reader, const char *key)
{
    struct hs_problem *problem = reader->problem;
    hs_keep_place(reader, HS_PLACE_SOURCE, key);
    char *place = problem->place[HS_PLACE_SOURCE];
    if (!problem->source.field.stored || !hs_given(reader, "source.dataset"))
        return;
    problem->place[HS_PLACE_SOURCE] =
        hs_format("%s: dataset %s", place, hs_settings_text(reader->settings, "source.dataset"));
    free(place);
}

/* The key of a face's boundary data, or of its type if it has none. */
static struct hs_key data_key(const struct hs_reader *reader, int face)
{
    const struct hs_boundary_kind *kind = hs_face_kind(reader, face);
    struct hs_key key = hs_face_key(reader, face, "type");
    for (int n = 0; kind && n < hs_boundary_key_count(kind); n++) {
        const struct hs_key data = hs_face_key(reader, face, kind->key[n].name);
        key = !kind->key[n].number && hs_given(reader, data.text) ? data : key;
    }
    return key;
}

static void check_faces(struct hs_reader *reader)
{
    const struct hs_problem *problem = reader->problem;
    for (int face = 0; face < 2 * problem->grid.dims; face++) {
        const struct hs_box box = hs_grid_face_box(&problem->grid, face);
        const struct hs_key key = data_key(reader, face);
        hs_keep_place(reader, (enum hs_place)(HS_PLACE_FACE + face), key.text);
        check_value(reader, key.text, &problem->face[face].data, 0.0, &box);
    }
}

/* Complains of a number that would become 0 or lose digits; `found`: where it is, or "". */
static void check_small(struct hs_reader *reader, const char *key, double value, const char *found)
{
    const enum hs_precision precision = reader->problem->precision;
    const double least = precision == HS_FLOAT ? FLT_MIN : DBL_MIN;
    if (value == 0.0 || !(fabs(value) < least))
        return;
    hs_complain(reader, key, "%s%s cannot hold a number so small; give 0, or choose other units",
                found, hs_precision_name(precision));
}

/* The key by which a field is given, one of three; the group itself if none. */
static struct hs_key field_key(const struct hs_reader *reader, const char *group)
{
    const struct hs_key key = hs_first_given(reader, group, "value|expression|file");
    return key.text[0] ? key : hs_key("%s", group);
}

/* What gives a node its initial temperature: its wall, the last region over it, or the field. */
static struct hs_key initial_key(const struct hs_reader *reader, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = reader->problem;
    const int face = hs_problem_prescribing_face(problem, node);
    double at[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        at[axis] = hs_grid_coordinate(&problem->grid, axis, node[axis]);
    if (face >= 0)
        return data_key(reader, face);
    for (int r = problem->initial.region_count - 1; r >= 0; r--)
        if (hs_shape_covers(&problem->initial.regions[r].shape, &problem->grid, at))
            return hs_key("initial.regions[%d].value", r);
    return field_key(reader, "initial");
}

struct initial_check {
    struct hs_reader *reader;
    struct hs_initial_rows rows;
    double *row;
    double largest; /* largest |T| so far, and its node */
    int64_t node[HS_AXES];
};

/* Tiny numbers are allowed at some nodes of an expression or a file, but not everywhere. */
static void check_largest(const struct initial_check *check)
{
    const struct hs_key key = initial_key(check->reader, check->node);
    const struct hs_key found = hs_found_at(check->reader, check->largest, check->node);
    check_small(check->reader, key.text, check->largest,
                hs_key("%s, and nowhere larger; ", found.text).text);
}

/* Checks whole rows from `first` on; complains of the first number that is invalid or too large. */
static bool check_rows(struct initial_check *check, int64_t first, int64_t end, int64_t stride)
{
    struct hs_reader *reader = check->reader;
    const struct hs_problem *problem = reader->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    const double most = hs_precision_most(problem->precision);
    for (int64_t r = first; r < end; r += stride) {
        hs_initial_row(&check->rows, r % ny, r / ny, check->row);
        int64_t i = 0;
        for (; i < nx && fabs(check->row[i]) <= most; i++)
            if (fabs(check->row[i]) > check->largest) {
                check->largest = fabs(check->row[i]);
                memcpy(check->node, (int64_t[]){i, r % ny, r / ny}, sizeof check->node);
            }
        if (i == nx)
            continue;
        const int64_t node[HS_AXES] = {i, r % ny, r / ny};
        const struct hs_key key = initial_key(reader, node);
        const bool named =
            strcmp(key.text, "initial.file") == 0 && hs_given(reader, "initial.dataset");
        const char *dataset = named ? hs_settings_text(reader->settings, "initial.dataset") : NULL;
        complain_of_node(reader, key.text, dataset, check->row[i], node, 0.0);
        return false;
    }
    return true;
}

/* Checks numbers of a file, with regions and walls applied. */
static bool check_numbers(void *self, double *values, int64_t first, int64_t count)
{
    struct initial_check *check = self;
    struct hs_field *field = &check->reader->problem->initial.field;
    const int64_t nx = check->reader->problem->grid.points[HS_X];
    field->data = values;
    field->first = first;
    const bool good = check_rows(check, first / nx, (first + count) / nx, 1);
    field->data = NULL;
    field->first = 0;
    return good;
}

static bool check_all_numbers(struct initial_check *check)
{
    struct hs_reader *reader = check->reader;
    struct hs_field *field = &reader->problem->initial.field;
    const struct hs_taker taker = {check_numbers, check};
    double *all = NULL;
    const bool good = hs_take_dataset(reader, "initial", field->stored, &taker,
                                      reader->numbers == HS_NUMBERS_KEPT ? &all : NULL);
    field->data = all;
    return good;
}

/* Checks all numbers of a file. Otherwise checks whole rows: all rows in a grid of up to `MOST`
 * nodes, evenly spaced rows in a larger grid, none if one row is longer than that. */
static void check_initial(struct hs_reader *reader)
{
    enum { MOST = 1 << 22 };
    const struct hs_problem *problem = reader->problem;
    const struct hs_grid *grid = &problem->grid;
    const struct hs_field *field = &problem->initial.field;
    hs_keep_place(reader, HS_PLACE_INITIAL, field_key(reader, "initial").text);
    check_small(reader, field_key(reader, "initial").text, field->value.constant, "");
    for (int r = 0; r < problem->initial.region_count; r++)
        check_small(reader, hs_key("initial.regions[%d].value", r).text,
                    problem->initial.regions[r].value.constant, "");
    if (field->stored ? reader->numbers == HS_NUMBERS_LEFT : grid->points[HS_X] > MOST)
        return;
    struct initial_check check = {
        .reader = reader,
        .row = malloc((size_t)grid->points[HS_X] * sizeof *check.row)}; /* in 1D the whole field */
    if (!check.row) {
        hs_error_add(reader->settings->err, HS_DEVICE,
                     "out of memory for a row of the initial field");
        return;
    }
    hs_initial_rows_init(&check.rows, problem, 1);
    const int64_t stride = 1 + hs_grid_count(grid) / MOST;
    const bool good = field->stored
                          ? check_all_numbers(&check)
                          : check_rows(&check, 0, grid->points[HS_Y] * grid->points[HS_Z], stride);
    if (good && (field->stored || stride == 1))
        check_largest(&check);
    hs_initial_rows_release(&check.rows);
    free(check.row);
}

void hs_check_values(struct hs_reader *reader)
{
    const struct hs_problem *problem = reader->problem;
    if (!reader->space_known)
        return;
    const struct hs_box all = hs_grid_box(&problem->grid);
    check_faces(reader);
    check_initial(reader);
    if (problem->source.present) { /* 0 if it could not be read */
        const struct hs_key key = field_key(reader, "source");
        keep_source(reader, key.text);
        check_value(reader, key.text, &problem->source.field.value, 0.0, &all);
    }
    /* a solution may be singular at the start, so it is checked at the end */
    const double end = isnan(problem->schedule.end) ? 1.0 : problem->schedule.end;
    if (problem->exact.present)
        check_value(reader, "exact.expression", &problem->exact.value, end, &all);
}
