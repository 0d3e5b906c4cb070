#include "input/number.h"

#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum shape { NONE, WHOLE, HEXADECIMAL, REAL };

/* The notation of the number that is the whole text; NONE if it is not a number. */
static enum shape shape_of(const char *p)
{
    static const char digits[] = "0123456789";
    enum shape shape = WHOLE;
    p += *p == '+' || *p == '-';
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && isxdigit((unsigned char)p[2])) {
        shape = HEXADECIMAL;
        p += 2 + strspn(p + 2, "0123456789abcdefABCDEF");
    } else {
        const size_t before = strspn(p, digits);
        const size_t behind = p[before] == '.' ? 1 + strspn(p + before + 1, digits) : 0;
        if (before == 0 && behind < 2)
            return NONE;
        p += before + behind;
        shape = behind ? REAL : WHOLE;
        const size_t sign = *p ? p[1] == '+' || p[1] == '-' : 0;
        if ((*p == 'e' || *p == 'E') && isdigit((unsigned char)p[1 + sign])) {
            shape = REAL;
            p += 1 + sign + strspn(p + 1 + sign, digits);
        }
    }
    if (shape != REAL)
        p += *p != 'L' ? 0 : p[1] != 'L' ? 1 : 2;
    return *p ? NONE : shape;
}

static double real_of(const char *text)
{
    static locale_t plain;
    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    errno = 0;
    return plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
}

const char *hs_number_parse(const char *text, double *out)
{
    if (shape_of(text) == NONE)
        return "is not a number";
    *out = real_of(text);
    if (!isfinite(*out))
        return "is too large for a number";
    return *out == 0.0 && errno == ERANGE ? "is so small that it would be 0" : NULL;
}

const char *hs_number_parse_decimal(const char *text, double *out)
{
    return text[strspn(text, "+-.0123456789eE")] ? "is not a decimal number"
                                                 : hs_number_parse(text, out);
}

void hs_number_write(double value, char out[HS_NUMBER_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, HS_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

bool hs_number_is_not_finite(const char *text)
{
    return hs_text_is_among(text + (*text == '+' || *text == '-'), "nan|inf|infinity");
}

const char *hs_number_parse_count(const char *text, int64_t *out)
{
    const enum shape shape = shape_of(text);
    if (shape == NONE)
        return "is not a number";
    if (shape != REAL) {
        errno = 0;
        *out = strtoll(text, NULL, shape == HEXADECIMAL ? 16 : 10);
        return errno == ERANGE ? "is too large for a whole number" : NULL;
    }
    const double value = real_of(text);
    const double exact = 9007199254740992.0; /* 2^53: a double cannot hold every larger integer */
    if (!(fabs(value) <= exact))
        return "is too large for a whole number in this notation";
    if (value != floor(value) || errno == ERANGE)
        return "is not a whole number";
    *out = (int64_t)value;
    return NULL;
}
