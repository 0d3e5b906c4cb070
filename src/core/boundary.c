/*
 * The boundary kinds. Ghosts are second order at the wall for radius 1; see docs/numerics.md for
 * what is reached with radius 2 and 3.
 */
#include "core/boundary.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define BIT(key) (1u << HS_BOUNDARY_##key)

static void mirror(struct hs_face *face, int radius)
{
    for (int m = 0; m < radius; m++)
        face->a[m] = 1.0;
    face->edge_weight = 0.5;
}

/* The textbook's boundary cells: as many layers as the stencil reaches keep what they hold, so no
 * ghost is ever read. */
static enum hs_status lower_fixed(const struct hs_boundary_spec *spec, double conductivity,
                                  double spacing, int radius, struct hs_face *face,
                                  const char **reason)
{
    (void)spec, (void)conductivity, (void)spacing, (void)reason;
    face->held = radius;
    for (int m = 0; m < radius; m++)
        face->b[m] = 1.0; /* finite, though not read */
    face->edge_weight = 0.5;
    return HS_OK;
}

/* T - T_wall is continued as an odd function: ghost = 2*edge - inner. */
static enum hs_status lower_dirichlet(const struct hs_boundary_spec *spec, double conductivity,
                                      double spacing, int radius, struct hs_face *face,
                                      const char **reason)
{
    (void)conductivity, (void)spacing, (void)reason;
    face->held = 1;
    face->prescribed = true;
    face->drive = spec->value[HS_BOUNDARY_VALUE];
    for (int m = 0; m < radius; m++) {
        face->a[m] = -1.0;
        face->b[m] = 2.0;
    }
    face->edge_weight = 0.5;
    return HS_OK;
}

/* Central difference through the edge node: (ghost(m) - inner(m)) / (2 m h) = dT/dn. */
static enum hs_status lower_neumann(const struct hs_boundary_spec *spec, double conductivity,
                                    double spacing, int radius, struct hs_face *face,
                                    const char **reason)
{
    double gradient_per_drive = 1.0;
    face->drive = spec->value[HS_BOUNDARY_GRADIENT];
    if (spec->given & BIT(FLUX)) {
        if (!(conductivity > 0.0)) {
            *reason = "a flux in W/m^2 needs material.conductivity; give that, or gradient in K/m";
            return HS_BAD_INPUT;
        }
        gradient_per_drive = -1.0 / conductivity; /* Fourier: outward flux = -k dT/dn */
        face->drive = spec->value[HS_BOUNDARY_FLUX];
    }
    mirror(face, radius);
    for (int m = 0; m < radius; m++)
        face->c[m] = 2.0 * (m + 1) * spacing * gradient_per_drive;
    return HS_OK;
}

/* dT/dn = -(h/k) (edge - ambient), central as above. */
static enum hs_status lower_robin(const struct hs_boundary_spec *spec, double conductivity,
                                  double spacing, int radius, struct hs_face *face,
                                  const char **reason)
{
    const double h = spec->value[HS_BOUNDARY_H].constant;
    if (!(conductivity > 0.0)) {
        *reason = "convection needs material.conductivity";
        return HS_BAD_INPUT;
    }
    mirror(face, radius);
    face->drive = spec->value[HS_BOUNDARY_AMBIENT];
    for (int m = 0; m < radius; m++) {
        face->c[m] = 2.0 * (m + 1) * spacing * h / conductivity;
        face->b[m] = -face->c[m];
    }
    return HS_OK;
}

static enum hs_status lower_periodic(const struct hs_boundary_spec *spec, double conductivity,
                                     double spacing, int radius, struct hs_face *face,
                                     const char **reason)
{
    (void)spec, (void)conductivity, (void)spacing, (void)radius, (void)reason;
    face->wrap = true;
    face->edge_weight = 1.0;
    return HS_OK;
}

static enum hs_status lower_reflective(const struct hs_boundary_spec *spec, double conductivity,
                                       double spacing, int radius, struct hs_face *face,
                                       const char **reason)
{
    (void)spec, (void)conductivity, (void)spacing, (void)reason;
    mirror(face, radius);
    return HS_OK;
}

