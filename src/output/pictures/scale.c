#include "output/pictures/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns C's "-1.5e-12" into "−1.5×10⁻¹²". */
static void write_number(const char *plain, char out[HS_LABEL_SIZE])
{
    static const char *const raised[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    const char *digits = plain + (*plain == '-'), *e = strchr(digits, 'e');
    const bool zero = strspn(digits, "0.") == strlen(digits); /* no "-0" */
    char power[16] = "";
    snprintf(out, HS_LABEL_SIZE, "%s%.*s%s", *plain == '-' && !zero ? "\u2212" : "",
             (int)strcspn(digits, "e"), digits,
             !e            ? ""
             : e == digits ? "10"
                           : "\u00D710");
    if (e)
        snprintf(power, sizeof power, "%d", atoi(e + 1));
    for (const char *d = power; *d; d++)
        strncat(out, *d == '-' ? "\u207B" : raised[*d - '0'], HS_LABEL_SIZE - strlen(out) - 1);
}

void hs_number_text(double value, double apart, char out[HS_LABEL_SIZE])
{
    char plain[40];
    const double digits = 1 + ceil(log10(fabs(value) / apart));
    snprintf(plain, sizeof plain, "%.*g", digits > 6 ? (int)fmin(digits, 15) : 6, value);
    write_number(plain, out);
}

struct hs_unit hs_unit_shown(const char *unit, double largest)
{
    /* the first one below the number; for times from two units on, because "90 s" and "36 h" read
     * better than "1.5 min" and "1.5 d" */
    static const struct {
        const char *unit, *shown;
        double factor, from;
    } units[] = {
        {"m", "km", 1e3, 1e3},        {"m", "m", 1, 1},         {"m", "mm", 1e-3, 1e-3},
        {"m", "µm", 1e-6, 1e-6},      {"m", "nm", 1e-9, 0},     {"s", "d", 86400, 2 * 86400},
        {"s", "h", 3600, 2 * 3600},   {"s", "min", 60, 120},    {"s", "s", 1, 0.1},
        {"s", "ms", 1e-3, 1e-3},      {"s", "µs", 1e-6, 1e-6},  {"s", "ns", 1e-9, 0},
        {"degC", "°C", 1, -1},        {"degF", "°F", 1, -1},    {"1", "", 1, -1},
        {"W/m^2", "W/m²", 1, -1},     {"J/m^2", "J/m²", 1, -1}, {"K m^2", "K m²", 1, -1},
        {"K m^2/s", "K m²/s", 1, -1}, {"K m^3", "K m³", 1, -1}, {"K m^3/s", "K m³/s", 1, -1}};
    struct hs_unit shown = {.factor = 1, .name = unit};
    double size = isfinite(largest) ? fabs(largest) : 0;
    for (size_t i = sizeof units / sizeof *units; i-- > 0;)
        if (strcmp(units[i].unit, unit) == 0 && size * (1 + 1e-9) > units[i].from)
            shown = (struct hs_unit){.factor = units[i].factor, .name = units[i].shown};
    size /= shown.factor;
    if (size > 0 && (size < 1e-3 || size > 1e6)) {
        const int exponent = 3 * (int)floor(log10(size) / 3 + 1e-9);
        char plain[16], power[HS_LABEL_SIZE];
        snprintf(plain, sizeof plain, "e%d", exponent);
        write_number(plain, power);
        snprintf(shown.power, sizeof shown.power, "%.20s%s", power, *shown.name ? " " : "");
        shown.factor *= pow(10, exponent);
    }
    return shown;
}

void hs_quantity_put(FILE *stream, double value, struct hs_unit unit)
{
    char number[HS_LABEL_SIZE];
    hs_number_text(value / unit.factor, INFINITY, number);
    fprintf(stream, "%s%s%s%s", number, *unit.power || *unit.name ? " " : "", unit.power,
            unit.name);
}

/* ---- scales -------------------------------------------------------------------------------- */

double hs_scale_place(const struct hs_scale *s, double value)
{
    return s->log ? log(value / s->from) / log(s->to / s->from)
                  : (value - s->from) / (s->to - s->from);
}

/* Step n of the sequence ..., 1, 2, 5, 10, ...; n = 0 gives 1. */
static double nice_step(int n)
{
    const int decade = (int)floor(n / 3.0);
    return (double[]){1, 2, 5}[n - 3 * decade] * pow(10, decade);
}

/* Number of multiples of a step on the scale, with some slack for rounding at the ends. */
static double multiples(const struct hs_scale *s, double step, double *first)
{
    *first = ceil(s->from / s->unit.factor / step - 1e-9);
    return floor(s->to / s->unit.factor / step + 1e-9) - *first + 1;
}

void hs_scale_set_step(struct hs_scale *s, double most)
{
    const double width = (s->to / s->unit.factor - s->from / s->unit.factor) * (1 - 1e-9);
    double first;
    if (s->single)
        return;
    int n = 3 * (int)ceil(log10(width)); /* so coarse that there are at most two */
    while (multiples(s, nice_step(n), &first) < 2 ||
           (most * nice_step(n - 1) >= width && multiples(s, nice_step(n - 1), &first) <= most))
        n--;
    s->step = nice_step(n);
}

bool hs_scale_tick(const struct hs_scale *s, int n, double *value, char label[HS_LABEL_SIZE])
{
    char plain[HS_LABEL_SIZE] = "";
    if (s->single) {
        *value = 0.5 * s->from + 0.5 * s->to;
        snprintf(label, HS_LABEL_SIZE, "%s", s->single);
        return n == 0;
    }
    if (s->log) {
        const double from = s->from / s->unit.factor, decades = log10(s->to / s->from);
        const int decade = (int)floor(log10(from));
        const int digits = (int)ceil(from / pow(10, decade) - 1e-9) - 1 + n, digit = digits % 9 + 1;
        const double at = digit * pow(10, decade + digits / 9);
        if (digit == 1 || (decades < 2.5 && (digit == 2 || digit == 5)))
            snprintf(plain, sizeof plain, "%.10g", at);
        *value = at * s->unit.factor;
        write_number(plain, label);
        return *value <= s->to * (1 + 1e-9);
    }
    double first;
    const double count = multiples(s, s->step, &first), k = first + n;
    const double per_unit = round(1 / s->step); /* gives 0.3, not 0.30000000000000004 */
    const double at = s->step < 1 && per_unit < 1e15 ? k / per_unit : k * s->step;
    snprintf(plain, sizeof plain, "%.*f", (int)fmax(0, -floor(log10(s->step) + 1e-9)), at);
    *value = at * s->unit.factor;
    write_number(plain, label);
    return n < count;
}
