/* Pictures' parts: ticks, units, colour maps, lettering, canvas. */
#include "output/picture_font.h"
#include "output/picture_maps.h"
#include "output/picture_ticks.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value that a label and the note stand for, read back from the text as a person would. */
static double read_back(const struct hs_ticks *ticks, int i)
{
    const char *label = ticks->label[i];
    const char *minus = "\u2212";
    const size_t sign = strncmp(label, minus, strlen(minus)) == 0 ? strlen(minus) : 0;
    double value = strtod(label + sign, NULL) * (sign ? -1 : 1);
    const char *note = ticks->note;
    static const char *const raised[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    if (strncmp(note, "\u00D710", 4) == 0) {
        note += 4;
        int power = 0, negative = 0;
        while (*note && *note != ' ') {
            if (strncmp(note, "\u207B", 3) == 0)
                negative = 1, note += 3;
            for (int d = 0; d < 10; d++)
                if (strncmp(note, raised[d], strlen(raised[d])) == 0) {
                    power = 10 * power + d;
                    note += strlen(raised[d]);
                    break;
                }
        }
        value *= pow(10, negative ? -power : power);
        note += *note == ' ';
    }
    if (strncmp(note, "+ ", 2) == 0)
        value += strtod(note + 2, NULL);
    if (strncmp(note, "\u2212 ", 4) == 0)
        value -= strtod(note + 4, NULL);
    return value;
}

static const struct {
    double lower, upper;
} ranges[] = {
    {0, 1},
    {0, 0.12},
    {293.15, 351.7},
    {-1e-9, 1e-9},
    {-40.000000001, -39.999999999},
    {1e6, 9.3e6},
    {-3e30, 2e30},
    {0.00012, 0.0013},
    {300, 300.0000001},
    {-1, 0},
    {99999, 100001},
    {-7e-20, 3e-21},
    {12, 1e5},
    {1e15, 1e15 + 40000},
    {4.9, 5.3},
};

void test_picture__tick_labels_say_where_the_ticks_are(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int most = 2; most <= HS_TICKS_MAX; most++) {
            struct hs_ticks t;
            hs_ticks_make(ranges[r].lower, ranges[r].upper, most, &t);
            assert_in_range(t.count, 2, most > 5 ? most : 5);
            const double width = ranges[r].upper - ranges[r].lower;
            for (int i = 0; i < t.count; i++) {
                /* the label's decimals are the step's, so it is right to well within a step; the
                 * offset is printed with 15 digits */
                const double slack = 1e-6 * t.step + 1e-14 * fabs(t.at[i]);
                assert_near(read_back(&t, i), t.at[i], slack);
                assert_true(t.at[i] >= ranges[r].lower - 1e-6 * width);
                assert_true(t.at[i] <= ranges[r].upper + 1e-6 * width);
                if (i)
                    assert_string_not_equal(t.label[i], t.label[i - 1]);
            }
        }
}

void test_picture__ticks_step_by_1_2_or_5(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        struct hs_ticks t;
        hs_ticks_make(ranges[r].lower, ranges[r].upper, 8, &t);
        char text[32];
        snprintf(text, sizeof text, "%.6e", t.step);
        assert_true(text[0] == '1' || text[0] == '2' || text[0] == '5');
        assert_memory_equal(text + 1, ".000000e", 8);
    }
}

void test_picture__ticks_of_a_plain_range_are_plain(void **state)
{
    (void)state;
    struct hs_ticks t;
    hs_ticks_make(-0.3, 0.3, 7, &t);
    const char *const expected[] = {"\u22120.3", "\u22120.2", "\u22120.1", "0.0",
                                    "0.1",       "0.2",       "0.3"};
    assert_int_equal(t.count, 7);
    for (int i = 0; i < 7; i++)
        assert_string_equal(t.label[i], expected[i]);
    assert_string_equal(t.note, "");
    assert_true(t.at[5] == 0.2 && t.at[6] == 0.3); /* not 0.30000000000000004 */
    hs_ticks_make(0, 4e6, 5, &t);
    assert_string_equal(t.label[4], "4");
    assert_string_equal(t.note, "\u00D710\u2076");
}

