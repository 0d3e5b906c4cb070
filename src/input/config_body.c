/* materials, body, measured and contacts: a body of many materials. */
#include "core/text.h"
#include "input/config_reader.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char in_source[] =
    "give what changes with the place as source = { expression = \"...\"; }";

/* ---- materials ------------------------------------------------------------------------------- */

/* In the order of hs_substance.place. */
static const char *const properties[HS_SUBSTANCE_PROPERTIES] = {"conductivity", "density",
                                                                "specific_heat"};

static void read_properties(struct hs_reader *reader, const char *path, struct hs_substance *out)
{
    double number[HS_SUBSTANCE_PROPERTIES] = {NAN, NAN, NAN};
    for (int n = 0; n < HS_SUBSTANCE_PROPERTIES; n++) {
        const struct hs_key key = hs_key("%s.%s", path, properties[n]);
        const bool given =
            hs_require(reader, key.text, "give conductivity, density and specific_heat");
        if (given && n == 0)
            hs_read_per_axis(reader, key.text, true, out->conductivity);
        else if (given)
            hs_settings_number(reader->settings, key.text, &number[n]);
        out->place[n] = hs_settings_place(reader->settings, key.text);
    }
    out->density = number[1];
    out->capacity = number[1] * number[2];
}

static void read_diffusivity(struct hs_reader *reader, const char *path, struct hs_substance *out)
{
    double diffusivity = 1.0;
    hs_refuse(reader, path, "conductivity|density|specific_heat",
              "diffusivity is given; give either that alone, or conductivity, density and "
              "specific_heat");
    hs_settings_number(reader->settings, hs_key("%s.diffusivity", path).text, &diffusivity);
    for (int axis = 0; axis < HS_AXES; axis++)
        out->conductivity[axis] = diffusivity;
    out->capacity = 1.0;
}

static void read_perfusion(struct hs_reader *reader, const char *path, struct hs_substance *out)
{
    const struct hs_key group = hs_key("%s.perfusion", path);
    if (!hs_given(reader, group.text))
        return;
    const struct hs_key rate = hs_key("%s.rate", group.text);
    const struct hs_key reference = hs_key("%s.reference", group.text);
    if (hs_given(reader, hs_key("%s.diffusivity", path).text))
        hs_complain(reader, rate.text,
                    "is in W/(m^3 K); give conductivity, density and specific_heat of the "
                    "materials instead of diffusivity");
    if (hs_require(reader, rate.text, "give rate and reference"))
        hs_settings_number(reader->settings, rate.text, &out->perfusion);
    const struct hs_key given = hs_first_given(reader, group.text, "reference|reference_table");
    if (given.text[0] || hs_require(reader, reference.text, "give rate and reference"))
        hs_read_time_function(reader, reference.text, "give a number, or an expression of t",
                              &out->reference);
    out->place[HS_SUBSTANCE_REFERENCE] = hs_settings_place(reader->settings, given.text);
}

static int find_substance(const struct hs_body *body, const char *name)
{
    int n = 0;
    while (n < body->substance_count &&
           !(body->substance[n].name && strcmp(body->substance[n].name, name) == 0))
        n++;
    return n < body->substance_count ? n : -1;
}

static void read_name(struct hs_reader *reader, const char *path, int n)
{
    struct hs_body *body = reader->problem->body;
    const struct hs_key key = hs_key("%s.name", path);
    if (!hs_require(reader, key.text, "give what body calls it"))
        return;
    char *name = hs_read_string(reader, key.text);
    if (name && (name[0] == '\0' || strchr(name, '/') || strcmp(name, ".") == 0))
        hs_complain(reader, key.text,
                    "cannot be the name of a group in the file; give one without \"/\"");
    if (name && find_substance(body, name) >= 0)
        hs_complain(reader, key.text, "there is a material of that name already; choose another");
    body->substance[n].name = name;
}

