/*
 * The backend contract: a device that holds the in and out buffers and sweeps them.
 *
 * The life of one run: create, upload all nodes, any number of sweep / reduce / download, destroy.
 * All functions return a status and add to `err`; a backend that cannot run here says why in
 * `available`.
 */
#ifndef HS_CORE_BACKEND_H
#define HS_CORE_BACKEND_H

#include "core/device.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/reduction.h"
#include "core/transforms.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A stretch of sweeps of one step. Sweep s (0 <= s < count) goes from hs_span_time(span, s) to
 * hs_span_time(span, s + 1). `start` and `first` belong to the plan's interval, not to the stretch,
 * so the times, and with them the result, are the same bits however a run is cut into stretches.
 */
struct hs_span {
    int64_t count;
    int64_t first; /* sweeps of this step between `start` and the first sweep of the stretch */
    double start;  /* s */
    double step;   /* s: of a sweep */
    double pace; /* s: from the begin of a sweep to the next one's, where that is not the step; 0 */
    struct hs_operator op;
    bool keep_last;   /* so that reduce knows the last sweep's change */
    bool keep_before; /* with keep_last: and the field before that sweep, whole, stays at hand */
};

static inline double hs_span_time(const struct hs_span *span, int64_t sweep)
{
    return span->start +
           (double)(span->first + sweep) * (span->pace > 0.0 ? span->pace : span->step);
}

/* What is the same as long as a machine stays as it is, for what is kept about it between runs. */
struct hs_device_fingerprint {
    char device[192]; /* "NVIDIA H200, compute capability 9.0, 132 multiprocessors" */
    char driver[128]; /* "CUDA 13.0, 580.65.06"; "none" where there is no such thing */
};

struct hs_device_krylov; /* core/krylov.h */
struct hs_halo;          /* core/halo.h */
struct hs_shared_file;   /* core/shared_file.h */
struct hs_vectors;       /* core/vectors.h */
struct hs_backend_state; /* each backend's own */
struct hs_readback;      /* likewise: a field of one moment on its way to the host */

