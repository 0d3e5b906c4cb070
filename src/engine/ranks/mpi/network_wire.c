#include "engine/ranks/mpi/network_wire.h"

#include "core/memory.h"
#include "engine/ranks/mpi/wire.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

static size_t row_bytes(const struct hs_network *network)
{
    return (size_t)network->row_count * sizeof *network->row;
}

static size_t node_bytes(const struct hs_network *network)
{
    return (size_t)hs_grid_count(&network->grid) * hs_network_node_bytes(network->form);
}

static size_t forcing_bytes(const struct hs_network *network)
{
    return (size_t)network->forcing_count * sizeof *network->forcing;
}

/* ---- there ----------------------------------------------------------------------------------- */

/* Values of walls go as offsets into the walls. */
static void send_moving(int to, const struct hs_moving *moving, const struct hs_problem *whole)
{
    const size_t count = (size_t)moving->stretch_count;
    int64_t *place = hs_new((count + 1) * sizeof *place);
    for (size_t s = 0; s < count; s++)
        place[s] = (const char *)moving->stretch[s].value - (const char *)whole->walls;
    hs_wire_send(to, moving->node, (size_t)moving->count * sizeof *moving->node);
    hs_wire_send(to, moving->stretch, count * sizeof *moving->stretch);
    hs_wire_send(to, place, count * sizeof *place);
    hs_wire_send(to, moving->weight, (size_t)hs_moving_weights(moving) * sizeof *moving->weight);
    free(place);
}

void hs_network_send(int to, const struct hs_network *network, const struct hs_problem *whole)
{
    const bool arrays = network->form == HS_NETWORK_ARRAYS;
    hs_wire_send(to, network, sizeof *network);
    hs_wire_send(to, network->row, row_bytes(network));
    hs_wire_send(to, arrays ? network->node : network->number, node_bytes(network));
    hs_wire_send(to, network->forcing, forcing_bytes(network));
    send_moving(to, &network->inflow, whole);
    send_moving(to, &network->given, whole);
}

/* ---- here ------------------------------------------------------------------------------------ */

static void *receive(int from, size_t bytes)
{
    void *out = bytes > 0 ? malloc(bytes) : NULL;
    if (!out && bytes > 0)
        hs_wire_abort(HS_DEVICE, "not enough memory for a slab of the body (%zu bytes)", bytes);
    hs_wire_receive(from, out, bytes);
    return out;
}

static void receive_moving(int from, struct hs_moving *moving, const struct hs_problem *whole)
{
    const size_t count = (size_t)moving->stretch_count;
    moving->node = receive(from, (size_t)moving->count * sizeof *moving->node);
    moving->stretch = receive(from, count * sizeof *moving->stretch);
    int64_t *place = receive(from, count * sizeof *place);
    for (size_t s = 0; s < count; s++)
        moving->stretch[s].value =
            (const struct hs_value *)(const void *)((const char *)whole->walls + place[s]);
    free(place);
    moving->weight = receive(from, (size_t)hs_moving_weights(moving) * sizeof *moving->weight);
}

struct hs_network *hs_network_receive(int from, const struct hs_grid *grid,
                                      const struct hs_problem *whole)
{
    struct hs_network *network = hs_new(sizeof *network);
    hs_wire_receive(from, network, sizeof *network);
    const bool arrays = network->form == HS_NETWORK_ARRAYS;
    network->grid = *grid;
    network->row = receive(from, row_bytes(network));
    void *nodes = receive(from, node_bytes(network));
    network->number = arrays ? NULL : nodes;
    network->node = arrays ? nodes : NULL;
    network->forcing = receive(from, forcing_bytes(network));
    receive_moving(from, &network->inflow, whole);
    receive_moving(from, &network->given, whole);
    return network;
}
