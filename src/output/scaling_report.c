#include "output/bench_report.h"

#include "core/version.h"

#include <stdio.h>

static double gcells(const struct hs_bench *bench, const struct hs_bench_row *row)
{
    return hs_bench_gcells(bench, hs_scaling_seconds(row));
}

void hs_scaling_report_table(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                             int count, const char *command)
{
    const struct hs_bench_request *of = &scaling->all.request;
    char points[HS_POINTS_TEXT];
    hs_points_name(of->dims, of->points, " x ", points, sizeof points);
    printf("command    %s\ncommit     %s %s\ndevice     %s\ngrid       %s on %d ranks, %s, %s\n",
           command, hs_version(), hs_commit(), count ? rows[0].all.device : "", points,
           scaling->ranks, hs_precision_name(of->precision),
           scaling->weak ? "weak: each rank has as much as the one alone"
                         : "strong: the one alone has it all");
    printf("\n%-20s %12s %12s %12s %10s %10s\n", "kernel", "us alone", "us on all", "GCell/s",
           "efficiency", "owned");
    for (int n = 0; n < count; n++)
        if (rows[n].one.proven && rows[n].all.proven)
            printf("%-20s %12.2f %12.2f %12.4g %10.3f %10.3f\n", rows[n].all.kernel->name,
                   1e6 * hs_scaling_seconds(&rows[n].one), 1e6 * hs_scaling_seconds(&rows[n].all),
                   gcells(&scaling->all, &rows[n].all), rows[n].efficiency, rows[n].owned);
        else
            printf("%-20s does not agree with the reference\n", rows[n].all.kernel->name);
    printf("\nus: of a sweep, the median. owned: of the layers that ranks sweep, the share that "
           "is theirs;\nthe rest is halo, swept twice.\n");
}

void hs_scaling_report_json(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                            int count, const char *command)
{
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    hs_json_text(&json, "command", command);
    hs_json_text(&json, "commit", hs_commit());
    hs_json_text(&json, "scaling", scaling->weak ? "weak" : "strong");
    hs_json_integer(&json, "ranks", scaling->ranks);
    hs_json_text(&json, "precision", hs_precision_name(scaling->all.request.precision));
    hs_json_integers(&json, "points", scaling->all.request.points, scaling->all.request.dims);
    hs_json_open_array(&json, "kernels");
    for (int n = 0; n < count; n++) {
        hs_json_open(&json, NULL);
        hs_json_text(&json, "kernel", rows[n].all.kernel->name);
        hs_json_text(&json, "device", rows[n].all.device);
        hs_json_flag(&json, "proven", rows[n].one.proven && rows[n].all.proven);
        hs_json_number(&json, "seconds_alone", hs_scaling_seconds(&rows[n].one));
        hs_json_number(&json, "seconds", hs_scaling_seconds(&rows[n].all));
        hs_json_number(&json, "efficiency", rows[n].efficiency);
        hs_json_number(&json, "owned", rows[n].owned);
        hs_json_close(&json);
    }
    hs_json_close(&json);
    hs_json_close(&json);
}

void hs_scaling_report_csv(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                           int count, const char *command)
{
    (void)command;
    const struct hs_bench_request *of = &scaling->all.request;
    char points[HS_POINTS_TEXT];
    hs_points_name(of->dims, of->points, "x", points, sizeof points);
    printf("scaling,points,precision,ranks,kernel,proven,seconds_alone,seconds,gcells,"
           "efficiency,owned,device\n");
    for (int n = 0; n < count; n++)
        printf("%s,%s,%s,%d,%s,%d,%.9g,%.9g,%.6g,%.4f,%.4f,\"%s\"\n",
               scaling->weak ? "weak" : "strong", points, hs_precision_name(of->precision),
               scaling->ranks, rows[n].all.kernel->name, rows[n].one.proven && rows[n].all.proven,
               hs_scaling_seconds(&rows[n].one), hs_scaling_seconds(&rows[n].all),
               gcells(&scaling->all, &rows[n].all), rows[n].efficiency, rows[n].owned,
               rows[n].all.device);
}
