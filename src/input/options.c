#include "input/options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANY .lowest = -INFINITY, .highest = INFINITY
#define POSITIVE .lowest = 0.0, .highest = INFINITY, .above = true
#define NOT_NEGATIVE .lowest = 0.0, .highest = INFINITY
#define RANGE(from, to) .lowest = (from), .highest = (to)
#define MOST_COUNT 9007199254740992.0 /* 2^53 */

/* The fields of a config that may come as a value, an expression or a dataset. */
#define FIELD_ROWS(group, a_unit, default_dataset)                                                 \
    {.path = group ".value",                                                                       \
     .type = HS_OPTION_VALUE,                                                                      \
     ANY,                                                                                          \
     .unit = a_unit,                                                                               \
     .help = "one value everywhere, or an expression of x, y, z, t"},                              \
        {.path = group ".expression",                                                              \
         .type = HS_OPTION_VALUE,                                                                  \
         ANY,                                                                                      \
         .unit = a_unit,                                                                           \
         .help = "an expression of x, y, z, t"},                                                   \
        {.path = group ".file",                                                                    \
         .type = HS_OPTION_STRING,                                                                 \
         .unit = "",                                                                               \
         .help = "HDF5 or .npy file to read it from; looked for here, then beside the config"},    \
        {.path = group ".dataset",                                                                 \
         .loose = true,                                                                            \
         .type = HS_OPTION_STRING,                                                                 \
         .fallback = default_dataset,                                                              \
         .unit = "",                                                                               \
         .help = "HDF5: its dataset, [z][y][x] or [step][z][y][x]; a .npy file is one array of "   \
                 "that shape"},                                                                    \
    {                                                                                              \
        .path = group ".step", .loose = true, .type = HS_OPTION_COUNT, RANGE(-1, MOST_COUNT),      \
        .fallback = "-1", .unit = "", .help = "which step of the dataset, from 0; -1 is the last"  \
    }

