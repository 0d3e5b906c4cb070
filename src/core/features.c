#include "core/features.h"

#include "core/problem.h"
#include "core/text.h"

#include <stdio.h>

static hs_features source_features(const struct hs_problem *problem)
{
    const unsigned varies = hs_problem_source_varies(problem);
    hs_features asked = problem->source.present || varies ? HS_SOURCE : 0;
    if (varies & HS_VARIES_SPACE)
        asked |= HS_SOURCE_FIELD;
    if (varies & HS_VARIES_T)
        asked |= HS_SOURCE_TIME | (asked & HS_SOURCE_FIELD ? HS_SOURCE_FIELD_TIME : 0);
    return asked;
}

static hs_features face_features(const struct hs_face *face, int radius)
{
    if (face->wrap)
        return HS_WALL_PERIODIC;
    const unsigned varies = hs_value_varies(&face->data);
    hs_features asked = face->held < radius || face->prescribed ? HS_WALL_AFFINE : 0;
    if (face->prescribed)
        asked |= HS_WALL_PRESCRIBED;
    if (varies & HS_VARIES_T)
        asked |= HS_WALL_TIME;
    if (varies & HS_VARIES_SPACE)
        asked |= HS_WALL_FIELD | (varies & HS_VARIES_T ? HS_WALL_FIELD_TIME : 0);
    return asked;
}

hs_features hs_feature_dims(int dims)
{
    return HS_1D << (dims - 1);
}

hs_features hs_feature_radius(int radius)
{
    return HS_RADIUS_1 << (radius - 1);
}

hs_features hs_feature_precision(enum hs_precision precision)
{
    return HS_IN_FLOAT << precision;
}

hs_features hs_feature_stencil(int dims, int radius, enum hs_precision precision)
{
    return HS_STENCIL | hs_feature_dims(dims) | hs_feature_radius(radius) |
           hs_feature_precision(precision);
}

/* Walls and uniform terms are coefficients and need no feature; a source field does. */
static hs_features network_features(const struct hs_problem *problem)
{
    static const hs_features forms[] = {[HS_NETWORK_BYTES] = HS_BYTES,
                                        [HS_NETWORK_SHORTS] = HS_SHORTS,
                                        [HS_NETWORK_ARRAYS] = HS_ARRAYS};
    hs_features asked = HS_CONDUCTION | HS_RADIUS_1 | hs_feature_dims(problem->grid.dims) |
                        hs_feature_precision(problem->precision) | forms[problem->network->form] |
                        source_features(problem) |
                        (hs_network_moves(problem->network) ? HS_WALL_FIELD_TIME : 0) |
                        (hs_network_sinks_vary(problem->network) ? HS_SINK_TIME : 0);
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        asked |= problem->face[face].wrap ? HS_WALL_PERIODIC : 0;
    return asked;
}

hs_features hs_problem_features(const struct hs_problem *problem)
{
    if (problem->network)
        return network_features(problem);
    hs_features asked = source_features(problem) |
                        hs_feature_stencil(problem->grid.dims, problem->radius, problem->precision);
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        asked |= face_features(&problem->face[face], problem->radius);
    return asked;
}

/* Text for a kernel that lacks the feature, and the other features of its kind, of which a problem
 * requires one. */
static const struct {
    hs_features bit, kind;
    const char *text;
} rows[] = {
    {HS_STENCIL, 0, "stencils, only bodies of several materials"},
    {HS_1D, HS_ALL_DIMS, "1D"},
    {HS_2D, HS_ALL_DIMS, "2D"},
    {HS_3D, HS_ALL_DIMS, "3D"},
    {HS_RADIUS_1, HS_ALL_RADII, "radius 1"},
    {HS_RADIUS_2, HS_ALL_RADII, "radius 2"},
    {HS_RADIUS_3, HS_ALL_RADII, "radius 3"},
    {HS_IN_FLOAT, HS_ALL_PRECISIONS, "float"},
    {HS_IN_DOUBLE, HS_ALL_PRECISIONS, "double"},
    {HS_WALL_AFFINE, 0, "faces other than fixed ones"},
    {HS_WALL_PERIODIC, 0, "periodic axes"},
    {HS_WALL_PRESCRIBED, 0, "faces of prescribed temperature"},
    {HS_WALL_TIME, 0, "boundary values that change with time"},
    {HS_WALL_FIELD, 0, "boundary values that differ from point to point"},
    {HS_SOURCE, 0, "sources"},
    {HS_SOURCE_TIME, 0, "sources that change with time"},
    {HS_SOURCE_FIELD, 0, "sources that differ from point to point"},
    {HS_CONDUCTION, 0, "bodies of several materials"},
    {HS_BYTES, HS_ALL_FORMS, "nodes of up to 256 kinds"},
    {HS_SHORTS, HS_ALL_FORMS, "nodes of up to 65536 kinds"},
    {HS_ARRAYS, HS_ALL_FORMS, "nodes of more than 65536 kinds"},
    {HS_WALL_FIELD_TIME, 0, "boundary values that differ from point to point and change with time"},
    {HS_SINK_TIME, 0, "convection whose h changes with time"},
    {HS_SOURCE_FIELD_TIME, 0, "sources that differ from point to point and change with time"},
};

/* "2D or 3D" */
static void list_kind(hs_features set, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (rows[n].bit & set)
            hs_text_add(out, size, " or ", rows[n].text);
}

bool hs_features_cover(const char *name, hs_features can, hs_features asked, char *reason,
                       size_t size)
{
    const hs_features lacking = asked & ~can;
    if (!lacking)
        return true;
    const size_t count = sizeof rows / sizeof *rows;
    size_t n = 0;
    while (n < count && !(rows[n].bit & lacking))
        n++;
    char able[128];
    list_kind(n < count ? rows[n].kind & can : 0, able, sizeof able);
    snprintf(reason, size, "%s cannot do %s%s%s", name,
             n < count ? rows[n].text : "all that the problem asks for", able[0] ? ", only " : "",
             able);
    return false;
}
