/* What goes between the GPUs of ranks, by NCCL: optional, found when it is first asked for. */
#ifndef HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H
#define HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H

#include "engine/ranks/mpi/wire.h"

#include <stdbool.h>

/* Of all ranks together, each with its device current. `alone`: no other rank is on that device.
 * Whether layers go by NCCL from now on: where each rank is alone, and has it. */
bool hs_device_wire_join(bool alone);

/* Asks the stream (cudaStream_t) to do what hs_wire_exchange does, of device memory. */
void hs_device_wire_exchange(void *stream, const struct hs_wire_side *below,
                             const struct hs_wire_side *above);

#endif
