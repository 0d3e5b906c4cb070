#include "output/pictures/canvas.h"

#include "output/files.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- drawing ------------------------------------------------------------------------------- */

cairo_t *hs_canvas_on(cairo_surface_t *surface, int width)
{
    cairo_t *cr = cairo_create(surface);
    cairo_surface_destroy(surface); /* cr keeps a reference */
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY); /* the same on all screens */
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    hs_canvas_ink(cr, 0xFFFFFF);
    cairo_paint(cr);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_scale(cr, (double)width / HS_CANVAS_UNITS, (double)width / HS_CANVAS_UNITS);
    return cr;
}

void hs_canvas_ink(cairo_t *cr, uint32_t colour)
{
    cairo_set_source_rgb(cr, (colour >> 16 & 0xFF) / 255.0, (colour >> 8 & 0xFF) / 255.0,
                         (colour & 0xFF) / 255.0);
}

void hs_canvas_stroke(cairo_t *cr, double width, uint32_t colour)
{
    hs_canvas_ink(cr, colour);
    cairo_set_line_width(cr, width);
    cairo_stroke(cr);
}

double hs_canvas_width(cairo_t *cr, struct hs_lettering letters, const char *text)
{
    const double capital = 0.729; /* of DejaVu Sans, in ems */
    cairo_text_extents_t extents;
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           letters.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, letters.size / capital);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

void hs_canvas_text(cairo_t *cr, struct hs_lettering letters, double x, double y, const char *text)
{
    const double width = hs_canvas_width(cr, letters, text);
    const double less = letters.room > 0 ? fmin(1, letters.room / width) : 1;
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_rotate(cr, -letters.turn);
    cairo_scale(cr, less, less);
    cairo_move_to(cr, -letters.anchor * width, letters.drop * letters.size);
    if (letters.halo) {
        cairo_text_path(cr, text);
        hs_canvas_stroke(cr, 0.6 * letters.size, letters.halo);
        cairo_move_to(cr, -letters.anchor * width, letters.drop * letters.size);
    }
    hs_canvas_ink(cr, letters.colour);
    cairo_show_text(cr, text);
    cairo_new_path(cr);
    cairo_restore(cr);
}

/* ---- files --------------------------------------------------------------------------------- */

const char hs_canvas_elsewhere[] = "give the picture another name";

enum hs_picture_kind hs_picture_kind_of(const char *path)
{
    static const char *const endings[] = {".png", ".svg", ".pdf", ".mp4", ".webm"};
    const char *ending = strrchr(path, '.');
    int kind = HS_PNG;
    while (kind < HS_NO_PICTURE && (!ending || ending == path || strcasecmp(ending, endings[kind])))
        kind++;
    return (enum hs_picture_kind)kind;
}

enum hs_status hs_canvas_check_name(const char *option, const char *path, bool films,
                                    struct hs_error *err)
{
    if (hs_picture_kind_of(path) <= (films ? HS_WEBM : HS_PDF))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s %s: pictures are PNG, SVG or PDF; end the name in .png, .svg or .pdf%s",
                        option, path,
                        films ? ", or, for a film of all snapshots, in .mp4 or .webm" : "");
}

/* Inserts the mark, where Cairo has none: after a PNG's header, which is of 33 bytes, and an SVG's
 * first line, the XML declaration, of 39. A PNG's mark ends with its checksum. */
