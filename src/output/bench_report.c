#include "output/bench_report.h"
#include "core/version.h"
#include "engine/registry.h"
#include "output/body_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *device_of(const struct hs_bench_report *report)
{
    return report->count ? report->rows[0].device : "";
}

/* The kernel that speed-ups are relative to: the textbook's first kernel. */
static const char *baseline_of(const struct hs_bench_report *report)
{
    if (report->count == 0 || report->rows[0].kernel->device != HS_CUDA)
        return "reference";
    return report->bench->problem.body ? "conduction_basic" : "basic";
}

/* NaN where the baseline was not timed. */
static double speedup(const struct hs_bench_report *report, enum hs_bench_place place,
                      double seconds)
{
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *other = &report->rows[n];
        if (strcmp(other->kernel->name, baseline_of(report)) == 0 && other->proven &&
            other->figures[place].pairs)
            return other->figures[place].seconds.median / seconds;
    }
    return NAN;
}

/* The first measurement with the fields in `place`; NULL if there is none. */
static const struct hs_bench_figures *first_in(const struct hs_bench_report *report,
                                               enum hs_bench_place place)
{
    for (int n = 0; n < report->count; n++)
        if (report->rows[n].proven && report->rows[n].figures[place].pairs)
            return &report->rows[n].figures[place];
    return NULL;
}

/* A line of a table, for a kernel or a peer. */
struct line {
    const char *name, *kind, *device, *version;
    struct hs_samples seconds;
    bool proven;
    double copy, fraction; /* copy bandwidth and fraction of it; NaN: none */
    double apart;
    int pairs, steps;
    int64_t in_sample;
};

static struct line line_of_kernel(const struct hs_bench_report *report,
                                  const struct hs_bench_row *row, enum hs_bench_place place)
{
    const struct hs_bench_figures *f = &row->figures[place];
    return (struct line){.name = row->kernel->name,
                         .kind = "kernel",
                         .device = row->device,
                         .version = hs_version(),
                         .proven = row->proven,
                         .seconds = f->seconds,
                         .copy = f->copy.count ? f->copy.median : NAN,
                         .fraction = f->fraction.count ? f->fraction.median : NAN,
                         .apart = row->apart,
                         .pairs = f->pairs,
                         .steps = hs_kernel_steps_for(row->kernel, &report->bench->problem),
                         .in_sample = f->in_sample};
}

/* Peers sweep one pair of fields, as a run does; they share the kernels' copy bandwidth. */
static bool peer_is_in(const struct hs_bench_report *report, enum hs_bench_place place)
{
    return place == HS_BENCH_CACHE || !first_in(report, HS_BENCH_CACHE);
}

static struct line line_of_peer(const struct hs_bench_report *report, const struct hs_peer *peer,
                                enum hs_bench_place place)
{
    const double copy = hs_bench_copy(report->rows, report->count, place);
    return (struct line){.name = peer->name,
                         .kind = "peer",
                         .device = peer->device,
                         .version = peer->version,
                         .proven = true,
                         .seconds = peer->seconds,
                         .copy = copy,
                         .fraction = hs_bench_bytes(report->bench, peer->seconds.median) / copy,
                         .apart = peer->apart,
                         .pairs = 1,
                         .steps = 1};
}

/* Calls `each` for every line of a place: first the kernels, then the peers. */
static void for_lines(const struct hs_bench_report *report, enum hs_bench_place place,
                      void (*each)(const struct hs_bench_report *, enum hs_bench_place,
                                   const struct line *))
{
    for (int n = 0; n < report->count; n++)
        if (report->rows[n].proven && report->rows[n].figures[place].pairs) {
            const struct line line = line_of_kernel(report, &report->rows[n], place);
            each(report, place, &line);
        }
    for (int n = 0; report->peers && n < report->peers->count && peer_is_in(report, place); n++)
        if (report->peers->peer[n].outcome == HS_PEER_TIMED) {
            const struct line line = line_of_peer(report, &report->peers->peer[n], place);
            each(report, place, &line);
        }
}

/* ---- table ----------------------------------------------------------------------------------- */

static void print_case(const struct hs_bench *bench)
{
    const struct hs_bench_request *request = &bench->request;
    const int terms = hs_stencil_count(request->dims, request->radius);
    if (bench->problem.body) {
        printf("body       ");
        hs_body_text(&bench->problem);
        printf("\n");
    } else
        printf("stencil    radius %d, %d points, as many different coefficients\n", request->radius,
               terms);
}

