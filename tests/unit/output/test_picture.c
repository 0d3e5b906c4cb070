/* Pictures' parts: ticks, units, colour maps, canvas, contours. */
#include "output/picture_field.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        for (int most = 2; most <= 16; most++) {
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
        expect_quantity(times[i].seconds, hs_unit_shown("s", times[i].seconds), times[i].text);
    expect_quantity(0.05, hs_unit_shown("m", 0.1), "50 mm");
    expect_quantity(2, hs_unit_shown("m", 10), "2 m");
    expect_quantity(-1500, hs_unit_shown("m", 1500), "\u22121.5 km");
    expect_quantity(2e-6, hs_unit_shown("m", 2e-6), "2 \u00B5m");
    expect_quantity(0, hs_unit_shown("m", 0), "0 m");
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

void test_picture__units_are_written_as_people_do(void **state)
{
    (void)state;
    assert_string_equal(hs_unit_shown("degC", 300).name, "°C");
    assert_string_equal(hs_unit_shown("degF", 300).name, "°F");
    assert_string_equal(hs_unit_shown("K", 1e6).name, "K");
    assert_true(hs_unit_shown("K", 1e6).factor == 1);
    expect_quantity(21.5, hs_unit_shown("degC", 0), "21.5 °C");
}

void test_picture__logarithmic_ticks_stand_at_whole_digits(void **state)
{
    (void)state;
    struct hs_ticks t;
    hs_ticks_log(0.3, 40, &t); /* 0.3 to 0.9, 1 to 9, 10 to 40 */
    assert_int_equal(t.count, 7 + 9 + 4);
    assert_near(t.at[0], 0.3, 1e-12);
    assert_near(t.at[19], 40, 1e-9);
    const char *const labelled[] = {"0.5", "1", "2", "5", "10", "20"};
    int found = 0;
    for (int i = 0; i < t.count; i++)
        if (*t.label[i])
            assert_string_equal(t.label[i], labelled[found++]);
    assert_int_equal(found, 6);
    hs_ticks_log(1, 1e6, &t);
    assert_string_equal(t.label[1], ""); /* 2 */
    assert_string_equal(t.label[9], "10");
}

/* ---- canvas ---- */

static cairo_surface_t *image;

static unsigned char green_at(int x, int y)
{
    const int stride = cairo_image_surface_get_stride(image);
    return cairo_image_surface_get_data(image)[y * stride + 4 * x + 1];
}

static struct hs_canvas begin(int size)
{
    struct hs_canvas canvas;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_canvas_init(&canvas, size, &err), HS_OK);
    hs_error_release(&err);
    return canvas;
}

static void play(struct hs_canvas *canvas)
{
    image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, canvas->width, canvas->height);
    cairo_t *cr = cairo_create(image);
    cairo_set_source_surface(cr, cairo_get_target(canvas->cr), 0, 0);
    cairo_paint(cr);
    cairo_destroy(cr);
    cairo_surface_flush(image);
    hs_canvas_release(canvas);
}

/* Columns and rows that text leaves a mark in. */
static struct hs_area marked(const char *text, double anchor, double turn)
{
    struct hs_canvas canvas = begin(400);
    const struct hs_lettering letters = {35, {0, 0, 0}, false, anchor, turn};
    hs_canvas_text(&canvas, letters, 200, 200, text);
    play(&canvas);
    int x0 = 400, x1 = -1, y0 = 400, y1 = -1;
    for (int j = 0; j < 400; j++)
        for (int i = 0; i < 400; i++)
            if (green_at(i, j) < 128) {
                x0 = i < x0 ? i : x0, x1 = i > x1 ? i : x1;
                y0 = j < y0 ? j : y0, y1 = j > y1 ? j : y1;
            }
    cairo_surface_destroy(image);
    return (struct hs_area){x0, y0, x1 - x0 + 1, y1 - y0 + 1};
}

void test_picture__text_stands_where_it_was_put(void **state)
{
    (void)state;
    const struct hs_area flat = marked("HHHH", 0.5, 0);
    assert_near(flat.x + 0.5 * flat.w, 200, 1); /* edges are whole pixels */
    assert_near(flat.y + flat.h, 200, 1);       /* baseline */
    assert_near(flat.h, 35, 2);                 /* a capital's height, in a font like DejaVu Sans */
    const struct hs_area up = marked("HHHH", 0.5, 90);
    assert_near(up.y + 0.5 * up.h, 200, 1);
    assert_near(up.x + up.w, 200, 1);
    assert_near(up.h, flat.w, 1);
    assert_true(marked("HHHH", 1, 0).x + flat.w <= 200);
    assert_true(marked("HHHH", 0, 0).x >= 200);
    struct hs_canvas canvas = begin(10);
    const double width = hs_canvas_text_width(&canvas, 35, false, "HHHH");
    assert_true(flat.w < width + 1 && flat.w > 0.8 * width);
    assert_near(hs_canvas_text_width(&canvas, 70, false, "HHHH"), 2 * width, 1e-6); /* no hints */
    hs_canvas_release(&canvas);
}

void test_picture__a_stroke_has_its_width(void **state)
{
    (void)state;
    struct hs_canvas canvas = begin(100);
    cairo_move_to(canvas.cr, -1e4, 25.3);
    cairo_line_to(canvas.cr, 1e4, 25.3);
    hs_canvas_stroke(&canvas, 6, (struct hs_colour){0, 0, 0});
    play(&canvas);
    for (int i = 0; i < 100; i++) {
        double dark = 0;
        for (int j = 0; j < 100; j++)
            dark += (255 - green_at(i, j)) / 255.0;
        assert_near(dark, 6, 0.02); /* 8-bit pixels */
    }
    cairo_surface_destroy(image);
}

