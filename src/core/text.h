/* Text that came from a file or a command line, as it may be shown. */
#ifndef HS_CORE_TEXT_H
#define HS_CORE_TEXT_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, which has one at least; 0 if there is none. */
int hs_text_character(const char *text);

/* Whether that character commands a terminal instead of being shown: U+0000 to U+001F, U+007F to
 * U+009F. */
bool hs_text_is_control(const char *text);

/* Whether a name is in a list "a|b_c", whatever the case of its letters, and "-" or " " for "_". */
bool hs_text_is_among(const char *name, const char *list);

/* Whether all of the text may be shown as it stands. */
bool hs_text_is_plain(const char *text);

/* Prints the text for people: a control character, or what is no UTF-8, is shown as "?". Of the
 * control characters those of `kept` are left, and other blanks become spaces. */
void hs_text_put(FILE *stream, const char *text, const char *kept);

/* Appends to the text in `out`, which has room for `size` bytes; what does not fit is cut. */
void hs_text_append(char *out, size_t size, const char *format, ...) HS_PRINTF(3, 4);

#endif
