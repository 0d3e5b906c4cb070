/* Results of a bench as a table for people, as one JSON object, or as CSV for plots. */
#ifndef HS_OUTPUT_BENCH_REPORT_H
#define HS_OUTPUT_BENCH_REPORT_H

#include "engine/measure/bench.h"
#include "engine/measure/peers.h"
#include "engine/measure/roofline.h"
#include "engine/plan.h"

#include <stdio.h>

struct hs_bench_report {
    const struct hs_bench *bench;
    const struct hs_bench_row *rows;
    int count;
    const char *command;                /* as given */
    const struct hs_plan *choice;       /* what "auto" takes for this case */
    const struct hs_peers *peers;       /* NULL: not requested */
    const struct hs_roofline *roofline; /* NULL: not requested */
};

void hs_bench_report_table(FILE *stream, const struct hs_bench_report *report);
void hs_bench_report_json(FILE *stream, const struct hs_bench_report *report);
void hs_bench_report_csv(FILE *stream, const struct hs_bench_report *report);

#endif
