#include "core/fletcher.h"
#include "dense_chunks.h"
#include "output/chunks.h"
#include "output/field_set.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hs_grid grid_of(int dims, int64_t nx, int64_t ny, int64_t nz)
{
    return (struct hs_grid){.dims = dims, .points = {nx, ny, nz}, .spacing = {1.0, 1.0, 1.0}};
}

void test_chunks__a_step_that_fits_is_one_chunk(void **state)
{
    const struct hs_grid grid = grid_of(3, 20, 30, 40);
    struct hs_chunks chunks;
    hs_chunks_init(&chunks, &grid, 8, 0, 20 * 30 * 40 * 8);
    assert_int_equal(chunks.per_step, 1);
    assert_int_equal(hs_chunks_bytes(&chunks), 20 * 30 * 40 * 8);
    hs_chunks_release(&chunks);
}

/* For any cut, no chunk is larger than asked, all nodes are covered once, and each chunk's nodes
 * are contiguous in memory. */
void test_chunks__slabs_cover_the_grid(void **state)
{
    static const int64_t most[] = {1, 8, 100, 161, 1000, 4801, 100000};
    const struct hs_grid grids[] = {grid_of(1, 1000, 1, 1), grid_of(2, 20, 31, 1),
                                    grid_of(3, 20, 30, 41)};
    for (int g = 0; g < 3; g++)
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            const struct hs_grid *grid = &grids[g];
            struct hs_chunks chunks;
            hs_chunks_init(&chunks, grid, 8, 0, most[m]);
            assert_true(hs_chunks_bytes(&chunks) <= (most[m] > 8 ? most[m] : 8));
            int64_t next = 0; /* in memory */
            for (int64_t n = 0; n < chunks.per_step; n++) {
                int64_t origin[HS_AXES], count = 1;
                hs_chunks_origin(&chunks, n, origin);
                for (int a = 0; a < HS_AXES; a++) {
                    const int64_t left = grid->points[a] - origin[a];
                    assert_true(left > 0);
                    count *= left < chunks.chunk[a] ? left : chunks.chunk[a];
                }
                assert_int_equal((origin[HS_Z] * grid->points[HS_Y] + origin[HS_Y]) *
                                         grid->points[HS_X] +
                                     origin[HS_X],
                                 next);
                next += count;
            }
            assert_int_equal(next, hs_grid_count(grid));
            hs_chunks_release(&chunks);
        }
}

void test_chunks__none_nears_the_limit_of_the_format(void **state)
{
    const struct hs_grid grid = grid_of(3, 4096, 4096, 4096);
    struct hs_chunks chunks;
    hs_chunks_init(&chunks, &grid, 8, 0, 0);
    assert_true(hs_chunks_bytes(&chunks) <= 32 << 20);
    hs_chunks_release(&chunks);
}

/* A field whose nodes have their numbers as values, read as hs_values asks: what was announced is
 * what is asked for next, in memory order, and no more than 4 MiB at a time. */
struct reader {
    struct hs_grid grid;
    int64_t read; /* nodes */
    struct hs_box announced;
    float *values;
};

static enum hs_status read_values(void *self, const struct hs_box *box, const struct hs_box *next,
                                  const void **values, struct hs_error *err)
{
    struct reader *r = self;
    const int64_t *points = r->grid.points, count = hs_box_count(box);
    assert_true(count > 0 && count * (int64_t)sizeof(float) <= 4 << 20);
    assert_int_equal((box->lo[HS_Z] * points[HS_Y] + box->lo[HS_Y]) * points[HS_X] + box->lo[HS_X],
                     r->read);
    if (r->read > 0)
        assert_memory_equal(box, &r->announced, sizeof *box);
    assert_int_equal(next != NULL, r->read + count < hs_grid_count(&r->grid));
    if (next)
        r->announced = *next;
    free(r->values); /* the previous call's values are not needed any more */
    r->values = malloc((size_t)count * sizeof *r->values);
    for (int64_t n = 0; n < count; n++)
        r->values[n] = (float)(r->read + n);
    *values = r->values;
    r->read += count;
    return HS_OK;
}

