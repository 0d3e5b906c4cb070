/*
 * The parts of the CUDA backend: memory, copies, the source, the faces, and the reductions. cuda.cu
 * puts them together.
 */
#ifndef HS_ENGINE_BACKENDS_CUDA_PARTS_CUH
#define HS_ENGINE_BACKENDS_CUDA_PARTS_CUH

#include "core/backend.h"
#include "core/round.h"
#include "engine/backends/cuda_common.cuh"
#include "engine/backends/cuda_staging.cuh"
#include "engine/walls/face_data.h"
#include "functions/device.cuh"

#include <cuda_runtime.h>

/* ---- cuda_memory.cu -------------------------------------------------------------------------- */

/* The layout of the problem's fields. */
hs_layout hs_cuda_layout(const hs_problem *problem);
/* Bytes of a whole field. */
static inline size_t hs_cuda_field_bytes(const hs_layout *layout, hs_precision precision)
{
    return (size_t)layout->elements * hs_precision_size(precision);
}
/* Bytes of a whole run, optional memory included. */
double hs_cuda_memory(const hs_problem *problem, const hs_kernel *kernel);
/* Whether the memory that the run cannot do without is free; else how much that is, and what grid
 * would fit. */
hs_status hs_cuda_memory_check(const hs_problem *problem, const hs_kernel *kernel, hs_error *err);

/* Bytes that optional allocations leave free, for what kernels, CUDA graphs and the driver need
 * later. */
const double hs_cuda_left_free = 0x1p28;
/* Takes optional memory; *out is NULL where too little is free. */
hs_status hs_cuda_spare(double bytes, void **out, hs_error *err);

/* ---- cuda_limits.cu -------------------------------------------------------------------------- */

/* What does not change about a device. */
struct hs_cuda_device {
    hs_device_limits limits;
    hs_device_fingerprint fingerprint;
    double cache;          /* bytes of L2 */
    char description[384]; /* for reports */
};

/* Queried once, since some of it takes the driver milliseconds. */
hs_status hs_cuda_device_of(int device, const hs_cuda_device **out, hs_error *err);
hs_status hs_cuda_limits(int device, hs_device_limits *out, hs_error *err);
hs_status hs_cuda_fingerprint(int device, int threads, hs_device_fingerprint *out, hs_error *err);
double hs_cuda_cache(int device); /* bytes of L2; 0 where there is no such device */

/* ---- cuda_copy.cu ---------------------------------------------------------------------------- */

/* Starts the copy of a box between a field, given by its node (0, 0, 0), and dense host memory;
 * does not wait for it. */
hs_status hs_cuda_copy_begin(const hs_cuda_staging *staging, const hs_box *box, void *dense,
                             void *field, bool to_device, hs_error *err);

/* The same through the staging. Returns when `dense` may be used again: the values are there, or on
 * their way to the device. Values in hs_cuda_staging_space are uploaded from where they are. */
hs_status hs_cuda_download(hs_cuda_staging *staging, const hs_box *box, void *dense, void *field,
                           hs_error *err);
hs_status hs_cuda_upload(hs_cuda_staging *staging, const hs_box *box, const void *dense,
                         void *field, hs_error *err);

/* Copies a box of one field to the same box of another; does not wait for it. */
hs_status hs_cuda_copy_field(const hs_cuda_staging *staging, const hs_box *box, void *from,
                             void *to, hs_error *err);

/* ---- cuda_readback.cu ------------------------------------------------------------------------ */

/* A copy of the field on the device, and a stream of its own that takes it to the host, so that
 * sweeps may go on. Zero: none yet. */
struct hs_readback {
    int device;
    char *copy;              /* of a whole field, ghosts included */
    bool lacking;            /* there is no memory for it */
    cudaEvent_t taken;       /* after the copy */
    hs_cuda_staging staging; /* with that stream */
    hs_box box[2];           /* in the halves of the staging */
    bool there[2];           /* there, or on its way */
};

/* Copies `field` (an allocation) as it is after the work submitted to the stream of `sweeps` so
 * far. HS_OK with readback->lacking where there is no memory. Safe to release after failure. */
