#include "input/arguments.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>

static struct {
    const char *config, *output;
    bool quiet;
    int64_t sweeps;
    struct hs_argument_list set;
} got;

static const struct hs_argument table[] = {
    {.name = NULL, .type = HS_ARGUMENT_STRING, .to = &got.config, .what = "CONFIG"},
    {.name = "--set", .type = HS_ARGUMENT_LIST, .to = &got.set, .what = "KEY=VALUE"},
    {.name = "--quiet", .type = HS_ARGUMENT_FLAG, .to = &got.quiet},
    {.name = "--output", .type = HS_ARGUMENT_STRING, .to = &got.output, .what = "FILE"},
    {.name = "--sweeps", .type = HS_ARGUMENT_COUNT, .to = &got.sweeps, .what = "N"},
};

static enum hs_status read_line(const char *const *words, struct hs_error *err)
{
    memset(&got, 0, sizeof got);
    int count = 0;
    while (words[count])
        count++;
    *err = (struct hs_error){0};
    return hs_arguments_read(count, (char **)words, table, sizeof table / sizeof *table, err);
}

void test_arguments__in_any_order_and_both_spellings(void **state)
{
    const char *const words[] = {"run",       "--set",         "a.b=1",    "case.cfg", "--quiet",
                                 "--set=c=2", "--output=x.h5", "--sweeps", "1e3",      NULL};
    assert_ok(read_line(words, &err));
    assert_string_equal(got.config, "case.cfg");
    assert_int_equal(got.set.count, 2);
    assert_string_equal(got.set.items[0], "a.b=1");
    assert_string_equal(got.set.items[1], "c=2");
    assert_true(got.quiet);
    assert_string_equal(got.output, "x.h5");
    assert_int_equal(got.sweeps, 1000);
    hs_argument_list_release(&got.set);
}

static void assert_refused(const char *const *words, const char *message)
{
    assert_fails(read_line(words, &err), HS_BAD_INPUT, message);
    hs_argument_list_release(&got.set);
}

void test_arguments__each_mistake_is_named(void **state)
{
    assert_refused((const char *[]){"run", NULL}, "run: needs CONFIG");
    assert_refused((const char *[]){"run", "a", "b", NULL}, "run: b: one argument too many");
    assert_refused((const char *[]){"run", "a", "--sett", "x", NULL},
                   "--sett: no such option; did you mean --set?");
    assert_refused((const char *[]){"run", "a", "--sweps=3", NULL},
                   "--sweps=3: no such option; did you mean --sweeps?");
    assert_refused((const char *[]){"run", "a", "--fast", NULL},
                   "--fast: no such option; heatsolve run --help lists them");
    assert_refused((const char *[]){"run", "a", "--set", NULL}, "needs a value, --set KEY=VALUE");
    assert_refused((const char *[]){"run", "a", "--quiet=1", NULL}, "--quiet takes no value");
    assert_refused((const char *[]){"run", "a", "--sweeps", "0", NULL}, "at least 1");
    assert_refused((const char *[]){"run", "a", "--sweeps", "1.5", NULL}, "whole number");
    assert_refused((const char *[]){"run", "a", "--sweeps", "1e18", NULL}, "at most 2^53");
    assert_refused((const char *[]){"run", "a", "--sweeps", "1e999", NULL}, "at most 2^53");
    assert_refused((const char *[]){"run", "a", "--sweeps", "ten", NULL}, "--sweeps ten");
}

/* It may stand anywhere, or be absent; a second one is an error. */
void test_arguments__optional_may_be_left_out(void **state)
{
    const char *name = "usual";
    bool list = false;
    const struct hs_argument rows[] = {
        {.name = NULL, .type = HS_ARGUMENT_OPTIONAL, .to = &name, .what = "NAME"},
        {.name = "--list", .type = HS_ARGUMENT_FLAG, .to = &list},
    };
    char *without[] = {"init", "--list"}, *with[] = {"init", "--list", "mine", "other"};
    assert_ok(hs_arguments_read(2, without, rows, 2, &err));
    assert_string_equal(name, "usual");
    assert_ok(hs_arguments_read(3, with, rows, 2, &err));
    assert_string_equal(name, "mine");
    assert_fails(hs_arguments_read(4, with, rows, 2, &err), HS_BAD_INPUT, "");
}
