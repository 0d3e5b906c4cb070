/* Eigenvalues of a small dense real matrix. */
#ifndef HS_ENGINE_MODES_EIGENVALUES_H
#define HS_ENGINE_MODES_EIGENVALUES_H

#include <complex.h>

enum { HS_EIGENVALUES_MAX = 64 }; /* rows */

/*
 * All eigenvalues of `matrix` [n][n], n <= HS_EIGENVALUES_MAX, in no particular order.
 *
 * QR iteration with Wilkinson's shift on the Hessenberg form. Source: Golub and Van Loan, Matrix
 * Computations (2013), 7.4 and 7.5; in complex arithmetic, which needs no double steps.
 */
void hs_eigenvalues(int n, const double *matrix, double complex *out);

#endif
