#include "core/boundary.h"
#include "input/options.h"
#include "input/settings.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_found(const char *path, const char *pattern)
{
    const struct hs_option *option = hs_option_find(path);
    if (!option || strcmp(option->path, pattern) != 0)
        fail_msg("%s: found %s, not %s", path, option ? option->path : "nothing", pattern);
}

static void assert_nearest(const char *path, const char *expected)
{
    const char *nearest = hs_option_nearest(path);
    if (!nearest || strcmp(nearest, expected) != 0)
        fail_msg("%s: the nearest is %s, not %s", path, nearest ? nearest : "nothing", expected);
}

void test_options__are_found_by_their_concrete_paths(void **state)
{
    assert_found("time.end", "time.end");
    assert_found("boundary.x_min.h", "boundary.FACE.h");
    assert_found("boundary.all", "boundary.FACE");
    assert_found("probes", "probes");
    assert_found("probes[12]", "probes");
    assert_found("probes[0].at", "probes[].at");
    assert_found("probes[0].at[2]", "probes[].at");
    assert_found("grid.points[0]", "grid.points");
    assert_found("grid.x", "grid.AXIS");
    assert_found("grid.z[17]", "grid.AXIS");
    assert_found("grid.y.segments", "grid.AXIS.segments");
    assert_found("grid.y.segments[2].ratio", "grid.AXIS.segments[].ratio");
    assert_found("stencil.c0", "stencil.cN");
    assert_found("stencil.c18", "stencil.cN");
}

void test_options__that_do_not_exist_are_not_found(void **state)
{
    static const char *const wrong[] = {"",
                                        "time.en",
                                        "time.endd",
                                        "time.end[0]",
                                        "boundary.x_mid",
                                        "boundary.",
                                        "probes.at",
                                        "probes[].at",
                                        "probes[a].at",
                                        "probes[0]at",
                                        "stencil.c",
                                        "stencil.c19",
                                        "stencil.c00",
                                        "stencil.c1.x",
                                        "boundary.x_minn.h",
                                        "grid.points[",
                                        "grid.points[]",
                                        "probes[0][1]",
                                        "stencil.radius[0]",
                                        "boundary.FACE.h",
                                        "grid.w",
                                        "grid.xy",
                                        "grid.x.from[0]",
                                        "grid.AXIS"};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++)
        if (hs_option_find(wrong[n]))
            fail_msg("\"%s\" was found", wrong[n]);
}

/* Finds all paths that a pattern stands for; returns how many. */
static int count_paths(const char *pattern, const char *last)
{
    char path[81];
    int n = 0;
    while (hs_option_concrete(pattern, n, path, sizeof path)) {
        if (strcmp(pattern, path) != 0)
            assert_found(path, pattern);
        n++;
    }
    assert_string_equal(path, last);
    return n;
}

void test_options__patterns_stand_for_paths(void **state)
{
    assert_int_equal(count_paths("boundary.FACE.type", "boundary.z_max.type"), 7);
    assert_int_equal(count_paths("boundary.FACE", "boundary.z_max"), 7);
    assert_int_equal(count_paths("stencil.cN", "stencil.c18"), 19);
    assert_int_equal(count_paths("time.end", "time.end"), 1);
    assert_int_equal(count_paths("probes[].at", "probes[].at"), 1);
}

void test_options__mistyped_ones_have_a_nearest(void **state)
{
    assert_nearest("tiem.end", "time.end");
    assert_nearest("time.edn", "time.end");
    assert_nearest("boundary.x_mni.type", "boundary.x_min.type");
    assert_nearest("boundary.ymin", "boundary.y_min");
    assert_nearest("probes[3].att", "probes[].at");
    assert_nearest("time.check_every", "steady.check_every");
    assert_nearest("output.filename", "output.file");
    assert_null(hs_option_nearest("quantum.entanglement"));
    assert_null(hs_option_nearest(""));
}

void test_options__words_have_a_nearest(void **state)
{
    assert_string_equal(hs_nearest_word("flaot", "double|float"), "float");
    assert_string_equal(hs_nearest_word("dubble", "double|float"), "double");
    assert_null(hs_nearest_word("quadruple", "double|float"));
}

static void assert_said(const char *list, const char *expected)
{
    char *said = hs_list_said(list);
    assert_string_equal(said, expected);
    free(said);
}

void test_options__lists_are_said_with_commas(void **state)
{
    assert_said("double|float", "double, float");
    assert_said("half-space", "half-space");
    assert_said("", "");
}