const struct hs_option hs_options[] = {
    {.path = "title",
     .loose = true,
     .type = HS_OPTION_STRING,
     .fallback = "",
     .unit = "",
     .help = "name of the case, for the file and the pictures"},
    {.path = "temperature_unit",
     .loose = true,
     .type = HS_OPTION_STRING,
     .fallback = "K",
     .unit = "",
     .help = "label of the temperatures: K, degC; nothing is converted"},
    {.path = "precision",
     .type = HS_OPTION_CHOICE,
     .choices = "double|float",
     .fallback = "double",
     .unit = "",
     .help = "of the temperatures, in memory and in the file"},

    {.path = "grid", .type = HS_OPTION_GROUP, .unit = "", .help = "where the nodes are"},
    {.path = "grid.points",
     .type = HS_OPTION_COUNTS,
     RANGE(1, 2147483647.0),
     .unit = "",
     .help = "nodes along each axis, including boundary nodes: 1, 2 or 3 numbers"},
    {.path = "grid.lower",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .fallback = "0",
     .unit = "m",
     .help = "coordinates of the first node"},
    {.path = "grid.upper",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .unit = "m",
     .help = "coordinates of the last node; along a periodic axis, where it repeats"},
    {.path = "grid.spacing",
     .type = HS_OPTION_NUMBERS,
     POSITIVE,
     .fallback = "1",
     .unit = "m",
     .help = "distance between nodes, instead of upper; a lone number is for every axis"},

    {.path = "material",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "conductivity, density and specific_heat; or diffusivity alone"},
    {.path = "material.conductivity",
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "W/(m K)",
     .help = "thermal conductivity"},
    {.path = "material.density",
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "kg/m^3",
     .help = "mass density"},
    {.path = "material.specific_heat",
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "J/(kg K)",
     .help = "specific heat capacity"},
    {.path = "material.diffusivity",
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "m^2/s",
     .help = "conductivity / (density * specific_heat), instead of the three"},

    {.path = "stencil",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "the stencil: its radius, or all its coefficients"},
    {.path = "stencil.radius",
     .type = HS_OPTION_COUNT,
     RANGE(1, 3),
     .fallback = "1",
     .unit = "",
     .help = "neighbours on each side; central differences of order 2, 4, 6"},
    {.path = "stencil.cN",
     .type = HS_OPTION_NUMBER,
     ANY,
     .unit = "",
     .help = "raw coefficients, all of them: c0 centre, then x-1, x+1 (x-2, x+2 ...), y, z"},

    {.path = "initial",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "temperature at t = 0: a value, an expression or a dataset, and regions over it"},
    FIELD_ROWS("initial", "K", "temperature"),
    {.path = "initial.regions",
     .type = HS_OPTION_GROUP_LIST,
     .unit = "",
     .help = "parts with another temperature; later ones over earlier ones"},
    {.path = "initial.regions[].shape",
     .type = HS_OPTION_CHOICE,
     .choices = "box|sphere|cylinder",
     .unit = "",
     .help = "box: lower, upper; sphere: centre, radius; cylinder: centre, radius, axis, from, to"},
    {.path = "initial.regions[].lower",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .unit = "m",
     .help = "corner of a box"},
    {.path = "initial.regions[].upper",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .unit = "m",
     .help = "opposite corner of a box"},
    {.path = "initial.regions[].centre",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .unit = "m",
     .help = "centre of a sphere or cylinder; along a cylinder's axis any number will do"},
    {.path = "initial.regions[].radius",
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "m",
     .help = "radius of a sphere or cylinder"},
    {.path = "initial.regions[].axis",
     .type = HS_OPTION_CHOICE,
     .choices = "x|y|z",
     .fallback = "z",
     .unit = "",
     .help = "axis that a cylinder is parallel to"},
    {.path = "initial.regions[].from",
     .type = HS_OPTION_NUMBER,
     ANY,
     .unit = "m",
     .help = "where a cylinder begins along its axis; default: at the edge of the grid"},
    {.path = "initial.regions[].to",
     .type = HS_OPTION_NUMBER,
     ANY,
     .unit = "m",
     .help = "where a cylinder ends along its axis; default: at the edge of the grid"},
    {.path = "initial.regions[].value",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "K",
     .help = "temperature inside the shape and on its surface"},

    {.path = "source",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "heat source: W/m^3 with a conductivity, K/s with a diffusivity alone, K per sweep if "
             "raw"},
    FIELD_ROWS("source", "W/m^3", "source"),

    {.path = "boundary",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "conditions at the faces: all, x_min, x_max, y_min, y_max, z_min, z_max"},
    {.path = "boundary.FACE",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "one face, or all; a face without a type of its own takes that of all"},
    {.path = "boundary.FACE.type",
     .type = HS_OPTION_CHOICE,
     .choices = "fixed|dirichlet|neumann|robin|periodic|reflective|clamp|constant",
     .fallback = "fixed",
     .unit = "",
     .help = "the kind of boundary"},
    {.path = "boundary.FACE.value",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "K",
     .help = "dirichlet: temperature of the wall; constant: temperature outside"},
    {.path = "boundary.FACE.flux",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "W/m^2",
     .help = "neumann: heat that leaves through the face; needs a conductivity"},
    {.path = "boundary.FACE.gradient",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "K/m",
     .help = "neumann: dT/dn along the outward normal, instead of flux"},
    {.path = "boundary.FACE.h",
     .type = HS_OPTION_NUMBER,
     NOT_NEGATIVE,
     .unit = "W/(m^2 K)",
     .help = "robin: heat transfer coefficient; needs a conductivity"},
    {.path = "boundary.FACE.ambient",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "K",
     .help = "robin: temperature of the surroundings"},

    {.path = "time", .type = HS_OPTION_GROUP, .unit = "", .help = "end and step of the run"},
    {.path = "time.end",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "s",
     .help = "when the run ends; or give sweeps"},
    {.path = "time.sweeps",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(0, MOST_COUNT),
     .unit = "",
     .help = "number of sweeps (with steady, at most); or give end"},
    {.path = "time.step",
     .loose = true,
     .type = HS_OPTION_NUMBER_OR_AUTO,
     POSITIVE,
     .fallback = "auto",
     .unit = "s",
     .help = "time step; auto: safety times the stability limit; raw stencils: 1"},
    {.path = "time.safety",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     .lowest = 0.0,
     .highest = 1.0,
     .above = true,
     .fallback = "0.9",
     .unit = "",
     .help = "fraction of the stability limit that an automatic step takes"},

    {.path = "steady", .type = HS_OPTION_GROUP, .unit = "", .help = "stop at the steady state"},
    {.path = "steady.tolerance",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "K",
     .help = "stop when the largest change in one sweep is below this; heatsolve check says how "
             "far from the steady state that is"},
    {.path = "steady.check_every",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(1, MOST_COUNT),
     .fallback = "100",
     .unit = "sweeps",
     .help = "sweeps between these checks"},

    {.path = "solver",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "backend, kernel, device and threads"},
    {.path = "solver.backend",
     .loose = true,
     .type = HS_OPTION_STRING,
     .fallback = "auto",
     .unit = "",
     .help = "cpu, cuda; auto takes a GPU where there is one"},
    {.path = "solver.kernel",
     .loose = true,
     .type = HS_OPTION_STRING,
     .fallback = "auto",
     .unit = "",
     .help = "one that heatsolve kernels lists; auto: as tuned or tried, else by a heuristic"},
    {.path = "solver.device",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(0, 1023),
     .fallback = "0",
     .unit = "",
     .help = "which GPU, from 0"},
    {.path = "solver.threads",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(0, 4096),
     .fallback = "0",
     .unit = "",
     .help = "CPU threads; 0: as many as are available and worthwhile"},

    {.path = "output",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "the output file and what it holds"},
    {.path = "output.file",
     .loose = true,
     .type = HS_OPTION_STRING,
     .unit = "",
     .help = "HDF5 file to write; default: the config's name with .h5, in the current folder"},
    {.path = "output.overwrite",
     .loose = true,
     .type = HS_OPTION_FLAG,
     .fallback = "false",
     .unit = "",
     .help = "a new run may replace the file of an earlier one, as with --overwrite"},
    {.path = "output.interval",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "s",
     .help = "time between snapshots; default: only the first and the last"},
    {.path = "output.every",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(1, MOST_COUNT),
     .unit = "sweeps",
     .help = "sweeps between snapshots, instead of interval"},
    {.path = "output.history_every",
     .loose = true,
     .type = HS_OPTION_COUNT,
     RANGE(1, MOST_COUNT),
     .unit = "sweeps",
     .help = "sweeps between rows of history and probes; default: a row at each snapshot"},
    {.path = "output.compression",
     .type = HS_OPTION_COUNT,
     RANGE(0, 9),
     .fallback = "0",
     .unit = "",
     .help = "deflate level of the snapshots; 0: none"},

    {.path = "checkpoint",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "saved states to resume from"},
    {.path = "checkpoint.every_minutes",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     POSITIVE,
     .unit = "min",
     .help = "wall time between checkpoints; default: none are saved on the way"},

    {.path = "probes",
     .type = HS_OPTION_GROUP_LIST,
     .unit = "",
     .help = "points whose temperature is recorded"},
    {.path = "probes[].name",
     .type = HS_OPTION_STRING,
     .unit = "",
     .help = "name of its dataset in /probes, at most 255 bytes"},
    {.path = "probes[].at",
     .type = HS_OPTION_NUMBERS,
     ANY,
     .unit = "m",
     .help = "position; the nearest node is taken"},

    {.path = "exact",
     .type = HS_OPTION_GROUP,
     .unit = "",
     .help = "the exact solution, if known: the error is measured at every snapshot"},
    {.path = "exact.expression",
     .type = HS_OPTION_VALUE,
     ANY,
     .unit = "K",
     .help = "an expression of x, y, z, t"},
    {.path = "exact.max_error",
     .loose = true,
     .type = HS_OPTION_NUMBER,
     NOT_NEGATIVE,
     .unit = "K",
     .help = "largest error allowed at the end; above it the run fails its check (exit code 1)"},
    {.path = NULL},
};

