/*
 * The problem: everything that a config says, complete and const once read.
 *
 * No module reads the config after this. Units are SI; temperature is in the config's own unit. The
 * problem owns everything it points to; hs_problem_release frees it.
 */
#ifndef HS_CORE_PROBLEM_H
#define HS_CORE_PROBLEM_H

#include "core/body.h"
#include "core/boundary.h"
#include "core/grid.h"
#include "core/operator.h"
#include "core/shape.h"
#include "core/status.h"
#include "core/stored.h"
#include "core/value.h"
#include "core/wall.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_slab;

/* Numbers that the config did not give are NaN. The diffusivity is always set, except with raw
 * coefficients. */
struct hs_material {
    double conductivity;  /* W/(m K) */
    double density;       /* kg/m^3 */
    double specific_heat; /* J/(kg K) */
    double diffusivity;   /* m^2/s: conductivity / (density * specific_heat), or as given */
};

/* A scalar field: a value, an expression, or numbers from a file, of which all, some or no layers
 * may be in memory. */
struct hs_field {
    struct hs_value value;
    struct hs_stored *stored; /* owned; for the whole grid. NULL: not from a file */
    double *data;             /* owned; whole rows from node `first` on. NULL: none in memory */
    int64_t first;
};

static inline bool hs_field_is_numbers(const struct hs_field *field)
{
    return field->stored || field->data;
}

/* Nodes inside or on the shape take the value; later regions override earlier ones. */
struct hs_region {
    struct hs_shape shape;
    struct hs_value value;
};

struct hs_initial {
    struct hs_field field;
    struct hs_region *regions;
    int region_count;
};

struct hs_source {
    bool present;
    struct hs_field field; /* W/m^3 with a conductivity, K/s with a diffusivity, K a sweep if raw */
    double rate;           /* K/s (raw: K a sweep) per unit of the field */
};

/* The duration is either `end` or `sweeps`; the other is unset (end NaN, sweeps -1). */
struct hs_schedule {
    char *method;           /* name; NULL: the default, euler */
    char *steady_method;    /* likewise: sweeps */
    double end;             /* s, or NaN */
    int64_t sweeps;         /* or -1 */
    double step;            /* s; NaN for "auto"; 1 for a raw stencil unless given */
    double tolerance;       /* K: allowed time error of a step; 0: not given */
    double safety;          /* fraction of the stability limit used by "auto" */
    double output_interval; /* s, or NaN */
    int64_t output_every;   /* sweeps, or -1. Neither: first and last only */
    int64_t history_every;  /* sweeps, or -1: at each snapshot */
    bool steady;            /* stop when max |change per sweep| < steady_tolerance */
    double steady_tolerance;
    int64_t steady_check_every;
};

struct hs_probe {
    char *name;
    double at[HS_AXES];    /* m */
    int64_t node[HS_AXES]; /* nearest node */
};

/* A file that the problem was read from. */
struct hs_input {
    char *key; /* the key that names it: "initial.file", "@include"; "" for the config itself */
    char *path;
};

struct hs_output {
    char *file;                /* HDF5 path as given, relative to the working directory */
    bool overwrite;            /* a new run may replace an earlier one's */
    int compression;           /* 0 none, 1..9 deflate */
    double checkpoint_minutes; /* wall time between checkpoints, or NaN */
};

struct hs_exact {
    bool present;
    struct hs_value value; /* of x, y, z, t */
    double max_error;      /* bound on max |T - exact| at the end; NaN: only measured */
};

/* The config's solver settings. The engine resolves the names, including "auto". */
struct hs_solver_choice {
    char *backend;
    char *kernel;
    int device;
    int threads;  /* 0: as many as the machine has */
    bool overlap; /* ranks exchange halos while they sweep, if the kernel can */
};

/* Settings that only the engine can check; their location in the config is kept for its
 * messages. */
enum hs_place {
    HS_PLACE_METHOD,    /* time.method */
    HS_PLACE_STEADY,    /* steady.method */
    HS_PLACE_RESIDUAL,  /* steady.tolerance */
    HS_PLACE_STEP,      /* time.step */
    HS_PLACE_TOLERANCE, /* time.tolerance */
    HS_PLACE_END,       /* time.end */
    HS_PLACE_INTERVAL,  /* output.interval */
    HS_PLACE_EVERY,     /* output.every */
    HS_PLACE_HISTORY,   /* output.history_every */
    HS_PLACE_POINTS,    /* grid.points */
    HS_PLACE_STENCIL,   /* stencil */
    HS_PLACE_BACKEND,   /* solver.backend */
    HS_PLACE_KERNEL,    /* solver.kernel */
    HS_PLACE_MAX_ERROR, /* exact.max_error */
    /* the following with key and value: "case.cfg:12: source.value = 5" */
    HS_PLACE_OUTPUT, /* output.file */
    HS_PLACE_UNIT,   /* temperature_unit */
    HS_PLACE_CONDUCTIVITY,
    HS_PLACE_DENSITY,
    HS_PLACE_SPECIFIC_HEAT,
    HS_PLACE_SOURCE,
    HS_PLACE_INITIAL,
    HS_PLACE_EXACT,
    HS_PLACE_BODY,
    HS_PLACE_FACE, /* the boundary data of face f: HS_PLACE_FACE + f */
    HS_PLACES = HS_PLACE_FACE + HS_FACES
};

