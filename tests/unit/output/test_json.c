#include "output/json.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

void test_json__nests_and_escapes(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct hs_json json = {.stream = stream};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "a", "say \"hi\"\\\n");
    hs_json_text(&json, "nothing", NULL);
    hs_json_open_array(&json, "list");
    hs_json_open(&json, NULL);
    hs_json_integer(&json, "n", -3);
    hs_json_close(&json);
    hs_json_open(&json, NULL);
    hs_json_close(&json);
    hs_json_close(&json);
    hs_json_integers(&json, "points", (const int64_t[]){1, 2}, 2);
    hs_json_numbers(&json, "half", (const double[]){0.5, NAN}, 2);
    hs_json_flag(&json, "steady", true);
    hs_json_close(&json);
    fclose(stream);
    assert_string_equal(text, "{\n  \"a\": \"say \\\"hi\\\"\\\\\\u000a\",\n  \"nothing\": null,\n"
                              "  \"list\": [\n    {\n      \"n\": -3\n    },\n    {}\n  ],\n"
                              "  \"points\": [1, 2],\n  \"half\": [0.5, null],\n"
                              "  \"steady\": true\n}\n");
    free(text);
}

void test_json__escapes_every_control_character(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct hs_json json = {.stream = stream};
    hs_json_text(&json, NULL, "\33 \177 \xc2\x9b \xc2\xb0");
    fclose(stream);
    assert_string_equal(text, "\"\\u001b \\u007f \\u009b \xc2\xb0\"");
    free(text);
}

void test_json__numbers_come_back_to_the_bit(void **state)
{
    static const double values[] = {0.1, 1.0 / 3.0, 1e-300, 123456789.123456789, -0.0, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        struct hs_json json = {.stream = stream};
        hs_json_number(&json, NULL, values[i]);
        fclose(stream);
        assert_true(strtod(text, NULL) == values[i]);
        if (values[i] == 0.1)
            assert_string_equal(text, "0.1");
        free(text);
    }
}

static char *written(const char *text, double number)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    struct hs_json json = {.stream = stream};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "t", text);
    hs_json_number(&json, "n", number);
    hs_json_close(&json);
    fclose(stream);
    return out;
}

static void assert_written(const char *text, double number, const char *expected)
{
    char *out = written(text, number);
    assert_string_equal(out, expected);
    free(out);
}

void test_json__text_is_utf8_whatever_came(void **state)
{
    assert_written("\xc3\xbc \xe2\x82\xac \xf0\x9f\x94\xa5", 1.0,
                   "{\n  \"t\": \"\xc3\xbc \xe2\x82\xac \xf0\x9f\x94\xa5\",\n  \"n\": 1\n}\n");
    /* Latin-1, cut short, overlong, a surrogate: each byte is replaced */
    assert_written("\xfc", 1.0, "{\n  \"t\": \"\\ufffd\",\n  \"n\": 1\n}\n");
    assert_written("\xe2\x82", 1.0, "{\n  \"t\": \"\\ufffd\\ufffd\",\n  \"n\": 1\n}\n");
    assert_written("\xc0\x80", 1.0, "{\n  \"t\": \"\\ufffd\\ufffd\",\n  \"n\": 1\n}\n");
    assert_written("\xed\xa0\x80", 1.0, "{\n  \"t\": \"\\ufffd\\ufffd\\ufffd\",\n  \"n\": 1\n}\n");
}

void test_json__what_is_not_finite_is_null(void **state)
{
    assert_written(NULL, NAN, "{\n  \"t\": null,\n  \"n\": null\n}\n");
    assert_written("", INFINITY, "{\n  \"t\": \"\",\n  \"n\": null\n}\n");
}
