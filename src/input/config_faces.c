/* The faces' kinds, by their settings, and what follows from them: which axes are periodic. */
#include "input/config_reader.h"

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

struct hs_key hs_wall_key(const struct hs_reader *reader, const struct hs_wall_keys *keys,
                          const char *name)
{
    return keys->patch == HS_NO_PATCH
               ? hs_face_key(reader, keys->face, name)
               : hs_key("boundary.%s.patches[%d].%s", hs_face_name(keys->face), keys->patch, name);
}

const struct hs_boundary_kind *hs_face_kind(const struct hs_reader *reader, int face)
{
    const char *type = hs_settings_text(reader->settings, hs_face_key(reader, face, "type").text);
    return type ? hs_boundary_find(type) : NULL;
}

bool hs_axis_is_periodic(const struct hs_reader *reader, int axis)
{
    for (int face = 2 * axis; face < 2 * axis + 2; face++) {
        const struct hs_boundary_kind *kind = hs_face_kind(reader, face);
        if (kind && kind->wrap)
            return true;
    }
    return false;
}

double hs_read_end(const struct hs_reader *reader, int axis)
{
    const struct hs_grid *grid = &reader->problem->grid;
    return hs_grid_coordinate(grid, axis, grid->points[axis] - !hs_axis_is_periodic(reader, axis));
}
