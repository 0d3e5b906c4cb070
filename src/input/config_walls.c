/* boundary of a body: faces and their patches become walls of its network. */
#include "input/config_reader.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether a stencil will do --------------------------------------------------------------- */

/* The key that gives a wall's number by file or table, or as more than the constant that a stencil
 * allows; "": none. */
static struct hs_key more_than_constant(const struct hs_reader *reader, const char *group,
                                        const struct hs_boundary_key *key)
{
    const struct hs_key itself = hs_key("%s.%s", group, key->name);
    const struct hs_setting *number = hs_settings_find(reader->settings, itself.text);
    const struct hs_key stored =
        hs_first_given(reader, group, hs_key("%s_file|%s_table", key->name, key->name).text);
    return !stored.text[0] && key->number && number && number->kind == HS_SETTING_STRING ? itself
                                                                                         : stored;
}

/* The first key of a wall that only a body's walls can have; "": none. */
static struct hs_key key_of_body(const struct hs_reader *reader, const char *group)
{
    const struct hs_key parts = hs_first_given(reader, group, "patches|labels_file");
    if (parts.text[0])
        return parts;
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        for (int n = 0; n < hs_boundary_key_count(kind); n++) {
            const struct hs_key key = more_than_constant(reader, group, &kind->key[n]);
            if (key.text[0])
                return key;
        }
    const char *type = hs_settings_text(reader->settings, hs_key("%s.type", group).text);
    const struct hs_key flux = hs_key("%s.flux", group);
    const bool heated = type && strcmp(type, "robin") == 0 && hs_given(reader, flux.text);
    return heated ? flux : (struct hs_key){""};
}

/* The same for all walls. */
static struct hs_key find_key_of_body(const struct hs_reader *reader)
{
    struct hs_key key = {""};
    for (int face = 0; face < HS_FACES && !key.text[0]; face++)
        key = key_of_body(reader, hs_key("boundary.%s", hs_face_name(face)).text);
    return key.text[0] ? key : key_of_body(reader, "boundary.all");
}

bool hs_walls_need_body(const struct hs_reader *reader)
{
    return find_key_of_body(reader).text[0];
}

/* The key, preferably of this wall, that turns a case of one material on a uniform grid into a
 * body; "": it is a body anyway. */
static struct hs_key key_that_makes_body(const struct hs_reader *reader,
                                         const struct hs_wall_keys *keys)
{
    if (hs_grid_is_stretched(&reader->problem->grid) ||
        hs_first_given(reader, "", "materials|body|measured").text[0])
        return (struct hs_key){""};
    const struct hs_key type = hs_wall_key(reader, keys, "type");
    const int length = (int)(strrchr(type.text, '.') - type.text);
    const struct hs_key own = key_of_body(reader, hs_key("%.*s", length, type.text).text);
    return own.text[0] ? own : find_key_of_body(reader);
}

/* Complains of a kind that a body's walls cannot have. */
static void refuse_kind(struct hs_reader *reader, const struct hs_wall_keys *keys)
{
    const struct hs_key maker = key_that_makes_body(reader, keys);
    const bool made = maker.text[0];
    hs_complain(reader, hs_wall_key(reader, keys, "type").text,
                "%s%s fixed, dirichlet, neumann, robin, reflective, or as a whole face "
                "periodic; choose one of these%s",
                maker.text,
                made ? " needs walls that are" : "walls of a body, and of a stretched grid, are",
                made ? ", or remove that key" : "");
}

/* ---- one wall -------------------------------------------------------------------------------- */

static const char *const numbers[] = {"value", "flux", "h", "ambient", "gradient"};
static const char *const ways[] = {"", "_file", "_table"};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], WAYS = sizeof ways / sizeof ways[0] };

static bool is_given(const struct hs_reader *reader, const struct hs_wall_keys *keys,
                     const char *name)
{
    bool given = false;
    for (int way = 0; way < WAYS; way++)
        given =
            given ||
            hs_given(reader, hs_wall_key(reader, keys, hs_key("%s%s", name, ways[way]).text).text);
    return given;
}

