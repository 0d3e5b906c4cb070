/* The options of a face, made of the table of boundary kinds: its type, and a key of each name. */
#ifndef HS_INPUT_BOUNDARY_OPTIONS_H
#define HS_INPUT_BOUNDARY_OPTIONS_H

#include "input/options.h"

enum { HS_BOUNDARY_OPTIONS = 60 }; /* at most */

/* Writes them to `to`; the end of what was written. Once only: their texts stay. */
struct hs_option *hs_boundary_options(struct hs_option *to);

/* Whether a wall of a body may be of this kind, and so a patch. */
bool hs_is_body_wall(const char *kind);

#endif
