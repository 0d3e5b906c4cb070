/* The parts of pictures: scales, units, colour maps, canvas, contours. */
#include "output/pictures/chart.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value that a label stands for in the scale's unit, as a person would read it. */
static double read_back(const char *label)
{
    const char *minus = "\u2212";
    const size_t sign = strncmp(label, minus, strlen(minus)) == 0 ? strlen(minus) : 0;
    char *end;
    const double value = strtod(label + sign, &end) * (sign ? -1 : 1);
    assert_string_equal(end, "");
    return value;
}

static struct hs_scale scale_of(double from, double to, const char *unit)
{
    return (struct hs_scale){
        .from = from, .to = to, .unit = hs_unit_shown(unit, fmax(fabs(from), fabs(to)))};
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
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int most = 2; most <= 16; most++) {
            struct hs_scale s = scale_of(ranges[r].lower, ranges[r].upper, "K");
            hs_scale_set_step(&s, most);
            const double width = s.to - s.from, step = s.step * s.unit.factor;
            char label[HS_LABEL_SIZE], before[HS_LABEL_SIZE] = "";
            double at, last = -INFINITY;
            int n = 0;
            for (; hs_scale_tick(&s, n, &at, label); n++) {
                /* the label has the decimals of the step, so it is accurate to much less than a
                 * step; the 16 digits of a double matter less */
                const double slack = 1e-6 * step + 1e-14 * fabs(at);
                assert_near(read_back(label) * s.unit.factor, at, slack);
                assert_true(at >= s.from - 1e-6 * width && at <= s.to + 1e-6 * width);
                assert_string_not_equal(label, before);
                assert_true(n == 0 || fabs(at - last - step) <= slack);
                strcpy(before, label);
                last = at;
            }
            assert_in_range(n, 2, most > 5 ? most : 5);
        }
}

void test_picture__ticks_step_by_1_2_or_5(void **state)
{
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        struct hs_scale s = scale_of(ranges[r].lower, ranges[r].upper, "K");
        char text[32];
        hs_scale_set_step(&s, 8);
        snprintf(text, sizeof text, "%.6e", s.step);
        assert_true(text[0] == '1' || text[0] == '2' || text[0] == '5');
        assert_memory_equal(text + 1, ".000000e", 8);
    }
}

void test_picture__ticks_of_a_plain_range_are_plain(void **state)
{
    struct hs_scale s = scale_of(-0.3, 0.3, "K");
    hs_scale_set_step(&s, 7);
    const char *const expected[] = {"\u22120.3", "\u22120.2", "\u22120.1", "0.0",
                                    "0.1",       "0.2",       "0.3"};
    char label[HS_LABEL_SIZE];
    double at[8];
    for (int i = 0; i < 7; i++) {
        assert_true(hs_scale_tick(&s, i, &at[i], label));
        assert_string_equal(label, expected[i]);
    }
    assert_false(hs_scale_tick(&s, 7, &at[7], label));
    assert_string_equal(s.unit.name, "K");
    assert_true(at[5] == 0.2 && at[6] == 0.3); /* not 0.30000000000000004 */
    s = scale_of(0, 4e6, "J");
    hs_scale_set_step(&s, 5);
    assert_true(hs_scale_tick(&s, 4, &at[4], label));
    assert_string_equal(label, "4");
    assert_string_equal(s.unit.power, "10\u2076 ");
    assert_true(at[4] == 4e6);
}

void test_picture__a_value_alone_has_one_tick(void **state)
{
    struct hs_scale s = scale_of(-1, 1, "s");
    char label[HS_LABEL_SIZE];
    double at;
    s.single = "steady state";
    hs_scale_set_step(&s, 8);
    assert_true(hs_scale_tick(&s, 0, &at, label));
    assert_string_equal(label, "steady state");
    assert_true(hs_scale_place(&s, at) == 0.5);
    assert_false(hs_scale_tick(&s, 1, &at, label));
}

static void expect_quantity(double value, const char *unit, double largest, const char *expected)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    hs_quantity_put(stream, value, hs_unit_shown(unit, largest));
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

