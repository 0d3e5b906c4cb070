/*
 * Malformed input for the config reader and the expression compiler: they must answer with a status
 * and a message, or with a problem that is consistent. The texts are the same few thousand each
 * time. HEATSOLVE_FUZZ=1000000 tries that many, HEATSOLVE_FUZZ_SEED others. Best under `make
 * sanitize`.
 */
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "input/config.h"
#include "input/expression.h"
#include "input/options.h"
#include "input/templates.h"
#include "muparser.h"
#include "test.h"
#include "tools/mutate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static const char everything[] =
    "title = \"x\"; precision = \"float\"; grid = { points = (9, 0xB, 1e1); lower = [0.0, 1, -2];\n"
    "upper = [1.0, 2, 3]; }; // comment\nmaterial = { conductivity = 2; density = 3e0; \n"
    "specific_heat = .5; }; stencil = { radius = 2; };\ninitial = { expression = \"x>0 ? 1 : "
    "y^2\";\n"
    "regions = ( { shape = \"cylinder\"; axis = \"x\"; centre = [0, 1, 0]; radius = 1; from = 0;\n"
    "to = 1; value = \"t+1\"; }, { shape = \"box\"; lower = [0,1,0]; upper = [1,2,1]; value = 5; } "
    "); };\n"
    "source = { value = 1L; }; boundary = { all = { type = \"robin\"; h = 1; ambient = \"sin(t)\"; "
    "};\n"
    "y_min = { type = \"periodic\"; }; y_max : { type = \"periodic\" }; x_min = { type = "
    "\"neumann\";\n"
    "flux = 3; }; };\ntime = { sweeps = 100; step = 1e-3; safety = 0.5; }; /* more */\n"
    "steady = { tolerance = 1e-8; check_every = 7; };\nsolver = { backend = \"cpu\"; threads = 1; "
    "};\n"
    "output = { file = \"x.h5\"; every = 5; history_every = 2; compression = 3; };\n"
    "checkpoint = { every_minutes = 1; };\nprobes = ( { name = \"a\"; at = [0.5, 1.5, 0]; } );\n"
    "exact = { expression = \"exp(-t)\"; max_error = 1; };\n";

static const char *const config_words[] = {"{",
                                           "}",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           ";",
                                           "=",
                                           ":",
                                           ",",
                                           "\"",
                                           "1e400",
                                           ".",
                                           "-",
                                           "0x",
                                           "99999999999999999999",
                                           "1e-400",
                                           "3000000000",
                                           "@include \"a\"\n",
                                           "/*",
                                           "*/",
                                           "//",
                                           "#",
                                           "\\",
                                           "\n",
                                           "true",
                                           "nan",
                                           "points",
                                           "[1,2,3,4]",
                                           "{a={b=1;};}",
                                           "[]",
                                           "()",
                                           "{}",
                                           "\"x\" \"y\"",
                                           "1 2",
                                           "\"\"",
                                           "probes[0]",
                                           "c0 = 1;",
                                           "raw",
                                           "\"robin\"",
                                           "\"periodic\"",
                                           "value = 1;",
                                           "-1",
                                           "0",
                                           "1e5",
                                           "\xef\xbb\xbf",
                                           "\1",
                                           "\2",
                                           "18446744073709551616"};

static const char *const settings[] = {"time.end=1",
                                       "grid.points=[9,9]",
                                       "probes[1]={name=\"b\";}",
                                       "grid.points[0]=5",
                                       "initial.value=x+1",
                                       "stencil.c0=1",
                                       "boundary.all.type=clamp",
                                       "material={diffusivity=1;}"};

/* Checks what holds for every accepted problem. */
static void check_problem(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    assert_true(grid->dims >= 1 && grid->dims <= 3);
    assert_true(problem->radius >= 1 && problem->radius <= HS_MAX_RADIUS);
    for (int axis = 0; axis < HS_AXES; axis++) {
        assert_true(grid->points[axis] >= (axis < grid->dims ? 2 * problem->radius + 1 : 1));
        assert_true(isfinite(grid->lower[axis]) && grid->spacing[axis] > 0.0);
    }
    for (int face = 0; face < 2 * grid->dims; face++)
        assert_non_null(problem->face[face].type);
    assert_true(problem->raw || problem->material.diffusivity > 0.0);
    assert_non_null(problem->title);
    assert_non_null(problem->output.file);
    assert_non_null(problem->solver.backend);
    for (int i = 0; i < problem->probe_count; i++)
        for (int axis = 0; axis < grid->dims; axis++)
            assert_true(problem->probes[i].node[axis] >= 0 &&
                        problem->probes[i].node[axis] < grid->points[axis]);
    if (grid->points[HS_X] < 10000) {
        double row[10000];
        hs_problem_initial_row(problem, grid->points[HS_Y] - 1, 0, row);
        assert_true(isfinite(row[0]));
    }
}

