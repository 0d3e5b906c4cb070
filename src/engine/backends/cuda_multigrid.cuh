/*
 * Multigrid on the GPU: the levels of engine/multigrid/level.h in device memory, and their V-cycle.
 *
 * The networks are those of the host, bit for bit, but unknowns are not scaled. A node is
 * eliminated along one axis only, so it has six numbers: its edges to the next nodes, the inverse
 * of its diagonal, and the two weights by which it is eliminated. Bodies have few materials, and
 * most nodes lie within one. So on most levels few rows of these numbers and of the edges to the
 * nodes before are distinct, and a node has the number of its row instead.
 */
#ifndef HS_ENGINE_BACKENDS_CUDA_MULTIGRID_CUH
#define HS_ENGINE_BACKENDS_CUDA_MULTIGRID_CUH

#include "engine/backends/cuda_common.cuh"
#include "engine/backends/cuda_march.cuh"
#include "engine/multigrid/level.h"

/* Numbers of each node: arrays, NULL where all are 0; or rows by number. */
enum { HS_CUDA_ROW = 12 };
struct hs_cuda_rows {
    float *edge[HS_AXES];  /* G to the next node */
    float *inverse;        /* 1/diagonal; 0: no unknown */
    float *before, *after; /* weights of these neighbours, where it is eliminated */
    int number_bytes;      /* 0: arrays */
    void *number;          /* uint8_t or uint16_t */
    /* [rows][HS_CUDA_ROW]: the above in this order, then G to the nodes before along x, y and z,
     * and the diagonal */
    float *row;
};

struct hs_cuda_level {
    hs_lattice lattice;
    hs_kept kept[HS_AXES]; /* nodes of the next level along each axis; places in device memory */
    hs_cuda_rows rows;
    double largest;           /* bound of the largest eigenvalue (Gershgorin) */
    float *right, *x, *other; /* [nodes] right side, unknowns, and work space */
};

struct hs_cuda_levels {
    int count;
    hs_cuda_level level[HS_LEVELS];
    double *inverse;       /* [nodes][nodes] of the last level's matrix; NULL: that is diagonal */
    cudaGraphExec_t cycle; /* a V-cycle; NULL before the first one */
    cudaStream_t stream;
    int multiprocessors, shared_bytes; /* of the device; shared: a block's most */
    march::reduction reduction;
    march::found *here; /* the reduction's result, on the host */
    hs_cuda_pool pool;  /* the memory of all levels */
};

/* Takes memory for reductions. Safe to release after failure. */
hs_status hs_cuda_levels_init(hs_cuda_levels *levels, const hs_lattice *finest, cudaStream_t stream,
                              hs_error *err);
void hs_cuda_levels_release(hs_cuda_levels *levels);

/* Drops all levels. */
void hs_cuda_levels_clear(hs_cuda_levels *levels);

/* The finest network of levels to come, of numbers that are still to be set. */
hs_status hs_cuda_levels_take(hs_cuda_levels *levels, const hs_lattice *lattice,
                              hs_coarse_network *out, hs_error *err);
/* Makes the levels from it; it is that of a grid. Its arrays become the first level's. */
hs_status hs_cuda_levels_make(hs_cuda_levels *levels, const hs_grid *grid,
                              hs_coarse_network *finest, bool floating, hs_error *err);

/* Replaces a level's arrays by numbers of rows, if the rows are few and the nodes are not. */
enum { HS_CUDA_FEW_NODES = 1000 };
hs_status hs_cuda_rows_number(hs_cuda_levels *levels, const hs_lattice *lattice, hs_cuda_rows *rows,
                              hs_error *err);

/* Two passes at once, where a level's form and the device allow it. Down: both steps from 0, and
 * the residual. Up: both steps, to other memory, and if asked for hs_cuda_cycle's sum. */
bool hs_cuda_pair_serves(const hs_cuda_levels *levels, const hs_cuda_level *level);
hs_status hs_cuda_pair_down(const hs_cuda_levels *levels, const hs_cuda_level *level, float *x,
                            float *residual, hs_error *err);
hs_status hs_cuda_pair_up(const hs_cuda_levels *levels, const hs_cuda_level *level, const float *x,
                          float *out, bool sums, hs_error *err);

/* A V-cycle from `right` of the first level, which is r times per_unit, to its x. The sum of the
 * products of x and r times per_unit is in the reduction. */
hs_status hs_cuda_cycle(hs_cuda_levels *levels, double per_unit, const double *r, hs_error *err);

/* Waits for a reduction and returns its result. */
hs_status hs_cuda_levels_found(const hs_cuda_levels *levels, march::found *out, hs_error *err);

#endif