void test_picture__numbers_that_lie_near_one_another_are_told_apart(void **state)
{
    char text[HS_LABEL_SIZE];
    hs_number_text(300.0002, 1e-6, text);
    assert_string_equal(text, "300.0002");
    hs_number_text(300.0002, 1.0, text);
    assert_string_equal(text, "300");
    hs_number_text(0.0, 1e-6, text);
    assert_string_equal(text, "0");
    hs_number_text(1.0 / 3.0, 1e-300, text);
    assert_string_equal(text, "0.333333333333333");
}

void test_picture__times_and_lengths_read_well(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0, "0 s"},       {90, "90 s"},          {120, "2 min"},  {7200, "2 h"},
                 {86400, "24 h"},  {30 * 86400., "30 d"}, {2.5, "2.5 s"},  {0.05, "50 ms"},
                 {3e-7, "300 ns"}, {4e-5, "40 \u00B5s"},  {5400, "90 min"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        expect_quantity(times[i].seconds, "s", times[i].seconds, times[i].text);
    expect_quantity(0.05, "m", 0.1, "50 mm");
    expect_quantity(2, "m", 10, "2 m");
    expect_quantity(-1500, "m", 1500, "\u22121.5 km");
    expect_quantity(2e-6, "m", 2e-6, "2 \u00B5m");
    expect_quantity(0, "m", 0, "0 m");
    expect_quantity(1.5e-12, "K", 1, "1.5\u00D710\u207B\u00B9\u00B2 K");
    expect_quantity(1.5e-12, "K", 1.5e-12, "1.5 10\u207B\u00B9\u00B2 K");
}

static const struct hs_colour_map *map_named(const char *name)
{
    const struct hs_colour_map *map = hs_colour_maps;
    while (map->name && strcmp(map->name, name) != 0)
        map++;
    return map;
}

static void expect_colour(const char *map, double place, uint32_t rgb)
{
    assert_int_equal(hs_colour_map_at(map_named(map), place), rgb);
}

void test_picture__colour_maps_have_their_published_ends(void **state)
{
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
    assert_string_equal(hs_colour_maps[0].name, "inferno");
}

/* CIE lightness L* of a colour (sRGB). */
static double lightness(uint32_t c)
{
    const double channel[3] = {(c >> 16) / 255.0, (c >> 8 & 0xFF) / 255.0, (c & 0xFF) / 255.0};
    const double share[3] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (int i = 0; i < 3; i++)
        y += share[i] *
             (channel[i] > 0.04045 ? pow((channel[i] + 0.055) / 1.055, 2.4) : channel[i] / 12.92);
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

void test_picture__sequential_maps_brighten_all_the_way(void **state)
{
    static const char *const names[] = {"inferno", "viridis", "magma", "plasma", "gray"};
    for (int m = 0; m < 5; m++)
        for (int i = 1; i <= 64; i++) {
            const struct hs_colour_map *map = map_named(names[m]);
            assert_true(lightness(hs_colour_map_at(map, i / 64.0)) >
                        lightness(hs_colour_map_at(map, (i - 1) / 64.0)));
        }
}

void test_picture__units_are_written_as_people_do(void **state)
{
    assert_string_equal(hs_unit_shown("degC", 300).name, "°C");
    assert_string_equal(hs_unit_shown("degF", 300).name, "°F");
    assert_string_equal(hs_unit_shown("K", 1e6).name, "K");
    assert_true(hs_unit_shown("K", 1e6).factor == 1);
    assert_string_equal(hs_unit_shown("J", 3e7).power, "10\u2076 ");
    assert_string_equal(hs_unit_shown("J", 3e7).name, "J");
    assert_true(hs_unit_shown("J", 3e7).factor == 1e6);
    assert_string_equal(hs_unit_shown("1", 2e-4).power, "10\u207B\u2076");
    expect_quantity(21.5, "degC", 0, "21.5 °C");
    expect_quantity(21.5, "W/m^2", 0, "21.5 W/m²");
    expect_quantity(2.5e7, "J/m^2", 2.5e7, "25 10⁶ J/m²");
}

void test_picture__logarithmic_ticks_stand_at_whole_digits(void **state)
{
    struct hs_scale s = {.from = 0.3, .to = 40, .log = true, .unit = {1, "", ""}};
    const char *const labelled[] = {"0.5", "1", "2", "5", "10", "20"};
    char label[HS_LABEL_SIZE];
    double at[40];
    int n = 0, found = 0;
    for (; hs_scale_tick(&s, n, &at[n], label); n++)
        if (*label)
            assert_string_equal(label, labelled[found++]);
    assert_int_equal(n, 7 + 9 + 4); /* 0.3 to 0.9, 1 to 9, 10 to 40 */
    assert_near(at[0], 0.3, 1e-12);
    assert_near(at[19], 40, 1e-9);
    assert_int_equal(found, 6);
    s.from = 1, s.to = 1e6;
    assert_true(hs_scale_tick(&s, 1, &at[1], label) && !*label); /* 2 */
    assert_true(hs_scale_tick(&s, 9, &at[9], label));
    assert_string_equal(label, "10");
}

/* ---- canvas ---- */

static cairo_surface_t *image;

static unsigned char green_at(int x, int y)
{
    const int stride = cairo_image_surface_get_stride(image);
    return cairo_image_surface_get_data(image)[y * stride + 4 * x + 1];
}

static cairo_t *canvas_of(int width, int height)
{
    return hs_canvas_on(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), width);
}

