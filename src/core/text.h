/* Safe display of text from a file or a command line; lists; byte counts as text. */
#ifndef HS_CORE_TEXT_H
#define HS_CORE_TEXT_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, which is not empty; 0 if it is not valid UTF-8. */
int hs_text_character(const char *text);

/* Whether the character at `text` is a control character: U+0000 to U+001F, U+007F to U+009F. */
bool hs_text_is_control(const char *text);

/* Whether a name is in a list "a|b_c". Case is ignored; "-" and " " equal "_". */
bool hs_text_is_among(const char *name, const char *list);

/* 'C', 'K' or 'F', Rankine too, by what people call it; 0: another. */
char hs_text_temperature_scale(const char *unit);

/* Whether the whole text can be shown as it is. */
bool hs_text_is_plain(const char *text);

/* Prints the text for people: "?" replaces control characters and invalid UTF-8. Control characters
 * in `kept` are kept, and other white space becomes a space. */
void hs_text_put(FILE *stream, const char *text, const char *kept);

/* The same for a command that people copy: in quotes where a shell would not take it for one word.
 */
void hs_text_put_word(FILE *stream, const char *text);

/* Appends to the text in `out`, which has room for `size` bytes; the result is truncated if
 * needed. */
void hs_text_append(char *out, size_t size, const char *format, ...) HS_PRINTF(3, 4);

/* Appends one more to a list, after `between` if there are others. */
void hs_text_add(char *list, size_t size, const char *between, const char *more);

enum { HS_BYTES_TEXT = 32 };

/* "17 bytes", "3.25 GiB"; up to EiB. */
void hs_bytes_name(double bytes, char *out, size_t size);

#endif
