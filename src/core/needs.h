/*
 * What a case asks of a kernel beyond dims, radius, precision and size: which walls it has, what
 * changes with time, what differs from point to point. A set of bits, so that tables can say
 * "where there is a source field" as data.
 */
#ifndef HS_CORE_NEEDS_H
#define HS_CORE_NEEDS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hs_need {
    HS_NEEDS_GHOSTS = 1u << 0,       /* a face that is not fixed: ghosts by the affine rule */
    HS_NEEDS_WRAP = 1u << 1,         /* a periodic axis */
    HS_NEEDS_PRESCRIBED = 1u << 2,   /* a face whose nodes are given anew after each sweep */
    HS_NEEDS_WALL_TIME = 1u << 3,    /* a face's value changes with time */
    HS_NEEDS_WALL_FIELD = 1u << 4,   /* a face's value differs from point to point */
    HS_NEEDS_SOURCE = 1u << 5,       /* any source */
    HS_NEEDS_SOURCE_TIME = 1u << 6,  /* one that changes with time */
    HS_NEEDS_SOURCE_FIELD = 1u << 7, /* one that differs from point to point */
};

unsigned hs_problem_needs(const struct hs_problem *problem); /* HS_NEEDS_..., or 0 */

#ifdef __cplusplus
}
#endif

#endif
