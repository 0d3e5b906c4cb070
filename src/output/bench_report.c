#include "output/bench_report.h"
#include "core/version.h"
#include "output/json.h"

#include <math.h>
#include <string.h>

/* "384 x 384 x 384" */
static void print_points(FILE *stream, const struct hs_bench_request *request,
                         const char *separator)
{
    for (int axis = 0; axis < request->dims; axis++)
        fprintf(stream, "%s%lld", axis ? separator : "", (long long)request->points[axis]);
}

static const char *device_of(const struct hs_bench_report *report)
{
    return report->count ? report->rows[0].device : "";
}

/* Against which the others' speed-up is given: the textbook's first kernel. */
static const char *baseline_of(const struct hs_bench_report *report)
{
    return report->count && report->rows[0].kernel->device == HS_CUDA ? "basic" : "reference";
}

/* NaN where the baseline was not timed. */
static double speedup(const struct hs_bench_report *report, const struct hs_bench_row *row,
                      enum hs_bench_place place)
{
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *other = &report->rows[n];
        if (strcmp(other->kernel->name, baseline_of(report)) == 0 && other->proven)
            return other->figures[place].seconds.median / row->figures[place].seconds.median;
    }
    return NAN;
}

/* Whether some kernel was timed with its fields there. */
static bool any_in(const struct hs_bench_report *report, enum hs_bench_place place)
{
    for (int n = 0; n < report->count; n++)
        if (report->rows[n].proven && report->rows[n].figures[place].pairs)
            return true;
    return false;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void print_header(FILE *stream, const struct hs_bench_report *report)
{
    const struct hs_bench_request *request = &report->bench->request;
    fprintf(stream, "device     %s\ngrid       ", device_of(report));
    print_points(stream, request, " x ");
    fprintf(stream, ", radius %d (%d points), %s\n", request->radius,
            hs_stencil_count(request->dims, request->radius),
            hs_precision_name(request->precision));
    fprintf(stream, "program    heatsolve %s, commit %s, %s\ncommand    %s\n", hs_version(),
            hs_commit(), hs_compiler(), report->command);
    fprintf(stream,
            "proof      %lld sweeps against the CPU reference, random data, %d coefficients no two "
            "alike\n",
            (long long)report->bench->proof_sweeps,
            hs_stencil_count(request->dims, request->radius));
}

/* A number in `width` columns, or a dash where there is none. */
static void print_number(FILE *stream, int width, int places, double value)
{
    if (isfinite(value))
        fprintf(stream, " %*.*f", width, places, value);
    else
        fprintf(stream, " %*s", width, "-");
}

static void print_row(FILE *stream, const struct hs_bench_report *report,
                      const struct hs_bench_row *row, enum hs_bench_place place)
{
    const struct hs_bench *bench = report->bench;
    const struct hs_bench_figures *f = &row->figures[place];
    if (!f->pairs)
        return;
    fprintf(stream, "%-20s", row->kernel->name);
    print_number(stream, 9, 3, hs_bench_gcells(bench, f->seconds.median));
    print_number(stream, 9, 3, hs_bench_gcells(bench, f->seconds.max));
    print_number(stream, 9, 3, hs_bench_gcells(bench, f->seconds.min));
    print_number(stream, 8, 1, 1e-9 * hs_bench_bytes(bench, f->seconds.median));
    print_number(stream, 9, 1, f->share.count ? 100.0 * f->share.median : NAN);
    print_number(stream, 9, 2, speedup(report, row, place));
    print_number(stream, 11, 3, 1e6 * f->seconds.median);
    fprintf(stream, " %4d\n", f->seconds.count);
}

static void print_place(FILE *stream, const struct hs_bench_report *report,
                        enum hs_bench_place place)
{
    const struct hs_bench_figures *f = NULL;
    double copy = 0.0;
    for (int n = 0; n < report->count; n++)
        if (report->rows[n].proven) {
            f = &report->rows[n].figures[place];
            copy = fmax(copy, f->copy.count ? f->copy.median : 0.0);
        }
    fprintf(stream, "\nfields in %s", hs_bench_place_name(place));
    if (place == HS_BENCH_CACHE)
        fprintf(stream, ": one pair of them, as a run of this grid has");
    else if (f->pairs > 1)
        fprintf(stream, ": %d pairs of them in turn, each out of the cache when it is its turn",
                f->pairs);
    if (copy > 0.0)
        fprintf(stream, "; copy %.1f GB/s", 1e-9 * copy);
    char versus[32];
    snprintf(versus, sizeof versus, "x %s", baseline_of(report));
    fprintf(stream, "\n\n%-20s %9s %9s %9s %8s %9s %9s %11s %4s\n", "kernel", "GCell/s", "min",
            "max", "GB/s", "% of copy", strcmp(versus, "x reference") ? versus : "x refer.",
            "us a sweep", "n");
    for (int n = 0; n < report->count; n++)
        if (report->rows[n].proven)
            print_row(stream, report, &report->rows[n], place);
}

void hs_bench_report_table(FILE *stream, const struct hs_bench_report *report)
{
    print_header(stream, report);
    for (int place = 0; place < HS_BENCH_PLACES; place++)
        if (any_in(report, (enum hs_bench_place)place))
            print_place(stream, report, (enum hs_bench_place)place);
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *row = &report->rows[n];
        if (!row->proven)
            fprintf(stream, "\n%-20s not timed: differs from the reference by %g (at most %g)",
                    row->kernel->name, row->apart, row->bound);
    }
    fprintf(
        stream,
        "\nGCell/s: points updated a second, median, least and most of n samples. GB/s: at the "
        "floor of 2\nwords a point, one read and one written. %% of copy: of a copy of the "
        "field within the device's\nmemory, read plus written, timed in turn with the kernel. x "
        "%s: times as fast as it.\n",
        baseline_of(report));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_samples(struct hs_json *json, const char *key, const struct hs_samples *samples)
{
    hs_json_open(json, key);
    hs_json_number(json, "min", samples->min);
    hs_json_number(json, "median", samples->median);
    hs_json_number(json, "max", samples->max);
    hs_json_close(json);
}

static void json_figures(struct hs_json *json, const struct hs_bench_report *report,
                         const struct hs_bench_row *row, enum hs_bench_place place)
{
    const struct hs_bench *bench = report->bench;
    const struct hs_bench_figures *f = &row->figures[place];
    hs_json_open(json, hs_bench_place_name(place));
    hs_json_integer(json, "field_pairs", f->pairs);
    hs_json_number(json, "gcells", hs_bench_gcells(bench, f->seconds.median));
    hs_json_number(json, "bytes_per_second", hs_bench_bytes(bench, f->seconds.median));
    hs_json_number(json, "speedup", speedup(report, row, place));
    json_samples(json, "seconds_per_sweep", &f->seconds);
    hs_json_integer(json, "samples", f->seconds.count);
    hs_json_integer(json, "sweeps_per_sample", f->in_sample);
    if (f->share.count) {
        json_samples(json, "copy_bytes_per_second", &f->copy);
        json_samples(json, "share_of_copy", &f->share);
    }
    hs_json_close(json);
}

static void json_row(struct hs_json *json, const struct hs_bench_report *report,
                     const struct hs_bench_row *row)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", row->kernel->name);
    hs_json_text(json, "device", row->device);
    hs_json_flag(json, "proven", row->proven);
    hs_json_number(json, "apart", row->apart);
    hs_json_number(json, "bound", row->bound);
    for (int place = 0; place < HS_BENCH_PLACES && row->proven; place++)
        if (row->figures[place].pairs)
            json_figures(json, report, row, (enum hs_bench_place)place);
    hs_json_close(json);
}

