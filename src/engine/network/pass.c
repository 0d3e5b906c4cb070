#include "engine/network/pass.h"

#include "core/memory.h"
#include "core/text.h"
#include "engine/ranks/together.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>

/* Solids' substances and walls' faces are there; measured conductivities have no contacts. */
static bool is_sound(const struct hs_network_spec *spec)
{
    const struct hs_body *body = spec->body;
    bool sound = spec->threads > 0 && body->substance_count < HS_CELL_EMPTY &&
                 !(hs_is_measured(&body->conductivity) && body->contact_count > 0);
    for (int n = 0; n < body->solid_count; n++)
        sound = sound && body->solid[n].substance < body->substance_count;
    for (int w = 0; w < spec->wall_count; w++) {
        const int face = spec->wall[w].face;
        sound = sound && face >= 0 && face < 2 * spec->grid->dims && !spec->wrap[face / 2];
    }
    return sound;
}

enum hs_status hs_pass_agree(const struct hs_pass *pass, enum hs_status status,
                             struct hs_error *err)
{
    return pass->portion.ranks > 1 ? hs_ranks_agree(status, err) : status;
}

void hs_pass_add(const struct hs_pass *pass, double *sum, int64_t count)
{
    if (pass->portion.ranks > 1)
        hs_ranks_add(sum, count);
}

enum hs_status hs_pass_init(struct hs_pass *pass, const struct hs_network_spec *spec,
                            struct hs_error *err)
{
    assert(is_sound(spec));
    *pass = (struct hs_pass){.spec = spec,
                             .threads = spec->threads,
                             .portion = hs_portion_of(spec->grid, spec->ranks, spec->rank)};
    pass->worker = hs_new((size_t)pass->threads * sizeof *pass->worker);
    hs_axes_init(pass->axis, spec);
    const enum hs_status st = hs_cells_init(&pass->cells, spec, pass->axis, &pass->portion, err);
    for (int t = 0; t < pass->threads; t++) {
        pass->worker[t].thread = t;
        hs_nodes_init(&pass->worker[t].nodes, spec, pass->axis, &pass->cells);
    }
    return hs_pass_agree(pass, st, err);
}

void hs_pass_release(struct hs_pass *pass)
{
    for (int t = 0; t < pass->threads; t++)
        hs_nodes_release(&pass->worker[t].nodes);
    free(pass->worker);
    hs_cells_release(&pass->cells);
    hs_axes_release(pass->axis);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t first_row(const struct hs_pass *pass, int part)
{
    return hs_portion_part(pass->spec->grid, part);
}

int64_t hs_pass_nodes(const struct hs_pass *pass)
{
    return hs_portion_nodes(&pass->portion, pass->spec->grid) + 2 * pass->portion.beside;
}

int64_t hs_pass_place(const struct hs_pass *pass, int64_t row)
{
    return pass->portion.beside + (row - pass->portion.row) * pass->spec->grid->points[HS_X];
}

static void go_through(struct hs_pass *pass, struct hs_pass_worker *worker, int part, void *self,
                       bool (*of_row)(void *self, struct hs_pass_worker *worker, int64_t row))
{
    const int64_t ny = pass->spec->grid->points[HS_Y];
    pass->taker[part] = worker->thread;
    worker->part = part;
    for (int64_t r = first_row(pass, part); r < first_row(pass, part + 1) && worker->goes_on; r++) {
        hs_nodes_begin_row(&worker->nodes, r % ny, r / ny);
        worker->goes_on = of_row(self, worker, r);
    }
}

void hs_pass_go(struct hs_pass *pass, void *self,
                bool (*of_row)(void *self, struct hs_pass_worker *worker, int64_t row))
{
    for (int t = 0; t < pass->threads; t++) {
        pass->worker[t].fault = (struct hs_node_fault_at){.what = HS_NODE_IS_WELL};
        pass->worker[t].goes_on = true;
    }
#pragma omp parallel for num_threads(pass->threads) schedule(monotonic : dynamic)
    for (int part = pass->portion.part; part < pass->portion.end_part; part++)
        go_through(pass, &pass->worker[omp_get_thread_num()], part, self, of_row);
}

void hs_pass_again(const struct hs_pass *pass, void *self,
                   void (*of_nodes)(void *self, int thread, int64_t first, int64_t end))
{
#pragma omp parallel for num_threads(pass->threads) schedule(static, 1)
    for (int t = 0; t < pass->threads; t++)
        for (int part = pass->portion.part; part < pass->portion.end_part; part++)
            if (pass->taker[part] == t)
                of_nodes(self, t, hs_pass_place(pass, first_row(pass, part)),
                         hs_pass_place(pass, first_row(pass, part + 1)));
}

/* ---- faults ---------------------------------------------------------------------------------- */

bool hs_pass_note(struct hs_pass_worker *worker, enum hs_node_fault what, int64_t i)
{
    if (what != HS_NODE_IS_WELL)
        worker->fault = (struct hs_node_fault_at){
            what, {i, worker->nodes.octants.node[HS_Y], worker->nodes.octants.node[HS_Z]}};
    return what == HS_NODE_IS_WELL;
}

static enum hs_status report(const struct hs_pass *pass, const struct hs_node_fault_at *fault,
                             struct hs_error *err)
{
    static const char *const text[] = {
        [HS_NODE_IS_EMPTY] = "no material there; let the body begin with one that has no shape",
        [HS_NODE_OVERFLOWS] = "a conductance, the heat capacity or what a wall or source does is "
                              "not a finite number; look at the materials' and walls' values",
        [HS_NODE_HAS_TOO_MANY] = "too many different sources and wall values act on it; give "
                                 "some of them the same expression",
        [HS_NODE_IS_UNNAMED] = "its label is of no material; name it",
    };
    static const char axis_name[] = "xyz";
    char at[128] = "";
    for (int a = 0; a < pass->spec->grid->dims; a++)
        hs_text_append(at, sizeof at, "%s%c = %.6g", a ? ", " : "", axis_name[a],
                       pass->axis[a].position[fault->node[a]]);
    return hs_error_add(err, HS_BAD_INPUT, "%s: around the node at %s m: %s",
                        pass->spec->place ? pass->spec->place : "body", at, text[fault->what]);
}

enum hs_status hs_pass_outcome(const struct hs_pass *pass, struct hs_error *err)
{
    const struct hs_grid *grid = pass->spec->grid;
    struct hs_node_fault_at fault = {.what = HS_NODE_IS_WELL};
    for (int t = 0; t < pass->threads; t++) {
        const struct hs_node_fault_at *other = &pass->worker[t].fault;
        if (other->what != HS_NODE_IS_WELL &&
            (fault.what == HS_NODE_IS_WELL ||
             hs_grid_index(grid, other->node) < hs_grid_index(grid, fault.node)))
            fault = *other;
    }
    if (pass->portion.ranks > 1) {
        size_t *bytes;
        struct hs_node_fault_at *all = hs_ranks_gather(&fault, sizeof fault, &bytes);
        for (int rank = hs_ranks_count() - 1; rank >= 0; rank--)
            if (all[rank].what != HS_NODE_IS_WELL)
                fault = all[rank];
        free(bytes);
        free(all);
    }
    return fault.what == HS_NODE_IS_WELL ? HS_OK : report(pass, &fault, err);
}
