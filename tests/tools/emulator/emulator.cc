/* Blocks one after the other, their threads as coroutines: see cuda_runtime.h beside this. */
#include "cuda_runtime.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <ucontext.h>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char *emulator_shared;

namespace
{

enum { WARP = 32, STACK = 128 * 1024, GUARD = 4096 };
enum state { READY, AT_BARRIER, AT_WARP, DONE };

struct coroutine {
    jmp_buf at; /* where it left off */
    bool started;
    void *stack;
};

struct thread {
    state is;
    dim3 index;
    unsigned char hand[16]; /* what it brings to a shuffle */
    long refusals;          /* in a row, of what it asked the warp */
};

emulator_order order = EMULATOR_ASCENDING;
std::vector<thread> threads; /* of the running launch */
std::vector<coroutine> coroutines;
const std::function<void()> *body;
jmp_buf scheduler;
size_t running;
char complaint[200];
std::mt19937 dice(1); /* the same orders in every run */

void complain(const char *what, long number)
{
    if (!complaint[0])
        snprintf(complaint, sizeof complaint, "%s (%ld), block %u", what, number, blockIdx.x);
}

void wait(state what)
{
    const size_t me = running;
    threads[me].is = what;
    if (!_setjmp(coroutines[me].at))
        _longjmp(scheduler, 1);
}

/* A coroutine lives on from block to block: to start one costs system calls. */
void entry()
{
    for (;;) {
        (*body)();
        wait(DONE);
    }
}

/* Runs thread t until it waits or ends. */
void resume(size_t t)
{
    running = t;
    threadIdx = threads[t].index;
    if (_setjmp(scheduler))
        return;
    if (coroutines[t].started)
        _longjmp(coroutines[t].at, 1);
    coroutines[t].started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = coroutines[t].stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
    setcontext(&context);
}

/* Lets those go on for whom all have come; false if nobody can. */
bool release()
{
    const size_t count = threads.size();
    bool any = false;
    for (size_t first = 0; first < count; first += WARP) {
        const size_t end = first + WARP < count ? first + WARP : count;
        size_t waiting = 0;
        for (size_t t = first; t < end; t++)
            waiting += threads[t].is == AT_WARP;
        if (waiting == 0)
            continue;
        if (waiting != end - first) { /* some ended, or stand at a barrier */
            bool stuck = true;
            for (size_t t = first; t < end; t++)
                stuck = stuck && threads[t].is != READY;
            if (!stuck)
                continue;
            complain("a shuffle that not all lanes reach", (long)first);
        }
        for (size_t t = first; t < end; t++)
            if (threads[t].is == AT_WARP)
                threads[t].is = READY, any = true;
    }
    if (any)
        return true;
    size_t waiting = 0;
    for (const thread &t : threads)
        waiting += t.is == AT_BARRIER;
    if (waiting == 0)
        return false;
    /* threads that have ended count as arrived, as on the device */
    for (thread &t : threads)
        if (t.is == AT_BARRIER)
            t.is = READY;
    return true;
}

void run_block()
{
    for (thread &t : threads)
        t.is = READY, t.refusals = 0;
    std::vector<size_t> turn(threads.size());
    for (size_t t = 0; t < turn.size(); t++)
        turn[t] = order == EMULATOR_DESCENDING ? turn.size() - 1 - t : t;
    do {
        if (order == EMULATOR_SHUFFLED)
            std::shuffle(turn.begin(), turn.end(), dice);
        for (const size_t t : turn)
            if (threads[t].is == READY)
                resume(t);
    } while (release());
}

} // namespace

void emulator_check_alignment(const void *address, size_t size)
{
    if ((uintptr_t)address % size != 0)
        complain("an access that is not aligned", (long)size);
}

void __syncthreads()
{
    wait(AT_BARRIER);
}

void __syncwarp(unsigned)
{
    wait(AT_WARP);
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
    const size_t me = running, first = me / WARP * WARP;
    const size_t end = first + WARP < threads.size() ? first + WARP : threads.size();
    threads[me].hand[0] = holds;
    wait(AT_WARP);
    bool all = true;
    for (size_t t = first; t < end; t++)
        all = all && threads[t].hand[0];
    wait(AT_WARP); /* nobody brings the next value before all have taken this one */
    threads[me].refusals = all ? 0 : threads[me].refusals + 1;
    if (threads[me].refusals < PATIENCE)
        return all;
    complain("waits for what does not come", (long)me);
    return true;
}

int emulator_lane()
{
    return (int)(running % WARP);
}

void emulator_exchange(void *value, size_t size, int source)
{
    const size_t me = running, first = me / WARP * WARP;
    memcpy(threads[me].hand, value, size);
    wait(AT_WARP);
    const size_t from = first + (size_t)source;
    if (from < threads.size())
        memcpy(value, threads[from].hand, size);
    wait(AT_WARP); /* nobody brings the next value before all have taken this one */
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
    const size_t count = (size_t)blockDim.x * blockDim.y * blockDim.z;
    if (count == 0 || count > 1024 || gridDim.x == 0 || config->dynamicSmemBytes > 227 * 1024)
        return cudaErrorInvalidValue;
    coroutines.reserve(1024); /* a coroutine's jmp_buf must stay where it is */
    while (coroutines.size() < count)
        coroutines.push_back({{}, false, malloc(STACK)});
    threads.resize(count);
    for (size_t t = 0; t < count; t++)
        threads[t].index = dim3((unsigned)(t % blockDim.x), (unsigned)(t / blockDim.x % blockDim.y),
                                (unsigned)(t / blockDim.x / blockDim.y));
    body = &thread_;
    const size_t bytes = config->dynamicSmemBytes;
    std::vector<double> shared(bytes / sizeof(double) + GUARD / sizeof(double) + 2);
    emulator_shared = (unsigned char *)shared.data();
    for (unsigned block = 0; block < gridDim.x; block++) {
        blockIdx = dim3(block, 0, 0);
        memset(emulator_shared, 0xff, bytes + GUARD); /* NaN in both precisions */
        run_block();
        for (size_t n = 0; n < GUARD; n++)
            if (emulator_shared[bytes + n] != 0xff)
                complain("a write beyond the shared memory asked for", (long)n);
    }
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