/* Keeps what was drawn as `image`. */
static void finish(cairo_t *canvas)
{
    image = cairo_surface_reference(cairo_get_target(canvas));
    cairo_surface_flush(image);
    cairo_destroy(canvas);
}

/* The columns and rows in which text leaves a mark. */
static cairo_rectangle_t marked(const char *text, struct hs_lettering letters)
{
    cairo_t *canvas = canvas_of(1600, 400);
    letters.size = 35;
    hs_canvas_text(canvas, letters, 200, 200, text);
    finish(canvas);
    int x0 = 400, x1 = -1, y0 = 400, y1 = -1;
    for (int j = 0; j < 400; j++)
        for (int i = 0; i < 400; i++)
            if (green_at(i, j) < 128) {
                x0 = i < x0 ? i : x0, x1 = i > x1 ? i : x1;
                y0 = j < y0 ? j : y0, y1 = j > y1 ? j : y1;
            }
    cairo_surface_destroy(image);
    return (cairo_rectangle_t){x0, y0, x1 - x0 + 1, y1 - y0 + 1};
}

void test_picture__text_stands_where_it_was_put(void **state)
{
    const cairo_rectangle_t flat = marked("HHHH", (struct hs_lettering){.anchor = 0.5});
    assert_near(flat.x + 0.5 * flat.width, 200, 1); /* edges are whole pixels */
    assert_near(flat.y + flat.height, 200, 1);      /* baseline */
    assert_near(flat.height, 35, 2); /* a capital's height, in a font like DejaVu Sans */
    const cairo_rectangle_t up =
        marked("HHHH", (struct hs_lettering){.anchor = 0.5, .turn = M_PI / 2});
    assert_near(up.y + 0.5 * up.height, 200, 1);
    assert_near(up.x + up.width, 200, 1);
    assert_near(up.height, flat.width, 1);
    assert_true(marked("HHHH", (struct hs_lettering){.anchor = 1}).x + flat.width <= 200);
    assert_true(marked("HHHH", (struct hs_lettering){.anchor = 0}).x >= 200);
    assert_near(marked("HHHH", (struct hs_lettering){.drop = 1}).y, 200, 1);
    const cairo_rectangle_t middle = marked("HHHH", (struct hs_lettering){.drop = 0.5});
    assert_near(middle.y + 0.5 * middle.height, 200, 1);
    const cairo_rectangle_t less = marked("HHHH", (struct hs_lettering){.room = 0.5 * flat.width});
    assert_true(less.width <= 0.5 * flat.width &&
                less.width > 0.45 * flat.width); /* margins of the letters */
    assert_near(less.height, 0.5 * flat.height, 2);
    cairo_t *canvas = canvas_of(1600, 10);
    const double width = hs_canvas_width(canvas, (struct hs_lettering){.size = 35}, "HHHH");
    assert_true(flat.width < width + 1 && flat.width > 0.8 * width);
    assert_near(hs_canvas_width(canvas, (struct hs_lettering){.size = 70}, "HHHH"), 2 * width,
                1e-6); /* no hints */
    cairo_destroy(canvas);
}

