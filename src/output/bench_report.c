#include "output/bench_report.h"
#include "core/version.h"
#include "output/json.h"

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
            "alike\n\n",
            (long long)report->bench->proof_sweeps,
            hs_stencil_count(request->dims, request->radius));
}

static void print_row(FILE *stream, const struct hs_bench_report *report,
                      const struct hs_bench_row *row)
{
    const struct hs_bench *bench = report->bench;
    if (!row->proven) {
        fprintf(stream, "%-20s not timed: differs from the reference by %g (at most %g)\n",
                row->kernel->name, row->apart, row->bound);
        return;
    }
    fprintf(stream, "%-20s %8.3f %8.3f %8.3f %8.1f", row->kernel->name,
            hs_bench_gcells(bench, row->seconds.max), hs_bench_gcells(bench, row->seconds.median),
            hs_bench_gcells(bench, row->seconds.min),
            1e-9 * hs_bench_bytes(bench, row->seconds.median));
    if (row->share.count)
        fprintf(stream, " %8.1f %8.3f %8.3f %8.3f", 1e-9 * row->copy.median, row->share.min,
                row->share.median, row->share.max);
    fprintf(stream, " %5d\n", row->seconds.count);
}

void hs_bench_report_table(FILE *stream, const struct hs_bench_report *report)
{
    print_header(stream, report);
    fprintf(stream, "%-20s %26s %8s %8s %26s %5s\n%-20s %8s %8s %8s %8s %8s %8s %8s %8s %5s\n", "",
            "GCell/s               ", "GB/s", "copy", "share of the copy         ", "", "kernel",
            "min", "median", "max", "median", "GB/s", "min", "median", "max", "n");
    for (int n = 0; n < report->count; n++)
        print_row(stream, report, &report->rows[n]);
    fprintf(stream,
            "\nGCell/s: points updated a second. GB/s: at the floor of 2 words a point, one read "
            "and one\nwritten. copy: of a field within the device's memory, read plus written, "
            "timed in turn with\nthe kernel; the share is taken sample by sample.\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_samples(struct hs_json *json, const char *key,
                         const struct hs_bench_samples *samples)
{
    hs_json_open(json, key);
    hs_json_number(json, "min", samples->min);
    hs_json_number(json, "median", samples->median);
    hs_json_number(json, "max", samples->max);
    hs_json_close(json);
}

static void json_row(struct hs_json *json, const struct hs_bench *bench,
                     const struct hs_bench_row *row)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", row->kernel->name);
    hs_json_text(json, "device", row->device);
    hs_json_flag(json, "proven", row->proven);
    hs_json_number(json, "apart", row->apart);
    hs_json_number(json, "bound", row->bound);
    if (row->proven) {
        hs_json_number(json, "gcells", hs_bench_gcells(bench, row->seconds.median));
        hs_json_number(json, "bytes_per_second", hs_bench_bytes(bench, row->seconds.median));
        json_samples(json, "seconds_per_sweep", &row->seconds);
        hs_json_integer(json, "samples", row->seconds.count);
        hs_json_integer(json, "sweeps_per_sample", row->in_sample);
    }
    if (row->proven && row->share.count) {
        json_samples(json, "copy_bytes_per_second", &row->copy);
        json_samples(json, "share_of_copy", &row->share);
    }
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
    hs_json_open_array(&json, "kernels");
    for (int n = 0; n < report->count; n++)
        json_row(&json, report->bench, &report->rows[n]);
    hs_json_close_array(&json);
    hs_json_close(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void hs_bench_report_csv(FILE *stream, const struct hs_bench_report *report)
{
    const struct hs_bench_request *request = &report->bench->request;
    fprintf(stream, "kernel,device,points,dims,radius,precision,proven,apart,samples,"
                    "sweeps_per_sample,seconds_min,seconds_median,seconds_max,gcells,"
                    "bytes_per_second,copy_bytes_per_second,share_of_copy,commit,command\n");
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *row = &report->rows[n];
        fprintf(stream, "%s,\"%s\",", row->kernel->name, row->device);
        print_points(stream, request, "x");
        fprintf(stream, ",%d,%d,%s,%d,%g,%d,%lld,%.6e,%.6e,%.6e,%.6g,%.6g,%.6g,%.4f,%s,\"%s\"\n",
                request->dims, request->radius, hs_precision_name(request->precision), row->proven,
                row->apart, row->seconds.count, (long long)row->in_sample, row->seconds.min,
                row->seconds.median, row->seconds.max,
                hs_bench_gcells(report->bench, row->seconds.median),
                hs_bench_bytes(report->bench, row->seconds.median), row->copy.median,
                row->share.median, hs_commit(), report->command);
    }
}
