/*
 * usage: mpirun -n N wire
 *
 * Exchanges layers between GPUs by NCCL; each rank has its own device. Ranks form a ring: what is
 * sent down arrives from above, and vice versa. One rank exchanges with itself, two ranks with each
 * other on both sides. Then the same in an open chain, whose ends have one neighbour. By send and
 * receive, and by one-sided writes if NCCL has them.
 */
#include "engine/ranks/mpi/device_wire.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOWN, UP, SIDES };
enum { ROUNDS = 3 };

static void must(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        hs_wire_abort(HS_DEVICE, "%s: %s", what, cudaGetErrorString(status));
}

/* Byte n of what a rank sends in a direction in a round. */
static unsigned char value(int rank, int way, int round, size_t n)
{
    return (unsigned char)(7 * rank + 101 * way + 31 * round + n % 251);
}

/* The neighbour on that side; -1: none. */
static int neighbour(int side, bool ring)
{
    const int other = hs_wire.rank + (side == UP ? 1 : -1);
    return ring                                  ? (other + hs_wire.ranks) % hs_wire.ranks
           : other < 0 || other == hs_wire.ranks ? -1
                                                 : other;
}

/* The most bytes to each side, and memory for all: what comes from below, what is sent down and up,
 * what comes from above; at other places on each rank. */
enum { MOST = 5 << 20, MEMORY = 6 * MOST };

static void place(char *memory, size_t bytes, bool ring, struct hs_wire_side side[SIDES])
{
    char *const begin = memory + MOST + 4096 * (size_t)hs_wire.rank, *const end = begin + 3 * MOST;
    side[DOWN] = (struct hs_wire_side){neighbour(DOWN, ring), begin, begin - bytes, bytes};
    side[UP] = (struct hs_wire_side){neighbour(UP, ring), end - bytes, end, bytes};
}

/* Whether all that arrived is what was sent, and nothing arrived where there is no neighbour. */
static bool exchange(cudaStream_t stream, char *memory, bool beside, size_t bytes, bool ring,
                     int round)
{
    unsigned char *host = malloc(bytes);
    struct hs_wire_side side[SIDES];
    bool right = host != NULL;
    place(memory, bytes, ring, side);
    for (int s = 0; s < SIDES && right; s++) {
        for (size_t n = 0; n < bytes; n++)
            host[n] = value(hs_wire.rank, s, round, n);
        must(cudaMemcpy((void *)side[s].out, host, bytes, cudaMemcpyHostToDevice), "there");
        must(cudaMemset(side[s].in, 0xee, bytes), "clear");
    }
    must(cudaDeviceSynchronize(), "before");
    hs_wire_least(1); /* nothing arrives before all are cleared */
    hs_device_wire_exchange(stream, beside, &side[DOWN], &side[UP]);
    must(cudaStreamSynchronize(stream), "exchange");
    for (int s = 0; s < SIDES && right; s++) {
        must(cudaMemcpy(host, side[s].in, bytes, cudaMemcpyDeviceToHost), "back");
        for (size_t n = 0; n < bytes; n++) {
            const unsigned char due =
                side[s].rank < 0 ? 0xee : value(side[s].rank, s == UP ? DOWN : UP, round, n);
            right = right && host[n] == due;
        }
    }
    free(host);
    return right;
}

/* Returns how many exchanges were wrong. */
static int try_all(cudaStream_t stream, char *memory, bool beside, bool ring)
{
    static const size_t sizes[] = {1, 4099, 65536, MOST};
    int wrong = 0;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int round = 0; round < ROUNDS; round++)
            wrong += !hs_wire_least(exchange(stream, memory, beside, sizes[n], ring, round));
    return wrong;
}

int main(int argc, char **argv)
{
    hs_wire_begin(&argc, &argv);
    int devices = 0, wrong = 0;
    cudaStream_t stream;
    must(cudaGetDeviceCount(&devices), "devices");
    must(cudaSetDevice(hs_wire.local % devices), "device");
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    struct cudaDeviceProp about;
    must(cudaGetDeviceProperties(&about, hs_wire.local % devices), "properties");
    if (!hs_device_wire_join(hs_wire_apart(about.uuid.bytes, sizeof about.uuid.bytes)))
        hs_wire_abort(HS_DEVICE, "no NCCL, or fewer devices (%d) than ranks", devices);
    for (int ring = 0; ring < 2; ring++) {
        void *memory = NULL;
        must(cudaMalloc(&memory, MEMORY), "memory");
        wrong += try_all(stream, memory, false, ring);
        must(cudaFree(memory), "free");
        if (!hs_device_wire_shares())
            continue;
        memory = hs_device_wire_take(MEMORY);
        wrong += try_all(stream, memory, true, ring);
        wrong += try_all(stream, memory, false, ring);
        hs_device_wire_give(memory);
    }
    if (hs_wire.rank == 0)
        printf("wire: %d ranks by NCCL, %s one-sided writes: %s\n", hs_wire.ranks,
               hs_device_wire_shares() ? "and" : "without",
               wrong ? "not what was sent" : "the same");
    hs_wire_end();
    return wrong > 0;
}
