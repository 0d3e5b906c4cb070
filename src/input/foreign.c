#include "input/foreign.h"

#include "core/boundary.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* ---- keys ------------------------------------------------------------------------------------ */

#define BY_MATERIALS                                                                               \
    "a material is the same everywhere; several are given as materials = ( { name; ... } ) and "   \
    "where they are as body = ( { material; shape; ... } )"
#define MEASURED                                                                                   \
    "a conductivity that differs from node to node is read by measured = { conductivity = { "      \
    "file; dataset; }; capacity = { file; dataset; }; }; one that depends on temperature is not "  \
    "supported yet"
#define LATENT "latent heat is not supported yet, nor are properties that depend on temperature"
#define OF_WALL                                                                                    \
    "a wall has a flux in W/m^2, its power over its area, negative where it heats the body"
#define NO_FILE "a material's is the same all over it; source.file has numbers for each node"

/* The keys `names` of a group, and all inside them. `meant` is a key or, without a dot, another
 * last name in the same group. If `said` explains everything, `meant` is a whole key that must not
 * be reported as missing, or ".h" for one in the same group. */
static const struct {
    const char *group, *names, *meant, *said;
} keys[] = {
    /* what is written differently or is not available yet */
    {"", "bodies", "body", NULL},
    {"", "contact", "contacts", NULL},
    {"material.", "regions", "material", BY_MATERIALS},
    {"material.", "name", NULL, BY_MATERIALS},
    {"material.", "file|dataset|expression", "material", MEASURED},
    {"boundary.FACE.", "emissivity", NULL,
     "radiation is not supported yet; near a temperature T it is robin with h = "
     "4*emissivity*5.67e-8*"
     "T^3 (T in K)"},
    {"boundary.FACE.", "power", ".flux", OF_WALL},
    {"boundary.FACE.patches[].", "power", ".flux", OF_WALL},
    {"material.", "emissivity", NULL, "radiation is not supported yet"},
    {"materials[].", "emissivity", NULL, "radiation is not supported yet"},
    {"material.", "latent_heat", NULL, LATENT},
    {"materials[].", "latent_heat", NULL, LATENT},
    {"materials[].", "source_file", NULL, NO_FILE},
    {"materials[].", "power|heat", NULL,
     "a material's heat is a power density: source in W/m^3, the power over its volume, or by a "
     "source_table"},
    {"materials[].", "thickness", NULL, "where a material is, and how thick, is given by body"},
    {"contacts[].", "h|conductance", ".resistance",
     "a contact has a resistance in m^2 K/W, which is 1 over the conductance"},
    {"contacts[].", "thickness|conductivity", ".resistance",
     "a contact has a resistance in m^2 K/W, which is a layer's thickness over its conductivity"},
    {"source.", "table|source_table", "source",
     "heat by a table is a material's: materials = ( { ...; source_table } )"},
    {"output.", "times", NULL,
     "outputs are an equal interval apart; for decades of time make a run of each, with its own "
     "time.end and output.interval"},
    {"solver.", "method", "time.method", NULL},

    /* keys with another name here */
    {"material.", "k|lambda|thermal_conductivity", "conductivity", NULL},
    {"material.", "rho", "density", NULL},
    {"material.", "c|cp|c_p|heat_capacity", "specific_heat", NULL},
    {"material.", "alpha|thermal_diffusivity", "diffusivity", NULL},
    {"materials[].", "k|lambda|thermal_conductivity", "conductivity", NULL},
    {"materials[].", "rho", "density", NULL},
    {"materials[].", "c|cp|c_p|heat_capacity", "specific_heat", NULL},
    {"materials[].", "alpha|thermal_diffusivity", "diffusivity", NULL},
    {"", "boundaries|boundary_conditions|bc", "boundary", NULL},
    {"boundary.", "left|right|bottom|top|front|back", NULL,
     "faces are called x_min, x_max and the like, by axis and end"},
    {"boundary.FACE.", "kind", "type", NULL},
    {"boundary.FACE.", "temperature|T", NULL,
     "the temperature of a dirichlet wall is value, that of robin's surroundings ambient"},
    {"initial.", "temperature|T|T0", "value", NULL},
    {"exact.", "value|temperature|T|solution", "expression", NULL},
    {"", "initial_condition", "initial", NULL},
    {"source.", "q", "value", NULL},
    {"source.", "power", NULL,
     "a source is a power density: value in W/m^3, the power over the volume that it is in"},
    {"", "sources", "source", NULL},
    {"grid.", "n|nx|shape", "points", NULL},
    {"grid.", "size", NULL, "points counts the nodes along each axis, lower and upper are in m"},
    {"grid.", "length", "upper", NULL},
    {"grid.", "origin", "lower", NULL},
    {"grid.", "dx", "spacing", NULL},
    {"time.", "dt|timestep", "step", NULL},
    {"time.", "t_end|duration", "end", NULL},
    {"time.", "steps|iterations", "sweeps", NULL},
    {"solver.", "dt", "time.step", NULL},
    {"steady.", "tol", "tolerance", NULL},
    {"output.", "name|filename|path", "file", NULL},
    {"output.", "dt", "interval", NULL},
};

