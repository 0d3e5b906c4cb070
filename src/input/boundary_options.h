/* The options of a wall, made of the table of boundary kinds: its type, and a key of each name. */
#ifndef HS_INPUT_BOUNDARY_OPTIONS_H
#define HS_INPUT_BOUNDARY_OPTIONS_H

#include "input/options.h"

enum { HS_BOUNDARY_OPTIONS = 30 }; /* at most */

/* Writes those of a face or patch, "boundary.FACE", to `to`; the end of what was written. Once
 * only: their texts stay. */
struct hs_option *hs_boundary_options(const char *group, struct hs_option *to);

/* Whether a wall of a body may be of this kind, and so a patch. */
bool hs_is_body_wall(const char *kind);

#endif
