#include "input/options.h"

#include "core/memory.h"
#include "core/stencil.h"
#include "input/boundary_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE .choices = NULL
#define CHOICES(words) .choices = (words)
#define RANGE(from, to) .lowest = (from), .highest = (to)
#define ANY RANGE(-INFINITY, INFINITY)
#define NOT_NEGATIVE RANGE(0.0, INFINITY)
#define POSITIVE NOT_NEGATIVE, .above = true
#define FRACTION RANGE(0.0, 1.0), .above = true

/* FIXED: in a run's fingerprint. LOOSE: a resumed run may change it. */
#define FIXED .loose = false
#define LOOSE .loose = true

#define OPTION(a_path, a_type, a_range, a_default, a_unit, kept, a_help)                           \
    {                                                                                              \
        .path = (a_path), .type = HS_OPTION_##a_type, a_range, .fallback = (a_default),            \
        .unit = (a_unit), kept, .help = (a_help)                                                   \
    }

/* Rows that several groups share; a row "GROUP.FIELD" or "GROUP.SHAPE" below stands for them. */
static const struct hs_option of_fields[] = {
    OPTION("file", STRING, NONE, NULL, "", FIXED,
           "HDF5 or .npy file to read it from; looked for here, then beside the config"),
    OPTION("dataset", STRING, NONE, NULL, "", LOOSE,
           "HDF5: its dataset, [z][y][x] or [step][z][y][x]; a .npy file is one array of "
           "that shape, and has none"),
    OPTION("step", COUNT, RANGE(-1, HS_MOST_COUNT), "-1", "", LOOSE,
           "which step of the dataset, from 0; -1 is the last"),
};

static const struct hs_option of_shapes[] = {
    OPTION("shape", CHOICE, CHOICES("box|sphere|cylinder|half-space"), NULL, "", FIXED,
           "box: lower, upper; sphere: centre, radius; cylinder: centre, radius, axis, from, to; "
           "half-space: point, normal"),
    OPTION("lower", NUMBERS, ANY, NULL, "m", FIXED, "corner of a box"),
    OPTION("upper", NUMBERS, ANY, NULL, "m", FIXED, "opposite corner of a box"),
    OPTION("centre", NUMBERS, ANY, NULL, "m", FIXED,
           "centre of a sphere or cylinder; along a cylinder's axis any number will do"),
    OPTION("radius", NUMBER, POSITIVE, NULL, "m", FIXED, "radius of a sphere or cylinder"),
    OPTION("axis", CHOICE, CHOICES("x|y|z"), "z", "", FIXED, "axis that a cylinder is parallel to"),
    OPTION("from", NUMBER, ANY, NULL, "m", FIXED,
           "where a cylinder begins along its axis; default: at the edge of the grid"),
    OPTION("to", NUMBER, ANY, NULL, "m", FIXED,
           "where a cylinder ends along its axis; default: at the edge of the grid"),
    OPTION("point", NUMBERS, ANY, NULL, "m", FIXED, "on the plane that ends a half-space"),
    OPTION("normal", NUMBERS, ANY, NULL, "", FIXED,
           "direction that points out of a half-space, of any length"),
};
enum {
    FIELD_ROWS = sizeof of_fields / sizeof of_fields[0],
    SHAPE_ROWS = sizeof of_shapes / sizeof of_shapes[0]
};