/* Each chunk must be in one piece where the chunks say that it is. */
static void assert_in_file(const struct hs_chunks *chunks, const char *path)
{
    FILE *file = fopen(path, "rb");
    float *values = malloc((size_t)hs_chunks_bytes(chunks));
    int64_t node = 0;
    for (int64_t n = 0; n < chunks->per_step; n++) {
        const int64_t left = hs_grid_count(&chunks->grid) - node;
        const int64_t whole = hs_chunks_bytes(chunks) / (int64_t)sizeof *values;
        const size_t count = (size_t)(left < whole ? left : whole);
        assert_int_equal(fseek(file, chunks->list[n].at, SEEK_SET), 0);
        assert_int_equal(fread(values, sizeof *values, count, file), count);
        for (size_t i = 0; i < count; i++, node++)
            assert_true(values[i] == (float)node);
    }
    assert_int_equal(node, hs_grid_count(&chunks->grid));
    free(values);
    fclose(file);
}

void test_chunks__are_written_in_pieces_as_they_come(void **state)
{
    /* whole planes, rows of a plane, a stretch of a row: each more than two pieces per chunk */
    const struct hs_grid grids[] = {grid_of(3, 211, 303, 45), grid_of(2, 2050, 1501, 1),
                                    grid_of(1, 4000001, 1, 1)};
    for (int g = 0; g < 3; g++) {
        struct hs_chunks chunks;
        struct hs_store *store = NULL;
        char directory[] = "/tmp/chunks-XXXXXX", path[64], part[80];
        assert_non_null(mkdtemp(directory));
        snprintf(path, sizeof path, "%s/o.h5", directory);
        snprintf(part, sizeof part, "%s.part", path);
        assert_ok(hs_store_create(path, HS_EXISTING_RUN, true, &store, &err));
        hs_chunks_init(&chunks, &grids[g], 4, 0, 11 << 20);
        assert_true(chunks.per_step > 1 || g == 0);
        struct reader reader = {.grid = grids[g]};
        const struct hs_values values = {read_values, &reader};
        assert_ok(hs_chunks_append(&chunks, store, &values, &err));
        assert_int_equal(reader.read, hs_grid_count(&grids[g]));
        assert_in_file(&chunks, part);
        hs_store_destroy(store);
        assert_int_equal(rmdir(directory), 0);
        hs_chunks_release(&chunks);
        free(reader.values);
    }
}

/* ---- as HDF5 reads them -------------------------------------------------------------------- */

struct file {
    char directory[32], path[64];
    struct hs_chunks chunks;
};

/* Writes a file with `field` as its only step. */
static void write_file(struct file *file, const struct hs_grid *grid, size_t size, int compression,
                       int64_t most, const void *field)
{
    struct hs_store *store = NULL;
    struct hs_image image = {.placed = -1};
    struct hs_h5 h5 = {NULL};
    strcpy(file->directory, "/tmp/chunks-XXXXXX");
    assert_non_null(mkdtemp(file->directory));
    snprintf(file->path, sizeof file->path, "%s/o.h5", file->directory);
    hs_chunks_init(&file->chunks, grid, size, compression, most);
    assert_ok(hs_store_create(file->path, HS_EXISTING_RUN, true, &store, &err));
    assert_ok(append_dense(&file->chunks, store, field, &err));
    hs_store_free_space(store, 0, 1, &image);
    const hid_t root = hs_image_open(&h5, &image);
    hs_h5_close(hs_field_set(&h5, root, "temperature", &file->chunks, 1, &image));
    assert_ok(hs_image_close(&h5, root, file->path, &err));
    assert_ok(hs_store_write(store, &image, &err));
    assert_ok(hs_store_commit(store, &image, &err));
    hs_store_destroy(store);
    hs_image_release(&image);
}

static void remove_file(struct file *file)
{
    assert_int_equal(unlink(file->path), 0);
    assert_int_equal(rmdir(file->directory), 0);
    hs_chunks_release(&file->chunks);
}

