/* Lettering: see the header. Glyphs are paths of lines and quarter ellipses. */
#include "output/picture_font.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CAPITAL = 70, ACCENT_LIFT = 20, POINTS_MAX = 128, ARC_PIECES = 10 };

/*
 * A path in a square of 70 units to a capital, baseline y = 0, y up:
 *   M x y   go to
 *   L x y   line to
 *   h x y   quarter of an ellipse that leaves along x and arrives along y
 *   v x y   the same, leaving along y and arriving along x
 *   C ...   Bezier curve: two control points and the end
 */
struct glyph {
    unsigned character;
    int advance;
    const char *path;
};

static const struct glyph glyphs[] = {
    {' ', 28, ""},
    {'!', 24, "M12 70L12 22M12 1L12 0"},
    {'"', 34, "M10 70L10 52M24 70L24 52"},
    {'#', 60, "M22 66L14 4M46 66L38 4M8 46L54 46M6 24L52 24"},
    {'$', 56,
     "M47 54C44 59 38 62 28 62h10 48C10 40 18 37 28 35C40 32 48 29 48 19v28 7C18 7 11 11 8 "
     "17M28 72L28 -3"},
    {'%', 80, "M64 70L16 0M8 54v20 70h32 54v20 38h8 54M48 16v60 32h72 16v60 0h48 16"},
    {'&', 66,
     "M60 34C58 14 44 0 27 0C16 0 8 7 8 17C8 36 42 40 42 57C42 65 36 70 29 70C21 70 16 65 16 "
     "57C16 44 40 24 58 0"},
    {'\'', 20, "M10 70L10 52"},
    {'(', 30, "M23 76C6 56 6 8 23 -12"},
    {')', 30, "M7 76C24 56 24 8 7 -12"},
    {'*', 42, "M21 70L21 42M9 63L33 49M33 63L9 49"},
    {'+', 56, "M28 55L28 11M6 33L50 33"},
    {',', 24, "M13 2L13 0L8 -12"},
    {'-', 36, "M7 28L29 28"},
    {'.', 24, "M12 1L12 0"},
    {'/', 40, "M5 -8L35 76"},
    {'0', 56, "M8 22L8 48v28 70h48 48L48 22v28 0h8 22"},
    {'1', 56, "M16 57L34 70L34 0"},
    {'2', 56, "M9 53v28 70h47 51C47 42 43 37 37 31L8 0L48 0"},
    {'3', 56, "M9 59C12 66 19 70 28 70h46 53v27 37M20 37L27 37h48 18v27 0C17 0 10 5 8 14"},
    {'4', 56, "M38 0L38 70L6 17L50 17"},
    {'5', 56, "M45 70L14 70L11 37C16 42 21 45 28 45h48 22v27 0C17 0 10 5 8 13"},
    {'6', 56, "M41 69C24 62 8 46 8 22v28 0h48 22v28 43h8 22"},
    {'7', 56, "M8 70L48 70L22 0"},
    {'8', 56, "M11 54v28 70h45 54v28 38h11 54M8 19v28 38h48 19v28 0h8 19"},
    {'9', 56, "M15 1C32 8 48 24 48 48v28 70h8 48v28 27h48 48"},
    {':', 24, "M12 41L12 40M12 1L12 0"},
    {';', 24, "M12 41L12 40M13 2L13 0L8 -12"},
    {'<', 56, "M48 55L8 33L48 11"},
    {'=', 56, "M7 43L49 43M7 23L49 23"},
    {'>', 56, "M8 55L48 33L8 11"},
    {'?', 50, "M8 56C10 65 16 70 25 70h43 54C43 40 25 40 25 22M25 1L25 0"},
    {'@', 80,
     "M54 30v39 46h24 30v39 14h54 30L54 24C54 17 58 14 62 14C69 14 74 22 74 34C74 56 60 70 40 "
     "70C20 70 6 54 6 32C6 9 20 -8 42 -8C50 -8 57 -6 63 -2"},
    {'A', 60, "M6 0L30 70L54 0M13.5 22L46.5 22"},
    {'B', 60, "M10 0L10 70L30 70h48 54v30 38L10 38M30 38h52 19v30 0L10 0"},
    {'C', 60, "M53 55C49 65 42 70 33 70h9 46L9 24v33 0C42 0 49 5 53 15"},
    {'D', 64, "M10 0L10 70L29 70h55 44L55 26v29 0L10 0"},
    {'E', 54, "M48 70L10 70L10 0L48 0M10 37L43 37"},
    {'F', 51, "M47 70L10 70L10 0M10 36L42 36"},
    {'G', 64, "M53 57C49 65 42 70 33 70h9 46L9 24v33 0h54 22L54 32L36 32"},
    {'H', 64, "M10 0L10 70M54 0L54 70M10 37L54 37"},
    {'I', 22, "M11 0L11 70"},
    {'J', 48, "M38 70L38 19v22 0C14 0 8 5 6 13"},
    {'K', 58, "M10 0L10 70M51 70L10 27M24 41.7L54 0"},
    {'L', 50, "M10 70L10 0L46 0"},
    {'M', 74, "M10 0L10 70L37 22L64 70L64 0"},
    {'N', 64, "M10 0L10 70L54 0L54 70"},
    {'O', 66, "M9 24L9 46v33 70h57 46L57 24v33 0h9 24"},
    {'P', 58, "M10 0L10 70L31 70h52 51v31 32L10 32"},
    {'Q', 66, "M9 24L9 46v33 70h57 46L57 24v33 0h9 24M39 17L59 -5"},
    {'R', 60, "M10 0L10 70L31 70h52 51v31 32L10 32M31 32L53 0"},
    {'S', 57,
     "M48 58C45 66 38 70 29 70h10 53C10 43 18 39 29 36C41 33 50 29 50 18v29 0C18 0 11 5 8 13"},
    {'T', 56, "M5 70L51 70M28 70L28 0"},
    {'U', 64, "M10 70L10 23v32 0h54 23L54 70"},
    {'V', 58, "M5 70L29 0L53 70"},
    {'W', 84, "M5 70L23 0L42 66L61 0L79 70"},
    {'X', 58, "M7 70L51 0M51 70L7 0"},
    {'Y', 56, "M4 70L28 33L52 70M28 33L28 0"},
    {'Z', 56, "M8 70L49 70L8 0L49 0"},
    {'[', 30, "M24 76L10 76L10 -12L24 -12"},
    {'\\', 40, "M5 76L35 -8"},
    {']', 30, "M6 76L20 76L20 -12L6 -12"},
    {'^', 50, "M9 48L25 70L41 48"},
    {'_', 50, "M2 -10L48 -10"},
    {'`', 30, "M9 72L19 60"},
    {'a', 53, "M11 43C14 47 19 50 26 50h43 35L43 0M43 29L24 29h8 14v23 0C32 0 39 4 43 13"},
    {'b', 56, "M10 70L10 0M10 30v29 50h48 30L48 20v29 0h10 20"},
    {'c', 49, "M43 40C40 47 35 50 28 50h8 30L8 20v28 0C35 0 40 3 43 10"},
    {'d', 56, "M46 70L46 0M46 30v27 50h8 30L8 20v27 0h46 20"},
    {'e', 54, "M8 26L46 26L46 31v27 50h8 30L8 20v27 0C34 0 40 3 44 10"},
    {'f', 34, "M32 69.5C21 72 16 68 16 57L16 0M5 50L30 50"},
    {'g', 56, "M46 50L46 0v27 -20C19 -20 13 -17 11 -12M46 30v27 50h8 30L8 20v27 0h46 20"},
    {'h', 56, "M10 70L10 0M10 29v29 50h46 31L46 0"},
    {'i', 22, "M11 0L11 50M11 67L11 68"},
    {'j', 22, "M12 50L12 -7C12 -16 8 -20 0 -20M12 67L12 68"},
    {'k', 49, "M10 70L10 0M42 50L10 18M21 29L44 0"},
    {'l', 25, "M10 70L10 11C10 3 13 0 20 0"},
    {'m', 84, "M10 50L10 0M10 31v26 50h42 33L42 0M42 31v58 50h74 33L74 0"},
    {'n', 56, "M10 50L10 0M10 29v29 50h46 31L46 0"},
    {'o', 56, "M8 20L8 30v28 50h48 30L48 20v28 0h8 20"},
    {'p', 56, "M10 50L10 -20M10 30v29 50h48 30L48 20v29 0h10 20"},
    {'q', 56, "M46 50L46 -20M46 30v27 50h8 30L8 20v27 0h46 20"},
    {'r', 36, "M10 50L10 0M10 25C10 42 19 51 32 49"},
    {'s', 48,
     "M40 42C37 47 32 50 25 50C14 50 8 45 8 38C8 31 14 28 24 26C35 24 41 20 41 13C41 5 35 0 24 "
     "0C16 0 10 3 7 9"},
    {'t', 35, "M15 65L15 14C15 4 20 0 31 1M4 50L29 50"},
    {'u', 56, "M10 50L10 19v27 0h46 21M46 50L46 0"},
    {'v', 48, "M5 50L24 0L43 50"},
    {'w', 72, "M5 50L20 0L36 47L52 0L67 50"},
    {'x', 46, "M6 50L40 0M40 50L6 0"},
    {'y', 48, "M5 50L24 2M43 50L24 2L19 -11C17 -18 13 -21 5 -20"},
    {'z', 48, "M7 50L40 50L7 0L41 0"},
    {'{', 34, "M27 76C10 76 22 32 8 32C22 32 10 -12 27 -12"},
    {'|', 22, "M11 78L11 -14"},
    {'}', 34, "M7 76C24 76 12 32 26 32C12 32 24 -12 7 -12"},
    {'~', 56, "M8 28C14 42 22 38 28 33C34 28 42 24 48 38"},
    {0xB0, 36, "M7 58v18 69h29 58v18 47h7 58"},
    {0xB1, 56, "M28 60L28 22M7 41L49 41M7 5L49 5"},
    {0xB5, 56, "M10 50L10 -20M10 19v27 0h46 21M46 50L46 0"},
    {0xB7, 24, "M12 33L12 32"},
    {0xD7, 56, "M12 50L44 18M44 50L12 18"},
    {0xDF, 58, "M10 0L10 52v29 70h46 54C46 44 36 44 36 36C36 26 51 28 51 14C51 4 42 -2 28 1"},
    {0xC6, 88, "M6 0L40 70L82 70M44 70L44 0L82 0M44 37L77 37M18 24L44 24"},
    {0xE6, 84,
     "M11 43C14 47 19 50 26 50h43 31L43 19M43 29L24 29h8 14v23 0C33 0 40 5 43 19M43 26L76 "
     "26L76 31v60 50h43 31M43 20v60 0C66 0 71 3 74 10"},
    {0xD8, 66, "M9 24L9 46v33 70h57 46L57 24v33 0h9 24M55 74L11 -4"},
    {0xF8, 56, "M8 20L8 30v28 50h48 30L48 20v28 0h8 20M46 54L10 -4"},
    {0x0131, 22, "M11 0L11 50"},
    {0x0394, 60, "M6 0L30 70L54 0L6 0"},
    {0x03B1, 60, "M50 50C46 22 40 0 26 0h8 20L8 30v27 50C42 50 46 2 54 0"},
    {0x03BB, 50, "M8 70C20 70 20 62 24 50L43 0M26 44L8 0"},
    {0x03C0, 60, "M6 49L54 49M18 49L18 0M42 49L42 10C42 3 45 0 52 0"},
    {0x03C1, 56, "M9 -20L9 30v28 50h48 30L48 20v28 0h9 20"},
    {0x2013, 50, "M3 28L47 28"},
    {0x2014, 84, "M3 28L81 28"},
    {0x2018, 20, "M13 70L8 58L8 56"},
    {0x2019, 20, "M12 70L12 68L7 56"},
    {0x201C, 34, "M13 70L8 58L8 56M27 70L22 58L22 56"},
    {0x201D, 34, "M12 70L12 68L7 56M26 70L26 68L21 56"},
    {0x2026, 66, "M12 1L12 0M33 1L33 0M54 1L54 0"},
    {0x2192, 70, "M8 33L62 33M46 48L62 33L46 18"},
    {0x2207, 60, "M6 70L30 0L54 70L6 70"},
    {0x2212, 56, "M7 33L49 33"},
    {0x2264, 56, "M48 61L8 41L48 21M8 6L48 6"},
    {0x2265, 56, "M8 61L48 41L8 21M8 6L48 6"},
    {0xFFFD, 50, "M8 0L8 70L42 70L42 0L8 0"},
};

