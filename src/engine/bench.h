/*
 * How fast kernels are, and how near to the ceiling of their device's memory.
 *
 * Each is proven against the CPU reference, on the same grid and data, before it is timed; one that
 * fails is not timed. Then its sweeps are timed in turn with copies of a field within the device's
 * memory, so that what else the machine does falls on both alike. A sweep moves at least 2 words a
 * point, one read and one written: that over the copy's rate is its share of the ceiling.
 *
 * Measuring goes through the backend contract only; printing is the command's.
 */
#ifndef HS_ENGINE_BENCH_H
#define HS_ENGINE_BENCH_H

#include "core/backend.h"
#include "core/problem.h"

struct hs_bench_request {
    int dims;
    int64_t points[HS_AXES]; /* 1 along axes that are not there */
    int radius;
    enum hs_precision precision;
    int device;  /* of the backend */
    int threads; /* 0: as many as the machine has */
    int repeats; /* samples, at most; fewer where they would take long, but 3 at least */
};

/* The case on which kernels are compared: fixed boundaries; coefficients no two alike, positive,
 * of sum 1, so that values stay where they are; random values in [1, 2). */
struct hs_bench {
    struct hs_bench_request request;
    struct hs_problem problem;
    struct hs_stencil stencil;
    int64_t updated;      /* points that a sweep updates */
    int64_t proof_sweeps; /* sweeps that the proof compares */
    void *initial;        /* [nz][ny][nx] */
    void *expected;       /* after proof_sweeps, by the reference */
    void *spare;
};

/* Of the samples of one measurement. */
struct hs_bench_samples {
    int count;
    double min, median, max;
};

struct hs_bench_row {
    const struct hs_kernel *kernel;
    char device[128];                /* what the backend says it runs on */
    bool proven;                     /* else the rest is not set */
    double apart;                    /* largest |T - reference| after proof_sweeps */
    double bound;                    /* what it may be: 0 in double */
    int64_t in_sample;               /* sweeps of a sample */
    struct hs_bench_samples seconds; /* of one sweep */
    struct hs_bench_samples copy;    /* bytes a second, read plus written; count 0: no copy */
    struct hs_bench_samples share;   /* of the copy taken beside it; count 0: no copy */
};

/* Makes the case and the reference's answer, which takes as long as `proof_sweeps` of it. Errors:
 * HS_DEVICE where memory is short. Release after failure too. */
enum hs_status hs_bench_init(struct hs_bench *bench, const struct hs_bench_request *request,
                             int64_t proof_sweeps, struct hs_error *err);
void hs_bench_release(struct hs_bench *bench);

/* Proves, then times. A kernel that fails its proof is no error: `proven` is false. */
enum hs_status hs_bench_kernel(struct hs_bench *bench, const struct hs_backend *backend,
                               const struct hs_kernel *kernel, struct hs_bench_row *out,
                               struct hs_error *err);

/* Of a row: updated points [1e9/s] of a sweep that takes `seconds`, and bytes a second at the floor
 * of 2 words a point. */
double hs_bench_gcells(const struct hs_bench *bench, double seconds);
double hs_bench_bytes(const struct hs_bench *bench, double seconds);

#endif