void hs_bench_report_json(FILE *stream, const struct hs_bench_report *report)
{
    const struct hs_bench_request *request = &report->bench->request;
    struct hs_json json = hs_json_on(stream);
    hs_json_open(&json, NULL);
    hs_json_text(&json, "version", hs_version());
    hs_json_text(&json, "commit", hs_commit());
    hs_json_text(&json, "compiler", hs_compiler());
    hs_json_text(&json, "command", report->command);
    hs_json_text(&json, "device", device_of(report));
    hs_json_integer(&json, "dims", request->dims);
    hs_json_integers(&json, "points", request->points, request->dims);
    hs_json_integer(&json, "radius", request->radius);
    hs_json_text(&json, "precision", hs_precision_name(request->precision));
    hs_json_integer(&json, "proof_sweeps", report->bench->proof_sweeps);
    hs_json_text(&json, "baseline", baseline_of(report));
    hs_json_open_array(&json, "kernels");
    for (int n = 0; n < report->count; n++)
        json_row(&json, report, &report->rows[n]);
    hs_json_close_array(&json);
    hs_json_close(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Nothing where there is no number, which every reader of CSV takes for that. */
static void csv_number(FILE *stream, const char *format, double value)
{
    fputc(',', stream);
    if (isfinite(value))
        fprintf(stream, format, value);
}

static void csv_line(FILE *stream, const struct hs_bench_report *report,
                     const struct hs_bench_row *row, enum hs_bench_place place)
{
    const struct hs_bench *bench = report->bench;
    const struct hs_bench_request *request = &bench->request;
    const struct hs_bench_figures *f = &row->figures[place];
    const bool timed = row->proven && f->pairs;
    fprintf(stream, "%s,\"%s\",", row->kernel->name, row->device);
    print_points(stream, request, "x");
    fprintf(stream, ",%d,%d,%s,%s,%d,%d,%g,%d,%lld", request->dims, request->radius,
            hs_precision_name(request->precision), timed ? hs_bench_place_name(place) : "",
            f->pairs, row->proven, row->apart, f->seconds.count, (long long)f->in_sample);
    csv_number(stream, "%.6e", timed ? f->seconds.min : NAN);
    csv_number(stream, "%.6e", timed ? f->seconds.median : NAN);
    csv_number(stream, "%.6e", timed ? f->seconds.max : NAN);
    csv_number(stream, "%.6g", timed ? hs_bench_gcells(bench, f->seconds.median) : NAN);
    csv_number(stream, "%.6g", timed ? hs_bench_bytes(bench, f->seconds.median) : NAN);
    csv_number(stream, "%.6g", f->copy.count ? f->copy.median : NAN);
    csv_number(stream, "%.4f", f->share.count ? f->share.median : NAN);
    csv_number(stream, "%.4f", timed ? speedup(report, row, place) : NAN);
    fprintf(stream, ",%s,\"%s\"\n", hs_commit(), report->command);
}

void hs_bench_report_csv(FILE *stream, const struct hs_bench_report *report)
{
    fprintf(stream, "kernel,device,points,dims,radius,precision,fields,field_pairs,proven,apart,"
                    "samples,sweeps_per_sample,seconds_min,seconds_median,seconds_max,gcells,"
                    "bytes_per_second,copy_bytes_per_second,share_of_copy,speedup,commit,"
                    "command\n");
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *row = &report->rows[n];
        if (!row->proven)
            csv_line(stream, report, row, HS_BENCH_MEMORY);
        for (int place = 0; place < HS_BENCH_PLACES && row->proven; place++)
            if (row->figures[place].pairs)
                csv_line(stream, report, row, (enum hs_bench_place)place);
    }
}
