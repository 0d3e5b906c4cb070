#include "engine/ranks/together.h"

#include "engine/ranks/mpi/wire.h"

#include <string.h>

int hs_ranks_number(void)
{
    return hs_wire.rank;
}

enum hs_status hs_ranks_agree(enum hs_status status, struct hs_error *err)
{
    char ready = 0; /* rank 0 may take long: the others wait asleep */
    hs_wire_tell(&ready, sizeof ready);
    return hs_wire_settle(status, err);
}

void hs_ranks_collect(const void *here, size_t bytes, void *all)
{
    size_t each = bytes;
    if (hs_wire.rank > 0) {
        hs_wire_send(0, &each, sizeof each);
        hs_wire_send(0, here, bytes);
        return;
    }
    memcpy(all, here, bytes);
    for (int rank = 1; rank < hs_wire.ranks; rank++) {
        all = (char *)all + each;
        hs_wire_receive(rank, &each, sizeof each);
        hs_wire_receive(rank, all, each);
    }
}

void hs_ranks_beside(int ranks, void *array, size_t layer, size_t own)
{
    const int here = hs_wire.rank;
    char *at = array;
    const struct hs_wire_side before = {(here + ranks - 1) % ranks, at + layer, at, layer};
    const struct hs_wire_side after = {(here + 1) % ranks, at + own, at + layer + own, layer};
    if (here < ranks)
        hs_wire_exchange(&before, &after);
}