struct hs_problem {
    char *title;
    char *temperature_unit; /* for labels; NULL stands for "K" */
    char *config_path;      /* as given on the command line */
    char *config_text;      /* the whole file, overrides appended as comments */
    char *fingerprint; /* "KEY = VALUE\n" for all settings that the fields depend on, sorted: a run
                          and its continuation have the same; NULL stands for "" */
    char **overrides;  /* "KEY=VALUE" as --set gave them, in that order */
    int override_count;
    enum hs_precision precision;
    struct hs_grid grid;
    int radius;
    bool raw;                      /* c below is given; no material is needed */
    double c[HS_MAX_COEFFICIENTS]; /* raw only */
    struct hs_material material;
    struct hs_body *body; /* several materials: conduction. NULL: one material, a stencil */
    /* A body that turned out to have one material everywhere, so that a stencil is used; kept for
     * reports about its materials. NULL: none. */
    struct hs_body *plain;
    struct hs_wall *walls; /* of a body: each face's own wall before its patches */
    int wall_count;
    uint16_t *face_labels[HS_FACES];         /* of the faces' nodes, for walls; NULL: none */
    struct hs_time_function *time_functions; /* those that act on a body */
    int time_function_count;
    struct hs_network *network; /* built from the body and its walls; NULL: not yet, or none */
    const struct hs_slab *slab; /* part of a larger problem (core/slab.h); NULL: whole */
    struct hs_initial initial;
    struct hs_source source;
    struct hs_face face[HS_FACES]; /* x_min, x_max, y_min, ...; 2*dims of them */
    unsigned assumed_faces;        /* 1u << face: no type was given, so the default applies */
    struct hs_schedule schedule;
    struct hs_output output;
    struct hs_input *inputs; /* every file that was read; the run must not write to them */
    int input_count;
    struct hs_probe *probes;
    int probe_count;
    struct hs_exact exact;
    struct hs_solver_choice solver;
    char *place[HS_PLACES];           /* "case.cfg:12", or "--set"; NULL if not given */
    bool steps_known;                 /* hs_plan_steps can be called, whatever else is wrong */
    struct hs_instruction **programs; /* code of all expressions, owned */
    int program_count;
};

void hs_problem_init(struct hs_problem *problem); /* empty, safe to release */
void hs_problem_release(struct hs_problem *problem);

/* Adds copies to the inputs. */
void hs_problem_add_input(struct hs_problem *problem, const char *key, const char *path);

/* Coefficients for a step [s]; a raw stencil ignores the step. In float, a material's coefficients
 * are those of hs_stencil_balance. For a body all are 0. */
struct hs_stencil hs_problem_stencil(const struct hs_problem *problem, double step);

/* What a sweep of that step does. */
struct hs_operator hs_problem_operator(const struct hs_problem *problem, double step);

/* Nodes that sweeps update: all but the held layers. */
struct hs_box hs_problem_interior(const struct hs_problem *problem);

/* Volume [m^dims] of node (i, j, k): cell volume times the faces' edge weights. The heat content is
 * the sum of volume * T, times density * specific_heat if they are known. On a slab it is the same
 * as in the whole problem. */
double hs_problem_node_volume(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k);
/* The volume's factors [m]: of node i along an axis; 1 along axes that are not there. */
double hs_problem_node_width(const struct hs_problem *problem, int axis, int64_t i);
double hs_problem_length(const struct hs_problem *problem, int axis); /* sum of these */
double hs_problem_heat_capacity(const struct hs_problem *problem);    /* J/(m^3 K); 1 if unknown */

/* HS_VARIES_...: what the source that sweeps add depends on; 0: no source. A body's wall values
 * that change along the wall and in time at once count as source. */
unsigned hs_problem_source_varies(const struct hs_problem *problem);
unsigned hs_problem_own_source_varies(const struct hs_problem *problem); /* without walls */

/* The config's name as given, or "config"; and "case.cfg:12", or if the setting is not given, the
 * same. */
const char *hs_problem_config(const struct hs_problem *problem);
const char *hs_problem_place(const struct hs_problem *problem, enum hs_place which);

const char *hs_problem_temperature_unit(const struct hs_problem *problem); /* "K", "degC" */

/* Unit of a temperature difference: K for degC and its like, so that no reader adds an offset. */
const char *hs_problem_difference_unit(const struct hs_problem *problem);

/* Whether heat is in J, i.e. heat capacities are known. */
bool hs_problem_has_capacity(const struct hs_problem *problem);

/* Unit of the heat content, readable for people and UDUNITS: "J", "J/m", "J/m^2", per metre of each
 * axis that the grid lacks; "K m^3" and so on if no heat capacity is known; "1" with raw
 * coefficients, whose numbers have no units. */
void hs_problem_heat_unit(const struct hs_problem *problem, char *out, size_t size);

/* Unit of heat flow: "W", "W/m", "W/m^2", "K m^3/s" and so on. */
void hs_problem_power_unit(const struct hs_problem *problem, char *out, size_t size);

/* Walls through which heat may leave: for a body the walls in its list, else the faces that are not
 * periodic, in order. Each has a face and a name: "z_max", or "z_max_1" for a patch. */
int hs_problem_wall_count(const struct hs_problem *problem);
int hs_problem_wall_face(const struct hs_problem *problem, int wall);
void hs_problem_wall_name(const struct hs_problem *problem, int wall, char *out, size_t size);

/*
 * Prescribed layers come in the order x, y, z, min before max; where two meet, the later one has
 * the node. Returns the face that prescribes the node, or -1 if none does.
 */
int hs_problem_prescribing_face(const struct hs_problem *problem, const int64_t node[HS_AXES]);

#ifdef __cplusplus
}
#endif

#endif
