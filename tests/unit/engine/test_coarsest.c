/* The solution on the coarsest network. */
#include "engine/multigrid/coarsest.h"
#include "test.h"

#include <math.h>

/* Three nodes in a row with 1 W/K between them, and a held node without an edge. 1 W flows in at
 * the first and out at the third: 2, 1 and 0 K, in unknowns divided by 1, sqrt(1/2), 1. */
void test_coarsest__of_a_singular_network_the_last_unknown_is_0(void **state)
{
    const struct hs_lattice lattice = {{4, 1, 1}, {false, false, false}};
    for (int held = 0; held < 4; held += 3) { /* the first or the last one */
        const int first = held == 0;
        const float right[] = {1.0f, 0.0f, -1.0f};
        float at[4] = {0}, x[4];
        struct hs_coarse_network net;
        struct hs_coarsest coarsest;
        assert_true(hs_coarse_network_init(&net, &lattice));
        for (int n = 0; n < 4; n++) {
            net.edge[HS_X][n] = n == first || n == first + 1 ? 1.0f : 0.0f;
            net.sink[n] = n == held ? INFINITY : 0.0f;
        }
        for (int n = 0; n < 3; n++)
            at[first + n] = right[n];
        assert_true(hs_coarsest_init(&coarsest, &net, true));
        hs_coarsest_solve(&coarsest, at, x);
        assert_float_equal(x[first], 2.0, 1e-6); /* floats */
        assert_float_equal(x[first + 1], sqrt(2.0), 1e-6);
        assert_true(x[first + 2] == 0.0f && x[held] == 0.0f);
        double matrix[4][4];
        hs_coarsest_invert(&coarsest, &matrix[0][0]);
        for (int n = 0; n < 4; n++) /* also for right sides that do not balance */
            assert_true(matrix[first + 2][n] == 0.0 && matrix[n][first + 2] == 0.0);
        hs_coarsest_release(&coarsest);
        hs_coarse_network_release(&net);
    }
}
