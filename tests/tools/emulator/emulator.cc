/* Blocks one after the other or together, their threads as coroutines: see cuda_runtime.h beside
 * this. */
#include "cuda_runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char *emulator_shared;

namespace
{

enum { WARP = 32, STACK = 128 * 1024, GUARD = 4096, PATIENCE = 1000 /* rounds of mere looking */ };
enum state { READY, LOOKING, AT_BARRIER, AT_WARP, DONE };

struct coroutine {
    void *at[5]; /* where it left off, for __builtin_setjmp, which is faster than the library's */
    bool started;
    void *stack;
};

struct copy {
    void *to;
    const void *from;
    size_t size;
};

struct thread {
    dim3 index;
    unsigned block;
    unsigned char *shared;     /* its block's */
    size_t warp;               /* its warp's first thread */
    size_t warp_end;           /* and the one after its last */
    bool turn;                 /* of the two hands; all of a warp have the same */
    unsigned char hand[2][16]; /* what it brings to a shuffle; the other is for the next one */
    long refusals;             /* in a row, of what it asked the warp */
    std::vector<copy> copies;  /* that it asked for, not yet made */
    std::vector<size_t> ends;  /* of each group of them */
};

emulator_order order = EMULATOR_ASCENDING;
std::vector<thread> threads; /* of the block that runs, or of all that run together */
std::vector<unsigned char> states, votes[2]; /* of each thread; apart, since they are searched */
std::vector<unsigned char> rests; /* turns that a warp sits out, by its first: it asked in vain */
std::vector<size_t> turn;         /* in which they run between barriers */
size_t cursor;                    /* in it: who comes next */
bool advanced, looking; /* since the turn began, somebody: got anywhere, only looked */
size_t block_size;
std::vector<coroutine> coroutines;
std::vector<std::vector<double>> shared; /* of each block that runs */
size_t shared_bytes;
const std::function<void()> *body;
void *scheduler[5];
size_t running;
char complaint[200];

/* Xorshift (Marsaglia 2003): the same orders in every run. */
uint64_t roll = 88172645463325252u;
size_t dice(size_t sides)
{
    roll ^= roll << 13, roll ^= roll >> 7, roll ^= roll << 17;
    return (size_t)((roll >> 32) * sides >> 32);
}

void complain(const char *what, long number)
{
    if (!complaint[0])
        snprintf(complaint, sizeof complaint, "%s (%ld), block %u", what, number, blockIdx.x);
}

void entry();

/* Hands over to thread t, which goes on where it left off. */
[[noreturn]] void resume(size_t t)
{
    running = t;
    threadIdx = threads[t].index;
    blockIdx = dim3(threads[t].block, 0, 0);
    emulator_shared = threads[t].shared;
    if (coroutines[t].started)
        __builtin_longjmp(coroutines[t].at, 1);
    coroutines[t].started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = coroutines[t].stack;
    context.uc_stack.ss_size = STACK - t % 128 * 320; /* else all begin in the same cache lines */
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
    setcontext(&context);
    abort();
}

/* Hands over to the next of the turn that can run, or back to run_once. */
[[noreturn]] void hand_over()
{
    enum { AHEAD = 4, LINE = 64, STACK_POINTER = 2 /* of __builtin_setjmp's five words */ };
    while (cursor < turn.size()) {
        if (cursor + AHEAD < turn.size()) { /* all the stacks are more than a cache holds */
            const size_t soon = turn[cursor + AHEAD];
            for (int n = 0; n < 3; n++)
                __builtin_prefetch((char *)coroutines[soon].at[STACK_POINTER] + n * LINE);
        }
        const size_t t = turn[cursor++];
        if (states[t] == READY)
            resume(t);
    }
    __builtin_longjmp(scheduler, 1);
}

void note(state what)
{
    states[running] = what;
    advanced = advanced || what != LOOKING;
    looking = looking || what == LOOKING;
}

/* The thread goes on here when its turn comes again. No function: to return from one that another
 * thread ran since is what a processor does not foresee. */
#define WAIT(what)                                                                                 \
    do {                                                                                           \
        note(what);                                                                                \
        if (!__builtin_setjmp(coroutines[running].at))                                             \
            hand_over();                                                                           \
    } while (0)

/* A coroutine lives on from block to block: to start one costs system calls. */
void entry()
{
    for (;;) {
        (*body)();
        WAIT(DONE);
    }
}

size_t slow = SIZE_MAX; /* first thread of a warp that seldom goes on, so that others get ahead */

/* Lets those of a block go on from shuffles for whom all have come, but of the slow warp's only if
 * `all`; false if nobody can. */
bool release_warps(size_t begin, bool all)
{
    const size_t block_end = begin + block_size;
    bool any = false;
    for (size_t first = begin; first < block_end; first += WARP) {
        if (!all && (first == slow || rests[first] > 0)) {
            rests[first] -= rests[first] > 0;
            continue;
        }
        const size_t end = first + WARP < block_end ? first + WARP : block_end;
        size_t waiting = 0;
        for (size_t t = first; t < end; t++)
            waiting += states[t] == AT_WARP;
        if (waiting == 0)
            continue;
        if (waiting != end - first) { /* some ended, or stand at a barrier */
            bool stuck = true;
            for (size_t t = first; t < end; t++)
                stuck = stuck && states[t] != READY;
            if (!stuck)
                continue;
            complain("a shuffle that not all lanes reach", (long)(first - begin));
        }
        for (size_t t = first; t < end; t++)
            if (states[t] == AT_WARP)
                states[t] = READY, any = true;
    }
    return any;
}

/* Lets those of a block go on for whom all have come; false if nobody can. */
bool release(size_t begin)
{
    enum { SLOWER = 16 };
    if (release_warps(begin, dice(SLOWER) == 0) || release_warps(begin, true))
        return true;
    const size_t block_end = begin + block_size;
    size_t waiting = 0;
    for (size_t t = begin; t < block_end; t++) {
        if (states[t] == READY)
            return true;
        waiting += states[t] == AT_BARRIER;
    }
    if (waiting == 0)
        return false;
    /* threads that have ended count as arrived, as on the device */
    for (size_t t = begin; t < block_end; t++)
        if (states[t] == AT_BARRIER)
            states[t] = READY;
    return true;
}

/* One turn of all that can run; false if they only looked for what other blocks do. */
bool run_once()
{
    if (order == EMULATOR_SHUFFLED)
        for (size_t n = turn.size(); n > 1; n--)
            std::swap(turn[n - 1], turn[dice(n)]);
    cursor = 0;
    advanced = looking = false;
    if (!__builtin_setjmp(scheduler))
        hand_over();
    if (looking)
        std::replace(states.begin(), states.end(), (unsigned char)LOOKING, (unsigned char)READY);
    return advanced || !looking;
}

void run_blocks(size_t blocks)
{
    for (thread &t : threads)
        t.refusals = 0;
    states.assign(threads.size(), READY);
    rests.assign(threads.size(), 0);
    for (std::vector<unsigned char> &v : votes)
        v.resize(threads.size());
    slow = SIZE_MAX;
    if (order == EMULATOR_SHUFFLED) {
        const size_t warps = (block_size + WARP - 1) / WARP;
        slow = dice(blocks) * block_size + dice(warps) * WARP;
    }
    turn.resize(threads.size());
    for (size_t t = 0; t < turn.size(); t++)
        turn[t] = order == EMULATOR_DESCENDING ? turn.size() - 1 - t : t;
    bool any;
    int idle = 0;
    do {
        idle = run_once() ? 0 : idle + 1;
        if (idle > PATIENCE) {
            fprintf(stderr, "emulator: all threads that are left wait for what never comes\n");
            abort();
        }
        any = false;
        for (size_t block = 0; block < blocks; block++)
            any = release(block * block_size) || any;
    } while (any);
}

/* Blocks from `first` on, which run together. */
void run_together(unsigned first, size_t blocks)
{
    threads.resize(blocks * block_size);
    while (coroutines.size() < threads.size())
        coroutines.push_back({{}, false, malloc(STACK)});
    shared.resize(blocks);
    for (size_t b = 0; b < blocks; b++) {
        shared[b].resize((shared_bytes + GUARD) / sizeof(double) + 2);
        memset(shared[b].data(), 0xff, shared_bytes + GUARD); /* NaN in both precisions */
        for (size_t n = 0; n < block_size; n++) {
            thread &t = threads[b * block_size + n];
            t.index = dim3((unsigned)(n % blockDim.x), (unsigned)(n / blockDim.x % blockDim.y),
                           (unsigned)(n / blockDim.x / blockDim.y));
            t.block = first + (unsigned)b;
            t.shared = (unsigned char *)shared[b].data();
            t.warp = b * block_size + n / WARP * WARP;
            t.warp_end = std::min(t.warp + WARP, (b + 1) * block_size);
            t.turn = false;
        }
    }
    run_blocks(blocks);
    for (size_t b = 0; b < blocks; b++)
        for (size_t n = 0; n < GUARD; n++)
            if (((unsigned char *)shared[b].data())[shared_bytes + n] != 0xff)
                complain("a write beyond the shared memory asked for", (long)n);
}

} // namespace

