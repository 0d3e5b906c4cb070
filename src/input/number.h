/* Strict conversion of text to numbers: text that is not entirely a number, or not representable,
 * is refused. */
#ifndef HS_INPUT_NUMBER_H
#define HS_INPUT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* All return NULL, or the error in the text ("is not a number"). The decimal point is "." in any
 * locale. Integers may be hexadecimal (0x10) and may end in L or LL, as in libconfig. */
const char *hs_number_parse(const char *text, double *out);        /* finite */
const char *hs_number_parse_count(const char *text, int64_t *out); /* 1e5 is a count too */

/* The same, but plain decimal notation only, as in files of other programs. */
const char *hs_number_parse_decimal(const char *text, double *out);

/* Writes the fewest of 15 to 17 digits that read back as the same number. */
enum { HS_NUMBER_TEXT = 32 };
void hs_number_write(double value, char out[HS_NUMBER_TEXT]);

/* Whether the text stands for a number that is not finite: "nan", "-inf". */
bool hs_number_is_not_finite(const char *text);

#endif
