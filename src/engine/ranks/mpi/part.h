/* A rank's part of a state that all ranks share, and what each rank does for a request. */
#ifndef HS_ENGINE_RANKS_MPI_PART_H
#define HS_ENGINE_RANKS_MPI_PART_H

#include "core/backend.h"
#include "core/shared_file.h"
#include "core/vectors.h"
#include "engine/ranks/slab.h"

/* Ending of a message about a rank's file. */
#define HS_NOT_THE_SAME                                                                            \
    "is not the same as rank 0 reads; put the same files at the same path on every node"

enum hs_request_kind {
    HS_REQUEST_CREATE,
    HS_REQUEST_JOIN, /* after create, if that succeeded on all */
    HS_REQUEST_DESTROY,
    HS_REQUEST_BEGIN,
    HS_REQUEST_UPLOAD,
    HS_REQUEST_DOWNLOAD,
    HS_REQUEST_WRITE,
    HS_REQUEST_SWEEP,
    HS_REQUEST_REDUCE,
    HS_REQUEST_RESERVE,
    HS_REQUEST_STAGE,
    HS_REQUEST_COMBINE,
    HS_REQUEST_RECUR,
    HS_REQUEST_EXCHANGE,
    HS_REQUEST_FINISH,
    HS_REQUEST_END /* of all */
};

enum { HS_PARTS = 16 };      /* most states at a time */
enum { HS_PART_RECURS = 8 }; /* most sweeps of a recursion in one pass */

/* What rank 0 tells the others; each kind uses its own members. */
struct hs_request {
    enum hs_request_kind kind;
    int part;                      /* which state */
    char kernel[64];               /* create: its name, */
    int steps;                     /* and sweeps between exchanges of halos */
    size_t path_bytes, name_bytes; /* begin, write: of a file, which follow; 0: the initial field */
    int64_t step;                  /* begin: which of the file's steps */
    bool before;                   /* download: the field one sweep before */
    bool known;                    /* finish */
    int fields;                    /* reserve: how many */
    int from, to;                  /* stage, exchange, combine: fields (to: out; from: base) */
    int terms;                     /* combine ... */
    bool boxed;                    /* ... except the box's nodes */
    struct hs_term term[HS_TERMS];
    struct hs_recurrence fields_of; /* recur: `steps` sweeps */
    double factor[HS_PART_RECURS];
    struct hs_box box; /* upload, download, combine; of the whole */
    struct hs_span span;
};

struct hs_part {
    const struct hs_problem *whole;
    const struct hs_backend *own;
    struct hs_backend_state *state;
    struct hs_slab_problem slab;
    struct hs_slab_memory memory; /* of its fields, if by_device */
    int steps;
    int recursion;  /* sweeps of a recursion in one pass, the same on all ranks */
    bool by_device; /* halos go from GPU to GPU */
    bool splits;    /* all ranks make calls of `steps` sweeps in two parts */
    char *spare;    /* buffer for a piece of a box */
    size_t spare_bytes;
    double seconds; /* of the last sweeps */
};

/* Bytes of a layer of a box of the whole. */
int64_t hs_part_layer(const struct hs_part *part, const struct hs_box *box);
/* The layers of a box that a rank owns, which are contiguous. */
struct hs_slab_piece hs_part_piece(const struct hs_part *part, int rank, const struct hs_box *box);
/* The box with the layers from `here` on of this rank's slab. */
struct hs_box hs_part_box(const struct hs_part *part, const struct hs_box *box, int64_t here,
                          int64_t count);

/* Called on every rank, each does the rank's part of the request. `values` and `from` are rank 0's:
 * the values of the whole box; NULL unless numbers come from a file. */
enum hs_status hs_part_create(struct hs_part *part, const struct hs_problem *whole,
                              const struct hs_backend *own, const struct hs_request *request,
                              struct hs_error *err);
void hs_part_join(struct hs_part *part, struct hs_error *err);
void hs_part_destroy(struct hs_part *part);
enum hs_status hs_part_begin(struct hs_part *part, const struct hs_request *request,
                             const struct hs_stored *from, struct hs_error *err);
enum hs_status hs_part_upload(struct hs_part *part, const struct hs_box *box, const char *values,
                              struct hs_error *err);
enum hs_status hs_part_download(struct hs_part *part, const struct hs_request *request,
                                char *values, struct hs_error *err);
/* file: rank 0's; NULL elsewhere, where it is received. *seen: whether all could open it. */
enum hs_status hs_part_write(const struct hs_part *part, const struct hs_request *request,
                             const struct hs_shared_file *file, bool *seen, struct hs_error *err);
enum hs_status hs_part_sweep(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err);
/* out: rank 0's, of all blocks. */
enum hs_status hs_part_reduce(struct hs_part *part, struct hs_partial *out, struct hs_error *err);
enum hs_status hs_part_recur(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err);
enum hs_status hs_part_stage(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err);
enum hs_status hs_part_combine(struct hs_part *part, const struct hs_request *request,
                               struct hs_error *err);

#endif
