/* Results of engine/measure/scaling.h as a table, JSON or CSV. */
#ifndef HS_OUTPUT_SCALING_REPORT_H
#define HS_OUTPUT_SCALING_REPORT_H

#include "engine/measure/scaling.h"

#include <stdio.h>

enum hs_scaling_form { HS_SCALING_TABLE, HS_SCALING_JSON, HS_SCALING_CSV };

void hs_scaling_report(FILE *out, const struct hs_scaling *scaling,
                       const struct hs_scaling_row *rows, int count, const char *command,
                       enum hs_scaling_form form);

#endif
