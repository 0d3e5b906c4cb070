#include "core/body.h"

#include "core/wall.h"

#include <stdlib.h>

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
    free(body->conductivity);
    free(body->capacity);
    free(body->contact);
    free(body);
}

void hs_wall_release(struct hs_wall *wall)
{
    free((void *)(uintptr_t)wall->label);
    free((void *)(uintptr_t)wall->h_field);
    free((void *)(uintptr_t)wall->flux.field);
    free((void *)(uintptr_t)wall->ambient.field);
    free((void *)(uintptr_t)wall->value.field);
}
