/*
 * The boundary kinds. Ghosts are second order at the wall for radius 1; docs/numerics.md gives the
 * order for radius 2 and 3.
 */
#include "core/boundary.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* Central difference through the edge node: (ghost(m) - inner(m)) / (2 m h) = dT/dn, which is the
 * gradient; by Fourier the outward flux is -k dT/dn. */
static void lower_neumann(const struct hs_boundary_spec *spec, struct hs_face *face)
{
    enum { FLUX };
    const double gradient = spec->given & 1u << FLUX ? -1.0 / spec->conductivity : 1.0;
    for (int m = 0; m < spec->radius; m++)
        face->c[m] = 2.0 * (m + 1) * spec->spacing * gradient;
}

/* dT/dn = -(h/k) (edge - ambient), central as above. */
static void lower_robin(const struct hs_boundary_spec *spec, struct hs_face *face)
{
    enum { H };
    const double h = spec->value[H].constant;
    for (int m = 0; m < spec->radius; m++) {
        face->c[m] = 2.0 * (m + 1) * spec->spacing * h / spec->conductivity;
        face->b[m] = -face->c[m];
    }
}

/* Keys that several kinds have. */
#define VALUE                                                                                      \
    {                                                                                              \
        .name = "value", .unit = "K", .help = "temperature of the wall, or outside it"             \
    }

const struct hs_boundary_kind hs_boundary_kinds[] = {
    /* the textbook's boundary cells: as many layers as the radius keep their values, so no ghost is
     * ever read */
    {.name = "fixed",
     .summary = "the outermost layers keep their initial values",
     .held = HS_MAX_RADIUS,
     .b = 1.0,
     .edge_weight = 0.5,
     .in_body = {HS_WALL_HOLDS, "", ""}},
    /* T - T_wall is continued as an odd function */
    {.name = "dirichlet",
     .summary = "the wall node has the given temperature",
     .known_as = "temperature|isothermal|fixed_temperature|constant_temperature|prescribed",
     .key = {VALUE},
     .held = 1,
     .prescribed = true,
     .a = -1.0,
     .b = 2.0,
     .edge_weight = 0.5,
     .in_body = {HS_WALL_PRESCRIBES, "value", ""}},
    {.name = "neumann",
     .summary = "given outward heat flux, or gradient along the outward normal",
     .known_as = "flux|heat_flux|heatflux|gradient|fixed_flux|constant_flux",
     .key = {{.name = "flux",
              .unit = "W/m^2",
              .help = "heat that leaves through the face",
              .known_as = "q|heat_flux",
              .one_of = true,
              .conducts = "a flux in W/m^2"},
             {.name = "gradient",
              .unit = "K/m",
              .help = "dT/dn along the outward normal, instead of flux",
              .one_of = true,
              .no_file = true}},
     .a = 1.0,
     .edge_weight = 0.5,
     .in_body = {HS_WALL_EXCHANGES, "flux", ""},
     .lower = lower_neumann},
    {.name = "robin",
     .summary = "convection to the ambient temperature",
     .known_as = "convection|convective|mixed|newton|film|cooling|third_kind",
     .key = {{.name = "h",
              .unit = "W/(m^2 K)",
              .help = "heat transfer coefficient",
              .known_as = "htc|coefficient|heat_transfer_coefficient",
              .number = true,
              .conducts = "convection"},
             {.name = "ambient",
              .unit = "K",
              .help = "temperature of the surroundings",
              .known_as = "t_inf|t_ambient|ambient_temperature"}},
     .a = 1.0,
     .edge_weight = 0.5,
     .in_body = {HS_WALL_EXCHANGES, "h|ambient", "flux"},
     .lower = lower_robin},
    {.name = "periodic",
     .summary = "the grid repeats; both faces of the axis",
     .known_as = "cyclic|wrap",
     .wrap = true,
     .edge_weight = 1.0,
     .in_body = {HS_WALL_EXCHANGES, "", ""}},
    {.name = "reflective",
     .summary = "insulated: mirror about the wall node",
     .known_as = "insulated|insulation|insulating|adiabatic|symmetry|symmetric|zero_flux|no_flux|"
                 "noflux|zero_gradient|zerogradient|mirror",
     .a = 1.0,
     .edge_weight = 0.5,
     .in_body = {HS_WALL_EXCHANGES, "", ""}},
    /* every ghost equals the edge node: the wall stands half a cell outside it */
    {.name = "clamp",
     .summary = "outside equals the edge node: insulated, wall half a cell outside",
     .b = 1.0,
     .edge_weight = 1.0},
    /* every ghost equals the value: the wall stands one cell outside the edge node */
    {.name = "constant",
     .summary = "outside has the given temperature, one cell from the edge node",
     .key = {VALUE},
     .c = 1.0,
     .edge_weight = 1.0},
    {.name = NULL},
};