/* Marks over a small letter whose middle is x = 0. */
static const char *const marks[] = {
    ['`'] = "M-10 70L0 60",
    ['\''] = "M10 70L0 60",
    ['^'] = "M-11 60L0 70L11 60",
    ['~'] = "M-14 62C-8 72 -4 68 0 65.5C4 63 8 59 14 69",
    [':'] = "M-10 67L-10 68M10 67L10 68",
    ['o'] = "M-8 68v0 77h8 68v0 59h-8 68",
    [','] = "M1 0C8 -7 6 -17 -7 -16",
};

/* Latin-1 letters from U+00C0, each as base and mark; spaces where there is a glyph or none. */
static const char latin_base[] = "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y";
static const char latin_mark[] = "`'^~:o ,`'^:`'^: ~`'^~:  `'^:'  `'^~:o ,`'^:`'^: ~`'^~:  `'^:' :";

/* Raised signs and what they are small forms of. */
static const struct {
    unsigned character, base;
} raised[] = {
    {0xB2, '2'},   {0xB3, '3'},   {0xB9, '1'},   {0x2070, '0'}, {0x2074, '4'},    {0x2075, '5'},
    {0x2076, '6'}, {0x2077, '7'}, {0x2078, '8'}, {0x2079, '9'}, {0x207B, 0x2212}, {0x207A, '+'},
};
static const double raised_scale = 0.62, raised_by = 32;