static bool uses(const struct hs_boundary_kind *kind, const char *name)
{
    return hs_list_match(kind->in_body.needs, name) || hs_list_match(kind->in_body.may, name);
}

/* Complains of numbers that are missing, or given but not used by the kind. */
static bool check_numbers(struct hs_reader *reader, const struct hs_wall_keys *keys,
                          const struct hs_boundary_kind *kind)
{
    bool good = true;
    char needed[16];
    for (const char *needs = kind->in_body.needs; hs_list_next(&needs, '|', needed, sizeof needed);)
        if (!is_given(reader, keys, needed))
            good = hs_complain(reader, hs_wall_key(reader, keys, needed).text,
                               "missing; a %s boundary needs it, or %s", kind->name,
                               hs_other_ways(needed, " or ").text);
    for (int n = 0; n < NUMBERS; n++)
        for (int way = 0; way < WAYS && !uses(kind, numbers[n]); way++) {
            const struct hs_key key =
                hs_wall_key(reader, keys, hs_key("%s%s", numbers[n], ways[way]).text);
            if (!hs_given(reader, key.text))
                continue;
            good = hs_complain(
                reader, key.text,
                strcmp(numbers[n], "gradient") == 0
                    ? "a body and a stretched grid take a flux instead; give flux in W/m^2, for "
                      "which a material needs conductivity, density and specific_heat"
                    : "a %s boundary does not use it; remove it, or change the type",
                kind->name);
        }
    return good;
}

static const struct hs_boundary_kind *find_kind(struct hs_reader *reader,
                                                const struct hs_wall_keys *keys)
{
    const struct hs_key key = hs_wall_key(reader, keys, "type");
    if (keys->patch != HS_NO_PATCH &&
        !hs_require(reader, key.text,
                    "a patch has a wall of its own; give fixed, dirichlet, neumann, robin or "
                    "reflective"))
        return NULL;
    const char *type = hs_settings_text(reader->settings, key.text);
    const struct hs_boundary_kind *kind = type ? hs_boundary_find(type) : NULL;
    if (!kind || (kind->in_body.needs && !kind->wrap))
        return kind;
    refuse_kind(reader, keys);
    return NULL;
}

static bool are_equal(const struct hs_time_function *a, const struct hs_time_function *b)
{
    const size_t bytes = (size_t)a->points * sizeof *a->time;
    return a->points == b->points && memcmp(a->time, b->time, bytes) == 0 &&
           memcmp(a->number, b->number, bytes) == 0;
}

/* Walls with equal tables share a function and its number. `function` is the last one. */
static void number_h(struct hs_problem *problem, int function, struct hs_wall *wall)
{
    const int before = (int)(wall - problem->walls);
    struct hs_time_function *own = &problem->time_functions[function];
    wall->h_function = function;
    wall->h_number = hs_walls_varying_h(problem->walls, before);
    for (int w = 0; w < before && wall->h_function == function; w++) {
        const struct hs_wall *other = &problem->walls[w];
        if (other->h_function < 0 || !are_equal(own, &problem->time_functions[other->h_function]))
            continue;
        wall->h_function = other->h_function;
        wall->h_number = other->h_number;
        free(own->time);
        free(own->number);
        problem->time_function_count--;
    }
}

/* h is a field times a number or a table: the stability limit needs its largest value. */
static void read_h(struct hs_reader *reader, const struct hs_wall_keys *keys, struct hs_wall *wall)
{
    struct hs_wall_number h;
    if (!hs_read_wall_number(reader, keys, "h", 0.0, &h))
        return;
    struct hs_time_function *function =
        h.function < 0 ? NULL : &reader->problem->time_functions[h.function];
    wall->h_field = h.field;
    wall->h_place = h.place;
    if (!function || function->value.expression.code) {
        hs_complain(reader, hs_wall_key(reader, keys, "h").text,
                    "its expression may depend on x, y, z, not on t; for an h that changes with "
                    "time give h_table, two columns of times in s and numbers");
        return;
    }
    double least = function->value.constant;
    wall->h = least;
    for (int n = 0; n < function->points; n++) {
        wall->h = n == 0 ? function->number[n] : fmax(wall->h, function->number[n]);
        least = n == 0 ? function->number[n] : fmin(least, function->number[n]);
    }
    if (least < 0.0)
        hs_complain(reader, hs_wall_key(reader, keys, function->points ? "h_table" : "h").text,
                    "must be >= 0 [W/(m^2 K)], but has %.9g", least);
    if (least < wall->h)
        number_h(reader->problem, h.function, wall);
}

