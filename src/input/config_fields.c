/* initial, source and exact: scalar fields as a value, an expression or a dataset; regions. */
#include "input/config_reader.h"

#include "core/memory.h"
#include "core/round.h"
#include "core/text.h"
#include "functions/fields.h"
#include "functions/integral.h"
#include "functions/separation.h"
#include "input/field_file.h"
#include "input/fingerprint.h"
#include "input/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of two files of one name, perhaps of different cases. Warns once per key, as faces share `all`.
 */
static void doubt_file(struct hs_reader *reader, const char *key, const char *here,
                       const char *beside)
{
    struct stat one, other;
    if (!hs_settings_find(reader->settings, key)->content && stat(here, &one) == 0 &&
        stat(beside, &other) == 0 && (one.st_ino != other.st_ino || one.st_dev != other.st_dev))
        hs_doubt(reader, key,
                 "there is %s, too; the one in the current folder is read. Remove one of them, or "
                 "give the path of the one that is meant",
                 beside);
}

char *hs_locate_input(struct hs_reader *reader, const char *key)
{
    const char *file = hs_settings_text(reader->settings, key);
    if (file && file[0] == '\0')
        hs_complain(reader, key, "is empty; give the name of a file");
    if (!file || file[0] == '\0')
        return NULL;
    const char *config = reader->problem->config_path;
    const char *slash = file[0] == '/' ? NULL : strrchr(config, '/');
    char *beside = hs_format("%.*s%s", slash ? (int)(slash + 1 - config) : 0, config, file);
    const bool is_beside = access(file, F_OK) != 0 && access(beside, F_OK) == 0;
    char *path = hs_copy(is_beside ? beside : file);
    doubt_file(reader, key, file, beside);
    hs_problem_add_input(reader->problem, key, path);
    free(beside);
    return path;
}

/* A key of a group's file: "initial.file"; for a wall's number "boundary.x_min.flux_file". */
static struct hs_key file_key(const char *group, const char *name)
{
    const bool number = strncmp(group, "boundary.", 9) == 0;
    return hs_key(number ? "%s_%s" : "%s.%s", group, name);
}

/* A source and a wall act at all times; the last step of an array is not what acts in its steps. */
static void doubt_steps(struct hs_reader *reader, const char *group, const struct hs_key *key,
                        const struct hs_stored *stored)
{
    const bool acts = strcmp(group, "source") == 0 || strncmp(group, "boundary.", 9) == 0;
    if (acts && stored->steps > 1 && !hs_given(reader, file_key(group, "step").text))
        hs_doubt(reader, key->text,
                 "has %lld steps, of which the last is used at all times; give only that one. For "
                 "values that change in time give an expression or a table",
                 (long long)stored->steps);
}

struct hs_stored *hs_find_dataset(struct hs_reader *reader, const char *group,
                                  const struct hs_field_shape *shape)
{
    const struct hs_key key = file_key(group, "file"), named = file_key(group, "dataset");
    const char *dataset = hs_settings_text(reader->settings, named.text);
    int64_t step = -1;
    hs_settings_count(reader->settings, file_key(group, "step").text, &step);
    char *path = dataset && reader->grid_known ? hs_locate_input(reader, key.text) : NULL;
    if (!path)
        return NULL;
    struct hs_error why = {0};
    struct hs_stored *stored = NULL;
    const enum hs_status status = hs_field_file_find(path, dataset, step, shape, &stored, &why);
    if (hs_given(reader, named.text) && hs_npy_is_at(path))
        hs_complain(reader, named.text,
                    "%s is a .npy file, which has one array and no datasets; remove this", path);
    if (status)
        hs_settings_report(reader->settings, key.text, status, hs_error_reason(&why));
    else {
        stored->place = hs_settings_place(reader->settings, key.text);
        doubt_steps(reader, group, &key, stored);
    }
    hs_error_release(&why);
    free(path);
    return stored;
}

