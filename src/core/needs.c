#include "core/needs.h"

static unsigned source_needs(const struct hs_source *source)
{
    if (!source->present)
        return 0;
    const unsigned varies = hs_value_varies(&source->field.value);
    unsigned needs = HS_NEEDS_SOURCE;
    if (source->field.data || varies & HS_VARIES_SPACE)
        needs |= HS_NEEDS_SOURCE_FIELD;
    if (!source->field.data && varies & HS_VARIES_T)
        needs |= HS_NEEDS_SOURCE_TIME;
    return needs;
}

static unsigned face_needs(const struct hs_face *face, int radius)
{
    if (face->wrap)
        return HS_NEEDS_WRAP;
    const unsigned varies = hs_value_varies(&face->drive);
    unsigned needs = face->held < radius || face->prescribed ? HS_NEEDS_GHOSTS : 0u;
    if (face->prescribed)
        needs |= HS_NEEDS_PRESCRIBED;
    if (varies & HS_VARIES_T)
        needs |= HS_NEEDS_WALL_TIME;
    if (varies & HS_VARIES_SPACE)
        needs |= HS_NEEDS_WALL_FIELD;
    return needs;
}

unsigned hs_problem_needs(const struct hs_problem *problem)
{
    unsigned needs = source_needs(&problem->source);
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        needs |= face_needs(&problem->face[face], problem->radius);
    return needs;
}
