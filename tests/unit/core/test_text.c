#include "core/text.h"
#include "test.h"

#include <stdlib.h>

static void assert_shown(const char *text, const char *kept, const char *expected)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    hs_text_put(stream, text, kept);
    fclose(stream);
    assert_string_equal(out, expected);
    free(out);
}

void test_text__is_shown_without_what_commands_a_terminal(void **state)
{
    assert_shown("plain", "", "plain");
    assert_shown("", "", "");
    assert_shown("clear \33[2J\33]0;title\7 bell\177", "", "clear ?[2J?]0;title? bell?");
    assert_shown("two\nlines\tand a tab\r", "", "two lines and a tab ");
    assert_shown("two\nlines\tand a tab\r", "\n\t", "two\nlines\tand a tab ");
    assert_shown("a C1 command: \xc2\x9b"
                 "2J, and a bare \x9b",
                 "\n", "a C1 command: ?2J, and a bare ?");
}

void test_text__is_plain_or_not(void **state)
{
    assert_true(hs_text_is_plain("") && hs_text_is_plain("\xc2\xb0"
                                                         "C"));
    assert_false(hs_text_is_plain("K\n") || hs_text_is_plain("\x9b") ||
                 hs_text_is_plain("a\xc2\x9b"));
}

void test_text__keeps_utf8(void **state)
{
    static const char text[] = "W\xc3\xa4rme, 20 \xc2\xb0"
                               "C, \xe6\xb8\xa9\xe5\xba\xa6, \xf0\x9f\x94\xa5, \xc2\xa0";
    assert_shown(text, "", text);
    assert_shown("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80", "",
                 "?? ??? ????"); /* overlong, surrogate, beyond */
    assert_shown("cut \xe6\xb8", "", "cut ??");
}

static void assert_word(const char *text, const char *expected)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    hs_text_put_word(stream, text);
    fclose(stream);
    assert_string_equal(out, expected);
    free(out);
}

void test_text__of_a_command_is_one_word(void **state)
{
    assert_word("out/run-1.h5", "out/run-1.h5");
    assert_word("W\xc3\xa4rme.h5", "W\xc3\xa4rme.h5");
    assert_word("my run.h5", "'my run.h5'");
    assert_word("$HOME.h5", "'$HOME.h5'");
    assert_word("it's.h5", "'it'\\''s.h5'");
    assert_word("", "''");
}

void test_text__bytes_are_named_in_the_largest_unit_that_is_not_above_them(void **state)
{
    static const struct {
        double bytes;
        const char *name;
    } cases[] = {{0.0, "0 bytes"},       {1023.0, "1023 bytes"},
                 {1024.0, "1.00 KiB"},   {1.5 * 1048576.0, "1.50 MiB"},
                 {0x1p30, "1.00 GiB"},   {0x1p43, "8.00 TiB"},
                 {0x1p50, "1.00 PiB"},   {5.1456960051457818624e19, "44.63 EiB"},
                 {0x1p72, "4096.00 EiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HS_BYTES_TEXT];
        hs_bytes_name(cases[i].bytes, text, sizeof text);
        assert_string_equal(text, cases[i].name);
    }
}