hs_status hs_cuda_readback_begin(hs_readback *readback, int device, const hs_cuda_staging *sweeps,
                                 const char *field, hs_error *err);
hs_status hs_cuda_readback_part(hs_readback *readback, const hs_box *box, const hs_box *next,
                                const void **values, hs_error *err);
void hs_cuda_readback_release(hs_readback *readback);

/* ---- cuda_moving.cu -------------------------------------------------------------------------- */

/* Nodes of walls whose data change along them and in time at once; zero: none. */
struct hs_cuda_moving {
    const hs_moving *of;
    hs_precision precision;
    cudaStream_t stream;
    int64_t *at;          /* [count] elements from node (0, 0, 0), on the device */
    double *there;        /* [count] values for these, on the device */
    hs_cuda_pool pool;    /* the memory of both */
    hs_cuda_staging here; /* ... on the host, which makes more while these are on their way */
};

/* `of` outlives it. Safe to release after failure. */
hs_status hs_cuda_moving_init(hs_cuda_moving *moving, const hs_moving *of, const hs_layout *layout,
                              hs_precision precision, cudaStream_t stream, hs_error *err);
void hs_cuda_moving_release(hs_cuda_moving *moving);
/* Where the host writes the next values, [count]; NULL: there are no such nodes. */
hs_status hs_cuda_moving_space(hs_cuda_moving *moving, double **values, hs_error *err);
/* Puts the values into a field, given by its node (0, 0, 0). */
hs_status hs_cuda_moving_put(hs_cuda_moving *moving, void *field, hs_error *err);

/* ---- cuda_source.cu -------------------------------------------------------------------------- */

/*
 * A source that varies in space is one field on the device, for one time. If the kernel takes a
 * field for each sweep, there are as many instead, where the source changes with time or is
 * constant along y or z; there their extent is one node. If the kernel takes tables for each sweep,
 * there are tables instead of fields; otherwise fields are made from tables.
 */
struct hs_cuda_source {
    const hs_problem *problem;
    hs_cuda_staging *staging; /* of the state's fields */
    unsigned varies;          /* HS_VARIES_..., along the axes of the grid and in time */
    char *allocation;         /* of the field or fields; NULL where the source is uniform */
    const void *nodes;        /* node (0, 0, 0) of the field; NULL where there is none, or many */
    const void **level;       /* [sweeps of a call] the same of each; NULL where there are none */
    int levels;
    int64_t pitch[HS_AXES];        /* elements from node to node in these fields */
    hs_cuda_shares shares;         /* of a body's nodes */
    hs_cuda_tables function;       /* from which the fields are evaluated */
    bool hands_over;               /* the kernel takes tables: there is no field */
    hs_cuda_separation separation; /* the tables */
    double scale;                  /* factor of the tables' values */
    double step, time;             /* s, that the field was made for */
    hs_cuda_moving inflow;         /* from a body's walls, added to the field */
    double *base;                  /* [inflow's nodes] K: the source there without the walls */
};

/* Whether the kernel is given tables instead of fields. */
bool hs_cuda_source_in_tables(const hs_problem *problem, const hs_kernel *kernel);
/* Fields that the source cannot do without, if a call of the kernel makes `steps` sweeps. */
int hs_cuda_source_fields(const hs_problem *problem, const hs_kernel *kernel, int steps);
/* Bytes that it takes in addition, where there is memory for it. */
double hs_cuda_source_more_bytes(const hs_problem *problem, const hs_kernel *kernel, int steps);
/* Safe to release after failure. */
hs_status hs_cuda_source_init(hs_cuda_source *source, const hs_problem *problem,
                              const hs_kernel *kernel, const hs_kernel_plan *plan,
                              const hs_cuda_shares *shares, hs_cuda_staging *staging,
                              hs_error *err);
void hs_cuda_source_release(hs_cuda_source *source);
/* How many of `steps` sweeps one call may make, as far as the source is concerned. */
int hs_cuda_source_steps(const hs_cuda_source *source, int steps);
/* Updates the fields to `count` sweeps of `step` that begin at the times `t`; does nothing where
 * they are up to date. */
