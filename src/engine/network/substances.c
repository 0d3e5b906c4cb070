/* The network's substances: their volumes, also beyond contacts, and their shares in nodes that
 * walls hold. */
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
    bool wants_held;
    double *volume;    /* [HS_PARTS_OF_ROWS][apart]: of the substances, then beyond the contacts */
    int64_t apart;     /* these and a gap: threads write to no cache line in common */
    struct list *list; /* [HS_PARTS_OF_ROWS] */
};

/* Adds the shares of node i's control volume, which were found, if a wall holds the node. */
static void add_held(const struct search *search, const struct hs_pass_worker *worker, int64_t i)
{
    const struct hs_nodes *nodes = &worker->nodes;
    const int64_t node[HS_AXES] = {i, nodes->octants.node[HS_Y], nodes->octants.node[HS_Z]};
    const struct hs_wall *wall = hs_walls_holding(&nodes->walls, node);
    struct list *list = &search->list[worker->part];
    for (int n = 0; n < nodes->shares.count && wall; n++) {
        struct hs_held_share share = {.wall = (int)(wall - nodes->walls.wall),
                                      .substance = nodes->shares.share[n].substance,
                                      .volume = nodes->shares.share[n].volume};
        memcpy(share.node, node, sizeof node);
        list->held = hs_reserve(list->held, (size_t)list->count, sizeof share);
        list->held[list->count++] = share;
    }
}

/* Adds what of the control volume, whose shares were found, lies beyond contacts. */
static void add_beyond(const struct search *search, struct hs_nodes *nodes, double *beyond)
{
    const struct hs_body *body = search->pass->spec->body;
    if (body->contact_count == 0 || nodes->shares.count < 2)
        return;
    const int side = hs_octants_side(&nodes->octants);
    for (int n = 0; n < nodes->shares.count; n++) {
        const struct hs_share *share = &nodes->shares.share[n];
        const struct hs_contact *contact = hs_body_contact(body, side, share->substance);
        if (contact)
            beyond[2 * (contact - body->contact) + (contact->between[1] == share->substance)] +=
                share->volume;
    }
}

/* Only nodes at walls are held. */
static bool add_row(void *self, struct hs_pass_worker *worker, int64_t row)
{
    struct search *search = self;
    const struct hs_grid *grid = search->pass->spec->grid;
    const struct hs_shares *shares = &worker->nodes.shares;
    const int64_t *n = grid->points, j = row % n[HS_Y], k = row / n[HS_Y];
    const bool whole = (grid->dims > 1 && (j == 0 || j == n[HS_Y] - 1)) ||
                       (grid->dims > 2 && (k == 0 || k == n[HS_Z] - 1));
    double *volume = search->volume + worker->part * search->apart;
    const int substances = search->pass->spec->body->substance_count;
    for (int64_t i = 0; i < n[HS_X]; i++) {
        if (!worker->nodes.same[i] && !hs_pass_note(worker, hs_nodes_share(&worker->nodes, i), i))
            return false;
        for (int s = 0; s < shares->count; s++)
            volume[shares->share[s].substance] += shares->share[s].volume;
        add_beyond(search, &worker->nodes, volume + substances);
        if (search->wants_held && (whole || i == 0 || i == n[HS_X] - 1))
            add_held(search, worker, i);
    }
    return true;
}

/* Adds up the volumes of all parts and ranks. */
static void unite_volumes(const struct search *search, struct hs_network *out)
{
    const int64_t count = search->pass->spec->body->substance_count;
    const int64_t contacts = search->pass->spec->body->contact_count;
    hs_pass_add(search->pass, search->volume, HS_PARTS_OF_ROWS * search->apart);
    out->volume = hs_new((size_t)(count + 1) * sizeof *out->volume);
    out->contact = hs_new((size_t)(contacts + 1) * sizeof *out->contact);
    for (int part = 0; part < HS_PARTS_OF_ROWS; part++) {
        const double *volume = search->volume + part * search->apart;
        for (int64_t n = 0; n < count; n++)
            out->volume[n] += volume[n];
        for (int64_t n = 0; n < 2 * contacts; n++)
            out->contact[n / 2].beyond[n % 2] += volume[count + n];
    }
}

/* Adds up the lines that met contacts when the rows were made. */
static void unite_lines(const struct search *search, struct hs_network *out)
{
    const struct hs_pass *pass = search->pass;
    for (int n = 0; n < pass->spec->body->contact_count; n++) {
        for (int t = 0; t < pass->threads; t++)
            out->contact[n].lines += pass->worker[t].nodes.octants.lines[n];
        hs_pass_add(pass, &out->contact[n].lines, 1);
    }
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

enum hs_status hs_pass_find_substances(struct hs_pass *pass, struct hs_network *out,
                                       struct hs_error *err)
{
    enum { GAP = 16 };
    const struct hs_body *body = pass->spec->body;
    struct search search = {.pass = pass,
                            .wants_held = hs_body_is_active(body),
                            .apart = body->substance_count + 2 * body->contact_count + GAP};
    if (body->substance_count == 0)
        return HS_OK;
    search.volume = hs_new((size_t)(HS_PARTS_OF_ROWS * search.apart) * sizeof *search.volume);
    search.list = hs_new(HS_PARTS_OF_ROWS * sizeof *search.list);
    hs_pass_go(pass, &search, add_row);
    const enum hs_status st = hs_pass_outcome(pass, err);
    if (!st) {
        unite_volumes(&search, out);
        unite_lines(&search, out);
    }
    if (!st && search.wants_held)
        unite_held(&search, out);
    for (int part = 0; part < HS_PARTS_OF_ROWS; part++)
        free(search.list[part].held);
    free(search.list);
    free(search.volume);
    return st;
}
