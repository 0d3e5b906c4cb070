#include "field_file.h"
#include "test.h"

#include <hdf5.h>
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct hs_grid grid = {.dims = 3, .points = {4, 3, 2}, .spacing = {1, 1, 1}};
static char path[] = "/tmp/heatsolve-field-XXXXXX";

static void write_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *shape,
                          const void *values, hid_t memory)
{
    const hid_t space = H5Screate_simple(rank, shape, NULL);
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

/* Writes fields 0..23 and, as steps, 0..47, in this type. */
static void write_fields(hid_t type)
{
    if (strstr(path, "XXXXXX"))
        close(mkstemp(path));
    double values[48];
    for (int n = 0; n < 48; n++)
        values[n] = n;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    write_dataset(file, "field", type, 3, (hsize_t[]){2, 3, 4}, values, H5T_NATIVE_DOUBLE);
    write_dataset(file, "steps", type, 4, (hsize_t[]){2, 2, 3, 4}, values, H5T_NATIVE_DOUBLE);
    write_dataset(file, "plane", type, 2, (hsize_t[]){3, 4}, values, H5T_NATIVE_DOUBLE);
    write_dataset(file, "none", type, 4, (hsize_t[]){0, 2, 3, 4}, values, H5T_NATIVE_DOUBLE);
    H5Fclose(file);
}

static double *read_field(const char *name, int64_t step, const struct hs_grid *of)
{
    double *values = NULL;
    const struct hs_field_shape shape = hs_field_shape_of(of);
    assert_ok(read_field_file(path, name, step, &shape, &values, &err));
    return values;
}

static void assert_refused(const char *name, int64_t step, enum hs_status status, const char *why)
{
    double *values = (double *)&status;
    const struct hs_field_shape shape = hs_field_shape_of(&grid);
    assert_fails(read_field_file(path, name, step, &shape, &values, &err), status, why);
    assert_null(values);
}

void test_field_file__reads_floats_doubles_and_integers(void **state)
{
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I16LE,
                           H5T_STD_U8BE};
    for (size_t n = 0; n < sizeof types / sizeof types[0]; n++) {
        write_fields(types[n]);
        double *values = read_field("field", -1, &grid);
        for (int i = 0; i < 24; i++)
            assert_true(values[i] == i);
        free(values);
    }
    unlink(path);
}

void test_field_file__takes_one_of_the_steps(void **state)
{
    write_fields(H5T_IEEE_F64LE);
    const int64_t steps[] = {0, 1, -1};
    const double first[] = {0.0, 24.0, 24.0};
    for (int n = 0; n < 3; n++) {
        double *values = read_field("steps", steps[n], &grid);
        assert_true(values[0] == first[n] && values[23] == first[n] + 23.0);
        free(values);
    }
    unlink(path);
}

void test_field_file__planes_have_fewer_axes(void **state)
{
    write_fields(H5T_IEEE_F64LE);
    const struct hs_grid plane = {.dims = 2, .points = {4, 3, 1}, .spacing = {1, 1, 1}};
    double *values = read_field("plane", -1, &plane);
    assert_true(values[11] == 11.0);
    free(values);
    unlink(path);
}

void test_field_file__says_what_does_not_fit(void **state)
{
    write_fields(H5T_IEEE_F64LE);
    assert_refused("feild", -1, HS_BAD_INPUT, "no dataset feild; it has /field, /none, /plane");
    assert_refused("plane", -1, HS_BAD_INPUT, "plane is 3 x 4, the grid is 2 x 3 x 4 (z, y, x)");
    assert_refused("steps", 2, HS_BAD_INPUT, "has 2 steps, so there is no step 2");
    assert_refused("none", -1, HS_BAD_INPUT, "has 0 steps");
    unlink(path);
    assert_refused("field", -1, HS_IO, "No such file or directory");
}

/* A file that is cut anywhere must be refused or give its values: no crash, no wrong data. */
void test_field_file__damaged_files_are_refused(void **state)
{
    write_fields(H5T_IEEE_F64LE);
    FILE *file = fopen(path, "rb");
    static char bytes[100000];
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t kept = 0; kept < length; kept += 97) {
        file = fopen(path, "wb");
        fwrite(bytes, 1, kept, file);
        fclose(file);
        double *values;
        struct hs_error err = {0};
        const struct hs_field_shape shape = hs_field_shape_of(&grid);
        const enum hs_status status = read_field_file(path, "field", -1, &shape, &values, &err);
        assert_true(status == HS_IO || status == HS_BAD_INPUT);
        hs_error_release(&err);
        assert_null(values);
    }
    unlink(path);
}

/* ---- parts of one ---------------------------------------------------------------------------- */

static struct hs_stored *find(const char *name, int64_t step, const struct hs_grid *of)
{
    struct hs_stored *stored = NULL;
    const struct hs_field_shape shape = hs_field_shape_of(of);
    assert_ok(hs_field_file_find(path, name, step, &shape, &stored, &err));
    return stored;
}

