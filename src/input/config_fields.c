/* initial, source and exact: scalar fields as a value, an expression or a dataset; regions. */
#include "input/config_reader.h"

#include "core/memory.h"
#include "functions/fields.h"
#include "functions/separation.h"
#include "input/field_file.h"
#include "input/npy.h"

#include <math.h>

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
