/* Exchange between the GPUs of ranks by NCCL: optional, looked up when it is first needed. */
#ifndef HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H
#define HS_ENGINE_RANKS_MPI_DEVICE_WIRE_H

#include "engine/ranks/mpi/wire.h"

#include <stdbool.h>

/* Called by all ranks together, each with its device current. `alone`: no other rank uses that
 * device. Returns whether layers go by NCCL from now on: if each rank is alone and has it. */
bool hs_device_wire_join(bool alone);

/* After join, if that is so: whether the ranks' devices can write to each other's memory. If they
 * can, memory to which the others can write. All ranks take equal sizes, and give in one order.
 * take: NULL if there is not so much; give does nothing with that. */
bool hs_device_wire_shares(void);
void *hs_device_wire_take(size_t bytes);
void hs_device_wire_give(void *at);

/* Enqueues on the stream (cudaStream_t) what hs_wire_exchange does, for device memory. `beside`,
 * the same on all ranks: kernels run at the same time. */
void hs_device_wire_exchange(void *stream, bool beside, const struct hs_wire_side *below,
                             const struct hs_wire_side *above);

#endif