static void print_header(const struct hs_bench_report *report)
{
    const struct hs_bench_request *request = &report->bench->request;
    char points[HS_POINTS_TEXT];
    hs_points_name(request->dims, request->points, " x ", points, sizeof points);
    printf("device     %s\ngrid       %s, %s\n", device_of(report), points,
           hs_precision_name(request->precision));
    print_case(report->bench);
    printf("program    heatsolve %s, commit %s, %s\ncommand    %s\n", hs_version(), hs_commit(),
           hs_compiler(), report->command);
    printf("proof      %lld sweeps against the CPU reference, random data\n",
           (long long)report->bench->proof_sweeps);
    printf("auto       %s%s\n", report->choice->kernel->name,
           report->choice->choice == HS_CHOICE_TUNED ? ", as tuned" : "");
}

/* A number in `width` columns, or a dash where there is none. */
static void print_number(int width, int places, double value)
{
    if (isfinite(value))
        printf(" %*.*f", width, places, value);
    else
        printf(" %*s", width, "-");
}

static void print_line(const struct hs_bench_report *report, enum hs_bench_place place,
                       const struct line *line)
{
    const struct hs_bench *bench = report->bench;
    const bool peer = strcmp(line->kind, "peer") == 0;
    printf("%s%-*s", peer ? "peer: " : "", peer ? 15 : 21, line->name);
    print_number(8, 3, hs_bench_gcells(bench, line->seconds.median));
    print_number(8, 3, hs_bench_gcells(bench, line->seconds.max));
    print_number(8, 3, hs_bench_gcells(bench, line->seconds.min));
    print_number(8, 1, 1e-9 * hs_bench_bytes(bench, line->seconds.median));
    print_number(9, 1, 100.0 * line->fraction);
    print_number(11, 2, speedup(report, place, line->seconds.median));
    print_number(11, 2, 1e6 * line->seconds.median);
    printf(" %4d\n", line->seconds.count);
}

static void print_place(const struct hs_bench_report *report, enum hs_bench_place place)
{
    const struct hs_bench_figures *first = first_in(report, place);
    const double copy = hs_bench_copy(report->rows, report->count, place);
    if (!first)
        return;
    printf("\nfields in %s", hs_bench_place_name(place));
    if (place == HS_BENCH_CACHE)
        printf(": one pair of them, as a run of this grid has");
    else if (first->pairs > 1)
        printf(": %d pairs of them in turn, each out of the cache when it is its turn",
               first->pairs);
    if (isfinite(copy))
        printf("; copy %.1f GB/s", 1e-9 * copy);
    char versus[32];
    snprintf(versus, sizeof versus, "x %s", baseline_of(report));
    printf("\n\n%-21s %8s %8s %8s %8s %9s %11s %11s %4s\n", "kernel", "GCell/s", "min", "max",
           "GB/s", "% of copy", versus, "us a sweep", "n");
    for_lines(report, place, print_line);
}

static void print_refused(const struct hs_bench_report *report)
{
    for (int n = 0; n < report->count; n++) {
        const struct hs_bench_row *row = &report->rows[n];
        if (!row->proven)
            printf("\n%-21s not timed: differs from the reference by %g (at most %g)\n",
                   row->kernel->name, row->apart, row->bound);
    }
}

static void print_peers(const struct hs_peers *peers)
{
    static const char *const outcome[] = {
        [HS_PEER_TIMED] = "", [HS_PEER_ABSENT] = "", [HS_PEER_FAILED] = "failed: "};
    printf("\npeers: the same sweep in other software, each proven against numpy and "
           "heatsolve first\n");
    for (int n = 0; n < peers->count; n++) {
        const struct hs_peer *peer = &peers->peer[n];
        printf("%-21s %s%s\n", peer->name, outcome[peer->outcome],
               peer->outcome == HS_PEER_TIMED ? peer->version : peer->why);
    }
}

static void print_roofline(const struct hs_roofline *r, enum hs_device device)
{
    const char *neither =
        device == HS_CUDA ? "neither: latency, issue, shared memory" : "neither: latency, issue";
    printf("\nroofline, fields in %s: copy %.1f GB/s", hs_bench_place_name(r->place),
           1e-9 * r->bandwidth);
    if (r->ceilings.cache > 0.0)
        printf(", reads from cache %.1f GB/s", 1e-9 * r->ceilings.cache);
    if (r->ceilings.flops > 0.0)
        printf(", multiply-adds %.1f GFLOP/s", 1e-9 * r->ceilings.flops);
    printf("; %.0f operations a point\n\n%-21s %8s %10s %10s %10s %13s  %s\n", r->flops_per_point,
           "kernel", "words", "FLOP/byte", "GFLOP/s", "ceiling", "% of ceiling", "bound by");
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        printf("%-21s %8.3f %10.3f %10.1f %10.1f %13.1f  %s\n", p->name, p->words, p->intensity,
               1e-9 * p->flops, 1e-9 * p->ceiling, 100.0 * p->fraction,
               p->bound == HS_BOUND_NEITHER ? neither : hs_roofline_bound_name(p->bound));
    }
    printf("\nwords: moved for a point and sweep; 2 for one sweep a launch, for fused "
           "sweeps as the launch\nloads and writes, halos included (caches save some "
           "of it, which can lift a kernel above the ceiling).\n");
}