/* Nodes of `grid` have their numbers as values; those of later steps go on from 24. */
static void check_box(const struct hs_stored *stored, const struct hs_box *box, double first)
{
    double found[24];
    assert_ok(stored->read(stored, box, found, &err));
    int64_t n = 0;
    for (int64_t k = box->lo[HS_Z]; k < box->hi[HS_Z]; k++)
        for (int64_t j = box->lo[HS_Y]; j < box->hi[HS_Y]; j++)
            for (int64_t i = box->lo[HS_X]; i < box->hi[HS_X]; i++)
                assert_true(found[n++] == first + (double)(i + 4 * (j + 3 * k)));
}

void test_field_file__reads_any_box(void **state)
{
    write_fields(H5T_IEEE_F32LE);
    for (int step = 0; step < 2; step++) {
        struct hs_stored *stored = find("steps", step, &grid);
        struct hs_box box;
        for (int n = 0; n < 4 * 4 * 3 * 3 * 2 * 2; n++) {
            const int of[] = {n % 4,          n / 4 % 4,   n / 16 % 3,
                              n / 16 / 3 % 3, n / 144 % 2, n / 144 / 2};
            for (int axis = 0; axis < HS_AXES; axis++) {
                box.lo[axis] = of[2 * axis];
                box.hi[axis] = of[2 * axis + 1] + 1;
            }
            if (hs_box_count(&box) > 0)
                check_box(stored, &box, 24.0 * step);
        }
        stored->close(stored);
        const struct hs_box all = hs_grid_box(&grid);
        check_box(stored, &all, 24.0 * step);
        hs_stored_destroy(stored);
    }
    unlink(path);
}

/* If a layer is larger than what is read at once, all layers of a chunk are read together, unless
 * the chunk can be kept until the next. */
void test_field_file__chunks_are_unpacked_once(void **state)
{
    const struct hs_grid wide = {.dims = 2, .points = {600000, 6, 1}, .spacing = {1, 1, 1}};
    const hsize_t shape[] = {6, 600000};
    write_fields(H5T_IEEE_F64LE);
    for (int parts = 1; parts <= 2; parts++) {
        const hsize_t chunk[] = {3, shape[1] / (hsize_t)parts};
        const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(2, shape, NULL), form = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(form, 2, chunk);
        H5Dclose(H5Dcreate2(file, "T", H5T_IEEE_F64LE, space, H5P_DEFAULT, form, H5P_DEFAULT));
        H5Pclose(form);
        H5Sclose(space);
        H5Fclose(file);
        struct hs_stored *stored = find("T", -1, &wide);
        assert_int_equal(stored->together, parts == 1 ? 1 : 3);
        hs_stored_destroy(stored);
    }
    unlink(path);
}

void test_field_file__a_file_that_changes_is_refused(void **state)
{
    const struct hs_box all = hs_grid_box(&grid);
    double found[24];
    struct hs_error err = {0};
    write_fields(H5T_IEEE_F64LE);
    struct hs_stored *stored = find("field", -1, &grid);
    stored->place = strdup("case.cfg:7: initial.file = \"a.h5\"");
    assert_int_equal(stored->read(stored, &all, found, &err), HS_OK);
    stored->close(stored);
    write_fields(H5T_IEEE_F32LE);
    assert_int_equal(stored->read(stored, &all, found, &err), HS_IO);
    if (!strstr(err.text, "case.cfg:7: initial.file") || !strstr(err.text, "replaced or changed"))
        fail_msg("%s", err.text);
    hs_error_release(&err);
    hs_stored_destroy(stored);
    unlink(path);
}

/* ---- all, some after the other --------------------------------------------------------------- */

static enum hs_status read_numbers(const struct hs_stored *stored, const struct hs_box *box,
                                   double *out, struct hs_error *err)
{
    static const double numbers[] = {1.0, -7.0, 3.0, INFINITY, NAN, 2.0, 9.0};
    assert_true(box->hi[HS_X] - box->lo[HS_X] <= stored->together);
    for (int64_t i = box->lo[HS_X]; i < box->hi[HS_X]; i++)
        *out++ = numbers[i];
    return HS_OK;
}

static void close_numbers(const struct hs_stored *stored)
{
}

static enum hs_status note(void *self, const double *values, int64_t first, int64_t count,
                           struct hs_error *err)
{
    hs_stored_note(self, values, first, count);
    return HS_OK;
}

void test_field_file__the_extreme_number_is_noted(void **state)
{
    static const int64_t places[] = {0, 1, 1, 3, 3}; /* of as many numbers as the place here, + 1 */
    for (int n = 0; n < 5; n++)
        for (int together = 1; together <= 3; together++) {
            struct hs_stored stored = {.dims = 1,
                                       .points = {n + 1, 1, 1},
                                       .together = together,
                                       .read = read_numbers,
                                       .close = close_numbers};
            const struct hs_stored_reader reader = {note, &stored};
            assert_ok(hs_stored_read_all(&stored, &reader, &err));
            assert_int_equal(stored.extreme_node, places[n]);
        }
}