void test_fuzz__a_config_is_read_or_refused_with_a_message(void **state)
{
    const char *texts[16] = {everything};
    int count = 1;
    for (const struct hs_template *template = hs_templates; template->name; template ++)
        texts[count++] = template->text;
    struct mutator m = {.state = (uint64_t)from_environment("HEATSOLVE_FUZZ_SEED", 1),
                        .texts = texts,
                        .text_count = count,
                        .words = config_words,
                        .word_count = sizeof config_words / sizeof config_words[0]};
    char path[] = "/tmp/heatsolve-fuzz-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    long accepted = 0;
    const long rounds = from_environment("HEATSOLVE_FUZZ", 3000);
    for (long n = 0; n < rounds; n++) {
        mutate_next(&m);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, m.text, m.length, 0), m.length);
        const char *set = settings[mutate_below(&m, sizeof settings / sizeof settings[0])];
        struct hs_problem problem;
        struct hs_error err = {0};
        const enum hs_status status = hs_config_read(path, &set, mutate_below(&m, 4) == 0,
                                                     (struct hs_config_how){0}, &problem, &err);
        if (status == HS_OK) {
            accepted++;
            assert_null(err.text);
            check_problem(&problem);
        } else if (!err.text || (strncmp(err.text, path, strlen(path)) != 0 &&
                                 strncmp(err.text, "--set: ", 7) != 0))
            fail_msg("status %d with the message %s for\n%s", status, err.text, m.text);
        hs_error_release(&err);
        hs_problem_release(&problem);
    }
    close(file);
    unlink(path);
    assert_true(accepted * 20 > rounds); /* not all are refused at the first letter */
    assert_true(accepted < rounds);
}

static const char *const expressions[] = {
    "300+20*sin(2*pi*t/60)",    "x>0 ? y : z^2", "min(x,y,max(1,2,3))", "-x^-y*3.5e-2",
    "erfc(x/(2*sqrt(1e-5*t)))", "x&&y||t",       "((x+1)*(y-2))/(z+t)", "x<=1 && y!=2 ? 1 : 0"};
static const char *const expression_words[] = {
    "(",    ")",   ",",    "+",    "-",      "*",     "/",     "^", "?",  ":",       "<",
    ">=",   "==",  "!=",   "&&",   "||",     "=",     "x",     "y", "z",  "t",       "pi",
    "e",    "_pi", "sin(", "min(", "atan2(", "rnd()", "1e400", ".", "1.", ".5",      "\"a\"",
    "sum(", " ",   "\t",   "0",    "x=1",    "1e",    "1e+",   "!", "%",  "avg(x,y)"};

/* What is accepted has muParser's value, at a point where rounding does little harm. Except for &&
 * and || of constants, which muParser truncates to whole numbers (input/expression.h). */
void test_fuzz__an_expression_is_compiled_or_refused_with_a_reason(void **state)
{
    struct mutator m = {.state = (uint64_t)from_environment("HEATSOLVE_FUZZ_SEED", 1) + 1,
                        .texts = expressions,
                        .text_count = sizeof expressions / sizeof expressions[0],
                        .words = expression_words,
                        .word_count = sizeof expression_words / sizeof expression_words[0]};
    const long rounds = from_environment("HEATSOLVE_FUZZ", 3000);
    long accepted = 0;
    for (long n = 0; n < rounds; n++) {
        mutate_next(&m);
        struct hs_expression expression;
        char reason[300] = "";
        struct hs_instruction *code =
            hs_expression_compile(m.text, &expression, reason, sizeof reason);
        if (!code) {
            assert_true(reason[0] != '\0');
            continue;
        }
        accepted++;
        double expected = 0.0;
        const bool logical = strstr(m.text, "&&") || strstr(m.text, "||");
        const double value = hs_expression_at(code, expression.length, 0.75, 1.25, -0.5, 2.0);
        assert_true(muparser_value(m.text, 0.75, 1.25, -0.5, 2.0, &expected));
        if (!logical && isfinite(expected) &&
            !(fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected))))
            fail_msg("%s: %.17g, muParser %.17g", m.text, value, expected);
        free(code);
    }
    assert_true(accepted * 20 > rounds);
}

void test_fuzz__nearest_names_take_anything(void **state)
{
    struct mutator m = {.state = 5,
                        .texts = (const char *const[]){"boundary.x_min.type", "probes[0].at", "c0"},
                        .text_count = 3,
                        .words = (const char *const[]){"[", "].", ".", "cN", "FACE", "[99999999]",
                                                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
                        .word_count = 7};
    for (int n = 0; n < 3000; n++) {
        mutate_next(&m);
        hs_option_find(m.text);
        const char *nearest = hs_option_nearest(m.text);
        assert_true(!nearest || strlen(nearest) <= 80);
    }
}
