#include "engine/walls/face_data.h"

#include "functions/evaluate.h"

#include <math.h>
#include <stdlib.h>

int hs_face_depth(const struct hs_problem *problem, int face)
{
    if (problem->body && !problem->face[face].wrap) /* walls are coefficients */
        return 0;
    if (face / 2 >= problem->grid.dims)
        return 0;
    const int depth = problem->radius - problem->face[face].held;
    return depth > 0 ? depth : 0;
}

struct hs_face_place hs_face_place_in(const struct hs_layout *layout, int face)
{
    const int axis = face / 2, first = hs_face_first_axis(face), second = hs_face_second_axis(face);
    const int64_t pitch = layout->pitch[axis], last = layout->points[axis] - 1;
    return (struct hs_face_place){
        .nodes = layout->points[first] * layout->points[second],
        .length = layout->points[first],
        .edge = face % 2 ? last * pitch : 0,
        .inward = face % 2 ? -pitch : pitch,
        .along = layout->pitch[first],
        .across = layout->pitch[second],
        .extent = layout->points[axis],
    };
}

static struct hs_face_data describe(const struct hs_problem *problem, int face)
{
    const struct hs_face *rule = &problem->face[face];
    const unsigned varies = hs_value_varies(&rule->data);
    const unsigned axes = ((1u << problem->grid.dims) - 1) & ~(1u << face / 2);
    bool used = rule->prescribed;
    for (int m = 0; m < hs_face_depth(problem, face); m++)
        used = used || rule->c[m] != 0.0;
    used = used && face / 2 < problem->grid.dims && !rule->wrap;
    return (struct hs_face_data){
        .used = used,
        .varies_time = used && (varies & HS_VARIES_T) != 0,
        .varies_face = used && (varies & axes) != 0,
    };
}

double hs_face_slots_bytes(const struct hs_problem *problem, int slots)
{
    double bytes = 0.0;
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_face_data data = describe(problem, face);
        if (data.varies_face)
            bytes += (double)hs_grid_face_count(&problem->grid, face) *
                     (double)hs_precision_size(problem->precision) * (data.varies_time ? slots : 1);
    }
    return bytes;
}

enum hs_status hs_face_slots_init(struct hs_face_slots *slots, const struct hs_problem *problem,
                                  int count, struct hs_error *err)
{
    *slots = (struct hs_face_slots){
        .problem = problem,
        .time = malloc((size_t)count * sizeof *slots->time),
        .value = calloc((size_t)count, sizeof *slots->value),
        .table = calloc((size_t)count, sizeof *slots->table),
    };
    if (!slots->time || !slots->value || !slots->table)
        return hs_error_add(err, HS_DEVICE, "not enough memory for %d time levels of the faces",
                            count);
    slots->count = count;
    for (int slot = 0; slot < count; slot++)
        slots->time[slot] = NAN;
    for (int face = 0; face < HS_FACES; face++)
        slots->face[face] = describe(problem, face);
    return HS_OK;
}

void hs_face_slots_release(struct hs_face_slots *slots)
{
    free(slots->table);
    free(slots->value);
    free(slots->time);
    *slots = (struct hs_face_slots){0};
}

/* Slots differ only in what changes with time; the rest is kept once, in slot 0. */
bool hs_face_slots_wants_table(const struct hs_face_slots *slots, int slot, int face)
{
    return slots->face[face].varies_face && (slot == 0 || slots->face[face].varies_time);
}

const void *hs_face_slots_table(const struct hs_face_slots *slots, int slot, int face)
{
    return slots->table[slots->face[face].varies_time ? slot : 0][face];
}

enum hs_status hs_face_slots_at(struct hs_face_slots *slots, int slot, double t,
                                hs_face_table_function *fill, void *self, struct hs_error *err)
{
    const struct hs_problem *problem = slots->problem;
    const bool first = isnan(slots->time[slot]);
    if (slots->time[slot] == t)
        return HS_OK;
    slots->time[slot] = t;
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_face_data *data = &slots->face[face];
        const bool once = first && (slot == 0 || !data->varies_face);
        if (!data->used || !(data->varies_time || once))
            continue;
        if (!slots->table[slot][face]) {
            const struct hs_box box = hs_grid_face_box(&problem->grid, face);
            slots->value[slot][face] =
                hs_value_at_node(&problem->face[face].data, &problem->grid, box.lo, t);
            continue;
        }
        HS_TRY(fill(self, face, t, slots->table[slot][face], err));
    }
    return HS_OK;
}

bool hs_face_slots_vary(const struct hs_face_slots *slots)
{
    bool vary = false;
    for (int face = 0; face < HS_FACES; face++)
        vary = vary || slots->face[face].varies_time;
    return vary;
}

bool hs_face_slots_prescribed_vary(const struct hs_face_slots *slots)
{
    bool vary = false;
    for (int face = 0; face < HS_FACES; face++)
        vary = vary || (slots->problem->face[face].prescribed && slots->face[face].varies_time);
    return vary;
}

struct hs_face_level hs_face_slots_level(const struct hs_face_slots *slots, int in, int out)
{
    struct hs_face_level level;
    for (int face = 0; face < HS_FACES; face++) {
        level.data[face] = slots->value[in][face];
        level.prescribed[face] = slots->value[out][face];
        level.data_field[face] = hs_face_slots_table(slots, in, face);
        level.prescribed_field[face] = hs_face_slots_table(slots, out, face);
    }
    return level;
}
