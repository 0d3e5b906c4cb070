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
#include "core/grid.h"
#include "core/status.h"
#include "core/stencil.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hs_device { HS_CPU, HS_CUDA, HS_DEVICES };
const char *hs_device_name(enum hs_device device); /* "cpu", "cuda" */

/*
 * The faces at one time level, for kernels that apply the rules themselves (`own_ghosts`).
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
 * `precision`. Unless the kernel says own_ghosts, the ghost layers of `in` are already filled (on
 * the CPU always) and steps is 1. Nodes outside `box` are neither written nor need they be valid
 * beyond the radius. A kernel with own_ghosts writes prescribed and held layers of `out` too, and
 * may write what is no node.
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
    /* Or, for kernels that say source_levels, a field for each sweep: [steps] pointers to node
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
    /* Instead of source_level, for kernels that say source_tables: [steps], planes [y][x] with
     * source_pitch; values times source_scale, in double, are rounded once. NULL: none. */
    const struct hs_source_tables *source_tables;
    double source_scale;
    /* Where the kernel says tells_change: a number in `precision`, in the device's memory, of which
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

struct hs_problem; /* core/problem.h */
struct hs_tiling;  /* core/tiling.h */

/* Of a descriptor's `dims`, `radius` and `precision`. */
enum {
    HS_ALL_DIMS = 1u << 1 | 1u << 2 | 1u << 3,
    HS_ALL_RADII = 1u << 1 | 1u << 2 | 1u << 3,
    HS_ALL_PRECISIONS = 1u << HS_FLOAT | 1u << HS_DOUBLE
};

struct hs_kernel {
    const char *name;
    const char *idea;   /* one line */
    const char *origin; /* literature */
    enum hs_device device;
    unsigned dims; /* 1u << dims for each it can do; likewise the next two */
    unsigned radius;
    unsigned precision; /* 1u << enum hs_precision */
    int steps;          /* most sweeps one call may fuse */
    /* How many of them it can do and pay, for such a stencil in this precision, and are asked for.
     * NULL: all. */
    int (*fuses)(int dims, int radius, enum hs_precision precision);
    /* The same of a problem, where it may be more or fewer. NULL: as `fuses` says. */
    int (*steps_for)(const struct hs_problem *problem);
    /* Of so many sweeps that are to be done, up to those, how many a call takes, at least one:
     * where not just any number is compiled in. NULL: all, as for kernels that tell a change. */
    int (*takes)(enum hs_precision precision, int sweeps);
    /* Applies the boundary rules between the sweeps that it fuses. On CUDA it needs no filled
     * ghosts in `in` either; on the CPU they are filled for every kernel. */
    bool own_ghosts;
    bool uniform;       /* its sources and face values must not differ from point to point */
    bool source_levels; /* takes a source field for each sweep, `source_level` */
    bool source_tables; /* ... or `source_tables`, where face values are uniform */
    /* Whether, of this problem, a call of as many sweeps as it is asked for at most can tell the
     * last one's `change`. NULL: never. */
    bool (*tells_change)(const struct hs_problem *problem);
    /* Whether the kernel can do this problem, on its device, as far as the members above do not
     * say; if not, `reason` (of `size` bytes) says why. NULL: it can do all. */
    bool (*suits)(const struct hs_problem *problem, char *reason, size_t size);
    const struct hs_tiling *tiling; /* core/tiling.h; NULL on the CPU */
    /* Bytes of the device's memory that it keeps from call to call on one grid, whatever a call's
     * steps; zero when made. NULL: none. The request has no fields, levels or stream, the whole
     * grid as its box, and coefficients of zero. */
    size_t (*scratch)(const struct hs_sweep *sweep);
    enum hs_status (*sweep)(const struct hs_sweep *sweep, struct hs_error *err);
};

/* Most sweeps that a call of the kernel is asked for, with such a stencil in this precision. */
int hs_kernel_steps(const struct hs_kernel *kernel, int dims, int radius,
                    enum hs_precision precision);

/* The same of this problem. */
int hs_kernel_steps_for(const struct hs_kernel *kernel, const struct hs_problem *problem);

/* How many sweeps the next call of the kernel takes when `left` of them are to be done, at least 1;
 * most: that a call may. */
int hs_kernel_takes(const struct hs_kernel *kernel, enum hs_precision precision, int most,
                    int64_t left);

/* Whether the kernel can do it; if not, `reason` (of `size` bytes) says what it can do. */
bool hs_kernel_can(const struct hs_kernel *kernel, int dims, int radius,
                   enum hs_precision precision, char *reason, size_t size);

/* As above, and whether it suits this problem on its device. */
bool hs_kernel_suits(const struct hs_kernel *kernel, const struct hs_problem *problem, char *reason,
                     size_t size);

#ifdef __cplusplus
}
#endif

#endif
