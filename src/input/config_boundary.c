/* boundary: a face uses its own settings or those of `all`; its kind lowers them to data. */
#include "input/config_reader.h"

#include "core/text.h"

#include <string.h>

/* Whether the face gives the key's number in another way: written out, or by file or table. */
static bool is_given_otherwise(const struct hs_reader *reader, const char *face, const char *name)
{
    const char *ending = strrchr(name, '_');
    if (ending && (strcmp(ending, "_file") == 0 || strcmp(ending, "_table") == 0))
        return hs_given(reader, hs_key("boundary.%s.%.*s", face, (int)(ending - name), name).text);
    return hs_given(reader, hs_key("boundary.%s.%s_file", face, name).text) ||
           hs_given(reader, hs_key("boundary.%s.%s_table", face, name).text);
}

/* A face's key is in its own group, or in `all` if the face has no type of its own. */
struct hs_key hs_face_key(const struct hs_reader *reader, int face, const char *name)
{
    const struct hs_key own = hs_key("boundary.%s.%s", hs_face_name(face), name);
    const struct hs_key type = hs_key("boundary.%s.type", hs_face_name(face));
    const struct hs_key shared = hs_key("boundary.all.%s", name);
    const bool inherits = !hs_given(reader, type.text) && hs_given(reader, shared.text) &&
                          !is_given_otherwise(reader, hs_face_name(face), name);
    return !hs_given(reader, own.text) && inherits ? shared : own;
}

const struct hs_boundary_kind *hs_face_kind(const struct hs_reader *reader, int face)
{
    const char *type = hs_settings_text(reader->settings, hs_face_key(reader, face, "type").text);
    return type ? hs_boundary_find(type) : NULL;
}

double hs_read_end(const struct hs_reader *reader, int axis)
{
    const struct hs_grid *grid = &reader->problem->grid;
    return hs_grid_coordinate(grid, axis, grid->points[axis] - !hs_axis_is_periodic(reader, axis));
}

/* Reports keys of a group ("x_min", "all") that its kind does not use. */
static void check_unused(struct hs_reader *reader, const char *group,
                         const struct hs_boundary_kind *kind)
{
    for (const struct hs_boundary_kind *other = hs_boundary_kinds; other->name; other++)
        for (int n = 0; n < hs_boundary_key_count(other); n++) {
            const struct hs_key path = hs_key("boundary.%s.%s", group, other->key[n].name);
            if (hs_boundary_key_find(kind, other->key[n].name) < 0 && hs_given(reader, path.text))
                hs_complain(reader, path.text,
                            "a %s boundary does not use it; remove it, or change the type",
                            kind->name);
        }
}

/* "flux or gradient" */
static struct hs_key list_keys(const struct hs_boundary_kind *kind, bool one_of)
{
    struct hs_key list = {""};
    hs_boundary_list_keys(kind, one_of, list.text, sizeof list.text);
    return list;
}

/* Whether a face has no settings of its own, so that its errors are errors of `all`. */
static bool is_shared(const struct hs_reader *reader, int face)
{
    return !hs_given(reader, hs_key("boundary.%s", hs_face_name(face)).text) &&
           hs_given(reader, "boundary.all");
}

static bool is_complete(struct hs_reader *reader, int face, const struct hs_boundary_kind *kind,
                        unsigned given)
{
    const char *name = is_shared(reader, face) ? "all" : hs_face_name(face);
    bool complete = true;
    int chosen = 0, choices = 0;
    for (int n = 0; n < hs_boundary_key_count(kind); n++) {
        const bool missing = !(given & 1u << n);
        choices += kind->key[n].one_of;
        chosen += kind->key[n].one_of && !missing;
        if (kind->key[n].one_of || !missing)
            continue;
        complete =
            hs_complain(reader, hs_key("boundary.%s.%s", name, kind->key[n].name).text,
                        "missing; a %s boundary needs %s", kind->name, list_keys(kind, false).text);
    }
    if (choices == 0 || chosen == 1)
        return complete;
    return hs_complain(reader, hs_key("boundary.%s", name).text, "a %s boundary needs %s%s",
                       kind->name, list_keys(kind, true).text, chosen ? ", not both" : "");
}

