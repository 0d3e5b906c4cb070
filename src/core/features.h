/*
 * Features: what a problem requires of a kernel and what a kernel declares it can do, as sets of
 * bits.
 *
 * Opt-in: a kernel is only used for what it declares. A new feature is one bit and its row in
 * features.c; every kernel refuses it until it declares the bit.
 */
#ifndef HS_CORE_FEATURES_H
#define HS_CORE_FEATURES_H

#include "core/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t hs_features;

#define HS_FEATURE(bit) ((hs_features)1 << (bit))
#define HS_STENCIL HS_FEATURE(0) /* out = sum of c_i in_i + source, c the same everywhere */
#define HS_1D HS_FEATURE(1)      /* one of these three; hs_feature_dims */
#define HS_2D HS_FEATURE(2)
#define HS_3D HS_FEATURE(3)
#define HS_RADIUS_1 HS_FEATURE(4) /* one of these three; hs_feature_radius */
#define HS_RADIUS_2 HS_FEATURE(5)
#define HS_RADIUS_3 HS_FEATURE(6)
#define HS_IN_FLOAT HS_FEATURE(7) /* one of these two; hs_feature_precision */
#define HS_IN_DOUBLE HS_FEATURE(8)
#define HS_WALL_AFFINE HS_FEATURE(9)      /* a face that is not fixed: ghosts by the affine rule */
#define HS_WALL_PERIODIC HS_FEATURE(10)   /* a periodic axis */
#define HS_WALL_PRESCRIBED HS_FEATURE(11) /* a face whose nodes are set after each sweep */
#define HS_WALL_TIME HS_FEATURE(12)       /* a face's value changes with time */
#define HS_WALL_FIELD HS_FEATURE(13)      /* a face's value differs from point to point */
#define HS_SOURCE HS_FEATURE(14)          /* any source */
#define HS_SOURCE_TIME HS_FEATURE(15)     /* a source that changes with time */
#define HS_SOURCE_FIELD HS_FEATURE(16)    /* a source that differs from point to point */
/* a face's value, or the source, that does both */
#define HS_WALL_FIELD_TIME HS_FEATURE(17)
#define HS_SOURCE_FIELD_TIME HS_FEATURE(18)

/* conduction in a body of many materials; the form of its network is one of the three below */
#define HS_CONDUCTION HS_FEATURE(19)
#define HS_BYTES HS_FEATURE(20)
#define HS_SHORTS HS_FEATURE(21)
#define HS_ARRAYS HS_FEATURE(22)

/* convection whose coefficient changes with time */
#define HS_SINK_TIME HS_FEATURE(23)

/* Abilities of a kernel that no problem requires but a backend can use. */
#define HS_APPLIES_WALLS                                                                           \
    HS_FEATURE(32)                      /* itself, between fused sweeps; on CUDA it                \
                                           needs no filled ghosts in `in` either */
#define HS_SOURCE_LEVELS HS_FEATURE(33) /* takes one source field per sweep */
#define HS_SOURCE_TABLES HS_FEATURE(34) /* ... or tables, if face values are uniform */
#define HS_TAKES_BLOCK HS_FEATURE(35)   /* its plan accepts other blocks (hs_blocking) ... */
#define HS_TAKES_PLANES HS_FEATURE(36)  /* ... and other numbers of planes */

/* Combinations for kernel descriptors. */
#define HS_PALETTE (HS_BYTES | HS_SHORTS)
#define HS_ALL_FORMS (HS_PALETTE | HS_ARRAYS)
#define HS_ALL_DIMS (HS_1D | HS_2D | HS_3D)
#define HS_ALL_RADII (HS_RADIUS_1 | HS_RADIUS_2 | HS_RADIUS_3)
#define HS_ALL_PRECISIONS (HS_IN_FLOAT | HS_IN_DOUBLE)
#define HS_UNIFORM_VALUES                                                                          \
    (HS_WALL_AFFINE | HS_WALL_PERIODIC | HS_WALL_PRESCRIBED | HS_WALL_TIME | HS_SOURCE |           \
     HS_SOURCE_TIME)
#define HS_STEADY_FIELDS (HS_UNIFORM_VALUES | HS_WALL_FIELD | HS_SOURCE_FIELD)
#define HS_ALL_VALUES (HS_STEADY_FIELDS | HS_WALL_FIELD_TIME | HS_SOURCE_FIELD_TIME)

struct hs_problem;

/* Dims and radius are 1 to 3. */
hs_features hs_feature_dims(int dims);
hs_features hs_feature_radius(int radius);
hs_features hs_feature_precision(enum hs_precision precision);

/* The features of a stencil without its walls and source. */
hs_features hs_feature_stencil(int dims, int radius, enum hs_precision precision);

/* All features that the problem requires. */
hs_features hs_problem_features(const struct hs_problem *problem);

/* Whether `can` includes all of `asked`; if not, `reason` (of `size` bytes) says what `name` lacks.
 * The only place where a kernel is refused for a feature. */
bool hs_features_cover(const char *name, hs_features can, hs_features asked, char *reason,
                       size_t size);

#ifdef __cplusplus
}
#endif

#endif