bool hs_take_dataset(struct hs_reader *reader, const char *group, struct hs_stored *stored,
                     const struct hs_taker *taker, double **out)
{
    const int64_t layers = hs_stored_layers(stored), plane = hs_stored_plane(stored);
    const int64_t together = out || layers < stored->together ? layers : stored->together;
    struct hs_content content = HS_CONTENT_NONE;
    double *values = malloc((size_t)(together * plane) * sizeof *values);
    bool good = values;
    if (!values)
        hs_error_add(reader->settings->err, HS_DEVICE, "%s: out of memory for %lld values of %s",
                     stored->place, (long long)(together * plane), stored->path);
    for (int64_t k = 0; k < layers && good; k += together) {
        const int64_t count = hs_smaller(together, layers - k);
        const struct hs_box box = hs_stored_box(stored, k, count);
        good = stored->read(stored, &box, values, reader->settings->err) == HS_OK;
        if (!good)
            break;
        hs_content_add(&content, values, count * plane);
        hs_stored_note(stored, values, k * plane, count * plane);
        good = !taker || taker->take(taker->self, values, k * plane, count * plane);
    }
    stored->close(stored);
    if (good)
        hs_keep_content(reader, file_key(group, "file").text,
                        hs_content_name(&content, stored->dims, stored->points));
    if (out && good)
        *out = values;
    else
        free(values);
    return good;
}

/* Order: numbers that are not labels before labels, both increasing. */
static int compare_labels(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    if (hs_is_label(a) != hs_is_label(b))
        return hs_is_label(a) ? 1 : -1;
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

/* "3 (12 nodes), 7 (1 node) and 5 more" of sorted numbers. */
static void say_labels(const double *number, int64_t count, const char *place, char *out,
                       size_t size)
{
    enum { MOST = 8 };
    int64_t distinct = 0;
    out[0] = '\0';
    for (int64_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && compare_labels(&number[first], &number[next]) == 0;)
            next++;
        if (distinct++ < MOST)
            hs_text_append(out, size, "%s%.10g (%" PRId64 " %s%s)", *out ? ", " : "", number[first],
                           next - first, place, next - first == 1 ? "" : "s");
    }
    if (distinct > MOST)
        hs_text_append(out, size, " and %" PRId64 " more", distinct - MOST);
}

void hs_complain_of_labels(struct hs_reader *reader, const char *key, double *number, int64_t count,
                           const char *place, const char *others, const char *remedy)
{
    char no_labels[512], labels[512];
    int64_t none = 0;
    qsort(number, (size_t)count, sizeof *number, compare_labels);
    while (none < count && !hs_is_label(number[none]))
        none++;
    say_labels(number, none, place, no_labels, sizeof no_labels);
    say_labels(number + none, count - none, place, labels, sizeof labels);
    if (none > 0)
        hs_complain(reader, key,
                    "the file has numbers that are no labels: %s; labels are whole "
                    "numbers from 0 to 65535%s%s%s%s",
                    no_labels, none < count ? "; and " : "", none < count ? others : "",
                    none < count ? ": " : "", labels);
    else if (count > 0)
        hs_complain(reader, key, "the file has %s: %s; %s", others, labels, remedy);
}

void hs_check_datasets(struct hs_reader *reader)
{
    static const char *const of_files[] = {"dataset", "step"};
    struct hs_settings *settings = reader->settings;
    for (size_t i = 0; i < settings->count; i++)
        for (int n = 0; n < 2; n++) {
            const struct hs_setting *setting = settings->entries[i];
            const size_t length = strlen(setting->path), tail = strlen(of_files[n]);
            if (!setting->option || length < tail ||
                strcmp(setting->path + length - tail, of_files[n]) != 0)
                continue;
            const struct hs_key file = hs_key("%.*sfile", (int)(length - tail), setting->path);
            if (hs_option_find(file.text) && !hs_given(reader, file.text) &&
                !hs_settings_is_meant(settings, file.text) &&
                hs_settings_is_sound(settings, file.text)) /* else it has been reported */
                hs_complain(reader, setting->path,
                            "belongs to %s, which is missing; give that, or remove this",
                            file.text);
        }
}

