/* Shared by the parts of the config reader. Each part handles one subject, fills its share of the
 * problem and reports all errors in it. Nothing outside input/config*.c includes this. */
#ifndef HS_INPUT_CONFIG_READER_H
#define HS_INPUT_CONFIG_READER_H

#include "core/problem.h"
#include "input/config.h"
#include "input/field_file.h"
#include "input/settings.h"

/* Finds the options of the settings from `first` on and reports each error. Settings inside an
 * unknown or bad one are skipped. */
void hs_config_check(struct hs_settings *settings, size_t first);

/* Adds the override "KEY=VALUE", checked likewise. */
void hs_config_override(const char *override, struct hs_settings *settings);

struct hs_reader {
    struct hs_settings *settings;
    struct hs_problem *problem;
    struct hs_error *doubts; /* receives warnings; NULL: not wanted */
    enum hs_config_numbers numbers;
    /* grid.dims is set once the number of axes is known; until then it is 0 */
    int listed; /* number of axes that grid.points, lower, upper and spacing describe; which: */
    int list[HS_AXES];
    bool grid_known;  /* all points are set, too */
    bool space_known; /* and all coordinates */
};

/* A key with its indices and names filled in: hs_key("probes[%d].at", i).text */
struct hs_key {
    char text[160];
};
struct hs_key hs_key(const char *format, ...) HS_PRINTF(1, 2);

/* A key's value at a node: "is not a number (NaN) at node (3, 4), x = 0.3, y = 0.4 m" */
struct hs_key hs_found_at(const struct hs_reader *reader, double found,
                          const int64_t node[HS_AXES]);

bool hs_given(const struct hs_reader *reader, const char *key); /* bad or not */

/* The first of the keys "a|b" of a group (or "") that is given; "": none is. */
struct hs_key hs_first_given(const struct hs_reader *reader, const char *group, const char *names);

/* Complains of a key; false, for the caller to return. */
#define hs_complain(reader, ...) hs_settings_complain((reader)->settings, __VA_ARGS__)

/* Warns of a likely mistake in a key, whose place it puts before the text; false where warnings are
 * not wanted, or 10 were given. */
bool hs_doubt(struct hs_reader *reader, const char *key, const char *format, ...) HS_PRINTF(3, 4);

/* Whether member n of a list of groups exists and is good; *path is its path. Complains if it is
 * missing. */
bool hs_member(struct hs_reader *reader, const char *list, int n, struct hs_key *path);

/* Complains if the key is not given. */
bool hs_require(struct hs_reader *reader, const char *key, const char *remedy);

/* Complains of the keys "a|b" of a group (or "") that are given; false if any is. */
bool hs_refuse(struct hs_reader *reader, const char *group, const char *names, const char *why);

/* A copy of the key's value or its default; NULL if there is neither, or the key is bad. */
char *hs_read_string(struct hs_reader *reader, const char *key);

/* Transfers ownership of a program to the problem. */
void hs_keep_program(struct hs_reader *reader, struct hs_instruction *code);

/* Stores the location of `key`, with its value, for later messages. */
void hs_keep_place(struct hs_reader *reader, enum hs_place which, const char *key);

/* The same for the group with the numbers of a body's only material. */
void hs_keep_material(struct hs_reader *reader, const char *group);

/* Stores the content of the file that a key names, for the fingerprint; takes ownership of it. */
void hs_keep_content(struct hs_reader *reader, const char *key, char *content);

/* Reads a number or an expression. False if not given or bad. */
bool hs_read_value(struct hs_reader *reader, const char *key, struct hs_value *out);

/* Reads one number for each of `dims` axes, of which messages say "the face has", or the default
 * for all. A single number is for every axis if `spread`, else allowed only for a single axis.
 * False if not given or bad, or `dims` is 0: not known. hs_read_per_axis: for the axes of the grid.
 */
bool hs_read_axes(struct hs_reader *reader, const char *key, bool spread, int dims,
                  const char *whose, double *out);
bool hs_read_per_axis(struct hs_reader *reader, const char *key, bool spread, double *out);

/* Reads the shape of the group at `path` from its keys shape, lower, upper, ...; false if it is
 * bad. */
bool hs_read_shape(struct hs_reader *reader, const char *path, struct hs_shape *shape);

/* The path of the file that a key names: as given if it exists, else beside the config. Allocated;
 * NULL if none is named. It is added to the problem's inputs. */
char *hs_locate_input(struct hs_reader *reader, const char *key);

/* Finds the field named by the keys file, dataset and step of `group`, allocated; for a wall's
 * number the keys are its name with _file and so on. Reports errors. */
struct hs_stored *hs_find_dataset(struct hs_reader *reader, const char *group,
                                  const struct hs_field_shape *shape);

/* Passes all numbers of the field to `take` (which may be NULL), some layers at a time, and stores
 * their content for the fingerprint. With `out` all numbers come in one piece, which is returned
 * there, allocated. False if they cannot be read, which is reported, or if `take` stops. */