void emulator_check_alignment(const void *address, size_t size)
{
    if ((uintptr_t)address % size != 0)
        complain("an access that is not aligned", (long)size);
}

void __syncthreads()
{
    WAIT(AT_BARRIER);
}

void __syncwarp(unsigned)
{
    WAIT(AT_WARP);
}

void emulator_expect(bool holds, const char *otherwise)
{
    if (!holds)
        complain(otherwise, (long)running);
}

/* More than the steps that any warp of the tests can be behind; a kernel that waits for what does
 * not come must not hang the tests. */
bool __all_sync(unsigned, bool holds)
{
    enum { PATIENCE = 100000 };
    thread &me = threads[running];
    const size_t self = running;
    std::vector<unsigned char> &vote = votes[me.turn];
    me.turn = !me.turn;
    vote[self] = holds;
    WAIT(AT_WARP);
    const bool all = !memchr(&vote[me.warp], false, me.warp_end - me.warp);
    me.refusals = all ? 0 : me.refusals + 1;
    rests[me.warp] = (unsigned char)std::min(me.refusals, 8L);
    if (me.refusals < PATIENCE)
        return all;
    complain("waits for what does not come", (long)self);
    return true;
}

/* As late as it may be; in shuffled order some at once. */
void emulator_copy(void *to, const void *from, size_t size)
{
    if (order == EMULATOR_SHUFFLED && dice(2))
        memcpy(to, from, size);
    else
        threads[running].copies.push_back({to, from, size});
}

