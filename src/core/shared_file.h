/* A file to which several processes write their parts of a field. */
#ifndef HS_CORE_SHARED_FILE_H
#define HS_CORE_SHARED_FILE_H

#include "core/fletcher.h"
#include "core/grid.h"

/* Nodes that are consecutive in a field, and the file offset of their values. */
struct hs_stretch {
    struct hs_box box;
    int64_t at;
};

struct hs_shared_file {
    const char *path;  /* to open */
    const char *name;  /* for messages */
    uint64_t inode;    /* identifies the file */
    int64_t stretches; /* in the field's order */
    const struct hs_stretch *stretch;
    struct hs_fletcher *sum; /* [stretches] output: the checksums of their bytes */
};

#endif
