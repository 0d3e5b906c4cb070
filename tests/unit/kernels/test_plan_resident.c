/* How `resident` shares a grid among blocks. */
#include "resident/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

enum { OPEN, WRAPPED, HELD, FACES }; /* all faces of a case */

static bool plan_with(hs_features asked, int dims, const int64_t points[HS_AXES],
                      enum hs_precision precision, int faces, struct hs_resident *plan)
{
    struct hs_face face[HS_FACES] = {{0}};
    struct hs_grid grid = {.dims = dims};
    for (int axis = 0; axis < HS_AXES; axis++) {
        grid.points[axis] = axis < dims ? points[axis] : 1;
        face[2 * axis].wrap = face[2 * axis + 1].wrap = faces == WRAPPED;
        face[2 * axis].held = face[2 * axis + 1].held = faces == HELD;
    }
    const struct hs_case of = {.asked = asked,
                               .precision = precision,
                               .dims = dims,
                               .radius = 1,
                               .layout = hs_layout_make(&grid, 1, 32),
                               .face = face};
    return hs_resident_cut(&of, h200(), plan);
}

static bool plan_resident(int dims, const int64_t points[HS_AXES], enum hs_precision precision,
                          int faces, struct hs_resident *plan)
{
    return plan_with(0, dims, points, precision, faces, plan);
}

/* A block's nodes, and the halo that it sweeps, are in its threads' registers. Held nodes of rows
 * and planes belong to no block. The halo comes from the next blocks only. There is a
 * multiprocessor for each block. */
static void check_resident(int dims, const int64_t points[HS_AXES], enum hs_precision precision,
                           int faces)
{
    struct hs_resident plan;
    const bool wrap = faces == WRAPPED;
    assert_true(plan_resident(dims, points, precision, faces, &plan));
    assert_true(plan.blocks[0] * plan.blocks[1] * plan.blocks[2] <= h200()->multiprocessors);
    assert_true(plan.threads <= HS_RESIDENT_THREADS && plan.shared_bytes <= 227 * 1024);
    assert_true(plan.lanes <= 32 && plan.groups[0] * plan.groups[1] * plan.lanes <= plan.threads);
    const int width = precision == HS_FLOAT ? 4 : 2;
    const int extent[3] = {plan.lanes * width, plan.groups[0] * plan.rows,
                           plan.groups[1] * plan.planes};
    int64_t own = 1, all = 1; /* vectors */
    for (int k = 0; k < 3; k++) {
        const int axis = hs_resident_axis(dims, k), unit = k == 0 ? width : 1;
        if (axis < 0)
            continue;
        for (int side = 0; side < 2; side++)
            assert_int_equal(plan.wall[2 * k + side], faces == HELD && k > 0);
        const int64_t nodes = points[axis] - 2 * plan.wall[2 * k];
        const int64_t units = (nodes + unit - 1) / unit;
        const int64_t most = (units + plan.blocks[k] - 1) / plan.blocks[k] * unit;
        const int64_t least = units / plan.blocks[k] * unit - (wrap ? units * unit - nodes : 0);
        const int swept = k == 0 || plan.halo[k] == 0 ? plan.halo[k] : plan.halo[k] - 1;
        assert_int_equal(plan.own[k], most);
        assert_true(extent[k] >= most + 2 * swept);
        /* between two faces there are no threads to spare */
        if (!wrap && k > 0 && plan.blocks[k] == 1)
            assert_int_equal(extent[k], most);
        assert_true(plan.halo[k] >= (plan.blocks[k] > 1 ? plan.depth : 0));
        /* a row that wraps within a block needs no halo if it is a whole number of vectors */
        if (wrap && (k > 0 || points[axis] % width != 0))
            assert_true(plan.halo[k] >= plan.depth);
        assert_true(plan.halo[k] <= least);
        assert_true(plan.halo[k] % unit == 0);
        own *= most / unit, all *= (most + 2 * plan.halo[k]) / unit;
    }
    assert_int_equal(plan.received, all - own);
    /* in rows that wrap within a vector two received vectors make one */
    const bool ragged = wrap && points[HS_X] % width != 0;
    assert_true(ragged ? plan.looked_for > plan.received : plan.looked_for == plan.received);
    assert_int_equal(plan.places, plan.threads * plan.rows * plan.planes);
    /* a tile's rows are a warp's vectors apart */
    const int64_t rows = (dims == 3 ? extent[1] + 2 : 1) * (extent[2] + 2);
    assert_true(plan.shared_bytes >= 2 * rows * 32 * 16 + 8 * plan.looked_for);
}

void test_plan_resident__keeps_small_grids_on_the_chip(void **state)
{
    static const int64_t sizes[HS_AXES + 1][5][HS_AXES] = {
        [2] = {{7, 9}, {67, 35}, {1024, 1024}, {300, 41}, {700, 90}},
        [3] = {{7, 8, 9}, {64, 64, 64}, {37, 23, 19}, {9, 21, 60}, {96, 96, 96}},
    };
    for (int dims = 2; dims <= 3; dims++)
        for (int n = 0; n < 5; n++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int faces = 0; faces < FACES; faces++)
                    check_resident(dims, sizes[dims][n], (enum hs_precision)precision, faces);
    struct hs_resident plan;
    const int64_t large[HS_AXES] = {128, 128, 128}, flat[HS_AXES] = {1500, 1500, 1};
    assert_true(plan_resident(3, large, HS_FLOAT, OPEN, &plan));
    assert_false(plan_resident(3, large, HS_DOUBLE, OPEN, &plan));
    assert_true(plan_resident(2, flat, HS_FLOAT, OPEN, &plan));
    assert_false(plan_resident(2, flat, HS_DOUBLE, OPEN, &plan));
}