static void expect_quantity(double value, struct hs_shown_unit unit, const char *expected)
{
    char text[HS_LABEL_SIZE];
    hs_quantity_text(value, unit, text, sizeof text);
    assert_string_equal(text, expected);
}

void test_picture__times_and_lengths_read_well(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0, "0 s"},       {90, "90 s"},          {120, "2 min"},  {7200, "2 h"},
                 {86400, "24 h"},  {30 * 86400., "30 d"}, {2.5, "2.5 s"},  {0.05, "50 ms"},
                 {3e-7, "300 ns"}, {4e-5, "40 \u00B5s"},  {5400, "90 min"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        expect_quantity(times[i].seconds, hs_time_unit(times[i].seconds), times[i].text);
    expect_quantity(0.05, hs_length_unit(0.1), "50 mm");
    expect_quantity(2, hs_length_unit(10), "2 m");
    expect_quantity(-1500, hs_length_unit(1500), "\u22121.5 km");
    expect_quantity(2e-6, hs_length_unit(2e-6), "2 \u00B5m");
    expect_quantity(0, hs_length_unit(0), "0 m");
    expect_quantity(1.5e-12, (struct hs_shown_unit){1, "K"}, "1.5\u00D710\u207B\u00B9\u00B2 K");
}

static void expect_colour(const char *map, double place, unsigned rgb)
{
    const struct hs_colour c = hs_colour_map_at(hs_colour_map_find(map), place);
    assert_int_equal(c.r << 16 | c.g << 8 | c.b, rgb);
}

void test_picture__colour_maps_have_their_published_ends(void **state)
{
    (void)state;
    expect_colour("inferno", 0, 0x000004);
    expect_colour("inferno", 1, 0xFCFFA4);
    expect_colour("viridis", 0, 0x440154);
    expect_colour("viridis", 1, 0xFDE725);
    expect_colour("magma", 1, 0xFCFDBF);
    expect_colour("plasma", 0, 0x0D0887);
    expect_colour("plasma", 1, 0xF0F921);
    expect_colour("coolwarm", 0, 0x3B4CC0);
    expect_colour("coolwarm", 0.5, 0xDDDDDD); /* Moreland's middle grey, 221 */
    expect_colour("coolwarm", 1, 0xB40426);
    expect_colour("gray", 0.2, 0x333333);
    expect_colour("inferno", -5, 0x000004);
    expect_colour("inferno", 5, 0xFCFFA4);
    expect_colour("inferno", NAN, 0xA0A0A0);
    assert_null(hs_colour_map_find("jet"));
}

/* CIE lightness L* of a colour (sRGB). */
static double lightness(struct hs_colour c)
{
    const double channel[3] = {c.r / 255.0, c.g / 255.0, c.b / 255.0};
    const double share[3] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (int i = 0; i < 3; i++)
        y += share[i] *
             (channel[i] > 0.04045 ? pow((channel[i] + 0.055) / 1.055, 2.4) : channel[i] / 12.92);
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

void test_picture__sequential_maps_brighten_all_the_way(void **state)
{
    (void)state;
    static const char *const names[] = {"inferno", "viridis", "magma", "plasma", "gray"};
    for (int m = 0; m < 5; m++)
        for (int i = 1; i <= 64; i++) {
            const struct hs_colour_map *map = hs_colour_map_find(names[m]);
            assert_true(lightness(hs_colour_map_at(map, i / 64.0)) >
                        lightness(hs_colour_map_at(map, (i - 1) / 64.0)));
        }
}

void test_picture__text_is_decoded_and_bad_bytes_do_no_harm(void **state)
{
    (void)state;
    const char *text = "a\u00B0\u2212\U0001F600\xFFz\xC3";
    const unsigned expected[] = {'a', 0xB0, 0x2212, 0x1F600, 0xFFFD, 'z', 0xFFFD, 0};
    for (int i = 0; i < 8; i++)
        assert_int_equal(hs_text_next(&text), expected[i]);
}

void test_picture__the_font_has_what_labels_need(void **state)
{
    (void)state;
    for (unsigned c = ' '; c <= '~'; c++)
        assert_true(hs_font_has(c));
    const char *signs = "°µ×·±²³⁻⁰¹⁴⁵⁶⁷⁸⁹−–—…äöüÄÖÜßéèêàçñøåÆπλαρΔ";
    for (unsigned c; (c = hs_text_next(&signs));)
        assert_true(hs_font_has(c));
    assert_false(hs_font_has(0x4E2D));
}

/* Columns or rows from..to that text leaves a mark in. */
static struct hs_rect marked(const char *text, int anchor, bool upright)
{
    struct hs_canvas *canvas;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_canvas_create(400, 400, &canvas, &err), HS_OK);
    const struct hs_lettering letters = {.height = 35, .weight = 0.12, .colour = {0, 0, 0}};
    hs_text_draw(canvas, &letters, 200, 200, anchor, upright, text);
    int x0 = 400, x1 = -1, y0 = 400, y1 = -1;
    for (int j = 0; j < 400; j++)
        for (int i = 0; i < 400; i++)
            if (canvas->pixels[j * 400 + i].r < 128) {
                x0 = i < x0 ? i : x0, x1 = i > x1 ? i : x1;
                y0 = j < y0 ? j : y0, y1 = j > y1 ? j : y1;
            }
    hs_canvas_destroy(canvas);
    hs_error_release(&err);
    return (struct hs_rect){x0, y0, x1 - x0 + 1, y1 - y0 + 1};
}