/* A glyph as it is to be drawn. */
struct shape {
    const struct glyph *glyph;
    double scale, lift; /* of the glyph, in its units */
    const char *mark;   /* over it, or NULL */
    double mark_at[2];
};

static const struct glyph *find(unsigned character)
{
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
        if (glyphs[i].character == character)
            return &glyphs[i];
    return NULL;
}

static bool compose(unsigned character, struct shape *out)
{
    const unsigned at = character - 0xC0;
    if (at >= sizeof latin_base - 1 || latin_base[at] == ' ')
        return false;
    const char base = latin_base[at], mark = latin_mark[at];
    const bool capital = isupper((unsigned char)base);
    out->glyph = find(base == 'i' ? 0x0131 : (unsigned)base);
    out->mark = marks[(unsigned char)mark];
    out->mark_at[0] = 0.5 * out->glyph->advance;
    out->mark_at[1] = capital && mark != ',' ? ACCENT_LIFT : 0;
    return true;
}

static bool resolve(unsigned character, struct shape *out)
{
    *out = (struct shape){.scale = 1};
    if (character == 0x03BC) /* the Greek letter and the micro sign look alike */
        character = 0xB5;
    if (character == 0xA0 || character == 0x2009 || character == 0x202F)
        character = ' ';
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
        if (raised[i].character == character) {
            out->glyph = find(raised[i].base);
            out->scale = raised_scale;
            out->lift = raised_by;
            return true;
        }
    if (compose(character, out))
        return true;
    out->glyph = find(character);
    return out->glyph != NULL;
}

