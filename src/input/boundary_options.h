/* The options of a wall, from the table of boundary kinds: its type, and one per key name. */
#ifndef HS_INPUT_BOUNDARY_OPTIONS_H
#define HS_INPUT_BOUNDARY_OPTIONS_H

#include "input/options.h"

/* What a file named by a key "..._table" holds. */
#define HS_TABLE_HELP "text file of two columns, t in s and the number: linear in between"

enum { HS_BOUNDARY_OPTIONS = 30 }; /* at most */

/* Writes the options of a face or patch, "boundary.FACE", to `to`; returns the end. Call only once,
 * as their texts are never freed. */
struct hs_option *hs_boundary_options(const char *group, struct hs_option *to);

#endif
