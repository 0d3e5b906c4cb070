/*
 * The equations' matrix on the device, in double: numbers of rows, or arrays.
 *
 * Rows of nodes along x are padded to a length at which passes can take four nodes at once. Padding
 * nodes are no unknowns, have no edges, and are 0 in every vector. So sums, the network's levels
 * and all passes treat them as nodes; only copies and fields leave them out.
 */
#ifndef HS_ENGINE_BACKENDS_CUDA_MATRIX_CUH
#define HS_ENGINE_BACKENDS_CUDA_MATRIX_CUH

#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/equations.h"

#include <cuda_runtime.h>

enum { HS_CUDA_MATRIX_ROW = 8 }; /* G along x, y, z, sink, 1/C */

struct hs_cuda_matrix {
    const hs_equations *equations; /* outlive it */
    hs_lattice grid, lattice;      /* the latter with padding: arrays are [nodes] of it */
    int64_t nodes;
    hs_network_form form;
    void *number;
    double *row; /* [rows][HS_CUDA_MATRIX_ROW] */
    double *edge[HS_AXES], *sink, *rate;
    double shift;      /* that the sinks contain */
    int64_t sinks_set; /* of the equations, which these are */
    hs_cuda_pool pool; /* its memory, and that of vectors; owned */
    cudaStream_t stream;
};

/* The nodes with padding, for a network of that form. */
hs_lattice hs_cuda_matrix_lattice(const hs_grid *grid, const bool wrap[HS_AXES],
                                  hs_network_form form);

/* Makes all but the sinks. */
hs_status hs_cuda_matrix_init(hs_cuda_matrix *matrix, const hs_equations *equations,
                              cudaStream_t stream, hs_error *err);
/* Sets the sinks for the equations' sinks and shift. */
hs_status hs_cuda_matrix_shift(hs_cuda_matrix *matrix, hs_error *err);

/* An array with `size` bytes for each node, zero-filled. */
hs_status hs_cuda_nodes_take(hs_cuda_matrix *matrix, size_t size, void **out, hs_error *err);
/* Copies values of `size` bytes of the grid's nodes from the host; padding stays as it is. */
hs_status hs_cuda_nodes_put(hs_cuda_matrix *matrix, size_t size, const void *from, void *to,
                            hs_error *err);
/* ---- rows, for passes ------------------------------------------------------------------------ */

namespace matrix
{

/* A node's row. rate: 1/C, 0 at nodes that are not free. */
struct numbers {
    enum { NUMBERS = HS_CUDA_MATRIX_ROW };
    typedef double type;
    double edge[HS_AXES], sink, rate;
    unsigned number;

    __device__ static numbers read(const double *row, unsigned number)
    {
        const double2 one = __ldg((const double2 *)row), two = __ldg((const double2 *)row + 1);
        return {{one.x, one.y, two.x}, two.y, __ldg(row + 4), number};
    }
};

template <typename NUMBER>
using palette = march::palette<NUMBER, numbers>;

template <typename NUMBER>
__device__ double rate_of(const palette<NUMBER> &rows, unsigned node)
{
    return rows.member(4, node);
}

struct arrays {
    static const bool wide = false;
    const double *of[HS_AXES], *sinks, *rates;

    __device__ double edge(int axis, unsigned node) const
    {
        return of[axis] ? __ldg(of[axis] + node) : 0.0;
    }
    __device__ numbers none() const
    {
        return {};
    }
    __device__ march::kept_edge<double> no_edge() const
    {
        return {};
    }
    __device__ void keep(numbers &row, unsigned node) const
    {
        row = {{edge(HS_X, node), edge(HS_Y, node), edge(HS_Z, node)},
               __ldg(sinks + node),
               __ldg(rates + node),
               0};
    }
    __device__ void keep_edge(march::kept_edge<double> &to, int axis, unsigned node) const
    {
        to.edge = edge(axis, node);
    }
};

inline __device__ double rate_of(const arrays &rows, unsigned node)
{
    return __ldg(rows.rates + node);
}

__device__ __forceinline__ void keep_most(double &most, double value)
{
    most = value > most ? value : most;
}

/* Calls run(rows) for the matrix' form. */
template <typename Run>
hs_status with_rows(const hs_cuda_matrix &of, Run run)
{
    switch (of.form) {
    case HS_NETWORK_BYTES: return run(palette<uint8_t>{(const uint8_t *)of.number, of.row});
    case HS_NETWORK_SHORTS: return run(palette<uint16_t>{(const uint16_t *)of.number, of.row});
    default: return run(arrays{{of.edge[0], of.edge[1], of.edge[2]}, of.sink, of.rate});
    }
}

} // namespace matrix

#endif