void emulator_end_copies()
{
    threads[running].ends.push_back(threads[running].copies.size());
}

void emulator_await_copies(size_t groups_left)
{
    thread &me = threads[running];
    if (me.ends.size() <= groups_left)
        return;
    const size_t groups = me.ends.size() - groups_left, count = me.ends[groups - 1];
    for (size_t n = 0; n < count; n++)
        memcpy(me.copies[n].to, me.copies[n].from, me.copies[n].size);
    me.copies.erase(me.copies.begin(), me.copies.begin() + (ptrdiff_t)count);
    me.ends.erase(me.ends.begin(), me.ends.begin() + (ptrdiff_t)groups);
    for (size_t &end : me.ends)
        end -= count;
}

void emulator_yield()
{
    WAIT(LOOKING);
}

int emulator_lane()
{
    return (int)(running - threads[running].warp);
}

void emulator_exchange(void *value, size_t size, int source)
{
    thread &me = threads[running];
    const bool hand = me.turn;
    me.turn = !hand;
    memcpy(me.hand[hand], value, size);
    WAIT(AT_WARP);
    const size_t from = me.warp + (size_t)source;
    if (from < threads.size())
        memcpy(value, threads[from].hand[hand], size);
}

const char *cudaGetErrorString(cudaError_t status)
{
    return status == cudaSuccess ? "no error" : "invalid argument";
}

cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

void emulator_set_order(emulator_order chosen)
{
    order = chosen;
}

const char *emulator_complaint()
{
    static char last[sizeof complaint];
    memcpy(last, complaint, sizeof last);
    complaint[0] = '\0';
    return last[0] ? last : nullptr;
}

cudaError_t emulator_launch(const cudaLaunchConfig_t *config, const std::function<void()> &thread_)
{
    gridDim = config->gridDim, blockDim = config->blockDim;
    block_size = (size_t)blockDim.x * blockDim.y * blockDim.z;
    shared_bytes = config->dynamicSmemBytes;
    if (block_size == 0 || block_size > 1024 || gridDim.x == 0 || shared_bytes > 227 * 1024)
        return cudaErrorInvalidValue;
    body = &thread_;
    bool together = false;
    for (unsigned n = 0; n < config->numAttrs; n++)
        together = together || (config->attrs[n].id == cudaLaunchAttributeCooperative &&
                                config->attrs[n].val.cooperative);
    if (together)
        run_together(0, gridDim.x);
    for (unsigned block = 0; block < gridDim.x && !together; block++)
        run_together(block, 1);
    return cudaSuccess;
}

/* For the tests, which are in C. */
extern "C" void emulator_set_order_c(int chosen)
{
    emulator_set_order((emulator_order)chosen);
}

extern "C" const char *emulator_complaint_c(void)
{
    return emulator_complaint();
}

extern "C" void emulator_launched_c(int64_t *blocks, int threads[3], int64_t *bytes)
{
    *blocks = gridDim.x, *bytes = (int64_t)shared_bytes;
    threads[0] = (int)blockDim.x, threads[1] = (int)blockDim.y, threads[2] = (int)blockDim.z;
}
