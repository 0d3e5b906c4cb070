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
#include "core/status.h"
#include "core/stencil.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hs_device { HS_CPU, HS_CUDA, HS_DEVICES };
const char *hs_device_name(enum hs_device device); /* "cpu", "cuda" */

/*
 * The faces at one time level, for kernels that apply the rules themselves (HS_APPLIES_WALLS).
 * drive[f] is uniform over the face, or drive_field[f] (in the field's precision, in the device's
 * memory, the face's nodes with the lower axis fastest) where that is not NULL. `drive` is taken at
 * the time of the level's input; `hold`, for prescribed faces, at the time of its output.
 */
struct hs_face_level {
    double drive[HS_FACES];
    double hold[HS_FACES];
    const void *drive_field[HS_FACES];
    const void *hold_field[HS_FACES];
};

/* A source of the form of core/separation.h along the last axis: what one sweep adds at a node is
 * plane[y][x] * line[z].column + line[z].offset. */
struct hs_source_line {
    double column, offset;
};
struct hs_source_tables {
    const double *plane;
    const struct hs_source_line *line; /* [nodes along z] */
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
    const struct hs_stencil *stencil;
    const void *in;
    void *out;
    const void *source;         /* what each sweep adds, same layout; or NULL */
    const double *source_value; /* [steps] where source is NULL: added uniformly by each sweep */
    /* Or, for kernels with HS_SOURCE_LEVELS, a field for each sweep: [steps] pointers to node
     * (0, 0, 0), with elements from node to node along each axis, 1 along x, and 0 along y or z
     * where the field does not change. Rows are aligned as those of `in`. NULL: none. */
    const void *const *source_level;
    int64_t source_pitch[HS_AXES];
    int steps;
    const struct hs_face *face;        /* [HS_FACES] */
    const struct hs_face_level *level; /* [steps] */
    int threads;                       /* CPU: how many to use, at least 1 */
    void *stream;                      /* CUDA: cudaStream_t */
    void *scratch;                     /* what the kernel's `scratch` asked for; else NULL */
    bool may_copy;                     /* see above */
    /* Instead of source_level, for kernels with HS_SOURCE_TABLES: [steps], planes [y][x] with
     * source_pitch; values times source_scale, in double, are rounded once. NULL: none. */
    const struct hs_source_tables *source_tables;
    double source_scale;
    /* Where the plan says fused_max_norm: a number in `precision`, in the device's memory, of which
     * the call makes the largest of itself and |out - in| of its last sweep at all nodes but those
     * where that is NaN. NULL: not asked for. */
    void *change;
};

/* What the launch for a given sweep looks like; `explain` prints it. Counts are per launch. */
struct hs_geometry {
    int64_t points_updated; /* output points */
    int64_t blocks[HS_AXES];
    int64_t whole;           /* columns along z that are one block each, not blocks[HS_Z] of them */
    int64_t sharing;         /* blocks that share the tiles between them; 0: each has one */
    int threads[HS_AXES];    /* per block */
    int input_tile[HS_AXES]; /* points a block reads, halo included (0: no tile) */
    int output_tile[HS_AXES];
    int64_t points_loaded;  /* per block, in the mean, from device memory or cache */
    int64_t points_written; /* per block, in the mean */
    int64_t shared_bytes;   /* per block */
    double flops_per_point; /* the textbook's count: multiplications and additions */
};

struct hs_problem;       /* core/problem.h */
struct hs_tiling;        /* core/tiling.h */
struct hs_device_limits; /* core/device.h */

/* How a kernel does one problem on one device; made once a run. */
struct hs_kernel_plan {
    int steps;           /* sweeps that a call is asked for, at most */
    int few;             /* a call takes so many, or up to `few`; 0: any number of them */
    bool fused_max_norm; /* a call of `steps` can tell the last one's change */
};

struct hs_kernel {
    const char *name;
    const char *idea;   /* one line */
    const char *origin; /* literature */
    enum hs_device device;
    hs_features features; /* what it says it can do: core/features.h */
    int steps;            /* most sweeps one call may fuse */
    /*
     * For a problem that the features cover, on a device of these limits (NULL: it has none, as a
     * CPU): changes what is in `out` already, or says in `reason` (of `size` bytes) why it cannot.
     * Pure. NULL: calls of up to `steps` sweeps, whatever the problem and the device.
     */
    bool (*plan)(const struct hs_problem *problem, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size);
    const struct hs_tiling *tiling; /* core/tiling.h; NULL on the CPU */
    /* Bytes of the device's memory that it keeps from call to call on one grid, whatever a call's
     * steps; zero when made. NULL: none. The request has no fields, levels or stream, the whole
     * grid as its box, and coefficients of zero. */
    size_t (*scratch)(const struct hs_sweep *sweep);
    enum hs_status (*sweep)(const struct hs_sweep *sweep, struct hs_error *err);
};

/* The kernel's plan for the problem. False where it cannot do it: `reason` (of `size` bytes) says
 * why. */
bool hs_kernel_plan_make(const struct hs_kernel *kernel, const struct hs_problem *problem,
                         const struct hs_device_limits *limits, struct hs_kernel_plan *out,
                         char *reason, size_t size);

/* How many sweeps the next call takes when `left` of them are to be done, at least 1; most: that a
 * call may. */
int hs_kernel_plan_takes(const struct hs_kernel_plan *plan, int most, int64_t left);

#ifdef __cplusplus
}
#endif

#endif
