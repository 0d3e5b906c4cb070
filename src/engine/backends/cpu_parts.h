/* The CPU backend's state, and its parts: memory, source, reduction. */
#ifndef HS_ENGINE_BACKENDS_CPU_PARTS_H
#define HS_ENGINE_BACKENDS_CPU_PARTS_H

#include "core/backend.h"
#include "core/halo.h"
#include "core/vectors.h"
#include "engine/team.h"
#include "engine/walls/ghosts.h"
#include "functions/tables.h"

/* A field in a layout: its allocation, and where node (0, 0, 0) is. */
struct hs_cpu_field {
    void *allocation; /* NULL: not allocated */
    void *memory;     /* the layout's first element */
    void *origin;
};

struct hs_cpu_source {
    bool uniform; /* one number over the grid, else a field */
    bool varies_time;
    struct hs_tables tables; /* of one that varies in time and place; unused without memory */
    double step, time;       /* s: what `field` is for; NaN: nothing yet */
    struct hs_cpu_field field;
    double *base, *inflow; /* K: at nodes of walls that move: the source, and with the walls */
    double *scratch;       /* [threads][nx] */
    double *value;         /* [most_steps] uniform sources of one call */
};

/* The network of a body as kernels read it; all zero without one. */
enum { HS_CPU_RATE = HS_AXES, HS_CPU_SINK, HS_CPU_ADDED, HS_CPU_ARRAYS };
struct hs_cpu_network {
    struct hs_network_view view;
    bool varies, sinks_vary;                  /* in time */
    double step;                              /* s: what the contents are for; NaN: nothing yet */
    int steps;                                /* sweeps that the forcing is for */
    void *number, *row, *forcing;             /* of a palette */
    struct hs_cpu_field array[HS_CPU_ARRAYS]; /* as arrays: conductances, then the above */
    int64_t *forced[2], forced_count[2]; /* as arrays: nodes with a forcing: free, prescribed */
    double *sum;                         /* [forcings] of each, at one time */
    double *given;                       /* K: prescribed by walls that move */
};

/* The field at one moment, dense, so that a stretch of it can be read in place. */
struct hs_readback {
    struct hs_grid grid;
    size_t size;  /* bytes of a value */
    char *values; /* [nz][ny][nx]; NULL until it is needed */
};

struct hs_backend_state {
    const struct hs_problem *problem;
    const struct hs_kernel *kernel;
    struct hs_kernel_plan plan;
    int most_steps; /* in one call, of a recursion or not */
    struct hs_team team;
    int threads; /* of the team, at present */
    struct hs_layout layout;
    struct hs_box interior;
    struct hs_cpu_field now, next; /* exchanged after each call of the kernel */
    struct hs_cpu_field *more;     /* [more_count] for methods of many stages */
    int more_count;
    struct hs_cpu_source source;
    struct hs_cpu_network network;
    struct hs_ghosts ghosts;
    struct hs_face_level *level; /* [most_steps], for kernels that apply walls */
    void *scratch;               /* the kernel's own; NULL where it needs none */
    int first_slot;              /* in ghosts: the values at the time of `now` */
    int stale_walls;             /* fields whose prescribed layers are still to be written */
    bool change_known;           /* `next` is the field one sweep before `now` */
    struct hs_readback readback;
    struct hs_partial *partial; /* [pieces that the problem owns] */
    char description[128];
};

/* ---- cpu_sweep.c ---- */
/* Calls the kernel once, on the team's threads and with all that changes with time, from one field
 * to another, each given by its node (0, 0, 0). recursion: may be NULL. */
enum hs_status hs_cpu_call(struct hs_backend_state *state, const struct hs_span *span,
                           int64_t first, int steps, void *from, void *to,
                           const struct hs_recursion *recursion, struct hs_error *err);

enum hs_status hs_cpu_sweep(struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err);

/* ---- cpu_vectors.c ---- */
extern const struct hs_halo hs_cpu_halo;
extern const struct hs_vectors hs_cpu_vectors;
void hs_cpu_vectors_release(struct hs_backend_state *state);

static inline void hs_cpu_field_exchange(struct hs_cpu_field *one, struct hs_cpu_field *other)
{
    const struct hs_cpu_field kept = *one;
    *one = *other;
    *other = kept;
}

/* ---- cpu_memory.c ---- */
/* Memory, in large pages if it has `large_from` bytes or more; NULL if it is short. Use free(). */
void *hs_cpu_memory_create(size_t bytes, size_t large_from);

/* A layout for the problem's fields; and how many bytes later than the others, from the beginning
 * of a large page, the field that sweeps write should begin. */
struct hs_layout hs_cpu_layout(const struct hs_problem *problem);
size_t hs_cpu_shift(const struct hs_layout *layout, enum hs_precision precision);
double hs_cpu_field_bytes(const struct hs_problem *problem); /* about; a double: it may be huge */

/* Allocates a zero-filled field. Each part is first touched by the thread that will sweep it, so
 * that it lies in that thread's memory. The field begins `shift` bytes, a number of lines, after
 * the beginning of a page. */
bool hs_cpu_field_create(const struct hs_layout *layout, enum hs_precision precision, int threads,
                         size_t shift, struct hs_cpu_field *out);
void hs_cpu_field_destroy(struct hs_cpu_field *field);

/* Copies `from` to `to` by non-temporal stores; each thread copies its slab. */
void hs_cpu_field_copy(const struct hs_layout *layout, enum hs_precision precision, int threads,
                       const struct hs_cpu_field *from, struct hs_cpu_field *to);

/* ---- cpu_source.c ---- */
struct hs_cpu_source hs_cpu_source_describe(const struct hs_problem *problem);
/* Bytes of its tables, which it can do without. */
double hs_cpu_source_table_bytes(const struct hs_problem *problem);
/* Makes arrays for walls that move; and the tables, if there are any and memory for them. */
void hs_cpu_source_prepare(struct hs_backend_state *state);
/* Updates the field to a sweep of `step` from t; does nothing where it is up to date. */
void hs_cpu_source_update(struct hs_backend_state *state, double step, double t);

/* ---- cpu_network.c ---- */
double hs_cpu_network_bytes(const struct hs_problem *problem, double field_bytes, int steps);
/* Bytes of the problem's network and of the body that this was made from; both are kept. */
double hs_cpu_body_bytes(const struct hs_problem *problem);
bool hs_cpu_network_init(struct hs_backend_state *state); /* false: no memory */
void hs_cpu_network_release(struct hs_cpu_network *network);
/* Updates it to `steps` sweeps from sweep `first` of the span. */
void hs_cpu_network_update(struct hs_backend_state *state, const struct hs_span *span,
                           int64_t first, int steps);
/* Writes the values of prescribed nodes at time t, where kernels do not. */
void hs_cpu_network_prescribe(const struct hs_backend_state *state, double t, void *field);

/* ---- cpu_reduce.c ---- */
enum hs_status hs_cpu_reduce(struct hs_backend_state *state, const struct hs_partial **out,
                             struct hs_error *err);

/* ---- cpu_transforms.c ---- */
extern const struct hs_transforms hs_cpu_transforms;

/* ---- cpu_ceilings.c -------------------------------------------------------------------------- */

enum hs_status hs_cpu_ceilings(int device, int threads, enum hs_precision precision,
                               struct hs_ceilings *out, struct hs_error *err);

#endif
