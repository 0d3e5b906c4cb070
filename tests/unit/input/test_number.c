#include "input/number.h"
#include "test.h"

#include <math.h>
#include <stdbool.h>

static double number(const char *text)
{
    double value = -77.0;
    assert_null(hs_number_parse(text, &value));
    return value;
}

static int64_t count(const char *text)
{
    int64_t value = -77;
    assert_null(hs_number_parse_count(text, &value));
    return value;
}

void test_number__reads_what_libconfig_writes(void **state)
{
    assert_true(number("0.1") == 0.1);
    assert_true(number("-.5") == -0.5);
    assert_true(number("5.") == 5.0);
    assert_true(number("+1.5e-3") == 1.5e-3);
    assert_true(number("1E5") == 1e5);
    assert_true(number("3") == 3.0);
    assert_true(number("3L") == 3.0);
    assert_true(number("0x10") == 16.0);
    assert_true(number("0.0") == 0.0);
    assert_true(number("0e9") == 0.0);
    assert_true(number("5e-324") > 0.0); /* the smallest number */
    assert_true(number("1.7976931348623157e308") < INFINITY);
}

void test_number__refuses_what_is_not_wholly_one(void **state)
{
    static const char *const wrong[] = {"",    ".",    "-",    "1e",  "1e+", "e5", "1.2.3",
                                        "10m", "nan",  "inf",  "1,5", " 1",  "1 ", "0x",
                                        "--1", "1.5L", "3LLL", "0xG", "1e5L"};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        double value;
        int64_t whole;
        if (!hs_number_parse(wrong[n], &value) || !hs_number_parse_count(wrong[n], &whole))
            fail_msg("\"%s\" was taken for a number", wrong[n]);
    }
}

void test_number__decimal_notation_alone_where_it_must_be_plain(void **state)
{
    static const char *const wrong[] = {"0x10", "0X1F", "3L", "3LL", "nan",
                                        "inf",  "-inf", "1 ", ""};
    double value;
    assert_null(hs_number_parse_decimal("-1.5e+3", &value));
    assert_true(value == -1500.0);
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++)
        if (!hs_number_parse_decimal(wrong[n], &value))
            fail_msg("\"%s\" was taken for a decimal number", wrong[n]);
}

void test_number__refuses_what_a_double_cannot_hold(void **state)
{
    double value;
    assert_non_null(hs_number_parse("1e400", &value));
    assert_non_null(hs_number_parse("-1e400", &value));
    assert_non_null(hs_number_parse("1e-400", &value));
}

void test_number__counts_are_whole_and_of_64_bits(void **state)
{
    assert_true(count("3000000000") == 3000000000);
    assert_true(count("3000000000L") == 3000000000);
    assert_true(count("9223372036854775807") == INT64_MAX);
    assert_true(count("-5") == -5);
    assert_true(count("1e5") == 100000);
    assert_true(count("2.5e1") == 25);
    assert_true(count("7.0") == 7);
    assert_true(count("0x1F") == 31);
    static const char *const wrong[] = {
        "9223372036854775808", "99999999999999999999", "2.5", "1e-1", "1e300", "1e400", "1e-400",
        "0xFFFFFFFFFFFFFFFF"};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        int64_t value;
        if (!hs_number_parse_count(wrong[n], &value))
            fail_msg("\"%s\" was taken for a count", wrong[n]);
    }
}

void test_number__is_written_with_the_fewest_digits(void **state)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{0.1, "0.1"},
                   {0.30000000000000004, "0.30000000000000004"},
                   {1e6, "1000000"},
                   {0.00020000000000000001, "0.0002"},
                   {-1e300, "-1e+300"}};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        char text[HS_NUMBER_TEXT];
        hs_number_write(numbers[n].value, text);
        assert_string_equal(text, numbers[n].text);
    }
}