/* The fastest of all plans of a shape and depth on an H200: us per sweep, and the next best. */
void test_plan_resident__picks_what_was_measured_best(void **state)
{
    static const struct {
        int64_t points[HS_AXES];
        int dims, rows, planes, depth;
    } best[] = {
        {{64, 64, 64}, 3, 2, 2, 2},     /* 0.78; 1.02 without redundant sweeps */
        {{128, 64, 64}, 3, 2, 2, 1},    /* 1.21; 1.57 with 16 vectors a thread */
        {{128, 128, 128}, 3, 4, 4, 1},  /* 2.19; nothing else fits */
        {{1024, 1024, 1}, 2, 1, 10, 4}, /* 0.70; 0.85 with depth 3 */
    };
    for (size_t n = 0; n < sizeof best / sizeof *best; n++) {
        struct hs_resident plan;
        assert_true(plan_resident(best[n].dims, best[n].points, HS_FLOAT, HELD, &plan));
        assert_int_equal(plan.rows, best[n].rows);
        assert_int_equal(plan.planes, best[n].planes);
        assert_int_equal(plan.depth, best[n].depth);
    }
}

/* A thread keeps the source field in its spare registers, and the rest in shared memory beside the
 * tiles. */
void test_plan_resident__keeps_a_source_field_too(void **state)
{
    static const struct {
        int64_t points[HS_AXES];
        int dims;
        enum hs_precision precision;
        int faces, vectors, source, depth; /* depth 0: as without a source */
    } cases[] = {
        {{64, 64, 64}, 3, HS_FLOAT, HELD, 4, 0, 0},
        {{96, 96, 96}, 3, HS_FLOAT, HELD, 16, 6, 0},
        {{125, 103, 47}, 3, HS_FLOAT, OPEN, 16, 6, 1},
        {{128, 128, 128}, 3, HS_FLOAT, HELD, 16, 6, 0},
        {{128, 128, 128}, 3, HS_FLOAT, WRAPPED, 16, 6, 0},
        {{96, 96, 96}, 3, HS_DOUBLE, HELD, 18, 3, 0},
        {{80, 80, 80}, 3, HS_DOUBLE, HELD, 18, 3, 1},
        {{1024, 1024, 1}, 2, HS_FLOAT, OPEN, 10, 0, 0},
        {{1024, 1024, 1}, 2, HS_DOUBLE, OPEN, 20, 14, 0},
        {{1500, 1500, 1}, 2, HS_FLOAT, WRAPPED, 20, 14, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hs_resident with, without;
        assert_true(plan_resident(cases[n].dims, cases[n].points, cases[n].precision,
                                  cases[n].faces, &without));
        assert_true(plan_with(HS_SOURCE_FIELD, cases[n].dims, cases[n].points, cases[n].precision,
                              cases[n].faces, &with));
        assert_int_equal(with.rows * with.planes, cases[n].vectors);
        assert_int_equal(with.source, cases[n].source);
        assert_int_equal(with.depth, cases[n].depth ? cases[n].depth : without.depth);
        assert_true(with.shared_bytes <= 227 * 1024);
        const bool solid = cases[n].dims == 3;
        const int64_t rows = with.groups[0] * with.rows + (solid ? 2 : 0);
        const int64_t planes = with.groups[1] * with.planes + 2;
        assert_true(with.shared_bytes >= 2 * rows * planes * 32 * 16 + 8 * with.looked_for +
                                             (int64_t)16 * with.source * with.threads);
    }
}

/* Wall data are kept in shared memory as well. At 64^3 there are 8 x 16 blocks that sweep 10 x 6
 * rows of 16 vectors, with a number at both ends of each row, and vectors beyond one face of rows
 * and planes. */
void test_plan_resident__keeps_what_is_given_at_walls(void **state)
{
    const int64_t points[HS_AXES] = {64, 64, 64}, large[HS_AXES] = {128, 128, 128};
    struct hs_resident with, without;
    for (int precision = 0; precision < HS_PRECISIONS; precision++)
        for (int faces = 0; faces < FACES; faces++) {
            assert_true(plan_resident(3, points, (enum hs_precision)precision, faces, &without));
            assert_true(
                plan_with(HS_WALL_FIELD, 3, points, (enum hs_precision)precision, faces, &with));
            const int64_t rows = with.groups[0] * with.rows, planes = with.groups[1] * with.planes;
            const int64_t ends = 2 * rows * planes * (precision == HS_FLOAT ? 4 : 8);
            const int64_t vectors = (int64_t)with.lanes * (rows + planes) * 16;
            assert_int_equal(with.shared_bytes - without.shared_bytes,
                             faces == WRAPPED ? 0 : ends + vectors);
        }
    const hs_features both = HS_WALL_FIELD | HS_SOURCE_FIELD;
    assert_true(plan_with(HS_WALL_FIELD, 3, large, HS_FLOAT, HELD, &with));
    assert_false(plan_with(both, 3, large, HS_FLOAT, HELD, &with));
}
