/* What the parts of the config reader share: one part a subject, each fills its share of the
 * problem and reports all that is wrong with it. Nothing outside input/config*.c includes this. */
#ifndef HS_INPUT_CONFIG_READER_H
#define HS_INPUT_CONFIG_READER_H

#include "core/problem.h"
#include "input/settings.h"

struct hs_reader {
    struct hs_settings *settings;
    struct hs_problem *problem;
    struct hs_error *err;
    /* grid.dims is there as soon as grid.points is a list of some length, else it is 0 */
    bool grid_known;  /* all points are there, too */
    bool space_known; /* and so are the coordinates */
};

/* A key with its indices and names put in: hs_key("probes[%d].at", i).text */
struct hs_key {
    char text[160];
};
struct hs_key hs_key(const char *format, ...) HS_PRINTF(1, 2);

bool hs_given(const struct hs_reader *reader, const char *key);

/* Complains if the key is not given. */
bool hs_require(struct hs_reader *reader, const char *key, const char *remedy);

/* A copy of what the key says or its default; NULL if there is neither, or the key is bad. */
char *hs_read_string(struct hs_reader *reader, const char *key);

/* Gives the problem a program to own. */
void hs_keep_program(struct hs_reader *reader, struct hs_instruction *code);

/* Keeps where `key` stands, with its value, for messages of what is found out later. */
void hs_keep_place(struct hs_reader *reader, enum hs_place which, const char *key);

/* Number or expression. False if not given or bad. */
bool hs_read_value(struct hs_reader *reader, const char *key, struct hs_value *out);

/* One number for each axis of the grid, or the default for all; a lone number is for every axis if
 * `spread`, else for the only one. False if not given or bad, or the axes are not known. */
bool hs_read_per_axis(struct hs_reader *reader, const char *key, bool spread, double *out);

/* The parts, in the order they are called. */
void hs_read_stencil_radius(struct hs_reader *reader);
void hs_read_grid(struct hs_reader *reader);
void hs_read_material(struct hs_reader *reader);
void hs_read_boundary(struct hs_reader *reader);
void hs_read_fields(struct hs_reader *reader);
void hs_read_schedule(struct hs_reader *reader);
void hs_read_output(struct hs_reader *reader);
void hs_check_values(struct hs_reader *reader);

/* Where a face's setting of this name is or belongs: in its own group, or in that of all. */
struct hs_key hs_face_key(const struct hs_reader *reader, int face, const char *name);

/* The kind that a face's settings name, its default included; NULL if it is bad. */
const struct hs_boundary_kind *hs_face_kind(const struct hs_reader *reader, int face);

#endif