void hs_doubt_on_face(struct hs_reader *reader, const char *key, int face,
                      const struct hs_value *value)
{
    const unsigned varies = hs_value_varies(value);
    const struct hs_grid *grid = &reader->problem->grid;
    struct hs_setting *entry = hs_settings_find(reader->settings, key);
    const int axis = face / 2;
    const bool shared = strncmp(key, "boundary.all.", strlen("boundary.all.")) == 0;
    if (grid->dims > 1 && reader->space_known && !shared && !entry->doubted &&
        (varies & HS_VARIES_SPACE) == (unsigned)HS_VARIES_X << axis)
        entry->doubted = hs_doubt(reader, key,
                                  "on all of %s %c is %.9g, so this has one value on the whole "
                                  "face; was another coordinate meant?",
                                  hs_face_name(face), "xyz"[axis],
                                  hs_grid_coordinate(grid, axis, hs_grid_face_index(grid, face)));
    if (hs_text_is_among(strrchr(key, '.') + 1, "flux|gradient"))
        hs_doubt_uptake(reader, key, face, value);
}

/* False if a value is bad, which is then reported. */
static bool read_spec(struct hs_reader *reader, int face, const struct hs_boundary_kind *kind,
                      struct hs_boundary_spec *spec)
{
    const struct hs_problem *problem = reader->problem;
    *spec = (struct hs_boundary_spec){.conductivity = problem->material.conductivity,
                                      .spacing = problem->grid.spacing[face / 2],
                                      .radius = problem->radius};
    bool good = true;
    for (int n = 0; n < hs_boundary_key_count(kind); n++) {
        const struct hs_key path = hs_face_key(reader, face, kind->key[n].name);
        if (!hs_given(reader, path.text))
            continue;
        spec->given |= 1u << n;
        good = hs_read_value(reader, path.text, &spec->value[n]) && good;
        hs_doubt_on_face(reader, path.text, face, &spec->value[n]);
    }
    return is_complete(reader, face, kind, spec->given) && good;
}

/* False on an error, which is then reported. */
static bool read_face(struct hs_reader *reader, int face)
{
    struct hs_problem *problem = reader->problem;
    const struct hs_boundary_kind *kind = hs_face_kind(reader, face);
    if (!kind)
        return false;
    if (!hs_given(reader, hs_face_key(reader, face, "type").text))
        problem->assumed_faces |= 1u << face;
    check_unused(reader, hs_face_name(face), kind);
    struct hs_boundary_spec spec;
    const bool read = read_spec(reader, face, kind, &spec);
    char reason[200];
    if (!hs_boundary_lacks(kind, &spec, reason, sizeof reason)) {
        if (read)
            problem->face[face] = hs_boundary_lower(kind, &spec);
        return read;
    }
    /* a bad conductivity has been reported already */
    if (!hs_given(reader, "material.conductivity") &&
        !hs_settings_is_meant(reader->settings, "material"))
        hs_complain(reader, hs_face_key(reader, face, "type").text, "%s", reason);
    return false;
}

/* If the grid is not known, any face may exist. */
static int face_count(const struct hs_reader *reader)
{
    const int dims = reader->problem->grid.dims;
    return dims > 0 ? 2 * dims : HS_FACES;
}

/* Reads all faces. After an error in one that only shares `all`, other such faces are skipped. */
static void read_faces(struct hs_reader *reader)
{
    bool shared_failed = false;
    for (int face = 0; face < face_count(reader); face++) {
        const bool shared = is_shared(reader, face);
        if (!(shared && shared_failed) && !read_face(reader, face))
            shared_failed = shared_failed || shared;
    }
}

static void check_pairs(struct hs_reader *reader)
{
    for (int axis = 0; axis < face_count(reader) / 2; axis++) {
        const struct hs_boundary_kind *low = hs_face_kind(reader, 2 * axis);
        const struct hs_boundary_kind *high = hs_face_kind(reader, 2 * axis + 1);
        if (!low || !high || low->wrap == high->wrap)
            continue;
        const int other = 2 * axis + (low->wrap ? 1 : 0);
        hs_complain(reader, hs_key("boundary.%s.type", hs_face_name(other)).text,
                    "%s is %s, so this face must be, too", hs_face_name(other ^ 1),
                    (low->wrap ? low : high)->name);
    }
}

void hs_read_boundary(struct hs_reader *reader)
{
    check_pairs(reader); /* before incomplete kinds are reported */
    if (reader->problem->body)
        hs_read_walls(reader);
    else
        read_faces(reader);
    for (int face = face_count(reader); face < HS_FACES; face++) {
        const struct hs_key group = hs_key("boundary.%s", hs_face_name(face));
        if (hs_given(reader, group.text))
            hs_complain(reader, group.text,
                        "the grid has no %c axis; remove it, or give grid.points %d numbers",
                        "xyz"[face / 2], face / 2 + 1);
    }
    const char *type = hs_settings_text(reader->settings, "boundary.all.type");
    const struct hs_boundary_kind *kind = type ? hs_boundary_find(type) : NULL;
    if (kind && !reader->problem->body)
        check_unused(reader, "all", kind);
}
