/*
 * OpenBLAS, for operations on matrices. It is loaded when first needed: linked, it would take 4 ms
 * of every start, and more on machines of many cores, since it creates its threads at once.
 */
#ifndef HS_ENGINE_MODES_OPENBLAS_H
#define HS_ENGINE_MODES_OPENBLAS_H

#include "core/status.h"

#include <stdint.h>

enum { HS_BLAS_BY_ROWS = 101, HS_BLAS_AS_IT_IS = 111, HS_BLAS_TRANSPOSED = 112 }; /* of CBLAS */

/* LAPACK is Fortran: matrices are column-major, lengths of character arguments come last. */
struct hs_openblas {
    void (*cblas_dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b, int ldb,
                        double beta, double *c, int ldc);
    /* eigenvalues and eigenvectors of a symmetric tridiagonal, a symmetric, a general matrix */
    void (*dstevd_)(const char *job, const int *n, double *diagonal, double *beside, double *z,
                    const int *ldz, double *work, const int *lwork, int *iwork, const int *liwork,
                    int *info, size_t);
    void (*dsyevd_)(const char *job, const char *half, const int *n, double *a, const int *lda,
                    double *values, double *work, const int *lwork, int *iwork, const int *liwork,
                    int *info, size_t, size_t);
    void (*dgeev_)(const char *left, const char *right, const int *n, double *a, const int *lda,
                   double *real, double *imaginary, double *vl, const int *ldvl, double *vr,
                   const int *ldvr, double *work, const int *lwork, int *info, size_t, size_t);
    /* the inverse, by its LU decomposition */
    void (*dgetrf_)(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
    void (*dgetri_)(const int *n, double *a, const int *lda, const int *pivot, double *work,
                    const int *lwork, int *info);
    void (*openblas_set_num_threads)(int threads);
};

/* *out stays valid as long as the program runs. HS_BAD_INPUT where the library is missing, with the
 * package to install; HS_DEVICE where there is no room for it. */
enum hs_status hs_openblas_find(const struct hs_openblas **out, struct hs_error *err);

/* Sets the number of threads, which wait for each other: small matrices are not worth that. To be
 * called before any other; HS_DEVICE where there is no room for what threads need. */
enum hs_status hs_openblas_use_threads(const struct hs_openblas *blas, int threads,
                                       struct hs_error *err);

/* out [m][n] = factor * a [m][k] * b [k][n] + keep * out, row by row. */
void hs_openblas_product(const struct hs_openblas *blas, int64_t m, int64_t n, int64_t k,
                         double factor, const double *a, const double *b, double keep, double *out);

#endif