/* ---- contours ---- */

/* T = x^2 + y^2 on [-1, 1]^2 in 400 x 400 pixels: contours are circles. */
void test_picture__contours_lie_where_the_field_has_their_value(void **state)
{
    (void)state;
    enum { N = 41, SIZE = 400 };
    static double values[N * N];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            values[j * N + i] = pow(i / 20.0 - 1, 2) + pow(j / 20.0 - 1, 2);
    values[5 * N + 5] = NAN; /* far outside of the circle */
    const struct hs_field field = {values, {N, N}};
    struct hs_chart chart = {.width = SIZE,
                             .u = 0.25,
                             .canvas = begin(SIZE),
                             .plot = {0, 0, SIZE, SIZE},
                             .bar = {.from = 0, .to = 1, .unit = {1, ""}},
                             .map = hs_colour_map_find("gray")};
    const double level = 0.75; /* bright, so the line is dark */
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_field_contours(&chart, &field, &level, 1, &err), HS_OK);
    hs_error_release(&err);
    play(&chart.canvas);
    int dark = 0, off = 0;
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++)
            if (green_at(i, j) < 200) {
                const double r = hypot((i + 0.5) / 200 - 1, (j + 0.5) / 200 - 1);
                dark++;
                /* half a line's width and a pixel, and what the nodes' straight lines cut off */
                off += fabs(r - sqrt(level)) > 2.0 / 200;
            }
    /* the circle is 1088 pixels long; the label, of 4 characters 3.5 high, is all that is off it */
    assert_in_range(dark, 800, 3000);
    assert_in_range(off, 5, 150);
    cairo_surface_destroy(image);
}

void test_picture__a_saddle_is_crossed_by_two_lines(void **state)
{
    (void)state;
    /* corners 1 and 3 are hot: at 0.4 the middle, 0.5, joins them, and the lines cut off 0 and 2 */
    const double values[4] = {0, 1, 1, 0};
    const struct hs_field field = {values, {2, 2}};
    struct hs_chart chart = {.width = 400,
                             .u = 0.25,
                             .canvas = begin(400),
                             .plot = {0, 0, 400, 400},
                             .bar = {.from = 0, .to = 0.5, .unit = {1, ""}},
                             .map = hs_colour_map_find("gray")};
    const double level = 0.4;
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(hs_field_contours(&chart, &field, &level, 1, &err), HS_OK);
    hs_error_release(&err);
    play(&chart.canvas);
    int on_hot_diagonal = 0, on_cold_diagonal = 0;
    for (int n = 0; n < 400; n++) { /* values[0] is below left; y goes up */
        on_hot_diagonal += green_at(n, n) < 200;
        on_cold_diagonal += green_at(n, 399 - n) < 200;
    }
    assert_int_equal(on_hot_diagonal, 0);
    assert_true(on_cold_diagonal >= 2);
    cairo_surface_destroy(image);
}

/* Rounding at the edges of the plot must not lead outside; the sanitizers see it. */
void test_picture__contours_look_at_the_field_only(void **state)
{
    (void)state;
    const double level = 0.5;
    for (int size = 60; size < 1200; size += 3) {
        double *values = malloc(7 * 5 * sizeof *values);
        for (int n = 0; n < 7 * 5; n++)
            values[n] = n % 7 / 6.0;
        const struct hs_field field = {values, {7, 5}};
        struct hs_chart chart = {.u = 0.25,
                                 .canvas = begin(size),
                                 .plot = {0, 0, size, size},
                                 .bar = {.from = 0, .to = 1, .unit = {1, ""}},
                                 .map = hs_colour_map_find("gray")};
        struct hs_error err;
        hs_error_init(&err);
        assert_int_equal(hs_field_contours(&chart, &field, &level, 1, &err), HS_OK);
        hs_error_release(&err);
        hs_canvas_release(&chart.canvas);
        free(values);
    }
}

/* ---- files ---- */

static char *contents(const char *path, size_t *size)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return bytes;
}

void test_picture__files_say_that_heatsolve_wrote_them_and_no_date(void **state)
{
    (void)state;
    static const struct {
        const char *ending, *mark;
        size_t length;
    } kinds[] = {{"png", "\0\0\0\x12tEXtSoftware\0heatsolve\x3d\xa0\x12\x4a", 30},
                 {"SVG", "</svg>\n<!-- Software: heatsolve -->\n", 36},
                 {"pdf", "/Creator (heatsolve)", 20}};
    for (int k = 0; k < 3; k++) {
        char path[64];
        size_t size;
        snprintf(path, sizeof path, "/tmp/heatsolve-picture-%d.%s", (int)getpid(), kinds[k].ending);
        struct hs_canvas canvas = begin(40);
        struct hs_error err;
        hs_error_init(&err);
        hs_canvas_text(&canvas, (struct hs_lettering){.size = 9}, 5, 30, "T");
        assert_int_equal(hs_canvas_write(&canvas, path, &err), HS_OK);
        hs_canvas_release(&canvas);
        hs_error_release(&err);
        const char *bytes = contents(path, &size);
        assert_non_null(memmem(bytes, size, kinds[k].mark, kinds[k].length));
        assert_null(memmem(bytes, size, "Date", 4));
        unlink(path);
    }
}
