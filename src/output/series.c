#include "output/series.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hs_series_add_column(struct hs_series *series, const char *group, const char *name,
                          const char *units, const char *long_name)
{
    series->columns =
        hs_reserve(series->columns, (size_t)series->column_count, sizeof *series->columns);
    series->columns[series->column_count++] = (struct hs_column){
        .group = group, .name = hs_copy(name), .units = hs_copy(units), .long_name = long_name};
}

void hs_series_init(struct hs_series *series, const char *group)
{
    *series = (struct hs_series){0};
    hs_series_add_column(series, group, "sweep", "1", "sweeps done");
    hs_series_add_column(series, group, "time", "s", "simulated time");
    series->columns[HS_SERIES_SWEEP].whole = true;
}

void hs_series_release(struct hs_series *series)
{
    for (int c = 0; c < series->column_count; c++) {
        free(series->columns[c].name);
        free(series->columns[c].units);
        free(series->columns[c].values);
    }
    free(series->columns);
    *series = (struct hs_series){0};
}

void hs_series_add_row(struct hs_series *series, int64_t sweep, double time)
{
    for (int c = 0; c < series->column_count; c++) {
        double **values = &series->columns[c].values;
        *values = hs_reserve(*values, (size_t)series->rows, sizeof **values);
        (*values)[series->rows] = NAN;
    }
    series->columns[HS_SERIES_SWEEP].values[series->rows] = (double)sweep;
    series->columns[HS_SERIES_TIME].values[series->rows] = time;
    series->rows++;
}

struct hs_timeline hs_series_timeline(const struct hs_series *series)
{
    return (struct hs_timeline){series->rows, series->columns[HS_SERIES_SWEEP].values,
                                series->columns[HS_SERIES_TIME].values};
}

int64_t hs_series_last_sweep(const struct hs_series *series)
{
    return series->rows ? (int64_t)series->columns[HS_SERIES_SWEEP].values[series->rows - 1] : -1;
}

double *hs_series_last(const struct hs_series *series, const char *group, const char *name)
{
    for (int c = 0; c < series->column_count && series->rows > 0; c++)
        if (strcmp(series->columns[c].group, group) == 0 &&
            strcmp(series->columns[c].name, name) == 0)
            return &series->columns[c].values[series->rows - 1];
    return NULL;
}
