/* Reductions of slabs against those of the whole, on the CPU; tests/gpu does it on a GPU. */
#include "slabs.h"

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_reference;

void test_reduction__does_not_depend_on_slabs(void **state)
{
    slabs_compare_all(&hs_backend_cpu, &hs_kernel_cpu_reference, &hs_kernel_cpu_reference);
}

static struct hs_blocks blocks_of(int dims, int64_t x, int64_t y, int64_t z)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    problem.grid.points[HS_X] = x;
    problem.grid.points[HS_Y] = y;
    problem.grid.points[HS_Z] = z;
    return hs_blocks_of(&problem);
}

/* Every node is in exactly one strip of one piece. There are neither too many pieces nor, on a
 * large grid, too few. */
void test_reduction__pieces_have_every_node_once(void **state)
{
    static const struct {
        int dims;
        int64_t points[HS_AXES], least;
    } grids[] = {{1, {1, 1, 1}, 1},          {1, {65, 1, 1}, 2},      {1, {65537, 1, 1}, 513},
                 {1, {3000000, 1, 1}, 900},  {2, {5000, 3, 1}, 6},    {2, {3, 5000, 1}, 1000},
                 {2, {1000, 1000, 1}, 1000}, {3, {2, 3, 1025}, 513},  {3, {130, 120, 100}, 400},
                 {3, {200001, 2, 3}, 250},   {3, {100, 2000, 3}, 100}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const int64_t *n = grids[g].points, count = n[0] * n[1] * n[2];
        const struct hs_blocks blocks = blocks_of(grids[g].dims, n[0], n[1], n[2]);
        unsigned char *seen = calloc((size_t)count, 1);
        assert_in_range(blocks.pieces, grids[g].least, HS_PIECES_MOST);
        for (int64_t p = 0; p < blocks.pieces; p++) {
            const struct hs_piece piece = hs_piece_of(&blocks, p);
            for (uint32_t s = piece.first; s < piece.last; s++) {
                const struct hs_strip strip = hs_strip_of(&piece, s);
                assert_in_range(strip.end - strip.begin, 1, HS_STRIP);
                for (int64_t i = strip.begin; i < strip.end; i++)
                    seen[strip.row * n[0] + i]++;
            }
        }
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(seen[i], 1);
        free(seen);
    }
}
