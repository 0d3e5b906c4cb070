/* Where a config's brackets do not fit together: libconfig tells where it noticed, often at the
 * end of the file. */
#ifndef HS_INPUT_BRACKETS_H
#define HS_INPUT_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks at a text whose strings and comments are complete. True if a bracket has no partner: `out`
 * then says which ("the { of grid has no }") and *line, from 1, where it stands. A group counts as
 * open where it is not closed before a line that is not indented further than it begins with the
 * next key, so that the one that lacks its bracket is named, not those around it.
 */
bool hs_brackets_fault(const char *text, int *line, char *out, size_t size);

#endif
