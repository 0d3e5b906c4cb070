/* Strips of fused_march_2d. */
#include "fused_march_2d/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

extern const struct hs_kernel hs_kernel_cuda_fused_march_2d;

/* The strips of fused_march_2d follow one another without a gap, with a halo on both sides except
 * at faces, and begin to store at multiples of 32 bytes. */
void test_plan_strips__follow_one_another(void **state)
{
    static const int most[HS_PRECISIONS] = {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int i = 0; i < 2 * most[p]; i++)
            for (int64_t n = 256; n < 3000; n += 61) {
                const bool wrap = i % 2 == 1;
                struct cube cube;
                set_cube(&cube, n, 2, 1);
                set_precision(&cube, (enum hs_precision)p);
                cube.of.steps = i / 2 + 1;
                if (p == HS_DOUBLE && cube.of.steps > HS_STRIP_FEW_DOUBLE)
                    cube.of.steps = HS_STRIP_STEPS_DOUBLE;
                for (int f = 0; f < HS_FACES && wrap; f++)
                    cube.face[f] = (struct hs_face){.wrap = true};
                for (int axis = 0; axis < 2 && wrap; axis++)
                    cube.of.box.lo[axis] = 0, cube.of.box.hi[axis] = n;
                const struct hs_strip_cut cut = hs_strip_cuts(&cube.of, h200());
                assert_true(cut.halo >= cube.of.steps && cut.points == cut.stored + 2 * cut.halo);
                assert_true(cut.points <= n && cut.strips >= 1 && cut.blocks >= 1);
                assert_int_equal(cut.stored * (int64_t)hs_precision_size(p) % 16, 0);
                int64_t end = cut.lead; /* of the strips before */
                for (int s = 1; s < cut.strips - (wrap ? 0 : 1); s++, end += cut.stored) {
                    assert_true(end < n);
                    assert_true(wrap || (end >= cut.halo && end + cut.stored + cut.halo <= n));
                    assert_int_equal(end * (int64_t)hs_precision_size(p) % (wrap ? 16 : 32), 0);
                }
                if (wrap)
                    assert_true(end >= n);
                else if (cut.strips > 1)
                    assert_true(end < n && end >= n - cut.points + cut.halo);
                else
                    assert_int_equal(cut.points, n);
            }
}

/* The cost of a block's parts. Each row of the strips belongs to one block, once and in order. */
static int64_t cost_of(const struct hs_strip_cut *cut, struct hs_strip_place from,
                       struct hs_strip_place to)
{
    int64_t cost = 0;
    for (int s = from.strip; s <= to.strip && s < cut->strips; s++) {
        const int lo = s == from.strip ? from.row : 0, hi = s == to.strip ? to.row : cut->rows;
        const bool outer = s == 0 || s == cut->strips - 1;
        assert_true(lo <= hi);
        if (lo < hi)
            cost += cut->cost.part + (lo == 0 ? cut->cost.low : 0) +
                    (hi == cut->rows ? cut->cost.high : 0) +
                    (int64_t)(hi - lo) * (outer ? cut->cost.outer : cut->cost.inside);
    }
    return cost;
}

