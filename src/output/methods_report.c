#include "output/bench_report.h"

#include "core/grid.h"
#include "core/version.h"
#include "engine/registry.h"
#include "output/pictures/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *measure_of(const struct hs_methods_case *of)
{
    return isnan(of->end) ? "residual" : "error";
}

/* ---- table ----------------------------------------------------------------------------------- */

static void print_row(const struct hs_methods_row *row)
{
    printf("%s%-*s ", row->peer ? "peer: " : "", row->peer ? 24 : 30, row->name);
    if (*row->why) {
        printf("none: %s\n", row->why);
        return;
    }
    printf("%8lld", (long long)row->steps);
    if (isnan(row->sweeps))
        printf(" %9s", "-");
    else
        printf(" %9.0f", row->sweeps);
    printf(" %9.2e %10.4g %10.4g %10.4g %4d\n", row->error, row->seconds.median, row->seconds.min,
           row->seconds.max, row->seconds.count);
}

static void print_case(const struct hs_methods_case *of, enum hs_precision precision)
{
    char points[HS_POINTS_TEXT];
    hs_points_name(of->dims, of->points, " x ", points, sizeof points);
    printf("\n%s: %s, %s nodes, %s, %s, ", of->name, of->title, points,
           hs_precision_name(precision), of->device);
    if (isnan(of->end))
        printf("to a residual of %g of the initial field's\n", of->tolerance);
    else
        printf(
            "to t = %g s\nerrors against Euler's steps of \"%s\", extrapolated, which are off by "
            "%.1e\n",
            of->end, of->by, of->uncertainty);
    printf("\n%-30s %8s %9s %9s %10s %10s %10s %4s\n", "", isnan(of->end) ? "count" : "steps",
           "sweeps", measure_of(of), "seconds", "min", "max", "n");
    for (int n = 0; n < of->count; n++)
        print_row(&of->row[n]);
}

void hs_methods_report_table(const struct hs_methods_bench *bench, const char *command)
{
    printf("%s\nheatsolve %s, commit %s\n", command, hs_version(), hs_commit());
    for (int n = 0; n < bench->count; n++)
        print_case(&bench->of[n], bench->request.precision);
    printf("\nerror: largest |T - reference| over largest |reference|, of time alone. seconds: of "
           "all that a\nmethod does from the initial field on, its set-up included; median, min "
           "and max of n samples.\nresidual: the largest rate of change that is left, over that "
           "of the initial field; count: of\niterations or sweeps.\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_row(struct hs_json *json, const struct hs_methods_case *of,
                     const struct hs_methods_row *row)
{
    hs_json_open(json, NULL);
    hs_json_text(json, row->peer ? "peer" : "method", row->name);
    if (*row->why) {
        hs_json_text(json, "none", row->why);
    } else {
        hs_json_text(json, "version", row->version);
        hs_json_integer(json, "steps", row->steps);
        hs_json_number(json, "sweeps", row->sweeps);
        hs_json_number(json, measure_of(of), row->error);
        hs_samples_json(json, "seconds", &row->seconds);
        hs_json_integer(json, "samples", row->seconds.count);
    }
    hs_json_close(json);
}

static void json_case(struct hs_json *json, const struct hs_methods_case *of)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "case", of->name);
    hs_json_text(json, "title", of->title);
    hs_json_integers(json, "points", of->points, of->dims);
    hs_json_text(json, "device", of->device);
    if (isnan(of->end)) {
        hs_json_number(json, "tolerance", of->tolerance);
    } else {
        hs_json_number(json, "end", of->end);
        hs_json_text(json, "reference", of->by);
        hs_json_number(json, "reference_error", of->uncertainty);
    }
    hs_json_open_array(json, "rows");
    for (int n = 0; n < of->count; n++)
        json_row(json, of, &of->row[n]);
    hs_json_close(json);
    hs_json_close(json);
}