struct hs_backend {
    const char *name; /* "cpu", "cuda" */
    enum hs_device device;
    enum hs_status (*available)(int device, struct hs_error *err);
    int (*devices)(void); /* how many there are; NULL: one */
    /* How a problem's fields lie in the device's memory, before a kernel's wishes. */
    struct hs_layout (*layout)(const struct hs_problem *problem);
    /* Bytes of the device's memory that a run takes, the copy of the field for download_begin
     * included; create compares what it takes without that copy with what is free. */
    double (*memory)(const struct hs_problem *problem, const struct hs_kernel *kernel);
    /* Allocates; HS_DEVICE when memory is short, saying needed and free bytes. The problem and the
     * kernel outlive the state. `threads` 0: the backend chooses. */
    enum hs_status (*create)(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             int device, int threads, struct hs_backend_state **out,
                             struct hs_error *err);
    /* values: dense [nz][ny][nx] of the box, in the problem's precision, host memory; the caller's
     * again on return */
    enum hs_status (*upload)(struct hs_backend_state *state, const struct hs_box *box,
                             const void *values, struct hs_error *err);
    /* All nodes at once, where several processes make them, each its own (engine/initial.h): of the
     * problem's initial field, or `from` a file. NULL: they are made here, and uploaded. */
    enum hs_status (*begin)(struct hs_backend_state *state, const struct hs_stored *from,
                            struct hs_error *err);
    enum hs_status (*download)(struct hs_backend_state *state, const struct hs_box *box,
                               void *values, struct hs_error *err);
    /* Memory of `bytes` for values whose upload then spares a copy on the host and goes on while
     * the next are made: the caller's until that upload. May be NULL. */
    enum hs_status (*upload_space)(struct hs_backend_state *state, size_t bytes, void **values,
                                   struct hs_error *err);
    /* The same of the field one sweep before, as long as keep_before holds. */
    enum hs_status (*download_before)(struct hs_backend_state *state, const struct hs_box *box,
                                      void *values, struct hs_error *err);
    /*
     * The whole field as it is now, for another thread to read while sweeps go on. begin does not
     * wait for the field to reach the host; *out is NULL where memory for a copy is lacking, and
     * then download does it. part: *values is the box, a stretch of the field in memory order,
     * dense, until the next call; `next`, or NULL, is the box to be asked for then, which comes
     * meanwhile. end gives it back: before the next begin, and before destroy. These two may be
     * called by another thread than the others of this state, one call at a time. All three may be
     * NULL.
     */
    enum hs_status (*download_begin)(struct hs_backend_state *state, struct hs_readback **out,
                                     struct hs_error *err);
    enum hs_status (*download_part)(struct hs_readback *readback, const struct hs_box *box,
                                    const struct hs_box *next, const void **values,
                                    struct hs_error *err);
    void (*download_end)(struct hs_readback *readback);
    /* Where several processes have the field: each writes what it has of it. *seen: the file is
     * there for all of them; else nothing is written, and download brings the values. NULL: one
     * process has it. */
    enum hs_status (*write)(struct hs_backend_state *state, const struct hs_shared_file *file,
                            bool *seen, struct hs_error *err);
    /* Returns when the sweeps are done, so that their time can be measured. */
    enum hs_status (*sweep)(struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err);
    /* Partials of the pieces that the state's problem owns (core/reduction.h), in order: the
     * state's, until the next call. hs_reduce puts them together. */
    enum hs_status (*reduce)(struct hs_backend_state *state, const struct hs_partial **out,
                             struct hs_error *err);
    /* For measuring only: as sweep, and how long it took by the device's own clock, or the host's
     * where it has none. */
    enum hs_status (*time_sweeps)(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err);
    /*
     * For measuring only: copies the field `count` times over the other one, as fast as the device
     * can, which is the ceiling of a sweep that reads and writes each value once. *bytes: what one
     * copy moves, read plus written; *seconds: what all took, as above. Returns when done. May be
     * NULL.
     */
    enum hs_status (*copy)(struct hs_backend_state *state, int64_t count, int64_t *bytes,
                           double *seconds, struct hs_error *err);
    /*
     * For measuring only: from now on each call of the kernel, and each copy, takes the next of
     * `pairs` (a power of two) pairs of fields with equal contents in turn, so that none is still
     * in the cache when it is its turn again. After this the field's values mean nothing. May be
     * NULL.
     */
    enum hs_status (*rotate)(struct hs_backend_state *state, int pairs, struct hs_error *err);
    double (*cache)(int device); /* bytes of the last cache before memory; 0 where not known */
    /* Measures what the device can do at most, in some tenths of a second. `threads` as for create.
     * May be NULL. */
    enum hs_status (*ceilings)(int device, int threads, enum hs_precision precision,
                               struct hs_ceilings *out, struct hs_error *err);
    /* What the device is able to do, where launches are worth explaining. May be NULL. */
    enum hs_status (*limits)(int device, struct hs_device_limits *out, struct hs_error *err);
    /* `threads` as for create. */
    enum hs_status (*fingerprint)(int device, int threads, struct hs_device_fingerprint *out,
                                  struct hs_error *err);
    /* What it runs on, for reports: "2 threads, AMD EPYC", "NVIDIA H200" */
    const char *(*describe)(const struct hs_backend_state *state);
    void (*destroy)(struct hs_backend_state *state); /* accepts NULL */
    const struct hs_transforms *transforms;          /* for methods of modes; NULL: none */
    const struct hs_vectors *vectors;                /* for methods of many stages; NULL: none */
    const struct hs_device_krylov *krylov;           /* for conjugate gradients; NULL: the host's */
    const struct hs_halo *halo;                      /* for ranks; NULL: none */
};

#ifdef __cplusplus
}
#endif

#endif
