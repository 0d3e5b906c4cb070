/* Numbers in pictures: suitable units, and scales with ticks. */
#ifndef HS_OUTPUT_PICTURES_SCALE_H
#define HS_OUTPUT_PICTURES_SCALE_H

#include <stdbool.h>
#include <stdio.h>

enum { HS_LABEL_SIZE = 48 };

/* A unit for showing numbers: shown = value / factor. */
struct hs_unit {
    double factor;
    char power[24];   /* before the name: "10⁶ ", or "" */
    const char *name; /* "mm" */
};

/* The unit for numbers up to `largest` in `unit`, which it may point to: km, m, mm, µm, nm for m;
 * d, h, min, s, ms, µs, ns for s; degC as °C, W/m^2 as W/m²; others as they are. A power outside
 * 1e-3 to 1e6. */
struct hs_unit hs_unit_shown(const char *unit, double largest);

/* A number with at most six digits, or more if numbers that differ by `apart` need them, with a
 * real minus sign and superscript powers of ten; and the same with its unit: "12.5 mm". */
void hs_number_text(double value, double apart, char out[HS_LABEL_SIZE]);
void hs_quantity_put(FILE *stream, double value, struct hs_unit unit);

struct hs_scale {
    const char *what; /* "x", "temperature"; NULL: there is no such scale */
    double from, to;  /* from < to, finite, apart by more than rounding; > 0 if `log` */
    struct hs_unit unit;
    bool log;
    const char *single;  /* label of the only tick, in the middle; NULL: as many as fit */
    double step, widest; /* tick spacing, in the unit; width of the widest label, for drawing */
};

/* The position of a value: 0 at the lower end, 1 at the upper. */
double hs_scale_place(const struct hs_scale *scale, double value);

/* Sets the step to 1, 2 or 5 times a power of ten, for at least two ticks and at most the larger of
 * `most` and 5. */
void hs_scale_set_step(struct hs_scale *scale, double most);

/* Tick n, from 0 on; false: there are no more. A logarithmic scale has ticks at 1 to 9 times powers
 * of ten; labels at the powers, and at 2 and 5 times them below 2.5 decades, else "". */
bool hs_scale_tick(const struct hs_scale *scale, int n, double *value, char label[HS_LABEL_SIZE]);

#endif
