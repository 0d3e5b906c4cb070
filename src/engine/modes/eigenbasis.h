/*
 * The modes of one axis: vectors that its matrix multiplies by a number, their rate.
 *
 * The matrix consists of the neighbours' coefficients, with a diagonal that leaves a constant at
 * rest far from the faces. The rest of the centre's coefficient is the same everywhere and is left
 * out. So the rates of slow modes are small numbers, with the rounding of their own size, not that
 * of 1.
 *
 * An axis that is the same seen from either side has even and odd modes, each for half the nodes.
 * When each pair of opposite nodes is replaced by half its sum, in the lower node's place, and half
 * its difference, in the upper node's (hs_fold), the matrix splits into two, which are solved
 * separately. This includes periodic axes, whose waves are cosines and sines from the middle.
 *
 * A matrix that a scaling of the nodes makes symmetric, as with radius 1 and with mirrors, goes to
 * LAPACK as a symmetric one; others (`clamp`, `robin` with radius 2 and 3) as they are. LAPACK's
 * results are off by rounding over the distance of two rates, so they are corrected once, from
 * residuals in extended precision. See docs/numerics.md.
 */
#ifndef HS_ENGINE_MODES_EIGENBASIS_H
#define HS_ENGINE_MODES_EIGENBASIS_H

#include "core/status.h"
#include "engine/modes/axis_matrix.h"

struct hs_eigenbasis {
    int64_t count;
    int64_t even; /* where the axis is mirrored: number of even modes, which come first; else 0 */
    /* If mirrored, of folded nodes: two squares each, of the first `even` and of the rest. */
    double *vector;    /* [node][mode] */
    double *inverse;   /* [mode][node] */
    double *rate;      /* [mode] */
    double condition;  /* of the vectors; 1: orthogonal */
    int64_t slow;      /* the mode of smallest |rate| */
    bool slow_stays;   /* no face pulls: that mode is a constant, its rate 0; else */
    double slow_off;   /* how far its rate may be off, */
    double slow_mixed; /* and how much of another mode it may contain */
};

/* Ignores the centre's coefficient. HS_BAD_INPUT with the reason where there is no such basis:
 * rates are complex, modes are too ill-conditioned, or OpenBLAS is missing. Release after failure
 * too. */
enum hs_status hs_eigenbasis_make(const struct hs_axis_matrix *matrix, struct hs_eigenbasis *out,
                                  struct hs_error *err);
void hs_eigenbasis_release(struct hs_eigenbasis *basis);

/* The number of even modes, or 0; and the number of elements of `vector`, or of `inverse`, then. */
int64_t hs_eigenbasis_even(const struct hs_axis_matrix *matrix);
static inline int64_t hs_eigenbasis_size(int64_t count, int64_t even)
{
    return even * even + (count - even) * (count - even);
}

/* The amplitude of each mode in a field; [count] both. */
void hs_eigenbasis_project(const struct hs_eigenbasis *basis, const double *field, double *out);

/* Elements for nodes that are not folded. */
double hs_eigenbasis_vector(const struct hs_eigenbasis *basis, int64_t node, int64_t mode);
double hs_eigenbasis_inverse(const struct hs_eigenbasis *basis, int64_t mode, int64_t node);

#endif
