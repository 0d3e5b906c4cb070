/* What varies over place and time, evaluated on a CUDA device. */
#ifndef HS_FUNCTIONS_DEVICE_CUH
#define HS_FUNCTIONS_DEVICE_CUH

#include "core/kernel.h"
#include "core/problem.h"
#include "functions/partial.h"
#include "functions/product.h"
#include "functions/separation.h"

#include <cuda_runtime.h>

/* ---- cuda_evaluate.cu -------------------------------------------------------------------------
 */

/* A program in device memory; zero: none. */
struct hs_cuda_program {
    hs_instruction *code;
    int length;
};

/* Whether the program has code for the current device: cudaSuccess if it has. */
cudaError_t hs_cuda_code_present(void);

hs_status hs_cuda_program_create(const hs_expression *expression, hs_cuda_program *out,
                                 hs_error *err);
void hs_cuda_program_destroy(hs_cuda_program *program);

/* A box of nodes, and where the value of each goes. */
struct hs_cuda_patch {
    int64_t first[HS_AXES];
    int64_t count[HS_AXES];
    int64_t stride[HS_AXES]; /* elements of `out` */
    double lower[HS_AXES];   /* m: node i lies at lower + i*spacing */
    double spacing[HS_AXES];
};

/* Moments for which values are wanted, and where those of each go. */
enum { HS_CUDA_TIMES = 8 };
struct hs_cuda_moments {
    int count;
    double t[HS_CUDA_TIMES]; /* s */
    void *out[HS_CUDA_TIMES];
};

/* out = scale * value at the patch's nodes at each moment; evaluated in double, stored in
 * `precision`, with the bits of the host but where the device's sin, exp, ... round differently. */
hs_status hs_cuda_evaluate(const hs_cuda_program *program, const hs_cuda_patch *patch,
                           const hs_cuda_moments *moments, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err);

/* out = scale * the product of `part` ([nodes of the patch], dense) and the factors' values at each
 * moment, with the bits of the whole expression. */
hs_status hs_cuda_apply_factors(const hs_product *product, const double *part,
                                const hs_cuda_patch *patch, const hs_cuda_moments *moments,
                                double scale, hs_precision precision, cudaStream_t stream,
                                hs_error *err);

/* Whether a whole program fits into the launch: hs_cuda_evaluate_short then does what
 * hs_cuda_evaluate does several times as fast, and needs no hs_cuda_program. */
bool hs_cuda_is_short(const hs_expression *expression);
hs_status hs_cuda_evaluate_short(const hs_expression *expression, const hs_cuda_patch *patch,
                                 const hs_cuda_moments *moments, double scale,
                                 hs_precision precision, cudaStream_t stream, hs_error *err);

/* ---- cuda_separation.cu ---------------------------------------------------------------------- */

/* The tables of a source of the form of functions/separation.h, for as many sweeps as a call makes;
 * zero: none. */
struct hs_cuda_tables {
    hs_separation separation;
    int levels;
    hs_source_tables *level; /* [levels], in device memory */
    int64_t
        stride[HS_AXES]; /* numbers from node to node of a plane, 0 along the separation's axis */
    hs_cuda_program plane, column, offset;
    char *memory;
};

/* Whether the problem's source changes in time and has that form. */
bool hs_cuda_tables_suit(const hs_problem *problem, hs_separation *out);
double hs_cuda_tables_bytes(const hs_problem *problem, const hs_separation *separation, int levels);
/* Safe to release after failure. */
hs_status hs_cuda_tables_init(hs_cuda_tables *tables, const hs_problem *problem,
                              const hs_separation *separation, int levels, hs_error *err);
void hs_cuda_tables_release(hs_cuda_tables *tables);
/* The first `count` levels at the times `t`; `nodes` are all of the grid's. */
hs_status hs_cuda_tables_fill(const hs_cuda_tables *tables, const hs_cuda_patch *nodes, int count,
                              const double *t, cudaStream_t stream, hs_error *err);
/* out = scale * what the tables of each moment say, with the bits of the whole expression. */
hs_status hs_cuda_tables_combine(const hs_cuda_tables *tables, const hs_cuda_patch *patch,
                                 const hs_cuda_moments *moments, double scale,
                                 hs_precision precision, cudaStream_t stream, hs_error *err);

/* ---- cuda_partial.cu ------------------------------------------------------------------------- */

/* A source's expression taken apart, with its tables for as many sweeps as a call makes; zero:
 * none. */
struct hs_cuda_partial {
    hs_partial plan;
    int levels;
    bool filled;    /* tables that do not change with time are */
    double *memory; /* owned */
    double *table[HS_PARTIAL_TABLES];
    int64_t apart[HS_PARTIAL_TABLES]; /* numbers from a moment's values to the next one's */
    int64_t stride[HS_PARTIAL_TABLES][HS_AXES];
    hs_cuda_program program[HS_PARTIAL_TABLES];
};

bool hs_cuda_partial_suit(const hs_problem *problem, hs_partial *out);
double hs_cuda_partial_bytes(const hs_problem *problem, const hs_partial *plan, int levels);
/* Takes over `memory`, of so many bytes. Safe to release after failure. */
hs_status hs_cuda_partial_init(hs_cuda_partial *partial, const hs_problem *problem,
                               const hs_partial *plan, int levels, void *memory, hs_error *err);
void hs_cuda_partial_release(hs_cuda_partial *partial);
/* The tables at the first `count` of the times `t`; `nodes` are all of the grid's. */
hs_status hs_cuda_partial_fill(hs_cuda_partial *partial, const hs_cuda_patch *nodes, int count,
                               const double *t, cudaStream_t stream, hs_error *err);
/* As hs_cuda_evaluate, at the moments that the tables were filled for. */
hs_status hs_cuda_partial_evaluate(const hs_cuda_partial *partial, const hs_cuda_patch *patch,
                                   const hs_cuda_moments *moments, double scale,
                                   hs_precision precision, cudaStream_t stream, hs_error *err);

#endif