/* Whether HDF5 reads everything, and the same bits. */
static bool reads(const struct file *file, const void *field)
{
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    const size_t bytes = (size_t)hs_grid_count(&file->chunks.grid) * file->chunks.size;
    void *found = malloc(bytes);
    hs_h5_quiet();
    const hid_t root = hs_h5_open(&h5, file->path, &sum);
    const hid_t set = H5Dopen2(root, "temperature", H5P_DEFAULT);
    assert_true(set >= 0);
    assert_int_equal(sum, HS_CONTENTS_SUM_FITS);
    const hid_t types[] = {[1] = H5T_NATIVE_UINT8,
                           [2] = H5T_NATIVE_UINT16,
                           [4] = H5T_NATIVE_FLOAT,
                           [8] = H5T_NATIVE_DOUBLE};
    const hid_t type = types[file->chunks.size];
    const bool read = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0;
    const bool same = read && memcmp(found, field, bytes) == 0;
    assert_int_equal(read, same); /* never other bytes */
    free(found);
    hs_h5_close(set);
    hs_h5_close(root);
    return same;
}

static void flip(const struct file *file, int64_t at)
{
    FILE *bytes = fopen(file->path, "r+b");
    assert_int_equal(fseek(bytes, at, SEEK_SET), 0);
    const int byte = fgetc(bytes);
    assert_int_equal(fseek(bytes, at, SEEK_SET), 0);
    fputc(byte ^ 1 << (at & 7), bytes);
    fclose(bytes);
}

/* Smooth, so that it compresses, also to odd lengths; or noise, which does not compress. */
static void fill(void *field, int64_t count, size_t size, int noise)
{
    for (int64_t n = 0; n < count; n++) {
        const double value = noise ? rand() * 1.7 : (double)(n / 3);
        if (size == 1)
            ((uint8_t *)field)[n] = (uint8_t)fmod(value, 251.0);
        else if (size == 2)
            ((uint16_t *)field)[n] = (uint16_t)fmod(value, 65521.0);
        else if (size == 4)
            ((float *)field)[n] = (float)value;
        else
            ((double *)field)[n] = value;
    }
}

void test_chunks__their_checksums_are_those_that_hdf5_wants(void **state)
{
    static double field[3000];
    int odd = 0, padded = 0;
    for (int64_t n = 3; n < 3000; n += n < 60 ? 1 : 89)
        for (int form = 0; form < 24; form++) {
            const size_t size = (size_t)1 << (form & 3);
            const int noise = form >> 2 & 1, compression = form >> 3 ? 6 * (form >> 3) - 5 : 0;
            const struct hs_grid grid = grid_of(1, n, 1, 1);
            struct file file;
            if (size == 1 && compression == 0)
                continue; /* not what these filters are for */
            fill(field, n, size, noise);
            write_file(&file, &grid, size, compression, n % 2 ? 0 : 800, field);
            assert_true(reads(&file, field));
            for (int64_t c = 0; c < file.chunks.per_step; c++) {
                const struct hs_chunk *chunk = &file.chunks.list[c];
                const int64_t at = chunk->at + rand() % chunk->bytes;
                odd += chunk->bytes % 2 != 0;
                padded += file.chunks.per_step * file.chunks.chunk[HS_X] > n;
                flip(&file, at);
                assert_false(reads(&file, field));
                flip(&file, at);
                assert_true(reads(&file, field));
            }
            remove_file(&file);
        }
    assert_true(odd > 50 && padded > 50);
}

/* Several pieces per chunk, and a last chunk that ends beyond the grid. */
void test_chunks__their_checksums_in_pieces(void **state)
{
    const struct hs_grid grids[] = {grid_of(3, 211, 303, 45), grid_of(2, 2050, 1501, 1),
                                    grid_of(1, 4000001, 1, 1)};
    for (int g = 0; g < 3; g++) {
        struct file file;
        float *field = malloc((size_t)hs_grid_count(&grids[g]) * sizeof *field);
        fill(field, hs_grid_count(&grids[g]), 4, 1);
        write_file(&file, &grids[g], 4, 0, 5 << 20, field);
        assert_true(file.chunks.per_step > 1);
        assert_true(reads(&file, field));
        flip(&file, file.chunks.list[1].at + 12345);
        assert_false(reads(&file, field));
        free(field);
        remove_file(&file);
    }
}
