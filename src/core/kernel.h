/*
 * The kernel contract: what a kernel is, what a call asks of it, and how it describes itself.
 *
 * A kernel is one file in kernels/<device>/NAME.{c,cu} that defines
 *     const struct hs_kernel hs_kernel_<device>_NAME = { ... };
 * The build finds it by its file name; nothing else is edited.
 */
#ifndef HS_CORE_KERNEL_H
#define HS_CORE_KERNEL_H

#include "core/boundary.h"
#include "core/features.h"
#include "core/grid.h"
#include "core/operator.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hs_device { HS_CPU, HS_CUDA, HS_DEVICES };
const char *hs_device_name(enum hs_device device); /* "cpu", "cuda" */

/*
 * The faces at one time level, for kernels that apply the boundary rules themselves
 * (HS_APPLIES_WALLS). data[f] is uniform over the face; if data_field[f] is not NULL, that is used
 * instead (in the field's precision, in device memory, the face's nodes with the lower axis
 * fastest). `data` is taken at the time of the level's input; `prescribed`, for prescribed faces,
 * at the time of its output.
 */
struct hs_face_level {
    double data[HS_FACES];
    double prescribed[HS_FACES];
    const void *data_field[HS_FACES];
    const void *prescribed_field[HS_FACES];
};

/* A source that separates along the last axis (functions/separation.h). One sweep adds to a node:
 *     plane[y][x] * line[z].column + line[z].offset */
struct hs_source_line {
    double column, offset;
};
struct hs_source_tables {
    const double *plane;
    const struct hs_source_line *line; /* [nodes along z] */
};

/* How the source is passed to a kernel call. */
enum hs_source_form {
    HS_SOURCE_IS_UNIFORM,  /* one number per sweep */
    HS_SOURCE_IS_FIELD,    /* one field, added in all sweeps */
    HS_SOURCE_IS_FIELDS,   /* a field for each sweep, for kernels with HS_SOURCE_LEVELS */
    HS_SOURCE_IS_OF_TABLES /* tables for each sweep, for kernels with HS_SOURCE_TABLES */
};

/* The source terms of a call's sweeps, in one of those forms; members of other forms are NULL. */
struct hs_source_view {
    enum hs_source_form form;
    const double *value; /* [steps]; never NULL; zeros in the other forms */
    /* [1] or [steps]: node (0, 0, 0) of the fields, in the field's precision and with its row
     * alignment. `pitch`: elements from node to node along each axis; 1 along x; 0 along y or z if
     * the fields of HS_SOURCE_IS_FIELDS do not change along it. */
    const void *const *field;
    int64_t pitch[HS_AXES];
    /* [steps], planes [y][x] with `pitch`. Values are multiplied by `scale` in double and rounded
     * once. */
    const struct hs_source_tables *tables;
    double scale;
};

/* The field that is added in all sweeps, or NULL. */
static inline const void *hs_source_field(const struct hs_source_view *source)
{
    return source->form == HS_SOURCE_IS_FIELD ? source->field[0] : NULL;
}

/*
 * A three-term recursion, as in the stages of some methods; S is a sweep:
 *
 *     X_n+1 = fma(factor_n, S X_n - X_n-1, S X_n)
 *
 * in the field's precision, at the nodes of the box; other nodes take the value of S. A call of
 * `steps` sweeps begins with `in`, X_0, and leaves X_steps in `out`. With one step `out` may be the
 * field `before`; with more, the four fields must be different.
 */
struct hs_recursion {
    const void *before;   /* X_-1 */
    void *last_but_one;   /* becomes X_steps-1, where steps > 1 */
    const double *factor; /* [steps], rounded to the field's precision */
};

/* Which part of the box a request covers, if a call is split into two (`ends` of the plan). They
 * may be swept at the same time. */
enum hs_sweep_part {
    HS_SWEEP_ALL,
    HS_SWEEP_INSIDE,
    HS_SWEEP_ENDS /* at both ends of the slowest axis at least as many layers as the plan says */
};

/*
 * One call of a kernel: `steps` sweeps over `box`, from `in` to `out`.
 *
 * Pointers are to node (0, 0, 0) of fields in `layout`, in the memory of the kernel's device and in
 * `precision`. Unless the kernel has HS_APPLIES_WALLS, the ghost layers of `in` are already filled
 * (on the CPU they always are) and steps is 1. Nodes outside `box` are not written; beyond the
 * radius they need not be valid. A kernel that applies walls also writes the prescribed and held
 * layers of `out`, and may write elements that are no nodes.
 *
 * `may_copy` concerns nodes outside the box that share a row and a group of 32 bytes (on the CPU
 * 64) with a node of the box. If it is set, a kernel may give them their values of `in`: they are
 * held and already equal, or will be written before they are read. Memory writes whole groups much
 * faster than parts of groups, which it has to read first.
 */
