#include "engine/ranks/mpi/network_wire.h"

#include "core/memory.h"
#include "engine/ranks/mpi/wire.h"

#include <stdint.h>
#include <stdlib.h>

/* Passes an array to or from another rank. Returns where it is on this rank. */
typedef void *pass_function(int rank, void *array, size_t bytes);

static void *send(int to, void *array, size_t bytes)
{
    hs_wire_send(to, array, bytes);
    return array;
}

static void *receive(int from, void *there, size_t bytes)
{
    (void)there;
    void *out = bytes > 0 ? malloc(bytes) : NULL;
    if (!out && bytes > 0)
        hs_wire_abort(HS_DEVICE, "not enough memory for a slab of the body (%zu bytes)", bytes);
    hs_wire_receive(from, out, bytes);
    return out;
}

static void pass_moving(int rank, struct hs_moving *moving, pass_function *pass)
{
    moving->node = pass(rank, moving->node, (size_t)moving->count * sizeof *moving->node);
    moving->stretch =
        pass(rank, moving->stretch, (size_t)moving->stretch_count * sizeof *moving->stretch);
    moving->weight = pass(rank, moving->weight, (size_t)moving->weights * sizeof *moving->weight);
}

static void pass_arrays(int rank, struct hs_network *network, pass_function *pass)
{
    const size_t nodes =
        (size_t)hs_grid_count(&network->grid) * hs_network_node_bytes(network->form);
    network->row = pass(rank, network->row, (size_t)network->row_count * sizeof *network->row);
    network->number = pass(rank, network->number, nodes);
    network->forcing =
        pass(rank, network->forcing, (size_t)network->forcing_count * sizeof *network->forcing);
    pass_moving(rank, &network->inflow, pass);
    pass_moving(rank, &network->given, pass);
}

/* With the place of the walls there, in which the values of what moves lie. */
struct message {
    struct hs_network network;
    const struct hs_wall *walls;
};

void hs_network_send(int to, const struct hs_network *network, const struct hs_problem *whole)
{
    struct message message = {*network, whole->walls};
    hs_wire_send(to, &message, sizeof message);
    pass_arrays(to, &message.network, send);
}

static void find_values(struct hs_moving *moving, const struct hs_wall *there,
                        const struct hs_wall *here)
{
    for (int64_t s = 0; s < moving->stretch_count; s++) {
        const uintptr_t place = (uintptr_t)moving->stretch[s].value - (uintptr_t)there;
        moving->stretch[s].value = (const void *)((const char *)here + place);
    }
}

struct hs_network *hs_network_receive(int from, const struct hs_grid *grid,
                                      const struct hs_problem *whole)
{
    struct message message;
    struct hs_network *network = hs_new(sizeof *network);
    hs_wire_receive(from, &message, sizeof message);
    *network = message.network;
    network->grid = *grid;
    pass_arrays(from, network, receive);
    find_values(&network->inflow, message.walls, whole->walls);
    find_values(&network->given, message.walls, whole->walls);
    return network;
}
