/* The history of a run, with planted quantities beside those of the table: one in a group, one per
 * wall, one that only some runs have. */
#include "dense_chunks.h"
#include "output/contents.h"
#include "output/h5.h"
#include "output/history.h"
#include "output/restore.h"
#include "output/store.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct hs_method hs_method_euler;

static void kelvin(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, "K");
}

static void watt(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, problem->grid.dims == 3 ? "W" : "W/m");
}

static bool never(const struct hs_problem *problem)
{
    return false;
}

static double lowest(const struct hs_history_state *state, int wall)
{
    return state->reduction->min;
}

static double by_face(const struct hs_history_state *state, int wall)
{
    return (double)state->sweep + 0.25 * wall;
}

static double error(const struct hs_history_state *state, int wall)
{
    return state->exact ? state->exact->max : NAN;
}

static const struct hs_quantity planted[] = {
    {.name = "low", .unit = kelvin, .summary = "field", .value = lowest},
    {.name = "flux", .unit = watt, .each_wall = true, .value = by_face},
    {.name = "wall/worst", .unit = kelvin, .summary = "field", .value = error},
    {.name = "rare", .unit = kelvin, .is_there = never, .value = lowest},
    {.name = NULL}};

/* The same, and a later one. */
static const struct hs_quantity longer[] = {
    {.name = "low", .unit = kelvin, .value = lowest},
    {.name = "later/yet", .unit = kelvin, .value = lowest},
    {.name = "flux", .unit = watt, .each_wall = true, .value = by_face},
    {.name = "wall/worst", .unit = kelvin, .value = error},
    {.name = NULL}};

static struct hs_problem make_problem(void)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid = (struct hs_grid){.dims = 2, .points = {3, 4, 1}, .spacing = {1, 1, 1}};
    problem.radius = 1;
    problem.raw = true;
    problem.precision = HS_DOUBLE;
    return problem;
}

static const struct hs_reduction reduction = {.min = 3.5};
static const struct hs_exact_error exact = {.max = 0.5, .l2 = 0.25};

void test_history__has_a_column_for_each_value(void **state)
{
    static const char *const names[] = {"low",        "flux/x_min", "flux/x_max", "flux/y_min",
                                        "flux/y_max", "wall/worst", "rare"};
    const struct hs_problem problem = make_problem();
    struct hs_history_value value;
    for (int n = 0; n < 7; n++) {
        assert_true(hs_history_value(planted, &problem, false, n, &value));
        assert_string_equal(value.name, names[n]);
        assert_int_equal(hs_history_value(planted, &problem, true, n, &value), n < 6);
    }
    assert_false(hs_history_value(planted, &problem, false, 7, &value));
    assert_int_equal(hs_history_count(planted, &problem), 6);
}

static struct hs_series make_history(const struct hs_quantity *table,
                                     const struct hs_problem *problem)
{
    struct hs_series history;
    hs_series_init(&history, "history");
    hs_history_add_columns(table, problem, &history);
    return history;
}

/* Rows for sweeps 0 and 8; the second one has the error. */
static void add_rows(const struct hs_quantity *table, const struct hs_problem *problem,
                     struct hs_series *history)
{
    struct hs_history_state state = {.problem = problem, .reduction = &reduction};
    for (; state.sweep <= 8; state.sweep += 8) {
        hs_series_add_row(history, state.sweep, 0.5 * (double)state.sweep);
        hs_history_fill(table, &state, history);
    }
    const struct hs_reduction other = {.min = 7.0};
    state = (struct hs_history_state){problem, 8, &other, &exact, NULL, NULL};
    hs_history_fill(table, &state, history); /* known values stay */
}

void test_history__fills_in_what_is_not_known_yet(void **state)
{
    const struct hs_problem problem = make_problem();
    struct hs_series history = make_history(planted, &problem);
    hs_series_add_column(&history, "probes", "tip", "K", "");
    add_rows(planted, &problem, &history);
    assert_true(*hs_series_last(&history, "history", "low") == 3.5);
    assert_true(*hs_series_last(&history, "history", "flux/y_max") == 8.75);
    assert_true(*hs_series_last(&history, "history", "wall/worst") == 0.5);
    assert_true(isnan(history.columns[HS_SERIES_FIRST + 5].values[0]));
    assert_true(isnan(*hs_series_last(&history, "probes", "tip")));
    assert_null(hs_series_last(&history, "probes", "low"));
    assert_string_equal(history.columns[HS_SERIES_FIRST + 1].units, "W/m");
    hs_series_release(&history);
}

static char *told_of(const struct hs_history_state *last, bool as_json)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct hs_json json = {.stream = stream};
    if (as_json) {
        hs_json_open(&json, NULL);
        hs_history_json(planted, last, &json);
        hs_json_close(&json);
    } else
        hs_history_text(planted, last, stream);
    fclose(stream);
    return text;
}

static char *told(const struct hs_problem *problem, bool as_json)
{
    const struct hs_history_state last = {problem, 8, &reduction, &exact, NULL, NULL};
    return told_of(&last, as_json);
}