struct hs_sweep {
    enum hs_precision precision;
    struct hs_layout layout;
    struct hs_box box;
    const struct hs_operator *op; /* what one sweep does */
    const void *in;
    void *out;
    int steps;
    struct hs_source_view source;
    const struct hs_face *face;        /* [HS_FACES] */
    const struct hs_face_level *level; /* [steps] */
    bool may_copy;                     /* see above */
    /* The recursion that these sweeps belong to, if the plan has `recursion` and nothing changes
     * with time. NULL: plain sweeps. */
    const struct hs_recursion *recursion;
    enum hs_sweep_part part; /* only this part is written */
    /* If the plan says fused_max_norm: a number in `precision`, in device memory. The call replaces
     * it by the maximum of itself and |out - in| of its last sweep over all nodes where that is not
     * NaN. NULL: not asked for. */
    void *change;
    int threads;   /* CPU: how many to use, at least 1 */
    void *stream;  /* CUDA: cudaStream_t */
    void *scratch; /* of the plan's size; NULL if that is 0 */
};

/* Threads of a block, and the number of planes through which it marches. 0 stands for 1 along axes
 * that are not there; in a wish, 0 means the kernel's own choice. */
struct hs_blocking {
    int threads[HS_AXES];
    int planes;
};

/* The launch for a given call, as `explain` prints it. Counts are per launch. */
struct hs_geometry {
    int64_t points_updated;  /* output points */
    int64_t blocks[HS_AXES]; /* tiles along each axis */
    int64_t launched;        /* blocks in all; they may share the tiles among them */
    int threads[HS_AXES];    /* per block */
    int input_tile[HS_AXES]; /* points a block reads, halo included (0: no tile) */
    int output_tile[HS_AXES];
    int64_t points_loaded;  /* per block, on average, from device memory or cache */
    int64_t points_written; /* per block, on average */
    int64_t shared_bytes;   /* per block */
    double flops_per_point; /* textbook count: multiplications and additions */
};

/* The input of a plan. */
struct hs_case {
    hs_features asked;      /* all that the problem asks for; HS_SOURCE_TABLES if it gets those */
    unsigned source_varies; /* HS_VARIES_...: what the source depends on */
    enum hs_precision precision;
    int dims, radius;
    struct hs_layout layout;
    struct hs_box box;           /* nodes that sweeps update */
    const struct hs_face *face;  /* [HS_FACES]: held, prescribed, wrap */
    int threads;                 /* CPU: at most */
    bool slab;                   /* between calls, layers are exchanged with other ranks */
    int steps;                   /* per call; 0: as many as the kernel prefers */
    struct hs_blocking blocking; /* for kernels with HS_TAKES_BLOCK or HS_TAKES_PLANES: a wish */
};

enum { HS_PLAN_NUMBERS = 192 };

/* How a kernel performs one case on one device. Made once per run and used for all launches. */
struct hs_kernel_plan {
    int steps;           /* most sweeps in a call */
    uint32_t takes;      /* bit n - 1: a call may take n sweeps; 0: any number */
    bool for_any_steps;  /* the other members also hold for a call of fewer steps */
    bool fused_max_norm; /* a call of `steps` can give the last one's max |out - in| */
    int recursion;       /* most sweeps of a recursion in a call; 0: no recursion */
    int ends;            /* layers per end, if a call may be split into two parts; 0: it may not */
    int shift;      /* points by which node 0 of a row should lie beyond a multiple of 32 bytes */
    size_t scratch; /* bytes that are kept from call to call, zero at first */
    struct hs_geometry launch;    /* CUDA: for a call of the case's steps */
    int64_t own[HS_PLAN_NUMBERS]; /* the kernel's own precomputed numbers */
};

struct hs_problem;       /* core/problem.h */
struct hs_device_limits; /* core/device.h */

/* The case of a problem whose fields have this layout, without wishes. */
struct hs_case hs_kernel_case(const struct hs_problem *problem, const struct hs_layout *layout,
                              int threads);

struct hs_kernel {
    const char *name;
    const char *idea;   /* one line */
    const char *origin; /* literature */
    enum hs_device device;
    hs_features features; /* what it declares that it can do: core/features.h */
    int steps;            /* most sweeps one call may fuse */
    /*
     * Called for a case that the features cover, on a device of these limits (NULL on the CPU).
     * Adjusts `out`, which has default values, or explains in `reason` (of `size` bytes) why the
     * kernel cannot do the case. Pure: it does not query a device. NULL: calls of up to `steps`
     * sweeps, whatever the case and the device.
     */
    bool (*plan)(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size);
    /* NULL: this build lacks the kernel. */
    enum hs_status (*sweep)(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                            struct hs_error *err);
};

/* Makes the kernel's plan for the case. False if the kernel cannot do it; `reason` (of `size`
 * bytes; NULL and 0: not wanted) says why. */
bool hs_kernel_plan_make(const struct hs_kernel *kernel, const struct hs_case *of,
                         const struct hs_device_limits *limits, struct hs_kernel_plan *out,
                         char *reason, size_t size);

/* How many sweeps the next call takes if `left` remain, at least 1; `most`: the limit of a call. */
int hs_kernel_plan_takes(const struct hs_kernel_plan *plan, int most, int64_t left);

/* For a launch: the textbook's operations per byte, i.e. those of the points that a block writes
 * over the bytes that it loads; and the fraction of the loads that is halo. */
double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision);
double hs_geometry_halo_share(const struct hs_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
