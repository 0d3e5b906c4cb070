/*
 * Multigrid on the GPU: the levels of engine/multigrid/level.h in device memory, and their V-cycle.
 *
 * The networks are those of the host, bit for bit; but unknowns are not scaled. Each node that is
 * eliminated is so along one axis, so what a node has are six numbers: its edges to the next ones,
 * the inverse of its diagonal, and the two weights by which it is eliminated. Bodies have few
 * materials, and most nodes lie within one; so on most levels few of these are distinct, its edges
 * to the nodes before with them, and a node has the number of its row instead.
 */
#ifndef HS_ENGINE_BACKENDS_CUDA_MULTIGRID_CUH
#define HS_ENGINE_BACKENDS_CUDA_MULTIGRID_CUH

#include "engine/backends/cuda_march.cuh"
#include "engine/multigrid/level.h"

/* Numbers of each node: arrays, NULL where they are 0; or numbers of rows. */
enum { HS_CUDA_ROW = 12 };
struct hs_cuda_rows {
    float *edge[HS_AXES];  /* G to the next node */
    float *inverse;        /* 1/diagonal; 0: it is no unknown */
    float *before, *after; /* what it takes from these, where it is eliminated */
    int number_bytes;      /* 0: arrays */
    void *number;          /* uint8_t or uint16_t */
    /* [rows][HS_CUDA_ROW]: the above in their order, G to the nodes before along x, y and z, and
     * the diagonal */
    float *row;
};

struct hs_cuda_level {
    hs_lattice lattice;
    hs_kept kept[HS_AXES]; /* nodes of the next level along each axis; places in device memory */
    hs_cuda_rows rows;
    double largest;           /* bound of the largest eigenvalue (Gershgorin) */
    float *right, *x, *other; /* [nodes] right side, unknowns, and another */
};

struct hs_cuda_levels {
    int count;
    hs_cuda_level level[HS_LEVELS];
    double *inverse;       /* [nodes][nodes] of the last level, from its right side to x; NULL: 1 */
    cudaGraphExec_t cycle; /* a V-cycle; NULL before the first one */
    cudaStream_t stream;
    int multiprocessors, shared_bytes; /* of the device; the latter of a block, at most */
    march::reduction reduction;
    march::found *here; /* of the reduction, on the host */
    void **piece;       /* [pieces] allocations */
    int pieces, room;
};

/* What is found on the way, in memory that the levels own. Safe to release after failure. */
hs_status hs_cuda_levels_init(hs_cuda_levels *levels, const hs_lattice *finest, cudaStream_t stream,
                              hs_error *err);
void hs_cuda_levels_release(hs_cuda_levels *levels);

/* Memory of so many bytes, that is released with the levels, or by the other before. */
hs_status hs_cuda_levels_take(hs_cuda_levels *levels, size_t bytes, void **out, hs_error *err);
void hs_cuda_levels_drop(hs_cuda_levels *levels, void *memory);

/* Without levels again. */
void hs_cuda_levels_clear(hs_cuda_levels *levels);

/* Makes the levels of the finest network, that of a grid, whose arrays are the levels' own and
 * become the first one's. */
hs_status hs_cuda_levels_make(hs_cuda_levels *levels, const hs_grid *grid,
                              hs_coarse_network *finest, bool floating, hs_error *err);

/* Numbers of rows in the place of a level's arrays, where the rows are few, and the nodes are not.
 */
enum { HS_CUDA_FEW_NODES = 1000 };
hs_status hs_cuda_rows_number(hs_cuda_levels *levels, const hs_lattice *lattice, hs_cuda_rows *rows,
                              hs_error *err);

/* Two passes at once, where a level's form and the device allow it: both steps from 0, and the
 * residual; both steps, to other memory, and if asked for the sum of what hs_cuda_cycle wants. */
bool hs_cuda_pair_serves(const hs_cuda_levels *levels, const hs_cuda_level *level);
hs_status hs_cuda_pair_down(const hs_cuda_levels *levels, const hs_cuda_level *level, float *x,
                            float *residual, hs_error *err);
hs_status hs_cuda_pair_up(const hs_cuda_levels *levels, const hs_cuda_level *level, const float *x,
                          float *out, bool sums, hs_error *err);

/* A V-cycle from `right` of the first level, which is r times per_unit, to its x. The sum of the
 * products of x with that r is in the reduction. */
hs_status hs_cuda_cycle(hs_cuda_levels *levels, double per_unit, const double *r, hs_error *err);

/* Waits for a reduction and tells what it found. */
hs_status hs_cuda_levels_found(const hs_cuda_levels *levels, march::found *out, hs_error *err);

#endif