static cairo_status_t put(void *to, const unsigned char *bytes, unsigned count)
{
    static const struct {
        const char *text;
        unsigned size, after;
    } marks[] = {[HS_PNG] = {"\0\0\0\22tEXtSoftware\0heatsolve\075\240\022\112", 30, 33},
                 [HS_SVG] = {"<!-- Software: heatsolve -->\n", 29, 39},
                 [HS_WEBM] = {0}};
    struct hs_beside *beside = to;
    const enum hs_picture_kind kind = hs_picture_kind_of(beside->path);
    const long before = marks[kind].size ? ftell(beside->file) : LONG_MAX;
    if (before <= marks[kind].after && before + count > marks[kind].after) {
        const unsigned first = marks[kind].after - (unsigned)before;
        hs_beside_write(beside, bytes, first);
        hs_beside_write(beside, marks[kind].text, marks[kind].size);
        bytes += first;
        count -= first;
    }
    hs_beside_write(beside, bytes, count);
    return beside->number ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

cairo_t *hs_sink_page(const struct hs_sink *sink, int width, int height)
{
    const double points = 72.0 / 150.0; /* points per pixel of a PDF: 1600 pixels are 27 cm */
    const enum hs_picture_kind kind = hs_picture_kind_of(sink->to->path);
    cairo_surface_t *page;
    if (kind == HS_SVG) {
        page = cairo_svg_surface_create_for_stream(put, sink->to, width, height);
        cairo_svg_surface_set_document_unit(page, CAIRO_SVG_UNIT_PX);
    } else if (kind == HS_PDF) {
        page = cairo_pdf_surface_create_for_stream(put, sink->to, points * width, points * height);
        cairo_pdf_surface_restrict_to_version(page, CAIRO_PDF_VERSION_1_4); /* text Creator */
        cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATOR, "heatsolve");
        cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATE_DATE, "");
        cairo_surface_set_device_scale(page, points, points);
    } else {
        page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    }
    return hs_canvas_on(page, width);
}

static void warn_of_no_font(cairo_t *cr, struct hs_error *err)
{
    static bool warned = false;
    if (!warned && cairo_scaled_font_get_type(cairo_get_scaled_font(cr)) == CAIRO_FONT_TYPE_USER)
        hs_error_add(err, HS_OK,
                     "no font is installed, so the letters are makeshift, and signs such as ° and "
                     "² are lost; apt-get install fonts-dejavu-core, then draw it again");
    warned = true;
}

enum hs_status hs_sink_add(const struct hs_sink *sink, cairo_t *cr, struct hs_error *err)
{
    struct hs_beside *to = sink->to;
    cairo_surface_t *page = cairo_get_target(cr);
    cairo_status_t status = cairo_status(cr);
    if (cairo_surface_get_type(page) == CAIRO_SURFACE_TYPE_IMAGE && !status)
        status = cairo_surface_write_to_png_stream(page, put, to);
    cairo_surface_finish(page);
    warn_of_no_font(cr, err);
    cairo_destroy(cr);
    return status && !to->number
               ? hs_error_add(err, HS_DEVICE, "%s: cannot draw it: %s; draw a smaller one",
                              to->path, cairo_status_to_string(status))
               : HS_OK; /* closing reports write errors */
}

enum hs_status hs_sink_open(struct hs_sink *sink, const char *path, int per_second,
                            struct hs_error *err)
{
    *sink = (struct hs_sink){.frames = {.path = path}, .to = &sink->part};
    const enum hs_picture_kind kind = hs_picture_kind_of(path);
    size_t made;
    enum hs_status status = hs_file_make_parents(path, hs_canvas_elsewhere, &made, err);
    if (!status)
        status = hs_beside_open(path, HS_EXISTING_PICTURE, hs_canvas_elsewhere, &sink->part, err);
    if (status)
        hs_file_remove_directories(path, made);
    if (status || kind <= HS_PDF)
        return status;
    /* the film depends on the frames only: no date, no version of ffmpeg */
    char command[256];
    snprintf(command, sizeof command,
             "ffmpeg -y -loglevel error -f image2pipe -c:v png -framerate %d -i - -pix_fmt yuv420p "
             "-fflags +bitexact -flags +bitexact -metadata comment=heatsolve -f %s \"$HS_PART\"",
             per_second, kind == HS_MP4 ? "mp4" : "webm");
    setenv("HS_PART", sink->part.part, 1); /* safe for any characters in the name */
    signal(SIGPIPE, SIG_IGN);              /* if ffmpeg fails, its own message says why */
    if (system("command -v ffmpeg >/dev/null") == 0)
        sink->frames.file = popen(command, "we");
    sink->to = sink->frames.file ? &sink->frames : NULL;
    return HS_OK;
}

enum hs_status hs_sink_close(struct hs_sink *sink, enum hs_status status, struct hs_error *err)
{
    if (sink->frames.file && (pclose(sink->frames.file) || sink->frames.number))
        status =
            hs_error_add(err, HS_IO, "%s: ffmpeg failed, see its message above", sink->frames.path);
    const enum hs_status closed = hs_beside_close(&sink->part, sink->to && !status, err);
    return status ? status : closed;
}
