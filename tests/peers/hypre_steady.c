/*
 * hypre's multigrid on the case of hypre_steady.py: a cube of N^3 nodes, held walls, a source
 * everywhere, double. Conjugate gradients preconditioned by PFMG or SMG, to a relative residual of
 * 1e-10 or of the third argument. Prints the seconds of set-up and solution, the iterations, and
 * the temperature at the centre.
 *
 *     mpicc -O3 -I/usr/include/hypre hypre_steady.c -lHYPRE -lm -o hypre_steady
 *     mpirun -n 2 hypre_steady 257 pfmg
 *
 * Each rank has a slab along z. Held nodes are not unknowns, so N - 2 planes are shared out.
 */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_struct_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4 }; /* the centre, and half of the symmetric neighbours */

static double residual_of(HYPRE_StructSolver solver)
{
    double norm;
    HYPRE_StructPCGGetFinalRelativeResidualNorm(solver, &norm);
    return norm;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    HYPRE_Init();
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int points = argc > 1 ? atoi(argv[1]) : 257, n = points - 2;
    const double tolerance = argc > 3 ? atof(argv[3]) : 1e-10;
    const int smg = argc > 2 && strcmp(argv[2], "smg") == 0;
    int lower[3] = {0, 0, n * rank / ranks}, upper[3] = {n - 1, n - 1, n * (rank + 1) / ranks - 1};
    const size_t nodes = (size_t)n * (size_t)n * (size_t)(upper[2] - lower[2] + 1);
    int offset[ENTRIES][3] = {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    HYPRE_Int entry[ENTRIES] = {0, 1, 2, 3};

    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix A;
    HYPRE_StructVector b, x;
    HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
    HYPRE_StructGridSetExtents(grid, lower, upper);
    HYPRE_StructGridAssemble(grid);
    HYPRE_StructStencilCreate(3, ENTRIES, &stencil);
    for (int e = 0; e < ENTRIES; e++)
        HYPRE_StructStencilSetElement(stencil, e, offset[e]);
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &A);
    HYPRE_StructMatrixSetSymmetric(A, 1);
    HYPRE_StructMatrixInitialize(A);
    double *values = malloc(nodes * ENTRIES * sizeof *values);
    for (size_t i = 0; i < nodes; i++) {
        const size_t at[3] = {i % (size_t)n, i / (size_t)n % (size_t)n,
                              i / ((size_t)n * (size_t)n) + (size_t)lower[2]};
        values[ENTRIES * i] = 6.0;
        for (int a = 0; a < 3; a++)
            values[ENTRIES * i + 1 + (size_t)a] = at[a] > 0 ? -1.0 : 0.0;
    }
    HYPRE_StructMatrixSetBoxValues(A, lower, upper, ENTRIES, entry, values);
    HYPRE_StructMatrixAssemble(A);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &b);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &x);
    HYPRE_StructVectorInitialize(b);
    HYPRE_StructVectorInitialize(x);
    for (size_t i = 0; i < nodes; i++)
        values[i] = 1.0 / ((double)(points - 1) * (double)(points - 1));
    HYPRE_StructVectorSetBoxValues(b, lower, upper, values);
    memset(values, 0, nodes * sizeof *values);
    HYPRE_StructVectorSetBoxValues(x, lower, upper, values);
    HYPRE_StructVectorAssemble(b);
    HYPRE_StructVectorAssemble(x);

    HYPRE_StructSolver solver, within;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    HYPRE_StructPCGCreate(MPI_COMM_WORLD, &solver);
    HYPRE_StructPCGSetTol(solver, tolerance);
    HYPRE_StructPCGSetMaxIter(solver, 200);
    HYPRE_StructPCGSetTwoNorm(solver, 1);
    if (smg) {
        HYPRE_StructSMGCreate(MPI_COMM_WORLD, &within);
        HYPRE_StructSMGSetMaxIter(within, 1);
        HYPRE_StructSMGSetTol(within, 0.0);
        HYPRE_StructSMGSetZeroGuess(within);
        HYPRE_StructPCGSetPrecond(solver, HYPRE_StructSMGSolve, HYPRE_StructSMGSetup, within);
    } else {
        HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &within);
        HYPRE_StructPFMGSetMaxIter(within, 1);
        HYPRE_StructPFMGSetTol(within, 0.0);
        HYPRE_StructPFMGSetZeroGuess(within);
        HYPRE_StructPFMGSetRelaxType(within, 2); /* red-black: the fastest symmetric one */
        HYPRE_StructPCGSetPrecond(solver, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, within);
    }
    HYPRE_StructPCGSetup(solver, A, b, x);
    const double ready = MPI_Wtime();
    HYPRE_StructPCGSolve(solver, A, b, x);
    const double end = MPI_Wtime();
    HYPRE_Int iterations;
    HYPRE_StructPCGGetNumIterations(solver, &iterations);
    int centre[3] = {n / 2, n / 2, n / 2};
    if (lower[2] <= n / 2 && n / 2 <= upper[2]) {
        double T;
        HYPRE_StructVectorGetValues(x, centre, &T);
        printf("{\"peer\": \"hypre %s\", \"version\": \"%s\", \"points\": %d, \"iterations\": %d, "
               "\"residual\": %.3g, "
               "\"set_up\": %.6f, \"solution\": %.6f, \"seconds\": %.6f, \"centre\": %.12g}\n",
               smg ? "SMG" : "PFMG", HYPRE_RELEASE_VERSION, points, (int)iterations,
               residual_of(solver), ready - begin, end - ready, end - begin, T);
    }
    free(values);
    MPI_Finalize();
    return 0;
}