void test_picture__a_unit_is_a_1600th_of_the_width(void **state)
{
    for (int width = 800; width <= 3200; width *= 2) {
        cairo_t *canvas = canvas_of(width, 100);
        cairo_move_to(canvas, -1e4, 40160.0 / width);
        cairo_line_to(canvas, 1e4, 40160.0 / width); /* 25.1 pixels down */
        hs_canvas_stroke(canvas, 6, 0x000000);
        finish(canvas);
        for (int i = 0; i < width; i++) {
            double dark = 0;
            for (int j = 0; j < 100; j++)
                dark += (255 - green_at(i, j)) / 255.0;
            assert_near(dark, 6 * width / 1600.0, 0.02); /* 8-bit pixels */
        }
        cairo_surface_destroy(image);
    }
}

/* ---- contours ---- */

enum { SIDE = 800 };

/* Coordinates of evenly spaced nodes, along both axes. */
static const double *const *evenly(void)
{
    static double nodes[64];
    static const double *const both[2] = {nodes, nodes};
    for (int i = 0; i < 64; i++)
        nodes[i] = 0.1 * i - 3;
    return both;
}

/* Which pixels of a square the contours of a field change. */
static const bool *contours_of(const double *values, int64_t across, int64_t up,
                               const double *const place[2], double level)
{
    static bool changed[SIDE * SIDE];
    cairo_surface_t *images[2];
    struct hs_chart chart = {.width = HS_CANVAS_UNITS,
                             .plot = {0, 0, SIDE, SIDE},
                             .bar = {.from = 0, .to = 1, .unit = {1, "", ""}},
                             .map = map_named("gray"),
                             .colours = 1,
                             .field = values,
                             .points = {across, up},
                             .place = {place[0], place[1]},
                             .levels = &level};
    for (int n = 0; n < 2; n++) {
        chart.level_count = n;
        chart.cr = canvas_of(HS_CANVAS_UNITS, SIDE);
        hs_chart_draw_field(&chart);
        finish(chart.cr);
        images[n] = image;
    }
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            image = images[0];
            const int plain = green_at(i, j);
            image = images[1];
            changed[j * SIDE + i] = abs(green_at(i, j) - plain) > 20;
        }
    cairo_surface_destroy(images[0]);
    cairo_surface_destroy(images[1]);
    return changed;
}

/* T = x^2 + y^2 on [-1, 1]^2: contours are circles. */
void test_picture__contours_lie_where_the_field_has_their_value(void **state)
{
    enum { N = 41 };
    static double values[N * N];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            values[j * N + i] = pow(i / 20.0 - 1, 2) + pow(j / 20.0 - 1, 2);
    values[5 * N + 5] = NAN;   /* far outside the circle */
    const double level = 0.75; /* bright, so the line is dark */
    const bool *changed = contours_of(values, N, N, evenly(), level);
    int dark = 0, off = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            if (changed[j * SIDE + i]) {
                const double r = hypot(2 * (i + 0.5) / SIDE - 1, 2 * (j + 0.5) / SIDE - 1);
                dark++;
                /* half a line's width and a pixel, and the chord error between the nodes */
                off += fabs(r - sqrt(level)) > 2.0 * 2 / SIDE;
            }
    /* the circle is 2177 pixels long, the line 1.8 wide and blurred; off it are some labels of 4
     * characters 14 high, with the halo around them */
    assert_in_range(dark, 5000, 6500);
    assert_in_range(off, 100, 550);
}

