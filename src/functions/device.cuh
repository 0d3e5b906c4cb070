/* What varies over place and time, evaluated on a CUDA device. */
#ifndef HS_FUNCTIONS_DEVICE_CUH
#define HS_FUNCTIONS_DEVICE_CUH

#include "core/kernel.h"
#include "core/status.h"
#include "functions/separation.h"
#include "functions/tabulate.h"

#include <cuda_runtime.h>

/* ---- cuda_evaluate.cu ------------------------------------------------------------------------ */

/*
 * An expression in device memory, taken apart as functions/tabulate.h says; zero: none. What is the
 * same at all nodes is worked out on the host, and travels with the launch; so sin(t) has the
 * host's bits.
 */
struct hs_cuda_function {
    hs_tabulation tabulation;
    struct hs_cuda_step *step; /* [steps] the tabulation's code as steps, on the device */
    int steps, depth;          /* of its stack */
    /* Device memory that another owns, of a node's value at one of the times of an evaluation;
     * NULL: of a number. */
    double *table[HS_MOST_TABLES];
    int64_t apart[HS_MOST_TABLES]; /* numbers from one time's values to the next one's */
    int64_t stride[HS_MOST_TABLES][HS_AXES];
};

/* The expression outlives it. Safe to destroy after failure. */
hs_status hs_cuda_function_create(const hs_expression *expression, const hs_grid *grid,
                                  hs_tables_of which, hs_cuda_function *out, hs_error *err);
void hs_cuda_function_destroy(hs_cuda_function *function);

/* Volume over heat capacity of a body's nodes [m^3 K/J], 0 where they are not free; as what is in
 * device memory says it. Zero: there is no body. */
struct hs_cuda_shares {
    hs_network_form form;
    const void *number;           /* of a palette: node (0, 0, 0), as `capacity` */
    const hs_network_row *row;    /* of a palette */
    const double *capacity;       /* as arrays; not positive: the node is not free */
    const double *width[HS_AXES]; /* m, of nodes along each axis; NULL: there is no body */
    int64_t pitch[HS_AXES];       /* elements from node to node */
};

/* A box of nodes, and where the value of each goes. */
struct hs_cuda_patch {
    int64_t first[HS_AXES];
    int64_t count[HS_AXES];
    int64_t stride[HS_AXES]; /* elements of `out` */
    double lower[HS_AXES];   /* m: node i lies at lower + n*spacing, n = i + ahead ... */
    double spacing[HS_AXES];
    int64_t ahead[HS_AXES]; /* ... less `again` where that is not below it */
    int64_t again[HS_AXES];
    const double *place[HS_AXES]; /* m: or, where it is not NULL, there; in device memory */
    hs_cuda_shares share;         /* what values are multiplied by, last */
};

/* All nodes of a grid; where the values go is left open. place: in device memory, of all nodes
 * along each stretched axis; NULL: there is none. */
hs_cuda_patch hs_cuda_patch_of(const hs_grid *grid, const double *const place[HS_AXES]);

/* Times for which values are wanted, and where those of each go. */
enum { HS_CUDA_TIMES = 8 };
struct hs_cuda_times {
    int count;
    double t[HS_CUDA_TIMES]; /* s */
    void *out[HS_CUDA_TIMES];
};

/* out = scale * value * share at the patch's nodes at each moment; evaluated in double, stored in
 * `precision`, with the bits of the host but where the device's sin, exp, ... round differently. */
hs_status hs_cuda_evaluate(const hs_cuda_function *function, const hs_cuda_patch *patch,
                           const hs_cuda_times *times, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err);

/* Whether the program has code for the current device: cudaSuccess if it has. */
cudaError_t hs_cuda_code_present(void);

/* ---- cuda_tables.cu -------------------------------------------------------------------------- */

/* A function with its tables, for as many times as an evaluation has; zero: none. */
struct hs_cuda_tables {
    hs_cuda_function left;                 /* what is evaluated at each node */
    hs_cuda_function part[HS_MOST_TABLES]; /* what the tables hold; none of numbers */
    double *memory;                        /* owned */
    double *place[HS_AXES]; /* m, of the nodes along axes that are stretched; owned */
    bool filled;            /* tables that do not change with time are */
};

/* Takes over `memory`, as much as the tabulation's bytes; NULL with HS_TABLES_OF_NUMBERS. The
 * expression outlives it. Safe to release after failure. */
hs_status hs_cuda_tables_init(hs_cuda_tables *tables, const hs_expression *expression,
                              const hs_grid *grid, hs_tables_of which, int times, void *memory,
                              hs_error *err);
void hs_cuda_tables_release(hs_cuda_tables *tables);
/* The tables at the first `count` of the times `t`, for which `left` may then be evaluated. */
hs_status hs_cuda_tables_fill(hs_cuda_tables *tables, const hs_grid *grid, int count,
                              const double *t, cudaStream_t stream, hs_error *err);

/* ---- cuda_separation.cu ---------------------------------------------------------------------- */

/* The tables of a source of the form of functions/separation.h along z, as kernels take them, for
 * as many sweeps as a call makes; zero: none. */
struct hs_cuda_separation {
    hs_source_tables *level; /* [levels], in device memory */
    int64_t pitch;           /* numbers from row to row of a plane */
    hs_cuda_function plane, column, offset;
    char *memory;
};

/* Bytes for one sweep. */
size_t hs_cuda_separation_bytes(const hs_grid *grid);
/* The expression outlives it. Safe to release after failure. */
hs_status hs_cuda_separation_init(hs_cuda_separation *tables, const hs_separation *separation,
                                  const hs_grid *grid, int levels, hs_error *err);
void hs_cuda_separation_release(hs_cuda_separation *tables);
/* The first `count` levels at the times `t`. */
hs_status hs_cuda_separation_fill(const hs_cuda_separation *tables, const hs_grid *grid, int count,
                                  const double *t, cudaStream_t stream, hs_error *err);

#endif