void hs_methods_report_json(const struct hs_methods_bench *bench, const char *command)
{
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "version", hs_version());
    hs_json_text(&json, "commit", hs_commit());
    hs_json_text(&json, "compiler", hs_compiler());
    hs_json_text(&json, "command", command);
    hs_json_text(&json, "precision", hs_precision_name(bench->request.precision));
    hs_json_open_array(&json, "cases");
    for (int n = 0; n < bench->count; n++)
        json_case(&json, &bench->of[n]);
    hs_json_close(&json);
    hs_json_close(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Rows without numbers are left out: there is nothing to plot. */
void hs_methods_report_csv(const struct hs_methods_bench *bench, const char *command)
{
    printf("case,name,kind,device,points,precision,steps,sweeps,measure,value,samples,"
           "seconds_min,seconds_median,seconds_max,version,commit,command\n");
    for (int c = 0; c < bench->count; c++) {
        const struct hs_methods_case *of = &bench->of[c];
        char points[HS_POINTS_TEXT];
        hs_points_name(of->dims, of->points, "x", points, sizeof points);
        for (int n = 0; n < of->count; n++) {
            const struct hs_methods_row *row = &of->row[n];
            if (*row->why)
                continue;
            printf("%s,\"%s\",%s,\"%s\",%s,%s,%lld,", of->name, row->name,
                   row->peer ? "peer" : "method", of->device, points,
                   hs_precision_name(bench->request.precision), (long long)row->steps);
            if (isfinite(row->sweeps))
                printf("%.0f", row->sweeps);
            printf(",%s,%.6e,%d,%.6e,%.6e,%.6e,\"%s\",%s,\"%s\"\n", measure_of(of), row->error,
                   row->seconds.count, row->seconds.min, row->seconds.median, row->seconds.max,
                   row->version, hs_commit(), command);
        }
    }
}

/* ---- picture --------------------------------------------------------------------------------- */

enum { WIDTH = 1200 }; /* pixels */

/* The data of a case's picture. */
struct drawing {
    struct hs_curve curves[HS_METHODS_ROWS];
    double x[HS_METHODS_ROWS], y[HS_METHODS_ROWS];
    char subtitle[192];
};

/* A method has the same colour in every case; all peers share one. */
static uint32_t colour_of(const struct hs_methods_row *row)
{
    static const uint32_t colours[] = {0xB23C28, 0x2E7D4F, 0x8A6D1B, 0x6A3D9A,
                                       HS_BLUE,  0xC2185B, 0x5E9EA0, HS_INK};
    int n = 0;
    if (row->peer)
        return HS_SOFT;
    while (hs_methods[n] && strcmp(hs_methods[n]->name, row->name) != 0)
        n++;
    return hs_methods[n] ? colours[n % (int)(sizeof colours / sizeof *colours)] : colours[0];
}

static void widen(struct hs_scale *scale, double value)
{
    scale->from = fmin(scale->from, value / 2.0);
    scale->to = fmax(scale->to, value * 2.0);
}

/* Consecutive rows of one name form one curve. */
static struct hs_chart draw_case(const struct hs_methods_case *of, struct drawing *out)
{
    const double least = 1e-16; /* an error of 0 has no logarithm */
    struct hs_chart c = {
        .width = WIDTH, .title = of->title, .subtitle = out->subtitle, .curves = out->curves};
    char points[HS_POINTS_TEXT];
    hs_points_name(of->dims, of->points, " \u00D7 ", points, sizeof points);
    snprintf(out->subtitle, sizeof out->subtitle, "%s nodes, %s \u2014 heatsolve %s, commit %s",
             points, of->device, hs_version(), hs_commit());
    c.x = (struct hs_scale){"wall clock", INFINITY, 0.0, .log = true, .unit = {1.0, "", "s"}};
    c.y = (struct hs_scale){isnan(of->end) ? "relative residual" : "relative error in time",
                            INFINITY, 0.0, .log = true, .unit = {1.0, "", ""}};
    double *x = out->x, *y = out->y;
    for (int n = 0; n < of->count; n++) {
        const struct hs_methods_row *row = &of->row[n];
        if (*row->why || !(row->seconds.median > 0.0) || !isfinite(row->error))
            continue;
        if (c.count == 0 || strcmp(out->curves[c.count - 1].name, row->name) != 0)
            out->curves[c.count++] =
                (struct hs_curve){x, y, 0, colour_of(row), .name = row->name, .dots = true};
        out->curves[c.count - 1].count++;
        widen(&c.x, *x++ = row->seconds.median);
        widen(&c.y, *y++ = fmax(row->error, least));
    }
    return c;
}

enum hs_status hs_methods_picture(const struct hs_methods_bench *bench, const char *path,
                                  struct hs_error *err)
{
    static struct drawing drawing[HS_METHODS_CASES];
    struct hs_chart charts[HS_METHODS_CASES];
    for (int n = 0; n < bench->count; n++)
        charts[n] = draw_case(&bench->of[n], &drawing[n]);
    return hs_charts_write(charts, bench->count, path, err);
}