/* T = x on [0, 1], with nodes ever closer: contours are placed by x, not by node numbers. */
void test_picture__stretched_axes_are_drawn_at_their_coordinates(void **state)
{
    enum { N = 9 };
    double place[N], values[2][N * 2];
    for (int i = 0; i < N; i++) {
        place[i] = 5.0 + 2.0 * (1.0 - pow(0.5, i)) / (1.0 - pow(0.5, N - 1));
        for (int j = 0; j < 2; j++) {
            values[0][j * N + i] = (place[i] - 5.0) / 2.0;
            values[1][i * 2 + j] = (place[i] - 5.0) / 2.0;
        }
    }
    for (int up = 0; up < 2; up++) {
        const double *const places[2] = {up ? evenly()[0] : place, up ? place : evenly()[1]};
        const bool *changed = contours_of(values[up], up ? 2 : N, up ? N : 2, places, 0.8);
        for (int n = 0; n < SIDE; n++) {
            const int right = 640 * 1, above = SIDE - 640;
            assert_true(up || changed[2 * SIDE + n] == (abs(2 * n + 1 - 2 * right) <= 3) ||
                        abs(2 * n + 1 - 2 * right) == 3);
            assert_true(!up || changed[n * SIDE + 2] == (abs(2 * n + 1 - 2 * above) <= 3) ||
                        abs(2 * n + 1 - 2 * above) == 3);
        }
    }
}

void test_picture__a_saddle_is_crossed_by_two_lines(void **state)
{
    /* corners 1 and 3 are hot: at 0.4 the middle, 0.5, joins them, and the lines cut off 0 and 2 */
    const double values[4] = {0, 1, 1, 0};
    const bool *changed = contours_of(values, 2, 2, evenly(), 0.4);
    int on_hot_diagonal = 0, on_cold_diagonal = 0;
    for (int n = 0; n < SIDE; n++) { /* values[0] is below left; y goes up */
        on_hot_diagonal += changed[n * SIDE + n];
        on_cold_diagonal += changed[(SIDE - 1 - n) * SIDE + n];
    }
    assert_int_equal(on_hot_diagonal, 0);
    assert_true(on_cold_diagonal >= 2);
}

/* Rounding at the edges of the plot must not lead outside the field, as sanitizers would see. */
void test_picture__contours_look_at_the_field_only(void **state)
{
    const double level = 0.5;
    double *values = malloc(7 * 5 * sizeof *values);
    for (int n = 0; n < 7 * 5; n++)
        values[n] = n % 7 / 6.0;
    for (int size = 60; size < 1200; size += 3) {
        struct hs_chart chart = {.width = HS_CANVAS_UNITS,
                                 .plot = {0, 0, size, 30},
                                 .bar = {.from = 0, .to = 1, .unit = {1, "", ""}},
                                 .map = map_named("gray"),
                                 .colours = 1,
                                 .field = values,
                                 .points = {7, 5},
                                 .place = {evenly()[0], evenly()[1]},
                                 .levels = &level,
                                 .level_count = 1,
                                 .cr = canvas_of(HS_CANVAS_UNITS, 30)};
        hs_chart_draw_field(&chart);
        chart.plot = (cairo_rectangle_t){0, 0, 30, size};
        hs_chart_draw_field(&chart);
        cairo_destroy(chart.cr);
    }
    free(values);
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
    static const struct {
        const char *ending, *mark;
        size_t length;
    } kinds[] = {{"png", "\0\0\0\x12tEXtSoftware\0heatsolve\x3d\xa0\x12\x4a", 30},
                 {"SVG", "?>\n<!-- Software: heatsolve -->\n<svg", 36},
                 {"pdf", "/Creator (heatsolve)", 20}};
    for (int k = 0; k < 3; k++) {
        char path[64];
        size_t size;
        snprintf(path, sizeof path, "/tmp/heatsolve-picture-%d.%s", (int)getpid(), kinds[k].ending);
        struct hs_sink sink;
        assert_ok(hs_sink_open(&sink, path, 0, &err));
        cairo_t *canvas = hs_sink_page(&sink, 40, 40);
        hs_canvas_text(canvas, (struct hs_lettering){.size = 300}, 200, 800, "T");
        assert_ok(hs_sink_add(&sink, canvas, &err));
        assert_ok(hs_sink_close(&sink, HS_OK, &err));
        const char *bytes = contents(path, &size);
        assert_non_null(memmem(bytes, size, kinds[k].mark, kinds[k].length));
        assert_null(memmem(bytes, size, "Date", 4));
        unlink(path);
    }
}
