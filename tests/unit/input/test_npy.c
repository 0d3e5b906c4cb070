#include "field_file.h"
#include "input/npy.h"
#include "test.h"
#include "tools/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/heatsolve-npy-XXXXXX";

/* Writes a file with this header, padded as by NumPy, and these bytes. Returns its descriptor. */
static int file_of(int version, const char *dictionary, const void *numbers, size_t bytes)
{
    char head[256] = "\x93NUMPY";
    strcpy(path + strlen(path) - 6, "XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    const int begin = version == 1 ? 10 : 12, length = 128 - begin;
    head[6] = (char)version;
    head[8] = (char)length;
    snprintf(head + begin, sizeof head - (size_t)begin, "%-*s\n", length - 1, dictionary);
    assert_int_equal(pwrite(file, head, 128, 0), 128);
    assert_int_equal(pwrite(file, numbers, bytes, 128), bytes);
    return file;
}

static void assert_reads(int version, const char *dictionary, const void *numbers, size_t bytes,
                         const struct hs_grid *grid, int64_t step, const double *expected)
{
    double *found;
    const struct hs_field_shape shape = hs_field_shape_of(grid);
    close(file_of(version, dictionary, numbers, bytes));
    assert_ok_of(dictionary, read_field_file(path, "", step, &shape, &found, &err));
    for (int64_t i = 0; i < hs_grid_count(grid); i++)
        assert_true(found[i] == expected[i]);
    free(found);
    unlink(path);
}

static struct hs_grid line_of(int64_t points)
{
    return (struct hs_grid){.dims = 1, .points = {points, 1, 1}, .spacing = {1, 1, 1}};
}

void test_npy__reads_each_type_in_either_order_of_bytes(void **state)
{
    const double expected[] = {1.0, 2.0, 3.0};
    const struct hs_grid two = line_of(2), three = line_of(3);
    static const struct {
        const char *type;
        size_t bytes;
        unsigned char numbers[24];
    } rows[] = {
        {"<f8", 24, {[6] = 0xf0, [7] = 0x3f, [15] = 0x40, [22] = 0x08, [23] = 0x40}},
        {">f8", 24, {0x3f, 0xf0, [8] = 0x40, [16] = 0x40, 0x08}},
        {"<f4", 12, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40}},
        {">f4", 12, {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0}},
        {"<i8", 24, {1, [8] = 2, [16] = 3}},
        {">u8", 24, {[7] = 1, [15] = 2, [23] = 3}},
        {">i4", 12, {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}},
        {"<u4", 12, {1, 0, 0, 0, 2, 0, 0, 0, 3}},
        {"<i2", 6, {1, 0, 2, 0, 3, 0}},
        {">u2", 6, {0, 1, 0, 2, 0, 3}},
        {"|u1", 3, {1, 2, 3}},
        {"|i1", 3, {1, 2, 3}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++)
        for (int version = 1; version <= 3; version++) {
            char text[128];
            snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }",
                     rows[n].type);
            assert_reads(version, text, rows[n].numbers, rows[n].bytes, &three, -1, expected);
        }
    const double signs[] = {-1.0, -2.0}, truths[] = {0.0, 1.0};
    assert_reads(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }",
                 (const unsigned char[]){0xff, 0xfe}, 2, &two, -1, signs);
    assert_reads(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }",
                 (const unsigned char[]){0, 1}, 2, &two, -1, truths);
    /* lengths as Python 2 wrote them, other order of keys, no last comma */
    assert_reads(1, "{\"shape\": (3L,), 'fortran_order': False, 'descr': '|u1'}",
                 (const unsigned char[]){1, 2, 3}, 3, &three, -1, expected);
}

void test_npy__turns_the_axes_of_fortran_order(void **state)
{
    /* T[s][y][x] = 100 s + 10 y + x of 2 x 2 x 3, in both orders of a file */
    unsigned char c[12], fortran[12];
    double all[12];
    for (int s = 0; s < 2; s++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++) {
                const unsigned char value = (unsigned char)(100 * s + 10 * y + x);
                all[(s * 2 + y) * 3 + x] = c[(s * 2 + y) * 3 + x] = value;
                fortran[(x * 2 + y) * 2 + s] = value;
            }
    const char *in_c = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 3), }";
    const char *in_fortran = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 3), }";
    const struct hs_grid block = {.dims = 3, .points = {3, 2, 2}, .spacing = {1, 1, 1}},
                         plane = {.dims = 2, .points = {3, 2, 1}, .spacing = {1, 1, 1}};
    assert_reads(1, in_c, c, 12, &block, -1, all);
    assert_reads(1, in_fortran, fortran, 12, &block, -1, all);
    for (int s = 0; s < 2; s++) {
        assert_reads(1, in_c, c, 12, &plane, s, all + 6 * (size_t)s);
        assert_reads(1, in_fortran, fortran, 12, &plane, s, all + 6 * (size_t)s);
    }
}

