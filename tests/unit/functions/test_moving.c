/* Wall values that change along walls and in time at once, over rows made by hand. */
#include "functions/moving.h"
#include "functions/program.h"
#include "test.h"

#include <string.h>

enum { NX = 300, NY = 4, LONG = 290 };

/* x + t, and t*y; spacing 1, so that x is i. */
static const struct hs_instruction one[] = {{HS_OP_X, 0.0}, {HS_OP_T, 0.0}, {HS_OP_ADD, 0.0}};
static const struct hs_instruction other[] = {
    {HS_OP_T, 0.0}, {HS_OP_Y, 0.0}, {HS_OP_MULTIPLY, 0.0}};

static struct hs_value value_of(const struct hs_instruction *code)
{
    return (struct hs_value){
        .expression = {.code = code, .length = 3, .varies = HS_VARIES_SPACE | HS_VARIES_T}};
}

static struct hs_grid grid_of(void)
{
    return (struct hs_grid){.dims = 2, .points = {NX, NY, 1}, .spacing = {1.0, 1.0, 1.0}};
}

/* Rows 1 and 3 have x + t at nodes 5 ... 294, with weights 2 and -1. Row 3 also has 4 times t*y,
 * from the last of these nodes on. Its last node is listed, but nothing acts on it. */
struct rows {
    struct hs_value value[2];
    struct hs_moving_stretch stretch[3];
    int64_t node[2 * LONG + 5];
    double weight[2 * LONG + 5];
    struct hs_moving moving;
};

static void make(struct rows *rows)
{
    memset(rows, 0, sizeof *rows);
    rows->value[0] = value_of(one);
    rows->value[1] = value_of(other);
    for (int n = 0; n < LONG; n++) {
        rows->node[n] = NX + 5 + n;
        rows->node[LONG + n] = 3 * NX + 5 + n;
        rows->weight[n] = 2.0;
        rows->weight[LONG + n] = -1.0;
    }
    for (int n = 0; n < 5; n++) {
        rows->node[2 * LONG + n] = 3 * NX + 5 + LONG + n;
        rows->weight[2 * LONG + n] = 4.0;
    }
    rows->stretch[0] = (struct hs_moving_stretch){&rows->value[0], 0, LONG, 0};
    rows->stretch[1] = (struct hs_moving_stretch){&rows->value[0], LONG, LONG, LONG};
    /* also over the last node of the stretch before */
    rows->stretch[2] = (struct hs_moving_stretch){&rows->value[1], 2 * LONG - 1, 5, 2 * LONG};
    rows->moving = (struct hs_moving){.count = 2 * LONG + 5,
                                      .node = rows->node,
                                      .stretch_count = 3,
                                      .stretch = rows->stretch,
                                      .weights = 2 * LONG + 5,
                                      .weight = rows->weight};
}

static double expected(int n, double t)
{
    if (n < LONG)
        return 2.0 * (5.0 + n + t);
    double sum = n < 2 * LONG ? -(5.0 + (n - LONG) + t) : 0.0;
    if (n >= 2 * LONG - 1 && n < 2 * LONG + 4)
        sum += 4.0 * t * 3.0;
    return sum;
}

void test_moving__sums_are_those_of_each_node_whatever_the_threads(void **state)
{
    static struct rows rows;
    static double out[2 * LONG + 5];
    const struct hs_grid grid = grid_of();
    make(&rows);
    for (int threads = 1; threads <= 5; threads++) {
        for (int n = 0; n < 2 * LONG + 5; n++)
            out[n] = 1e9; /* from an earlier call */
        hs_moving_at(&rows.moving, &grid, 0.5, threads, out);
        for (int n = 0; n < 2 * LONG + 5; n++)
            assert_true(out[n] == expected(n, 0.5)); /* all are sums of quarters */
    }
}

void test_moving__a_row_gets_its_own(void **state)
{
    static struct rows rows;
    const struct hs_grid grid = grid_of();
    make(&rows);
    for (int64_t j = 0; j < NY; j++) {
        double row[NX];
        for (int i = 0; i < NX; i++)
            row[i] = -7.0;
        hs_moving_put_row(&rows.moving, &grid, 2.0, j, 0, row);
        for (int i = 0; i < NX; i++) {
            const bool has = (j == 1 && i >= 5 && i < 5 + LONG) || (j == 3 && i >= 5);
            const int n = i - 5 + (j == 3 ? LONG : 0);
            assert_true(row[i] == (has ? expected(n, 2.0) : -7.0));
        }
    }
}

void test_moving__a_row_is_taken_where_they_are(void **state)
{
    static struct rows rows;
    static double out[2 * LONG + 5];
    make(&rows);
    memset(out, 0, sizeof out);
    for (int64_t j = 0; j < NY; j++) {
        double row[NX];
        for (int i = 0; i < NX; i++)
            row[i] = 1000.0 * (double)j + i;
        hs_moving_take_row(&rows.moving, j * NX, NX, row, out);
    }
    for (int n = 0; n < 2 * LONG + 5; n++)
        assert_true(out[n] == (n < LONG ? 1005.0 + n : 3005.0 + n - LONG));
}

void test_moving__nothing_is_done_where_nothing_moves(void **state)
{
    const struct hs_moving none = {.count = 0};
    const struct hs_grid grid = grid_of();
    double row[NX] = {3.0}, out = 5.0;
    hs_moving_at(&none, &grid, 1.0, 2, &out);
    hs_moving_put_row(&none, &grid, 1.0, 0, 0, row);
    hs_moving_take_row(&none, 0, NX, row, &out);
    assert_true(row[0] == 3.0 && out == 5.0);
}
