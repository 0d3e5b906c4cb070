/* The solution on the coarsest network. */
#include "engine/multigrid/coarsest.h"
#include "test.h"

#include <math.h>

/* Three nodes in a row with 1 W/K between them, and a held node without an edge. 1 W flows in at
 * the first and out at the third: 1, 0 and -1 K, in unknowns divided by 1, sqrt(1/2), 1. The mean,
 * weighted by the sums of edges, is 0. 4 W more, by those sums, change nothing. */
void test_coarsest__of_a_singular_network_no_constant_is_left(void **state)
{
    const struct hs_lattice lattice = {{4, 1, 1}, {false, false, false}};
    for (int held = 0; held < 4; held += 3) { /* the first or the last one */
        const int first = held == 0;
        const float length[] = {1.0f, sqrtf(2.0f), 1.0f};
        struct hs_coarse_network net;
        struct hs_coarsest coarsest;
        assert_true(hs_coarse_network_init(&net, &lattice));
        for (int n = 0; n < 4; n++) {
            net.edge[HS_X][n] = n == first || n == first + 1 ? 1.0f : 0.0f;
            net.sink[n] = n == held ? INFINITY : 0.0f;
        }
        assert_true(hs_coarsest_init(&coarsest, &net, true));
        for (int more = 0; more < 2; more++) {
            float at[4] = {0}, x[4];
            for (int n = 0; n < 3; n++)
                at[first + n] = (float)(1 - n) + (float)more * length[n];
            hs_coarsest_solve(&coarsest, at, x);
            for (int n = 0; n < 3; n++)
                assert_float_equal(x[first + n], (double)(1 - n), 1e-6); /* floats */
            assert_true(x[held] == 0.0f);
        }
        double matrix[4][4];
        hs_coarsest_invert(&coarsest, &matrix[0][0]);
        for (int n = 0; n < 4; n++) {
            double row = 0.0;
            for (int m = 0; m < 3; m++)
                row += matrix[n][first + m] * (double)length[m];
            assert_float_equal(row, 0.0, 1e-6);
            assert_float_equal(matrix[n][first], matrix[first][n], 1e-15);
        }
        hs_coarsest_release(&coarsest);
        hs_coarse_network_release(&net);
    }
}
