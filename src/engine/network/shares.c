#include "engine/network/shares.h"

#include "core/memory.h"

#include <stdlib.h>

void hs_shares_init(struct hs_shares *shares, const struct hs_body *body)
{
    *shares = (struct hs_shares){.count = 0};
    shares->share = hs_new(((size_t)body->substance_count + 1) * sizeof *shares->share);
}

void hs_shares_release(struct hs_shares *shares)
{
    free(shares->share);
}

static void add(struct hs_shares *shares, int substance, int octant, double volume)
{
    int n = shares->count;
    while (n > 0 && shares->share[n - 1].substance > substance)
        n--;
    if (n == 0 || shares->share[n - 1].substance != substance) {
        for (int m = shares->count++; m > n; m--)
            shares->share[m] = shares->share[m - 1];
        shares->share[n++] = (struct hs_share){.substance = substance};
    }
    shares->share[n - 1].octant[octant] += volume;
}

/* Adds an octant that surfaces cross. */
static void trace(struct hs_shares *shares, struct hs_octants *octants, int number,
                  const struct hs_node_box *region, bool *empty)
{
    const struct hs_solids *solids = &octants->cells->solids;
    int axes[HS_AXES];
    const int count = hs_solids_best_axes(solids, region, &octants->here, axes);
    for (int n = 0; n < count; n++) {
        const int axis = axes[n];
        struct hs_lines lines = hs_octants_lines(octants, region, axis);
        double at[HS_AXES] = {0.0, 0.0, 0.0}, area;
        while (hs_lines_next(&lines, at, &area)) {
            const int pieces = hs_solids_line(solids, region, &octants->here, axis, at,
                                              octants->crossing, octants->piece);
            for (int m = 0; m < pieces; m++) {
                const struct hs_piece *piece = &octants->piece[m];
                if (piece->substance == HS_NOWHERE)
                    *empty = true;
                else
                    add(shares, piece->substance, number, area * (piece->to - piece->from) / count);
            }
        }
    }
}

/* If one substance turns out to fill an octant that surfaces cross, it gets the exact volume. */
static void round_off(struct hs_shares *shares, int number, double volume)
{
    int count = 0, last = 0;
    for (int n = 0; n < shares->count; n++)
        if (shares->share[n].octant[number] > 0.0) {
            count++;
            last = n;
        }
    if (count == 1)
        shares->share[last].octant[number] = volume;
}

static void share_out(struct hs_shares *shares, struct hs_octants *octants, int number,
                      double volume, bool *empty)
{
    const struct hs_node_box region = hs_octant_region(octants, number);
    hs_octant_select(octants, number, &region, &octants->here);
    if (octants->here.count > 0) {
        trace(shares, octants, number, &region, empty);
        round_off(shares, number, volume);
    } else if (octants->here.base != HS_NOWHERE)
        add(shares, octants->here.base, number, volume);
    else
        *empty = true;
}

/* All of the control volume is of one substance. */
static void find_only(struct hs_shares *shares, int substance)
{
    shares->count = 1;
    shares->share[0].substance = substance;
    shares->share[0].volume = shares->volume;
}

void hs_shares_find(struct hs_shares *shares, struct hs_octants *octants, bool *empty)
{
    double volume[8];
    for (int o = 0; o < 8; o++)
        volume[o] = octants->beside[HS_X][o & 1].length * octants->beside[HS_Y][o >> 1 & 1].length *
                    octants->beside[HS_Z][o >> 2].length;
    shares->volume = hs_sum_of_4(volume) + hs_sum_of_4(volume + 4);
    if (octants->only != HS_NOWHERE) {
        find_only(shares, octants->only);
        return;
    }
    shares->count = 0;
    for (int o = 0; o < 8; o++)
        if (octants->octant[o].there && octants->cells->place != HS_LABEL_NONE)
            share_out(shares, octants, o, volume[o], empty);
    for (int n = 0; n < shares->count; n++) {
        struct hs_share *share = &shares->share[n];
        share->volume = hs_sum_of_4(share->octant) + hs_sum_of_4(share->octant + 4);
    }
}