static void read_substance(struct hs_reader *reader, const char *path, int n)
{
    struct hs_substance *out = &reader->problem->body->substance[n];
    read_name(reader, path, n);
    const struct hs_key source = hs_key("%s.source", path);
    if (hs_given(reader, hs_key("%s.diffusivity", path).text))
        read_diffusivity(reader, path, out);
    else
        read_properties(reader, path, out);
    read_perfusion(reader, path, out);
    const struct hs_key given = hs_first_given(reader, path, "source|source_table");
    if (given.text[0] && hs_read_time_function(reader, source.text, in_source, &out->source))
        out->place[HS_SUBSTANCE_SOURCE] = hs_settings_place(reader->settings, given.text);
    for (int axis = 0; axis < HS_AXES; axis++) /* axes that are not there have no effect */
        out->conductivity[axis] =
            axis < reader->problem->grid.dims ? out->conductivity[axis] : out->conductivity[HS_X];
}

/* Heat must have one unit: either all materials have a heat capacity, or none has. */
static void check_units(struct hs_reader *reader, int count)
{
    int alone = 0;
    for (int n = 0; n < count; n++)
        alone += hs_given(reader, hs_key("materials[%d].diffusivity", n).text);
    for (int n = 0; n < count && alone > 0 && alone < count; n++)
        hs_refuse(reader, hs_key("materials[%d]", n).text, "diffusivity",
                  "other materials have conductivity, density and specific_heat, so this one needs "
                  "them, too; give them");
}

static struct hs_substance no_substance(void)
{
    return (struct hs_substance){.density = NAN, .reference = -1, .source = -1};
}

/* Number of members of a list of groups; 0 if one is missing or not a group. */
static int count_members(struct hs_reader *reader, const char *list)
{
    const int count = hs_settings_length(reader->settings, list);
    struct hs_key path;
    for (int n = 0; n < count; n++)
        if (!hs_member(reader, list, n, &path))
            return 0;
    return count;
}

static void read_materials(struct hs_reader *reader)
{
    struct hs_body *body = reader->problem->body;
    const int count = count_members(reader, "materials");
    if (hs_settings_length(reader->settings, "materials") == 0)
        hs_complain(reader, "materials", "has no member; give what the body consists of");
    body->substance = hs_new((size_t)(count > 0 ? count : 1) * sizeof *body->substance);
    for (int n = 0; n < count; n++) {
        body->substance[n] = no_substance();
        read_substance(reader, hs_key("materials[%d]", n).text, n);
        body->substance_count = n + 1;
    }
    check_units(reader, count);
}

