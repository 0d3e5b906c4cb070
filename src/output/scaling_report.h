/* Results of engine/measure/scaling.h as a table, JSON or CSV. */
#ifndef HS_OUTPUT_SCALING_REPORT_H
#define HS_OUTPUT_SCALING_REPORT_H

#include "engine/measure/scaling.h"

#include <stdio.h>

/* `command`: the command line as given. */
void hs_scaling_report_table(FILE *out, const struct hs_scaling *scaling,
                             const struct hs_scaling_row *rows, int count, const char *command);
void hs_scaling_report_json(FILE *out, const struct hs_scaling *scaling,
                            const struct hs_scaling_row *rows, int count, const char *command);
void hs_scaling_report_csv(FILE *out, const struct hs_scaling *scaling,
                           const struct hs_scaling_row *rows, int count, const char *command);

#endif
