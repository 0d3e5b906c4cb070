/*
 * The backend contract: a device that holds the in and out buffers and performs sweeps on them.
 *
 * A run calls create, uploads all nodes, then any number of sweep / reduce / download, then
 * destroy. All functions return a status and add to `err`; if a backend cannot run here,
 * `available` says why.
 */
#ifndef HS_CORE_BACKEND_H
#define HS_CORE_BACKEND_H

#include "core/device.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/reduction.h"
#include "core/transforms.h"

/*
 * A run of consecutive sweeps with the same step. Sweep s (0 <= s < count) goes from
 * hs_span_time(span, s) to hs_span_time(span, s + 1). `start` and `first` belong to the plan's
 * interval, not to the span, so the times, and with them the results, have the same bits however a
 * run is cut into spans.
 */
struct hs_span {
    int64_t count;
    int64_t first; /* sweeps of this step between `start` and the first sweep of the span */
    double start;  /* s */
    double step;   /* s: of a sweep */
    double pace;   /* s: from the start of a sweep to that of the next, if it differs from the step;
                      else 0 */
    struct hs_operator op;
    bool keep_last;   /* reduce then knows the change in the last sweep */
    bool keep_before; /* with keep_last: the whole field before that sweep also stays available */
};

static inline double hs_span_time(const struct hs_span *span, int64_t sweep)
{
    return span->start +
           (double)(span->first + sweep) * (span->pace > 0.0 ? span->pace : span->step);
}

/* Identifies a machine's hardware and driver, for data about the machine that is kept between
 * runs. */
struct hs_device_fingerprint {
    char device[192]; /* "NVIDIA H200, compute capability 9.0, 132 multiprocessors" */
    char driver[128]; /* "CUDA 13.0, 580.65.06"; "none" where there is no such thing */
};

struct hs_device_krylov; /* core/krylov.h */
struct hs_halo;          /* core/halo.h */
struct hs_shared_file;   /* core/shared_file.h */
struct hs_vectors;       /* core/vectors.h */
struct hs_backend_state; /* each backend's own */
struct hs_readback;      /* each backend's own: a snapshot of the field on its way to the host */