/* The index of the material that a key names; -1: none, which is reported. */
static int read_reference(struct hs_reader *reader, const char *key)
{
    const struct hs_body *body = reader->problem->body;
    const char *name = hs_settings_text(reader->settings, key);
    if (!name || body->substance_count == 0)
        return -1;
    const int found = find_substance(body, name);
    if (found >= 0)
        return found;
    char *names = hs_copy("");
    for (int n = 0; n < body->substance_count; n++)
        names = hs_list_add(names, "|", body->substance[n].name ? body->substance[n].name : "");
    const char *nearest = hs_nearest_word(name, names);
    char *said = hs_list_said(names);
    hs_complain(reader, key, "no material has this name; %s%s%s are %s",
                nearest ? "did you mean \"" : "", nearest ? nearest : "there",
                nearest ? "\"? There" : "", said);
    free(said);
    free(names);
    return -1;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Refuses keys of a label field, which can only be the sole member of the body. */
static void refuse_label_keys(struct hs_reader *reader, const char *path)
{
    if (hs_refuse(reader, path, "file",
                  "a label field describes the whole body; give it as the only member"))
        hs_refuse(reader, path, "names|labels", /* dataset, step: elsewhere */
                  "belongs to a label field, which is missing; give file, or remove it");
}

static void read_solid(struct hs_reader *reader, const char *path, struct hs_solid *out)
{
    refuse_label_keys(reader, path);
    const struct hs_key material = hs_key("%s.material", path);
    if (hs_require(reader, material.text, "give the name of a material"))
        out->substance = read_reference(reader, material.text);
    if (hs_given(reader, hs_key("%s.shape", path).text))
        hs_read_shape(reader, path, &out->shape);
    else {
        out->shape.kind = HS_SHAPE_EVERYWHERE;
        hs_refuse_shape_keys(reader, path);
    }
}

static void read_solids(struct hs_reader *reader, int count)
{
    struct hs_body *body = reader->problem->body;
    body->solid = hs_new((size_t)(count > 0 ? count : 1) * sizeof *body->solid);
    body->solid_count = count;
    for (int n = 0; n < count; n++)
        read_solid(reader, hs_key("body[%d]", n).text, &body->solid[n]);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Reads the material of each label. */
static bool read_names(struct hs_reader *reader, uint16_t *of_label)
{
    const int count = hs_settings_length(reader->settings, "body[0].names");
    const int numbers = hs_settings_length(reader->settings, "body[0].labels");
    for (int label = 0; label < HS_LABEL_NUMBERS; label++)
        of_label[label] = HS_UNNAMED;
    if (!hs_require(reader, "body[0].names",
                    "give the materials of the labels, as in [\"air\", \"copper\"]"))
        return false;
    if (hs_given(reader, "body[0].labels") && numbers != count)
        return hs_complain(reader, "body[0].labels",
                           "has %d number%s for %d name%s; give one for each", numbers,
                           numbers == 1 ? "" : "s", count, count == 1 ? "" : "s");
    bool good = true;
    for (int n = 0; n < count; n++) {
        int64_t label = n;
        const struct hs_key key = hs_key("body[0].labels[%d]", n);
        if (hs_given(reader, key.text) && !hs_settings_count(reader->settings, key.text, &label))
            return false;
        if (of_label[label] != HS_UNNAMED)
            return hs_complain(reader, key.text,
                               "is there already; a label stands for one material");
        const int found = read_reference(reader, hs_key("body[0].names[%d]", n).text);
        of_label[label] = found < 0 ? HS_UNNAMED : (uint16_t)found;
        good = good && found >= 0;
    }
    return good;
}

static struct hs_grid grid_of_cells(const struct hs_reader *reader)
{
    struct hs_grid cells = reader->problem->grid;
    for (int axis = 0; axis < cells.dims; axis++)
        cells.points[axis] -= !hs_axis_is_periodic(reader, axis);
    return cells;
}

struct labels {
    struct hs_body *body; /* whose `label` is filled, unless it is NULL */
    double *odd;          /* numbers without a material; allocated */
    int64_t odd_count;
};

/* Converts numbers of the file to indices of materials. */
static bool take_labels(void *self, double *values, int64_t first, int64_t count)
{
    struct labels *labels = self;
    const struct hs_body *body = labels->body;
    for (int64_t n = 0; n < count; n++) {
        const uint16_t found = hs_body_substance_of(body, values[n]);
        if (body->label)
            body->label[first + n] = found;
        if (found != HS_UNNAMED)
            continue;
        labels->odd = hs_reserve(labels->odd, (size_t)labels->odd_count, sizeof *labels->odd);
        labels->odd[labels->odd_count++] = values[n];
    }
    return true;
}

static void read_label_numbers(struct hs_reader *reader, struct hs_stored *stored)
{
    struct hs_body *body = reader->problem->body;
    const int64_t count = hs_stored_layers(stored) * hs_stored_plane(stored);
    struct labels labels = {.body = body};
    const struct hs_taker taker = {take_labels, &labels};
    if (reader->numbers == HS_NUMBERS_KEPT) {
        body->label = malloc((size_t)count * sizeof *body->label);
        if (!body->label) {
            hs_error_add(reader->settings->err, HS_DEVICE, "out of memory for the body's labels");
            return;
        }
    }
    if (hs_take_dataset(reader, "body[0]", stored, &taker, NULL) && labels.odd_count > 0)
        hs_complain_of_labels(reader, "body[0].file", labels.odd, labels.odd_count,
                              body->labels == HS_LABEL_NODES ? "node" : "cell",
                              "labels without a name",
                              "give them names, or the labels that names stand for");
    free(labels.odd);
}

/* The label field has the shape of the nodes or of the cells. It stays in its file, to be read in
 * parts, unless numbers are kept. */
static void read_labels(struct hs_reader *reader)
{
    struct hs_body *body = reader->problem->body;
    body->substance_of = hs_new(HS_LABEL_NUMBERS * sizeof *body->substance_of);
    const bool named = read_names(reader, body->substance_of);
    const struct hs_grid *grid = &reader->problem->grid, cells = grid_of_cells(reader);
    if (!reader->grid_known)
        return;
    struct hs_field_shape nodes = hs_field_shape_of(grid);
    const struct hs_field_shape of_cells = {&cells, "the grid of its cells", nodes.axes, nodes.fit,
                                            NULL};
    nodes.other = &of_cells;
    struct hs_stored *stored = hs_find_dataset(reader, "body[0]", &nodes);
    if (!stored)
        return;
    const bool at_nodes = memcmp(stored->points, grid->points, sizeof grid->points) == 0;
    body->labels = at_nodes ? HS_LABEL_NODES : HS_LABEL_CELLS;
    if (named && reader->numbers != HS_NUMBERS_LEFT)
        read_label_numbers(reader, stored);
    if (reader->numbers == HS_NUMBERS_KEPT)
        hs_stored_destroy(stored);
    else
        body->stored = stored;
}

static void read_label_entry(struct hs_reader *reader, int count)
{
    if (count > 1)
        hs_complain(reader, "body[1]",
                    "a label field describes the whole body; remove the other members");
    hs_refuse(reader, "body[0]", "material",
              "the materials of a label field are given by names; remove this");
    if (hs_refuse(reader, "body[0]", "shape", "a label field has no shape; remove this"))
        hs_refuse_shape_keys(reader, "body[0]");
    read_labels(reader);
}

/* ---- measured fields ------------------------------------------------------------------------- */

struct measured {
    struct hs_reader *reader;
    const char *file; /* the key */
    double most;      /* of the values so far */
};

static bool check_measured(void *self, double *values, int64_t first, int64_t count)
{
    struct measured *measured = self;
    int64_t node[HS_AXES];
    for (int64_t n = first; n < first + count; n++) {
        const double value = values[n - first];
        measured->most = fmax(measured->most, value);
        if (value > 0.0 && isfinite(value))
            continue;
        hs_grid_node(&measured->reader->problem->grid, n, node);
        return hs_complain(measured->reader, measured->file, "%s; it must be above 0 everywhere",
                           hs_found_at(measured->reader, value, node).text);
    }
    return true;
}

/* A steady state may have any capacity, chosen for the search. */
static void doubt_capacity(struct hs_reader *reader, const struct measured *measured)
{
    const double only_gases = 1e4;
    if (measured->most > 0.0 && measured->most < only_gases && !hs_given(reader, "steady") &&
        hs_text_temperature_scale(hs_problem_temperature_unit(reader->problem)))
        hs_doubt(reader, measured->file,
                 "is at most %g, as only gases have; it is density times specific heat, in "
                 "J/(m^3 K)",
                 measured->most);
}

static void read_measured_field(struct hs_reader *reader, const char *name, struct hs_measured *out)
{
    const struct hs_key group = hs_key("measured.%s", name), file = hs_key("%s.file", group.text);
    const struct hs_field_shape shape = hs_field_shape_of(&reader->problem->grid);
    if (!hs_require(reader, group.text,
                    "give conductivity and capacity, each { file; dataset; }") ||
        !hs_require(reader, file.text, "give the file that has it"))
        return;
    out->stored = hs_find_dataset(reader, group.text, &shape);
    struct measured measured = {reader, file.text, 0.0};
    const struct hs_taker taker = {check_measured, &measured};
    if (out->stored && reader->numbers != HS_NUMBERS_LEFT)
        hs_take_dataset(reader, group.text, out->stored, &taker,
                        reader->numbers == HS_NUMBERS_KEPT ? &out->value : NULL);
    if (out == &reader->problem->body->capacity)
        doubt_capacity(reader, &measured);
    if (reader->numbers == HS_NUMBERS_KEPT) {
        hs_stored_destroy(out->stored);
        out->stored = NULL;
    }
}

static void read_measured(struct hs_reader *reader)
{
    struct hs_body *body = reader->problem->body;
    if (!hs_settings_find(reader->settings, "measured")->bad)
        hs_refuse(reader, "", "materials|body|contacts",
                  "measured describes the whole body; remove one of the two");
    read_measured_field(reader, "conductivity", &body->conductivity);
    read_measured_field(reader, "capacity", &body->capacity);
}

/* ---- contacts -------------------------------------------------------------------------------- */

static void read_contact(struct hs_reader *reader, const char *path, struct hs_contact *out)
{
    const struct hs_key between = hs_key("%s.between", path);
    const struct hs_key resistance = hs_key("%s.resistance", path);
    if (hs_require(reader, resistance.text, "give it in m^2 K/W")) {
        hs_settings_number(reader->settings, resistance.text, &out->resistance);
        out->place = hs_settings_place(reader->settings, resistance.text);
    }
    if (hs_given(reader, "materials[0].diffusivity"))
        hs_complain(reader, resistance.text,
                    "is in m^2 K/W; give conductivity, density and specific_heat of the "
                    "materials instead of diffusivity");
    if (!hs_require(reader, between.text, "name the two materials, as in [\"copper\", \"wood\"]"))
        return;
    const int count = hs_settings_length(reader->settings, between.text);
    if (count != 2) {
        hs_complain(reader, between.text, "has %d name%s; a contact is between two materials",
                    count, count == 1 ? "" : "s");
        return;
    }
    for (int n = 0; n < 2; n++)
        out->between[n] = read_reference(reader, hs_key("%s[%d]", between.text, n).text);
    if (out->between[0] >= 0 && out->between[0] == out->between[1])
        hs_complain(reader, between.text, "a material has no contact with itself; name two");
}

static void check_not_twice(struct hs_reader *reader, int n)
{
    const struct hs_contact *contact = reader->problem->body->contact, *last = &contact[n];
    for (int m = 0; m < n && last->between[0] >= 0 && last->between[1] >= 0; m++) {
        const int *between = contact[m].between;
        if ((between[0] == last->between[0] && between[1] == last->between[1]) ||
            (between[0] == last->between[1] && between[1] == last->between[0]))
            hs_complain(reader, hs_key("contacts[%d].between", n).text,
                        "contacts[%d] is between the same two; keep one of them", m);
    }
}

static void read_contacts(struct hs_reader *reader)
{
    struct hs_body *body = reader->problem->body;
    const int count = count_members(reader, "contacts");
    body->contact = hs_new((size_t)(count > 0 ? count : 1) * sizeof *body->contact);
    body->contact_count = count;
    for (int n = 0; n < count; n++) {
        read_contact(reader, hs_key("contacts[%d]", n).text, &body->contact[n]);
        check_not_twice(reader, n);
    }
}

/* ---- which operator -------------------------------------------------------------------------- */

static void read_many(struct hs_reader *reader)
{
    if (hs_require(reader, "materials",
                   "give what the body consists of, as in ( { name = ...; conductivity = ...; "
                   "density = ...; specific_heat = ...; }, ... )"))
        read_materials(reader);
    const int count = count_members(reader, "body");
    if (!hs_require(reader, "body",
                    "say where the materials are, as in ( { material = ...; }, "
                    "{ material = ...; shape = ...; } )"))
        return;
    if (hs_given(reader, "body[0].file"))
        read_label_entry(reader, count);
    else
        read_solids(reader, count);
    read_contacts(reader);
}

/* Makes a body of the config's single material everywhere. */
static void make_of_material(struct hs_reader *reader)
{
    const struct hs_material *material = &reader->problem->material;
    struct hs_body *body = reader->problem->body;
    const bool conducts = !isnan(material->conductivity);
    body->substance = hs_new(sizeof *body->substance);
    body->substance_count = 1;
    body->substance[0] = no_substance();
    body->substance[0].name = hs_copy("material");
    for (int n = 0; n < HS_SUBSTANCE_PROPERTIES && conducts; n++)
        body->substance[0].place[n] =
            hs_settings_place(reader->settings, hs_key("material.%s", properties[n]).text);
    for (int axis = 0; axis < HS_AXES; axis++)
        body->substance[0].conductivity[axis] =
            conducts ? material->conductivity : material->diffusivity;
    body->substance[0].density = material->density;
    body->substance[0].capacity = conducts ? material->density * material->specific_heat : 1.0;
    body->solid = hs_new(sizeof *body->solid);
    body->solid_count = 1;
    body->solid[0].shape.kind = HS_SHAPE_EVERYWHERE;
}

/* Whether the body is one material everywhere, of a kind that a stencil can handle. */
static bool is_plain(const struct hs_body *body)
{
    if (body->solid_count == 0 || body->solid[0].shape.kind != HS_SHAPE_EVERYWHERE)
        return false;
    const struct hs_substance *one = &body->substance[body->solid[0].substance];
    for (int n = 1; n < body->solid_count; n++)
        if (body->solid[n].substance != body->solid[0].substance)
            return false;
    return one->perfusion == 0.0 && one->source < 0 &&
           one->conductivity[HS_X] == one->conductivity[HS_Y] &&
           one->conductivity[HS_X] == one->conductivity[HS_Z];
}

/* Makes the body's material that of the stencil. */
static void make_plain(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    const struct hs_body *body = problem->body;
    const int which = body->solid[0].substance;
    const struct hs_substance *one = &body->substance[which];
    struct hs_material *material = &problem->material;
    material->diffusivity = one->conductivity[HS_X] / one->capacity;
    if (!isnan(one->density)) {
        material->conductivity = one->conductivity[HS_X];
        material->density = one->density;
        material->specific_heat = one->capacity / one->density;
        hs_keep_material(reader, hs_key("materials[%d]", which).text);
    }
    problem->plain = problem->body;
    problem->body = NULL;
}

/* Refuses stencil settings that a body does not support. */
static void refuse_stencil(struct hs_reader *reader)
{
    if (reader->problem->raw)
        hs_complain(reader, "stencil",
                    "raw coefficients are of a stencil, which is the same everywhere; "
                    "a body of several materials, stretched axes, patches, walls by "
                    "files and an h that is an expression need materials instead");
    else if (reader->problem->radius > 1)
        hs_complain(reader, "stencil.radius",
                    "a body of several materials, stretched axes, patches, walls by files and an h "
                    "that is an expression are computed with radius 1; remove it");
}

void hs_read_body(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    const bool many = hs_given(reader, "materials") || hs_given(reader, "body");
    const bool measured = hs_given(reader, "measured");
    const bool more = hs_walls_need_body(reader) || hs_grid_is_stretched(&problem->grid);
    if (!many && !measured)
        hs_refuse(reader, "", "contacts",
                  "are between materials of a body, which is missing; give materials and body, or "
                  "remove it");
    if (!many && !measured && !more)
        return;
    problem->body = hs_new(sizeof *problem->body);
    problem->body->source = -1;
    if (measured)
        read_measured(reader);
    else if (many)
        read_many(reader);
    else
        make_of_material(reader);
    if (reader->settings->err->status) /* what follows would only repeat the error */
        return;
    if (many && !more && !problem->raw && is_plain(problem->body))
        make_plain(reader);
    else
        refuse_stencil(reader);
    hs_keep_place(reader, HS_PLACE_BODY, measured ? "measured" : many ? "body" : "material");
}
