/* Evaluates expressions of place and time on a CUDA device. */
#ifndef HS_FUNCTIONS_DEVICE_CUH
#define HS_FUNCTIONS_DEVICE_CUH

#include "core/kernel.h"
#include "core/status.h"
#include "functions/separation.h"
#include "functions/tabulate.h"

#include <cuda_runtime.h>

/* ---- cuda_evaluate.cu ------------------------------------------------------------------------ */

/*
 * An expression in device memory, split by functions/tabulate.h; all zero: none. Parts that are the
 * same at all nodes are computed on the host and passed with the launch, so sin(t) has the host's
 * bits.
 */
struct hs_cuda_function {
    hs_tabulation tabulation;
    struct hs_cuda_step *step; /* [steps] the tabulation's code as steps, on the device */
    int steps, depth;          /* depth: of the stack */
    /* Device memory, not owned: the values of node (0, 0, 0) at the first time of an evaluation;
     * NULL: the table is a single number. */
    double *table[HS_MOST_TABLES];
    int64_t apart[HS_MOST_TABLES]; /* numbers from one time's values to the next */
    int64_t stride[HS_MOST_TABLES][HS_AXES];
};

/* The expression must outlive it. Safe to destroy after failure. */
hs_status hs_cuda_function_create(const hs_expression *expression, const hs_grid *grid,
                                  hs_tables_of which, hs_cuda_function *out, hs_error *err);
void hs_cuda_function_destroy(hs_cuda_function *function);

/* Volume divided by heat capacity of a body's nodes [m^3 K/J], 0 if a node is not free; computed
 * from data in device memory. All zero: no body. */
struct hs_cuda_shares {
    hs_network_form form;
    const void *number;           /* byte and short forms: node (0, 0, 0); same for `capacity` */
    const hs_network_row *row;    /* byte and short forms */
    const double *capacity;       /* array form; not positive: the node is not free */
    const double *width[HS_AXES]; /* m: of the nodes along each axis; NULL: no body */
    int64_t pitch[HS_AXES];       /* elements from node to node */
};

/* A box of nodes, and where to store their values. */
struct hs_cuda_patch {
    int64_t first[HS_AXES];
    int64_t count[HS_AXES];
    int64_t stride[HS_AXES]; /* in elements of `out` */
    double lower[HS_AXES];   /* m: node i lies at lower + n*spacing, n = i + ahead ... */
    double spacing[HS_AXES];
    int64_t ahead[HS_AXES]; /* ... modulo `again` */
    int64_t again[HS_AXES];
    const double *place[HS_AXES]; /* m: if not NULL, node i lies at place[i]; in device memory */
    hs_cuda_shares share;         /* the last factor of the values */
};

/* All nodes of a grid, without strides. place: node positions along each stretched axis, in device
 * memory; NULL: no axis is stretched. */
hs_cuda_patch hs_cuda_patch_of(const hs_grid *grid, const double *const place[HS_AXES]);

/* Times of an evaluation, and where to store the values of each. */
enum { HS_CUDA_TIMES = 8 };
struct hs_cuda_times {
    int count;
    double t[HS_CUDA_TIMES]; /* s */
    void *out[HS_CUDA_TIMES];
};

/* out = scale * value * share at the patch's nodes at each time; evaluated in double, stored in
 * `precision`. The bits are the host's unless the device's sin, exp, ... round differently. */
hs_status hs_cuda_evaluate(const hs_cuda_function *function, const hs_cuda_patch *patch,
                           const hs_cuda_times *times, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err);

/* cudaSuccess if the program has code for the current device. */
cudaError_t hs_cuda_code_present(void);

/* ---- cuda_tables.cu -------------------------------------------------------------------------- */

/* A function with its tables, for the times of an evaluation; all zero: none. */
struct hs_cuda_tables {
    hs_cuda_function left;                 /* the remaining program, evaluated at each node */
    hs_cuda_function part[HS_MOST_TABLES]; /* the tables' functions; unused for single numbers */
    double *memory;                        /* owned */
    double *place[HS_AXES];                /* m: of the nodes along stretched axes; owned */
    bool filled;                           /* tables that do not change with time are filled */
};

/* Takes ownership of `memory`, of hs_tabulation_bytes; NULL with HS_TABLES_OF_NUMBERS. The
 * expression must outlive it. Safe to release after failure. */
hs_status hs_cuda_tables_init(hs_cuda_tables *tables, const hs_expression *expression,
                              const hs_grid *grid, hs_tables_of which, int times, void *memory,
                              hs_error *err);
void hs_cuda_tables_release(hs_cuda_tables *tables);
/* Fills the tables for the first `count` of the times `t`; `left` may then be evaluated at them. */
hs_status hs_cuda_tables_fill(hs_cuda_tables *tables, const hs_grid *grid, int count,
                              const double *t, cudaStream_t stream, hs_error *err);

/* ---- cuda_separation.cu ---------------------------------------------------------------------- */

/* The tables of a source that separates along z (functions/separation.h), in the form that kernels
 * take, for each sweep of a call; all zero: none. */
struct hs_cuda_separation {
    hs_source_tables *level; /* [levels], in device memory */
    int64_t pitch;           /* numbers from row to row of a plane */
    hs_cuda_function plane, column, offset;
    char *memory;
};

/* Bytes per sweep. */
size_t hs_cuda_separation_bytes(const hs_grid *grid);
/* The expression must outlive it. Safe to release after failure. */
hs_status hs_cuda_separation_init(hs_cuda_separation *tables, const hs_separation *separation,
                                  const hs_grid *grid, int levels, hs_error *err);
void hs_cuda_separation_release(hs_cuda_separation *tables);
/* Fills the first `count` levels for the times `t`. */
hs_status hs_cuda_separation_fill(const hs_cuda_separation *tables, const hs_grid *grid, int count,
                                  const double *t, cudaStream_t stream, hs_error *err);

#endif
