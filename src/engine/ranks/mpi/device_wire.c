#include "engine/ranks/mpi/device_wire.h"

#include "core/library.h"
#include "core/memory.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

/* What is used of NCCL, as its header nccl.h has declared it since version 2.7, one-sided writes
 * since 2.29. */
struct unique {
    char internal[128];
};
struct signals {
    int count, rank, index, context;
};
typedef void *communicator, *window;
enum { CHARS = 0 };     /* ncclChar */
enum { SYMMETRIC = 1 }; /* NCCL_WIN_COLL_SYMMETRIC */

static struct {
    int (*ncclGetUniqueId)(struct unique *);
    int (*ncclCommInitRank)(communicator *, int, struct unique, int);
    int (*ncclSend)(const void *, size_t, int, int, communicator, void *);
    int (*ncclRecv)(void *, size_t, int, int, communicator, void *);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    const char *(*ncclGetErrorString)(int);
    int (*ncclMemAlloc)(void **, size_t);
    int (*ncclMemFree)(void *);
    int (*ncclCommWindowRegister)(communicator, void *, size_t, window *, int);
    int (*ncclCommWindowDeregister)(communicator, window);
    int (*ncclSignal)(int, int, int, unsigned, communicator, void *);
    int (*ncclPutSignal)(const void *, size_t, int, int, window, size_t, int, int, unsigned,
                         communicator, void *);
    int (*ncclWaitSignal)(int, struct signals *, communicator, void *);
} nccl;

/* *writes: whether it has one-sided writes. */
static bool load(bool *writes)
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
    const struct hs_symbol later[] = {
        {"ncclMemAlloc", &nccl.ncclMemAlloc},
        {"ncclMemFree", &nccl.ncclMemFree},
        {"ncclCommWindowRegister", &nccl.ncclCommWindowRegister},
        {"ncclCommWindowDeregister", &nccl.ncclCommWindowDeregister},
        {"ncclSignal", &nccl.ncclSignal},
        {"ncclPutSignal", &nccl.ncclPutSignal},
        {"ncclWaitSignal", &nccl.ncclWaitSignal},
    };
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    *writes = library && !hs_library_find(library, later, sizeof later / sizeof *later);
    return library && !hs_library_find(library, symbols, sizeof symbols / sizeof *symbols);
}

static void check(int status, const char *what)
{
    if (status)
        hs_wire_abort(HS_DEVICE, "%s: %s", what, nccl.ncclGetErrorString(status));
}

static communicator everyone;
static bool shares;

/* ---- memory to which the others can write ---------------------------------------------------- */

/* A piece of it, with a window over it from its first exchange on. Then the neighbours have told
 * where in theirs lies what this rank writes: where the halo of the rank above ends, and where that
 * of the rank below begins. */
struct shared {
    char *at;
    size_t bytes;
    window window;
    size_t ends_above, begins_below;
};
static struct shared *shared;
static int shared_count;

bool hs_device_wire_shares(void)
{
    return shares;
}

void *hs_device_wire_take(size_t bytes)
{
    void *at = NULL;
    if (nccl.ncclMemAlloc(&at, bytes))
        return NULL;
    shared = hs_grow(shared, (size_t)shared_count + 1, sizeof *shared);
    shared[shared_count++] = (struct shared){.at = at, .bytes = bytes};
    return at;
}

static struct shared *shared_at(const void *at)
{
    for (int n = 0; n < shared_count; n++)
        if ((uintptr_t)at - (uintptr_t)shared[n].at < shared[n].bytes)
            return &shared[n];
    return NULL;
}

static int open_window(struct shared *self)
{
    return nccl.ncclCommWindowRegister(everyone, self->at, self->bytes, &self->window, SYMMETRIC);
}

void hs_device_wire_give(void *at)
{
    struct shared *self = shared_at(at);
    if (!self)
        return;
    if (self->window)
        check(nccl.ncclCommWindowDeregister(everyone, self->window), "ncclCommWindowDeregister");
    check(nccl.ncclMemFree(at), "ncclMemFree");
    *self = shared[--shared_count];
}

/* NCCL opens no window where devices cannot write to each other. */
static bool can_share(void)
{
    void *at = hs_device_wire_take(1);
    bool can = hs_wire_least(at != NULL);
    if (can) {
        struct shared *self = shared_at(at);
        can = hs_wire_least(open_window(self) == 0 && self->window);
    }
    hs_device_wire_give(at);
    return can;
}

/* ---------------------------------------------------------------------------------------------- */

