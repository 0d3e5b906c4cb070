#include "output/labels.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Numbers of materials without any order. */
static void fill(struct hs_body *body, int64_t count)
{
    body->label = malloc((size_t)count * sizeof *body->label);
    for (int64_t n = 0; n < count; n++)
        body->label[n] = (uint16_t)(n / 7 * 31 % body->substance_count);
}

static void write_file(const char *path, const struct hs_problem *problem, struct hs_chunks *chunks)
{
    struct hs_store *store = NULL;
    struct hs_image image = {.placed = -1};
    struct hs_h5 h5 = {NULL};
    assert_ok(hs_store_create(path, HS_EXISTING_RUN, true, &store, &err));
    for (int twice = 0; twice < 2; twice++)
        assert_ok(hs_labels_append(chunks, store, problem->body, &err));
    assert_int_equal(chunks->steps, chunks->per_step > 0);
    hs_store_free_space(store, 0, 1, &image);
    const hid_t root = hs_image_open(&h5, &image);
    hs_labels_write(&h5, root, chunks, &image);
    assert_ok(hs_image_close(&h5, root, path, &err));
    assert_ok(hs_store_write(store, &image, &err));
    assert_ok(hs_store_commit(store, &image, &err));
    hs_store_destroy(store);
    hs_image_release(&image);
}

/* Compares every plane across the axis with the array. */
static void compare(hid_t file, const struct hs_problem *problem, const int64_t extent[HS_AXES],
                    int axis)
{
    const int64_t stride[] = {1, extent[HS_X], extent[HS_X] * extent[HS_Y]};
    const int first = axis == HS_X ? HS_Y : HS_X, second = axis == HS_Z || axis < 0 ? HS_Y : HS_Z;
    const bool cells = problem->body->labels == HS_LABEL_CELLS;
    for (int64_t n = 0; n < (axis < 0 ? 1 : extent[axis]); n++) {
        struct hs_label_plane plane;
        const double node = (double)n + (cells ? 0.75 : 0.25);
        assert_int_equal(
            hs_labels_read(file, problem->grid.dims, problem->grid.points, axis, node, &plane),
            HS_OK);
        assert_int_equal(plane.cells, cells);
        assert_int_equal(plane.count[0], extent[first]);
        assert_int_equal(plane.count[1], extent[second]);
        for (int64_t j = 0; j < extent[second]; j++)
            for (int64_t i = 0; i < extent[first]; i++) {
                const int expected = problem->body->label[i * stride[first] + j * stride[second] +
                                                          (axis < 0 ? 0 : n * stride[axis])];
                const double shift = cells ? 0.5 : 0.0; /* to its middle */
                if (plane.label[j * plane.count[0] + i] != expected ||
                    hs_labels_at(&plane, (double)i + shift, (double)j + shift) != expected)
                    fail_msg("%d at %d, %d of plane %d", expected, (int)i, (int)j, (int)n);
            }
        free(plane.label);
    }
}

static void check(const struct hs_problem *problem, const int64_t extent[HS_AXES], size_t size)
{
    struct hs_chunks chunks;
    struct hs_h5 h5 = {NULL};
    enum hs_contents_sum sum;
    char directory[] = "/tmp/labels-XXXXXX", path[64];
    hs_h5_quiet();
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/o.h5", directory);
    hs_labels_init(&chunks, problem);
    write_file(path, problem, &chunks);
    assert_int_equal(chunks.size, size);
    const hid_t file = hs_h5_open(&h5, path, &sum);
    assert_true(file >= 0);
    for (int axis = 0; axis < HS_AXES && problem->grid.dims == HS_AXES; axis++)
        compare(file, problem, extent, axis);
    if (problem->grid.dims < HS_AXES)
        compare(file, problem, extent, -1);
    hs_h5_close(file);
    hs_chunks_release(&chunks);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

/* Several chunks. */
void test_labels__of_nodes_come_back_from_the_file(void **state)
{
    const int64_t extent[] = {3001, 2000, 1};
    struct hs_body body = {.labels = HS_LABEL_NODES, .substance_count = 256};
    const struct hs_problem problem = {.grid = {.dims = 2, .points = {3001, 2000, 1}},
                                       .body = &body};
    fill(&body, extent[0] * extent[1]);
    check(&problem, extent, sizeof(uint8_t));
    free(body.label);
}

void test_labels__of_cells_come_back_from_the_file(void **state)
{
    const int64_t extent[] = {40, 30, 20}; /* along y each node has a cell behind it */
    struct hs_body body = {.labels = HS_LABEL_CELLS, .substance_count = 300};
    struct hs_problem problem = {.grid = {.dims = 3, .points = {41, 30, 21}}, .body = &body};
    problem.face[2 * HS_Y].wrap = problem.face[2 * HS_Y + 1].wrap = true;
    fill(&body, extent[0] * extent[1] * extent[2]);
    check(&problem, extent, sizeof(uint16_t));
    free(body.label);
}

void test_labels__are_not_there_where_a_body_has_none(void **state)
{
    struct hs_body body = {.labels = HS_LABEL_NONE, .substance_count = 2};
    const struct hs_problem bodies[] = {{.grid = {.dims = 2, .points = {5, 4, 1}}, .body = &body},
                                        {.grid = {.dims = 2, .points = {5, 4, 1}}}};
    for (int n = 0; n < 2; n++) {
        struct hs_chunks chunks;
        hs_labels_init(&chunks, &bodies[n]);
        assert_int_equal(chunks.per_step, 0);
        assert_int_equal(hs_labels_append(&chunks, NULL, bodies[n].body, NULL), HS_OK);
        assert_int_equal(chunks.steps, 0);
        hs_chunks_release(&chunks);
    }
}