void test_picture__text_stands_where_it_was_put(void **state)
{
    (void)state;
    const struct hs_rect flat = marked("HHHH", HS_TEXT_MIDDLE, false);
    assert_near(flat.x + 0.5 * flat.w, 200, 1); /* one pixel: edges are whole pixels */
    assert_near(flat.y + flat.h, 202, 1.5);     /* baseline, half a stroke of 4.2 below */
    assert_near(flat.h, 35 + 4.2, 1.5);         /* height and stroke */
    const struct hs_rect up = marked("HHHH", HS_TEXT_MIDDLE, true);
    assert_near(up.y + 0.5 * up.h, 200, 1);
    assert_near(up.x + up.w, 202, 1.5);
    assert_near(up.h, flat.w, 1);
    assert_true(marked("HHHH", HS_TEXT_END, false).x + flat.w <= 200);
    assert_true(marked("HHHH", HS_TEXT_START, false).x >= 200);
    assert_true(flat.w < hs_text_width("HHHH", 35) + 1);
    assert_near(hs_text_width("0123456789", 70), 560, 1e-9); /* digits of one width */
    assert_true(marked("\u00C4", HS_TEXT_START, false).h > marked("A", HS_TEXT_START, false).h);
}

void test_picture__every_glyph_stays_within_its_line(void **state)
{
    (void)state;
    for (char c = '!'; c <= '~'; c++) {
        const char text[2] = {c, 0};
        const struct hs_rect r = marked(text, HS_TEXT_START, false);
        assert_true(r.w > 0 && r.h > 0);
        assert_true(r.y >= 200 - 43 && r.y + r.h <= 200 + 16); /* 0.45 below to 1.2 above */
        assert_true(r.x >= 200 - 5 && r.x + r.w <= 200 + hs_text_width(text, 35) + 5);
    }
}

void test_picture__a_stroke_has_its_width_and_keeps_to_the_clip(void **state)
{
    (void)state;
    struct hs_canvas *canvas;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_canvas_create(100, 50, &canvas, &err), HS_OK);
    canvas->clip = (struct hs_rect){20, 0, 30, 50};
    const struct hs_point line[2] = {{-1e9, 25.3}, {1e9, 25.3}};
    hs_canvas_stroke(canvas, line, 2, 6);
    hs_canvas_ink(canvas, (struct hs_colour){0, 0, 0});
    for (int i = 0; i < 100; i++) {
        double dark = 0;
        for (int j = 0; j < 50; j++)
            dark += (255 - canvas->pixels[j * 100 + i].g) / 255.0;
        assert_near(dark, i >= 20 && i < 50 ? 6 : 0, 0.02); /* 8-bit pixels */
    }
    hs_canvas_destroy(canvas);
    hs_error_release(&err);
}
