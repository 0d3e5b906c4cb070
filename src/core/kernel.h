/*
 * The kernel contract: what a kernel is, what it is asked to do, what it says of itself.
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
 * The faces at one time level, for kernels that apply the rules themselves (HS_APPLIES_WALLS).
 * data[f] is uniform over the face, or data_field[f] (in the field's precision, in the device's
 * memory, the face's nodes with the lower axis fastest) where that is not NULL. `data` is taken at
 * the time of the level's input; `prescribed`, for prescribed faces, at the time of its output.
 */
struct hs_face_level {
    double data[HS_FACES];
    double prescribed[HS_FACES];
    const void *data_field[HS_FACES];
    const void *prescribed_field[HS_FACES];
};

/* A source of the form of functions/separation.h along the last axis: what one sweep adds at a node
 * is plane[y][x] * line[z].column + line[z].offset. */
struct hs_source_line {
    double column, offset;
};
struct hs_source_tables {
    const double *plane;
    const struct hs_source_line *line; /* [nodes along z] */
};

/* How the source comes to a call of a kernel. */
enum hs_source_form {
    HS_SOURCE_IS_UNIFORM,  /* a number a sweep */
    HS_SOURCE_IS_FIELD,    /* one field, that all sweeps add */
    HS_SOURCE_IS_FIELDS,   /* a field for each sweep, for kernels with HS_SOURCE_LEVELS */
    HS_SOURCE_IS_OF_TABLES /* tables for each sweep, for kernels with HS_SOURCE_TABLES */
};

/* What the sweeps of a call add, in one of those forms; the other members are NULL. */
struct hs_source_view {
    enum hs_source_form form;
    const double *value; /* [steps]; always there, zero in other forms */
    /* [1] or [steps]: node (0, 0, 0) of the fields, in the field's precision and its alignment of
     * rows; `pitch` elements from node to node along each axis, 1 along x, and 0 along y or z where
     * fields of a form for each sweep do not change. */
    const void *const *field;
    int64_t pitch[HS_AXES];
    /* [steps], planes [y][x] with `pitch`; values times `scale`, in double, are rounded once. */
    const struct hs_source_tables *tables;
    double scale;
};

/* The field that all sweeps add, or NULL. */
static inline const void *hs_source_field(const struct hs_source_view *source)
{
    return source->form == HS_SOURCE_IS_FIELD ? source->field[0] : NULL;
}

/*
 * A recursion of three terms, S a sweep, as the stages of some methods are:
 *
 *     X_n+1 = fma(factor_n, S X_n - X_n-1, S X_n)
 *
 * in the field's precision, at the nodes of the box; others have what S gives them. A call of
 * `steps` sweeps begins with `in`, X_0, and leaves X_steps in `out`, which may be the field of
 * `before` where it makes one; where it makes more, the four are different.
 */
struct hs_recursion {
    const void *before;   /* X_-1 */
    void *last_but_one;   /* becomes X_steps-1, where steps > 1 */
    const double *factor; /* [steps], rounded to the field's precision */
};

/* What a request is about, of a call that is asked for in two (`ends` of the plan). */
enum hs_sweep_part {
    HS_SWEEP_ALL,
    HS_SWEEP_ENDS, /* at either end of the slowest axis as many layers as the plan says, or more; */
    HS_SWEEP_INSIDE /* and the rest, which may be swept at the same time */
};

/*
 * One call of a kernel: `steps` sweeps over `box`, from `in` to `out`.
 *
 * Pointers are to node (0, 0, 0) of fields in `layout`, in the kernel's device's memory and in
 * `precision`. Unless the kernel has HS_APPLIES_WALLS, the ghost layers of `in` are already filled
 * (on the CPU always) and steps is 1. Nodes outside `box` are neither written nor need they be
 * valid beyond the radius. A kernel that applies walls writes prescribed and held layers of `out`
 * too, and may write what is no node.
 *
 * Where `may_copy` is set, a kernel may give nodes outside the box that lie in a row of it, in the
 * same 32 bytes (on the CPU 64) as one of its nodes, the values that they have in `in`: they are
 * held and equal already, or will be written before they are read. Memory writes whole groups of
 * so many bytes much faster than parts of them, which it has to read first.
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
    /* Whose sweeps these are, where the plan has `recursion` and nothing changes with time; NULL:
     * plain ones. */
    const struct hs_recursion *recursion;
    enum hs_sweep_part part; /* nothing else is written */
    /* Where the plan says fused_max_norm: a number in `precision`, in the device's memory, of which
     * the call makes the largest of itself and |out - in| of its last sweep at all nodes but those
     * where that is NaN. NULL: not asked for. */
    void *change;
    int threads;   /* CPU: how many to use, at least 1 */
    void *stream;  /* CUDA: cudaStream_t */
    void *scratch; /* of the plan's size; NULL where that is 0 */
};