/* A row "GROUP.WALL" stands for those of input/boundary_options.h. */
static const struct hs_option written[] = {
    OPTION("title", STRING, NONE, "", "", LOOSE, "name of the case, for the file and the pictures"),
    OPTION("temperature_unit", STRING, NONE, "K", "", LOOSE,
           "label of the temperatures: K, degC, or m, V ...; nothing is converted"),
    OPTION("precision", CHOICE, CHOICES("double|float"), "double", "", FIXED,
           "of the temperatures, in memory and in the file"),

    OPTION("grid", GROUP, NONE, NULL, "", FIXED, "where the nodes are"),
    OPTION("grid.points", COUNTS, RANGE(1, 2147483647.0), NULL, "", FIXED,
           "nodes along each axis, including boundary nodes: 1, 2 or 3 numbers"),
    OPTION("grid.lower", NUMBERS, ANY, "0", "m", FIXED, "coordinates of the first node"),
    OPTION("grid.upper", NUMBERS, ANY, NULL, "m", FIXED,
           "coordinates of the last node; along a periodic axis, where the first node comes again"),
    OPTION("grid.spacing", NUMBERS, POSITIVE, "1", "m", FIXED,
           "distance between nodes, instead of upper; a lone number is for every axis"),
    OPTION("grid.AXIS", COORDINATES, ANY, NULL, "m", FIXED,
           "an axis by its coordinates, which increase, at most 1000000, or by segments; points, "
           "lower, upper and spacing are then for the other axes"),
    OPTION("grid.AXIS.from", NUMBER, ANY, "0", "m", FIXED, "coordinate of the first node"),
    OPTION("grid.AXIS.segments", GROUP_LIST, NONE, NULL, "", FIXED,
           "parts of the axis, each from where the one before ends"),
    OPTION("grid.AXIS.segments[].to", NUMBER, ANY, NULL, "m", FIXED, "where the segment ends"),
    OPTION("grid.AXIS.segments[].cells", COUNT, RANGE(1, 2147483647.0), NULL, "", FIXED,
           "how many cells it has"),
    OPTION("grid.AXIS.segments[].ratio", NUMBER, POSITIVE, "1", "", FIXED,
           "size of each cell over that of the one before; 1: all equal"),

    OPTION("material", GROUP, NONE, NULL, "", FIXED,
           "conductivity, density and specific_heat; or diffusivity alone"),
    OPTION("material.conductivity", NUMBER, POSITIVE, NULL, "W/(m K)", FIXED,
           "thermal conductivity"),
    OPTION("material.density", NUMBER, POSITIVE, NULL, "kg/m^3", FIXED, "mass density"),
    OPTION("material.specific_heat", NUMBER, POSITIVE, NULL, "J/(kg K)", FIXED,
           "specific heat capacity"),
    OPTION("material.diffusivity", NUMBER, POSITIVE, NULL, "m^2/s", FIXED,
           "conductivity / (density * specific_heat), instead of the three"),

    OPTION("materials", GROUP_LIST, NONE, NULL, "", FIXED,
           "what the body consists of; each as material, with a name"),
    OPTION("materials[].name", STRING, NONE, NULL, "", FIXED, "its name in body and contacts"),
    OPTION("materials[].conductivity", NUMBERS, POSITIVE, NULL, "W/(m K)", FIXED,
           "thermal conductivity; a list has one along each axis"),
    OPTION("materials[].density", NUMBER, POSITIVE, NULL, "kg/m^3", FIXED, "mass density"),
    OPTION("materials[].specific_heat", NUMBER, POSITIVE, NULL, "J/(kg K)", FIXED,
           "specific heat capacity"),
    OPTION("materials[].diffusivity", NUMBER, POSITIVE, NULL, "m^2/s", FIXED,
           "instead of the three, then for all materials; they have the same heat capacity"),
    OPTION("materials[].perfusion", GROUP, NONE, NULL, "", FIXED,
           "a sink rate * (T - reference) in the material: blood, or a fin's sides"),
    OPTION("materials[].perfusion.rate", NUMBER, NOT_NEGATIVE, NULL, "W/(m^3 K)", FIXED,
           "heat that leaves, for each kelvin above the reference"),
    OPTION("materials[].perfusion.reference", VALUE, ANY, NULL, "K", FIXED,
           "a number, or an expression of t"),
    OPTION("materials[].perfusion.reference_table", STRING, NONE, NULL, "", FIXED, HS_TABLE_HELP),
    OPTION("materials[].source", VALUE, ANY, NULL, "W/m^3", FIXED,
           "heat source in the material: a number, or an expression of t"),
    OPTION("materials[].source_table", STRING, NONE, NULL, "", FIXED, HS_TABLE_HELP),

    OPTION("body", GROUP_LIST, NONE, NULL, "", FIXED,
           "where the materials are: shapes, later ones over earlier ones; or one label field"),
    OPTION("body[].material", STRING, NONE, NULL, "", FIXED,
           "name of the material; without a shape it is everywhere"),
    {.path = "body[].SHAPE"},
    {.path = "body[].FIELD", .fallback = "label"}, /* the dataset */
    OPTION("body[].names", STRINGS, NONE, NULL, "", FIXED,
           "materials of the labels in the file, which has one for each node, or for each cell "
           "between nodes"),
    OPTION("body[].labels", COUNTS, RANGE(0, 65535), NULL, "", FIXED,
           "the labels that names stand for; default: 0, 1, 2 ..."),

    OPTION("measured", GROUP, NONE, NULL, "", FIXED,
           "conductivity and heat capacity at each node, instead of materials"),
    OPTION("measured.conductivity", GROUP, NONE, NULL, "", FIXED, "field in W/(m K)"),
    {.path = "measured.conductivity.FIELD", .fallback = "conductivity"}, /* the dataset */
    OPTION("measured.capacity", GROUP, NONE, NULL, "", FIXED,
           "field of density * specific heat in J/(m^3 K)"),
    {.path = "measured.capacity.FIELD", .fallback = "capacity"}, /* the dataset */

    OPTION("contacts", GROUP_LIST, NONE, NULL, "", FIXED, "resistances where two materials touch"),
    OPTION("contacts[].between", STRINGS, NONE, NULL, "", FIXED, "names of the two materials"),
    OPTION("contacts[].resistance", NUMBER, NOT_NEGATIVE, NULL, "m^2 K/W", FIXED,
           "temperature jump over heat flux"),

    OPTION("stencil", GROUP, NONE, NULL, "", FIXED,
           "the stencil: its radius, or all its coefficients"),
    OPTION("stencil.radius", COUNT, RANGE(1, 3), "1", "", FIXED,
           "neighbours on each side; central differences of order 2, 4, 6"),
    OPTION("stencil.cN", NUMBER, ANY, NULL, "", FIXED,
           "raw coefficients, all of them: c0 centre, then x-1, x+1 (x-2, x+2 ...), y, z"),

    OPTION("initial", GROUP, NONE, NULL, "", FIXED,
           "temperature at t = 0: a value, an expression or a dataset, and regions over it"),
    OPTION("initial.value", VALUE, ANY, NULL, "K", FIXED,
           "one value everywhere, or an expression of x, y, z, t"),
    OPTION("initial.expression", VALUE, ANY, NULL, "K", FIXED, "an expression of x, y, z, t"),
    {.path = "initial.FIELD", .fallback = "temperature"}, /* the dataset */
    OPTION("initial.regions", GROUP_LIST, NONE, NULL, "", FIXED,
           "parts with another temperature; later ones over earlier ones"),
    {.path = "initial.regions[].SHAPE"},
    OPTION("initial.regions[].value", VALUE, ANY, NULL, "K", FIXED,
           "temperature inside the shape and on its surface"),

    OPTION(
        "source", GROUP, NONE, NULL, "", FIXED,
        "heat source: W/m^3 with a conductivity, K/s with a diffusivity alone, K per sweep if raw"),
    OPTION("source.value", VALUE, ANY, NULL, "W/m^3", FIXED,
           "one value everywhere, or an expression of x, y, z, t"),
    OPTION("source.expression", VALUE, ANY, NULL, "W/m^3", FIXED, "an expression of x, y, z, t"),
    {.path = "source.FIELD", .fallback = "source"}, /* the dataset */

    OPTION("boundary", GROUP, NONE, NULL, "", FIXED, "conditions at the faces, at all or at each"),
    OPTION("boundary.FACE", GROUP, NONE, NULL, "", FIXED,
           "one face, or all; a face without a type of its own takes that of all"),
    {.path = "boundary.FACE.WALL"},
    OPTION("boundary.FACE.patches", GROUP_LIST, NONE, NULL, "", FIXED,
           "parts of the face with walls of their own, later ones over earlier ones"),
    OPTION("boundary.FACE.patches[].lower", NUMBERS, ANY, NULL, "m", FIXED,
           "corner, along the axes of the face in the order x, y, z"),
    OPTION("boundary.FACE.patches[].upper", NUMBERS, ANY, NULL, "m", FIXED, "opposite corner"),
    OPTION("boundary.FACE.patches[].label", COUNT, RANGE(0, UINT16_MAX), NULL, "", FIXED,
           "instead of corners: the nodes that have this label"),
    OPTION("boundary.FACE.labels_file", STRING, NONE, NULL, "", FIXED,
           "HDF5 or .npy file with a label for each node of the face"),
    OPTION("boundary.FACE.labels_dataset", STRING, NONE, "label", "", LOOSE, "HDF5: its dataset"),
    {.path = "boundary.FACE.patches[].WALL"},

    OPTION("time", GROUP, NONE, NULL, "", FIXED, "end and step of the run"),
    OPTION("time.end", NUMBER, POSITIVE, NULL, "s", LOOSE, "when the run ends; or give sweeps"),
    OPTION("time.sweeps", COUNT, RANGE(0, HS_MOST_COUNT), NULL, "", LOOSE,
           "number of sweeps (with steady, at most); or give end"),
    OPTION("time.step", NUMBER_OR_AUTO, POSITIVE, "auto", "s", LOOSE,
           "time step; auto: safety times the stability limit; raw stencils: 1"),
    OPTION("time.tolerance", NUMBER, POSITIVE, NULL, "K", LOOSE,
           "with \"implicit\" and \"rkl2\": cut steps so that the error in time of each is at most "
           "this"),
    OPTION("time.method", STRING, NONE, "euler", "", FIXED,
           "how the solution advances in time: a method that heatsolve options lists"),
    OPTION("time.safety", NUMBER, FRACTION, "0.9", "", LOOSE,
           "fraction of the stability limit that an automatic step takes"),

    OPTION("steady", GROUP, NONE, NULL, "", FIXED, "stop at the steady state"),
    OPTION("steady.tolerance", NUMBER, POSITIVE, NULL, "K", LOOSE,
           "stop when the largest change in one sweep is below this; heatsolve check says how far "
           "from the steady state that is"),
    OPTION("steady.method", STRING, NONE, "sweeps", "", FIXED,
           "how the steady state is found: sweeps, a method that heatsolve options lists, or auto"),
    OPTION("steady.check_every", COUNT, RANGE(1, HS_MOST_COUNT), "100", "sweeps", LOOSE,
           "sweeps between these checks"),

    OPTION("solver", GROUP, NONE, NULL, "", FIXED, "backend, kernel, device, threads and overlap"),
    OPTION("solver.backend", STRING, NONE, "auto", "", LOOSE,
           "cpu, cuda; auto takes a GPU where there is one"),
    OPTION("solver.kernel", STRING, NONE, "auto", "", LOOSE,
           "one that heatsolve kernels lists; auto: as tuned or tried, else by a heuristic"),
    OPTION("solver.device", COUNT, RANGE(0, 1023), "0", "", LOOSE, "which GPU, from 0"),
    OPTION("solver.threads", COUNT, RANGE(0, 4096), "0", "", LOOSE,
           "CPU threads; 0: as many as are available and worthwhile"),
    OPTION("solver.overlap", FLAG, NONE, "true", "", LOOSE,
           "several ranks exchange halos while they sweep, where the kernel can"),

    OPTION("output", GROUP, NONE, NULL, "", FIXED, "the output file and what it holds"),
    OPTION("output.file", STRING, NONE, NULL, "", LOOSE,
           "HDF5 file to write; default: the config's name with .h5, in the current folder"),
    OPTION("output.overwrite", FLAG, NONE, "false", "", LOOSE,
           "a new run may replace the file of an earlier one, as with --overwrite"),
    OPTION("output.interval", NUMBER, POSITIVE, NULL, "s", LOOSE,
           "time between snapshots; default: only the first and the last"),
    OPTION("output.every", COUNT, RANGE(1, HS_MOST_COUNT), NULL, "sweeps", LOOSE,
           "sweeps between snapshots, instead of interval"),
    OPTION("output.history_every", COUNT, RANGE(1, HS_MOST_COUNT), NULL, "sweeps", LOOSE,
           "sweeps between rows of history and probes; default: a row at each snapshot"),
    OPTION("output.compression", COUNT, RANGE(0, 9), "0", "", FIXED,
           "deflate level of the snapshots; 0: none"),

    OPTION("checkpoint", GROUP, NONE, NULL, "", FIXED, "saved states to resume from"),
    OPTION("checkpoint.every_minutes", NUMBER, POSITIVE, NULL, "min", LOOSE,
           "wall time between checkpoints; default: none are saved on the way"),

    OPTION("probes", GROUP_LIST, NONE, NULL, "", FIXED, "points whose temperature is recorded"),
    OPTION("probes[].name", STRING, NONE, NULL, "", FIXED,
           "name of its dataset in /probes, at most 255 bytes"),
    OPTION("probes[].at", NUMBERS, ANY, NULL, "m", FIXED, "position; the nearest node is taken"),

    OPTION("exact", GROUP, NONE, NULL, "", FIXED,
           "the exact solution, if known: the error is measured at every snapshot"),
    OPTION("exact.expression", VALUE, ANY, NULL, "K", FIXED, "an expression of x, y, z, t"),
    OPTION("exact.max_error", NUMBER, NOT_NEGATIVE, NULL, "K", LOOSE,
           "largest error allowed at the end; above it the run fails its check (exit code 1)"),
    {.path = NULL},
};