const char *hs_option_type_name(enum hs_option_type type)
{
    static const char *const names[HS_OPTION_TYPES] = {
        [HS_OPTION_GROUP] = "group",
        [HS_OPTION_GROUP_LIST] = "list of groups",
        [HS_OPTION_STRING] = "string",
        [HS_OPTION_CHOICE] = "string",
        [HS_OPTION_FLAG] = "true or false",
        [HS_OPTION_COUNT] = "integer",
        [HS_OPTION_NUMBER] = "number",
        [HS_OPTION_VALUE] = "number or expression",
        [HS_OPTION_COUNTS] = "integers",
        [HS_OPTION_NUMBERS] = "numbers",
        [HS_OPTION_NUMBER_OR_AUTO] = "number or \"auto\"",
    };
    return names[type];
}

static bool is_numeric(enum hs_option_type type)
{
    return type >= HS_OPTION_COUNT;
}

void hs_option_range(const struct hs_option *option, char *out, size_t size)
{
    if (option->choices)
        snprintf(out, size, "%s", option->choices);
    else if (!is_numeric(option->type) || (isinf(option->lowest) && isinf(option->highest)))
        snprintf(out, size, "%s", "");
    else if (isinf(option->highest) || option->highest == MOST_COUNT)
        snprintf(out, size, "%s %g", option->above ? ">" : ">=", option->lowest);
    else if (option->above)
        snprintf(out, size, "> %g, <= %.10g", option->lowest, option->highest);
    else
        snprintf(out, size, "%g to %.10g", option->lowest, option->highest);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static const char *const faces[] = {"all",   "x_min", "x_max", "y_min",
                                    "y_max", "z_min", "z_max", NULL};
enum { LARGEST_COEFFICIENT = 18 };

/* Length of the face's name at the beginning of `path`, 0 if there is none. */
static size_t face_length(const char *path)
{
    for (int i = 0; faces[i]; i++) {
        const size_t n = strlen(faces[i]);
        if (strncmp(path, faces[i], n) == 0 && (path[n] == '\0' || path[n] == '.'))
            return n;
    }
    return 0;
}

static size_t index_length(const char *path)
{
    if (*path != '[')
        return 0;
    const size_t digits = strspn(path + 1, "0123456789");
    return digits && path[1 + digits] == ']' ? digits + 2 : 0;
}

/* "c0" .. "c18", nothing behind it */
static size_t coefficient_length(const char *path)
{
    if (*path != 'c' || !isdigit((unsigned char)path[1]))
        return 0;
    const size_t digits = strspn(path + 1, "0123456789");
    const int n = digits == 1 ? path[1] - '0' : 10 * (path[1] - '0') + path[2] - '0';
    const bool plain = digits == 1 || (digits == 2 && path[1] != '0');
    return plain && n <= LARGEST_COEFFICIENT && path[1 + digits] == '\0' ? digits + 1 : 0;
}

/* The parts of a pattern that stand for something else. */
static const struct {
    const char *text;
    size_t (*length)(const char *path);
} variables[] = {{"FACE", face_length}, {"[]", index_length}, {"cN", coefficient_length}};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

const char *hs_option_match(const char *pattern, const char *path)
{
    while (*pattern) {
        size_t taken = 0;
        for (int v = 0; v < VARIABLES && !taken; v++) {
            const size_t n = strlen(variables[v].text);
            if (strncmp(pattern, variables[v].text, n) != 0)
                continue;
            taken = variables[v].length(path);
            if (!taken)
                return NULL;
            pattern += n;
            path += taken;
        }
        if (!taken && *pattern++ != *path++)
            return NULL;
    }
    return path;
}

const struct hs_option *hs_option_find(const char *path)
{
    for (const struct hs_option *option = hs_options; option->path; option++) {
        const char *rest = hs_option_match(option->path, path);
        if (!rest)
            continue;
        const bool list = option->type == HS_OPTION_COUNTS || option->type == HS_OPTION_NUMBERS ||
                          option->type == HS_OPTION_GROUP_LIST;
        if (*rest == '\0' || (list && index_length(rest) == strlen(rest)))
            return option;
    }
    return NULL;
}

/* ---- the nearest ----------------------------------------------------------------------------- */

enum { LONGEST = 80 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Optimal string alignment: Levenshtein's distance with swaps of neighbours. Damerau, CACM 7
 * (1964). */
size_t hs_edit_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return na > nb ? na : nb;
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[nb];
}

/* Further apart than this, a suggestion would puzzle more than help. */
static size_t tolerance(const char *word)
{
    const size_t third = strlen(word) / 3;
    return third < 1 ? 1 : third > 4 ? 4 : third;
}

const char *hs_nearest_word(const char *word, const char *choices)
{
    static char nearest[LONGEST + 1];
    size_t best = tolerance(word) + 1;
    for (const char *p = choices; *p;) {
        const size_t n = strcspn(p, "|");
        char candidate[LONGEST + 1];
        snprintf(candidate, sizeof candidate, "%.*s", (int)n, p);
        const size_t distance = hs_edit_distance(word, candidate);
        if (distance < best) {
            best = distance;
            memcpy(nearest, candidate, sizeof nearest);
        }
        p += n + (p[n] == '|');
    }
    return best <= tolerance(word) ? nearest : NULL;
}

static const char *last_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Whether one is the other with more letters to its last name. */
static bool is_beginning(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;
    const size_t last = strlen(last_name(na < nb ? a : b));
    return last >= 3 && strncmp(a, b, n) == 0 && !strpbrk(a + n, ".[") && !strpbrk(b + n, ".[");
}

struct search {
    char path[LONGEST + 1]; /* without the digits of indices */
    size_t best;            /* in half letters */
    char nearest[LONGEST + 1];
};

static void consider(struct search *search, const char *candidate)
{
    size_t distance = 2 * hs_edit_distance(search->path, candidate);
    /* the right name in the wrong group, or cut short or drawn out: between one letter and two */
    if ((strcmp(last_name(search->path), last_name(candidate)) == 0 ||
         is_beginning(search->path, candidate)) &&
        distance > 3)
        distance = 3;
    if (distance < search->best) {
        search->best = distance;
        snprintf(search->nearest, sizeof search->nearest, "%s", candidate);
    }
}

/* Puts `text` in the place of `variable`. */
static void consider_with(struct search *search, const char *pattern, const char *variable,
                          const char *text)
{
    const char *at = strstr(pattern, variable);
    char candidate[LONGEST + 1];
    snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)(at - pattern), pattern, text,
             at + strlen(variable));
    consider(search, candidate);
}

static void consider_option(struct search *search, const char *pattern)
{
    if (strstr(pattern, "FACE"))
        for (int i = 0; faces[i]; i++)
            consider_with(search, pattern, "FACE", faces[i]);
    else if (strstr(pattern, "cN"))
        for (int i = 0; i <= LARGEST_COEFFICIENT; i++) {
            char name[16];
            snprintf(name, sizeof name, "c%d", i);
            consider_with(search, pattern, "cN", name);
        }
    else
        consider(search, pattern);
}

const char *hs_option_nearest(const char *path)
{
    static struct search search;
    search = (struct search){.best = 0};
    size_t n = 0;
    for (const char *p = path; *p && n < LONGEST; p++)
        if (!(n > 0 && search.path[n - 1] == '[' && isdigit((unsigned char)*p)))
            search.path[n++] = *p;
    const size_t allowed = 2 * tolerance(last_name(search.path)) + 2;
    search.best = allowed + 1;
    for (const struct hs_option *option = hs_options; option->path; option++)
        consider_option(&search, option->path);
    return search.best <= allowed ? search.nearest : NULL;
}