/* Warns of a field whose nodes lie elsewhere, as that of a run before its grid was changed. */
static void doubt_places(struct hs_reader *reader, const char *group,
                         const struct hs_stored *stored)
{
    const struct hs_grid *grid = &reader->problem->grid;
    for (int axis = 0; axis < grid->dims && !hs_npy_is_at(stored->path); axis++) {
        double there;
        const int64_t node = hs_field_file_misplaced(stored, grid, axis, &there);
        if (node < 0)
            continue;
        hs_doubt(reader, hs_key("%s.file", group).text,
                 "node %lld along %c is at %.9g m in the file, but at %.9g m in this grid; its "
                 "numbers are taken node by node, not interpolated",
                 (long long)node, "xyz"[axis], there, hs_grid_coordinate(grid, axis, node));
        return;
    }
}

static void read_field(struct hs_reader *reader, const char *group, struct hs_field *out)
{
    const struct hs_key value = hs_key("%s.value", group);
    const struct hs_key expression = hs_key("%s.expression", group);
    const bool by_file = hs_given(reader, hs_key("%s.file", group).text);
    const int given = hs_given(reader, value.text) + hs_given(reader, expression.text) + by_file;
    if (given != 1)
        hs_complain(reader, group, "give %sone of value, expression and file",
                    given > 1 ? "only " : "");
    hs_read_value(reader, value.text, &out->value);
    hs_read_value(reader, expression.text, &out->value);
    const struct hs_field_shape shape = hs_field_shape_of(&reader->problem->grid);
    if (by_file && given == 1)
        out->stored = hs_find_dataset(reader, group, &shape);
    if (out->stored && reader->space_known && reader->doubts)
        doubt_places(reader, group, out->stored);
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Complains of a region between nodes, which would have no effect. */
static void check_has_nodes(struct hs_reader *reader, const char *path,
                            const struct hs_shape *shape)
{
    const struct hs_grid *grid = &reader->problem->grid;
    struct hs_key cells = {""};
    if (!reader->space_known || hs_shape_has_node(shape, grid))
        return;
    for (int axis = 0; axis < grid->dims; axis++) {
        double cell[2];
        hs_grid_cells(grid, axis, hs_axis_is_periodic(reader, axis), cell);
        cells = hs_key("%s%s%g", cells.text, axis ? " x " : "", cell[1]);
    }
    hs_complain(reader, path,
                "holds no node of the grid, whose spacing is up to %s m; make it larger, "
                "or the grid finer",
                cells.text);
}

static void read_region(struct hs_reader *reader, const char *path, struct hs_region *region)
{
    const struct hs_key value = hs_key("%s.value", path);
    if (hs_require(reader, value.text, "give the temperature of the region"))
        hs_read_value(reader, value.text, &region->value);
    if (hs_require(reader, hs_key("%s.shape", path).text,
                   "give box, sphere, cylinder or half-space") &&
        hs_read_shape(reader, path, &region->shape))
        check_has_nodes(reader, path, &region->shape);
}

static void read_regions(struct hs_reader *reader)
{
    struct hs_initial *initial = &reader->problem->initial;
    const int count = hs_settings_length(reader->settings, "initial.regions");
    if (count == 0)
        return;
    initial->regions = hs_new((size_t)count * sizeof *initial->regions);
    initial->region_count = count;
    for (int r = 0; r < count; r++) {
        struct hs_key path;
        if (hs_member(reader, "initial.regions", r, &path))
            read_region(reader, path.text, &initial->regions[r]);
    }
}

/* ---- the parts ------------------------------------------------------------------------------- */

/* Factor from the source's unit to the rate of temperature rise. */
static double source_rate(const struct hs_problem *problem)
{
    const double capacity = problem->material.density * problem->material.specific_heat;
    return problem->raw || problem->body || isnan(capacity) ? 1.0 : 1.0 / capacity;
}

static void read_exact(struct hs_reader *reader)
{
    struct hs_exact *exact = &reader->problem->exact;
    if (!hs_given(reader, "exact"))
        return;
    if (hs_require(reader, "exact.expression", "give the solution, or remove exact"))
        exact->present = hs_read_value(reader, "exact.expression", &exact->value);
    hs_keep_place(reader, HS_PLACE_EXACT, "exact.expression");
    hs_settings_number(reader->settings, "exact.max_error", &exact->max_error);
}

/* Sources that change in time are evaluated for every sweep. If they can be brought into a form
 * with few operations per node, that is done here, so that all later code sees only that
 * program. */
static void rearrange_source(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    struct hs_value *value = &problem->source.field.value;
    struct hs_instruction *code;
    struct hs_expression rearranged;
    struct hs_separation separation;
    const unsigned varies = hs_value_varies(value), all = (1u << problem->grid.dims) - 1;
    if (!reader->space_known || !(varies & HS_VARIES_T) || (varies & all) != all ||
        hs_expression_separate(&value->expression, problem->grid.dims, &separation))
        return;
    if (hs_expression_rearrange(&value->expression, &problem->grid, &code, &rearranged)) {
        hs_keep_program(reader, code);
        value->expression = rearranged;
    }
}

void hs_doubt_uptake(struct hs_reader *reader, const char *key, int face,
                     const struct hs_value *value)
{
    const double most = 0.1;
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    struct hs_integral sum;
    double end = NAN;
    hs_settings_number(reader->settings, "time.end", &end);
    if (!reader->space_known || !reader->doubts || !entry || entry->doubted ||
        !hs_integral_of(&reader->problem->grid, face, value, end, &sum) || !(sum.fine > 0.0) ||
        !(fabs(sum.nodes - sum.fine) > most * sum.fine) ||
        (sum.nodes == 0.0 && !(hs_value_varies(value) & HS_VARIES_T))) /* else it acts nowhere */
        return;
    entry->doubted = hs_doubt(reader, key,
                              "the nodes take %.3g times the heat that it gives, since each takes "
                              "its own value for half a cell on each side; put its edges halfway "
                              "between nodes, or give more grid.points where it is narrow",
                              sum.nodes / sum.fine);
}

/* A body's uniform source becomes one of its time functions, which costs nothing per sweep. */
static void take_uniform_source(struct hs_reader *reader)
{
    struct hs_source *source = &reader->problem->source;
    const bool uniform = !hs_given(reader, "source.file") &&
                         !(hs_value_varies(&source->field.value) & HS_VARIES_SPACE);
    const struct hs_key key =
        hs_key("source.%s", hs_given(reader, "source.value") ? "value" : "expression");
    if (!uniform || !hs_read_time_function(reader, key.text, "", &reader->problem->body->source))
        return;
    source->present = false;
    hs_keep_place(reader, HS_PLACE_SOURCE, key.text);
}

void hs_read_fields(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    struct hs_field *source = &problem->source.field;
    if (hs_require(reader, "initial",
                   "give { value = ...; }, { expression = \"...\"; } or "
                   "{ file = \"...\"; dataset = \"...\"; }"))
        read_field(reader, "initial", &problem->initial.field);
    read_regions(reader);
    if (hs_given(reader, "source")) {
        problem->source.present = true;
        problem->source.rate = source_rate(problem);
        read_field(reader, "source", source);
        if (source->stored && reader->numbers != HS_NUMBERS_LEFT)
            hs_take_dataset(reader, "source", source->stored, NULL,
                            reader->numbers == HS_NUMBERS_KEPT ? &source->data : NULL);
        if (problem->body)
            take_uniform_source(reader);
        hs_doubt_uptake(reader,
                        hs_given(reader, "source.value") ? "source.value" : "source.expression", -1,
                        &source->value);
        rearrange_source(reader);
    }
    read_exact(reader);
}
