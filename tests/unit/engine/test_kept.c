/* Which nodes of a level stay on the next one. */
#include "engine/multigrid/kept.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

/* A 2D grid with nodes at these places along x, and evenly spaced along y. */
static struct hs_grid grid_of(int64_t nx, const double *x, int64_t ny, double spacing)
{
    return (struct hs_grid){.dims = 2,
                            .points = {nx, ny, 1},
                            .spacing = {x[1] - x[0], spacing, 1.0},
                            .coordinate = {x}};
}

static struct hs_lattice lattice_of(const struct hs_grid *grid, bool wrap_y)
{
    return (struct hs_lattice){{grid->points[HS_X], grid->points[HS_Y], 1}, {false, wrap_y, false}};
}

static void release(struct hs_kept kept[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        hs_kept_release(&kept[axis]);
}

/* With the same conductivity along both axes. */
static void choose(const struct hs_spans *spans, const struct hs_lattice *lattice,
                   struct hs_kept kept[HS_AXES])
{
    double strength[HS_AXES] = {0.0};
    for (int axis = 0; axis < 2; axis++) {
        double sum = 0.0;
        for (int64_t i = 0; i < spans->count[axis]; i++)
            sum += spans->length[axis][i] / (double)spans->count[axis];
        strength[axis] = 1.0 / (sum * sum);
    }
    assert_true(hs_kept_choose(spans, lattice, strength, kept));
}

static const double alike[HS_AXES] = {0.5, 0.5, 0.0};

static void assert_places(const struct hs_kept *kept, const int64_t *place, int64_t count)
{
    assert_int_equal(kept->count, count);
    for (int64_t c = 0; c <= count; c++)
        assert_int_equal(c < count ? hs_kept_place(kept, c) : kept->place[c], place[c]);
}

/* Along x six cells of 1 m and two of 4 m, along y even ones of 4 m. First, pairs of short cells
 * merge; then two of the results, and the third with a long cell, since else less than a third of
 * the nodes would go. The other axis follows when it is as dense. */
void test_kept__dense_parts_go_first(void **state)
{
    static const double x[] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 14.0};
    static const double first[] = {2.0, 2.0, 2.0, 4.0, 4.0}, second[] = {4.0, 6.0, 4.0};
    const struct hs_grid grid = grid_of(9, x, 5, 4.0);
    struct hs_lattice lattice = lattice_of(&grid, false);
    struct hs_spans spans;
    struct hs_kept kept[HS_AXES];
    assert_true(hs_spans_init(&spans, &grid, &lattice));
    choose(&spans, &lattice, kept);
    assert_places(&kept[HS_X], (const int64_t[]){0, 2, 4, 6, 7, 8, 9}, 6);
    assert_int_equal(kept[HS_Y].count, 5);
    hs_spans_merge(&spans, kept);
    assert_int_equal(spans.count[HS_X], 5);
    assert_memory_equal(spans.length[HS_X], first, sizeof first);
    release(kept);
    lattice.n[HS_X] = 6;
    choose(&spans, &lattice, kept);
    assert_places(&kept[HS_X], (const int64_t[]){0, 2, 4, 5, 6}, 4);
    assert_int_equal(kept[HS_Y].count, 5);
    hs_spans_merge(&spans, kept);
    assert_memory_equal(spans.length[HS_X], second, sizeof second);
    release(kept);
    lattice.n[HS_X] = 4;
    choose(&spans, &lattice, kept); /* 4 + 6 m, and 4 + 4 */
    assert_int_equal(kept[HS_X].count, 3);
    assert_int_equal(kept[HS_Y].count, 3);
    assert_null(kept[HS_Y].place);
    release(kept);
    hs_spans_release(&spans);
}

/* One short cell among long ones, at either end or within: one of its two nodes goes before any
 * other, since its sum of edges is far larger than theirs. The first node always stays. */
