/*
 * The modes of one axis: what its matrix only multiplies by a number each.
 *
 * The matrix is of the neighbours' coefficients alone, with a diagonal such that a constant is left
 * at rest far from the faces: what is left of the centre is the same everywhere, and not in it. So
 * the rates of slow modes are small numbers, and are known to their own rounding, not to that of 1.
 *
 * An axis that is the same seen from either side has modes that are alike on both, and modes that
 * change sign. Each kind is of half the nodes: with half the sum of each pair of opposite nodes in
 * the place of the lower one and half the difference in that of the upper one (hs_fold), the matrix
 * falls into two, and each is solved by itself. So is a periodic axis, whose waves are cosines and
 * sines from the middle.
 *
 * A matrix that a scaling of the nodes makes symmetric, as it does with radius 1 and with mirrors,
 * is given to LAPACK as such; others (`clamp`, `robin` with radius 2 and 3) as they are. What
 * LAPACK finds is off by rounding over the distance of two rates, so it is put right once, from
 * residuals in extended precision. See docs/numerics.md.
 */
#ifndef HS_ENGINE_MODES_EIGENBASIS_H
#define HS_ENGINE_MODES_EIGENBASIS_H

#include "core/status.h"
#include "engine/modes/axis_matrix.h"

struct hs_eigenbasis {
    int64_t count;
    int64_t even; /* where the axis is mirrored: its even modes, which come first; else 0 */
    /* Of the folded nodes then, and each two squares, of the first `even` and of the rest. */
    double *vector;    /* [node][mode] */
    double *inverse;   /* [mode][node] */
    double *rate;      /* [mode] */
    double condition;  /* of the vectors; 1: orthogonal */
    int64_t slow;      /* the mode of the least rate */
    bool slow_stays;   /* no face pulls, and it is a constant, whose rate is 0; else */
    double slow_off;   /* how far its rate may be off, */
    double slow_mixed; /* and how much it may have of another mode */
};

/* Above it, rounding would cost the transforms more than the digits that they promise. */
extern const double hs_eigenbasis_most_condition;

/* The centre's coefficient is not looked at. HS_BAD_INPUT with the reason where there is no such
 * basis: the modes turn, or are too ill-conditioned; or without OpenBLAS. To be released after
 * failure too. */
enum hs_status hs_eigenbasis_make(const struct hs_axis_matrix *matrix, struct hs_eigenbasis *out,
                                  struct hs_error *err);
void hs_eigenbasis_release(struct hs_eigenbasis *basis);

/* Its even modes, or 0; and how many numbers its vectors are then. */
int64_t hs_eigenbasis_even(const struct hs_axis_matrix *matrix);
static inline int64_t hs_eigenbasis_size(int64_t count, int64_t even)
{
    return even * even + (count - even) * (count - even);
}

/* How much of each mode is in a field; [count] both. */
void hs_eigenbasis_project(const struct hs_eigenbasis *basis, const double *field, double *out);

/* Of the nodes as they are. */
double hs_eigenbasis_vector(const struct hs_eigenbasis *basis, int64_t node, int64_t mode);
double hs_eigenbasis_inverse(const struct hs_eigenbasis *basis, int64_t mode, int64_t node);

#endif