void test_plan_strips__are_shared_evenly(void **state)
{
    static const int64_t rows[] = {3, 4, 20, 200, 300, 1000, 2048, 4097, 16384};
    static const int64_t widths[] = {192, 400, 1000, 2048, 4097, 16384, 60000, 400000};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int i = 0; i < 6; i++)
            for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
                for (size_t m = 0; m < sizeof widths / sizeof *widths; m++) {
                    struct cube cube;
                    set_cube(&cube, 256, 2, 1);
                    set_precision(&cube, (enum hs_precision)p);
                    cube.of.steps = i / 2 == 0 ? 1 : i / 2 == 1 ? 10 : p ? 24 : 7;
                    cube.of.layout.points[HS_X] = widths[m] + (p ? 0 : 64);
                    cube.of.layout.points[HS_Y] = rows[n];
                    for (int axis = 0; axis < 2; axis++)
                        cube.of.box.hi[axis] = cube.of.layout.points[axis] - 1;
                    for (int f = 0; f < HS_FACES && i % 2; f++)
                        cube.face[f] = (struct hs_face){.wrap = true};
                    for (int axis = 0; axis < 2 && i % 2; axis++)
                        cube.of.box.lo[axis] = 0, cube.of.box.hi[axis]++;
                    const struct hs_strip_cut cut = hs_strip_cuts(&cube.of, h200());
                    assert_int_equal(cut.rows, rows[n]);
                    struct hs_strip_place from = hs_strip_begin(&cut, 0);
                    assert_true(from.strip == 0 && from.row == 0);
                    int64_t dearest = 0, all = 0;
                    int used = 0;
                    for (int b = 0; b < cut.blocks; b++) {
                        const struct hs_strip_place to = hs_strip_begin(&cut, b + 1);
                        assert_true(to.strip > from.strip ||
                                    (to.strip == from.strip && to.row >= from.row));
                        const int64_t cost = cost_of(&cut, from, to);
                        all += cost;
                        dearest = cost > dearest ? cost : dearest;
                        used += cost > 0;
                        from = to;
                    }
                    assert_int_equal(from.strip, cut.strips);
                    assert_int_equal(from.row, 0);
                    if (cut.strips > HS_STRIP_TABLE)
                        continue;
                    /* by what blocks may differ: a part's own cost, and that of its ends */
                    const int least_of_both =
                        cut.least_low > cut.least_high ? cut.least_low : cut.least_high;
                    const int64_t apart = cut.cost.part + cut.cost.low + cut.cost.high +
                                          least_of_both * cut.cost.outer;
                    assert_int_equal(used, cut.used);
                    assert_true(dearest <= (cut.most > apart ? cut.most : apart));
                    assert_true(cut.most <= all / cut.blocks + apart);
                }
}

/* How a square of n^2 points is shared: in double, with 24 levels, all faces held. */
static struct hs_strip_cut cut_of_square(int64_t n)
{
    struct cube cube;
    set_cube(&cube, n, 2, 1);
    set_precision(&cube, HS_DOUBLE);
    cube.of.steps = HS_STRIP_STEPS_DOUBLE;
    return hs_strip_cuts(&cube.of, h200());
}

/* Counts the parts that go through rows at a face which another part stores. */
static int parts_beside_ends(const struct hs_strip_cut *cut)
{
    int count = 0;
    for (int b = 0; b < cut->used; b++) {
        const struct hs_strip_place from = hs_strip_begin(cut, b);
        const struct hs_strip_place to = hs_strip_begin(cut, b + 1);
        for (int s = from.strip; s <= to.strip && s < cut->strips; s++) {
            const int lo = s == from.strip ? from.row : 0;
            const int hi = s == to.strip ? to.row : cut->rows;
            const bool low = lo > 0 && lo < 2 * cut->steps + 2;
            const bool high = hi < cut->rows && hi + cut->steps >= cut->rows;
            count += lo < hi && (low || high);
        }
    }
    return count;
}

/* On small grids the parts at the ends would have more rows than others, unless parts beside them
 * may go through an end. On large grids none does, with few exceptions. */
void test_plan_strips__large_grids_have_no_parts_beside_ends(void **state)
{
    const struct hs_strip_cut small = cut_of_square(1024);
    assert_true(small.least_low < small.steps && parts_beside_ends(&small) > 0);
    int exceptions = 0;
    for (int64_t n = 2000; n < 6000; n += 53) {
        const struct hs_strip_cut cut = cut_of_square(n);
        exceptions += parts_beside_ends(&cut) > 0;
    }
    assert_true(exceptions <= 1);
}

/* A block reserves the memory of all its warps, also where a grid is too narrow for some. */
void test_plan_strips__narrow_grids_take_the_memory_of_all_warps(void **state)
{
    static const int steps[] = {1, 3, 6, 12, 24};
    for (int i = 0; i < (int)(sizeof steps / sizeof *steps); i++) {
        struct hs_geometry g[2];
        for (int wide = 0; wide < 2; wide++) {
            struct cube cube;
            set_cube(&cube, wide ? 1024 : 192, 2, 1);
            set_precision(&cube, HS_DOUBLE);
            cube.of.steps = steps[i];
            g[wide] = plan_for(&hs_kernel_cuda_fused_march_2d, &cube.of).launch;
        }
        assert_true(g[0].threads[HS_X] < g[1].threads[HS_X]);
        assert_int_equal(g[0].shared_bytes, g[1].shared_bytes);
    }
}
