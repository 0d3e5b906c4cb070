#include "input/brackets.h"
#include "test.h"

#include <string.h>

static void assert_fault(const char *text, int line, const char *what)
{
    char said[160] = "";
    int found = 0;
    assert_true(hs_brackets_fault(text, &found, said, sizeof said));
    assert_string_equal(said, what);
    assert_int_equal(found, line);
}

void test_brackets__finds_the_group_that_is_not_closed(void **state)
{
    (void)state;
    assert_fault("a = {\n  b = 1;\n", 1, "the { of a has no }");
    /* the closing bracket of the outer group seems to be the inner one's */
    assert_fault("a = {\n  b = { c = 1;\n  d = { e = 2; };\n};\nf = 3;\n", 2,
                 "the { of b has no }");
    assert_fault("a = {\n  b = 1;\nc = { d = 1; };\n", 1, "the { of a has no }");
    assert_fault("a = ( { b = 1; }, { c = 2; }\nd = 1;", 1, "the ( of a has no )");
    assert_fault("a = [1, 2;\n", 1, "the [ of a has no ]");
    assert_fault("a = { b = [1, 2; };\n", 1, "the [ of b has no ]");
    assert_fault("a = ( { b = 1; , { c = 2; } );\n", 1, "the { has no }");
}

void test_brackets__finds_a_bracket_too_many(void **state)
{
    (void)state;
    assert_fault("a = 1;\n};\n", 2, "the } closes nothing");
    assert_fault("a = { b = 1; }; };\n", 1, "the } closes nothing");
}

void test_brackets__strings_and_comments_have_none(void **state)
{
    (void)state;
    char said[160];
    int line;
    assert_false(hs_brackets_fault("", &line, said, sizeof said));
    assert_false(hs_brackets_fault("a = \"{\\\"{\"; // {\n# {\n/* {\n{ */ b = { c = [1]; };", &line,
                                   said, sizeof said));
    assert_fault("/* {\n\n*/ a = \"}\"; b = {", 3, "the { of b has no }");
}
