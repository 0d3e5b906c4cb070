#include "core/body.h"

#include "core/round.h"
#include "core/wall.h"

#include <stdlib.h>

static void release_measured(struct hs_measured *measured)
{
    free(measured->value);
    hs_stored_destroy(measured->stored);
}

void hs_body_destroy(struct hs_body *body)
{
    if (!body)
        return;
    for (int n = 0; n < body->substance_count; n++) {
        free(body->substance[n].name);
        for (int p = 0; p < HS_SUBSTANCE_PLACES; p++)
            free(body->substance[n].place[p]);
    }
    free(body->substance);
    free(body->solid);
    free(body->label);
    hs_stored_destroy(body->stored);
    free(body->substance_of);
    release_measured(&body->conductivity);
    release_measured(&body->capacity);
    for (int n = 0; n < body->contact_count; n++)
        free(body->contact[n].place);
    free(body->contact);
    free(body);
}

bool hs_body_is_active(const struct hs_body *body)
{
    bool active = false;
    for (int s = 0; s < body->substance_count; s++)
        active = active || body->substance[s].source >= 0 || body->substance[s].perfusion > 0.0;
    return active;
}

uint16_t hs_body_substance_of(const struct hs_body *body, double number)
{
    return hs_is_label(number) ? body->substance_of[(int)number] : HS_UNNAMED;
}

/* Reads as many layers of the slowest axis at a time as cost no more than one. */
enum hs_status hs_body_read_labels(const struct hs_body *body, const struct hs_box *box,
                                   size_t size, void *out, struct hs_error *err)
{
    const struct hs_stored *stored = body->stored;
    const int axis = stored->dims - 1;
    const int64_t plane = hs_box_count(box) / (box->hi[axis] - box->lo[axis]);
    struct hs_box part = *box;
    int64_t at = 0;
    enum hs_status st = HS_OK;
    double *number =
        malloc((size_t)(hs_smaller(stored->together, box->hi[axis] - box->lo[axis]) * plane) *
               sizeof *number);
    if (!number)
        return hs_error_add(err, HS_DEVICE, "not enough memory for labels of a body");
    for (; part.lo[axis] < box->hi[axis] && !st; part.lo[axis] = part.hi[axis]) {
        part.hi[axis] = hs_smaller(part.lo[axis] + stored->together, box->hi[axis]);
        st = stored->read(stored, &part, number, err);
        for (int64_t n = 0; n < hs_box_count(&part) && !st; n++, at++)
            if (size == sizeof(uint8_t))
                ((uint8_t *)out)[at] = (uint8_t)hs_body_substance_of(body, number[n]);
            else
                ((uint16_t *)out)[at] = hs_body_substance_of(body, number[n]);
    }
    free(number);
    return st;
}

void hs_wall_release(struct hs_wall *wall)
{
    free((void *)(uintptr_t)wall->h_field);
    free((void *)(uintptr_t)wall->flux.field);
    free((void *)(uintptr_t)wall->ambient.field);
    free((void *)(uintptr_t)wall->value.field);
    free(wall->h_place);
    free(wall->flux.place);
    free(wall->ambient.place);
    free(wall->value.place);
}

const struct hs_contact *hs_body_contact(const struct hs_body *body, int one, int other)
{
    for (int n = 0; n < body->contact_count && one != other; n++) {
        const int *between = body->contact[n].between;
        if ((between[0] == one && between[1] == other) ||
            (between[0] == other && between[1] == one))
            return &body->contact[n];
    }
    return NULL;
}