/* Writes are used between the devices of one node, where copy engines make them. */
bool hs_device_wire_join(bool alone)
{
    static bool joined;
    bool writes = false;
    if (joined)
        return everyone != NULL;
    joined = true;
    if (!hs_wire_least(alone && load(&writes)))
        return false;
    struct unique id;
    memset(&id, 0, sizeof id);
    if (hs_wire.rank == 0)
        check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId");
    hs_wire_tell(&id, sizeof id);
    check(nccl.ncclCommInitRank(&everyone, hs_wire.ranks, id, hs_wire.rank), "ncclCommInitRank");
    shares = hs_wire_least(writes && hs_wire.ranks > 1 && hs_wire.locals == hs_wire.ranks) &&
             can_share();
    return true;
}

/* ---- exchange -------------------------------------------------------------------------------- */

static int first_of(int a, int b)
{
    return a ? a : b;
}

/* Calls to one peer match in order. If one rank is the neighbour on both sides, what it sends
 * first, downwards, is what comes from above. */
static int send_and_receive(void *stream, const struct hs_wire_side *below,
                            const struct hs_wire_side *above)
{
    const struct hs_wire_side *const send[] = {below, above}, *const receive[] = {above, below};
    int status = nccl.ncclGroupStart();
    for (int n = 0; n < 2 && !status; n++)
        if (send[n]->rank >= 0)
            status =
                nccl.ncclSend(send[n]->out, send[n]->bytes, CHARS, send[n]->rank, everyone, stream);
    for (int n = 0; n < 2 && !status; n++)
        if (receive[n]->rank >= 0)
            status = nccl.ncclRecv(receive[n]->in, receive[n]->bytes, CHARS, receive[n]->rank,
                                   everyone, stream);
    return first_of(status, nccl.ncclGroupEnd());
}

static void open_to_neighbours(struct shared *self, const struct hs_wire_side *below,
                               const struct hs_wire_side *above)
{
    const size_t ends = (uintptr_t)below->in - (uintptr_t)self->at + below->bytes;
    const size_t begins = (uintptr_t)above->in - (uintptr_t)self->at;
    check(open_window(self), "ncclCommWindowRegister");
    hs_wire_exchange(
        &(struct hs_wire_side){below->rank, &ends, &self->begins_below, sizeof ends},
        &(struct hs_wire_side){above->rank, &begins, &self->ends_above, sizeof begins});
}

/* Enqueues signals to the neighbours, each after a write of what is sent there unless `self` is
 * NULL, and a wait for theirs. */
static int signal_and_wait(void *stream, const struct shared *self,
                           const struct hs_wire_side *below, const struct hs_wire_side *above)
{
    const struct hs_wire_side *const side[] = {below, above};
    struct signals due[2];
    int ranks = 0, status = nccl.ncclGroupStart();
    for (int n = 0; n < 2 && !status; n++) {
        const int rank = side[n]->rank;
        if (rank < 0)
            continue;
        if (self)
            status = nccl.ncclPutSignal(side[n]->out, side[n]->bytes, CHARS, rank, self->window,
                                        side[n] == below ? self->begins_below
                                                         : self->ends_above - above->bytes,
                                        0, 0, 0, everyone, stream);
        else
            status = nccl.ncclSignal(rank, 0, 0, 0, everyone, stream);
        if (ranks > 0 && due[0].rank == rank)
            due[0].count++;
        else
            due[ranks++] = (struct signals){.count = 1, .rank = rank};
    }
    status = first_of(status, nccl.ncclGroupEnd());
    return status ? status : nccl.ncclWaitSignal(ranks, due, everyone, stream);
}

/* A halo may be written to once its rank has said so. */
static int write_to_neighbours(void *stream, struct shared *self, const struct hs_wire_side *below,
                               const struct hs_wire_side *above)
{
    if (!self->window)
        open_to_neighbours(self, below, above);
    const int status = signal_and_wait(stream, NULL, below, above);
    return status ? status : signal_and_wait(stream, self, below, above);
}

/* Beside a kernel the copy engines are faster than NCCL's own kernels, alone they are slower. */
void hs_device_wire_exchange(void *stream, bool beside, const struct hs_wire_side *below,
                             const struct hs_wire_side *above)
{
    struct shared *self = beside ? shared_at(below->rank >= 0 ? below->in : above->in) : NULL;
    check(self ? write_to_neighbours(stream, self, below, above)
               : send_and_receive(stream, below, above),
          "layers from GPU to GPU");
}