hs_status hs_cuda_source_update(hs_cuda_source *source, double step, int count, const double *t,
                                hs_error *err);
/* The rate of change [K/s] that an expression adds at each node at time t. pitch: elements of
 * `out`. */
hs_status hs_cuda_source_rate(hs_cuda_source *source, double t, const int64_t pitch[HS_AXES],
                              double *out, hs_error *err);
/* The source of a call of the kernel, whose sweeps add `value` where there is no field. */
hs_source_view hs_cuda_source_view(const hs_cuda_source *source, const double *value);
/* What a sweep from t adds at each node; 0 where there is a field. */
double hs_cuda_source_uniform(const hs_cuda_source *source, double step, double t);

/* ---- cuda_faces.cu --------------------------------------------------------------------------- */

/* Ghost and prescribed layers, by the rules of core/boundary.h. Uniform boundary data travel with
 * the launch; tables are made on the device. */
struct hs_cuda_faces {
    hs_face_slots slots;
    hs_layout layout;
    cudaStream_t stream;
    hs_cuda_function function[HS_FACES]; /* of data that vary over the face */
};

/* Safe to release after failure. */
hs_status hs_cuda_faces_init(hs_cuda_faces *faces, const hs_problem *problem,
                             const hs_layout *layout, int slots, cudaStream_t stream,
                             hs_error *err);
void hs_cuda_faces_release(hs_cuda_faces *faces);

/* Evaluates the boundary data at time t [s] into a slot, unless they are there already. */
hs_status hs_cuda_faces_at(hs_cuda_faces *faces, int slot, double t, hs_error *err);
/* Fills the ghost layers that a sweep reads in a field, given by its node (0, 0, 0): one launch for
 * all faces, none where no sweep reads any. */
hs_status hs_cuda_faces_fill(const hs_cuda_faces *faces, int slot, void *field, hs_error *err);
/* Writes the data to the outermost layer of each prescribed face; where two meet the later wins. */
hs_status hs_cuda_faces_prescribe(const hs_cuda_faces *faces, int slot, void *field, hs_error *err);

/* ---- cuda_network.cu ------------------------------------------------------------------------- */

/* On the device: rows on which something acts, or whose nodes are prescribed. */
struct hs_cuda_acted {
    const hs_network_row *row; /* [count] */
    const int64_t *at;         /* [count] elements from node (0, 0, 0); NULL: a palette's rows */
    int64_t count;
};

/* The network of a body as kernels read it; all zero without one. */
struct hs_cuda_network {
    const hs_problem *problem; /* NULL: there is none */
    hs_layout layout;
    cudaStream_t stream;
    hs_network_view view;
    bool varies, sinks_vary;         /* in time */
    double step;                     /* s: what the contents are for; NaN: nothing yet */
    int sweeps;                      /* of a call, at most */
    hs_cuda_acted acted, prescribed; /* prescribed: as arrays only */
    hs_cuda_moving given;            /* nodes that moving walls prescribe */
    const double *capacity;          /* as arrays: node (0, 0, 0); negative: not free */
    const hs_forcing *forcing;
    double *value, *value_here;   /* of the time functions, [sweeps + 1][functions], on the device,
                                     and the host's */
    const double *width[HS_AXES]; /* m, of nodes along each axis */
    hs_cuda_pool pool;
};

double hs_cuda_network_bytes(const hs_problem *problem, double field_bytes, int sweeps);
/* Safe to release after failure. */
hs_status hs_cuda_network_init(hs_cuda_network *network, const hs_problem *problem,
                               const hs_layout *layout, int sweeps, cudaStream_t stream,
                               hs_error *err);
void hs_cuda_network_release(hs_cuda_network *network);
/* Zero without a network. The network outlives them. */
hs_cuda_shares hs_cuda_network_shares(const hs_cuda_network *network);
/* Updates it to `steps` sweeps from sweep `first` of the span, where anything changes. */
hs_status hs_cuda_network_update(hs_cuda_network *network, const hs_span *span, int64_t first,
                                 int steps, hs_error *err);
/* Writes the values of prescribed nodes after those sweeps, at time t, where kernels do not. */
hs_status hs_cuda_network_prescribe(hs_cuda_network *network, int steps, double t, void *field,
                                    hs_error *err);