void test_kept__a_node_beside_one_short_cell_goes_at_once(void **state)
{
    for (int at = 0; at < 5; at++) {
        double x[6] = {0.0};
        for (int i = 1; i < 6; i++)
            x[i] = x[i - 1] + (i - 1 == at ? 1e-5 : 1.0);
        const struct hs_grid grid = grid_of(6, x, 9, 0.1);
        const struct hs_lattice lattice = lattice_of(&grid, false);
        struct hs_spans spans;
        struct hs_kept kept[HS_AXES];
        assert_true(hs_spans_init(&spans, &grid, &lattice));
        assert_true(hs_kept_choose(&spans, &lattice, alike, kept));
        assert_int_equal(kept[HS_X].count, 5);
        assert_int_equal(kept[HS_Y].count, 9);
        const int64_t gone = at == 0 ? 1 : hs_kept_place(&kept[HS_X], at) == at ? at + 1 : at;
        for (int64_t c = 0; c < 5; c++)
            assert_int_equal(hs_kept_place(&kept[HS_X], c), c < gone ? c : c + 1);
        release(kept);
        hs_spans_release(&spans);
    }
}

/* Even cells: an axis goes along with the strongest if 0.7 times as strong, else it waits. */
void test_kept__weak_axes_wait(void **state)
{
    static const double x[] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    static const double strength[][2] = {{0.5, 0.5}, {0.42, 0.58}, {0.4, 0.6}, {0.6, 0.4}};
    const struct hs_grid grid = grid_of(8, x, 9, 3.0);
    for (int wrap = 0; wrap < 2; wrap++)
        for (int n = 0; n < 4; n++) {
            const struct hs_lattice lattice = lattice_of(&grid, wrap);
            const double s[HS_AXES] = {strength[n][0], strength[n][1], 0.0};
            struct hs_spans spans;
            struct hs_kept kept[HS_AXES];
            assert_true(hs_spans_init(&spans, &grid, &lattice));
            assert_true(hs_kept_choose(&spans, &lattice, s, kept));
            assert_int_equal(kept[HS_X].count, s[0] >= 0.7 * s[1] ? 4 : 8);
            assert_int_equal(kept[HS_Y].count, s[1] >= 0.7 * s[0] ? 5 : 9);
            assert_null(kept[HS_X].place);
            assert_null(kept[HS_Y].place);
            release(kept);
            hs_spans_release(&spans);
        }
}

/* For any cells, levels come to an end, no two adjacent nodes go, the first one stays, and cells
 * are as long as the distance between nodes that stay, with nodes behind the grid, too. */
void test_kept__random_cells_come_to_an_end(void **state)
{
    uint64_t dice = 7;
    for (int turn = 0; turn < 200; turn++) {
        double x[42] = {0.0};
        const int64_t n = 2 + turn % 40, more = turn % 3;
        for (int64_t i = 1; i <= n; i++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            x[i] = x[i - 1] + pow(1e4, (double)(dice >> 40) / (double)(1 << 24));
        }
        const struct hs_grid grid = grid_of(n, x, 2 + turn % 7, 30.0);
        struct hs_lattice lattice = lattice_of(&grid, turn % 2);
        struct hs_spans spans;
        int64_t nodes = n;
        int levels = 0;
        lattice.n[HS_X] += more;
        assert_true(hs_spans_init(&spans, &grid, &lattice));
        for (; spans.count[HS_X] > 0 && lattice.n[HS_Y] > 1; levels++) {
            struct hs_kept kept[HS_AXES];
            assert_true(hs_kept_choose(&spans, &lattice, alike, kept));
            const struct hs_kept *k = &kept[HS_X];
            assert_int_equal(hs_kept_place(k, 0), 0);
            for (int64_t c = 1; c < k->count && k->count < k->n; c++)
                assert_in_range(hs_kept_place(k, c) - hs_kept_place(k, c - 1), 1, 2);
            hs_spans_merge(&spans, kept);
            int64_t stays = 0; /* those of the grid */
            for (int64_t c = 0; k->count < k->n && c < k->count; c++)
                if (hs_kept_place(k, c) < nodes)
                    x[stays++] = x[hs_kept_place(k, c)];
            nodes = k->count < k->n ? stays : nodes;
            assert_int_equal(spans.count[HS_X], nodes - 1);
            for (int64_t c = 0; c + 1 < nodes; c++) /* sums of up to 40 cells */
                assert_true(fabs(spans.length[HS_X][c] - (x[c + 1] - x[c])) <=
                            1e-13 * x[nodes - 1]);
            assert_true(k->count * kept[HS_Y].count < k->n * kept[HS_Y].n);
            for (int axis = 0; axis < HS_AXES; axis++)
                lattice.n[axis] = kept[axis].count;
            lattice.wrap[HS_Y] = lattice.wrap[HS_Y] && lattice.n[HS_Y] > 1;
            release(kept);
        }
        assert_in_range(levels, 1, 30);
        hs_spans_release(&spans);
    }
}