void hs_bench_report_table(const struct hs_bench_report *report)
{
    print_header(report);
    for (int place = 0; place < HS_BENCH_PLACES; place++)
        print_place(report, (enum hs_bench_place)place);
    print_refused(report);
    if (report->peers)
        print_peers(report->peers);
    if (report->roofline)
        print_roofline(report->roofline, report->rows[0].kernel->device);
    printf("\nGCell/s: 1e9 points updated a second; median, min and max of n samples. GB/s: at the "
           "minimum of\n2 words a point, one read and one written. %% of copy: fraction of the "
           "bandwidth of a copy of the\nfield within the device's memory, timed in turn with the "
           "kernel. x %s: speed-up over it.\n",
           baseline_of(report));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void hs_samples_json(struct hs_json *json, const char *key, const struct hs_samples *samples)
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
    hs_json_number(json, "speedup", speedup(report, place, f->seconds.median));
    hs_samples_json(json, "seconds_per_sweep", &f->seconds);
    hs_json_integer(json, "samples", f->seconds.count);
    hs_json_integer(json, "sweeps_per_sample", f->in_sample);
    if (f->fraction.count) {
        hs_samples_json(json, "copy_bytes_per_second", &f->copy);
        hs_samples_json(json, "fraction_of_copy", &f->fraction);
    }
    hs_json_close(json);
}

static void json_row(struct hs_json *json, const struct hs_bench_report *report,
                     const struct hs_bench_row *row)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", row->kernel->name);
    hs_json_text(json, "device", row->device);
    hs_json_integer(json, "steps", hs_kernel_steps_for(row->kernel, &report->bench->problem));
    hs_json_flag(json, "proven", row->proven);
    hs_json_number(json, "apart", row->apart);
    hs_json_number(json, "bound", row->bound);
    for (int place = 0; place < HS_BENCH_PLACES && row->proven; place++)
        if (row->figures[place].pairs)
            json_figures(json, report, row, (enum hs_bench_place)place);
    hs_json_close(json);
}

static void json_peer(struct hs_json *json, const struct hs_bench_report *report,
                      const struct hs_peer *peer)
{
    const enum hs_bench_place place =
        peer_is_in(report, HS_BENCH_MEMORY) ? HS_BENCH_MEMORY : HS_BENCH_CACHE;
    const struct line line = line_of_peer(report, peer, place);
    hs_json_open(json, NULL);
    hs_json_text(json, "peer", peer->name);
    if (peer->outcome == HS_PEER_TIMED) {
        hs_json_text(json, "version", peer->version);
        hs_json_text(json, "device", peer->device);
        hs_json_number(json, "apart", peer->apart);
        hs_json_text(json, "fields", hs_bench_place_name(place));
        hs_json_number(json, "gcells", hs_bench_gcells(report->bench, peer->seconds.median));
        hs_json_number(json, "bytes_per_second",
                       hs_bench_bytes(report->bench, peer->seconds.median));
        hs_json_number(json, "fraction_of_copy", line.fraction);
        hs_json_number(json, "speedup", speedup(report, place, peer->seconds.median));
        hs_samples_json(json, "seconds_per_sweep", &peer->seconds);
        hs_json_integer(json, "samples", peer->seconds.count);
    } else {
        hs_json_text(json, peer->outcome == HS_PEER_ABSENT ? "absent" : "failed", peer->why);
    }
    hs_json_close(json);
}

