/* Ticks, units and numbers: see the header. */
#include "output/picture_ticks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\u2212"

static void append(char *out, size_t size, const char *text)
{
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

/* The sign of negative numbers as typographers want it. */
static void sign_text(const char *plain, char *out, size_t size)
{
    const char *digits = plain + (*plain == '-');
    const int zero = strspn(digits, "0.") == strlen(digits); /* no "-0" */
    snprintf(out, size, "%s%s", *plain == '-' && !zero ? MINUS : "", digits);
}

static void power_text(int exponent, char *out, size_t size)
{
    static const char *const raised[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent);
    snprintf(out, size, "\u00D710");
    for (const char *d = digits; *d; d++)
        append(out, size, *d == '-' ? "\u207B" : raised[*d - '0']);
}

void hs_quantity_text(double value, struct hs_shown_unit unit, char *out, size_t size)
{
    char plain[40], power[HS_LABEL_SIZE] = "";
    snprintf(plain, sizeof plain, "%.6g", value / unit.factor);
    char *e = strchr(plain, 'e');
    if (e) {
        power_text(atoi(e + 1), power, sizeof power);
        *e = 0;
    }
    sign_text(plain, out, size);
    append(out, size, power);
    append(out, size, *unit.name ? " " : "");
    append(out, size, unit.name);
}

static double nice_step(double wanted)
{
    static const double mantissa[] = {1, 2, 5, 10};
    const double base = pow(10, floor(log10(wanted)));
    for (int i = 0; i < 4; i++)
        if (mantissa[i] * base >= wanted * (1 - 1e-9))
            return mantissa[i] * base;
    return 10 * base;
}

/* Tick k is at k * step; dividing by a whole 1/step keeps 0.3 from being 0.30000000000000004. */
static double multiple(double k, double step)
{
    const double per_unit = round(1 / step);
    return step < 1 && per_unit < 1e15 ? k / per_unit : k * step;
}

void hs_ticks_make(double lower, double upper, int most, struct hs_ticks *out)
{
    memset(out, 0, sizeof *out);
    const double slack = 1e-9; /* of a step: an end that misses a tick by rounding has it */
    double step = nice_step((upper - lower) / most);
    double first = ceil(lower / step - slack), last = floor(upper / step + slack);
    while (last - first + 1 > most) {
        const double coarser = nice_step(1.5 * step);
        const double from = ceil(lower / coarser - slack), to = floor(upper / coarser + slack);
        if (to - from < 1) /* one tick tells no scale: rather a few more than asked for */
            break;
        step = coarser;
        first = from;
        last = to;
    }
    while (last - first < 1) {
        step = nice_step(step / 3);
        first = ceil(lower / step - slack);
        last = floor(upper / step + slack);
    }
    out->step = step;

    /* Labels of more than six digits: take out all that the ticks have in common. */
    const double largest = fmax(fabs(first), fabs(last));
    double base = 0;
    if (largest >= 1e6) {
        const double block = pow(10, ceil(log10(fmax(last - first, 1))));
        const double round_one = ceil(first / (10 * block)) * 10 * block;
        base = round_one <= last ? round_one : floor(first / block) * block;
    }
    const double top = fmax(fabs(first - base), fabs(last - base)) * step;
    const int magnitude = top > 0 ? (int)floor(log10(top) + 1e-9) : 0;
    const int exponent = magnitude >= 5 || magnitude <= -4 ? 3 * (int)floor(magnitude / 3.0) : 0;
    const int step_magnitude = (int)floor(log10(step) + 1e-9) - exponent;
    const int decimals = step_magnitude < 0 ? -step_magnitude : 0;

    for (double k = first; k <= last && out->count < HS_TICKS_MAX; k++) {
        const int i = out->count++;
        char plain[HS_LABEL_SIZE];
        out->at[i] = multiple(k, step);
        snprintf(plain, sizeof plain, "%.*f", decimals, (k - base) * (step / pow(10, exponent)));
        sign_text(plain, out->label[i], HS_LABEL_SIZE);
    }
    if (exponent != 0)
        power_text(exponent, out->note, sizeof out->note);
    if (base != 0) {
        char plain[HS_LABEL_SIZE];
        snprintf(plain, sizeof plain, "%.15g", fabs(base * step));
        append(out->note, sizeof out->note, exponent != 0 ? " " : "");
        append(out->note, sizeof out->note, base < 0 ? MINUS " " : "+ ");
        append(out->note, sizeof out->note, plain);
    }
}

void hs_ticks_log(double lower, double upper, struct hs_ticks *out)
{
    memset(out, 0, sizeof *out);
    const bool narrow = log10(upper / lower) < 2.5;
    for (int decade = (int)floor(log10(lower)); decade <= (int)ceil(log10(upper)); decade++)
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10.0, decade);
            if (value < lower || value > upper || out->count == HS_TICKS_MAX)
                continue;
            if (digit == 1 || (narrow && (digit == 2 || digit == 5)))
                snprintf(out->label[out->count], HS_LABEL_SIZE, "%.10g", value);
            out->at[out->count++] = value;
        }
}

/* Times from two of a unit on, for "90 s" and "36 h" read better than "1.5 min" and "1.5 d". */
static const struct {
    const char *unit;
    double from;
    struct hs_shown_unit shown;
} units[] = {
    {"m", 1e3, {1e3, "km"}},
    {"m", 1, {1, "m"}},
    {"m", 1e-3, {1e-3, "mm"}},
    {"m", 1e-6, {1e-6, "µm"}},
    {"m", 1e-300, {1e-9, "nm"}},
    {"m", 0, {1, "m"}},
    {"s", 2 * 86400, {86400, "d"}},
    {"s", 2 * 3600, {3600, "h"}},
    {"s", 2 * 60, {60, "min"}},
    {"s", 0.1, {1, "s"}},
    {"s", 1e-3, {1e-3, "ms"}},
    {"s", 1e-6, {1e-6, "µs"}},
    {"s", 1e-300, {1e-9, "ns"}},
    {"s", 0, {1, "s"}},
    {"degC", 0, {1, "°C"}},
    {"degF", 0, {1, "°F"}},
    {"1", 0, {1, ""}},
};

struct hs_shown_unit hs_unit_shown(const char *unit, double largest)
{
    const double size = isfinite(largest) ? fabs(largest) : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, unit) == 0 && size >= units[i].from * (1 - 1e-9))
            return units[i].shown;
    return (struct hs_shown_unit){1, unit};
}
