/*
 * How fast kernels are, and how close to the ceiling of their device's memory.
 *
 * Each is proven against the CPU reference, on the same grid and data, before it is timed; a kernel
 * that fails is not timed. Then its sweeps are timed in turn with copies of a field within the
 * device's memory, so that other load on the machine affects both alike. A sweep moves at least 2
 * words a point, one read and one written; these bytes a second over the copy's rate are its
 * fraction of the ceiling.
 *
 * A grid whose fields fit into the device's last cache is measured twice: with the one pair of
 * fields that a run has, which stays in the cache, and with so many pairs in turn that all of them
 * come from memory, as those of a larger grid would.
 *
 * Measuring uses the backend contract only; the command prints. engine/measure/timing.h times
 * sweeps, for others, too.
 */
#ifndef HS_ENGINE_MEASURE_BENCH_H
#define HS_ENGINE_MEASURE_BENCH_H

#include "core/backend.h"
#include "core/problem.h"
#include "engine/measure/timing.h"

enum { HS_BENCH_MOST = 64 }; /* kernels */

/* What is swept: a stencil, or a body whose network has this form (core/network.h). */
enum hs_bench_case {
    HS_BENCH_STENCIL,
    HS_BENCH_BYTES,
    HS_BENCH_SHORTS,
    HS_BENCH_ARRAYS,
    HS_BENCH_CASES
};
const char *hs_bench_case_name(enum hs_bench_case which); /* "stencil", "bytes", ... */

struct hs_bench_request {
    enum hs_bench_case which;
    int dims;
    int64_t points[HS_AXES]; /* 1 along axes that are not there */
    int radius;
    enum hs_precision precision;
    int threads; /* 0: as many as the machine has */
    int repeats; /* samples, at most; fewer where they would take long, but 3 at least */
};

/*
 * The case on which kernels are compared: random values in [1, 2), and sweeps that keep them there.
 * A stencil: fixed boundaries; coefficients all different, positive, of sum 1. A body: insulated;
 * boxes of several materials, few or many, or fields of random conductivity and capacity.
 */
struct hs_bench {
    struct hs_bench_request request;
    struct hs_problem problem;
    double step;          /* s */
    int64_t updated;      /* points that a sweep updates */
    int64_t proof_sweeps; /* sweeps that the proof compares */
    int kernels_fields;   /* how many kernels hold in the host's memory besides these three: */
    void *initial;        /* [nz][ny][nx] */
    void *expected;       /* after proof_sweeps, by the reference */
    void *spare;
};

/* A measurement, with the fields in memory or in the cache. */
struct hs_bench_figures {
    int pairs;                  /* of fields, swept in turn; 0: not measured */
    int64_t in_sample;          /* sweeps in a sample */
    struct hs_samples seconds;  /* of one sweep */
    struct hs_samples copy;     /* bytes a second, read plus written; count 0: no copy */
    struct hs_samples fraction; /* of the bandwidth of the copy taken beside it; count 0: no copy */
};

enum hs_bench_place { HS_BENCH_MEMORY, HS_BENCH_CACHE, HS_BENCH_PLACES };
const char *hs_bench_place_name(enum hs_bench_place place); /* "memory", "cache" */

struct hs_bench_row {
    const struct hs_kernel *kernel;
    char device[128]; /* what the backend says it runs on */
    bool proven;      /* else the rest is not set */
    double apart;     /* largest |T - reference| after proof_sweeps; infinite where the field after
                         timing is none that such sweeps can lead to */
    double bound;     /* upper limit of `apart`: 0 in double */
    struct hs_bench_figures figures[HS_BENCH_PLACES];
};

/* Makes the problem. Release after failure too. */
enum hs_status hs_bench_init(struct hs_bench *bench, const struct hs_bench_request *request,
                             struct hs_error *err);

/* Makes the fields and the reference's answer, by `proof_sweeps` sweeps of the reference. Errors:
 * HS_DEVICE where memory is short. */
enum hs_status hs_bench_expect(struct hs_bench *bench, int64_t proof_sweeps, struct hs_error *err);
void hs_bench_release(struct hs_bench *bench);

/* Proves, then times. A kernel that fails its proof is no error: `proven` is false. */
enum hs_status hs_bench_kernel(struct hs_bench *bench, const struct hs_backend *backend,
                               const struct hs_kernel *kernel, struct hs_bench_row *out,
                               struct hs_error *err);

/* The copy bandwidth [bytes/s]: median over the kernels' medians; NaN where there is none. */
double hs_bench_copy(const struct hs_bench_row *rows, int count, enum hs_bench_place place);

/* Points updated [1e9/s] by a sweep that takes `seconds`, and bytes a second at the minimum of 2
 * words a point. */
double hs_bench_gcells(const struct hs_bench *bench, double seconds);
double hs_bench_bytes(const struct hs_bench *bench, double seconds);

#endif
