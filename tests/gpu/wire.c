/*
 * usage: mpirun -n N wire
 *
 * Exchanges layers between GPUs by NCCL; each rank has its own device. Ranks form a ring: what is
 * sent down arrives from above, and vice versa. One rank exchanges with itself, two ranks with each
 * other on both sides. Then the same in an open chain, whose ends have one neighbour.
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

/* Whether all that arrived is what was sent, and nothing arrived where there is no neighbour. */
static bool exchange(cudaStream_t stream, size_t bytes, bool ring, int round)
{
    unsigned char *host = malloc(bytes), *out[SIDES], *in[SIDES];
    struct hs_wire_side side[SIDES];
    bool right = host != NULL;
    for (int s = 0; s < SIDES && right; s++) {
        must(cudaMalloc((void **)&out[s], bytes), "memory");
        must(cudaMalloc((void **)&in[s], bytes), "memory");
        for (size_t n = 0; n < bytes; n++)
            host[n] = value(hs_wire.rank, s, round, n);
        must(cudaMemcpy(out[s], host, bytes, cudaMemcpyHostToDevice), "there");
        must(cudaMemset(in[s], 0xee, bytes), "clear");
        side[s] = (struct hs_wire_side){neighbour(s, ring), out[s], in[s], bytes};
    }
    must(cudaDeviceSynchronize(), "before");
    hs_device_wire_exchange(stream, &side[DOWN], &side[UP]);
    must(cudaStreamSynchronize(stream), "exchange");
    for (int s = 0; s < SIDES; s++) {
        must(cudaMemcpy(host, in[s], bytes, cudaMemcpyDeviceToHost), "back");
        for (size_t n = 0; n < bytes; n++) {
            const unsigned char due =
                side[s].rank < 0 ? 0xee : value(side[s].rank, s == UP ? DOWN : UP, round, n);
            right = right && host[n] == due;
        }
        must(cudaFree(out[s]), "free");
        must(cudaFree(in[s]), "free");
    }
    free(host);
    return right;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 4099, 65536, 5 << 20};
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
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int ring = 0; ring < 2; ring++)
            for (int round = 0; round < ROUNDS; round++)
                wrong += !hs_wire_least(exchange(stream, sizes[n], ring, round));
    if (hs_wire.rank == 0)
        printf("wire: %d ranks by NCCL: %s\n", hs_wire.ranks,
               wrong ? "not what was sent" : "the same");
    hs_wire_end();
    return wrong > 0;
}
