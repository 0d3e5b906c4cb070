/* What the parts of the config reader share: one part a subject, each fills its share of the
 * problem and reports all that is wrong with it. Nothing outside input/config*.c includes this. */
#ifndef HS_INPUT_CONFIG_READER_H
#define HS_INPUT_CONFIG_READER_H

#include "core/problem.h"
#include "input/config.h"
#include "input/field_file.h"
#include "input/settings.h"

struct hs_reader {
    struct hs_settings *settings;
    struct hs_problem *problem;
    struct hs_error *err;
    struct hs_error *doubts; /* gets warnings; NULL: nobody asks */
    enum hs_config_numbers numbers;
    /* grid.dims is there as soon as grid.points is a list of some length, else it is 0 */
    int listed; /* how many axes grid.points, lower, upper and spacing are for; which: */
    int list[HS_AXES];
    bool grid_known;  /* all points are there, too */
    bool space_known; /* and so are the coordinates */
};

/* A key with its indices and names put in: hs_key("probes[%d].at", i).text */
struct hs_key {
    char text[160];
};
struct hs_key hs_key(const char *format, ...) HS_PRINTF(1, 2);

/* What a key's data are at a node: "is not a number (NaN) at node (3, 4), x = 0.3, y = 0.4 m" */
struct hs_key hs_found_at(const struct hs_reader *reader, double found,
                          const int64_t node[HS_AXES]);

bool hs_given(const struct hs_reader *reader, const char *key);

/* Whether a list of groups has a good one at this place, whose path is *path; complains if there
 * is none. */
bool hs_member(struct hs_reader *reader, const char *list, int n, struct hs_key *path);

/* Complains if the key is not given. */
bool hs_require(struct hs_reader *reader, const char *key, const char *remedy);

/* A copy of what the key says or its default; NULL if there is neither, or the key is bad. */
char *hs_read_string(struct hs_reader *reader, const char *key);

/* Gives the problem a program to own. */
void hs_keep_program(struct hs_reader *reader, struct hs_instruction *code);

/* Keeps where `key` stands, with its value, for messages of what is found out later. */
void hs_keep_place(struct hs_reader *reader, enum hs_place which, const char *key);

/* The same of the group that has the numbers of a body's only material. */
void hs_keep_material(struct hs_reader *reader, const char *group);

/* Keeps the content of the file that a key names, for the fingerprint; takes it over. */
void hs_keep_content(struct hs_reader *reader, const char *key, char *content);

/* Number or expression. False if not given or bad. */
bool hs_read_value(struct hs_reader *reader, const char *key, struct hs_value *out);

/* One number for each axis of the grid, or the default for all; a lone number is for every axis if
 * `spread`, else for the only one. False if not given or bad, or the axes are not known. */
bool hs_read_per_axis(struct hs_reader *reader, const char *key, bool spread, double *out);

/* The same for each of those that grid.points is for. */
bool hs_read_per_listed_axis(struct hs_reader *reader, const char *key, bool spread, double *out);

/* The shape of the group at `path`, by its keys shape, lower, upper, ...; false if it is bad. */
bool hs_read_shape(struct hs_reader *reader, const char *path, struct hs_shape *shape);

/* Where the file is that a key names: as given if it is there, else beside the config. Allocated;
 * NULL if it names none. The problem keeps it among its inputs. */
char *hs_locate_input(struct hs_reader *reader, const char *key);

/* The field that the keys file, dataset and step of `group` name, allocated; for a wall's number
 * these are its name with _file and so on. It has one of `count` shapes: the place of that in
 * *taken, which may be NULL. Reports what is wrong. */
struct hs_stored *hs_find_dataset(struct hs_reader *reader, const char *group,
                                  const struct hs_field_shape *shapes, int count, int *taken);

/* Gives all its numbers to `take` (NULL: nobody), some layers after the other, and keeps their
 * content for the fingerprint. With `out` all are one such stretch, and stay there, allocated.
 * False if they cannot be read, which it reports, or `take` would have no more. */
struct hs_taker {
    bool (*take)(void *self, double *values, int64_t first, int64_t count);
    void *self;
};
bool hs_take_dataset(struct hs_reader *reader, const char *group, struct hs_stored *stored,
                     const struct hs_taker *taker, double **out);