struct hs_backend {
    const char *name; /* "cpu", "cuda" */
    enum hs_device device;
    enum hs_status (*available)(int device, struct hs_error *err);
    int (*devices)(void); /* how many there are; NULL: one */
    /* The layout of a problem's fields in the device's memory, before the kernel's preferences. */
    struct hs_layout (*layout)(const struct hs_problem *problem);
    /* Bytes of device memory that a run takes, including the copy of the field for download_begin.
     * create compares the need without that copy with the free memory. */
    double (*memory)(const struct hs_problem *problem, const struct hs_kernel *kernel);
    /* Allocates, on the problem's solver.device, for its solver.threads. HS_DEVICE if memory is
     * short, with the needed and free bytes. The problem and the kernel must outlive the state. */
    enum hs_status (*create)(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             struct hs_backend_state **out, struct hs_error *err);
    /* values: dense [nz][ny][nx] of the box, in the problem's precision, in host memory; the caller
     * may reuse them on return */
    enum hs_status (*upload)(struct hs_backend_state *state, const struct hs_box *box,
                             const void *values, struct hs_error *err);
    /* Sets all nodes at once if several processes share the field; each makes its own nodes
     * (engine/initial.h) from the problem's initial field or `from` a file. NULL: the caller makes
     * the nodes and uploads them. */
    enum hs_status (*begin)(struct hs_backend_state *state, const struct hs_stored *from,
                            struct hs_error *err);
    enum hs_status (*download)(struct hs_backend_state *state, const struct hs_box *box,
                               void *values, struct hs_error *err);
    /* Memory of `bytes` for values to upload. Their upload then needs no copy on the host and runs
     * while the next values are made. The caller's until that upload. May be NULL. */
    enum hs_status (*upload_space)(struct hs_backend_state *state, size_t bytes, void **values,
                                   struct hs_error *err);
    /* The same for the field one sweep before; available after a sweep with keep_before. */
    enum hs_status (*download_before)(struct hs_backend_state *state, const struct hs_box *box,
                                      void *values, struct hs_error *err);
    /*
     * The whole field as it is now, for another thread to read while sweeps continue.
     * download_begin does not wait until the field reaches the host; *out is NULL if there is no
     * memory for a copy, and the caller then uses download. download_part: *values is the box, a
     * contiguous part of the field in memory order, dense, valid until the next call; `next` (or
     * NULL) is the box that the next call will ask for, and is fetched meanwhile. download_end
     * releases the copy; it must come before the next download_begin and before destroy.
     * download_part and download_end may be called by another thread than the other functions of
     * this state, one call at a time. All three may be NULL.
     */
    enum hs_status (*download_begin)(struct hs_backend_state *state, struct hs_readback **out,
                                     struct hs_error *err);
    enum hs_status (*download_part)(struct hs_readback *readback, const struct hs_box *box,
                                    const struct hs_box *next, const void **values,
                                    struct hs_error *err);
    void (*download_end)(struct hs_readback *readback);
    /* If several processes share the field, each writes its own part. *seen: all of them can see
     * the file; else nothing is written, and download brings the values. NULL: one process has the
     * whole field. */
    enum hs_status (*write)(struct hs_backend_state *state, const struct hs_shared_file *file,
                            bool *seen, struct hs_error *err);
    /* Returns when the sweeps are done, so that they can be timed. */
    enum hs_status (*sweep)(struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err);
    /* Partials of the pieces that the state's problem owns (core/reduction.h), in order; owned by
     * the state, valid until the next call. hs_reduce combines them. */
    enum hs_status (*reduce)(struct hs_backend_state *state, const struct hs_partial **out,
                             struct hs_error *err);
    /* For measuring only: as sweep, and returns its time by the device's clock, or the host's if
     * the device has none. */
    enum hs_status (*time_sweeps)(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err);
    /*
     * For measuring only: copies the field `count` times over the other one as fast as the device
     * can, which is the ceiling for a sweep that reads and writes each value once. *bytes: traffic
     * of one copy, read plus written; *seconds: time of all copies, as above. Returns when done.
     * May be NULL.
     */
    enum hs_status (*copy)(struct hs_backend_state *state, int64_t count, int64_t *bytes,
                           double *seconds, struct hs_error *err);
    /*
     * For measuring only: from now on each kernel call, and each copy, uses the next of `pairs` (a
     * power of two) pairs of fields with equal contents in turn, so that a pair has left the cache
     * before it is used again. Afterwards the field's values mean nothing. May be NULL.
     */
    enum hs_status (*rotate)(struct hs_backend_state *state, int pairs, struct hs_error *err);
    double (*cache)(int device); /* bytes of the last-level cache; 0: not known */
    /* Measures the device's peak rates, in some tenths of a second. `threads` 0: the backend
     * chooses. May be NULL. */
    enum hs_status (*ceilings)(int device, int threads, enum hs_precision precision,
                               struct hs_ceilings *out, struct hs_error *err);
    /* The device's limits, for explaining launches. May be NULL. */
    enum hs_status (*limits)(int device, struct hs_device_limits *out, struct hs_error *err);
    /* `threads` likewise. */
    enum hs_status (*fingerprint)(int device, int threads, struct hs_device_fingerprint *out,
                                  struct hs_error *err);
    /* The hardware, for reports: "2 threads, AMD EPYC", "NVIDIA H200" */
    const char *(*describe)(const struct hs_backend_state *state);
    void (*destroy)(struct hs_backend_state *state); /* accepts NULL */
    const struct hs_transforms *transforms;          /* for methods of modes; NULL: none */
    const struct hs_vectors *vectors;                /* for methods of many stages */
    const struct hs_device_krylov *krylov;           /* for conjugate gradients; NULL: the host's */
    const struct hs_halo *halo;                      /* for ranks; NULL: none */
};

#endif