/* Adds to the partials, without waiting: heat; heat stored and sunk in the last sweep if the field
 * `before` is known (else NULL); on a stretched grid sum and volume. Follows hs_cuda_reduce. */
hs_status hs_cuda_network_heat(const hs_cuda_network *network, const void *now, const void *before,
                               hs_partial *out, hs_error *err);

/* ---- cuda.cu -------------------------------------------------------------------------------- */

/* A CUDA graph of a stretch of sweeps, and what it was captured for; zero: none. */
struct hs_cuda_graph {
    cudaGraphExec_t graph;
    int now; /* which of the two fields it begins and ends with */
    hs_operator op;
    double step;
};

void hs_cuda_graph_release(hs_cuda_graph *kept);

/* ---- cuda_ceilings.cu ------------------------------------------------------------------------ */

hs_status hs_cuda_ceilings(int device, int threads, hs_precision precision, hs_ceilings *out,
                           hs_error *err);

/* ---- cuda_measure.cu ------------------------------------------------------------------------- */

/* Two events, before and after what is timed; zero: none yet. */
struct hs_cuda_timer {
    cudaEvent_t begin, end;
};

void hs_cuda_timer_release(hs_cuda_timer *timer);
hs_status hs_cuda_timer_start(hs_cuda_timer *timer, cudaStream_t stream, hs_error *err);
hs_status hs_cuda_timer_stop(hs_cuda_timer *timer, cudaStream_t stream, hs_error *err);
hs_status hs_cuda_timer_read(const hs_cuda_timer *timer, double *seconds, hs_error *err);

struct hs_cuda_pair {
    char *field[2];
    int now; /* which of them is current */
};

/* Pairs of fields that are swept in turn; zero: only the state's own. */
struct hs_cuda_rotation {
    int pairs;
    int at;             /* the pair that the state uses; its entry here is out of date */
    hs_cuda_pair *pair; /* [pairs] */
};

/* `field` is the state's own pair, of `bytes` each, which the others are copied from. Safe to
 * release after failure. */
hs_status hs_cuda_rotation_init(hs_cuda_rotation *rotation, int pairs, char *const field[2],
                                int now, size_t bytes, cudaStream_t stream, hs_error *err);
/* Frees all but the pair in use. */
void hs_cuda_rotation_release(hs_cuda_rotation *rotation);
/* Exchanges the pair in use for the next. */
void hs_cuda_rotation_turn(hs_cuda_rotation *rotation, char *field[2], int *now);

/* ---- cuda_transforms.cu ---------------------------------------------------------------------- */

extern const hs_transforms hs_cuda_transforms;

/* What products and maxima need; zero: nothing yet. */
struct hs_cuda_products {
    void *handle;             /* cuBLAS's */
    unsigned long long *most; /* the bits of a largest value, on the device */
};

void hs_cuda_products_release(hs_cuda_products *products);

/* ---- cuda_reduce.cu -------------------------------------------------------------------------- */

/* Zero: none. */
struct hs_cuda_reducer {
    void *change;        /* on the device: the fused max-norm, in the field's precision */
    hs_partial *partial; /* [pieces that the problem owns] pinned memory, which the device writes */
};

/* Safe to release after failure. */
hs_status hs_cuda_reducer_init(hs_cuda_reducer *reducer, const hs_problem *problem, hs_error *err);
void hs_cuda_reducer_release(hs_cuda_reducer *reducer);
/* Where a kernel is to leave its last sweep's change (hs_sweep.change), for the next reduction. */
hs_status hs_cuda_reducer_change(const hs_cuda_reducer *reducer, cudaStream_t stream, void **out,
                                 hs_error *err);
/* Starts the partials, without what a network adds, and does not wait. `before` is the field one
 * sweep earlier, or NULL; `fused` says that a kernel has left the change instead. */
hs_status hs_cuda_reduce(const hs_cuda_reducer *reducer, const hs_problem *problem,
                         const hs_layout *layout, const void *now, const void *before, bool fused,
                         cudaStream_t stream, hs_error *err);

#endif