static struct shape shape_of(unsigned character)
{
    struct shape shape;
    if (!resolve(character, &shape))
        shape = (struct shape){.glyph = find(0xFFFD), .scale = 1};
    return shape;
}

bool hs_font_has(unsigned character)
{
    struct shape shape;
    return resolve(character, &shape);
}

unsigned hs_text_next(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    if (!*s)
        return 0;
    static const unsigned char first_mask[] = {0x7F, 0x1F, 0x0F, 0x07};
    const int more = *s < 0x80 ? 0 : *s >> 5 == 6 ? 1 : *s >> 4 == 14 ? 2 : *s >> 3 == 30 ? 3 : -1;
    if (more < 0) {
        (*text)++;
        return 0xFFFD;
    }
    unsigned character = *s & first_mask[more];
    for (int i = 1; i <= more; i++) {
        if (s[i] >> 6 != 2) {
            *text += i;
            return 0xFFFD;
        }
        character = character << 6 | (s[i] & 0x3F);
    }
    *text += more + 1;
    return character;
}

double hs_text_width(const char *text, double height)
{
    double width = 0;
    for (unsigned c; (c = hs_text_next(&text));) {
        const struct shape shape = shape_of(c);
        width += shape.scale * shape.glyph->advance;
    }
    return width * height / CAPITAL;
}