void test_history__tells_of_the_file_what_is_not_known_besides(void **state)
{
    const struct hs_problem problem = make_problem();
    const double row[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 0.125}; /* "rare" is not in the file */
    const struct hs_history_state last = {&problem, 8, &reduction, NULL, NULL, row};
    char *json = told_of(&last, true), *text = told_of(&last, false);
    assert_non_null(strstr(json, "\"low\": 3.5"));
    assert_non_null(strstr(json, "\"wall/worst\": 0.125"));
    assert_non_null(strstr(json, "\"rare\": 3.5"));
    assert_string_equal(text, "  field        low 3.5, wall/worst 0.125 K\n");
    free(json);
    free(text);
}

void test_history__is_told_by_members_and_lines(void **state)
{
    const struct hs_problem problem = make_problem();
    char *json = told(&problem, true), *text = told(&problem, false), *to = json;
    for (const char *p = json; *p; p++) /* without spaces */
        if (*p != ' ' && *p != '\n')
            *to++ = *p;
    *to = '\0';
    assert_string_equal(json, "{\"low\":3.5,\"flux/x_min\":8,\"flux/x_max\":8.25,"
                              "\"flux/y_min\":8.5,\"flux/y_max\":8.75,\"wall/worst\":0.5,"
                              "\"rare\":3.5}");
    assert_string_equal(text, "  field        low 3.5, wall/worst 0.5 K\n");
    free(json);
    free(text);
}

void test_history__lists_all_units(void **state)
{
    char units[200];
    hs_quantity_units(&planted[1], units, sizeof units);
    assert_string_equal(units, "W, W/m");
    hs_quantity_units(&planted[0], units, sizeof units);
    assert_string_equal(units, "K");
}

/* What every row of the table must satisfy, future ones included. */
void test_history__the_table_is_sound(void **state)
{
    for (const struct hs_quantity *quantity = hs_quantities; quantity->name; quantity++) {
        assert_true(quantity->long_name && quantity->long_name[0]);
        assert_true(quantity->unit && quantity->value);
        assert_true(strlen(quantity->name) + sizeof "/x_min" <= HS_QUANTITY_NAME);
        assert_string_not_equal(quantity->name, "time");
        assert_string_not_equal(quantity->name, "sweep");
        for (const struct hs_quantity *other = hs_quantities; other != quantity; other++)
            assert_string_not_equal(other->name, quantity->name);
    }
}

/* ---- through a file -------------------------------------------------------------------------- */

/* Contents of a run to 4 s, with the planted quantities of `table` in their history. */
static struct hs_contents make_contents(const struct hs_problem *problem,
                                        const struct hs_quantity *table)
{
    static const struct hs_plan plan = {
        .method = &hs_method_euler, .sweeps = 8, .tail_step = 0.5, .end = 4.0};
    struct hs_contents contents = {.problem = problem, .plan = &plan, .sweep = 8};
    contents.history = make_history(table, problem);
    hs_series_init(&contents.snapshots, "/");
    hs_chunks_init(&contents.chunks, &problem->grid, 8, 0, 0);
    return contents;
}

static void release_contents(struct hs_contents *contents)
{
    hs_series_release(&contents->history);
    hs_series_release(&contents->snapshots);
    hs_chunks_release(&contents->chunks);
}

static void write_file(struct hs_contents *contents)
{
    static const double field[12];
    struct hs_store *store;
    struct hs_image image = {0};
    const char *file = contents->problem->output.file;
    assert_ok(hs_store_create(file, HS_EXISTING_RUN, true, &store, &err));
    assert_ok(append_dense(&contents->chunks, store, field, &err));
    hs_store_free_space(store, 0, true, &image);
    assert_ok(hs_contents_write(contents, &image, &err));
    assert_ok(hs_store_write(store, &image, &err));
    assert_ok(hs_store_commit(store, &image, &err));
    hs_store_destroy(store);
    hs_image_release(&image);
}

void test_history__comes_back_from_the_file_groups_and_all(void **state)
{
    struct hs_problem problem = make_problem();
    char directory[] = "/tmp/history-XXXXXX", file[64];
    hs_h5_quiet();
    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/o.h5", directory);
    problem.output.file = strdup(file);
    struct hs_contents contents = make_contents(&problem, planted);
    add_rows(planted, &problem, &contents.history);
    hs_series_add_row(&contents.snapshots, 0, 0.0);
    write_file(&contents);

    struct hs_contents back = make_contents(&problem, longer);
    struct hs_resume resume = {.sweep = 8, .snapshots = 1, .rows = 2};
    resume.places = hs_timeline_sum(hs_timeline_sum(0, hs_series_timeline(&contents.snapshots)),
                                    hs_series_timeline(&contents.history));
    assert_ok(hs_restore(&resume, &back, &err));
    assert_int_equal(back.history.rows, 2);
    assert_true(*hs_series_last(&back.history, "history", "low") == 3.5);
    assert_true(*hs_series_last(&back.history, "history", "flux/x_max") == 8.25);
    assert_true(*hs_series_last(&back.history, "history", "wall/worst") == 0.5);
    assert_true(isnan(*hs_series_last(&back.history, "history", "later/yet"))); /* did not exist */

    release_contents(&contents);
    release_contents(&back);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(directory), 0);
    hs_problem_release(&problem);
}
