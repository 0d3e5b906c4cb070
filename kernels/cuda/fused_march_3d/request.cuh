/*
 * What a march of several sweeps along z is given (march.cuh): its parameter, and how planes of a
 * source come to it.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_REQUEST_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_REQUEST_CUH

#include "columns.cuh"

#include "plan.h"

namespace fused_march
{

enum { MOST_LEVELS = HS_FUSED_STEPS };

/* What may vary from point to point in a request. */
enum fields {
    NO_FIELDS,
    X_BEFORE,      /* X_-1 of a recursion, which comes like a source field */
    SOURCE_FIELDS, /* the source */
    SOURCE_TABLES, /* the source, which comes as tables */
    ALL_FIELDS     /* values at faces, and perhaps the source */
};

/*
 * How source planes arrive and are kept in shared memory, where each thread only has its own
 * points. Either one field serves all levels: a plane arrives each step and passes from level to
 * level. Or each level has its own field, and a step's planes arrive during the step before; or
 * they arrive once, if they do not change along z.
 */
struct source_way {
    int planes;     /* number of planes that arrive each step */
    int lead;       /* the newest of them is z + lead at step z */
    unsigned apart; /* bytes from the slot of the newest plane in use to theirs, ... */
    unsigned turn;  /* ... of all slots, after which they start over, ... */
    unsigned moves; /* ... by which the slots in use move each step */
};

template <typename T>
struct source_fields {
    const T *field[MOST_LEVELS]; /* nullptr: none */
    int64_t pitch_z;
    int pitch_y;
    source_way way;
};

/* The same for sources that are hs_source_tables: each level's plane stays in shared memory, in
 * double, and a step reads the two numbers of its plane of nodes. */
struct source_tables {
    const double *plane[MOST_LEVELS];
    const hs_source_line *line[MOST_LEVELS];
    int pitch_y;
    double scale;
};

template <typename T>
struct arguments : star::faces<T, HS_FACES, 1> {
    const T *in;
    T *out;
    source_fields<T> source;
    int64_t pitch_y, pitch_z; /* a plane is smaller than 4 GiB */
    int nx, ny, nz;
    columns::cut cut;
    T c[7]; /* z-1, y-1, x-1, centre, x+1, y+1, z+1 */
    star::level_fields<T, HS_FACES, 1> level[MOST_LEVELS];
    source_tables tables;
    star::bits_of<T> *change; /* where the max-norm goes, if it is fused */
    T factor[MOST_LEVELS];    /* of a recursion; its last result but one goes to: */
    T *last_but_one;
};

/* ---- host ---------------------------------------------------------------------------------- */

/* How the source's planes come to a march of these sizes. */
template <typename Sizes, typename T>
void take_source(const hs_sweep *sweep, source_fields<T> *to)
{
    constexpr int levels = Sizes::LEVELS;
    const hs_source_view &source = sweep->source;
    bool one = true;
    for (int l = 0; l < levels; l++) {
        if (source.form == HS_SOURCE_IS_FIELDS)
            to->field[l] = (const T *)source.field[l];
        else
            to->field[l] = (const T *)hs_source_field(&source);
        one = one && to->field[l] == to->field[0];
    }
    to->pitch_y = (int)source.pitch[HS_Y];
    to->pitch_z = source.pitch[HS_Z];
    const bool stays = to->pitch_z == 0, moves = one && !stays;
    to->way.planes = !to->field[0] || stays ? 0 : moves ? 1 : levels;
    to->way.lead = moves ? (int)Sizes::AHEAD - 1 : 0;
    to->way.apart = (moves ? Sizes::AHEAD : levels) * Sizes::SLOT;
    to->way.turn = (moves ? Sizes::SOURCES : 2 * levels) * Sizes::SLOT;
    to->way.moves = (stays ? 0 : moves ? 1 : levels) * Sizes::SLOT;
}

template <typename T>
void take_recursion(const hs_sweep *sweep, arguments<T> *p)
{
    p->source.field[0] = (const T *)sweep->recursion->before;
    p->source.pitch_z = p->pitch_z;
    p->last_but_one = (T *)sweep->recursion->last_but_one;
    for (int l = 0; l < sweep->steps; l++)
        p->factor[l] = (T)sweep->recursion->factor[l];
}

inline void take_tables(const hs_sweep *sweep, source_tables *to)
{
    for (int l = 0; l < sweep->steps; l++) {
        to->plane[l] = sweep->source.tables[l].plane;
        to->line[l] = sweep->source.tables[l].line;
    }
    to->pitch_y = (int)sweep->source.pitch[HS_Y];
    to->scale = sweep->source.scale;
}

} // namespace fused_march

#endif