/* Adds a row, or the rows that it stands for, with its group prefixed to their names. */
static struct hs_option *add(struct hs_option *to, const struct hs_option *row)
{
    const char *dot = row->path ? strrchr(row->path, '.') : NULL, *last = dot ? dot + 1 : "";
    const bool field = strcmp(last, "FIELD") == 0, shape = strcmp(last, "SHAPE") == 0;
    if (strcmp(last, "WALL") == 0) {
        char *group = hs_format("%.*s", (int)(dot - row->path), row->path);
        to = hs_boundary_options(group, to);
        free(group);
    } else if (!field && !shape)
        *to++ = *row;
    for (int n = 0; n < (field ? FIELD_ROWS : shape ? SHAPE_ROWS : 0); n++, to++) {
        *to = field ? of_fields[n] : of_shapes[n];
        if (strcmp(to->path, "dataset") == 0)
            to->fallback = row->fallback;
        to->path = hs_format("%.*s.%s", (int)(dot - row->path), row->path, to->path);
    }
    return to;
}

const struct hs_option *hs_options(void)
{
    enum {
        ROWS = sizeof written / sizeof written[0],
        GROUPS = 8 /* groups with shapes or fields, at most */
    };
    static struct hs_option all[ROWS + 2 * HS_BOUNDARY_OPTIONS + GROUPS * SHAPE_ROWS];
    struct hs_option *to = all;
    if (all[0].path)
        return all;
    for (int row = 0; row < ROWS; row++)
        to = add(to, &written[row]);
    return all;
}