/* Threads of a block, and planes it marches through. 0 along axes that are not there stands for 1;
 * as a wish: the kernel's own. */
struct hs_blocking {
    int threads[HS_AXES];
    int planes;
};

/* What the launch for a given call looks like; `explain` prints it. Counts are per launch. */
struct hs_geometry {
    int64_t points_updated;  /* output points */
    int64_t blocks[HS_AXES]; /* tiles along each axis */
    int64_t launched;        /* blocks in all, which may share the tiles between them */
    int threads[HS_AXES];    /* per block */
    int input_tile[HS_AXES]; /* points a block reads, halo included (0: no tile) */
    int output_tile[HS_AXES];
    int64_t points_loaded;  /* per block, in the mean, from device memory or cache */
    int64_t points_written; /* per block, in the mean */
    int64_t shared_bytes;   /* per block */
    double flops_per_point; /* the textbook's count: multiplications and additions */
};

/* What a plan is made for. */
struct hs_case {
    hs_features asked;      /* all that the problem asks for */
    unsigned source_varies; /* HS_VARIES_...: with what the source changes */
    enum hs_precision precision;
    int dims, radius;
    struct hs_layout layout;
    struct hs_box box;           /* nodes that sweeps update */
    const struct hs_face *face;  /* [HS_FACES]: held, prescribed, wrap */
    int threads;                 /* CPU: at most */
    int steps;                   /* of a call; 0: as many as the kernel likes best */
    struct hs_blocking blocking; /* for kernels with HS_TAKES_BLOCK or HS_TAKES_PLANES: a wish */
};

enum { HS_PLAN_NUMBERS = 192 };

/* How a kernel does one case on one device. Made once a run, it is what launches. */
struct hs_kernel_plan {
    int steps;           /* sweeps that a call is asked for, at most */
    uint32_t takes;      /* bit n - 1: a call may take n of them, 1 for one; 0: any number */
    bool for_any_steps;  /* the rest is the same for a call of fewer steps */
    bool fused_max_norm; /* a call of `steps` can give the last one's max |out - in| */
    int recursion;       /* a call may make up to so many sweeps of one; 0: none */
    int ends;            /* layers, of a call that may be asked for in two parts; 0: it may not */
    int shift;           /* points that node 0 of a row should lie beyond a multiple of 32 bytes */
    size_t scratch;      /* bytes that it keeps from call to call, zero when made */
    struct hs_geometry launch;    /* CUDA: of a call of the case's steps */
    int64_t own[HS_PLAN_NUMBERS]; /* what else the kernel has worked out */
};

struct hs_problem;       /* core/problem.h */
struct hs_device_limits; /* core/device.h */

/* Of a problem whose fields lie so; nothing wished. */
struct hs_case hs_kernel_case(const struct hs_problem *problem, const struct hs_layout *layout,
                              int threads);

struct hs_kernel {
    const char *name;
    const char *idea;   /* one line */
    const char *origin; /* literature */
    enum hs_device device;
    hs_features features; /* what it says it can do: core/features.h */
    int steps;            /* most sweeps one call may fuse */
    /*
     * For a case that the features cover, on a device of these limits (NULL on the CPU): changes
     * what is in `out` already, or says in `reason` (of `size` bytes) why it cannot. Pure: it asks
     * no device. NULL: calls of up to `steps` sweeps, whatever the case and the device.
     */
    bool (*plan)(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size);
    /* NULL: this build lacks the kernel. */
    enum hs_status (*sweep)(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                            struct hs_error *err);
};

/* The kernel's plan for the case. False where it cannot do it: `reason` (of `size` bytes) says
 * why. */
bool hs_kernel_plan_make(const struct hs_kernel *kernel, const struct hs_case *of,
                         const struct hs_device_limits *limits, struct hs_kernel_plan *out,
                         char *reason, size_t size);

/* How many sweeps the next call takes when `left` of them are to be done, at least 1; most: that a
 * call may. */
int hs_kernel_plan_takes(const struct hs_kernel_plan *plan, int most, int64_t left);

/* Of a launch: operations per byte as the textbook counts them, those of the points that a block
 * writes over the bytes that it loads; and what share of the loads is halo. */
double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision);
double hs_geometry_halo_share(const struct hs_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
