/* Exchange between the GPUs of ranks by NCCL: optional, looked up when it is first needed. */
#ifndef HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H
#define HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H

#include "engine/ranks/mpi/wire.h"

#include <stdbool.h>

/* Called by all ranks together, each with its device current. `alone`: no other rank uses that
 * device. Returns whether layers go by NCCL from now on: if each rank is alone and has it. */
bool hs_device_wire_join(bool alone);

/* Enqueues on the stream (cudaStream_t) what hs_wire_exchange does, for device memory. */
void hs_device_wire_exchange(void *stream, const struct hs_wire_side *below,
                             const struct hs_wire_side *above);

#endif