void hs_option_range(const struct hs_option *option, char *out, size_t size)
{
    if (option->choices)
        snprintf(out, size, "%s", option->choices);
    else if (option->type < HS_OPTION_COUNT || (isinf(option->lowest) && isinf(option->highest)))
        snprintf(out, size, "%s", "");
    else if (isinf(option->highest) || option->highest == HS_MOST_COUNT)
        snprintf(out, size, "%s %g", option->above ? ">" : ">=", option->lowest);
    else if (option->above)
        snprintf(out, size, "> %g, <= %.10g", option->lowest, option->highest);
    else
        snprintf(out, size, "%g to %.10g", option->lowest, option->highest);
}

/* ---- lists of words -------------------------------------------------------------------------- */

bool hs_list_next(const char **list, char separator, char *word, size_t size)
{
    *list += strspn(*list, " ");
    if (!**list)
        return false;
    const char *end = strchrnul(*list, separator);
    snprintf(word, size, "%.*s", (int)(end - *list), *list);
    *list = end + (*end != '\0');
    return true;
}

size_t hs_list_match(const char *list, const char *text)
{
    char word[HS_LONGEST_WORD + 1];
    while (hs_list_next(&list, '|', word, sizeof word)) {
        const size_t n = strlen(word);
        if (strncmp(text, word, n) == 0 && strchr(".[", text[n])) /* or the end */
            return n;
    }
    return 0;
}