struct hs_face hs_boundary_lower(const struct hs_boundary_kind *kind,
                                 const struct hs_boundary_spec *spec)
{
    struct hs_face face = {.type = kind->name,
                           .held = kind->held < spec->radius ? kind->held : spec->radius,
                           .prescribed = kind->prescribed,
                           .wrap = kind->wrap,
                           .edge_weight = kind->edge_weight};
    for (int m = 0; m < spec->radius; m++) {
        face.a[m] = kind->a;
        face.b[m] = kind->b;
        face.c[m] = kind->c;
    }
    for (int n = 0; n < hs_boundary_key_count(kind); n++)
        if (spec->given & 1u << n && !kind->key[n].number)
            face.data = spec->value[n];
    if (kind->lower)
        kind->lower(spec, &face);
    return face;
}

double hs_face_wall(const struct hs_face *face)
{
    if (face->held > 0 || face->wrap || face->a[0] != 0.0)
        return 0.0;
    return face->b[0] != 0.0 ? 0.5 : 1.0;
}

/* Only mirroring rules (ghost = inner + 2 m spacing dT/dn) contain a gradient. */
void hs_face_respace(struct hs_face *face, double ratio)
{
    if (face->a[0] != 1.0)
        return;
    for (int m = 0; m < HS_MAX_RADIUS; m++) {
        face->b[m] *= ratio;
        face->c[m] *= ratio;
    }
}

const struct hs_boundary_kind *hs_boundary_find(const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const struct hs_boundary_kind *hs_boundary_meant(const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (kind->known_as && hs_text_is_among(name, kind->known_as))
            return kind;
    return NULL;
}

const struct hs_boundary_key *hs_boundary_key_meant(const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        for (int n = 0; n < hs_boundary_key_count(kind); n++)
            if (kind->key[n].known_as && hs_text_is_among(name, kind->key[n].known_as))
                return &kind->key[n];
    return NULL;
}

int hs_boundary_key_count(const struct hs_boundary_kind *kind)
{
    int count = 0;
    while (count < HS_BOUNDARY_KEYS && kind->key[count].name)
        count++;
    return count;
}

int hs_boundary_key_find(const struct hs_boundary_kind *kind, const char *name)
{
    for (int n = 0; n < hs_boundary_key_count(kind); n++)
        if (strcmp(kind->key[n].name, name) == 0)
            return n;
    return -1;
}

void hs_boundary_list_keys(const struct hs_boundary_kind *kind, bool one_of, char *out, size_t size)
{
    out[0] = '\0';
    for (int n = 0; n < hs_boundary_key_count(kind); n++)
        if (kind->key[n].one_of == one_of)
            hs_text_add(out, size, one_of ? " or " : " and ", kind->key[n].name);
}

bool hs_boundary_lacks(const struct hs_boundary_kind *kind, const struct hs_boundary_spec *spec,
                       char *out, size_t size)
{
    for (int n = 0; n < hs_boundary_key_count(kind) && !(spec->conductivity > 0.0); n++) {
        const struct hs_boundary_key *key = &kind->key[n];
        if (!(spec->given & 1u << n) || !key->conducts)
            continue;
        snprintf(out, size, "%s needs material.conductivity", key->conducts);
        for (int other = 0; other < hs_boundary_key_count(kind) && key->one_of; other++)
            if (kind->key[other].one_of && !kind->key[other].conducts)
                hs_text_append(out, size, "; give that, or %s in %s", kind->key[other].name,
                               kind->key[other].unit);
        return true;
    }
    return false;
}