/* Where h changes in time, so does what it brings of the ambient's warmth. */
static void read_ambient(struct hs_reader *reader, const struct hs_wall_keys *keys,
                         struct hs_wall *wall)
{
    if (!hs_read_wall_number(reader, keys, "ambient", -INFINITY, &wall->ambient) ||
        wall->h_function < 0)
        return;
    if (hs_wall_number_moves(&wall->ambient)) {
        hs_complain(reader, hs_wall_key(reader, keys, "ambient").text,
                    "where h_table is given it may depend on t or on x, y, z, not on both; give "
                    "one of these, or h as a number");
        return;
    }
    wall->h_ambient = hs_add_product(reader->problem, wall->h_function, wall->ambient.function);
}

/* Heat flows in W need conductivities in W/(m K). */
static void check_units(struct hs_reader *reader, const struct hs_wall_keys *keys,
                        const struct hs_wall *wall)
{
    const bool watts = hs_wall_number_is_given(&wall->flux) || wall->h > 0.0 || wall->h_field;
    if (watts && hs_given(reader, "materials[0].diffusivity"))
        hs_complain(reader, hs_wall_key(reader, keys, "type").text,
                    "a flux in W/m^2 and convection need conductivity, density and "
                    "specific_heat of the materials instead of diffusivity");
}

static void read_wall(struct hs_reader *reader, const struct hs_wall_keys *keys,
                      struct hs_wall *wall)
{
    static const struct hs_wall_number none = {.function = -1};
    const struct hs_boundary_kind *kind = find_kind(reader, keys);
    wall->face = keys->face;
    wall->flux = wall->ambient = wall->value = none;
    wall->h_function = wall->h_ambient = -1;
    if (!kind || !check_numbers(reader, keys, kind))
        return;
    wall->kind = kind->in_body.kind;
    if (uses(kind, "value"))
        hs_read_wall_number(reader, keys, "value", -INFINITY, &wall->value);
    if (uses(kind, "flux") && is_given(reader, keys, "flux"))
        hs_read_wall_number(reader, keys, "flux", -INFINITY, &wall->flux);
    if (uses(kind, "h")) {
        read_h(reader, keys, wall);
        read_ambient(reader, keys, wall);
    }
    check_units(reader, keys, wall);
}

/* ---- patches --------------------------------------------------------------------------------- */

static const char *const corners[] = {"lower", "upper"};

/* Reads a patch's corners along the face's axes, in the order x, y, z. False if they are bad. */
static bool read_extent(struct hs_reader *reader, const char *path, struct hs_wall *wall)
{
    const struct hs_grid *grid = &reader->problem->grid;
    const int axes[] = {hs_face_first_axis(wall->face), hs_face_second_axis(wall->face)};
    double *const ends[] = {wall->lower, wall->upper}, number[HS_AXES];
    bool good = true;
    for (int end = 0; end < 2; end++) {
        const struct hs_key key = hs_key("%s.%s", path, corners[end]);
        if (!hs_require(reader, key.text,
                        "give the corners lower and upper along the axes of the face"))
            return false;
        if (!hs_read_axes(reader, key.text, false, grid->dims - 1, "the face has", number)) {
            if (hs_settings_length(reader->settings, key.text) != grid->dims - 1)
                return false;
            good = false; /* a number is bad; the other corner may have more to say */
        }
        for (int n = 0; n < grid->dims - 1 && good; n++)
            ends[end][axes[n]] = number[n];
    }
    for (int n = 0; n < grid->dims - 1 && good; n++) {
        const int a = axes[n];
        const bool ordered = wall->lower[a] < wall->upper[a];
        if (ordered && (!reader->space_known || (wall->upper[a] > grid->lower[a] &&
                                                 wall->lower[a] < hs_read_end(reader, a))))
            continue;
        return hs_complain(reader, hs_key("%s.upper", path).text,
                           ordered ? "the patch lies outside the face along %c; check its "
                                     "coordinates, in m"
                                   : "must be above lower along %c",
                           "xyz"[a]);
    }
    return good;
}

