/* A file to which several processes write, each its part of a field. */
#ifndef HS_CORE_SHARED_FILE_H
#define HS_CORE_SHARED_FILE_H

#include "core/fletcher.h"
#include "core/grid.h"
#include "core/packing.h"
#include "core/round.h"

/* The chunks of a field, in its order; written as they are or compressed. */
struct hs_shared_file {
    const char *path; /* to open */
    const char *name; /* for messages */
    uint64_t inode;   /* identifies the file */
    int64_t chunks;
    const struct hs_box *box; /* [chunks] their nodes, contiguous in the field */
    struct hs_packing_form form;
    struct hs_chunk *chunk;  /* [chunks] their places in the file; set if compressed */
    struct hs_fletcher *sum; /* [chunks] set if not compressed: of their values */
    int64_t end;             /* compressed chunks may be placed from here on */
};

/* The aligned offset at which the data after `bytes` at `at` begins. */
static inline int64_t hs_file_behind(int64_t at, int64_t bytes)
{
    enum { ALIGNED = 8 };
    return hs_round_up(at + bytes, ALIGNED);
}

#endif
