/*
 * What kernels that fuse sweeps need from a request: the rules at the faces and, for every level,
 * the numbers that change with time, in the kernel's precision, passed by value in its parameter.
 *
 * A kernel's parameter derives from faces<> and has a level<> (or level_fields<>, where values may
 * differ from point to point) for each sweep; take_faces() and take_levels() fill both from the
 * request. FACES is 2*dims.
 */
#ifndef HS_KERNELS_CUDA_LEVELS_CUH
#define HS_KERNELS_CUDA_LEVELS_CUH

#include "common.cuh"

#include "core/ghost.h"

namespace star
{

/* The rule for ghost m: a*inner(m) + b*edge + c*data (core/boundary.h). */
template <typename T>
struct face_rule {
    T a, b, c;
};

/* `offset` is the rule's c*data. */
template <typename T>
__device__ __forceinline__ T ghost(const face_rule<T> &rule, T inner, T edge, T offset)
{
    return hs_ghost(rule.a, inner, rule.b, edge, offset);
}

template <typename T, int FACES, int RADIUS>
struct faces {
    bool wrap[FACES / 2]; /* along each axis */
    unsigned held;        /* bit of each face whose outermost nodes are not updated ... */
    unsigned
        keeping; /* ... and of those that then keep their value; the others take `prescribed` */
    int layers[FACES]; /* held layers */
    face_rule<T> rule[FACES][RADIUS];
};

/* One level: what its sweep adds, and its faces where they are uniform. */
template <typename T, int FACES, int RADIUS>
struct level {
    T source_value;
    T offset[FACES][RADIUS]; /* c*data of each ghost, at the time of the sweep's input */
    T prescribed[FACES];     /* of prescribed faces, at the time of its output */
};

/* The same if faces need not be uniform: a pointer that is not null takes precedence. */
template <typename T, int FACES, int RADIUS>
struct level_fields : level<T, FACES, RADIUS> {
    const T *data_field[FACES], *prescribed_field[FACES];
};

/* ---- what a call's last sweep changed (hs_sweep.change) ---- */

/* The bits of non-negative numbers sort in the numbers' order. */
template <typename T>
using bits_of = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

/* Raises `to` to the largest value in the warp. All lanes call it. */
template <typename T>
__device__ void put_max_norm(bits_of<T> *to, T mine)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        mine = larger(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
    if (threadIdx.x % 32 == 0)
        atomicMax(to, __builtin_bit_cast(bits_of<T>, mine));
}

/* Maps index i, any number of periods away, into an axis of n nodes. */
template <typename Index>
__device__ __forceinline__ Index wrapped(Index i, Index n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

/* ---- host ---------------------------------------------------------------------------------- */

/* Face `f` in the kernel's numbering, which may differ from the grid's. */
template <typename T, int FACES, int RADIUS>
void take_face(const hs_face &face, int f, faces<T, FACES, RADIUS> *to)
{
    to->wrap[f / 2] = face.wrap;
    to->held |= face.held ? 1u << f : 0u;
    to->keeping |= face.held && !face.prescribed ? 1u << f : 0u;
    to->layers[f] = face.held;
    for (int m = 0; m < RADIUS; m++)
        to->rule[f][m] = {(T)face.a[m], (T)face.b[m], (T)face.c[m]};
}

template <typename T, int FACES, int RADIUS>
void take_faces(const hs_sweep *sweep, faces<T, FACES, RADIUS> *to)
{
    for (int f = 0; f < 2 * sweep->op->stencil.dims; f++)
        take_face(sweep->face[f], f, to);
}

template <typename T>
T source_of(const hs_sweep *sweep, int step)
{
    return (T)sweep->source.value[step];
}

/* c*data of ghost m = 1..radius beyond the grid's face f. */
template <typename T>
T offset_of(const hs_sweep *sweep, int step, int f, int m)
{
    return (T)sweep->face[f].c[m - 1] * (T)sweep->level[step].data[f];
}

template <typename T, int FACES, int RADIUS>
void take_level(const hs_sweep *sweep, int step, level<T, FACES, RADIUS> *to)
{
    to->source_value = source_of<T>(sweep, step);
    for (int f = 0; f < 2 * sweep->op->stencil.dims; f++) {
        for (int m = 1; m <= RADIUS; m++)
            to->offset[f][m - 1] = offset_of<T>(sweep, step, f, m);
        to->prescribed[f] = (T)sweep->level[step].prescribed[f];
    }
}

template <typename T, int FACES, int RADIUS>
void take_level(const hs_sweep *sweep, int step, level_fields<T, FACES, RADIUS> *to)
{
    take_level(sweep, step, (level<T, FACES, RADIUS> *)to);
    for (int f = 0; f < 2 * sweep->op->stencil.dims; f++) {
        to->data_field[f] = (const T *)sweep->level[step].data_field[f];
        to->prescribed_field[f] = (const T *)sweep->level[step].prescribed_field[f];
    }
}

/* All levels of the call. */
template <typename Level, int STEPS>
void take_levels(const hs_sweep *sweep, Level (&to)[STEPS])
{
    for (int s = 0; s < sweep->steps; s++)
        take_level(sweep, s, &to[s]);
}

} // namespace star

#endif
