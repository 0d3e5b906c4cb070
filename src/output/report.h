/* The summary of a finished run, for people and as one JSON object. */
#ifndef HS_OUTPUT_REPORT_H
#define HS_OUTPUT_REPORT_H

#include "engine/loop.h"

#include <stdio.h>

struct hs_report {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    const struct hs_loop_result *result;
    enum hs_status status;
    double max_error; /* against exact; NaN without */
};

void hs_report_text(FILE *stream, const struct hs_report *report);
void hs_report_json(FILE *stream, const struct hs_report *report);

#endif