void test_options__edit_distance_counts_letters(void **state)
{
    assert_int_equal(hs_edit_distance("", ""), 0);
    assert_int_equal(hs_edit_distance("abc", "abc"), 0);
    assert_int_equal(hs_edit_distance("abc", ""), 3);
    assert_int_equal(hs_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(hs_edit_distance("end", "edn"), 1); /* neighbours swapped */
    assert_int_equal(hs_edit_distance("spacing", "spaceing"), 1);
}

static bool is_group(const struct hs_option *option)
{
    return option->type == HS_OPTION_GROUP || option->type == HS_OPTION_GROUP_LIST ||
           option->type == HS_OPTION_COORDINATES;
}

/* The table is the master copy, so it must be consistent: defaults are in their own ranges, every
 * key's group exists, no row comes twice. */
void test_options__the_table_is_sound(void **state)
{
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        for (const struct hs_option *other = hs_options(); other != option; other++)
            assert_string_not_equal(option->path, other->path);
        assert_true(option->help && option->help[0] && option->unit);
        assert_true(strlen(option->path) <= 80);
        assert_true(option->lowest <= option->highest);
        assert_true((option->type == HS_OPTION_CHOICE) == (option->choices != NULL));
        const char *dot = strrchr(option->path, '.');
        if (dot) {
            char outer[81];
            snprintf(outer, sizeof outer, "%.*s", (int)(dot - option->path), option->path);
            char *list = strstr(outer, "[]");
            if (list)
                *list = '\0';
            bool found = false;
            for (const struct hs_option *group = hs_options(); group->path; group++)
                found = found || (is_group(group) && strcmp(group->path, outer) == 0);
            assert_true(found);
        }
    }
}

/* Those of the boundary come from the table of its kinds. */
void test_options__have_every_key_of_every_boundary_kind(void **state)
{
    const struct hs_option *type = hs_option_find("boundary.x_min.type");
    assert_string_equal(type->fallback, "fixed");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++) {
        assert_non_null(strstr(type->choices, kind->name));
        for (int n = 0; n < hs_boundary_key_count(kind); n++) {
            char path[81];
            snprintf(path, sizeof path, "boundary.z_max.%s", kind->key[n].name);
            const struct hs_option *option = hs_option_find(path);
            assert_non_null(option);
            assert_string_equal(option->unit, kind->key[n].unit);
            assert_non_null(strstr(option->help, kind->key[n].help));
            assert_non_null(strstr(option->help, kind->name));
            assert_int_equal(option->type, HS_OPTION_VALUE); /* a body's h may be an expression */
            assert_true(option->lowest == (kind->key[n].number ? 0.0 : -INFINITY));
        }
    }
}

void test_options__a_key_of_several_kinds_is_listed_once(void **state)
{
    const char *help = hs_option_find("boundary.all.value")->help;
    assert_true(strncmp(help, "dirichlet, constant", 19) == 0);
    assert_string_equal(strchr(help, ':'), ": temperature of the wall, or outside it");
    const struct hs_option *flux = hs_option_find("boundary.all.flux");
    assert_string_equal(flux->help,
                        "neumann: heat that leaves through the face; needs a conductivity");
}

void test_options__defaults_pass_their_own_check(void **state)
{
    struct hs_error err = {0};
    struct hs_settings settings;
    hs_settings_init(&settings, "table", &err);
    int defaults = 0;
    for (const struct hs_option *option = hs_options(); option->path; option++) {
        if (!option->fallback)
            continue;
        double number;
        int64_t count;
        const bool word = option->type == HS_OPTION_STRING || option->type == HS_OPTION_CHOICE ||
                          strcmp(option->fallback, "auto") == 0;
        const bool flag = option->type == HS_OPTION_FLAG;
        struct hs_setting setting = {.path = (char *)(uintptr_t)option->path,
                                     .kind = flag   ? HS_SETTING_BOOLEAN
                                             : word ? HS_SETTING_STRING
                                                    : HS_SETTING_NUMBER,
                                     .text = (char *)(uintptr_t)option->fallback,
                                     .file = "table",
                                     .option = option};
        hs_settings_check(&settings, &setting);
        char path[HS_LONGEST_WORD + 1]; /* one of those that the row stands for */
        assert_true(hs_option_concrete(option->path, 0, path, sizeof path));
        if (strchr(path, '['))
            continue;
        if (option->type == HS_OPTION_COUNT)
            assert_true(hs_settings_count(&settings, path, &count));
        else if (flag)
            assert_int_equal(hs_settings_flag(&settings, path),
                             strcmp(option->fallback, "true") == 0);
        else if (!word)
            assert_true(hs_settings_number(&settings, path, &number));
        defaults++;
    }
    if (err.text)
        fail_msg("%s", err.text);
    assert_true(defaults > 10);
    hs_settings_release(&settings);
}
