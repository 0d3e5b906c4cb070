#include "core/network.h"

#include <stdlib.h>
#include <string.h>

static void release_moving(struct hs_moving *moving)
{
    free(moving->node);
    free(moving->stretch);
    free(moving->weight);
}

void hs_network_release(struct hs_network *network)
{
    free(network->row);
    free(network->number);
    free(network->forcing);
    release_moving(&network->inflow);
    release_moving(&network->given);
    free(network->volume);
    free(network->contact);
    free(network->held);
    memset(network, 0, sizeof *network);
}

void hs_network_destroy(struct hs_network *network)
{
    if (network)
        hs_network_release(network);
    free(network);
}
