#include "output/chunks.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct hs_grid grid_of(int dims, int64_t nx, int64_t ny, int64_t nz)
{
    return (struct hs_grid){.dims = dims, .points = {nx, ny, nz}, .spacing = {1.0, 1.0, 1.0}};
}

void test_chunks__a_step_that_fits_is_one_chunk(void **state)
{
    (void)state;
    const struct hs_grid grid = grid_of(3, 20, 30, 40);
    struct hs_chunks chunks;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_chunks_init(&chunks, &grid, 8, 0, 20 * 30 * 40 * 8, &err), HS_OK);
    assert_int_equal(chunks.per_step, 1);
    assert_int_equal(hs_chunks_bytes(&chunks), 20 * 30 * 40 * 8);
    hs_chunks_release(&chunks);
}

/* Whatever is cut: no chunk is larger than asked, all nodes are covered once, and each chunk's
 * nodes lie together in memory. */
void test_chunks__slabs_cover_the_grid(void **state)
{
    (void)state;
    static const int64_t most[] = {1, 8, 100, 161, 1000, 4801, 100000};
    const struct hs_grid grids[] = {grid_of(1, 1000, 1, 1), grid_of(2, 20, 31, 1),
                                    grid_of(3, 20, 30, 41)};
    for (int g = 0; g < 3; g++)
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            const struct hs_grid *grid = &grids[g];
            struct hs_chunks chunks;
            struct hs_error err;
            hs_error_init(&err);
            assert_int_equal(hs_chunks_init(&chunks, grid, 8, 0, most[m], &err), HS_OK);
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
    (void)state;
    const struct hs_grid grid = grid_of(3, 4096, 4096, 4096);
    struct hs_chunks chunks;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_chunks_init(&chunks, &grid, 8, 0, 0, &err), HS_OK);
    assert_true(hs_chunks_bytes(&chunks) <= 32 << 20);
    hs_chunks_release(&chunks);
}
