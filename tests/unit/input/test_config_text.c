#include "input/config_text.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hs_settings settings;
static struct hs_config_text text;
static struct hs_error err;
static char path[] = "/tmp/heatsolve-text-XXXXXX";

static enum hs_status read_text(const char *content)
{
    const int file = strstr(path, "XXXXXX") ? mkstemp(path) : -1;
    if (file >= 0)
        close(file);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(content, stream);
    fclose(stream);
    err = (struct hs_error){0};
    hs_settings_init(&settings, path, &err);
    const enum hs_status status = hs_config_text_read(path, &settings, &text, &err);
    unlink(path);
    return status;
}

static void forget(void)
{
    hs_settings_release(&settings);
    hs_config_text_release(&text);
    hs_error_release(&err);
}

static void assert_fault(const char *content, int line, const char *what)
{
    char said[200];
    snprintf(said, sizeof said, "%s:%d: syntax error: %s; the line: ", path, line, what);
    assert_int_equal(read_text(content), HS_BAD_INPUT);
    if (strncmp(err.text + strlen(path), said + strlen(path), strlen(said) - strlen(path)) != 0)
        fail_msg("%s instead of %s", err.text, said);
    assert_int_equal(err.count, 1);
    assert_int_equal(settings.count, 0);
    forget();
}

void test_config_text__finds_the_group_that_is_not_closed(void **state)
{
    assert_fault("a = {\n  b = 1;\n", 1, "the { of a has no }");
    /* the outer group's closing bracket looks like the inner one's */
    assert_fault("a = {\n  b = { c = 1;\n  d = { e = 2; };\n};\nf = 3;\n", 2,
                 "the { of b has no }");
    assert_fault("a = {\n  b = 1;\nc = { d = 1; };\n", 1, "the { of a has no }");
    assert_fault("a = ( { b = 1; }, { c = 2; }\nd = 1;", 1, "the ( of a has no )");
    assert_fault("a = [1, 2;\n", 1, "the [ of a has no ]");
    assert_fault("a = { b = [1, 2; };\n", 1, "the [ of b has no ]");
    assert_fault("a = ( { b = 1; , { c = 2; } );\n", 1, "the { has no }");
}

void test_config_text__finds_a_bracket_too_many(void **state)
{
    assert_fault("a = 1;\n};\n", 2, "the } closes nothing");
    assert_fault("a = { b = 1; }; };\n", 1, "the } closes nothing");
}

void test_config_text__strings_and_comments_have_no_brackets(void **state)
{
    assert_int_equal(read_text(""), HS_OK);
    forget();
    assert_int_equal(read_text("a = \"{\\\"{\"; // {\n# {\n/* {\n{ */ b = { c = [1]; };"), HS_OK);
    forget();
    assert_fault("/* {\n\n*/ a = \"}\"; b = {", 3, "the { of b has no }");
}

/* As in libconfig 1.5: escapes that it does not know stand for themselves. */
void test_config_text__takes_the_escapes_of_libconfig(void **state)
{
    assert_int_equal(read_text("a = \"\\n\\r\\t\\f\\\\\\\"\" \"\\x41\\X62\\x4\\xg\\q\\a\";"),
                     HS_OK);
    assert_string_equal(hs_settings_any(&settings, "a")->text, "\n\r\t\f\\\"Ab\\x4\\xg\\q\\a");
    forget();
}

void test_config_text__signs_between_settings_may_be_left_out(void **state)
{
    assert_int_equal(read_text("a = 1 b : 2, c = { d = true } e = [3, 4] f = (5, { g = TRUE; });"),
                     HS_OK);
    assert_int_equal(settings.count, 11);
    assert_string_equal(hs_settings_any(&settings, "c.d")->text, "true");
    assert_string_equal(hs_settings_any(&settings, "e[1]")->text, "4");
    assert_string_equal(hs_settings_any(&settings, "f[1].g")->text, "true");
    assert_int_equal(hs_settings_any(&settings, "f")->members, 2);
    assert_string_equal(text.plain,
                        "a = 1 b : 2, c = { d = true } e = [3, 4] f = (5, { g = TRUE; });");
    forget();
    static const char *const refused[] = {"a = 1;; b = 2", "a = [1,];",  "a = [(1)];",
                                          "a.b = 1;",      "=1",         "a",
                                          "a = -x;",       "a = [1,,2];"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(read_text(refused[i]), HS_BAD_INPUT);
        assert_non_null(strstr(err.text, ":1: syntax error here or just before"));
        forget();
    }
}
