#include "input/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the text is made of; `end` is behind the last character of a well-formed number. */
struct shape {
    bool integer, hexadecimal, digits, nonzero;
    const char *end;
};

static bool is_hexadecimal(const char *p)
{
    return p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && isxdigit((unsigned char)p[2]);
}

static const char *take_digits(const char *p, struct shape *shape)
{
    for (; isdigit((unsigned char)*p); p++) {
        shape->digits = true;
        shape->nonzero = shape->nonzero || *p != '0';
    }
    return p;
}

static const char *take_exponent(const char *p)
{
    if (*p != 'e' && *p != 'E')
        return p;
    const char *digits = p + 1 + (p[1] == '+' || p[1] == '-');
    if (!isdigit((unsigned char)*digits))
        return p; /* what follows the mantissa is then left over, and refused */
    while (isdigit((unsigned char)*digits))
        digits++;
    return digits;
}

static struct shape examine(const char *text)
{
    struct shape shape = {.integer = true};
    const char *p = text + (*text == '+' || *text == '-');
    if (is_hexadecimal(p)) {
        shape.hexadecimal = shape.digits = true;
        for (p += 2; isxdigit((unsigned char)*p); p++)
            shape.nonzero = shape.nonzero || *p != '0';
    } else {
        p = take_digits(p, &shape);
        if (*p == '.') {
            shape.integer = false;
            p = take_digits(p + 1, &shape);
        }
        const char *exponent = take_exponent(p);
        shape.integer = shape.integer && exponent == p;
        p = exponent;
    }
    if (shape.integer && shape.digits)
        p += *p != 'L' ? 0 : p[1] != 'L' ? 1 : 2;
    shape.end = p;
    return shape;
}

static double real_of(const char *text)
{
    static locale_t plain;
    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
}

const char *hs_number_parse(const char *text, double *out)
{
    const struct shape shape = examine(text);
    if (!shape.digits || *shape.end)
        return "is not a number";
    *out = real_of(text);
    if (!isfinite(*out))
        return "is too large for a number";
    if (*out == 0.0 && shape.nonzero)
        return "is so small that it would be 0";
    return NULL;
}

const char *hs_number_parse_count(const char *text, int64_t *out)
{
    const struct shape shape = examine(text);
    if (!shape.digits || *shape.end)
        return "is not a number";
    if (shape.integer) {
        errno = 0;
        *out = strtoll(text, NULL, shape.hexadecimal ? 16 : 10);
        return errno == ERANGE ? "is too large for a whole number" : NULL;
    }
    const double value = real_of(text);
    const double exact = 9007199254740992.0; /* 2^53: beyond it a double skips whole numbers */
    if (!(fabs(value) <= exact))
        return "is too large for a whole number in this notation";
    if (value != floor(value) || (value == 0.0 && shape.nonzero))
        return "is not a whole number";
    *out = (int64_t)value;
    return NULL;
}
