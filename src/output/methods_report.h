/* What a bench of methods measured: as a table for people, as one JSON object, as CSV, and as a
 * picture of error over time for each case. */
#ifndef HS_OUTPUT_METHODS_REPORT_H
#define HS_OUTPUT_METHODS_REPORT_H

#include "engine/measure/bench_methods.h"

#include <stdio.h>

/* `command`: as given */
void hs_methods_report_table(FILE *stream, const struct hs_methods_bench *bench,
                             const char *command);
void hs_methods_report_json(FILE *stream, const struct hs_methods_bench *bench,
                            const char *command);
void hs_methods_report_csv(FILE *stream, const struct hs_methods_bench *bench, const char *command);

/* PNG, SVG or PDF, as `path` ends. HS_IO where it cannot be written. */
enum hs_status hs_methods_picture(const struct hs_methods_bench *bench, const char *path,
                                  struct hs_error *err);

#endif
