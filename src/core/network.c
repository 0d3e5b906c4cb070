#include "core/network.h"

#include <stdlib.h>
#include <string.h>

void hs_network_release(struct hs_network *network)
{
    free(network->row);
    free(network->number);
    free(network->node);
    free(network->forcing);
    memset(network, 0, sizeof *network);
}

void hs_network_destroy(struct hs_network *network)
{
    if (network)
        hs_network_release(network);
    free(network);
}