/* Every ghost equals the edge node: the wall stands half a cell outside it. */
static enum hs_status lower_clamp(const struct hs_boundary_spec *spec, double conductivity,
                                  double spacing, int radius, struct hs_face *face,
                                  const char **reason)
{
    (void)spec, (void)conductivity, (void)spacing, (void)reason;
    for (int m = 0; m < radius; m++)
        face->b[m] = 1.0;
    face->edge_weight = 1.0;
    return HS_OK;
}

/* Every ghost equals the value: the wall stands one cell outside the edge node. */
static enum hs_status lower_constant(const struct hs_boundary_spec *spec, double conductivity,
                                     double spacing, int radius, struct hs_face *face,
                                     const char **reason)
{
    (void)conductivity, (void)spacing, (void)reason;
    face->drive = spec->value[HS_BOUNDARY_VALUE];
    for (int m = 0; m < radius; m++)
        face->c[m] = 1.0;
    face->edge_weight = 1.0;
    return HS_OK;
}

const struct hs_boundary_kind hs_boundary_kinds[] = {
    {.name = "fixed",
     .summary = "the outermost layers keep their initial values",
     .lower = lower_fixed},
    {.name = "dirichlet",
     .summary = "the wall node has the given temperature",
     .known_as = "temperature|isothermal|fixed_temperature|constant_temperature|prescribed",
     .all_of = BIT(VALUE),
     .lower = lower_dirichlet},
    {.name = "neumann",
     .summary = "given outward heat flux, or gradient along the outward normal",
     .known_as = "flux|heat_flux|heatflux|gradient|fixed_flux|constant_flux",
     .any_of = BIT(FLUX) | BIT(GRADIENT),
     .lower = lower_neumann},
    {.name = "robin",
     .summary = "convection to the ambient temperature",
     .known_as = "convection|convective|mixed|newton|film|cooling|third_kind",
     .all_of = BIT(H) | BIT(AMBIENT),
     .lower = lower_robin},
    {.name = "periodic",
     .summary = "the grid repeats; both faces of the axis",
     .known_as = "cyclic|wrap",
     .lower = lower_periodic},
    {.name = "reflective",
     .summary = "insulated: mirror about the wall node",
     .known_as = "insulated|insulation|insulating|adiabatic|symmetry|symmetric|zero_flux|no_flux|"
                 "noflux|zero_gradient|zerogradient|mirror",
     .lower = lower_reflective},
    {.name = "clamp",
     .summary = "outside equals the edge node: insulated, wall half a cell outside",
     .lower = lower_clamp},
    {.name = "constant",
     .summary = "outside has the given temperature, one cell from the edge node",
     .all_of = BIT(VALUE),
     .lower = lower_constant},
    {.name = NULL},
};

double hs_face_wall(const struct hs_face *face)
{
    if (face->held > 0 || face->wrap || face->a[0] != 0.0)
        return 0.0;
    return face->b[0] != 0.0 ? 0.5 : 1.0;
}

/* Only rules that mirror (ghost = inner + 2 m spacing dT/dn) hold a gradient. */
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

static bool is_same_letter(char typed, char known)
{
    return tolower((unsigned char)typed) == known || (known == '_' && strchr("- ", typed));
}

static bool is_among(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, "|");
        size_t same = 0;
        while (n == length && same < n && is_same_letter(name[same], p[same]))
            same++;
        if (n > 0 && same == n)
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

const struct hs_boundary_kind *hs_boundary_meant(const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (kind->known_as && is_among(name, kind->known_as))
            return kind;
    return NULL;
}

void hs_boundary_list_keys(unsigned keys, const char *between, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int key = 0; key < HS_BOUNDARY_KEYS && used < size; key++)
        if (keys & 1u << key)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? between : "",
                                     hs_boundary_key_name((enum hs_boundary_key)key));
}

const char *hs_boundary_key_name(enum hs_boundary_key key)
{
    static const char *const names[HS_BOUNDARY_KEYS] = {"value", "flux", "gradient", "h",
                                                        "ambient"};
    return names[key];
}
