#include "engine/ranks/mpi/device_wire.h"

#include "core/library.h"

#include <dlfcn.h>
#include <string.h>

/* What is used of NCCL, as its header nccl.h has declared it since version 2.7. */
struct unique {
    char internal[128];
};
typedef void *communicator;
enum { CHARS = 0 }; /* ncclChar */

static struct {
    int (*ncclGetUniqueId)(struct unique *);
    int (*ncclCommInitRank)(communicator *, int, struct unique, int);
    int (*ncclSend)(const void *, size_t, int, int, communicator, void *);
    int (*ncclRecv)(void *, size_t, int, int, communicator, void *);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    const char *(*ncclGetErrorString)(int);
} nccl;

static bool load(void)
{
    const struct hs_symbol symbols[] = {
        {"ncclGetUniqueId", &nccl.ncclGetUniqueId},
        {"ncclCommInitRank", &nccl.ncclCommInitRank},
        {"ncclSend", &nccl.ncclSend},
        {"ncclRecv", &nccl.ncclRecv},
        {"ncclGroupStart", &nccl.ncclGroupStart},
        {"ncclGroupEnd", &nccl.ncclGroupEnd},
        {"ncclGetErrorString", &nccl.ncclGetErrorString},
    };
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    return library && !hs_library_find(library, symbols, sizeof symbols / sizeof *symbols);
}

static void check(int status, const char *what)
{
    if (status)
        hs_wire_abort(HS_DEVICE, "%s: %s", what, nccl.ncclGetErrorString(status));
}

static communicator all;

bool hs_device_wire_join(bool alone)
{
    static bool joined;
    if (joined)
        return all != NULL;
    joined = true;
    if (!hs_wire_least(alone && load()))
        return false;
    struct unique id;
    memset(&id, 0, sizeof id);
    if (hs_wire.rank == 0)
        check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId");
    hs_wire_tell(&id, sizeof id);
    check(nccl.ncclCommInitRank(&all, hs_wire.ranks, id, hs_wire.rank), "ncclCommInitRank");
    return true;
}

/* Calls to one peer match in order. If one rank is the neighbour on both sides, what it sends
 * first, downwards, is what comes from above. */
void hs_device_wire_exchange(void *stream, const struct hs_wire_side *below,
                             const struct hs_wire_side *above)
{
    const struct hs_wire_side *const send[] = {below, above}, *const receive[] = {above, below};
    int status = nccl.ncclGroupStart();
    for (int n = 0; n < 2 && !status; n++)
        if (send[n]->rank >= 0)
            status = nccl.ncclSend(send[n]->out, send[n]->bytes, CHARS, send[n]->rank, all, stream);
    for (int n = 0; n < 2 && !status; n++)
        if (receive[n]->rank >= 0)
            status = nccl.ncclRecv(receive[n]->in, receive[n]->bytes, CHARS, receive[n]->rank, all,
                                   stream);
    const int ended = nccl.ncclGroupEnd();
    check(status ? status : ended, "layers from GPU to GPU");
}