static void json_roofline(struct hs_json *json, const struct hs_roofline *r)
{
    hs_json_open(json, "roofline");
    hs_json_text(json, "fields", hs_bench_place_name(r->place));
    hs_json_number(json, "copy_bytes_per_second", r->bandwidth);
    hs_json_number(json, "cache_bytes_per_second", r->ceilings.cache);
    hs_json_number(json, "flops_per_second", r->ceilings.flops);
    hs_json_number(json, "flops_per_point", r->flops_per_point);
    hs_json_open_array(json, "kernels");
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        hs_json_open(json, NULL);
        hs_json_text(json, "kernel", p->name);
        hs_json_number(json, "words_per_point", p->words);
        hs_json_number(json, "flops_per_byte", p->intensity);
        hs_json_number(json, "flops_per_second", p->flops);
        hs_json_number(json, "ceiling", p->ceiling);
        hs_json_number(json, "fraction_of_ceiling", p->fraction);
        hs_json_text(json, "bound", hs_roofline_bound_name(p->bound));
        hs_json_close(json);
    }
    hs_json_close(json);
    hs_json_close(json);
}

void hs_bench_report_json(const struct hs_bench_report *report)
{
    const struct hs_bench_request *request = &report->bench->request;
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "version", hs_version());
    hs_json_text(&json, "commit", hs_commit());
    hs_json_text(&json, "compiler", hs_compiler());
    hs_json_text(&json, "command", report->command);
    hs_json_text(&json, "device", device_of(report));
    hs_json_integer(&json, "dims", request->dims);
    hs_json_integers(&json, "points", request->points, request->dims);
    hs_json_integer(&json, "radius", request->radius);
    hs_json_text(&json, "case", hs_bench_case_name(request->which));
    hs_json_text(&json, "precision", hs_precision_name(request->precision));
    hs_json_integer(&json, "proof_sweeps", report->bench->proof_sweeps);
    hs_json_text(&json, "auto", report->choice->kernel->name);
    hs_json_text(&json, "kernel_choice", hs_choice_name(report->choice->choice));
    hs_json_text(&json, "baseline", baseline_of(report));
    hs_json_open_array(&json, "kernels");
    for (int n = 0; n < report->count; n++)
        json_row(&json, report, &report->rows[n]);
    hs_json_close(&json);
    if (report->roofline)
        json_roofline(&json, report->roofline);
    if (report->peers) {
        hs_json_open_array(&json, "peers");
        for (int n = 0; n < report->peers->count; n++)
            json_peer(&json, report, &report->peers->peer[n]);
        hs_json_close(&json);
    }
    hs_json_close(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Writes an empty field if there is no number: every CSV reader takes it as missing. */
static void csv_number(const char *format, double value)
{
    putchar(',');
    if (isfinite(value))
        printf(format, value);
}

/* For a kernel that disagrees with the reference: its deviation and no times. */
static void csv_line(const struct hs_bench_report *report, enum hs_bench_place place,
                     const struct line *line)
{
    const struct hs_bench *bench = report->bench;
    const struct hs_bench_request *request = &bench->request;
    const double median = line->proven ? line->seconds.median : NAN;
    char points[HS_POINTS_TEXT];
    hs_points_name(request->dims, request->points, "x", points, sizeof points);
    printf("%s,%s,\"%s\",%s,%d,%d,%s,%d,%s,%d,%d,%g,%d,%lld", line->name, line->kind, line->device,
           points, request->dims, request->radius, hs_precision_name(request->precision),
           line->steps, line->proven ? hs_bench_place_name(place) : "", line->pairs, line->proven,
           line->apart, line->seconds.count, (long long)line->in_sample);
    csv_number("%.6e", line->proven ? line->seconds.min : NAN);
    csv_number("%.6e", median);
    csv_number("%.6e", line->proven ? line->seconds.max : NAN);
    csv_number("%.6g", hs_bench_gcells(bench, median));
    csv_number("%.6g", hs_bench_bytes(bench, median));
    csv_number("%.6g", line->copy);
    csv_number("%.4f", line->fraction);
    csv_number("%.4f", speedup(report, place, median));
    printf(",%s,%s,\"%s\"\n", line->version, hs_commit(), report->command);
}

void hs_bench_report_csv(const struct hs_bench_report *report)
{
    printf("kernel,kind,device,points,dims,radius,precision,steps,fields,field_pairs,proven,"
           "apart,samples,sweeps_per_sample,seconds_min,seconds_median,seconds_max,gcells,"
           "bytes_per_second,copy_bytes_per_second,fraction_of_copy,speedup,version,commit,"
           "command\n");
    for (int place = 0; place < HS_BENCH_PLACES; place++)
        for_lines(report, (enum hs_bench_place)place, csv_line);
    for (int n = 0; n < report->count; n++)
        if (!report->rows[n].proven) { /* peers that were not timed have nothing to plot */
            const struct line line = line_of_kernel(report, &report->rows[n], HS_BENCH_MEMORY);
            csv_line(report, HS_BENCH_MEMORY, &line);
        }
}