/* From glyph units to the canvas. */
struct pen {
    struct hs_canvas *canvas;
    double x, y, unit, width;
    bool upright;
    struct hs_point points[POINTS_MAX];
    int count;
};

static void pen_add(struct pen *pen, double x, double y)
{
    const double along = x * pen->unit, up = y * pen->unit;
    if (pen->count == POINTS_MAX)
        return;
    pen->points[pen->count++] = pen->upright ? (struct hs_point){pen->x - up, pen->y - along}
                                             : (struct hs_point){pen->x + along, pen->y - up};
}

static void pen_flush(struct pen *pen)
{
    if (pen->count)
        hs_canvas_stroke(pen->canvas, pen->points, pen->count, pen->width);
    pen->count = 0;
}

/* The Bezier curve through the four points, its first left out. */
static void pen_curve(struct pen *pen, const double p[8], double scale, double dx, double dy)
{
    for (int i = 1; i <= ARC_PIECES; i++) {
        const double t = (double)i / ARC_PIECES, s = 1 - t;
        const double b[4] = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
        double at[2] = {0, 0};
        for (int k = 0; k < 4; k++) {
            at[0] += b[k] * p[2 * k];
            at[1] += b[k] * p[2 * k + 1];
        }
        pen_add(pen, dx + scale * at[0], dy + scale * at[1]);
    }
}

static void draw_path(struct pen *pen, const char *path, double scale, double dx, double dy)
{
    /* 0.5523 would be a circle; fuller bowls read better at small sizes */
    const double fullness = 0.6;
    double p[8] = {0};
    while (*path) {
        const char command = *path++;
        double v[6] = {0};
        const int wanted = command == 'C' ? 6 : 2;
        for (int i = 0; i < wanted; i++) {
            char *end;
            v[i] = strtod(path, &end);
            path = end;
        }
        if (command == 'M')
            pen_flush(pen);
        if (command == 'M' || command == 'L')
            pen_add(pen, dx + scale * v[0], dy + scale * v[1]);
        if (command == 'C')
            memcpy(p + 2, v, sizeof v);
        if (command == 'h' || command == 'v') {
            const double rx = fullness * (v[0] - p[0]), ry = fullness * (v[1] - p[1]);
            const bool along_x = command == 'h';
            p[2] = p[0] + (along_x ? rx : 0);
            p[3] = p[1] + (along_x ? 0 : ry);
            p[4] = v[0] - (along_x ? 0 : rx);
            p[5] = v[1] - (along_x ? ry : 0);
            p[6] = v[0];
            p[7] = v[1];
        }
        if (command != 'M' && command != 'L')
            pen_curve(pen, p, scale, dx, dy);
        p[0] = v[wanted - 2];
        p[1] = v[wanted - 1];
    }
    pen_flush(pen);
}

void hs_text_draw(struct hs_canvas *canvas, const struct hs_lettering *lettering, double x,
                  double y, int anchor, bool upright, const char *text)
{
    const double shift = -0.5 * anchor * hs_text_width(text, lettering->height);
    struct pen pen = {.canvas = canvas,
                      .x = x + (upright ? 0 : shift),
                      .y = y - (upright ? shift : 0),
                      .unit = lettering->height / CAPITAL,
                      .width = lettering->weight * lettering->height,
                      .upright = upright};
    double at = 0;
    for (unsigned c; (c = hs_text_next(&text));) {
        const struct shape shape = shape_of(c);
        draw_path(&pen, shape.glyph->path, shape.scale, at, shape.lift);
        if (shape.mark)
            draw_path(&pen, shape.mark, 1, at + shape.mark_at[0], shape.mark_at[1]);
        at += shape.scale * shape.glyph->advance;
    }
    hs_canvas_ink(canvas, lettering->colour);
}