struct hs_taker {
    bool (*take)(void *self, double *values, int64_t first, int64_t count);
    void *self;
};
bool hs_take_dataset(struct hs_reader *reader, const char *group, struct hs_stored *stored,
                     const struct hs_taker *taker, double **out);

/* Complains of dataset and step keys whose file is not given. */
void hs_check_datasets(struct hs_reader *reader);

/* Reads a time function from `key` or `key`_table; *function is its index in the problem's time
 * functions. False if it is bad; `instead` is the remedy if it depends on place. */
bool hs_read_time_function(struct hs_reader *reader, const char *key, const char *instead,
                           int *function);

/* Location of a wall's keys: a face, or one of its patches. */
enum { HS_NO_PATCH = -1 };
struct hs_wall_keys {
    int face, patch;
};
struct hs_key hs_wall_key(const struct hs_reader *reader, const struct hs_wall_keys *keys,
                          const char *name);

/* The keys that may replace a wall's number: "flux_file or flux_table". */
struct hs_key hs_other_ways(const char *name, const char *between);

/* Adds the product of a wall's h, a time function, and another one, unless it is there. Returns its
 * index. */
int hs_add_product(struct hs_problem *problem, int h, int other);

/* Reads one number of a wall, at least `least`, from its keys NAME, NAME_file and NAME_table, of
 * which at least one must be given. False if it is bad. */
bool hs_read_wall_number(struct hs_reader *reader, const struct hs_wall_keys *keys,
                         const char *name, double least, struct hs_wall_number *out);

/* Complains of bad numbers in a label field, one per `place` ("node" or "cell"): those that are not
 * labels, and the `others` ("labels without a name"), with a remedy. Sorts the numbers. */
void hs_complain_of_labels(struct hs_reader *reader, const char *key, double *number, int64_t count,
                           const char *place, const char *others, const char *remedy);

/* Reads a field over a face from the file named by `key`_file, allocated; NULL if it is bad. */
double *hs_read_face_field(struct hs_reader *reader, const char *key, int face);

/* Whether any wall uses what only a body's walls can have: patches, fields, tables and the like. */
bool hs_walls_need_body(const struct hs_reader *reader);

/* Complains of shape keys in a group without a shape. */
void hs_refuse_shape_keys(struct hs_reader *reader, const char *path);

/* The parts, in the order they are called. */
void hs_read_stencil_radius(struct hs_reader *reader);
void hs_read_grid(struct hs_reader *reader);
void hs_read_material(struct hs_reader *reader);
void hs_read_body(struct hs_reader *reader);
void hs_read_boundary(struct hs_reader *reader);
void hs_read_walls(struct hs_reader *reader); /* of a body; called by hs_read_boundary */
void hs_read_fields(struct hs_reader *reader);
void hs_read_schedule(struct hs_reader *reader);
void hs_read_output(struct hs_reader *reader);
void hs_check_values(struct hs_reader *reader);

/* An axis given by coordinates (grid.x and so on). hs_axis_is_given: whether the config has it;
 * hs_count_axis: sets its number of nodes (at least `fewest`); hs_place_axis: sets their positions,
 * once there is memory for them. False on an error. */
bool hs_axis_is_given(const struct hs_reader *reader, int axis);
bool hs_count_axis(struct hs_reader *reader, int axis, int64_t fewest);
bool hs_place_axis(struct hs_reader *reader, int axis);

/* The least number of distinct cells that an axis of segments can have; 1 for other axes. */
double hs_axis_widths(const struct hs_reader *reader, int axis);

/* Whether coordinates near `at` [m] resolve a cell width h [m]: the rounding of coordinates to
 * double must change the width by far less than the error of a grid. */
bool hs_tells_cell(double at, double h);

/* Complains of uniform axes among `axes` (HS_VARIES_...) whose cells coordinates do not resolve, if
 * the key `user` depends on coordinates. A stencil uses the spacing alone. */
bool hs_check_coordinates(struct hs_reader *reader, unsigned axes, const char *user);

/* Whether the kinds of an axis' faces make it periodic. */
bool hs_axis_is_periodic(const struct hs_reader *reader, int axis);

/* The key of a face's setting of this name: in its own group, or in that of `all`. */
struct hs_key hs_face_key(const struct hs_reader *reader, int face, const char *name);

/* Warns once per key of a source (`face` -1) or a flux of which the nodes take much more or less
 * than it gives, as of one that is narrower than a cell. */
void hs_doubt_uptake(struct hs_reader *reader, const char *key, int face,
                     const struct hs_value *value);
/* Likewise of a face's number, and if its only coordinate is the same all over the face. */
void hs_doubt_on_face(struct hs_reader *reader, const char *key, int face,
                      const struct hs_value *value);

/* The boundary kind of a face from its settings or the default; NULL if it is bad. */
const struct hs_boundary_kind *hs_face_kind(const struct hs_reader *reader, int face);

/* The end of the grid along an axis: its last node, or one cell further if the axis is periodic. */
double hs_read_end(const struct hs_reader *reader, int axis);

#endif