char *hs_list_said(const char *list)
{
    char word[HS_LONGEST_WORD + 1];
    char *said = hs_copy("");
    while (hs_list_next(&list, '|', word, sizeof word))
        said = hs_list_add(said, ", ", word);
    return said;
}

char *hs_list_add(char *list, const char *between, const char *more)
{
    char *longer = hs_format("%s%s%s", list, list[0] ? between : "", more);
    free(list);
    return longer;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The variable parts of a pattern and the names that they stand for; without names: any index. */
static const struct {
    const char *text, *names;
} variables[] = {
    {"FACE", "all|x_min|x_max|y_min|y_max|z_min|z_max"},
    {"AXIS", "x|y|z"},
    {"cN", "c0|c1|c2|c3|c4|c5|c6|c7|c8|c9|c10|c11|c12|c13|c14|c15|c16|c17|c18"},
    {"[]", NULL},
};
_Static_assert(HS_MAX_COEFFICIENTS == 19, "c0 to c18");
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static size_t index_length(const char *path)
{
    const size_t digits = *path == '[' ? strspn(path + 1, "0123456789") : 0;
    return digits && path[1 + digits] == ']' ? digits + 2 : 0;
}

const char *hs_option_match(const char *pattern, const char *path)
{
    while (*pattern) {
        size_t taken = 0;
        for (int v = 0; v < VARIABLES && !taken; v++) {
            const size_t n = strlen(variables[v].text);
            if (strncmp(pattern, variables[v].text, n) != 0)
                continue;
            taken =
                variables[v].names ? hs_list_match(variables[v].names, path) : index_length(path);
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

bool hs_option_concrete(const char *pattern, int n, char *out, size_t size)
{
    for (int v = 0; v < VARIABLES; v++) {
        const char *names = variables[v].names,
                   *at = names ? strstr(pattern, variables[v].text) : NULL;
        char name[8];
        if (!at)
            continue;
        for (int i = 0; i <= n; i++)
            if (!hs_list_next(&names, '|', name, sizeof name))
                return false;
        snprintf(out, size, "%.*s%s%s", (int)(at - pattern), pattern, name,
                 at + strlen(variables[v].text));
        return true;
    }
    snprintf(out, size, "%s", pattern);
    return n == 0;
}

const struct hs_option *hs_option_find(const char *path)
{
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        const char *rest = hs_option_match(option->path, path);
        if (!rest)
            continue;
        const bool list = option->type == HS_OPTION_COUNTS || option->type == HS_OPTION_NUMBERS ||
                          option->type == HS_OPTION_COORDINATES ||
                          option->type == HS_OPTION_STRINGS || option->type == HS_OPTION_GROUP_LIST;
        if (*rest == '\0' || (list && index_length(rest) == strlen(rest)))
            return option;
    }
    return NULL;
}

/* ---- the nearest ----------------------------------------------------------------------------- */

/* Optimal string alignment: Levenshtein's distance with swaps of neighbours. Damerau, CACM 7
 * (1964). */
size_t hs_edit_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > HS_LONGEST_WORD || nb > HS_LONGEST_WORD)
        return na > nb ? na : nb;
    size_t rows[3][HS_LONGEST_WORD + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            const size_t other = above[j] < row[j - 1] ? above[j] + 1 : row[j - 1] + 1;
            row[j] = change < other ? change : other;
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

/* In half letters. Beyond this distance a suggestion would confuse more than help. */
static size_t tolerance(const char *word)
{
    const size_t third = strlen(word) / 3;
    return 2 * (third < 1 ? 1 : third > 4 ? 4 : third);
}

struct search {
    char word[HS_LONGEST_WORD + 1];
    bool is_path;
    size_t best; /* in half letters */
    char nearest[HS_LONGEST_WORD + 1];
};

static const char *last_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Whether one path is the other with more letters at the end of its last name. */
static bool is_beginning(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;
    const size_t last = strlen(last_name(na < nb ? a : b));
    return last >= 3 && strncmp(a, b, n) == 0 && !strpbrk(a + n, ".[") && !strpbrk(b + n, ".[");
}

static void consider(struct search *search, const char *candidate)
{
    size_t distance = 2 * hs_edit_distance(search->word, candidate);
    /* the right name in the wrong group, or shortened or lengthened, counts as 1.5 letters */
    if (search->is_path && distance > 3 &&
        (strcmp(last_name(search->word), last_name(candidate)) == 0 ||
         is_beginning(search->word, candidate)))
        distance = 3;
    if (distance < search->best) {
        search->best = distance;
        snprintf(search->nearest, sizeof search->nearest, "%s", candidate);
    }
}

const char *hs_nearest_word(const char *word, const char *choices)
{
    static struct search search;
    char candidate[HS_LONGEST_WORD + 1];
    search = (struct search){.best = tolerance(word) + 1};
    snprintf(search.word, sizeof search.word, "%s", word);
    while (hs_list_next(&choices, '|', candidate, sizeof candidate))
        consider(&search, candidate);
    return search.nearest[0] ? search.nearest : NULL;
}

const char *hs_option_nearest(const char *path)
{
    static struct search search;
    search = (struct search){.is_path = true};
    size_t n = 0;
    for (const char *p = path; *p && n < HS_LONGEST_WORD; p++) /* without the digits of indices */
        if (!(n > 0 && search.word[n - 1] == '[' && isdigit((unsigned char)*p)))
            search.word[n++] = *p;
    search.best = tolerance(last_name(search.word)) + 3;
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        char candidate[HS_LONGEST_WORD + 1];
        for (int i = 0; hs_option_concrete(option->path, i, candidate, sizeof candidate); i++)
            consider(&search, candidate);
    }
    return search.nearest[0] ? search.nearest : NULL;
}
