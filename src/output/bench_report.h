/* Results of bench as a table for people, as one JSON object, or as CSV for plots. */
#ifndef HS_OUTPUT_BENCH_REPORT_H
#define HS_OUTPUT_BENCH_REPORT_H

#include "engine/measure/bench.h"
#include "engine/measure/bench_methods.h"
#include "engine/measure/peers.h"
#include "engine/measure/roofline.h"
#include "engine/measure/scaling.h"
#include "engine/plan.h"
#include "output/json.h"

/* Of kernels. */
struct hs_bench_report {
    const struct hs_bench *bench;
    const struct hs_bench_row *rows;
    int count;
    const char *command;                /* the command line as given */
    const struct hs_plan *choice;       /* what "auto" takes for this case */
    const struct hs_peers *peers;       /* NULL: not requested */
    const struct hs_roofline *roofline; /* NULL: not requested */
};

void hs_bench_report_table(const struct hs_bench_report *report);
void hs_bench_report_json(const struct hs_bench_report *report);
void hs_bench_report_csv(const struct hs_bench_report *report);

/* Of methods, for which there is also a plot of error against wall clock time for each case: PNG,
 * SVG or PDF, by the ending of `path`. HS_IO if it cannot be written. */
void hs_methods_report_table(const struct hs_methods_bench *bench, const char *command);
void hs_methods_report_json(const struct hs_methods_bench *bench, const char *command);
void hs_methods_report_csv(const struct hs_methods_bench *bench, const char *command);
enum hs_status hs_methods_picture(const struct hs_methods_bench *bench, const char *path,
                                  struct hs_error *err);

/* Of kernels on several ranks. */
void hs_scaling_report_table(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                             int count, const char *command);
void hs_scaling_report_json(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                            int count, const char *command);
void hs_scaling_report_csv(const struct hs_scaling *scaling, const struct hs_scaling_row *rows,
                           int count, const char *command);

/* An object with the least, the median and the greatest. */
void hs_samples_json(struct hs_json *json, const char *key, const struct hs_samples *samples);

#endif
