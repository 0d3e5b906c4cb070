#include "output/picture_canvas.h"

#include "output/beside.h"
#include "output/files.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- drawing ------------------------------------------------------------------------------ */

static void choose_font(const struct hs_canvas *canvas, double size, bool bold)
{
    const double capital = 0.729; /* of DejaVu Sans, in ems */
    cairo_select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cr, size / capital);
}

enum hs_status hs_canvas_init(struct hs_canvas *canvas, int width, struct hs_error *err)
{
    static bool warned = false;
    const cairo_rectangle_t most = {0, 0, width, width}; /* Cairo's SVG goes wrong without */
    cairo_surface_t *list = cairo_recording_surface_create(CAIRO_CONTENT_COLOR, &most);
    *canvas = (struct hs_canvas){.cr = cairo_create(list), .width = width, .height = width};
    cairo_surface_destroy(list); /* cr holds it */
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY); /* alike on all screens */
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(canvas->cr, options);
    cairo_font_options_destroy(options);
    cairo_set_source_rgb(canvas->cr, 1, 1, 1);
    cairo_paint(canvas->cr);
    cairo_set_line_cap(canvas->cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    choose_font(canvas, 10, false);
    const cairo_font_type_t font = cairo_scaled_font_get_type(cairo_get_scaled_font(canvas->cr));
    if (font == CAIRO_FONT_TYPE_USER && !warned) { /* Cairo's own, where there is no other */
        warned = true;
        hs_error_add(err, HS_OK,
                     "no font is installed, so the letters are makeshift, and signs such as ° and "
                     "² are lost; apt-get install fonts-dejavu-core, then draw it again");
    }
    return cairo_status(canvas->cr) ? hs_error_add(err, HS_DEVICE, "no memory for a picture")
                                    : HS_OK;
}

void hs_canvas_release(struct hs_canvas *canvas)
{
    if (!canvas->cr)
        return;
    cairo_surface_finish(cairo_get_target(canvas->cr)); /* Cairo's SVG never lets go of the list */
    cairo_destroy(canvas->cr);
    canvas->cr = NULL;
}

void hs_canvas_ink(const struct hs_canvas *canvas, struct hs_colour colour)
{
    cairo_set_source_rgb(canvas->cr, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
}

void hs_canvas_fill(const struct hs_canvas *canvas, double x, double y, double w, double h,
                    struct hs_colour colour)
{
    hs_canvas_ink(canvas, colour);
    cairo_rectangle(canvas->cr, rint(x), rint(y), rint(w), rint(h));
    cairo_fill(canvas->cr);
}

void hs_canvas_stroke(const struct hs_canvas *canvas, double width, struct hs_colour colour)
{
    hs_canvas_ink(canvas, colour);
    cairo_set_line_width(canvas->cr, width);
    cairo_stroke(canvas->cr);
}

double hs_canvas_text_width(const struct hs_canvas *canvas, double size, bool bold,
                            const char *text)
{
    cairo_text_extents_t extents;
    choose_font(canvas, size, bold);
    cairo_text_extents(canvas->cr, text, &extents);
    return extents.x_advance;
}

void hs_canvas_text(const struct hs_canvas *canvas, struct hs_lettering lettering, double x,
                    double y, const char *text)
{
    const double width = hs_canvas_text_width(canvas, lettering.size, lettering.bold, text);
    cairo_save(canvas->cr);
    hs_canvas_ink(canvas, lettering.colour);
    cairo_translate(canvas->cr, x, y);
    cairo_rotate(canvas->cr, -lettering.turn * M_PI / 180);
    cairo_move_to(canvas->cr, -lettering.anchor * width, 0);
    cairo_show_text(canvas->cr, text);
    cairo_restore(canvas->cr);
}

const char hs_canvas_elsewhere[] = "give the picture another name";

/* ---- files -------------------------------------------------------------------------------- */

enum kind { PNG, SVG, PDF, NONE }; /* a film's frames, whose name has another ending, are PNG */

static enum kind kind_of(const char *path)
{
    static const char *const endings[] = {".png", ".svg", ".pdf"};
    const size_t length = strlen(path);
    int kind = PNG;
    while (kind < NONE && (length < 5 || strcasecmp(path + length - 4, endings[kind])))
        kind++;
    return kind;
}

enum hs_status hs_canvas_check_name(const char *option, const char *path, struct hs_error *err)
{
    if (kind_of(path) != NONE)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s %s: pictures are PNG, SVG or PDF; end the name in .png, .svg or .pdf",
                        option, path);
}