/* A field that is small, or that everybody needs: all its numbers, allocated; NULL if it is bad. */
double *hs_read_dataset(struct hs_reader *reader, const char *group,
                        const struct hs_field_shape *shape);

/* Complains of datasets and their steps whose file is not given. */
void hs_check_datasets(struct hs_reader *reader);

/* The place in the problem's time functions of the one that a key says; else false, `instead` being
 * the remedy where it changes with the place. */
bool hs_read_time_function(struct hs_reader *reader, const char *key, const char *instead,
                           int *function);

/* Where a wall's keys are: of a face, or of its patch if that is not -1. */
struct hs_wall_keys {
    int face, patch;
};
struct hs_key hs_wall_key(const struct hs_reader *reader, const struct hs_wall_keys *keys,
                          const char *name);

/* What may give a wall's number in its place: "flux_file or flux_table"; "h_file", which has no
 * table. */
struct hs_key hs_other_ways(const char *name, const char *between);

/* One number of a wall, by its keys NAME, NAME_file and NAME_table, of which some must be given;
 * at least `least`. False if it is bad. */
bool hs_read_wall_number(struct hs_reader *reader, const struct hs_wall_keys *keys,
                         const char *name, double least, struct hs_wall_number *out);

/* Complains of numbers of a label field, one of each `place` (a node or cell), which it sorts: of
 * those that are no labels, and of the `others` ("labels without a name") with a remedy. */
void hs_complain_of_labels(struct hs_reader *reader, const char *key, double *number, int64_t count,
                           const char *place, const char *others, const char *remedy);

/* A field over the face, allocated, from a file named by `key`_file; NULL if it is bad. */
double *hs_read_face_field(struct hs_reader *reader, const char *key, int face);

/* Whether a wall says what only those of a body can: patches, fields, tables and the like. */
bool hs_walls_need_body(const struct hs_reader *reader);

/* Complains of keys of a shape where there is none. */
void hs_refuse_shape_keys(struct hs_reader *reader, const char *path);

/* The parts, in the order they are called. */
void hs_read_stencil_radius(struct hs_reader *reader);
void hs_read_grid(struct hs_reader *reader);
void hs_read_material(struct hs_reader *reader);
void hs_read_body(struct hs_reader *reader);
void hs_read_boundary(struct hs_reader *reader);
void hs_read_walls(struct hs_reader *reader); /* of a body, by hs_read_boundary */
void hs_read_fields(struct hs_reader *reader);
void hs_read_schedule(struct hs_reader *reader);
void hs_read_output(struct hs_reader *reader);
void hs_check_values(struct hs_reader *reader);

/* An axis by its coordinates, grid.x and the like: whether the config has that, how many nodes it
 * gives (at least `fewest`), and, once there is memory for them, where they are. False if something
 * is wrong. */
bool hs_axis_is_given(const struct hs_reader *reader, int axis);
bool hs_count_axis(struct hs_reader *reader, int axis, int64_t fewest);
bool hs_place_axis(struct hs_reader *reader, int axis);

/* Whether coordinates near `at` [m] tell the width h [m] of a cell: each is a double, and what its
 * rounding makes of the width is far less than the error of a grid. */
bool hs_tells_cell(double at, double h);

/* Complains of uniform axes, of `axes` (HS_VARIES_...), whose cells coordinates do not tell, where
 * `user`, a key, goes by them; those of a stencil come from the spacing alone. */
bool hs_check_coordinates(struct hs_reader *reader, unsigned axes, const char *user);

/* By its faces' kinds. */
bool hs_axis_is_periodic(const struct hs_reader *reader, int axis);

/* Where a face's setting of this name is or belongs: in its own group, or in that of all. */
struct hs_key hs_face_key(const struct hs_reader *reader, int face, const char *name);

/* The kind that a face's settings name, its default included; NULL if it is bad. */
const struct hs_boundary_kind *hs_face_kind(const struct hs_reader *reader, int face);

/* Where the grid ends along an axis: at its last node or, if it is periodic, a cell further. */
double hs_read_end(const struct hs_reader *reader, int axis);

#endif