/* "material.rho" with the name "density" is "material.density". */
static const char *named(const char *path, const char *name)
{
    static char key[200];
    const char *dot = strchr(name, '.') ? NULL : strrchr(path, '.');
    snprintf(key, sizeof key, "%.*s%s", dot ? (int)(dot + 1 - path) : 0, path, name);
    return key;
}

/* The path is a key in a face's group, or inside it. */
static bool foreign_key_of_face(const char *path, struct hs_foreign *out)
{
    const char *rest = hs_option_match("boundary.FACE.", path);
    char name[80];
    snprintf(name, sizeof name, "%.*s", rest ? (int)strcspn(rest, ".[") : 0, rest ? rest : "");
    const struct hs_boundary_key *key = hs_boundary_key_meant(name);
    if (key)
        *out = (struct hs_foreign){named(path, key->name), NULL};
    return key != NULL;
}

bool hs_foreign_key(const char *path, struct hs_foreign *out)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *name = hs_option_match(keys[i].group, path);
        if (!name || !hs_list_match(keys[i].names, name))
            continue;
        const char *meant = keys[i].meant;
        const bool beside = meant && meant[0] == '.';
        *out = (struct hs_foreign){
            meant && (beside || !keys[i].said) ? named(path, meant + beside) : meant, keys[i].said};
        return true;
    }
    return foreign_key_of_face(path, out);
}

/* ---- values ---------------------------------------------------------------------------------- */

#define TEXT (1u << HS_SETTING_STRING)
#define LIST (1u << HS_SETTING_LIST)
#define NUMBER (1u << HS_SETTING_NUMBER)

static const struct {
    const char *path;
    unsigned kinds;
    const char *said;
} values[] = {
    {"material", LIST, BY_MATERIALS},
    {"material.conductivity", TEXT, MEASURED},
    {"material.conductivity", LIST,
     "a material that conducts differently along the axes is one of materials, with a body"},
    {"material.density", TEXT | LIST, MEASURED},
    {"materials[].conductivity", TEXT, MEASURED},
    {"material.specific_heat", TEXT | LIST, MEASURED},
    {"material.diffusivity", TEXT | LIST, MEASURED},

    /* what belongs into a group */
    {"grid", NUMBER | LIST, "give { points = [129, 129]; upper = [0.1, 0.1]; }"},
    {"material", NUMBER | TEXT,
     "give { conductivity = 60.5; density = 7854.0; specific_heat = 434.0; }, or "
     "{ diffusivity = 1e-5; }"},
    {"stencil", NUMBER, "give { radius = 2; }"},
    {"initial", NUMBER | TEXT | LIST,
     "give { value = 293.15; }, { expression = \"293.15 + x\"; } or "
     "{ file = \"start.npy\"; }"},
    {"source", NUMBER | TEXT | LIST,
     "give { value = 1e6; }, { expression = \"1e6*x\"; } or "
     "{ file = \"source.npy\"; }"},
    {"exact", NUMBER | TEXT, "give { expression = \"293.15 + x\"; }"},
    {"boundary", NUMBER | TEXT, "give { all = { type = \"dirichlet\"; value = 293.15; }; }"},
    {"boundary.FACE", NUMBER, "give { type = \"dirichlet\"; value = 293.15; }"},
    {"boundary.FACE", TEXT, "give { type = \"reflective\"; }"},
    {"time", NUMBER | TEXT, "give { end = 3600.0; }"},
    {"steady", NUMBER | TEXT, "give { tolerance = 1e-9; method = \"auto\"; }"},
    {"output", NUMBER | TEXT, "give { file = \"run.h5\"; interval = 60.0; }"},
    {"checkpoint", NUMBER | TEXT, "give { every_minutes = 10.0; }"},
    {"solver", NUMBER | TEXT, "give { backend = \"cpu\"; threads = 2; }"},
};

const char *hs_foreign_value(const char *path, enum hs_setting_kind kind)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const char *rest = hs_option_match(values[i].path, path);
        if (rest && !*rest && values[i].kinds & 1u << kind)
            return values[i].said;
    }
    return NULL;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* `write` is the choice to make, or an explanation if there is none. */