/* Whether any of the face's patches is given by a label. */
static bool is_labelled(const struct hs_reader *reader, const char *patches, int count)
{
    for (int n = 0; n < count; n++)
        if (hs_given(reader, hs_key("%s[%d].label", patches, n).text))
            return true;
    return false;
}

/* The labels of a face's nodes, for patches with `label`; NULL: none. */
static uint16_t *read_face_labels(struct hs_reader *reader, int face, bool used)
{
    const struct hs_key key = hs_key("boundary.%s.labels", hs_face_name(face));
    const struct hs_key file = hs_key("%s_file", key.text);
    if (!hs_given(reader, file.text))
        return NULL;
    if (!used) {
        hs_complain(reader, file.text,
                    "no patch of the face has a label; give patches with label = ..., or "
                    "remove this");
        return NULL;
    }
    double *number = hs_read_face_field(reader, key.text, face);
    if (!number)
        return NULL;
    const int64_t count = hs_grid_face_count(&reader->problem->grid, face);
    uint16_t *labels = hs_new((size_t)count * sizeof *labels);
    int64_t odd = 0;
    for (int64_t n = 0; n < count; n++)
        if (hs_is_label(number[n]))
            labels[n] = (uint16_t)number[n];
        else
            number[odd++] = number[n];
    hs_complain_of_labels(reader, file.text, number, odd, "node", "", "");
    free(number);
    return labels;
}

/* A patch that holds or prescribes acts on its nodes, so it would have no effect between two
 * nodes. */
static void check_has_nodes(struct hs_reader *reader, const char *path, const struct hs_wall *wall)
{
    const struct hs_grid *grid = &reader->problem->grid;
    const int axes[] = {hs_face_first_axis(wall->face), hs_face_second_axis(wall->face)};
    for (int n = 0; n < grid->dims - 1 && reader->space_known; n++) {
        const int a = axes[n];
        const double first = hs_grid_coordinate(grid, a, 0), end = hs_read_end(reader, a);
        const double rounding = 32.0 * DBL_EPSILON * fmax(fabs(first), fabs(end));
        const double lower = wall->lower[a] - rounding, upper = wall->upper[a] + rounding;
        bool found = hs_axis_is_periodic(reader, a) && lower <= end && end <= upper;
        for (int64_t i = 0; i < grid->points[a] && !found; i++) {
            const double at = hs_grid_coordinate(grid, a, i);
            found = lower <= at && at <= upper;
        }
        if (found)
            continue;
        hs_complain(reader, hs_key("%s.upper", path).text,
                    "the patch lies between two nodes along %c and would hold none; make "
                    "it larger, or the grid finer",
                    "xyz"[a]);
        return;
    }
}

/* Reads where a patch is: by its corners or by a label. */
static void read_place(struct hs_reader *reader, const char *path, const uint16_t *labels,
                       struct hs_wall *wall)
{
    const struct hs_key label = hs_key("%s.label", path);
    int64_t number;
    if (!hs_given(reader, label.text)) {
        if (read_extent(reader, path, wall) && wall->kind != HS_WALL_EXCHANGES)
            check_has_nodes(reader, path, wall);
        return;
    }
    if (!labels) { /* errors of a file are reported already */
        if (!hs_given(reader, hs_key("boundary.%s.labels_file", hs_face_name(wall->face)).text))
            hs_complain(reader, label.text,
                        "the face has no labels; give labels_file beside patches, or "
                        "lower and upper");
        return;
    }
    hs_refuse(reader, path, "lower|upper",
              "label says where the patch is; give either that, or lower and upper");
    if (!hs_settings_count(reader->settings, label.text, &number))
        return;
    const int64_t count = hs_grid_face_count(&reader->problem->grid, wall->face);
    int64_t first = 0;
    while (first < count && labels[first] != number)
        first++;
    if (first == count)
        hs_complain(reader, label.text,
                    "no node of the face has this label; check it, or remove the patch");
    wall->label = labels;
    wall->number = (int)number;
}

