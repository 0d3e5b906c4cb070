/*
 * Lettering for pictures: a stroke font of this program's own, after the drawing-office alphabets
 * of ISO 3098 (round strokes of one width). It needs no font file on the machine.
 *
 * Covers ASCII, Latin-1 letters, and the signs that labels need: ° µ × · ± ² ³ ⁰..⁹ ⁻ – — − … Δ π.
 * What it lacks is drawn as a box. Text is UTF-8.
 */
#ifndef HS_OUTPUT_PICTURE_FONT_H
#define HS_OUTPUT_PICTURE_FONT_H

#include "output/picture_canvas.h"

struct hs_lettering {
    double height; /* of a capital, pixels */
    double weight; /* width of the stroke as a share of the height; about 0.12, bold 0.165 */
    struct hs_colour colour;
};

/* Where the given point lies along the text: 0 its start, 0.5 its middle, 1 its end. */
enum { HS_TEXT_START = 0, HS_TEXT_MIDDLE = 1, HS_TEXT_END = 2 };

/* Width [pixels] of the text from the first letter's left to the last letter's right. */
double hs_text_width(const char *text, double height);

/* Draws on the baseline through (x, y), or upwards from there if `upright`. */
void hs_text_draw(struct hs_canvas *canvas, const struct hs_lettering *lettering, double x,
                  double y, int anchor, bool upright, const char *text);

/* Decodes one character and moves on; 0 at the end, U+FFFD for a byte that is not UTF-8. */
unsigned hs_text_next(const char **text);

/* Whether there is a glyph for it. */
bool hs_font_has(unsigned character);

#endif
