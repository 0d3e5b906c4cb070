/* Results of a bench of methods as a table for people, as one JSON object, as CSV, or as a plot of
 * error against wall clock time for each case. */
#ifndef HS_OUTPUT_METHODS_REPORT_H
#define HS_OUTPUT_METHODS_REPORT_H

#include "engine/measure/bench_methods.h"

#include <stdio.h>

/* `command`: the command line as given. */
void hs_methods_report_table(FILE *stream, const struct hs_methods_bench *bench,
                             const char *command);
void hs_methods_report_json(FILE *stream, const struct hs_methods_bench *bench,
                            const char *command);
void hs_methods_report_csv(FILE *stream, const struct hs_methods_bench *bench, const char *command);

/* PNG, SVG or PDF, by the ending of `path`. HS_IO if it cannot be written. */
enum hs_status hs_methods_picture(const struct hs_methods_bench *bench, const char *path,
                                  struct hs_error *err);

#endif
