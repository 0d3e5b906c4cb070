#include "engine/multigrid/coarsest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The scaled matrix, whose diagonal is 1. Nodes that are no unknowns have nothing off the diagonal.
 * Leaves the scales in `work`. */
static void fill(struct hs_coarsest *coarsest, const struct hs_coarse_network *network)
{
    const int64_t *n = network->lattice.n, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    const int64_t nodes = coarsest->nodes;
    double *a = coarsest->factor, *scale = coarsest->work;
    for (int pass = 0; pass < 2; pass++) { /* the diagonal, then the rest */
        for (int axis = 0; axis < HS_AXES; axis++)
            for (int64_t node = 0; node < nodes && network->edge[axis]; node++) {
                const int64_t at = node / stride[axis] % n[axis];
                const int64_t to =
                    hs_lattice_next(&network->lattice, axis, at, stride[axis], 1, node);
                const double g = (double)network->edge[axis][node];
                if (to < 0)
                    continue;
                if (pass == 0) {
                    a[node * nodes + node] += g;
                    a[to * nodes + to] += g;
                } else {
                    a[node * nodes + to] -= g * scale[node] * scale[to];
                    a[to * nodes + node] -= g * scale[node] * scale[to];
                }
            }
        for (int64_t node = 0; node < nodes && pass == 0; node++) {
            double *diagonal = &a[node * nodes + node];
            *diagonal += (double)network->sink[node];
            const bool unknown = *diagonal > 0.0 && !isinf(*diagonal);
            scale[node] = unknown ? 1.0 / sqrt(*diagonal) : 0.0;
            *diagonal = 1.0;
        }
    }
}

/* In place. Pivots are at most 1. */
static void factorise(int64_t nodes, double *a)
{
    for (int64_t i = 0; i < nodes; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * nodes + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * nodes + k] * a[j * nodes + k];
            a[i * nodes + j] = j < i ? sum / a[j * nodes + j] : sqrt(fmax(sum, 1e-30));
        }
    }
}

/* The last pivot of a singular matrix is rounding; made infinite, it sets the last unknown to 0. */
static void hold_last(struct hs_coarsest *coarsest)
{
    int64_t last = coarsest->nodes - 1;
    while (last > 0 && !(coarsest->work[last] > 0.0))
        last--;
    coarsest->factor[last * coarsest->nodes + last] = INFINITY;
}

/* The constant in scaled unknowns, divided by its length. */
static bool find_constant(struct hs_coarsest *coarsest)
{
    const double *scale = coarsest->work;
    double squares = 0.0;
    double *constant = coarsest->constant = malloc((size_t)coarsest->nodes * sizeof *constant);
    for (int64_t i = 0; i < coarsest->nodes && constant; i++) {
        constant[i] = scale[i] > 0.0 ? 1.0 / scale[i] : 0.0;
        squares += constant[i] * constant[i];
    }
    for (int64_t i = 0; i < coarsest->nodes && squares > 0.0; i++)
        constant[i] /= sqrt(squares);
    return constant;
}

bool hs_coarsest_init(struct hs_coarsest *coarsest, const struct hs_coarse_network *network,
                      bool floating)
{
    const int64_t nodes = hs_lattice_count(&network->lattice);
    *coarsest = (struct hs_coarsest){.nodes = nodes};
    if (nodes > HS_COARSEST_NODES)
        return true;
    coarsest->factor = calloc((size_t)(nodes * nodes), sizeof *coarsest->factor);
    coarsest->work = malloc((size_t)nodes * sizeof *coarsest->work);
    if (!coarsest->factor || !coarsest->work)
        return false;
    fill(coarsest, network);
    factorise(nodes, coarsest->factor);
    if (floating)
        hold_last(coarsest);
    return !floating || find_constant(coarsest);
}

void hs_coarsest_release(struct hs_coarsest *coarsest)
{
    free(coarsest->factor);
    free(coarsest->work);
    free(coarsest->constant);
}

/* Takes the constant's part out of what `work` holds. */
static void take_out_constant(struct hs_coarsest *coarsest)
{
    double part = 0.0;
    for (int64_t i = 0; i < coarsest->nodes && coarsest->constant; i++)
        part += coarsest->constant[i] * coarsest->work[i];
    for (int64_t i = 0; i < coarsest->nodes && coarsest->constant; i++)
        coarsest->work[i] -= part * coarsest->constant[i];
}

/* In place: `work` holds the right side, then the unknowns. */
static void solve(struct hs_coarsest *coarsest)
{
    const int64_t nodes = coarsest->nodes;
    const double *a = coarsest->factor;
    double *work = coarsest->work;
    take_out_constant(coarsest);
    for (int64_t i = 0; i < nodes; i++) {
        double sum = work[i];
        for (int64_t k = 0; k < i; k++)
            sum -= a[i * nodes + k] * work[k];
        work[i] = sum / a[i * nodes + i];
    }
    for (int64_t i = nodes - 1; i >= 0; i--) {
        double sum = work[i];
        for (int64_t k = i + 1; k < nodes; k++)
            sum -= a[k * nodes + i] * work[k];
        work[i] = sum / a[i * nodes + i];
    }
    take_out_constant(coarsest);
}

void hs_coarsest_solve(struct hs_coarsest *coarsest, const float *right, float *x)
{
    const int64_t nodes = coarsest->nodes;
    if (!coarsest->factor) {
        memcpy(x, right, (size_t)nodes * sizeof *x);
        return;
    }
    for (int64_t i = 0; i < nodes; i++)
        coarsest->work[i] = (double)right[i];
    solve(coarsest);
    for (int64_t i = 0; i < nodes; i++)
        x[i] = (float)coarsest->work[i];
}

void hs_coarsest_invert(struct hs_coarsest *coarsest, double *out)
{
    const int64_t nodes = coarsest->nodes;
    for (int64_t c = 0; c < nodes; c++) {
        for (int64_t i = 0; i < nodes; i++)
            coarsest->work[i] = i == c ? 1.0 : 0.0;
        solve(coarsest);
        for (int64_t i = 0; i < nodes; i++)
            out[i * nodes + c] = coarsest->work[i];
    }
}
