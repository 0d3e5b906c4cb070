/* stencil and material: the coefficients of a sweep. */
#include "input/config_reader.h"

#include <math.h>

void hs_read_stencil_radius(struct hs_reader *reader)
{
    int64_t radius;
    if (hs_settings_count(reader->settings, "stencil.radius", &radius))
        reader->problem->radius = (int)radius;
}

static bool any_coefficient(const struct hs_reader *reader)
{
    for (int i = 0; i < HS_MAX_COEFFICIENTS; i++)
        if (hs_given(reader, hs_key("stencil.c%d", i).text))
            return true;
    return false;
}

static void read_coefficients(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    if (problem->grid.dims == 0 || !hs_settings_is_sound(reader->settings, "stencil.radius"))
        return;
    const int dims = problem->grid.dims, radius = problem->radius;
    const int count = hs_stencil_count(dims, radius);
    for (int i = 0; i < HS_MAX_COEFFICIENTS; i++) {
        const struct hs_key key = hs_key("stencil.c%d", i);
        const bool given = hs_given(reader, key.text);
        if (i < count && !given)
            hs_complain(reader, key.text, "missing; %dD with radius %d needs c0 to c%d", dims,
                        radius, count - 1);
        else if (i >= count && given)
            hs_complain(
                reader, key.text,
                "%dD with radius %d has c0 to c%d only; remove it, or give a larger stencil.radius",
                dims, radius, count - 1);
        else if (i < count)
            hs_settings_number(reader->settings, key.text, &problem->c[i]);
    }
}

static const char *const properties[] = {"material.conductivity", "material.density",
                                         "material.specific_heat"};

/* Raw coefficients define a sweep; a conductivity may be given for flux and robin faces. */
static void read_raw(struct hs_reader *reader)
{
    reader->problem->raw = true;
    read_coefficients(reader);
    hs_refuse(reader, "material", "density|specific_heat|diffusivity",
              "the raw coefficients stencil.c0 ... already include it; remove one of the two");
    hs_settings_number(reader->settings, "material.conductivity",
                       &reader->problem->material.conductivity);
}

static void read_diffusivity(struct hs_reader *reader)
{
    hs_refuse(reader, "material", "conductivity|density|specific_heat",
              "material.diffusivity is given; give either that alone, or conductivity, density "
              "and specific_heat");
    hs_settings_number(reader->settings, "material.diffusivity",
                       &reader->problem->material.diffusivity);
}

void hs_keep_material(struct hs_reader *reader, const char *group)
{
    hs_keep_place(reader, HS_PLACE_CONDUCTIVITY, hs_key("%s.conductivity", group).text);
    hs_keep_place(reader, HS_PLACE_DENSITY, hs_key("%s.density", group).text);
    hs_keep_place(reader, HS_PLACE_SPECIFIC_HEAT, hs_key("%s.specific_heat", group).text);
}

static void read_properties(struct hs_reader *reader)
{
    struct hs_material *material = &reader->problem->material;
    double *const into[] = {&material->conductivity, &material->density, &material->specific_heat};
    bool good = true;
    for (int i = 0; i < 3; i++)
        good = hs_require(reader, properties[i],
                          "the diffusivity follows from conductivity, density and specific_heat") &&
               hs_settings_number(reader->settings, properties[i], into[i]) && good;
    material->diffusivity = material->conductivity / (material->density * material->specific_heat);
    if (good && !isnormal(material->diffusivity))
        hs_complain(reader, "material",
                    "conductivity / (density * specific_heat) = %g m^2/s is too small or "
                    "too large; check the units",
                    material->diffusivity);
}

/* Whether the config has a body of several materials, which is read elsewhere. */
static bool has_body(struct hs_reader *reader)
{
    const struct hs_key key = hs_first_given(reader, "", "materials|body|measured");
    if (!key.text[0])
        return false;
    if (hs_settings_find(reader->settings, key.text)->bad) {
        hs_settings_mean(reader->settings, "materials"); /* neither is then missing */
        hs_settings_mean(reader->settings, "body");
    } else if (hs_given(reader, "material"))
        hs_complain(reader, "material",
                    "%s is given too; a body of several materials has materials and body, one of a "
                    "single material has material alone",
                    key.text);
    return true;
}

/* Cells of 1 m are for raw coefficients, which know no lengths. */
static void doubt_spacing(struct hs_reader *reader)
{
    const int first = reader->list[0];
    if (reader->space_known && reader->listed > 0 && !hs_given(reader, "grid.upper") &&
        !hs_given(reader, "grid.spacing"))
        hs_doubt(reader, "grid.points",
                 "nodes are taken to be 1 m apart, %lld m from %c_min to %c_max; give grid.upper, "
                 "or grid.spacing",
                 (long long)reader->problem->grid.points[first] - 1, "xyz"[first], "xyz"[first]);
}

void hs_read_material(struct hs_reader *reader)
{
    if (any_coefficient(reader)) {
        read_raw(reader);
        return;
    }
    doubt_spacing(reader);
    if (has_body(reader))
        return;
    if (hs_given(reader, "material.diffusivity") ||
        hs_settings_is_meant(reader->settings, "material.diffusivity"))
        read_diffusivity(reader);
    else if (hs_given(reader, "material")) {
        read_properties(reader);
        hs_keep_material(reader, "material");
    } else
        hs_complain(reader, "material",
                    "missing; give { conductivity; density; specific_heat; } or { diffusivity; }, "
                    "materials and body, or the raw coefficients stencil.c0 ...");
}
