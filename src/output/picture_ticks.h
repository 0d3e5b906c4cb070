/* Numbers on pictures: ticks at 1-2-5 steps with labels; lengths and times in fitting units. */
#ifndef HS_OUTPUT_PICTURE_TICKS_H
#define HS_OUTPUT_PICTURE_TICKS_H

#include <stddef.h>

enum { HS_TICKS_MAX = 100, HS_LABEL_SIZE = 48 };

/*
 * Multiples of 1, 2 or 5 times a power of ten within lower..upper. What all labels share is taken
 * out of them: a power of ten ("×10⁶"), and an offset where they would differ only far behind
 * their leading digits ("+ 300"). So value = (label * 10^exponent) + offset.
 */
struct hs_ticks {
    int count;
    double step;
    double at[HS_TICKS_MAX];
    char label[HS_TICKS_MAX][HS_LABEL_SIZE];
    char note[2 * HS_LABEL_SIZE]; /* "×10⁶", "+ 300", both, or "" */
};

/* lower < upper, both finite, apart by more than rounding. At least two ticks; at most the larger
 * of `most` (2..HS_TICKS_MAX) and 5. */
void hs_ticks_make(double lower, double upper, int most, struct hs_ticks *out);

/* 1 to 9 times powers of ten, 0 < lower < upper. Labels at the powers, and at 2 and 5 times them
 * where there is hardly more than a decade; "" at the others. */
void hs_ticks_log(double lower, double upper, struct hs_ticks *out);

/* A unit to show numbers in: shown = value / factor. */
struct hs_shown_unit {
    double factor;
    const char *name;
};

/* The unit for numbers up to `largest` of `unit`: km, m, mm, µm or nm for m; d, h, min, s, ms, µs
 * or ns for s; others as they are, degC as °C. */
struct hs_shown_unit hs_unit_shown(const char *unit, double largest);

/* A number of at most six digits and its unit ("12.5 mm"), with a true minus and powers of ten as
 * people write them. */
void hs_quantity_text(double value, struct hs_shown_unit unit, char *out, size_t size);

#endif