static const struct {
    const char *option, *words, *write;
} words[] = {
    {"precision", "single|float32|fp32", "\"float\""},
    {"precision", "float64|fp64", "\"double\""},
    {"initial.regions[].shape", "disc|disk|circle", "\"cylinder\", which is a disc in 2D"},
    {"initial.regions[].shape", "ball", "\"sphere\""},
    {"initial.regions[].shape", "cube|rectangle", "\"box\""},
    {"body[].shape", "disc|disk|circle", "\"cylinder\", which is a disc in 2D"},
    {"body[].shape", "ball", "\"sphere\""},
    {"body[].shape", "cube|rectangle", "\"box\""},
    {"boundary.FACE.type", "radiation",
     "\"robin\" with h = 4*emissivity*5.67e-8*T^3 (T in K) near a temperature T; radiation itself "
     "is not supported yet"},
};

/* "robin" with h and ambient: convection to the ambient temperature */
static bool write_kind(const char *choices, const char *word, char *out, size_t size)
{
    const struct hs_boundary_kind *kind = hs_boundary_meant(word);
    char all[100], any[100];
    if (!kind || hs_list_match(choices, kind->name) != strlen(kind->name))
        return false;
    hs_boundary_list_keys(kind, false, all, sizeof all);
    hs_boundary_list_keys(kind, true, any, sizeof any);
    snprintf(out, size, "\"%s\"%s%s%s%s: %s", kind->name, all[0] || any[0] ? " with " : "", all,
             all[0] && any[0] ? " and " : "", any, kind->summary);
    return true;
}

bool hs_foreign_choice(const struct hs_option *option, const char *word, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].option, option->path) == 0 && hs_text_is_among(word, words[i].words)) {
            snprintf(out, size, "%s", words[i].write);
            return true;
        }
    return (strcmp(option->path, "boundary.FACE.type") == 0 ||
            strcmp(option->path, "boundary.FACE.patches[].type") == 0) &&
           write_kind(option->choices, word, out, size);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static const struct {
    const char *found, *said;
} names[] =
    {
        {"E", "Euler's number is e, its powers exp(...)"},
        {"Pi", "write pi"},
        {"PI", "write pi"},
        {"X", "write x"},
        {"Y", "write y"},
        {"Z", "write z"},
        {"T", "the time is t; what a temperature depends on can be x, y, z and t, not itself"},
        {"r", "write sqrt(x^2+y^2)"},
        {"np", "write sin(x), not np.sin(x)"},
        {"numpy", "write sin(x), not numpy.sin(x)"},
        {"math", "write sin(x), not math.sin(x)"},
        {"arcsin", "write asin"},
        {"arccos", "write acos"},
        {"arctan", "write atan"},
        {"arctan2", "write atan2"},
        {"fabs", "write abs"},
        {"lg", "write log10"},
        {"power", "write x^2 or pow(x, 2)"},
        {"mod", "write fmod"},
        {"round", "write rint"},
        {"sqr", "write x^2"},
        {"log1p", "write ln(1 + x)"},
        {"expm1", "write exp(x) - 1"},
        {"hypot", "write sqrt(x^2+y^2)"},
        {"time", "write t"},
        {"step", "write x > 0 ? 1 : 0"},
        {"heaviside", "write x > 0 ? 1 : 0"},
        {"where", "write x > 0 ? 1 : 0"},
        {"if", "write x > 0 ? 1 : 0"},
        {"and", "write &&"},
        {"or", "write ||"},
        {"not", "write x == 0"},
},
  signs[] = {
      {"**", "write x^2 or x*x for a power"},
      {"\xc2\xb2", "write ^2"},
      {"\xc2\xb3", "write ^3"},
      {"\xe2\x88\x92", "a sign of its own; write the plain -"}, /* U+2212, minus */
      {"\xe2\x80\x93", "a dash; write the plain -"},            /* U+2013 */
      {"\xc2\xb7", "write * to multiply"},                      /* middle dot */
      {"\xe2\x8b\x85", "write * to multiply"},                  /* U+22C5, dot operator */
      {"\xc3\x97", "write * to multiply"},                      /* multiplication sign */
      {"\xc3\xb7", "write / to divide"},                        /* division sign */
      {"\xcf\x80", "write pi"},
      {"\xc2\xa0", "a no-break space; write a plain one"},
      {"%", "write fmod(a, b) for the remainder"},
      {"&", "write && for \"and\""},
      {"|", "write || for \"or\", abs(x) for an absolute value"},
      {"!", "write != for \"not equal\", x == 0 for \"not\""},
      {"[", "write parentheses ( )"},
      {"{", "write parentheses ( )"},
      {",", "write the decimal point as \".\""},
      {";", "write one expression, without \";\""},
      {"=", "\"=\" assigns; write == to compare"},
      {"(", "an operator is missing; write * to multiply"},
};

const char *hs_foreign_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].found, name) == 0)
            return names[i].said;
    return NULL;
}

const char *hs_foreign_sign(const char *at)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strncmp(signs[i].found, at, strlen(signs[i].found)) == 0)
            return signs[i].said;
    return NULL;
}