struct sink {
    FILE *stream;
    size_t written;
    int number; /* errno of what failed first; 0 */
};

static cairo_status_t put(void *closure, const unsigned char *bytes, unsigned count)
{
    struct sink *sink = closure;
    errno = EIO;
    if (!sink->number && fwrite(bytes, 1, count, sink->stream) != count)
        sink->number = errno;
    sink->written += count;
    return sink->number ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* Cairo writes no text chunks: ours goes behind the header, whose length is fixed and which comes
 * in pieces of its own. Its last four bytes are its checksum. */
static cairo_status_t put_png(void *closure, const unsigned char *bytes, unsigned count)
{
    static const unsigned char mark[] = "\0\0\0\22tEXtSoftware\0heatsolve\075\240\022\112";
    const size_t header = 8 + 12 + 13;
    if (((struct sink *)closure)->written == header && put(closure, mark, sizeof mark - 1))
        return CAIRO_STATUS_WRITE_ERROR;
    return put(closure, bytes, count);
}

static cairo_surface_t *make_page(enum kind kind, double width, double height, struct sink *sink)
{
    if (kind == PNG)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    if (kind == SVG) {
        cairo_surface_t *page = cairo_svg_surface_create_for_stream(put, sink, width, height);
        cairo_svg_surface_set_document_unit(page, CAIRO_SVG_UNIT_PX);
        return page;
    }
    const double points = 72.0 / 150.0; /* in a pixel: 1600 are 27 cm */
    cairo_surface_t *page =
        cairo_pdf_surface_create_for_stream(put, sink, points * width, points * height);
    cairo_pdf_surface_restrict_to_version(page, CAIRO_PDF_VERSION_1_4); /* Creator is not packed */
    cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATOR, "heatsolve");
    cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_surface_set_device_scale(page, points, points);
    return page;
}

enum hs_status hs_canvas_put(const struct hs_canvas *canvas, const char *path, FILE *stream,
                             struct hs_error *err)
{
    static const unsigned char svg_mark[] = "<!-- Software: heatsolve -->\n";
    struct sink sink = {.stream = stream};
    const enum kind kind = kind_of(path) % NONE;
    cairo_surface_t *page = make_page(kind, canvas->width, canvas->height, &sink);
    cairo_t *cr = cairo_create(page);
    cairo_set_source_surface(cr, cairo_get_target(canvas->cr), 0, 0);
    cairo_paint(cr);
    cairo_status_t status = cairo_status(canvas->cr) ? cairo_status(canvas->cr) : cairo_status(cr);
    cairo_destroy(cr);
    if (kind == PNG && !status)
        status = cairo_surface_write_to_png_stream(page, put_png, &sink);
    cairo_surface_finish(page);
    cairo_surface_destroy(page);
    if (kind == SVG)
        put(&sink, svg_mark, sizeof svg_mark - 1);
    errno = 0;
    if (fflush(stream) != 0 && !sink.number)
        sink.number = errno;
    if (sink.number)
        return hs_beside_failed(path, "write", sink.number, hs_canvas_elsewhere, err);
    return status ? hs_error_add(err, HS_DEVICE, "%s: cannot draw %d x %d pixels: %s", path,
                                 canvas->width, canvas->height, cairo_status_to_string(status))
                  : HS_OK;
}

enum hs_status hs_canvas_write(const struct hs_canvas *canvas, const char *path,
                               struct hs_error *err)
{
    struct hs_beside beside;
    enum hs_status status = hs_file_make_parents(path, hs_canvas_elsewhere, err);
    if (status == HS_OK)
        status = hs_beside_open(path, HS_EXISTING_PICTURE, hs_canvas_elsewhere, &beside, err);
    if (status != HS_OK)
        return status;
    status = hs_canvas_put(canvas, path, beside.file, err);
    const enum hs_status closed = hs_beside_close(&beside, status == HS_OK, err);
    return status == HS_OK ? closed : status;
}