static struct hs_wall *add_wall(struct hs_problem *problem, int face)
{
    problem->walls =
        hs_reserve(problem->walls, (size_t)problem->wall_count, sizeof *problem->walls);
    struct hs_wall *wall = &problem->walls[problem->wall_count++];
    *wall = (struct hs_wall){.face = face};
    for (int axis = 0; axis < HS_AXES; axis++) {
        wall->lower[axis] = -INFINITY;
        wall->upper[axis] = INFINITY;
    }
    return wall;
}

/* Warns of an earlier patch that the face's patch `n`, the last of the walls, covers. */
static void doubt_covered(struct hs_reader *reader, const struct hs_key *list, int n)
{
    const struct hs_wall *later = &reader->problem->walls[reader->problem->wall_count - 1];
    for (int m = 0; m < n; m++) {
        const struct hs_wall *wall = later - n + m;
        bool covered = !wall->label && !later->label;
        for (int a = 0; a < HS_AXES; a++)
            covered =
                covered && later->lower[a] <= wall->lower[a] && wall->upper[a] <= later->upper[a];
        if (covered)
            hs_doubt(
                reader, hs_key("%s[%d]", list->text, m).text,
                "lies in patches[%d], a later one that covers it; change their order, or remove it",
                n);
    }
}

static void read_patches(struct hs_reader *reader, int face)
{
    const struct hs_key list = hs_key("boundary.%s.patches", hs_face_name(face));
    const int count = hs_settings_length(reader->settings, list.text);
    if (count > 0 && reader->problem->grid.dims == 1) {
        hs_complain(reader, list.text,
                    "a face of a 1D grid is a point and has no parts; remove its patches");
        return;
    }
    const uint16_t *labels = reader->problem->face_labels[face] =
        read_face_labels(reader, face, is_labelled(reader, list.text, count));
    for (int n = 0; n < count; n++) {
        struct hs_key path;
        if (!hs_member(reader, list.text, n, &path))
            break;
        struct hs_wall *wall = add_wall(reader->problem, face);
        read_wall(reader, &(struct hs_wall_keys){face, n}, wall);
        read_place(reader, path.text, labels, wall);
        doubt_covered(reader, &list, n);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void read_face(struct hs_reader *reader, int face)
{
    struct hs_problem *problem = reader->problem;
    const struct hs_boundary_kind *kind = hs_face_kind(reader, face);
    const struct hs_wall_keys own = {face, HS_NO_PATCH};
    if (!kind)
        return;
    if (!hs_given(reader, hs_face_key(reader, face, "type").text))
        problem->assumed_faces |= 1u << face;
    /* walls are coefficients: of the face only its name, wrap and edge weight are used */
    problem->face[face] =
        (struct hs_face){.type = kind->name, .wrap = kind->wrap, .edge_weight = kind->edge_weight};
    if (!kind->wrap) {
        read_wall(reader, &own, add_wall(problem, face));
        read_patches(reader, face);
        return;
    }
    check_numbers(reader, &own, kind);
    const struct hs_key group = hs_key("boundary.%s", hs_face_name(face));
    hs_refuse(reader, group.text, "patches|labels_file", "a periodic face is no wall; remove it");
}

void hs_read_walls(struct hs_reader *reader)
{
    for (int face = 0; face < 2 * reader->problem->grid.dims; face++)
        read_face(reader, face);
    hs_refuse(reader, "boundary.all", "patches|labels_file",
              "patches and their labels are of one face; give them to x_min, x_max ...");
}
