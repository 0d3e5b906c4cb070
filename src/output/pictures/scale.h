/* Numbers on pictures: units that fit, and scales with ticks. */
#ifndef HS_OUTPUT_PICTURES_SCALE_H
#define HS_OUTPUT_PICTURES_SCALE_H

#include <stdbool.h>
#include <stdio.h>

enum { HS_LABEL_SIZE = 48 };

/* A unit to show numbers in: shown = value / factor. */
struct hs_unit {
    double factor;
    char power[24];   /* before the name: "10⁶ ", or "" */
    const char *name; /* "mm" */
};

/* The unit for numbers up to `largest` of `unit`, which is kept: km, m, mm, µm or nm for m; d, h,
 * min, s, ms, µs or ns for s; others as they are, degC as °C. Beyond 1e-3 to 1e6 with a power. */
struct hs_unit hs_unit_shown(const char *unit, double largest);

/* A number of at most six digits, or as many as tell those `apart` from one another, with a true
 * minus and powers of ten as people write them; and with its unit: "12.5 mm". */
void hs_number_text(double value, double apart, char out[HS_LABEL_SIZE]);
void hs_quantity_put(FILE *stream, double value, struct hs_unit unit);

struct hs_scale {
    const char *what; /* "x", "temperature"; NULL: there is no such scale */
    double from, to;  /* from < to, finite, apart by more than rounding; where it is log above 0 */
    struct hs_unit unit;
    bool log;
    double step, widest; /* between ticks, in the unit; of their labels: for who draws it */
};

/* A value's place: 0 at the lower end, 1 at the upper. */
double hs_scale_place(const struct hs_scale *scale, double value);

/* Sets the step to 1, 2 or 5 times a power of ten: for two ticks at least, and at most the larger
 * of `most` and 5. */
void hs_scale_set_step(struct hs_scale *scale, double most);

/* Tick n, from 0 on; false: there are no more. A logarithmic scale has all whole digits; labels at
 * powers of ten, and at 2 and 5 times them where there is hardly more than a decade, else "". */
bool hs_scale_tick(const struct hs_scale *scale, int n, double *value, char label[HS_LABEL_SIZE]);

#endif
