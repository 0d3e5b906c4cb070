/* The network's substances: their volumes, and their shares in nodes that walls hold. */
#include "engine/network/pass.h"

#include "core/memory.h"
#include "engine/ranks/together.h"

#include <stdlib.h>
#include <string.h>

/* What was found in a part of the rows. */
struct list {
    struct hs_held_share *held; /* [count] */
    int64_t count;
};

struct search {
    struct hs_pass *pass;
    double *volume;    /* [HS_PARTS_OF_ROWS][apart] */
    int64_t apart;     /* the substances and a gap: threads write to no cache line in common */
    struct list *list; /* [HS_PARTS_OF_ROWS] */
};

/* ---- volumes --------------------------------------------------------------------------------- */

static bool add_volumes(void *self, struct hs_pass_worker *worker, int64_t row)
{
    (void)row;
    struct search *search = self;
    const struct hs_network_spec *spec = search->pass->spec;
    const struct hs_shares *shares = &worker->nodes.shares;
    double *volume = search->volume + worker->part * search->apart;
    for (int64_t i = 0; i < spec->grid->points[HS_X]; i++) {
        if (!worker->nodes.same[i] && !hs_pass_note(worker, hs_nodes_share(&worker->nodes, i), i))
            return false;
        for (int n = 0; n < shares->count; n++)
            volume[shares->share[n].substance] += shares->share[n].volume;
    }
    return true;
}

static enum hs_status find_volumes(struct search *search, struct hs_network *out,
                                   struct hs_error *err)
{
    enum { GAP = 16 };
    const int64_t count = search->pass->spec->body->substance_count;
    const int64_t apart = search->apart = count + GAP;
    search->volume = hs_new((size_t)(HS_PARTS_OF_ROWS * apart) * sizeof *search->volume);
    hs_pass_go(search->pass, search, add_volumes);
    const enum hs_status st = hs_pass_outcome(search->pass, err);
    if (!st) {
        hs_pass_add(search->pass, search->volume, HS_PARTS_OF_ROWS * apart);
        out->volume = hs_new((size_t)(count + 1) * sizeof *out->volume);
        for (int part = 0; part < HS_PARTS_OF_ROWS; part++)
            for (int64_t n = 0; n < count; n++)
                out->volume[n] += search->volume[part * apart + n];
    }
    free(search->volume);
    return st;
}

/* ---- what walls hold ------------------------------------------------------------------------- */

/* Adds the shares of node i's control volume, if a wall holds the node. */
static bool add_held(const struct hs_pass *pass, struct hs_pass_worker *worker, int64_t i,
                     struct list *list)
{
    const struct hs_octants *octants = &worker->nodes.octants;
    const int64_t node[HS_AXES] = {i, octants->node[HS_Y], octants->node[HS_Z]};
    const struct hs_shares *shares = &worker->nodes.shares;
    const struct hs_wall *wall = hs_walls_holding(&worker->nodes.walls, node);
    if (!wall)
        return true;
    if (!hs_pass_note(worker, hs_nodes_share(&worker->nodes, i), i))
        return false;
    for (int n = 0; n < shares->count; n++) {
        struct hs_held_share share = {.wall = (int)(wall - pass->spec->wall),
                                      .substance = shares->share[n].substance,
                                      .volume = shares->share[n].volume};
        memcpy(share.node, node, sizeof node);
        list->held = hs_reserve(list->held, (size_t)list->count, sizeof share);
        list->held[list->count++] = share;
    }
    return true;
}

/* Only nodes at walls are held. */
static bool add_held_of_row(void *self, struct hs_pass_worker *worker, int64_t row)
{
    struct search *search = self;
    const struct hs_grid *grid = search->pass->spec->grid;
    const int64_t *n = grid->points, j = row % n[HS_Y], k = row / n[HS_Y];
    const bool whole = (grid->dims > 1 && (j == 0 || j == n[HS_Y] - 1)) ||
                       (grid->dims > 2 && (k == 0 || k == n[HS_Z] - 1));
    for (int64_t i = 0; i < n[HS_X]; i += whole || n[HS_X] == 1 ? 1 : n[HS_X] - 1)
        if (!add_held(search->pass, worker, i, &search->list[worker->part]))
            return false;
    return true;
}

/* Unites the lists of all parts and ranks. */
static void unite_held(const struct search *search, struct hs_network *out)
{
    int64_t count = 0;
    for (int part = 0; part < HS_PARTS_OF_ROWS; part++)
        count += search->list[part].count;
    struct hs_held_share *held = hs_new(((size_t)count + 1) * sizeof *held), *at = held;
    for (int part = 0; part < HS_PARTS_OF_ROWS; part++)
        for (int64_t n = 0; n < search->list[part].count; n++)
            *at++ = search->list[part].held[n];
    if (search->pass->portion.ranks > 1) {
        size_t *bytes;
        at = held;
        held = hs_ranks_gather(at, (size_t)count * sizeof *at, &bytes);
        count = 0;
        for (int rank = 0; rank < hs_ranks_count(); rank++)
            count += (int64_t)(bytes[rank] / sizeof *held);
        free(bytes);
        free(at);
    }
    out->held = held;
    out->held_count = count;
}

static enum hs_status find_held(struct search *search, struct hs_network *out, struct hs_error *err)
{
    search->list = hs_new(HS_PARTS_OF_ROWS * sizeof *search->list);
    hs_pass_go(search->pass, search, add_held_of_row);
    const enum hs_status st = hs_pass_outcome(search->pass, err);
    if (!st)
        unite_held(search, out);
    for (int part = 0; part < HS_PARTS_OF_ROWS; part++)
        free(search->list[part].held);
    free(search->list);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

enum hs_status hs_pass_find_substances(struct hs_pass *pass, struct hs_network *out,
                                       struct hs_error *err)
{
    struct search search = {.pass = pass};
    if (pass->spec->body->substance_count == 0)
        return HS_OK;
    const enum hs_status st = find_volumes(&search, out, err);
    return st || !hs_body_is_active(pass->spec->body) ? st : find_held(&search, out, err);
}