static void assert_refused(int version, const char *dictionary, size_t bytes, enum hs_status status,
                           const char *why)
{
    static const unsigned char numbers[64];
    const int file = file_of(version, dictionary, numbers, bytes);
    struct hs_npy npy;
    struct hs_error err = {0};
    assert_int_equal(hs_npy_read_header(file, &npy, &err), status);
    if (!strstr(err.text, why))
        fail_msg("%s: \"%s\" lacks \"%s\"", dictionary, err.text, why);
    hs_error_release(&err);
    close(file);
    unlink(path);
}

void test_npy__says_what_it_does_not_read(void **state)
{
    assert_refused(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", 64,
                   HS_BAD_INPUT, "type <c16; float64, float32");
    assert_refused(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 64, HS_BAD_INPUT,
                   "type <f2");
    assert_refused(1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 64, HS_BAD_INPUT,
                   "type |O");
    assert_refused(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", 64,
                   HS_BAD_INPUT, "a table of columns");
    assert_refused(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }", 64, HS_IO,
                   "its array takes 200 bytes, the file has 192");
    assert_refused(1,
                   "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }",
                   64, HS_IO, "more numbers than can be counted");
    assert_refused(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", 64, HS_IO,
                   "is not that of an array");
    assert_refused(1, "{'descr': '<f8', 'shape': (1,), }", 64, HS_IO, "is not that of an array");
    assert_refused(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 64, HS_IO,
                   "version that is not known");
}

/* Any bytes give a reason, or an array that is completely there. */
void test_npy__survives_nonsense(void **state)
{
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 4), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }"};
    static const char *const words[] = {
        "(",  ")",    ",",     "'",   "{",   "}", "[",
        "]",  ":",    "True",  "<f8", "|u1", "'", "99999999999",
        "-1", "0",    "shape", "\"",  "1L",  " ", "9223372036854775807",
        "()", "descr"};
    const char *rounds = getenv("HEATSOLVE_FUZZ"), *seed = getenv("HEATSOLVE_FUZZ_SEED");
    struct mutator m = {.state = seed ? (uint64_t)atol(seed) + 2 : 3,
                        .texts = headers,
                        .text_count = 3,
                        .words = words,
                        .word_count = sizeof words / sizeof words[0]};
    static unsigned char numbers[400];
    long accepted = 0;
    const long most = rounds ? atol(rounds) : 3000;
    for (long n = 0; n < most; n++) {
        mutate_next(&m);
        const int file = file_of(1 + (int)(n % 3), m.text, numbers, sizeof numbers);
        if (mutate_below(&m, 4) == 0)
            assert_int_equal(ftruncate(file, mutate_below(&m, 528)), 0);
        struct hs_npy npy;
        struct hs_error err = {0};
        const enum hs_status status = hs_npy_read_header(file, &npy, &err);
        if (status == HS_OK && npy.rank >= 1 && npy.rank <= 3) {
            struct hs_grid grid = {.dims = npy.rank, .points = {1, 1, 1}, .spacing = {1, 1, 1}};
            for (int axis = 0; axis < npy.rank; axis++)
                grid.points[axis] = npy.shape[npy.rank - 1 - axis];
            const struct hs_field_shape shape = hs_field_shape_of(&grid);
            double *values;
            assert_true(npy.bytes >= 0 && npy.bytes <= 400);
            assert_int_equal(npy.bytes, hs_grid_count(&grid) * npy.width);
            if (npy.bytes > 0)
                assert_int_equal(read_field_file(path, "", -1, &shape, &values, &err), HS_OK);
            if (npy.bytes > 0)
                free(values);
        }
        accepted += status == HS_OK;
        assert_true(status == HS_OK || err.text[0] != '\0');
        hs_error_release(&err);
        close(file);
        unlink(path);
    }
    if (!(accepted * 500 > most && accepted < most))
        fail_msg("%ld of %ld accepted", accepted, most);
}
